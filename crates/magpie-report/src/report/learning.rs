//! Learning curves: mean and standard deviation over the seeds of a method.

use crate::error::ReportError;
use crate::runs::{Axis, Method, Metric, Run, Scene};
use crate::statistics::curves::{Curve, MeanStd, Point, even_axis, mean_curve, shared_axis};
use magpie_plot::{Labels, NARROW, Series, curves};

use super::Picture;

/// Points of a curve: more are not seen in half the width of a page.
const POINTS: usize = 100;

/// What the seeds of a method say along an axis.
pub(super) struct Course {
    pub(super) method: String,
    style: usize,
    pub(super) points: Vec<Point<MeanStd>>,
}

/// The curves of all methods of a scene; those without a point are left out.
pub(super) fn courses(scene: &Scene, axis: Axis, metric: Metric) -> Result<Vec<Course>, ReportError> {
    let mut all = Vec::new();
    for method in &scene.methods {
        let points = course(method, axis, metric)?;
        if !points.is_empty() {
            all.push(Course { method: method.name.clone(), style: method.style, points });
        }
    }
    Ok(all)
}

/// A curve begins where all of its runs have begun, and ends where the first of those ends that came furthest in
/// iterations: what comes after it would be the mean of the slower ones. Shorter runs drop out on the way.
fn course(method: &Method, axis: Axis, metric: Metric) -> Result<Vec<Point<MeanStd>>, ReportError> {
    let runs: Vec<&Run> = method.runs.iter().filter(|run| !run.rows.is_empty()).collect();
    let furthest = runs.iter().map(|run| run.iterations()).fold(0.0, f64::max);
    let ends = |whole: bool, of: fn(&Run, Axis) -> f64| {
        let chosen = runs.iter().filter(move |run| !whole || run.iterations() == furthest);
        chosen.map(move |run| of(run, axis)).collect::<Vec<f64>>()
    };
    let first = ends(false, |run, axis| axis.of(&run.rows[0])).into_iter().fold(f64::NEG_INFINITY, f64::max);
    let last = ends(true, |run, axis| axis.of(&run.rows[run.rows.len() - 1]))
        .into_iter()
        .fold(f64::INFINITY, f64::min);
    let mut lines = Vec::new();
    for run in runs {
        let column = |of: &dyn Fn(&crate::runs::Row) -> f64| run.rows.iter().map(of).collect::<Vec<f64>>();
        lines.push(Curve::new(&column(&|row| axis.of(row)), &column(&|row| metric.of(row)))?);
    }
    let mut places = shared_axis(&lines);
    if places.len() > POINTS {
        places = even_axis(&lines, POINTS);
    }
    places.retain(|&x| first < x && x < last);
    // With one run, or where all have begun at once, both ends are points of their own.
    places.insert(0, first);
    if first < last {
        places.push(last);
    }
    Ok(mean_curve(&lines, &places))
}

/// The picture of one metric along one axis; `None` if there is nothing to draw.
pub(super) fn picture(
    scene: &Scene,
    axis: Axis,
    metric: Metric,
    courses: &[Course],
) -> Result<Option<Picture>, ReportError> {
    if courses.is_empty() {
        return Ok(None);
    }
    let series: Vec<Series> = courses.iter().map(series).collect();
    let seeds =
        courses.iter().flat_map(|course| &course.points).map(|point| point.runs).max().unwrap_or_default();
    let rings = series.iter().any(|series| !series.rings.is_empty());
    let subtitle = match (seeds, rings) {
        (1, _) => "one seed each".to_owned(),
        (n, false) => format!("mean ± std, {n} seeds"),
        (n, true) => format!("mean ± std, up to {n} seeds; ○ where a run ends"),
    };
    let labels = Labels {
        title: &format!("{}: {}", metric.title(), scene.title()),
        subtitle: &subtitle,
        x: axis.label(),
        whole_x: axis == Axis::Iterations,
        y: metric.label(),
        width: NARROW,
    };
    let figure = curves(&series, &labels)?;
    let name = format!("{}-{}-{}", scene.slug(), metric.slug(), axis.slug());
    let alt = format!("{} of {} against {}", metric.label(), scene.title(), axis.label());
    Ok(Some(Picture { name, alt, caption: None, figure }))
}

fn series(course: &Course) -> Series {
    let points = &course.points;
    let column = |of: fn(&Point<MeanStd>) -> f64| points.iter().map(of).collect::<Vec<f64>>();
    Series {
        name: course.method.clone(),
        x: column(|p| p.x),
        mean: column(|p| p.value.mean),
        low: column(|p| p.value.mean - p.value.std.unwrap_or(0.0)),
        high: column(|p| p.value.mean + p.value.std.unwrap_or(0.0)),
        rings: points.windows(2).filter(|pair| pair[1].runs < pair[0].runs).map(|pair| pair[0].x).collect(),
        style: Some(course.style),
    }
}

/// One row a point, of all scenes, axes and metrics.
pub(super) fn csv(scene: &Scene, axis: Axis, metric: Metric, courses: &[Course]) -> String {
    use crate::statistics::table::csv::quoted;
    let mut text = String::new();
    for course in courses {
        for point in &course.points {
            let std = point.value.std.map(|std| std.to_string()).unwrap_or_default();
            text += &format!(
                "{},{},{},{},{},{},{},{},{std}\n",
                scene.task,
                scene.measure,
                quoted(&course.method),
                axis.slug(),
                metric.slug(),
                point.x,
                point.runs,
                point.value.mean
            );
        }
    }
    text
}

/// The head of that table.
pub(super) const CSV_HEAD: &str = "task,measure,method,axis,metric,x,runs,mean,std\n";
