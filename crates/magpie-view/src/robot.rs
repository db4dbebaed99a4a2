//! The shape of a robot, as the page draws it.

use magpie_physics::robot::Robot;
use serde::Serialize;

/// A robot for the page.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shape {
    /// Its name.
    pub name: String,
    /// Names of its bodies.
    pub bodies: Vec<String>,
    /// What is seen of it.
    pub capsules: Vec<Capsule>,
    /// Numbers of the bodies whose contacts are measured.
    pub feet: Vec<usize>,
    /// Number of the body that the camera follows.
    pub root: usize,
    /// Names of its actuators.
    pub actuators: Vec<String>,
}

/// A segment with a radius in the frame of a body; a sphere has a half vector of zero.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Capsule {
    /// Number of the body.
    pub body: usize,
    /// Middle of the segment.
    pub centre: [f64; 3],
    /// From the middle to one end.
    pub half: [f64; 3],
    /// Radius in m.
    pub radius: f64,
}

impl From<&Robot> for Shape {
    fn from(robot: &Robot) -> Shape {
        let capsules = robot.bodies.iter().enumerate().flat_map(|(body, of)| {
            of.colliders.iter().map(move |collider| Capsule {
                body,
                centre: collider.centre,
                half: collider.half_vector,
                radius: collider.radius,
            })
        });
        Shape {
            name: robot.name.clone(),
            bodies: robot.bodies.iter().map(|body| body.name.clone()).collect(),
            capsules: capsules.collect(),
            feet: robot.feet.clone(),
            root: robot.root,
            actuators: robot.actuators.iter().map(|actuator| actuator.name.clone()).collect(),
        }
    }
}
