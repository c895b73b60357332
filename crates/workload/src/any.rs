//! Workloads of any kind: phases or jobs of independent requests, or files.

use crate::file::{FileSpec, built_in};
use crate::spec::{JobsSpec, SpecError, Streams, WorkloadSpec, streams};
use crate::words::did_you_mean;

/// Names that the papers use for workloads that come with the program under another one.
const ALSO: [(&str, &str); 3] = [
    // 003 §6.1: "emulate I/O activities of mail servers, web servers, and proxy cache servers", with Filebench.
    ("mail", "varmail"),
    ("web", "webserver"),
    ("proxy", "webproxy"),
];

/// A workload as a file describes it.
#[derive(Clone, Debug, PartialEq)]
pub enum AnySpec {
    /// Phases, each with a mix, sizes, addresses and arrivals.
    Phases(WorkloadSpec),
    /// Jobs at the same time, in one phase or several, each with a mix, sizes, addresses and arrivals.
    Jobs(JobsSpec),
    /// Files, and threads that do things to them.
    Files(FileSpec),
}

impl AnySpec {
    /// Read a workload file; `file` is its name in messages. What has sets of files is a workload of files.
    pub fn parse(text: &str, file: &str) -> Result<AnySpec, SpecError> {
        let has_sets = text
            .parse::<toml::Table>()
            .is_ok_and(|table| table.contains_key("sets") && !table.contains_key("phases") && !table.contains_key("jobs"));
        if has_sets {
            return FileSpec::parse(text, file).map(AnySpec::Files);
        }
        Ok(match streams(text, file)? {
            Streams::Phases(spec) => AnySpec::Phases(spec),
            Streams::Jobs(spec) => AnySpec::Jobs(spec),
        })
    }

    /// The names of the built-in workloads, the default first.
    pub fn built_in_names() -> Vec<&'static str> {
        [WorkloadSpec::built_in_names(), JobsSpec::built_in_names(), FileSpec::built_in_names()].concat()
    }

    /// The name under which `name` comes with the program: itself, unless it is a paper's word for it.
    pub fn full_name(name: &str) -> &str {
        ALSO.iter().find(|(short, _)| *short == name).map_or(name, |(_, full)| full)
    }

    /// The papers' words for the built-in workload `name`.
    pub fn other_names(name: &str) -> impl Iterator<Item = &'static str> {
        ALSO.iter().filter(move |(_, full)| *full == name).map(|(short, _)| *short)
    }

    /// The built-in workload of this name.
    pub fn built_in(name: &str) -> Result<AnySpec, SpecError> {
        let name = AnySpec::full_name(name);
        match (FileSpec::built_in(name), JobsSpec::built_in(name)) {
            (Some(spec), _) => spec.map(AnySpec::Files),
            (None, Some(spec)) => spec.map(AnySpec::Jobs),
            (None, None) => WorkloadSpec::built_in(name).map(AnySpec::Phases),
        }
    }

    /// The text of the built-in workload of this name, comments included.
    pub fn built_in_text(name: &str) -> Option<&'static str> {
        let name = AnySpec::full_name(name);
        let of_files = built_in::FILES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
        of_files.or_else(|| JobsSpec::built_in_text(name)).or_else(|| WorkloadSpec::built_in_text(name))
    }

    /// What it is for, in a sentence.
    pub fn purpose(&self) -> &str {
        match self {
            AnySpec::Phases(spec) => &spec.purpose,
            AnySpec::Jobs(spec) => &spec.purpose,
            AnySpec::Files(spec) => &spec.purpose,
        }
    }

    /// Nothing of this name comes with the program.
    pub(crate) fn unknown(name: &str) -> SpecError {
        let names = AnySpec::built_in_names();
        let words = names.iter().copied().chain(ALSO.iter().map(|(short, _)| *short));
        let (known, hint) = (names.join(", "), did_you_mean(name, words));
        SpecError::at(name, "", None, format!("not a built-in workload; known are {known}{hint}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_papers_word_is_the_workload_it_means_and_hides_none() {
        for (short, full) in ALSO {
            assert!(!AnySpec::built_in_names().contains(&short) && AnySpec::built_in_names().contains(&full), "{short}");
            assert_eq!(AnySpec::built_in(short).unwrap(), AnySpec::built_in(full).unwrap());
            assert_eq!(AnySpec::built_in_text(short), AnySpec::built_in_text(full));
            assert!(AnySpec::other_names(full).any(|name| name == short));
        }
        assert!(AnySpec::built_in("prxy").unwrap_err().to_string().contains("did you mean 'proxy'?"));
    }
}
