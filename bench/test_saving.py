"""Tests of saving.py."""

import unittest

from saving import PARTS, held_up


def row(seconds: float, saved: bool) -> dict:
    return {"metrics": {"seconds": seconds, **dict.fromkeys(PARTS, 0.25)}, "saved": saved}


class HeldUp(unittest.TestCase):
    def test_what_a_save_takes_is_between_its_row_and_the_next_one(self) -> None:
        saved, other = held_up([row(1.0, False), row(2.5, True), row(3.75, False)])
        self.assertEqual(saved, [0.25])
        self.assertEqual(other, [0.5])


if __name__ == "__main__":
    unittest.main()
