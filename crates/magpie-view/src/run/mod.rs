//! A run that is looked at.
//!
//! Nothing is read before it is asked for, and what has been read is kept until its files change. Policies are read one at a
//! time. A run may come from anywhere: no file outside of its folder is opened, and what would take too long is refused.

mod confined;
mod metrics;
mod outline;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use magpie_learn::{Actions, Policy};
use magpie_nn::Shape;
use magpie_run::operations::{Player, ReplayOptions, Trajectory, replay};
use magpie_run::{Elites, EnvOverrides, load_policy};

use crate::error::ViewError;
use crate::gait::{Precision, Query, pack};
use crate::picture::{Canvas, Theme, map};
use crate::spread::spread;

/// A run, or the file of an archive or a policy.
#[derive(Debug)]
pub struct Run {
    place: PathBuf,
    folder: PathBuf,
    name: String,
    elites: Mutex<Option<(Stamp, Elites)>>,
    outline: Mutex<Option<(Stamp, Bytes)>>,
    metrics: Mutex<Option<(Stamp, Bytes)>>,
}

/// A piece of JSON that many may be sending at once.
pub type Bytes = Arc<[u8]>;

/// Times and lengths of files: other ones mean other contents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stamp(Vec<Option<(SystemTime, u64)>>);

/// The parts of a run that change while it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Elites.
    Archive,
    /// Curves.
    Metrics,
}

/// The policy that plays, and where.
#[derive(Debug)]
pub struct Chosen {
    task: String,
    measure: Option<String>,
    actor: Shape,
    policy: Policy,
    /// How it acted when it was found.
    pub actions: Actions,
    /// The world it was found in.
    pub world: EnvOverrides,
    /// Number of its cell.
    pub cell: Option<usize>,
    /// What people call it.
    pub name: String,
}

/// Steps that a page shows; no task of magpie's own has more than 1,000.
const MOST_STEPS: u32 = 10_000;
/// Bodies times physics steps of a control step; the humanoid has 11 times 8.
const MOST_WORK: usize = 4_000;

impl Run {
    /// The run in this folder, or around this file.
    pub fn open(place: &Path) -> Result<Run, ViewError> {
        let folder = if place.is_dir() { place } else { place.parent().unwrap_or(Path::new(".")) };
        let canonical = fs::canonicalize(place);
        let named = canonical.as_deref().unwrap_or(place).file_name().unwrap_or(place.as_os_str());
        let run = Run {
            place: place.to_owned(),
            folder: folder.to_owned(),
            name: magpie_run::printable(&named.to_string_lossy()).into_owned(),
            elites: Mutex::default(),
            outline: Mutex::default(),
            metrics: Mutex::default(),
        };
        let known = place.is_file()
            || ["config.toml", "archive.safetensors", "policy.safetensors", "checkpoint/search"]
                .iter()
                .any(|file| folder.join(file).is_file());
        match known {
            true => Ok(run),
            false => Err(ViewError::Option(format!(
                "{} holds no run; name the folder that `magpie train` made, or its archive.safetensors",
                place.display()
            ))),
        }
    }

    /// What it is called on the page.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it lies.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// The folder that it lies in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What changes when a part of the run does.
    pub fn stamp(&self, part: Part) -> Stamp {
        let files: &[&str] = match part {
            Part::Archive => {
                &["archive.safetensors", "checkpoint/search", "policy.safetensors", "finished", "config.toml"]
            }
            Part::Metrics => &["metrics.csv", "config.toml"],
        };
        let of = |path: PathBuf| {
            let about = fs::metadata(path).ok()?;
            Some((about.modified().ok()?, about.len()))
        };
        let own = (!self.place.is_dir()).then(|| self.place.clone());
        Stamp(files.iter().map(|file| self.folder.join(file)).chain(own).map(of).collect())
    }

    /// The archive without its policies, with what else does not change from iteration to iteration, in JSON.
    pub fn outline(&self) -> Result<Bytes, ViewError> {
        self.cached(&self.outline, Part::Archive, || outline::json(self))
    }

    /// The curves and the settings, in JSON.
    pub fn metrics(&self) -> Result<Bytes, ViewError> {
        self.cached(&self.metrics, Part::Metrics, || Ok(metrics::json(&self.folder)))
    }

