//! Errors of the lab: reasons why a study, a bench or a question was refused.

use wordline_plan::{Mistake, Place, PlanError, nearest};
use wordline_runs::RunError;

/// A request to the lab that cannot be carried out.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// Mistakes in a text, in one place or in several.
    #[error("{}", .0.iter().map(Mistake::to_string).collect::<Vec<_>>().join("\n\n"))]
    Mistakes(Vec<Mistake>),
    /// A name that nothing has.
    #[error("there is no {kind} called \"{name}\"\n  = help: {help}")]
    Unknown {
        /// Kind of thing that was looked for.
        kind: &'static str,
        /// Name that was given.
        name: String,
        /// The nearest right word, or the list of all.
        help: String,
    },
    /// A chip file that is wrong.
    #[error("{0}")]
    Plan(#[from] PlanError),
    /// A run that cannot be made.
    #[error("{0}")]
    Run(#[from] RunError),
    /// Any other request that cannot be carried out.
    #[error("{0}")]
    Usage(String),
}

impl LabError {
    /// The error that there is no `kind` called `name`; `names` are those there are.
    pub fn unknown<'a>(kind: &'static str, name: &str, names: impl IntoIterator<Item = &'a str> + Clone) -> LabError {
        LabError::Unknown { kind, name: wordline_plan::shown(name), help: help(name, names) }
    }
}

/// Text of help for a wrong name: "did you mean" the nearest, or the whole list.
pub(crate) fn help<'a>(name: &str, names: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(name, names.clone()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => {
            let names: Vec<&str> = names.into_iter().collect();
            let more = if names.len() > 24 { format!(" and {} more", names.len() - 24) } else { String::new() };
            format!("there are {}{more}", names.iter().take(24).copied().collect::<Vec<_>>().join(", "))
        }
    }
}

/// Collects the mistakes of one text.
pub(crate) struct Mistakes<'a> {
    file: &'a str,
    text: &'a str,
    found: Vec<(usize, Mistake)>,
}

impl<'a> Mistakes<'a> {
    pub(crate) fn new(file: &'a str, text: &'a str) -> Mistakes<'a> {
        Mistakes { file, text, found: Vec::new() }
    }

    /// The place of `span` in the text.
    pub(crate) fn place(&self, span: std::ops::Range<usize>) -> Place {
        Place::of(self.file, self.text, span)
    }

    pub(crate) fn at(&mut self, span: std::ops::Range<usize>, what: impl Into<String>, help: Option<String>) {
        let place = Some(self.place(span.clone()));
        self.found.push((span.start, Mistake { place, what: what.into(), help }));
    }

    /// The value that was read, if no mistake was found.
    pub(crate) fn unless_any<T>(mut self, read: T) -> Result<T, LabError> {
        if self.found.is_empty() {
            return Ok(read);
        }
        self.found.sort_by_key(|(start, _)| *start);
        Err(LabError::Mistakes(self.found.into_iter().map(|(_, mistake)| mistake).collect()))
    }
}
