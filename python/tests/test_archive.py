"""Archives, their policies, and what other libraries make of them."""

import magpie_qd
import numpy as np
import pytest


@pytest.fixture(scope="module")
def archive(run):
    return run.archive


def test_arrays_are_made_once_and_cannot_be_written(archive):
    assert len(archive) == archive.metrics["elites"] > 0
    assert archive.solution.shape[0] == archive.objective.shape[0] == len(archive)
    assert archive.solution is archive.solution and archive.solution.dtype == np.float32
    with pytest.raises(ValueError, match="read-only"):
        archive.objective[0] = 1.0
    assert archive.metrics["best"] == archive.objective.max() == archive.best().objective


def test_policies_act_as_in_an_evaluation(archive):
    """Episodes that are stepped from Python give the returns, lengths and measures of `evaluate`, bit for bit."""
    policy, episodes = archive.best(), 5
    found = archive.evaluate(policy.cell, episodes=episodes, seed=11, actions="mean")
    envs = magpie_qd.VectorEnv(archive.task, episodes)
    observation, _ = envs.reset(seed=11)
    returns = np.full(episodes, np.nan)
    lengths, measures = np.zeros(episodes), np.zeros((episodes, envs.environment.measure_size))
    while np.isnan(returns).any():
        observation, _, terminated, truncated, info = envs.step(policy(observation))
        for row in np.flatnonzero((terminated | truncated) & np.isnan(returns)):
            final = info["final_info"]
            returns[row], lengths[row] = final["episode_return"][row], final["episode_length"][row]
            measures[row] = final["episode_measures"][row]
    assert np.array_equal(found.returns[0], returns)
    assert np.array_equal(found.lengths[0], lengths)
    assert np.array_equal(found.measures[0], measures)
    one = policy(observation[0])
    assert np.array_equal(one, policy(observation)[0]) and one.shape == (3,)


def test_cells_have_names(archive):
    cell = int(archive.index[0])
    name = archive.cell_name(cell)
    assert archive.policy(name).cell == archive.policy(cell).cell == cell
    with pytest.raises(magpie_qd.MagpieError, match="holds no elite; the nearest"):
        empty = next(cell for cell in range(archive.about["cells"]) if cell not in archive.index)
        archive.policy(empty)
    for wrong in (-1, 10**9, 1.5, True, None):
        with pytest.raises(ValueError, match="cell is"):
            archive.policy(wrong)
    with pytest.raises(magpie_qd.MagpieError, match="the cell"):
        archive.policy("x")
    policy = archive.best()
    with pytest.raises(ValueError, match="columns"):
        policy(np.zeros(5))
    with pytest.raises(ValueError, match="NaN"):
        policy(np.full(11, np.nan))
    with pytest.raises(TypeError, match="must be numbers"):
        policy(["a"])


def test_all_elites_are_evaluated_in_worlds(archive, magpie):
    usual = magpie_qd.evaluate(archive, episodes=3, seed=1)
    assert usual.returns.shape == (len(archive), 3) and usual.verified["elites"] <= len(archive)
    changed = archive.evaluate(episodes=3, seed=1, strength={"foot_joint": 0.2})
    assert not np.array_equal(usual.returns, changed.returns)
    with pytest.raises(ValueError, match="episodes"):
        archive.evaluate(episodes=0)
    with pytest.raises(ValueError, match="drawn"):
        archive.evaluate(actions="sampled")


def test_notebooks_show_a_picture(archive):
    assert archive._repr_html_().startswith("<figure><svg") and archive._repr_png_().startswith(b"\x89PNG")
    assert "hopper" in repr(archive)


def test_a_report_is_written(run, tmp_path):
    page = magpie_qd.report(run.path, out=tmp_path)
    assert page.read_text().startswith("<!DOCTYPE html>") or "<html" in page.read_text()
    scores = magpie_qd.reports.rliable_scores({"GAIL": {"hopper": [run.path]}})
    assert scores["GAIL"].shape == (1, 1) and scores["GAIL"][0, 0] == run.metrics["qd_score"][-1]
    with pytest.raises(ValueError, match="no column"):
        magpie_qd.reports.rliable_scores({"GAIL": {"hopper": [run.path]}}, "qd")


def test_a_file_that_is_no_archive_is_refused(tmp_path):
    (tmp_path / "x.safetensors").write_bytes(b"nonsense")
    with pytest.raises(magpie_qd.MagpieError, match="x.safetensors"):
        magpie_qd.Archive(tmp_path / "x.safetensors")


def test_matplotlib_draws(tmp_path, small):
    pytest.importorskip("matplotlib").use("Agg")
    run = magpie_qd.train("walker2d", iterations=1, out=tmp_path / "a", **small)
    axes = run.archive.plot()
    assert axes.get_xlabel() == run.archive.about["names"][0]


def test_qdax_gets_a_row_a_cell(archive):
    arrays = archive.to_qdax()
    filled = np.flatnonzero(np.isfinite(arrays["fitnesses"][:, 0]))
    assert np.array_equal(filled, archive.index)
    assert np.array_equal(arrays["genotypes"][filled], archive.solution)
    assert arrays["centroids"].shape == (archive.about["cells"], 1)


def test_pyribs_has_the_same_elites_in_the_same_cells(archive):
    pytest.importorskip("ribs")
    ribs = archive.to_ribs()
    data = ribs.data()
    order = np.argsort(data["index"])
    assert np.array_equal(data["index"][order], archive.index)
    assert np.allclose(data["objective"][order], archive.objective)
    assert np.allclose(data["solution"][order], archive.solution)


def test_onnx_acts_alike(archive, tmp_path):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    from magpie_qd.neighbours import export_onnx

    policy = archive.best()
    observations = np.random.default_rng(0).normal(size=(7, 11)).astype(np.float32)
    export_onnx(policy, tmp_path / "one.onnx")
    session = runtime.InferenceSession(tmp_path / "one.onnx")
    (actions,) = session.run(None, {"observation": observations})
    assert np.allclose(actions, policy(observations), atol=1e-5)
    export_onnx(archive, tmp_path / "all.onnx")
    session = runtime.InferenceSession(tmp_path / "all.onnx")
    for policy in archive:
        given = {"observation": observations, "cell": np.array(policy.cell)}
        (actions,) = session.run(None, given)
        assert np.allclose(actions, policy(observations), atol=1e-5)


def test_torch_acts_alike(archive):
    torch = pytest.importorskip("torch")
    from magpie_qd.neighbours import to_torch

    policy = archive.best()
    observations = np.random.default_rng(0).normal(size=(7, 11)).astype(np.float32)
    with torch.no_grad():
        actions = to_torch(policy)(torch.from_numpy(observations)).numpy()
    assert np.allclose(actions, policy(observations), atol=1e-5)
