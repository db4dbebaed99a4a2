//! The tile registers of AMX: everything that uses them, and all `unsafe` code of this crate.
//!
//! A tile has sixteen lines of 64 bytes. One instruction multiplies 16 rows of 32 `bf16` by 32 rows of 16 and adds the
//! products to 16 × 16 `f32`. This is sixteen times the rate of `f32` FMA on AVX-512; [`Tiles::multiply`] needs three
//! such products for the parts of split numbers (see [`split`](super::split)).
//!
//! The instructions treat numbers below 2⁻¹²⁶ as zero, round to nearest and raise nothing.

use std::arch::asm;
use std::arch::x86_64::__cpuid_count;
use std::marker::PhantomData;
use std::sync::OnceLock;

use magpie_simd::Pack;

use super::split::{LINES, SplitTile};

/// Proof that this process may use tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amx(());

/// The configured tile registers of the current thread, released when dropped.
#[derive(Debug)]
pub struct Tiles {
    /// The configuration belongs to a thread.
    here: PhantomData<*const ()>,
}

/// The operand of LDTILECFG: eight tiles of sixteen lines, 64 bytes each.
#[repr(C, align(64))]
struct Config {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    bytes: [u16; 16],
    rows: [u8; 16],
}

static FULL_TILES: Config = {
    let (mut bytes, mut rows) = ([0; 16], [0; 16]);
    let mut tile = 0;
    while tile < 8 {
        (bytes[tile], rows[tile]) = (64, LINES as u8);
        tile += 1;
    }
    Config { palette: 1, start_row: 0, reserved: [0; 14], bytes, rows }
};

impl Amx {
    /// Asks the processor and the operating system, once per process.
    pub fn detect() -> Option<Amx> {
        static FOUND: OnceLock<bool> = OnceLock::new();
        FOUND.get_or_init(|| processor_has_tiles() && system_permits_tiles()).then_some(Amx(()))
    }

    /// Configures the tile registers of this thread. At most one value may exist per thread at a time: the first one
    /// dropped releases the registers for all, and the next product would end the process.
    pub fn configure(self) -> Tiles {
        // SAFETY: `self` proves that the instruction exists and is permitted. It reads the 64 bytes of `FULL_TILES`,
        // a valid configuration of palette 1, and changes tile registers only, which no compiled code uses.
        unsafe {
            asm!(
                "ldtilecfg [{config}]",
                config = in(reg) &raw const FULL_TILES,
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack, preserves_flags, readonly)
            );
        }
        Tiles { here: PhantomData }
    }
}

impl Drop for Tiles {
    fn drop(&mut self) {
        // SAFETY: a `Tiles` exists, so the instruction does; it empties registers that no compiled code uses.
        unsafe {
            asm!(
                "tilerelease",
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nomem, nostack, preserves_flags)
            );
        }
    }
}

