//! What can go wrong with a run, with the file and what to do about it.

use std::path::{Path, PathBuf};

use magpie_files::{count, in_words};
use magpie_settings::SettingError;

use crate::lease::Owner;

/// An error of a run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The operating system refused.
    #[error("{}: {action}: {}", path.display(), in_words(reason))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
        /// Why not.
        reason: std::io::Error,
    },
    /// A new run would write over an old one.
    #[error("{} already holds a run; resume it, or choose another folder", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// There is no run here.
    #[error("{} holds no run ({missing} is missing); check the path", path.display())]
    NoRun {
        /// The folder.
        path: PathBuf,
        /// The file that should be there.
        missing: &'static str,
    },
    /// A run was killed before its first checkpoint.
    #[error(
        "{} holds a run that was stopped before its first checkpoint: there is nothing to resume; start it again in the same \
         folder",
        path.display()
    )]
    NotBegun {
        /// The folder.
        path: PathBuf,
    },
    /// The folder of a run was deleted or replaced while the run went on.
    #[error(
        "{} was deleted or replaced while the run was using it; nothing more is written there, and what was not saved elsewhere \
         is lost; start the run anew",
        path.display()
    )]
    Gone {
        /// The folder.
        path: PathBuf,
    },
    /// The run is of another kind.
    #[error("{} is not a run of `magpie {asked}` ({missing} is missing); resume it with the command that made it", path.display())]
    OtherKind {
        /// The folder.
        path: PathBuf,
        /// The command that was asked to go on.
        asked: &'static str,
        /// The file that such a run would have.
        missing: &'static str,
    },
    /// A file of another kind than expected.
    #[error("{}: {problem}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is not.
        problem: String,
    },
    /// Another process runs it.
    #[error(
        "{} is in use by {}; stop that one first",
        path.display(),
        owner.as_ref().map_or("another process".to_owned(), ToString::to_string)
    )]
    Locked {
        /// The folder.
        path: PathBuf,
        /// Who, if it is known.
        owner: Option<Box<Owner>>,
    },
    /// Another process has gone on with it.
    #[error(
        "{} was taken over: this process showed no sign of life for so long that another one goes on with the run; nothing          more is written there from here",
        path.display()
    )]
    TakenOver {
        /// The folder.
        path: PathBuf,
    },
    /// A file is not what it was when it was written.
    #[error("{}: {problem}; the file is damaged; restore it from a copy, or start the run again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        problem: String,
    },
    /// A configuration cannot be read.
    #[error("{}: {problem}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and key.
        problem: String,
    },
    /// A setting that the configuration does not take.
    #[error("{place}: {problem}")]
    Setting {
        /// Line and column of a file, or the argument.
        place: String,
        /// What is wrong, with the key and the remedy.
        problem: String,
    },
    /// A task or a robot that cannot be used.
    #[error("{problem}")]
    World {
        /// The file, what is wrong with it and what to do.
        problem: String,
    },
    /// An adaptation task, its levels or its trials make no sense.
    #[error("{problem}")]
    Adaptation {
        /// What is wrong, and what to do.
        problem: String,
    },
    /// The file of another task.
    #[error("{}: the task is called {found:?}, not {asked:?}; name the file that belongs to the run", path.display())]
    OtherTask {
        /// The file.
        path: PathBuf,
        /// The name in the file.
        found: String,
        /// The name in the configuration.
        asked: String,
    },
    /// A value makes no sense.
    #[error("{field} is {value}, but must be {range}")]
    Value {
        /// Key of the configuration.
        field: String,
        /// What was given.
        value: String,
        /// What is allowed.
        range: String,
    },
    /// A cell of an archive without an elite.
    #[error("cell {cell} holds no elite{hint}")]
    EmptyCell {
        /// Its name.
        cell: String,
        /// The nearest cell that does, if there is one.
        hint: String,
    },
    /// An archive without elites.
    #[error("{}: the archive is empty, so there is nothing to run", path.display())]
    EmptyArchive {
        /// The file.
        path: PathBuf,
    },
    /// Policies for something else.
    #[error(
        "the policies take observations of {} entries and give actions of {}, but {task} has {} and {}; name the robot that \
         they were trained with",
        found[0], found[1], expected[0], expected[1]
    )]
    OtherSizes {
        /// The task.
        task: String,
        /// Entries of an observation and of an action, as the policies have them.
        found: [usize; 2],
        /// As the task has them.
        expected: [usize; 2],
    },
    /// More demonstrations are wanted than there are elites.
    #[error(
        "{}: {} asked for, but only {} to choose from; ask for fewer{}",
        path.display(), count(*wanted, "demonstration"), count(*found, "elite"), if *limited { ", or choose among more of the best" } else { "" }
    )]
    FewElites {
        /// The archive.
        path: PathBuf,
        /// How many are wanted.
        wanted: u32,
        /// How many there are.
        found: usize,
        /// Whether there are more that are not among the best.
        limited: bool,
    },
    /// Too few elites do what the archive says of them.
    #[error(transparent)]
    FewGoodElites(Box<FewGoodElites>),
    /// Demonstrations with other measures than was said.
    #[error(
        "{}: measures per episode: {found} in the file, but {measure} on {task} has {expected}; name the measure of the file",
        path.display()
    )]
    OtherMeasures {
        /// The file.
        path: PathBuf,
        /// Measures of an episode.
        found: usize,
        /// What they were said to be.
        measure: String,
        /// The task.
        task: String,
        /// How many dimensions that has.
        expected: usize,
    },
    /// A file that cannot be written where it was asked for.
    #[error("{}: {problem}", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// Why not, and what to do.
        problem: String,
    },
    /// Something that cannot be drawn.
    #[error("no picture: {problem}")]
    NoPicture {
        /// What is missing.
        problem: String,
    },
    /// A picture.
    #[error(transparent)]
    Plot(#[from] magpie_plot::PlotError),
    /// Cells or elites that make no archive.
    #[error(transparent)]
    Archive(#[from] magpie_qd::Error),
    /// The task or its robot.
    #[error(transparent)]
    Environment(#[from] magpie_envs::EnvironmentError),
    /// A network of an impossible shape.
    #[error(transparent)]
    Shape(#[from] magpie_nn::ShapeError),
    /// A file of demonstrations cannot be read, or is not for the task.
    #[error(transparent)]
    Demonstrations(#[from] magpie_demos::DemonstrationError),
    /// There is nothing to learn the reward from.
    #[error(
        "magpie has no bundled demonstrations of {task} for {learner} to learn from; name a file of demonstrations, or use the \
         task's own reward"
    )]
    NoDemonstrations {
        /// The task.
        task: String,
        /// The reward model, or what else learns from them.
        learner: String,
    },
    /// A run of a sweep cannot be made.
    #[error("{}: run {run}: {reason}", path.display())]
    OfSweep {
        /// The sweep file.
        path: PathBuf,
        /// The run's name.
        run: String,
        /// Why not.
        reason: Box<RunError>,
    },
    /// A folder of a sweep holds a run that the sweep file does not describe.
    #[error(
        "{} holds a run with {key} {saved}, and the sweep file says {wanted}; put the sweep file back, or move the folder \
         away, or choose another",
        path.display()
    )]
    OtherRun {
        /// The folder.
        path: PathBuf,
        /// The setting.
        key: String,
        /// What the run was started with.
        saved: String,
        /// What the sweep file says.
        wanted: String,
    },
    /// The reward model.
    #[error(transparent)]
    Reward(#[from] magpie_rewards::RewardError),
    /// Interrupted before there was anything to keep.
    #[error(
        "interrupted while the reward model was being trained, before the first iteration; there is nothing to resume, so start \
         again"
    )]
    Stopped,
    /// Learning met numbers that are not finite.
    #[error("iteration {iteration}: {reason}; the last checkpoint is a few minutes older")]
    Learning {
        /// When.
        iteration: u64,
        /// What.
        reason: magpie_learn::UpdateError,
    },
    /// Cloning met numbers that are not finite.
    #[error("epoch {epoch}: {reason}")]
    Cloning {
        /// When.
        epoch: u64,
        /// What.
        reason: magpie_learn::CloningError,
    },
    /// A search cannot start.
    #[error(transparent)]
    Setup(#[from] magpie_search::SearchError),
    /// A search cannot go on.
    #[error(
        "iteration {iteration}: {reason}; the checkpoint holds the last good state, but resuming it would fail in the same way; \
         start another run with other settings, such as a smaller search.train.ppo.adam.learning_rate"
    )]
    Search {
        /// When.
        iteration: u64,
        /// What.
        reason: magpie_search::SearchError,
    },
}

