//! Few-shot adaptation: an archive meets a changed world, and nothing is trained.
//!
//! [`AdaptTask`] says what changes. [`adapt`] runs every elite in every changed world and reports three of them: the one
//! that is best there (*adapted*), the one that was best in the healthy world (*unadapted*), and the *oracle*, which is the
//! best over many more episodes among the best of the selection. Selection, oracle and report have streams of episodes of
//! their own, so that no number is the luck by which its elite was chosen.
//!
//! On a robot one cannot try every elite. [`TrialSearch`] chooses a few, [`TrialLog`] keeps what they returned, and
//! [`draw_predictions`] shows what is expected of the others; [`adapt`] simulates that too, beside simpler choices.

mod few_shots;
mod gp;
mod log;
mod pictures;
mod results;
mod task;
mod trials;

use std::path::Path;
use std::sync::Arc;

use magpie_envs::Environment;
use magpie_learn::{Actions, Evaluation, Networks, Policy, evaluate};
use magpie_random::Stream;

pub use gp::{Posterior, Prior, matern52};
pub use log::{LogHead, TrialLog};
pub use pictures::{draw_all_predictions, draw_predictions, draw_regrets};
pub use results::{Adaptation, Case, FewShots, Reported, adaptation_files};
pub use task::{AdaptTask, Change, DAMAGE, Levels, PAPER_TASKS};
pub use trials::{Candidate, Prediction, Trial, TrialSearch, TrialSettings, comparable, prior_return};

use crate::archive::ArchiveOutline;
use crate::error::RunError;
use crate::operations::{OpenArchive, acting};
use crate::world::EnvOverrides;

/// How to adapt.
#[derive(Debug, Clone, PartialEq)]
pub struct AdaptOptions {
    /// Levels to look at; those of the task if not given.
    pub levels: Option<Vec<f64>>,
    /// Random worlds instead of levels, if any.
    pub random: u32,
    /// Episodes by which an elite is selected.
    pub episodes: u32,
    /// Episodes that are reported of an elite.
    pub report_episodes: u32,
    /// Trials to simulate in each world; none if 0.
    pub trials: u32,
    /// How they are chosen.
    pub trial_settings: TrialSettings,
    /// How to act; as the archive says if not given.
    pub actions: Option<Actions>,
    /// Seed of all episodes.
    pub seed: u64,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdaptProgress<'a> {
    /// Worlds done, and all of them.
    pub worlds: [usize; 2],
    /// The world that is being looked at.
    pub world: &'a str,
    /// Elites run in it, and all of them.
    pub elites: [usize; 2],
}

/// What was done.
#[derive(Debug, Clone, PartialEq)]
pub struct Adapted {
    /// The results, also in the folder.
    pub adaptation: Adaptation,
    /// How many worlds were there already.
    pub reused: usize,
    /// Why earlier results were not continued, if there were any.
    pub renewed: Option<String>,
}

/// Elites that are run between two reports of progress. A constant, as the episodes of an elite depend on its place.
const BATCH: usize = 128;
/// How many of the best of the selection the oracle looks at.
const ORACLE_CANDIDATES: usize = 20;
/// Episodes by which it chooses.
const ORACLE_EPISODES: u32 = 100;

/// A world to look at.
struct Plan {
    at: f64,
    healthy: bool,
    /// What its episodes are told apart by.
    key: u32,
    world: EnvOverrides,
}

