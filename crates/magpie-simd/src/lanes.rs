//! Sixteen lanes of `f32`.

use fearless_simd::{Select, Simd, SimdBase, SimdFloat, SimdMask, f32x16, mask32x16};

use crate::elementary;
use crate::number::{Mask, Number, PackOf};

/// The number of worlds, rows or samples that are computed in parallel.
pub const LANES: usize = 16;

/// Sixteen lanes in registers of the instruction set `S`.
pub type Lanes<S> = f32x16<S>;

/// Sixteen lanes in memory, with the same bytes for every instruction set. Aligned to a cache line.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C, align(64))]
pub struct Pack(pub [f32; LANES]);

impl PackOf<f32> for Pack {
    const LANES: usize = LANES;
    #[inline(always)]
    fn lanes(&self) -> &[f32] {
        &self.0
    }
    #[inline(always)]
    fn lanes_mut(&mut self) -> &mut [f32] {
        &mut self.0
    }
}

impl<S: Simd> Mask for mask32x16<S> {
    #[inline(always)]
    fn any(self) -> bool {
        self.any_true()
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        self.to_bitmask() as u32
    }
}

impl<S: Simd> Number for f32x16<S> {
    type Token = S;
    type Scalar = f32;
    type Mask = mask32x16<S>;
    type Pack = Pack;

    #[inline(always)]
    fn splat(token: S, value: f32) -> Self {
        <Self as SimdBase<S>>::splat(token, value)
    }
    #[inline(always)]
    fn load(token: S, pack: &Pack) -> Self {
        Self::load_array_ref(token, &pack.0)
    }
    #[inline(always)]
    fn store(self, pack: &mut Pack) {
        self.store_array(&mut pack.0);
    }
    #[inline(always)]
    fn mask(token: S, bits: u32) -> Self::Mask {
        mask32x16::from_bitmask(token, bits.into())
    }
    #[inline(always)]
    fn token(self) -> S {
        self.simd
    }

    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        SimdFloat::mul_add(self, factor, term)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        SimdFloat::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        SimdBase::abs(self)
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        SimdBase::min(self, other)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        SimdBase::max(self, other)
    }
    #[inline(always)]
    fn round(self) -> Self {
        self.round_ties_even()
    }
    #[inline(always)]
    fn lt(self, other: Self) -> Self::Mask {
        self.simd_lt(other)
    }
    #[inline(always)]
    fn gt(self, other: Self) -> Self::Mask {
        self.simd_gt(other)
    }
    #[inline(always)]
    fn le(self, other: Self) -> Self::Mask {
        self.simd_le(other)
    }
    #[inline(always)]
    fn select(mask: Self::Mask, if_true: Self, if_false: Self) -> Self {
        mask.select(if_true, if_false)
    }
    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        elementary::atan2(self, x)
    }
    #[inline(always)]
    fn acos(self) -> Self {
        elementary::acos(self)
    }
    #[inline(always)]
    fn asin(self) -> Self {
        elementary::asin(self)
    }
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        elementary::sin_cos(self)
    }
}
