//! One episode of a policy with everything there is to see: where each body was, what touched, what it did and what it was
//! paid for.
//!
//! An episode is that of `magpie eval`: episode k under a seed starts and acts there as here. Its actions, replayed from its
//! start by [`replay_f32`], give the states; so they are also what `magpie rollout` computes from the same start and actions.

use std::sync::Arc;

use magpie_envs::{Chunk, Dimension, Environment, Options, Replayed, Stage, States, replay_f32};
use magpie_learn::{Actions, Policy, Recording, record_watched};
use magpie_nn::Shape;
use magpie_physics::Perturbation;
use magpie_physics::robot::Robot;
use magpie_simd::Isa;

use super::open::{acting, fits};
use crate::error::RunError;
use crate::world::EnvOverrides;

/// What is to be replayed.
#[derive(Debug, Clone, Copy)]
pub struct Player<'a> {
    /// The task.
    pub task: &'a str,
    /// How behaviour is measured; the task's first measure if not given.
    pub measure: Option<&'a str>,
    /// The network.
    pub actor: &'a Shape,
    /// Its parameters.
    pub policy: &'a Policy,
}

/// How to replay it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayOptions {
    /// The world.
    pub world: EnvOverrides,
    /// Factor on gravity.
    pub gravity: f64,
    /// How to act.
    pub actions: Actions,
    /// Seed of the starts and of the drawn actions.
    pub seed: u64,
    /// Which of the episodes under this seed, from 0.
    pub episode: u32,
    /// The most steps; the episode's own end if not given.
    pub steps: Option<u32>,
    /// A push.
    pub push: Option<Push>,
}

/// A sudden change of the velocity of the whole robot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Push {
    /// The step before which it comes.
    pub step: u32,
    /// What is added to the velocity of each body, in m/s.
    pub velocity: [f64; 3],
}

/// An episode, step by step.
#[derive(Debug, Clone, PartialEq)]
pub struct Trajectory {
    /// The task.
    pub task: String,
    /// The robot.
    pub robot: Robot,
    /// What was changed in its world.
    pub perturbation: Perturbation,
    /// Dimensions of the measure.
    pub dimensions: Vec<Dimension>,
    /// How it was replayed.
    pub options: ReplayOptions,
    /// The start, and the state after each step; the ground is the last body.
    pub states: States<f32>,
    /// For each step and foot, 1 if something touched it.
    pub feet_contact: Vec<f32>,
    /// For each step and body, whether something touched it.
    pub touched: Vec<bool>,
    /// Observations, actions, rewards and measures.
    pub recording: Recording,
}

/// A push or a factor that the physics cannot take.
const FASTEST_PUSH: f64 = 50.0;
const STRONGEST_GRAVITY: f64 = 10.0;

impl Trajectory {
    /// The number of steps.
    pub fn steps(&self) -> usize {
        self.recording.length()
    }

    /// Bodies that move; the ground is not one.
    pub fn bodies(&self) -> usize {
        self.robot.bodies.len()
    }

    /// Position and rotation (w, x, y, z) of a body after `step` steps.
    pub fn pose(&self, step: usize, body: usize) -> ([f32; 3], [f32; 4]) {
        let at = step * (self.bodies() + 1) + body;
        let (pos, rot) = (&self.states.pos[3 * at..][..3], &self.states.rot[4 * at..][..4]);
        (std::array::from_fn(|i| pos[i]), std::array::from_fn(|i| rot[i]))
    }

    /// Whether every number of every state can be drawn.
    pub fn is_finite(&self) -> bool {
        let States { pos, rot, .. } = &self.states;
        pos.iter().chain(rot).all(|v| v.is_finite())
    }
}

