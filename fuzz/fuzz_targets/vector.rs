#![no_main]
//! See `cupel_fuzz::checks::vector`.

use cupel_fuzz::checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::vector(bytes));
