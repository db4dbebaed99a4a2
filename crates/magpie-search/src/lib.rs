//! The search: PPGA with curiosity, an archive of many good policies from one that walks.
//!
//! Three nouns. The *search policy* walks through parameter space. Around it *branches* are tried: steps along the
//! gradients of the objective and of each measure, mixed by coefficients that xNES proposes. An *archive* keeps the
//! best policy for each way of behaving, and how much each branch improves it teaches xNES which mixtures pay, and the
//! search policy where to walk. *Waypoints*, what the copies behind the gradients and the search policy on its walk were
//! on their way, are tried too.
//!
//! ```text
//!            ┌─► gradients: one copy trained on the objective, one on each measure
//! search ────┤                (up, or away from the nearer end of its range)
//! policy ◄───┤   branches: policy + c₀ ∇objective + Σ cⱼ ∇measureⱼ,  c ~ xNES
//!   ▲        └─► evaluated for whole episodes, inserted as a batch
//!   │                                   │ improvement
//!   └── walk: PPO on |μ₀| objective + Σ μⱼ measureⱼ ◄── xNES
//! ```
//!
//! [`Search::iterate`] is one round of that (Algorithm 1 of the paper), on a page. The objective reward of a step comes
//! from an [`Objective`]; [`Curiosity`] adds a bonus to episodes that behave like nobody in the archive, and leads restarts
//! to elites beside empty cells. Everything that lives from one iteration to the next is in one record, [`State`].

mod blend;
mod branches;
mod config;
mod curiosity;
mod error;
mod frontier;
mod gradients;
mod growth;
mod novelty;
mod objective;
mod phase;
mod report;
mod search;
mod steering;

pub use config::{ArchiveConfig, SearchConfig};
pub use curiosity::{Curiosity, Memory, Scope, Unit};
pub use error::{SearchError, Trouble};
pub use growth::Growth;
pub use novelty::{Known, Novelty};
pub use objective::{Learnt, Objective};
pub use phase::Course;
pub use report::{Report, SearchPolicy, Seconds};
pub use search::{Critic, Search, State};
