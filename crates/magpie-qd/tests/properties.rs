//! Properties that must hold for any batches.

use magpie_qd::{Acceptance, ArchivePair, Candidate, Cells, Cvt, Grid, Provenance, QdOffset, Xnes};
use magpie_random::Stream;
use proptest::collection::vec;
use proptest::prelude::*;

/// Objective and measures of a candidate; its parameters identify it.
#[derive(Clone, Debug)]
struct Point {
    objective: f64,
    measures: [f64; 2],
    id: u32,
}

/// Objectives are small whole numbers, so that sums are exact in any order and ties are frequent.
fn points(most: usize) -> impl Strategy<Value = Vec<Point>> {
    let point = ((-8i32..9).prop_map(f64::from), [-0.2..1.2, -0.2..1.2], any::<u32>());
    vec(point.prop_map(|(objective, measures, id)| Point { objective, measures, id }), 0..most)
}

fn batch_and_shuffled() -> impl Strategy<Value = (Vec<Point>, Vec<Point>)> {
    points(40).prop_flat_map(|points| (Just(points.clone()), Just(points).prop_shuffle()))
}

fn batches() -> impl Strategy<Value = Vec<Vec<Point>>> {
    vec(points(30), 1..6)
}

fn acceptance() -> impl Strategy<Value = Acceptance> {
    let soft = (prop_oneof![Just(0.1), Just(0.5), Just(1.0)], prop_oneof![Just(-4.0), Just(2.0)])
        .prop_map(|(learning_rate, threshold_min)| Acceptance::Soft { learning_rate, threshold_min });
    prop_oneof![Just(Acceptance::Elitist), soft]
}

fn cells() -> impl Strategy<Value = Cells> {
    let grid = Grid::new(vec![3, 4], vec![0.0; 2], vec![1.0; 2]).unwrap();
    let cvt = Cvt::uniform(&[0.0; 2], &[1.0; 2], 10, 200, 1).unwrap();
    prop_oneof![Just(grid.into()), Just(cvt.into())]
}

fn empty_pair() -> impl Strategy<Value = ArchivePair> {
    (cells(), acceptance()).prop_map(|(cells, soft)| ArchivePair::new(cells, soft, 1, 1).unwrap())
}

fn add(pair: &mut ArchivePair, points: &[Point]) -> magpie_qd::Insertion {
    let solutions: Vec<([f32; 1], [f64; 1])> =
        points.iter().map(|p| ([p.id as f32], [f64::from(p.id)])).collect();
    let batch: Vec<Candidate> = points
        .iter()
        .zip(&solutions)
        .map(|(point, (solution, extra))| Candidate {
            solution,
            extra,
            objective: point.objective,
            measures: &point.measures,
            length: 100.0,
            provenance: Provenance { iteration: 0, branch: Some(point.id) },
        })
        .collect();
    pair.add(&batch).unwrap()
}

/// Occupied cells with objectives, and thresholds. Which of several equally good solutions is kept is left out: it is
/// the first in the batch, which is the only thing that may depend on the order.
fn scores(pair: &ArchivePair) -> [Vec<(usize, f64)>; 3] {
    let objectives = |archive: &magpie_qd::Archive| {
        archive.entries().map(|(cell, entry)| (cell, entry.objective)).collect()
    };
    let thresholds = (0..pair.cells().count()).map(|cell| (cell, pair.soft().threshold(cell))).collect();
    [objectives(pair.soft()), objectives(pair.result()), thresholds]
}

