//! Rewards of many rows, block by block.

use std::ops::Range;

use magpie_demos::Sizes;
use magpie_nn::parts::{BLOCK_ROWS, Pool};
use rayon::prelude::*;

use crate::error::RewardError;
use crate::transitions::{Needs, Transitions};

/// Fills `out` in blocks that do not depend on the number of threads. Scratch memory is pooled, so that nothing is
/// allocated once every thread has some.
pub(crate) fn fill<S: Send>(
    out: &mut [f32],
    pool: &Pool<S>,
    make: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, Range<usize>, &mut [f32]) + Sync,
) {
    out.par_chunks_mut(BLOCK_ROWS).enumerate().for_each(|(block, out)| {
        let start = block * BLOCK_ROWS;
        pool.with(&make, |scratch| work(scratch, start..start + out.len(), out));
    });
}

/// Sets `index` to the rows of a range.
pub(crate) fn index_of(range: Range<usize>, index: &mut Vec<u32>) {
    index.clear();
    index.extend(range.map(|row| row as u32));
}

/// Refuses rewards that are not finite.
pub(crate) fn finite(model: &'static str, rewards: &[f32]) -> Result<(), RewardError> {
    match rewards.iter().position(|r| !r.is_finite()) {
        None => Ok(()),
        Some(row) => Err(RewardError::NotFinite { model, what: format!("the reward of row {row}") }),
    }
}

/// Checks that columns and rewards have the same number of rows.
pub(crate) fn rows_for(
    transitions: &Transitions,
    sizes: Sizes,
    needs: Needs,
    out: &[f32],
) -> Result<(), RewardError> {
    let expected = transitions.rows("given", sizes, needs)?;
    match out.len() == expected {
        true => Ok(()),
        false => Err(RewardError::Length { whose: "given", field: "reward", expected, found: out.len() }),
    }
}
