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
    let mut farthest = Farthest::new(elites, best(elites, top_k));
    let mut chosen = Vec::new();
    while chosen.len() < n {
        let Some(next) = farthest.take() else { break };
        farthest.keep(next);
        chosen.push(next);
    }
    chosen
}

/// The choice of [`diverse`], elite by elite, for callers that turn some of them down: what is taken is out of the
/// pool, and only what is kept moves the others apart.
#[derive(Clone, Debug)]
pub struct Farthest<'a> {
    elites: &'a [Rated<'a>],
    pool: Vec<usize>,
    /// Smallest squared distance of each elite of the pool to those kept.
    gap: Vec<f64>,
}

impl<'a> Farthest<'a> {
    /// From these positions, in order of preference.
    pub fn new(elites: &'a [Rated<'a>], pool: Vec<usize>) -> Farthest<'a> {
        // All gaps are infinite at first, so that the first choice is the first of the pool.
        Farthest { elites, gap: vec![f64::INFINITY; pool.len()], pool }
    }

    /// Takes the position out of the pool that is farthest from those kept.
    pub fn take(&mut self) -> Option<usize> {
        let at = (0..self.pool.len()).reduce(|a, b| if self.gap[b] > self.gap[a] { b } else { a })?;
        self.gap.remove(at);
        Some(self.pool.remove(at))
    }

    /// Keeps an elite: the next ones are to be far from it.
    pub fn keep(&mut self, chosen: usize) {
        for (gap, &i) in self.gap.iter_mut().zip(&self.pool) {
            let apart = self.elites[i].measures.iter().zip(self.elites[chosen].measures);
            *gap = gap.min(apart.map(|(a, b)| (a - b) * (a - b)).sum());
        }
    }
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
    fn what_is_turned_down_does_not_keep_others_away() {
        let measures = [[0.0], [0.1], [0.9], [0.5]];
        let elites = measures.each_ref().map(|measures| Rated { objective: 1.0, measures });
        let mut farthest = Farthest::new(&elites, vec![0, 1, 2, 3]);
        assert_eq!(farthest.take(), Some(0));
        // Not kept: the next one is the first of the pool again.
        assert_eq!(farthest.take(), Some(1));
        farthest.keep(1);
        assert_eq!(farthest.take(), Some(2));
        assert_eq!((farthest.take(), farthest.take()), (Some(3), None));
        assert_eq!(diverse(&elites, 4, 3), [0, 2, 3]);
    }

    #[test]
    fn signed_zeros_are_equal_objectives() {
        let elites = [-0.0, 0.0].map(|objective| Rated { objective, measures: &[] });
        assert_eq!(best(&elites, 2), [0, 1]);
    }
}
