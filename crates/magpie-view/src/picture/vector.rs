//! Points and directions.

use std::ops::{Add, Mul, Neg, Sub};

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct V(pub [f32; 3]);

impl V {
    pub fn dot(self, other: V) -> f32 {
        self.0[0] * other.0[0] + self.0[1] * other.0[1] + self.0[2] * other.0[2]
    }

    pub fn cross(self, other: V) -> V {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        V([b * z - c * y, c * x - a * z, a * y - b * x])
    }

    pub fn length(self) -> f32 {
        self.dot(self).sqrt()
    }

    pub fn unit(self) -> V {
        self * (1.0 / self.length().max(1e-12))
    }

    /// Turned by a rotation (w, x, y, z).
    pub fn turned(self, [w, x, y, z]: [f32; 4]) -> V {
        let axis = V([x, y, z]);
        let t = axis.cross(self) * 2.0;
        self + t * w + axis.cross(t)
    }
}

impl Add for V {
    type Output = V;
    fn add(self, other: V) -> V {
        V(std::array::from_fn(|i| self.0[i] + other.0[i]))
    }
}

impl Sub for V {
    type Output = V;
    fn sub(self, other: V) -> V {
        V(std::array::from_fn(|i| self.0[i] - other.0[i]))
    }
}

impl Mul<f32> for V {
    type Output = V;
    fn mul(self, factor: f32) -> V {
        V(self.0.map(|v| v * factor))
    }
}

impl Neg for V {
    type Output = V;
    fn neg(self) -> V {
        self * -1.0
    }
}
