"""Writes the datasets of this folder with the libraries that people use: numpy, h5py and Hugging Face's datasets.

    pip install numpy h5py datasets && python make.py

Entry j of observation t of episode e is 10 e + t + j / 10, entry j of action t is t / 10, or 3 in the last step, and
rewards are 1 + e.
"""
import json
import os
import shutil

import datasets
import h5py
import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
LENGTHS = [3, 2]


def episode(e, dtype=np.float32):
    length = LENGTHS[e]
    obs = np.array([[10 * e + t + j / 10 for j in range(2)] for t in range(length + 1)], dtype)
    acts = np.array([[3.0 if t + 1 == length else t / 10] for t in range(length)], dtype)
    return obs, acts, np.full(length, 1.0 + e)


def imitation():
    """As imitation.data.serialize.save does, version 1: trajectories_to_dataset(...).save_to_disk(...)."""
    folder = os.path.join(here, "imitation")
    shutil.rmtree(folder, ignore_errors=True)
    episodes = [episode(e) for e in range(2)]
    rows = {
        "obs": [obs for obs, _, _ in episodes],
        "acts": [acts for _, acts, _ in episodes],
        "infos": [[json.dumps({"step": t}) for t in range(len(acts))] for _, acts, _ in episodes],
        "terminal": [True, False],
        "rews": [rews for _, _, rews in episodes],
    }
    datasets.Dataset.from_dict(rows).save_to_disk(folder)


def minari():
    folder = os.path.join(here, "minari", "data")
    os.makedirs(folder, exist_ok=True)
    with h5py.File(os.path.join(folder, "main_data.hdf5"), "w", track_order=True) as file:
        for e in range(2):
            obs, acts, rews = episode(e, np.float64)
            group = file.create_group(f"episode_{e}")
            group.attrs["id"] = e
            group.create_dataset("observations", data=obs, compression="gzip", chunks=True)
            group.create_dataset("actions", data=acts.astype(np.float32), chunks=True)
            group.create_dataset("rewards", data=rews)
            ends = np.arange(LENGTHS[e]) + 1 == LENGTHS[e]
            group.create_dataset("terminations", data=ends & (e == 0))
            group.create_dataset("truncations", data=ends & (e == 1))
    with open(os.path.join(folder, "metadata.json"), "w") as file:
        spec = json.dumps({"id": "Walker2d-v5", "max_episode_steps": 1000})
        json.dump({"dataset_id": "mujoco/walker2d/expert-v0", "env_spec": spec, "total_episodes": 2}, file)


def d4rl():
    """Both episodes, the first of which terminates and the second of which is cut off, and two steps of a third."""
    columns = {name: [] for name in ["observations", "actions", "rewards", "terminals", "timeouts"]}
    columns["next_observations"] = []
    for e in range(2):
        obs, acts, rews = episode(e)
        last = np.arange(LENGTHS[e]) + 1 == LENGTHS[e]
        parts = [obs[:-1], acts, rews.astype(np.float32), last & (e == 0), last & (e == 1), obs[1:]]
        for name, part in zip(columns, parts):
            columns[name].append(part)
    parts = [np.full((2, 2), 7.0), np.zeros((2, 1)), np.zeros(2), [False] * 2, [False] * 2, np.full((2, 2), 7.0)]
    with h5py.File(os.path.join(here, "d4rl.hdf5"), "w") as file:
        for (name, column), part in zip(columns.items(), parts):
            column.append(np.asarray(part, column[0].dtype))
            file.create_dataset(name, data=np.concatenate(column), compression="gzip")
        file.create_dataset("infos/qpos", data=np.zeros((7, 3)))
        file.create_dataset("metadata/algorithm", data=np.bytes_("SAC"))


imitation()
minari()
d4rl()