/// Too few elites of an archive do in fresh episodes what the archive says of them.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}", self.in_words())]
pub struct FewGoodElites {
    /// The archive.
    pub path: PathBuf,
    /// Demonstrations that are wanted.
    pub wanted: u32,
    /// Elites that do.
    pub good: usize,
    /// Elites that were tried.
    pub tried: usize,
    /// Elites that return too little.
    pub low: usize,
    /// Elites that return enough and behave differently.
    pub moved: usize,
    /// The share of the stored return that is enough.
    pub min_return: f64,
    /// How many cells away is different.
    pub max_cells: f64,
    /// Whether there are more elites that are not among the best.
    pub limited: bool,
    /// Whether they acted in another way than when they were found.
    pub other_actions: bool,
}

impl FewGoodElites {
    fn in_words(&self) -> String {
        let FewGoodElites { wanted, good, tried, low, moved, max_cells, .. } = self;
        let (path, percent) = (self.path.display(), 100.0 * self.min_return);
        let found = if *good == 0 { "none".to_owned() } else { format!("only {good}") };
        let mut remedies = Vec::new();
        if *good > 0 {
            remedies.push(format!("ask for at most {good}"));
        }
        if self.other_actions {
            remedies.push("let them act as they did when they were found".to_owned());
        }
        if self.limited {
            remedies.push("choose among more of the best".to_owned());
        }
        remedies.push("accept a larger difference".to_owned());
        format!(
            "{path}: {} asked for, but {found} of the {tried} elites tried did in fresh episodes what \
             the archive says ({low} returned less than {percent:.0} % of the stored return, {moved} behaved differently by more \
             than {max_cells} cells); {}",
            count(*wanted, "demonstration"),
            remedies.join(", or ")
        )
    }
}

impl From<SettingError> for RunError {
    fn from(SettingError { field, value, range }: SettingError) -> RunError {
        RunError::Value { field, value, range }
    }
}

impl RunError {
    /// With all causes, in a line.
    pub fn in_full(&self) -> String {
        let causes = std::iter::successors(std::error::Error::source(self), |cause| cause.source());
        causes.fold(self.to_string(), |text, cause| format!("{text}: {cause}"))
    }

    /// A file that decides what a run computes is not what it was.
    pub(crate) fn changed(path: &Path) -> RunError {
        let problem = "differs from what the run was started with; put it back, or start a new run with it";
        RunError::Config { path: path.to_owned(), problem: problem.to_owned() }
    }

    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(std::io::Error) -> RunError {
        let path = path.to_owned();
        move |reason| RunError::Io { path, action, reason }
    }
}
