//! How sure one can be: Tukey's tests, inter-quartile means with intervals, the effect of curiosity.

use crate::error::ReportError;
use crate::runs::{CURIOUS, Method, Metric, Run, Scene, may_be_left_out};
use crate::statistics::bootstrap::{Bootstrap, CONFIDENCE, Interval};
use crate::statistics::effect::effect;
use crate::statistics::paper::EFFECTS;
use crate::statistics::summary::mean;
use crate::statistics::table::Cell;
use crate::statistics::tukey::{Group, tukey_hsd};
use magpie_plot::{Dot, Labels, NARROW, intervals};

use super::Picture;
use super::sheet::{Entry, Kind, Sheet};

/// Where the runs of a method stand now.
fn values(method: &Method, metric: Metric) -> Vec<f64> {
    method.runs.iter().filter_map(|run: &Run| run.last(metric)).collect()
}

/// Tukey's test of all pairs of methods, metric by metric; why there is none for a scene.
pub(super) fn tukey(scene: &Scene, metrics: &[Metric]) -> (Sheet, Option<String>) {
    let columns = vec![
        ("task", Kind::Text),
        ("metric", Kind::Text),
        ("method", Kind::Text),
        ("compared with", Kind::Text),
        ("difference", Kind::Estimate),
        ("p", Kind::Number),
        ("significant", Kind::Text),
    ];
    let (mut rows, mut why) = (Vec::new(), None);
    for &metric in metrics {
        let groups: Vec<Group> = scene
            .methods
            .iter()
            .map(|method| Group { name: method.name.clone(), values: values(method, metric) })
            .filter(|group| !group.values.is_empty())
            .collect();
        match tukey_hsd(&groups, CONFIDENCE) {
            Ok(test) => rows.extend(test.comparisons.iter().map(|pair| {
                let interval = Interval { low: pair.low, high: pair.high };
                vec![
                    Entry::Text(scene.title()),
                    Entry::Text(metric.name().to_owned()),
                    Entry::Text(groups[pair.second].name.clone()),
                    Entry::Text(groups[pair.first].name.clone()),
                    Entry::Estimate(pair.difference, Some(interval)),
                    Entry::Number(pair.p, 4),
                    Entry::Text(if pair.significant { "yes" } else { "no" }.to_owned()),
                ]
            })),
            Err(e) => why = Some(format!("No test for {}: {e}.", metric.name())),
        }
    }
    (Sheet { slug: "tukey", title: "Tukey's HSD", columns, rows }, why)
}

/// The inter-quartile mean of each method in each scene, and over all scenes where a method was run in all of them.
pub(super) fn iqm(scenes: &[Scene]) -> Result<Sheet, ReportError> {
    let mut columns = vec![("task", Kind::Text), ("method", Kind::Text), ("seeds", Kind::Number)];
    columns.extend(Metric::OF_THE_PAPER.map(|metric| (metric.name(), Kind::Estimate)));
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

fn estimate(strata: &[Vec<f64>]) -> Result<Entry, ReportError> {
    let (value, interval) = iqm_of(strata)?;
    Ok(Entry::Estimate(value, interval))
}

/// The inter-quartile mean over all runs of all strata, and its interval if every stratum has several runs: a single one
/// says nothing about others, and the bootstrap would take it for certain.
fn iqm_of(strata: &[Vec<f64>]) -> Result<(f64, Option<Interval>), ReportError> {
    let found = Bootstrap::default().iqm(strata)?;
    Ok((found.value, Some(found.interval).filter(|_| strata.iter().all(|runs| runs.len() > 1))))
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

/// The inter-quartile means of the QD-Score in a scene; `None` if there is but one method.
pub(super) fn picture(scene: &Scene) -> Result<Option<Picture>, ReportError> {
    let mut dots = Vec::new();
    for method in &scene.methods {
        let values = values(method, Metric::QdScore);
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
        0 => "one seed each",
        known if known == dots.len() => "with stratified-bootstrap 95 % intervals",
        _ => "with bootstrap 95 % intervals where there are several seeds",
    };
    let labels = Labels {
        title: &scene.title(),
        subtitle,
        x: "inter-quartile mean of the QD-Score",
        whole_x: false,
        y: "",
        width: NARROW,
    };
    let alt = format!("inter-quartile mean of the QD-Score of each method on {}", scene.title());
    Ok(Some(Picture { name: format!("{}-iqm", scene.slug()), alt, figure: intervals(&dots, &labels)? }))
}

/// The effect of curiosity for every method that was run with and without it; why there is none where that is so.
pub(super) fn curiosity(scenes: &[Scene]) -> Result<(Sheet, Vec<String>), ReportError> {
    let columns = vec![
        ("task", Kind::Text),
        ("method", Kind::Text),
        ("metric", Kind::Text),
        ("without curiosity", Kind::Spread),
        ("with curiosity", Kind::Spread),
        ("effect (%)", Kind::Estimate),
        ("effect in the paper (%)", Kind::Number),
    ];
    let (mut rows, mut why) = (Vec::new(), Vec::new());
    for scene in scenes {
        for (plain, curious) in pairs(scene) {
            for metric in [Metric::QdScore, Metric::Coverage] {
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
                    published(scene, plain, metric)
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

/// What the paper states, in its main table's tasks.
fn published(scene: &Scene, plain: &Method, metric: Metric) -> Option<f64> {
    let stated = EFFECTS.iter().find(|effect| effect.method == plain.family && effect.task == scene.task)?;
    let asked = metric == Metric::QdScore && scene.measure == "feet_contact";
    stated.percent.filter(|_| asked)
}
