//! Sections and keys as data, and the lines of a checked plan.

use serde_json::Value as Json;

/// The section before which those of techniques stand, wherever sections are listed.
pub(crate) const BEHIND_TECHNIQUES: &str = "run";

/// Everything there is to know about a key without having a value for it.
pub(crate) struct KeyInfo {
    pub(crate) name: &'static str,
    /// What it means.
    pub(crate) doc: String,
    /// What to write.
    pub(crate) expected: String,
    /// The value where nobody wrote one, as TOML; `None`: it must be written.
    pub(crate) default: Option<String>,
    /// JSON schema of its value.
    pub(crate) schema: Json,
}

/// Everything there is to know about a section.
pub(crate) struct SectionInfo {
    /// `timing`, or `physics.wear`.
    pub(crate) path: &'static str,
    /// What it is about.
    pub(crate) doc: String,
    /// Whether a chip file may have it.
    pub(crate) of_chip: bool,
    pub(crate) keys: Vec<KeyInfo>,
}

/// A key of a checked plan with the value it has.
pub(crate) struct Line<'a> {
    pub(crate) section: &'static str,
    pub(crate) key: &'static str,
    /// The value as TOML.
    pub(crate) value: String,
    pub(crate) origin: &'a crate::layer::Origin,
}

/// A doc comment as one line.
pub(crate) fn prose(doc: &[&str]) -> String {
    doc.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}
