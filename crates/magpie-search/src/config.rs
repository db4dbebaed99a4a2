//! Settings of a search.

use magpie_envs::{Environment, SearchHints};
use magpie_learn::{Actions, Networks, TrainConfig};
use magpie_nn::ShapeError;
use magpie_qd::{Acceptance, ArchivePair, Cells, Cvt, Grid, Occupancy, QdOffset, Ranking};
use magpie_settings::{Method, SettingError, Settings, When, above, above_to, settings, words};

use crate::bonus::Novelty;
use crate::emitter::{EmitterConfig, EmitterName, candidates};

settings! {
    /// Everything that determines a search, apart from task, reward and seed.
    pub struct SearchConfig {
        /// Number of parallel environments (E). More environments make gradients less noisy, at a proportional cost in
        /// time; there must be at least one per gradient.
        environments: u32 = 3000, by [Budget], in 1..=1_000_000, when PPGA;
        /// Number of branches evaluated per iteration (λ).
        branches: u32 = 300, in 1..=10_000, when PPGA;
        /// Number of full episodes per evaluated policy (E/λ in the paper). Raise it if elites owe their place to lucky
        /// episodes: a re-evaluation then scores below the archive.
        episodes: u32 = 10, in 1..=10_000;
        /// Also evaluate each copy and the search policy after every rollout of their training (intermediate policies)
        /// and offer them to both archives; xNES does not learn from them. They cost only their evaluation episodes;
        /// turn this off to reproduce PPGA.
        intermediate_policies: bool = false, magpie true, since "0.1.0" before false, was "waypoints", when PPGA;
        /// Reward measures as non-negative distances from the nearer end of their range, so that gradients point away
        /// from that end. Turn it off to reward raw measures as PPGA does: a measure at the end of its range then gives
        /// no useful gradient, and one that costs something every step rewards falling over.
        measure_shaping: bool = false, magpie true, since "0.1.0" before false, was "inward", when PPGA;
        /// Number of rollouts each copy trains on before its gradient is taken (N1). Raise it if gradients are too
        /// noisy or too short.
        gradient_iterations: u32 = 10, in 1..=10_000, when PPGA;
        /// Number of rollouts the search policy trains on while walking (N2). Raise it to move the search policy
        /// further per iteration.
        walk_iterations: u32 = 10, in 1..=10_000, when PPGA;
        /// Number of consecutive slow iterations before the search restarts from another elite; an iteration is slow if
        /// qd_score_offset grows by less than a fifth of its mean growth so far. With 0 it restarts only when no branch
        /// is accepted, which may never happen with noisy evaluations.
        patience: u32 = 0, magpie 3, in 0..=10_000, since "0.1.0" before 0, when PPGA;
        /// The search policy that PPGA begins with.
        start: Start = Start::Random, since "0.1.0" before "random", when PPGA;
        /// Iterations added to `patience` with every restart, so that later search policies are trained for longer.
        patience_growth: f64 = 0.0, in 0.0..=1000.0, unit "iterations", since "0.1.0" before 0.0, when PATIENT;
        /// Number of walks that a search policy makes before slow growth can end them. Raise it if the search restarts so often
        /// late in a run that no policy improves.
        min_walks: u32 = 0, in 0..=10_000, since "0.1.0" before 0, when PATIENT;
        /// The elite that becomes the search policy in a restart.
        restarts: Restarts = Restarts::Random, magpie Restarts::Auto, since "0.1.0" before "random", when PPGA;
        /// Reward of the search policy while walking.
        walk: Walk = Walk::Mixture, since "0.1.0" before "mixture", when PPGA;
        /// Least weight of the objective in the mixture of a walk, which has the larger of this and |c₀|. Raise it if walks hardly
        /// see the objective.
        objective_floor: f64 = 0.0, in 0.0..=1000.0, since "0.1.0" before 0.0, when When::All(&[PPGA, When::Is("search.walk", "mixture")]);
        /// Number of search policies, each with its own xNES and critics. In an iteration one of them has its turn, at the cost
        /// of one.
        policies: u32 = 1, in 1..=64, since "0.1.0" before 1, when PPGA;
        /// How the search policy of an iteration is chosen, if there are several.
        turns: Turns = Turns::Cycle, since "0.1.0" before "cycle", when PPGA;
        /// Number of search policies that climb: they walk on the objective alone, and restart from one of the best elites only when
        /// none of their branches is accepted. Use one beside others if the best return stands still.
        climbers: u32 = 0, in 0..=64, since "0.1.0" before 0, when PPGA;
        /// Initial standard deviation of the xNES coefficients, also after a restart, in units of a gradient's length
        /// (σ0). Lower it if most branches are worse than the search policy.
        sigma0: f64 = 1.0, by [Task], in above(0.0), when PPGA;
        /// Reset the policy's action noise to its initial value (log σ = 0) at the start of every iteration. Turn it
        /// off if the noise makes the robot fall at once.
        reset_log_std: bool = true, by [Task], when PPGA;
        /// The archives.
        archive: ArchiveConfig;
        /// The curiosity bonus, which draws the search towards behaviour that is missing from the archive.
        curiosity: Curiosity, when PPGA;
        /// Units in each of the two hidden layers of a critic. With 256 units, critics take three quarters of the
        /// training time.
        critic: u32 = 256, magpie 64, in 1..=4096, since "0.1.0" before 256, when PPGA;
        /// Emitters that propose policies, in this order in every iteration; a name may be repeated.
        emitters: Vec<EmitterName> = vec![EmitterName::Ppga], since "0.1.0" before vec!["ppga"];
        /// Number of elites evaluated again per iteration, those with the fewest episodes first. Their evaluations are
        /// pooled; an elite that turns out to lie in another cell moves there. Raise it if archives lose much of their
        /// score when they are verified.
        reevaluations: u32 = 0, magpie 100, in 0..=1_000_000, since "0.1.0" before 0;
        /// Share of a search's environment steps spent at its end on settling the archive (evaluating its solutions
        /// again until each lies in its cell for certain) and on verifying it with fresh episodes; 0 leaves the archive as
        /// the search found it. A step of evaluation takes about an eighth of the time of a step of training (walker2d).
        settle: f64 = 0.0, magpie 0.35, in 0.0..=10.0, since "0.1.0" before 0.0;
        /// How policies choose actions during evaluation. An archive says how its elites act. Mean actions are what a robot
        /// would run, and an elite does the same again; drawn ones scatter it over the cells around its own.
        actions: Actions = Actions::Sampled, magpie Actions::Mean, since "0.1.0" before "drawn";
        /// Units in each of the two hidden layers of an actor.
        actor: u32 = 128, in 1..=4096, since "0.1.0" before 128;
        /// Settings of the other emitters.
        emitter: EmitterConfig;
        /// How the copies and the search policy are trained.
        train: TrainConfig, when PPGA;
    }
}

