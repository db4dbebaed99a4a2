#!/usr/bin/env python3
"""How much a search writes in an hour, and how long each save holds it up. Linux only; on an idle machine:

    bench/saving.py --magpie target/release/magpie [--seconds 3600] [--tasks walker2d,humanoid]

Bytes are those that the process handed to the disk (/proc/PID/io). A row of metrics.csv is written before the save of its
iteration, so that the time between two rows beyond the parts of the second one is what the save took of the search.
"""

from __future__ import annotations

import argparse
import json
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

PARTS = ("seconds_gradients", "seconds_evaluation", "seconds_archive", "seconds_walk")


def held_up(iterations: list[dict]) -> tuple[list[float], list[float]]:
    """Seconds between rows beyond the parts of an iteration: after iterations with a save, and after those without."""
    after: tuple[list[float], list[float]] = ([], [])
    for before, now in zip(iterations, iterations[1:]):
        row = now["metrics"]
        beyond = row["seconds"] - before["metrics"]["seconds"] - sum(row[part] for part in PARTS)
        after[0 if before["saved"] else 1].append(beyond)
    return after


def written(process: int) -> int:
    fields = dict(line.split(": ") for line in Path(f"/proc/{process}/io").read_text().splitlines())
    return int(fields["write_bytes"]) - int(fields["cancelled_write_bytes"])


def measure(magpie: str, task: str, seconds: float, folder: Path) -> None:
    out = folder / task
    lines = folder / f"{task}.jsonl"
    command = [magpie, "train", task, "--budget", "desktop", "--iterations", "1000000", "--json", "--out", str(out)]
    with lines.open("w") as told, (folder / "errors").open("w") as errors:
        run = subprocess.Popen(command, stdout=told, stderr=errors)
        began, most = time.monotonic(), 0
        while run.poll() is None and time.monotonic() - began < seconds:
            time.sleep(min(1.0, seconds / 10))
            most = max(most, written(run.pid))
        took = time.monotonic() - began
        run.send_signal(signal.SIGINT)
        run.wait()
    events = [json.loads(line) for line in lines.read_text().splitlines()]
    iterations = [event for event in events if event["event"] == "iteration"]
    saved, other = held_up(iterations)
    if not saved or not other:
        raise SystemExit(f"{task}: too short: {len(saved)} saves in {len(iterations)} iterations")
    usual = statistics.median(other)
    milliseconds = sorted(1000 * (beyond - usual) for beyond in saved)
    print(
        f"{task}: {most / 1e6 * 3600 / took:.0f} MB an hour ({most / 1e6:.0f} MB in {took:.0f} s); {len(saved)} saves hold the "
        f"search up by {statistics.median(milliseconds):.1f} ms (median), {milliseconds[-1]:.1f} ms (most)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--magpie", required=True)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--tasks", default="walker2d,humanoid")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for task in arguments.tasks.split(","):
            measure(arguments.magpie, task, arguments.seconds, Path(folder))


if __name__ == "__main__":
    main()
