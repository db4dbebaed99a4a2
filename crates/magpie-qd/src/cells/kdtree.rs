//! Nearest-neighbour search in a fixed set of points.
//!
//! A balanced kd-tree without nodes: the points are sorted so that the middle of every range splits it along the axis
//! of its largest extent. The number of dimensions is a run-time value, and ties have a defined winner (the lowest
//! number); existing kd-tree crates fix the dimension at compile time or allocate for each query, and leave ties
//! undefined.

/// Below this number of points, testing all of them is faster than splitting further.
const LEAF: usize = 8;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct KdTree {
    dim: usize,
    /// Numbers of the points, and the points themselves, in the order of the tree.
    numbers: Vec<u32>,
    points: Vec<f64>,
    /// At the middle of each split range: the axis, and the position where the upper half begins.
    splits: Vec<(usize, f64)>,
}

/// The best point so far: squared distance, then number.
type Nearest = (f64, u32);

impl KdTree {
    /// The tree of `points`, rows of `dim`, numbered from 0.
    pub(super) fn new(points: &[f64], dim: usize) -> Self {
        let count = points.len() / dim;
        let mut numbers: Vec<u32> = (0..count as u32).collect();
        let mut splits = vec![(0, 0.0); count];
        let point = |number: u32| &points[number as usize * dim..][..dim];
        sort(&mut numbers, &mut splits, dim, &point);
        let points = numbers.iter().flat_map(|&number| point(number)).copied().collect();
        KdTree { dim, numbers, points, splits }
    }

    /// Number and squared distance of the point nearest to `query`; on a tie, the lowest number.
    pub(super) fn nearest(&self, query: &[f64]) -> (usize, f64) {
        let mut best = (f64::INFINITY, u32::MAX);
        self.search(0, self.numbers.len(), query, &mut best);
        (best.1 as usize, best.0)
    }

    fn search(&self, from: usize, to: usize, query: &[f64], best: &mut Nearest) {
        if to - from <= LEAF {
            let points = self.points[from * self.dim..to * self.dim].chunks_exact(self.dim);
            for (point, &number) in points.zip(&self.numbers[from..to]) {
                let distance: f64 = point.iter().zip(query).map(|(p, q)| (p - q) * (p - q)).sum();
                if (distance, number) < *best {
                    *best = (distance, number);
                }
            }
            return;
        }
        let middle = from + (to - from) / 2;
        let (axis, start) = self.splits[middle];
        let beyond = query[axis] - start;
        let (near, far) =
            if beyond < 0.0 { ((from, middle), (middle, to)) } else { ((middle, to), (from, middle)) };
        self.search(near.0, near.1, query, best);
        // Not strictly less: a point at the same distance may still win by its number.
        if beyond * beyond <= best.0 {
            self.search(far.0, far.1, query, best);
        }
    }
}

/// Sorts `numbers` into tree order and records the splits of the same range.
fn sort<'a>(numbers: &mut [u32], splits: &mut [(usize, f64)], dim: usize, point: &impl Fn(u32) -> &'a [f64]) {
    if numbers.len() <= LEAF {
        return;
    }
    let spread = |axis: usize| {
        let on_axis = || numbers.iter().map(|&number| point(number)[axis]);
        on_axis().fold(f64::MIN, f64::max) - on_axis().fold(f64::MAX, f64::min)
    };
    let spreads: Vec<f64> = (0..dim).map(spread).collect();
    let axis = (0..dim).reduce(|a, b| if spreads[b] > spreads[a] { b } else { a }).unwrap_or(0);
    let middle = numbers.len() / 2;
    let by_place = |a: &u32, b: &u32| point(*a)[axis].total_cmp(&point(*b)[axis]).then(a.cmp(b));
    numbers.select_nth_unstable_by(middle, by_place);
    splits[middle] = (axis, point(numbers[middle])[axis]);
    let (lower, upper) = numbers.split_at_mut(middle);
    let (lower_splits, upper_splits) = splits.split_at_mut(middle);
    sort(lower, lower_splits, dim, point);
    // The upper half begins with the point just recorded; its own middle lies higher, so that the record is not
    // overwritten.
    sort(upper, upper_splits, dim, point);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_lowest_number() {
        // Every point twice, and more than fit in a leaf.
        let points: Vec<f64> = (0..40).map(|i| f64::from(i % 20)).collect();
        let tree = KdTree::new(&points, 1);
        for i in 0..20 {
            assert_eq!(tree.nearest(&[f64::from(i)]), (i as usize, 0.0));
        }
        assert_eq!(tree.nearest(&[7.5]), (7, 0.25));
    }

    #[test]
    fn absurdly_far_queries_find_a_point() {
        let points: Vec<f64> = (0..40).map(f64::from).collect();
        let tree = KdTree::new(&points, 2);
        assert!(tree.nearest(&[f64::MAX, f64::MAX]).0 < 20);
        assert!(tree.nearest(&[f64::MIN, f64::MAX]).0 < 20);
    }
}
