"""Steps a second from Python beside those of the program, in one run on one machine.

    python3 -m venv /tmp/v && /tmp/v/bin/pip install ./python gymnasium
    /tmp/v/bin/python bench/python_steps.py [--seconds 5] [--num-envs 4096] [TASK…]

Prints, for each task, steps a second of `magpie bench`, of `magpie_qd.VectorEnv` with random actions, and their ratio;
and those of EnvPool and Brax where they are installed. Each is measured for as long as the others, in turns, and the
best of three turns counts. Run it on an idle machine.
"""

import argparse
import json
import subprocess
import time

import numpy as np

TASKS = ["walker2d", "hopper", "halfcheetah", "ant", "humanoid"]
GYM = {"walker2d": "Walker2d-v4", "hopper": "Hopper-v4", "halfcheetah": "HalfCheetah-v4", "ant": "Ant-v4"}
GYM["humanoid"] = "Humanoid-v4"


def rate(step, num_envs, seconds):
    """Environment steps a second of a function that steps all environments once."""
    for _ in range(3):
        step()
    began, steps = time.perf_counter(), 0
    while (passed := time.perf_counter() - began) < seconds:
        step()
        steps += num_envs
    return steps / passed


def magpie_python(task, num_envs):
    import magpie_qd

    envs = magpie_qd.VectorEnv(task, num_envs)
    envs.reset(seed=0)
    actions = np.random.default_rng(0).uniform(-1, 1, (16, *envs.action_space.shape)).astype(np.float32)
    turn = iter(range(1 << 60))
    return lambda: envs.step(actions[next(turn) % 16])


def magpie_program(task, num_envs, seconds):
    from magpie_qd.__main__ import program

    command = [program(), "bench", "--tasks", task, "--environments", str(num_envs), "--seconds", str(seconds), "--json"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return max(_rates(json.loads(line)) for line in lines if line.startswith("{"))


def _rates(event):
    """The largest rate in an event of `magpie bench`."""
    if isinstance(event, dict):
        own = event.get("steps_per_second", 0.0)
        return max([own or 0.0, *map(_rates, event.values())])
    return max(map(_rates, event), default=0.0) if isinstance(event, list) else 0.0


def envpool(task, num_envs):
    import envpool

    envs = envpool.make_gymnasium(GYM[task], num_envs=num_envs)
    envs.reset()
    actions = np.random.default_rng(0).uniform(-1, 1, (num_envs, *envs.action_space.shape))
    return lambda: envs.step(actions)


def brax(task, num_envs):
    import jax
    from brax import envs as brax_envs

    envs = brax_envs.create(task, batch_size=num_envs, episode_length=1000, auto_reset=True)
    step, state = jax.jit(envs.step), jax.jit(envs.reset)(jax.random.PRNGKey(0))
    actions = jax.random.uniform(jax.random.PRNGKey(1), (num_envs, envs.action_size), minval=-1, maxval=1)
    kept = [state]

    def go():
        kept[0] = step(kept[0], actions)
        kept[0].obs.block_until_ready()

    return go


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", default=TASKS)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--num-envs", type=int, default=4096)
    args = parser.parse_args()
    print(f"{'task':12} {'magpie bench':>14} {'magpie_qd':>14} {'ratio':>7} {'EnvPool':>12} {'Brax':>12}")
    for task in args.tasks:
        makers = {"magpie_qd": magpie_python, "EnvPool": envpool, "Brax": brax}
        steps, best = {}, {}
        for name, make in makers.items():
            try:
                steps[name] = make(task, args.num_envs)
            except ImportError:
                continue
        for _ in range(3):
            best["program"] = max(best.get("program", 0.0), magpie_program(task, args.num_envs, args.seconds))
            for name, step in steps.items():
                best[name] = max(best.get(name, 0.0), rate(step, args.num_envs, args.seconds))
        peers = [f"{best[name]:12.0f}" if name in best else f"{'—':>12}" for name in ("EnvPool", "Brax")]
        ratio = best["magpie_qd"] / best["program"]
        print(f"{task:12} {best['program']:14.0f} {best['magpie_qd']:14.0f} {ratio:7.2f} {' '.join(peers)}", flush=True)


if __name__ == "__main__":
    main()
