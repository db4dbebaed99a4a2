//! Robot files.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| magpie_fuzz::robot(bytes));
