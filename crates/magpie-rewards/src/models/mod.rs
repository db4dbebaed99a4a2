//! The list of reward models: their names, settings and constructors.
//!
//! To add a model, add a folder beside this file, its `mod` line and a row here.

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

/// From rows `Type, name in configurations, name in reports, section of the configuration: its settings`, generates the
/// names, the configuration and the constructor of all models. The true reward has no settings and is not in the list.
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
            /// The name in the paper and in reports.
            pub const fn label(self) -> &'static str {
                match self {
                    $(ModelName::$Model => $label,)*
                    ModelName::True => "true reward",
                }
            }
        }

        settings! {
            /// The reward model, with a section of settings for each. Only the section of the chosen model has an
            /// effect.
            pub struct RewardConfig {
                /// Source of the objective's reward.
                model: ModelName = ModelName::Gail;
                /// Keep only every Nth step of the demonstrations; 1 keeps all. Lower it if there are few
                /// demonstrations.
                thinning: usize = 20, in 1.., unit "steps", when LEARNED;
                /// Divide rewards by their mean size in the first rollout of a phase, so that all reward models weigh
                /// the same relative to measures and curiosity. Turn it off to reproduce the paper; the weights of
                /// measures and curiosity then depend on the model, because an accurate discriminator pays about 0.2
                /// per step and a measure up to 1.
                scaled: bool = false, magpie true, since "0.1.0" before false, when LEARNED;
                $($(#[doc = $doc])+ $section: $Config, when When::Is("reward.model", $name);)*
            }
        }

        /// Creates the configured model with initial parameters from `draws`. `gamma` is PPO's discount, which some
        /// models use for future states.
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
    /// GAIL with a variational information bottleneck.
    Vail, "vail", "VAIL", vail: VailConfig;
    /// GAIL with a diffusion model as discriminator.
    Diffail, "diffail", "DiffAIL", diffail: DiffailConfig;
    /// Adversarial inverse reinforcement learning.
    Airl, "airl", "AIRL", airl: AirlConfig;
    /// Generative intrinsic reward: the prediction error of a model of the demonstrations.
    Giril, "giril", "GIRIL", giril: GirilConfig;
    /// Maximum-entropy inverse reinforcement learning with a deep reward network.
    Maxent, "maxent", "Max-Ent", maxent: MaxentConfig;
}

/// The environment's reward keeps its own unit and needs no demonstrations.
const LEARNED: When = When::IsNot("reward.model", "true");

impl RewardConfig {
    /// Whether the reward of the chosen model can never be positive.
    pub fn is_never_positive(&self) -> bool {
        match self.model {
            ModelName::Gail => self.gail.reward == RewardForm::LogD,
            ModelName::Vail => self.vail.reward == RewardForm::LogD,
            _ => false,
        }
    }

    /// Checks the settings of the chosen model.
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
