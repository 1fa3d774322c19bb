#![no_main]
//! See `cupel_fuzz::checks::pipeline_equals_oracle`.

use cupel_fuzz::checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::pipeline_equals_oracle(bytes));
