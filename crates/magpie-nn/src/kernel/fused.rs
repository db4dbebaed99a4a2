//! The two matrix products of a layer, in fused multiply-adds.
//!
//! The rows of a batch are processed in *panels* of sixteen: `[panel][feature]`, one [`Pack`] per feature, one lane per
//! row.
//!
//! [`product`] computes a layer, forwards with W and backwards with Wᵀ: `out[p][o] = start[o] + Σₖ x[p][k] m[o][k]`.
//! Vectors run over rows and the matrix is broadcast, from tiles in which the scalars of one k are contiguous
//! ([`Tiles`]). Two panels by twelve outputs fill the 24 accumulators that AVX-512 has room for; two panels of 256
//! features are 32 KiB and stay in the first-level cache.
//!
//! [`outer`] computes the gradient of the weights: `sum[b][a] += Σᵣ s[r][b] v[r][a]` over the rows of a block. Here
//! vectors run over a, so that one operand must be transposed first ([`turn`]); the other is broadcast directly from
//! its panels. The accumulators start from zero in every block, because sums of sums lose fewer digits.
//!
//! Every sum runs over k, or over r, in order, with one rounding per term. Therefore the tiling does not change a bit
//! of the result, and instruction sets with FMA agree.

use magpie_simd::{LANES, Lanes, Number, Pack, Simd, transpose};

/// Whether the sixteen lanes are one register, of which there are then 32. Otherwise tiles are smaller.
#[inline(always)]
fn wide<S: Simd>() -> bool {
    <S::f32s as fearless_simd::SimdBase<S>>::LEN >= LANES
}

/// Divides `n` columns into (start, width) with widths of 12, 8, 6, 4, 2 and 1, preferring two eights to a narrow
/// remainder.
fn cuts(n: usize) -> impl Iterator<Item = (usize, usize)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let left = n - start;
        let width = match left {
            0 => return None,
            16 => 8,
            12.. => 12,
            8.. => 8,
            6.. => 6,
            4.. => 4,
            2.. => 2,
            1 => 1,
        };
        start += width;
        Some((start - width, width))
    })
}

/// A matrix `m[o][k]` in the order in which [`product`] reads it: for each group of outputs `[k][o of the group]`.
#[derive(Debug, Clone)]
pub struct Tiles {
    outputs: usize,
    inner: usize,
    values: Vec<f32>,
}

impl Tiles {
    /// Memory for a matrix of `outputs` rows of length `inner`.
    pub fn new(outputs: usize, inner: usize) -> Tiles {
        Tiles { outputs, inner, values: vec![0.0; outputs * inner] }
    }

    /// Loads `m`, stored `[o][k]`.
    pub fn load(&mut self, m: &[f32]) {
        self.fill(|tile, start, width, inner| {
            for o in 0..width {
                let row = &m[(start + o) * inner..][..inner];
                for (cell, &value) in tile[o..].iter_mut().step_by(width).zip(row) {
                    *cell = value;
                }
            }
        });
    }

    /// Loads the transpose of `m`, stored `[k][o]`.
    pub fn load_transposed(&mut self, m: &[f32]) {
        let outputs = self.outputs;
        self.fill(|tile, start, width, inner| {
            for (k, cells) in tile.chunks_exact_mut(width).enumerate().take(inner) {
                cells.copy_from_slice(&m[k * outputs + start..][..width]);
            }
        });
    }

    fn fill(&mut self, mut tile: impl FnMut(&mut [f32], usize, usize, usize)) {
        for (start, width) in cuts(self.outputs) {
            tile(&mut self.values[start * self.inner..][..width * self.inner], start, width, self.inner);
        }
    }
}

