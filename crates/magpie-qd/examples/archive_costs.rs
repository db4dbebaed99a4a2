//! The costs of archives, each compared with a limit or an alternative measured in the same run:
//!
//! ```text
//! cargo run --release -p magpie-qd --example archive_costs
//! ```

use magpie_qd::{Acceptance, ArchivePair, Candidate, Cells, Cvt, Error, Evidence, Grid, Provenance};
use magpie_random::Stream;
use std::hint::black_box;
use std::time::Instant;

/// Humanoid: 50 × 50 cells, 48,000 parameters, a normaliser of 244 observations, 300 branches.
const SIDE: usize = 50;
const PARAMETERS: usize = 48_000;
const EXTRA: usize = 2 * 244 + 1;
const BRANCHES: usize = 300;
const SOFT: Acceptance = Acceptance::Soft { learning_rate: 0.1, threshold_min: 200.0 };

fn main() -> Result<(), Error> {
    insertion()?;
    lookup()?;
    distinct_solutions()
}

fn grid() -> Result<Grid, Error> {
    Grid::new(vec![SIDE; 2], vec![0.0; 2], vec![1.0; 2])
}

/// The shortest of several runs, in milliseconds: the one least disturbed.
fn milliseconds(runs: usize, mut run: impl FnMut(usize)) -> f64 {
    let time = |i| {
        let start = Instant::now();
        run(i);
        start.elapsed().as_secs_f64() * 1e3
    };
    (0..runs).map(time).fold(f64::INFINITY, f64::min)
}

/// Inserting 300 branches of which all, a tenth or none are accepted, compared with copying the accepted bytes.
fn insertion() -> Result<(), Error> {
    let grid = grid()?;
    let cells = grid.count();
    let mut pair = ArchivePair::new(grid.clone(), SOFT, PARAMETERS, EXTRA)?;
    let mut draws = Stream::new(0, "solutions").draws(0, 0);
    let solutions: Vec<f32> = (0..BRANCHES * PARAMETERS).map(|_| draws.unit()).collect();
    let extra = vec![1.0; EXTRA];
    let centres: Vec<Vec<f64>> = (0..cells).filter_map(|cell| grid.centre(cell)).collect();
    // Spread over the grid; 7 and the number of cells are coprime, so that no cell occurs twice in a batch.
    let cell = |round: usize, branch: usize| ((round * BRANCHES + branch) * 7) % cells;
    let mut add = |round: usize, entering: usize| {
        let candidate = |branch| Candidate {
            solution: &solutions[branch * PARAMETERS..][..PARAMETERS],
            extra: &extra,
            objective: if branch < entering { 1e3 + round as f64 } else { 0.0 },
            measures: &centres[cell(round, branch)],
            length: 1000.0,
            evidence: Evidence::ONE,
            provenance: Provenance { iteration: round as u64, branch: Some(branch as u32) },
        };
        let batch: Vec<Candidate> = (0..BRANCHES).map(candidate).collect();
        pair.add(&batch).map(|insertion| insertion.accepted())
    };

    let rounds_to_fill = cells.div_ceil(BRANCHES);
    let start = Instant::now();
    for round in 0..rounds_to_fill {
        add(round, BRANCHES)?;
    }
    let first = start.elapsed().as_secs_f64() * 1e3 / rounds_to_fill as f64;
    println!("batch of {BRANCHES} × {PARAMETERS} parameters into {cells} cells");
    println!("  into empty cells (memory is touched for the first time): {first:.2} ms");

    let mut copies = vec![0.0f32; solutions.len()];
    let mut round = rounds_to_fill;
    for entering in [BRANCHES, BRANCHES / 10, 0] {
        let bytes = entering * PARAMETERS;
        let copy = milliseconds(20, |_| black_box(&mut copies)[..bytes].copy_from_slice(&solutions[..bytes]));
        let mut failed = None;
        let insert = milliseconds(20, |_| {
            round += 1;
            failed = add(round, entering).err().or(failed.take());
        });
        if let Some(error) = failed {
            return Err(error);
        }
        print!("  {entering:3} enter: {insert:.3} ms");
        println!(
            "{}",
            if entering > 0 { format!(", {:.2}× a plain copy", insert / copy) } else { String::new() }
        );
    }
    let rows = pair.solutions().bytes() as f64 / 1e6;
    println!("  full archive: {rows:.1} MB");
    Ok(())
}

