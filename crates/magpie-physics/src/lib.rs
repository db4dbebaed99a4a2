//! Rigid bodies on spring joints, in many parallel worlds.
//!
//! There are three main types. A [`Robot`](robot::Robot) is data: bodies, joints, actuators and contacts, read from a
//! TOML file and checked. A [`Model`] is a robot with a [`Perturbation`], prepared for stepping: constants are computed
//! once and rounded to the precision of the simulation. A [`World`] is state: one pack of memory per component of each
//! body, so that one pass through the formulas steps sixteen worlds.
//!
//! The physics is that of spring joints: stiff springs hold anchors together, joint limits push back softly, and
//! contacts change velocities instantly. Everything is written once, over [`Number`](magpie_simd::Number), and runs
//! either as `f64`, for exact comparisons with other implementations, or in sixteen lanes of `f32`, for speed.

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
