//! What the program says to other programs: with `--json`, one object a line.
//!
//! Every event is declared once, below. From a declaration come its name, its fields and its place on the page
//! `docs/reference/json.md`.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// Goes up when a field disappears or changes its meaning. New events and new fields leave it as it is.
pub const VERSION: u32 = 1;

/// Something that is told in a line of its own.
pub trait Event: Serialize {
    /// How programs recognise it.
    const NAME: &'static str;
}

/// An event as a line, without its end.
pub fn line<E: Event>(event: &E) -> serde_json::Result<String> {
    #[derive(Serialize)]
    struct Line<'a, E> {
        version: u32,
        event: &'static str,
        #[serde(flatten)]
        fields: &'a E,
    }
    serde_json::to_string(&Line { version: VERSION, event: E::NAME, fields: event })
}

/// Numbers by the names of their columns, written as in `metrics.csv`; `null` where there is no such number.
#[derive(Debug, Clone, PartialEq)]
pub struct Columns(pub Vec<(&'static str, f64)>);

impl Serialize for Columns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// Below this, every whole number is a double of its own.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for &(name, number) in &self.0 {
            match number.fract() == 0.0 && number.abs() < EXACT {
                true => map.serialize_entry(name, &(number as i64))?,
                false => map.serialize_entry(name, &number)?,
            }
        }
        map.end()
    }
}

/// A field on the page.
#[cfg(test)]
struct Field {
    name: &'static str,
    kind: &'static str,
    about: &'static [&'static str],
}

/// An event, or an object within one, on the page.
#[cfg(test)]
struct Record {
    kind: &'static str,
    event: &'static [&'static str],
    about: &'static [&'static str],
    fields: &'static [Field],
}

