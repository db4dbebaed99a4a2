//! Choosing an instruction set at run time.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use fearless_simd::{Level, Simd};

/// An instruction set that this machine supports.
///
/// Values come only from [`Isa::best`], [`Isa::available`] and parsing, which query the processor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Isa(Kind);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// What every processor of the architecture supports: SSE2, NEON, or plain scalar code.
    Portable,
}

/// Work that is compiled for every instruction set and run on the chosen one.
pub trait SimdTask {
    /// The result of the work.
    type Output;
    /// Runs the work. It must be `#[inline(always)]`, and so must all performance-critical code that it calls;
    /// otherwise they are compiled for the baseline of the architecture.
    fn run<S: Simd>(self, token: S) -> Self::Output;
}

/// The environment variable that sets the instruction set of a process, to reproduce the bits of another machine.
pub const ISA_VARIABLE: &str = "MAGPIE_ISA";

/// A name that is not an instruction set of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownIsa {
    asked: String,
}

impl Isa {
    /// The fastest instruction set, or the one named by the environment variable [`ISA_VARIABLE`].
    pub fn best() -> Isa {
        static BEST: OnceLock<Isa> = OnceLock::new();
        let fastest = || Isa::available().next().unwrap_or(Isa(Kind::Portable));
        *BEST.get_or_init(|| Isa::chosen().ok().flatten().unwrap_or_else(fastest))
    }

    /// The instruction set named by [`ISA_VARIABLE`]; `None` if it is not set.
    pub fn chosen() -> Result<Option<Isa>, UnknownIsa> {
        std::env::var(ISA_VARIABLE).ok().filter(|name| !name.is_empty()).map(|name| name.parse()).transpose()
    }

    /// All instruction sets that this machine supports, fastest first.
    pub fn available() -> impl Iterator<Item = Isa> {
        let level = Level::new();
        #[cfg(target_arch = "x86_64")]
        let wide = [level.as_avx512().map(|_| Isa(Kind::Avx512)), level.as_avx2().map(|_| Isa(Kind::Avx2))];
        #[cfg(not(target_arch = "x86_64"))]
        let wide = {
            let _ = level;
            [None::<Isa>; 2]
        };
        wide.into_iter().flatten().chain([Isa(Kind::Portable)])
    }

    /// Whether the instruction set has fused multiply-add. All that have it give the same bits.
    pub fn has_fma(self) -> bool {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 | Kind::Avx2 => true,
            Kind::Portable => cfg!(target_arch = "aarch64"),
        }
    }

    /// `avx512`, `avx2` or `portable`.
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => "avx512",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => "avx2",
            Kind::Portable => "portable",
        }
    }

    /// Runs the task in code compiled for this instruction set.
    #[inline(always)]
    pub fn run<T: SimdTask>(self, task: T) -> T::Output {
        let level = Level::new();
        #[cfg(target_arch = "x86_64")]
        {
            if self.0 == Kind::Avx512
                && let Some(token) = level.as_avx512()
            {
                return token.vectorize(
                    #[inline(always)]
                    || task.run(token),
                );
            }
            if self.0 == Kind::Avx2
                && let Some(token) = level.as_avx2()
            {
                return token.vectorize(
                    #[inline(always)]
                    || task.run(token),
                );
            }
        }
        run_portable(level, task)
    }
}

#[cfg(target_arch = "x86_64")]
fn run_portable<T: SimdTask>(level: Level, task: T) -> T::Output {
    // SSE2 is part of x86-64; the other arm only satisfies the type checker.
    match level.as_sse2() {
        Some(token) => token.vectorize(
            #[inline(always)]
            || task.run(token),
        ),
        None => unreachable!("x86-64 without SSE2"),
    }
}

#[cfg(target_arch = "aarch64")]
fn run_portable<T: SimdTask>(level: Level, task: T) -> T::Output {
    match level.as_neon() {
        Some(token) => token.vectorize(
            #[inline(always)]
            || task.run(token),
        ),
        None => unreachable!("aarch64 without NEON"),
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn run_portable<T: SimdTask>(_level: Level, task: T) -> T::Output {
    task.run(fearless_simd::Fallback::new())
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Isa {
    type Err = UnknownIsa;

    fn from_str(name: &str) -> Result<Isa, UnknownIsa> {
        Isa::available().find(|isa| isa.name() == name).ok_or(UnknownIsa { asked: name.to_owned() })
    }
}

impl fmt::Display for UnknownIsa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = Isa::available().map(Isa::name).collect();
        write!(f, "this machine has no instruction set \"{}\"; it has {}", self.asked, names.join(", "))
    }
}

impl std::error::Error for UnknownIsa {}
