"""Environments for Gymnasium: thousands at once (:class:`VectorEnv`), or one (:class:`Env`).

`info["measures"]` holds the measures of the step and `info["contacts"]` which feet touched anything. When an episode
ends, `episode_return`, `episode_length` and `episode_measures` (means over its steps, as searches use them) come with
its last step: in `info["final_info"]` if environments are reset in the same step, otherwise in `info`.

Changes to the world are keyword arguments: `robot` (a robot file), `friction` (a factor), `strength` (factors by
actuator: `{"left_knee": 0.5}`) and `hurdles` (`{"height": 0.2}`; also `first`, `spacing`, `thickness`, `count`).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode

from . import _magpie
from ._world import world as _world

__all__ = ["Env", "VectorEnv"]

_LARGEST_SEED = 2**64 - 1


def _environment(task, measure, world, episode_steps):
    if episode_steps is not None and not 1 <= episode_steps < 2**32:
        raise ValueError(f"max_episode_steps is {episode_steps}, but must be at least 1")
    environment = _magpie.Environment(os.fspath(task), measure, _world(**world), episode_steps)
    for warning in environment.warnings:
        warnings.warn(warning, stacklevel=4)
    return environment


def _seed(seed):
    if seed is None:
        return None
    if isinstance(seed, (bool, np.bool_)) or not isinstance(seed, (int, np.integer)):
        raise TypeError(
            f"seed is {seed!r}, but must be one whole number: environment i draws from the seed and from i"
        )
    if not 0 <= int(seed) <= _LARGEST_SEED:
        raise ValueError(f"seed is {seed}, but must be from 0 to {_LARGEST_SEED}")
    return int(seed)


def _numbers(name, values) -> np.ndarray:
    """Values as a table of float32, without a copy if they are one."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} must be numbers, but their dtype is {array.dtype}")
    return np.asarray(array, dtype=np.float32)


