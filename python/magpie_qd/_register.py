"""Names of the tasks in Gymnasium."""

TASKS = {
    "Walker2d": "walker2d",
    "Hopper": "hopper",
    "HalfCheetah": "halfcheetah",
    "Ant": "ant",
    "Humanoid": "humanoid",
}


def register() -> None:
    """Registers `magpie/Walker2d-v0` and the others, and `magpie/Task-v0` for a task file: `task="my-task.toml"`."""
    try:
        from gymnasium.envs.registration import register, registry
    except ImportError:
        return

    both = {"entry_point": "magpie_qd.envs:Env", "vector_entry_point": "magpie_qd.envs:VectorEnv"}
    for name, task in TASKS.items():
        if f"magpie/{name}-v0" not in registry:
            register(f"magpie/{name}-v0", **both, max_episode_steps=1000, kwargs={"task": task})
    if "magpie/Task-v0" not in registry:
        register("magpie/Task-v0", **both)
