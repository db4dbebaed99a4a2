//! Properties that must hold for any batches.

use std::collections::BTreeMap;

use magpie_qd::{
    Acceptance, ArchivePair, Candidate, Cells, Cvt, Entry, Evidence, Grid, Pooled, Provenance, QdOffset,
    Ranking, Xnes,
};
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
            evidence: Evidence::ONE,
            provenance: Provenance { iteration: 0, branch: Some(point.id) },
        })
        .collect();
    pair.add(&batch).unwrap()
}

/// Occupied cells with objectives, and thresholds. Which of several equally good solutions is kept is left out: it is
/// the first in the batch, which is the only thing that may depend on the order.
fn scores(pair: &ArchivePair) -> [Vec<(usize, f64)>; 3] {
    fn objectives<'a>(entries: impl Iterator<Item = (usize, &'a Entry)>) -> Vec<(usize, f64)> {
        entries.map(|(cell, entry)| (cell, entry.objective)).collect()
    }
    let thresholds = (0..pair.cells().count()).map(|cell| (cell, pair.soft().threshold(cell))).collect();
    [objectives(pair.soft().entries()), objectives(pair.result().entries()), thresholds]
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

/// A pair whose cells keep several solutions, filled by batches with known spreads.
fn deep_pair() -> impl Strategy<Value = ArchivePair> {
    let ranking = (1usize..4, prop_oneof![Just(0.0), Just(1.0)]);
    (empty_pair(), ranking, vec(points(30), 1..4)).prop_map(|(pair, (depth, caution), batches)| {
        let mut pair = pair.ranked(Ranking { depth, caution }).unwrap();
        for batch in &batches {
            add(&mut pair, batch);
        }
        pair
    })
}

/// Every stored solution: cell, slot, entry and what its parameters say.
fn stored(pair: &ArchivePair) -> Vec<(usize, usize, Entry, f32)> {
    let cells = 0..pair.cells().count();
    let all = cells.flat_map(|cell| pair.elite(cell).into_iter().chain(pair.runners_up(cell)));
    all.map(|e| (e.cell, e.slot, e.entry.clone(), e.solution[0])).collect()
}

fn check(pair: &ArchivePair) -> Result<(), TestCaseError> {
    let ranking = pair.result().ranking();
    let all = stored(pair);
    for of_cell in all.chunk_by(|a, b| a.0 == b.0) {
        prop_assert!(of_cell.len() <= ranking.depth);
        prop_assert!(of_cell.is_sorted_by(|a, b| ranking.score(&a.2) >= ranking.score(&b.2)));
    }
    let slots: std::collections::BTreeSet<usize> = all.iter().map(|stored| stored.1).collect();
    prop_assert_eq!((slots.len(), pair.solutions().len()), (all.len(), all.len()));
    for (cell, _, entry, id) in all {
        prop_assert_eq!(pair.cells().index_of(&entry.measures), Ok(cell));
        prop_assert_eq!(entry.provenance.branch.unwrap() as f32, id, "parameters of another solution");
    }
    let soft_has_elites = pair.soft().entries().all(|(cell, _)| pair.elite(cell).is_some());
    prop_assert!(soft_has_elites, "the soft archive occupies a cell without an elite");
    let postcard = postcard::to_stdvec(pair).unwrap();
    prop_assert_eq!(&postcard::from_bytes::<ArchivePair>(&postcard).unwrap(), pair);
    Ok(())
}

/// Further evaluations of every `nth` stored solution, at the places of `points`.
fn again(pair: &ArchivePair, nth: usize, points: &[Point]) -> BTreeMap<usize, Entry> {
    let some = stored(pair).into_iter().step_by(nth).zip(points.iter().cycle());
    some.map(|((_, slot, entry, _), point)| {
        let (objective, measures) = (point.objective, point.measures.to_vec());
        (slot, Entry { objective, measures, episodes: 1 + point.id % 30, ..entry })
    })
    .collect()
}

proptest! {
    #[test]
    fn whatever_re_evaluation_says_the_archives_fit_together(
        mut pair in deep_pair(),
        rounds in vec((1usize..4, points(20), points(10)), 1..5),
    ) {
        check(&pair)?;
        for (nth, points, batch) in rounds.iter().filter(|(_, points, _)| !points.is_empty()) {
            let more = again(&pair, *nth, points);
            let before = stored(&pair);
            let pooled = pair.pool(&more).unwrap();
            check(&pair)?;
            for (_, slot, entry, _) in stored(&pair) {
                let Some((_, _, old, _)) = before.iter().find(|(_, other, ..)| *other == slot) else {
                    panic!("a new solution");
                };
                let episodes = more.get(&slot).map_or(0, |more| more.episodes);
                prop_assert_eq!(entry.episodes, old.episodes + episodes);
            }
            prop_assert!(pooled.moved <= more.len());
            add(&mut pair, batch);
            check(&pair)?;
        }
    }

    #[test]
    fn deeper_cells_have_the_same_elites(cells in cells(), soft in acceptance(), batches in batches()) {
        let [mut flat, mut deep] = [1, 3].map(|depth| {
            let pair = ArchivePair::new(cells.clone(), soft, 1, 1).unwrap();
            pair.ranked(Ranking { depth, caution: 0.0 }).unwrap()
        });
        let mut seen: Vec<Vec<f64>> = vec![Vec::new(); cells.count()];
        for batch in &batches {
            prop_assert_eq!(add(&mut flat, batch), add(&mut deep, batch));
            for point in batch {
                seen[cells.index_of(&point.measures).unwrap()].push(point.objective);
            }
        }
        for (cell, seen) in seen.iter_mut().enumerate() {
            seen.sort_by(|a, b| b.total_cmp(a));
            seen.truncate(3);
            let elite = deep.elite(cell);
            prop_assert_eq!(flat.elite(cell).map(|e| e.entry), elite.map(|e| e.entry));
            let kept: Vec<f64> =
                elite.into_iter().chain(deep.runners_up(cell)).map(|e| e.entry.objective).collect();
            prop_assert_eq!(&kept, seen);
        }
    }
}

