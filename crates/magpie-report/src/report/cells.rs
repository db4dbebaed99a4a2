//! What the effect of curiosity on the QD-Score is made of, cell by cell.

use magpie_run::ArchiveOutline;

use crate::error::ReportError;
use crate::runs::{Method, Run, Scene};
use crate::statistics::split::Split;

use super::comparisons::pairs;
use super::sheet::{Entry, Kind, Sheet, columns};

/// A number of a split, if there is one.
type Number = fn(&Split) -> Option<f64>;

/// The parts of a split by who fills the cells: their number, their mean return without and with curiosity, and what they
/// add to the difference in QD-Score.
const PARTS: [(&str, [Number; 4]); 4] = [
    (
        "with and without curiosity",
        [
            |split| Some(split.both_with.cells as f64),
            |split| split.both_without.mean(),
            |split| split.both_with.mean(),
            |split| Some(split.in_both()),
        ],
    ),
    (
        "only without",
        [
            |split| Some(split.only_without.cells as f64),
            |split| split.only_without.mean(),
            |_| None,
            |split| Some(-split.only_without.sum),
        ],
    ),
    (
        "only with",
        [
            |split| Some(split.only_with.cells as f64),
            |_| None,
            |split| split.only_with.mean(),
            |split| Some(split.only_with.sum),
        ],
    ),
    ("all", [|_| None, |_| None, |_| None, |split| Some(split.in_all())]),
];

/// Rows for every method that was run with and without curiosity, with at least one seed in common.
pub(super) fn sheet(scenes: &[Scene]) -> Result<Sheet, ReportError> {
    let columns = columns(&[
        ("task", Kind::Text),
        ("method", Kind::Text),
        ("compared with", Kind::Text),
        ("seeds", Kind::Number),
        ("cells filled", Kind::Text),
        ("cells", Kind::Spread),
        ("mean return without", Kind::Spread),
        ("mean return with", Kind::Spread),
        ("difference in QD-Score", Kind::Spread),
    ]);
    let mut rows = Vec::new();
    for scene in scenes {
        for (plain, curious) in pairs(scene) {
            let splits = splits(plain, curious);
            if splits.is_empty() {
                continue;
            }
            for (filled, numbers) in PARTS {
                let mut row = vec![
                    Entry::Text(scene.title()),
                    Entry::Text(curious.name.clone()),
                    Entry::Text(plain.name.clone()),
                    Entry::Number(splits.len() as f64, 0),
                    Entry::Text(filled.to_owned()),
                ];
                for number in numbers {
                    row.push(Entry::spread(splits.iter().filter_map(number))?);
                }
                rows.push(row);
            }
        }
    }
    Ok(Sheet { slug: "curiosity-cells", title: "What the effect is made of", columns, rows })
}

/// The split for each seed for which both methods have an archive over the same cells.
fn splits(plain: &Method, curious: &Method) -> Vec<Split> {
    let of_seed = |seed: u64| plain.runs.iter().find(|run| run.settings.seed == seed);
    let split = |with: &Run| {
        let without = of_seed(with.settings.seed)?;
        let (without, with) = (without.archive.as_ref()?, with.archive.as_ref()?);
        (without.about.cells == with.about.cells).then(|| Split::of(returns(without), returns(with)))
    };
    curious.runs.iter().filter_map(split).collect()
}

fn returns(archive: &ArchiveOutline) -> impl Iterator<Item = (usize, f64)> {
    archive.elites.iter().map(|elite| (elite.cell, elite.objective))
}
