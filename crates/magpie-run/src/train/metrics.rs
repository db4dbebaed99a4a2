//! The columns of `metrics.csv`.

use magpie_learn::UpdateStats;
use magpie_search::{PhaseStats, PpgaReport};

use super::run::Progress;
use crate::column::{Column, clock};

type Entry = Column<Progress>;

/// Those that begin with `seconds` are what the clock said; all others are the same whenever and wherever the run is made.
pub(crate) const COLUMNS: &[Entry] = &[
    Entry::new("iteration", "", "from 1", |p| p.report.iteration as f64),
    Entry::new("qd_score", "return", "sum of the objectives of the result archive, without offset", |p| {
        p.report.metrics.qd_score
    })
    .known_as("QD/QD Score", 1.0),
    Entry::new(
        "qd_score_offset",
        "return",
        "the same with `qd_offset` added for each step of an elite's episodes",
        |p| p.report.metrics.qd_score_offset,
    ),
    Entry::new("coverage", "0 to 1", "share of the cells that are filled", |p| p.report.metrics.coverage)
        .known_as("QD/coverage (%)", 100.0),
    Entry::new("best", "return", "highest objective", |p| p.report.metrics.best.unwrap_or(f64::NAN))
        .known_as("QD/best score", 1.0),
    Entry::new("mean", "return", "mean objective over the filled cells", |p| {
        p.report.metrics.mean.unwrap_or(f64::NAN)
    })
    .known_as("QD/average performance", 1.0),
    Entry::new("elites", "cells", "filled cells", |p| p.report.metrics.elites as f64),
    Entry::new(
        "new_cells",
        "cells",
        "cells of the result archive filled for the first time, by branches, intermediate policies or the search \
         policy",
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
        "those above the threshold of the **soft** archive, several in one cell included. 0 makes a \
         restart, and so may `patience`. It can be below `new_cells`: the result archive takes \
         anything into an empty cell, the soft one nothing below `threshold_min`",
        |p| of_ppgas(p, |ppga| ppga.accepted as f64),
    ),
    Entry::new(
        "refused",
        "candidates",
        "those not considered because something about them (return, measures, parameters) is not \
         finite; above 0 something is wrong",
        |p| p.report.refused as f64,
    ),
    Entry::new(
        "restarts",
        "",
        "since the beginning. With `patience` they are usual; without it, frequent ones say: lower \
         `threshold_min` or `sigma0`",
        |p| p.report.restarts() as f64,
    )
    .known_as("QD/restarts", 1.0),
    Entry::new(
        "env_steps",
        "steps",
        "since the beginning: training, evaluation and the first look around",
        |p| p.report.env_steps as f64,
    ),
    Entry::new(
        "update_rows",
        "rows",
        "of this iteration's PPO minibatches, all copies and the walk: a row that is used again \
         counts again",
        |p| phases(p).map(|stats| stats.update_rows).sum::<u64>() as f64,
    ),
    Entry::new(
        "search_return",
        "return",
        "of the search policy before the walk, mean over its episodes",
        |p| of_ppga(p, |ppga| ppga.search_policy.objective),
    ),
    Entry::new("search_length", "steps", "of the same episodes, mean", |p| {
        of_ppga(p, |ppga| ppga.search_policy.length)
    }),
    Entry::new(
        "walk_objective_weight",
        "",
        "what the walk was paid for: the size of c₀ of xNES; empty without a walk",
        |p| weights(p)[0],
    ),
    Entry::new(
        "walk_measures_weight",
        "",
        "what the walk was paid for: the length of the other coefficients of xNES; empty without a \
         walk",
        |p| weights(p)[1],
    ),
    Entry::new(
        "curious_share",
        "0 to 1",
        "share of training steps in episodes that fell in empty cells, mean of the first copy and the \
         walk; 0 without a bonus. With another `novelty` than `empty`, how new the steps were in the \
         mean. Episodes that end in a fall count as known in their last rollout, unless `on_termination`",
        curious_share,
    ),
    Entry::new(
        "gradient_policy_loss",
        "",
        "of the first copy, its last rollout: loss of the policy, mean over minibatches; advantages \
         are normalised, so it says little",
        |p| of_gradients(p, |update| update.ppo.policy_loss),
    ),
    Entry::new(
        "gradient_value_loss",
        "variances",
        "of the first copy, its last rollout: squared error of values in units of the returns' \
         standard deviation",
        |p| of_gradients(p, |update| update.ppo.value_loss),
    ),
    Entry::new(
        "gradient_approx_kl",
        "nats",
        "of the first copy, its last rollout: mean over minibatches of ρ − 1 − log ρ",
        |p| of_gradients(p, |update| update.ppo.approx_kl),
    ),
    Entry::new(
        "gradient_minibatches",
        "",
        "of the first copy, its last rollout: how many were used before `target_kl` ended the update",
        |p| of_gradients(p, |update| update.minibatches as f64),
    ),
    Entry::new(
        "gradient_explained_variance",
        "at most 1",
        "of the first copy, its last rollout: share of the returns' variance that the critic explained \
         before the update",
        |p| of_gradients(p, |update| update.explained_variance),
    ),
    Entry::new(
        "walk_policy_loss",
        "",
        "of the walk, its last rollout, empty after a restart: loss of the policy, mean over \
         minibatches; advantages are normalised, so it says little",
        |p| of_walk(p, |update| update.ppo.policy_loss),
    ),
    Entry::new(
        "walk_value_loss",
        "variances",
        "of the walk, its last rollout, empty after a restart: squared error of values in units of the \
         returns' standard deviation",
        |p| of_walk(p, |update| update.ppo.value_loss),
    ),
    Entry::new(
        "walk_approx_kl",
        "nats",
        "of the walk, its last rollout, empty after a restart: mean over minibatches of ρ − 1 − log ρ",
        |p| of_walk(p, |update| update.ppo.approx_kl),
    ),
    Entry::new(
        "walk_minibatches",
        "",
        "of the walk, its last rollout, empty after a restart: how many were used before `target_kl` \
         ended the update",
        |p| of_walk(p, |update| update.minibatches as f64),
    ),
    Entry::new(
        "walk_explained_variance",
        "at most 1",
        "of the walk, its last rollout, empty after a restart: share of the returns' variance that the \
         critic explained before the update",
        |p| of_walk(p, |update| update.explained_variance),
    ),
    Entry::new(
        "walk_entropy",
        "nats",
        "of the walk's actions, summed over their dimensions; 1.419 for each at σ = 1",
        |p| of_walk(p, |update| update.ppo.entropy),
    ),
    Entry::new(
        "reward_expert_loss",
        "",
        "last update of a learned reward, empty with the true one: loss on rows of demonstrations; \
         `giril`, which does not learn any more: 0",
        |p| health(p, "expert_loss"),
    ),
    Entry::new(
        "reward_policy_loss",
        "",
        "last update of a learned reward, empty with the true one: loss on rows of the policy; \
         `giril`: 0",
        |p| health(p, "policy_loss"),
    ),
    Entry::new(
        "reward_expert_accuracy",
        "0 to 1",
        "last update of a learned reward, empty with the true one: share of rows of demonstrations \
         told apart rightly (`maxent`: on their side of the middle between both means; `giril`, which \
         tells nobody apart: 0). With that of the policy: both near 1, rewards say little about \
         getting better; both near ½, fooled, or nothing learned yet",
        |p| health(p, "expert_accuracy"),
    ),
    Entry::new(
        "reward_policy_accuracy",
        "0 to 1",
        "last update of a learned reward, empty with the true one: share of rows of the policy told \
         apart rightly",
        |p| health(p, "policy_accuracy"),
    ),
    Entry::new(
        "reward_gradient_penalty",
        "",
        "last update of a learned reward, empty with the true one: the penalty, with its weight; 0 \
         for models without",
        |p| health(p, "gradient_penalty"),
    ),
    Entry::new(
        "reward_slope",
        "",
        "last update of a learned reward, empty with the true one: the mean slope that the penalty \
         pulls to 1; 0 for models without",
        |p| health(p, "slope"),
    ),
    Entry::new(
        "reward_expert_reward",
        "reward",
        "last update of a learned reward, empty with the true one: mean reward of a row of \
         demonstrations before each step of the update, without bonus (`diffail`: at a random \
         timestep)",
        |p| health(p, "expert_reward"),
    ),
    Entry::new(
        "reward_policy_reward",
        "reward",
        "last update of a learned reward, empty with the true one: the same of a row of the policy",
        |p| health(p, "policy_reward"),
    ),
    Entry::new(
        "reward_kl",
        "nats",
        "last update of a learned reward, empty with the true one: `vail`: what passes the bottleneck",
        |p| health(p, "kl"),
    ),
    Entry::new(
        "reward_beta",
        "",
        "last update of a learned reward, empty with the true one: `vail`: the price of a nat",
        |p| health(p, "beta"),
    ),
    Entry::new("seconds_gradients", "s", "steps 2 to 4 of this iteration", |p| {
        clock(of_ppgas(p, |ppga| ppga.seconds.gradients))
    }),
    Entry::new(
        "seconds_evaluation",
        "s",
        "steps 5 and 6; intermediate policies of the walk are tried and inserted in it too",
        |p| clock(evaluation(p)),
    ),
    Entry::new("seconds_archive", "s", "steps 7 and 8", |p| clock(p.report.archive_seconds)),
    Entry::new("seconds_walk", "s", "steps 9 and 10", |p| clock(of_ppgas(p, |ppga| ppga.seconds.walk))),
    Entry::new(
        "seconds",
        "s",
        "wall clock since the beginning, earlier processes included up to their last checkpoint",
        |p| clock(p.seconds),
    ),
];

