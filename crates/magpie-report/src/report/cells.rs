//! What the effect of curiosity on the QD-Score is made of, cell by cell.

use magpie_run::ArchiveOutline;

use crate::error::ReportError;
use crate::runs::{Method, Run, Scene};
use crate::statistics::split::Split;
use crate::statistics::table::Cell;

use super::comparisons::pairs;
use super::sheet::{Entry, Kind, Sheet};

/// A number of a split, if there is one.
type Number = fn(&Split) -> Option<f64>;

/// The last three add up to the difference in QD-Score.
const NUMBERS: [(&str, Number); 10] = [
    ("cells of both", |split| Some(split.both_with.cells as f64)),
    ("their return without", |split| split.both_without.mean()),
    ("their return with", |split| split.both_with.mean()),
    ("cells only without", |split| Some(split.only_without.cells as f64)),
    ("return of these", |split| split.only_without.mean()),
    ("cells only with", |split| Some(split.only_with.cells as f64)),
    ("return of those", |split| split.only_with.mean()),
    ("QD-Score in cells of both", |split| Some(split.in_both())),
    ("in cells only without", |split| Some(-split.only_without.sum)),
    ("in cells only with", |split| Some(split.only_with.sum)),
];

/// A row for every method that was run with and without curiosity from the same seeds.
pub(super) fn sheet(scenes: &[Scene]) -> Result<Sheet, ReportError> {
    let mut columns = vec![("task", Kind::Text), ("method", Kind::Text), ("seeds", Kind::Number)];
    columns.extend(NUMBERS.map(|(name, _)| (name, Kind::Spread)));
    let mut rows = Vec::new();
    for scene in scenes {
        for (plain, curious) in pairs(scene) {
            let splits = splits(plain, curious);
            if splits.is_empty() {
                continue;
            }
            let mut row = vec![Entry::Text(scene.title()), Entry::Text(curious.name.clone())];
            row.push(Entry::Number(splits.len() as f64, 0));
            for (_, number) in NUMBERS {
                let values: Vec<f64> = splits.iter().filter_map(number).collect();
                row.push(if values.is_empty() { Entry::Nothing } else { Entry::Spread(Cell::of(&values)?) });
            }
            rows.push(row);
        }
    }
    Ok(Sheet { slug: "cells", title: "What the effect is made of", columns, rows })
}

/// Of each seed whose archives both methods have.
fn splits(plain: &Method, curious: &Method) -> Vec<Split> {
    let of_seed = |seed: u64| plain.runs.iter().find(|run| run.settings.seed == seed);
    let split = |with: &Run| {
        let without = of_seed(with.settings.seed)?;
        let (without, with) = (without.archive.as_ref()?, with.archive.as_ref()?);
        (without.about.grid == with.about.grid).then(|| Split::of(returns(without), returns(with)))
    };
    curious.runs.iter().filter_map(split).collect()
}

fn returns(archive: &ArchiveOutline) -> impl Iterator<Item = (usize, f64)> {
    archive.elites.iter().map(|elite| (elite.cell, elite.objective))
}
