//! Archives compared with pyribs.

mod common;

use common::assert_close;
use magpie_golden::{Npz, files};
use magpie_qd::{
    Acceptance, ArchivePair, Candidate, Cells, Cvt, EPSILON, Evidence, Grid, Metrics, Outcome, Provenance,
    QdOffset,
};

/// The files that must exist; others like them are tested too.
const GRID_FILES: [&str; 13] = [
    "archive_g10x10_lr01_200",
    "archive_g10x10_lr05_m500_ranges",
    "archive_g10x10_lr1_inf",
    "archive_g10x10_lr1_m500",
    "archive_g50_lr01_m500",
    "archive_g50_lr05_200",
    "archive_g50_lr1_inf",
    "archive_g50x50_lr01_m500",
    "archive_g50x50_lr05_200",
    "archive_g50x50_lr1_inf",
    "archive_g5x5x5x5_lr01_200",
    "archive_g5x5x5x5_lr05_m500",
    "archive_g5x5x5x5_lr1_inf",
];

fn grid_files() -> Vec<String> {
    let found = files("numerics", "archive_g");
    for file in GRID_FILES {
        assert!(found.contains(&format!("numerics/{file}.npz")), "{file}.npz is missing");
    }
    found
}

/// Candidates whose branch number is their row in the file.
struct Rows {
    objectives: Vec<f64>,
    measures: Vec<f64>,
    solutions: Vec<f64>,
    solutions_f32: Vec<f32>,
    measure_dim: usize,
    solution_len: usize,
}

impl Rows {
    fn solution(&self, provenance: Provenance) -> &[f64] {
        &self.solutions[provenance.branch.unwrap() as usize * self.solution_len..][..self.solution_len]
    }

    fn candidate(&self, row: usize) -> Candidate<'_> {
        Candidate {
            solution: &self.solutions_f32[row * self.solution_len..][..self.solution_len],
            extra: &[],
            objective: self.objectives[row],
            measures: &self.measures[row * self.measure_dim..][..self.measure_dim],
            length: 1.0,
            evidence: Evidence::ONE,
            provenance: Provenance { iteration: 0, branch: Some(row as u32) },
        }
    }
}

fn assert_outcome(outcome: &Outcome, status: usize, value: f64, what: &str) {
    let got = match outcome {
        Outcome::Rejected(_) => 0,
        Outcome::Improved(_) => 1,
        Outcome::New(_) => 2,
        Outcome::Refused(why) => panic!("{what}: {why}"),
    };
    assert_eq!(got, status, "{what}: status");
    assert_close(outcome.value(), value, what);
}

fn grid_case(golden: &mut Npz) -> (ArchivePair, Rows) {
    assert_eq!(golden.number("epsilon"), EPSILON);
    let grid = Grid::new(golden.indices("dims"), golden.numbers("lower"), golden.numbers("upper")).unwrap();
    let (learning_rate, threshold_min) = (golden.number("learning_rate"), golden.number("threshold_min"));
    let acceptance = if threshold_min == f64::NEG_INFINITY {
        assert_eq!(learning_rate, 1.0, "without a minimum there is no soft archive");
        Acceptance::Elitist
    } else {
        Acceptance::Soft { learning_rate, threshold_min }
    };
    let solutions = golden.numbers("solutions");
    let rows = Rows {
        objectives: golden.numbers("objectives"),
        measures: golden.numbers("measures"),
        solutions_f32: solutions.iter().map(|&x| x as f32).collect(),
        solutions,
        measure_dim: grid.measure_dim(),
        solution_len: golden.shape("solutions")[1],
    };
    (ArchivePair::new(grid, acceptance, rows.solution_len, 0).unwrap(), rows)
}

#[test]
fn golden_grid_archive_calls() {
    for file in grid_files() {
        let mut golden = Npz::open(&file);
        let (mut pair, rows) = grid_case(&mut golden);
        let index = golden.indices("index");
        let (status, value) = (golden.indices("status"), golden.numbers("value"));
        let stats = ["num_elites", "coverage", "qd_score", "elite_sum", "obj_mean", "obj_max"];
        let calls = stats.map(|stat| match stat {
            "num_elites" => golden.indices("call_num_elites").iter().map(|&n| n as f64).collect(),
            _ => golden.numbers(&format!("call_{stat}")),
        });
        let mut became_occupied = Vec::new();
        for (call, bounds) in golden.indices("offsets").windows(2).enumerate() {
            let batch: Vec<_> = (bounds[0]..bounds[1]).map(|row| rows.candidate(row)).collect();
            let insertion = pair.add(&batch).unwrap();
            let mut new = Vec::new();
            for (row, outcome) in (bounds[0]..).zip(&insertion.soft) {
                let what = format!("{file} call {call} row {row}");
                assert_eq!(pair.cells().index_of(rows.candidate(row).measures), Ok(index[row]), "{what}");
                assert_outcome(outcome, status[row], value[row], &what);
                if matches!(outcome, Outcome::New(_)) {
                    new.push(index[row]);
                }
            }
            new.sort_unstable();
            new.dedup();
            became_occupied.extend(new);

            // pyribs was asked about the soft archive.
            let soft = pair.soft().entries().map(|(_, entry)| (entry.objective, entry.length));
            let metrics = Metrics::of(soft, pair.cells().count(), QdOffset::PerElite(0.0));
            // The best solution ever accepted there is the best of the result archive, which never loses a better one.
            let best_ever = pair.best_elite().filter(|_| metrics.elites > 0);
            let got = [
                metrics.elites as f64,
                metrics.coverage,
                metrics.qd_score,
                metrics.qd_score_offset,
                metrics.mean.unwrap_or(f64::NAN),
                best_ever.map_or(f64::NAN, |elite| elite.entry.objective),
            ];
            for ((got, want), stat) in got.iter().zip(&calls).zip(stats) {
                assert_close(*got, want[call], &format!("{file} after call {call}: {stat}"));
            }
        }
        assert_eq!(became_occupied, golden.indices("insertion_order"), "{file}");
    }
}

