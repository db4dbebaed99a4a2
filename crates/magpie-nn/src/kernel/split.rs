//! `f32` as a sum of two `bf16`, in the tiles that AMX multiplies.
//!
//! ```text
//! a = hi + lo + rest,   a b ≈ hi hi' + hi lo' + lo hi'
//! ```
//!
//! A `bf16` is the upper half of an `f32`, with eight significant bits. hi is a rounded to it, so that lo = a - hi is
//! exact and at most 2⁻⁸ of a; lo is truncated to its first eight bits. The neglected part of a product, lo lo' and the
//! rests, stays below 3 · 2⁻¹⁶ of it and has no preferred sign. An infinity or NaN gives a lo that is NaN, so that
//! neither is lost. Numbers that round beyond the largest `bf16`, 3.39e38, become infinite; a lo below 2⁻¹²⁶ is
//! dropped.
//!
//! In tiles, numbers are paired, multiplied and summed together. Because a sum may run over k in any order that both
//! operands share, any two packs can form a pair: here, numbers of two packs in the same lane, which needs no shuffle
//! ([`pair`]). Sixteen pairs of packs make a tile, as they are or transposed.

use fearless_simd::{Bytes, SimdBase, u32x16};
use magpie_simd::{LANES, Lanes, Number, Pack, Simd, transpose};

/// Lines of a tile.
pub const LINES: usize = 16;

/// The number of k in a tile: two for each of its sixteen lanes or lines.
pub const DEPTH: usize = 2 * LANES;

/// Sixteen lanes of two `bf16`, the first of a pair in the lower half.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Line([u32; LANES]);

/// A tile of split numbers. The tile loop relies on the order of its fields.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct SplitTile {
    hi: [Line; LINES],
    lo: [Line; LINES],
}

impl SplitTile {
    /// All zeros.
    pub const ZERO: SplitTile = SplitTile { hi: [Line([0; LANES]); LINES], lo: [Line([0; LANES]); LINES] };

    /// Line i holds the i-th packs of both; missing packs are zeros.
    #[inline(always)]
    pub fn fill<S: Simd>(&mut self, token: S, first: &[Pack], second: &[Pack]) {
        with_sixteen(
            first,
            second,
            #[inline(always)]
            |first, second| {
                for line in 0..LINES {
                    let [hi, lo] = pair([&first[line], &second[line]].map(|p| Lanes::load(token, p)));
                    hi.store_array(&mut self.hi[line].0);
                    lo.store_array(&mut self.lo[line].0);
                }
            },
        );
    }

    /// Transposed: lane i holds the i-th packs of both.
    #[inline(always)]
    pub fn fill_turned<S: Simd>(&mut self, token: S, first: &[Pack], second: &[Pack]) {
        with_sixteen(
            first,
            second,
            #[inline(always)]
            |first, second| {
                let zero = <Lanes<S> as Number>::splat(token, 0.0);
                let (mut hi, mut lo) = ([zero; LANES], [zero; LANES]);
                for lane in 0..LANES {
                    let [upper, lower] = pair([&first[lane], &second[lane]].map(|p| Lanes::load(token, p)));
                    (hi[lane], lo[lane]) = (upper.bitcast(), lower.bitcast());
                }
                for (lanes, lines) in [(hi, &mut self.hi), (lo, &mut self.lo)] {
                    let lanes = transpose(lanes);
                    for line in 0..LINES {
                        let bits: u32x16<S> = lanes[line].bitcast();
                        bits.store_array(&mut lines[line].0);
                    }
                }
            },
        );
    }
}

/// Passes whole arrays, padded copies if necessary.
#[inline(always)]
fn with_sixteen(first: &[Pack], second: &[Pack], work: impl FnOnce(&[Pack; LINES], &[Pack; LINES])) {
    match (first.first_chunk(), second.first_chunk()) {
        (Some(first), Some(second)) => work(first, second),
        _ => {
            let mut padded = [[Pack::default(); LINES]; 2];
            for (padded, given) in padded.iter_mut().zip([first, second]) {
                padded[..given.len()].copy_from_slice(given);
            }
            work(&padded[0], &padded[1]);
        }
    }
}

