//! What is served, and by which names a client may ask for it.

use wordline_block::Description;

use crate::fields::Put;
use crate::wire::{STRING_MAX, transmission};

/// The one metadata context that the protocol itself defines: what is allocated, what reads as zeroes.
pub const ALLOCATION: &str = "base:allocation";

/// Whether an export may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It may.
    ReadWrite,
    /// A write is refused with [`wordline_block::Errno::Perm`].
    ReadOnly,
}

/// A metadata context of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// `namespace:leaf`, such as [`ALLOCATION`] or `x-wordline:media`.
    pub name: String,
}

/// One block device as clients see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Its name. The first export is also the one with the empty name.
    pub name: String,
    /// For people; empty if there is nothing to say.
    pub description: String,
    /// Size in bytes.
    pub size: u64,
    /// Whether it may be written.
    pub access: Access,
    /// Whether a flush on one connection covers the writes completed on all others.
    pub multi_conn: bool,
    /// Requests are multiples of this: a power of two, at most 64 KiB.
    pub block_min: u32,
    /// Requests of this size are done without reading around them: a power of two, at least 512.
    pub block_preferred: u32,
    /// What can be asked with `BLOCK_STATUS`.
    pub contexts: Vec<Context>,
    /// Hint classes. A client that opens `name@class`, or `name@class,class`, has them in force for its connection.
    pub classes: Vec<String>,
}

/// An export with the hint classes that a client asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Its place in the list of exports.
    pub export: usize,
    /// Places in [`Export::classes`], rising, each once.
    pub classes: Vec<usize>,
}

impl Export {
    /// A writable export of `size` bytes that takes any alignment and prefers 4 KiB, with [`ALLOCATION`] and no hint classes.
    pub fn new(name: &str, size: u64) -> Export {
        Export {
            name: name.to_owned(),
            description: String::new(),
            size,
            access: Access::ReadWrite,
            multi_conn: true,
            block_min: 1,
            block_preferred: 4096,
            contexts: vec![Context { name: ALLOCATION.to_owned() }],
            classes: Vec::new(),
        }
    }

    /// This export of a disk with this description.
    #[must_use]
    pub fn described(mut self, disk: Description) -> Export {
        self.contexts.extend(disk.contexts.into_iter().map(|name| Context { name }));
        Export { classes: disk.classes, block_preferred: disk.preferred, ..self }
    }

    /// # Panics
    /// If the export cannot be described in the protocol. That is a fault of the program that serves it.
    pub(crate) fn check(&self) {
        assert!(
            self.block_min.is_power_of_two() && self.block_min <= 1 << 16,
            "smallest block {}: a power of two up to 64 KiB",
            self.block_min
        );
        let preferred = self.block_preferred;
        assert!(
            preferred.is_power_of_two() && preferred >= self.block_min.max(512),
            "preferred block {preferred}: a power of two from 512"
        );
        assert!(self.size <= i64::MAX as u64, "size {}: at most 2^63 - 1", self.size);
        let strings =
            [&self.name, &self.description].into_iter().chain(&self.classes).chain(self.contexts.iter().map(|context| &context.name));
        for text in strings {
            assert!(text.len() <= STRING_MAX / 2 && !text.contains('\0'), "`{text}`: too long, or with NUL");
        }
        assert!(self.contexts.iter().all(|context| context.name.contains(':')), "a context's name has a namespace");
        assert!(!self.classes.iter().any(|class| class.contains([',', '@'])), "a hint class is one word");
    }

    /// Whether it may be written.
    pub(crate) fn is_writable(&self) -> bool {
        self.access == Access::ReadWrite
    }

    /// The transmission flags; `DF` only means something in structured replies.
    pub(crate) fn flags(&self, structured: bool) -> u16 {
        use transmission::*;
        let mut flags = HAS_FLAGS | SEND_FLUSH | SEND_FUA | SEND_CACHE;
        flags |= if self.is_writable() { SEND_TRIM | SEND_WRITE_ZEROES | SEND_FAST_ZERO } else { READ_ONLY };
        flags |= if self.multi_conn { CAN_MULTI_CONN } else { 0 };
        flags | if structured { SEND_DF } else { 0 }
    }

