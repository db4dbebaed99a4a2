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

/// Who fills some of the cells: how many these are, their return without and with curiosity, and what they add to the
/// difference in QD-Score.
const PARTS: [(&str, [Number; 4]); 3] = [
    (
        "both",
        [
            |split| Some(split.both_with.cells as f64),
            |split| split.both_without.mean(),
            |split| split.both_with.mean(),
            |split| Some(split.in_both()),
        ],
    ),
    (
        "only without curiosity",
        [
            |split| Some(split.only_without.cells as f64),
            |split| split.only_without.mean(),
            |_| None,
            |split| Some(-split.only_without.sum),
        ],
    ),
    (
        "only with curiosity",
        [
            |split| Some(split.only_with.cells as f64),
            |_| None,
            |split| split.only_with.mean(),
            |split| Some(split.only_with.sum),
        ],
    ),
];

/// Three rows for every method that was run with and without curiosity from the same seeds.
pub(super) fn sheet(scenes: &[Scene]) -> Result<Sheet, ReportError> {
    let columns = vec![
        ("task", Kind::Text),
        ("method", Kind::Text),
        ("seeds", Kind::Number),
        ("filled by", Kind::Text),
        ("cells", Kind::Spread),
        ("return without", Kind::Spread),
        ("return with", Kind::Spread),
        ("QD-Score", Kind::Spread),
    ];
    let mut rows = Vec::new();
    for scene in scenes {
        for (plain, curious) in pairs(scene) {
            let splits = splits(plain, curious);
            for (who, numbers) in PARTS.iter().filter(|_| !splits.is_empty()) {
                let mut row = vec![Entry::Text(scene.title()), Entry::Text(curious.name.clone())];
                row.push(Entry::Number(splits.len() as f64, 0));
                row.push(Entry::Text((*who).to_owned()));
                for number in numbers {
                    let values: Vec<f64> = splits.iter().filter_map(number).collect();
                    row.push(if values.is_empty() {
                        Entry::Nothing
                    } else {
                        Entry::Spread(Cell::of(&values)?)
                    });
                }
                rows.push(row);
            }
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