/// Computes `out[p][o] = start[o] + Σₖ x[p][k] m[o][k]`. After a few outputs of a panel are written, `finish(index of
/// the first in out, the outputs)` can process them while they are in the first-level cache.
#[inline(always)]
pub fn product<S: Simd>(
    token: S,
    x: &[Pack],
    tiles: &Tiles,
    start: Option<&[f32]>,
    out: &mut [Pack],
    mut finish: impl FnMut(usize, &mut [Pack]),
) {
    let (outputs, inner) = (tiles.outputs, tiles.inner);
    let panels = out.len() / outputs;
    assert!(x.len() == panels * inner && out.len() == panels * outputs, "panels of the wrong width");
    let zeros = [0.0; 12];
    let mut panel = 0;
    while panel < panels {
        let count = if wide::<S>() { (panels - panel).min(2) } else { 1 };
        for (first, width) in cuts(outputs) {
            let tile = &tiles.values[first * inner..][..width * inner];
            let start = start.map_or(&zeros[..width], |s| &s[first..first + width]);
            let at = panel * outputs + first;
            let mut job =
                TileJob { token, x: &x[panel * inner..], inner, tile, start, out: &mut *out, at, outputs };
            match (count, width) {
                (2, 12) => job.run::<2, 12, 12, 0>(),
                (2, 8) => job.run::<2, 8, 8, 0>(),
                (2, 6) => job.run::<2, 6, 6, 0>(),
                (2, 4) => job.run::<2, 4, 4, 0>(),
                (2, 2) => job.run::<2, 2, 2, 0>(),
                (2, _) => job.run::<2, 1, 1, 0>(),
                (_, 12) if wide::<S>() => job.run::<1, 12, 12, 0>(),
                (_, 8) if wide::<S>() => job.run::<1, 8, 8, 0>(),
                (_, 12) => {
                    job.run::<1, 6, 12, 0>();
                    job.run::<1, 6, 12, 6>();
                }
                (_, 8) => {
                    job.run::<1, 4, 8, 0>();
                    job.run::<1, 4, 8, 4>();
                }
                (_, 6) => job.run::<1, 6, 6, 0>(),
                (_, 4) => job.run::<1, 4, 4, 0>(),
                (_, 2) => job.run::<1, 2, 2, 0>(),
                (_, _) => job.run::<1, 1, 1, 0>(),
            }
            for p in 0..count {
                let at = at + p * outputs;
                finish(at, &mut out[at..at + width]);
            }
        }
        panel += count;
    }
}

/// One group of outputs for one or two panels.
struct TileJob<'a, S> {
    token: S,
    x: &'a [Pack],
    inner: usize,
    tile: &'a [f32],
    start: &'a [f32],
    out: &'a mut [Pack],
    at: usize,
    outputs: usize,
}

impl<S: Simd> TileJob<'_, S> {
    /// `P` panels by `O` outputs, from column `FROM` of a tile of width `W`.
    #[inline(always)]
    fn run<const P: usize, const O: usize, const W: usize, const FROM: usize>(&mut self) {
        let token = self.token;
        let mut sums = [[Lanes::splat(token, 0.0); O]; P];
        for o in 0..O {
            let start = Lanes::splat(token, self.start[FROM + o]);
            for sums in &mut sums {
                sums[o] = start;
            }
        }
        let panels: [&[Pack]; P] = std::array::from_fn(|p| &self.x[p * self.inner..][..self.inner]);
        let rows = self.tile.as_chunks::<W>().0;
        assert!(rows.len() == self.inner);
        for (k, row) in rows.iter().enumerate() {
            let x: [Lanes<S>; P] = std::array::from_fn(|p| Lanes::load(token, &panels[p][k]));
            for o in 0..O {
                let weight = Lanes::splat(token, row[FROM + o]);
                for p in 0..P {
                    sums[p][o] = x[p].mul_add(weight, sums[p][o]);
                }
            }
        }
        for (p, sums) in sums.into_iter().enumerate() {
            let out = &mut self.out[self.at + p * self.outputs + FROM..][..O];
            for (sum, pack) in sums.into_iter().zip(out) {
                sum.store(pack);
            }
        }
    }
}

/// The number of packs in a strip of a transposed operand: as many as are multiplied at once, so that a strip is read
/// sequentially.
#[inline(always)]
fn strip_packs<S: Simd>() -> usize {
    if wide::<S>() { 2 } else { 1 }
}

/// A plain loop: a closure over sixteen registers is not always inlined.
#[inline(always)]
fn load_all<S: Simd>(token: S, packs: &[Pack; LANES]) -> [Lanes<S>; LANES] {
    let mut lanes = [Lanes::splat(token, 0.0); LANES];
    for i in 0..LANES {
        lanes[i] = Lanes::load(token, &packs[i]);
    }
    lanes
}

