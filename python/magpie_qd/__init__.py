"""Quality-diversity imitation learning: from a few demonstrations to an archive of many different, good policies.

Environments (`gymnasium.make_vec("magpie/Walker2d-v0", num_envs=4096)`, :mod:`magpie_qd.envs`), searches
(:func:`train`, :func:`resume`), their results (:class:`Archive`, :func:`evaluate`, :func:`report`), reward models
(:mod:`magpie_qd.rewards`) and what one writes oneself (:mod:`magpie_qd.plug`) are the same engine as the program
`magpie`, and give the same bytes.

To import this package registers the tasks with Gymnasium, if that is installed; everything else is loaded when it is
first used.
"""

import importlib

from ._register import register

_WHERE = {
    "MagpieError": "_magpie",
    "set_threads": "_magpie",
    "Env": "envs",
    "VectorEnv": "envs",
    "Run": "search",
    "Progress": "search",
    "train": "search",
    "resume": "search",
    "Archive": "archive",
    "Policy": "archive",
    "Evaluation": "archive",
    "open_archive": "archive",
    "evaluate": "archive",
    "report": "reports",
    "Demonstrations": "demos",
}
_MODULES = ["archive", "demos", "envs", "neighbours", "plug", "reports", "rewards", "ribs", "sb3", "search"]

__all__ = sorted([*_WHERE, *_MODULES, "__version__"])


register()


def __getattr__(name):
    if name in _WHERE:
        value = getattr(importlib.import_module(f".{_WHERE[name]}", __name__), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name == "__version__":
        return importlib.import_module("._magpie", __name__).version
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return __all__
