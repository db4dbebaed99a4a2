//! The columns of `metrics.csv`.

use magpie_learn::UpdateStats;
use magpie_search::{PhaseStats, PpgaReport};

use super::run::Progress;
use crate::column::{Column, clock};

type Entry = Column<Progress>;

/// Columns that begin with `seconds` are wall-clock times; all others are the same on every machine.
pub(crate) const COLUMNS: &[Entry] = &[
    Entry::new("iteration", "", "number of the iteration, from 1", |p| p.report.iteration as f64),
    Entry::new("qd_score", "return", "sum of the objectives in the result archive, without offset", |p| {
        p.report.metrics.qd_score
    })
    .known_as("QD/QD Score", 1.0),
    Entry::new(
        "qd_score_offset",
        "return",
        "the same sum with `qd_offset` added for each step of an elite's episodes",
        |p| p.report.metrics.qd_score_offset,
    ),
    Entry::new("coverage", "0 to 1", "share of occupied cells", |p| p.report.metrics.coverage)
        .known_as("QD/coverage (%)", 100.0),
    Entry::new("best", "return", "highest objective", |p| p.report.metrics.best.unwrap_or(f64::NAN))
        .known_as("QD/best score", 1.0),
    Entry::new("mean", "return", "mean objective of the elites", |p| {
        p.report.metrics.mean.unwrap_or(f64::NAN)
    })
    .known_as("QD/average performance", 1.0),
    Entry::new("elites", "cells", "occupied cells", |p| p.report.metrics.elites as f64),
    Entry::new(
        "verified_qd_score",
        "return",
        "the QD-Score that the elites make in fresh episodes, after settling: in the last row of a run that was settled",
        |_| f64::NAN,
    ),
    Entry::new("verified_coverage", "0 to 1", "the coverage that they make, likewise", |_| f64::NAN),
    Entry::new(
        "new_cells",
        "cells",
        "empty cells of the result archive that became occupied, whether by branches, intermediate \
         policies or the search policy",
        |p| p.report.new_cells as f64,
    ),
    Entry::new(
        "proposed",
        "policies",
        "by all emitters: branches, intermediate policies, children of elites; the search policy is not counted",
        |p| p.report.emitters.iter().map(|emitter| emitter.proposed).sum::<usize>() as f64,
    ),
    Entry::new(
        "accepted",
        "branches",
        "branches above the threshold of the **soft** archive, including several in the same cell. 0 \
         causes a restart; so can `patience`. The number can be below `new_cells`, because the result \
         archive accepts any solution in an empty cell and the soft archive none below `threshold_min`",
        |p| of_ppgas(p, |ppga| ppga.accepted as f64),
    ),
    Entry::new(
        "refused",
        "candidates",
        "solutions that were rejected because their return, measures or parameters are not finite; \
         anything above 0 indicates a fault",
        |p| p.report.refused as f64,
    ),
    Entry::new(
        "moved",
        "solutions",
        "solutions of the result archive that a re-evaluation moved to another cell, those that lost there included",
        |p| p.report.reevaluation.moved as f64,
    ),
    Entry::new("emptied", "cells", "cells of the result archive that a re-evaluation left empty", |p| {
        p.report.reevaluation.emptied as f64
    }),
    Entry::new(
        "restarts",
        "",
        "restarts since the beginning of the search. They are normal with `patience`; without it, lower \
         `threshold_min` or `sigma0` if they are frequent",
        |p| p.report.restarts() as f64,
    )
    .known_as("QD/restarts", 1.0),
    Entry::new(
        "env_steps",
        "steps",
        "environment steps since the beginning: training, evaluation and the initial rollout",
        |p| p.report.env_steps as f64,
    ),
    Entry::new(
        "update_rows",
        "rows",
        "rows in this iteration's PPO minibatches, for all copies and the walk; a row counts each time it \
         is used",
        |p| phases(p).map(|stats| stats.update_rows).sum::<u64>() as f64,
    ),
    Entry::new("search_return", "return", "mean return of the search policy before the walk", |p| {
        of_ppga(p, |ppga| ppga.search_policy.objective)
    }),
    Entry::new("search_length", "steps", "mean length of the same episodes", |p| {
        of_ppga(p, |ppga| ppga.search_policy.length)
    }),
    Entry::new(
        "walk_objective_weight",
        "",
        "weight of the objective in the walk: the magnitude of c₀ of xNES; empty without a walk",
        |p| weights(p)[0],
    ),
    Entry::new(
        "walk_measures_weight",
        "",
        "weight of the measures in the walk: the norm of the other xNES coefficients; empty without a \
         walk",
        |p| weights(p)[1],
    ),
    Entry::new(
        "curious_share",
        "0 to 1",
        "share of training steps in episodes that fell in empty cells (with a `novelty` other than \
         `empty`: their mean novelty), averaged over the first copy and the walk; 0 without a bonus. \
         Unless `on_termination` is set, the last rollout of an episode that ends in a fall counts as \
         known",
        curious_share,
    ),
    Entry::new(
        "gradient_policy_loss",
        "",
        "policy loss, mean over minibatches; its size says little, because advantages are normalised",
        |p| of_gradients(p, |update| update.ppo.policy_loss),
    ),
    Entry::new(
        "gradient_value_loss",
        "variances",
        "mean squared error of values, in units of the returns' variance",
        |p| of_gradients(p, |update| update.ppo.value_loss),
    ),
    Entry::new(
        "gradient_approx_kl",
        "nats",
        "approximate KL divergence from the old policy, mean of ρ − 1 − log ρ over minibatches",
        |p| of_gradients(p, |update| update.ppo.approx_kl),
    ),
    Entry::new("gradient_minibatches", "", "minibatches used before `target_kl` ended the update", |p| {
        of_gradients(p, |update| update.minibatches as f64)
    }),
    Entry::new(
        "gradient_explained_variance",
        "at most 1",
        "share of the returns' variance that the critic explained before the update",
        |p| of_gradients(p, |update| update.explained_variance),
    ),
    Entry::new(
        "walk_policy_loss",
        "",
        "policy loss, mean over minibatches; its size says little, because advantages are normalised",
        |p| of_walk(p, |update| update.ppo.policy_loss),
    ),
    Entry::new(
        "walk_value_loss",
        "variances",
        "mean squared error of values, in units of the returns' variance",
        |p| of_walk(p, |update| update.ppo.value_loss),
    ),
    Entry::new(
        "walk_approx_kl",
        "nats",
        "approximate KL divergence from the old policy, mean of ρ − 1 − log ρ over minibatches",
        |p| of_walk(p, |update| update.ppo.approx_kl),
    ),
    Entry::new("walk_minibatches", "", "minibatches used before `target_kl` ended the update", |p| {
        of_walk(p, |update| update.minibatches as f64)
    }),
    Entry::new(
        "walk_explained_variance",
        "at most 1",
        "share of the returns' variance that the critic explained before the update",
        |p| of_walk(p, |update| update.explained_variance),
    ),
    Entry::new(
        "walk_entropy",
        "nats",
        "entropy of the actions, summed over their dimensions; 1.419 per dimension at σ = 1",
        |p| of_walk(p, |update| update.ppo.entropy),
    ),
    Entry::new(
        "reward_expert_loss",
        "",
        "loss on expert rows; 0 for `giril`, which is not updated during the search",
        |p| health(p, "expert_loss"),
    ),
    Entry::new("reward_policy_loss", "", "loss on policy rows; 0 for `giril`", |p| health(p, "policy_loss")),
    Entry::new(
        "reward_expert_accuracy",
        "0 to 1",
        "share of expert rows classified correctly (`maxent`: on the expert's side of the midpoint \
         between the two mean rewards; `giril` does not classify: 0). If this and the policy accuracy are \
         both near 1, rewards say little about how to improve; if both are near ½, the discriminator \
         cannot tell expert from policy, or has not learned yet",
        |p| health(p, "expert_accuracy"),
    ),
    Entry::new("reward_policy_accuracy", "0 to 1", "share of policy rows classified correctly", |p| {
        health(p, "policy_accuracy")
    }),
    Entry::new("reward_gradient_penalty", "", "weighted gradient penalty; 0 for models without one", |p| {
        health(p, "gradient_penalty")
    }),
    Entry::new(
        "reward_slope",
        "",
        "mean norm of the gradient, which the penalty pulls towards 1; 0 for models without a penalty",
        |p| health(p, "slope"),
    ),
    Entry::new(
        "reward_expert_reward",
        "reward",
        "mean reward of expert rows before each step of the update, without bonus (`diffail`: at a random \
         diffusion step)",
        |p| health(p, "expert_reward"),
    ),
    Entry::new("reward_policy_reward", "reward", "mean reward of policy rows, likewise", |p| {
        health(p, "policy_reward")
    }),
    Entry::new("reward_kl", "nats", "`vail`: information that passes the bottleneck", |p| health(p, "kl")),
    Entry::new("reward_beta", "", "`vail`: current weight β of the KL term", |p| health(p, "beta")),
    Entry::new("seconds_gradients", "s", "steps 2 to 4 of this iteration", |p| {
        clock(of_ppgas(p, |ppga| ppga.seconds.gradients))
    }),
    Entry::new(
        "seconds_evaluation",
        "s",
        "steps 5 and 6, including the evaluation and insertion of the walk's intermediate policies",
        |p| clock(evaluation(p)),
    ),
    Entry::new("seconds_archive", "s", "steps 7 and 8", |p| clock(p.report.archive_seconds)),
    Entry::new("seconds_walk", "s", "steps 9 and 10", |p| clock(of_ppgas(p, |ppga| ppga.seconds.walk))),
    Entry::new(
        "seconds",
        "s",
        "wall-clock time since the beginning, including earlier processes up to their last checkpoint",
        |p| clock(p.seconds),
    ),
];

