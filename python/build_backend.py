"""Builds wheels: maturin builds the extension module, and the program `magpie` goes in beside it.

maturin builds a library or a program, not both. So the program is built first and becomes data of the package.
"""

import os
import shutil
import subprocess
from pathlib import Path

import maturin
from maturin import get_requires_for_build_wheel  # noqa: F401

HERE = Path(__file__).resolve().parent
PROGRAM = "magpie.exe" if os.name == "nt" else "magpie"


def _build_program():
    """Puts the program, without its symbols, where maturin finds it."""
    cargo = ["cargo", "rustc", "--locked", "--release", "-p", "magpie-cli", "--bin", "magpie"]
    subprocess.run([*cargo, "--", "-C", "strip=symbols"], cwd=HERE.parent, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target"))
    folder = HERE / "magpie_qd" / "bin"
    folder.mkdir(exist_ok=True)
    shutil.copy2(target / "release" / PROGRAM, folder / PROGRAM)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517: a wheel with the extension module and the program."""
    _build_program()
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    """PEP 517: refused, because the sources are a workspace of which this folder is a part."""
    raise RuntimeError("magpie-qd is distributed as wheels; to build from source: pip install ./python in a checkout")
