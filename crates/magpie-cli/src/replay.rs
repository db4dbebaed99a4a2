//! `magpie replay`: one episode of elites, as numbers, as pictures and as a page.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use magpie_learn::Actions;
use magpie_run::npz::NpzWriter;
use magpie_run::operations::{Push, ReplayOptions, Trajectory, may_write};
use magpie_run::write_whole;
use magpie_view::export::export_gaits;
use magpie_view::picture::{GifOptions, Panel, Theme, gif, strip};
use magpie_view::{Precision, Run, pack};

use crate::eval::ActionsArg;
use crate::json;
use crate::output::Output;
use crate::world::WorldArgs;

#[derive(clap::Args)]
#[command(after_long_help = FILES)]
pub struct Args {
    /// The folder of a run, its archive.safetensors or its policy.safetensors.
    run: PathBuf,
    /// The elite with the highest return. This is the default.
    #[arg(long)]
    best: bool,
    /// Elites of these cells, such as 12,40: one index for each dimension of the measure; CVT cells have one number.
    #[arg(long, visible_alias = "cell", value_name = "I,J", num_args = 1.., conflicts_with = "best")]
    cells: Vec<String>,
    /// So many good elites that differ.
    #[arg(long, value_name = "N", conflicts_with_all = ["best", "cells"], value_parser = clap::value_parser!(u16).range(1..=64))]
    spread: Option<u16>,
    /// Files to write; the ending says what: .npz, .json, .html, .gif, .png (a strip of moments) or .xml (the robot as MJCF).
    #[arg(long, short, value_name = "FILE")]
    out: Vec<PathBuf>,
    /// Which episode under the seed, from 0: those of `magpie eval`.
    #[arg(long, value_name = "K", default_value_t = 0)]
    episode: u32,
    /// Seed of the start states and of drawn actions.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Take the mean action, or draw one as in training. [default: as the archive says]
    #[arg(long, value_enum)]
    actions: Option<ActionsArg>,
    /// The most steps. [default: to the end of the episode]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    steps: Option<u32>,
    /// Push the robot before step S: X, Y and Z are added to its velocity, in m/s.
    #[arg(long, value_name = "S,X,Y,Z", value_parser = push, allow_hyphen_values = true)]
    push: Option<Push>,
    /// Of pictures: where they begin, in s.
    #[arg(long, value_name = "S", default_value_t = 1.0)]
    from: f64,
    /// Of pictures: how much they show, in s.
    #[arg(long, value_name = "S", default_value_t = 3.0)]
    seconds: f64,
    /// Of a GIF: frames a second.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=50))]
    fps: u32,
    /// Of pictures: width in pixels.
    #[arg(long, value_name = "N", default_value_t = 960, value_parser = clap::value_parser!(u16).range(100..=4000))]
    width: u16,
    /// Of a GIF: colours; fewer make a smaller file.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u8).range(8..=255))]
    colours: u8,
    /// Of a GIF: show the archive on the left, with a mark for each gait.
    #[arg(long)]
    map: bool,
    /// Of a strip: how many moments of each gait.
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u8).range(1..=60))]
    moments: u8,
    /// Of pictures: light on dark.
    #[arg(long)]
    dark: bool,
    #[command(flatten)]
    world: WorldArgs,
}

const FILES: &str = "\
The npz has the arrays that `magpie rollout --from` reads and those that it writes, for one trajectory: init_pos, init_rot, \
init_vel, init_ang, actions; pos, rot, vel, ang, obs, reward, feet_contact. The JSON has positions, rotations, actions, rewards \
and contacts, step by step.

Example: magpie replay runs/walker2d-gail-0 --spread 4 --out gaits.gif";

/// `100,1.5,0,0`
fn push(text: &str) -> Result<Push, String> {
    let problem = || format!("\"{text}\" is no push; write the step and three velocities, as in 100,1.5,0,0");
    let (step, rest) = text.split_once(',').ok_or_else(problem)?;
    let numbers: Option<Vec<f64>> = rest.split(',').map(|part| part.trim().parse().ok()).collect();
    let velocity = numbers.and_then(|numbers| <[f64; 3]>::try_from(numbers).ok()).ok_or_else(problem)?;
    Ok(Push { step: step.trim().parse().map_err(|_| problem())?, velocity })
}

