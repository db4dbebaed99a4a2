//! The two matrix products of a layer, on tiles of split numbers.
//!
//! They compute the same as those of [`fused`](super::fused), from the same panels, to about 2⁻¹⁶ instead of 2⁻²⁴ of
//! the largest terms. In [`product`] the matrix is the left operand, so that a tile of sums holds sixteen outputs of a
//! panel, one pack each, as panels are stored; the right operand consists of pairs of features. In [`outer`], pairs
//! consist of two panels, transposed for one operand.
//!
//! Every sum runs over tiles of k in order, whatever else is in the batch, so that the result of a row does not depend
//! on its position.

use magpie_simd::{Isa, LANES, Lanes, Number, Pack, Simd, SimdTask};

use super::amx::Amx;
use super::split::{DEPTH, LINES, SplitTile};

/// A matrix `m[o][k]` as the left operand of [`product`]: `[tile of outputs][tile of k]`, padded with zeros.
#[derive(Debug, Clone)]
pub struct SplitMatrix {
    amx: Amx,
    outputs: usize,
    inner: usize,
    tiles: Vec<SplitTile>,
}

impl SplitMatrix {
    /// Memory for a matrix of `outputs` rows of length `inner`.
    pub fn new(amx: Amx, outputs: usize, inner: usize) -> SplitMatrix {
        let tiles = vec![SplitTile::ZERO; outputs.div_ceil(LINES) * inner.div_ceil(DEPTH)];
        SplitMatrix { amx, outputs, inner, tiles }
    }

    /// Loads `m`, stored `[o][k]`.
    pub fn load(&mut self, isa: Isa, m: &[f32]) {
        isa.run(Load { m, turned: false, matrix: self });
    }

    /// Loads the transpose of `m`, stored `[k][o]`.
    pub fn load_transposed(&mut self, isa: Isa, m: &[f32]) {
        isa.run(Load { m, turned: true, matrix: self });
    }
}

struct Load<'a> {
    m: &'a [f32],
    turned: bool,
    matrix: &'a mut SplitMatrix,
}

impl SimdTask for Load<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, token: S) {
        let Load { m, turned, matrix: SplitMatrix { outputs, inner, tiles, .. } } = self;
        let width = if turned { *outputs } else { *inner };
        let depth = inner.div_ceil(DEPTH);
        for (i, tile) in tiles.iter_mut().enumerate() {
            let (o, k) = (i / depth * LINES, i % depth * DEPTH);
            if turned {
                let lines =
                    |k: usize| std::array::from_fn::<_, LANES, _>(|lane| piece(m, width, k + lane, o));
                tile.fill_turned(token, &lines(k), &lines(k + LANES));
            } else {
                let lines =
                    |k: usize| std::array::from_fn::<_, LINES, _>(|line| piece(m, width, o + line, k));
                tile.fill(token, &lines(k), &lines(k + LANES));
            }
        }
    }
}

/// Sixteen numbers of a row starting at `column`; zeros beyond the end of the row or the last row.
#[inline(always)]
fn piece(m: &[f32], width: usize, row: usize, column: usize) -> Pack {
    let rest = m.get(row * width + column..(row + 1) * width).unwrap_or_default();
    let mut pack = Pack::default();
    match rest.first_chunk() {
        Some(whole) => pack.0 = *whole,
        None => pack.0[..rest.len()].copy_from_slice(rest),
    }
    pack
}

/// Scratch memory for operands.
#[derive(Debug, Clone, Default)]
pub struct SplitScratch {
    left: Vec<SplitTile>,
    right: Vec<SplitTile>,
}

/// The first `length` tiles, which are allocated if necessary.
fn room(tiles: &mut Vec<SplitTile>, length: usize) -> &mut [SplitTile] {
    if tiles.len() < length {
        tiles.resize(length, SplitTile::ZERO);
    }
    &mut tiles[..length]
}

/// At most sixteen features of a panel; none if the panel does not exist.
#[inline(always)]
fn features(panels: &[Pack], width: usize, panel: usize, first: usize) -> &[Pack] {
    panels.get(panel * width + first..panel * width + width.min(first + LINES)).unwrap_or_default()
}

