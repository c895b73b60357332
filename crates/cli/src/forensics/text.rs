//! Looking for a text in what was read: within a page, and over the border from one mapping unit to the next, wherever on flash they lie.

use wordline_units::Bytes;

use crate::failure::Failure;

/// What is looked for.
#[derive(Clone, Debug)]
pub(super) struct Needle {
    text: String,
}

/// What a copy of a unit has of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Traces {
    /// Where it begins, for the whole of it.
    pub(super) at: Vec<u32>,
    /// The last bytes of the unit, and its first: one less of either than the text has.
    tail: Vec<u8>,
    head: Vec<u8>,
}

impl Needle {
    /// `text`, which must not be longer than a unit: it lies in one then, or in two.
    pub(super) fn new(text: &str, unit: Bytes) -> Result<Needle, Failure> {
        let wrong = |what: String| Err(Failure::Usage(format!("--find: {what}")));
        match text.len() as u64 {
            0 => wrong("an empty text is everywhere; expected at least one byte".to_owned()),
            length if length > unit.0 => wrong(format!("a text of {length} bytes; expected no more than a mapping unit has, {unit}")),
            _ => Ok(Needle { text: text.to_owned() }),
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Where it begins in `bytes`.
    pub(super) fn places(&self, bytes: &[u8]) -> Vec<u32> {
        let text = self.text.as_bytes();
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(next) = bytes[from..].iter().position(|&byte| byte == text[0]) {
            let at = from + next;
            if bytes[at..].starts_with(text) {
                found.push(at as u32);
            }
            from = at + 1;
        }
        found
    }

    /// What there is of it in the bytes of a unit.
    pub(super) fn traces(&self, unit: &[u8]) -> Traces {
        let rest = (self.text.len() - 1).min(unit.len());
        Traces { at: self.places(unit), tail: unit[unit.len() - rest..].to_vec(), head: unit[..rest].to_vec() }
    }

    /// Where, before the end of a unit with the first traces, it begins and goes on in one with the others: so many bytes before it.
    pub(super) fn over_the_border(&self, first: &Traces, second: &Traces) -> Vec<u32> {
        let joined = [first.tail.as_slice(), &second.head].concat();
        // Neither end is as long as the text, so whatever is found lies in both.
        self.places(&joined).into_iter().map(|at| first.tail.len() as u32 - at).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_found_within_units_and_over_borders() {
        let needle = Needle::new("aab", Bytes(8)).unwrap();
        assert_eq!(needle.places(b"aaabaab"), [1, 4]);
        assert!(needle.places(b"").is_empty());
        for split in 0..=3 {
            let text = b"xxxxxaabyyyyy";
            let (one, two) = text.split_at(5 + split);
            let (one, two) = (needle.traces(one), needle.traces(two));
            let whole = one.at.len() + two.at.len();
            let over = needle.over_the_border(&one, &two);
            assert_eq!((whole, over), if split % 3 == 0 { (1, vec![]) } else { (0, vec![split as u32]) }, "{split}");
        }
        assert!(Needle::new("", Bytes(8)).is_err() && Needle::new("123456789", Bytes(8)).is_err());
        let one = Needle::new("a", Bytes(8)).unwrap();
        assert!(one.over_the_border(&one.traces(b"a"), &one.traces(b"a")).is_empty());
    }
}
