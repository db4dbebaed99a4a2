"""The two sides of the physics benchmark behind one call: `measure(seconds)`.

Brax lives in a worker process for as long as its task is measured, because compiling takes longer than
measuring; magpie is a fresh process each time. Whoever is not being measured does nothing.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from machine import LoadMeter, process_seconds

WORKER = Path(__file__).resolve().parent / "brax_worker.py"
# XLA's idle threads spin for a moment before they sleep.
SETTLE_SECONDS = 0.3
REQUIRED_FIELDS = ("bench", "steps_per_second", "threads", "environments", "isa")


class BenchError(Exception):
    """A measurement that could not be made, told in words a person can act on."""


@dataclass(frozen=True)
class Measurement:
    """One timing: environment steps per second, cores taken by others meanwhile, and the raw record."""

    steps_per_second: float
    other_cores: float
    record: dict[str, Any]


class Side(Protocol):
    name: str

    def measure(self, seconds: int) -> Measurement: ...

    def close(self) -> None: ...


def pinned(command: list[str], core: int | None) -> list[str]:
    return command if core is None else ["taskset", "-c", str(core), *command]


class Brax:
    """Brax in its worker: `jit` on one device, or `pmap` over several, each a share of the environments.

    `jit(vmap(step))` keeps one core busy however many there are, so only `pmap` with a device for each core
    compares like with like when magpie uses them all.
    """

    def __init__(
        self, name: str, task: str, environments: int, devices: int = 1, core: int | None = None
    ) -> None:
        self.name = name
        command = [sys.executable, str(WORKER), task]
        command += ["--environments", str(environments), "--devices", str(devices)]
        self.process = subprocess.Popen(
            pinned(command, core),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | jax_environment(devices, one_core=core is not None),
        )
        hello = self._receive()
        self.versions: dict[str, str] = hello["versions"]
        self.compile_seconds: float = hello["compile_seconds"]

    def measure(self, seconds: int) -> Measurement:
        assert self.process.stdin is not None
        meter, own = LoadMeter.begin(), process_seconds(self.process.pid)
        self.process.stdin.write(f"measure {seconds}\n")
        self.process.stdin.flush()
        record = self._receive()
        others = meter.other_cores(process_seconds(self.process.pid) - own)
        time.sleep(SETTLE_SECONDS)
        return Measurement(record["steps_per_second"], others, record)

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise BenchError(f"{self.name}: the worker ended with status {self.process.wait()}")
        return json.loads(line)


def jax_environment(devices: int, one_core: bool) -> dict[str, str]:
    """The variables JAX reads when it starts."""
    flags = [f"--xla_force_host_platform_device_count={devices}"]
    if one_core:
        flags += ["--xla_cpu_multi_thread_eigen=false", "intra_op_parallelism_threads=1"]
    return {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": " ".join(flags)}


class Magpie:
    """The release binary's own benchmark, which must use exactly the cores it is compared on."""

    def __init__(
        self,
        name: str,
        binary: Path,
        task: str,
        environments: int,
        threads: int,
        core: int | None = None,
    ) -> None:
        self.name = name
        self.task = task
        self.environments = environments
        self.threads = threads
        self.core = core
        self.binary = binary

    def measure(self, seconds: int) -> Measurement:
        command = [str(self.binary), "bench", "--json", "--tasks", self.task]
        command += ["--environments", str(self.environments), "--seconds", str(seconds)]
        command += ["--threads", str(self.threads)]
        meter, own = LoadMeter.begin(), children_seconds()
        done = subprocess.run(pinned(command, self.core), capture_output=True, text=True)
        others = meter.other_cores(children_seconds() - own)
        if done.returncode:
            raise BenchError(f"{' '.join(command)} failed ({done.returncode}):\n{done.stderr[-2000:]}")
        record = find_record(done.stdout, self.task)
        self._check(record)
        return Measurement(float(record["steps_per_second"]), others, record)

    def close(self) -> None:
        """Nothing outlives a measurement."""

    def _check(self, record: dict[str, Any]) -> None:
        for field, wanted in (("environments", self.environments), ("threads", self.threads)):
            if record[field] != wanted:
                raise BenchError(f"{self.name}: asked for {wanted} {field}, magpie ran {record[field]}")


def find_record(output: str, task: str) -> dict[str, Any]:
    """The one line of `magpie bench --json` that tells of this task's environment."""
    wanted = f"env/{task}"
    records = [parse_line(line) for line in output.splitlines() if line.strip()]
    found = [record for record in records if record.get("bench") == wanted]
    if len(found) != 1:
        names = [record.get("bench") for record in records]
        raise BenchError(f"magpie bench printed {len(found)} lines with bench {wanted!r}; it has {names}")
    missing = [field for field in REQUIRED_FIELDS if field not in found[0]]
    if missing:
        raise BenchError(f"magpie bench {wanted}: no field {missing}; it has {sorted(found[0])}")
    return found[0]


def parse_line(line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise BenchError(f"magpie bench --json printed a line that is not JSON: {line!r}") from error
    if not isinstance(record, dict):
        raise BenchError(f"magpie bench --json printed a line that is not an object: {line!r}")
    return record


def children_seconds() -> float:
    """Processor seconds used by processes that have ended and were waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
