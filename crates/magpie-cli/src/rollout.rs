//! `magpie rollout`: replays recorded actions from given states and writes down everything that happens.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{bail, ensure};
use indicatif::{ProgressBar, ProgressStyle};
use magpie_envs::{Replayed, Stage, States, Task, replay_f32, replay_f64};
use magpie_physics::Perturbation;
use magpie_physics::robot::Robot;
use magpie_run::npz::{Column, Element, NpzWriter, tuple};
use magpie_run::operations::may_write;
use magpie_run::{EnvOverrides, RunError};
use magpie_simd::{Isa, LANES, Scalar};

use crate::json;
use crate::npz::Npz;
use crate::output::Output;
use crate::words;
use crate::world::WorldArgs;

#[derive(clap::Args)]
#[command(after_long_help = FILES)]
pub struct Args {
    /// The task: one listed by `magpie envs`, or your own task file (docs/tasks.md).
    #[arg(value_name = "TASK")]
    task: String,
    /// File with starts and actions. [default: the robot starts in its default pose and does nothing]
    #[arg(long, value_name = "IN.npz")]
    from: Option<PathBuf>,
    /// Number of steps, without --from.
    #[arg(long, value_name = "N", default_value_t = 1000, conflicts_with = "from", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    steps: u32,
    /// File to write. It appears, or replaces an older one, only when it is complete.
    #[arg(long, value_name = "OUT.npz")]
    out: PathBuf,
    /// Precision of the computation and of the file (done and feet_contact are always float32).
    #[arg(long, value_enum, default_value_t = Precision::F32)]
    precision: Precision,
    /// Instruction set for f32: avx512, avx2 or portable. [default: the fastest that this machine has]
    #[arg(long)]
    isa: Option<Isa>,
    #[command(flatten)]
    world: WorldArgs,
}

const FILES: &str = "\
IN.npz holds N starts and N sequences of T actions, in float32 or float64:
  init_pos [N,B,3]   init_rot [N,B,4] as (w, x, y, z)   init_vel [N,B,3]   init_ang [N,B,3]
  actions  [N,T,A]   clipped to ±1
B counts the bodies of the robot and, last, the ground. `magpie envs` lists sizes.

OUT.npz has the state after every step:
  pos, rot, vel, ang [N,T,B,·]   obs [N,T,O]   reward [N,T]   done [N,T]   feet_contact [N,T,F]
A trajectory continues after done. Observations and rewards are not clipped.

Example: magpie rollout hopper --from in.npz --out out.npz --precision f64";

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Precision {
    /// Single precision, sixteen trajectories side by side.
    F32,
    /// Double precision, to compare with other simulators.
    F64,
}

pub fn run(args: &Args, output: Output) -> anyhow::Result<()> {
    ensure!(
        args.isa.is_none() || args.precision == Precision::F32,
        "--isa chooses between versions of the single-precision code; leave it out with --precision f64"
    );
    let (name, world) = EnvOverrides::find(&args.task, &args.world.changes())?;
    let task = world.task(&name)?;
    let robot = world.robot(&task)?;
    let perturbation = world.perturbation(&robot)?;
    match args.precision {
        Precision::F32 => rollout::<f32>(args, &task, &robot, &perturbation, output),
        Precision::F64 => rollout::<f64>(args, &task, &robot, &perturbation, output),
    }
}

/// A precision that can replay.
trait Replay: Element + Scalar {
    fn replay(
        isa: Isa,
        stage: &Stage<Self>,
        start: &States<Self>,
        actions: &[Self],
        steps: usize,
    ) -> Replayed<Self>;
}

impl Replay for f32 {
    fn replay(
        isa: Isa,
        stage: &Stage<f32>,
        start: &States<f32>,
        actions: &[f32],
        steps: usize,
    ) -> Replayed<f32> {
        replay_f32(isa, stage, start, actions, steps)
    }
}

impl Replay for f64 {
    fn replay(
        _: Isa,
        stage: &Stage<f64>,
        start: &States<f64>,
        actions: &[f64],
        steps: usize,
    ) -> Replayed<f64> {
        replay_f64(stage, start, actions, steps)
    }
}

