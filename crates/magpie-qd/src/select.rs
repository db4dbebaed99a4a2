//! Choosing elites to learn from: the best ones, and among them the most different.

/// An elite as selection sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rated<'a> {
    /// The quality.
    pub objective: f64,
    /// The behaviour.
    pub measures: &'a [f64],
}

/// Positions of the `k` elites with the highest objectives, best first; equal objectives in the given order.
pub fn best(elites: &[Rated<'_>], k: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..elites.len()).collect();
    // Adding zero turns −0 into +0, which a total order would otherwise tell apart.
    order.sort_by(|&a, &b| (elites[b].objective + 0.0).total_cmp(&(elites[a].objective + 0.0)));
    order.truncate(k);
    order
}

/// Positions of `n` elites that are good and different: of the `top_k` best, the best one, and then again and
/// again the one whose smallest distance in measure space to those chosen is largest (the better one on a
/// tie).
pub fn diverse(elites: &[Rated<'_>], top_k: usize, n: usize) -> Vec<usize> {
    let pool = best(elites, top_k);
    let mut gap = vec![f64::INFINITY; pool.len()];
    let mut left = vec![true; pool.len()];
    let mut chosen = Vec::new();
    while chosen.len() < n.min(pool.len()) {
        // All gaps are infinite at first, so that the first choice is the best elite.
        let farthest =
            (0..pool.len()).filter(|&i| left[i]).reduce(|a, b| if gap[b] > gap[a] { b } else { a });
        let Some(next) = farthest else { break };
        left[next] = false;
        chosen.push(pool[next]);
        for (gap, &i) in gap.iter_mut().zip(&pool) {
            let apart = elites[i].measures.iter().zip(elites[pool[next]].measures);
            *gap = gap.min(apart.map(|(a, b)| (a - b) * (a - b)).sum());
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asking_for_more_than_there_are_gives_all_of_them_once() {
        let elites = [0.0, 1.0, 0.0].map(|objective| Rated { objective, measures: &[0.5] });
        assert_eq!(diverse(&elites, 500, 9), [1, 0, 2]);
        assert_eq!(diverse(&elites, 2, 9), [1, 0]);
        assert!(diverse(&[], 500, 4).is_empty());
        assert!(diverse(&elites, 0, 4).is_empty());
    }

    #[test]
    fn signed_zeros_are_equal_objectives() {
        let elites = [-0.0, 0.0].map(|objective| Rated { objective, measures: &[] });
        assert_eq!(best(&elites, 2), [0, 1]);
    }
}