/// What was played.
struct Played {
    cell: Option<usize>,
    name: String,
    trajectory: Trajectory,
}

pub fn run(args: &Args, output: Output) -> anyhow::Result<()> {
    for path in &args.out {
        ending(path)?;
        may_write(path, &[])?;
    }
    let run = Run::open(&args.run)?;
    let cells: Vec<Option<usize>> = match (&args.cells[..], args.spread) {
        ([], None) => vec![None],
        ([], Some(count)) => run.spread(count.into())?.into_iter().map(Some).collect(),
        (names, _) => names.iter().map(|name| run.cell_named(name).map(Some)).collect::<Result<_, _>>()?,
    };
    let mut played = Vec::new();
    for cell in cells {
        let chosen = run.choose(cell)?;
        let world = args.world.change(chosen.world.clone());
        let options = ReplayOptions {
            world,
            gravity: 1.0,
            actions: args.actions.map_or(chosen.actions, Actions::from),
            seed: args.seed,
            episode: args.episode,
            steps: args.steps,
            push: args.push,
        };
        let trajectory = chosen.play(&options)?;
        if !trajectory.is_finite() {
            output.warn(
                "the physics diverged: positions are not finite; pictures leave out what cannot be drawn",
            );
        }
        let one = Played { cell: chosen.cell, name: chosen.name, trajectory };
        let recording = &one.trajectory.recording;
        let event = json::Replayed {
            run: args.run.display().to_string(),
            cell: one.cell.map(|_| one.name.clone()),
            total: recording.true_return(),
            length: recording.length(),
            measures: recording.mean_measures(),
            terminated: recording.terminated,
        };
        output.result(&event, |out| {
            writeln!(
                out,
                "{}: return {:.1}, {} steps, {}",
                title(&one),
                event.total,
                event.length,
                subtitle(&one)
            )
        })?;
        played.push(one);
    }
    for path in &args.out {
        write(args, &run, &played, path, output)?;
        let path = path.display().to_string();
        output.result(&json::Written { path: path.clone() }, |out| writeln!(out, "{path}"))?;
    }
    Ok(())
}

fn title(played: &Played) -> String {
    if played.cell.is_some() { format!("cell {}", played.name) } else { played.name.clone() }
}

/// Its measures, in words.
fn subtitle(Played { trajectory, .. }: &Played) -> String {
    let measures = trajectory.recording.mean_measures();
    let named = trajectory.dimensions.iter().zip(measures);
    named.map(|(d, m)| format!("{} {m:.2}", d.name.replace('_', " "))).collect::<Vec<_>>().join(", ")
}

/// Its measures, short enough for a picture.
fn numbers(Played { trajectory, .. }: &Played) -> String {
    let measures = trajectory.recording.mean_measures();
    let all = measures.iter().map(|m| format!("{m:.2}")).collect::<Vec<_>>();
    format!("measures {}", all.join(", "))
}

fn ending(path: &Path) -> anyhow::Result<&str> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    ensure!(
        ["npz", "json", "html", "gif", "png", "xml"].contains(&ending),
        "{}: its ending says no format; end it with .npz, .json, .html, .gif, .png or .xml",
        path.display()
    );
    Ok(ending)
}

fn write(args: &Args, run: &Run, played: &[Played], path: &Path, output: Output) -> anyhow::Result<()> {
    let panels = || -> Vec<Panel> {
        let panel = |one: &Played| Panel {
            trajectory: one.trajectory.clone(),
            title: format!("return {:.0}", one.trajectory.recording.true_return()),
            subtitle: numbers(one),
        };
        played.iter().map(panel).collect()
    };
    let theme = if args.dark { Theme::Dark } else { Theme::Light };
    let bytes = match ending(path)? {
        "npz" => return npz(single(played, path)?, path),
        "json" => serde_json::to_vec(&document(single(played, path)?))?,
        "html" => {
            let rate = Precision::Half { rate: 60 };
            let gaits = played
                .iter()
                .map(|one| (one.cell.unwrap_or_default(), pack(&one.trajectory, one.cell, &one.name, rate)));
            export_gaits(run, gaits.collect())?.into_bytes()
        }
        "gif" => {
            let cells: Vec<usize> = played.iter().filter_map(|one| one.cell).collect();
            ensure!(played.len() <= 8, "a moving picture has room for 8 gaits; name fewer");
            let options = GifOptions {
                from: args.from,
                seconds: args.seconds,
                rate: args.fps,
                width: args.width.into(),
                theme,
                colours: args.colours.into(),
                beside: args.map.then(|| run.map(&cells, args.width as usize / 4, theme)).transpose()?,
            };
            gif(&panels(), &options, &|done, all| {
                if done % 20 == 0 {
                    output.say(&format!("{done} of {all} frames"));
                }
            })?
        }
        "png" => {
            let (moments, width) = (args.moments.into(), args.width.into());
            strip(&panels(), moments, args.from, args.seconds, width, theme)?.png()?
        }
        _ => single(played, path)?.trajectory.robot.to_mjcf().into_bytes(),
    };
    Ok(write_whole(path, &bytes)?)
}