/// Two tiles of `operand`, each `depth` long, starting with `first`. The last one stands in for a missing second one.
fn two(operand: &[SplitTile], depth: usize, first: usize, count: usize) -> [&[SplitTile]; 2] {
    [first, (first + 1).min(count - 1)].map(|i| &operand[i * depth..][..depth])
}

/// Computes `out[p][o] = start[o] + Σₖ x[p][k] m[o][k]`. After a few outputs of a panel are written, `finish(index of
/// the first in out, the outputs)` can process them while they are in the first-level cache.
#[inline(always)]
pub fn product<S: Simd>(
    token: S,
    x: &[Pack],
    matrix: &SplitMatrix,
    start: Option<&[f32]>,
    out: &mut [Pack],
    scratch: &mut SplitScratch,
    mut finish: impl FnMut(usize, &mut [Pack]),
) {
    let &SplitMatrix { amx, outputs, inner, ref tiles } = matrix;
    let panels = out.len() / outputs;
    assert!(x.len() == panels * inner && out.len() == panels * outputs, "panels of the wrong width");
    let (depth, output_tiles) = (inner.div_ceil(DEPTH), outputs.div_ceil(LINES));
    let split = room(&mut scratch.right, 2 * depth);
    let mut sums = [[Pack::default(); LINES]; 4];
    let configured = amx.configure();
    for first_panel in (0..panels).step_by(2) {
        let count = (panels - first_panel).min(2);
        let both =
            x[first_panel * inner..].chunks_exact(inner).zip(split.chunks_exact_mut(depth)).take(count);
        for (panel, tiles) in both {
            for (features, tile) in panel.chunks(DEPTH).zip(tiles) {
                let (first, second) = features.split_at(LINES.min(features.len()));
                tile.fill(token, first, second);
            }
        }
        let right = two(split, depth, 0, count);
        for first_tile in (0..output_tiles).step_by(2) {
            configured.multiply(two(tiles, depth, first_tile, output_tiles), right, &mut sums);
            for (i, sums) in sums.iter().enumerate() {
                let (o, panel) = ((first_tile + i / 2) * LINES, i % 2);
                if o >= outputs || panel >= count {
                    continue;
                }
                let width = LINES.min(outputs - o);
                let at = (first_panel + panel) * outputs + o;
                let values = &mut out[at..at + width];
                for (r, (value, sum)) in values.iter_mut().zip(sums).enumerate() {
                    match start {
                        Some(start) => {
                            (Lanes::load(token, sum) + Lanes::splat(token, start[o + r])).store(value);
                        }
                        None => *value = *sum,
                    }
                }
                finish(at, values);
            }
        }
    }
}

