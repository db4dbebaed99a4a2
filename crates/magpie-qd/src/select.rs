//! Selection of elites as demonstrators: good ones that differ from each other.

/// An elite, as far as selection needs to know it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rated<'a> {
    /// The objective.
    pub objective: f64,
    /// The measures.
    pub measures: &'a [f64],
}

/// Indices of the `k` elites with the highest objectives, best first; equal objectives keep the given order.
pub fn best(elites: &[Rated<'_>], k: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..elites.len()).collect();
    // Adding zero turns −0 into +0, which a total order would otherwise distinguish.
    order.sort_by(|&a, &b| (elites[b].objective + 0.0).total_cmp(&(elites[a].objective + 0.0)));
    order.truncate(k);
    order
}

/// Indices of `n` elites that are good and diverse: among the `top_k` best, first the best one, and then repeatedly the
/// one whose smallest distance in measure space to those chosen is largest (on a tie, the better one).
pub fn diverse(elites: &[Rated<'_>], top_k: usize, n: usize) -> Vec<usize> {
    let pool = best(elites, top_k);
    let mut gap = vec![f64::INFINITY; pool.len()];
    let mut left = vec![true; pool.len()];
    let mut chosen = Vec::new();
    while chosen.len() < n.min(pool.len()) {
        // All distances are infinite at first, so that the first choice is the best elite.
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
