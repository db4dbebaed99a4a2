"""Amdahl's law with its one parameter, and the phases of a run from its table."""

import tempfile
import unittest
from pathlib import Path

from scaling import phases, projected, serial_share


class Scaling(unittest.TestCase):
    def test_the_share_that_is_found_gives_the_time_that_was_measured(self):
        for share in [0.0, 0.1, 0.5, 1.0]:
            two = projected(8.0, share, 2)
            self.assertAlmostEqual(serial_share(8.0, two), share)
        self.assertEqual(serial_share(8.0, 3.9), 0.0)
        self.assertEqual(serial_share(8.0, 8.1), 1.0)
        self.assertEqual(serial_share(0.0, 0.0), 0.0)

    def test_no_core_helps_that_has_no_task(self):
        self.assertAlmostEqual(projected(6.0, 0.0, 4, tasks=12), 1.5)
        self.assertAlmostEqual(projected(6.0, 0.0, 8, tasks=12), 1.0)
        self.assertAlmostEqual(projected(6.0, 0.0, 64, tasks=12), 0.5)
        self.assertAlmostEqual(projected(6.0, 0.5, 64), 3.0 + 3.0 / 64)

    def test_phases_are_means_without_the_first_iteration(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "metrics.csv").write_text(
                "iteration,seconds_walk,seconds_archive,seconds\n1,9,9,20\n2,1,2,25\n3,3,2,30\n"
            )
            self.assertEqual(phases(Path(folder)), {"walk": 2.0, "archive": 2.0, "rest": 1.0})


if __name__ == "__main__":
    unittest.main()
