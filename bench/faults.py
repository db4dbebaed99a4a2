#!/usr/bin/env python3
"""Kills, errors of the system and power cuts at every call that changes a file of a run; each time the run is resumed and
compared, byte by byte, with one that was left alone.

    bench/faults.py --magpie target/debug/magpie [--seconds 120] [--kinds train,ppo,sweep] [--modes kill,error,power]

A tiny run is made once under strace, which tells every call. From then on,

  kill   the run is made again and killed at that call;
  error  the run is made again and the call fails (a full disk, a broken disk, no permission); the program has to say so;
  power  no run is made: the folder is put together as a kill or a power cut at that moment may leave it (bench/disk.py).

Threads of their own write some of the files, and strace counts calls by thread: of these, `kill` and `error` find the first
ones, and `power` all.

Then the same command is given as a person would give it: to resume, or to start if there is nothing to resume. It has to end
with the files of the undisturbed run. With --seconds, as many moments are tried as fit, in an order that mixes all of
them; without, all. Needs strace; without it nothing is tried and the exit code is 0.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from disk import CHANGING, FOLLOWED, STRACE, Call, Disk, Picture, digest, read_log

SMALL = {
    "search.environments": 16,
    "search.branches": 4,
    "search.episodes": 1,
    "search.train.rollout_length": 8,
    "search.gradient_iterations": 1,
    "search.walk_iterations": 1,
    "search.archive.resolution": 4,
}
# Longer than any of these runs takes, on a busy machine.
PATIENCE = 120
# How each call may fail. A call that is not here is not made to.
ERRORS = {
    "openat": "EMFILE",
    "write": "ENOSPC",
    "fsync": "EIO",
    "fdatasync": "EIO",
    "rename": "EIO",
    "renameat": "EIO",
    "mkdir": "EACCES",
    "ftruncate": "EIO",
}
# A program that ends like this has not ended by itself: a panic, an abort, a fault of memory.
CRASHES = (101, 134, 139, -6, -11, -4, -8)


class Kind:
    """A kind of run: how it is started and resumed, and the files that it has to end with."""

    def __init__(self, name: str, magpie: str):
        self.name, self.magpie = name, magpie

    def command(self, folder: Path, length: int) -> list[str]:
        """What is given to start a run in `folder`, or to go on with it."""
        if self.name == "sweep":
            return [self.magpie, "sweep", str(self.file(folder)), "--out", str(folder), "--threads", "1", "--checkpoint-every", "1"]
        steps = ["--iterations", str(length), "--checkpoint-every", "1"] if self.name == "train" else ["--steps", str(128 * length)]
        common = [*steps, "--threads", "1"]
        if (folder / "config.toml").exists():
            return [self.magpie, self.name, "--resume", str(folder), *common]
        settings = SMALL if self.name == "train" else {"train.rollout_length": 8, "train.minibatches": 2, "train.epochs": 1}
        sets = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        reward = ["--reward", "gail"] if self.name == "train" else ["--environments", "16"]
        return [self.magpie, self.name, "hopper", *reward, *sets, *common, "--out", str(folder)]

    def file(self, folder: Path) -> Path:
        """The sweep file, beside the folder."""
        path = folder.parent / "sweep.toml"
        if not path.exists():
            settings = "".join(f"{key} = {value}\n" for key, value in SMALL.items())
            axes = 'task = ["hopper"]\nreward = ["true"]\nseed = [1, 2]\n'
            path.write_text(f"[settings]\niterations = 2\n{settings}\n[axes]\n{axes}")
        return path

    def results(self, folder: Path) -> dict[str, str]:
        """Checksums of all that does not hold the time of day."""
        found = {}
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            name = str(path.relative_to(folder))
            if path.name == "metrics.csv":
                data = timeless(path.read_text())
            elif path.parent.name == "checkpoint" and path.name.startswith("rows-") and path.suffix != ".part":
                # How many segments there are, and how they are numbered, depends on when the run was saved.
                continue
            elif path.name.startswith("owner-"):
                # Of a process that was killed when all else was done; whoever opens the run next deletes it.
                continue
            elif path.parent.name == "checkpoint" or path.name == "finished" or "tfevents" in path.name:
                data = b"present"
            else:
                data = path.read_bytes()
            found[name] = hashlib.sha256(data).hexdigest()
        return found


def timeless(text: str) -> bytes:
    """A table without the columns that the clock fills."""
    rows = list(csv.reader(io.StringIO(text)))
    kept = [i for i, name in enumerate(rows[0]) if not name.startswith("seconds")] if rows else []
    return repr([[row[i] if i < len(row) else None for i in kept] for row in rows]).encode()


def run(command: list[str], **options) -> tuple[int | None, str]:
    """The exit code and what was said; no code if the program did not end."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE, **options)
    except subprocess.TimeoutExpired:
        return None, "it does not end"
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


