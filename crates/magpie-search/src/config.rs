//! What can be set about a search.

use magpie_envs::{Environment, SearchHints};
use magpie_learn::{Actions, Networks, TrainConfig};
use magpie_nn::ShapeError;
use magpie_qd::{Acceptance, Archive, ArchivePair, Cells, Cvt, Grid, QdOffset};
use magpie_settings::{Method, SettingError, Settings, When, above, above_to, settings, words};

use crate::bonus::Novelty;
use crate::emitter::{EmitterConfig, EmitterName, candidates};

settings! {
    /// Everything that decides the course of a search, besides task, reward and seed.
    pub struct SearchConfig {
        /// E: environments side by side. More give less noisy directions, in proportion to the time. At least one for each gradient.
        environments: u32 = 3000, by [Budget], in 1..=1_000_000, when PPGA;
        /// λ: branches tried in an iteration.
        branches: u32 = 300, in 1..=10_000, when PPGA;
        /// Whole episodes by which each branch is judged; the paper's E/λ. An elite that was judged by few was lucky.
        episodes: u32 = 10, in 1..=10_000;
        /// Whether each copy, and the search policy on its walk, is tried like a branch after each rollout too: more policies to choose
        /// from, for nothing but their episodes. Both archives take them; xNES does not learn from them.
        intermediate_policies: bool = false, magpie true, since "0.1.0" before false, was "waypoints", when PPGA;
        /// Whether measures are steered away from the ends of their ranges, and paid as distances from the end to leave, so that they
        /// never cost anything. At its end a measure has nowhere to grow, and where every step costs something it pays to fall over.
        measure_shaping: bool = false, magpie true, since "0.1.0" before false, was "inward", when PPGA;
        /// N1: rollouts that each copy learns from before its gradient is taken.
        gradient_iterations: u32 = 10, in 1..=10_000, when PPGA;
        /// N2: rollouts of the walk.
        walk_iterations: u32 = 10, in 1..=10_000, when PPGA;
        /// Iterations of slow growth (less than a fifth of the mean so far, in qd_score_offset) after which the search restarts from
        /// another elite; 0 waits until no branch is accepted, which with noisy evaluations can take forever.
        patience: u32 = 0, magpie 3, in 0..=10_000, since "0.1.0" before 0, when PPGA;
        /// σ0: spread of the coefficients of xNES at the start and after a restart, in lengths of a gradient. Lower it if most branches are
        /// worse than the search policy.
        sigma0: f64 = 1.0, by [Task], in above(0.0), when PPGA;
        /// Whether actions become as noisy as at the start (log σ = 0) with every iteration.
        reset_log_std: bool = true, by [Task], when PPGA;
        /// The archives.
        archive: ArchiveConfig;
        /// What draws the search to behaviour that nobody in the archive shows.
        curiosity: Curiosity, when PPGA;
        /// Units in each of the two hidden layers of a critic. With 256 three quarters of what learning costs is the critic's.
        critic: u32 = 256, magpie 64, in 1..=4096, since "0.1.0" before 256, when PPGA;
        /// Who proposes policies, one after the other in every iteration; a name can stand more than once.
        emitters: Vec<EmitterName> = vec![EmitterName::Ppga], since "0.1.0" before vec!["ppga"];
        /// How policies act while they are evaluated.
        actions: Actions = Actions::Sampled, since "0.1.0" before "drawn";
        /// Units in each of the two hidden layers of an actor.
        actor: u32 = 128, in 1..=4096, since "0.1.0" before 128;
        /// Of emitters that have settings of their own.
        emitter: EmitterConfig;
        /// How copies and search policy learn.
        train: TrainConfig, when PPGA;
    }
}

settings! {
    /// The archives' cells and the rule of the soft one.
    pub struct ArchiveConfig {
        /// How the space of measures is cut into cells.
        kind: ArchiveKind = ArchiveKind::Grid, since "0.1.0" before "grid";
        /// Cells of a CVT archive. QD-Scores of different numbers of cells cannot be compared.
        cells: u32 = 2500, in 1..=MOST_CENTROIDS, since "0.1.0" before 2500, when When::Is("search.archive.kind", "cvt");
        /// Cells along each dimension of the measure, at most 10⁷ in all. QD-Scores of different resolutions cannot be compared.
        resolution: u32 = 50, by [Measure], in 1..=10_000_000, when When::Is("search.archive.kind", "grid");
        /// α: a threshold of the soft archive moves this share of the way to what its cell accepts. 1 follows at once, as in MAP-Elites;
        /// towards 0 is plain optimisation.
        learning_rate: f64 = 0.5, by [Task], in above_to(0.0, 1.0);
        /// What a solution must surpass to enter an empty cell of the soft archive. Choose it below what a poor but usable policy reaches:
        /// too high, and the search restarts all the time.
        threshold_min: f64 = 200.0, by [Task], in .., unit "return";
        /// What qd_score_offset adds for each step of an elite's episodes, so that filling a cell never lowers it: the most that a step
        /// of the task can cost. It steers nothing but patience.
        qd_offset: f64 = 0.0, by [Task], in .., unit "return per step";
    }
}

