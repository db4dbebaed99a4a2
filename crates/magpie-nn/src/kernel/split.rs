//! `f32` as a sum of two `bf16`, in the tiles that AMX multiplies.
//!
//! ```text
//! a = hi + lo + rest,   a b ≈ hi hi' + hi lo' + lo hi'
//! ```
//!
//! A `bf16` is the upper half of an `f32`: eight digits. hi is a rounded to it, so lo = a - hi is exact and at most 2⁻⁸
//! of a; lo is cut to its first eight digits. What is lost of a product, lo lo' and the rests, stays below
//! 3 · 2⁻¹⁶ of it and has no preferred sign. An infinity or NaN gives a lo that is NaN, so that neither goes unseen.
//! Numbers that round beyond the largest `bf16`, 3.39e38, count as infinite; a lo below 2⁻¹²⁶ is dropped.
//!
//! Tiles want their numbers in pairs that are multiplied and added together. Because a sum may run over k in any order
//! that both operands agree on, any two packs can make a pair: here a number of one pack and the one of another in the
//! same lane, without any shuffle ([`pair`]). Sixteen pairs of packs make a tile, as they are or turned.

use fearless_simd::{Bytes, SimdBase, u32x16};
use magpie_simd::{LANES, Lanes, Number, Pack, Simd, transpose};

/// Lines of a tile.
pub const LINES: usize = 16;

/// How many k a tile has: two for each of its sixteen lanes or lines.
pub const DEPTH: usize = 2 * LANES;

/// Sixteen lanes of two `bf16`, the first of a pair in the lower half.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Line([u32; LANES]);

/// A tile of split numbers. The order of its fields is what the tile loop reads.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct SplitTile {
    hi: [Line; LINES],
    lo: [Line; LINES],
}

impl SplitTile {
    /// All zeros.
    pub const ZERO: SplitTile = SplitTile { hi: [Line([0; LANES]); LINES], lo: [Line([0; LANES]); LINES] };

    /// Line i is made of the i-th packs of both; there are zeros where packs are missing.
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

    /// Likewise, turned: lane i is made of the i-th packs of both.
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

/// Hands over whole arrays, padded copies if need be.
#[inline(always)]
fn with_sixteen(first: &[Pack], second: &[Pack], work: impl FnOnce(&[Pack; LINES], &[Pack; LINES])) {
    let mut padded = [[Pack::default(); LINES]; 2];
    match (first.first_chunk(), second.first_chunk()) {
        (Some(first), Some(second)) => work(first, second),
        _ => {
            for (padded, given) in padded.iter_mut().zip([first, second]) {
                padded[..given.len()].copy_from_slice(given);
            }
            work(&padded[0], &padded[1]);
        }
    }
}

/// hi and lo of two numbers a lane, the first number in the lower half.
#[inline(always)]
fn pair<S: Simd>(numbers: [Lanes<S>; 2]) -> [u32x16<S>; 2] {
    const UPPER: u32 = 0xffff_0000;
    /// Half of the last digit that stays.
    const HALF: u32 = 0x8000;
    let upper = |bits: u32x16<S>| bits & UPPER;
    let [first, second] = numbers;
    let [hi_first, hi_second] = numbers.map(|number| upper(number.bitcast::<u32x16<S>>() + HALF));
    let lo_first: u32x16<S> = (first - hi_first.bitcast::<Lanes<S>>()).bitcast();
    let lo_second: u32x16<S> = (second - hi_second.bitcast::<Lanes<S>>()).bitcast();
    [hi_first >> 16 | hi_second, lo_first >> 16 | upper(lo_second)]
}
