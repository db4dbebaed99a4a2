//! The events, in the order of the page.

use super::objects::{
    AdaptedElite, Behaviour, Dimension, Entry, Episode, FewShots, Measure, Measured, PolicyResult, Scores,
    SearchResult, Strategies, SweepResult, Verified, Word,
};
use super::{Columns, records};

records! {
    /// `train`, `ppo`, `clone` and each run of `sweep`: work on a run begins.
    Started = "started" {
        /// `train`, `ppo`, `clone` or `sweep`
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
        environments: Option<u32>,
        /// cells of the archive
        cells: Option<usize>,
        /// iterations of the whole run; for `clone`, the most epochs
        iterations: Option<u64>,
        /// iterations made before
        made: Option<u64>,
        /// environment steps of the whole run; for a search, the most that it can take; `null` for `clone`, which takes none
        steps: Option<u64>,
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

    /// `train`, `ppo`, `clone` and `sweep`: an iteration has been made.
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

    /// `train`, `sweep` and `settle`: solutions of the archive have been evaluated again.
    Settling = "settling" {
        /// the round, from 1
        round: u32,
        /// whether the archive is verified, after all rounds
        verifying: bool,
        /// solutions evaluated in this round
        done: usize,
        /// solutions to evaluate in this round
        of: usize,
        /// environment steps so far
        steps: u64,
    }

    /// `train`, `ppo`, `sweep` and `settle`: all that was planned has been done. In a sweep, each finished run and at last the whole.
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
        /// the archive that the elites make now: the verified one, if the world is their own
        verified: Scores,
        /// elites that now fall in another cell
        moved: usize,
        /// folder in which the result was kept for `report`
        kept: Option<String>,
    }

    /// `adapt`: how far it is.
    Adapting = "adapting" {
        /// the run
        run: String,
        /// worlds done
        worlds_done: usize,
        /// worlds
        worlds: usize,
        /// elites run in the next one
        elites_done: usize,
        /// elites
        elites: usize,
    }

    /// `adapt`: an archive in one world. No elite was chosen by the episodes that are reported of it.
    AdaptedWorld = "adapted" {
        /// the run
        run: String,
        /// the adaptation task
        task: String,
        /// the level, or the number of a random world
        level: f64,
        /// whether the elites were found in this world
        healthy: bool,
        /// what differs from the task as published, in words
        world: String,
        /// elites
        elites: usize,
        /// episodes by which one was selected
        episodes: u32,
        /// the elite that was selected in this world
        adapted: AdaptedElite,
        /// the elite that was selected in the healthy world
        unadapted: AdaptedElite,
        /// the elite that is best in 100 further episodes, of the 20 best of the selection
        oracle: AdaptedElite,
        /// what a few trials find
        few_shots: Option<FewShots>,
    }

    /// `adapt`: an archive in all worlds.
    AdaptedArchive = "adaptation" {
        /// the run
        run: String,
        /// file with all results
        results: String,
        /// file with a line a world
        table: String,
        /// worlds that were there from an earlier command
        reused: usize,
        /// of a few trials: mean share of what exhaustive search finds, after the last of them
        shares: Option<Strategies>,
    }

    /// `adapt --interactive`: what to try on the robot.
    NextTrial = "next_trial" {
        /// number of the trial, from 1
        trial: usize,
        /// the run that the elite is from
        run: String,
        /// its cell
        cell: String,
        /// its measures
        measures: Vec<Measured>,
        /// return that is expected
        predicted: f64,
        /// standard deviation of that
        deviation: f64,
    }

    /// `adapt --interactive`: the end of it.
    TrialsEnded = "trials_ended" {
        /// trials made
        trials: usize,
        /// whether the stopping rule is met
        finished: bool,
        /// the run that the best known elite is from
        run: String,
        /// its cell
        cell: String,
        /// return that is expected of it
        predicted: f64,
        /// file of the trials
        log: String,
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
        /// what the elites reach in fresh episodes, if that has been found out: by settling, or `eval`
        verified: Option<Verified>,
        /// what the elites reach, as stored
        scores: Scores,
        /// mean number of episodes of an elite; `null` in files of earlier versions
        mean_episodes: Option<f64>,
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

    /// `replay`: one for each gait, before the files.
    Replayed = "replayed" {
        /// the run or file that was named
        run: String,
        /// name of the cell; `null` for a single policy
        cell: Option<String>,
        /// sum of the rewards
        total: f64,
        /// steps
        length: usize,
        /// means over the steps
        measures: Vec<f64>,
        /// whether the episode ended before its time
        terminated: bool,
    }

    /// `view`: the page can be opened.
    Viewing = "viewing" {
        /// runs that it shows
        runs: usize,
        /// its address, with the token if other machines reach it
        url: String,
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
}
