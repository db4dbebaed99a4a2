//! The columns of `metrics.csv`.

use super::run::Progress;
use crate::column::{Column, clock};

type Entry = Column<Progress>;

/// Those that begin with `seconds` are what the clock said; all others are the same whenever and wherever the run is made.
pub(crate) const COLUMNS: &[Entry] = &[
    Entry::new("iteration", "", "from 1", |p| p.report.iteration as f64),
    Entry::new("env_steps", "steps", "since the beginning", |p| p.report.steps as f64),
    Entry::new("episode_return", "return", "mean of the episodes that ended in this rollout", |p| {
        p.report.last.episodes.mean_return().unwrap_or(f64::NAN)
    })
    .known_as("charts/episodic_return", 1.0),
    Entry::new("episode_length", "steps", "mean of the same episodes", |p| {
        p.report.last.episodes.mean_length().unwrap_or(f64::NAN)
    })
    .known_as("charts/episodic_length", 1.0),
    Entry::new("episodes", "", "how many ended in this rollout", |p| p.report.last.episodes.count as f64),
    Entry::new(
        "policy_loss",
        "",
        "mean over minibatches; advantages are normalised, so it says little",
        |p| p.report.last.update.ppo.policy_loss,
    )
    .known_as("losses/policy_loss", 1.0),
    Entry::new(
        "value_loss",
        "variances",
        "squared error of values in units of the returns' standard deviation",
        |p| p.report.last.update.ppo.value_loss,
    )
    .known_as("losses/value_loss", 1.0),
    Entry::new(
        "entropy",
        "nats",
        "of the actions, summed over their dimensions; 1.419 for each at σ = 1",
        |p| p.report.last.update.ppo.entropy,
    )
    .known_as("losses/entropy", 1.0),
    Entry::new("approx_kl", "nats", "mean over minibatches of ρ − 1 − log ρ", |p| {
        p.report.last.update.ppo.approx_kl
    })
    .known_as("losses/approx_kl", 1.0),
    Entry::new(
        "clip_fraction",
        "0 to 1",
        "share of rows whose ratio was clipped, mean over minibatches",
        |p| p.report.last.update.ppo.clip_fraction,
    )
    .known_as("losses/clipfrac", 1.0),
    Entry::new(
        "explained_variance",
        "at most 1",
        "share of the returns' variance that the critic explained before the update",
        |p| p.report.last.update.explained_variance,
    )
    .known_as("losses/explained_variance", 1.0),
    Entry::new("minibatches", "", "how many were used before `target_kl` ended the update", |p| {
        p.report.last.update.minibatches as f64
    }),
    Entry::new(
        "seconds",
        "s",
        "wall clock since the beginning, earlier processes included up to their last checkpoint",
        |p| clock(p.seconds),
    ),
];

/// The row of an iteration as in `metrics.csv`: names of columns and their numbers. What there is none of is NaN.
pub fn row(progress: &Progress) -> Vec<(&'static str, f64)> {
    COLUMNS.iter().map(|column| (column.name(), column.of(progress))).collect()
}
