//! Regions of centroids in a field with two axes, small square by small square.

use std::collections::BTreeMap;

use crate::panel::{Panel, rectangle};

/// Side of a square, in pixels: borders look smooth, and the text stays short.
pub(crate) const PIXEL: f64 = 2.0;

/// The squares that belong to the filled cells, one path for each level of colour. `levels` has a level for each filled
/// cell; centroids are rows of two measures. Squares of one row that have the same colour become one rectangle.
pub(crate) fn paths(
    centroids: &[f64],
    panel: &Panel,
    levels: &BTreeMap<usize, usize>,
) -> BTreeMap<usize, String> {
    let nearest = Nearest::new(centroids);
    let ([left, right], [bottom, top]) = (panel.x.pixels, panel.y.pixels);
    let count = |length: f64| (length / PIXEL).round().max(1.0) as usize;
    let (columns, rows) = (count(right - left), count(bottom - top));
    let along =
        |[low, high]: [f64; 2], i: usize, count: usize| low + (i as f64 + 0.5) / count as f64 * (high - low);
    let mut paths: BTreeMap<usize, String> = BTreeMap::new();
    for row in 0..rows {
        let y = along(panel.y.range, row, rows);
        let below = bottom - row as f64 * PIXEL;
        let mut begun: Option<(usize, usize)> = None;
        for column in 0..=columns {
            let level = (column < columns)
                .then(|| nearest.to([along(panel.x.range, column, columns), y]))
                .and_then(|cell| levels.get(&cell).copied());
            if begun.map(|(level, _)| level) == level {
                continue;
            }
            if let Some((level, first)) = begun {
                let [from, to] = [first, column].map(|column| left + column as f64 * PIXEL);
                paths.entry(level).or_default().push_str(&rectangle([from, below - PIXEL], [to, below]));
            }
            begun = level.map(|level| (level, column));
        }
    }
    paths
}

/// Centroids in the order of their second measure: the search for the nearest goes up and down from a point, and ends
/// where that measure alone is further away than the best one found.
struct Nearest {
    sorted: Vec<([f64; 2], usize)>,
}

impl Nearest {
    fn new(centroids: &[f64]) -> Nearest {
        let mut sorted: Vec<([f64; 2], usize)> =
            centroids.as_chunks::<2>().0.iter().copied().enumerate().map(|(i, c)| (c, i)).collect();
        sorted.sort_by(|(a, _), (b, _)| a[1].total_cmp(&b[1]));
        Nearest { sorted }
    }

    /// The number of the nearest centroid, the lowest on a tie.
    fn to(&self, [x, y]: [f64; 2]) -> usize {
        let start = self.sorted.partition_point(|(c, _)| c[1] < y);
        let mut best = (f64::INFINITY, usize::MAX);
        let mut look = |&([cx, cy], i): &([f64; 2], usize)| {
            let rise = (cy - y) * (cy - y);
            if rise > best.0 {
                return false;
            }
            let distance = (cx - x) * (cx - x) + rise;
            if (distance, i) < best {
                best = (distance, i);
            }
            true
        };
        let _ = self.sorted[start..].iter().all(&mut look);
        let _ = self.sorted[..start].iter().rev().all(&mut look);
        best.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_centroid_is_the_nearest_of_all() {
        // Points of a low-discrepancy sequence, so that no two distances are equal.
        let point = |i: usize| [(i as f64 * 0.754_877_666).fract(), (i as f64 * 0.569_840_291).fract()];
        let centroids: Vec<f64> = (1..60).flat_map(point).collect();
        let nearest = Nearest::new(&centroids);
        for at in (100..400).map(point) {
            let distance = |i: &usize| {
                let c = &centroids[2 * i..][..2];
                (c[0] - at[0]).powi(2) + (c[1] - at[1]).powi(2)
            };
            let expected = (0..59).min_by(|a, b| distance(a).total_cmp(&distance(b)));
            assert_eq!(Some(nearest.to(at)), expected);
        }
        assert_eq!(Nearest::new(&[1.0, 0.0, -1.0, 0.0]).to([0.0, 0.0]), 0, "the lowest on a tie");
    }
}
