//! Looking at runs: a page with the archive and the gaits of its elites, and pictures of gaits.
//!
//! A [`Run`] is a folder that is looked at, finished or under way. A *gait* is one episode of one of its elites
//! ([`magpie_run::operations::replay`]), packed for the page ([`pack`]). [`serve`] shows runs on a local page that
//! computes gaits when they are asked for, [`mod@export`] writes a page that has some of them in it, and [`picture`] draws them
//! on the processor, as moving pictures and as strips. All pages are made of the same scripts ([`page`]).
//!
//! ```no_run
//! let run = magpie_view::Run::open("runs/walker2d-gail-0".as_ref())?;
//! let server = magpie_view::serve(vec![run], None, 8420)?;
//! println!("{}", server.url);
//! server.run()?;
//! # Ok::<(), magpie_view::ViewError>(())
//! ```

mod error;
pub mod export;
mod gait;
pub mod page;
pub mod picture;
mod robot;
mod run;
pub mod server;
mod spread;

pub use error::ViewError;
pub use gait::{Precision, Query, pack};
pub use run::Run;
pub use server::serve;
pub use spread::spread;