/// The row of an iteration as in `metrics.csv`: the columns' names and values. A missing value is NaN.
pub fn row(progress: &Progress) -> Vec<(&'static str, f64)> {
    COLUMNS.iter().map(|column| (column.name(), column.of(progress))).collect()
}

/// A value of the first PPGA emitter.
fn of_ppga(p: &Progress, value: fn(&PpgaReport) -> f64) -> f64 {
    p.report.ppgas().next().map_or(f64::NAN, value)
}

/// The sum of a value over all PPGA emitters.
fn of_ppgas(p: &Progress, value: fn(&PpgaReport) -> f64) -> f64 {
    p.report.ppgas().map(value).reduce(|a, b| a + b).unwrap_or(f64::NAN)
}

/// Training of the copies of the first PPGA emitter.
fn gradients(p: &Progress) -> Option<&PhaseStats> {
    p.report.ppgas().next().map(|ppga| &ppga.gradients)
}

/// Training of a walk, if there was one and it succeeded.
fn walk_of(ppga: &PpgaReport) -> Option<&PhaseStats> {
    ppga.walk.as_ref()?.as_ref().ok()
}

/// Training of the walk of the first PPGA emitter.
fn walked(p: &Progress) -> Option<&PhaseStats> {
    p.report.ppgas().next().and_then(walk_of)
}

