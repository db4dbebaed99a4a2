#!/usr/bin/env python3
"""How a search scales with cores: measured on one thread and on two, and projected.

    bench/scaling.py --magpie target/release/magpie [--iterations 6] [--rounds 3] [--out docs/results/scaling.md] -- walker2d --budget desktop

What follows `--` are arguments of `magpie train`. Runs on one thread and on two take turns on a quiet machine. The phases of an
iteration are the columns `seconds_…` of metrics.csv, and `rest`, which is everything else; the first iteration is left out.

For each phase the model is Amdahl's law, T(n) = T(1) · (s + (1 − s) / n), with the serial share s that fits T(2). One
unknown and two measurements leave nothing to check within a phase, so the model is checked where it can fail: on held-out rounds. The
serial share comes from one half of the rounds; the whole iteration on two threads, predicted from it, is compared with the other
half. A projection says what the serial shares alone allow. It knows nothing of memory bandwidth, of a second socket, of clocks
that fall when all cores are busy, nor of fewer tasks than cores: --tasks, the least number of tasks in a parallel
loop of the search, bounds the speedup of each phase in the last column.
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from machine import cpu_model

PROJECTED = [2, 16, 64, 128]


def phases(run: Path) -> dict[str, float]:
    """Mean seconds of each phase in an iteration after the first."""
    rows = list(csv.DictReader((run / "metrics.csv").open()))
    clocks = [name for name in rows[0] if name.startswith("seconds_")]
    means = {name.removeprefix("seconds_"): statistics.fmean(float(row[name]) for row in rows[1:]) for name in clocks}
    # `seconds` counts from the start of the run.
    whole = (float(rows[-1]["seconds"]) - float(rows[0]["seconds"])) / (len(rows) - 1)
    return means | {"rest": max(0.0, whole - sum(means.values()))}


def measure(arguments: argparse.Namespace, threads: int, folder: Path) -> dict[str, float]:
    command = [arguments.magpie, "train", *arguments.train, "--iterations", str(arguments.iterations)]
    command += ["--threads", str(threads), "--out", str(folder), "--quiet"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return phases(folder)


def serial_share(one: float, two: float) -> float:
    """s of T(2) = T(1) · (s + (1 − s) / 2), between 0 and 1."""
    return min(1.0, max(0.0, 2.0 * two / one - 1.0)) if one > 0.0 else 0.0


def projected(one: float, share: float, cores: int, tasks: int | None = None) -> float:
    # With fewer tasks than cores some cores have nothing to do; with 1.5 times as many, half of them work twice.
    waves = -(-tasks // cores) / tasks if tasks else 1.0 / cores
    return one * (share + (1.0 - share) * waves)


def medians(rounds: list[dict[str, float]]) -> dict[str, float]:
    return {phase: statistics.median(one[phase] for one in rounds) for phase in rounds[0]}


def table(one: dict[str, float], two: dict[str, float], tasks: int | None) -> list[str]:
    head = "| phase | 1 thread, s | 2 threads, s | serial share | " + " | ".join(f"{n} cores, s" for n in PROJECTED[1:])
    lines = [head + " |", "|" + "---|" * (4 + len(PROJECTED) - 1)]
    total = dict.fromkeys(PROJECTED, 0.0)
    for phase in one:
        share = serial_share(one[phase], two[phase])
        times = {n: projected(one[phase], share, n, tasks if phase != "rest" else None) for n in PROJECTED}
        total = {n: total[n] + times[n] for n in PROJECTED}
        cells = " | ".join(f"{times[n]:.3f}" for n in PROJECTED[1:])
        lines.append(f"| {phase} | {one[phase]:.3f} | {two[phase]:.3f} | {100 * share:.1f} % | {cells} |")
    whole, pair = sum(one.values()), sum(two.values())
    cells = " | ".join(f"{total[n]:.3f} ({whole / total[n]:.1f}×)" for n in PROJECTED[1:])
    lines.append(f"| **iteration** | {whole:.3f} | {pair:.3f} ({whole / pair:.2f}×) | {100 * serial_share(whole, pair):.1f} % | {cells} |")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--magpie", default="target/release/magpie")
    parser.add_argument("--iterations", type=int, default=6, help="of each run, the first of which is left out")
    parser.add_argument("--rounds", type=int, default=4, help="runs on one thread and on two; the model is checked from two on")
    parser.add_argument("--tasks", type=int, help="the least number of tasks in a parallel loop: environments / 64, rounded up")
    parser.add_argument("--out", type=Path, help="also write the result here, as Markdown")
    parser.add_argument("train", nargs="+", help="arguments of magpie train")
    arguments = parser.parse_args()
    if arguments.iterations < 2 or arguments.rounds < 2:
        parser.error("at least 2 iterations and 2 rounds")
    if len(os.sched_getaffinity(0)) < 2:
        parser.error("needs two cores")

    found: dict[int, list[dict[str, float]]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.rounds):
            for threads in [1, 2] if number % 2 == 0 else [2, 1]:
                found[threads].append(measure(arguments, threads, Path(folder, f"{number}-{threads}")))
                whole = sum(found[threads][-1].values())
                print(f"round {number + 1}, {threads} thread(s): {whole:.3f} s an iteration, load {os.getloadavg()[0]:.1f}", file=sys.stderr)

    one, two = medians(found[1]), medians(found[2])
    fit = {threads: medians(rounds[::2]) for threads, rounds in found.items()}
    held_out = sum(medians(found[2][1::2]).values())
    predicted = sum(projected(fit[1][phase], serial_share(fit[1][phase], fit[2][phase]), 2) for phase in fit[1])
    lines = [
        "# Scaling with cores",
        "",
        f"`magpie train {' '.join(arguments.train)}`, medians of {arguments.rounds} rounds of {arguments.iterations} iterations, the "
        f"first left out. {cpu_model()}.",
        "",
        *table(one, two, arguments.tasks),
        "",
        f"The model fitted on half of the rounds says {predicted:.3f} s an iteration on two threads; the other half took "
        f"{held_out:.3f} s, {100 * (held_out / predicted - 1):+.1f} %. Times beyond two cores are projections from the serial shares alone.",
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    if arguments.out:
        arguments.out.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
