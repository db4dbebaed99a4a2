"""Arguments as the extension module takes them."""

from __future__ import annotations

import os
from typing import Any


def world(robot=None, friction=None, strength=None, hurdles=None) -> dict[str, Any]:
    """Changes to a world."""
    return {
        "robot": None if robot is None else os.fspath(robot),
        "friction": None if friction is None else float(friction),
        "strength": {str(name): float(factor) for name, factor in (strength or {}).items()},
        "hurdles": None if hurdles is None else {str(name): float(value) for name, value in hurdles.items()},
    }


def own_parts(world=None, reward=None, bonus=None, emitters=()) -> dict[str, Any]:
    """Parts of the user's own."""
    return {
        "world": world,
        "reward": reward,
        "bonus": bonus,
        "emitters": list(emitters),
    }
