//! The numbers that magpie computes with.
//!
//! Three nouns. A [`Number`] is what a formula is written over: plain `f64` when we want proof, or [`Lanes`],
//! sixteen `f32` side by side, when we want speed. One formula serves both. A [`Pack`] is how sixteen lanes rest
//! in memory, the same bytes on every machine. An [`Isa`] is the instruction set that a computation runs on; it is
//! chosen once, at run time, at the outermost loop ([`Isa::run`]), and everything below it is inlined into code for
//! that instruction set.
//!
//! Sixteen lanes is a constant of the project and not a property of the machine: AVX-512 holds them in one
//! register, AVX2 in two, NEON in four. Because every operation used here is correctly rounded (no reciprocal or
//! square-root estimates) and products are fused wherever the hardware can, all instruction sets with FMA give the
//! same bits. The vector types themselves come from `fearless_simd`, so this crate has no `unsafe`.
//!
//! ```
//! use magpie_simd::{Isa, Number, Pack, Task, Lanes, Simd};
//!
//! /// Hypotenuse, written once for every kind of number.
//! #[inline(always)]
//! fn hypotenuse<N: Number>(a: N, b: N) -> N {
//!     a.mul_add(a, b * b).sqrt()
//! }
//!
//! struct Many<'a>(&'a mut Pack);
//! impl Task for Many<'_> {
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
pub use isa::{ISA_VARIABLE, Isa, Task, UnknownIsa};
pub use lanes::{LANES, Lanes, Pack};
pub use number::{Mask, Number, PackOf, Scalar};
pub use peak::peak_gflops;
pub use transcendental::Transcendental;
pub use transpose::{pack_rows, transpose, unpack_rows};
