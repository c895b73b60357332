//! How results came about: enough to make the same run again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The command that made a report, and the drives that it made them of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MadeBy {
    /// The whole command, as a shell takes it. With this version and the files it names it gives the same results again.
    pub command: String,
    /// The version of Wordline.
    pub version: String,
    /// Model id: the first 32 hexadecimal digits of BLAKE3 over the code and the files that results depend on. Absent in results of builds that had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The whole checked plan of each drive at each age, each once.
    pub plans: Vec<PlanText>,
}

/// A checked plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanText {
    /// The drive's name.
    pub drive: String,
    /// The hash of the plan, as in `plan_hash` of the drives.
    pub hash: String,
    /// All of its values, with the source of each, as `wordline describe` prints them.
    pub text: String,
}

/// What was asked of one drive. Its size is in `capacity`, and its seed and the hash of its plan are beside this.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Asked {
    /// The workload.
    pub workload: WorkloadName,
    /// The age that the cells were set to before the run, in words; null where they are new.
    pub age: Option<String>,
    /// Time for which a saved drive lay without power before the run. Absent where that was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "s"))]
    pub lain: Option<f64>,
    /// What the cells do: `physics of CHIP`, or `fixed times of CHIP`, with the chip as the drive's file names it.
    pub cells: String,
    /// The share of the drive that was written, in order, before the run; null where it was loaded from a file.
    pub fill: Option<f64>,
    /// Mapping units that were written before the run, because the trace reads them before it writes them. Absent where that was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "mapping units"))]
    pub prefilled_reads: Option<u64>,
    /// Faults that were to happen in the run, in words, from the beginning of its load. Absent where there were none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
}

/// A workload, and what it is known again by.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadName {
    /// Its name, or its file, as it was asked for.
    pub name: String,
    /// The digest of its file, or of its built-in text: FNV-1a of 64 bits over the bytes as they are on the disk, in hexadecimal.
    pub digest: String,
    /// Size of that file or text in bytes.
    #[schemars(extend("x-unit" = "B"))]
    pub bytes: u64,
}

/// FNV-1a of 64 bits, taken in piece by piece: the same on every machine and in every release of the compiler.
#[derive(Clone, Copy, Debug)]
pub struct Digest {
    hash: u64,
    bytes: u64,
}

impl Default for Digest {
    fn default() -> Digest {
        Digest { hash: 0xcbf2_9ce4_8422_2325, bytes: 0 }
    }
}

impl Digest {
    /// Takes in what follows.
    pub fn take(&mut self, bytes: &[u8]) {
        self.hash = bytes.iter().fold(self.hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
        self.bytes += bytes.len() as u64;
    }

    /// What `name` is known again by.
    pub fn of(self, name: &str) -> WorkloadName {
        WorkloadName { name: name.to_owned(), digest: format!("{:016x}", self.hash), bytes: self.bytes }
    }
}

/// What identifies one run beside the command.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunName {
    /// The drive's name.
    pub drive: String,
    /// The hash of its plan.
    pub plan_hash: String,
    /// The seed.
    pub seed: u64,
    /// What the host sees of it, in bytes.
    pub exported_bytes: u64,
    /// What was asked of it.
    pub asked: Asked,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_the_published_one_however_it_is_cut() {
        let mut whole = Digest::default();
        whole.take(b"foobar");
        let mut parts = Digest::default();
        parts.take(b"foo");
        parts.take(b"bar");
        assert_eq!(whole.of("x"), parts.of("x"));
        // The test vector of the authors of FNV.
        assert_eq!(whole.of("x"), WorkloadName { name: "x".to_owned(), digest: "85944171f73967e8".to_owned(), bytes: 6 });
    }
}
