//! Dividing a batch so that the result does not depend on the number of threads.
//!
//! Rows are processed in blocks of [`BLOCK_ROWS`]. The blocks of a batch are dealt to a number of parts that depends
//! only on the number of rows; each part sums its blocks in order, and the sums of the parts are added in order.
//! Threads take whole parts. Scratch memory belongs to workers, not to parts: a [`Pool`] lends it.

use std::ops::Range;
use std::sync::Mutex;

use magpie_simd::LANES;

/// Panels per block. Measured: 6 to 16 are equally fast with 2 MiB of second-level cache, and 8 leave room in smaller
/// ones.
pub const BLOCK_PANELS: usize = 8;

/// Rows per block.
pub const BLOCK_ROWS: usize = BLOCK_PANELS * LANES;

/// The smallest number of blocks in a part: each part costs the memory traffic of one gradient.
const PART_BLOCKS: usize = 5;

/// More parts would let more threads work on a minibatch, but take more memory.
const MOST_PARTS: usize = 32;

/// The division of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    rows: usize,
}

impl Cut {
    /// The division of a batch of `rows` rows.
    pub fn new(rows: usize) -> Cut {
        Cut { rows }
    }

    fn block_count(self) -> usize {
        self.rows.div_ceil(BLOCK_ROWS)
    }

    /// The number of parts: a power of two, so that the usual numbers of threads share them evenly.
    pub fn parts(self) -> usize {
        match self.block_count() {
            0 => 0,
            blocks => 1 << (blocks / PART_BLOCKS).clamp(1, MOST_PARTS).ilog2(),
        }
    }

    /// The blocks of a part, as ranges of rows. All but the last of the batch are full.
    pub fn blocks(self, part: usize) -> impl Iterator<Item = Range<usize>> {
        let deal = |part: usize| part * self.block_count() / self.parts().max(1);
        (deal(part)..deal(part + 1))
            .map(move |block| block * BLOCK_ROWS..((block + 1) * BLOCK_ROWS).min(self.rows))
    }
}

/// Scratch memory for all workers that run at the same time.
#[derive(Debug, Default)]
pub struct Pool<T> {
    free: Mutex<Vec<T>>,
}

impl<T> Pool<T> {
    /// A pool without scratch memory.
    pub fn new() -> Pool<T> {
        Pool { free: Mutex::new(Vec::new()) }
    }

    /// Lends scratch memory, which `make` creates if none is free.
    pub fn with<R>(&self, make: impl FnOnce() -> T, work: impl FnOnce(&mut T) -> R) -> R {
        // A worker that panicked kept its scratch memory, so that what is in the pool is intact.
        let lock = || self.free.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let free = lock().pop();
        let mut scratch = free.unwrap_or_else(make);
        let result = work(&mut scratch);
        lock().push(scratch);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_every_row_once_and_in_order() {
        for rows in [0, 1, 16, 128, 129, 6000, 48_000, 3072 * 7 + 5] {
            let cut = Cut::new(rows);
            let blocks: Vec<_> = (0..cut.parts()).flat_map(|part| cut.blocks(part)).collect();
            assert_eq!(blocks.iter().map(|b| b.len()).sum::<usize>(), rows);
            let mut next = 0;
            for block in blocks {
                assert!(block.start == next && block.len() <= BLOCK_ROWS && !block.is_empty());
                assert!(block.len() == BLOCK_ROWS || block.end == rows);
                next = block.end;
            }
        }
    }

    #[test]
    fn scratch_is_made_once_for_one_worker() {
        let (pool, mut made) = (Pool::new(), 0);
        for _ in 0..3 {
            pool.with(
                || {
                    made += 1;
                    vec![0_u8; 8]
                },
                |scratch| scratch[0] += 1,
            );
        }
        assert_eq!(made, 1);
        assert_eq!(pool.with(Vec::new, |scratch| scratch[0]), 3);
    }
}