/// Declares events, `Type = "name"`, and the objects within them.
macro_rules! records {
    ($(
        $(#[doc = $about:literal])+
        $Type:ident $(= $event:literal)? { $( $(#[doc = $doc:literal])+ $field:ident: $Kind:ty, )* }
    )*) => {
        $(
            $(#[doc = $about])+
            #[derive(Debug, Clone, PartialEq, Serialize)]
            pub struct $Type { $( $(#[doc = $doc])+ pub $field: $Kind, )* }

            $( impl Event for $Type { const NAME: &'static str = $event; } )?
        )*

        #[cfg(test)]
        const RECORDS: &[Record] = &[$(
            Record {
                kind: stringify!($Type),
                event: &[$($event)?],
                about: &[$($about),+],
                fields: &[$( Field {
                    name: stringify!($field),
                    kind: stringify!($Kind),
                    about: &[$($doc),+],
                } ),*],
            }
        ),*];
    };
}

records! {
    /// `train`, `ppo` and each run of `sweep`: work on a run begins.
    Started = "started" {
        /// `train`, `ppo` or `sweep`
        command: String,
        /// name of the run in a sweep
        run: Option<String>,
        /// folder of the run
        folder: String,
        /// the task
        task: String,
        /// what differs from the task as published, in words
        world: Option<String>,
        /// how behaviour is measured
        measure: Option<String>,
        /// the reward model
        reward: Option<String>,
        /// weight of the novelty bonus
        curiosity: Option<f64>,
        /// seed of all random streams
        seed: u64,
        /// `magpie` or `paper`; `null` for a resumed run and in sweeps
        method: Option<String>,
        /// `quick`, `desktop` or `paper`; `null` for a resumed run and in sweeps
        budget: Option<String>,
        /// threads that step and learn
        threads: usize,
        /// environments side by side
        environments: u32,
        /// cells of the archive
        cells: Option<usize>,
        /// iterations of the whole run
        iterations: Option<u64>,
        /// iterations made before
        made: Option<u64>,
        /// environment steps of the whole run; for a search, the most that it can take
        steps: u64,
    }

    /// `sweep`: before the first run.
    SweepStarted = "sweep_started" {
        /// folder of the sweep
        folder: String,
        /// runs that this process makes
        runs: usize,
        /// the part of the runs, as in 2/4
        shard: Option<String>,
        /// the most environment steps that are left
        steps: f64,
    }

    /// `train` and `sweep`: a reward model learns from the demonstrations before the search begins.
    Preparation = "preparation" {
        /// the reward model
        model: String,
        /// epochs made
        epochs: usize,
        /// epochs in all
        of: usize,
        /// its loss
        loss: f64,
    }

    /// `train`, `ppo` and `sweep`: an iteration has been made.
    Iteration = "iteration" {
        /// name of the run in a sweep
        run: Option<String>,
        /// the row of [metrics.csv](metrics.md)
        metrics: Columns,
        /// whether a checkpoint was written
        saved: bool,
        /// until the command ends, estimated
        seconds_left: Option<f64>,
    }

    /// `train`, `ppo` and `sweep`: all that was planned has been done. In a sweep, each finished run and at last the whole.
    Finished = "finished" {
        /// name of the run in a sweep
        run: Option<String>,
        /// folder of the run or the sweep
        folder: String,
        /// result of a search
        search: Option<SearchResult>,
        /// result of `ppo`
        policy: Option<PolicyResult>,
        /// result of a sweep
        sweep: Option<SweepResult>,
    }

    /// The same when a request to stop came first. What was found is saved, and the exit code is 130.
    Interrupted = "interrupted" {
        /// name of the run in a sweep
        run: Option<String>,
        /// folder of the run or the sweep
        folder: String,
        /// command that resumes; `null` if there was nothing to save yet
        resume: Option<String>,
        /// result of a search so far
        search: Option<SearchResult>,
        /// result of a sweep so far
        sweep: Option<SweepResult>,
    }

    /// `sweep`: a run needs no work of this process.
    Skipped = "skipped" {
        /// name of the run
        run: String,
        /// `done`, `in use by another process`, or why `eval` of several runs leaves it out
        reason: String,
    }

    /// `sweep`: a process of another machine had a run; if it shows no sign of life, the run is taken over.
    Watching = "watching" {
        /// name of the run
        run: String,
        /// the machine
        host: String,
        /// the process on it
        process: u32,
        /// how long to wait at most
        seconds: u64,
    }

    /// `sweep`: a run has failed; the others go on, and the exit code will be 1.
    Failed = "failed" {
        /// name of the run
        run: String,
        /// why
        message: String,
        /// what to do
        hint: Option<String>,
    }

    /// `sweep --dry-run`: a run.
    Planned = "planned" {
        /// name of the run
        run: String,
        /// its folder
        folder: String,
        /// `to do`, `half done`, `done` or `refused`
        state: String,
        /// iterations made
        made: u64,
        /// iterations of the whole run
        iterations: u64,
        /// the most environment steps of the whole run
        steps: u64,
        /// number of its shard
        shard: usize,
        /// how long the whole run takes at most on this machine; with `--measure`
        seconds: Option<f64>,
    }

    /// `sweep --dry-run`: all runs, or those of the shard.
    Plan = "plan" {
        /// folder of the sweep
        folder: String,
        /// number of runs
        runs: usize,
        /// the part of the runs, as in 2/4
        shard: Option<String>,
        /// the most environment steps of these runs
        steps: f64,
        /// how long they take at most on this machine, one after the other; with `--measure`
        seconds: Option<f64>,
    }

    /// `sweep status`: a run.
    RunStatus = "run_status" {
        /// name of the run
        run: String,
        /// its folder
        folder: String,
        /// `done`, `running`, `stale` (its process shows no sign of life), `failed` or `waiting`
        state: String,
        /// iterations made
        made: u64,
        /// iterations of the whole run
        iterations: Option<u64>,
        /// the machine that runs it, or did when its process died
        host: Option<String>,
        /// the process there
        process: Option<u32>,
        /// seconds since the last sign of life of that process
        heartbeat: Option<f64>,
        /// why it failed
        message: Option<String>,
    }

    /// `sweep status`: all runs.
    SweepStatus = "sweep_status" {
        /// folder of the sweep
        folder: String,
        /// number of runs
        runs: usize,
        /// of these, done
        done: usize,
        /// with a process that shows signs of life
        running: usize,
        /// with a process that does not
        stale: usize,
        /// failed when they were made last
        failed: usize,
        /// not begun, or stopped
        waiting: usize,
    }

    /// `sweep submit`: a job was written.
    Submitted = "submitted" {
        /// file of the job
        file: String,
        /// runs of the sweep
        runs: usize,
        /// tasks of the job
        tasks: usize,
        /// cores of each task
        cores: u16,
        /// memory of each task
        memory_gib: u64,
        /// limit of time of each task
        hours: f64,
        /// seconds between the request to stop and the end
        grace: u64,
        /// how long all runs take at most on this machine, one after the other
        seconds: f64,
    }

    /// `check`: a file.
    CheckedFile = "checked_file" {
        /// the file
        path: String,
        /// `sound`, `no checksum`, `note` or `damaged`
        finding: String,
        /// what there is to say of it
        about: Option<String>,
    }

    /// `check`: all files.
    Checked = "checked" {
        /// files
        files: usize,
        /// damaged ones; with any, the exit code is 1
        damaged: usize,
    }

    /// `clone`: the policy.
    CloneResult = "cloned" {
        /// the task
        task: String,
        /// folder of the run
        folder: String,
        /// demonstrations
        demonstrations: usize,
        /// steps in them
        steps: usize,
        /// passes made over them
        epochs: u64,
        /// the pass after which the error on held-out steps was least
        best_epoch: Option<u64>,
        /// that error: mean square of the actions
        best_error: Option<f64>,
        /// share of the variance of held-out actions that the policy explains
        explained_variance: Option<f64>,
        /// mean return of the demonstrations, if they have returns
        expert_return: Option<f64>,
        /// mean return of the policy over 100 episodes with mean actions
        mean_return: f64,
        /// mean length of these episodes
        mean_length: f64,
        /// file of the policy
        policy: String,
        /// file of the metrics
        metrics: String,
    }

    /// `eval` of all elites of an archive.
    Evaluation = "evaluation" {
        /// the run or file that was named
        run: String,
        /// the task
        task: String,
        /// what differs from the task as published, in words
        world: Option<String>,
        /// whether it is the world in which the elites were found
        own_world: bool,
        /// elites
        elites: usize,
        /// episodes of each
        episodes: u32,
        /// `drawn` or `mean`
        actions: String,
        /// seed of the starts and of drawn actions
        seed: u64,
        /// the archive as stored
        stored: Scores,
        /// the archive that the elites make now: the corrected one, if the world is their own
        corrected: Scores,
        /// elites that now fall in another cell
        moved: usize,
        /// folder in which the result was kept for `report`
        kept: Option<String>,
    }

    /// `eval` of one elite.
    EvaluatedElite = "elite" {
        /// the run or file that was named
        run: String,
        /// the task
        task: String,
        /// what differs from the task as published, in words
        world: Option<String>,
        /// cell of the elite
        cell: String,
        /// episodes
        episodes: u32,
        /// `drawn` or `mean`
        actions: String,
        /// seed of the starts and of drawn actions
        seed: u64,
        /// as stored in the archive
        stored: Behaviour,
        /// as found now
        now: Behaviour,
    }

    /// `eval` of a single policy.
    EvaluatedPolicy = "policy" {
        /// the run or file that was named
        run: String,
        /// the task
        task: String,
        /// what differs from the task as published, in words
        world: Option<String>,
        /// episodes
        episodes: u32,
        /// `drawn` or `mean`
        actions: String,
        /// seed of the starts and of drawn actions
        seed: u64,
        /// means over the episodes
        now: Behaviour,
        /// standard deviation of the return
        return_std: f64,
        /// lowest return
        return_min: f64,
        /// highest return
        return_max: f64,
    }

    /// `archive info`.
    Archive = "archive" {
        /// the run or file that was named
        run: String,
        /// the task
        task: String,
        /// what differs from the task as published, in words
        world: Option<String>,
        /// how behaviour is measured
        measure: String,
        /// dimensions of the measure
        dimensions: Vec<Dimension>,
        /// iterations made
        iteration: u64,
        /// number of cells
        cells: usize,
        /// cells along each dimension; `null` for a tessellation
        grid: Option<Vec<usize>>,
        /// what the elites reach
        scores: Scores,
        /// what the offset QD-Score adds for each step
        qd_offset: f64,
        /// cell of the best elite
        best_cell: Option<String>,
        /// iteration in which the best elite was found
        best_iteration: Option<u64>,
        /// mean episode length of the elites
        mean_length: Option<f64>,
        /// parameters of a policy
        parameters: usize,
        /// widths of the actor's layers
        layers: Vec<usize>,
        /// how elites acted when they were evaluated: `drawn` or `mean`
        actions: String,
    }

    /// `demos info`, `demos make` and `demos import`: what a file of demonstrations holds.
    Demonstrations = "demonstrations" {
        /// the task; empty if unknown
        task: String,
        /// the robot; empty if unknown
        robot: String,
        /// the measure; empty if unknown
        measure: String,
        /// run or file that they were made from; empty if unknown
        source: String,
        /// steps in the file
        steps: usize,
        /// every Nth step was kept
        every: u32,
        /// steps after which an episode is cut off
        horizon: u32,
        /// entries of an observation
        observation_size: usize,
        /// entries of an action
        action_size: usize,
        /// what was changed on import
        repairs: Vec<String>,
        /// the episodes
        episodes: Vec<Episode>,
    }

    /// `envs`: a task.
    Task = "task" {
        /// the task
        env: String,
        /// its robot
        robot: String,
        /// entries of an observation
        observation_size: usize,
        /// entries of an action
        action_size: usize,
        /// bodies of the robot, the ground apart
        bodies: usize,
        /// simulated time of a step
        time_step_seconds: f64,
        /// physics steps in a step
        substeps: usize,
        /// steps after which an episode is cut off
        episode_steps: u32,
        /// how behaviour can be measured
        measures: Vec<Measure>,
        /// entries of an observation in their order; with `--entries`
        observation: Option<Vec<Entry>>,
        /// entries of an action in their order; with `--entries`
        action: Option<Vec<Entry>>,
    }

    /// `bench`: a task on a number of threads.
    Benchmark = "benchmark" {
        /// `env/TASK`
        bench: String,
        /// environment steps per second
        steps_per_second: f64,
        /// threads
        threads: usize,
        /// environments side by side
        environments: u32,
        /// instruction set
        isa: String,
        /// what the same threads reach with fused multiply-adds alone
        peak_fma_gflops: f64,
    }

    /// `report`.
    Report = "report" {
        /// runs compared
        runs: usize,
        /// the page
        page: String,
    }

    /// `rollout`.
    Rollout = "rollout" {
        /// the task
        task: String,
        /// trajectories
        trajectories: usize,
        /// steps of each
        steps: usize,
        /// the file
        path: String,
        /// environment steps per second
        steps_per_second: f64,
    }

    /// `settings`: a setting.
    Setting = "setting" {
        /// its key
        key: String,
        /// what it can be set to
        kind: String,
        /// the words that it takes, if it takes some of a list
        words: Vec<Word>,
        /// the default of method `magpie`, and where it is another
        magpie: String,
        /// the default of method `paper`, and where it is another
        paper: String,
        /// the numbers that are allowed
        range: Option<String>,
        /// its unit
        unit: Option<String>,
        /// conditions without which it has no effect
        when: Vec<String>,
        /// what it does
        sentence: String,
        /// the first version that has it
        since: String,
        /// what it is for, if only for comparisons with another implementation
        parity: Option<String>,
    }

    /// Any command: a file was written.
    Written = "written" {
        /// the file
        path: String,
    }

    /// Any command: something that is likely to be a mistake.
    Warning = "warning" {
        /// in a sentence
        message: String,
    }

    /// Any command: something worth knowing; not with `--quiet`.
    Note = "note" {
        /// in a sentence
        message: String,
    }

    /// Any command: why it failed. It is the last line.
    Error = "error" {
        /// what is wrong
        message: String,
        /// what to type
        hint: Option<String>,
        /// the exit code: 1, or 2 for a command line that makes no sense
        exit_code: u8,
    }

    /// What a search has found.
    SearchResult {
        /// the task
        task: String,
        /// iterations made
        iterations: u64,
        /// environment steps made
        steps: u64,
        /// what the elites reach
        scores: Scores,
        /// the archive
        archive: String,
        /// the picture of it
        picture: String,
        /// the table of all iterations
        metrics: String,
        /// what the reward was learned from, if returns are known
        learned_from: Option<LearnedFrom>,
    }

    /// Demonstrations beside the archive.
    LearnedFrom {
        /// how many
        demonstrations: usize,
        /// every Nth step was learned from
        every: usize,
        /// lowest return of a demonstration
        return_min: f64,
        /// highest return of a demonstration
        return_max: f64,
        /// elites that match or beat the worst demonstration
        elites_as_good: Option<usize>,
    }

    /// What `ppo` has learned.
    PolicyResult {
        /// the task
        task: String,
        /// environment steps made
        steps: u64,
        /// episodes of the evaluation
        episodes: u32,
        /// their mean return
        mean_return: f64,
        /// their mean length
        mean_length: f64,
        /// the policy
        policy: String,
        /// the table of all iterations
        metrics: String,
    }

    /// How the runs of a sweep ended.
    SweepResult {
        /// runs that this process was to make
        runs: usize,
        /// finished, now or before
        done: usize,
        /// in use by another process
        in_use: Vec<String>,
        /// failed
        failed: Vec<String>,
    }

    /// What the elites of an archive reach.
    Scores {
        /// number of elites
        elites: usize,
        /// share of the cells that are filled, 0 to 1
        coverage: f64,
        /// sum of the returns
        qd_score: f64,
        /// the same with an offset for each step, so that no return is negative
        qd_score_offset: f64,
        /// highest return
        best: Option<f64>,
        /// mean return
        mean: Option<f64>,
    }

    /// How a policy does, as means over its episodes.
    Behaviour {
        /// return
        mean_return: f64,
        /// length
        mean_length: f64,
        /// each dimension of the measure
        measures: Vec<Measured>,
    }

    /// A dimension of a measure with its value.
    Measured {
        /// its name
        name: String,
        /// its value
        value: f64,
    }

    /// A way to measure behaviour.
    Measure {
        /// its name
        measure: String,
        /// its dimensions
        dimensions: Vec<Dimension>,
    }

    /// A dimension of a measure.
    Dimension {
        /// its name
        name: String,
        /// lower end
        low: f64,
        /// upper end
        high: f64,
    }

    /// An episode of a demonstration.
    Episode {
        /// steps
        length: usize,
        /// whether it ended by itself and was not cut off
        terminated: bool,
        /// sum of its true rewards
        true_return: Option<f64>,
        /// objective of the elite that demonstrated
        objective: Option<f64>,
        /// its measures
        measures: Option<Vec<f64>>,
    }

    /// An entry of an observation or an action.
    Entry {
        /// what it means
        meaning: String,
        /// its unit; 1 if it has none
        unit: String,
        /// what it stays within while an episode goes on, if that is known
        range: Option<[f64; 2]>,
    }

    /// A word that a setting takes.
    Word {
        /// the word
        name: String,
        /// what it means
        meaning: String,
    }
}

impl From<&magpie_qd::Metrics> for Scores {
    fn from(m: &magpie_qd::Metrics) -> Scores {
        Scores {
            elites: m.elites,
            coverage: m.coverage,
            qd_score: m.qd_score,
            qd_score_offset: m.qd_score_offset,
            best: m.best,
            mean: m.mean,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A type of ours as people who write JSON say it.
    fn in_words(kind: &str) -> String {
        let kind = kind.replace(' ', "");
        let inner =
            |outer: &str| kind.strip_prefix(outer).and_then(|rest| rest.strip_suffix('>')).map(in_words);
        if let Some(kind) = inner("Option<") {
            return format!("{kind} or null");
        }
        if let Some(kind) = inner("Vec<") {
            return format!("list of {kind}");
        }
        match kind.as_str() {
            "String" => "text".to_owned(),
            "bool" => "true or false".to_owned(),
            "f64" => "number".to_owned(),
            "[f64;2]" => "list of two numbers".to_owned(),
            "u8" | "u32" | "u64" | "usize" => "whole number".to_owned(),
            "Columns" => "object of numbers or null".to_owned(),
            object => {
                assert!(RECORDS.iter().any(|record| record.kind == object), "{object}");
                format!("[{object}](#{})", object.to_lowercase())
            }
        }
    }

    fn text(lines: &[&str]) -> String {
        lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
    }

    fn page() -> String {
        let mut page = format!(
            "# What commands print with --json\n\n\
             With `--json` every command but `completions` prints one JSON object a line to its standard output, and nothing\n\
             else. Each has\n\
             `\"version\": {VERSION}` and `\"event\"`, one of the names below. The version changes when a field disappears or changes\n\
             its meaning; new events and new fields do not change it, so ignore what you do not know. A number that is not\n\
             finite is `null`. Standard error has no progress then, but still the warnings and errors for people. With\n\
             `--quiet` there are no `started`, `preparation`, `iteration` and `note` either.\n\n\
             | exit code | meaning | last line |\n|---|---|---|\n\
             | 0 | done | a result |\n\
             | 1 | failed | `error`; for a sweep in which runs have failed, `finished` |\n\
             | 2 | the command line makes no sense | `error` |\n\
             | 130 | interrupted by Ctrl-C or a request to terminate; saved | `interrupted` |\n\n\
             ```text\n\
             $ magpie train hopper --reward true --json | jq -r 'select(.event == \"iteration\") | .metrics.qd_score'\n\
             ```\n\n\
             This page is made from the declarations of the events; a test keeps it current (`MAGPIE_WRITE_DOCS=1 cargo test` writes\n\
             it).\n"
        );
        let (events, objects): (Vec<_>, Vec<_>) = RECORDS.iter().partition(|record| !record.event.is_empty());
        for (title, records) in [("Events", events), ("Objects within events", objects)] {
            page += &format!("\n## {title}\n");
            for Record { kind, event, about, fields } in records {
                let name = event.first().map_or((*kind).to_owned(), |event| format!("`{event}`"));
                page += &format!(
                    "\n### {name}\n\n{}\n\n| field | type | meaning |\n|---|---|---|\n",
                    text(about)
                );
                for Field { name, kind, about } in *fields {
                    page += &format!("| `{name}` | {} | {} |\n", in_words(kind), text(about));
                }
            }
        }
        page
    }

    #[test]
    fn the_page_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/json.md");
        if std::env::var_os("MAGPIE_WRITE_DOCS").is_some() {
            std::fs::write(path, page()).unwrap();
        }
        let found = std::fs::read_to_string(path).unwrap();
        assert!(
            found == page(),
            "docs/reference/json.md is out of date: MAGPIE_WRITE_DOCS=1 cargo test writes it"
        );
    }

    #[test]
    fn names_of_events_are_unique_and_no_field_hides_the_head_of_a_line() {
        let mut names: Vec<&str> = RECORDS.iter().flat_map(|record| record.event).copied().collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        let fields = RECORDS.iter().flat_map(|record| record.fields);
        assert!(fields.clone().all(|field| !["version", "event"].contains(&field.name)));
    }

    #[test]
    fn a_line_begins_with_version_and_event_and_numbers_are_those_of_the_table() {
        let metrics = Columns(vec![("iteration", 3.0), ("best", f64::NAN), ("mean", 0.5)]);
        let event = Iteration { run: None, metrics, saved: false, seconds_left: Some(f64::INFINITY) };
        assert_eq!(
            line(&event).unwrap(),
            r#"{"version":1,"event":"iteration","run":null,"metrics":{"iteration":3,"best":null,"mean":0.5},"saved":false,"seconds_left":null}"#
        );
    }
}