/// Runs one episode and says everything about it.
pub fn replay(player: &Player<'_>, options: &ReplayOptions) -> Result<Trajectory, RunError> {
    let ReplayOptions { world, gravity, actions, seed, episode, steps, push } = options;
    within("gravity", *gravity, STRONGEST_GRAVITY, "a factor between -10 and 10")?;
    for velocity in push.iter().flat_map(|push| push.velocity) {
        within("push", velocity, FASTEST_PUSH, "at most 50 m/s")?;
    }
    let task = world.task(player.task)?;
    let mut robot = world.robot(&task)?;
    robot.gravity = robot.gravity.map(|g| g * gravity);
    let perturbation = world.perturbation(&robot)?;
    let (measure, changes) = (player.measure.map(str::to_owned), perturbation.clone());
    let env = Environment::of_task(
        &task,
        Options { robot: Some(robot.clone()), measure, perturbation: changes, ..Options::default() },
    )?;
    fits(player.actor, &env)?;
    let stage: Stage<f32> = Stage::new(&task, &robot, &perturbation);
    let most = steps.unwrap_or(u32::MAX) as usize;
    // The states from which a replay starts: the beginning of the episode, and after a push.
    let mut starts: Vec<(usize, Vec<f32>)> = Vec::new();
    let mut watch = |step: usize, chunk: &mut Chunk| {
        let pushed = push.filter(|push| push.step as usize == step);
        if let Some(push) = pushed {
            chunk.edit_state(0, |state| shove(&robot, push.velocity, state));
        }
        if step == 0 || pushed.is_some() {
            starts.push((step, chunk.state(0)));
        }
        step < most.max(1)
    };
    let (env, networks) = (Arc::new(env), acting(player.actor)?);
    let recording = record_watched(&env, &networks, player.policy, *episode, *actions, *seed, &mut watch);
    let length = recording.length();
    let ends = starts.iter().skip(1).map(|(step, _)| *step).chain([length]);
    let mut trajectory = Trajectory {
        task: task.name.clone(),
        dimensions: env.measure_dimensions(),
        options: options.clone(),
        states: States::default(),
        feet_contact: Vec::new(),
        touched: Vec::new(),
        perturbation,
        robot,
        recording,
    };
    for ((from, state), to) in starts.iter().zip(ends) {
        let start = states(state, trajectory.bodies());
        let entries = env.action_size();
        let actions = &trajectory.recording.actions[from * entries..to * entries];
        let replayed = replay_f32(Isa::best(), &stage, &start, actions, to - from);
        trajectory.append((*from == 0).then_some(&start), &replayed);
    }
    Ok(trajectory)
}

impl Trajectory {
    fn append(&mut self, start: Option<&States<f32>>, replayed: &Replayed<f32>) {
        for states in start.into_iter().chain([&replayed.states]) {
            self.states.pos.extend_from_slice(&states.pos);
            self.states.rot.extend_from_slice(&states.rot);
            self.states.vel.extend_from_slice(&states.vel);
            self.states.ang.extend_from_slice(&states.ang);
        }
        self.feet_contact.extend_from_slice(&replayed.feet_contact);
        let bodies = self.bodies();
        let impacts = replayed.contact_vel.chunks(3 * (bodies + 1));
        self.touched.extend(
            impacts.flat_map(|row| row.chunks(3).take(bodies).map(|change| change.iter().any(|&v| v != 0.0))),
        );
    }
}

fn within(field: &str, value: f64, most: f64, range: &str) -> Result<(), RunError> {
    match value.abs() <= most {
        true => Ok(()),
        false => Err(RunError::Value {
            field: field.to_owned(),
            value: value.to_string(),
            range: range.to_owned(),
        }),
    }
}

/// Numbers of the state of a body: position, rotation, velocity, angular velocity.
const BODY: usize = 13;

/// Adds to the velocity of every body along the axes that it can move in.
fn shove(robot: &Robot, velocity: [f64; 3], state: &mut [f32]) {
    for (body, state) in robot.bodies.iter().zip(state.chunks_mut(BODY)) {
        for ((v, push), free) in state[7..10].iter_mut().zip(velocity).zip(body.moves) {
            *v += if free { push as f32 } else { 0.0 };
        }
    }
}

