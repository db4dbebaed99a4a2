//! The objects within events.

use super::records;

records! {
    /// What a search has found.
    SearchResult {
        /// the task
        task: String,
        /// iterations made
        iterations: u64,
        /// environment steps made
        steps: u64,
        /// what the elites reach in fresh episodes, if the archive has been settled
        verified: Option<Verified>,
        /// what the elites reach, as stored in the archive
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

    /// What the elites of an archive reach in episodes that were not used to choose them.
    Verified {
        /// episodes of each elite
        episodes: u32,
        /// seed of the episodes
        seed: u64,
        /// the archive that they make
        scores: Scores,
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

    /// An elite in a changed world.
    AdaptedElite {
        /// its cell
        cell: String,
        /// mean return
        mean_return: f64,
        /// standard error of the mean
        error: f64,
    }

    /// Trials in one world.
    FewShots {
        /// trials
        trials: usize,
        /// the number of trials after which the stopping rule is met
        stopped: Option<usize>,
        /// mean return of the elite that is best known after the last trial
        returns: Strategies,
    }

    /// A number for each way to spend trials.
    Strategies {
        /// trial and error with a Gaussian process
        trial_and_error: f64,
        /// random choice
        random: f64,
        /// the best stored elites first
        best_stored: f64,
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

impl From<&magpie_run::Reevaluation> for Verified {
    fn from(found: &magpie_run::Reevaluation) -> Verified {
        Verified { episodes: found.episodes, seed: found.seed, scores: (&found.metrics).into() }
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
