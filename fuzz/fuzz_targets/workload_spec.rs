//! Any text as a workload: a message with its place or requests that stay on the drive, never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wordline_units::{Bytes, HostRequest};
use wordline_workload::{AnySpec, Generator, JobsGenerator};

const CAPACITY: Bytes = Bytes::mib(64);

fn stay(requests: impl Iterator<Item = HostRequest>) {
    for request in requests.take(200) {
        assert!((request.sector + u64::from(request.sectors)) * 512 <= CAPACITY.0);
    }
}

fuzz_target!(|text: &str| {
    match AnySpec::parse(text, "input") {
        Err(error) => assert!(error.to_string().starts_with("input")),
        Ok(AnySpec::Phases(spec)) => Generator::new(&spec, 1, CAPACITY).into_iter().for_each(stay),
        Ok(AnySpec::Jobs(spec)) => {
            let Ok(mut jobs) = JobsGenerator::new(&spec, 1, CAPACITY) else { return };
            for job in 0..spec.jobs().count() {
                stay(std::iter::from_fn(|| jobs.next_of(job)));
            }
        }
        Ok(AnySpec::Files(_)) => {}
    }
});