/// The state of one world, as a chunk gives it, with the ground as the last body.
fn states(state: &[f32], bodies: usize) -> States<f32> {
    let mut found = States::default();
    let ground = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    for body in state.chunks(BODY).take(bodies).chain([&ground[..]]) {
        found.pos.extend_from_slice(&body[..3]);
        found.rot.extend_from_slice(&body[3..7]);
        found.vel.extend_from_slice(&body[7..10]);
        found.ang.extend_from_slice(&body[10..13]);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::tests::{CELLS, hopper};
    use crate::operations::{EvaluateOptions, Selection, evaluate_archive};

    fn options() -> ReplayOptions {
        ReplayOptions {
            world: EnvOverrides::default(),
            gravity: 1.0,
            actions: Actions::Mean,
            seed: 3,
            episode: 0,
            steps: None,
            push: None,
        }
    }

    /// Replays an elite of an untrained archive, which falls after a while.
    fn replayed(options: &ReplayOptions) -> Trajectory {
        let (_folder, open) = hopper(CELLS[0]());
        let about = &open.archive.about;
        let policy = &open.archive.elites[0].policy;
        let player = Player { task: &about.task, measure: Some(&about.measure), actor: &about.actor, policy };
        replay(&player, options).unwrap()
    }

    #[test]
    fn an_episode_is_that_of_an_evaluation() {
        let (_folder, open) = hopper(CELLS[0]());
        let cell = open.archive.elites[0].cell;
        for actions in [Actions::Mean, Actions::Sampled] {
            let evaluate = EvaluateOptions { episodes: 3, actions: Some(actions), seed: 3, world: None };
            let evaluation = evaluate_archive(&open, Selection::Cell(cell), &evaluate).unwrap();
            let now = &evaluation.elites[0].1;
            for episode in 0..3 {
                let replayed = replayed(&ReplayOptions { actions, episode, ..options() });
                let recording = &replayed.recording;
                assert_eq!(recording.true_return(), now.returns[episode as usize]);
                assert_eq!(recording.mean_measures(), now.measures[episode as usize]);
                assert_eq!(replayed.steps(), now.lengths[episode as usize] as usize);
            }
        }
    }

    #[test]
    fn states_are_those_of_the_episode() {
        let replayed = replayed(&options());
        let frames = replayed.steps() + 1;
        let bodies = replayed.bodies();
        assert_eq!(replayed.states.pos.len(), frames * (bodies + 1) * 3);
        assert_eq!(replayed.touched.len(), replayed.steps() * bodies);
        assert_eq!(replayed.feet_contact.len(), replayed.steps());
        // The first entry of an observation is the height of the root, before each step.
        let observed = replayed.recording.observations.chunks(replayed.recording.final_observation.len());
        for (step, observation) in observed.enumerate() {
            assert_eq!(replayed.pose(step, replayed.robot.root).0[2], observation[0]);
        }
        let last = replayed.pose(replayed.steps(), replayed.robot.root).0[2];
        assert_eq!(last, replayed.recording.final_observation[0]);
        // Its measure is the share of steps in which its foot touched the ground.
        let share = replayed.feet_contact.iter().sum::<f32>() / replayed.steps() as f32;
        assert!((f64::from(share) - replayed.recording.mean_measures()[0]).abs() < 1e-6);
    }

    #[test]
    fn a_push_is_felt_from_its_step_on_and_the_states_stay_those_of_the_episode() {
        let push = Push { step: 5, velocity: [1.0, 1.0, 0.0] };
        let (free, pushed) =
            (replayed(&options()), replayed(&ReplayOptions { push: Some(push), ..options() }));
        assert_eq!(pushed.states.pos.len(), (pushed.steps() + 1) * (pushed.bodies() + 1) * 3);
        for step in 0..=5 {
            assert_eq!(free.pose(step, 0), pushed.pose(step, 0), "{step}");
        }
        assert_ne!(free.pose(6, 0), pushed.pose(6, 0));
        // The hopper lives in a plane.
        assert_eq!(pushed.pose(6, 0).0[1], free.pose(6, 0).0[1]);
        let last = pushed.pose(pushed.steps(), pushed.robot.root).0[2];
        assert_eq!(last, pushed.recording.final_observation[0]);
    }

    #[test]
    fn the_world_can_be_changed_and_the_length_cut() {
        let own = replayed(&options());
        let moon = replayed(&ReplayOptions { gravity: 0.16, ..options() });
        assert_ne!(own.pose(9, 0), moon.pose(9, 0));
        let slippery = EnvOverrides { friction: 0.1, ..EnvOverrides::default() };
        assert_ne!(own.states, replayed(&ReplayOptions { world: slippery, ..options() }).states);
        let short = replayed(&ReplayOptions { steps: Some(4), ..options() });
        assert_eq!((short.steps(), short.pose(4, 0)), (4, own.pose(4, 0)));
        assert_eq!(short.recording.final_observation[0], own.pose(4, own.robot.root).0[2]);
    }

    #[test]
    fn nonsense_is_refused() {
        let (_folder, open) = hopper(CELLS[0]());
        let about = &open.archive.about;
        let policy = &open.archive.elites[0].policy;
        let player = Player { task: &about.task, measure: None, actor: &about.actor, policy };
        for (options, about) in [
            (ReplayOptions { gravity: f64::NAN, ..options() }, "gravity"),
            (ReplayOptions { gravity: 1e9, ..options() }, "gravity"),
            (
                ReplayOptions {
                    push: Some(Push { step: 0, velocity: [0.0, f64::INFINITY, 0.0] }),
                    ..options()
                },
                "push",
            ),
            (
                ReplayOptions {
                    world: EnvOverrides { friction: -1.0, ..EnvOverrides::default() },
                    ..options()
                },
                "friction",
            ),
        ] {
            assert!(replay(&player, &options).unwrap_err().to_string().contains(about));
        }
    }
}
