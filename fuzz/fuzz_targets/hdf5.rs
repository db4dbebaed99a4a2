//! HDF5 files of Minari and of D4RL.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| magpie_fuzz::demonstrations(b"\x89HDF", bytes));
