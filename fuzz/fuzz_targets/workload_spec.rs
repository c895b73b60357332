//! Any text as a workload: a message with its place or requests that stay on the drive, never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wordline_units::Bytes;
use wordline_workload::WorkloadSpec;

fuzz_target!(|text: &str| {
    let capacity = Bytes::mib(64);
    match WorkloadSpec::parse(text, "input") {
        Err(error) => assert!(error.to_string().starts_with("input")),
        Ok(spec) => {
            let Ok(generator) = spec.generator(1, capacity) else { return };
            for request in generator.take(200) {
                assert!((request.sector + u64::from(request.sectors)) * 512 <= capacity.0);
            }
        }
    }
});