    fn cached(
        &self,
        cache: &Mutex<Option<(Stamp, Bytes)>>,
        part: Part,
        make: impl FnOnce() -> Result<Vec<u8>, ViewError>,
    ) -> Result<Bytes, ViewError> {
        let stamp = self.stamp(part);
        let mut kept = cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, bytes)) = &*kept
            && *of == stamp
        {
            return Ok(Arc::clone(bytes));
        }
        let bytes: Bytes = make()?.into();
        *kept = Some((stamp, Arc::clone(&bytes)));
        Ok(bytes)
    }

    /// Whether it holds one policy and no archive.
    pub(crate) fn is_policy(&self) -> Result<bool, ViewError> {
        Ok(match self.place.is_dir() {
            true => !magpie_run::operations::holds_archive(&self.place)? && self.policy_file().is_file(),
            false => !magpie_run::operations::holds_archive(&self.place)?,
        })
    }

    fn policy_file(&self) -> PathBuf {
        if self.place.is_dir() { self.place.join("policy.safetensors") } else { self.place.clone() }
    }

    /// Does something with the elites as they are now.
    pub fn with_elites<T>(
        &self,
        what: impl FnOnce(&mut Elites) -> Result<T, ViewError>,
    ) -> Result<T, ViewError> {
        let stamp = self.stamp(Part::Archive);
        let mut kept = self.elites.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.as_ref().is_none_or(|(of, _)| *of != stamp) {
            *kept = None;
            *kept = Some((stamp, Elites::open(&self.place)?));
        }
        match &mut *kept {
            Some((_, elites)) => what(elites),
            None => Err(ViewError::Option("there is no archive".to_owned())),
        }
    }

    /// The number of the cell that people call so.
    pub fn cell_named(&self, name: &str) -> Result<usize, ViewError> {
        self.with_elites(|elites| Ok(elites.outline.about.cell_named(name)?))
    }

    /// Cells of so many good elites that differ.
    pub fn spread(&self, count: usize) -> Result<Vec<usize>, ViewError> {
        self.with_elites(|elites| {
            let outline = &elites.outline;
            Ok(spread(outline, count).into_iter().map(|i| outline.elites[i].cell).collect())
        })
    }

    /// A small map of the archive with these cells marked.
    pub fn map(&self, marked: &[usize], side: usize, theme: Theme) -> Result<Canvas, ViewError> {
        self.with_elites(|elites| map(&elites.outline, marked, side, theme))
    }

    /// The policy of a cell, or the best one; of a run that made a single policy, that one.
    pub fn choose(&self, cell: Option<usize>) -> Result<Chosen, ViewError> {
        if self.is_policy()? {
            let file = load_policy(&self.policy_file())?;
            return Ok(Chosen {
                task: file.task,
                measure: None,
                actor: file.actor,
                policy: file.policy,
                actions: file.actions,
                world: confined::world(&self.folder, EnvOverrides::of_run(&self.folder)?)?,
                cell: None,
                name: "policy".to_owned(),
            });
        }
        self.with_elites(|elites| {
            let best = || elites.outline.best().map(|best| best.cell);
            let Some(cell) = cell.or_else(best) else {
                return Err(ViewError::Option("the archive is empty so far".to_owned()));
            };
            let policy = elites.policy(cell)?;
            let about = &elites.outline.about;
            Ok(Chosen {
                task: about.task.clone(),
                measure: Some(about.measure.clone()),
                actor: about.actor.clone(),
                policy,
                actions: about.actions,
                world: confined::world(&self.folder, about.world.seen_from_outside(&self.folder))?,
                cell: Some(cell),
                name: about.cell_name(cell),
            })
        })
    }

    /// A gait as a page asks for it.
    pub fn gait(&self, query: &Query, precision: Precision) -> Result<Vec<u8>, ViewError> {
        let chosen = self.choose(query.cell)?;
        let option = ViewError::Option;
        let options = ReplayOptions {
            world: query.world(chosen.world.clone()).map_err(option)?,
            gravity: query.gravity.unwrap_or(1.0),
            actions: query.actions().map_err(option)?.unwrap_or(chosen.actions),
            seed: query.seed,
            episode: query.episode,
            steps: Some(MOST_STEPS),
            push: query.push().map_err(option)?,
        };
        let trajectory = chosen.play(&options)?;
        Ok(pack(&trajectory, chosen.cell, &chosen.name, precision))
    }
}

impl Chosen {
    /// Runs one episode. A robot that would take long is refused.
    pub fn play(&self, options: &ReplayOptions) -> Result<Trajectory, ViewError> {
        let robot = options.world.robot(&options.world.task(&self.task)?)?;
        let work = robot.bodies.len() * robot.substeps;
        if work > MOST_WORK {
            let what = "the number of bodies times substeps";
            return Err(ViewError::TooLarge { what, value: work, most: MOST_WORK });
        }
        let player = Player {
            task: &self.task,
            measure: self.measure.as_deref(),
            actor: &self.actor,
            policy: &self.policy,
        };
        Ok(replay(&player, options)?)
    }
}
