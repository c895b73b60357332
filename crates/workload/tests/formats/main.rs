//! Trace formats: is each read for what it means, put into the order of its times, and an unknown one refused with a way out?

mod any_bytes;
mod disorder;
#[path = "../../../../xtask/src/suite/outside.rs"]
mod outside;
mod recording;
mod recordings;
mod requests;
mod samples;
mod shared_traces;
mod unknown;

/// A folder of one test's own, removed at the end.
struct Scratch(std::path::PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let folder = std::env::temp_dir().join(format!("wordline-formats-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a scratch folder");
        Scratch(folder)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
