//! A moment of a gait, drawn ray by ray.

use magpie_run::operations::Trajectory;

use super::camera::Camera;
use super::canvas::{CONTACT, Canvas, Colour, Theme, mix};
use super::vector::V;

/// A moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Shot {
    capsules: Vec<Capsule>,
    hurdles: Vec<Capsule>,
    root: V,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Capsule {
    a: V,
    b: V,
    radius: f32,
    colour: Colour,
}

/// From the ground to the lamp: high, from the left and in front.
const LAMP: V = V([-0.38, -0.42, 0.82]);
/// Rays a pixel along each side.
const RAYS: usize = 2;
/// Side of a field of the ground, in m.
const FIELD: f32 = 0.5;
/// A surface of hurdles.
const HURDLE: Colour = super::canvas::hex(0x8a8f98);

impl Shot {
    /// A gait after `step` steps, in one colour; limbs of the left side are lighter, and bodies that touch something lit.
    pub fn of(trajectory: &Trajectory, step: usize, colour: Colour) -> Shot {
        let robot = &trajectory.robot;
        let touched = |body: usize| {
            let steps = trajectory.steps();
            steps > 0 && trajectory.touched[step.saturating_sub(1).min(steps - 1) * robot.bodies.len() + body]
        };
        let mut capsules = Vec::new();
        for (index, body) in robot.bodies.iter().enumerate() {
            let (pos, rot) = trajectory.pose(step, index);
            let place = |v: [f64; 3]| V(pos) + V(v.map(|v| v as f32)).turned(rot);
            let lit = robot.feet.contains(&index) && touched(index);
            let own = if body.name.contains("left") { mix(colour, [1.0; 3], 0.35) } else { colour };
            let colour = if lit { CONTACT } else { own };
            for collider in &body.colliders {
                let end = |sign: f64| {
                    place(std::array::from_fn(|i| collider.centre[i] + sign * collider.half_vector[i]))
                };
                capsules.push(Capsule { a: end(-1.0), b: end(1.0), radius: collider.radius as f32, colour });
            }
        }
        let root = V(trajectory.pose(step, robot.root).0);
        Shot { capsules, hurdles: hurdles(trajectory, root.0[0]), root }
    }

    /// Where the robot is.
    pub fn root(&self) -> [f32; 3] {
        self.root.0
    }

    /// Draws it, seen from the side and a little from above, with the eye moving along.
    pub fn draw(&self, target: [f32; 3], view: f32, size: [usize; 2], theme: Theme) -> Canvas {
        let fine = size.map(|side| side * RAYS);
        let camera = Camera::around(V(target), 0.42, 0.2, view, fine);
        let solid: Vec<&Capsule> = self.capsules.iter().chain(&self.hurdles).collect();
        let nearest = nearest(&solid, &camera, fine);
        let shadows: Vec<Shade> = solid.iter().map(|capsule| Shade::of(capsule)).collect();
        let mut canvas = Canvas::new(size[0], size[1], theme.paper());
        for (at, pixel) in canvas.pixels.iter_mut().enumerate() {
            let mut sum = [0.0; 3];
            for ray in 0..RAYS * RAYS {
                let [x, y] = [at % size[0] * RAYS + ray % RAYS, at / size[0] * RAYS + ray / RAYS];
                let direction = camera.ray(x as f32 + 0.5, y as f32 + 0.5);
                let colour = match nearest[y * fine[0] + x] {
                    Some((capsule, distance)) => {
                        lit(solid[capsule as usize], camera.eye + direction * distance, direction)
                    }
                    None => ground(camera.eye, direction, V(target), view, theme, &solid, &shadows),
                };
                sum = std::array::from_fn(|i| sum[i] + colour[i]);
            }
            *pixel = sum.map(|v| v / (RAYS * RAYS) as f32);
        }
        canvas
    }
}

/// The hurdles that can be seen, each a bar on two posts.
fn hurdles(trajectory: &Trajectory, x: f32) -> Vec<Capsule> {
    let Some(h) = trajectory.perturbation.hurdles.filter(|h| h.height > 0.0) else { return Vec::new() };
    let places = (0..h.count).map(|i| (h.first + h.spacing * f64::from(i)) as f32);
    let radius = (h.thickness / 2.0) as f32;
    let top = (h.height as f32 - radius).max(0.0);
    let near = places.skip_while(|place| *place < x - 6.0).take_while(|place| *place < x + 6.0);
    near.flat_map(|place| {
        let point = |y: f32, z: f32| V([place, y, z]);
        let part = |a: V, b: V, radius: f32| Capsule { a, b, radius, colour: HURDLE };
        let post = |y: f32| part(point(y, 0.0), point(y, top), 0.6 * radius);
        [part(point(-0.8, top), point(0.8, top), radius), post(-0.8), post(0.8)]
    })
    .collect()
}

/// For each ray, the capsule that it meets first and the distance to it.
fn nearest(capsules: &[&Capsule], camera: &Camera, [width, height]: [usize; 2]) -> Vec<Option<(u16, f32)>> {
    let mut met: Vec<Option<(u16, f32)>> = vec![None; width * height];
    for (index, capsule) in capsules.iter().enumerate() {
        let ends = [capsule.a, capsule.b].map(|end| camera.project(end));
        let [Some((a, scale_a)), Some((b, scale_b))] = ends else { continue };
        let margin = 1.1 * capsule.radius * scale_a.max(scale_b) + 1.0;
        let range = |axis: usize, most: usize| {
            let low = (a[axis].min(b[axis]) - margin).clamp(0.0, most as f32) as usize;
            let high = (a[axis].max(b[axis]) + margin).clamp(0.0, most as f32) as usize;
            low..high
        };
        for y in range(1, height) {
            for x in range(0, width) {
                let direction = camera.ray(x as f32 + 0.5, y as f32 + 0.5);
                let Some(distance) = meets(camera.eye, direction, capsule) else { continue };
                let place = &mut met[y * width + x];
                if place.is_none_or(|(_, before)| distance < before) {
                    *place = Some((index as u16, distance));
                }
            }
        }
    }
    met
}

