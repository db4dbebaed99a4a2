//! Angles of a robot file in degrees, and their rotations.
//!
//! Quaternions are (w, x, y, z).

use std::f64::consts::PI;

/// Degrees to radians.
///
/// Computed as `π (d / 180)`, not `d (π / 180)`: with this order, the limits of the five robots agree with their
/// reference values to the last bit.
pub(super) fn radians(degrees: f64) -> f64 {
    PI * (degrees / 180.0)
}

/// The rotation about x, then about the new y, then about the newest z: `qx qy qz`.
pub(super) fn from_euler(degrees: [f64; 3]) -> [f64; 4] {
    let [(s1, c1), (s2, c2), (s3, c3)] = degrees.map(|d| (d * PI / 360.0).sin_cos());
    [
        c1 * c2 * c3 - s1 * s2 * s3,
        s1 * c2 * c3 + c1 * s2 * s3,
        c1 * s2 * c3 - s1 * c2 * s3,
        c1 * c2 * s3 + s1 * s2 * c3,
    ]
}

/// `2 (u·p) u + (s² - u·u) p + 2 s (u × p)` with `q = (s, u)`.
pub(super) fn rotate([s, ux, uy, uz]: [f64; 4], [px, py, pz]: [f64; 3]) -> [f64; 3] {
    let along = 2.0 * (ux * px + uy * py + uz * pz);
    let keep = s * s - (ux * ux + uy * uy + uz * uz);
    let cross = [uy * pz - uz * py, uz * px - ux * pz, ux * py - uy * px];
    [
        along * ux + keep * px + 2.0 * s * cross[0],
        along * uy + keep * py + 2.0 * s * cross[1],
        along * uz + keep * pz + 2.0 * s * cross[2],
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(a: [f64; 3], b: [f64; 3]) {
        assert!((0..3).all(|i| (a[i] - b[i]).abs() < 1e-15), "{a:?} is not {b:?}");
    }

    #[test]
    fn quarter_turns() {
        assert_close(rotate(from_euler([90.0, 0.0, 0.0]), [0.0, 1.0, 0.0]), [0.0, 0.0, 1.0]);
        assert_close(rotate(from_euler([0.0, 90.0, 0.0]), [0.0, 0.0, 1.0]), [1.0, 0.0, 0.0]);
        assert_close(rotate(from_euler([0.0, 0.0, 90.0]), [1.0, 0.0, 0.0]), [0.0, 1.0, 0.0]);
    }

    #[test]
    fn euler_angles_are_intrinsic() {
        // The second turn is about the y axis, which the first one has moved to z: x goes to y.
        assert_close(rotate(from_euler([90.0, 90.0, 0.0]), [1.0, 0.0, 0.0]), [0.0, 1.0, 0.0]);
    }
}
