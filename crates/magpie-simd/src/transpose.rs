//! Conversion between rows (one per world, for networks and files) and packs (one per feature).

use fearless_simd::{Simd, SimdBase, f32x16};

use crate::lanes::{LANES, Lanes, Pack};

/// Transposes sixteen rows into sixteen columns by four rounds of perfect shuffles.
#[inline(always)]
pub fn transpose<S: Simd>(v: [Lanes<S>; LANES]) -> [Lanes<S>; LANES] {
    shuffle(shuffle(shuffle(shuffle(v))))
}

/// Written out, because as a loop over arrays it went through memory.
#[inline(always)]
fn shuffle<S: Simd>(v: [Lanes<S>; LANES]) -> [Lanes<S>; LANES] {
    [
        v[0].zip_low(v[8]),
        v[0].zip_high(v[8]),
        v[1].zip_low(v[9]),
        v[1].zip_high(v[9]),
        v[2].zip_low(v[10]),
        v[2].zip_high(v[10]),
        v[3].zip_low(v[11]),
        v[3].zip_high(v[11]),
        v[4].zip_low(v[12]),
        v[4].zip_high(v[12]),
        v[5].zip_low(v[13]),
        v[5].zip_high(v[13]),
        v[6].zip_low(v[14]),
        v[6].zip_high(v[14]),
        v[7].zip_low(v[15]),
        v[7].zip_high(v[15]),
    ]
}

/// Writes `packs` (one per feature) as rows of length `packs.len()`; `rows` may hold fewer than sixteen of them.
#[inline(always)]
pub fn unpack_rows<S: Simd>(token: S, packs: &[Pack], rows: &mut [f32]) {
    let width = packs.len();
    let count = rows.len().checked_div(width).unwrap_or(0);
    let mut done = 0;
    if count == LANES {
        while done + LANES <= width {
            let mut columns = [f32x16::splat(token, 0.0); LANES];
            for (column, pack) in columns.iter_mut().zip(&packs[done..]) {
                *column = f32x16::load_array_ref(token, &pack.0);
            }
            let lanes = transpose(columns);
            for lane in 0..LANES {
                lanes[lane].store_slice(&mut rows[lane * width + done..][..LANES]);
            }
            done += LANES;
        }
    }
    for (feature, pack) in packs.iter().enumerate().skip(done) {
        for lane in 0..count.min(LANES) {
            rows[lane * width + feature] = pack.0[lane];
        }
    }
}

/// Reads rows of length `packs.len()` into packs; lanes beyond the given rows are not changed.
#[inline(always)]
pub fn pack_rows<S: Simd>(token: S, rows: &[f32], packs: &mut [Pack]) {
    let width = packs.len();
    let count = rows.len().checked_div(width).unwrap_or(0);
    let mut done = 0;
    if count == LANES {
        while done + LANES <= width {
            let mut lanes = [f32x16::splat(token, 0.0); LANES];
            for (lane, row) in lanes.iter_mut().enumerate() {
                *row = f32x16::from_slice(token, &rows[lane * width + done..][..LANES]);
            }
            let columns = transpose(lanes);
            for (i, pack) in packs[done..][..LANES].iter_mut().enumerate() {
                columns[i].store_array(&mut pack.0);
            }
            done += LANES;
        }
    }
    for (feature, pack) in packs.iter_mut().enumerate().skip(done) {
        for lane in 0..count.min(LANES) {
            pack.0[lane] = rows[lane * width + feature];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Isa, SimdTask};

    struct RoundTrip<'a>(&'a [f32], &'a mut [Pack], &'a mut [f32]);
    impl SimdTask for RoundTrip<'_> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd>(self, token: S) {
            pack_rows(token, self.0, self.1);
            unpack_rows(token, self.1, self.2);
        }
    }

    #[test]
    fn rows_and_packs_are_each_others_inverse() {
        for isa in Isa::available() {
            for width in [0, 1, 5, 16, 17, 40] {
                for count in [0, 1, 7, 15, 16] {
                    let rows: Vec<f32> = (0..width * count).map(|i| i as f32).collect();
                    let (mut packs, mut back) = (vec![Pack([-1.0; 16]); width], vec![f32::NAN; rows.len()]);
                    isa.run(RoundTrip(&rows, &mut packs, &mut back));
                    assert_eq!(rows, back, "{isa}, width {width}, count {count}");
                    for (feature, pack) in packs.iter().enumerate() {
                        for lane in 0..LANES {
                            let want = if lane < count { rows[lane * width + feature] } else { -1.0 };
                            assert_eq!(pack.0[lane], want);
                        }
                    }
                }
            }
        }
    }
}
