//! Changes to a world that a robot was not trained for, to test few-shot adaptation.

use serde::{Deserialize, Serialize};

use crate::robot::Robot;

/// A changed world; by default nothing is changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Perturbation {
    /// Factor on gravity, at least 0.
    pub gravity: f64,
    /// Factor on the friction of every contact, at least 0.
    pub friction: f64,
    /// Factor on the strength of each actuator, in the robot's order; an empty list means 1 for all.
    pub strength: Vec<f64>,
    /// Hurdles across the track.
    pub hurdles: Option<Hurdles>,
}

/// Equal hurdles across the track (along y, of infinite length). Seen from the side, a hurdle is an upright plate with
/// a rounded top. Unless `body` is set, only feet collide with it and the rest of the robot passes through, so such a
/// hurdle should not be much higher than the parts that carry the feet.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hurdles {
    /// Height of the top above the ground, in m. At 0 there is nothing to collide with.
    pub height: f64,
    /// x of the first hurdle, in m.
    pub first: f64,
    /// Distance between hurdles, in m. A capsule collides only with the nearest hurdle, so the distance should exceed
    /// the length of a foot, or of the longest limb if the whole body collides.
    pub spacing: f64,
    /// Thickness along the track, in m.
    pub thickness: f64,
    /// The number of hurdles.
    pub count: u32,
    /// Whether the whole body collides with hurdles, not only the feet.
    pub body: bool,
}

/// An invalid perturbation.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PerturbationError {
    /// A value is out of range.
    #[error("perturbation: {field} is {value}, but must be {range}")]
    OutOfRange {
        /// Name of the value.
        field: &'static str,
        /// The value found.
        value: f64,
        /// The valid range.
        range: &'static str,
    },
    /// The list of strengths does not match the robot.
    #[error(
        "perturbation: strength has {found} factors, but {robot} has {expected} actuators; give one factor for each"
    )]
    StrengthCount {
        /// The robot.
        robot: String,
        /// The number of its actuators.
        expected: usize,
        /// The number of factors given.
        found: usize,
    },
    /// No actuator has this name.
    #[error("perturbation: {robot} has no actuator \"{asked}\"; {remedy}")]
    UnknownActuator {
        /// The robot.
        robot: String,
        /// The requested name.
        asked: String,
        /// The nearest of the valid names, or all of them.
        remedy: String,
    },
}

impl Default for Perturbation {
    fn default() -> Self {
        Perturbation { gravity: 1.0, friction: 1.0, strength: Vec::new(), hurdles: None }
    }
}

impl Default for Hurdles {
    /// Knee-high for a humanoid, two strides apart.
    fn default() -> Self {
        Hurdles { height: 0.3, first: 2.0, spacing: 3.0, thickness: 0.1, count: 1000, body: false }
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
                remedy: magpie_settings::remedy(name, robot.actuators.iter().map(|a| a.name.as_str())),
            }
        })?;
        let mut changed = self.clone();
        changed.strength.resize(robot.actuators.len(), 1.0);
        changed.strength[index] = factor;
        changed.check(robot)?;
        *self = changed;
        Ok(())
    }

    /// Refuses a perturbation that cannot be simulated with this robot.
    pub fn check(&self, robot: &Robot) -> Result<(), PerturbationError> {
        let within = |field, value: f64, ok: bool, range| {
            // In single precision, in which lanes compute.
            if ok && (value as f32).is_finite() {
                Ok(())
            } else {
                Err(PerturbationError::OutOfRange { field, value, range })
            }
        };
        within("gravity", self.gravity, self.gravity >= 0.0, "a finite factor of at least 0")?;
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
