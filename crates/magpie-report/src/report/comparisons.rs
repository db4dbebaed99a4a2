//! How sure one can be: Tukey's tests, inter-quartile means with intervals, the effect of curiosity.

use crate::error::ReportError;
use crate::runs::{CURIOUS, Method, Metric, Run, Scene, may_be_left_out};
use crate::statistics::StatisticsError;
use crate::statistics::bootstrap::{Bootstrap, CONFIDENCE, FEWEST_RUNS, Interval};
use crate::statistics::effect::effect;
use crate::statistics::paper::EFFECTS;
use crate::statistics::summary::mean;
use crate::statistics::table::Cell;
use crate::statistics::tukey::{Group, TukeyHsd, tukey_hsd};
use magpie_plot::{Dot, Labels, NARROW, intervals};

use super::Picture;
use super::published::{Found, find};
use super::sheet::{Entry, Kind, Sheet, columns};

/// Where the runs of a method stand now.
fn values(method: &Method, metric: Metric) -> Vec<f64> {
    method.runs.iter().filter_map(|run: &Run| run.last(metric)).collect()
}

/// Tukey's test of all pairs of methods, metric by metric; why there is none for a scene.
pub(super) fn tukey(scene: &Scene, metrics: &[Metric]) -> (Sheet, Option<String>) {
    let columns = columns(&[
        ("task", Kind::Text),
        ("metric", Kind::Text),
        ("method", Kind::Text),
        ("compared with", Kind::Text),
        ("difference", Kind::Estimate),
        ("p", Kind::Number),
        ("significant", Kind::Text),
    ]);
    let (mut rows, mut why) = (Vec::new(), None);
    for &metric in metrics {
        match tested(scene, metric) {
            Ok((groups, test)) => rows.extend(test.comparisons.iter().map(|pair| {
                let interval = Interval { low: pair.low, high: pair.high };
                vec![
                    Entry::Text(scene.title()),
                    Entry::Text(metric.name().to_owned()),
                    Entry::Text(groups[pair.second].name.clone()),
                    Entry::Text(groups[pair.first].name.clone()),
                    Entry::Estimate(pair.difference, Some(interval)),
                    Entry::P(pair.p, pair.significant),
                    Entry::Text(if pair.significant { "yes" } else { "no" }.to_owned()),
                ]
            })),
            Err(e) => why = Some(format!("No test for {}: {e}.", metric.name())),
        }
    }
    (Sheet { slug: "tukey", title: "Tukey's HSD", columns, rows }, why)
}

/// The test of all methods of a scene that have a number.
fn tested(scene: &Scene, metric: Metric) -> Result<(Vec<Group>, TukeyHsd), StatisticsError> {
    let groups: Vec<Group> = scene
        .methods
        .iter()
        .map(|method| Group { name: method.name.clone(), values: values(method, metric) })
        .filter(|group| !group.values.is_empty())
        .collect();
    let test = tukey_hsd(&groups, CONFIDENCE)?;
    Ok((groups, test))
}

/// The same in short, as the paper has it: a row for each method without and with curiosity, and for each task the sign of
/// the difference and its p-value, which is adjusted for all pairs of methods of the task.
pub(super) fn tukey_pairs(scenes: &[Scene]) -> Sheet {
    let mut columns = columns(&[("without curiosity", Kind::Text), ("with curiosity", Kind::Text)]);
    let mut rows: Vec<Vec<Entry>> = Vec::new();
    for (number, scene) in scenes.iter().enumerate() {
        let title = format!("{}, {}", scene.title(), scene.score().name());
        columns.push((format!("{title}: effect").into(), Kind::Text));
        columns.push((format!("{title}: p").into(), Kind::Number));
        let Ok((groups, test)) = tested(scene, scene.score()) else { continue };
        for (plain, curious) in pairs(scene) {
            let at = |method: &Method| groups.iter().position(|group| group.name == method.name);
            let (Some(without), Some(with)) = (at(plain), at(curious)) else { continue };
            let ends = [without.min(with), without.max(with)];
            let Some(pair) = test.comparisons.iter().find(|pair| [pair.first, pair.second] == ends) else {
                continue;
            };
            let gain = if without < with { pair.difference } else { -pair.difference };
            let names = [plain, curious].map(|method| Entry::Text(method.name.clone()));
            let place = rows.iter().position(|row| row[..2] == names).unwrap_or_else(|| {
                rows.push(names.to_vec());
                rows.len() - 1
            });
            rows[place].resize(2 + 2 * number, Entry::Nothing);
            let sign = if gain > 0.0 { "+" } else { "−" };
            rows[place].extend([Entry::Text(sign.to_owned()), Entry::P(pair.p, pair.significant)]);
        }
    }
    rows.iter_mut().for_each(|row| row.resize(columns.len(), Entry::Nothing));
    Sheet { slug: "tukey-pairs", title: "Tukey’s HSD without and with curiosity", columns, rows }
}

