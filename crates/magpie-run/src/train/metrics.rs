//! An iteration as a row of `metrics.csv`.

use magpie_search::Report;

/// Columns of `metrics.csv`. Those that begin with `seconds` are what the clock said; all others are the same whenever
/// and wherever the run is made.
pub(super) const COLUMNS: [&str; 44] = [
    "iteration",
    "qd_score",
    "qd_score_offset",
    "coverage",
    "best",
    "mean",
    "elites",
    "new_cells",
    "accepted",
    "refused",
    "restarts",
    "env_steps",
    "update_rows",
    "search_return",
    "search_length",
    "walk_objective_weight",
    "walk_measures_weight",
    "curious_share",
    "gradient_policy_loss",
    "gradient_value_loss",
    "gradient_approx_kl",
    "gradient_minibatches",
    "gradient_explained_variance",
    "walk_policy_loss",
    "walk_value_loss",
    "walk_approx_kl",
    "walk_minibatches",
    "walk_explained_variance",
    "walk_entropy",
    "reward_expert_loss",
    "reward_policy_loss",
    "reward_expert_accuracy",
    "reward_policy_accuracy",
    "reward_gradient_penalty",
    "reward_slope",
    "reward_expert_reward",
    "reward_policy_reward",
    "reward_kl",
    "reward_beta",
    "seconds_gradients",
    "seconds_evaluation",
    "seconds_archive",
    "seconds_walk",
    "seconds",
];

/// One row of `metrics.csv`, in the order of [`COLUMNS`]. What there is none of is NaN.
pub(super) fn row(report: &Report, seconds: f64) -> [f64; COLUMNS.len()] {
    let none = f64::NAN;
    let (m, gradient) = (&report.metrics, report.gradients.last.update);
    let walked = report.walk.as_ref().and_then(|walk| walk.as_ref().ok());
    let walk = walked.map(|course| course.last.update);
    let of_walk = |value: fn(&magpie_learn::UpdateStats) -> f64| walk.as_ref().map_or(none, value);
    let shares = [Some(report.gradients.curious_share), walked.map(|c| c.curious_share)];
    let curious = shares.iter().flatten().sum::<f64>() / shares.iter().flatten().count() as f64;
    let [objective_weight, measures_weight] = match (walked, report.walk_coefficients.split_first()) {
        (Some(_), Some((objective, measures))) => {
            [*objective, measures.iter().map(|c| c * c).sum::<f64>().sqrt()]
        }
        _ => [none; 2],
    };
    // The walk's update is the later one.
    let health = walked.and_then(|course| course.health).or(report.gradients.health);
    let reward = |name: &str| {
        let column = health.as_ref().and_then(|health| health.columns().find(|(column, _)| *column == name));
        column.map_or(none, |(_, value)| value)
    };
    let clock = |s: f64| (s * 1e3).round() / 1e3;
    [
        report.iteration as f64,
        m.qd_score,
        m.qd_score_offset,
        m.coverage,
        m.best.unwrap_or(none),
        m.mean.unwrap_or(none),
        m.elites as f64,
        report.new_cells as f64,
        report.accepted as f64,
        report.refused as f64,
        report.restarts as f64,
        report.env_steps as f64,
        (report.gradients.update_rows + walked.map_or(0, |course| course.update_rows)) as f64,
        report.search_policy.objective,
        report.search_policy.length,
        objective_weight,
        measures_weight,
        curious,
        gradient.ppo.policy_loss,
        gradient.ppo.value_loss,
        gradient.ppo.approx_kl,
        gradient.minibatches as f64,
        gradient.explained_variance,
        of_walk(|u| u.ppo.policy_loss),
        of_walk(|u| u.ppo.value_loss),
        of_walk(|u| u.ppo.approx_kl),
        of_walk(|u| u.minibatches as f64),
        of_walk(|u| u.explained_variance),
        of_walk(|u| u.ppo.entropy),
        reward("expert_loss"),
        reward("policy_loss"),
        reward("expert_accuracy"),
        reward("policy_accuracy"),
        reward("gradient_penalty"),
        reward("slope"),
        reward("expert_reward"),
        reward("policy_reward"),
        reward("kl"),
        reward("beta"),
        clock(report.seconds.gradients),
        clock(report.seconds.evaluation),
        clock(report.seconds.archive),
        clock(report.seconds.walk),
        clock(seconds),
    ]
}
