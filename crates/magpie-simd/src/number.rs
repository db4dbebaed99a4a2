//! The operations that formulas use.

use std::fmt::Debug;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// A number or a vector of numbers, with the only arithmetic that physics and tasks use.
///
/// There are no branches per lane: compare to get a [`Mask`] and [`select`](Number::select).
pub trait Number:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + 'static
{
    /// Proof that the instruction set of this number is available; zero-sized.
    type Token: Copy;
    /// The type of one lane.
    type Scalar: Scalar;
    /// The result of a comparison.
    type Mask: Mask;
    /// The number's representation in memory.
    type Pack: PackOf<Self::Scalar>;

    /// The same value in every lane.
    fn splat(token: Self::Token, value: Self::Scalar) -> Self;
    /// Reads from memory.
    fn load(token: Self::Token, pack: &Self::Pack) -> Self;
    /// Writes to memory.
    fn store(self, pack: &mut Self::Pack);
    /// A mask that is true in lane i if bit i is set.
    fn mask(token: Self::Token, bits: u32) -> Self::Mask;
    /// The token with which this number was created.
    fn token(self) -> Self::Token;

    /// `self * factor + term`, fused if the hardware supports it.
    fn mul_add(self, factor: Self, term: Self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// The minimum.
    fn min(self, other: Self) -> Self;
    /// The maximum.
    fn max(self, other: Self) -> Self;
    /// Nearest integer, ties to even.
    fn round(self) -> Self;
    /// `self < other`.
    fn lt(self, other: Self) -> Self::Mask;
    /// `self > other`.
    fn gt(self, other: Self) -> Self::Mask;
    /// `self <= other`.
    fn le(self, other: Self) -> Self::Mask;
    /// `if_true` where the mask is true, `if_false` elsewhere.
    fn select(mask: Self::Mask, if_true: Self, if_false: Self) -> Self;

    /// The angle of the point (x, self) in (-π, π]; 0 at the origin.
    fn atan2(self, x: Self) -> Self;
    /// Arc cosine of a number in [-1, 1].
    fn acos(self) -> Self;
    /// Arc sine of a number in [-1, 1].
    fn asin(self) -> Self;
    /// Sine and cosine.
    fn sin_cos(self) -> (Self, Self);

    /// A constant of the same kind as `self`.
    #[inline(always)]
    fn constant(self, value: f64) -> Self {
        Self::splat(self.token(), Self::Scalar::from_f64(value))
    }

    /// Zero of the same kind as `self`.
    #[inline(always)]
    fn zero(self) -> Self {
        self.constant(0.0)
    }

    /// Clamps to [low, high]; NaN stays NaN. The number is the second operand because on x86 a minimum or maximum
    /// returns the second operand if either is NaN.
    #[inline(always)]
    fn clamp(self, low: Self, high: Self) -> Self {
        high.min(low.max(self))
    }

    /// -1, 0 or 1.
    #[inline(always)]
    fn signum_or_zero(self) -> Self {
        let (zero, one) = (self.zero(), self.constant(1.0));
        Self::select(self.gt(zero), one, Self::select(self.lt(zero), -one, zero))
    }

    /// `self` where the mask is true, zero elsewhere.
    #[inline(always)]
    fn masked(self, mask: Self::Mask) -> Self {
        Self::select(mask, self, self.zero())
    }
}

/// Truth values, one per lane.
pub trait Mask: Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self> {
    /// Whether any lane is true.
    fn any(self) -> bool;
    /// Lane i in bit i.
    fn bits(self) -> u32;
}

/// A single lane.
pub trait Scalar: Copy + Default + PartialEq + PartialOrd + Debug + Send + Sync + 'static {
    /// The distance from 1 to the next number.
    const EPSILON: f64;
    /// Rounds to this type.
    fn from_f64(value: f64) -> Self;
    /// Widens.
    fn to_f64(self) -> f64;
}

/// Memory for the lanes of one number.
pub trait PackOf<T>: Copy + Default + Debug + Send + Sync + 'static {
    /// The number of lanes.
    const LANES: usize;
    /// The lanes in order.
    fn lanes(&self) -> &[T];
    /// The lanes in order.
    fn lanes_mut(&mut self) -> &mut [T];
}

impl Scalar for f32 {
    const EPSILON: f64 = f32::EPSILON as f64;
    #[inline(always)]
    fn from_f64(value: f64) -> f32 {
        value as f32
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self.into()
    }
}

impl Scalar for f64 {
    const EPSILON: f64 = f64::EPSILON;
    #[inline(always)]
    fn from_f64(value: f64) -> f64 {
        value
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
}

impl PackOf<f64> for f64 {
    const LANES: usize = 1;
    fn lanes(&self) -> &[f64] {
        std::slice::from_ref(self)
    }
    fn lanes_mut(&mut self) -> &mut [f64] {
        std::slice::from_mut(self)
    }
}

impl Mask for bool {
    #[inline(always)]
    fn any(self) -> bool {
        self
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        self.into()
    }
}

impl Number for f64 {
    type Token = ();
    type Scalar = f64;
    type Mask = bool;
    type Pack = f64;

    #[inline(always)]
    fn splat((): (), value: f64) -> f64 {
        value
    }
    #[inline(always)]
    fn load((): (), pack: &f64) -> f64 {
        *pack
    }
    #[inline(always)]
    fn store(self, pack: &mut f64) {
        *pack = self;
    }
    #[inline(always)]
    fn mask((): (), bits: u32) -> bool {
        bits & 1 == 1
    }
    #[inline(always)]
    fn token(self) {}

    // Not fused: without the target feature, `mul_add` is a slow library call, and verification does not need the last
    // bit.
    #[inline(always)]
    fn mul_add(self, factor: f64, term: f64) -> f64 {
        self * factor + term
    }
    #[inline(always)]
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> f64 {
        f64::abs(self)
    }
    #[inline(always)]
    fn min(self, other: f64) -> f64 {
        f64::min(self, other)
    }
    #[inline(always)]
    fn max(self, other: f64) -> f64 {
        f64::max(self, other)
    }
    #[inline(always)]
    fn round(self) -> f64 {
        self.round_ties_even()
    }
    #[inline(always)]
    fn lt(self, other: f64) -> bool {
        self < other
    }
    #[inline(always)]
    fn gt(self, other: f64) -> bool {
        self > other
    }
    #[inline(always)]
    fn le(self, other: f64) -> bool {
        self <= other
    }
    #[inline(always)]
    fn clamp(self, low: f64, high: f64) -> f64 {
        if self.is_nan() { self } else { self.max(low).min(high) }
    }
    #[inline(always)]
    fn select(mask: bool, if_true: f64, if_false: f64) -> f64 {
        if mask { if_true } else { if_false }
    }
    #[inline(always)]
    fn atan2(self, x: f64) -> f64 {
        f64::atan2(self, x)
    }
    #[inline(always)]
    fn acos(self) -> f64 {
        f64::acos(self)
    }
    #[inline(always)]
    fn asin(self) -> f64 {
        f64::asin(self)
    }
    #[inline(always)]
    fn sin_cos(self) -> (f64, f64) {
        f64::sin_cos(self)
    }
}