/// Computes `sums[b][a] += Σᵣ s[r][b] v[r][a]` over the rows of `s` and `v`, panels of `width` and `turned_width`
/// features. The rows of `sums` are padded to whole packs.
#[inline(always)]
pub fn outer<S: Simd>(
    token: S,
    amx: Amx,
    [v, s]: [&[Pack]; 2],
    [turned_width, width]: [usize; 2],
    sums: &mut [Pack],
    scratch: &mut SplitScratch,
) {
    let panels = s.len() / width;
    let groups = turned_width.div_ceil(LANES);
    assert!(v.len() == panels * turned_width && sums.len() == groups * width, "operands of different length");
    let (depth, lines) = (panels.div_ceil(2), width.div_ceil(LINES));
    let left = room(&mut scratch.left, lines * depth);
    for (i, tile) in left.iter_mut().enumerate() {
        let [first, second] = [0, 1].map(|p| features(s, width, 2 * (i % depth) + p, i / depth * LINES));
        tile.fill(token, first, second);
    }
    let right = room(&mut scratch.right, groups * depth);
    for (i, tile) in right.iter_mut().enumerate() {
        let [first, second] =
            [0, 1].map(|p| features(v, turned_width, 2 * (i % depth) + p, i / depth * LANES));
        tile.fill_turned(token, first, second);
    }
    let configured = amx.configure();
    let mut block = [[Pack::default(); LINES]; 4];
    for line_tile in (0..lines).step_by(2) {
        for group in (0..groups).step_by(2) {
            configured.multiply(
                two(left, depth, line_tile, lines),
                two(right, depth, group, groups),
                &mut block,
            );
            for (i, block) in block.iter().enumerate() {
                let (b, group) = ((line_tile + i / 2) * LINES, group + i % 2);
                if group >= groups {
                    continue;
                }
                for (sum, row) in block.iter().zip(sums.chunks_exact_mut(groups).skip(b)) {
                    let total = &mut row[group];
                    (Lanes::load(token, total) + Lanes::load(token, sum)).store(total);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use magpie_random::Stream;

    /// Odd numbers of panels, and widths that are one, two or no multiple of sixteen or 32.
    const PANELS: [usize; 4] = [1, 2, 3, 6];
    const WIDTHS: [usize; 7] = [1, 15, 16, 17, 32, 33, 70];

    struct Product<'a>(&'a [Pack], &'a SplitMatrix, Option<&'a [f32]>, &'a mut [Pack], &'a mut [u32]);
    impl SimdTask for Product<'_> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd>(self, token: S) {
            let Product(x, matrix, start, out, finished) = self;
            let scratch = &mut SplitScratch::default();
            product(token, x, matrix, start, out, scratch, |at, values| {
                finished[at..at + values.len()].iter_mut().for_each(|n| *n += 1);
            });
        }
    }

    struct Outer<'a>(Amx, [&'a [Pack]; 2], [usize; 2], &'a mut [Pack], &'a mut SplitScratch);
    impl SimdTask for Outer<'_> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd>(self, token: S) {
            outer(token, self.0, self.1, self.2, self.3, self.4);
        }
    }

    /// The kind of numbers drawn: any, or whole ones, whose products and sums are exact in `bf16` and `f32`.
    #[derive(Clone, Copy, Debug)]
    enum Kind {
        Any,
        Whole,
    }

    fn numbers(n: usize, when: u64, kind: Kind) -> Vec<f32> {
        let mut draws = Stream::new(0, "tiled").draws(0, when);
        let draw = |_| match kind {
            Kind::Any => draws.normal(),
            Kind::Whole => draws.uniform(-9.0, 9.0).round(),
        };
        (0..n).map(draw).collect()
    }

    fn packs(n: usize, when: u64, kind: Kind) -> Vec<Pack> {
        numbers(n * LANES, when, kind).chunks(LANES).map(|c| Pack(c.try_into().unwrap())).collect()
    }

    /// The sum of products in `f64`, and the error bound of a sum of products with sixteen significant bits.
    fn dot(start: f32, terms: impl Iterator<Item = (f32, f32)>, kind: Kind) -> (f64, f64) {
        let (mut sum, mut size) = (f64::from(start), f64::from(start.abs()));
        for (a, b) in terms {
            let term = f64::from(a) * f64::from(b);
            sum += term;
            size += term.abs();
        }
        let tolerance = match kind {
            Kind::Any => 3.0 * 2_f64.powi(-16) * size,
            Kind::Whole => 0.0,
        };
        (sum, tolerance)
    }

    fn check_product(amx: Amx, kind: Kind, outputs: usize, inner: usize, panels: usize) {
        let x = packs(panels * inner, 1, kind);
        let (m, start) = (numbers(outputs * inner, 2, kind), numbers(outputs, 3, kind));
        for (transposed, start) in [(false, Some(&start[..])), (true, None)] {
            let mut matrix = SplitMatrix::new(amx, outputs, inner);
            // What was loaded before must not show.
            matrix.load(Isa::best(), &numbers(outputs * inner, 4, kind));
            if transposed {
                let turned: Vec<f32> = (0..m.len()).map(|i| m[i % outputs * inner + i / outputs]).collect();
                matrix.load_transposed(Isa::best(), &turned);
            } else {
                matrix.load(Isa::best(), &m);
            }
            let mut out = vec![Pack([f32::NAN; LANES]); panels * outputs];
            let mut finished = vec![0; out.len()];
            Isa::best().run(Product(&x, &matrix, start, &mut out, &mut finished));
            assert!(finished.iter().all(|&n| n == 1));
            for (i, pack) in out.iter().enumerate() {
                let (p, o) = (i / outputs, i % outputs);
                for lane in 0..LANES {
                    let terms = (0..inner).map(|k| (x[p * inner + k].0[lane], m[o * inner + k]));
                    let (want, tolerance) = dot(start.map_or(0.0, |s| s[o]), terms, kind);
                    let miss = (f64::from(pack.0[lane]) - want).abs();
                    assert!(
                        miss <= tolerance,
                        "{kind:?} {outputs} {inner} {panels}: {} {want}",
                        pack.0[lane]
                    );
                }
            }
        }
    }

    fn check_outer(amx: Amx, kind: Kind, a: usize, b: usize, panels: usize, scratch: &mut SplitScratch) {
        let (v, s) = (packs(panels * a, 4, kind), packs(panels * b, 5, kind));
        let groups = a.div_ceil(LANES);
        let mut sums = packs(b * groups, 6, kind);
        let before = sums.clone();
        Isa::best().run(Outer(amx, [&v, &s], [a, b], &mut sums, scratch));
        for i in 0..b {
            for j in 0..groups * LANES {
                let entry = |sums: &[Pack]| sums[i * groups + j / LANES].0[j % LANES];
                let terms = (0..panels * LANES).map(|r| {
                    let (p, lane) = (r / LANES, r % LANES);
                    (if j < a { v[p * a + j].0[lane] } else { 0.0 }, s[p * b + i].0[lane])
                });
                let (want, tolerance) = dot(entry(&before), terms, kind);
                let miss = (f64::from(entry(&sums)) - want).abs();
                assert!(miss <= tolerance, "{kind:?} {a} {b} {panels}: {} {want}", entry(&sums));
            }
        }
    }

    #[test]
    fn products_equal_their_scalar_twins() {
        let Some(amx) = Amx::detect() else { return };
        let mut scratch = SplitScratch::default();
        for kind in [Kind::Whole, Kind::Any] {
            for panels in PANELS {
                for outputs in WIDTHS {
                    for inner in WIDTHS {
                        check_product(amx, kind, outputs, inner, panels);
                        check_outer(amx, kind, outputs, inner, panels, &mut scratch);
                    }
                }
            }
        }
    }

    #[test]
    fn a_row_that_is_not_finite_shows_and_harms_no_other() {
        let Some(amx) = Amx::detect() else { return };
        let (outputs, inner) = (20, 40);
        for poison in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::from_bits(0x7fff_ffff)] {
            let mut x = packs(inner, 1, Kind::Any);
            x[33].0[5] = poison;
            let mut matrix = SplitMatrix::new(amx, outputs, inner);
            matrix.load(Isa::best(), &numbers(outputs * inner, 2, Kind::Any));
            let (mut out, mut finished) = (vec![Pack::default(); outputs], vec![0; outputs]);
            Isa::best().run(Product(&x, &matrix, None, &mut out, &mut finished));
            for pack in out {
                for lane in 0..LANES {
                    assert_eq!(pack.0[lane].is_finite(), lane != 5, "{poison}");
                }
            }
        }
    }

    #[test]
    fn numbers_too_small_to_be_normal_are_zero_in_a_product() {
        let Some(amx) = Amx::detect() else { return };
        let mut matrix = SplitMatrix::new(amx, 16, 16);
        matrix.load(Isa::best(), &[1e30; 256]);
        let (mut out, mut finished) = ([Pack([1.0; LANES]); 16], [0; 16]);
        let x = [Pack([f32::from_bits(0x007f_0000); LANES]); 16];
        Isa::best().run(Product(&x, &matrix, None, &mut out, &mut finished));
        assert_eq!(out, [Pack::default(); 16]);
    }
}