/// Of the first PPGA.
fn of_ppga(p: &Progress, value: fn(&PpgaReport) -> f64) -> f64 {
    p.report.ppgas().next().map_or(f64::NAN, value)
}

/// Of all PPGAs together.
fn of_ppgas(p: &Progress, value: fn(&PpgaReport) -> f64) -> f64 {
    p.report.ppgas().map(value).reduce(|a, b| a + b).unwrap_or(f64::NAN)
}

/// Training of the copies of the first PPGA.
fn gradients(p: &Progress) -> Option<&PhaseStats> {
    p.report.ppgas().next().map(|ppga| &ppga.gradients)
}

/// Training of a walk, if there was one and it did not fail.
fn walk_of(ppga: &PpgaReport) -> Option<&PhaseStats> {
    ppga.walk.as_ref()?.as_ref().ok()
}

/// That of the first PPGA.
fn walked(p: &Progress) -> Option<&PhaseStats> {
    p.report.ppgas().next().and_then(walk_of)
}

/// All training of the iteration, in its order.
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

/// What the walk was paid for: weight of the objective, and length of the weights of the measures.
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

/// How the reward model does; the walk's update is the later one.
fn health(p: &Progress, name: &str) -> f64 {
    let health = phases(p).filter_map(|stats| stats.health).next_back();
    let column = health.as_ref().and_then(|health| health.columns().find(|(column, _)| *column == name));
    column.map_or(f64::NAN, |(_, value)| value)
}

/// Seconds, those of the search policy included.
fn evaluation(p: &Progress) -> f64 {
    p.report.evaluation_seconds + p.report.ppgas().map(|ppga| ppga.seconds.evaluation).sum::<f64>()
}
