//! Any text as a job file of fio: a message with its place, or a workload of jobs that is sound, never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wordline_workload::{JobsSpec, fio};

fuzz_target!(|text: &str| {
    match fio::import(text, "input") {
        Err(error) => assert!(error.to_string().starts_with("input")),
        Ok(workload) => assert!(JobsSpec::parse(&workload, "input").is_ok()),
    }
});