fn rollout<T: Replay>(
    args: &Args,
    task: &Task,
    robot: &Robot,
    perturbation: &Perturbation,
    output: Output,
) -> anyhow::Result<()> {
    let stage: Stage<T> = Stage::new(task, robot, perturbation);
    let recording: Recording<T> = match &args.from {
        Some(file) => Recording::read(file, robot)?,
        None => Recording::still(robot, args.steps as usize),
    };
    let Recording { count, steps, .. } = recording;
    let read: Vec<&Path> = args.from.as_deref().into_iter().collect();
    may_write(&args.out, &read)?;
    let out = NpzWriter::create(&args.out)?;
    let mut columns = Columns::new::<T>(&out, &stage, robot, steps);

    let isa = args.isa.unwrap_or_else(Isa::best);
    let progress = progress(count, output);
    let mut lost = 0;
    let start = Instant::now();
    let chunk = chunk(&stage, robot, steps);
    for first in (0..count).step_by(chunk) {
        let size = chunk.min(count - first);
        let (states, actions) = recording.cut(first, size);
        let replayed = T::replay(isa, &stage, &states, &actions, steps);
        lost += replayed.obs.chunks(steps * stage.observation_size()).filter(|obs| !all_finite(obs)).count();
        columns.append(replayed)?;
        progress.inc(size as u64);
    }
    let seconds = start.elapsed().as_secs_f64();
    progress.finish_and_clear();
    out.finish(columns.0.into(), count)?;

    if lost > 0 {
        output.warn(&format!(
            "{lost} of {} trajectories reached infinite or undefined numbers; check their starts, or try --precision f64",
            count
        ));
    }
    let rate = (count * steps) as f64 / seconds;
    let path = args.out.display().to_string();
    let (task, trajectories) = (task.name.clone(), count);
    let event =
        json::Rollout { task: task.clone(), trajectories, steps, path: path.clone(), steps_per_second: rate };
    output.result(&event, |out| {
        writeln!(
            out,
            "{task}: {} of {} in {path}, {rate:.0} steps/s",
            words::count(count, "trajectory"),
            words::count(steps, "step")
        )
    })?;
    Ok(())
}

/// Starts and actions from a file, checked against the robot.
struct Recording<T> {
    count: usize,
    steps: usize,
    /// Including the ground.
    bodies: usize,
    start: States<T>,
    actions: Vec<T>,
}

impl<T: Scalar> Recording<T> {
    fn read(path: &Path, robot: &Robot) -> anyhow::Result<Recording<T>> {
        let mut npz = Npz::open(path)?;
        let bodies = robot.bodies.len() + 1;
        let shape = npz.shape("actions")?;
        let entries = robot.action_size();
        let [count, steps, _] = match shape[..] {
            [n, t, a] if n > 0 && t > 0 && a == entries => [n, t, a],
            _ => bail!(
                "{}: actions: expected the shape (N, T, {entries}) with N and T of at least 1, found {}; \
                 {} takes {entries} numbers a step",
                path.display(),
                tuple(&shape),
                robot.name
            ),
        };
        for (name, width) in STATES {
            let (found, expected) = (npz.shape(name)?, [count, bodies, width]);
            ensure!(
                found == expected,
                "{}: {name}: expected the shape {}, found {}; there are {count} trajectories of actions, and {} has \
                 {} bodies and the ground",
                path.display(),
                tuple(&expected),
                tuple(&found),
                robot.name,
                robot.bodies.len()
            );
        }
        let [pos, rot, vel, ang] = STATES.map(|(name, width)| npz.read(name, &[count, bodies, width]));
        let start = States { pos: pos?, rot: rot?, vel: vel?, ang: ang? };
        check_rotations(path, &start.rot, robot)?;
        let actions = npz.read("actions", &shape)?;
        Ok(Recording { count, steps, bodies, start, actions })
    }

    /// The robot in its default pose, and no action: how it stands, or falls.
    fn still(robot: &Robot, steps: usize) -> Recording<T> {
        let start = States::at_rest(robot, 1);
        let actions = vec![T::default(); steps * robot.action_size()];
        Recording { count: 1, steps, bodies: robot.bodies.len() + 1, start, actions }
    }