/// Finding the cell of measures, compared with testing every centroid.
fn lookup() -> Result<(), Error> {
    const QUERIES: usize = 20_000;
    println!("cell of measures, {} cells", SIDE * SIDE);
    for dim in [1, 2, 4] {
        let (lower, upper) = (vec![0.0; dim], vec![1.0; dim]);
        let start = Instant::now();
        let cvt = Cvt::uniform(&lower, &upper, SIDE * SIDE, 100_000, 0)?;
        let kmeans = start.elapsed().as_secs_f64();
        let centroids: Vec<f64> =
            (0..cvt.count()).filter_map(|cell| cvt.centroid(cell)).flatten().copied().collect();
        let mut draws = Stream::new(0, "queries").draws(0, 0);
        let queries: Vec<f64> = (0..QUERIES * dim).map(|_| f64::from(draws.unit())).collect();

        let brute_force = |query: &[f64]| {
            let distance = |c: &[f64]| c.iter().zip(query).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
            let nearer = |best: (usize, f64), next: (usize, f64)| if next.1 < best.1 { next } else { best };
            centroids.chunks_exact(dim).map(distance).enumerate().reduce(nearer)
        };
        let cells = Cells::from(cvt);
        let time = |find: &dyn Fn(&[f64]) -> usize| {
            let run = |_| {
                black_box(queries.chunks_exact(dim).map(find).sum::<usize>());
            };
            1e6 / QUERIES as f64 * milliseconds(5, run)
        };
        let tree = time(&|query| cells.index_of(query).unwrap_or(0));
        let brute = time(&|query| brute_force(query).map_or(0, |nearest| nearest.0));
        println!(
            "  CVT {dim}-D: {tree:.0} ns, {:.0}× faster than brute force; k-means {kmeans:.2} s",
            brute / tree
        );
    }
    let cells = Cells::from(grid()?);
    let mut draws = Stream::new(0, "queries").draws(0, 0);
    let queries: Vec<[f64; 2]> = (0..QUERIES).map(|_| [0; 2].map(|_| f64::from(draws.unit()))).collect();
    let time = milliseconds(5, |_| {
        black_box(queries.iter().map(|query| cells.index_of(query).unwrap_or(0)).sum::<usize>());
    });
    println!("  grid 2-D: {:.0} ns", 1e6 / QUERIES as f64 * time);
    Ok(())
}

/// The number of cells in which the soft archive holds another solution than the result archive, which is the cost of
/// keeping the parameters of both. The simulated search drifts: each batch is a cloud around a moving point.
fn distinct_solutions() -> Result<(), Error> {
    println!("cells where soft and result archive hold different solutions, after 500 batches of {BRANCHES}");
    for learning_rate in [0.1, 0.5] {
        let soft = Acceptance::Soft { learning_rate, threshold_min: -2.0 };
        let mut pair = ArchivePair::new(grid()?, soft, 0, 0)?;
        let mut draws = Stream::new(0, "search").draws(0, 0);
        for iteration in 0..500 {
            let middle = [0; 2].map(|_| f64::from(draws.unit()));
            let points: Vec<([f64; 2], f64)> = (0..BRANCHES)
                .map(|_| (middle.map(|m| m + 0.1 * f64::from(draws.normal())), f64::from(draws.normal())))
                .collect();
            let batch: Vec<Candidate> = points
                .iter()
                .zip(0..)
                .map(|((measures, objective), branch)| Candidate {
                    solution: &[],
                    extra: &[],
                    objective: *objective,
                    measures,
                    length: 1000.0,
                    evidence: Evidence::ONE,
                    provenance: Provenance { iteration, branch: Some(branch) },
                })
                .collect();
            pair.add(&batch)?;
        }
        let differ = |(cell, entry)| pair.result().entry(cell) != Some(entry);
        let distinct = pair.soft().entries().filter(|&held| differ(held)).count();
        println!("  α = {learning_rate}: {distinct} of {}", pair.soft().len());
    }
    Ok(())
}