proptest! {
    #[test]
    fn order_inside_a_batch_does_not_matter(
        mut pair in empty_pair(),
        first in points(40),
        (batch, shuffled) in batch_and_shuffled(),
    ) {
        add(&mut pair, &first);
        let mut other = pair.clone();
        add(&mut pair, &batch);
        add(&mut other, &shuffled);
        prop_assert_eq!(scores(&pair), scores(&other));
    }

    #[test]
    fn result_archive_is_the_best_seen_in_each_cell(mut pair in empty_pair(), batches in batches()) {
        let mut best: Vec<Option<f64>> = vec![None; pair.cells().count()];
        for batch in &batches {
            let before = pair.clone();
            add(&mut pair, batch);
            for point in batch {
                let cell = pair.cells().index_of(&point.measures).unwrap();
                best[cell] = Some(best[cell].map_or(point.objective, |best| best.max(point.objective)));
            }
            for (cell, &best) in best.iter().enumerate() {
                prop_assert_eq!(pair.elite(cell).map(|elite| elite.entry.objective), best);
                // An elite is replaced only by a better one, and its parameters are those of its entry.
                let (old, new) = (before.elite(cell), pair.elite(cell));
                if let (Some(old), Some(new)) = (old, new) {
                    prop_assert!(old == new || new.entry.objective > old.entry.objective);
                }
                if let Some(elite) = new {
                    let id = elite.entry.provenance.branch.unwrap();
                    prop_assert_eq!((elite.solution[0], elite.extra[0]), (id as f32, f64::from(id)));
                }
            }
        }
    }

    #[test]
    fn soft_thresholds_rise_towards_what_was_accepted(mut pair in empty_pair(), batches in batches()) {
        for batch in &batches {
            let before = pair.clone();
            let insertion = add(&mut pair, batch);
            for cell in 0..pair.cells().count() {
                let (old, new) = (before.soft().threshold(cell), pair.soft().threshold(cell));
                let accepted: Vec<f64> = batch
                    .iter()
                    .zip(&insertion.soft)
                    .filter(|(point, outcome)| {
                        outcome.is_accepted() && pair.cells().index_of(&point.measures) == Ok(cell)
                    })
                    .map(|(point, _)| point.objective)
                    .collect();
                let highest = accepted.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                if accepted.is_empty() {
                    prop_assert_eq!(old, new);
                    prop_assert_eq!(before.soft().entry(cell), pair.soft().entry(cell));
                } else {
                    prop_assert!(new >= old - 1e-12 && new <= highest + 1e-12, "{} to {}", old, new);
                    prop_assert_eq!(pair.soft().entry(cell).map(|entry| entry.objective), Some(highest));
                }
            }
        }
    }

    #[test]
    fn soft_cells_always_have_an_elite_to_restart_from(mut pair in empty_pair(), batches in batches()) {
        let mut draws = Stream::new(0, "restart").draws(0, 0);
        for batch in &batches {
            add(&mut pair, batch);
            for (cell, entry) in pair.soft().entries() {
                prop_assert!(pair.elite(cell).unwrap().entry.objective >= entry.objective);
            }
            let drawn = pair.random_elite(&mut draws);
            prop_assert_eq!(drawn.is_some(), !pair.soft().is_empty());
            prop_assert!(drawn.is_none_or(|elite| pair.soft().entry(elite.cell).is_some()));
        }
    }

    #[test]
    fn metrics_are_sums_over_the_result_archive(mut pair in empty_pair(), batch in points(60)) {
        let insertion = add(&mut pair, &batch);
        let metrics = pair.metrics(QdOffset::PerStep(0.5));
        let elites: Vec<f64> = pair.elites().map(|elite| elite.entry.objective).collect();
        let sum = elites.iter().sum::<f64>();
        prop_assert_eq!(metrics.qd_score, sum);
        prop_assert_eq!(metrics.qd_score_offset, sum + 50.0 * elites.len() as f64);
        prop_assert_eq!((metrics.elites, insertion.new_cells), (elites.len(), elites.len()));
        prop_assert_eq!(metrics.coverage, elites.len() as f64 / pair.cells().count() as f64);
        prop_assert_eq!(metrics.best, pair.best_elite().map(|elite| elite.entry.objective));
    }

    #[test]
    fn restored_archives_go_on_as_if_never_saved(
        mut pair in empty_pair(),
        first in points(40),
        then in points(40),
    ) {
        add(&mut pair, &first);
        let bytes = postcard::to_stdvec(&pair).unwrap();
        let mut restored: ArchivePair = postcard::from_bytes(&bytes).unwrap();
        prop_assert_eq!(&restored, &pair);
        prop_assert_eq!(add(&mut restored, &then), add(&mut pair, &then));
        prop_assert_eq!(postcard::to_stdvec(&restored).unwrap(), postcard::to_stdvec(&pair).unwrap());
    }

    #[test]
    fn damaged_records_are_errors_and_never_panics(
        mut pair in empty_pair(),
        batch in points(20),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        add(&mut pair, &batch);
        let mut bytes = postcard::to_stdvec(&pair).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        // A damaged number may be undetected here (checksums protect files), but restored archives must work.
        if let Ok(mut restored) = postcard::from_bytes::<ArchivePair>(&bytes) {
            let solutions = restored.solutions();
            let lengths = (restored.cells().measure_dim(), solutions.solution_len(), solutions.extra_len());
            if lengths == (2, 1, 1) {
                add(&mut restored, &batch);
            }
        }
    }

    #[test]
    fn restored_xnes_goes_on_as_if_never_saved(fitness in vec(-5.0..5.0, 12), seed in any::<u64>()) {
        let mut draws = Stream::new(seed, "xnes").draws(0, 0);
        let mut xnes = Xnes::start(2, 0.5, &mut draws).unwrap();
        let samples = xnes.ask(12, &mut draws);
        xnes.tell(&samples, &fitness).unwrap();
        let mut restored: Xnes = postcard::from_bytes(&postcard::to_stdvec(&xnes).unwrap()).unwrap();
        let samples = restored.ask(12, &mut draws);
        restored.tell(&samples, &fitness).unwrap();
        xnes.tell(&samples, &fitness).unwrap();
        prop_assert_eq!(restored, xnes);
    }

    #[test]
    fn nearest_centroid_is_what_brute_force_finds(
        centroids in vec(0u8..16, 120),
        queries in vec([0u8..32, 0u8..32, 0u8..32], 1..20),
    ) {
        // A coarse lattice makes exact ties frequent; the lowest cell must win them.
        let centroids: Vec<f64> = centroids.iter().map(|&c| f64::from(c) * 2.0).collect();
        let cells = Cells::from(Cvt::new(centroids.clone(), 3).unwrap());
        for query in queries.iter().map(|q| q.map(f64::from)) {
            let distance = |c: &[f64]| c.iter().zip(&query).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
            let distances: Vec<f64> = centroids.chunks(3).map(distance).collect();
            let nearest = (0..distances.len()).reduce(|a, b| if distances[b] < distances[a] { b } else { a });
            prop_assert_eq!(cells.index_of(&query).ok(), nearest);
        }
    }
}