    /// Some of the trajectories.
    fn cut(&self, first: usize, count: usize) -> (States<T>, Vec<T>) {
        let rows = |values: &[T], width: usize| values[first * width..][..count * width].to_vec();
        let body = |values: &[T], width: usize| rows(values, self.bodies * width);
        let start = States {
            pos: body(&self.start.pos, 3),
            rot: body(&self.start.rot, 4),
            vel: body(&self.start.vel, 3),
            ang: body(&self.start.ang, 3),
        };
        (start, rows(&self.actions, self.actions.len() / self.count))
    }
}

/// The arrays of a start and their last axis.
const STATES: [(&str, usize); 4] = [("init_pos", 3), ("init_rot", 4), ("init_vel", 3), ("init_ang", 3)];

/// Rotations that are far from unit length would be stretched bodies.
fn check_rotations<T: Scalar>(path: &Path, rotations: &[T], robot: &Robot) -> anyhow::Result<()> {
    let bodies = robot.bodies.len() + 1;
    for (i, rotation) in rotations.chunks(4).enumerate() {
        let length = rotation.iter().map(|q| q.to_f64().powi(2)).sum::<f64>().sqrt();
        let (trajectory, body) = (i / bodies, i % bodies);
        ensure!(
            body == robot.bodies.len() || (length - 1.0).abs() < 1e-3,
            "{}: init_rot: the quaternion of trajectory {trajectory}, body {body} ({}) has length {length}; expected \
             (w, x, y, z) of length 1",
            path.display(),
            robot.bodies[body].name
        );
    }
    Ok(())
}

/// The arrays of the result, in the order of the file.
struct Columns([Column; 8]);

impl Columns {
    fn new<T: Element + Scalar>(out: &NpzWriter, stage: &Stage<T>, robot: &Robot, steps: usize) -> Columns {
        let bodies = robot.bodies.len() + 1;
        Columns([
            out.column::<T>("pos", vec![steps, bodies, 3]),
            out.column::<T>("rot", vec![steps, bodies, 4]),
            out.column::<T>("vel", vec![steps, bodies, 3]),
            out.column::<T>("ang", vec![steps, bodies, 3]),
            out.column::<T>("obs", vec![steps, stage.observation_size()]),
            out.column::<T>("reward", vec![steps]),
            out.column::<f32>("done", vec![steps]),
            out.column::<f32>("feet_contact", vec![steps, robot.feet.len()]),
        ])
    }

    fn append<T: Element + Scalar>(&mut self, replayed: Replayed<T>) -> Result<(), RunError> {
        let [pos, rot, vel, ang, obs, reward, done, feet_contact] = &mut self.0;
        pos.extend(replayed.states.pos)?;
        rot.extend(replayed.states.rot)?;
        vel.extend(replayed.states.vel)?;
        ang.extend(replayed.states.ang)?;
        obs.extend(replayed.obs)?;
        reward.extend(replayed.reward)?;
        done.extend(replayed.done.into_iter().map(|flag| flag.to_f64() as f32))?;
        feet_contact.extend(replayed.feet_contact.into_iter().map(|flag| flag.to_f64() as f32))
    }
}

/// How many trajectories to replay at a time: enough to fill the lanes of all cores, not so many that their results
/// fill the memory.
fn chunk<T: Scalar>(stage: &Stage<T>, robot: &Robot, steps: usize) -> usize {
    const NUMBERS: usize = 8_000_000;
    let numbers = steps * (stage.observation_size() + 20 * (robot.bodies.len() + 1));
    (NUMBERS / numbers).next_multiple_of(LANES * rayon::current_num_threads()).max(LANES)
}

fn all_finite<T: Scalar>(values: &[T]) -> bool {
    values.iter().all(|v| v.to_f64().is_finite())
}

/// A bar on the terminal; nothing if there is none.
fn progress(count: usize, output: Output) -> ProgressBar {
    if !output.shows_progress() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos} of {len} trajectories, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(count as u64).with_style(style)
}
