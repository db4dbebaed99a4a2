"""Parts of a search that are written in Python.

Each is a class to derive from, whose methods are called with arrays of many rows. A search waits for them with
Python's lock, so they are slower than what magpie has built in: a reward model is called once a rollout, a bonus too,
an emitter twice an iteration, a :class:`World` every step. What a part raises ends the search and reaches the caller
of :func:`magpie_qd.train`; what was found before is saved.

State that must survive a resume goes through `save` and `restore`. Random numbers have to come from the seeds that
methods are given, or the same run gives other bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["Bonus", "Emitter", "RewardModel", "World"]


class _Part:
    def save(self) -> bytes:
        """What :meth:`restore` needs to continue from here."""
        return b""

    def restore(self, state: bytes) -> None:
        """Continues from what :meth:`save` returned."""


class RewardModel(_Part):
    """A reward learned from demonstrations, in place of the built-in ones.

    Columns are keyword arguments, arrays with a row a step: `observations` (raw), `actions` (clipped to ±1), and, if
    `needs_next_observations`, `next_observations` and `terminated`.
    """

    needs_next_observations: bool = False

    def reward(self, observations: np.ndarray, actions: np.ndarray, **columns: np.ndarray) -> np.ndarray:
        """The reward of each step."""
        raise NotImplementedError("a reward model must define reward()")

    def update(self, expert: dict[str, np.ndarray], policy: dict[str, np.ndarray], seed: int) -> None:
        """Learns from steps of the demonstrations and steps of the policy."""


class Bonus(_Part):
    """A bonus in place of curiosity."""

    def begin_phase(self, elites: dict[str, np.ndarray]) -> None:
        """A phase of training starts: `index`, `objective` and `measures` of the elites."""

    def pay(self, measures: np.ndarray, rewards: np.ndarray) -> np.ndarray:
        """The bonus of each step, given its measures and its reward. Several agents ask one after the other."""
        raise NotImplementedError("a bonus must define pay()")


class Emitter(_Part):
    """An emitter beside the configured ones."""

    def ask(self, elites: dict[str, np.ndarray], sizes: list[int], seed: int) -> np.ndarray:
        """Solutions to be evaluated, a row each, once an iteration.

        `elites` has `solution`, `objective`, `measures` and `index`; an empty archive has no rows. `sizes` are the
        widths of the actor's layers: for each layer a solution has its weights, output by output, and its biases; at
        its end is log σ.
        """
        raise NotImplementedError("an emitter must define ask()")

    def tell(self, results: dict[str, np.ndarray]) -> None:
        """`objective`, `measures` and `improvement` of what the last :meth:`ask` returned."""


Measure = Callable[[np.ndarray, np.ndarray, dict[str, Any]], np.ndarray]


class World:
    """Any Gymnasium environment as the world to search in.

    `make` makes one environment, as for `gymnasium.vector.SyncVectorEnv`, whose reset must depend on the seed alone;
    its observations and actions are one-dimensional boxes, and actions from -1 to 1 are scaled to its box.
    `measure(observations, actions, infos)` gives a row of measures for each environment and step; an episode's
    measures are means over its steps. `infos` is Gymnasium's vector info of the step.

    Every step of every environment is a call of Python: expect far fewer steps a second
    than with magpie's own tasks.

    Args:
        make: Makes one environment.
        measure: Measures of a step, in a batch: an array (environments, measures).
        measures: Name and range of each measure.
        episode_steps: Episodes are truncated after so many steps; the environment's own number if not given.
        name: A name for tables.
        threshold_min: A return that a solution must exceed to enter an empty cell of the soft archive.
    """

    def __init__(
        self,
        make: Callable[[], Any],
        measure: Measure,
        measures: dict[str, tuple[float, float]],
        *,
        episode_steps: int | None = None,
        name: str | None = None,
        threshold_min: float = 0.0,
    ) -> None:
        from gymnasium.spaces import Box

        self.make, self.measure, self.threshold_min = make, measure, float(threshold_min)
        env = make()
        try:
            for space, what in ((env.observation_space, "observations"), (env.action_space, "actions")):
                if not isinstance(space, Box) or len(space.shape) != 1:
                    raise ValueError(f"{what} must be a Box of one dimension, but are {space}")
            if not env.action_space.is_bounded():
                raise ValueError(f"actions must be bounded, but are {env.action_space}")
            self.low, self.high = env.action_space.low, env.action_space.high
            self.observation_size = int(env.observation_space.shape[0])
            self.action_size = int(env.action_space.shape[0])
            spec = env.spec
        finally:
            env.close()
        steps = episode_steps or (spec.max_episode_steps if spec is not None else None)
        if not steps:
            raise ValueError("the environment does not say how long an episode is: give episode_steps")
        self.episode_steps = int(steps)
        self.name = name or (spec.id.replace("/", "-") if spec is not None else "own")
        self.measures = [(str(key), [float(ends[0]), float(ends[1])]) for key, ends in measures.items()]
        self._free: dict[int, list[_Worlds]] = {}

    def worlds(self, count: int) -> _Worlds:
        """Environments for a part of a batch; those that were given back are used again."""
        free = self._free.get(count)
        return free.pop() if free else _Worlds(self, count)

    def close(self) -> None:
        """Closes environments that nobody uses."""
        for worlds in self._free.values():
            while worlds:
                worlds.pop().envs.close()


class _Worlds:
    """A vector environment whose environments are reset when the search says so."""

    def __init__(self, world: World, count: int) -> None:
        from gymnasium.vector import AutoresetMode, SyncVectorEnv

        self.world, self.count = world, count
        self.envs = SyncVectorEnv([world.make] * count, autoreset_mode=AutoresetMode.DISABLED)
        self.finished = np.ones(count, dtype=np.bool_)
        self.started = False

    def reset(self, seeds: Sequence[int | None]) -> np.ndarray:
        mask = np.array([seed is not None for seed in seeds])
        if not self.started and not mask.all():
            self._reset([0] * self.count, np.ones(self.count, dtype=np.bool_))
        self.started = True
        return self._reset(list(seeds), mask)

    def _reset(self, seeds, mask) -> np.ndarray:
        observations, _ = self.envs.reset(seed=seeds, options={"reset_mask": mask})
        self.finished[mask] = False
        return np.ascontiguousarray(observations, dtype=np.float32)

    def step(self, actions: np.ndarray):
        # What has finished and was not reset is not looked at, but Gymnasium wants it reset.
        if self.finished.any():
            self._reset([0 if done else None for done in self.finished], self.finished.copy())
        world = self.world
        scaled = world.low + (np.clip(actions, -1.0, 1.0) + 1.0) * 0.5 * (world.high - world.low)
        scaled = scaled.astype(self.envs.single_action_space.dtype)
        observations, rewards, terminated, truncated, infos = self.envs.step(scaled)
        measures = np.asarray(world.measure(observations, actions, infos), dtype=np.float32)
        expected = (self.count, len(world.measures))
        if measures.shape != expected:
            raise ValueError(f"measure() returned shape {measures.shape}, but {expected} is needed")
        self.finished = terminated | truncated
        return (
            np.ascontiguousarray(observations, dtype=np.float32),
            np.asarray(rewards, dtype=np.float32),
            np.ascontiguousarray(measures),
            np.asarray(terminated, dtype=np.bool_),
        )

    def release(self) -> None:
        self.world._free.setdefault(self.count, []).append(self)
