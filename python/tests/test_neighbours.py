"""Demonstrations, reward models, pyribs, Stable-Baselines3, TorchRL."""

import magpie_qd
import numpy as np
import pytest
from magpie_qd.demos import Demonstrations, Episode
from magpie_qd.rewards import AIRL, GAIL, GIRIL


@pytest.fixture(scope="module")
def demos():
    """Two short episodes of an agent that does nothing."""
    envs = magpie_qd.VectorEnv("hopper", 2, autoreset_mode="Disabled")
    observation, _ = envs.reset(seed=0)
    rows = [observation]
    actions = np.random.default_rng(0).uniform(-0.1, 0.1, (8, 2, 3)).astype(np.float32)
    rewards = []
    for step in actions:
        observation, reward, terminated, truncated, _ = envs.step(step)
        assert not (terminated | truncated).any()
        rows.append(observation)
        rewards.append(reward)
    return [
        Episode(np.stack(rows)[:, i], actions[:, i], np.stack(rewards)[:, i].astype(np.float32), True) for i in (0, 1)
    ]


def test_episodes_go_in_and_out(demos, tmp_path):
    made = Demonstrations.from_episodes(demos, task="hopper")
    made.save(tmp_path / "demos.safetensors")
    read = Demonstrations.load(tmp_path / "demos.safetensors")
    for a, b in zip(read.episodes, demos):
        assert np.array_equal(a.observations, b.observations) and np.array_equal(a.actions, b.actions)
        assert np.array_equal(a.rewards, b.rewards) and a.terminated == b.terminated
    assert np.allclose(read.returns, [part.rewards.sum() for part in demos])
    as_read = Demonstrations.read(tmp_path / "demos.safetensors", "hopper")
    assert len(as_read) == 2 and repr(as_read).startswith("Demonstrations(2 episodes of hopper")
    for wrong, match in [
        ([], "no episodes"),
        ([demos[0]._replace(actions=demos[0].actions[1:])], "one observation more"),
        ([demos[0]._replace(observations=demos[0].observations * np.nan)], "NaN"),
    ]:
        with pytest.raises(ValueError, match=match):
            Demonstrations.from_episodes(wrong)
    with pytest.raises(TypeError, match="no episode"):
        Demonstrations.from_episodes([1])
    with pytest.raises(magpie_qd.MagpieError, match="1"):
        Demonstrations.from_episodes([demos[0]._replace(actions=demos[0].actions * 100)])


def test_minari_goes_in_and_out(demos, tmp_path, monkeypatch):
    pytest.importorskip("h5py")
    minari = pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    Demonstrations.from_episodes(demos, task="hopper").to_minari("magpie/hopper/test-v0")
    dataset = minari.load_dataset("magpie/hopper/test-v0")
    back = Demonstrations.from_episodes(dataset.iterate_episodes(), task="hopper")
    for a, b in zip(back.episodes, demos):
        assert np.array_equal(a.observations, b.observations) and np.array_equal(a.actions, b.actions)


def test_imitation_goes_in_and_out(demos):
    pytest.importorskip("imitation")
    made = Demonstrations.from_episodes(demos, task="hopper")
    back = Demonstrations.from_episodes(made.to_imitation(), task="hopper")
    assert all(np.array_equal(a.actions, b.actions) for a, b in zip(back.episodes, demos))


def test_a_discriminator_learns_alone(demos):
    made = Demonstrations.from_episodes(demos)
    draws = np.random.default_rng(1)
    policy = {
        "observations": draws.normal(size=(64, 11)),
        "actions": draws.uniform(-1, 1, (64, 3)),
    }
    model = GAIL(hidden=[16], learning_rate=0.01)
    with pytest.raises(ValueError, match="learned nothing"):
        model.reward(policy["observations"], policy["actions"])
    with pytest.raises(ValueError, match="give policy"):
        model.fit(made)
    model.fit(made, policy, updates=60)
    expert = made.arrays
    good, bad = model.reward(expert["observations"], expert["actions"]), model.reward(**policy)
    assert good.mean() > bad.mean() + 0.1 and model.health["expert_accuracy"] > 0.9
    again = GAIL(hidden=[16], learning_rate=0.01).restore(model.save(), 11, 3)
    assert np.array_equal(again.reward(**policy), bad)
    with pytest.raises(ValueError, match="as many rows"):
        model.reward(policy["observations"], policy["actions"][1:])
    with pytest.raises(ValueError, match="NaN"):
        model.reward(policy["observations"] * np.nan, policy["actions"])
    with pytest.raises(ValueError, match="not a saved reward model"):
        model.restore(b"x", 11, 3)
    with pytest.raises(magpie_qd.MagpieError, match="did you mean"):
        GAIL(hiden=[16])


def test_needs_are_told_and_missed(demos):
    assert "log_probs" in AIRL().needs and GAIL().needs == []
    made = Demonstrations.from_episodes(demos)
    with pytest.raises(magpie_qd.MagpieError, match="log_probs|next_observations"):
        AIRL().fit(made, {"observations": np.zeros((4, 11)), "actions": np.zeros((4, 3))})