settings! {
    /// How large the bonus of curiosity is, what earns it, and over which steps behaviour is averaged.
    #[derive(Copy)]
    pub struct Curiosity {
        /// q: earned by each step of an episode, times how new its behaviour is, and counted as `scale` says. 0, with a `base` of 0, is plain
        /// PPGA. With diffail 0.5 was better.
        weight: f64 = 0.0, by [Reward], in 0.0..;
        /// p: earned by every step, also in filled cells: it pays for staying alive. The paper has 0.5 with the true reward.
        base: f64 = 0.0, by [Task, Reward], in ..;
        /// Which steps make the mean that is compared with the archive. The longer the stretch, the more alike are all
        /// stretches of one policy.
        scope: Scope = Scope::Episode, magpie Scope::Segment, when CURIOUS;
        /// What counts as new.
        novelty: Novelty = Novelty::Empty, magpie Novelty::Density, since "0.1.0" before "empty", when CURIOUS;
        /// In which archive a cell has to be filled to be known, to the bonus and to restarts.
        reference_archive: ReferenceArchive = ReferenceArchive::Soft, magpie ReferenceArchive::Result, since "0.1.0" before "soft",
            was "archive",
            when When::All(&[CURIOUS, When::Any(&[FRONTIER, When::IsNot("search.curiosity.novelty", "visits")])]);
        /// Whether an episode that ends in a fall earns it too, in its last rollout. To a beginner most of what is new is a new way to fall;
        /// paid, it learns that before it can stand.
        on_termination: bool = true, magpie false, since "0.1.0" before true, was "falls",
            when When::All(&[CURIOUS, When::IsNot("search.curiosity.scope", "window")]);
        /// How wide the neighbourhood is in which the novelty by density and restarts look for empty cells: standard deviation of a Gaussian.
        width: f64 = 2.0, magpie 3.0, in 0.1..=100.0, unit "cells", since "0.1.0" before 2.0,
            when When::All(&[CURIOUS, When::Any(&[FRONTIER, When::Is("search.curiosity.novelty", "density")])]);
        /// Whether restarts lead to the frontier of what is known (an elite of the soft archive beside empty cells, and from it towards
        /// them) and not to a random elite.
        frontier: bool = false, magpie true, since "0.1.0" before false, when CURIOUS;
        /// What a step's bonus is counted in.
        scale: BonusScale = BonusScale::Step, magpie BonusScale::Reward, since "0.1.0" before "step", was "unit", when CURIOUS;
    }
    retired { credit = 1.0, when CURIOUS; }
}

/// What only PPGA asks.
const PPGA: When = When::Has("search.emitters", "ppga");
/// Without a bonus nothing else about it matters.
const CURIOUS: When = When::NonZero("search.curiosity.weight");
const FRONTIER: When = When::On("search.curiosity.frontier");

words! {
    /// What the bonus of a step is counted in.
    pub enum BonusScale {
        /// Each step earns the same. The paper's.
        Step = "step",
        /// Each step earns in proportion to its objective reward, and nothing where that is negative: to be new is worth
        /// nothing to a policy that does badly.
        Reward = "reward",
    }
}

words! {
    /// The steps over which the measure of an episode in a rollout is averaged.
    pub enum Scope {
        /// All steps of the episode so far, those in earlier rollouts included.
        Episode = "episode",
        /// The steps of the episode that lie in the rollout.
        Segment = "segment",
        /// All steps of the rollout, whether they belong to one episode or to several: public code.
        Window = "window",
    }
}

words! {
    /// Which archive says what is known.
    pub enum ReferenceArchive {
        /// The soft one. It never takes what returns less than its threshold_min, so that such behaviour stays new for ever.
        Soft = "soft",
        /// The result archive: whatever has been tried once.
        Result = "result",
    }
}

words! {
    /// How the space of measures is cut into cells.
    pub enum ArchiveKind {
        /// Equal boxes, `resolution` along each dimension.
        Grid = "grid",
        /// A centroidal Voronoi tessellation: `cells` cells of about the same size, whatever the number of dimensions.
        Cvt = "cvt",
    }
}

/// Cells that an archive may have.
const MOST_CELLS: f64 = 1e7;

/// Cells along each of so many measures.
fn most_along(measures: usize) -> u32 {
    (MOST_CELLS.powf(1.0 / measures as f64) + 1e-6).floor() as u32
}

