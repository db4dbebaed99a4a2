//! A full humanoid archive fits in 600 MB, with runners-up in 1 GB. It is the only test of its binary, because the allocator counts for the
//! whole process.

use magpie_qd::{Acceptance, ArchivePair, Candidate, Evidence, Grid, Provenance, Ranking};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const MEGABYTE: f64 = 1e6;
const PARAMETERS: usize = 48_000;
/// Mean, variance and count of 244 observations.
const EXTRA: usize = 2 * 244 + 1;
const BRANCHES: usize = 300;

#[test]
fn a_full_humanoid_archive_fits() {
    for (depth, most) in [(1, 600.0), (2, 1000.0)] {
        fits(depth, most);
    }
}

fn fits(depth: usize, most: f64) {
    ALLOCATOR.reset_peak_usage();
    let grid = Grid::new(vec![50, 50], vec![0.0; 2], vec![1.0; 2]).unwrap();
    let cells = grid.count();
    let soft = Acceptance::Soft { learning_rate: 0.1, threshold_min: 200.0 };
    let pair = ArchivePair::new(grid.clone(), soft, PARAMETERS, EXTRA).unwrap();
    let mut pair = pair.ranked(Ranking { depth, caution: 0.0 }).unwrap();
    let solutions = vec![1.0f32; BRANCHES * PARAMETERS];
    let extra = vec![1.0f64; EXTRA];
    // Three times around all cells, the second time with objectives below the first but above the soft threshold: then
    // the soft archive holds another solution than the result archive in every cell.
    let centres: Vec<_> = (0..cells).map(|cell| grid.centre(cell).unwrap()).collect();
    for (iteration, objective) in [5000.0, 2000.0, 6000.0].into_iter().enumerate() {
        for centres in centres.chunks(BRANCHES) {
            let candidate = |(branch, measures)| Candidate {
                solution: &solutions[branch * PARAMETERS..][..PARAMETERS],
                extra: &extra,
                objective,
                measures,
                length: 1000.0,
                evidence: Evidence::ONE,
                provenance: Provenance { iteration: iteration as u64, branch: Some(branch as u32) },
            };
            let measures = centres.iter().map(Vec::as_slice);
            let batch: Vec<Candidate> = measures.enumerate().map(candidate).collect();
            assert_eq!(pair.add(&batch).unwrap().accepted(), batch.len());
        }
    }
    assert_eq!(pair.result().len(), cells);

    let peak = ALLOCATOR.peak_usage() as f64;
    let rows = pair.solutions().bytes() as f64;
    let needed = (cells * (PARAMETERS * 4 + EXTRA * 8)) as f64;
    println!("rows {:.1} MB, peak with a batch of {BRANCHES} {:.1} MB", rows / MEGABYTE, peak / MEGABYTE);
    let runners_up = pair.solutions().len() - cells;
    let of_runners_up = (runners_up * (PARAMETERS * 4 + EXTRA * 8)) as f64;
    assert!(rows >= needed && rows < 1.001 * (needed + of_runners_up), "{rows} bytes for {needed}");
    assert_eq!(depth > 1, runners_up > 1000, "{runners_up} runners-up");
    assert!(peak < most * MEGABYTE, "peak of {:.1} MB", peak / MEGABYTE);
}
