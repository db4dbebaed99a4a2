//! Pictures as a user of the crate makes them.

use magpie_plot::{
    Crowd, Dimension, Figure, HeatMap, Labels, Mark, NARROW, Partition, PlotError, Points, Scatter, Series,
    WIDE, curves, heat_map, scatter,
};
use proptest::prelude::*;

fn dimensions(count: usize) -> Vec<Dimension> {
    let name = |i: usize| format!("measure {i} (m)");
    (0..count).map(|i| Dimension { name: name(i), range: [-1.0, 3.0] }).collect()
}

fn draw(
    shape: &[usize],
    cells: &[(usize, f64)],
    scale: Option<[f64; 2]>,
    points: &[Vec<f64>],
) -> Result<Figure, PlotError> {
    heat_map(&HeatMap {
        title: "an archive <&>",
        dimensions: &dimensions(shape.len()),
        partition: Partition::Grid(shape),
        objective: "return",
        cells,
        scale,
        points: Some(Points { name: "demonstrations", at: points }),
        width: WIDE,
    })
}

/// Colour of a pixel, from the picture itself.
fn pixels(figure: &Figure) -> (usize, Vec<[u8; 4]>) {
    let png = figure.png().unwrap();
    let pixmap = resvg::tiny_skia::Pixmap::decode_png(&png).unwrap();
    let colour = |p: &resvg::tiny_skia::PremultipliedColorU8| [p.red(), p.green(), p.blue(), p.alpha()];
    (pixmap.width() as usize, pixmap.pixels().iter().map(colour).collect())
}

const LOW: [u8; 4] = [0x44, 0x01, 0x54, 255];
const HIGH: [u8; 4] = [0xfd, 0xe7, 0x25, 255];
const EMPTY: [u8; 4] = [0xe9, 0xe9, 0xe9, 255];

/// A grid of two by two, one cell low, one high and two empty: where their colours are in the picture.
#[test]
fn cells_are_where_their_measures_say() {
    // Cells 0 and 3 are at (low, low) and (high, high); cell 1 has a high second measure.
    for (high, right, up) in [(3, true, true), (1, false, true), (2, true, false)] {
        let figure = draw(&[2, 2], &[(0, -5.0), (high, 5.0)], None, &[]).unwrap();
        let (width, pixels) = pixels(&figure);
        // The field ends well before the colour bar, which has all colours too.
        let centre = |colour: [u8; 4]| {
            let found: Vec<usize> =
                (0..pixels.len()).filter(|&i| i % width < 660 && pixels[i] == colour).collect();
            assert!(found.len() > 10_000, "{colour:?}: {} pixels", found.len());
            let sum = |of: fn(usize, usize) -> usize| found.iter().map(|&i| of(i, width)).sum::<usize>();
            (sum(|i, w| i % w) / found.len(), sum(|i, w| i / w) / found.len())
        };
        let ((low_x, low_y), (high_x, high_y)) = (centre(LOW), centre(HIGH));
        assert_eq!((high_x > low_x + 100, high_y + 100 < low_y), (right, up), "cell {high}");
        centre(EMPTY);
    }
}

#[test]
fn a_shared_scale_gives_equal_objectives_equal_colours() {
    let count = |figure: &Figure, colour| {
        let (width, pixels) = pixels(figure);
        (0..pixels.len()).filter(|&i| i % width < 660 && pixels[i] == colour).count()
    };
    let alone = draw(&[2, 2], &[(0, 1.0), (1, 2.0)], None, &[]).unwrap();
    let shared = draw(&[2, 2], &[(0, 1.0), (1, 2.0)], Some([0.0, 2.0]), &[]).unwrap();
    assert!(count(&alone, LOW) > 10_000 && count(&shared, LOW) == 0);
    assert!(count(&alone, HIGH) > 10_000 && count(&shared, HIGH) > 10_000);
}

/// Centroids in the middles of the boxes of a grid have these boxes as their regions, and are drawn as the grid is: bars,
/// one field, and the fields of three measures.
#[test]
fn regions_are_where_their_centroids_say() {
    for measures in 1..=3 {
        let count = 1 << measures;
        let centre = |cell: usize, i: usize| if cell >> (measures - 1 - i) & 1 == 0 { 0.0 } else { 2.0 };
        let centroids: Vec<f64> =
            (0..count).flat_map(|cell| (0..measures).map(move |i| centre(cell, i))).collect();
        let cells: Vec<(usize, f64)> = (0..count - 1).map(|cell| (cell, cell as f64 - 2.5)).collect();
        let (dimensions, shape) = (dimensions(measures), vec![2; measures]);
        let picture = |partition| {
            let map = HeatMap {
                title: "an archive",
                dimensions: &dimensions,
                partition,
                objective: "return",
                cells: &cells,
                scale: None,
                points: None,
                width: WIDE,
            };
            pixels(&heat_map(&map).unwrap())
        };
        assert!(picture(Partition::Grid(&shape)) == picture(Partition::Voronoi(&centroids)), "{measures}");
    }
}