/// The inter-quartile mean of each method in each scene, and over all scenes where a method was run in all of them.
pub(super) fn iqm(scenes: &[Scene]) -> Result<Sheet, ReportError> {
    let mut columns = columns(&[("task", Kind::Text), ("method", Kind::Text), ("seeds", Kind::Number)]);
    columns.extend(Metric::OF_THE_PAPER.map(|metric| (metric.name().into(), Kind::Estimate)));
    let mut rows = Vec::new();
    for scene in scenes {
        for method in &scene.methods {
            let mut row = vec![
                Entry::Text(scene.title()),
                Entry::Text(method.name.clone()),
                Entry::Number(method.runs.len() as f64, 0),
            ];
            for metric in Metric::OF_THE_PAPER {
                let values = values(method, metric);
                row.push(match values.is_empty() {
                    true => Entry::Nothing,
                    false => estimate(&[values])?,
                });
            }
            rows.push(row);
        }
    }
    for (method, score) in over_all(scenes)? {
        let mut row =
            vec![Entry::Text("all tasks, share of the best method".to_owned()), Entry::Text(method)];
        row.extend([Entry::Nothing, score]);
        row.extend(std::iter::repeat_n(Entry::Nothing, Metric::OF_THE_PAPER.len() - 1));
        rows.push(row);
    }
    Ok(Sheet { slug: "iqm", title: "Inter-quartile means", columns, rows })
}

pub(super) fn estimate(strata: &[Vec<f64>]) -> Result<Entry, ReportError> {
    let (value, interval) = iqm_of(strata)?;
    Ok(Entry::Estimate(value, interval))
}

/// The inter-quartile mean over all runs of all strata, and its interval if every stratum has at least [`FEWEST_RUNS`].
pub(super) fn iqm_of(strata: &[Vec<f64>]) -> Result<(f64, Option<Interval>), ReportError> {
    let found = Bootstrap::default().iqm(strata)?;
    Ok((found.value, Some(found.interval).filter(|_| strata.iter().all(|runs| runs.len() >= FEWEST_RUNS))))
}

/// QD-Scores over all scenes, each divided by the highest mean of any method there, for methods that were run in all.
fn over_all(scenes: &[Scene]) -> Result<Vec<(String, Entry)>, ReportError> {
    let mut found = Vec::new();
    if scenes.len() < 2 {
        return Ok(found);
    }
    let best = |scene: &Scene| {
        let means = scene.methods.iter().filter_map(|method| mean(&values(method, Metric::QdScore)));
        means.reduce(f64::max).filter(|&best| best > 0.0)
    };
    for name in scenes[0].methods.iter().map(|method| &method.name) {
        let shares = |scene: &Scene| -> Option<Vec<f64>> {
            let method = scene.methods.iter().find(|method| method.name == *name)?;
            let best = best(scene)?;
            Some(values(method, Metric::QdScore).into_iter().map(|v| v / best).collect())
        };
        let strata: Option<Vec<Vec<f64>>> = scenes.iter().map(shares).collect();
        if let Some(strata) = strata.filter(|strata| strata.iter().all(|values| !values.is_empty())) {
            found.push((name.clone(), estimate(&strata)?));
        }
    }
    Ok(found)
}

/// Whether there are methods with too few seeds for an interval.
pub(super) fn too_few_for_intervals(scenes: &[Scene]) -> bool {
    scenes.iter().flat_map(|scene| &scene.methods).any(|method| method.runs.len() < FEWEST_RUNS)
}

