//! The list of reward models: names, settings, and making one.
//!
//! A new model is a folder beside this file, its `mod` line and a row here.

pub mod airl;
pub mod diffail;
pub mod gail;
pub mod giril;
pub mod maxent;
pub mod true_reward;
pub mod vail;

use magpie_demos::Sizes;
use magpie_random::Draws;
use magpie_settings::{SettingError, Settings, When, settings, words};
use magpie_simd::Isa;

use crate::adversarial::RewardForm;
use crate::error::RewardError;
use crate::model::RewardModel;
use crate::models::airl::{Airl, AirlConfig};
use crate::models::diffail::{Diffail, DiffailConfig};
use crate::models::gail::{Gail, GailConfig};
use crate::models::giril::{Giril, GirilConfig};
use crate::models::maxent::{Maxent, MaxentConfig};
use crate::models::true_reward::True;
use crate::models::vail::{Vail, VailConfig};

/// Of rows `Type, name in configurations, name in reports, section of the configuration: its settings`, makes the names,
/// the configuration and the constructor of all models. The true reward has no settings and stands beside them.
macro_rules! reward_models {
    ($($(#[doc = $doc:literal])+ $Model:ident, $name:literal, $label:literal, $section:ident: $Config:ident;)*) => {
        words! {
            /// The reward models.
            pub enum ModelName {
                $($(#[doc = $doc])+ $Model = $name,)*
                /// The environment's own reward.
                True = "true",
            }
        }

        impl ModelName {
            /// As in the paper and in reports.
            pub const fn label(self) -> &'static str {
                match self {
                    $(ModelName::$Model => $label,)*
                    ModelName::True => "true reward",
                }
            }
        }

        settings! {
            /// Which model gives the reward, and a section for each. Only the section of the chosen one matters.
            pub struct RewardConfig {
                /// Where the objective reward comes from.
                model: ModelName = ModelName::Gail;
                /// Every how many steps of a demonstration one is learned from; 1 takes all.
                thinning: usize = 20, in 1.., unit "steps", when LEARNED;
                /// Whether rewards are counted in units of their mean size in the first rollout of a phase, so that they weigh
                /// the same beside measures and curiosity whichever model they come from. What a model pays has no unit: a
                /// discriminator that is nearly always right pays 0.2 a step, where a measure pays up to 1.
                scaled: bool = false, magpie true, since "0.1.0" before false, when LEARNED;
                $($(#[doc = $doc])+ $section: $Config, when When::Is("reward.model", $name);)*
            }
        }

        /// Makes the model that the configuration asks for, with first parameters from `draws`. `gamma` is PPO's
        /// discount: some models pay for states to come.
        pub fn build(
            config: &RewardConfig,
            sizes: Sizes,
            gamma: f32,
            draws: &mut Draws,
        ) -> Result<Box<dyn RewardModel>, RewardError> {
            let some = sizes.observation > 0 && sizes.action > 0;
            SettingError::unless(some, "sizes", format!("{sizes:?}"), "positive")?;
            config.check().map_err(|error| error.under("reward"))?;
            let isa = Isa::best();
            Ok(match config.model {
                $(ModelName::$Model => Box::new($Model::from_config(&config.$section, sizes, gamma, isa, draws)?),)*
                ModelName::True => Box::new(True { sizes }),
            })
        }
    };
}

reward_models! {
    /// Generative adversarial imitation learning.
    Gail, "gail", "GAIL", gail: GailConfig;
    /// GAIL behind a variational bottleneck.
    Vail, "vail", "VAIL", vail: VailConfig;
    /// GAIL with a diffusion model as discriminator.
    Diffail, "diffail", "DiffAIL", diffail: DiffailConfig;
    /// Adversarial inverse reinforcement learning.
    Airl, "airl", "AIRL", airl: AirlConfig;
    /// Generative intrinsic reward: prediction error of a model of the demonstrations.
    Giril, "giril", "GIRIL", giril: GirilConfig;
    /// Deep maximum-entropy inverse reinforcement learning.
    Maxent, "maxent", "Max-Ent", maxent: MaxentConfig;
}

/// The environment's reward has a unit of its own, and needs no demonstrations.
const LEARNED: When = When::IsNot("reward.model", "true");

impl RewardConfig {
    /// Whether the chosen model pays nothing above zero.
    pub fn is_never_positive(&self) -> bool {
        match self.model {
            ModelName::Gail => self.gail.reward == RewardForm::LogD,
            ModelName::Vail => self.vail.reward == RewardForm::LogD,
            _ => false,
        }
    }

    /// Refuses what no model can be made of.
    pub fn check(&self) -> Result<(), SettingError> {
        self.check_ranges()?;
        self.diffail.check().map_err(|error| error.under("diffail"))
    }
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
        assert!(
            error.starts_with("\"gal\" is none of") && error.ends_with("did you mean \"gail\"?"),
            "{error}"
        );
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
