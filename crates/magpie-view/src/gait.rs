//! A gait as the page receives it: a head in JSON, then arrays of numbers.
//!
//! ```text
//! length of the head (4 bytes, little endian)   head, padded with spaces to a multiple of 4
//! full precision:  positions f32 [frames, bodies, 3]   rotations f32 [frames, bodies, 4]
//! half precision:  root f32 [frames, 3]   positions f16 [frames, bodies, 3], relative to the root   rotations f16
//! both:            rewards f32 [frames - 1]   feet u8 [frames - 1, feet]   touched u8 [frames - 1, bodies]
//! ```
//! Half a number has eleven bits, which place a body within a millimetre of its root however far both have walked.

use half::f16;
use magpie_learn::Actions;
use magpie_run::operations::{Push, Trajectory};
use magpie_run::{EnvOverrides, WorldChanges};
use serde::{Deserialize, Serialize};

use crate::robot::Shape;

/// How exact the numbers of a gait are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// As computed.
    Full,
    /// Poses as halves, and at most so many frames a second.
    Half {
        /// Frames a second.
        rate: u32,
    },
}

/// What a page may ask of a gait.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Query {
    /// Number of the cell; the best elite if not given.
    pub cell: Option<usize>,
    /// `mean` or `drawn`; as the archive says if not given.
    pub actions: Option<String>,
    /// Seed.
    pub seed: u64,
    /// Which episode.
    pub episode: u32,
    /// Factor on the friction.
    pub friction: Option<f64>,
    /// Factor on gravity.
    pub gravity: Option<f64>,
    /// Height of hurdles, in m.
    pub hurdles: Option<f64>,
    /// Factors on the strength of actuators, such as `left_knee:0.5,right_knee:0`.
    pub strength: Option<String>,
    /// A push, `step:x:y:z` with the velocity in m/s.
    pub push: Option<String>,
}

impl Query {
    /// How to act.
    pub fn actions(&self) -> Result<Option<Actions>, String> {
        match self.actions.as_deref() {
            None => Ok(None),
            Some("mean") => Ok(Some(Actions::Mean)),
            Some("drawn") => Ok(Some(Actions::Sampled)),
            Some(_) => Err("actions must be mean or drawn".to_owned()),
        }
    }

    /// The changes to the world.
    pub fn world(&self, world: EnvOverrides) -> Result<EnvOverrides, String> {
        let number = |text: &str| text.parse().ok().filter(|n: &f64| n.is_finite());
        let factor = |part: &str| {
            let (name, factor) = part.rsplit_once(':')?;
            Some((name.to_owned(), number(factor)?))
        };
        let parts = self.strength.iter().flat_map(|text| text.split(',')).filter(|part| !part.is_empty());
        let strength: Option<Vec<(String, f64)>> = parts.map(factor).collect();
        let strength = strength.ok_or("strength must be such as left_knee:0.5,right_knee:0")?;
        let hurdles = self.hurdles.map(|height| magpie_physics::Hurdles { height, ..Default::default() });
        Ok(WorldChanges { friction: self.friction, strength, hurdles, ..WorldChanges::default() }
            .apply(world))
    }

    /// The push.
    pub fn push(&self) -> Result<Option<Push>, String> {
        let Some(text) = &self.push else { return Ok(None) };
        let parts: Vec<&str> = text.split(':').collect();
        let found = match &parts[..] {
            [step, velocity @ ..] if velocity.len() == 3 => {
                let numbers: Vec<f64> = velocity.iter().filter_map(|v| v.parse().ok()).collect();
                step.parse().ok().zip(<[f64; 3]>::try_from(numbers).ok())
            }
            _ => None,
        };
        let (step, velocity) = found.ok_or("push must be step:x:y:z")?;
        Ok(Some(Push { step, velocity }))
    }
}

#[derive(Serialize)]
struct Head<'a> {
    task: &'a str,
    cell: Option<usize>,
    name: &'a str,
    robot: Shape,
    frames: usize,
    /// Seconds between frames.
    dt: f64,
    /// Steps between frames.
    stride: usize,
    steps: usize,
    half: bool,
    total: f64,
    measures: Vec<f64>,
    terminated: bool,
    actions: &'static str,
    seed: u64,
    episode: u32,
    hurdles: Option<magpie_physics::Hurdles>,
    /// Step and velocity.
    push: Option<(u32, [f64; 3])>,
    world: Option<String>,
}

