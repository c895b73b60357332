//! The workloads that come with the program. They are the files under `studies/workloads`, so that what a user reads there is what
//! runs.

use super::{SpecError, WorkloadSpec};

const FILES: [(&str, &str); 13] = [
    ("default", include_str!("../../../../studies/workloads/default.toml")),
    ("uniform-write", include_str!("../../../../studies/workloads/uniform-write.toml")),
    ("uniform-read", include_str!("../../../../studies/workloads/uniform-read.toml")),
    ("mixed-70-30", include_str!("../../../../studies/workloads/mixed-70-30.toml")),
    ("zipf-write", include_str!("../../../../studies/workloads/zipf-write.toml")),
    ("hot-cold", include_str!("../../../../studies/workloads/hot-cold.toml")),
    ("sequential-write", include_str!("../../../../studies/workloads/sequential-write.toml")),
    ("bursts", include_str!("../../../../studies/workloads/bursts.toml")),
    ("trim-mix", include_str!("../../../../studies/workloads/trim-mix.toml")),
    ("jesd219", include_str!("../../../../studies/workloads/jesd219.toml")),
    ("fio-high", include_str!("../../../../studies/workloads/fio-high.toml")),
    ("fio-mid", include_str!("../../../../studies/workloads/fio-mid.toml")),
    ("fio-low", include_str!("../../../../studies/workloads/fio-low.toml")),
];

impl WorkloadSpec {
    /// The names of the built-in workloads, the default first.
    pub fn built_in_names() -> Vec<&'static str> {
        FILES.iter().map(|(name, _)| *name).collect()
    }

    /// The built-in workload of this name.
    pub fn built_in(name: &str) -> Result<WorkloadSpec, SpecError> {
        match FILES.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => WorkloadSpec::parse(text, &format!("{name}.toml")),
            None => Err(crate::AnySpec::unknown(name)),
        }
    }

    /// The text of the built-in workload of this name, comments included.
    pub fn built_in_text(name: &str) -> Option<&'static str> {
        FILES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }
}