/// Cells of a CVT archive: their neighbourhoods take time in proportion to the square.
const MOST_CENTROIDS: u32 = 20_000;

/// Points from which centroids are computed.
const SAMPLES_PER_CELL: usize = 40;

/// Emitters in a search.
const MOST_EMITTERS: usize = 16;

/// Episodes that an iteration may evaluate; each has a number of its own.
const MOST_EPISODES: u64 = 1_000_000_000;

impl SearchConfig {
    /// The paper's configuration of a task, curiosity off.
    pub fn paper(env: &Environment) -> SearchConfig {
        SearchConfig::for_task(Method::Paper, env)
    }

    /// A method's configuration of a task, curiosity off, with what the task says of itself.
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

    /// Policies that an iteration tries, of all emitters; with this many `measures`.
    pub fn candidates(&self, measures: usize) -> u64 {
        self.emitters.iter().map(|&name| candidates(name, self, measures)).sum()
    }

    /// Emitters that train agents.
    pub fn learners(&self) -> usize {
        self.emitters.iter().filter(|&&name| name == EmitterName::Ppga).count()
    }

    fn learns(&self) -> bool {
        self.learners() > 0
    }

    /// Actor and critics of policies of `env`.
    pub fn networks(&self, env: &Environment) -> Result<Networks, ShapeError> {
        let [actor, critic] = [self.actor, self.critic].map(|width| width as usize);
        Networks::new(env.observation_size(), env.action_size(), actor, critic)
    }

    /// The cells of archives of `env`.
    pub fn cells(&self, env: &Environment) -> Result<Cells, magpie_qd::Error> {
        match self.archive.kind {
            ArchiveKind::Grid => Ok(self.grid(env)?.into()),
            ArchiveKind::Cvt => {
                let ranges: Vec<[f64; 2]> = env.measure_dimensions().iter().map(|d| d.range).collect();
                let [lower, upper] = [0, 1].map(|end| ranges.iter().map(|r| r[end]).collect::<Vec<_>>());
                let cells = self.archive.cells as usize;
                // The same cells in every run, whatever its seed.
                Ok(Cvt::uniform(&lower, &upper, cells, SAMPLES_PER_CELL * cells, 0)?.into())
            }
        }
    }

    /// Whether an archive of `env` with these cells is of this configuration.
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

    pub(crate) fn qd_offset(&self) -> QdOffset {
        QdOffset::PerStep(self.archive.qd_offset)
    }

    /// Refuses what cannot be run on a task with `measures` dimensions of measure.
    pub fn check(&self, measures: usize) -> Result<(), SettingError> {
        self.check_ranges()?;
        let copies = measures as u32 + 1;
        let range = format!("{copies}, one for each gradient, to 1000000");
        let enough = !self.learns() || self.environments >= copies;
        SettingError::unless(enough, "environments", self.environments, range)?;
        let all = self.candidates(measures).saturating_mul(self.episodes.into());
        let range = format!(
            "so few that an iteration has at most {MOST_EPISODES} episodes, intermediate policies included"
        );
        SettingError::unless(all <= MOST_EPISODES, "episodes", self.episodes, range)?;
        let most = most_along(measures);
        let resolution = self.archive.resolution;
        let range = format!("from 1 to {most}: at most {MOST_CELLS} cells in all");
        let fits = self.archive.kind != ArchiveKind::Grid || resolution <= most;
        SettingError::unless(fits, "archive.resolution", resolution, range)?;
        let named = !self.emitters.is_empty() && self.emitters.len() <= MOST_EMITTERS;
        let range = format!("a list of 1 to {MOST_EMITTERS} names");
        SettingError::unless(named, "emitters", format!("a list of {}", self.emitters.len()), range)?;
        if !self.learns() {
            return Ok(());
        }
        // The smallest batch is that of a copy.
        self.train.check((self.environments / copies) as usize).map_err(|error| error.under("train"))
    }
}

impl Curiosity {
    /// Whether any step earns anything.
    pub fn is_on(&self) -> bool {
        self.weight != 0.0 || self.base != 0.0
    }

    /// What has to be known to pay: nothing but empty cells, if nothing is paid for novelty.
    pub(crate) fn pays_for(&self) -> Novelty {
        if self.weight == 0.0 { Novelty::Empty } else { self.novelty }
    }

    /// Whether restarts lead to the frontier.
    pub(crate) fn seeks_frontier(&self) -> bool {
        self.frontier && self.weight != 0.0
    }
}

impl ReferenceArchive {
    /// The archive that says it.
    pub(crate) fn archive(self, archives: &ArchivePair) -> &Archive {
        match self {
            ReferenceArchive::Soft => archives.soft(),
            ReferenceArchive::Result => archives.result(),
        }
    }
}
