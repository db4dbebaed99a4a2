//! Jobs for the engines of clusters: what each task asks for, and the file that the engine takes.
//!
//! A job has a number of tasks, and each makes a shard of the runs. What a task asks for is reckoned from a
//! measurement ([`Sweep::measure`](super::Sweep::measure)) on the machine where the job is written, which may be slower or
//! faster than those that will run it: a task that meets its limit of time saves its run and goes on later.

mod kubernetes;
mod slurm;

use std::path::PathBuf;

pub use kubernetes::{Pods, TRAVELLING, VOLUME, kubernetes};
pub use slurm::slurm;

use super::{Estimate, Sweep};

/// A job and what each of its tasks asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Its name.
    pub name: String,
    /// The sweep file, as tasks see it.
    pub file: PathBuf,
    /// The folder of the runs, as tasks see it.
    pub out: PathBuf,
    /// Number of tasks.
    pub tasks: usize,
    /// What each of them gets.
    pub each: Request,
}

/// What a task asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Cores, and threads.
    pub cores: u16,
    /// Memory, in GiB.
    pub memory: u64,
    /// Limit of time, in seconds.
    pub seconds: u64,
    /// Seconds from the request to stop to the end: for the iteration under way, and for saving.
    pub grace: u64,
}

/// Machines differ, and neighbours share them.
const TIME_MARGIN: f64 = 1.5;
const MEMORY_MARGIN: f64 = 1.25;
/// Where the system does not say how much memory a run took.
const USUAL_MEMORY: u64 = 4;
const GIB: f64 = (1_u64 << 30) as f64;
/// Limits of time are multiples of this, in seconds: schedulers plan in steps.
const TIME_STEP: u64 = 900;
/// Longer tasks wait longer for a free place, and are requeued anyhow.
const LONGEST: u64 = 24 * 3600;
const SHORTEST_GRACE: u64 = 60;

impl Request {
    /// What tasks need that make the runs of a sweep in so many shards, with these estimates.
    pub fn reckon(sweep: &Sweep, tasks: usize, cores: u16, estimates: &[Estimate]) -> Request {
        let mut loads = vec![0.0; tasks];
        for (shard, estimate) in sweep.shards(tasks).into_iter().zip(estimates) {
            loads[shard - 1] += estimate.seconds;
        }
        let longest = loads.into_iter().fold(0.0, f64::max);
        let iteration = estimates.iter().map(|estimate| estimate.iteration).fold(0.0, f64::max);
        let memory = estimates.iter().filter_map(|estimate| estimate.memory).max();
        let gib = |bytes: u64| (MEMORY_MARGIN * bytes as f64 / GIB).ceil() as u64;
        let grace = SHORTEST_GRACE + (3.0 * iteration).ceil() as u64;
        let needed = (TIME_MARGIN * longest).ceil() as u64 + grace;
        let seconds = needed.next_multiple_of(TIME_STEP).clamp(TIME_STEP, LONGEST);
        Request { cores, memory: memory.map_or(USUAL_MEMORY, gib).max(1), seconds, grace }.with_time(seconds)
    }

    /// The same with another limit of time, of which at least half is for work.
    pub fn with_time(self, seconds: u64) -> Request {
        Request { seconds, grace: self.grace.min(seconds / 2), ..self }
    }
}

impl Job {
    /// Arguments of the program.
    fn arguments(&self) -> Vec<String> {
        let Job { file, out, tasks, each, .. } = self;
        let words = [
            "sweep",
            &file.to_string_lossy(),
            "--out",
            &out.to_string_lossy(),
            "--shard",
            &format!("auto/{tasks}"),
        ];
        let threads = ["--threads", &each.cores.to_string()].map(str::to_owned);
        words.map(str::to_owned).into_iter().chain(threads).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_task_asks_for_what_the_longest_shard_needs() {
        let text = "[axes]\ntask = ['hopper']\nreward = ['true']\niterations = [10, 10000]\nseed = [1, 2]";
        let sweep = Sweep::parse(Path::new("my.toml"), text).unwrap();
        let of = |hours: [f64; 4], iteration: f64, tasks| {
            let estimate = |hours| Estimate { seconds: 3600.0 * hours, iteration, memory: Some(5 << 29) };
            Request::reckon(&sweep, tasks, 8, &hours.map(estimate))
        };
        // Runs come in the order of seeds: short, long, short, long.
        let each = of([0.5, 4.0, 0.5, 4.0], 20.0, 2);
        // 1.5 · 4.5 h and the grace, in quarters of an hour.
        assert_eq!(each, Request { cores: 8, memory: 4, seconds: 7 * 3600, grace: 120 });
        assert_eq!(of([0.5, 4.0, 0.5, 4.0], 20.0, 4).seconds, 6 * 3600 + 900);
        assert_eq!(of([1.0, 40.0, 1.0, 40.0], 1.0, 4).seconds, LONGEST);
        assert_eq!(of([0.0; 4], 0.0, 4), Request { cores: 8, memory: 4, seconds: 900, grace: 60 });
        assert_eq!(each.with_time(100).grace, 50);
        let unknown = Estimate { seconds: 1.0, iteration: 1.0, memory: None };
        assert_eq!(Request::reckon(&sweep, 1, 1, &[unknown; 4]).memory, USUAL_MEMORY);
    }
}
