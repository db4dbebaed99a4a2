"""Searches, beside those of the program."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import magpie_qd
import numpy as np
import pytest

def sets(settings):
    return [part for name, value in settings.items() for part in ("--set", f"{name.replace('__', '.')}={value}")]


def same(a, b):
    """Both runs hold the same results: every byte of the archive, and every column that is no time."""
    assert (a / "archive.safetensors").read_bytes() == (b / "archive.safetensors").read_bytes()
    assert (a / "config.toml").read_bytes() == (b / "config.toml").read_bytes()
    tables = [[line.split(",") for line in (folder / "metrics.csv").read_text().splitlines()] for folder in (a, b)]
    names = tables[0][0]
    assert [[v for n, v in zip(names, row) if "seconds" not in n] for row in tables[0]] == [
        [v for n, v in zip(names, row) if "seconds" not in n] for row in tables[1]
    ]


@pytest.mark.parametrize("reward", ["gail", "true"])
def test_the_program_gives_the_same_bytes(tmp_path, magpie, small, reward):
    magpie("train", "hopper", "--reward", reward, "--iterations", 2, "--seed", 9, "--out", tmp_path / "a", *sets(small))
    seen = []
    run = magpie_qd.train(
        "hopper", reward=reward, iterations=2, seed=9, out=tmp_path / "b", on_iteration=seen.append, **small
    )
    assert run.finished and run.iteration == 2 and [p["iteration"] for p in seen] == [1, 2]
    same(tmp_path / "a", tmp_path / "b")
    assert np.array_equal(run.metrics["qd_score"], [p["qd_score"] for p in seen])


def test_a_run_pauses_and_goes_on_as_if_it_had_not(tmp_path, run, small):
    paused = magpie_qd.train(
        "hopper", iterations=2, seed=3, out=tmp_path / "a", on_iteration=lambda progress: False, **small
    )
    assert (paused.iteration, paused.finished) == (1, False)
    assert magpie_qd.resume(tmp_path / "a").finished
    same(tmp_path / "a", run.path)


def test_an_exception_of_a_callback_goes_on_and_leaves_a_run_that_resumes(tmp_path, run, small):
    def fail(progress):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        magpie_qd.train("hopper", iterations=2, seed=3, out=tmp_path / "a", on_iteration=fail, **small)
    magpie_qd.resume(tmp_path / "a")
    same(tmp_path / "a", run.path)


def test_ctrl_c_interrupts_and_saves(tmp_path, small):
    script = f"""
        import magpie_qd
        try:
            magpie_qd.train("hopper", iterations=100000, out={str(tmp_path / "a")!r},
                            on_iteration=lambda p: print("made", p["iteration"], flush=True), **{small!r})
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline().startswith("made")
    child.send_signal(signal.SIGINT)
    rest = child.communicate(timeout=120)[0].splitlines()
    assert rest[-1] == "interrupted" and child.returncode == 0
    made = int(magpie_qd.Archive(tmp_path / "a").about["iteration"])
    assert made >= 1
    again = magpie_qd.resume(tmp_path / "a", on_iteration=lambda progress: False)
    assert again.iteration == made + 1


def test_a_killed_run_resumes(tmp_path, small):
    script = f"""
        import magpie_qd
        magpie_qd.train("hopper", iterations=100000, out={str(tmp_path / "a")!r}, checkpoint_every=1,
                        on_iteration=lambda p: print("made", flush=True), **{small!r})
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    for _ in range(3):
        assert child.stdout.readline()
    child.kill()
    child.wait()
    child.stdout.close()
    again = magpie_qd.resume(tmp_path / "a", on_iteration=lambda progress: False)
    assert again.iteration >= 2


def test_other_threads_run_while_a_search_iterates(tmp_path, small):
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.002)

    thread = threading.Thread(target=tick)
    thread.start()
    magpie_qd.train("hopper", iterations=1, out=tmp_path / "a", **small)
    stop.set()
    thread.join()
    assert len(ticks) > 20


def test_what_is_wrong_is_said(tmp_path, run, small):
    train, error = magpie_qd.train, magpie_qd.MagpieError
    for match, settings in {
        "did you mean": {"search__branchs": 3},
        "must be": {"search__branches": -3},
        "no task is named": {"task": None},
        "there is no measure|has no measure": {"measure": "jmp"},
        "nowhere": {"demos": tmp_path / "nowhere.safetensors"},
        "not learned from demonstrations": {"demos": tmp_path / "x", "reward": "true"},
    }.items():
        task = settings.pop("task", "hopper")
        with pytest.raises(error, match=match):
            train(task, out=tmp_path / "b", **settings)
        assert not (tmp_path / "b").exists()
    with pytest.raises(ValueError, match="gail"):
        train("hopper", reward="gial", out=tmp_path / "b")
    with pytest.raises(error, match=str(run.path)):
        train("hopper", out=run.path, **small)
    with pytest.raises(error, match="nowhere"):
        magpie_qd.resume(tmp_path / "nowhere")
    with pytest.raises(error, match="closed"):
        run.iterate()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_run_stays_with_its_process(tmp_path, small):
    def child_asks(progress):
        pid = os.fork()
        if pid == 0:
            try:
                progress.run.iterate()
                os._exit(1)
            except magpie_qd.MagpieError as reason:
                os._exit(0 if "forked" in str(reason) else 2)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0

    magpie_qd.train("hopper", iterations=1, out=tmp_path / "a", on_iteration=child_asks, **small)


def test_settings_of_all_types(tmp_path, small):
    settings = {"search__emitters": ["ppga", "iso_line"], "reward__scaled": False, "reward__gail__hidden": (8, 8)}
    run = magpie_qd.train("hopper", iterations=1, out=tmp_path / "a", **settings, **small)
    text = (run.path / "config.toml").read_text()
    assert '"iso_line"' in text and "scaled = false" in text


def test_demonstrations_of_ones_own(tmp_path, small):
    demos = magpie_qd.Demonstrations.bundled("hopper")
    a = magpie_qd.train("hopper", demos=demos, iterations=1, out=tmp_path / "a", **small)
    b = magpie_qd.train("hopper", iterations=1, out=tmp_path / "b", **small)
    assert np.array_equal(a.archive.solution, b.archive.solution)
