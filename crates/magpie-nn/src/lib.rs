//! Small networks, fast.
//!
//! Policies, critics and discriminators here have a few hundred units and meet millions of rows. At that size a general
//! framework spends its time moving data, so this crate does one thing: multi-layer perceptrons with their
//! derivatives written out, on blocks of rows that stay in the cache.
//!
//! Three nouns. A [`Shape`] says what a network is and where its parameters lie in a flat row of `f32`, so that a policy
//! is a vector and many policies are a matrix. A [`Network`] is a shape with one row of parameters loaded, ready to
//! compute. *Panels* are how rows travel: sixteen rows side by side, one [`Pack`](magpie_simd::Pack) a feature,
//! `[panel][feature]`; the simulator observes into panels, and [`rows::gather`] makes them from tables of rows.
//!
//! A block of panels goes forwards, leaving a [`Trace`], and backwards, adding to a [`Gradient`]. A [`Tangent`] adds the
//! second order: the parameter gradient of a penalty on input gradients. On top of these, [`ppo`] is a whole minibatch
//! step of proximal policy optimisation, fused. [`adam`], [`norm`], [`init`], [`gaussian`] and [`normaliser`] are what the
//! learning algorithms need beside networks.
//!
//! A [`Kernel`] says how matrices are multiplied: an [`Isa`](magpie_simd::Isa) does it in `f32`; the matrix unit of some
//! processors is faster, with fewer digits.
//!
//! Results do not depend on the number of threads, bit for bit ([`parts`]), nor on the instruction set as long as it
//! fuses products with sums. Nothing is allocated once scratch has been used. Panics mean that slices of the wrong
//! length were given.
//!
//! ```
//! use magpie_nn::adam::{Adam, AdamConfig};
//! use magpie_nn::{Gradient, Network, Shape, Trace, init};
//! use magpie_random::Stream;
//! use magpie_simd::{Isa, Pack};
//!
//! // Learn x₀ x₁ from sixteen points: one panel of two features.
//! let mut draws = Stream::new(1, "example").draws(0, 0);
//! let x = [(); 2].map(|()| Pack(std::array::from_fn(|_| draws.uniform(-1.0, 1.0))));
//! let target = Pack(std::array::from_fn(|lane| x[0].0[lane] * x[1].0[lane]));
//!
//! let shape = Shape::tanh(&[2, 32, 1])?;
//! let mut parameters = init::orthogonal(&shape, 1.4, 1.0, &mut draws);
//! let (isa, config) = (Isa::best(), AdamConfig { learning_rate: 0.01, ..AdamConfig::default() });
//! let (mut network, mut trace) = (Network::new(&shape, isa, false), Trace::new(&shape, 1));
//! let (mut gradient, mut row) = (Gradient::new(&shape), vec![0.0; shape.parameters()]);
//! let mut adam = Adam::new(shape.parameters());
//! let mut worst = f32::INFINITY;
//! for _ in 0..2000 {
//!     network.load(&parameters);
//!     let y = network.forward(&x, &mut trace)[0];
//!     let error = Pack(std::array::from_fn(|lane| y.0[lane] - target.0[lane]));
//!     worst = error.0.iter().fold(0.0, |worst, e| worst.max(e.abs()));
//!     gradient.clear();
//!     network.backward(&x, &mut trace, &[error], Some(&mut gradient), None);
//!     gradient.write(&mut row);
//!     adam.step(isa, &config, &mut parameters, &row);
//! }
//! assert!(worst < 0.02, "{worst}");
//! # Ok::<(), magpie_nn::ShapeError>(())
//! ```

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
pub use kernel::{Kernel, UnknownKernel};
pub use network::{Network, Trace};
pub use shape::{Activation, Layer, Shape, ShapeError};
pub use tangent::Tangent;
