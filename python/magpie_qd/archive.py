"""Archives: what a search has found, as arrays and as policies."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _magpie
from ._world import own_parts, world

if TYPE_CHECKING:
    from .plug import World

__all__ = ["Archive", "Evaluation", "Policy", "evaluate", "open_archive"]

Cell = int | str | tuple[int, ...]


class Evaluation(NamedTuple):
    """Elites run again on fresh seeds, a row each."""

    index: np.ndarray
    """The cell that the archive has each in."""
    returns: np.ndarray
    """(elites, episodes)"""
    lengths: np.ndarray
    """(elites, episodes)"""
    measures: np.ndarray
    """(elites, episodes, measures): means over the steps of each episode."""
    moved: int
    """How many fall in another cell now."""
    verified: dict[str, Any] | None
    """Metrics of the archive that they make now; None if not all were run."""


class Policy:
    """An elite as a function from observations to actions: the mean actions of an evaluation, bit for bit."""

    def __init__(self, archive: Archive, row: int) -> None:
        self.archive, self.row = archive, row

    def __call__(self, observation: Any) -> np.ndarray:
        """Actions within ±1, for an observation or for a row each."""
        observations = np.asarray(observation)
        if observations.dtype.kind not in "fiub" or observations.ndim not in (1, 2):
            raise TypeError("observations must be numbers, one observation or a row each")
        table = np.atleast_2d(observations).astype(np.float32, copy=False)
        actions = np.clip(self.archive._inner.mean_actions(self.row, table), -1.0, 1.0)
        return actions[0] if observations.ndim == 1 else actions

    @property
    def cell(self) -> int:
        """Number of its cell."""
        return int(self.archive.index[self.row])

    @property
    def objective(self) -> float:
        """Mean return."""
        return float(self.archive.objective[self.row])

    @property
    def measures(self) -> np.ndarray:
        """Mean measures."""
        return self.archive.measures[self.row]

    @property
    def solution(self) -> np.ndarray:
        """Its parameters."""
        return self.archive.solution[self.row]

    def __repr__(self) -> str:
        return f"Policy(cell {self.archive.cell_name(self.cell)}, objective {self.objective:g})"


def _column(name: str, about: str):
    return property(lambda self: self._arrays[name], doc=about)


class Archive:
    """The elites of a search, with all that is needed to run them again.

    Arrays have a row for each elite, in ascending order of cells; they are made once and cannot be written to.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """The archive of a run's folder, or of a file."""
        self._inner = _magpie.Archive(os.fspath(path))

    solution = _column("solution", "Parameters: the actor's, then log σ.")
    objective = _column("objective", "Mean returns.")
    measures = _column("measures", "Mean measures.")
    length = _column("length", "Mean lengths of episodes.")
    threshold = _column("threshold", "What a newcomer must surpass in the soft archive.")
    index = _column("index", "Numbers of the cells.")
    iteration_found = _column("iteration", "The iteration that found each.")
    branch = _column("branch", "Which proposal of the iteration each was; -1 is the search policy.")
    obs_mean = _column("obs_mean", "Means of the observation normalisers.")
    obs_var = _column("obs_var", "Variances of the observation normalisers.")

    @cached_property
    def _arrays(self) -> dict[str, np.ndarray]:
        arrays = self._inner.arrays()
        for array in arrays.values():
            array.flags.writeable = False
        return arrays

    @cached_property
    def about(self) -> dict[str, Any]:
        """What the archive is about: task, measure, cells, network, world."""
        return self._inner.about()

    @property
    def path(self) -> Path:
        """The file."""
        return Path(self._inner.path)

    @property
    def task(self) -> str:
        """The task."""
        return self.about["task"]

    @property
    def metrics(self) -> dict[str, Any]:
        """`elites`, `qd_score`, `qd_score_offset`, `coverage`, `best` and `mean`."""
        return self._inner.metrics()

    def __len__(self) -> int:
        return len(self._inner)

    def __iter__(self) -> Iterator[Policy]:
        return (Policy(self, row) for row in range(len(self)))

    def _cell(self, cell: Cell) -> int:
        if isinstance(cell, str):
            return self._inner.cell_named(cell)
        if isinstance(cell, tuple):
            return self._inner.cell_named(",".join(str(int(part)) for part in cell))
        if isinstance(cell, bool) or not isinstance(cell, (int, np.integer)) or cell < 0:
            raise ValueError(f"cell is {cell!r}, but must be a number from 0, a name like '12,40' or a tuple")
        return int(cell)

    def cell_name(self, cell: int) -> str:
        """A cell as people name it, such as `12,40`."""
        return self._inner.cell_name(cell)

    def policy(self, cell: Cell) -> Policy:
        """The elite of a cell: its number, its name such as `"12,40"`, or `(12, 40)`."""
        return Policy(self, self._inner.row(self._cell(cell)))

    def best(self) -> Policy:
        """The elite with the highest objective."""
        if len(self) == 0:
            raise ValueError(f"{self.path} holds no elites")
        return Policy(self, int(np.argmax(self.objective)))

    def evaluate(
        self,
        cell: Cell | None = None,
        *,
        episodes: int = 10,
        seed: int = 0,
        actions: str | None = None,
        robot: str | os.PathLike[str] | None = None,
        friction: float | None = None,
        strength: Mapping[str, float] | None = None,
        hurdles: Mapping[str, float] | None = None,
        own_world: World | None = None,
    ) -> Evaluation:
        """Runs all elites again on fresh seeds, or the one of `cell`; in a changed world if one is given.

        `actions` is `"mean"` or `"drawn"`; as the archive was made, if not given.
        """
        changed = any(part is not None for part in (robot, friction, strength, hurdles))
        found = self._inner.evaluate(
            None if cell is None else self._cell(cell),
            episodes,
            actions,
            seed,
            world(robot, friction, strength, hurdles) if changed else None,
            own_parts(own_world),
        )
        return Evaluation(**{name: found[name] for name in Evaluation._fields})

    def export(self, path: str | os.PathLike[str], format: str = "csv", *, policies: bool | None = None) -> None:
        """Writes the archive for pyribs (`csv`) or QDax (`npz`, `qdax`); with policies for `qdax` unless told otherwise."""
        self._inner.export(os.fspath(path), format, format == "qdax" if policies is None else policies)

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Draws two measures and the objective with matplotlib, and returns the axes."""
        import matplotlib.pyplot as plt

        if self.measures.shape[1] < 2:
            raise ValueError("one measure makes no map; in a notebook, the archive itself is a picture")
        ax = plt.gca() if ax is None else ax
        names, dims = self.about["names"], self.about["dims"]
        style = {"cmap": "viridis", **style}
        if dims is not None and len(dims) == 2:
            field = np.full(dims, np.nan)
            field.flat[self.index] = self.objective
            (left, bottom), (right, top) = self.about["lower"], self.about["upper"]
            shown = ax.imshow(field.T, origin="lower", aspect="auto", extent=(left, right, bottom, top), **style)
        else:
            shown = ax.scatter(self.measures[:, 0], self.measures[:, 1], c=self.objective, s=8, **style)
        ax.set_xlabel(names[0])
        ax.set_ylabel(names[1])
        ax.figure.colorbar(shown, ax=ax, label="return")
        return ax

    def svg(self) -> str:
        """A picture of the archive."""
        return self._inner.picture(False)

    def png(self) -> bytes:
        """A picture of the archive."""
        return self._inner.picture(True)

    def _repr_html_(self) -> str:
        return f"<figure>{self.svg()}<figcaption>{self!r}</figcaption></figure>"

    def _repr_png_(self) -> bytes:
        return self.png()

    def __repr__(self) -> str:
        metrics = self.metrics
        return (
            f"Archive({self.task}, {metrics['elites']} elites, coverage {100 * metrics['coverage']:.1f} %, "
            f"QD-Score {metrics['qd_score']:.0f})"
        )

    def to_ribs(self) -> Any:
        """A GridArchive or CVTArchive of pyribs with the same elites."""
        from .neighbours import to_ribs

        return to_ribs(self)

    def to_qdax(self) -> dict[str, np.ndarray]:
        """The arrays of a QDax repertoire."""
        from .neighbours import to_qdax

        return to_qdax(self)


def open_archive(path: str | os.PathLike[str]) -> Archive:
    """The archive of a run's folder, or of a file. While a run goes on, what its last checkpoint holds."""
    return Archive(path)


def evaluate(archive: Archive | str | os.PathLike[str], cell: Cell | None = None, **options: Any) -> Evaluation:
    """:meth:`Archive.evaluate`, of an archive or the folder of a run."""
    archive = archive if isinstance(archive, Archive) else Archive(archive)
    return archive.evaluate(cell, **options)
