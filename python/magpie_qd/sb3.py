"""The environments for Stable-Baselines3."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.vec_env import VecEnv

from .envs import VectorEnv, _seed

__all__ = ["SB3VecEnv"]


class SB3VecEnv(VecEnv):
    """Many environments as a `VecEnv`: `PPO("MlpPolicy", SB3VecEnv("hopper", 64))`.

    Arguments are those of :class:`magpie_qd.VectorEnv`. An info exists for every environment, and is empty unless an
    episode has ended; then it holds `terminal_observation`, `TimeLimit.truncated` and `episode`, as `Monitor` has it,
    with the episode's measures.
    """

    def __init__(self, task="walker2d", num_envs: int = 1, **settings: Any) -> None:
        self.vector = VectorEnv(task, num_envs, autoreset_mode=AutoresetMode.SAME_STEP, **settings)
        self.render_mode = None
        self._actions: np.ndarray | None = None
        super().__init__(num_envs, self.vector.single_observation_space, self.vector.single_action_space)

    def reset(self) -> np.ndarray:
        """Starts new episodes everywhere, from the seed of :meth:`seed` if there was one."""
        seed = self._seeds[0]
        self._reset_seeds()
        self._reset_options()
        return self.vector.reset(seed=seed)[0]

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Sets the seed of the next reset: one for all environments, which draw from it and their number."""
        self._seeds = [_seed(seed)] * self.num_envs
        return list(self._seeds)

    def step_async(self, actions: np.ndarray) -> None:
        """Keeps the actions for :meth:`step_wait`."""
        self._actions = actions

    def step_wait(self):
        """Steps with the actions of :meth:`step_async`."""
        if self._actions is None:
            raise RuntimeError("call step_async() before step_wait()")
        actions, self._actions = self._actions, None
        observation, reward, terminated, truncated, info = self.vector.step(actions)
        done = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if "final_info" in info:
            final = info["final_info"]
            for row in np.flatnonzero(done):
                infos[row] = {
                    "terminal_observation": info["final_obs"][row],
                    "TimeLimit.truncated": bool(truncated[row] and not terminated[row]),
                    "episode": {
                        "r": float(final["episode_return"][row]),
                        "l": int(final["episode_length"][row]),
                        "measures": final["episode_measures"][row],
                    },
                }
        return observation, reward.astype(np.float32), done, infos

    def close(self) -> None:
        """Frees the environments."""
        self.vector.close()

    def get_attr(self, attr_name: str, indices=None) -> list[Any]:
        """The attribute, once for each environment: they share all of them."""
        return [getattr(self.vector, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices=None) -> None:
        """Sets an attribute of all environments."""
        if len(list(self._get_indices(indices))) != self.num_envs:
            raise ValueError("environments share their attributes: set one for all of them")
        setattr(self.vector, attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices=None, **method_kwargs: Any) -> list[Any]:
        """Calls a method of the batch of environments, once; its result is given for each of them."""
        result = getattr(self.vector, method_name)(*method_args, **method_kwargs)
        return [result] * len(list(self._get_indices(indices)))

    def env_is_wrapped(self, wrapper_class, indices=None) -> list[bool]:
        """No environment is wrapped."""
        return [False] * len(list(self._get_indices(indices)))
