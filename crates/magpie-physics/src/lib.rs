//! Rigid bodies on spring joints.
pub mod robot;