/// All phases of training in the iteration, in order.
fn phases(p: &Progress) -> impl DoubleEndedIterator<Item = &PhaseStats> {
    let copies = p.report.ppgas().map(|ppga| &ppga.gradients);
    copies.chain(p.report.ppgas().filter_map(walk_of))
}

fn of_gradients(p: &Progress, value: fn(&UpdateStats) -> f64) -> f64 {
    gradients(p).map_or(f64::NAN, |stats| value(&stats.last.update))
}

fn of_walk(p: &Progress, value: fn(&UpdateStats) -> f64) -> f64 {
    walked(p).map_or(f64::NAN, |stats| value(&stats.last.update))
}

/// Reward of the walk: weight of the objective, and norm of the weights of the measures.
fn weights(p: &Progress) -> [f64; 2] {
    let coefficients = p.report.ppgas().next().and_then(|ppga| ppga.walk_coefficients.split_first());
    match (walked(p), coefficients) {
        (Some(_), Some((objective, measures))) => {
            [*objective, measures.iter().map(|c| c * c).sum::<f64>().sqrt()]
        }
        _ => [f64::NAN; 2],
    }
}

fn curious_share(p: &Progress) -> f64 {
    phases(p).map(|stats| stats.curious_share).sum::<f64>() / phases(p).count() as f64
}

/// A health value of the reward model, from its last update in the iteration.
fn health(p: &Progress, name: &str) -> f64 {
    let health = phases(p).filter_map(|stats| stats.health).next_back();
    let column = health.as_ref().and_then(|health| health.columns().find(|(column, _)| *column == name));
    column.map_or(f64::NAN, |(_, value)| value)
}

/// Seconds of evaluation, including that of the search policy.
fn evaluation(p: &Progress) -> f64 {
    p.report.evaluation_seconds + p.report.ppgas().map(|ppga| ppga.seconds.evaluation).sum::<f64>()
}