/// With three measures a field shows the best over the third.
#[test]
fn projections_show_the_best() {
    // On a scale that does not depend on who is there, the worse of two in one field leaves no trace: fields of
    // measures 0 and 1 are alike with and without it.
    let scale = Some([1.0, 9.0]);
    let field = |cells: &[(usize, f64)]| {
        let figure = draw(&[2, 2, 2], cells, scale, &[]).unwrap();
        assert_eq!(figure.svg().matches("measure 0 (m)").count(), 2);
        let (width, pixels) = pixels(&figure);
        let colours = |colour| (0..pixels.len()).filter(|&i| i % width < 660 && pixels[i] == colour).count();
        (colours(LOW), colours(HIGH))
    };
    let (low_alone, _) = field(&[(0, 1.0)]);
    let (low_both, high_both) = field(&[(0, 1.0), (1, 9.0)]);
    // Cells 0 and 1 differ in the last measure only: one of the three fields shows the better of them, the other two both.
    assert!(high_both > 0 && low_both < low_alone, "{low_alone} {low_both} {high_both}");
}

#[test]
fn pictures_are_small_and_the_same_every_time() {
    for shape in [&[50][..], &[50, 50], &[12, 12, 12], &[6, 6, 6, 6]] {
        let total: usize = shape.iter().product();
        let cells: Vec<(usize, f64)> = (0..total).map(|i| (i, ((i * 7919) % 997) as f64)).collect();
        let point = vec![vec![0.5; shape.len()]];
        let figure = draw(shape, &cells, None, &point).unwrap();
        let png = figure.png().unwrap();
        assert!(png.len() < 60_000, "{shape:?}: {} bytes", png.len());
        assert_eq!(png, draw(shape, &cells, None, &point).unwrap().png().unwrap());
        assert!(figure.svg().contains("an archive &lt;&amp;&gt;"));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let message = |result: Result<Figure, PlotError>| result.unwrap_err().to_string();
    assert!(message(draw(&[], &[], None, &[])).contains("0 dimensions"));
    assert!(message(draw(&[5, 0], &[], None, &[])).contains("5 × 0 cells"));
    assert!(message(draw(&[usize::MAX, 2], &[], None, &[])).contains("cannot be drawn"));
    assert!(message(draw(&[5, 5], &[(25, 1.0)], None, &[])).contains("no cell 25"));
    assert!(message(draw(&[5, 5], &[(2, f64::NAN)], None, &[])).contains("objective of cell 2 is NaN"));
    assert!(message(draw(&[5, 5], &[], Some([1.0, 1.0]), &[])).contains("scale of colours"));
    assert!(message(draw(&[5, 5], &[], None, &[vec![0.0]])).contains("point 0 has 1 coordinates"));
    assert!(draw(&[5, 5], &[], None, &[]).is_ok(), "an empty archive is one");
    let regions = |centroids: &[f64], cells| {
        heat_map(&HeatMap {
            title: "",
            dimensions: &dimensions(2),
            partition: Partition::Voronoi(centroids),
            objective: "return",
            cells,
            scale: None,
            points: None,
            width: WIDE,
        })
    };
    assert!(message(regions(&[1.0, 2.0, 3.0], &[])).contains("3 coordinates of centroids"));
    assert!(message(regions(&[], &[])).contains("cannot be drawn"));
    assert!(message(regions(&[f64::NAN, 0.0], &[])).contains("cannot be drawn"));
    assert!(message(regions(&[1.0, 2.0], &[(1, 0.0)])).contains("no cell 1"));
    assert!(regions(&[1e300, -1e300], &[(0, 0.0)]).unwrap().png().is_ok());
    assert!(draw(&[5, 5], &[(1, 0.0)], None, &[vec![f64::NAN, 1e300]]).unwrap().png().is_ok());
}

const LABELS: Labels<'static> =
    Labels { title: "learning", subtitle: "", x: "steps", whole_x: false, y: "return", width: WIDE };

#[test]
fn curves_leave_out_what_is_not_finite_and_refuse_what_does_not_fit() {
    let series = Series { name: "a".to_owned(), x: vec![0.0, 1.0], mean: vec![1.0], ..Series::default() };
    assert!(curves(&[series], &LABELS).unwrap_err().to_string().contains("mean has 1 numbers, but x has 2"));
    assert_eq!(curves(&[], &LABELS), Err(PlotError::Empty));
    let of = |mean: Vec<f64>| Series {
        name: "a".to_owned(),
        x: (0..mean.len()).map(|i| i as f64).collect(),
        mean,
        ..Series::default()
    };
    let whole = curves(&[of(vec![1.0, 5.0])], &LABELS).unwrap();
    assert_eq!(curves(&[of(vec![1.0, 5.0, f64::NAN])], &LABELS).unwrap(), whole);
    assert!(!whole.svg().contains("NaN"));
}

#[test]
fn an_axis_that_counts_has_no_fractions() {
    let series = Series { x: vec![1.0, 2.0], mean: vec![10.0, 20.0], ..Series::default() };
    let svg = |whole_x| {
        curves(std::slice::from_ref(&series), &Labels { whole_x, ..LABELS }).unwrap().svg().to_owned()
    };
    assert!(svg(false).contains(">1.2<"));
    assert!(svg(true).contains(">1<") && svg(true).contains(">2<") && !svg(true).contains(">1."));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Whatever finite numbers come, there is a picture, and nothing in it is not a number.
    #[test]
    fn all_finite_numbers_make_a_picture(
        values in prop::collection::vec((0.0..1e308f64, -1e308..1e308f64), 1..20),
        name: String,
        exponent in -300..308i32,
    ) {
        let scaled: Vec<(f64, f64)> = values.iter().map(|(x, y)| (x * 10f64.powi(exponent - 308), y * 10f64.powi(exponent - 308))).collect();
        let series = Series {
            name: name.clone(),
            x: scaled.iter().map(|p| p.0).collect(),
            mean: scaled.iter().map(|p| p.1).collect(),
            ..Series::default()
        };
        let figure = curves(&[series], &Labels { title: &name, ..LABELS }).unwrap();
        prop_assert!(!figure.svg().contains("NaN") || name.contains("NaN"));
        figure.png().unwrap();
        let cells: Vec<(usize, f64)> = scaled.iter().enumerate().map(|(i, p)| (i, p.1)).collect();
        for shape in [&[20][..], &[5, 4], &[4, 5, 3]] {
            draw(shape, &cells, None, &[]).unwrap().png().unwrap();
        }
    }
}

fn scattered(count: usize, crowds: &[Crowd<'_>]) -> Result<Figure, PlotError> {
    let dimensions = dimensions(count);
    scatter(&Scatter {
        title: "places <&>",
        subtitle: "of three",
        dimensions: &dimensions,
        crowds,
        width: WIDE,
    })
}

#[test]
fn crowds_lie_one_over_the_other_with_a_field_for_each_pair_of_dimensions() {
    let rows = |count: usize, at: &[f64]| -> Vec<Vec<f64>> { at.iter().map(|&v| vec![v; count]).collect() };
    for (count, fields) in [(2, 1), (3, 3), (4, 6)] {
        // Two of the first crowd lie in one pixel.
        let (all, few) = (rows(count, &[0.0, 0.0, 1.0, 99.0]), rows(count, &[1.0]));
        let figure = scattered(
            count,
            &[
                Crowd { name: "all", at: &all, mark: Mark::Everything },
                Crowd { name: "chosen", at: &few, mark: Mark::Highlighted },
            ],
        );
        let figure = figure.unwrap();
        let svg = figure.svg();
        // One more explains the mark.
        assert_eq!(svg.matches("<circle").count(), fields + 1);
        let squares = svg.split("<path ").filter(|path| path.contains("#009e73")).collect::<Vec<_>>();
        assert_eq!(squares.len(), fields + 1);
        assert_eq!(squares[1].matches('M').count(), 3, "{}", squares[1]);
        assert!(svg.contains(">all</text>") && svg.contains("places &lt;&amp;&gt;"));
        assert!(figure.png().unwrap().starts_with(b"\x89PNG"));
    }
    assert!(matches!(scattered(1, &[]), Err(PlotError::Shape { dimensions: 1, .. })));
    let wrong = rows(3, &[0.0]);
    let error = scattered(2, &[Crowd { name: "all", at: &wrong, mark: Mark::Chosen }]).unwrap_err();
    assert_eq!(error, PlotError::Point { index: 0, found: 3, expected: 2 });
    let unknown = rows(2, &[f64::NAN]);
    assert!(scattered(2, &[Crowd { name: "all", at: &unknown, mark: Mark::Chosen }]).is_err());
}

#[test]
fn long_names_stay_inside_the_picture() {
    let name = "GAIL-EBC with many settings ".repeat(20);
    let series = Series { name, x: vec![0.0, 1.0], mean: vec![0.0, 1.0], ..Series::default() };
    let labels =
        Labels { title: &"title ".repeat(60), subtitle: "", x: "x", whole_x: false, y: "y", width: 460.0 };
    let figure = curves(std::slice::from_ref(&series), &labels).unwrap();
    let shown = figure.svg().split("<text ").filter(|text| text.contains('…')).count();
    assert_eq!(shown, 2, "the title and the legend: {}", figure.svg());
    assert!(figure.svg().contains(&format!("data-name=\"{}\"", series.name)), "whole for the pointer");
}

#[test]
fn panels_stand_side_by_side() {
    let series =
        Series { name: "a".to_owned(), x: vec![0.0, 1.0], mean: vec![0.0, 1.0], ..Series::default() };
    let labels = Labels { title: "t", subtitle: "", x: "x", whole_x: false, y: "y", width: NARROW };
    let one = curves(&[series], &labels).unwrap();
    let both = Figure::side_by_side(&[one.clone(), one.clone()]);
    assert_eq!(both.width(), 2.0 * NARROW);
    assert_eq!(both.svg().matches("<svg").count(), 3);
    assert!(both.svg().contains("<svg x=\"460\" "));
    let pixels = both.png().unwrap();
    let width = u32::from_be_bytes(pixels[16..20].try_into().unwrap());
    assert_eq!(f64::from(width), 2.0 * NARROW);
}
