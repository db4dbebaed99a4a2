//! Archives: maps on one scale of colours, and how many cells are how good.

use magpie_plot::{Labels, NARROW, Series, WIDE, curves};
use magpie_run::ArchiveOutline;
use magpie_run::operations::{ArchivePicture, draw_archive};

use crate::error::ReportError;
use crate::runs::{Method, Run, Scene};
use crate::statistics::ccdf::{ArchiveScores, ccdf_over_seeds, thresholds};
use crate::statistics::table::csv::quoted;

use super::Picture;

/// Points of a CCDF.
const POINTS: usize = 100;

/// Letters of a title that a picture has room for.
const LONG_TITLE: usize = 45;

/// A map for each method, of the run with the median QD-Score, all on one scale of colours.
pub(super) fn maps(scene: &Scene) -> Result<Vec<Picture>, ReportError> {
    let chosen: Vec<(&Method, &Run, &ArchiveOutline)> =
        scene.methods.iter().filter_map(|method| middle(scene, method)).collect();
    let objectives = || chosen.iter().flat_map(|(_, _, archive)| archive.elites.iter().map(|e| e.objective));
    let (Some(mut low), Some(mut high)) = (objectives().reduce(f64::min), objectives().reduce(f64::max))
    else {
        return Ok(Vec::new());
    };
    if chosen.iter().any(|(_, _, archive)| archive.about.names.len() == 1) {
        // Bars stand on zero.
        (low, high) = (low.min(0.0), high.max(0.0));
    }
    let scale = (low < high).then_some([low, high]);
    let mut pictures = Vec::new();
    for (method, run, archive) in chosen {
        let about = &archive.about;
        let filled: Vec<(usize, f64)> = archive.elites.iter().map(|e| (e.cell, e.objective)).collect();
        let title = format!("{}, seed {}", method.name, run.settings.seed);
        let caption = (title.chars().count() > LONG_TITLE).then(|| title.clone());
        let demonstrations = run.learned.as_ref().map_or(&[][..], |learned| &learned.places);
        let figure = draw_archive(&ArchivePicture {
            title: &title,
            names: &about.names,
            ranges: &about.ranges,
            cells: &about.cells,
            filled: &filled,
            objective: "mean return",
            scale,
            demonstrations,
            width: if about.names.len() > 2 { WIDE } else { NARROW },
        })?;
        let name = format!("{}-archive-{}", scene.slug(), method.name);
        let alt = format!("archive of {title} on {}", scene.title());
        pictures.push(Picture { name, alt, caption, figure });
    }
    Ok(pictures)
}

/// The run with the median score (the lower one of two), among those whose archive can be drawn.
pub(super) fn middle<'a>(
    scene: &Scene,
    method: &'a Method,
) -> Option<(&'a Method, &'a Run, &'a ArchiveOutline)> {
    let metric = scene.score();
    let mut runs: Vec<(&Run, &ArchiveOutline)> = method
        .runs
        .iter()
        .filter_map(|run| Some((run, run.archive.as_ref().filter(|archive| !archive.elites.is_empty())?)))
        .collect();
    let score = |run: &Run| run.last(metric).unwrap_or(f64::NEG_INFINITY);
    runs.sort_by(|a, b| score(a.0).total_cmp(&score(b.0)));
    let (run, archive) = *runs.get(runs.len().checked_sub(1)? / 2)?;
    Some((method, run, archive))
}

/// The share of cells at least as good as each return: picture and table, if there is any archive.
pub(super) fn ccdf(scene: &Scene) -> Result<Option<(Picture, String)>, ReportError> {
    let archives: Vec<(&Method, Vec<ArchiveScores>)> =
        scene.methods.iter().map(|method| (method, scores(method))).collect();
    let axis =
        thresholds(&archives.iter().flat_map(|(_, scores)| scores.clone()).collect::<Vec<_>>(), POINTS);
    let (mut all, mut table, mut most) = (Vec::new(), String::new(), 0);
    for (method, scores) in archives.iter().filter(|(_, scores)| !scores.is_empty() && !axis.is_empty()) {
        let points = ccdf_over_seeds(scores, &axis)?;
        let mut series = Series { name: method.name.clone(), style: Some(method.style), ..Series::default() };
        most = most.max(scores.len());
        for point in points {
            let (mean, std) = (100.0 * point.value.mean, 100.0 * point.value.std.unwrap_or(0.0));
            series.x.push(point.x);
            series.mean.push(mean);
            series.low.push((mean - std).max(0.0));
            series.high.push((mean + std).min(100.0));
            let known = point.value.std.map(|_| std.to_string()).unwrap_or_default();
            let names = format!("{},{},{}", scene.task, scene.measure, quoted(&method.name));
            table += &format!("{names},{},{},{mean},{known}\n", point.x, point.runs);
        }
        all.push(series);
    }
    if all.is_empty() {
        return Ok(None);
    }
    let subtitle =
        if most > 1 { format!("mean ± std, up to {most} seeds") } else { "one seed each".to_owned() };
    let labels = Labels {
        title: &format!("Cells by return: {}", scene.title()),
        subtitle: &subtitle,
        x: "return",
        whole_x: false,
        y: "cells at least as good (%)",
        width: NARROW,
    };
    let alt = format!("share of cells of {} with at least a given return", scene.title());
    let name = format!("{}-ccdf", scene.slug());
    let picture = Picture { name, alt, caption: None, figure: curves(&all, &labels)? };
    Ok(Some((picture, table)))
}

/// The head of the table.
pub(super) const CCDF_HEAD: &str = "task,measure,method,return,runs,cells_percent_mean,cells_percent_std\n";

fn scores(method: &Method) -> Vec<ArchiveScores> {
    let archives = method.runs.iter().filter_map(|run| run.archive.as_ref());
    let scores = |archive: &ArchiveOutline| ArchiveScores {
        objectives: archive.elites.iter().map(|e| e.objective).collect(),
        cells: archive.about.cells.count(),
    };
    archives.map(scores).collect()
}
