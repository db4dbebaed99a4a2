//! Small matrices for xNES: row-major slices with d of about 10 at most.
//!
//! A matrix library would add more code than the four functions below have lines.

/// The matrix with `entries` on its diagonal.
pub(crate) fn diagonal(entries: &[f64]) -> Vec<f64> {
    let d = entries.len();
    let mut matrix = vec![0.0; d * d];
    for (i, entry) in entries.iter().enumerate() {
        matrix[i * d + i] = *entry;
    }
    matrix
}

/// a + b.
pub(crate) fn add(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// M v.
pub(crate) fn apply(matrix: &[f64], v: &[f64]) -> Vec<f64> {
    matrix.chunks_exact(v.len()).map(|row| row.iter().zip(v).map(|(m, v)| m * v).sum()).collect()
}

/// L R.
pub(crate) fn multiply(left: &[f64], right: &[f64], d: usize) -> Vec<f64> {
    let entry = |i: usize, j: usize| (0..d).map(|k| left[i * d + k] * right[k * d + j]).sum();
    (0..d * d).map(|at| entry(at / d, at % d)).collect()
}

/// M⁻¹ v by Gaussian elimination with row pivots, or `None` if M is singular.
pub(crate) fn solve(matrix: &[f64], v: &[f64]) -> Option<Vec<f64>> {
    let d = v.len();
    let (mut m, mut x) = (matrix.to_vec(), v.to_vec());
    for column in 0..d {
        let size = |row: &usize| m[row * d + column].abs();
        let pivot = (column..d).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        if m[pivot * d + column] == 0.0 {
            return None;
        }
        for k in 0..d {
            m.swap(column * d + k, pivot * d + k);
        }
        x.swap(column, pivot);
        for row in column + 1..d {
            let factor = m[row * d + column] / m[column * d + column];
            for k in column..d {
                m[row * d + k] -= factor * m[column * d + k];
            }
            x[row] -= factor * x[column];
        }
    }
    for row in (0..d).rev() {
        let known: f64 = (row + 1..d).map(|k| m[row * d + k] * x[k]).sum();
        x[row] = (x[row] - known) / m[row * d + row];
    }
    Some(x)
}

/// exp(S) = V exp(Λ) Vᵀ for symmetric S, from its eigenvectors. exp(S) of a symmetric matrix is positive definite, and
/// so is this result for any size of S, unlike that of a power series.
pub(crate) fn exp_symmetric(symmetric: &[f64], d: usize) -> Vec<f64> {
    let (eigenvalues, vectors) = eigen_symmetric(symmetric, d);
    let entry = |i: usize, j: usize| {
        (0..d).map(|k| vectors[i * d + k] * eigenvalues[k].exp() * vectors[j * d + k]).sum()
    };
    (0..d * d).map(|at| entry(at / d, at % d)).collect()
}

/// Eigenvalues, and eigenvectors as columns, by cyclic Jacobi rotations (Golub & Van Loan, 8.5).
fn eigen_symmetric(symmetric: &[f64], d: usize) -> (Vec<f64>, Vec<f64>) {
    // Convergence is quadratic: a few sweeps reach rounding precision, and the limit only guards against NaN.
    const MAX_SWEEPS: usize = 50;
    let mut m = symmetric.to_vec();
    let mut vectors = diagonal(&vec![1.0; d]);
    let norm: f64 = m.iter().map(|x| x * x).sum();
    for _ in 0..MAX_SWEEPS {
        let off_diagonal: f64 = (0..d * d).filter(|at| at / d != at % d).map(|at| m[at] * m[at]).sum();
        if off_diagonal <= norm * f64::EPSILON * f64::EPSILON {
            break;
        }
        for p in 0..d {
            for q in p + 1..d {
                if m[p * d + q] != 0.0 {
                    rotate(&mut m, &mut vectors, d, p, q);
                }
            }
        }
    }
    ((0..d).map(|i| m[i * d + i]).collect(), vectors)
}

/// The rotation in the plane (p, q) that makes entry (p, q) of `m` zero, applied to `m` and accumulated in `vectors`.
fn rotate(m: &mut [f64], vectors: &mut [f64], d: usize, p: usize, q: usize) {
    let theta = (m[q * d + q] - m[p * d + p]) / (2.0 * m[p * d + q]);
    let tangent = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = tangent * cosine;
    for k in 0..d {
        let (kp, kq) = (m[k * d + p], m[k * d + q]);
        m[k * d + p] = cosine * kp - sine * kq;
        m[k * d + q] = sine * kp + cosine * kq;
    }
    for k in 0..d {
        let (pk, qk) = (m[p * d + k], m[q * d + k]);
        m[p * d + k] = cosine * pk - sine * qk;
        m[q * d + k] = sine * pk + cosine * qk;
    }
    for k in 0..d {
        let (kp, kq) = (vectors[k * d + p], vectors[k * d + q]);
        vectors[k * d + p] = cosine * kp - sine * kq;
        vectors[k * d + q] = sine * kp + cosine * kq;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: &[f64], b: &[f64], tolerance: f64) {
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() <= tolerance, "{a} and {b}");
        }
    }

    /// A symmetric matrix with entries of size one.
    fn symmetric(d: usize) -> Vec<f64> {
        (0..d * d).map(|at| ((at / d) * (at % d) + at / d + at % d) as f64).map(|x| (1.3 * x).sin()).collect()
    }

    #[test]
    fn exponential_agrees_with_its_series() {
        for d in 1..=8 {
            let s = symmetric(d);
            let mut term = diagonal(&vec![1.0; d]);
            let mut series = term.clone();
            for k in 1..60 {
                term = multiply(&term, &s, d).iter().map(|x| x / f64::from(k)).collect();
                series = add(&series, &term);
            }
            let largest = series.iter().fold(0.0f64, |a, x| a.max(x.abs()));
            close(&exp_symmetric(&s, d), &series, 1e-13 * largest);
        }
    }

    #[test]
    fn exponential_of_opposites_are_inverse() {
        let s = symmetric(5);
        let minus: Vec<f64> = s.iter().map(|x| -x).collect();
        let product = multiply(&exp_symmetric(&s, 5), &exp_symmetric(&minus, 5), 5);
        close(&product, &diagonal(&[1.0; 5]), 1e-11);
    }

    #[test]
    fn solve_undoes_apply() {
        let matrix = [0.0, 2.0, 1.0, 1.0, 0.0, 3.0, 4.0, 1.0, -1.0];
        let v = [1.0, -2.0, 0.5];
        close(&solve(&matrix, &apply(&matrix, &v)).unwrap(), &v, 1e-14);
        assert_eq!(solve(&[1.0, 2.0, 2.0, 4.0], &[1.0, 1.0]), None);
    }
}
