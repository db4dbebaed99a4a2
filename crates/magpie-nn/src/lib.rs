//! Fast small neural networks.
//!
//! Policies, critics and discriminators have a few hundred units and process millions of rows. At that size a general
//! framework spends its time moving data, so this crate does one thing: multi-layer perceptrons with hand-written
//! derivatives, on blocks of rows that stay in cache.
//!
//! There are three main types. A [`Shape`] describes a network and the layout of its parameters in a flat row of `f32`,
//! so that a policy is a vector and many policies are a matrix. A [`Network`] is a shape with one row of parameters,
//! ready to compute. *Panels* hold sixteen rows side by side, one [`Pack`](magpie_simd::Pack) per feature,
//! `[panel][feature]`; the simulator writes observations as panels, and [`rows::gather`] makes them from tables of
//! rows.
//!
//! A forward pass of a block of panels fills a [`Trace`], and a backward pass adds to a [`Gradient`]. A [`Tangent`]
//! adds the second order: the parameter gradient of a penalty on input gradients. On top of these, [`ppo`] implements a
//! complete, fused minibatch step of proximal policy optimisation. [`adam`], [`norm`], [`init`], [`gaussian`] and
//! [`normaliser`] provide what learning algorithms need in addition to networks.
//!
//! A [`Kernel`] determines how matrices are multiplied: an [`Isa`](magpie_simd::Isa) does it in `f32`; the matrix unit
//! of some processors is faster but less precise.
//!
//! Results do not depend on the number of threads, bit for bit ([`parts`]), nor on the instruction set if it has fused
//! multiply-adds. Nothing is allocated after the first use of scratch memory. Functions panic if slices have the wrong
//! length.
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

mod activation;
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
mod ppo_loss;
pub mod rows;
mod shape;
mod tangent;

pub use gradient::Gradient;
pub use kernel::{Kernel, UnknownKernel};
pub use network::{Network, Trace};
pub use shape::{Activation, Layer, Shape, ShapeError};
pub use tangent::Tangent;
