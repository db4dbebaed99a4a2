"""Parts of a search that are written in Python."""

import magpie_qd
import numpy as np
import pytest
from magpie_qd.plug import Bonus, Emitter, RewardModel, World


class MeanAction(RewardModel):
    """Rewards actions near the mean action of the demonstrations."""

    needs_next_observations = True

    def __init__(self):
        self.mean = np.zeros(3)

    def reward(self, observations, actions, next_observations, terminated):
        assert observations.shape == next_observations.shape and terminated.dtype == bool
        return -np.square(actions - self.mean).sum(axis=1)

    def update(self, expert, policy, seed):
        assert set(expert) == set(policy) == {"observations", "actions", "next_observations", "terminated"}
        self.mean = self.mean + 0.1 * (expert["actions"].mean(axis=0) - self.mean)

    def save(self):
        return self.mean.tobytes()

    def restore(self, state):
        self.mean = np.frombuffer(state)


class Unvisited(Bonus):
    """Pays for contact, and remembers how many phases there were."""

    phases = 0

    def begin_phase(self, elites):
        assert elites["measures"].shape == (len(elites["index"]), 1)
        self.phases += 1

    def pay(self, measures, rewards):
        assert measures.shape == (len(rewards), 1)
        return measures[:, 0]

    def save(self):
        return bytes([self.phases])

    def restore(self, state):
        self.phases = state[0]


class Random(Emitter):
    """Proposes three random solutions, and counts what it hears."""

    heard = 0

    def ask(self, elites, sizes, seed):
        width = sum((a + 1) * b for a, b in zip(sizes, sizes[1:])) + sizes[-1]
        assert elites["solution"].shape == (len(elites["objective"]), width)
        return np.random.default_rng(seed).normal(size=(3, width)) * 0.1

    def tell(self, results):
        self.heard += len(results["objective"])
        assert results["measures"].shape[0] == len(results["improvement"]) == 3

    def save(self):
        return self.heard.to_bytes(4, "little")

    def restore(self, state):
        self.heard = int.from_bytes(state, "little")


def parts():
    return {"reward": MeanAction(), "bonus": Unvisited(), "emitters": [Random()]}


def test_own_parts_take_part_and_resume(tmp_path, small):
    whole = magpie_qd.train("hopper", iterations=2, out=tmp_path / "a", **parts(), **small)
    own = parts()
    magpie_qd.train("hopper", iterations=2, out=tmp_path / "b", on_iteration=lambda p: False, **own, **small)
    assert own["emitters"][0].heard == 3 and own["bonus"].phases > 0 and own["reward"].mean.any()
    again = magpie_qd.resume(tmp_path / "b", **parts())
    assert np.array_equal(again.archive.solution, whole.archive.solution)
    assert np.array_equal(again.archive.objective, whole.archive.objective)
    with pytest.raises(magpie_qd.MagpieError, match="emitters"):
        magpie_qd.resume(tmp_path / "b", iterations=3)


@pytest.mark.parametrize(
    "part, method, returned, match",
    [
        ("reward", "reward", ZeroDivisionError("mine"), "mine"),
        ("reward", "update", ZeroDivisionError("mine"), "mine"),
        ("reward", "reward", np.zeros(3), "returned 3 numbers"),
        ("bonus", "pay", ZeroDivisionError("mine"), "mine"),
        ("bonus", "begin_phase", ZeroDivisionError("mine"), "mine"),
        ("bonus", "pay", np.array(["x"]), "could not convert"),
        ("emitters", "ask", ZeroDivisionError("mine"), "mine"),
        ("emitters", "ask", np.zeros((2, 5)), "columns"),
        ("emitters", "tell", ZeroDivisionError("mine"), "mine"),
        ("emitters", "save", ZeroDivisionError("mine"), "mine"),
    ],
)
def test_what_parts_do_wrong_reaches_the_caller(tmp_path, small, part, method, returned, match):
    own = parts()
    faulty = own[part][0] if part == "emitters" else own[part]
    usual = getattr(faulty, method)
    failing = [method != "save"]

    def wrong(*args, **columns):
        if not failing[0]:
            return usual(*args, **columns)
        if isinstance(returned, Exception):
            raise returned
        return returned

    setattr(faulty, method, wrong)

    def fail_from_now_on(progress):
        failing[0] = True

    kind = type(returned) if isinstance(returned, Exception) else ValueError
    with pytest.raises(kind, match=match):
        magpie_qd.train("hopper", iterations=3, out=tmp_path / "a", on_iteration=fail_from_now_on, **own, **small)
    again = magpie_qd.resume(tmp_path / "a", **parts()) if (tmp_path / "a" / "config.toml").exists() else None
    assert again is None or again.finished


def pendulum():
    import gymnasium

    return gymnasium.make("Pendulum-v1", max_episode_steps=30)


def swing(observations, actions, infos):
    """How high it is, and how fast."""
    return np.stack([observations[:, 0], np.abs(observations[:, 2])], axis=1)


def world(**changes):
    return World(pendulum, swing, {"height": (-1, 1), "speed": (0, 8)}, threshold_min=-1e6, **changes)


SMALLER = {"search__environments": 16, "search__branches": 3, "search__archive__threshold_min": -1e6}


def test_a_world_of_ones_own_is_searched(tmp_path, small):
    small = {**small, **SMALLER, "search__gradient_iterations": 1, "search__walk_iterations": 1}
    run = magpie_qd.train(world=world(), iterations=1, out=tmp_path / "a", seed=4, **small)
    again = magpie_qd.train(world=world(), iterations=1, out=tmp_path / "b", seed=4, **small)
    assert len(run.archive) > 0 and run.archive.about["names"] == ["height", "speed"]
    assert np.array_equal(run.archive.solution, again.archive.solution)
    assert np.array_equal(run.archive.objective, again.archive.objective)
    resumed = magpie_qd.resume(tmp_path / "a", world=world(), iterations=2)
    assert resumed.iteration == 2
    evaluation = run.archive.evaluate(episodes=2, own_world=world())
    assert evaluation.lengths.min() == 30


def test_what_a_world_does_wrong_reaches_the_caller(tmp_path, small):
    calls = []

    def fails_later(observations, actions, infos):
        calls.append(1)
        if len(calls) > 20:
            raise ZeroDivisionError("mine")
        return swing(observations, actions, infos)

    faulty = world()
    faulty.measure = fails_later
    with pytest.raises(ZeroDivisionError, match="mine"):
        magpie_qd.train(world=faulty, iterations=1, out=tmp_path / "a", **{**small, **SMALLER})
    faulty.measure = lambda observations, actions, infos: observations
    with pytest.raises(ValueError, match="measure.. returned shape"):
        magpie_qd.train(world=faulty, iterations=1, out=tmp_path / "b", **{**small, **SMALLER})
    faulty.measure = lambda observations, actions, infos: np.full((len(observations), 2), np.nan)
    with pytest.raises(ValueError, match="measures.* is NaN"):
        magpie_qd.train(world=faulty, iterations=1, out=tmp_path / "c", **{**small, **SMALLER})
    with pytest.raises(ValueError, match="episode_steps"):
        import gymnasium

        World(lambda: gymnasium.make("Pendulum-v1").unwrapped, swing, {"a": (0, 1)})
