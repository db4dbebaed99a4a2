//! The archive's part of the curiosity bonus: whether the cell of given measures is empty. How the measures are
//! averaged (per rollout, segment or episode) is up to the code that pays the bonus.

mod common;

use common::assert_close;
use magpie_golden::Npz;
use magpie_qd::{Acceptance, ArchivePair, Candidate, Evidence, Grid, Provenance};

#[test]
fn golden_ebc_empty_cells() {
    let mut golden = Npz::open("numerics/ebc.npz");
    for case in golden.cases("_occupied") {
        let name = |array: &str| format!("{case}_{array}");
        let (p, q) = (golden.number(&name("p")), golden.number(&name("q")));
        let (lower, upper) = (golden.numbers(&name("lower")), golden.numbers(&name("upper")));
        let grid = Grid::new(golden.indices(&name("dims")), lower, upper).unwrap();
        let dim = grid.measure_dim();
        let occupied = golden.flags(&name("occupied"));
        let cells = occupied.iter().enumerate().filter(|(_, occupied)| **occupied);
        let centres: Vec<Vec<f64>> = cells.map(|(cell, _)| grid.centre(cell).unwrap()).collect();
        let candidate = |measures| Candidate {
            solution: &[],
            extra: &[],
            objective: 1.0,
            measures,
            length: 1.0,
            evidence: Evidence::ONE,
            provenance: Provenance { iteration: 0, branch: None },
        };
        let batch: Vec<Candidate> = centres.iter().map(|centre| candidate(centre)).collect();
        let soft = Acceptance::Soft { learning_rate: 0.5, threshold_min: 0.0 };
        let mut pair = ArchivePair::new(grid, soft, 0, 0).unwrap();
        assert_eq!(pair.add(&batch).unwrap().new_cells, centres.len());

        for scope in ["window", "segment", "carryseg", "running"] {
            let means = golden.numbers(&name(&format!("{scope}_mean")));
            let index = golden.indices(&name(&format!("{scope}_index")));
            let bonus = golden.numbers(&name(&format!("{scope}_bonus")));
            assert_eq!(means.len(), index.len() * dim);
            for ((mean, &cell), &bonus) in means.chunks(dim).zip(&index).zip(&bonus) {
                let what = format!("{case} {scope} at {mean:?}");
                assert_eq!(pair.cells().index_of(mean), Ok(cell), "{what}");
                let empty = pair.soft().entry(cell).is_none();
                assert_close(p + q * f64::from(u8::from(empty)), bonus, &what);
            }
        }
    }
}