/// The distance at which a ray meets a capsule: the first root of a quadratic for the tube or for the ball at its nearer end.
fn meets(eye: V, ray: V, capsule: &Capsule) -> Option<f32> {
    let (ba, oa) = (capsule.b - capsule.a, eye - capsule.a);
    let (baba, bard, baoa) = (ba.dot(ba), ba.dot(ray), ba.dot(oa));
    let r2 = capsule.radius * capsule.radius;
    let ball = |from: V| {
        let (b, c) = (ray.dot(from), from.dot(from) - r2);
        let h = b * b - c;
        (h > 0.0).then(|| -b - h.sqrt())
    };
    if baba < 1e-9 {
        return ball(oa).filter(|&t| t > 0.0);
    }
    let a = baba - bard * bard;
    let b = baba * ray.dot(oa) - baoa * bard;
    let c = baba * oa.dot(oa) - baoa * baoa - r2 * baba;
    let h = b * b - a * c;
    if h < 0.0 {
        return None;
    }
    let t = (-b - h.sqrt()) / a;
    let along = baoa + t * bard;
    let found = if along > 0.0 && along < baba {
        Some(t)
    } else {
        ball(if along <= 0.0 { oa } else { eye - capsule.b })
    };
    found.filter(|&t| t > 0.0)
}

/// The colour of a point of a capsule: light from the lamp, from the sky and back from the ground.
fn lit(capsule: &Capsule, point: V, ray: V) -> Colour {
    let ba = capsule.b - capsule.a;
    let share = ((point - capsule.a).dot(ba) / ba.dot(ba).max(1e-9)).clamp(0.0, 1.0);
    let normal = (point - capsule.a - ba * share).unit();
    let lamp = LAMP.unit();
    let direct = (normal.dot(lamp) * 0.75 + 0.25).max(0.0);
    let sky = 0.5 + 0.5 * normal.0[2];
    let shine = (lamp - ray).unit().dot(normal).max(0.0).powi(40);
    let light = 0.30 + 0.22 * sky + 0.62 * direct;
    std::array::from_fn(|i| capsule.colour[i] * light + 0.16 * shine)
}

/// The shadow of a capsule on the ground: a stroke between the shadows of its ends.
struct Shade {
    low: [f32; 2],
    high: [f32; 2],
}

impl Shade {
    fn of(capsule: &Capsule) -> Shade {
        let fall = |p: V| [p.0[0] - LAMP.0[0] / LAMP.0[2] * p.0[2], p.0[1] - LAMP.0[1] / LAMP.0[2] * p.0[2]];
        let (a, b) = (fall(capsule.a), fall(capsule.b));
        // An edge is as soft as its capsule is high.
        let margin = 1.5 * capsule.radius + 0.12 * capsule.a.0[2].max(capsule.b.0[2]).max(0.0) + 0.02;
        Shade {
            low: std::array::from_fn(|i| a[i].min(b[i]) - margin),
            high: std::array::from_fn(|i| a[i].max(b[i]) + margin),
        }
    }

    fn covers(&self, point: V) -> bool {
        (0..2).all(|i| point.0[i] > self.low[i] && point.0[i] < self.high[i])
    }
}

/// The share of the lamp that a point of the ground sees past a capsule: how near its rays pass, compared with how far away
/// that is.
fn passes(point: V, capsule: &Capsule) -> f32 {
    let lamp = LAMP.unit();
    let (ba, oa) = (capsule.b - capsule.a, point - capsule.a);
    let (oad, dba, baba, oaba) = (oa.dot(lamp), lamp.dot(ba), ba.dot(ba), oa.dot(ba));
    let bottom = (baba - dba * dba).max(1e-9);
    let share = ((oaba - oad * dba) / bottom).clamp(0.0, 1.0);
    let on = capsule.a + ba * share;
    let along = (on - point).dot(lamp).max(1e-3);
    let gap = (point + lamp * along - on).length() - capsule.radius;
    let s = (gap / (0.05 * along + 0.012) + 0.5).clamp(0.0, 1.0);
    s * s * (3.0 - 2.0 * s)
}

fn ground(
    eye: V,
    ray: V,
    target: V,
    view: f32,
    theme: Theme,
    capsules: &[&Capsule],
    shades: &[Shade],
) -> Colour {
    let paper = theme.paper();
    if ray.0[2] > -1e-4 {
        return paper;
    }
    let point = eye + ray * (-eye.0[2] / ray.0[2]);
    let field = |v: f32| (v / FIELD).floor() as i64;
    let [even, odd] = theme.ground();
    let dark = (field(point.0[0]) + field(point.0[1])).rem_euclid(2) == 1;
    let away = ((point - V([target.0[0], target.0[1], 0.0])).length() / (2.6 * view)).clamp(0.0, 1.0);
    let haze = (away * away * 8.0).round() / 8.0;
    let colour = mix(if dark { odd } else { even }, paper, haze);
    let near = capsules.iter().zip(shades).filter(|(_, shade)| shade.covers(point));
    let light = near.map(|(capsule, _)| passes(point, capsule)).fold(1.0f32, f32::min);
    let depth = match theme {
        Theme::Light => 0.40,
        Theme::Dark => 0.62,
    };
    colour.map(|v| v * (1.0 - depth * (1.0 - light) * (1.0 - haze)))
}
