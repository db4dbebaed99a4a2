"""Environments as Gymnasium knows them."""

import multiprocessing
import tracemalloc

import gymnasium
import magpie_qd
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

TASKS = ["Walker2d", "Hopper", "HalfCheetah", "Ant", "Humanoid"]


def actions(envs, seed=0):
    envs.action_space.seed(seed)
    return envs.action_space.sample()


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.filterwarnings("ignore:.*obs.*infinity.*", "ignore:.*render.*")
def test_gymnasiums_own_checks(task):
    check_env(gymnasium.make(f"magpie/{task}-v0").unwrapped, skip_render_check=True)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_vectors_are_what_gymnasium_expects(task, mode):
    envs = gymnasium.make_vec(f"magpie/{task}-v0", num_envs=5, autoreset_mode=mode)
    assert envs.spec.id == f"magpie/{task}-v0"
    assert envs.metadata["autoreset_mode"] is mode and envs.autoreset_mode is mode
    observation, info = envs.reset(seed=1)
    assert observation in envs.observation_space and info == {}
    observation, reward, terminated, truncated, info = envs.step(actions(envs))
    assert observation in envs.observation_space and observation.dtype == np.float32
    assert reward.shape == terminated.shape == truncated.shape == (5,)
    assert reward.dtype == np.float64 and terminated.dtype == truncated.dtype == np.bool_
    assert info["measures"].shape == (5, len(envs.measure_names)) and info["_measures"].shape == (5,)
    assert info["contacts"].shape[0] == 5
    envs.close()


def episodes(mode, steps=300, num_envs=8, task="hopper"):
    """What every environment lives through, episode by episode, under a policy that looks at the observation alone."""
    envs = magpie_qd.VectorEnv(task, num_envs, autoreset_mode=mode)
    weights = np.random.default_rng(0).normal(size=(envs.single_observation_space.shape[0], 3)) * 0.3
    observation, _ = envs.reset(seed=7)
    lived = [[[]] for _ in range(num_envs)]
    ended = np.zeros(num_envs, dtype=bool)
    finals = []
    for _ in range(steps):
        before = observation
        observation, reward, terminated, truncated, info = envs.step(np.tanh(observation @ weights))
        done = terminated | truncated
        for row in range(num_envs):
            if mode is AutoresetMode.NEXT_STEP and ended[row]:
                assert reward[row] == 0 and not done[row] and not info["_measures"][row]
                lived[row].append([])
                continue
            lived[row][-1].append(float(reward[row]))
            if done[row]:
                of = info["final_info"] if mode is AutoresetMode.SAME_STEP else info
                assert of["_episode_return"][row]
                assert of["episode_length"][row] == len(lived[row][-1])
                assert of["episode_return"][row] == sum(lived[row][-1])
                last = info["final_obs"][row] if mode is AutoresetMode.SAME_STEP else observation[row]
                finals.append(last)
                assert not np.array_equal(last, before[row])
                if mode is not AutoresetMode.NEXT_STEP:
                    lived[row].append([])
        if mode is AutoresetMode.DISABLED and done.any():
            kept = observation.copy()
            observation, _ = envs.reset(options={"reset_mask": done})
            assert np.array_equal(observation[~done], kept[~done])
            assert (observation[done] != kept[done]).any()
        ended = done & (mode is AutoresetMode.NEXT_STEP)
    assert len(finals) > num_envs
    return lived


def test_all_modes_live_through_the_same_first_episode():
    firsts = [[lived[0] for lived in episodes(mode)] for mode in AutoresetMode]
    assert firsts[0] == firsts[1] == firsts[2]


def test_environments_do_not_depend_on_their_number_and_repeat_with_their_seed():
    few, many = magpie_qd.VectorEnv("walker2d", 3), magpie_qd.VectorEnv("walker2d", 300)
    given = np.random.default_rng(1).uniform(-1, 1, (40, 300, few.single_action_space.shape[0]))
    runs = []
    for envs in (few, many, few):
        envs.reset(seed=5)
        runs.append([envs.step(step[: envs.num_envs])[0][:3] for step in given])
    assert np.array_equal(runs[0], runs[1]) and np.array_equal(runs[0], runs[2])
    other, _ = few.reset(seed=6)
    assert not np.array_equal(other, few.reset(seed=5)[0])


