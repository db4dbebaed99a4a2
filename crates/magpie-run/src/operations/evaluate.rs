//! Elites and policies run again on fresh seeds.
//!
//! An archive keeps the luckiest of many noisy evaluations, so it flatters itself. Run again, its elites give returns
//! and measures that nobody has selected; put into an empty archive, these give the corrected QD-Score and coverage.

use std::path::Path;
use std::sync::Arc;

use magpie_envs::Dimension;
use magpie_learn::{Actions, Evaluation, Policy, evaluate};
use magpie_qd::{Acceptance, ArchivePair, Candidate, Metrics, Provenance, QdOffset};

use super::OpenArchive;
use super::open::{acting, fits};
use super::output::may_write;
use crate::archive::{About, ArchiveOutline, SavedArchive, SavedElite};
use crate::directory::{CONFIG, write_whole};
use crate::error::RunError;
use crate::policy_file::load_policy;
use crate::reevaluation::Reevaluation;
use crate::train::ARCHIVE;
use crate::world::EnvOverrides;

/// Which elites of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// Every one.
    All,
    /// The one with the highest objective.
    Best,
    /// The one of this cell.
    Cell(usize),
}

/// How to run them.
#[derive(Debug, Clone, PartialEq)]
pub struct EvaluateOptions {
    /// Episodes of each policy.
    pub episodes: u32,
    /// How to act; as the file says if not given.
    pub actions: Option<Actions>,
    /// Seed of the starts and of the drawn actions.
    pub seed: u64,
    /// The world; that of the run if not given.
    pub world: Option<EnvOverrides>,
}

/// Elites run again.
#[derive(Debug, Clone, PartialEq)]
pub struct ArchiveEvaluation<'a> {
    /// The elites, and what they did.
    pub elites: Vec<(&'a SavedElite, Evaluation)>,
    /// How they acted.
    pub actions: Actions,
    /// Of the archive that all elites make now; `None` if only one of them was run.
    pub corrected: Option<Metrics>,
    /// How many fall in another cell now.
    pub moved: usize,
    /// What corrects the run's own numbers, to be kept in its folder ([`Reevaluation::save`]); `None` unless all elites of
    /// a run's archive were run in its own world and acted as they did when they were found.
    pub reevaluation: Option<Reevaluation>,
}

/// Runs elites of an archive again.
pub fn evaluate_archive<'a>(
    open: &'a OpenArchive,
    selection: Selection,
    options: &EvaluateOptions,
) -> Result<ArchiveEvaluation<'a>, RunError> {
    let archive = &open.archive;
    let about = &archive.about;
    let chosen: Vec<&SavedElite> = match selection {
        Selection::All => archive.elites.iter().collect(),
        Selection::Best => archive.best().into_iter().collect(),
        Selection::Cell(cell) => vec![archive.elite(cell)?],
    };
    if chosen.is_empty() {
        return Err(RunError::EmptyArchive { path: open.path.clone() });
    }
    let EvaluateOptions { episodes, seed, ref world, .. } = *options;
    let actions = options.actions.unwrap_or(about.actions);
    let env = Arc::new(open.environment(world.as_ref())?);
    let policies: Vec<&Policy> = chosen.iter().map(|e| &e.policy).collect();
    let results = evaluate(&env, &acting(&about.actor)?, &policies, episodes, actions, seed);
    let stays =
        |elite: &SavedElite, now: &Evaluation| about.cells.index_of(&now.mean_measures()) == Ok(elite.cell);
    let elites: Vec<(&SavedElite, Evaluation)> = chosen.into_iter().zip(results).collect();
    let moved = elites.iter().filter(|(elite, now)| !stays(elite, now)).count();
    let corrected = match selection {
        Selection::All => Some(corrected(about, &elites)?),
        Selection::Best | Selection::Cell(_) => None,
    };
    let own = open.path.file_name().is_some_and(|name| name == ARCHIVE);
    let comparable = own && open.folder().join(CONFIG).is_file() && actions == about.actions;
    let same_world = world.as_ref().is_none_or(|world| *world == open.world());
    let reevaluation = corrected.filter(|_| comparable && same_world).map(|metrics| Reevaluation {
        archive: ArchiveOutline::from(archive).fingerprint(),
        iteration: about.iteration,
        episodes,
        seed,
        metrics,
    });
    Ok(ArchiveEvaluation { elites, actions, corrected, moved, reevaluation })
}

/// Of the archive that the elites make now.
fn corrected(about: &About, elites: &[(&SavedElite, Evaluation)]) -> Result<Metrics, RunError> {
    // Only the result archive of the pair is looked at, so any rule does for the other one.
    let mut fresh = ArchivePair::new(about.cells.clone(), Acceptance::Elitist, 0, 0)?;
    let measures: Vec<Vec<f64>> = elites.iter().map(|(_, now)| now.mean_measures()).collect();
    let batch: Vec<Candidate<'_>> = elites
        .iter()
        .zip(&measures)
        .map(|((_, now), measures)| Candidate {
            solution: &[],
            extra: &[],
            objective: now.mean_return(),
            measures,
            length: now.mean_length(),
            provenance: Provenance { iteration: 0, branch: None },
        })
        .collect();
    fresh.add(&batch)?;
    Ok(fresh.metrics(QdOffset::PerStep(about.qd_offset)))
}

