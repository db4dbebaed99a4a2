//! Measures: the numbers by which behaviours differ. They are defined per step; an episode's measures are means over
//! its steps.

use serde::Deserialize;

/// A description of behaviour: quantities that are averaged over an episode.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// The name in configuration files and results.
    pub name: String,
    /// The measured quantities, in order.
    pub parts: Vec<MeasurePart>,
}

/// A quantity and its range in the archive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasurePart {
    /// The measured quantity.
    pub quantity: Quantity,
    /// Smallest and largest value that the archive distinguishes, the same for all dimensions of the quantity.
    pub range: [f64; 2],
}

/// A quantity that can be measured in every step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// For each foot, 1 if anything touched it during the step and 0 otherwise.
    FootContacts,
    /// Height of the lowest foot above the ground, in m.
    LowestFoot,
    /// Cosine and sine of the heading of the root.
    Heading,
    /// Height of the root, in m.
    Height,
    /// Pitch of the root, in rad.
    Pitch,
    /// Velocity of the root along +x, in m/s.
    ForwardVelocity,
    /// Velocity of the root along +y, in m/s.
    SidewaysVelocity,
    /// Mean square of the entries of the action.
    Effort,
}

/// One dimension of a measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Dimension {
    /// The name in tables and plots.
    pub name: String,
    /// Smallest and largest value that the archive distinguishes.
    pub range: [f64; 2],
}

impl Quantity {
    /// The natural range of a quantity, if it has one.
    pub(crate) fn usual_range(self) -> Option<[f64; 2]> {
        match self {
            Quantity::FootContacts | Quantity::Effort => Some([0.0, 1.0]),
            Quantity::Heading => Some([-1.0, 1.0]),
            Quantity::LowestFoot
            | Quantity::Height
            | Quantity::Pitch
            | Quantity::ForwardVelocity
            | Quantity::SidewaysVelocity => None,
        }
    }

    /// Whether the quantity refers to feet.
    pub(crate) fn needs_feet(self) -> bool {
        matches!(self, Quantity::FootContacts | Quantity::LowestFoot)
    }

    /// The names of its dimensions, for a robot with these feet.
    fn names<'a>(self, feet: impl Iterator<Item = &'a str>) -> Vec<String> {
        let one = |name: &str| vec![name.to_owned()];
        match self {
            Quantity::FootContacts => feet.map(|foot| format!("{foot} contact")).collect(),
            Quantity::LowestFoot => one("lowest foot (m)"),
            Quantity::Heading => vec!["cos yaw".to_owned(), "sin yaw".to_owned()],
            Quantity::Height => one("height (m)"),
            Quantity::Pitch => one("pitch (rad)"),
            Quantity::ForwardVelocity => one("forward velocity (m/s)"),
            Quantity::SidewaysVelocity => one("sideways velocity (m/s)"),
            Quantity::Effort => one("effort"),
        }
    }

    /// The number of its dimensions, for a robot with `feet` feet.
    pub(crate) fn size(self, feet: usize) -> usize {
        match self {
            Quantity::FootContacts => feet,
            Quantity::Heading => 2,
            _ => 1,
        }
    }
}

impl Measure {
    /// The dimensions for a robot with the given feet.
    pub fn dimensions<'a>(&self, feet: impl Iterator<Item = &'a str> + Clone) -> Vec<Dimension> {
        let of = |part: &MeasurePart| {
            let range = part.range;
            part.quantity.names(feet.clone()).into_iter().map(move |name| Dimension { name, range })
        };
        self.parts.iter().flat_map(of).collect()
    }

    /// Whether the measure requires a robot with feet.
    pub fn needs_feet(&self) -> bool {
        self.parts.iter().any(|part| part.quantity.needs_feet())
    }
}
