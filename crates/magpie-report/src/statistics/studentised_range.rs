//! The distribution of the studentised range, which Tukey's test needs.
//!
//! Draw k standard normals and, independently, s with ν s² ~ χ²(ν). Q is their range (largest minus smallest) divided
//! by s. With φ, Φ the normal density and distribution and Φ̄ = 1 − Φ (Lund and Lund, Algorithm AS 190, 1983):
//!
//! ```text
//! W(w) = k ∫ φ(z) [Φ(z+w) − Φ(z)]^(k−1) dz                       P(range ≤ w), z being the smallest
//! F(q) = ∫ f(s) W(q s) ds,   f(s) ∝ s^(ν−1) exp(−ν s²/2)         P(Q ≤ q);  F = W for ν = ∞
//! ```
//!
//! The upper tail is integrated on its own, so that small probabilities keep their digits. As k ∫ φ Φ̄^(k−1) dz = 1,
//!
//! ```text
//! 1 − W(w) = k ∫ φ(z) Φ̄(z)^(k−1) { 1 − [1 − Φ̄(z+w)/Φ̄(z)]^(k−1) } dz
//! ```
//!
//! in which every term is positive.
//!
//! Method: the trapezoidal rule on the whole line, for the outer integral in t = ln s. On analytic integrands that
//! vanish at both ends it converges exponentially in the inverse of the step (Trefethen and Weideman, "The
//! exponentially convergent trapezoidal rule", 2014). If the integrand grows like exp(a y²) in the imaginary
//! direction, the error is about exp(−π²/(a h²)): a ≤ k/2 in z and a ≤ ν+k in t, from which the steps below follow.
//! The density f is divided by its own sum under the same rule, so that no gamma function is needed and none can
//! cancel at large ν.
//!
//! Error: below 1e-13 in F and below 1e-11 relative in the upper tail down to 1e-250, for 2 ≤ k ≤ 1000 and every ν ≥ 1
//! including infinity, found by comparing with steps half as long, with scipy and with mpmath (see the tests). One value
//! for ten groups takes a tenth to a third of a millisecond.

use libm::erfc;

use super::error::StatisticsError;

/// Terms smaller than this, relative to the sum, end a sum.
const NEGLIGIBLE: f64 = 1e-18;
/// φ(z) beyond this distance is negligible (3e-18 of its peak).
const REACH: f64 = 9.0;
/// The smallest z that still matters: below, probabilities underflow.
const LOWEST: f64 = -48.0;

/// More degrees of freedom are like infinitely many: F changes by about 1/ν. (And t² would drown in t.)
const FAR: f64 = 1e15;
/// As far as the error was looked at; there a value takes a twentieth of a second at worst.
const MOST_GROUPS: u32 = 1000;

/// The distribution of the range of k means, in units of their estimated standard error.
#[derive(Clone, Debug)]
pub struct StudentisedRange {
    groups: u32,
    df: f64,
    /// Step of the outer rule, in t = ln s.
    step: f64,
    nodes: Vec<Node>,
}

/// A node of the inner rule.
#[derive(Clone, Copy, Debug)]
struct Node {
    z: f64,
    /// Φ̄(z).
    upper: f64,
    /// k φ(z) times the step.
    weight: f64,
    /// k φ(z) Φ̄(z)^(k−1) times the step.
    weight_of_lowest: f64,
}

/// Which of the two tails.
#[derive(Clone, Copy, PartialEq)]
enum Tail {
    Lower,
    Upper,
}

impl StudentisedRange {
    /// The distribution for `groups` means (2 to 1000) and `df` degrees of freedom (at least 1, may be infinite).
    pub fn new(groups: u32, df: f64) -> Result<Self, StatisticsError> {
        if groups < 2 {
            return Err(StatisticsError::TooFewGroups(groups as usize));
        }
        if groups > MOST_GROUPS {
            let (found, expected) = (f64::from(groups), "at most 1000");
            return Err(StatisticsError::Parameter { name: "number of groups", found, expected });
        }
        if df.is_nan() || df < 1.0 {
            let expected = "at least 1, or infinite";
            return Err(StatisticsError::Parameter { name: "degrees of freedom", found: df, expected });
        }
        Ok(Self::with_steps(groups, df, 1.0))
    }

