"""Measures magpie's physics against Brax 0.1.0 on JAX CPU, in one run on the same cores.

For each task the sides take turns for several rounds. Prints a Markdown table; --out keeps it with its JSON.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from contextlib import ExitStack
from datetime import datetime, timezone
from pathlib import Path

import machine
from report import QUIET_CORES, Report, TaskResult, markdown, write
from sides import BenchError, Brax, Magpie, Measurement, Side

TASKS = ("halfcheetah", "walker2d", "hopper", "ant", "humanoid")


def parse_arguments(argv: list[str]) -> argparse.Namespace:
    target = Path(os.environ.get("CARGO_TARGET_DIR", machine.ROOT / "target"))
    parser = argparse.ArgumentParser(prog="bench/physics.sh", description=__doc__)
    parser.add_argument("--tasks", type=task_list, default=TASKS, metavar="A,B", help=f"default: {','.join(TASKS)}")
    parser.add_argument("--environments", type=positive, default=3000)
    parser.add_argument("--rounds", type=positive, default=3)
    parser.add_argument("--seconds", type=positive, default=5, help="least length of a measurement")
    parser.add_argument("--one-core", action="store_true", help="compare on one core as well as on all")
    parser.add_argument("--peer-only", action="store_true", help="measure Brax alone")
    parser.add_argument("--magpie", type=Path, default=target / "release" / "magpie", help="binary to measure")
    parser.add_argument("--out", type=Path, metavar="FILE.md", help="write the table here, the JSON beside it")
    return parser.parse_args(argv)


def task_list(text: str) -> tuple[str, ...]:
    tasks = tuple(text.split(","))
    unknown = [task for task in tasks if task not in TASKS]
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown task {unknown[0]!r}; choose from {','.join(TASKS)}")
    return tasks


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is not positive")
    return value


def check_before_compiling(arguments: argparse.Namespace, cores: int) -> None:
    """Refuses now what would otherwise fail after minutes of compilation."""
    if arguments.environments % cores:
        raise BenchError(f"{arguments.environments} environments do not divide among {cores} cores")
    if not arguments.peer_only and not arguments.magpie.is_file():
        raise BenchError(f"no magpie binary at {arguments.magpie}: run cargo build --release")


def comparisons(arguments: argparse.Namespace, cores: int) -> list[tuple[str, str]]:
    """Which side is divided by which."""
    if arguments.peer_only:
        return []
    pairs = [("magpie", "brax jit")]
    if cores > 1:
        pairs.append(("magpie", "brax pmap"))
    if arguments.one_core:
        pairs.append(("magpie, 1 core", "brax, 1 core"))
    return pairs


def open_sides(arguments: argparse.Namespace, task: str, cores: list[int], stack: ExitStack) -> list[Side]:
    """Starts each side of a task, peers before magpie, all cores before one."""
    sides: list[Side] = [open_brax(arguments, "brax jit", task, stack)]
    if len(cores) > 1:
        sides.append(open_brax(arguments, "brax pmap", task, stack, devices=len(cores)))
    if not arguments.peer_only:
        sides.append(open_magpie(arguments, "magpie", task, threads=len(cores)))
    if arguments.one_core:
        sides.append(open_brax(arguments, "brax, 1 core", task, stack, core=cores[0]))
        if not arguments.peer_only:
            sides.append(open_magpie(arguments, "magpie, 1 core", task, threads=1, core=cores[0]))
    return sides


def open_brax(
    arguments: argparse.Namespace,
    name: str,
    task: str,
    stack: ExitStack,
    devices: int = 1,
    core: int | None = None,
) -> Brax:
    progress(f"{task}: compiling {name}")
    brax = Brax(name, task, arguments.environments, devices, core)
    stack.callback(brax.close)
    progress(f"{task}: {name} ready after {brax.compile_seconds:.0f} s")
    return brax


def open_magpie(
    arguments: argparse.Namespace, name: str, task: str, threads: int, core: int | None = None
) -> Magpie:
    return Magpie(name, arguments.magpie, task, arguments.environments, threads, core)


def measure_task(arguments: argparse.Namespace, task: str, report: Report) -> TaskResult:
    result = TaskResult(task)
    with ExitStack() as stack:
        sides = open_sides(arguments, task, machine.cores(), stack)
        report.versions = next(side.versions for side in sides if isinstance(side, Brax))
        result.measurements = {side.name: [] for side in sides}
        for number in range(arguments.rounds):
            # Every other round runs backwards, so that a drift of the machine favours neither side.
            for side in sides if number % 2 == 0 else reversed(sides):
                measurement = side.measure(arguments.seconds)
                result.measurements[side.name].append(measurement)
                progress(f"{task}: round {number + 1}, {side.name}: {describe(measurement)}")
    return result


def describe(measurement: Measurement) -> str:
    text = f"{measurement.steps_per_second:,.0f} steps/s"
    if measurement.other_cores > QUIET_CORES:
        text += f" (others took {measurement.other_cores:.2f} cores)"
    return text


def new_report(arguments: argparse.Namespace, argv: list[str]) -> Report:
    return Report(
        command=shlex.join(["bench/physics.sh", *argv]),
        date=datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        cpu=machine.cpu_model(),
        cores=len(machine.cores()),
        commit=machine.git_commit(),
        environments=arguments.environments,
        rounds=arguments.rounds,
        seconds=arguments.seconds,
    )


def progress(message: str) -> None:
    print(f"physics: {message}", file=sys.stderr, flush=True)


def main(argv: list[str]) -> int:
    arguments = parse_arguments(argv)
    report = new_report(arguments, argv)
    pairs = comparisons(arguments, report.cores)
    try:
        check_before_compiling(arguments, report.cores)
        for task in arguments.tasks:
            report.tasks.append(measure_task(arguments, task, report))
            # After each task, so that a long run cut short keeps what it has.
            if arguments.out:
                write(report, pairs, arguments.out)
    except BenchError as error:
        progress(str(error))
        return 1
    print(markdown(report, pairs), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
