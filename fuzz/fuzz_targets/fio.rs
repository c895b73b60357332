//! Any text as a job file of fio: a message with its place, or a workload of jobs or phases that is sound, never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wordline_workload::{AnySpec, fio};

fuzz_target!(|text: &str| {
    for is_lenient in [false, true] {
        match fio::import(text, "input", &fio::ImportOptions { is_lenient, defines: vec![("A".to_owned(), "4k".to_owned())] }) {
            Err(error) => assert!(error.to_string().starts_with("input")),
            Ok(imported) => assert!(AnySpec::parse(&imported.workload, "input").is_ok()),
        }
    }
});
