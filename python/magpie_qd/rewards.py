"""Reward models on their own: learned from demonstrations, for whatever trains on rewards.

`GAIL` and its kin tell demonstrations from a policy, so :meth:`RewardModel.fit` needs steps of one. `GIRIL` learns from
demonstrations alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _magpie
from .demos import Demonstrations
from .search import settings_of

__all__ = ["AIRL", "GAIL", "GIRIL", "VAIL", "DiffAIL", "MaxEnt", "RewardModel"]


class RewardModel:
    """A reward model by its name in `magpie train --reward`.

    Settings are those of `magpie settings reward.NAME`, such as `hidden=[64, 64]`; also `thinning`, which keeps only
    every so many steps of the demonstrations (1: all of them, the default here).
    """

    name = ""
    #: Whether it learns from demonstrations alone.
    alone = False

    def __init__(self, *, name: str | None = None, gamma: float = 0.99, seed: int = 0, **settings: Any) -> None:
        self.name = name or self.name
        if not self.name:
            raise ValueError("name a reward model, or use one of its classes, such as GAIL")
        thinning = settings.pop("thinning", 1)
        own = {f"{self.name}.{key.replace('__', '.')}": value for key, value in settings.items()}
        self._settings = settings_of({"thinning": thinning, **own})
        self._gamma, self._seed = gamma, seed
        self._inner: _magpie.RewardModel | None = None
        # Wrong settings are told now, and not when there is data.
        _magpie.RewardModel(self.name, 1, 1, self._settings, gamma, seed)

    def _build(self, demos: Demonstrations) -> _magpie.RewardModel:
        if self._inner is None:
            arrays = demos.arrays
            sizes = arrays["observations"].shape[1], arrays["actions"].shape[1]
            self._inner = _magpie.RewardModel(self.name, *sizes, self._settings, self._gamma, self._seed)
        return self._inner

    def fit(
        self, demos: Demonstrations, policy: dict[str, np.ndarray] | None = None, *, updates: int = 1
    ) -> RewardModel:
        """Learns from demonstrations, and from steps of a policy: `updates` passes; may be called again with others.

        `policy` has `observations` and `actions`, and what else the model reads: `next_observations`, `log_probs`.
        """
        inner = self._build(demos)
        inner.prepare(demos._inner)
        if policy is None and not self.alone:
            raise ValueError(
                f"{self.name} learns to tell demonstrations from a policy: give policy={{'observations': …, 'actions': …}}"
            )
        self.health: dict[str, float] = {}
        if policy is not None:
            columns = _columns(policy)
            for _ in range(updates):
                self.health = dict(inner.update(demos._inner, columns, None))
        return self

    def reward(self, observations: np.ndarray, actions: np.ndarray, **columns: np.ndarray) -> np.ndarray:
        """The reward of each step."""
        if self._inner is None:
            raise ValueError(f"{self.name} has learned nothing yet: call fit() first")
        given = _columns({"observations": observations, "actions": actions, **columns})
        return self._inner.reward(given)

    @property
    def needs(self) -> list[str]:
        """What the model reads beside observations and actions."""
        inner = self._inner or _magpie.RewardModel(self.name, 1, 1, self._settings, self._gamma, self._seed)
        return inner.needs

    def save(self) -> bytes:
        """Everything that was learned."""
        if self._inner is None:
            raise ValueError(f"{self.name} has learned nothing yet: call fit() first")
        return self._inner.save()

    def restore(self, state: bytes, observation_size: int, action_size: int) -> RewardModel:
        """Continues from what a model with the same settings saved."""
        inner = _magpie.RewardModel(
            self.name, observation_size, action_size, self._settings, self._gamma, self._seed
        )
        inner.restore(state)
        self._inner = inner
        return self


def _columns(given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    columns = {}
    for name, values in given.items():
        array = np.asarray(values)
        if array.dtype.kind not in "fiub":
            raise TypeError(f"{name} must be numbers, but their dtype is {array.dtype}")
        array = array.astype(np.float32, copy=False)
        columns[name] = array[:, None] if array.ndim == 1 else array
    rows = {name: len(array) for name, array in columns.items()}
    if len(set(rows.values())) > 1:
        raise ValueError(f"all columns must have as many rows, but they have {rows}")
    return columns


class GAIL(RewardModel):
    """Generative adversarial imitation learning."""

    name = "gail"


class VAIL(RewardModel):
    """GAIL with a variational information bottleneck."""

    name = "vail"


class DiffAIL(RewardModel):
    """GAIL with a diffusion model as discriminator."""

    name = "diffail"


class AIRL(RewardModel):
    """Adversarial inverse reinforcement learning."""

    name = "airl"


class GIRIL(RewardModel):
    """Generative intrinsic reward: the prediction error of a model of the demonstrations."""

    name = "giril"
    alone = True


class MaxEnt(RewardModel):
    """Maximum-entropy inverse reinforcement learning with a deep reward network."""

    name = "maxent"
