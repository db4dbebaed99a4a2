//! One iteration of the search: emitters propose policies, which are evaluated and inserted, and are told the results.

use std::sync::Arc;
use std::time::Instant;

use magpie_envs::Environment;
use magpie_learn::{LearnerFactory, Policy};
use magpie_qd::{ArchivePair, Candidate, Cells, Metrics, Pooled, Provenance};
use magpie_random::Stream;

use crate::bonus::{self, Bonus};
use crate::config::SearchConfig;
use crate::emitter::{self, Batch, Emitter, Part, Setup, Told, Turn};
use crate::error::SearchError;
use crate::evaluator::{EvaluatedPolicy, normaliser_len};
use crate::objective::Objective;
use crate::reevaluation::least_known;
use crate::report::{EmitterReport, Report};
use crate::rewards::Rewards;
use crate::settle::{Effort, Settling};
use crate::state::{EmitterRecord, State};

/// A running search. It owns archives, evaluation, the order of insertion, rewards and counters; its emitters decide
/// which policies to propose.
pub struct Scheduler {
    setup: Setup,
    seed: u64,
    emitters: Vec<Active>,
    rewards: Rewards,
    state: State,
}

/// An emitter with its own seed, and its counts for this iteration.
struct Active {
    emitter: Box<dyn Emitter>,
    seed: u64,
    tally: Tally,
}

/// Counts of an emitter's policies in an iteration.
#[derive(Default)]
struct Tally {
    proposed: usize,
    new_cells: usize,
    refused: usize,
}

/// An evaluated batch. `first` is the number of its first policy, if its policies are numbered.
struct Evaluated {
    policies: Vec<EvaluatedPolicy>,
    first: Option<usize>,
}

/// The largest number of rounds per iteration; an emitter that needs more is faulty.
const MOST_ROUNDS: u32 = 8;

/// The components of a search.
pub struct Parts {
    /// The task in its world.
    pub env: Arc<Environment>,
    /// The configuration.
    pub config: SearchConfig,
    /// Source of the objective's reward.
    pub objective: Objective,
    /// Seed of all random streams.
    pub seed: u64,
    /// Emitters in addition to the configured ones.
    pub emitters: Vec<Box<dyn Emitter>>,
    /// A bonus in place of the configured one.
    pub bonus: Option<Box<dyn Bonus>>,
    /// Creates learners in place of the configured one.
    pub learner: Option<LearnerFactory>,
    /// What PPGA begins with in place of an untrained policy; not needed to resume.
    pub start: Option<Policy>,
}

impl Parts {
    /// The configured components.
    pub fn new(env: Arc<Environment>, config: SearchConfig, objective: Objective, seed: u64) -> Parts {
        Parts { env, config, objective, seed, emitters: Vec::new(), bonus: None, learner: None, start: None }
    }
}

impl Scheduler {
    /// Starts a new search.
    pub fn start(parts: Parts) -> Result<Scheduler, SearchError> {
        parts.config.check(parts.env.measure_size())?;
        let cells = parts.config.cells(&parts.env)?;
        let mut search = Scheduler::assemble(parts, cells)?;
        search.take_turns(|_, active, turn| active.emitter.start(turn))?;
        search.commit()?;
        Ok(search)
    }

    /// Resumes a search with the same components from its state.
    pub fn resume(parts: Parts, state: State) -> Result<Scheduler, SearchError> {
        // Centroids take minutes to compute, so those of the state are used.
        let cells = state.archives.cells();
        parts.config.check(parts.env.measure_size())?;
        if !parts.config.are_cells_of(cells, &parts.env)? {
            return Err(SearchError::Foreign("cells of the archive"));
        }
        let mut search = Scheduler::assemble(parts, cells.clone())?;
        let names = state.emitters.iter().map(|record| record.name.as_str());
        let size = |state: &State| {
            let solutions = state.archives.solutions();
            (solutions.solution_len(), solutions.extra_len())
        };
        let fits = [
            (size(&state) == size(&search.state), "size of the policy"),
            (names.eq(search.emitters.iter().map(|active| active.emitter.name())), "emitters"),
            (
                state.archives.result().ranking() == search.state.archives.result().ranking(),
                "ranking of the result archive",
            ),
            (
                state.archives.soft().acceptance() == search.state.archives.soft().acceptance(),
                "rule of the soft archive",
            ),
        ];
        if let Some((_, what)) = fits.into_iter().find(|(fits, _)| !fits) {
            return Err(SearchError::Foreign(what));
        }
        search.state = state;
        search.undo()?;
        Ok(search)
    }