/// Transposes panels into rows for [`outer`]: strips of `[row][pack]`, [`strip_packs`] wide (the last one may be
/// narrower). Rows are padded with zeros to whole packs. A strip of 128 rows and two packs is 16 KiB and stays in the
/// first-level cache.
#[inline(always)]
fn turn<S: Simd>(token: S, panels: &[Pack], width: usize, turned: &mut [Pack]) {
    let rows = panels.len() / width * LANES;
    let (groups, packs) = (width.div_ceil(LANES), strip_packs::<S>());
    for (p, panel) in panels.chunks_exact(width).enumerate() {
        for (group, features) in panel.chunks(LANES).enumerate() {
            let strip = group / packs;
            let strip_width = packs.min(groups - strip * packs);
            let first = strip * packs * rows + p * LANES * strip_width + group % packs;
            let lines = match features.first_chunk() {
                Some(whole) => transpose(load_all(token, whole)),
                None => {
                    let mut padded = [Pack::default(); LANES];
                    padded[..features.len()].copy_from_slice(features);
                    transpose(load_all(token, &padded))
                }
            };
            let out = &mut turned[first..][..(LANES - 1) * strip_width + 1];
            for lane in 0..LANES {
                lines[lane].store(&mut out[lane * strip_width]);
            }
        }
    }
}

/// Computes `sums[b][a] += Σᵣ s[r][b] v[r][a]` over the rows of `s` and `v`, panels of `width` and `turned_width`
/// features. The rows of `sums` are padded to whole packs. `turned` is memory for the transpose of v.
#[inline(always)]
pub fn outer<S: Simd>(
    token: S,
    [v, s]: [&[Pack]; 2],
    [turned_width, width]: [usize; 2],
    sums: &mut [Pack],
    turned: &mut Vec<Pack>,
) {
    let rows = s.len() / width * LANES;
    let groups = turned_width.div_ceil(LANES);
    assert!(
        v.len() / turned_width * LANES == rows && sums.len() == groups * width,
        "operands differ in length"
    );
    if turned.len() < groups * rows {
        turned.resize(groups * rows, Pack::default());
    }
    let turned = &mut turned[..groups * rows];
    turn(token, v, turned_width, turned);
    for group in (0..groups).step_by(strip_packs::<S>()) {
        let strip_width = strip_packs::<S>().min(groups - group);
        let strip = &turned[group * rows..][..strip_width * rows];
        for (first, count) in cuts(width) {
            let mut job = OuterJob { token, strip, panels: s, width, group, groups, sums: &mut *sums };
            match (strip_width, count) {
                (2, 12) => job.run::<2, 12>(first),
                (2, 8) => job.run::<2, 8>(first),
                (2, 6) => job.run::<2, 6>(first),
                (2, 4) => job.run::<2, 4>(first),
                (2, 2) => job.run::<2, 2>(first),
                (2, _) => job.run::<2, 1>(first),
                (_, _) => job.narrow(first, count),
            }
        }
    }
}

/// A strip of v times a few features of s.
struct OuterJob<'a, S> {
    token: S,
    strip: &'a [Pack],
    panels: &'a [Pack],
    width: usize,
    group: usize,
    groups: usize,
    sums: &'a mut [Pack],
}

