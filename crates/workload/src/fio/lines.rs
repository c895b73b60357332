//! The lines of a job file: sections of keys, each with its place.

use std::cell::{Cell, RefCell};
use std::ops::Range;

/// What is wrong, and where.
pub(super) type Fault = (Range<usize>, String);

/// A section: the keys under one name.
#[derive(Debug)]
pub(super) struct Section<'a> {
    pub(super) name: &'a str,
    /// Place of its head.
    pub(super) span: Range<usize>,
    pub(super) entries: Vec<Entry<'a>>,
}

/// A key with its value, which is empty where there is none.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) key: &'a str,
    pub(super) value: &'a str,
    /// Place of both.
    pub(super) span: Range<usize>,
    is_used: Cell<bool>,
    why: RefCell<Option<String>>,
}

impl Section<'_> {
    /// Whether its keys hold for the jobs below it.
    pub(super) fn is_global(&self) -> bool {
        self.name.eq_ignore_ascii_case("global")
    }
}

impl Entry<'_> {
    /// Note that the key has its counterpart.
    pub(super) fn take(&self) {
        self.is_used.set(true);
    }

    /// Whether it is to be told: it has no counterpart in any job, or not the whole of it in some.
    pub(super) fn is_told(&self) -> bool {
        !self.is_used.get() || self.why.borrow().is_some()
    }

    /// Note why it has no counterpart, or not the whole of it.
    pub(super) fn explain(&self, why: impl Into<String>) {
        *self.why.borrow_mut() = Some(why.into());
    }

    /// Why it has none, if that was said.
    pub(super) fn why(&self) -> Option<String> {
        self.why.borrow().clone()
    }
}

/// The sections of a job file. Comments begin with `#` or `;`, anywhere in a line.
pub(super) fn sections(text: &str) -> Result<Vec<Section<'_>>, Fault> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut begin = 0;
    for whole in text.split_inclusive('\n') {
        let from = begin;
        begin += whole.len();
        let line = whole.split(['#', ';']).next().unwrap_or_default();
        let start = from + (line.len() - line.trim_start().len());
        let line = line.trim();
        let span = start..start + line.len();
        if line.is_empty() {
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            let Some(name) = rest.strip_suffix(']') else {
                return Err((span, "a section's head ends with ']', such as [reader]".to_owned()));
            };
            sections.push(Section { name: name.trim(), span, entries: Vec::new() });
            continue;
        }
        if line.split_whitespace().next() == Some("include") {
            return Err((span, "include is not followed: put the lines of that file here".to_owned()));
        }
        let Some(section) = sections.last_mut() else {
            return Err((span, "a key before the first [section]".to_owned()));
        };
        let (key, value) = line.split_once('=').map_or((line, ""), |(key, value)| (key.trim_end(), value.trim_start()));
        if line.contains('$') {
            return Err((span, "variables of the environment are not known here: write the value".to_owned()));
        }
        section.entries.push(Entry { key, value, span, is_used: Cell::new(false), why: RefCell::new(None) });
    }
    Ok(sections)
}