/// Packs a gait. `cell` is the number of its cell, and `name` what people call it.
pub fn pack(trajectory: &Trajectory, cell: Option<usize>, name: &str, precision: Precision) -> Vec<u8> {
    let (steps, bodies, feet) = (trajectory.steps(), trajectory.bodies(), trajectory.robot.feet.len());
    let dt = trajectory.robot.control_dt;
    let stride = match precision {
        Precision::Full => 1,
        Precision::Half { rate } => ((1.0 / (dt * f64::from(rate.max(1)))).round() as usize).max(1),
    };
    let shown: Vec<usize> = (0..=steps).step_by(stride).collect();
    let options = &trajectory.options;
    let head = Head {
        task: &trajectory.task,
        cell,
        name,
        robot: Shape::from(&trajectory.robot),
        frames: shown.len(),
        dt: dt * stride as f64,
        stride,
        steps,
        half: precision != Precision::Full,
        total: trajectory.recording.true_return(),
        measures: trajectory.recording.mean_measures(),
        terminated: trajectory.recording.terminated,
        actions: match options.actions {
            Actions::Mean => "mean",
            Actions::Sampled => "drawn",
        },
        seed: options.seed,
        episode: options.episode,
        hurdles: trajectory.perturbation.hurdles,
        push: options.push.map(|push| (push.step, push.velocity)),
        world: options.world.in_words(),
    };
    let mut bytes = vec![0; 4];
    // A record of numbers and names can always be written.
    bytes.extend(serde_json::to_vec(&head).unwrap_or_default());
    bytes.resize(bytes.len().next_multiple_of(4), b' ');
    let length = (bytes.len() - 4) as u32;
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    let (positions, rotations) = rows(trajectory, &shown);
    match precision {
        Precision::Full => {
            let numbers = positions.iter().chain(&rotations).flatten();
            bytes.extend(numbers.flat_map(|v| v.to_le_bytes()));
        }
        Precision::Half { .. } => {
            let roots: Vec<&[f32]> =
                positions.iter().map(|row| &row[3 * trajectory.robot.root..][..3]).collect();
            bytes.extend(roots.iter().copied().flatten().flat_map(|v| v.to_le_bytes()));
            let relative = positions
                .iter()
                .zip(&roots)
                .flat_map(|(row, root)| row.iter().enumerate().map(move |(i, v)| v - root[i % 3]));
            let numbers = relative.chain(rotations.iter().flatten().copied());
            bytes.extend(numbers.flat_map(|v| f16::from_f32(v).to_le_bytes()));
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
    }
    let spans = shown.windows(2).map(|pair| pair[0]..pair[1]);
    let rewards = spans.clone().map(|span| trajectory.recording.rewards[span].iter().sum::<f32>());
    bytes.extend(rewards.flat_map(f32::to_le_bytes));
    for span in spans.clone() {
        let touches =
            |foot: usize| span.clone().any(|step| trajectory.feet_contact[step * feet + foot] != 0.0);
        bytes.extend((0..feet).map(|foot| u8::from(touches(foot))));
    }
    for span in spans {
        let touched = |body: usize| span.clone().any(|step| trajectory.touched[step * bodies + body]);
        bytes.extend((0..bodies).map(|body| u8::from(touched(body))));
    }
    bytes
}

/// Positions and rotations of the moving bodies in these frames.
fn rows(trajectory: &Trajectory, frames: &[usize]) -> (Vec<Vec<f32>>, Vec<Vec<f32>>) {
    let bodies = trajectory.bodies();
    let row = |values: &[f32], width: usize, frame: usize| {
        values[frame * (bodies + 1) * width..][..bodies * width].to_vec()
    };
    frames
        .iter()
        .map(|&frame| (row(&trajectory.states.pos, 3, frame), row(&trajectory.states.rot, 4, frame)))
        .unzip()
}
