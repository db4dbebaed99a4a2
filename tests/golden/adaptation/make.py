"""Makes gp.npz: Gaussian-process regression by scikit-learn, for magpie's trials on an archive.

    pip install scikit-learn==1.9.1 && python make.py

Points are in [0, 1]^d, returns are in units of the prior's standard deviation, and `mean` includes the prior mean.
`next` is the candidate that the upper confidence bound chooses after each number of trials, none included.
"""

import pathlib

import numpy as np
import sklearn
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern

rng = np.random.default_rng(22)
arrays = {"version": np.array([int(part) for part in sklearn.__version__.split(".")[:3]], float)}
cases = [(1, 40, 6, 0.1, 0.01, 0.3), (2, 120, 20, 0.05, 0.03, 0.05), (4, 80, 12, 0.4, 0.01, 1.0)]
for number, (dims, candidates, trials, length, noise, kappa) in enumerate(cases):
    points = rng.uniform(size=(candidates, dims))
    prior = rng.normal(size=candidates)
    # An elite may be tried more than once.
    tried = rng.integers(candidates, size=trials)
    tried[-1] = tried[0]
    seen = prior[tried] + rng.normal(-0.5, 1.0, size=trials)
    means, variances, choices = [], [], []
    for known in range(trials + 1):
        mean, deviation = prior, np.ones(candidates)
        if known:
            model = GaussianProcessRegressor(Matern(length, nu=2.5), alpha=noise, optimizer=None)
            model.fit(points[tried[:known]], seen[:known] - prior[tried[:known]])
            difference, deviation = model.predict(points, return_std=True)
            mean = prior + difference
        means.append(mean)
        variances.append(deviation**2)
        choices.append(np.argmax(mean + kappa * deviation))
    distances = np.linspace(0.0, 3.0 * length, 30)
    kernel = Matern(length, nu=2.5)(np.zeros((1, 1)), distances[:, None])[0]
    arrays |= {
        f"{name}_{number}": np.asarray(value, float)
        for name, value in {
            "points": points, "prior": prior, "tried": tried, "seen": seen, "mean": np.array(means),
            "variance": np.array(variances), "next": choices, "distances": distances, "kernel": kernel,
            "parameters": [length, noise, kappa],
        }.items()
    }
np.savez_compressed(pathlib.Path(__file__).with_name("gp.npz"), **arrays)
