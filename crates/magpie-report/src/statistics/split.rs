//! Where the difference of two QD-Scores comes from.
//!
//! A QD-Score is a sum over cells, so those of two archives, without and with something, differ by
//!
//! ```text
//! Σ (with − without)   over cells that both fill
//! + Σ with             over cells that only the archive with fills
//! − Σ without          over cells that only the archive without fills
//! ```
//!
//! A lower mean return does not say that a search does worse anywhere: it may do as well in every cell that the other
//! fills, and have added poor ones. So each part is counted on its own.

/// Some cells of an archive: how many, and the sum of their returns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Part {
    /// How many.
    pub cells: usize,
    /// Of their returns.
    pub sum: f64,
}

impl Part {
    fn take(&mut self, objective: f64) {
        self.cells += 1;
        self.sum += objective;
    }

    /// Their mean return; `None` if there are none.
    pub fn mean(self) -> Option<f64> {
        (self.cells > 0).then(|| self.sum / self.cells as f64)
    }
}

/// An archive without something beside one with it, cell by cell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Split {
    /// Cells that both fill, with the returns of the archive without.
    pub both_without: Part,
    /// The same cells with the returns of the archive with.
    pub both_with: Part,
    /// Cells that only the archive without fills.
    pub only_without: Part,
    /// Cells that only the archive with fills.
    pub only_with: Part,
}

impl Split {
    /// Of two archives, each as cells in ascending order with their returns.
    pub fn of(
        without: impl IntoIterator<Item = (usize, f64)>,
        with: impl IntoIterator<Item = (usize, f64)>,
    ) -> Split {
        let mut split = Split::default();
        let (mut without, mut with) = (without.into_iter().peekable(), with.into_iter().peekable());
        loop {
            match (without.peek().copied(), with.peek().copied()) {
                (Some((a, before)), Some((b, after))) if a == b => {
                    split.both_without.take(before);
                    split.both_with.take(after);
                    without.next();
                    with.next();
                }
                (Some((a, before)), other) if other.is_none_or(|(b, _)| a < b) => {
                    split.only_without.take(before);
                    without.next();
                }
                (_, Some((_, after))) => {
                    split.only_with.take(after);
                    with.next();
                }
                (_, None) => return split,
            }
        }
    }

    /// By how much the archive with is better in the cells that both fill.
    pub fn in_both(self) -> f64 {
        self.both_with.sum - self.both_without.sum
    }

    /// By how much its QD-Score is higher.
    pub fn in_all(self) -> f64 {
        self.in_both() + self.only_with.sum - self.only_without.sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_add_up_to_the_difference() {
        let (without, with) = ([(1, 10.0), (2, 5.0), (7, -3.0)], [(0, 4.0), (2, 8.0), (7, 1.0), (9, 2.0)]);
        let split = Split::of(without, with);
        let part = |cells, sum| Part { cells, sum };
        let expected = Split {
            both_without: part(2, 2.0),
            both_with: part(2, 9.0),
            only_without: part(1, 10.0),
            only_with: part(2, 6.0),
        };
        assert_eq!((split, split.in_both(), split.only_with.mean()), (expected, 7.0, Some(3.0)));
        let score = |cells: &[(usize, f64)]| cells.iter().map(|(_, objective)| objective).sum::<f64>();
        assert_eq!(split.in_all(), score(&with) - score(&without));
    }

    #[test]
    fn archives_with_nothing_in_common_have_no_mean_there() {
        let split = Split::of([(3, 1.0)], [(4, 2.0)]);
        assert_eq!((split.both_with.mean(), split.in_both()), (None, 0.0));
        assert_eq!((split.only_without.cells, split.only_with.cells), (1, 1));
        assert_eq!(Split::of([], []), Split::default());
        assert_eq!(Split::of([], [(0, 1.0)]).only_with.cells, 1);
    }
}
