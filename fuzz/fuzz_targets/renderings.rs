#![no_main]
//! See `cupel_fuzz::renderings`.

use cupel_fuzz::renderings;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| renderings::check(bytes));