settings! {
    /// The archives: their cells, and the acceptance rule of the soft archive.
    pub struct ArchiveConfig {
        /// How the measure space is divided into cells.
        kind: ArchiveKind = ArchiveKind::Grid, since "0.1.0" before "grid";
        /// Number of cells of a CVT archive. QD scores are comparable only between archives with the same number of
        /// cells.
        cells: u32 = 2500, in 1..=MOST_CENTROIDS, since "0.1.0" before 2500, when When::Is("search.archive.kind", "cvt");
        /// Number of cells along each measure; at most 10⁷ cells in total. QD scores are comparable only at the same
        /// resolution.
        resolution: u32 = 50, by [Measure], in 1..=10_000_000, when When::Is("search.archive.kind", "grid");
        /// Number of solutions that a cell of the result archive keeps: the elite and its runners-up, which take its place
        /// if a re-evaluation moves it. Memory grows with it, up to 768 MB of parameters.
        depth: u32 = 1, magpie 2, in 1..=16, since "0.1.0" before 1;
        /// Number of standard errors subtracted from a mean return when the solutions of a cell are ranked, so that luck
        /// in few episodes does not win over evidence.
        caution: f64 = 0.0, magpie 1.0, in 0.0..=10.0, since "0.1.0" before 0.0;
        /// Learning rate of the soft archive's thresholds (α): an accepted solution moves the threshold of its cell by
        /// this share of the difference. With 1 the threshold follows at once, as in MAP-Elites; towards 0 the search
        /// becomes plain optimisation.
        learning_rate: f64 = 0.5, by [Task], in above_to(0.0, 1.0);
        /// Objective that a solution must exceed to enter an empty cell of the soft archive. Choose a value below the
        /// return of a poor but usable policy: if it is too high, the search restarts all the time.
        threshold_min: f64 = 200.0, by [Task], in .., unit "return";
        /// Amount added to an elite's objective for each step of its episodes in qd_score_offset, so that filling a
        /// cell never lowers that score. Use the largest cost of a step of the task; it affects nothing but `patience`.
        qd_offset: f64 = 0.0, by [Task], in .., unit "return per step";
    }
}

