//! What an archive holds, in numbers.

use magpie_learn::Actions;
use magpie_nn::Shape;
use magpie_qd::{Cells, Metrics};

use crate::archive::ArchiveOutline;

/// What an archive holds.
#[derive(Debug, Clone, PartialEq)]
pub struct ArchiveInfo {
    /// The task.
    pub task: String,
    /// How behaviour was measured.
    pub measure: String,
    /// Iterations made.
    pub iteration: u64,
    /// Name of each dimension of the measure.
    pub names: Vec<String>,
    /// Lower and upper end of each dimension of the measure.
    pub ranges: Vec<[f64; 2]>,
    /// Number of cells.
    pub cells: usize,
    /// Cells along each dimension; `None` if they are not a grid.
    pub grid: Option<Vec<usize>>,
    /// Of its elites.
    pub metrics: Metrics,
    /// Mean number of episodes of an elite, if the file says so.
    pub episodes: Option<f64>,
    /// What the offset QD-Score adds for each step.
    pub qd_offset: f64,
    /// The elite with the highest objective; `None` in an empty archive.
    pub best: Option<BestElite>,
    /// Mean length of the elites' episodes; `None` in an empty archive.
    pub length: Option<f64>,
    /// The network of every elite.
    pub actor: Shape,
    /// Parameters of an elite, log σ included.
    pub parameters: usize,
    /// How elites acted when they were evaluated.
    pub actions: Actions,
}

/// The best elite.
#[derive(Debug, Clone, PartialEq)]
pub struct BestElite {
    /// Name of its cell.
    pub cell: String,
    /// Its objective.
    pub objective: f64,
    /// The iteration that it was found in.
    pub iteration: u64,
}

/// Says what an archive holds.
pub fn archive_info(archive: &ArchiveOutline) -> ArchiveInfo {
    let ArchiveOutline { about, elites } = archive;
    let length = elites.iter().map(|e| e.length).sum::<f64>() / elites.len() as f64;
    let episodes: Option<u64> = elites.iter().map(|e| e.episodes.map(u64::from)).sum();
    ArchiveInfo {
        task: about.task.clone(),
        measure: about.measure.clone(),
        iteration: about.iteration,
        names: about.names.clone(),
        ranges: about.ranges.clone(),
        cells: about.cells.count(),
        grid: match &about.cells {
            Cells::Grid(grid) => Some(grid.dims().to_vec()),
            Cells::Cvt(_) => None,
        },
        metrics: archive.metrics(),
        episodes: episodes.filter(|_| !elites.is_empty()).map(|n| n as f64 / elites.len() as f64),
        qd_offset: about.qd_offset,
        best: archive.best().map(|best| BestElite {
            cell: about.cell_name(best.cell),
            objective: best.objective,
            iteration: best.iteration,
        }),
        length: Some(length).filter(|length| length.is_finite()),
        actor: about.actor.clone(),
        parameters: about.actor.parameters() + about.actor.outputs(),
        actions: about.actions,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::open_outline;
    use crate::operations::tests::{CELLS, hopper};

    #[test]
    fn grids_and_tessellations_are_described() {
        for (cells, grid, best) in [(CELLS[0], Some(vec![5]), "3"), (CELLS[1], None, "2")] {
            let (folder, open) = hopper(cells());
            let mut outline = open_outline(folder.path()).unwrap();
            let info = archive_info(&outline);
            assert_eq!((info.grid.clone(), info.cells), (grid, outline.about.cells.count()));
            assert_eq!(info.best.map(|b| (b.cell, b.objective)), Some((best.to_owned(), 2.0)));
            assert_eq!((info.length, info.metrics.elites), (Some(10.0), 2));
            assert_eq!(info.parameters, open.archive.elites[0].policy.parameters.len());
            outline.elites.clear();
            let empty = archive_info(&outline);
            assert_eq!((empty.best, empty.length), (None, None));
        }
    }
}