/// hi and lo of two numbers per lane, the first number in the lower half.
#[inline(always)]
fn pair<S: Simd>(numbers: [Lanes<S>; 2]) -> [u32x16<S>; 2] {
    const UPPER: u32 = 0xffff_0000;
    /// Half a unit of the last bit that is kept.
    const HALF: u32 = 0x8000;
    let upper = |bits: u32x16<S>| bits & UPPER;
    let [first, second] = numbers;
    let [hi_first, hi_second] = numbers.map(|number| upper(number.bitcast::<u32x16<S>>() + HALF));
    let lo_first: u32x16<S> = (first - hi_first.bitcast::<Lanes<S>>()).bitcast();
    let lo_second: u32x16<S> = (second - hi_second.bitcast::<Lanes<S>>()).bitcast();
    [hi_first >> 16 | hi_second, lo_first >> 16 | upper(lo_second)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use magpie_random::Stream;
    use magpie_simd::{Isa, SimdTask};

    struct Fill<'a>(&'a [Pack], &'a [Pack], bool, &'a mut SplitTile);
    impl SimdTask for Fill<'_> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd>(self, token: S) {
            let Fill(first, second, turned, tile) = self;
            match turned {
                false => tile.fill(token, first, second),
                true => tile.fill_turned(token, first, second),
            }
        }
    }

    /// hi and lo of one number, by definition.
    fn twin(a: f32) -> [u32; 2] {
        let hi = f32::from_bits(a.to_bits().wrapping_add(0x8000) & 0xffff_0000);
        [hi.to_bits() >> 16, (a - hi).to_bits() >> 16]
    }

    fn value(half: u32) -> f32 {
        f32::from_bits(half << 16)
    }

    #[test]
    fn tiles_hold_what_the_scalar_twin_splits() {
        let mut draws = Stream::new(0, "split").draws(0, 0);
        let mut packs = || -> [Pack; LINES] {
            std::array::from_fn(|_| {
                Pack(std::array::from_fn(|_| draws.normal() * 10_f32.powf(draws.uniform(-30.0, 30.0))))
            })
        };
        let (first, second) = (packs(), packs());
        for isa in Isa::available() {
            for (counts, turned) in
                [(16, 16), (16, 3), (5, 0), (0, 0)].into_iter().zip([false, true].repeat(4))
            {
                let mut tile = SplitTile { hi: [Line([7; LANES]); LINES], lo: [Line([7; LANES]); LINES] };
                isa.run(Fill(&first[..counts.0], &second[..counts.1], turned, &mut tile));
                for pack in 0..LINES {
                    for lane in 0..LANES {
                        let number = |packs: &[Pack], n| if pack < n { packs[pack].0[lane] } else { 0.0 };
                        let a = twin(number(&first, counts.0));
                        let b = twin(number(&second, counts.1));
                        let (line, lane) = if turned { (lane, pack) } else { (pack, lane) };
                        let got = [tile.hi[line].0[lane], tile.lo[line].0[lane]];
                        assert_eq!(got, [a[0] | b[0] << 16, a[1] | b[1] << 16], "{isa} {counts:?} {turned}");
                    }
                }
            }
        }
    }

    #[test]
    fn two_halves_miss_at_most_sixteen_digits() {
        let mut draws = Stream::new(0, "split").draws(1, 0);
        let mut sum = 0.0;
        for _ in 0..100_000 {
            let a = draws.normal();
            let [hi, lo] = twin(a).map(|half| f64::from(value(half)));
            let rest = f64::from(a) - hi - lo;
            assert!(rest.abs() <= f64::from(a.abs()) * 2_f64.powi(-16), "{a}: {hi} {lo}");
            assert!(lo.abs() <= f64::from(a.abs()) * 2_f64.powi(-8));
            sum += rest / f64::from(a);
        }
        assert!(sum.abs() / 1e5 < 2_f64.powi(-22), "rests lean to one side: {sum}");
    }

    #[test]
    fn what_is_not_finite_stays_so() {
        let odd = [0x7fff_ffff, 0xffff_ffff, 0x7f80_0001, 0xff80_8000, 0x7fff_8000].map(f32::from_bits);
        for a in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX].into_iter().chain(odd) {
            let [_, lo] = twin(a).map(value);
            assert!(!lo.is_finite(), "{a} {lo}");
        }
        assert_eq!(twin(0.0), [0, 0]);
        assert_eq!(twin(-0.0), [0x8000, 0]);
    }
}
