//! Which reward model, and how it learns.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::airl::AirlConfig;
use crate::diffail::DiffailConfig;
use crate::error::RewardError;
use crate::gail::GailConfig;
use crate::giril::GirilConfig;
use crate::maxent::MaxentConfig;
use crate::vail::VailConfig;

/// The reward models.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelName {
    /// Generative adversarial imitation learning.
    #[default]
    Gail,
    /// GAIL behind a variational bottleneck.
    Vail,
    /// GAIL with a diffusion model as discriminator.
    Diffail,
    /// Adversarial inverse reinforcement learning.
    Airl,
    /// Generative intrinsic reward: prediction error of a model of the demonstrations.
    Giril,
    /// Deep maximum-entropy inverse reinforcement learning.
    Maxent,
    /// The environment's own reward.
    True,
}

/// A name that is no reward model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no reward model \"{0}\"; choose gail, vail, diffail, airl, giril, maxent or true")]
pub struct UnknownModel(String);

impl ModelName {
    /// All of them.
    pub const ALL: [ModelName; 7] = [
        ModelName::Gail,
        ModelName::Vail,
        ModelName::Diffail,
        ModelName::Airl,
        ModelName::Giril,
        ModelName::Maxent,
        ModelName::True,
    ];

    /// As in configuration files.
    pub fn name(self) -> &'static str {
        match self {
            ModelName::Gail => "gail",
            ModelName::Vail => "vail",
            ModelName::Diffail => "diffail",
            ModelName::Airl => "airl",
            ModelName::Giril => "giril",
            ModelName::Maxent => "maxent",
            ModelName::True => "true",
        }
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ModelName {
    type Err = UnknownModel;

    fn from_str(text: &str) -> Result<ModelName, UnknownModel> {
        ModelName::ALL
            .into_iter()
            .find(|model| model.name() == text)
            .ok_or_else(|| UnknownModel(text.to_owned()))
    }
}

/// Which model gives the reward, and a section for each. Only the section of the chosen one matters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RewardConfig {
    /// The model.
    pub model: ModelName,
    /// Every how many steps of a demonstration one is learnt from. Paper: 20.
    pub thinning: usize,
    /// Whether rewards are counted in units of their mean size in the first window of a phase, so that they weigh the same
    /// beside measures and curiosity whichever model they come from. Paper: no.
    pub scaled: bool,
    /// GAIL.
    pub gail: GailConfig,
    /// VAIL.
    pub vail: VailConfig,
    /// DiffAIL.
    pub diffail: DiffailConfig,
    /// AIRL.
    pub airl: AirlConfig,
    /// GIRIL.
    pub giril: GirilConfig,
    /// Maximum entropy.
    pub maxent: MaxentConfig,
}

impl Default for RewardConfig {
    fn default() -> RewardConfig {
        RewardConfig {
            model: ModelName::default(),
            thinning: 20,
            scaled: false,
            gail: GailConfig::default(),
            vail: VailConfig::default(),
            diffail: DiffailConfig::default(),
            airl: AirlConfig::default(),
            giril: GirilConfig::default(),
            maxent: MaxentConfig::default(),
        }
    }
}

/// Refuses a value unless `fine`.
pub(crate) fn require(
    fine: bool,
    field: &'static str,
    value: impl fmt::Debug,
    range: &'static str,
) -> Result<(), RewardError> {
    match fine {
        true => Ok(()),
        false => Err(RewardError::Config { field, value: format!("{value:?}"), range }),
    }
}

/// Hidden layers, learning rate and batch size: what all sections have.
pub(crate) fn require_learning(
    fields: [&'static str; 3],
    hidden: &[usize],
    learning_rate: f64,
    batch_size: usize,
) -> Result<(), RewardError> {
    let widths = !hidden.is_empty() && hidden.iter().all(|width| (1..=4096).contains(width));
    require(widths, fields[0], hidden, "a list of widths from 1 to 4096")?;
    require(learning_rate > 0.0 && learning_rate <= 1.0, fields[1], learning_rate, "above 0 and at most 1")?;
    require((1..=1 << 20).contains(&batch_size), fields[2], batch_size, "from 1 to 1048576")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        for model in ModelName::ALL {
            assert_eq!(model.to_string().parse(), Ok(model));
        }
        let error = "gal".parse::<ModelName>().unwrap_err().to_string();
        assert!(error.contains("\"gal\"") && error.contains("diffail"), "{error}");
    }

    #[test]
    fn a_configuration_is_read_back_as_written_and_unknown_keys_are_refused() {
        let config = RewardConfig { model: ModelName::Vail, ..RewardConfig::default() };
        let text = toml::to_string(&config).unwrap();
        assert_eq!(toml::from_str::<RewardConfig>(&text).unwrap(), config);
        for section in ["", "[gail]\n", "[vail]\n", "[diffail]\n", "[airl]\n", "[giril]\n", "[maxent]\n"] {
            let text = format!("{section}learnin_rate = 1.0");
            let error = toml::from_str::<RewardConfig>(&text).unwrap_err().to_string();
            assert!(error.contains("learnin_rate"), "{error}");
        }
        let partial: RewardConfig = toml::from_str("model = \"true\"\n[gail]\nhidden = [64]").unwrap();
        assert_eq!((partial.model, partial.gail.hidden), (ModelName::True, vec![64]));
    }
}
