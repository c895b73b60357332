//! The command that runs, so that its results can say how they are made again, and what a workload is known again by.

use std::io::Read;
use std::path::Path;

use wordline_figures::made_by::Digest;
use wordline_figures::{MadeBy, PlanText, WorkloadName};
use wordline_plan::Plan;
use wordline_runs::MODEL;
use wordline_workload::{AnySpec, trace};

use crate::failure::Failure;

/// The command that runs, as a shell takes it.
pub(crate) fn command_line() -> String {
    let words = std::env::args().skip(1).map(|word| quoted(&word));
    std::iter::once("wordline".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// `word` as a shell takes it for one.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=,:+@%".contains(letter);
    let word: String = word.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if !word.is_empty() && word.chars().all(is_plain) { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// How results of drives with these plans are made again.
pub(crate) fn made_by<'a>(plans: impl IntoIterator<Item = &'a Plan>) -> MadeBy {
    let mut texts: Vec<PlanText> = Vec::new();
    for plan in plans {
        let (hash, text) = (plan.media_number_hex(), plan.describe());
        if !texts.iter().any(|known| known.text == text && known.drive == plan.name()) {
            texts.push(PlanText { drive: plan.name().to_owned(), hash, text });
        }
    }
    MadeBy { command: command_line(), version: env!("CARGO_PKG_VERSION").to_owned(), model: Some(MODEL.to_owned()), plans: texts }
}

/// What the workload called `name` is known again by: its file, all files of a recording of blktrace, or the text that comes with the program.
pub(crate) fn workload_name(name: &str) -> Result<WorkloadName, Failure> {
    let path = Path::new(name);
    let mut digest = Digest::default();
    match AnySpec::built_in_text(name) {
        Some(text) if !path.exists() => digest.take(text.as_bytes()),
        Some(_) | None => {
            for file in trace::files(path) {
                take(&file, &mut digest).map_err(|error| Failure::File { path: file, error })?;
            }
        }
    }
    Ok(digest.of(name))
}

fn take(path: &Path, digest: &mut Digest) -> std::io::Result<()> {
    let mut file = std::fs::File::open(path)?;
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(()),
            count => digest.take(&piece[..count]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_take_them_apart() {
        assert_eq!(quoted("--set"), "--set");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn a_built_in_workload_has_the_digest_of_its_text() {
        let mut digest = Digest::default();
        let text = AnySpec::built_in_text("default").expect("it is built in");
        digest.take(text.as_bytes());
        assert_eq!(workload_name("default").expect("it is built in"), digest.of("default"));
        assert!(workload_name("/no/such/trace").is_err());
    }
}
