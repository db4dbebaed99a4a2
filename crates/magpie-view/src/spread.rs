//! A choice of elites that are both good and far from each other.

use magpie_run::ArchiveOutline;

/// The positions of `count` elites: the best one, then again and again the one that is farthest from those chosen, among the
/// better half. Distances are in shares of the measures' ranges.
pub fn spread(archive: &ArchiveOutline, count: usize) -> Vec<usize> {
    let elites = &archive.elites;
    let mut objectives: Vec<f64> = elites.iter().map(|e| e.objective).collect();
    objectives.sort_by(f64::total_cmp);
    let Some(&median) = objectives.get(objectives.len() / 2) else { return Vec::new() };
    let eligible: Vec<usize> = match elites.len() > 2 * count {
        true => (0..elites.len()).filter(|&i| elites[i].objective >= median).collect(),
        false => (0..elites.len()).collect(),
    };
    let place = |i: usize| -> Vec<f64> {
        let scaled = elites[i].measures.iter().zip(&archive.about.ranges);
        scaled.map(|(m, [low, high])| (m - low) / (high - low).max(f64::MIN_POSITIVE)).collect()
    };
    let distance =
        |a: usize, b: usize| -> f64 { place(a).iter().zip(place(b)).map(|(a, b)| (a - b).powi(2)).sum() };
    let better = |&&a: &&usize, &&b: &&usize| elites[a].objective.total_cmp(&elites[b].objective);
    let mut chosen: Vec<usize> = eligible.iter().max_by(better).copied().into_iter().collect();
    let mut nearest: Vec<f64> = eligible.iter().map(|&i| distance(i, chosen[0])).collect();
    while chosen.len() < count.min(eligible.len()) {
        let farthest = (0..eligible.len())
            .filter(|&i| !chosen.contains(&eligible[i]))
            .max_by(|&a, &b| nearest[a].total_cmp(&nearest[b]).then(b.cmp(&a)));
        let Some(next) = farthest else { break };
        let next = eligible[next];
        chosen.push(next);
        for (near, &i) in nearest.iter_mut().zip(&eligible) {
            *near = near.min(distance(i, next));
        }
    }
    chosen
}
