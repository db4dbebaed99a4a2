//! The names of kernels, and which this machine has.

use std::fmt;
use std::str::FromStr;

use magpie_simd::Isa;

use super::amx::Amx;

/// How matrices are multiplied on this machine, and the instruction set of all else.
///
/// An [`Isa`] is a kernel: products are fused multiply-adds of `f32`, and all instruction sets with FMA give the same
/// bits. `amx` multiplies on the matrix unit of recent Intel processors, about twice as fast as a whole, with numbers
/// split into two `bf16`: sixteen digits instead of twenty-four in each product, summed in `f32`. It gives other bits
/// than the rest, but the same ones on each machine that has it and for each number of threads. An infinity or NaN
/// on its way through `amx` comes out as one or the other.
///
/// Values come only from [`Kernel::best`], [`Kernel::available`], an [`Isa`] and parsing, which ask the machine.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Kernel {
    pub(super) isa: Isa,
    pub(super) amx: Option<Amx>,
}

impl Kernel {
    /// The fastest one.
    pub fn best() -> Kernel {
        // Who asks for an instruction set wants its bits.
        let amx = if matches!(Isa::chosen(), Ok(None)) { Amx::detect() } else { None };
        Kernel { isa: Isa::best(), amx }
    }

    /// All that this machine has, fastest first.
    pub fn available() -> impl Iterator<Item = Kernel> {
        let tiles = Amx::detect().map(|amx| Kernel { isa: Isa::best(), amx: Some(amx) });
        tiles.into_iter().chain(Isa::available().map(Kernel::from))
    }

    /// The instruction set of everything that is not a product of matrices.
    pub fn isa(self) -> Isa {
        self.isa
    }

    /// Whether products are those of `f32`, rounded once a term or twice; if not, they have sixteen digits.
    pub fn is_single_precision(self) -> bool {
        self.amx.is_none()
    }

    /// `amx`, or the name of the instruction set.
    pub fn name(self) -> &'static str {
        if self.amx.is_some() { "amx" } else { self.isa.name() }
    }

    /// Whether the kernel called `other` gives the same results to the last bit: all with fused multiply-adds and
    /// without tiles do.
    pub fn gives_the_bits_of(self, other: &str) -> bool {
        let fused = ["avx512", "avx2"];
        self.name() == other || (fused.contains(&self.name()) && fused.contains(&other))
    }
}

impl From<Isa> for Kernel {
    fn from(isa: Isa) -> Kernel {
        Kernel { isa, amx: None }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no kernel of this machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this machine has no kernel \"{asked}\"; it has {}", names())]
pub struct UnknownKernel {
    asked: String,
}

fn names() -> String {
    Kernel::available().map(Kernel::name).collect::<Vec<_>>().join(", ")
}

impl FromStr for Kernel {
    type Err = UnknownKernel;

    fn from_str(name: &str) -> Result<Kernel, UnknownKernel> {
        Kernel::available()
            .find(|kernel| kernel.name() == name)
            .ok_or_else(|| UnknownKernel { asked: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_is_found_by_its_name() {
        for kernel in Kernel::available() {
            assert_eq!(kernel.to_string().parse(), Ok(kernel));
        }
        assert_eq!(Kernel::available().next(), Some(Kernel::best()));
        let error = "abacus".parse::<Kernel>().unwrap_err().to_string();
        assert!(error.contains("abacus") && error.contains(Isa::best().name()), "{error}");
    }
}
