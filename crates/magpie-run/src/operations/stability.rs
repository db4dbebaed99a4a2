//! Whether the physics stayed stable where a policy took it.
//!
//! Springs that are too stiff for the time step throw bodies about, and a search finds out how to be paid for it. The trial
//! before a run ([`EnvOverrides::examine`]) acts at random; here the policies that were found act.

use std::path::Path;
use std::sync::Arc;

use magpie_envs::unstable_speed;
use magpie_learn::{Actions, Policy, top_speed};
use magpie_nn::Shape;
use magpie_search::elite_policy;

use super::OpenArchive;
use super::open::{acting, fits};
use crate::archive::{About, SavedElite};
use crate::error::RunError;
use crate::policy_file::load_policy;
use crate::train::TrainRun;
use crate::world::EnvOverrides;

/// A warning, in a sentence, if the physics is unstable under the best elite of a search.
pub fn instability_of_search(run: &TrainRun) -> Result<Option<String>, RunError> {
    let about = run.about()?;
    let mut world = about.world.clone();
    world.lies_in(run.directory().path());
    let Some(best) = run.search().state().archives.best_elite() else { return Ok(None) };
    let policy = elite_policy(&best);
    of_archive(&about, &world, &policy, &about.cell_name(best.cell), about.actions)
}

/// The same for an elite of an archive in a world.
pub fn instability_of_elite(
    open: &OpenArchive,
    elite: &SavedElite,
    world: &EnvOverrides,
    actions: Actions,
) -> Result<Option<String>, RunError> {
    let about = &open.archive.about;
    of_archive(about, world, &elite.policy, &about.cell_name(elite.cell), actions)
}

/// The same for a single policy: that of the folder of a run of PPO, or of a file.
pub fn instability_of_policy(
    run: &Path,
    world: &EnvOverrides,
    actions: Option<Actions>,
) -> Result<Option<String>, RunError> {
    let path = if run.is_dir() { run.join(crate::ppo::POLICY) } else { run.to_owned() };
    let file = load_policy(&path)?;
    let run = (file.task.as_str(), None);
    of_policy(run, world, &file.actor, &file.policy, "the policy", actions.unwrap_or(file.actions))
}

fn of_archive(
    about: &About,
    world: &EnvOverrides,
    policy: &Policy,
    cell: &str,
    actions: Actions,
) -> Result<Option<String>, RunError> {
    let who = format!("the elite of cell {cell}");
    of_policy((&about.task, Some(&about.measure)), world, &about.actor, policy, &who, actions)
}

fn of_policy(
    (task, measure): (&str, Option<&str>),
    world: &EnvOverrides,
    actor: &Shape,
    policy: &Policy,
    who: &str,
    actions: Actions,
) -> Result<Option<String>, RunError> {
    let env = Arc::new(world.environment(task, measure)?);
    fits(actor, &env)?;
    let speed = top_speed(&env, &acting(actor)?, policy, actions, 0).and_then(unstable_speed);
    Ok(speed.map(|speed| {
        format!(
            "{who} drives a body of robot {:?} to {speed}, so the physics is unstable there and its return means nothing; \
             lower the stiffness of joints or the strength of actuators, or raise world.substeps",
            env.robot()
        )
    }))
}
