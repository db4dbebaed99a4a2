//! The search: from a single walking policy to an archive of many good ones.
//!
//! There are four main types. The [`Scheduler`] owns the archives, the evaluation of policies, the order of insertion
//! and the counters. [`Emitter`]s propose policies and learn from the results: PPGA, which follows gradients of the
//! objective and of each measure, and iso-line variation, which combines elites. The [`Objective`] rewards steps: with
//! the environment's own reward or a learned one. A [`Bonus`], such as curiosity, rewards behaviour that is missing
//! from the archive.
//!
//! ```text
//! for each iteration
//!   each emitter:   ask  ─► policies         (PPGA trains its copies here, paid by objective and bonus)
//!   evaluation:     whole episodes           the only place where returns and measures come from
//!   archives:       insert, one batch each   improvements
//!   each emitter:   tell ◄─ improvements     (PPGA: xNES, then walk or restart)
//!   … again, until no emitter has anything more
//!   re-evaluation: elites with the fewest episodes, pooled, and moved to the cell where they lie
//! ```
//!
//! [`Scheduler::iterate`] implements this loop; [`Settling`] is what follows the last iteration. All state that is kept between iterations is in one record, [`State`].

mod bonus;
mod config;
mod emitter;
mod error;
mod evaluator;
mod measure_shaping;
mod objective;
mod phase;
mod record;
mod reevaluation;
mod report;
mod reward_mixer;
mod rewards;
mod scheduler;
mod settle;
mod state;

pub use bonus::{Bonus, EpisodeAccumulator, Novelty, pay_episodes};
pub use config::{
    ArchiveConfig, ArchiveKind, BonusScale, Curiosity, MOST_CELLS, ReferenceArchive, Restarts, Scope,
    SearchConfig, Start, Turns, Walk,
};
pub use emitter::ppga::{PpgaReport, PpgaSeconds, PpgaState, SearchPolicy};
pub use emitter::{Batch, Emitter, EmitterConfig, EmitterName, Part, Setup, Told, Turn};
pub use error::{SearchError, TrainingError};
pub use evaluator::{EvaluatedPolicy, elite_policy};
pub use objective::{LearnedReward, Objective};
pub use phase::PhaseStats;
pub use report::{EmitterReport, Report};
pub use rewards::{Rewards, RewardsRecord};
pub use scheduler::{Parts, Scheduler};
pub use settle::{Effort, Settling, SettlingProgress, SettlingRecord, Verified};
pub use state::{EmitterRecord, State, StateHead};
