//! Elites of an archive demonstrate, or a single policy does.
//!
//! An archive keeps the luckiest of noisy evaluations, and a single episode may be an exception. So each elite runs
//! several fresh episodes. If these are not what the archive says of it, the next elite is asked; if they are, the episode
//! that is [typical](super::typical) of them is recorded.

use std::path::Path;
use std::sync::Arc;

use magpie_demos::{
    About, Columns, DemonstrationError, Demonstrations, Demonstrator, Episode, Problem, Sizes,
};
use magpie_envs::Environment;
use magpie_learn::{Actions, Networks, Policy, Recording, record};
use magpie_qd::select::{Farthest, Rated, best};
use magpie_qd::{Cells, Grid};
use magpie_random::Stream;
use magpie_settings::SettingError;

use super::OpenArchive;
use super::open::{acting, fits};
use super::typical::{FreshEpisodes, cell_widths};
use crate::archive::SavedElite;
use crate::error::{FewGoodElites, RunError};
use crate::policy_file::load_policy;
use crate::ppo::POLICY;
use crate::world::EnvOverrides;

/// Which of the best elites demonstrate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The best one, and then again and again the one whose behaviour is farthest from those chosen.
    Diverse,
    /// The ones with the highest returns.
    Best,
    /// Any.
    Random,
}

/// Who demonstrates, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct DemonstrateOptions {
    /// How many demonstrations, one episode each.
    pub number: u32,
    /// Fresh episodes for each of them, from which the typical one is recorded.
    pub episodes: u32,
    /// Seed of the starts, of drawn actions and of a random choice.
    pub seed: u64,
    /// Keep only every Nth step.
    pub every: u32,
    /// How to act; as the file says if not given: elites as they did when they were found.
    pub actions: Option<Actions>,
    /// Which elites of an archive demonstrate.
    pub elites: EliteOptions,
}

/// Which elites of an archive may demonstrate.
#[derive(Debug, Clone, PartialEq)]
pub struct EliteOptions {
    /// Which of the best.
    pub choice: Choice,
    /// How many elites are the best ones.
    pub top: u32,
    /// The share of its stored return that an elite must reach on the mean of its fresh episodes.
    pub min_return: f64,
    /// How many cells the mean measures may lie away from the stored ones, along any dimension.
    pub max_cells: f64,
}

impl Default for DemonstrateOptions {
    fn default() -> DemonstrateOptions {
        DemonstrateOptions {
            number: 4,
            episodes: 10,
            seed: 0,
            every: 1,
            actions: None,
            elites: EliteOptions::default(),
        }
    }
}

impl Default for EliteOptions {
    fn default() -> EliteOptions {
        EliteOptions { choice: Choice::Diverse, top: 500, min_return: 0.8, max_cells: 3.0 }
    }
}

/// Demonstrations of one file.
const MOST_DEMONSTRATIONS: u32 = 100_000;

/// Fresh episodes for one demonstration.
const MOST_EPISODES: u32 = 100;

impl DemonstrateOptions {
    fn check(&self) -> Result<(), RunError> {
        let EliteOptions { min_return, max_cells, .. } = self.elites;
        let number = format!("from 1 to {MOST_DEMONSTRATIONS}");
        SettingError::unless(
            (1..=MOST_DEMONSTRATIONS).contains(&self.number),
            "number",
            self.number,
            number,
        )?;
        let episodes = format!("from 1 to {MOST_EPISODES}");
        SettingError::unless(
            (1..=MOST_EPISODES).contains(&self.episodes),
            "episodes",
            self.episodes,
            episodes,
        )?;
        let share = "a share from 0 to 1".to_owned();
        SettingError::unless((0.0..=1.0).contains(&min_return), "min_return", min_return, share)?;
        Ok(SettingError::unless(max_cells >= 0.0, "max_cells", max_cells, "at least 0".to_owned())?)
    }
}

/// Demonstrations, and who made them.
#[derive(Debug, Clone, PartialEq)]
pub struct Demonstrated {
    /// The demonstrations.
    pub demonstrations: Demonstrations,
    /// How their demonstrators acted.
    pub actions: Actions,
    /// One for each demonstration, in order.
    pub recorded: Vec<Recorded>,
    /// Elites that were turned down, in the order in which they were tried.
    pub skipped: Vec<Skipped>,
    /// What is likely to be a mistake, in sentences.
    pub warnings: Vec<String>,
}

