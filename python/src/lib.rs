//! The extension module of the Python package `magpie_qd`.
//!
//! Everything here hands arrays over: what is computed, the crates of the workspace say. Classes with an underscore in
//! Python (`magpie_qd._magpie`) are wrapped by modules of `python/magpie_qd`, which check arguments and document them.
//! Work runs without the interpreter's lock, on the pool of [`threads`].

mod archive;
mod arrays;
mod demos;
mod environment;
mod environments;
mod errors;
mod plug;
mod rewards;
mod search;
mod threads;
mod xnes;

use pyo3::prelude::*;

/// The module. It holds no state that the interpreter's lock would have to protect.
#[pymodule(gil_used = false)]
mod _magpie {
    #[pymodule_export]
    use crate::archive::{Archive, report};
    #[pymodule_export]
    use crate::demos::Demonstrations;
    #[pymodule_export]
    use crate::environment::Environment;
    #[pymodule_export]
    use crate::environments::Environments;
    #[pymodule_export]
    use crate::errors::MagpieError;
    #[pymodule_export]
    use crate::rewards::RewardModel;
    #[pymodule_export]
    use crate::search::Run;
    #[pymodule_export]
    use crate::threads::set_threads;
    #[pymodule_export]
    use crate::xnes::Xnes;

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const version: &str = env!("CARGO_PKG_VERSION");
}
