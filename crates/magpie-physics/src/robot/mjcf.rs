//! A robot as MJCF, so that it opens in MuJoCo and in what reads its files.
//!
//! Shapes, masses, joints, limits and strengths are the robot's. The motion is not: here joints are springs that hold anchors
//! together, there they are exact, so that a policy has to be trained again.

use std::fmt::Write;

use super::rotation::rotate;
use super::{Body, GroundEnds, Joint, Robot};
use crate::model::Model;
use crate::perturbation::Perturbation;
use crate::pose::set_pose;
use crate::world::World;

impl Robot {
    /// The robot in its default pose on flat ground, as the text of an MJCF file.
    pub fn to_mjcf(&self) -> String {
        let [x, y, z] = self.gravity;
        let mut text = format!(
            "<mujoco model=\"{}\">\n  <!-- Shapes, masses, joints, limits and strengths as in magpie, whose joints are springs:\n       \
             the motion differs. -->\n  <compiler angle=\"radian\" autolimits=\"true\"/>\n  \
             <option timestep=\"{}\" gravity=\"{x} {y} {z}\"/>\n  <worldbody>\n    \
             <light pos=\"0 0 4\" dir=\"0 0 -1\" directional=\"true\"/>\n    \
             <geom name=\"ground\" type=\"plane\" size=\"50 50 1\" friction=\"{} 0.005 0.0001\"/>\n",
            escaped(&self.name),
            self.substep_dt(),
            self.ground.friction
        );
        let model: Model<f64> = Model::new(self, &Perturbation::default());
        let mut world = World::new(&model);
        let rates = vec![0.0; model.dof()];
        set_pose::<f64>((), &model, &model.rest_angles(), &rates, &mut world.bodies);
        self.write_body(&mut text, self.root, None, world.bodies[self.root].pos, [1.0, 0.0, 0.0, 0.0], 2);
        text.push_str("  </worldbody>\n  <actuator>\n");
        for actuator in &self.actuators {
            let joint = &self.joints[actuator.joint];
            for axis in 0..joint.dof() {
                let _ = writeln!(
                    text,
                    "    <motor joint=\"{}\" gear=\"{}\" ctrlrange=\"-1 1\"/>",
                    escaped(&axis_name(joint, axis)),
                    actuator.strength
                );
            }
        }
        text.push_str("  </actuator>\n</mujoco>\n");
        text
    }

    fn write_body(
        &self,
        text: &mut String,
        index: usize,
        joint: Option<&Joint>,
        pos: [f64; 3],
        rot: [f64; 4],
        depth: usize,
    ) {
        let body = &self.bodies[index];
        let indent = "  ".repeat(depth);
        // Writing into a string cannot fail.
        let _ = writeln!(
            text,
            "{indent}<body name=\"{}\" pos=\"{}\" quat=\"{}\">",
            escaped(&body.name),
            numbers(&pos),
            numbers(&rot)
        );
        let inside = "  ".repeat(depth + 1);
        match joint {
            None => root_joints(text, body, &inside),
            Some(joint) => {
                for (axis, [low, high]) in joint.limits.iter().enumerate() {
                    let _ = writeln!(
                        text,
                        "{inside}<joint name=\"{}\" type=\"hinge\" pos=\"{}\" axis=\"{}\" range=\"{low} {high}\" damping=\"{}\"/>",
                        escaped(&axis_name(joint, axis)),
                        numbers(&joint.child_anchor),
                        numbers(&joint.child_axes[axis]),
                        joint.angular_damping
                    );
                }
            }
        }
        let _ = writeln!(
            text,
            "{inside}<inertial pos=\"0 0 0\" mass=\"{}\" diaginertia=\"{}\"/>",
            body.mass,
            numbers(&body.inertia)
        );
        for capsule in &body.colliders {
            let end = |sign: f64| -> [f64; 3] {
                std::array::from_fn(|i| capsule.centre[i] + sign * capsule.half_vector[i])
            };
            let place = match capsule.half_vector.iter().all(|&v| v == 0.0) {
                true => format!(
                    "type=\"sphere\" pos=\"{}\" size=\"{}\"",
                    numbers(&capsule.centre),
                    capsule.radius
                ),
                false => format!(
                    "type=\"capsule\" fromto=\"{} {}\" size=\"{}\"",
                    numbers(&end(-1.0)),
                    numbers(&end(1.0)),
                    capsule.radius
                ),
            };
            // Two geoms collide if a type of one is among the affinities of the other: here, with the ground alone.
            let touches = if capsule.ground_ends == GroundEnds::None { 0 } else { 1 };
            let _ = writeln!(
                text,
                "{inside}<geom {place} contype=\"0\" conaffinity=\"{touches}\" friction=\"{} 0.005 0.0001\"/>",
                capsule.material.friction
            );
        }
        for joint in self.joints.iter().filter(|joint| joint.parent == index) {
            let anchor = rotate(joint.reference, joint.child_anchor);
            let pos = std::array::from_fn(|i| joint.parent_anchor[i] - anchor[i]);
            self.write_body(text, joint.child, Some(joint), pos, joint.reference, depth + 1);
        }
        let _ = writeln!(text, "{indent}</body>");
    }
}

/// Free, or along and about the axes that the root can move in.
fn root_joints(text: &mut String, body: &Body, indent: &str) {
    if body.moves == [true; 3] && body.turns == [true; 3] {
        let _ = writeln!(text, "{indent}<freejoint name=\"root\"/>");
        return;
    }
    for (kind, free) in [("slide", body.moves), ("hinge", body.turns)] {
        for (axis, _) in free.iter().enumerate().filter(|(_, free)| **free) {
            let mut along = [0; 3];
            along[axis] = 1;
            let [x, y, z] = along;
            let _ = writeln!(
                text,
                "{indent}<joint name=\"root {kind} {}\" type=\"{kind}\" axis=\"{x} {y} {z}\" limited=\"false\"/>",
                ["x", "y", "z"][axis]
            );
        }
    }
}

fn axis_name(joint: &Joint, axis: usize) -> String {
    if joint.dof() == 1 { joint.name.clone() } else { format!("{} axis {}", joint.name, axis + 1) }
}

fn numbers(values: &[f64]) -> String {
    values.iter().map(|v| format!("{}", *v as f32)).collect::<Vec<_>>().join(" ")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robot::BUILTIN;

    #[test]
    fn every_body_capsule_and_actuator_is_written() {
        for (name, text) in BUILTIN {
            let robot = Robot::from_toml(text, name).unwrap();
            let mjcf = robot.to_mjcf();
            let count = |what: &str| mjcf.matches(what).count();
            assert_eq!(count("<body "), robot.bodies.len(), "{name}");
            assert_eq!(count("</body>"), robot.bodies.len(), "{name}");
            assert_eq!(count("<motor "), robot.action_size(), "{name}");
            let capsules: usize = robot.bodies.iter().map(|body| body.colliders.len()).sum();
            assert_eq!(count("<geom ") - 1, capsules, "{name}");
            assert_eq!(count("damping="), robot.dof(), "{name}");
        }
    }

    #[test]
    fn names_cannot_break_the_file() {
        let (_, text) = BUILTIN[2];
        let mut robot = Robot::from_toml(text, "hopper").unwrap();
        robot.name = "<\"&>".to_owned();
        assert!(robot.to_mjcf().contains("model=\"&lt;&quot;&amp;&gt;\""));
    }
}
