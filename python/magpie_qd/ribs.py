"""magpie's emitter for the schedulers of pyribs.

>>> from ribs.archives import GridArchive
>>> from ribs.schedulers import Scheduler
>>> archive = GridArchive(solution_dim=10, dims=[20, 20], ranges=[(-1, 1), (-1, 1)])
>>> emitter = XNESEmitter(archive, x0=[0.0] * 10, sigma0=1.0, lr=1.0)
>>> scheduler = Scheduler(archive, [emitter])  # ask_dqd, tell_dqd, ask, tell
"""

from __future__ import annotations

from typing import Any

import numpy as np
from ribs.emitters import EmitterBase

from . import _magpie

__all__ = ["XNESEmitter"]


class XNESEmitter(EmitterBase):
    """Gradient arborescence with xNES, as in PPGA: branches of a search policy along its gradients.

    `ask_dqd` gives the search policy, `tell_dqd` takes its gradients, `ask` gives branches, and `tell` moves xNES
    towards the branches that improved the archive most, and the search policy along the mean of xNES. In a search
    of magpie's, PPO trains the search policy towards that mean; here it takes a step of length `lr` instead. If no
    branch was accepted, the emitter restarts from a random elite.

    Args:
        archive: The archive.
        x0: The first search policy.
        sigma0: Initial standard deviation of the coefficients, in units of a gradient's length.
        lr: Length of a step, in units of normalised gradients.
        batch_size: Branches an iteration.
        bounds: As other emitters have them.
        seed: Seed of all draws.
    """

    def __init__(
        self,
        archive: Any,
        *,
        x0: Any,
        sigma0: float,
        lr: float,
        batch_size: int = 36,
        bounds: Any = None,
        seed: int = 0,
    ) -> None:
        super().__init__(
            archive, solution_dim=archive.solution_dim, bounds=bounds, lower_bounds=None, upper_bounds=None
        )
        self._theta = np.array(x0, dtype=np.float64)
        if self._theta.shape != (archive.solution_dim,):
            raise ValueError(f"x0 has shape {self._theta.shape}, but must have ({archive.solution_dim},)")
        if batch_size < 1:
            raise ValueError(f"batch_size is {batch_size}, but must be at least 1")
        self._xnes = _magpie.Xnes(archive.measure_dim, float(sigma0), seed)
        self._sigma0, self._lr, self._batch_size = float(sigma0), float(lr), int(batch_size)
        self._draws = np.random.default_rng(seed)
        self._gradients: np.ndarray | None = None
        self._coefficients: np.ndarray | None = None
        self.restarts = 0

    @property
    def batch_size(self) -> int:
        """Branches an iteration."""
        return self._batch_size

    @property
    def batch_size_dqd(self) -> int:
        """Solutions whose gradients are needed: the search policy."""
        return 1

    @property
    def theta(self) -> np.ndarray:
        """The search policy."""
        return self._theta

    def ask_dqd(self) -> np.ndarray:
        """The search policy."""
        return self._theta[None].copy()

    def tell_dqd(self, solution, objective, measures, jacobian, add_info, **fields) -> None:
        """Takes the gradients of objective and measures, which are normalised to length 1."""
        jacobian = np.asarray(jacobian, dtype=np.float64)
        expected = (1, self.archive.measure_dim + 1, self.archive.solution_dim)
        if jacobian.shape != expected:
            raise ValueError(f"jacobian has shape {jacobian.shape}, but must have {expected}")
        if not np.isfinite(jacobian).all():
            raise ValueError("jacobian holds numbers that are not finite")
        lengths = np.linalg.norm(jacobian[0], axis=1, keepdims=True)
        self._gradients = jacobian[0] / np.maximum(lengths, 1e-8)

    def ask(self) -> np.ndarray:
        """Branches: the search policy plus combinations of its gradients."""
        if self._gradients is None:
            raise RuntimeError("call ask_dqd() and tell_dqd() before ask()")
        self._coefficients = self._xnes.ask(self._batch_size)
        branches = self._theta + self._coefficients @ self._gradients
        return np.clip(branches, self.lower_bounds, self.upper_bounds)

    def tell(self, solution, objective, measures, add_info, **fields) -> None:
        """Moves xNES and the search policy."""
        if self._coefficients is None or self._gradients is None:
            raise RuntimeError("call ask() before tell()")
        values = np.asarray(add_info["value"], dtype=np.float64)
        accepted = np.asarray(add_info["status"]) > 0
        if not np.isfinite(values).all():
            raise ValueError("the objective of a solution is not finite; the archive gave it no improvement value")
        coefficients, self._coefficients = self._coefficients, None
        try:
            self._xnes.tell(coefficients, values)
            collapsed = False
        except ValueError:
            collapsed = True
        if collapsed or (not accepted.any() and not self.archive.empty):
            if not self.archive.empty:
                elite = self.archive.sample_elites(1)["solution"][0]
                self._theta = np.array(elite, dtype=np.float64)
            self._xnes.restart(self._sigma0)
            self.restarts += 1
            return
        mean = self._xnes.mean
        step = mean @ self._gradients
        length = np.linalg.norm(step)
        if length > 0.0:
            self._theta = np.clip(self._theta + self._lr * step / length, self.lower_bounds, self.upper_bounds)
