//! Elites and policies run again on fresh seeds.
//!
//! An archive keeps the luckiest of many noisy evaluations, so it flatters itself. Run again, its elites give returns
//! and measures that were not selected for; put into an empty archive, these give the verified QD-Score and coverage. That
//! archive can be saved, policies and all ([`ArchiveEvaluation::save_verified`]): where two elites now fall in one cell it
//! has the better one, so that it holds fewer, and what it says of each is a fair estimate but for that choice.

use std::path::Path;
use std::sync::Arc;

use magpie_envs::{Dimension, Environment};
use magpie_learn::{Actions, Evaluation, Policy, evaluate};
use magpie_qd::{Acceptance, ArchivePair, Candidate, Evidence, Metrics, Provenance, QdOffset};

use super::OpenArchive;
use super::open::{acting, fits};
use super::output::may_write;
use crate::archive::{About, ArchiveOutline, SavedArchive, SavedElite, save_archive};
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
    pub verified: Option<Metrics>,
    /// How many fall in another cell now.
    pub moved: usize,
    /// What corrects the run's own numbers, to be kept in its folder ([`ArchiveEvaluation::keep`]); `None` unless all elites
    /// of a run's archive were run in its own world and acted as they did when they were found.
    pub reevaluation: Option<Reevaluation>,
    /// The world that they were run in, if it is another than that in which they were found.
    pub other_world: Option<OtherWorld>,
}

/// Two worlds, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherWorld {
    /// Where elites were run.
    pub here: String,
    /// Where they were found.
    pub found: String,
}

/// What became of a [`Reevaluation`].
#[derive(Debug, Clone, PartialEq)]
pub enum Kept {
    /// It is in the folder of the run.
    Written,
    /// The one that is there is of the same archive and has more episodes, and stays.
    HasMoreEpisodes(Reevaluation),
}

/// The name of a verified archive beside the run's own.
pub const VERIFIED: &str = "archive-verified.safetensors";

/// Runs elites of an archive again.
pub fn evaluate_archive<'a>(
    open: &'a OpenArchive,
    selection: Selection,
    options: &EvaluateOptions,
) -> Result<ArchiveEvaluation<'a>, RunError> {
    let env = Arc::new(open.environment(options.world.as_ref())?);
    evaluate_archive_in(env, open, selection, options)
}

/// Evaluates elites in an environment of any simulator, such as the one that a run was started in.
pub fn evaluate_archive_in<'a>(
    env: Arc<Environment>,
    open: &'a OpenArchive,
    selection: Selection,
    options: &EvaluateOptions,
) -> Result<ArchiveEvaluation<'a>, RunError> {
    fits(&open.archive.about.actor, &env)?;
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
    let policies: Vec<&Policy> = chosen.iter().map(|e| &e.policy).collect();
    let results = evaluate(&env, &acting(&about.actor)?, &policies, episodes, actions, seed);
    let stays =
        |elite: &SavedElite, now: &Evaluation| about.cells.index_of(&now.mean_measures()) == Ok(elite.cell);
    let elites: Vec<(&SavedElite, Evaluation)> = chosen.into_iter().zip(results).collect();
    let moved = elites.iter().filter(|(elite, now)| !stays(elite, now)).count();
    let verified = match selection {
        Selection::All => Some(verified(about, &elites)?),
        Selection::Best | Selection::Cell(_) => None,
    };
    let own = open.path.file_name().is_some_and(|name| name == ARCHIVE);
    let comparable = own && open.folder().join(CONFIG).is_file() && actions == about.actions;
    let found = open.world();
    let other_world = world
        .as_ref()
        .filter(|world| **world != found)
        .map(|world| OtherWorld { here: in_words(world), found: in_words(&found) });
    let reevaluation = verified.filter(|_| comparable && other_world.is_none()).map(|metrics| Reevaluation {
        archive: ArchiveOutline::from(archive).fingerprint(),
        iteration: about.iteration,
        episodes,
        seed,
        metrics,
    });
    Ok(ArchiveEvaluation { elites, actions, verified, moved, reevaluation, other_world })
}

/// A world in words.
fn in_words(world: &EnvOverrides) -> String {
    world.in_words().unwrap_or_else(|| "the task as published".to_owned())
}

/// Of the archive that the elites make now.
fn verified(about: &About, elites: &[(&SavedElite, Evaluation)]) -> Result<Metrics, RunError> {
    Ok(fresh(about, elites, false)?.metrics(QdOffset::PerStep(about.qd_offset)))
}