def test_a_model_of_demonstrations_needs_no_policy(demos):
    made = Demonstrations.from_episodes(demos)
    model = GIRIL().fit(made)
    arrays = made.arrays
    following = np.concatenate([part.observations[1:] for part in demos])
    rewards = model.reward(arrays["observations"], arrays["actions"], next_observations=following)
    assert rewards.shape == (16,) and np.isfinite(rewards).all()


def test_pyribs_drives_our_emitter():
    pytest.importorskip("ribs")
    from magpie_qd.ribs import XNESEmitter
    from ribs.archives import GridArchive
    from ribs.schedulers import Scheduler

    def search(seed):
        archive = GridArchive(solution_dim=6, dims=[20, 20], ranges=[(-4, 4)] * 2, learning_rate=0.1, threshold_min=-100)
        result = GridArchive(solution_dim=6, dims=[20, 20], ranges=[(-4, 4)] * 2)
        emitter = XNESEmitter(archive, x0=np.full(6, 2.0), sigma0=1.0, lr=0.3, batch_size=20, seed=seed)
        scheduler = Scheduler(archive, [emitter], result_archive=result)
        for _ in range(60):
            x = scheduler.ask_dqd()
            # Gradients of the objective −|x|² and of the measures x₀ and x₁.
            jacobian = np.stack([-2 * x, np.eye(6)[[0]], np.eye(6)[[1]]], axis=1)
            scheduler.tell_dqd(-np.square(x).sum(axis=1), x[:, :2], jacobian)
            x = scheduler.ask()
            scheduler.tell(-np.square(x).sum(axis=1), x[:, :2])
        return result

    found = search(0)
    assert found.stats.coverage > 0.1 and found.stats.obj_max > -10
    assert np.array_equal(found.data("objective"), search(0).data("objective"))
    archive = GridArchive(solution_dim=6, dims=[20, 20], ranges=[(-4, 4)] * 2)
    emitter = XNESEmitter(archive, x0=np.zeros(6), sigma0=1.0, lr=0.3)
    with pytest.raises(RuntimeError, match="ask_dqd"):
        emitter.ask()
    with pytest.raises(ValueError, match="jacobian has shape"):
        emitter.tell_dqd(None, None, None, np.zeros((1, 2, 6)), None)
    with pytest.raises(ValueError, match="x0 has shape"):
        XNESEmitter(archive, x0=np.zeros(5), sigma0=1.0, lr=0.3)
    x = emitter.ask_dqd()
    one = {"status": np.array([2]), "value": np.array([1.0])}
    emitter.tell_dqd(x, np.zeros(1), np.zeros((1, 2)), np.ones((1, 3, 6)), one)
    branches = emitter.ask()
    unknown = {"status": np.zeros(len(branches)), "value": np.full(len(branches), np.nan)}
    with pytest.raises(ValueError, match="not finite"):
        emitter.tell(branches, np.full(len(branches), np.nan), branches[:, :2], unknown)


def test_stable_baselines_steps_our_environments():
    pytest.importorskip("stable_baselines3")
    import gymnasium
    from magpie_qd.sb3 import SB3VecEnv
    from stable_baselines3.common.env_checker import check_env

    check_env(gymnasium.make("magpie/Hopper-v0"))
    envs = SB3VecEnv("hopper", 5)
    envs.seed(3)
    first = envs.reset()
    envs.seed(3)
    assert np.array_equal(envs.reset(), first)
    ended = 0
    for _ in range(100):
        observation, rewards, dones, infos = envs.step(np.random.default_rng(0).uniform(-1, 1, (5, 3)))
        for done, info in zip(dones, infos):
            assert done == ("terminal_observation" in info) == ("episode" in info)
            ended += done
    assert ended > 0 and rewards.dtype == np.float32
    assert envs.get_attr("dt") == [envs.vector.dt] * 5 and envs.env_is_wrapped(object) == [False] * 5


@pytest.mark.slow
def test_stable_baselines_learns_on_hopper():
    sb3 = pytest.importorskip("stable_baselines3")
    from magpie_qd.sb3 import SB3VecEnv
    from stable_baselines3.common.vec_env import VecNormalize

    envs = VecNormalize(SB3VecEnv("hopper", 64))
    model = sb3.PPO("MlpPolicy", envs, n_steps=64, batch_size=512, n_epochs=5, seed=0, device="cpu")
    returns = []

    def note(found, _):
        returns.extend(info["episode"]["r"] for info in found["infos"] if "episode" in info)

    model.learn(300_000, callback=note)
    first, last = np.mean(returns[:200]), np.mean(returns[-200:])
    assert last > 3 * first, (first, last)


def test_torchrl_loads_them():
    pytest.importorskip("torchrl")
    import gymnasium
    from torchrl.envs import GymWrapper

    envs = GymWrapper(gymnasium.make_vec("magpie/Hopper-v0", num_envs=4))
    rollout = envs.rollout(60, break_when_any_done=False)
    assert rollout.batch_size == (4, 60) and rollout["next", "done"].any()
