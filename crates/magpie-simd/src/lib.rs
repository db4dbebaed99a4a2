//! The numeric types of magpie: scalars, SIMD lanes and instruction sets.
//!
//! There are three main types. A [`Number`] is what formulas are written over: either `f64`, for verification, or
//! [`Lanes`], sixteen `f32` in parallel, for speed. A [`Pack`] holds sixteen lanes in memory, with the same bytes on
//! every machine. An [`Isa`] is the instruction set of a computation; it is chosen once, at run time, at the outermost
//! loop ([`Isa::run`]), and everything below is inlined into code for that instruction set.
//!
//! The number of lanes is a constant of the project, not a property of the machine: AVX-512 holds sixteen in one
//! register, AVX2 in two, NEON in four. All operations are correctly rounded (there are no reciprocal or square-root
//! estimates) and use fused multiply-add if the hardware has it, so that all instruction sets with FMA give the same
//! bits. The vector types come from `fearless_simd`, so that this crate has no `unsafe`.
//!
//! ```
//! use magpie_simd::{Isa, Number, Pack, SimdTask, Lanes, Simd};
//!
//! /// Hypotenuse, written once for every kind of number.
//! #[inline(always)]
//! fn hypotenuse<N: Number>(a: N, b: N) -> N {
//!     a.mul_add(a, b * b).sqrt()
//! }
//!
//! struct Many<'a>(&'a mut Pack);
//! impl SimdTask for Many<'_> {
//!     type Output = ();
//!     #[inline(always)]
//!     fn run<S: Simd>(self, token: S) {
//!         let three = Lanes::splat(token, 3.0);
//!         hypotenuse(three, Lanes::load(token, self.0)).store(self.0);
//!     }
//! }
//!
//! let mut pack = Pack([4.0; 16]);
//! Isa::best().run(Many(&mut pack));
//! assert_eq!(pack.0, [5.0; 16]);
//! assert_eq!(hypotenuse(3.0_f64, 4.0), 5.0);
//! ```

mod elementary;
mod isa;
mod lanes;
mod number;
mod peak;
mod transcendental;
mod transpose;

pub use fearless_simd::Simd;
pub use isa::{ISA_VARIABLE, Isa, SimdTask, UnknownIsa};
pub use lanes::{LANES, Lanes, Pack};
pub use number::{Mask, Number, PackOf, Scalar};
pub use peak::peak_gflops;
pub use transcendental::Transcendental;
pub use transpose::{pack_rows, transpose, unpack_rows};