/// A demonstration, and what is typical of its demonstrator.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// The elite; `None` for a single policy.
    pub elite: Option<StoredElite>,
    /// What the demonstrator's fresh episodes gave.
    pub fresh: FreshEpisodes,
    /// Return of the recorded episode.
    pub true_return: f64,
    /// Its measures.
    pub measures: Vec<f64>,
    /// Its steps.
    pub length: usize,
    /// Whether it terminated, as with a fall.
    pub terminated: bool,
}

/// What an archive says of an elite.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredElite {
    /// Its cell, as people name it.
    pub cell: String,
    /// Its return.
    pub objective: f64,
    /// Its measures.
    pub measures: Vec<f64>,
}

/// An elite that does not do what the archive says of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Skipped {
    /// What the archive says.
    pub elite: StoredElite,
    /// What its fresh episodes gave.
    pub fresh: FreshEpisodes,
    /// Why it does not demonstrate.
    pub reason: Mismatch,
}

/// What fresh episodes do not reproduce.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mismatch {
    /// The return.
    Return,
    /// The measures: they lie this many cells away.
    Measures(f64),
    /// Anything: the simulation met numbers that are not finite.
    NotFinite,
}

/// Elites in the order in which they are asked.
enum Candidates<'a> {
    Diverse(Farthest<'a>),
    Listed(std::vec::IntoIter<usize>),
}

impl<'a> Candidates<'a> {
    fn new(options: &DemonstrateOptions, rated: &'a [Rated<'a>], mut pool: Vec<usize>) -> Candidates<'a> {
        match options.elites.choice {
            Choice::Diverse => Candidates::Diverse(Farthest::new(rated, pool)),
            Choice::Best => Candidates::Listed(pool.into_iter()),
            Choice::Random => {
                Stream::new(options.seed, "demonstrators").draws(0, 0).shuffle(&mut pool);
                Candidates::Listed(pool.into_iter())
            }
        }
    }

    fn take(&mut self) -> Option<usize> {
        match self {
            Candidates::Diverse(farthest) => farthest.take(),
            Candidates::Listed(list) => list.next(),
        }
    }

    fn keep(&mut self, elite: usize) {
        if let Candidates::Diverse(farthest) = self {
            farthest.keep(elite);
        }
    }
}

/// Lets elites of an archive demonstrate in its own world.
pub fn demonstrate(open: &OpenArchive, options: &DemonstrateOptions) -> Result<Demonstrated, RunError> {
    options.check()?;
    let EliteOptions { top, min_return, max_cells, .. } = options.elites;
    let (archive, wanted) = (&open.archive, options.number);
    let about = &archive.about;
    let rated: Vec<Rated<'_>> =
        archive.elites.iter().map(|e| Rated { objective: e.objective, measures: &e.measures }).collect();
    let pool = best(&rated, top as usize);
    let (tried, limited) = (pool.len(), pool.len() < archive.elites.len());
    if tried < wanted as usize {
        return Err(RunError::FewElites { path: open.path.clone(), wanted, found: tried, limited });
    }
    let actions = options.actions.unwrap_or(about.actions);
    let env = Arc::new(open.environment(None)?);
    let stage = Stage {
        env: &env,
        networks: acting(&about.actor)?,
        actions,
        options,
        widths: cell_widths(&about.cells, &about.ranges),
    };
    let mut candidates = Candidates::new(options, &rated, pool);
    let mut made = Takes::default();
    let mut skipped = Vec::new();
    let mut number = 0;
    while made.recorded.len() < wanted as usize {
        let Some(candidate) = candidates.take() else {
            let low = skipped.iter().filter(|s: &&Skipped| s.reason == Mismatch::Return).count();
            return Err(RunError::FewGoodElites(Box::new(FewGoodElites {
                path: open.path.clone(),
                wanted,
                good: made.recorded.len(),
                tried,
                low,
                moved: skipped.len() - low,
                min_return,
                max_cells,
                limited,
                other_actions: actions != about.actions,
            })));
        };
        let elite = &archive.elites[candidate];
        let stored = StoredElite {
            cell: about.cell_name(elite.cell),
            objective: elite.objective,
            measures: elite.measures.clone(),
        };
        let recordings = stage.episodes(&elite.policy, number);
        number += 1;
        let fresh = FreshEpisodes::of(&recordings);
        match mismatch(elite, &fresh, &recordings, &stage) {
            Some(reason) => skipped.push(Skipped { elite: stored, fresh, reason }),
            None => {
                candidates.keep(candidate);
                made.add(Some(stored), fresh, recordings, &stage.widths);
            }
        }
    }
    let who = format!("elites of an archive after {} iterations", about.iteration);
    made.finish(&open.path, &about.task, who, &stage, skipped)
}

