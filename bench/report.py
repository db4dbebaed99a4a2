"""From measurements to the Markdown table and the JSON beside it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from sides import Measurement

# Above this many cores taken by others, a number says more about them than about the code.
QUIET_CORES = 0.1


@dataclass
class TaskResult:
    """All measurements of one task: for each side's name, one for each round."""

    task: str
    measurements: dict[str, list[Measurement]] = field(default_factory=dict)

    def speeds(self, side: str) -> list[float]:
        return [measurement.steps_per_second for measurement in self.measurements[side]]

    def ratio(self, side: str, peer: str) -> tuple[float, float, float]:
        """Ratio of medians, then the smallest and the largest ratio within a round."""
        ours, theirs = self.speeds(side), self.speeds(peer)
        rounds = [a / b for a, b in zip(ours, theirs, strict=True)]
        return median(ours) / median(theirs), min(rounds), max(rounds)


@dataclass
class Report:
    """Everything a reader needs to judge the numbers, and the numbers."""

    command: str
    date: str
    cpu: str
    cores: int
    commit: str
    environments: int
    rounds: int
    seconds: int
    versions: dict[str, str] = field(default_factory=dict)
    tasks: list[TaskResult] = field(default_factory=list)

    def noisiest(self) -> float:
        """The most cores that others took during any measurement."""
        return max(
            (m.other_cores for t in self.tasks for side in t.measurements.values() for m in side),
            default=0.0,
        )


def markdown(report: Report, comparisons: list[tuple[str, str]]) -> str:
    sides = list(report.tasks[0].measurements)
    header = ["task", *sides, *(f"{side} / {peer}" for side, peer in comparisons)]
    rows = [task_row(task, sides, comparisons) for task in report.tasks]
    table = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    lines = ["# Physics speed: magpie and Brax 0.1.0", ""]
    lines += [description(report), ""]
    lines += ["| " + " | ".join(row) + " |" for row in table]
    lines += ["", *footnotes(report)]
    return "\n".join(lines) + "\n"


def task_row(task: TaskResult, sides: list[str], comparisons: list[tuple[str, str]]) -> list[str]:
    speeds = [format_speeds(task.speeds(side)) for side in sides]
    ratios = [format_ratio(*task.ratio(side, peer)) for side, peer in comparisons]
    return [task.task, *speeds, *ratios]


def format_speeds(speeds: list[float]) -> str:
    low, middle, high = min(speeds), median(speeds), max(speeds)
    return f"{middle / 1e3:,.1f} k ({low / 1e3:,.1f}–{high / 1e3:,.1f})"


def format_ratio(ratio: float, low: float, high: float) -> str:
    return f"**{ratio:.1f}×** ({low:.1f}–{high:.1f})"


def description(report: Report) -> str:
    return (
        f"Environment steps per second with {report.environments} environments, random actions and automatic "
        f"reset: median (smallest–largest) of {report.rounds} rounds of {report.seconds} s, "
        "the sides taking turns on the same cores."
    )


def footnotes(report: Report) -> list[str]:
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    notes = [
        f"- machine: {report.cpu}, {report.cores} cores",
        f"- date: {report.date}",
        f"- versions: magpie {report.commit}, {versions}",
        f"- command: `{report.command}`",
        f"- other processes took at most {report.noisiest():.2f} cores during a measurement",
    ]
    if isa := instruction_sets(report):
        notes.append(f"- magpie's instruction set: {isa}")
    used = cores_used(report)
    if used:
        notes.append("- cores kept busy: " + ", ".join(f"{side} {n:.1f}" for side, n in used.items()))
    if report.noisiest() > QUIET_CORES:
        notes.append("- **not a quiet machine: measure again before quoting these numbers**")
    return notes


def instruction_sets(report: Report) -> str:
    records = [m.record for t in report.tasks for side in t.measurements.values() for m in side]
    return ", ".join(sorted({str(record["isa"]) for record in records if "isa" in record}))


def cores_used(report: Report) -> dict[str, float]:
    """Median cores each side that reports it kept busy, over all tasks and rounds."""
    used: dict[str, list[float]] = {}
    for task in report.tasks:
        for side, measurements in task.measurements.items():
            values = [m.record["cores_used"] for m in measurements if "cores_used" in m.record]
            used.setdefault(side, []).extend(values)
    return {side: median(values) for side, values in used.items() if values}


def as_json(report: Report, comparisons: list[tuple[str, str]]) -> dict[str, Any]:
    """The whole report, each task with its medians and ratios before its raw measurements."""
    return asdict(report) | {"tasks": [task_json(task, comparisons) for task in report.tasks]}


def task_json(task: TaskResult, comparisons: list[tuple[str, str]]) -> dict[str, Any]:
    ratios = {f"{side} / {peer}": task.ratio(side, peer) for side, peer in comparisons}
    return {
        "task": task.task,
        "steps_per_second": {
            side: {"median": median(s), "min": min(s), "max": max(s)}
            for side in task.measurements
            for s in [task.speeds(side)]
        },
        "ratios": {
            name: {"of_medians": ratio, "min": low, "max": high}
            for name, (ratio, low, high) in ratios.items()
        },
        "measurements": asdict(task)["measurements"],
    }


def write(report: Report, comparisons: list[tuple[str, str]], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(markdown(report, comparisons))
    path.with_suffix(".json").write_text(json.dumps(as_json(report, comparisons), indent=2) + "\n")
