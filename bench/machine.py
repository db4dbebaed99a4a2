"""What a measurement ran on: the processor, the code, and who else was using the cores meanwhile."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")
# Only these can change a measured number; results written into docs/ do not make a commit dirty.
MEASURED_PATHS = ("crates", "bench", "Cargo.toml", "Cargo.lock")


def cores() -> list[int]:
    """The cores this process, and so both sides, may run on."""
    return sorted(os.sched_getaffinity(0))


def cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown processor"


def git_commit() -> str:
    """The commit measured, with `-dirty` when files that matter differ from it."""
    commit = run_git("rev-parse", "--short=12", "HEAD")
    changes = run_git("status", "--porcelain", "--untracked-files=no", "--", *MEASURED_PATHS)
    return commit + ("-dirty" if changes else "")


def run_git(*arguments: str) -> str:
    return subprocess.check_output(["git", *arguments], cwd=ROOT, text=True).strip()


def busy_seconds() -> float:
    """Seconds all cores together have spent on anything, stolen time included, since boot."""
    for line in Path("/proc/stat").read_text().splitlines():
        if line.startswith("cpu "):
            user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, line.split()[1:9])
            return (user + nice + system + irq + softirq + steal) / CLOCK_TICKS
    raise RuntimeError("/proc/stat has no line for all cores")


def process_seconds(pid: int) -> float:
    """Processor seconds a living process has used."""
    # The name in field 2 may hold spaces; utime and stime are the 12th and 13th after its bracket.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS


@dataclass
class LoadMeter:
    """Measures how many cores were busy with something other than the measured process."""

    start: float
    busy: float

    @classmethod
    def begin(cls) -> LoadMeter:
        return cls(time.perf_counter(), busy_seconds())

    def other_cores(self, own_seconds: float) -> float:
        elapsed = time.perf_counter() - self.start
        return max(0.0, (busy_seconds() - self.busy - own_seconds) / elapsed)
