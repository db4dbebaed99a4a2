"""The package: typed, with its program."""

import inspect
import subprocess
import sys
import warnings
from pathlib import Path

import magpie_qd
import pytest


def test_the_program_is_inside(magpie):
    assert magpie("--version").stdout.split()[1] == magpie_qd.__version__
    command = Path(sys.executable).with_name("magpie")
    if command.exists():
        done = subprocess.run([command, "envs"], capture_output=True, text=True, check=True)
        assert "walker2d" in done.stdout
        assert subprocess.run([command, "no-such"], capture_output=True).returncode == 2


def test_gymnasium_knows_the_tasks_and_is_not_needed():
    script = "import magpie_qd, gymnasium; print(gymnasium.spec('magpie/Ant-v0').max_episode_steps)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "1000\n"
    script = "import gymnasium; print(gymnasium.make_vec('magpie_qd:magpie/Ant-v0', num_envs=2).num_envs)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "2\n"
    script = "import sys; sys.modules['gymnasium'] = None; import magpie_qd; print(magpie_qd.Demonstrations.bundled('ant'))"
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout
    assert printed == "Demonstrations(4 episodes of ant)\n"


def test_every_name_is_there_and_documented():
    for name in magpie_qd.__all__:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                value = getattr(magpie_qd, name)
            except ImportError as reason:
                assert name in ("ribs", "sb3"), reason
                continue
        if inspect.isclass(value) or inspect.isfunction(value) or inspect.ismodule(value):
            assert inspect.getdoc(value), name
        if inspect.isclass(value) and value.__module__.startswith("magpie_qd."):
            for method, function in vars(value).items():
                if not method.startswith("_") and callable(function):
                    assert inspect.getdoc(function), f"{name}.{method}"
    with pytest.raises(AttributeError, match="no attribute"):
        magpie_qd.nonsense


def test_stubs_name_what_the_module_has():
    import ast

    from magpie_qd import _magpie

    stub = ast.parse(Path(_magpie.__file__).with_name("_magpie.pyi").read_text())
    declared = {node.name: node for node in stub.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert set(declared) == {name for name in vars(_magpie) if not name.startswith("_")} - {"version"}
    for name, node in declared.items():
        if isinstance(node, ast.ClassDef) and name != "MagpieError":
            methods = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
            real = {method for method in vars(getattr(_magpie, name)) if not method.startswith("_")}
            assert {method for method in methods if not method.startswith("_")} == real, name