    fn assemble(parts: Parts, cells: Cells) -> Result<Scheduler, SearchError> {
        let Parts { env, config, objective, seed, emitters: others, bonus, learner, start } = parts;
        let networks = config.networks(&env)?;
        let count = cells.count();
        let bonus = bonus.or_else(|| bonus::build(&config.curiosity, &cells));
        let archives = ArchivePair::new(
            cells,
            config.acceptance(),
            networks.policy_len(),
            normaliser_len(env.observation_size()),
        )?
        .ranked(config.ranking())?;
        let setup = Setup { env, networks, config, cells: count, learner, start };
        let mut emitters = Vec::new();
        for &name in &setup.config.emitters {
            let seed = seed_of_emitter(seed, emitters.len());
            let emitter = emitter::build(name, &setup, seed)?;
            emitters.push(Active { emitter, seed, tally: Tally::default() });
        }
        for emitter in others {
            let seed = seed_of_emitter(seed, emitters.len());
            emitters.push(Active { emitter, seed, tally: Tally::default() });
        }
        let rewards = Rewards { objective, bonus };
        let state = State {
            iteration: 0,
            env_steps: 0,
            failures: 0,
            archives,
            emitters: Vec::new(),
            rewards: rewards.save()?,
        };
        Ok(Scheduler { setup, seed, emitters, rewards, state })
    }

    /// The state from which the search can be resumed.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The configuration.
    pub fn config(&self) -> &SearchConfig {
        &self.setup.config
    }

    /// Metrics of the result archive.
    pub fn metrics(&self) -> Metrics {
        self.state.archives.metrics(self.setup.config.qd_offset())
    }

    /// Begins to settle the archive. The search is not affected: it goes on as if it had never been settled.
    pub fn settling(&self, effort: Effort) -> Settling {
        let who = (self.seed, self.state.iteration);
        let archives = self.state.archives.clone();
        Settling::start(self.setup.evaluator(), self.setup.config.qd_offset(), who, archives, effort)
    }

    /// Runs one iteration. If an emitter fails, all emitters and the rewards return to their state at the beginning of
    /// the iteration, and the next attempt uses other environments. If it fails when first asked, as PPGA does if
    /// gradients are not finite, the archives are unchanged as well.
    pub fn iterate(&mut self) -> Result<Report, SearchError> {
        let env_steps = self.state.env_steps;
        let result = self.rounds();
        if result.is_err() {
            self.state.env_steps = env_steps;
            self.state.failures += 1;
            self.undo()?;
        }
        result
    }

    fn rounds(&mut self) -> Result<Report, SearchError> {
        let (mut evaluation, mut archive) = (0.0, 0.0);
        self.emitters.iter_mut().for_each(|active| active.tally = Tally::default());
        for round in 0..MOST_ROUNDS {
            let asked = self.take_turns(|_, active, turn| active.emitter.ask(turn))?;
            if asked.iter().all(Vec::is_empty) {
                return self.finish(evaluation, archive);
            }
            let mut clock = Clock::start();
            let evaluated = self.evaluate(asked, round)?;
            evaluation += clock.lap();
            let told = self.insert(evaluated)?;
            archive += clock.lap();
            self.take_turns(|i, active, turn| active.emitter.tell(turn, &told[i]))?;
        }
        Err(SearchError::Endless { rounds: MOST_ROUNDS })
    }

    /// Evaluates what each emitter proposed, all of its policies in parallel.
    fn evaluate(&mut self, asked: Vec<Vec<Batch>>, round: u32) -> Result<Vec<Vec<Evaluated>>, SearchError> {
        let mut asked = asked.into_iter();
        self.take_turns(|_, active, turn| {
            let (mut policies, mut layout) = (Vec::new(), Vec::new());
            for batch in asked.next().unwrap_or_default() {
                match batch {
                    Batch::New(new) => {
                        layout.push(Err(new.len()));
                        policies.extend(new);
                    }
                    Batch::Evaluated(known) => layout.push(Ok(known)),
                }
            }
            let mut evaluated = turn.evaluate(policies, Part::Round(round)).into_iter();
            let batch = |part: Result<Vec<EvaluatedPolicy>, usize>| match part {
                Ok(known) => Evaluated { policies: known, first: None },
                Err(count) => {
                    let first = active.tally.proposed;
                    active.tally.proposed += count;
                    Evaluated { policies: evaluated.by_ref().take(count).collect(), first: Some(first) }
                }
            };
            Ok(layout.into_iter().map(batch).collect())
        })
    }