/// Runs all elites of an archive in the worlds of a task. Results are kept in `folder` world by world, and those that are
/// there already are not computed again.
///
/// # Errors
/// If the archive is empty or of another task, or a level is outside of the range.
pub fn adapt(
    open: &OpenArchive,
    task: &AdaptTask,
    options: &AdaptOptions,
    folder: &Path,
    mut progress: impl FnMut(AdaptProgress<'_>),
) -> Result<Adapted, RunError> {
    let about = &open.archive.about;
    options.trial_settings.check()?;
    let candidates = Candidate::of(about, &open.archive.elites);
    if candidates.is_empty() {
        return Err(RunError::EmptyArchive { path: open.path.clone() });
    }
    let plans = plans(open, task, options)?;
    let actions = options.actions.unwrap_or(about.actions);
    let fresh = Adaptation {
        format: results::FORMAT,
        task: task.clone(),
        random: options.random > 0,
        archive: ArchiveOutline::from(&open.archive).fingerprint(),
        iteration: about.iteration,
        actions: actions.to_string(),
        seed: options.seed,
        episodes: options.episodes,
        report_episodes: options.report_episodes,
        cells: open.archive.elites.iter().map(|elite| elite.cell).collect(),
        cases: Vec::new(),
    };
    // What cannot be read is computed anew.
    let (earlier, mut renewed) = match Adaptation::load(&folder.join(format!("{}.json", fresh.name()))) {
        Ok(earlier) => (earlier, None),
        Err(reason) => (None, Some(reason.to_string())),
    };
    let why = earlier.as_ref().and_then(|earlier| fresh.differs_from(earlier));
    renewed = renewed.or(why.map(str::to_owned));
    let kept = earlier.filter(|_| why.is_none()).map(|earlier| earlier.cases).unwrap_or_default();
    let mut adaptation = Adaptation { cases: kept, ..fresh };
    let networks = acting(&about.actor)?;
    let mut reused = 0;
    let mut best_before = None;
    for (number, plan) in plans.iter().enumerate() {
        let name = plan.world.in_words().unwrap_or_else(|| "the task as published".to_owned());
        let tell = |elites: usize| AdaptProgress {
            worlds: [number, plans.len()],
            world: &name,
            elites: [elites, candidates.len()],
        };
        let env = Arc::new(open.environment(Some(&plan.world))?);
        let runner = Runner { env, networks: &networks, open, options, actions, key: plan.key };
        let found =
            adaptation.cases.iter().position(|case| case.at == plan.at && case.healthy == plan.healthy);
        reused += usize::from(found.is_some());
        let mut case = match found {
            Some(at) => adaptation.cases.remove(at),
            None => {
                let (returns, first_trials) = runner.select(|elites| progress(tell(elites)))?;
                runner.report(plan, &name, returns, first_trials, best_before)
            }
        };
        if plan.healthy {
            best_before = Some(case.adapted.elite);
        }
        let wanted = !plan.healthy && options.trials > 0;
        let settled = |few: &FewShots| {
            few.settings == options.trial_settings && few.trials.len() == options.trials as usize
        };
        if wanted && !case.few_shots.as_ref().is_some_and(settled) {
            let (settings, trials) = (options.trial_settings, options.trials);
            let seed = runner.seed("random trials", 0);
            case.few_shots =
                Some(few_shots::few_shots(&candidates, &case, settings, trials, seed, |elite, n| {
                    runner.again(elite, n)
                })?);
        }
        progress(tell(candidates.len()));
        adaptation.cases.push(case);
        adaptation.cases.sort_by(|a, b| b.healthy.cmp(&a.healthy).then(a.at.total_cmp(&b.at)));
        adaptation.save(folder)?;
    }
    Ok(Adapted { adaptation, reused, renewed })
}

/// The worlds to look at, the healthy one first.
fn plans(open: &OpenArchive, task: &AdaptTask, options: &AdaptOptions) -> Result<Vec<Plan>, RunError> {
    let own = open.world();
    let key = |kind: &str, at: f64| {
        let mut hash = crc32fast::Hasher::new();
        hash.update(kind.as_bytes());
        hash.update(&at.to_le_bytes());
        hash.finalize()
    };
    let healthy = task.level.healthy;
    let mut plans = vec![Plan { at: healthy, healthy: true, key: key("healthy", 0.0), world: own.clone() }];
    if options.random > 0 {
        plans.extend((0..options.random).map(|number| Plan {
            at: f64::from(number) + 1.0,
            healthy: false,
            key: key("random", f64::from(number)),
            world: task.random_world(&own, options.seed, number),
        }));
        return Ok(plans);
    }
    let mut levels = options.levels.clone().unwrap_or_else(|| task.level.levels.clone());
    task.allows(&levels)?;
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    // The healthy world is there already.
    levels.retain(|&level| level != healthy);
    plans.extend(levels.into_iter().map(|at| Plan {
        at,
        healthy: false,
        key: key("level", at),
        world: task.world(&own, at),
    }));
    Ok(plans)
}

/// The worlds that will be looked at beside the healthy one, for warnings before anything runs.
pub fn worlds(
    open: &OpenArchive,
    task: &AdaptTask,
    options: &AdaptOptions,
) -> Result<Vec<EnvOverrides>, RunError> {
    Ok(plans(open, task, options)?.into_iter().skip(1).map(|plan| plan.world).collect())
}

/// Runs elites in one world.
struct Runner<'a> {
    env: Arc<Environment>,
    networks: &'a Networks,
    open: &'a OpenArchive,
    options: &'a AdaptOptions,
    actions: Actions,
    key: u32,
}