/// Two cells, each with room for two.
fn two_cells() -> ArchivePair {
    let grid = Grid::new(vec![2], vec![0.0], vec![1.0]).unwrap();
    let soft = Acceptance::Soft { learning_rate: 0.5, threshold_min: 0.0 };
    ArchivePair::new(grid, soft, 1, 1).unwrap().ranked(Ranking { depth: 2, caution: 0.0 }).unwrap()
}

fn offer(pair: &mut ArchivePair, id: u32, objective: f64, measure: f64) {
    let candidate = Candidate {
        solution: &[id as f32],
        extra: &[0.0],
        objective,
        measures: &[measure],
        length: 1.0,
        evidence: Evidence { episodes: 10, squares: &[90.0, 0.9] },
        provenance: Provenance { iteration: 0, branch: Some(id) },
    };
    pair.add(&[candidate]).unwrap();
}

/// Ten more episodes of the elite of `cell`.
fn ten_more(pair: &mut ArchivePair, cell: usize, objective: f64, measure: f64) -> Pooled {
    let elite = pair.elite(cell).unwrap();
    let more = Entry { objective, measures: vec![measure], ..elite.entry.clone() };
    let more = BTreeMap::from([(elite.slot, more)]);
    pair.pool(&more).unwrap()
}

fn ids(pair: &ArchivePair, cell: usize) -> Vec<f32> {
    pair.elite(cell).into_iter().chain(pair.runners_up(cell)).map(|e| e.solution[0]).collect()
}

#[test]
fn an_elite_that_lies_elsewhere_moves_and_its_runner_up_is_promoted() {
    let mut pair = two_cells();
    for (id, objective) in [(1, 100.0), (2, 90.0), (3, 80.0)] {
        offer(&mut pair, id, objective, 0.4);
    }
    assert_eq!((ids(&pair, 0), ids(&pair, 1)), (vec![1.0, 2.0], vec![]));
    let threshold = pair.soft().threshold(0);
    let pooled = ten_more(&mut pair, 0, 60.0, 0.8);
    assert_eq!(pooled, Pooled { moved: 1, replaced: 1, emptied: 0 });
    assert_eq!((ids(&pair, 0), ids(&pair, 1)), (vec![2.0], vec![1.0]));
    let moved = pair.elite(1).unwrap().entry;
    assert_eq!((moved.objective, moved.episodes), (80.0, 20));
    assert!((moved.measures[0] - 0.6).abs() < 1e-12);
    // 90 + 90 and 40² · 10 · 10 / 20 for the difference of the means.
    assert_eq!(moved.squares[0], 8180.0);
    // The soft archive has seen the move, half way from 0 to 80 there, and remembers what was accepted here.
    assert_eq!((pair.soft().threshold(0), pair.soft().threshold(1)), (threshold, 40.0));
    // Back with the other one, it leaves its cell empty in both archives.
    let pooled = ten_more(&mut pair, 1, 110.0, 0.0);
    assert_eq!(pooled, Pooled { moved: 1, replaced: 0, emptied: 1 });
    assert_eq!((ids(&pair, 0), ids(&pair, 1)), (vec![1.0, 2.0], vec![]));
    assert_eq!((pair.soft().threshold(1), pair.soft().entry(1)), (40.0, None));
}

#[test]
fn an_elite_that_was_lucky_falls_behind_its_runner_up() {
    let mut pair = two_cells();
    offer(&mut pair, 1, 100.0, 0.4);
    offer(&mut pair, 2, 90.0, 0.4);
    assert_eq!(ten_more(&mut pair, 0, 60.0, 0.4), Pooled { moved: 0, replaced: 1, emptied: 0 });
    assert_eq!(ids(&pair, 0), [2.0, 1.0]);
}

#[test]
fn evidence_wins_over_luck() {
    let mut pair = two_cells().ranked(Ranking { depth: 2, caution: 1.0 }).unwrap();
    offer(&mut pair, 1, 100.0, 0.4);
    // A standard error of √(90 / 9 / 10) = 1.
    offer(&mut pair, 2, 100.5, 0.4);
    assert_eq!(ids(&pair, 0), [2.0, 1.0]);
    let elite = pair.elite(0).unwrap();
    let more = Entry { objective: 100.4, ..elite.entry.clone() };
    let slot = pair.runners_up(0).next().unwrap().slot;
    pair.pool(&BTreeMap::from([(slot, Entry { episodes: 990, ..more })])).unwrap();
    assert_eq!(ids(&pair, 0), [1.0, 2.0], "100.4 of a thousand episodes against 100.5 of ten");
}

#[test]
fn a_solution_that_has_no_cell_any_more_is_removed() {
    let mut pair = two_cells();
    offer(&mut pair, 1, 100.0, 0.4);
    assert_eq!(ten_more(&mut pair, 0, f64::NAN, 0.4), Pooled { moved: 0, replaced: 0, emptied: 1 });
    assert!(pair.result().is_empty() && pair.soft().is_empty() && pair.solutions().is_empty());
}