fn single<'a>(played: &'a [Played], path: &Path) -> anyhow::Result<&'a Played> {
    match played {
        [one] => Ok(one),
        _ => bail!("{} holds one trajectory; name one cell", path.display()),
    }
}

fn npz(Played { trajectory, .. }: &Played, path: &Path) -> anyhow::Result<()> {
    let (steps, bodies) = (trajectory.steps(), trajectory.bodies() + 1);
    let (recording, states) = (&trajectory.recording, &trajectory.states);
    let out = NpzWriter::create(path)?;
    let mut columns = Vec::new();
    let mut add = |name: &'static str, tail: Vec<usize>, values: &[f32]| {
        let mut column = out.column::<f32>(name, tail);
        column.extend(values.iter().copied())?;
        columns.push(column);
        anyhow::Ok(())
    };
    for (names, values, width) in [
        (["init_pos", "pos"], &states.pos, 3),
        (["init_rot", "rot"], &states.rot, 4),
        (["init_vel", "vel"], &states.vel, 3),
        (["init_ang", "ang"], &states.ang, 3),
    ] {
        let (start, rest) = values.split_at(bodies * width);
        add(names[0], vec![bodies, width], start)?;
        add(names[1], vec![steps, bodies, width], rest)?;
    }
    let per_step = |values: &[f32]| vec![steps, values.len() / steps.max(1)];
    let observations =
        [&recording.observations[recording.final_observation.len()..], &recording.final_observation].concat();
    add("actions", per_step(&recording.actions), &recording.actions)?;
    add("obs", per_step(&observations), &observations)?;
    add("reward", vec![steps], &recording.rewards)?;
    add("feet_contact", per_step(&trajectory.feet_contact), &trajectory.feet_contact)?;
    Ok(out.finish(columns, 1)?)
}

fn document(played: &Played) -> serde_json::Value {
    let Played { trajectory, .. } = played;
    let robot = &trajectory.robot;
    let (bodies, recording) = (trajectory.bodies(), &trajectory.recording);
    let frames = 0..=trajectory.steps();
    let rows = |values: &[f32], width: usize| -> Vec<Vec<f32>> {
        if width == 0 { Vec::new() } else { values.chunks(width).map(<[f32]>::to_vec).collect() }
    };
    let steps = trajectory.steps().max(1);
    serde_json::json!({
        "task": trajectory.task,
        "robot": robot.name,
        "cell": played.cell.map(|_| &played.name),
        "dt": robot.control_dt,
        "bodies": robot.bodies.iter().map(|body| &body.name).collect::<Vec<_>>(),
        "feet": robot.feet,
        "seed": trajectory.options.seed,
        "episode": trajectory.options.episode,
        "return": recording.true_return(),
        "terminated": recording.terminated,
        "measures": recording.mean_measures(),
        "pos": frames.clone().map(|frame| (0..bodies).map(|body| trajectory.pose(frame, body).0).collect::<Vec<_>>()).collect::<Vec<_>>(),
        "rot": frames.map(|frame| (0..bodies).map(|body| trajectory.pose(frame, body).1).collect::<Vec<_>>()).collect::<Vec<_>>(),
        "actions": rows(&recording.actions, recording.actions.len() / steps),
        "reward": recording.rewards,
        "feet_contact": rows(&trajectory.feet_contact, robot.feet.len()),
    })
}
