//! Learning curves from the `metrics.csv` files of runs, as SVG and PNG.
//!
//! ```sh
//! cargo run --release -p magpie-report --example curves -- docs/results/ppo \
//!     --x env_steps --y episode_return --title "PPO on hopper" --smooth 10 \
//!     "small batches=runs/small-*/metrics.csv" "large batches=runs/large-*/metrics.csv"
//! ```
//!
//! Each LABEL=GLOB is one curve: the mean of its runs, in a band from the lowest to the highest of them.

use std::path::{Path, PathBuf};

use magpie_plot::{Labels, Series, WIDE, curves};

type Problem = Box<dyn std::error::Error>;

/// Points along a curve.
const POINTS: usize = 400;

struct Options {
    out: PathBuf,
    x: String,
    y: String,
    title: String,
    smooth: usize,
    groups: Vec<(String, String)>,
}

fn main() -> Result<(), Problem> {
    let options = options()?;
    let mut series = Vec::new();
    let mut most = 0;
    for (label, pattern) in &options.groups {
        let mut runs = Vec::new();
        for path in glob::glob(pattern)? {
            runs.push(column(&path?, &options)?);
        }
        most = most.max(runs.len());
        series.push(mean_of(label, &runs).ok_or_else(|| format!("{pattern}: no file with numbers"))?);
    }
    let band = if most > 1 { "mean of the runs; band from the lowest to the highest" } else { "" };
    let labels = Labels {
        title: &options.title,
        subtitle: band,
        x: &options.x.replace("env_steps", "environment steps").replace('_', " "),
        whole_x: options.x == "iteration",
        y: &options.y.replace('_', " "),
        width: WIDE,
    };
    let figure = curves(&series, &labels)?;
    std::fs::write(options.out.with_extension("svg"), figure.svg())?;
    std::fs::write(options.out.with_extension("png"), figure.png()?)?;
    Ok(())
}

fn options() -> Result<Options, Problem> {
    let mut options = Options {
        out: PathBuf::new(),
        x: "env_steps".to_owned(),
        y: "episode_return".to_owned(),
        title: String::new(),
        smooth: 1,
        groups: Vec::new(),
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--x" => options.x = value()?,
            "--y" => options.y = value()?,
            "--title" => options.title = value()?,
            "--smooth" => options.smooth = value()?.parse::<usize>()?.max(1),
            _ => match argument.split_once('=') {
                Some((label, pattern)) => options.groups.push((label.to_owned(), pattern.to_owned())),
                None => options.out = argument.into(),
            },
        }
    }
    if options.groups.is_empty() || options.out.as_os_str().is_empty() {
        return Err(
            "usage: curves OUT [--x COLUMN] [--y COLUMN] [--title TEXT] [--smooth ROWS] LABEL=GLOB...".into(),
        );
    }
    Ok(options)
}

/// The finite points of a run, y averaged over the last rows.
fn column(path: &Path, options: &Options) -> Result<Vec<(f64, f64)>, Problem> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let find = |name: &str| {
        let place = names.iter().position(|&n| n == name);
        place.ok_or_else(|| format!("{}: no column {name}; there are {}", path.display(), names.join(", ")))
    };
    let (x, y) = (find(&options.x)?, find(&options.y)?);
    let rows: Vec<(f64, f64)> = lines
        .filter_map(|line| {
            let cell = |i: usize| line.split(',').nth(i)?.parse::<f64>().ok().filter(|v| v.is_finite());
            Some((cell(x)?, cell(y)?))
        })
        .collect();
    let smoothed = |i: usize| {
        let last = &rows[(i + 1).saturating_sub(options.smooth)..=i];
        last.iter().map(|(_, y)| y).sum::<f64>() / last.len() as f64
    };
    Ok((0..rows.len()).map(|i| (rows[i].0, smoothed(i))).collect())
}

/// Mean, lowest and highest of the runs, where all of them have numbers.
fn mean_of(name: &str, runs: &[Vec<(f64, f64)>]) -> Option<Series> {
    let first = runs.iter().map(|run| run.first().map(|p| p.0)).reduce(|a, b| Some(a?.max(b?)))??;
    let last = runs.iter().map(|run| run.last().map(|p| p.0)).reduce(|a, b| Some(a?.min(b?)))??;
    let mut series = Series { name: name.to_owned(), ..Series::default() };
    for i in 0..POINTS {
        let x = first + (last - first) * i as f64 / (POINTS - 1) as f64;
        let values: Vec<f64> = runs.iter().map(|run| at(run, x)).collect();
        series.x.push(x);
        series.mean.push(values.iter().sum::<f64>() / values.len() as f64);
        series.low.push(values.iter().copied().fold(f64::INFINITY, f64::min));
        series.high.push(values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    }
    Some(series)
}

/// A run at `x`, on a straight line between its points.
fn at(run: &[(f64, f64)], x: f64) -> f64 {
    let after = run.partition_point(|p| p.0 < x).min(run.len() - 1);
    let (a, b) = (run[after.saturating_sub(1)], run[after]);
    if a.0 < b.0 { a.1 + (b.1 - a.1) * ((x - a.0) / (b.0 - a.0)).clamp(0.0, 1.0) } else { b.1 }
}
