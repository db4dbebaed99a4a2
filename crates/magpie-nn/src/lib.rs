//! Small networks.
pub mod activation;
pub mod adam;
pub mod gaussian;
mod gradient;
pub mod init;
mod kernel;
mod network;
pub mod norm;
pub mod normaliser;
pub mod parts;
pub mod ppo;
pub mod ppo_loss;
pub mod rows;
mod shape;
mod tangent;

pub use gradient::Gradient;
pub use network::{Network, Trace};
pub use shape::{Activation, Layer, Shape, ShapeError};
pub use tangent::Tangent;