def test_a_saved_state_continues_bit_for_bit_anywhere():
    for mode in AutoresetMode:
        here = magpie_qd.VectorEnv("hopper", 70, autoreset_mode=mode)
        here.reset(seed=2)
        step = actions(here)

        def advance(envs):
            if mode is AutoresetMode.DISABLED and envs._running.waiting():
                return envs.reset(options={"reset_mask": np.ones(70, dtype=bool)})[0]
            return envs.step(step)[:4]

        for _ in range(15):
            advance(here)
        state = here.save()
        there = magpie_qd.VectorEnv("hopper", 70, autoreset_mode=mode)
        assert np.array_equal(there.restore(state), here.restore(state))
        for _ in range(20):
            for a, b in zip(advance(here), advance(there)):
                assert np.array_equal(a, b)
    with pytest.raises(ValueError, match="saved state"):
        here.restore(state[:-9])
    with pytest.raises(ValueError, match="not a saved state"):
        here.restore(b"nonsense")
    with pytest.raises(ValueError, match="70 environments"):
        magpie_qd.VectorEnv("hopper", 3).restore(state)


def test_measures_are_contacts_or_beside_them():
    contact = magpie_qd.VectorEnv("walker2d", 4)
    jump = magpie_qd.VectorEnv("walker2d", 4, measure="jump")
    assert jump.measure_names == ["lowest foot (m)"] and jump.measure_ranges.shape == (1, 2)
    for envs in (contact, jump):
        envs.reset(seed=0)
    step = actions(contact)
    for _ in range(5):
        (a, *_, one), (b, *_, other) = contact.step(step), jump.step(step)
        assert np.array_equal(a, b)
        assert np.array_equal(one["measures"], one["contacts"])
        assert np.array_equal(one["contacts"], other["contacts"]) and other["measures"].shape == (4, 1)


def test_worlds_are_changed_by_keyword(tmp_path):
    usual, slippery = gymnasium.make_vec("magpie/Ant-v0", num_envs=2), gymnasium.make_vec(
        "magpie/Ant-v0", num_envs=2, friction=0.1, hurdles={"height": 0.1, "count": 5}
    )
    step = actions(usual)
    runs = []
    for envs in (usual, slippery):
        envs.reset(seed=0)
        runs.append([envs.step(step)[0] for _ in range(60)][-1])
    assert not np.array_equal(*runs)
    with pytest.raises(magpie_qd.MagpieError, match="no actuator"):
        gymnasium.make_vec("magpie/Ant-v0", num_envs=2, strength={"wing": 0.5})
    with pytest.raises(ValueError, match="hurdles: there is no"):
        gymnasium.make_vec("magpie/Ant-v0", num_envs=2, hurdles={"hight": 0.5})
    with pytest.raises(magpie_qd.MagpieError, match="did you mean"):
        magpie_qd.VectorEnv("walker")
    with pytest.raises(magpie_qd.MagpieError, match="nowhere.toml"):
        gymnasium.make_vec("magpie/Task-v0", task=tmp_path / "nowhere.toml")
    short = gymnasium.make_vec("magpie/HalfCheetah-v0", num_envs=2, max_episode_steps=4)
    short.reset(seed=0)
    flags = [short.step(actions(short))[3].all() for _ in range(8)]
    assert flags == [False, False, False, True] * 2


