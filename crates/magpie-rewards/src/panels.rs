//! Conversion between tables of rows and the panels that networks read.

use magpie_nn::normaliser::Frozen;
use magpie_nn::rows::gather;
use magpie_simd::{Isa, LANES, Pack};

/// Gathers up to sixteen rows of observations into one panel and normalises them.
pub(crate) fn normalised(
    isa: Isa,
    table: &[f32],
    rows: &[u32],
    normaliser: &Frozen,
    scratch: &mut Vec<Pack>,
    panel: &mut [Pack],
) {
    scratch.resize(panel.len(), Pack::default());
    gather(isa, table, panel.len(), rows, scratch);
    normaliser.panels(isa, scratch, panel);
}

/// The mean of the first `count` rows of a column.
pub(crate) fn mean(packs: &[Pack], count: usize) -> f64 {
    let rows = packs.iter().flat_map(|pack| pack.0).take(count);
    rows.map(f64::from).sum::<f64>() / count.max(1) as f64
}

/// The first rows of a column.
pub(crate) fn copy_rows(packs: &[Pack], out: &mut [f32]) {
    for (rows, pack) in out.chunks_mut(LANES).zip(packs) {
        rows.copy_from_slice(&pack.0[..rows.len()]);
    }
}