/// What the episodes do not have in common with what the archive says of the elite.
fn mismatch(
    elite: &SavedElite,
    fresh: &FreshEpisodes,
    recordings: &[Recording],
    stage: &Stage<'_>,
) -> Option<Mismatch> {
    let EliteOptions { min_return, max_cells, .. } = stage.options.elites;
    // A share of what it returns, up or down from zero.
    let least = elite.objective - (1.0 - min_return) * elite.objective.abs();
    let cells = fresh.cells_from(&elite.measures, &stage.widths);
    if !are_finite(recordings) {
        Some(Mismatch::NotFinite)
    } else if fresh.mean_return < least {
        Some(Mismatch::Return)
    } else if cells > max_cells {
        Some(Mismatch::Measures(cells))
    } else {
        None
    }
}

fn are_finite(recordings: &[Recording]) -> bool {
    recordings.iter().all(|r| {
        [&r.observations, &r.actions, &r.final_observation, &r.rewards, &r.measures]
            .into_iter()
            .all(|table| table.iter().all(|value| value.is_finite()))
    })
}

/// Cells along each measure of a policy, whose file knows no archive: as many as archives have.
const RESOLUTION: usize = 50;

/// Lets a single policy demonstrate: that in the folder of a PPO run or of behaviour cloning, or of a file. How its behaviour is
/// measured is not in the file; the task's first measure if not given.
pub fn demonstrate_policy(
    run: &Path,
    measure: Option<&str>,
    options: &DemonstrateOptions,
) -> Result<Demonstrated, RunError> {
    options.check()?;
    let path = if run.is_dir() { run.join(POLICY) } else { run.to_owned() };
    let file = load_policy(&path)?;
    let world = EnvOverrides::of_run(path.parent().unwrap_or(Path::new(".")))?;
    let env = Arc::new(world.environment(&file.task, measure)?);
    fits(&file.actor, &env)?;
    let ranges: Vec<[f64; 2]> = env.measure_dimensions().iter().map(|d| d.range).collect();
    let [lower, upper] = [0, 1].map(|end| ranges.iter().map(|range| range[end]).collect());
    let cells = Cells::from(Grid::new(vec![RESOLUTION; ranges.len()], lower, upper)?);
    let stage = Stage {
        env: &env,
        networks: acting(&file.actor)?,
        actions: options.actions.unwrap_or(file.actions),
        options,
        widths: cell_widths(&cells, &ranges),
    };
    let mut made = Takes::default();
    for number in 0..options.number {
        let recordings = stage.episodes(&file.policy, number);
        if !are_finite(&recordings) {
            return Err(RunError::Foreign {
                path,
                problem: "the simulation met numbers that are not finite; the policy or its robot is broken"
                    .to_owned(),
            });
        }
        made.add(None, FreshEpisodes::of(&recordings), recordings, &stage.widths);
    }
    made.finish(&path, &file.task, "a single policy".to_owned(), &stage, Vec::new())
}

/// Where demonstrators act, and how.
struct Stage<'a> {
    env: &'a Arc<Environment>,
    networks: Networks,
    actions: Actions,
    options: &'a DemonstrateOptions,
    /// Of a cell.
    widths: Vec<f64>,
}

impl Stage<'_> {
    /// Fresh episodes of the demonstrator with this number.
    fn episodes(&self, policy: &Policy, number: u32) -> Vec<Recording> {
        let count = self.options.episodes;
        let episodes = number * count..(number + 1) * count;
        record(self.env, &self.networks, policy, episodes, self.actions, self.options.seed)
    }
}

/// Demonstrations as they are made.
#[derive(Default)]
struct Takes {
    recorded: Vec<Recorded>,
    recordings: Vec<Recording>,
}

impl Takes {
    /// Keeps the typical one of the episodes.
    fn add(
        &mut self,
        elite: Option<StoredElite>,
        fresh: FreshEpisodes,
        mut recordings: Vec<Recording>,
        widths: &[f64],
    ) {
        let Some(typical) = fresh.typical(&recordings, widths) else { return };
        let recording = recordings.swap_remove(typical);
        self.recorded.push(Recorded {
            elite,
            fresh,
            true_return: recording.true_return(),
            measures: recording.mean_measures(),
            length: recording.length(),
            terminated: recording.terminated,
        });
        self.recordings.push(recording);
    }

