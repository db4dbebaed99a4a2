//! Options that change the world: another robot, and what it has to cope with.

use std::path::PathBuf;

use magpie_physics::Hurdles;
use magpie_run::{EnvOverrides, WorldChanges};

#[derive(clap::Args)]
#[command(next_help_heading = "Changes to the world")]
pub struct WorldArgs {
    /// Your own robot instead of the task's (docs/robots.md describes the file).
    #[arg(long, value_name = "FILE")]
    robot: Option<PathBuf>,
    /// Multiply gravity by this factor.
    #[arg(long, value_name = "FACTOR", allow_negative_numbers = true)]
    gravity: Option<f64>,
    /// Multiply the friction of all contacts by this factor.
    #[arg(long, value_name = "FACTOR", allow_negative_numbers = true)]
    friction: Option<f64>,
    /// Multiply the strength of one actuator, as in left_knee=0.5; can be repeated.
    #[arg(long, value_name = "ACTUATOR=FACTOR", value_parser = strength)]
    strength: Vec<(String, f64)>,
    /// Put bars across the track, as in height=0.2,first=3,spacing=2 (in m); also thickness (in m), count, and
    /// body=true for hurdles that stop the whole body and not the feet alone.
    #[arg(long, value_name = "KEY=VALUE,…", value_parser = hurdles)]
    hurdles: Option<Hurdles>,
}

impl WorldArgs {
    /// What is asked for.
    pub fn changes(&self) -> WorldChanges {
        WorldChanges {
            task: None,
            robot: self.robot.clone(),
            gravity: self.gravity,
            friction: self.friction,
            strength: self.strength.clone(),
            hurdles: self.hurdles,
        }
    }

    /// `world` with what was asked for.
    pub fn change(&self, world: EnvOverrides) -> EnvOverrides {
        self.changes().apply(world)
    }
}

/// `left_knee=0.5`
fn strength(text: &str) -> Result<(String, f64), String> {
    let (actuator, factor) = assignment(text)?;
    Ok((actuator.to_owned(), number(actuator, factor)?))
}

/// `height=0.2,first=3`
fn hurdles(text: &str) -> Result<Hurdles, String> {
    let mut hurdles = Hurdles::default();
    for part in text.split(',') {
        let (key, value) = assignment(part)?;
        match key {
            "height" => hurdles.height = number(key, value)?,
            "first" => hurdles.first = number(key, value)?,
            "spacing" => hurdles.spacing = number(key, value)?,
            "thickness" => hurdles.thickness = number(key, value)?,
            "count" => {
                hurdles.count = value
                    .parse()
                    .map_err(|_| format!("count is \"{value}\", but must be a whole number from 0"))?;
            }
            "body" => {
                hurdles.body =
                    value.parse().map_err(|_| format!("body is \"{value}\", but must be true or false"))?;
            }
            _ => {
                let keys = "height, first, spacing, thickness, count or body";
                return Err(format!("unknown key \"{key}\"; use {keys}"));
            }
        }
    }
    Ok(hurdles)
}

fn assignment(text: &str) -> Result<(&str, &str), String> {
    let (key, value) =
        text.split_once('=').ok_or_else(|| format!("\"{text}\" has no \"=\"; write it as NAME=NUMBER"))?;
    Ok((key.trim(), value.trim()))
}

fn number(key: &str, value: &str) -> Result<f64, String> {
    value.parse().map_err(|_| format!("{key} is \"{value}\", but must be a number"))
}