/// The archive that the elites make now, with their policies or without.
fn fresh(
    about: &About,
    elites: &[(&SavedElite, Evaluation)],
    with_policies: bool,
) -> Result<ArchivePair, RunError> {
    let extra = |elite: &SavedElite| -> Vec<f64> {
        let normaliser = &elite.policy.normaliser;
        let numbers = normaliser.mean().iter().chain(normaliser.variance()).copied();
        numbers.chain([normaliser.count()]).collect()
    };
    let sizes = match elites.first().filter(|_| with_policies) {
        Some((elite, _)) => [elite.policy.parameters.len(), extra(elite).len()],
        None => [0, 0],
    };
    // Only the result archive of the pair is looked at, so any rule does for the other one.
    let mut fresh = ArchivePair::new(about.cells.clone(), Acceptance::Elitist, sizes[0], sizes[1])?;
    // Fresh episodes choose nothing: of elites that fall in one cell, that with the best stored objective stays.
    let mut order: Vec<_> = elites.iter().collect();
    order.sort_by(|(a, _), (b, _)| b.objective.total_cmp(&a.objective));
    for (elite, now) in order {
        let (solution, extra) =
            if with_policies { (&elite.policy.parameters[..], extra(elite)) } else { (&[][..], Vec::new()) };
        fresh.add_first(Candidate {
            solution,
            extra: &extra,
            objective: now.mean_return(),
            measures: &now.mean_measures(),
            length: now.mean_length(),
            evidence: Evidence { episodes: now.episodes(), squares: &now.squared_deviations() },
            provenance: Provenance { iteration: elite.iteration, branch: elite.branch },
        })?;
    }
    Ok(fresh)
}

