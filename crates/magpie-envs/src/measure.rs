//! Measures: the numbers by which behaviours differ. Each is defined per step; that of an episode is the mean.

use std::fmt;
use std::str::FromStr;

/// A way to describe behaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// For each foot, whether anything touched it during the step.
    FeetContact,
    /// Height of the lowest foot above the ground, in m.
    Jump,
    /// Cosine and sine of the heading of the root.
    Angle,
}

/// A name that is no measure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no measure \"{0}\"; choose feet_contact, jump or angle")]
pub struct UnknownMeasure(String);

/// One dimension of a measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Dimension {
    /// What it is called in tables and plots.
    pub name: String,
    /// Smallest and largest value that an archive distinguishes.
    pub range: [f64; 2],
}

impl Measure {
    /// All of them.
    pub const ALL: [Measure; 3] = [Measure::FeetContact, Measure::Jump, Measure::Angle];

    /// As in configuration files.
    pub fn name(self) -> &'static str {
        match self {
            Measure::FeetContact => "feet_contact",
            Measure::Jump => "jump",
            Measure::Angle => "angle",
        }
    }

    /// The dimensions for a robot with the given feet.
    pub fn dimensions<'a>(self, feet: impl Iterator<Item = &'a str>) -> Vec<Dimension> {
        match self {
            Measure::FeetContact => {
                feet.map(|foot| Dimension { name: format!("{foot} contact"), range: [0.0, 1.0] }).collect()
            }
            // A quarter of a metre is what trained jumpers reach; higher jumps share the last cell.
            Measure::Jump => vec![Dimension { name: "lowest foot (m)".to_owned(), range: [0.0, 0.25] }],
            Measure::Angle => ["cos yaw", "sin yaw"]
                .map(|name| Dimension { name: name.to_owned(), range: [-1.0, 1.0] })
                .into(),
        }
    }

    /// Number of dimensions for a robot with `feet` feet.
    pub fn size(self, feet: usize) -> usize {
        match self {
            Measure::FeetContact => feet,
            Measure::Jump => 1,
            Measure::Angle => 2,
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Measure {
    type Err = UnknownMeasure;

    fn from_str(name: &str) -> Result<Measure, UnknownMeasure> {
        Measure::ALL.into_iter().find(|m| m.name() == name).ok_or_else(|| UnknownMeasure(name.to_owned()))
    }
}
