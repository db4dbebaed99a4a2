"""The program `magpie`, which comes with the package."""

import os
import subprocess
import sys
from pathlib import Path


def program() -> Path:
    """The program's file."""
    path = Path(__file__).with_name("bin") / ("magpie.exe" if os.name == "nt" else "magpie")
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: this package was built without the program; pip install ./python")
    return path


def main() -> None:
    """Runs the program in place of this process, so that it gets every signal itself."""
    command = [str(program()), *sys.argv[1:]]
    if os.name == "nt":
        sys.exit(subprocess.run(command, check=False).returncode)
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
