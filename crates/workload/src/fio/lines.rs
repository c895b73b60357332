//! The lines of a job file: sections of keys, each with its place.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::ops::Range;

use super::keys;
use crate::words::{did_you_mean, distance, nearest};

/// What is wrong, and where.
pub(super) type Fault = (Range<usize>, String);

/// Keywords that fio replaces by facts about its machine.
const MACHINE: [&str; 3] = ["$pagesize", "$mb_memory", "$ncpus"];

/// A section: the keys under one name.
#[derive(Debug)]
pub(super) struct Section<'a> {
    name: &'a str,
    span: Range<usize>,
    entries: Vec<Entry<'a>>,
}

/// A key with its value, which is empty where there is none.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    written: &'a str,
    value: Cow<'a, str>,
    span: Range<usize>,
    is_used: Cell<bool>,
    why: RefCell<Option<String>>,
    refused: RefCell<Option<String>>,
}

impl<'a> Section<'a> {
    /// Its name.
    pub(super) fn name(&self) -> &'a str {
        self.name
    }

    /// Place of its head.
    pub(super) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Its keys, in order.
    pub(super) fn entries(&self) -> &[Entry<'a>] {
        &self.entries
    }

    /// Whether its keys hold for the jobs below it.
    pub(super) fn is_global(&self) -> bool {
        self.name.eq_ignore_ascii_case("global")
    }
}

impl Entry<'_> {
    /// The key, by the name under which [`keys::class`] has it.
    pub(super) fn key(&self) -> &str {
        keys::canonical(self.written)
    }

    /// The key as it is written.
    pub(super) fn written(&self) -> &str {
        self.written
    }

    /// Its value, with variables replaced.
    pub(super) fn value(&self) -> &str {
        &self.value
    }

    /// Place of key and value.
    pub(super) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Key and value as a line.
    pub(super) fn line(&self) -> String {
        let equals = if self.value.is_empty() { "" } else { "=" };
        format!("{}{equals}{}", self.written, self.value)
    }

    /// Refuses a key that fio does not have and that is nearly one of its own.
    pub(super) fn check(&self) -> Result<(), Fault> {
        if keys::class(self.key()).is_some() {
            return Ok(());
        }
        let most = if self.written.len() > 3 { 2 } else { 1 };
        match nearest(self.written, keys::names()).filter(|near| distance(self.written, near) <= most) {
            Some(near) => Err((self.span(), format!("fio has no key '{}'; did you mean '{near}'?", self.written))),
            None => Ok(()),
        }
    }

    /// Note that the key has its counterpart.
    pub(super) fn take(&self) {
        self.is_used.set(true);
    }

    /// Whether it is to be told: it has no counterpart in any job, or not the whole of it in some.
    pub(super) fn is_told(&self) -> bool {
        !self.is_used.get() || self.why.borrow().is_some() || self.refused.borrow().is_some()
    }

    /// Note why it has no counterpart, or not the whole of it, though no request is another one because of it.
    pub(super) fn explain(&self, why: impl Into<String>) {
        *self.why.borrow_mut() = Some(why.into());
    }

    /// Note why requests would be others than those of fio.
    pub(super) fn refuse(&self, why: impl Into<String>) {
        *self.refused.borrow_mut() = Some(why.into());
    }

    /// Why requests would be others than those of fio.
    pub(super) fn refused(&self) -> Option<String> {
        self.refused.borrow().clone()
    }

    /// Why it has no counterpart, if that was said.
    pub(super) fn why(&self) -> Option<String> {
        self.refused().map(|why| format!("left out: {why}")).or_else(|| self.why.borrow().clone())
    }
}

/// The sections of a job file, in which `${NAME}` is replaced by the value of that name in `defines`. Comments begin with `#` or `;`, anywhere in a line.
pub(super) fn sections<'a>(text: &'a str, defines: &[(String, String)]) -> Result<Vec<Section<'a>>, Fault> {
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
        let (written, value) = line.split_once('=').map_or((line, ""), |(key, value)| (key.trim_end(), value.trim_start()));
        let value = replaced(value, defines).map_err(|message| (span.clone(), message))?;
        section.entries.push(Entry {
            written,
            value,
            span,
            is_used: Cell::new(false),
            why: RefCell::default(),
            refused: RefCell::default(),
        });
    }
    Ok(sections)
}

/// `value` with variables replaced.
fn replaced<'a>(value: &'a str, defines: &[(String, String)]) -> Result<Cow<'a, str>, String> {
    if !value.contains('$') {
        return Ok(Cow::Borrowed(value));
    }
    let (mut whole, mut rest) = (String::new(), value);
    while let Some(at) = rest.find("${") {
        whole.push_str(&rest[..at]);
        let Some(end) = rest[at..].find('}') else {
            return Err(format!("'{}': a variable ends with '}}', such as ${{SIZE}}", &rest[at..]));
        };
        let name = &rest[at + 2..at + end];
        let known = || defines.iter().map(|(known, _)| known.as_str());
        // The last one holds, as on most command lines.
        let Some((_, found)) = defines.iter().rfind(|(known, _)| known == name) else {
            let hint = did_you_mean(name, known());
            return Err(format!("the variable {name} is not defined: add --define {name}=VALUE (the environment is not read){hint}"));
        };
        whole.push_str(found);
        rest = &rest[at + end + 1..];
    }
    whole.push_str(rest);
    match MACHINE.iter().find(|word| whole.contains(**word)) {
        Some(word) => Err(format!("{word} is a fact about the machine that fio runs on, and not known here: write the value")),
        None => Ok(Cow::Owned(whole)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defined(names: &[(&str, &str)]) -> Vec<(String, String)> {
        names.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn variables_are_replaced_wherever_they_stand_in_a_value() {
        let defines = defined(&[("SIZE", "1"), ("UNIT", "g"), ("SIZE", "2")]);
        let sections = sections("[a]\nsize=${SIZE}${UNIT}\nfilename_format=f.$jobnum.${UNIT}\n", &defines).expect("sound");
        assert_eq!(sections[0].entries().iter().map(Entry::value).collect::<Vec<_>>(), ["2g", "f.$jobnum.g"]);
    }

    #[test]
    fn a_variable_that_nobody_defined_is_named_with_its_place() {
        let text = "[a]\nbs=4k\nsize=${SIZE}\n";
        for (names, told) in [(&[][..], "--define SIZE=VALUE"), (&[("SIZ", "1")][..], "did you mean 'SIZ'?")] {
            let (span, message) = sections(text, &defined(names)).expect_err("it is not defined");
            assert!(message.contains("SIZE is not defined") && message.contains(told), "{message}");
            assert_eq!(&text[span], "size=${SIZE}");
        }
        assert!(sections("[a]\nsize=${SIZE\n", &[]).expect_err("no end").1.contains("'}'"));
        for word in MACHINE {
            let (_, message) = sections(&format!("[a]\nsize=8*{word}\n"), &[]).expect_err(word);
            assert!(message.starts_with(word), "{message}");
        }
    }
}
