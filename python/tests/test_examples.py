"""Every code cell of the examples runs."""

import json
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.ipynb"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_cells_run(example, tmp_path, monkeypatch):
    if "ribs" in example.stem:
        pytest.importorskip("ribs")
    monkeypatch.chdir(tmp_path)
    names = {}
    for number, cell in enumerate(json.loads(example.read_text(encoding="utf-8"))["cells"]):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{example.name}, cell {number}", "exec"), names)


def test_there_are_examples():
    assert len(EXAMPLES) >= 3