settings! {
    /// The curiosity bonus: its size, what earns it, and the steps over which behaviour is averaged.
    #[derive(Copy)]
    pub struct Curiosity {
        /// Bonus per step for fully novel behaviour, in the unit given by `scale` (q). Lower it if the search finds new
        /// behaviour but poor returns (0.5 worked better with diffail); 0, with a `base` of 0, is plain PPGA.
        weight: f64 = 0.0, by [Reward], in 0.0..;
        /// Bonus that every step earns, even in occupied cells (p). It rewards staying alive; the paper uses 0.5 with
        /// the true reward.
        base: f64 = 0.0, by [Task, Reward], in ..;
        /// Steps over which measures are averaged before they are compared with the archive. Shorter spans differ more
        /// between episodes of the same policy.
        scope: Scope = Scope::Episode, magpie Scope::Segment, when CURIOUS;
        /// How the novelty of behaviour is computed.
        novelty: Novelty = Novelty::Empty, magpie Novelty::Density, since "0.1.0" before "empty", when CURIOUS;
        /// Archive whose occupied cells count as known, for novelty and for restarts.
        reference_archive: ReferenceArchive = ReferenceArchive::Soft, magpie ReferenceArchive::Result, since "0.1.0" before "soft",
            was "archive",
            when When::Any(&[
                TO_FRONTIER,
                BY_TURNS,
                When::All(&[CURIOUS, When::Any(&[AUTO, When::IsNot("search.curiosity.novelty", "visits")])]),
            ]);
        /// Pay the bonus also in the last rollout of an episode that ends in a fall. Leave it off for new tasks: to an
        /// untrained policy most novel behaviour is a new way to fall, and it would learn to fall before it can stand.
        on_termination: bool = true, magpie false, since "0.1.0" before true, was "falls",
            when When::All(&[CURIOUS, When::IsNot("search.curiosity.scope", "window")]);
        /// Standard deviation of the Gaussian neighbourhood in which `density` counts empty cells, and restarts count empty or
        /// improved ones. Raise it if the bonus vanishes far from empty cells.
        width: f64 = 2.0, magpie 3.0, in 0.1..=100.0, unit "cells", since "0.1.0" before 2.0,
            when When::Any(&[
                TO_FRONTIER,
                TO_PROMISE,
                BY_TURNS,
                When::All(&[CURIOUS, When::Any(&[AUTO, When::Is("search.curiosity.novelty", "density")])]),
            ]);
        /// Unit of the bonus.
        scale: BonusScale = BonusScale::Step, magpie BonusScale::Reward, since "0.1.0" before "step", was "unit", when CURIOUS;
        /// Multiply the bonus by |c₀| in the walk, as the objective. Turn it off to pay it whole: |c₀| is often small.
        weighted: bool = true, since "0.1.0" before true,
            when When::All(&[CURIOUS, When::Is("search.walk", "mixture")]);
    }
    retired {
        credit = 1.0, when CURIOUS;
        frontier => "search.restarts" [on "auto", off "random"];
    }
}

/// Holds for settings that only PPGA reads.
const PPGA: When = When::Has("search.emitters", "ppga");
/// Without a bonus its other settings have no effect.
const CURIOUS: When = When::NonZero("search.curiosity.weight");
/// Only a patient search notices slow growth.
const PATIENT: When = When::All(&[PPGA, When::NonZero("search.patience")]);
const TO_FRONTIER: When = When::Is("search.restarts", "frontier");
const TO_PROMISE: When = When::Is("search.restarts", "promise");
const AUTO: When = When::Is("search.restarts", "auto");
const BY_TURNS: When = When::Is("search.restarts", "alternate");

words! {
    /// The elite of the soft archive that becomes the search policy in a restart.
    pub enum Restarts {
        /// A random one, as in PPGA.
        Random = "random",
        /// `frontier` with a curiosity bonus, otherwise `random`.
        Auto = "auto",
        /// One next to empty cells, with xNES directed at those cells.
        Frontier = "frontier",
        /// A good one in a neighbourhood where elites have improved lately.
        Promise = "promise",
        /// In turn one next to empty cells and a promising one.
        Alternate = "alternate",
        /// One of the best twentieth.
        Best = "best",
    }
}

words! {
    /// Reward of the search policy while walking.
    pub enum Walk {
        /// |c₀| · objective + Σ cⱼ · measureⱼ, with the mean of xNES, as in Algorithm 1 of the paper.
        Mixture = "mixture",
        /// The objective and the bonus alone, as in the imitation runs of the paper's published code.
        Objective = "objective",
    }
}