    /// Offers all batches to both archives, one after the other.
    fn insert(&mut self, evaluated: Vec<Vec<Evaluated>>) -> Result<Vec<Vec<Told>>, SearchError> {
        // Iterations count from 1, as in reports.
        let iteration = self.state.iteration + 1;
        let mut told = Vec::with_capacity(evaluated.len());
        for (active, batches) in self.emitters.iter_mut().zip(evaluated) {
            let mut of_emitter = Vec::with_capacity(batches.len());
            for Evaluated { policies, first } in batches {
                let provenance = |i| Provenance { iteration, branch: first.map(|first| (first + i) as u32) };
                let candidates: Vec<Candidate<'_>> =
                    policies.iter().enumerate().map(|(i, policy)| policy.candidate(provenance(i))).collect();
                let insertion = self.state.archives.add(&candidates)?;
                active.tally.new_cells += insertion.new_cells;
                active.tally.refused += insertion.refused();
                of_emitter.push(Told { policies, insertion });
            }
            told.push(of_emitter);
        }
        Ok(told)
    }

    /// Evaluates the elites again of which least is known, so that none keeps its cell by luck.
    fn reevaluate(&mut self) -> Result<Pooled, SearchError> {
        let State { iteration, env_steps, failures, archives, .. } = &mut self.state;
        let mut draws = Stream::new(self.seed, "re-evaluation").draws(*failures as u32, *iteration);
        let elites = least_known(archives, self.setup.config.reevaluations as usize, &mut draws);
        let (more, steps) = self.setup.evaluator().with_full_lanes().again(&elites, draws.seed());
        *env_steps += steps;
        Ok(archives.pool(&more)?)
    }

    fn finish(&mut self, mut evaluation_seconds: f64, archive_seconds: f64) -> Result<Report, SearchError> {
        let mut clock = Clock::start();
        let reevaluation = self.reevaluate()?;
        evaluation_seconds += clock.lap();
        self.take_turns(|_, active, turn| active.emitter.end(turn))?;
        self.state.iteration += 1;
        self.commit()?;
        let report = |active: &Active| EmitterReport {
            name: active.emitter.name(),
            proposed: active.tally.proposed,
            new_cells: active.tally.new_cells,
            ppga: active.emitter.ppga(),
        };
        Ok(Report {
            iteration: self.state.iteration,
            metrics: self.metrics(),
            new_cells: self.emitters.iter().map(|active| active.tally.new_cells).sum(),
            refused: self.emitters.iter().map(|active| active.tally.refused).sum(),
            reevaluation,
            env_steps: self.state.env_steps,
            emitters: self.emitters.iter().map(report).collect(),
            evaluation_seconds,
            archive_seconds,
        })
    }

    /// Gives each emitter its turn, in the order of the configuration.
    fn take_turns<T>(
        &mut self,
        mut act: impl FnMut(usize, &mut Active, &mut Turn<'_>) -> Result<T, SearchError>,
    ) -> Result<Vec<T>, SearchError> {
        let Scheduler { setup, emitters, rewards, state, .. } = self;
        let State { iteration, env_steps, failures, archives, .. } = state;
        let turn = |(i, active): (usize, &mut Active)| {
            let mut turn = Turn {
                setup,
                seed: active.seed,
                iteration: *iteration,
                archives,
                rewards,
                env_steps,
                failures: *failures,
            };
            act(i, active, &mut turn)
        };
        emitters.iter_mut().enumerate().map(turn).collect()
    }

    /// Records the state of emitters and rewards.
    fn commit(&mut self) -> Result<(), SearchError> {
        let record = |active: &Active| {
            let (name, state) = (active.emitter.name().to_owned(), active.emitter.save()?);
            Ok(EmitterRecord { name, state })
        };
        self.state.emitters = self.emitters.iter().map(record).collect::<Result<_, SearchError>>()?;
        self.state.rewards = self.rewards.save()?;
        Ok(())
    }

    /// Restores the recorded state of emitters and rewards.
    fn undo(&mut self) -> Result<(), SearchError> {
        for (active, record) in self.emitters.iter_mut().zip(&self.state.emitters) {
            active.emitter.restore(&self.setup, &record.state)?;
        }
        self.rewards.restore(&self.state.rewards)
    }
}

/// The first emitter has the seed of the search; the others have seeds drawn from it.
fn seed_of_emitter(seed: u64, index: usize) -> u64 {
    if index == 0 {
        return seed;
    }
    Stream::new(seed, "emitters").draws(index as u32, 0).seed()
}

/// Measures the time since the last lap.
struct Clock(Instant);

impl Clock {
    fn start() -> Clock {
        Clock(Instant::now())
    }

    fn lap(&mut self) -> f64 {
        let now = Instant::now();
        (now - std::mem::replace(&mut self.0, now)).as_secs_f64()
    }
}
