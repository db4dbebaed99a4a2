//! The names of kernels, and which of them this machine supports.

use std::fmt;
use std::str::FromStr;

use magpie_simd::Isa;

use super::amx::Amx;

/// How matrices are multiplied on this machine, and the instruction set for everything else.
///
/// An [`Isa`] is a kernel: its products are fused multiply-adds of `f32`, and all instruction sets with FMA give
/// identical bits. `amx` uses the matrix unit of recent Intel processors and is about twice as fast overall. It splits
/// numbers into two `bf16`, so that each product has sixteen significant bits instead of twenty-four, and sums in
/// `f32`. Its results differ from those of other kernels, but are identical on every machine that has it and for any
/// number of threads. In `amx`, an infinity or NaN may turn into the other.
///
/// Values come only from [`Kernel::best`], [`Kernel::available`], an [`Isa`] and parsing, which query the machine.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Kernel {
    pub(super) isa: Isa,
    pub(super) amx: Option<Amx>,
}

impl Kernel {
    /// The fastest kernel.
    pub fn best() -> Kernel {
        // A chosen instruction set must give its own bits.
        let amx = if matches!(Isa::chosen(), Ok(None)) { Amx::detect() } else { None };
        Kernel { isa: Isa::best(), amx }
    }

    /// All kernels that this machine supports, fastest first.
    pub fn available() -> impl Iterator<Item = Kernel> {
        let tiles = Amx::detect().map(|amx| Kernel { isa: Isa::best(), amx: Some(amx) });
        tiles.into_iter().chain(Isa::available().map(Kernel::from))
    }

    /// The instruction set of everything except matrix products.
    pub fn isa(self) -> Isa {
        self.isa
    }

    /// Whether products are those of `f32`, with one or two roundings per term; if not, they have sixteen significant
    /// bits.
    pub fn is_single_precision(self) -> bool {
        self.amx.is_none()
    }

    /// `amx`, or the name of the instruction set.
    pub fn name(self) -> &'static str {
        if self.amx.is_some() { "amx" } else { self.isa.name() }
    }

    /// Whether the kernel called `other` gives the same results to the last bit. This holds for all kernels with fused
    /// multiply-adds and without tiles.
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

/// A name that is not a kernel of this machine.
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
