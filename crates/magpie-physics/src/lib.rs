//! Rigid bodies on spring joints, many worlds side by side.
//!
//! Three nouns. A [`Robot`](robot::Robot) is data: bodies, joints, actuators and contacts, read from a TOML file and
//! checked. A [`Model`] is a robot under a [`Perturbation`], prepared for stepping: constants formed once and rounded
//! to the precision of the simulation. A [`World`] is state: one pack of memory for every component of every body,
//! so that sixteen worlds move in one pass through the formulas.
//!
//! The physics is that of spring joints: anchors are held together by stiff springs, joint limits push back softly,
//! contacts change velocities at once. Everything is written once over [`Number`](magpie_simd::Number) and runs as
//! `f64`, to be compared with other implementations digit by digit, or in sixteen lanes of `f32`, to be fast.

mod capsule;
mod contacts;
mod joints;
mod model;
mod perturbation;
mod pose;
mod probe;
pub mod robot;
mod vector;
mod world;

pub use joints::rates;
pub use model::Model;
pub use perturbation::{Hurdles, Perturbation, PerturbationError};
pub use pose::{lowest_point, replace, set_pose};
pub use probe::{Probe, ProbedContact, probe};
pub use vector::{Mat3, Quat, Vec3};
pub use world::{BodyState, Impact, World, begin, refresh, step, substep, touch};
