//! Changes to a world that a robot was not trained for: what few-shot adaptation has to cope with.

use serde::{Deserialize, Serialize};

use crate::robot::Robot;

/// A changed world; the default changes nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Perturbation {
    /// Factor on the friction of every contact, at least 0.
    pub friction: f64,
    /// Factor on the strength of each actuator, in the robot's order; an empty list means 1 for all.
    pub strength: Vec<f64>,
    /// Bars across the track.
    pub hurdles: Option<Hurdles>,
}

/// Equal bars that lie across the track (along y, without end) and that the feet collide with. Seen from the side a
/// bar is an upright plate with a rounded top. Only feet collide: the rest of the robot passes through, so a bar should
/// not be much higher than what carries the feet.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hurdles {
    /// Height of the top above the ground, in m. At 0 there is nothing to collide with.
    pub height: f64,
    /// x of the first bar, in m.
    pub first: f64,
    /// Distance from bar to bar, in m. A foot meets only the bar nearest to it, so keep it longer than a foot.
    pub spacing: f64,
    /// Thickness along the track, in m.
    pub thickness: f64,
    /// How many bars there are.
    pub count: u32,
}

/// A perturbation that makes no sense.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PerturbationError {
    /// A number is outside its range.
    #[error("perturbation: {field} is {value}, but must be {range}")]
    OutOfRange {
        /// Name of the number.
        field: &'static str,
        /// What was given.
        value: f64,
        /// What is allowed.
        range: &'static str,
    },
    /// The list of strengths does not fit the robot.
    #[error(
        "perturbation: strength has {found} factors, but {robot} has {expected} actuators; give one factor for each"
    )]
    StrengthCount {
        /// The robot.
        robot: String,
        /// Number of its actuators.
        expected: usize,
        /// Number of factors given.
        found: usize,
    },
    /// No actuator has this name.
    #[error("perturbation: {robot} has no actuator \"{asked}\"; it has {names}")]
    UnknownActuator {
        /// The robot.
        robot: String,
        /// The name that was asked for.
        asked: String,
        /// The names there are.
        names: String,
    },
}

impl Default for Perturbation {
    fn default() -> Self {
        Perturbation { friction: 1.0, strength: Vec::new(), hurdles: None }
    }
}

impl Default for Hurdles {
    /// Knee-high to a humanoid, two strides apart.
    fn default() -> Self {
        Hurdles { height: 0.3, first: 2.0, spacing: 3.0, thickness: 0.1, count: 1000 }
    }
}

impl Perturbation {
    /// Scales the strength of the actuator called `name`.
    pub fn scale_strength(
        &mut self,
        robot: &Robot,
        name: &str,
        factor: f64,
    ) -> Result<(), PerturbationError> {
        let index = robot.actuators.iter().position(|a| a.name == name).ok_or_else(|| {
            PerturbationError::UnknownActuator {
                robot: robot.name.clone(),
                asked: name.to_owned(),
                names: robot.actuators.iter().map(|a| a.name.as_str()).collect::<Vec<_>>().join(", "),
            }
        })?;
        let mut changed = self.clone();
        changed.strength.resize(robot.actuators.len(), 1.0);
        changed.strength[index] = factor;
        changed.check(robot)?;
        *self = changed;
        Ok(())
    }

    /// Refuses what cannot be simulated with this robot.
    pub fn check(&self, robot: &Robot) -> Result<(), PerturbationError> {
        let within = |field, value: f64, ok: bool, range| {
            // In single precision, because that is what lanes compute with.
            if ok && (value as f32).is_finite() {
                Ok(())
            } else {
                Err(PerturbationError::OutOfRange { field, value, range })
            }
        };
        within("friction", self.friction, self.friction >= 0.0, "a finite factor of at least 0")?;
        if !self.strength.is_empty() && self.strength.len() != robot.actuators.len() {
            return Err(PerturbationError::StrengthCount {
                robot: robot.name.clone(),
                expected: robot.actuators.len(),
                found: self.strength.len(),
            });
        }
        for &factor in &self.strength {
            within("strength", factor, true, "finite")?;
        }
        if let Some(h) = &self.hurdles {
            within("hurdles.height", h.height, h.height >= 0.0, "at least 0 m")?;
            within("hurdles.first", h.first, true, "finite")?;
            within("hurdles.thickness", h.thickness, h.thickness > 0.0, "above 0 m")?;
            within("hurdles.spacing", h.spacing, h.spacing > h.thickness, "larger than the thickness")?;
        }
        Ok(())
    }
}