impl Tiles {
    /// `c[2i + j] = Σₖ a[i][k] b[j][k]`, where the product of two split tiles is lo·hi + hi·hi + hi·lo: sixteen lines
    /// of `a` by sixteen columns of `b`.
    ///
    /// Four sums, two tiles of a and two of b fill the eight registers. In the order of the loop, each part is loaded
    /// once (eight loads for twelve products), and a sum is used again only after three others. At sixteen cycles each,
    /// the products hide their own latency of 52 cycles and that of loads from the first two caches.
    #[inline(always)]
    pub fn multiply(&self, a: [&[SplitTile]; 2], b: [&[SplitTile]; 2], c: &mut [[Pack; LINES]; 4]) {
        let count = a[0].len();
        assert!(a[1].len() == count && b.iter().all(|b| b.len() == count), "operands of different length");
        // SAFETY: a `Tiles` lives only in a thread whose registers are configured as `FULL_TILES` says (if a second one
        // gave them back too early, the processor refuses the instruction and memory is left alone). Each of the four
        // operands has `count` tiles of 2048 bytes (1024 hi, then 1024 lo; `SplitTile` is `repr(C)`), and the loop reads
        // just these; with a `count` of zero it is skipped. 4096 bytes are written to `c`, which has as many.
        unsafe {
            asm!(
                "tilezero tmm0",
                "tilezero tmm1",
                "tilezero tmm2",
                "tilezero tmm3",
                "test {count}, {count}",
                "jz 3f",
                "2:",
                "tileloadd tmm4, [{a0} + {line} + 1024]",
                "tileloadd tmm6, [{b0} + {line}]",
                "tileloadd tmm7, [{b1} + {line}]",
                "tileloadd tmm5, [{a1} + {line} + 1024]",
                "tdpbf16ps tmm0, tmm4, tmm6",
                "tdpbf16ps tmm1, tmm4, tmm7",
                "tileloadd tmm4, [{a0} + {line}]",
                "tdpbf16ps tmm2, tmm5, tmm6",
                "tdpbf16ps tmm3, tmm5, tmm7",
                "tileloadd tmm5, [{a1} + {line}]",
                "tdpbf16ps tmm0, tmm4, tmm6",
                "tdpbf16ps tmm2, tmm5, tmm6",
                "tileloadd tmm6, [{b0} + {line} + 1024]",
                "tdpbf16ps tmm1, tmm4, tmm7",
                "tdpbf16ps tmm3, tmm5, tmm7",
                "tileloadd tmm7, [{b1} + {line} + 1024]",
                "tdpbf16ps tmm0, tmm4, tmm6",
                "tdpbf16ps tmm2, tmm5, tmm6",
                "tdpbf16ps tmm1, tmm4, tmm7",
                "tdpbf16ps tmm3, tmm5, tmm7",
                "add {a0}, 2048",
                "add {a1}, 2048",
                "add {b0}, 2048",
                "add {b1}, 2048",
                "dec {count}",
                "jnz 2b",
                "3:",
                "tilestored [{c} + {line}], tmm0",
                "tilestored [{c} + {line} + 1024], tmm1",
                "tilestored [{c} + {line} + 2048], tmm2",
                "tilestored [{c} + {line} + 3072], tmm3",
                a0 = inout(reg) a[0].as_ptr() => _,
                a1 = inout(reg) a[1].as_ptr() => _,
                b0 = inout(reg) b[0].as_ptr() => _,
                b1 = inout(reg) b[1].as_ptr() => _,
                count = inout(reg) count => _,
                c = in(reg) c.as_mut_ptr(),
                line = in(reg) 64_usize,
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack)
            );
        }
    }
}

/// Intel's manual, CPUID leaf 7 (EDX bit 22: products of `bf16`; bit 24: tiles) and leaf 1 (ECX bit 27: XGETBV), and
/// the two bits by which the operating system declares that it saves tile registers.
fn processor_has_tiles() -> bool {
    const BF16_AND_TILES: u32 = 1 << 22 | 1 << 24;
    const XGETBV: u32 = 1 << 27;
    const SAVED: u32 = 1 << 17 | 1 << 18;
    #[allow(unused_unsafe, reason = "newer compilers take it as safe")]
    // SAFETY: every x86-64 processor has CPUID, and only known leaves are queried.
    let cpuid = |leaf| unsafe { __cpuid_count(leaf, 0) };
    if cpuid(0).eax < 7 || cpuid(7).edx & BF16_AND_TILES != BF16_AND_TILES || cpuid(1).ecx & XGETBV == 0 {
        return false;
    }
    let saved: u32;
    // SAFETY: the processor has just reported that it has the instruction; register 0 always exists.
    unsafe {
        asm!("xgetbv", in("ecx") 0, out("eax") saved, out("edx") _, options(nomem, nostack, preserves_flags));
    }
    saved & SAVED == SAVED
}

/// Linux grants tile registers to processes that request them (arch_prctl: ARCH_REQ_XCOMP_PERM of component 18). The
/// grant applies to all threads.
fn system_permits_tiles() -> bool {
    const ARCH_PRCTL: isize = 158;
    const REQUEST_PERMISSION: usize = 0x1023;
    const TILE_DATA: usize = 18;
    let mut result = ARCH_PRCTL;
    // SAFETY: the call takes two numbers and no memory; a kernel that does not know it returns an error. The
    // instruction overwrites rcx and r11.
    unsafe {
        asm!(
            "syscall",
            inout("rax") result,
            in("rdi") REQUEST_PERMISSION,
            in("rsi") TILE_DATA,
            out("rcx") _,
            out("r11") _,
            options(nostack)
        );
    }
    result == 0
}
