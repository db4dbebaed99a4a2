"""Tests of the benchmark's own arithmetic and messages; they need neither JAX nor magpie.

Run with: python -m unittest discover -s bench
"""

from __future__ import annotations

import json
import os
import tempfile
import unittest
from pathlib import Path

from machine import process_seconds
from report import Report, TaskResult, as_json, markdown, write
from sides import BenchError, Magpie, Measurement, find_record

RECORD = {"bench": "env/hopper", "steps_per_second": 5e6, "threads": 2, "environments": 3000, "isa": "avx512"}
PAIRS = [("magpie", "brax jit")]


def example_report(other_cores: float = 0.0) -> Report:
    brax = [Measurement(s, other_cores, {"cores_used": 1.0}) for s in (100e3, 200e3, 150e3)]
    magpie = [Measurement(s, 0.0, RECORD) for s in (3e6, 4e6, 3e6)]
    task = TaskResult("hopper", {"brax jit": brax, "magpie": magpie})
    return Report("bench/physics.sh", "2000-01-01", "cpu", 2, "abc", 3000, 3, 5, {"jax": "0.4.13"}, [task])


def fake_magpie(folder: str, script: str) -> Path:
    binary = Path(folder) / "magpie"
    binary.write_text(f"#!/bin/sh\n{script}\n")
    binary.chmod(0o755)
    return binary


class FindRecord(unittest.TestCase):
    def test_picks_the_line_of_the_task_and_keeps_extra_fields(self) -> None:
        lines = [{"bench": "peak"}, RECORD | {"flops_per_step": 7}]
        found = find_record("\n".join(map(json.dumps, lines)), "hopper")
        self.assertEqual(found["flops_per_step"], 7)

    def test_names_what_is_there_when_the_task_is_not(self) -> None:
        with self.assertRaisesRegex(BenchError, r"0 lines with bench 'env/ant'.*env/hopper"):
            find_record(json.dumps(RECORD), "ant")

    def test_names_a_missing_field(self) -> None:
        record = {k: v for k, v in RECORD.items() if k != "threads"}
        with self.assertRaisesRegex(BenchError, r"no field \['threads'\]"):
            find_record(json.dumps(record), "hopper")

    def test_quotes_a_line_that_is_not_json(self) -> None:
        with self.assertRaisesRegex(BenchError, "not JSON: 'hello'"):
            find_record("hello", "hopper")


class MagpieSide(unittest.TestCase):
    def measure(self, script: str, threads: int = 2) -> Measurement:
        with tempfile.TemporaryDirectory() as folder:
            return Magpie("magpie", fake_magpie(folder, script), "hopper", 3000, threads).measure(1)

    def test_reads_the_speed(self) -> None:
        self.assertEqual(self.measure(f"echo '{json.dumps(RECORD)}'").steps_per_second, 5e6)

    def test_refuses_another_number_of_threads(self) -> None:
        with self.assertRaisesRegex(BenchError, "asked for 1 threads, magpie ran 2"):
            self.measure(f"echo '{json.dumps(RECORD)}'", threads=1)

    def test_shows_why_the_binary_failed(self) -> None:
        with self.assertRaisesRegex(BenchError, r"failed \(3\):\nno such task"):
            self.measure("echo no such task >&2; exit 3")


class Reporting(unittest.TestCase):
    def test_ratio_is_of_medians_and_spread_is_within_rounds(self) -> None:
        ratio, low, high = example_report().tasks[0].ratio("magpie", "brax jit")
        self.assertEqual((ratio, low, high), (20.0, 20.0, 30.0))

    def test_table_shows_median_spread_and_ratio(self) -> None:
        text = markdown(example_report(), PAIRS)
        self.assertIn("| hopper | 150.0 k (100.0–200.0) | 3,000.0 k (3,000.0–4,000.0) | **20.0×** (20.0–30.0) |", text)

    def test_notes_name_the_instruction_set_and_the_cores_kept_busy(self) -> None:
        text = markdown(example_report(), PAIRS)
        self.assertIn("instruction set: avx512\n", text)
        self.assertIn("cores kept busy: brax jit 1.0\n", text)

    def test_a_loud_machine_is_called_one(self) -> None:
        self.assertNotIn("not a quiet machine", markdown(example_report(), PAIRS))
        self.assertIn("not a quiet machine", markdown(example_report(other_cores=1.0), PAIRS))

    def test_json_is_written_beside_the_table(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            write(example_report(), PAIRS, Path(folder) / "results" / "speed.md")
            stored = json.loads((Path(folder) / "results" / "speed.json").read_text())
        self.assertEqual(stored["tasks"][0]["ratios"]["magpie / brax jit"]["of_medians"], 20.0)
        self.assertEqual(stored, json.loads(json.dumps(as_json(example_report(), PAIRS))))


class Machine(unittest.TestCase):
    def test_processor_time_agrees_with_the_system_call(self) -> None:
        used = os.times()
        self.assertAlmostEqual(process_seconds(os.getpid()), used.user + used.system, delta=0.05)


if __name__ == "__main__":
    unittest.main()
