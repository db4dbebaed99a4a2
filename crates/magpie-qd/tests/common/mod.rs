//! What the golden tests of this crate share.

/// Equal up to 1e-9 of the larger of one and the wanted number, the limit for double precision in the notes
/// to the golden numbers.
#[track_caller]
pub fn assert_close(got: f64, want: f64, what: &str) {
    let close = (got - want).abs() <= 1e-9 * want.abs().max(1.0);
    assert!(close || got == want || (got.is_nan() && want.is_nan()), "{what}: {got} instead of {want}");
}