@dataclass(frozen=True)
class Moment:
    """A call of the recorded run that changed a file."""

    phase: int
    call: Call
    # What the file is to the run.
    what: str


@dataclass(frozen=True)
class Trial:
    """Something that happens to a run, and how it went on."""

    mode: str
    where: str
    happen: Callable[[Path], list[str]]


class Subject:
    """A kind of run, recorded once: half of it from the start, and the rest resumed."""

    HALF, WHOLE = 1, 2

    def __init__(self, kind: Kind, work: Path):
        self.kind, self.work = kind, work
        whole = work / "whole" / "run"
        whole.parent.mkdir(parents=True)
        self._succeed(kind.command(whole, self.WHOLE))
        self.expected = kind.results(whole)
        self.moments: list[Moment] = []
        # Distinct folders that a power cut may leave, with how and when.
        self.pictures: dict[str, tuple[str, Picture]] = {}
        self.half = work / "half"
        self._record()

    def _succeed(self, command: list[str]) -> None:
        code, said = run(command)
        if code != 0:
            sys.exit(f"{' '.join(command)}: exit code {code}: {said}")

    def phases(self) -> Iterator[tuple[int, int]]:
        """Each part of the run with its length. A sweep goes on by itself."""
        yield 0, self.WHOLE if self.kind.name == "sweep" else self.HALF
        if self.kind.name != "sweep":
            yield 1, self.WHOLE

    def _record(self) -> None:
        root = self.work / "recorded"
        root.mkdir()
        disk = Disk(root)
        # Contents are shared by the pictures that have them.
        blobs: dict[bytes | None, bytes | None] = {}
        for phase, length in self.phases():
            log = self.work / f"calls-{phase}.txt"
            command = self.kind.command(root / "run", length)
            if phase == 1:
                shutil.copytree(root, self.half)
                disk.keep_all()
            self._succeed([*STRACE, "-e", f"trace={','.join(FOLLOWED)}", "-o", str(log), *command])
            with log.open(errors="replace") as lines:
                calls = list(read_log(lines))
            log.unlink()
            here = [call for call in calls if call.name in CHANGING and call.path.startswith(str(root))]
            ends = {id(call) for call in first_and_last(here)}
            for call in calls:
                what = what_is(call.path, root)
                if disk.apply(call) and id(call) in ends:
                    self.moments.append(Moment(phase, call, what))
                    for how, left in [("all is kept, as after a kill", disk.now()), *disk.after_power_cut()]:
                        shared = {name: blobs.setdefault(data, data) for name, data in left.items()}
                        self.pictures.setdefault(digest(left), (f"phase {phase}, after {call.name} of {what}: {how}", shared))

    def trials(self, modes: list[str]) -> Iterator[Trial]:
        for moment in self.moments:
            call = moment.call
            where = f"phase {moment.phase}, {call.name} {call.number} ({moment.what})"
            if "kill" in modes:
                yield Trial("kill", where, self._injected(moment, "signal=KILL"))
            if "error" in modes and call.name in ERRORS and not moment.what.startswith("left"):
                yield Trial("error", where, self._injected(moment, f"error={ERRORS[call.name]}"))
        for where, left in self.pictures.values() if "power" in modes else ():
            yield Trial("power", where, lambda root, left=left: lay_out(root, left))

    def _injected(self, moment: Moment, what: str) -> Callable[[Path], list[str]]:
        def happen(root: Path) -> list[str]:
            if moment.phase == 1:
                shutil.copytree(self.half, root, dirs_exist_ok=True)
            call, log = moment.call, root.parent / "injected.txt"
            inject = f"inject={call.name}:{what}:when={call.number}"
            length = dict(self.phases())[moment.phase]
            strace = ["strace", "-f", "-qq", "-o", str(log), "-e", f"trace={call.name}", "-e", inject]
            code, said = run([*strace, *self.kind.command(root / "run", length)])
            hit = log.exists() and any(word in log.read_text(errors="replace") for word in ("INJECTED", "killed by SIGKILL"))
            problems = crashed(code, said)
            # Each thread has a count of its own: the message itself may be what failed.
            silenced = log.exists() and any(
                "INJECTED" in line and "write(2," in line for line in log.read_text(errors="replace").splitlines()
            )
            if what != "signal=KILL":
                if hit and code == 0:
                    problems.append("the program succeeds although a call failed")
                if hit and code == 1 and not silenced and not any(word in said for word in ("error: ", "failed   ")):
                    problems.append(f"no error is told: {said[-300:]}")
                problems += [f"{path.name} is left behind" for path in root.rglob("*.part")]
            return problems if hit else [*problems, "missed"]

        return happen

    def try_one(self, trial: Trial) -> list[str]:
        """What is wrong; nothing if the run ends as it should."""
        with tempfile.TemporaryDirectory(dir=self.work) as temporary:
            root = Path(temporary) / "root"
            root.mkdir()
            problems = trial.happen(root)
            folder = root / "run"
            code, said = run(self.kind.command(folder, self.WHOLE))
            if code != 0:
                return [*problems, f"afterwards, exit code {code}: {said[:800]}"]
            found = self.kind.results(folder)
            differ = [name for name in sorted(found.keys() | self.expected) if found.get(name) != self.expected.get(name)]
            return problems + ([f"afterwards, other files: {', '.join(differ)}"] if differ else [])


