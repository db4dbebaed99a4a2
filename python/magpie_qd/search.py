"""Searches: :func:`train` starts one, :func:`resume` continues it, and both give the bytes of the program `magpie`."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _magpie
from ._world import own_parts
from ._world import world as changes_of

if TYPE_CHECKING:
    from .archive import Archive
    from .demos import Demonstrations
    from .plug import Bonus, Emitter, RewardModel, World

__all__ = ["Progress", "Run", "resume", "train"]


class Progress(dict):
    """The row of `metrics.csv` of an iteration, by column; a value that there is not is NaN.

    `progress.run` is the run: a callback may read its archive or ask it to pause.
    """

    def __init__(self, run: Run, row: Sequence[tuple[str, float]], saved: bool) -> None:
        super().__init__(row)
        #: The run.
        self.run = run
        #: Whether a checkpoint is being written.
        self.saved = saved

    def __repr__(self) -> str:
        keys = ("iteration", "qd_score", "coverage", "best")
        return "Progress(" + ", ".join(f"{key}={self[key]:g}" for key in keys if key in self) + ")"


Callback = Callable[[Progress], Any]


class Run:
    """A search in its folder. Use it as a context, or call :meth:`close`: until then nobody else may continue it."""

    def __init__(self, inner: _magpie.Run) -> None:
        self._inner = inner
        self._paused = False
        self._closed = False
        self._last: tuple[int, bool] = (inner.iteration, inner.finished)

    @property
    def path(self) -> Path:
        """The folder."""
        return Path(self._inner.path)

    @property
    def task(self) -> str:
        """The task."""
        return self._inner.task

    @property
    def iterations(self) -> int:
        """Iterations planned."""
        return self._inner.iterations

    @property
    def iteration(self) -> int:
        """Iterations made."""
        return self._last[0]

    @property
    def finished(self) -> bool:
        """Whether all that was planned has been done."""
        return self._last[1]

    @property
    def metrics(self) -> dict[str, Any]:
        """The columns of `metrics.csv` as arrays."""
        import numpy as np

        with open(self.path / "metrics.csv", encoding="utf-8") as file:
            names = file.readline().strip().split(",")
            rows = [[float(value) if value else np.nan for value in line.split(",")] for line in file]
        table = np.array(rows, dtype=float).reshape(len(rows), len(names))
        return dict(zip(names, table.T))

    @property
    def archive(self) -> Archive:
        """What has been found, up to the last save; :meth:`save` makes that now."""
        from .archive import Archive

        return Archive(self.path)

    def pause(self) -> None:
        """From a callback: stop after this iteration. :func:`magpie_qd.resume` continues."""
        self._paused = True

    def iterate(self) -> Progress:
        """One iteration."""
        row, saved = self._inner.iterate()
        progress = Progress(self, row, saved)
        self._last = (int(progress["iteration"]), int(progress["iteration"]) >= self.iterations)
        return progress

    def save(self) -> None:
        """Writes a checkpoint and the archive, and waits until they are on the disk."""
        self._inner.save()

    def close(self) -> None:
        """Saves and draws what was found, and lets others use the folder. May be called again."""
        if not self._closed:
            self._closed = True
            self._inner.close()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, kind, value, trace) -> None:
        if kind is None:
            self.close()
        else:
            self._leave()

    def _leave(self) -> None:
        """After an exception: keeps what can be kept, and does not hide the exception."""
        if self._closed:
            return
        self._closed = True
        try:
            self._inner.close()
        except _magpie.MagpieError:
            self._inner.abandon()

    def go_on(self, on_iteration: Callback | None = None) -> Run:
        """Iterates until all that was planned is done, or a callback pauses; then closes the run.

        Ctrl-C, and any exception of a callback, ends the run after what was found has been saved.
        """
        drawn = warned = False
        try:
            while not self.finished and not self._paused:
                progress = self.iterate()
                if progress.saved or not drawn:
                    self._inner.draw()
                    drawn = True
                    if not warned and (warning := self._inner.instability()):
                        warned = True
                        warnings.warn(warning, stacklevel=3)
                if on_iteration is not None and on_iteration(progress) is False:
                    self.pause()
        except BaseException:
            self._leave()
            raise
        self.close()
        return self

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r}, iteration {self.iteration} of {self.iterations})"

    def _repr_html_(self) -> str:
        return self.archive._repr_html_()


def _begun(made, on_iteration, checkpoint_every) -> Run:
    inner, notes, doubts = made
    for sentence in [*notes, *doubts]:
        warnings.warn(sentence, stacklevel=4)
    run = Run(inner)
    if checkpoint_every is not None:
        inner.save_every(checkpoint_every)
    return run.go_on(on_iteration)


def _literal(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(json.dumps(item) if isinstance(item, str) else _literal(item) for item in value) + "]"
    if isinstance(value, str):
        return value
    return repr(value.item() if hasattr(value, "item") else value)


def settings_of(settings: Mapping[str, Any]) -> list[str]:
    """Settings as the program takes them: `search__branches=60` becomes `search.branches=60`."""
    pairs = {name.replace("__", "."): value for name, value in settings.items()}
    return [f"{name}={_literal(value)}" for name, value in pairs.items()]


def train(
    task: str | os.PathLike[str] | None = None,
    *,
    reward: str | RewardModel | None = None,
    demos: str | os.PathLike[str] | Demonstrations | None = None,
    out: str | os.PathLike[str] | None = None,
    on_iteration: Callback | None = None,
    measure: str | None = None,
    method: str | None = None,
    budget: str | None = None,
    iterations: int | None = None,
    seed: int | None = None,
    curiosity: float | None = None,
    config: str | os.PathLike[str] | None = None,
    checkpoint_every: int | None = None,
    robot: str | os.PathLike[str] | None = None,
    friction: float | None = None,
    strength: Mapping[str, float] | None = None,
    hurdles: Mapping[str, float] | None = None,
    world: World | None = None,
    bonus: Bonus | None = None,
    emitters: Sequence[Emitter] = (),
    **settings: Any,
) -> Run:
    """Searches for many different, good policies; the archive is the result.

    Arguments mean what the options of `magpie train` mean, and have the same defaults; further settings are named as
    in `magpie settings`, with two underscores for a dot: `search__branches=60`.

    `on_iteration` is called with a :class:`Progress` after every iteration. If it returns False, or calls
    `progress.run.pause()`, the run pauses; if it raises, or Ctrl-C is pressed, what was found is saved and the
    exception goes on. In each case :func:`resume` continues from there with the same bytes as an uninterrupted run.

    Args:
        task: A task such as `"walker2d"`, or a task file.
        reward: A reward model, by name or one of yours (:class:`magpie_qd.plug.RewardModel`); `"true"` for the task's.
        demos: Demonstrations, or a file of them; those that come with magpie if not given.
        out: The folder for the results; `runs/…` as the program chooses it, if not given.
        world: A world of yours in place of a task (:class:`magpie_qd.plug.World`).
        bonus, emitters: Parts of yours (:mod:`magpie_qd.plug`). Only Python knows them: pass them to
            :func:`resume` again.
    """
    from .plug import RewardModel as OwnReward

    own_reward = reward if isinstance(reward, OwnReward) else None
    chosen = {
        "task": None if task is None else os.fspath(task),
        "measure": measure,
        "reward": "gail" if own_reward is not None else reward,
        "demos": None,
        "curiosity": curiosity,
        "seed": seed,
        "iterations": iterations,
        "method": method,
        "budget": budget,
        "config": None if config is None else os.fspath(config),
        "sets": settings_of(settings),
        "world": changes_of(robot, friction, strength, hurdles),
    }
    out = None if out is None else os.fspath(out)
    own = own_parts(world, own_reward, bonus, emitters)
    with _as_file(demos) as file:
        chosen["demos"] = file
        made = _magpie.Run.start(chosen, out, own, lambda done, total, loss: None)
    return _begun(made, on_iteration, checkpoint_every)


def resume(
    path: str | os.PathLike[str],
    *,
    iterations: int | None = None,
    on_iteration: Callback | None = None,
    checkpoint_every: int | None = None,
    world: World | None = None,
    reward: RewardModel | None = None,
    bonus: Bonus | None = None,
    emitters: Sequence[Emitter] = (),
) -> Run:
    """Continues the run in a folder, further than first planned if `iterations` says so.

    A run with parts of yours needs them again.
    """
    own = own_parts(world, reward, bonus, emitters)
    return _begun(_magpie.Run.resume(os.fspath(path), iterations, own), on_iteration, checkpoint_every)


class _as_file:
    """Demonstrations as a file: their own, or one for as long as the run needs to copy it."""

    def __init__(self, demos: Any) -> None:
        self.demos = demos
        self.folder = None

    def __enter__(self) -> str | None:
        if self.demos is None:
            return None
        if isinstance(self.demos, (str, os.PathLike)):
            return os.fspath(self.demos)
        import tempfile

        self.folder = tempfile.TemporaryDirectory()
        file = os.path.join(self.folder.name, "demonstrations.safetensors")
        self.demos.save(file)
        return file

    def __exit__(self, *_: object) -> None:
        if self.folder is not None:
            self.folder.cleanup()