/// The inter-quartile means of the score of a scene; `None` if there is only one method.
pub(super) fn picture(scene: &Scene) -> Result<Option<Picture>, ReportError> {
    let score = scene.score();
    let mut dots = Vec::new();
    for method in &scene.methods {
        let values = values(method, score);
        if !values.is_empty() {
            let (value, interval) = iqm_of(&[values])?;
            let interval = interval.map(|Interval { low, high }| [low, high]);
            dots.push(Dot { name: method.name.clone(), value, interval, style: method.style });
        }
    }
    if dots.len() < 2 {
        return Ok(None);
    }
    let subtitle = match dots.iter().filter(|dot| dot.interval.is_some()).count() {
        0 => format!("no intervals: fewer than {FEWEST_RUNS} seeds"),
        known if known == dots.len() => "with stratified-bootstrap 95 % intervals".to_owned(),
        _ => format!("with bootstrap 95 % intervals where there are at least {FEWEST_RUNS} seeds"),
    };
    let axis = format!("inter-quartile mean of the {}", score.name());
    let labels = Labels {
        title: &format!("Inter-quartile means: {}", scene.title()),
        subtitle: &subtitle,
        x: &axis,
        whole_x: false,
        y: "",
        width: NARROW,
    };
    let alt = format!("{axis} of each method on {}", scene.title());
    let name = format!("{}-iqm", scene.slug());
    Ok(Some(Picture { name, alt, caption: None, figure: intervals(&dots, &labels)? }))
}

/// The effect of curiosity for every method that was run with and without it; why there is none where that is so.
pub(super) fn curiosity(scenes: &[Scene]) -> Result<(Sheet, Vec<String>), ReportError> {
    let columns = columns(&[
        ("task", Kind::Text),
        ("method", Kind::Text),
        ("metric", Kind::Text),
        ("without curiosity", Kind::Spread),
        ("with curiosity", Kind::Spread),
        ("effect (%)", Kind::Estimate),
        ("effect in the paper (%)", Kind::Number),
    ]);
    let (mut rows, mut why) = (Vec::new(), Vec::new());
    for scene in scenes {
        for (plain, curious) in pairs(scene) {
            let offset = (scene.score() != Metric::QdScore).then_some(scene.score());
            for metric in [Some(Metric::QdScore), offset, Some(Metric::Coverage)].into_iter().flatten() {
                let (without, with) = (values(plain, metric), values(curious, metric));
                if without.is_empty() || with.is_empty() {
                    continue;
                }
                let found = match effect(&with, &without, Bootstrap::default()) {
                    Ok(found) => Entry::Estimate(found.percent, found.interval),
                    Err(e) => {
                        why.push(format!("{}, {}, {}: {e}.", scene.title(), curious.name, metric.name()));
                        Entry::Nothing
                    }
                };
                rows.push(vec![
                    Entry::Text(scene.title()),
                    Entry::Text(curious.name.clone()),
                    Entry::Text(metric.name().to_owned()),
                    Entry::Spread(Cell::of(&without)?),
                    Entry::Spread(Cell::of(&with)?),
                    found,
                    published(scene, [plain, curious], metric)
                        .map_or(Entry::Nothing, |percent| Entry::Number(percent, 0)),
                ]);
            }
        }
    }
    Ok((Sheet { slug: "curiosity", title: "The effect of curiosity", columns, rows }, why))
}

/// Methods without and with curiosity that have all else in common.
pub(super) fn pairs(scene: &Scene) -> Vec<(&Method, &Method)> {
    let mut pairs = Vec::new();
    for curious in &scene.methods {
        let Some(family) = curious.family.strip_suffix(CURIOUS) else { continue };
        let alike = |plain: &&Method| {
            let [without, with] = [plain, &curious].map(|method| &method.runs[0].settings.others);
            let same = |key: &String| match (without.get(key), with.get(key)) {
                (Some(a), Some(b)) => a == b,
                (a, b) => a == b || !may_be_left_out(key),
            };
            let mut keys = without.keys().chain(with.keys());
            plain.family == family && keys.all(|key| key.starts_with("search.curiosity.") || same(key))
        };
        pairs.extend(scene.methods.iter().filter(alike).map(|plain| (plain, curious)));
    }
    pairs
}

/// What the paper states, in its main table's tasks, for the same two methods.
fn published(scene: &Scene, [plain, curious]: [&Method; 2], metric: Metric) -> Option<f64> {
    let in_main_table = |method: &Method| match find(scene, method) {
        Found::Same(published) => published.name == method.family,
        Found::Other(_) | Found::Nothing => false,
    };
    let same = in_main_table(plain) && in_main_table(curious) && scene.measure == "feet_contact";
    let stated = EFFECTS.iter().find(|effect| effect.method == plain.family && effect.task == scene.task)?;
    stated.percent.filter(|_| same && metric == Metric::QdScore)
}