def what_is(path: str, root: Path) -> str:
    """A file of a run, the same for each of its temporary names."""
    name = str(Path(path).relative_to(root)) if path.startswith(f"{root}/") else "the folder above"
    if name.endswith(".part"):
        return "beside " + name.removesuffix(".part").rpartition(".")[0]
    folder, dash, _ = name.partition("owner-")
    return f"{folder}owner" if dash else name


def first_and_last(calls: list[Call]) -> list[Call]:
    """Of many writes in a row into the same file, the first and the last one."""

    def inner(i: int) -> bool:
        return 0 < i < len(calls) - 1 and all(
            (calls[j].name, calls[j].path) == ("write", calls[i].path) for j in (i - 1, i, i + 1)
        )

    return [call for i, call in enumerate(calls) if not inner(i)]


def crashed(code: int | None, said: str) -> list[str]:
    """Whether the program ended as none should."""
    bad = code is None or code in CRASHES or "panicked" in said
    return [f"it crashes (exit code {code}): {said[:800]}"] if bad else []


def lay_out(root: Path, left: Picture) -> list[str]:
    for name, data in left.items():
        path = root / name
        if data is None:
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.write_bytes(data)
    return []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--magpie", default="target/debug/magpie", help="the program")
    parser.add_argument("--seconds", type=float, help="stop trying after so long")
    parser.add_argument("--kinds", default="train,ppo,sweep")
    parser.add_argument("--modes", default="kill,error,power")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    probe = shutil.which("strace") and run(["strace", "-o", os.devnull, "true"])[0]
    if probe != 0:
        print("skipped: faults of the system, for want of strace (or of the permission to trace)")
        return 0
    end = time.monotonic() + options.seconds if options.seconds else float("inf")
    magpie, modes = str(Path(options.magpie).resolve()), options.modes.split(",")
    with tempfile.TemporaryDirectory(prefix="magpie-faults-") as work, ThreadPoolExecutor(options.jobs) as pool:
        kinds = options.kinds.split(",")
        subjects = list(pool.map(lambda name: Subject(Kind(name, magpie), Path(work) / name), kinds))
        trials = [(subject, trial) for subject in subjects for trial in subject.trials(modes)]
        # The same order every time, and the start of it holds some of each.
        random.Random(1).shuffle(trials)

        def attempt(task: tuple[Subject, Trial]) -> list[str] | None:
            return None if time.monotonic() > end else task[0].try_one(task[1])

        tried, missed, failed = Counter(), 0, 0
        for (subject, trial), problems in zip(trials, pool.map(attempt, trials)):
            if problems is None:
                continue
            tried[subject.kind.name, trial.mode] += 1
            if "missed" in problems:
                problems.remove("missed")
                missed += 1
            for problem in problems:
                failed += 1
                print(f"FAILED {subject.kind.name}, {trial.mode}, {trial.where}: {problem}", flush=True)
    possible = Counter((subject.kind.name, trial.mode) for subject, trial in trials)
    for key, count in sorted(possible.items()):
        print(f"{key[0]:6} {key[1]:6} {tried[key]:4} of {count} moments tried")
    print(f"{failed} failures; {missed} faults did not happen because the program went another way")
    if not all(tried[key] for key in possible) or missed > sum(tried.values()) // 4:
        print("too few moments were tried")
        return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
