//! Evaluation over full episodes, the only source of returns and measures.

use std::sync::Arc;

use magpie_envs::Environment;
use magpie_learn::{Actions, Networks, Policy, evaluate};
use magpie_nn::normaliser::RunningMeanStd;
use magpie_qd::{Candidate, Elite, Evidence, Provenance};

/// A policy with its evaluation.
#[derive(Debug, Clone, PartialEq)]
pub struct EvaluatedPolicy {
    /// The policy.
    pub policy: Policy,
    /// Mean true return.
    pub objective: f64,
    /// Measures: the mean over steps, averaged over episodes.
    pub measures: Vec<f64>,
    /// Mean number of steps.
    pub length: f64,
    /// The number of episodes.
    pub episodes: u32,
    /// Sums of squared deviations from the mean: of the return, then of each measure.
    squares: Vec<f64>,
    normaliser: Vec<f64>,
}

/// The parameters of evaluation.
#[derive(Debug, Clone)]
pub(crate) struct Evaluator {
    pub env: Arc<Environment>,
    pub networks: Networks,
    /// Episodes per policy.
    pub episodes: u32,
    pub actions: Actions,
}

impl Evaluator {
    /// Runs full episodes of each policy. Also returns the number of environment steps.
    pub fn evaluate(&self, policies: Vec<Policy>, seed: u64) -> (Vec<EvaluatedPolicy>, u64) {
        let Evaluator { env, networks, episodes, actions } = self;
        let every: Vec<&Policy> = policies.iter().collect();
        let results = evaluate(env, networks, &every, *episodes, *actions, seed);
        let steps = results.iter().map(magpie_learn::Evaluation::steps).sum();
        let evaluated = |(policy, result): (Policy, magpie_learn::Evaluation)| EvaluatedPolicy {
            normaliser: normaliser_row(&policy.normaliser),
            policy,
            objective: result.mean_return(),
            measures: result.mean_measures(),
            length: result.mean_length(),
            episodes: result.episodes(),
            squares: result.squared_deviations(),
        };
        (policies.into_iter().zip(results).map(evaluated).collect(), steps)
    }
}

impl EvaluatedPolicy {
    /// The policy as a candidate for the archive.
    pub(crate) fn candidate(&self, provenance: Provenance) -> Candidate<'_> {
        Candidate {
            solution: &self.policy.parameters,
            extra: &self.normaliser,
            objective: self.objective,
            measures: &self.measures,
            length: self.length,
            evidence: Evidence { episodes: self.episodes, squares: &self.squares },
            provenance,
        }
    }
}

/// The number of values stored beside an elite's parameters: mean, variance and count of its normaliser.
pub(crate) fn normaliser_len(observation: usize) -> usize {
    2 * observation + 1
}

fn normaliser_row(normaliser: &RunningMeanStd) -> Vec<f64> {
    [normaliser.mean(), normaliser.variance(), &[normaliser.count()]].concat()
}

/// The policy of an elite, with its own normaliser.
pub fn elite_policy(elite: &Elite<'_>) -> Policy {
    let width = elite.extra.len() / 2;
    let (mean, rest) = elite.extra.split_at(width);
    let (variance, count) = rest.split_at(width);
    let normaliser = RunningMeanStd::from_parts(mean.to_vec(), variance.to_vec(), count[0]);
    Policy { parameters: elite.solution.to_vec(), normaliser }
}
