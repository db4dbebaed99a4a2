"""Demonstrations: whole episodes of an expert, and their ways in and out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from . import _magpie
from ._world import world

__all__ = ["Demonstrations", "Episode"]


class Episode(NamedTuple):
    """One episode."""

    observations: np.ndarray
    """Before each step, and after the last one: one row more than there are actions."""
    actions: np.ndarray
    rewards: np.ndarray | None
    terminated: bool


class Demonstrations:
    """Whole episodes in flat tables, checked: all sizes fit and all numbers are finite."""

    def __init__(self, inner: _magpie.Demonstrations) -> None:
        self._inner = inner
        for warning in inner.warnings:
            warnings.warn(warning, stacklevel=3)

    @classmethod
    def bundled(cls, task: str) -> Demonstrations:
        """Those that come with magpie."""
        return cls(_magpie.Demonstrations.bundled(task))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Demonstrations:
        """Reads a file of magpie's."""
        return cls(_magpie.Demonstrations.load(os.fspath(path)))

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        task: str | os.PathLike[str],
        *,
        measure: str = "feet_contact",
        robot: str | os.PathLike[str] | None = None,
    ) -> Demonstrations:
        """Reads a file or folder of the library imitation, of Minari, D4RL or the paper, as of a task of magpie's."""
        return cls(_magpie.Demonstrations.import_file(os.fspath(path), os.fspath(task), measure, world(robot)))

    @classmethod
    def from_episodes(
        cls, episodes: Iterable[Any], *, task: str = "", horizon: int = 1000, source: str = "Python"
    ) -> Demonstrations:
        """From episodes of Minari (`dataset.iterate_episodes()`), trajectories of imitation, or :class:`Episode`.

        Actions must be those of the task: within ±1.
        """
        parts = [_episode(episode) for episode in episodes]
        if not parts:
            raise ValueError("there are no episodes")
        if any(len(part.observations) != len(part.actions) + 1 or len(part.actions) == 0 for part in parts):
            raise ValueError("an episode needs one observation more than it has actions, and at least one action")
        known = all(part.rewards is not None for part in parts)

        def table(rows):
            return np.ascontiguousarray(np.concatenate(rows), dtype=np.float32)

        return cls(
            _magpie.Demonstrations.from_arrays(
                table([part.observations[:-1] for part in parts]),
                table([part.actions for part in parts]),
                table([part.observations[-1:] for part in parts]),
                table([part.rewards for part in parts]) if known else None,
                [len(part.actions) for part in parts],
                [bool(part.terminated) for part in parts],
                task,
                horizon,
                source,
            )
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file of magpie's, which `magpie train --demos` takes."""
        self._inner.save(os.fspath(path))

    @property
    def task(self) -> str:
        """The task; empty if nobody said."""
        return self._inner.task

    @property
    def returns(self) -> list[float | None]:
        """True return of each episode, if known."""
        return [true_return for _, _, true_return in self._inner.episodes]

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """All tables, with a row a step that was kept."""
        return self._inner.arrays()

    def __len__(self) -> int:
        return len(self._inner)

    def __repr__(self) -> str:
        return f"Demonstrations({len(self)} episodes of {self.task or 'an unnamed task'})"

    @property
    def episodes(self) -> list[Episode]:
        """The episodes, if all of their steps were kept."""
        if self._inner.every != 1:
            raise ValueError(
                f"these demonstrations hold only every {self._inner.every}th step; whole episodes are needed here"
            )
        arrays, start, episodes = self.arrays, 0, []
        if "final_observations" not in arrays:
            raise ValueError("these demonstrations do not say what followed the last step of each episode")
        for number, (length, terminated, _) in enumerate(self._inner.episodes):
            steps = slice(start, start + length)
            last = arrays["final_observations"][number : number + 1]
            episodes.append(
                Episode(
                    np.concatenate([arrays["observations"][steps], last]),
                    arrays["actions"][steps],
                    arrays["rewards"][steps] if "rewards" in arrays else None,
                    terminated,
                )
            )
            start += length
        return episodes

    def to_imitation(self) -> list[Any]:
        """Trajectories of the library imitation; with rewards where they are known."""
        from imitation.data.types import Trajectory, TrajectoryWithRew

        return [
            Trajectory(obs=part.observations, acts=part.actions, infos=None, terminal=part.terminated)
            if part.rewards is None
            else TrajectoryWithRew(
                obs=part.observations, acts=part.actions, infos=None, terminal=part.terminated, rews=part.rewards
            )
            for part in self.episodes
        ]

    def to_minari(self, dataset_id: str, **about: Any) -> Any:
        """A dataset of Minari, such as `"magpie/walker2d/expert-v0"`, in its folder of datasets."""
        import minari
        from gymnasium.spaces import Box
        from minari.data_collector.episode_buffer import EpisodeBuffer

        episodes = self.episodes
        if any(part.rewards is None for part in episodes):
            raise ValueError("Minari stores rewards, and these demonstrations have none")
        buffers = []
        for number, part in enumerate(episodes):
            steps = len(part.actions)
            ends = np.arange(steps) == steps - 1
            buffers.append(
                EpisodeBuffer(
                    id=number,
                    observations=part.observations,
                    actions=part.actions,
                    rewards=part.rewards,
                    terminations=ends & part.terminated,
                    truncations=ends & (not part.terminated),
                )
            )
        widths = episodes[0].observations.shape[1], episodes[0].actions.shape[1]
        return minari.create_dataset_from_buffers(
            dataset_id=dataset_id,
            buffer=buffers,
            observation_space=Box(-np.inf, np.inf, widths[:1], np.float32),
            action_space=Box(-1.0, 1.0, widths[1:], np.float32),
            **about,
        )


def _episode(episode: Any) -> Episode:
    """An episode of any of the libraries."""
    if isinstance(episode, Episode):
        return episode
    if isinstance(episode, Mapping):
        return Episode(
            np.asarray(episode["observations"]),
            np.asarray(episode["actions"]),
            np.asarray(episode["rewards"]) if episode.get("rewards") is not None else None,
            bool(np.asarray(episode["terminated"]).any()),
        )
    if hasattr(episode, "obs") and hasattr(episode, "acts"):
        rewards = getattr(episode, "rews", None)
        return Episode(
            np.asarray(episode.obs),
            np.asarray(episode.acts),
            None if rewards is None else np.asarray(rewards),
            bool(episode.terminal),
        )
    if hasattr(episode, "observations") and hasattr(episode, "terminations"):
        return Episode(
            np.asarray(episode.observations),
            np.asarray(episode.actions),
            np.asarray(episode.rewards),
            bool(np.asarray(episode.terminations).any()),
        )
    raise TypeError(f"{type(episode).__name__} is no episode of Minari or imitation, nor a magpie_qd.demos.Episode")
