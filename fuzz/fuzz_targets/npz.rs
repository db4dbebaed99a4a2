//! npz files of the library imitation.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| magpie_fuzz::demonstrations(b"PK", bytes));