impl<S: Simd> OuterJob<'_, S> {
    /// A strip of one pack times `count` features, at most six at once, which fills sixteen registers of eight lanes.
    #[inline(always)]
    fn narrow(&mut self, first: usize, count: usize) {
        let mut done = 0;
        while done < count {
            let step = match count - done {
                6.. => 6,
                4.. => 4,
                2.. => 2,
                _ => 1,
            };
            match step {
                6 => self.run::<1, 6>(first + done),
                4 => self.run::<1, 4>(first + done),
                2 => self.run::<1, 2>(first + done),
                _ => self.run::<1, 1>(first + done),
            }
            done += step;
        }
    }

    /// A strip of `A` packs times `B` features, starting with `first`.
    #[inline(always)]
    fn run<const A: usize, const B: usize>(&mut self, first: usize) {
        let token = self.token;
        let mut sums = [[Lanes::splat(token, 0.0); A]; B];
        let rows = self.strip.as_chunks::<A>().0;
        for (panel, rows) in self.panels.chunks_exact(self.width).zip(rows.as_chunks::<LANES>().0) {
            let features: &[Pack] = &panel[first..first + B];
            for (lane, row) in rows.iter().enumerate() {
                let v: [Lanes<S>; A] = std::array::from_fn(|a| Lanes::load(token, &row[a]));
                for b in 0..B {
                    let s = Lanes::splat(token, features[b].0[lane]);
                    for a in 0..A {
                        sums[b][a] = v[a].mul_add(s, sums[b][a]);
                    }
                }
            }
        }
        for (b, sums) in sums.into_iter().enumerate() {
            let totals = &mut self.sums[(first + b) * self.groups + self.group..][..A];
            for (sum, total) in sums.into_iter().zip(totals) {
                (Lanes::load(token, total) + sum).store(total);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use magpie_random::Stream;
    use magpie_simd::{Isa, SimdTask};

    fn packs(n: usize, when: u64) -> Vec<Pack> {
        let mut draws = Stream::new(0, "kernel").draws(0, when);
        (0..n).map(|_| Pack(std::array::from_fn(|_| draws.normal()))).collect()
    }

    fn numbers(n: usize, when: u64) -> Vec<f32> {
        let mut draws = Stream::new(0, "kernel").draws(1, when);
        (0..n).map(|_| draws.normal()).collect()
    }

    /// One rounding per term on instruction sets with FMA, two otherwise.
    fn multiply_add(isa: Isa, a: f32, b: f32, c: f32) -> f32 {
        if isa.has_fma() { a.mul_add(b, c) } else { a * b + c }
    }

    struct Product<'a>(&'a [Pack], &'a Tiles, Option<&'a [f32]>, &'a mut [Pack], &'a mut [u32]);
    impl SimdTask for Product<'_> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd>(self, token: S) {
            let finished = self.4;
            product(token, self.0, self.1, self.2, self.3, |at, values| {
                finished[at..at + values.len()].iter_mut().for_each(|n| *n += 1);
            });
        }
    }

    struct Outer<'a>([&'a [Pack]; 2], [usize; 2], &'a mut [Pack], &'a mut Vec<Pack>);
    impl SimdTask for Outer<'_> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd>(self, token: S) {
            outer(token, self.0, self.1, self.2, self.3);
        }
    }

    /// Widths that use every tile, and their remainders.
    const WIDTHS: [usize; 12] = [1, 2, 3, 5, 6, 11, 12, 16, 17, 28, 45, 100];

    #[test]
    fn cuts_cover_every_column_once() {
        for n in 0..300 {
            let mut next = 0;
            for (start, width) in cuts(n) {
                assert!(start == next && [1, 2, 4, 6, 8, 12].contains(&width));
                next += width;
            }
            assert_eq!(next, n);
        }
    }

    #[test]
    fn product_equals_its_scalar_twin_bit_for_bit() {
        for isa in Isa::available() {
            for outputs in WIDTHS {
                for (inner, panels) in [(1, 1), (7, 2), (18, 3), (33, 4)] {
                    let x = packs(panels * inner, 1);
                    let (m, start) = (numbers(outputs * inner, 2), numbers(outputs, 3));
                    let mut tiles = Tiles::new(outputs, inner);
                    tiles.load(&m);
                    let mut out = vec![Pack::default(); panels * outputs];
                    let mut finished = vec![0; out.len()];
                    isa.run(Product(&x, &tiles, Some(&start), &mut out, &mut finished));
                    assert!(finished.iter().all(|&n| n == 1));
                    for (i, pack) in out.iter().enumerate() {
                        let (p, o) = (i / outputs, i % outputs);
                        for lane in 0..LANES {
                            let want = (0..inner).fold(start[o], |sum, k| {
                                multiply_add(isa, x[p * inner + k].0[lane], m[o * inner + k], sum)
                            });
                            assert_eq!(pack.0[lane], want, "{isa} {outputs} {inner} {panels}");
                        }
                    }

                    let transposed: Vec<f32> =
                        (0..m.len()).map(|i| m[i % outputs * inner + i / outputs]).collect();
                    let mut again = Tiles::new(outputs, inner);
                    again.load_transposed(&transposed);
                    assert_eq!(tiles.values, again.values);
                }
            }
        }
    }

    #[test]
    fn outer_equals_its_scalar_twin_bit_for_bit() {
        for isa in Isa::available() {
            for a in WIDTHS {
                for b in WIDTHS {
                    let panels = 3;
                    let (v, s) = (packs(panels * a, 4), packs(panels * b, 5));
                    let groups = a.div_ceil(LANES);
                    let mut sums = packs(b * groups, 6);
                    let before = sums.clone();
                    // Memory left over from an operand of another size.
                    let mut turned = vec![Pack([f32::NAN; LANES]); 3];
                    isa.run(Outer([&v, &s], [a, b], &mut sums, &mut turned));
                    for i in 0..b {
                        for j in 0..groups * LANES {
                            let entry = |sums: &[Pack]| sums[i * groups + j / LANES].0[j % LANES];
                            let sum = (0..panels * LANES).fold(0.0, |sum, r| {
                                let (p, lane) = (r / LANES, r % LANES);
                                let value = if j < a { v[p * a + j].0[lane] } else { 0.0 };
                                multiply_add(isa, value, s[p * b + i].0[lane], sum)
                            });
                            assert_eq!(entry(&sums), entry(&before) + sum, "{isa} {a} {b}");
                        }
                    }
                }
            }
        }
    }
}
