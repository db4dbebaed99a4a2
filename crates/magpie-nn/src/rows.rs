//! From rows of a table to panels.

use magpie_simd::{Isa, LANES, Pack, Simd, SimdTask, pack_rows};

/// Gathers rows of `table`, of `width` numbers each, into panels `[panel][feature]`, sixteen at a time and in the order
/// of `index`. Lanes beyond the last row are zero.
pub fn gather(isa: Isa, table: &[f32], width: usize, index: &[u32], panels: &mut [Pack]) {
    assert!(panels.len() == index.len().div_ceil(LANES) * width, "panels of the wrong number");
    isa.run(Gather { table, width, index, panels });
}

/// Gathers a column: one pack per sixteen rows, zero beyond the last row.
pub(crate) fn gather_column(column: &[f32], index: &[u32], packs: &mut [Pack]) {
    for (pack, index) in packs.iter_mut().zip(index.chunks(LANES)) {
        *pack = Pack::default();
        for (lane, &row) in pack.0.iter_mut().zip(index) {
            *lane = column[row as usize];
        }
    }
}

struct Gather<'a> {
    table: &'a [f32],
    width: usize,
    index: &'a [u32],
    panels: &'a mut [Pack],
}

impl SimdTask for Gather<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, token: S) {
        let Gather { table, width, index, panels } = self;
        // Sixteen pieces of sixteen rows are placed side by side, to be transposed in registers.
        let mut corner = [0.0; LANES * LANES];
        for (panel, index) in panels.chunks_exact_mut(width).zip(index.chunks(LANES)) {
            if index.len() < LANES {
                panel.fill(Pack::default());
            }
            for start in (0..width).step_by(LANES) {
                let piece = LANES.min(width - start);
                for (cells, &row) in corner.chunks_exact_mut(piece).zip(index) {
                    let values = &table[row as usize * width + start..][..piece];
                    // Copies of a known length are a load and a store; others are a call.
                    match (cells.first_chunk_mut::<LANES>(), values.first_chunk::<LANES>()) {
                        (Some(cells), Some(values)) => *cells = *values,
                        _ => cells.iter_mut().zip(values).for_each(|(cell, value)| *cell = *value),
                    }
                }
                pack_rows(token, &corner[..index.len() * piece], &mut panel[start..start + piece]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_arrive_where_the_index_says() {
        for isa in Isa::available() {
            for width in [1, 5, 16, 18, 40] {
                for count in [1, 15, 16, 17, 40] {
                    let table: Vec<f32> = (0..100 * width).map(|i| i as f32 + 1.0).collect();
                    let index: Vec<u32> = (0..count).map(|i| i * 37 % 100).collect();
                    let mut panels = vec![Pack([-1.0; 16]); index.len().div_ceil(16) * width];
                    gather(isa, &table, width, &index, &mut panels);
                    for (at, pack) in panels.iter().enumerate() {
                        for lane in 0..16 {
                            let row = index.get(at / width * 16 + lane);
                            let want = row.map_or(0.0, |&r| table[r as usize * width + at % width]);
                            assert_eq!(pack.0[lane], want, "{isa} {width} {count}");
                        }
                    }
                }
            }
        }
    }
}