class VectorEnv(gymnasium.vector.VectorEnv):
    """Many environments of one task, stepped by all cores without Python's lock.

    Environment i depends on the seed, on i and on its actions alone: not on `num_envs`, nor on the number of threads.
    Every array that a method returns is new, so that it may be kept; observations are written straight into it.

    Args:
        task: A built-in task such as `"walker2d"`, or a task file.
        num_envs: The number of environments.
        measure: A behaviour measure of the task; its first one if not given.
        autoreset_mode: When the next episode begins: in the same step (the default), in the next, or on request.
        max_episode_steps: Truncates episodes after so many steps, in place of the task's number.
        robot, friction, strength, hurdles: Changes to the world.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(
        self,
        task: str | os.PathLike[str] = "walker2d",
        num_envs: int = 1,
        *,
        measure: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        max_episode_steps: int | None = None,
        robot: str | os.PathLike[str] | None = None,
        friction: float | None = None,
        strength: Mapping[str, float] | None = None,
        hurdles: Mapping[str, float] | None = None,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        if render_mode is not None:
            raise ValueError(f"render_mode is {render_mode!r}, but these environments draw no pictures")
        if isinstance(num_envs, bool) or not 1 <= num_envs < 2**32:
            raise ValueError(f"num_envs is {num_envs}, but must be at least 1")
        world = {"robot": robot, "friction": friction, "strength": strength, "hurdles": hurdles}
        self.environment = _environment(task, measure, world, max_episode_steps)
        self.num_envs = int(num_envs)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**type(self).metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = None
        self._running = _magpie.Environments(self.environment, self.num_envs, self.autoreset_mode.value)
        self._measures = self.environment.measure_size
        self._contacts = self.environment.contacts
        self._started = False
        width, act = self.environment.observation_size, self.environment.action_size
        self.single_observation_space = Box(-np.inf, np.inf, (width,), np.float32)
        self.single_action_space = Box(-1.0, 1.0, (act,), np.float32)
        self.observation_space = Box(-np.inf, np.inf, (self.num_envs, width), np.float32)
        self.action_space = Box(-1.0, 1.0, (self.num_envs, act), np.float32)

    @property
    def dt(self) -> float:
        """Simulated seconds in a step."""
        return self.environment.step_seconds

    @property
    def measure_names(self) -> list[str]:
        """The dimensions of `info["measures"]`."""
        return [name for name, _ in self.environment.dimensions]

    @property
    def measure_ranges(self) -> np.ndarray:
        """Lower and upper end of each measure, as an archive has them: an array of shape (measures, 2)."""
        return np.array([ends for _, ends in self.environment.dimensions])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        """Starts new episodes: everywhere, or where `options["reset_mask"]` is true.

        With a seed, environments begin as if they were new. A seed is for all environments, so that it cannot be given
        with a mask.
        """
        self._open()
        seed = _seed(seed)
        if options is not None and "reset_mask" in options:
            mask = options["reset_mask"]
            self._check_mask(mask)
            if seed is not None:
                raise ValueError("a seed restarts all environments: give a seed or a reset_mask, not both")
            if not self._started:
                raise ResetNeeded("the first reset is of all environments: call reset() without a reset_mask")
            return self._running.reset_where(mask), {}
        # As other environments do, the generator is seeded as well; without a seed it chooses one, once.
        if seed is not None:
            super().reset(seed=seed)
        elif not self._started:
            seed = int(self.np_random.integers(2**63))
        observation = self._running.reset(seed)
        self._started = True
        return observation, {}

    def _check_mask(self, mask) -> None:
        if not isinstance(mask, np.ndarray):
            raise TypeError(f"options['reset_mask'] must be a numpy array, but is {type(mask).__name__}")
        if mask.dtype != np.bool_:
            raise TypeError(f"options['reset_mask'] must have dtype bool, but has {mask.dtype}")
        if mask.shape != (self.num_envs,):
            raise ValueError(f"options['reset_mask'] must have shape ({self.num_envs},), but has {mask.shape}")
        if not mask.any():
            raise ValueError("options['reset_mask'] must name at least one environment")

    def step(self, actions):
        """One step of every environment; actions are clipped to ±1."""
        self._open()
        actions = _numbers("actions", actions)
        if actions.shape != self.action_space.shape:
            raise ValueError(f"actions have shape {actions.shape}, but must have {self.action_space.shape}")
        if not self._started:
            raise ResetNeeded("call reset() before step()")
        if self.autoreset_mode == AutoresetMode.DISABLED and self._running.waiting():
            raise ResetNeeded("some episodes have ended: reset them with options={'reset_mask': terminated | truncated}")
        observation, reward, measures, terminated, truncated, was_reset, finished = self._running.step(actions)
        quantities = {"measures": measures[:, : self._measures]}
        if self._contacts:
            quantities["contacts"] = measures[:, self._contacts]
        done = terminated | truncated
        info: dict[str, Any] = {}
        same_step = self.autoreset_mode == AutoresetMode.SAME_STEP
        if was_reset is not None:
            valid = ~was_reset
        elif same_step:
            valid = ~done
        else:
            valid = np.ones(self.num_envs, dtype=np.bool_)
        for key, values in quantities.items():
            info[key], info[f"_{key}"] = values, valid.copy()
        if finished is not None:
            rows, last, returns, lengths, means = finished
            of_episodes = {}
            for key, values in (
                ("episode_return", returns),
                ("episode_length", lengths),
                ("episode_measures", means),
            ):
                column = np.zeros((self.num_envs, *values.shape[1:]), dtype=values.dtype)
                column[rows] = values
                of_episodes[key], of_episodes[f"_{key}"] = column, done.copy()
            if same_step:
                final = np.full(self.num_envs, None, dtype=object)
                for row, values in zip(rows, last):
                    final[row] = values
                for key, values in quantities.items():
                    of_episodes[key], of_episodes[f"_{key}"] = values, done.copy()
                info.update(final_obs=final, _final_obs=done.copy(), final_info=of_episodes, _final_info=done.copy())
            else:
                info.update(of_episodes)
        return observation, reward, terminated, truncated, info

    def save(self) -> bytes:
        """Everything that changes: :meth:`restore` continues from here, bit for bit."""
        self._open()
        return self._running.save()

    def restore(self, state: bytes) -> np.ndarray:
        """Continues from what :meth:`save` gave, here or in other environments of the same kind and number.

        Returns the observations to act on.
        """
        self._open()
        observation = self._running.restore(state)
        self._started = True
        return observation

    def render(self):
        """Not supported."""
        raise NotImplementedError("these environments draw no pictures")

    def close_extras(self, **kwargs: Any) -> None:
        """Frees the environments."""
        self._running = None

    def _open(self) -> None:
        if self._running is None:
            raise ValueError("the environments are closed")

    def __getstate__(self):
        raise TypeError("running environments cannot be pickled: make them where they run, and use save() and restore()")


class Env(gymnasium.Env):
    """One environment: for what cannot use many at once. Its arguments are those of :class:`VectorEnv`."""

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        task: str | os.PathLike[str] = "walker2d",
        *,
        measure: str | None = None,
        max_episode_steps: int | None = None,
        robot: str | os.PathLike[str] | None = None,
        friction: float | None = None,
        strength: Mapping[str, float] | None = None,
        hurdles: Mapping[str, float] | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.vector = VectorEnv(
            task,
            1,
            measure=measure,
            autoreset_mode=AutoresetMode.DISABLED,
            max_episode_steps=max_episode_steps,
            robot=robot,
            friction=friction,
            strength=strength,
            hurdles=hurdles,
            render_mode=render_mode,
        )
        self.render_mode = None
        self.observation_space = self.vector.single_observation_space
        self.action_space = self.vector.single_action_space

    @property
    def dt(self) -> float:
        """Simulated seconds in a step."""
        return self.vector.dt

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        """Starts a new episode; with a seed, the first one of this seed."""
        seed = _seed(seed)
        super().reset(seed=seed)
        if seed is None and not self.vector._started:
            seed = int(self.np_random.integers(2**63))
        observation, _ = self.vector.reset(seed=seed)
        return observation[0], {}

    def step(self, action):
        """One step; the action is clipped to ±1."""
        action = _numbers("action", action)
        if action.shape != self.action_space.shape:
            raise ValueError(f"action has shape {action.shape}, but must have {self.action_space.shape}")
        observation, reward, terminated, truncated, info = self.vector.step(action[None])
        info = {key: values[0] for key, values in info.items() if not key.startswith("_")}
        return observation[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), info

    def save(self) -> bytes:
        """Everything that changes: :meth:`restore` continues from here, bit for bit."""
        return self.vector.save()

    def restore(self, state: bytes) -> np.ndarray:
        """Continues from what :meth:`save` gave; returns the observation to act on."""
        return self.vector.restore(state)[0]

    def close(self) -> None:
        """Frees the environment."""
        self.vector.close()