#[test]
fn golden_grid_archive_final_state() {
    for file in grid_files() {
        let mut golden = Npz::open(&file);
        let (mut pair, rows) = grid_case(&mut golden);
        for bounds in golden.indices("offsets").windows(2) {
            let batch: Vec<_> = (bounds[0]..bounds[1]).map(|row| rows.candidate(row)).collect();
            pair.add(&batch).unwrap();
        }
        let occupied = golden.flags("final_occupied");
        let (objective, threshold) = (golden.numbers("final_objective"), golden.numbers("final_threshold"));
        let (solution, measures) = (golden.numbers("final_solution"), golden.numbers("final_measures"));
        assert_eq!(occupied.len(), pair.cells().count());
        for cell in 0..occupied.len() {
            let what = format!("{file} cell {cell}");
            assert_close(pair.soft().threshold(cell), threshold[cell], &what);
            let entry = pair.soft().entry(cell);
            assert_eq!(entry.is_some(), occupied[cell], "{what}");
            let Some(entry) = entry else { continue };
            assert_eq!(entry.objective, objective[cell], "{what}");
            assert_eq!(entry.measures, measures[cell * rows.measure_dim..][..rows.measure_dim], "{what}");
            let want = &solution[cell * rows.solution_len..][..rows.solution_len];
            assert_eq!(rows.solution(entry.provenance), want, "{what}");
            if pair.soft().acceptance() == Acceptance::Elitist {
                let want: Vec<f32> = want.iter().map(|&x| x as f32).collect();
                assert_eq!(pair.elite(cell).unwrap().solution, want, "{what}");
            }
        }
        let stored_max = pair.soft().entries().map(|(_, entry)| entry.objective).fold(f64::NAN, f64::max);
        assert_close(stored_max, golden.number("stored_obj_max"), &file);
        let best = pair.elite(golden.index("best_index")).unwrap();
        assert_eq!(best.entry.objective, golden.number("best_objective"), "{file}");
        assert_eq!(rows.solution(best.entry.provenance), golden.numbers("best_solution"), "{file}");
    }
}

#[test]
fn golden_cvt_archive() {
    let mut golden = Npz::open("numerics/archive_cvt.npz");
    for case in golden.cases("_centroids") {
        let name = |array: &str| format!("{case}_{array}");
        let dim = golden.shape(&name("centroids"))[1];
        let cells = Cells::from(Cvt::new(golden.numbers(&name("centroids")), dim).unwrap());
        let queries = golden.numbers(&name("queries"));
        for (query, cell) in queries.chunks(dim).zip(golden.indices(&name("index"))) {
            assert_eq!(cells.index_of(query), Ok(cell), "{case}");
        }

        let offsets = golden.indices(&name("add_offsets"));
        let calls = offsets.len() - 1;
        // Call c added the queries c, c + calls, …: sort them in the order of insertion.
        let added = (0..calls).flat_map(|c| queries.chunks(dim).skip(c).step_by(calls));
        let solutions = golden.numbers(&name("add_solutions"));
        let rows = Rows {
            objectives: golden.numbers(&name("add_objectives")),
            measures: added.flatten().copied().collect(),
            solutions_f32: solutions.iter().map(|&x| x as f32).collect(),
            solutions,
            measure_dim: dim,
            solution_len: golden.shape(&name("add_solutions"))[1],
        };
        let mut pair = ArchivePair::new(cells, Acceptance::Elitist, rows.solution_len, 0).unwrap();
        let (status, value) = (golden.indices(&name("add_status")), golden.numbers(&name("add_value")));
        for bounds in offsets.windows(2) {
            let batch: Vec<_> = (bounds[0]..bounds[1]).map(|row| rows.candidate(row)).collect();
            for (row, outcome) in (bounds[0]..).zip(pair.add(&batch).unwrap().soft) {
                assert_outcome(&outcome, status[row], value[row], &format!("{case} row {row}"));
            }
        }
        let occupied = golden.flags(&name("final_occupied"));
        let objective = golden.numbers(&name("final_objective"));
        for (cell, (&occupied, &objective)) in occupied.iter().zip(&objective).enumerate() {
            let elite = pair.elite(cell).map(|elite| elite.entry.objective);
            assert_eq!(elite, occupied.then_some(objective), "{case} cell {cell}");
        }
        let qd_score = pair.metrics(QdOffset::PerElite(0.0)).qd_score;
        assert_close(qd_score, golden.number(&name("qd_score")), &case);
    }
}