    /// The same with all steps multiplied by `factor`.
    fn with_steps(groups: u32, df: f64, factor: f64) -> Self {
        let k = f64::from(groups);
        let inner = factor * (0.7 / k.sqrt()).max(0.05);
        let count = ((REACH - LOWEST) / inner) as usize;
        let node = |i| {
            let z = REACH - inner * i as f64;
            let density = (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
            let (upper, weight) = (upper_normal(z), k * density * inner);
            Node { z, upper, weight, weight_of_lowest: weight * upper.powi(groups as i32 - 1) }
        };
        let step = factor * (0.45 / (df + k).sqrt()).min(0.1);
        Self { groups, df, step, nodes: (0..=count).map(node).collect() }
    }

    /// P(Q ≤ q). NaN only if q is.
    pub fn cdf(&self, q: f64) -> f64 {
        if q.is_nan() { q } else { self.tail(q, Tail::Lower) }
    }

    /// P(Q > q), with a small relative error also where it is tiny. NaN only if q is.
    pub fn sf(&self, q: f64) -> f64 {
        if q.is_nan() { q } else { self.tail(q, Tail::Upper) }
    }

    /// The q with P(Q ≤ q) = `p`, for 0 < `p` < 1.
    pub fn quantile(&self, p: f64) -> Result<f64, StatisticsError> {
        if !(p > 0.0 && p < 1.0) {
            let expected = "between 0 and 1";
            return Err(StatisticsError::Parameter { name: "probability", found: p, expected });
        }
        // In logarithms both tails are nearly straight lines. `excess` falls with q.
        let excess = |x: f64| {
            if p < 0.5 { p.ln() - self.cdf(x.exp()).ln() } else { self.sf(x.exp()).ln() - (-p).ln_1p() }
        };
        let (mut low, mut high) = (0.0, 1.0);
        let (mut above, mut below) = (excess(low), excess(high));
        while above < 0.0 {
            (high, below) = (low, above);
            low -= 1.0;
            above = excess(low);
        }
        while below > 0.0 {
            (low, above) = (high, below);
            high += 1.0;
            below = excess(high);
        }
        Ok(false_position(excess, (low, above), (high, below)).exp())
    }

    fn tail(&self, q: f64, tail: Tail) -> f64 {
        if q <= 0.0 || q.is_infinite() {
            return if (q > 0.0) == (tail == Tail::Lower) { 1.0 } else { 0.0 };
        }
        if self.df > FAR {
            return self.range_tail(q, tail).min(1.0);
        }
        let k = f64::from(self.groups);
        // ln f up to a constant that makes it 0 at its peak, t = 0.
        let log_density = |t: f64| self.df * (t - 0.5 * (2.0 * t).exp_m1());
        // W(q s) rises at most as s^(k−1), so beyond this end nothing is left.
        let mut end = 0;
        let at = |i: i64| i as f64 * self.step;
        while log_density(at(end)) + (k - 1.0) * at(end) > -45.0 {
            end += 1;
        }
        let (mut sum, mut all) = (0.0, 0.0);
        let mut settled = false;
        let mut probability = 0.0;
        for i in (i64::MIN..=end).rev() {
            let weight = log_density(at(i)).exp();
            all += weight;
            if !settled {
                // The upper tail rises to one as s falls, and stays there.
                if tail == Tail::Lower || probability < 1.0 - f64::EPSILON {
                    probability = self.range_tail(q * at(i).exp(), tail);
                }
                let term = weight * probability;
                sum += term;
                settled = sum > 0.0 && term < NEGLIGIBLE * sum;
            }
            if i < 0 && weight < NEGLIGIBLE * all && (settled || weight == 0.0) {
                break;
            }
        }
        (sum / all).min(1.0)
    }

    /// W(w) or 1 − W(w).
    fn range_tail(&self, w: f64, tail: Tail) -> f64 {
        let power = self.groups as i32 - 1;
        match tail {
            Tail::Lower => {
                let all_within = |node: &Node| (node.upper - upper_normal(node.z + w)).powi(power);
                self.between(-REACH, REACH).map(|node| node.weight * all_within(node)).sum()
            }
            Tail::Upper => {
                let some_beyond = |node: &Node| {
                    let share = (upper_normal(node.z + w) / node.upper).min(1.0);
                    -(f64::from(power) * (-share).ln_1p()).exp_m1()
                };
                // φ(z) Φ̄(z+w) is a bump around −w/2 that is narrower than φ.
                self.between(-0.5 * w - REACH, -0.5 * w + REACH)
                    .map(|node| node.weight_of_lowest * some_beyond(node))
                    .sum()
            }
        }
    }

    /// The nodes with z in a range, from the highest down.
    fn between(&self, lowest: f64, highest: f64) -> impl Iterator<Item = &Node> {
        let first = self.nodes.partition_point(|node| node.z > highest);
        self.nodes[first..].iter().take_while(move |node| node.z >= lowest)
    }
}

/// Φ̄(z) = 1 − Φ(z).
fn upper_normal(z: f64) -> f64 {
    0.5 * erfc(z * std::f64::consts::FRAC_1_SQRT_2)
}

/// The zero of a falling function between a point above and a point below it (false position with the Illinois rule,
/// Dowell and Jarratt 1971).
fn false_position(f: impl Fn(f64) -> f64, above: (f64, f64), below: (f64, f64)) -> f64 {
    let ((mut low, mut f_low), (mut high, mut f_high)) = (above, below);
    let mut last = 0;
    // It takes about ten rounds; a hundred halvings would be enough for any function.
    for _ in 0..100 {
        let x = (low * f_high - high * f_low) / (f_high - f_low);
        let x = if x > low && x < high { x } else { 0.5 * (low + high) };
        let y = f(x);
        if y == 0.0 || high - low < 1e-13 {
            return x;
        }
        let side = if y > 0.0 { 1 } else { -1 };
        if side > 0 {
            (low, f_low) = (x, y);
            if side == last {
                f_high *= 0.5;
            }
        } else {
            (high, f_high) = (x, y);
            if side == last {
                f_low *= 0.5;
            }
        }
        last = side;
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relative(got: f64, want: f64) -> f64 {
        (got / want - 1.0).abs()
    }

    #[test]
    fn steps_half_as_long_change_nothing() {
        for groups in [2, 3, 10, 50] {
            for df in [1.0, 5.0, 20.0, 300.0, 1e9, f64::INFINITY] {
                let coarse = StudentisedRange::new(groups, df).unwrap();
                let fine = StudentisedRange::with_steps(groups, df, 0.5);
                for q in [0.3, 1.0, 3.0, 5.0, 8.0, 30.0] {
                    let (cdf, sf) = (coarse.cdf(q), coarse.sf(q));
                    let place = format!("{groups} groups, df {df}, q {q}");
                    assert!((cdf - fine.cdf(q)).abs() < 1e-13, "{place}: {cdf}");
                    assert!(sf < 1e-250 || relative(sf, fine.sf(q)) < 1e-11, "{place}: {sf:e}");
                    assert!((cdf + sf - 1.0).abs() < 1e-14, "{place}: the tails do not sum to one");
                }
            }
        }
    }

    #[test]
    fn two_groups_are_students_t() {
        // P(Q > q) = I_x(ν/2, 1/2) with x = ν/(ν + q²/2); the incomplete beta function by mpmath with 30 digits.
        for (q, df, want) in [
            (1e6, 1.0, 9.003163161565059e-7),
            (100.0, 1.0, 0.00900256302270864),
            (1e3, 2.0, 1.99999400002e-6),
            (40.0, 10.0, 7.094496652576542e-11),
            (30.0, 200.0, 4.379717693408206e-53),
            (1e-3, 7.0, 0.9994555399206887),
        ] {
            let got = StudentisedRange::new(2, df).unwrap().sf(q);
            assert!(relative(got, want) < 1e-12, "q {q}, df {df}: {got:e} for {want:e}");
        }
    }

    #[test]
    fn known_variance_and_many_groups() {
        // P(range > w), by quadrature in mpmath with 30 to 250 digits; of two groups it is erfc(w/2).
        for (w, groups, want) in [
            (30.0, 2, 7.212994172451207e-100),
            (40.0, 3, 1.6187596834823703e-175),
            (12.0, 10, 9.683825946252486e-16),
            (0.5, 10, 0.9999985866194843),
            (8.0, 1000, 0.005616562076031943),
            (6.0, 1000, 0.8392362423486772),
        ] {
            let got = StudentisedRange::new(groups, f64::INFINITY).unwrap().sf(w);
            assert!(relative(got, want) < 1e-12, "w {w}, {groups} groups: {got:e} for {want:e}");
        }
    }

    #[test]
    fn many_degrees_of_freedom_lead_to_known_variance() {
        let limit = StudentisedRange::new(5, f64::INFINITY).unwrap().cdf(4.0);
        for df in [1e6, 1e9, 1e12, 0.99e15, 1.01e15, f64::MAX] {
            let cdf = StudentisedRange::new(5, df).unwrap().cdf(4.0);
            assert!((cdf - limit).abs() < 1.0 / df + 1e-13, "df {df}: {cdf} for {limit}");
        }
    }

    #[test]
    fn the_quantile_inverts_the_cdf() {
        for groups in [2, 7, 50] {
            for df in [1.0, 4.0, 60.0, f64::INFINITY] {
                let distribution = StudentisedRange::new(groups, df).unwrap();
                for p in [0.001, 0.01, 0.3, 0.5, 0.95, 0.9999] {
                    let q = distribution.quantile(p).unwrap();
                    assert!(relative(distribution.cdf(q), p) < 1e-11, "{groups} groups, df {df}, p {p}: {q}");
                }
            }
        }
    }

    #[test]
    fn ends_and_impossible_parameters() {
        let distribution = StudentisedRange::new(3, 10.0).unwrap();
        assert_eq!((distribution.cdf(0.0), distribution.cdf(-1.0), distribution.sf(0.0)), (0.0, 0.0, 1.0));
        assert_eq!((distribution.cdf(f64::INFINITY), distribution.sf(f64::INFINITY)), (1.0, 0.0));
        assert!(distribution.cdf(f64::NAN).is_nan() && distribution.sf(f64::NAN).is_nan());
        assert!(relative(distribution.cdf(1e300), 1.0) < 1e-13 && distribution.sf(1e300) < 1e-300);
        assert!(distribution.cdf(1e-300) < 1e-300 && relative(distribution.sf(1e-300), 1.0) < 1e-13);
        for (groups, df) in [(0, 5.0), (1, 5.0), (1001, 5.0), (3, 0.5), (3, f64::NAN), (3, f64::NEG_INFINITY)]
        {
            assert!(StudentisedRange::new(groups, df).is_err(), "{groups} groups, df {df}");
        }
        for p in [0.0, 1.0, -0.1, f64::NAN] {
            assert!(distribution.quantile(p).is_err(), "p {p}");
        }
    }
}