    fn finish(
        self,
        path: &Path,
        task: &str,
        who: String,
        stage: &Stage<'_>,
        skipped: Vec<Skipped>,
    ) -> Result<Demonstrated, RunError> {
        let no_demonstrations = |problem: Problem| DemonstrationError::Content {
            path: path.to_owned(),
            problem: Problem(format!("the episodes make no demonstrations: {problem}")),
        };
        let columns = self.columns(task, who, stage);
        let all = Demonstrations::new(columns).map_err(no_demonstrations)?;
        let demonstrations = all.sparse(stage.options.every).map_err(no_demonstrations)?;
        let falls = self.recorded.iter().filter(|recorded| recorded.terminated).count();
        let mut warnings = Vec::new();
        if falls > 0 {
            warnings.push(format!(
                "{falls} of {} demonstrations end before the time limit, as with a fall, because their demonstrators usually \
                 do; policies that imitate them learn to",
                self.recorded.len()
            ));
        }
        Ok(Demonstrated {
            demonstrations,
            actions: stage.actions,
            recorded: self.recorded,
            skipped,
            warnings,
        })
    }

    fn columns(&self, task: &str, who: String, stage: &Stage<'_>) -> Columns {
        let (env, episodes) = (stage.env, stage.options.episodes);
        let manner = match stage.actions {
            Actions::Mean => "mean actions",
            Actions::Sampled => "drawn actions",
        };
        let about = About {
            task: task.to_owned(),
            robot: env.robot().to_owned(),
            measure: env.measure().to_owned(),
            horizon: env.episode_steps(),
            source: format!("{who}, {manner}, each the typical one of {episodes} episodes"),
            ..About::default()
        };
        let episode = |recorded: &Recorded| Episode {
            length: recorded.length,
            terminated: recorded.terminated,
            true_return: Some(recorded.true_return),
            measures: Vec::new(),
            demonstrator: recorded
                .elite
                .as_ref()
                .map(|elite| Demonstrator { objective: elite.objective, measures: elite.measures.clone() }),
        };
        let column =
            |select: fn(&Recording) -> &Vec<f32>| self.recordings.iter().flat_map(select).copied().collect();
        Columns {
            about,
            sizes: Sizes { observation: env.observation_size(), action: env.action_size() },
            episodes: self.recorded.iter().map(episode).collect(),
            observations: column(|r| &r.observations),
            actions: column(|r| &r.actions),
            final_observations: column(|r| &r.final_observation),
            next_observations: Vec::new(),
            rewards: column(|r| &r.rewards),
            measures: column(|r| &r.measures),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::tests::{CELLS, hopper};
    use crate::policy_file::{PolicyFile, save_policy};

    /// An archive that says of its two elites what they do.
    fn honest(cells: Cells) -> (tempfile::TempDir, OpenArchive) {
        let (folder, mut open) = hopper(cells);
        let anything = EliteOptions { min_return: 0.0, max_cells: f64::INFINITY, ..EliteOptions::default() };
        let options = DemonstrateOptions { number: 2, elites: anything, ..DemonstrateOptions::default() };
        let made = demonstrate(&open, &options).unwrap();
        for recorded in made.recorded {
            let cell = open.archive.about.cell_named(&recorded.elite.unwrap().cell).unwrap();
            let elite = open.archive.elites.iter_mut().find(|elite| elite.cell == cell).unwrap();
            elite.objective = recorded.fresh.mean_return;
            elite.measures = recorded.fresh.mean_measures;
        }
        (folder, open)
    }

    fn options(number: u32) -> DemonstrateOptions {
        DemonstrateOptions { number, ..DemonstrateOptions::default() }
    }

    fn best(choice: Choice) -> EliteOptions {
        EliteOptions { choice, ..EliteOptions::default() }
    }

    #[test]
    fn the_chosen_demonstrate_in_the_order_of_choice() {
        for cells in CELLS {
            let (_folder, open) = honest(cells());
            let made = |options: DemonstrateOptions| demonstrate(&open, &options).unwrap();
            let both = made(options(2));
            assert!(both.skipped.is_empty());
            let stored: Vec<f64> =
                both.recorded.iter().map(|r| r.elite.as_ref().unwrap().objective).collect();
            assert!(stored[0] > stored[1], "the best one comes first: {stored:?}");
            let one = made(options(1)).demonstrations;
            assert_eq!(one, both.demonstrations.subset(1), "fewer are the first of more");
            let told = made(DemonstrateOptions { actions: Some(Actions::Mean), ..options(1) });
            assert_eq!(told.demonstrations, one, "the archive says that they act by their means");
            let random = |seed| {
                made(DemonstrateOptions { elites: best(Choice::Random), seed, ..options(1) }).demonstrations
            };
            assert_eq!(random(1).to_bytes().unwrap(), random(1).to_bytes().unwrap());
            assert_ne!(random(1), random(2));
        }
    }

    #[test]
    fn elites_act_as_the_archive_says_unless_told_otherwise() {
        let (_folder, mut open) = honest(CELLS[0]());
        open.archive.about.actions = Actions::Sampled;
        let lenient = EliteOptions { min_return: 0.0, max_cells: f64::INFINITY, ..EliteOptions::default() };
        let made = |actions| {
            let options = DemonstrateOptions { actions, elites: lenient.clone(), ..options(1) };
            demonstrate(&open, &options).unwrap()
        };
        let (drawn, mean) = (made(None), made(Some(Actions::Mean)));
        assert_eq!([drawn.actions, mean.actions], [Actions::Sampled, Actions::Mean]);
        assert!(drawn.demonstrations.columns().about.source.contains("drawn actions"));
        assert_ne!(drawn.demonstrations.columns().actions, mean.demonstrations.columns().actions);
    }

    #[test]
    fn what_is_recorded_is_the_typical_one_of_the_fresh_episodes() {
        let (_folder, open) = honest(CELLS[0]());
        let made = demonstrate(&open, &options(2)).unwrap();
        let env = Arc::new(open.environment(None).unwrap());
        let networks = acting(&open.archive.about.actor).unwrap();
        for (number, recorded) in made.recorded.iter().enumerate() {
            let stored = recorded.elite.as_ref().unwrap();
            let elite = open.archive.elites.iter().find(|e| e.objective == stored.objective).unwrap();
            let numbers = number as u32 * 10..number as u32 * 10 + 10;
            let episodes = record(&env, &networks, &elite.policy, numbers, Actions::Mean, 0);
            let mean = episodes.iter().map(Recording::true_return).sum::<f64>() / 10.0;
            assert_eq!(recorded.fresh.mean_return, mean);
            let apart = |r: f64| (r - mean).abs() / recorded.fresh.std_return;
            assert!(apart(recorded.true_return) < 1.0, "{recorded:?}");
            assert!(episodes.iter().any(|e| apart(e.true_return()) > 1.0), "some are not typical");
            assert!(episodes.iter().any(|e| e.true_return() == recorded.true_return));
        }
        // Random actors fall, and that is said.
        assert!(made.recorded.iter().all(|r| r.terminated && r.fresh.terminated == 10));
        assert!(made.warnings[0].starts_with("2 of 2 demonstrations end before"), "{:?}", made.warnings);
    }

    #[test]
    fn an_elite_that_does_not_do_what_the_archive_says_is_skipped() {
        for choice in [Choice::Diverse, Choice::Best] {
            let (_folder, mut open) = honest(CELLS[0]());
            let made = |open: &OpenArchive, elites: EliteOptions| {
                demonstrate(open, &DemonstrateOptions { elites, ..options(1) })
            };
            let better = usize::from(open.archive.elites[1].objective > open.archive.elites[0].objective);
            // One that fell is said to have stood.
            open.archive.elites[better].objective *= 1.3;
            let second = made(&open, best(choice)).unwrap();
            assert_eq!(second.skipped.len(), 1);
            assert_eq!(second.skipped[0].reason, Mismatch::Return);
            let other = open.archive.elites[1 - better].objective;
            assert_eq!(second.recorded[0].elite.as_ref().unwrap().objective, other);
            // Less is asked of it.
            let lenient = made(&open, EliteOptions { min_return: 0.7, ..best(choice) }).unwrap();
            assert!(lenient.skipped.is_empty());

            // The other one is said to behave in another way, so that none is left.
            let measure = open.archive.elites[1 - better].measures[0];
            open.archive.elites[1 - better].measures[0] = measure + 3.1 * 0.2;
            let message = made(&open, best(choice)).unwrap_err().to_string();
            for part in [
                "none of the 2 elites tried",
                "1 returned less than 80 %",
                "1 behaved differently",
                "3 cells",
            ] {
                assert!(message.contains(part), "{part} is missing: {message}");
            }
            let moved = made(&open, EliteOptions { max_cells: 3.2, ..best(choice) }).unwrap();
            assert_eq!(moved.skipped.len(), 1);
        }
    }

    #[test]
    fn of_too_few_good_elites_it_is_said_how_many_there_are() {
        let (_folder, mut open) = honest(CELLS[1]());
        open.archive.elites[0].objective = 1e6;
        let message = demonstrate(&open, &options(2)).unwrap_err().to_string();
        assert!(
            message.contains("only 1 of the 2 elites tried") && message.contains("ask for at most 1"),
            "{message}"
        );
        let drawn = DemonstrateOptions { actions: Some(Actions::Sampled), ..options(2) };
        let message = demonstrate(&open, &drawn).unwrap_err().to_string();
        assert!(message.contains("act as they did when they were found"), "{message}");
    }

    #[test]
    fn negative_returns_have_a_tolerance_too() {
        let (_folder, mut open) = honest(CELLS[0]());
        let stage = |open: &OpenArchive, options: &DemonstrateOptions, objective: f64, fresh: f64| {
            let env = Arc::new(open.environment(None).unwrap());
            let networks = acting(&open.archive.about.actor).unwrap();
            let stage = Stage { env: &env, networks, actions: Actions::Mean, options, widths: vec![0.2] };
            let elite = SavedElite { objective, ..open.archive.elites[0].clone() };
            let fresh = FreshEpisodes {
                episodes: 10,
                terminated: 0,
                mean_return: fresh,
                std_return: 1.0,
                mean_measures: elite.measures.clone(),
            };
            mismatch(&elite, &fresh, &[], &stage)
        };
        open.archive.about.actions = Actions::Mean;
        let options = options(1);
        assert_eq!(stage(&open, &options, -100.0, -119.0), None);
        assert_eq!(stage(&open, &options, -100.0, -121.0), Some(Mismatch::Return));
        assert_eq!(stage(&open, &options, 100.0, 81.0), None);
        assert_eq!(stage(&open, &options, 100.0, 79.0), Some(Mismatch::Return));
    }

    #[test]
    fn a_single_policy_demonstrates() {
        let (folder, open) = honest(CELLS[0]());
        let path = folder.path().join(POLICY);
        let file = PolicyFile {
            task: "hopper".to_owned(),
            actor: open.archive.about.actor.clone(),
            actions: Actions::Mean,
            policy: open.archive.elites[0].policy.clone(),
        };
        save_policy(&path, &file).unwrap();
        let made = demonstrate_policy(&path, None, &options(3)).unwrap();
        let columns = made.demonstrations.columns();
        assert_eq!((columns.episodes.len(), columns.about.measure.as_str()), (3, "feet_contact"));
        assert!(
            columns.about.source.starts_with("a single policy, mean actions"),
            "{}",
            columns.about.source
        );
        assert_eq!(columns.measures.len(), made.demonstrations.steps());
        assert!(made.recorded.iter().all(|recorded| recorded.elite.is_none()));
        let returns: Vec<f64> = made.recorded.iter().map(|recorded| recorded.true_return).collect();
        assert!(
            returns[0] != returns[1] && returns[1] != returns[2],
            "each has episodes of its own: {returns:?}"
        );
        assert_eq!(demonstrate_policy(folder.path(), None, &options(3)).unwrap(), made);
        let angle = demonstrate_policy(&path, Some("angle"), &options(1)).unwrap();
        assert_eq!(angle.demonstrations.places()[0].as_ref().unwrap().len(), 2);
    }

    #[test]
    fn more_than_there_are_is_refused() {
        let (_folder, open) = hopper(CELLS[0]());
        let refused = |number, top| {
            let elites = EliteOptions { top, ..EliteOptions::default() };
            demonstrate(&open, &DemonstrateOptions { elites, ..options(number) }).unwrap_err().to_string()
        };
        let message = refused(3, 500);
        assert!(message.contains("3 demonstrations were asked for, but there are 2 elites"), "{message}");
        assert!(message.ends_with("ask for fewer"), "{message}");
        assert!(refused(2, 1).contains("choose among more"), "{}", refused(2, 1));
        let none = DemonstrateOptions { episodes: 0, ..options(1) };
        let message = demonstrate(&open, &none).unwrap_err().to_string();
        assert!(message.contains("episodes is 0, but must be from 1 to 100"), "{message}");
    }
}