impl ArchiveEvaluation<'_> {
    /// Keeps what corrects the run's own numbers in its folder, unless what is there says more; `None` if there is nothing
    /// to keep.
    pub fn keep(&self, folder: &Path) -> Option<Result<Kept, RunError>> {
        let now = self.reevaluation.as_ref()?;
        // What cannot be read is replaced.
        let before = Reevaluation::load(folder).ok().flatten();
        let better = before.filter(|before| before.archive == now.archive && before.episodes > now.episodes);
        Some(match better {
            Some(before) => Ok(Kept::HasMoreEpisodes(before)),
            None => now.save(folder).map(|()| Kept::Written),
        })
    }

    /// Writes the archive that all elites make now, each in its new cell with its new return and measures, in the format of
    /// the run's own.
    ///
    /// # Errors
    /// If not all elites were run, or in another world, which the file could not say.
    pub fn save_verified(&self, archive: &SavedArchive, path: &Path) -> Result<(), RunError> {
        let refuse = |problem: &str| {
            Err(RunError::Output {
                path: path.to_owned(),
                problem: format!("no verified archive: {problem}"),
            })
        };
        may_write(path, &[])?;
        if self.verified.is_none() {
            return refuse("not all elites were run; run all of them");
        }
        if self.other_world.is_some() {
            return refuse("the elites were run in another world than their own; leave out its changes");
        }
        let about = About { actions: self.actions, ..archive.about.clone() };
        save_archive(path, &fresh(&about, &self.elites, true)?, &about)
    }

    /// Writes a CSV file with a line for each elite, stored and measured again. A cell is named by its number and as people
    /// name it, which in a grid of two dimensions is such as `12,40` and stands between quotes.
    pub fn write_table(&self, archive: &SavedArchive, path: &Path) -> Result<(), RunError> {
        may_write(path, &[])?;
        let dims = archive.about.names.len();
        let mut columns = ["index", "cell", "stored_objective", "objective", "stored_length", "length"]
            .map(str::to_owned)
            .to_vec();
        columns.extend((0..dims).map(|j| format!("stored_measures_{j}")));
        columns.extend((0..dims).map(|j| format!("measures_{j}")));
        let mut text = columns.join(",") + "\n";
        for (elite, now) in &self.elites {
            let numbers = [elite.objective, now.mean_return(), elite.length, now.mean_length()];
            let row = numbers.into_iter().chain(elite.measures.iter().copied()).chain(now.mean_measures());
            text.push_str(&format!("{},\"{}\"", elite.cell, archive.about.cell_name(elite.cell)));
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
    use magpie_physics::Hurdles;

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
            assert!(own.verified.is_some_and(|now| now.elites >= 1 && now.elites <= 2));
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
        assert!(
            text.starts_with("index,cell,stored_objective,objective,stored_length,length,stored_measures_0,")
        );
        assert_eq!(text.lines().count(), 3);
        let cell = open.archive.elites[0].cell;
        assert!(text.lines().nth(1).unwrap().starts_with(&format!("{cell},\"{cell}\",")), "{text}");
    }

    #[test]
    fn fewer_episodes_do_not_take_the_place_of_more() {
        let (folder, open) = hopper(CELLS[0]());
        std::fs::write(folder.path().join(CONFIG), "").unwrap();
        let keep = |episodes, seed| {
            let options = EvaluateOptions { episodes, seed, ..options() };
            evaluate_archive(&open, Selection::All, &options).unwrap().keep(folder.path()).unwrap().unwrap()
        };
        let there = || Reevaluation::load(folder.path()).unwrap().unwrap();
        assert_eq!((keep(3, 1), there().episodes), (Kept::Written, 3));
        let more = there();
        assert_eq!(keep(2, 1), Kept::HasMoreEpisodes(more.clone()));
        assert_eq!(there(), more);
        assert_eq!((keep(3, 2), there().seed), (Kept::Written, 2), "as many are as good");
        // Those of an archive that has changed since are worth nothing.
        Reevaluation { archive: 1, episodes: 100, ..there() }.save(folder.path()).unwrap();
        assert_eq!((keep(1, 2), there().episodes), (Kept::Written, 1));
    }

    #[test]
    fn the_verified_archive_holds_what_elites_reach_now_and_their_policies() {
        for cells in CELLS {
            let (folder, open) = hopper(cells());
            let now = evaluate_archive(&open, Selection::All, &options()).unwrap();
            let path = folder.path().join(VERIFIED);
            now.save_verified(&open.archive, &path).unwrap();
            let saved = OpenArchive::open(&path).unwrap().archive;
            assert_eq!(Some(saved.metrics()), now.verified);
            assert_eq!(saved.about, open.archive.about);
            for elite in &saved.elites {
                let is_it = |(old, _): &&(&SavedElite, Evaluation)| old.policy == elite.policy;
                let (old, now) = now.elites.iter().find(is_it).expect("a policy of the archive");
                assert_eq!((elite.objective, &elite.measures), (now.mean_return(), &now.mean_measures()));
                assert_eq!((elite.length, elite.iteration), (now.mean_length(), old.iteration));
                assert_eq!(saved.about.cells.index_of(&elite.measures), Ok(elite.cell));
            }
            // Acting otherwise is said in the file; another world cannot be.
            let drawn = EvaluateOptions { actions: Some(Actions::Sampled), ..options() };
            let drawn = evaluate_archive(&open, Selection::All, &drawn).unwrap();
            drawn.save_verified(&open.archive, &path).unwrap();
            assert_eq!(OpenArchive::open(&path).unwrap().archive.about.actions, Actions::Sampled);
            let slippery = EnvOverrides { friction: 0.3, ..EnvOverrides::default() };
            let slippery = EvaluateOptions { world: Some(slippery), ..options() };
            let elsewhere = evaluate_archive(&open, Selection::All, &slippery).unwrap();
            let error = elsewhere.save_verified(&open.archive, &path).unwrap_err().to_string();
            assert!(error.contains("another world"), "{error}");
            let best = evaluate_archive(&open, Selection::Best, &options()).unwrap();
            assert!(best.save_verified(&open.archive, &path).unwrap_err().to_string().contains("not all"));
        }
    }

    #[test]
    fn another_world_is_said() {
        let (_folder, open) = hopper(CELLS[0]());
        let world = |world| {
            let options = EvaluateOptions { world: Some(world), ..options() };
            evaluate_archive(&open, Selection::Best, &options).unwrap().other_world
        };
        assert_eq!(world(open.world()), None);
        let strength = [("thigh_joint".to_owned(), 0.5)].into();
        let hurdles = Some(Hurdles { height: 0.1, ..Hurdles::default() });
        let OtherWorld { here, found } =
            world(EnvOverrides { friction: 0.3, strength, hurdles, ..EnvOverrides::default() }).unwrap();
        assert_eq!(found, "the task as published");
        assert_eq!(
            here,
            "friction × 0.3, thigh_joint × 0.5, 1000 hurdles (height 0.1 m, first at 2 m, every 3 m, thickness 0.1 m)"
        );
    }

    #[test]
    fn a_task_of_other_sizes_is_refused() {
        let (_folder, mut open) = hopper(CELLS[0]());
        open.archive.about.task = "ant".to_owned();
        let error = evaluate_archive(&open, Selection::Best, &options()).unwrap_err().to_string();
        assert!(error.contains("ant") && error.contains("11") && error.contains("87"), "{error}");
    }
}