    /// Every name it is listed by: its own, then with each hint class alone.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        std::iter::once(self.name.clone()).chain(self.classes.iter().map(|class| format!("{}@{class}", self.name)))
    }

    /// Its name with hint classes behind it.
    pub(crate) fn name_with(&self, classes: &[usize]) -> String {
        let words: Vec<&str> = classes.iter().map(|&class| self.classes[class].as_str()).collect();
        if words.is_empty() { self.name.clone() } else { format!("{}@{}", self.name, words.join(",")) }
    }

    /// Its entry in a list of exports.
    pub(crate) fn put_listed(&self, name: &str, out: &mut Vec<u8>) {
        out.put_string(name);
        out.extend_from_slice(self.description.as_bytes());
    }
}

/// The export that a client means by `name`.
pub(crate) fn choose(exports: &[Export], name: &str) -> Option<Chosen> {
    let find = |name: &str| {
        if name.is_empty() { (!exports.is_empty()).then_some(0) } else { exports.iter().position(|export| export.name == name) }
    };
    if let Some(export) = find(name) {
        return Some(Chosen { export, classes: Vec::new() });
    }
    let (base, words) = name.rsplit_once('@')?;
    let export = find(base)?;
    let mut classes = Vec::new();
    for word in words.split(',') {
        classes.push(exports[export].classes.iter().position(|class| class == word)?);
    }
    classes.sort_unstable();
    classes.dedup();
    Some(Chosen { export, classes })
}

/// Why there is no export for `name`, in words: what is wrong with a hint class is said with the list of those there are.
pub(crate) fn refusal(exports: &[Export], name: &str) -> String {
    let known = name.rsplit_once('@').and_then(|(base, words)| Some((&exports[choose(exports, base)?.export], words)));
    match known {
        Some((export, words)) => {
            let wrong = words.split(',').find(|word| !export.classes.iter().any(|class| class == word)).unwrap_or(words);
            let wrong: String = wrong.chars().take(40).collect();
            format!("`{wrong}` is no hint class of {}: expected {}", export.name, export.classes.join(", "))
        }
        None => "no such export; LIST names them all".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_carry_hint_classes() {
        let mut disk = Export::new("disk", 1 << 20);
        disk.classes = ["insecure", "high"].map(String::from).to_vec();
        let exports = [Export::new("first", 512), disk, Export::new("odd@high", 512)];
        let chosen = |name| choose(&exports, name).map(|chosen| (chosen.export, chosen.classes));
        assert_eq!(chosen(""), Some((0, vec![])));
        assert_eq!(chosen("disk"), Some((1, vec![])));
        assert_eq!(chosen("disk@high"), Some((1, vec![1])));
        assert_eq!(chosen("disk@high,insecure,high"), Some((1, vec![0, 1])));
        assert_eq!(chosen("odd@high"), Some((2, vec![])), "a name of its own comes first");
        for unknown in ["disk@", "disk@low", "disk@high,", "disk@high@insecure", "first@high", "dis", "@high"] {
            assert_eq!(chosen(unknown), None, "{unknown}");
        }
        assert_eq!(refusal(&exports, "disk@high,low"), "`low` is no hint class of disk: expected insecure, high");
        assert_eq!(refusal(&exports, "dosk@high"), "no such export; LIST names them all");
        assert_eq!(exports[1].name_with(&[0, 1]), "disk@insecure,high");
        let described = Description { preferred: 16 << 10, contexts: vec!["x-wordline:media".to_owned()], classes: vec!["low".to_owned()] };
        let export = Export::new("third", 512).described(described);
        assert_eq!(export.contexts.iter().map(|context| context.name.as_str()).collect::<Vec<_>>(), [ALLOCATION, "x-wordline:media"]);
        assert_eq!((export.block_preferred, export.name_with(&[0])), (16 << 10, "third@low".to_owned()));
        assert_eq!(exports[1].names().collect::<Vec<_>>(), ["disk", "disk@insecure", "disk@high"]);
    }
}