words! {
    /// How the search policy of an iteration is chosen, if there are several.
    pub enum Turns {
        /// One after the other.
        Cycle = "cycle",
        /// At random, in proportion to the growth of the archive in their latest turns; every fifth time all are as likely.
        Growth = "growth",
    }
}

words! {
    /// The first search policy.
    pub enum Start {
        /// An untrained policy, as in the paper.
        Random = "random",
        /// A policy cloned from the demonstrations of the reward model (`magpie clone`). With `reset_log_std` it keeps its mean
        /// action but not its action noise.
        Cloned = "cloned",
    }
}

words! {
    /// Unit of the bonus of a step.
    pub enum BonusScale {
        /// Every step earns the same bonus, as in the paper.
        Step = "step",
        /// The bonus is proportional to the step's objective reward, and zero if that is negative: a policy that
        /// performs badly earns nothing by being novel.
        Reward = "reward",
    }
}

words! {
    /// The steps over which the measures of an episode in a rollout are averaged.
    pub enum Scope {
        /// All steps of the episode so far, including those in earlier rollouts.
        Episode = "episode",
        /// The steps of the episode that lie in the current rollout.
        Segment = "segment",
        /// All steps of the rollout, across episodes, as in the published code.
        Window = "window",
    }
}

words! {
    /// The archive whose occupied cells count as known.
    pub enum ReferenceArchive {
        /// The soft archive. It never accepts returns below `threshold_min`, so that behaviour below it stays novel for
        /// ever.
        Soft = "soft",
        /// The result archive: a cell is known once any evaluated policy has fallen into it.
        Result = "result",
    }
}

words! {
    /// How the measure space is divided into cells.
    pub enum ArchiveKind {
        /// Equal boxes, `resolution` along each measure.
        Grid = "grid",
        /// A centroidal Voronoi tessellation: `cells` cells of similar size, for any number of measures.
        Cvt = "cvt",
    }
}

/// The largest number of cells of an archive; a file with more was not written by a search.
pub const MOST_CELLS: usize = 10_000_000;

/// The finest resolution that keeps an archive of this many measures within the limit.
fn most_along(measures: usize) -> u32 {
    ((MOST_CELLS as f64).powf(1.0 / measures as f64) + 1e-6).floor() as u32
}

/// The largest number of cells of a CVT archive: computing neighbourhoods takes quadratic time.
const MOST_CENTROIDS: u32 = 20_000;

/// Samples per cell from which centroids are computed.
const SAMPLES_PER_CELL: usize = 40;

/// The largest number of emitters in a search.
const MOST_EMITTERS: usize = 16;

/// The largest number of episodes per iteration, because each episode is numbered.
const MOST_EPISODES: u64 = 1_000_000_000;

impl SearchConfig {
    /// The paper's configuration for a task, without curiosity.
    pub fn paper(env: &Environment) -> SearchConfig {
        SearchConfig::for_task(Method::Paper, env)
    }

    /// A method's configuration for a task, without curiosity, with the hints of the task file applied.
    pub fn for_task(method: Method, env: &Environment) -> SearchConfig {
        let SearchHints {
            threshold_min,
            qd_offset,
            reset_log_std,
            sigma0,
            archive_learning_rate,
            learning_rate,
            ..
        } = *env.hints();
        let mut config = SearchConfig {
            sigma0,
            reset_log_std,
            archive: ArchiveConfig {
                resolution: if env.measure_size() > 2 { most_along(env.measure_size()).min(10) } else { 50 },
                learning_rate: archive_learning_rate,
                threshold_min,
                qd_offset,
                ..ArchiveConfig::of(method)
            },
            ..SearchConfig::of(method)
        };
        let rate = &mut config.train.ppo.adam.learning_rate;
        *rate = learning_rate.unwrap_or(*rate);
        config
    }

    /// The number of policies that all emitters together propose in an iteration, for this many measures.
    pub fn candidates(&self, measures: usize) -> u64 {
        self.emitters.iter().map(|&name| candidates(name, self, measures)).sum()
    }

    /// The number of emitters that train agents.
    pub fn learners(&self) -> usize {
        self.emitters.iter().filter(|&&name| name == EmitterName::Ppga).count()
    }

    fn learns(&self) -> bool {
        self.learners() > 0
    }

    /// The shapes of the actor and the critics for `env`.
    pub fn networks(&self, env: &Environment) -> Result<Networks, ShapeError> {
        let [actor, critic] = [self.actor, self.critic].map(|width| width as usize);
        Networks::new(env.observation_size(), env.action_size(), actor, critic)
    }

