//! fio's own recipe for a power cut: load, note what was acknowledged, pull the plug, and verify what was noted.
//!
//! Many jobs, each with one write at a time: fio's note holds the last few completions only, so with a deep queue it takes a write that was overtaken by many
//! for acknowledged.

use serde_json::Value;

use super::bench::{Bench, said};

/// Jobs that write at the same time.
const JOBS: u32 = 8;

/// One load and its target.
pub(super) struct Cut<'a> {
    bench: &'a Bench,
    /// Where it writes, and how.
    target: Vec<String>,
    seed: u64,
}

impl<'a> Cut<'a> {
    pub(super) fn new(bench: &'a Bench, target: &[&str], seed: u64) -> Cut<'a> {
        Cut { bench, target: target.iter().map(|&word| word.to_owned()).collect(), seed }
    }

    fn fio(&self, more: &[&str]) -> std::process::Command {
        let seed = format!("--randseed={}", self.seed);
        let jobs = format!("--numjobs={JOBS}");
        let job = [
            "--name=cut",
            jobs.as_str(),
            "--iodepth=1",
            "--rw=randwrite",
            "--bs=4k",
            "--verify=crc32c",
            "--verify_fatal=1",
            "--output-format=json",
            seed.as_str(),
        ];
        let target = self.target.iter().map(String::as_str);
        let words: Vec<&str> = job.into_iter().chain(target).chain(more.iter().copied()).collect();
        self.bench.command("fio", &words)
    }

    /// Writes for so many seconds, then sends `signal` (KILL or TERM) to `pid`. What had been acknowledged by then is in a file that [`Cut::verify`] reads.
    pub(super) fn load_and_end(&self, seconds: u64, signal: &str, pid: u32) -> Result<(), String> {
        let state = self.bench.folder.join("local-cut-0-verify.state");
        // One that was left by the round before would be believed.
        let _ = std::fs::remove_file(&state);
        let (after, kill) = (format!("--trigger-timeout={seconds}"), format!("--trigger=kill -{signal} {pid}"));
        let mut fio = self.fio(&["--do_verify=0", "--verify_state_save=1", &after, &kill]);
        println!("$ {}", crate::steps::shown(&fio));
        // That it ends badly is the point.
        fio.output().map_err(|error| format!("cannot start fio: {error}"))?;
        if state.exists() { Ok(()) } else { Err("fio's load ended before the drive did".to_owned()) }
    }

    /// Verifies what was acknowledged, and returns how many blocks that were.
    pub(super) fn verify(&self) -> Result<u64, String> {
        let told = said(self.fio(&["--verify_only=1", "--verify_state_load=1"]))?;
        // Before the object there may be remarks.
        let object = told.find('{').map_or("", |at| &told[at..]);
        let value: Value = serde_json::from_str(object).map_err(|error| format!("fio's JSON: {error}"))?;
        let jobs = value["jobs"].as_array().ok_or("fio's JSON has no jobs")?;
        if let Some(job) = jobs.iter().find(|job| job["error"].as_u64() != Some(0)) {
            return Err(format!("fio ends with error {}", job["error"]));
        }
        match jobs.iter().filter_map(|job| job["read"]["total_ios"].as_u64()).sum() {
            0 => Err("fio verified nothing".to_owned()),
            count => Ok(count),
        }
    }
}
