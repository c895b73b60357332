//! The workloads that come with the program. They are the files under `studies/workloads`, so that what a user reads there is what
//! runs.

const FILES: [(&str, &str); 14] = [
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
    ("rlr-long", include_str!("../../../../studies/workloads/rlr-long.toml")),
];

/// The names of the built-in workloads, the default first.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// The text of the built-in workload of this name, comments included.
pub(super) fn text(name: &str) -> Option<&'static str> {
    FILES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
