"""The Brax side of the physics benchmark: one task in one process, measured on request.

A line `measure SECONDS` on stdin is answered by one JSON line on stdout; between requests the process
sleeps in a read, so the other side can be measured on the same cores. End of input ends it.
The caller chooses cores and XLA flags before this process starts: JAX reads them when it is imported.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import os
import sys
import time
import warnings
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any, Callable, Iterator, TextIO

# Gym's farewell notice and JAX's search for a GPU would bury the progress lines; errors still come through.
warnings.filterwarnings("ignore")
logging.getLogger("jax._src.xla_bridge").setLevel(logging.ERROR)
with contextlib.redirect_stderr(io.StringIO()):
    import brax.envs
    import jax
    import jax.numpy as jnp
    import jaxlib
    from brax import jumpy

EPISODE_LENGTH = 1000
# JAX compiles at the first call and again at the second, whose arguments are laid out differently.
WARM_UP_STEPS = 4
# Each step takes other actions than the last; they are drawn before the clock starts.
ACTION_POOL = 16
# Steps dispatched before waiting: JAX may run ahead, which is the kinder of the two ways to time it.
STEPS_PER_WAIT = 8


@dataclass
class Loop:
    """A compiled environment with its state and an endless supply of actions."""

    step: Callable[[Any, Any], Any]
    state: Any
    actions: Iterator[Any]
    environments: int

    def advance(self, steps: int) -> None:
        for action in islice(self.actions, steps):
            self.state = self.step(self.state, action)
        jax.block_until_ready(self.state)


def make_env(task: str, batch_size: int) -> brax.envs.Env:
    """Brax's own batched environment with the spring physics, time limit and automatic reset."""
    # Brax 0.1.0 asks JAX "am I being traced?" in a way this JAX always denies.
    jumpy._in_jit = lambda: not jax._src.core.trace_state_clean()
    options = {"use_contact_forces": True} if task == "ant" else {}
    return brax.envs.create(
        task,
        episode_length=EPISODE_LENGTH,
        auto_reset=True,
        batch_size=batch_size,
        legacy_spring=True,
        **options,
    )


def make_loop(task: str, environments: int, devices: int) -> Loop:
    """One `jit` over all environments, or with several devices one `pmap` with a share on each."""
    env = make_env(task, environments // devices)
    key_reset, key_actions = jax.random.split(jax.random.PRNGKey(0))
    keys = jax.random.split(key_actions, ACTION_POOL)
    if devices == 1:
        state = jax.jit(env.reset)(key_reset)
        pool = [draw_actions(key, (environments, env.action_size)) for key in keys]
        return Loop(jax.jit(env.step), state, cycle(pool), environments)
    state = jax.pmap(env.reset)(jax.random.split(key_reset, devices))
    shape = (devices, environments // devices, env.action_size)
    pool = [
        jax.device_put_sharded(list(draw_actions(key, shape)), jax.devices()) for key in keys
    ]
    return Loop(jax.pmap(env.step), state, cycle(pool), environments)


def draw_actions(key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    return jax.block_until_ready(jax.random.uniform(key, shape, minval=-1.0, maxval=1.0))


def measure(loop: Loop, seconds: float) -> dict[str, float | int]:
    """Steps for at least `seconds` and says how fast, on how many cores, and whether states stayed finite."""
    steps = 0
    cpu_start, start = time.process_time(), time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds:
        loop.advance(STEPS_PER_WAIT)
        steps += STEPS_PER_WAIT
    cores_used = (time.process_time() - cpu_start) / elapsed
    observations = loop.state.obs.reshape(loop.environments, -1)
    return {
        "steps_per_second": steps * loop.environments / elapsed,
        "seconds": elapsed,
        "cores_used": cores_used,
        "environments": loop.environments,
        "nonfinite_environments": int((~jnp.isfinite(observations)).any(axis=-1).sum()),
    }


def serve(loop: Loop, requests: TextIO, answers: TextIO) -> None:
    for request in requests:
        command, _, seconds = request.partition(" ")
        if command != "measure":
            raise ValueError(f"unknown request {request!r}; expected 'measure SECONDS'")
        send(answers, measure(loop, float(seconds)))


def send(answers: TextIO, message: dict[str, Any]) -> None:
    answers.write(json.dumps(message) + "\n")
    answers.flush()


def take_stdout() -> TextIO:
    """Keeps stdout for answers alone; whatever a library prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task")
    parser.add_argument("--environments", type=int, required=True)
    parser.add_argument("--devices", type=int, default=1)
    arguments = parser.parse_args()
    answers = take_stdout()
    if len(jax.devices("cpu")) != arguments.devices:
        raise RuntimeError(f"{arguments.devices} devices asked for, JAX has {jax.devices('cpu')}")
    start = time.perf_counter()
    loop = make_loop(arguments.task, arguments.environments, arguments.devices)
    loop.advance(WARM_UP_STEPS)
    versions = {
        "python": sys.version.split()[0],
        "jax": jax.__version__,
        "jaxlib": jaxlib.__version__,
        "brax": brax.__version__,
    }
    send(answers, {"compile_seconds": time.perf_counter() - start, "versions": versions})
    serve(loop, sys.stdin, answers)


if __name__ == "__main__":
    main()