impl ArchiveEvaluation<'_> {
    /// Writes a CSV file with a line for each elite, stored and measured again.
    pub fn write_table(&self, archive: &SavedArchive, path: &Path) -> Result<(), RunError> {
        may_write(path, &[])?;
        let dims = archive.about.names.len();
        let mut columns =
            ["index", "stored_objective", "objective", "stored_length", "length"].map(str::to_owned).to_vec();
        columns.extend((0..dims).map(|j| format!("stored_measures_{j}")));
        columns.extend((0..dims).map(|j| format!("measures_{j}")));
        let mut text = columns.join(",") + "\n";
        for (elite, now) in &self.elites {
            let numbers = [elite.objective, now.mean_return(), elite.length, now.mean_length()];
            let row = numbers.into_iter().chain(elite.measures.iter().copied()).chain(now.mean_measures());
            text.push_str(&elite.cell.to_string());
            row.for_each(|value| text.push_str(&format!(",{value}")));
            text.push('\n');
        }
        write_whole(path, text.as_bytes())
    }
}

/// A single policy run again.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyEvaluation {
    /// The task.
    pub task: String,
    /// What was measured.
    pub dimensions: Vec<Dimension>,
    /// How it acted.
    pub actions: Actions,
    /// What it did.
    pub result: Evaluation,
}

/// Runs a policy again: that of the folder of a run of PPO, or of a file. What it is measured by is not in the file.
pub fn evaluate_policy(
    run: &Path,
    measure: Option<&str>,
    options: &EvaluateOptions,
) -> Result<PolicyEvaluation, RunError> {
    let path = if run.is_dir() { run.join(crate::ppo::POLICY) } else { run.to_owned() };
    let file = load_policy(&path)?;
    let world = match &options.world {
        Some(world) => world.clone(),
        None => EnvOverrides::of_run(path.parent().unwrap_or(Path::new(".")))?,
    };
    let env = Arc::new(world.environment(&file.task, measure)?);
    fits(&file.actor, &env)?;
    let actions = options.actions.unwrap_or(file.actions);
    let networks = acting(&file.actor)?;
    let mut results = evaluate(&env, &networks, &[&file.policy], options.episodes, actions, options.seed);
    let result = results.remove(0);
    Ok(PolicyEvaluation { task: file.task, dimensions: env.measure_dimensions(), actions, result })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::tests::{CELLS, hopper};

    fn options() -> EvaluateOptions {
        EvaluateOptions { episodes: 2, actions: None, seed: 3, world: None }
    }

    #[test]
    fn elites_act_as_the_archive_says_unless_told_otherwise() {
        for cells in CELLS {
            let (_folder, open) = hopper(cells());
            let own = evaluate_archive(&open, Selection::All, &options()).unwrap();
            assert_eq!((own.actions, own.elites.len()), (Actions::Mean, 2));
            let told = EvaluateOptions { actions: Some(Actions::Mean), ..options() };
            assert_eq!(evaluate_archive(&open, Selection::All, &told).unwrap(), own);
            let drawn = EvaluateOptions { actions: Some(Actions::Sampled), ..options() };
            let drawn = evaluate_archive(&open, Selection::All, &drawn).unwrap();
            assert_ne!(drawn.elites[0].1, own.elites[0].1);
            assert!(own.corrected.is_some_and(|now| now.elites >= 1 && now.elites <= 2));
            assert!(own.reevaluation.is_none(), "there is no run to correct");
        }
    }

    #[test]
    fn what_all_elites_of_a_run_reach_in_its_own_world_corrects_it() {
        let (folder, open) = hopper(CELLS[0]());
        std::fs::write(folder.path().join(CONFIG), "").unwrap();
        let kept = |selection, options: EvaluateOptions| {
            evaluate_archive(&open, selection, &options).unwrap().reevaluation
        };
        assert!(kept(Selection::All, options()).is_some());
        assert!(kept(Selection::All, EvaluateOptions { world: Some(open.world()), ..options() }).is_some());
        assert!(kept(Selection::Best, options()).is_none());
        let slippery = EnvOverrides { friction: 0.3, ..EnvOverrides::default() };
        assert!(kept(Selection::All, EvaluateOptions { world: Some(slippery), ..options() }).is_none());
        let drawn = EvaluateOptions { actions: Some(Actions::Sampled), ..options() };
        assert!(kept(Selection::All, drawn).is_none());
    }

    #[test]
    fn a_table_has_a_line_for_each_elite() {
        let (folder, open) = hopper(CELLS[1]());
        let evaluation = evaluate_archive(&open, Selection::All, &options()).unwrap();
        let path = folder.path().join("table.csv");
        evaluation.write_table(&open.archive, &path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("index,stored_objective,objective,stored_length,length,stored_measures_0,"));
        assert_eq!(text.lines().count(), 3);
        assert!(text.lines().nth(1).unwrap().starts_with(&open.archive.elites[0].cell.to_string()));
    }

    #[test]
    fn a_task_of_other_sizes_is_refused() {
        let (_folder, mut open) = hopper(CELLS[0]());
        open.archive.about.task = "ant".to_owned();
        let error = evaluate_archive(&open, Selection::Best, &options()).unwrap_err().to_string();
        assert!(error.contains("ant") && error.contains("11") && error.contains("87"), "{error}");
    }
}