def test_what_is_wrong_is_said():
    envs = magpie_qd.VectorEnv("hopper", 4, autoreset_mode="Disabled")
    good = np.zeros((4, 3), dtype=np.float32)
    with pytest.raises(ResetNeeded):
        envs.step(good)
    envs.reset(seed=0)
    with pytest.raises(ValueError, match=r"shape \(3, 4\)"):
        envs.step(np.zeros((3, 4)))
    with pytest.raises(ValueError, match=r"actions\[2, 1\] is NaN"):
        bad = good.copy()
        bad[2, 1] = np.nan
        envs.step(bad)
    for wrong in (np.full((4, 3), "x"), np.zeros((4, 3), dtype=complex), np.zeros((4, 3), dtype=object)):
        with pytest.raises(TypeError, match="must be numbers"):
            envs.step(wrong)
    for right in (good.astype(np.float64), good.astype(int), good.tolist(), np.asfortranarray(good), good[::-1]):
        envs.step(right)
    for seed in (-1, 2**64, 1.5, "x", True, [1, 2, 3, 4]):
        with pytest.raises((TypeError, ValueError), match="seed"):
            envs.reset(seed=seed)
    for mask in ([True] * 4, np.ones(3, dtype=bool), np.ones(4), np.zeros(4, dtype=bool)):
        with pytest.raises((TypeError, ValueError), match="reset_mask"):
            envs.reset(options={"reset_mask": mask})
    with pytest.raises(ResetNeeded, match="episodes have ended"):
        for _ in range(1000):
            envs.step(good)
    for number in (0, -1, 2**40):
        with pytest.raises(ValueError, match="num_envs"):
            magpie_qd.VectorEnv("hopper", number)
    with pytest.raises(ValueError, match="render_mode"):
        magpie_qd.VectorEnv("hopper", render_mode="rgb_array")
    envs.close()
    with pytest.raises(ValueError, match="closed"):
        envs.step(good)


def test_arrays_belong_to_the_caller():
    envs = magpie_qd.VectorEnv("hopper", 4)
    first, _ = envs.reset(seed=0)
    kept = first.copy()
    given = actions(envs)
    second, *_ = envs.step(given)
    first[:] = 0
    envs.reset(seed=0)
    assert np.array_equal(envs.reset(seed=0)[0], kept)
    assert np.array_equal(envs.step(given)[0], second)


def _child(queue):
    envs = magpie_qd.VectorEnv("hopper", 200)
    envs.reset(seed=3)
    queue.put(envs.step(np.zeros((200, 3), dtype=np.float32))[0])


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_children_have_threads_of_their_own(method):
    envs = magpie_qd.VectorEnv("hopper", 200)
    envs.reset(seed=3)
    want = envs.step(np.zeros((200, 3), dtype=np.float32))[0]
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    child = context.Process(target=_child, args=(queue,))
    child.start()
    assert np.array_equal(queue.get(timeout=60), want)
    child.join(timeout=60)
    assert child.exitcode == 0


def test_threads_change_nothing():
    def steps(threads):
        magpie_qd.set_threads(threads)
        envs = magpie_qd.VectorEnv("ant", 200)
        envs.reset(seed=3)
        return [envs.step(np.zeros((200, 8), dtype=np.float32))[0] for _ in range(5)]

    assert np.array_equal(steps(1), steps(3))
    magpie_qd.set_threads(0)


def test_several_threads_may_use_the_same_environments():
    from concurrent.futures import ThreadPoolExecutor

    envs = magpie_qd.VectorEnv("hopper", 100)
    envs.reset(seed=0)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: envs.step(np.zeros((100, 3), dtype=np.float32))[0].shape, range(40)))
    assert results == [(100, 11)] * 40


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


@pytest.mark.parametrize("resets", [50_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_nothing_leaks(resets):
    envs = magpie_qd.VectorEnv("hopper", 100, max_episode_steps=1)
    step = np.zeros((100, 3), dtype=np.float32)

    def use():
        envs.reset(seed=0)
        for _ in range(resets // 100):
            envs.step(step)
        envs.restore(envs.save())

    use()
    tracemalloc.start()
    before, python = resident(), tracemalloc.get_traced_memory()[0]
    use()
    assert tracemalloc.get_traced_memory()[0] - python < 100_000
    tracemalloc.stop()
    assert resident() - before < 8 << 20


def test_asynchronous_vectors_of_single_environments_work():
    envs = gymnasium.make_vec("magpie/Hopper-v0", num_envs=2, vectorization_mode="async")
    observation, _ = envs.reset(seed=0)
    observation, *_ = envs.step(envs.action_space.sample())
    assert observation.shape == (2, 11)
    envs.close()