    /// The cells of an archive for `env`.
    pub fn cells(&self, env: &Environment) -> Result<Cells, magpie_qd::Error> {
        match self.archive.kind {
            ArchiveKind::Grid => Ok(self.grid(env)?.into()),
            ArchiveKind::Cvt => {
                let ranges: Vec<[f64; 2]> = env.measure_dimensions().iter().map(|d| d.range).collect();
                let [lower, upper] = [0, 1].map(|end| ranges.iter().map(|r| r[end]).collect::<Vec<_>>());
                let cells = self.archive.cells as usize;
                // The seed is fixed, so that all runs have the same cells.
                Ok(Cvt::uniform(&lower, &upper, cells, SAMPLES_PER_CELL * cells, 0)?.into())
            }
        }
    }

    /// Whether `cells` are those that this configuration gives an archive for `env`.
    pub(crate) fn are_cells_of(&self, cells: &Cells, env: &Environment) -> Result<bool, magpie_qd::Error> {
        Ok(match (self.archive.kind, cells) {
            (ArchiveKind::Grid, Cells::Grid(grid)) => *grid == self.grid(env)?,
            (ArchiveKind::Cvt, Cells::Cvt(cvt)) => {
                (cvt.count(), cvt.measure_dim()) == (self.archive.cells as usize, env.measure_size())
            }
            _ => false,
        })
    }

    /// The grid over the measures of `env`.
    pub fn grid(&self, env: &Environment) -> Result<Grid, magpie_qd::Error> {
        let dimensions = env.measure_dimensions();
        Grid::new(
            vec![self.archive.resolution as usize; dimensions.len()],
            dimensions.iter().map(|d| d.range[0]).collect(),
            dimensions.iter().map(|d| d.range[1]).collect(),
        )
    }

    pub(crate) fn acceptance(&self) -> Acceptance {
        let ArchiveConfig { learning_rate, threshold_min, .. } = self.archive;
        Acceptance::Soft { learning_rate, threshold_min }
    }

    pub(crate) fn ranking(&self) -> Ranking {
        Ranking { depth: self.archive.depth as usize, caution: self.archive.caution }
    }

    pub(crate) fn qd_offset(&self) -> QdOffset {
        QdOffset::PerStep(self.archive.qd_offset)
    }

    /// Checks the configuration for a task with this many measures.
    pub fn check(&self, measures: usize) -> Result<(), SettingError> {
        self.check_ranges()?;
        let copies = measures as u32 + 1;
        let range = format!("{copies}, one per gradient, to 1000000");
        let enough = !self.learns() || self.environments >= copies;
        SettingError::unless(enough, "environments", self.environments, range)?;
        let all = self.candidates(measures).saturating_mul(self.episodes.into());
        let range = format!(
            "few enough for at most {MOST_EPISODES} episodes per iteration, intermediate policies included"
        );
        SettingError::unless(all <= MOST_EPISODES, "episodes", self.episodes, range)?;
        let most = most_along(measures);
        let resolution = self.archive.resolution;
        let range = format!("from 1 to {most} (at most {MOST_CELLS} cells in total)");
        let fits = self.archive.kind != ArchiveKind::Grid || resolution <= most;
        SettingError::unless(fits, "archive.resolution", resolution, range)?;
        let named = !self.emitters.is_empty() && self.emitters.len() <= MOST_EMITTERS;
        let range = format!("a list of 1 to {MOST_EMITTERS} names");
        SettingError::unless(named, "emitters", format!("a list of {}", self.emitters.len()), range)?;
        let (policies, climbers) = (self.policies, self.climbers);
        let range = format!("from 0 to {policies}, the search policies");
        SettingError::unless(climbers <= policies, "climbers", climbers, range)?;
        if !self.learns() {
            return Ok(());
        }
        // A copy has the smallest batch.
        self.train.check((self.environments / copies) as usize).map_err(|error| error.under("train"))
    }
}

impl Curiosity {
    /// Whether any step can earn a bonus.
    pub fn is_on(&self) -> bool {
        self.weight != 0.0 || self.base != 0.0
    }

    /// The novelty that has to be tracked: if novelty earns nothing, `Empty`, which is the cheapest.
    pub(crate) fn pays_for(&self) -> Novelty {
        if self.weight == 0.0 { Novelty::Empty } else { self.novelty }
    }
}

impl ReferenceArchive {
    /// The archive itself.
    pub(crate) fn archive(self, archives: &ArchivePair) -> &dyn Occupancy {
        match self {
            ReferenceArchive::Soft => archives.soft(),
            ReferenceArchive::Result => archives.result(),
        }
    }
}
