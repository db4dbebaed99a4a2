//! Colours that differ as much as the numbers do, also in grey and to the colour-blind.

/// Viridis (Smith and van der Walt, CC0), from low to high, at every seventeenth of its 256 colours; between them it is
/// as good as straight.
const VIRIDIS: [[u8; 3]; 16] = [
    [68, 1, 84],
    [72, 26, 108],
    [71, 47, 125],
    [65, 68, 135],
    [57, 86, 140],
    [49, 104, 142],
    [42, 120, 142],
    [35, 136, 142],
    [31, 152, 139],
    [34, 168, 132],
    [53, 183, 121],
    [84, 197, 104],
    [122, 209, 81],
    [165, 219, 54],
    [210, 226, 27],
    [253, 231, 37],
];

/// A cell without an elite.
pub(crate) const EMPTY: &str = "#e9e9e9";

/// How many colours a scale has.
pub(crate) const LEVELS: usize = 256;

/// Colour of one of the [`LEVELS`], from low to high.
pub(crate) fn viridis(level: usize) -> String {
    let [red, green, blue] = shade(level as f64 / (LEVELS - 1) as f64);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Red, green and blue of a share of a scale, from 0 to 1.
pub fn shade(share: f64) -> [u8; 3] {
    let at = (share.clamp(0.0, 1.0) * (LEVELS - 1) as f64).round() as usize;
    let (i, part) = (at / 17, (at % 17) as f64 / 17.0);
    let (low, high) = (VIRIDIS[i], VIRIDIS[(i + 1).min(15)]);
    std::array::from_fn(|c| {
        (f64::from(low[c]) + part * (f64::from(high[c]) - f64::from(low[c]))).round() as u8
    })
}

/// The colours of Okabe and Ito, without the yellow that is lost on white, and how their curves are dashed from the
/// second round on.
pub(crate) fn of_series(index: usize) -> (&'static str, &'static str) {
    const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333"];
    const DASHES: [&str; 3] = ["", "7 3", "2 3"];
    (COLOURS[index % COLOURS.len()], DASHES[index / COLOURS.len() % DASHES.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_gets_lighter_all_the_way() {
        let light = |level| {
            let colour = viridis(level);
            let part = |i: usize| f64::from(u8::from_str_radix(&colour[i..i + 2], 16).unwrap());
            0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
        };
        assert_eq!((viridis(0), viridis(255)), ("#440154".to_owned(), "#fde725".to_owned()));
        // Within three levels a colour can stay the same, because it is rounded.
        for level in 3..LEVELS {
            assert!(light(level) > light(level - 3), "{level}");
        }
    }
}
