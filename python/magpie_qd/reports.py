"""Comparisons of runs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from . import _magpie

__all__ = ["report", "rliable_scores"]


def report(*places: str | os.PathLike[str], out: str | os.PathLike[str] | None = None) -> Path:
    """Compares runs, or folders of runs: writes a page with figures and tables, and returns its file."""
    if not places:
        raise ValueError("name at least one run, or a folder of runs")
    if out is None:
        out = Path(places[0]) / "report" if len(places) == 1 else Path("report")
    page, _, notes = _magpie.report([os.fspath(place) for place in places], os.fspath(out))
    for note in notes:
        warnings.warn(note, stacklevel=2)
    return Path(page)


def rliable_scores(
    runs: dict[str, dict[str, Iterable[str | os.PathLike[str]]]], column: str = "qd_score"
) -> dict[str, np.ndarray]:
    """What rliable compares: for each method an array (seeds, tasks) of a column of `metrics.csv`, at the last iteration.

    `runs` names the folders: `{"GAIL": {"walker2d": ["runs/a", "runs/b"], "hopper": […]}}`. Methods have the same
    tasks, and every task as many seeds.
    """
    scores = {}
    tasks: list[str] | None = None
    for method, of_tasks in runs.items():
        tasks = list(of_tasks) if tasks is None else tasks
        if sorted(of_tasks) != sorted(tasks):
            raise ValueError(f"{method} has the tasks {sorted(of_tasks)}, but others have {sorted(tasks)}")
        columns = [[_last(folder, column) for folder in of_tasks[task]] for task in tasks]
        if len({len(values) for values in columns}) != 1:
            raise ValueError(f"{method}: every task needs the same number of runs")
        scores[method] = np.array(columns).T
    return scores


def _last(folder: str | os.PathLike[str], column: str) -> float:
    with open(Path(folder) / "metrics.csv", encoding="utf-8") as file:
        names, *rows = [line.strip().split(",") for line in file]
    if column not in names:
        raise ValueError(f"metrics.csv has no column {column!r}; it has {', '.join(names)}")
    if not rows:
        raise ValueError(f"{folder} has made no iteration")
    return float(rows[-1][names.index(column)])
