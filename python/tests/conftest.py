"""What the tests share: the program, and one small run."""

import os
import subprocess
from pathlib import Path

import pytest

SMALL = {
    "search__environments": 32,
    "search__branches": 6,
    "search__episodes": 2,
    "search__gradient_iterations": 2,
    "search__walk_iterations": 2,
    "search__train__rollout_length": 16,
    "search__archive__threshold_min": 0.0,
}


@pytest.fixture(scope="session")
def small():
    """Settings of a search that takes a second."""
    return dict(SMALL)


@pytest.fixture(scope="session")
def program():
    """The program that comes with the package, or the one that MAGPIE_PROGRAM names."""
    from magpie_qd.__main__ import program

    named = os.environ.get("MAGPIE_PROGRAM")
    return Path(named) if named else program()


@pytest.fixture(scope="session")
def magpie(program):
    """Runs the program."""

    def run(*args, **options):
        return subprocess.run([program, *map(str, args)], check=True, capture_output=True, text=True, **options)

    return run


@pytest.fixture(scope="session")
def run(tmp_path_factory, small):
    """A small run on hopper."""
    import magpie_qd

    folder = tmp_path_factory.mktemp("runs") / "hopper"
    return magpie_qd.train("hopper", iterations=2, seed=3, out=folder, **small)
