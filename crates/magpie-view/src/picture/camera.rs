//! Where the eye is, and which ray belongs to a pixel.

use super::vector::V;

/// An eye that looks at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    pub eye: V,
    forward: V,
    right: V,
    up: V,
    /// Pixels for a slope of one.
    focal: f32,
    centre: [f32; 2],
}

impl Camera {
    /// Looks at `target` from this distance: `azimuth` is 0 when it looks along y, `elevation` 0 when it looks level, both in
    /// radians; `view` is the height of what is seen at the target, in m.
    pub fn around(target: V, azimuth: f32, elevation: f32, view: f32, [width, height]: [usize; 2]) -> Camera {
        // Far away: limbs should not change their size as they swing.
        let distance = 4.0 * view;
        let back = V([azimuth.sin() * elevation.cos(), -azimuth.cos() * elevation.cos(), elevation.sin()]);
        let forward = -back;
        let right = forward.cross(V([0.0, 0.0, 1.0])).unit();
        Camera {
            eye: target + back * distance,
            forward,
            right,
            up: right.cross(forward),
            focal: height as f32 * distance / view,
            centre: [width as f32 / 2.0, height as f32 / 2.0],
        }
    }

    /// The direction of the ray through a point of the picture.
    pub fn ray(&self, x: f32, y: f32) -> V {
        let [u, v] = [(x - self.centre[0]) / self.focal, (self.centre[1] - y) / self.focal];
        (self.forward + self.right * u + self.up * v).unit()
    }

    /// Where a point is in the picture, and how many pixels a metre has there; `None` if it is behind the eye.
    pub fn project(&self, point: V) -> Option<([f32; 2], f32)> {
        let from = point - self.eye;
        let depth = from.dot(self.forward);
        let scale = self.focal / depth;
        let at = [self.centre[0] + from.dot(self.right) * scale, self.centre[1] - from.dot(self.up) * scale];
        (depth > 1e-3).then_some((at, scale))
    }
}