impl Runner<'_> {
    /// A seed for this purpose in this world.
    fn seed(&self, purpose: &str, part: u64) -> u64 {
        let mut draws = Stream::new(self.options.seed, purpose).draws(self.key, part);
        u64::from(draws.bits()) << 32 | u64::from(draws.bits())
    }

    fn policy(&self, elite: usize) -> &Policy {
        &self.open.archive.elites[elite].policy
    }

    fn run(&self, elites: &[usize], episodes: u32, seed: u64) -> Vec<Evaluation> {
        let policies: Vec<&Policy> = elites.iter().map(|&elite| self.policy(elite)).collect();
        evaluate(&self.env, self.networks, &policies, episodes, self.actions, seed)
    }

    /// The mean return of each elite over the episodes of the selection, and its return in one more: sixteen episodes take
    /// as long as one.
    fn select(&self, mut progress: impl FnMut(usize)) -> Result<(Vec<f64>, Vec<f64>), RunError> {
        let elites: Vec<usize> = (0..self.open.archive.elites.len()).collect();
        let (mut means, mut trials) = (Vec::new(), Vec::new());
        for (part, batch) in elites.chunks(BATCH).enumerate() {
            progress(means.len());
            let seed = self.seed("adaptation selection", part as u64);
            for result in self.run(batch, self.options.episodes + 1, seed) {
                let (trial, selection) = result.returns.split_last().unwrap_or((&f64::NAN, &[]));
                means.push(selection.iter().sum::<f64>() / selection.len() as f64);
                trials.push(*trial);
            }
        }
        // In a world whose physics is unstable, an elite may leave the numbers; it counts as the worst.
        for returns in [&mut means, &mut trials] {
            let worst = returns.iter().copied().filter(|value| value.is_finite()).reduce(f64::min);
            let Some(worst) = worst else {
                let problem = "no elite has a finite return in this world; its physics is unstable";
                return Err(RunError::Adaptation { problem: problem.to_owned() });
            };
            returns.iter_mut().filter(|value| !value.is_finite()).for_each(|value| *value = worst);
        }
        Ok((means, trials))
    }

    /// What is reported of this world. In the healthy one, nothing was best before.
    fn report(
        &self,
        plan: &Plan,
        name: &str,
        returns: Vec<f64>,
        first_trials: Vec<f64>,
        before: Option<usize>,
    ) -> Case {
        let best = trials::best_of(returns.iter().copied()).unwrap_or_default();
        let mut order: Vec<usize> = (0..returns.len()).collect();
        order.sort_by(|&a, &b| returns[b].total_cmp(&returns[a]));
        order.truncate(ORACLE_CANDIDATES);
        let judged = self.run(&order, ORACLE_EPISODES, self.seed("adaptation oracle", 0));
        let oracle = trials::best_of(judged.iter().map(Evaluation::mean_return));
        let oracle = order[oracle.unwrap_or_default()];
        let reported = |elite: usize| {
            let result =
                &self.run(&[elite], self.options.report_episodes, self.seed("adaptation report", 0))[0];
            let (mean, count) = (result.mean_return(), result.returns.len() as f64);
            let squares: f64 = result.returns.iter().map(|value| (value - mean).powi(2)).sum();
            let error = (squares / (count - 1.0).max(1.0) / count).sqrt();
            let finite = |value: f64| if value.is_finite() { value } else { 0.0 };
            Reported { elite, mean: finite(mean), error: finite(error) }
        };
        Case {
            at: plan.at,
            healthy: plan.healthy,
            world: name.to_owned(),
            adapted: reported(best),
            unadapted: reported(before.unwrap_or(best)),
            oracle: reported(oracle),
            returns,
            first_trials,
            few_shots: None,
        }
    }

    /// The return of an elite that is tried again.
    fn again(&self, elite: usize, number: u64) -> f64 {
        let seed = self.seed("adaptation repeated trial", number << 32 | elite as u64);
        let value = self.run(&[elite], 1, seed)[0].mean_return();
        if value.is_finite() { value } else { self.open.archive.elites[elite].objective.min(0.0) }
    }
}
