//! Dense numbers for the volumes of a trace, in order of first appearance.

use std::collections::BTreeMap;

use super::meaning::Spaces;

/// Names met so far. Memory grows with the number of volumes, not of records.
#[derive(Debug, Default)]
pub(crate) struct Volumes {
    names: Vec<String>,
    numbers: BTreeMap<Box<[u8]>, u32>,
    last: Box<[u8]>,
    last_number: u32,
    spaces: Spaces,
}

impl Volumes {
    /// No names yet, of volumes that are to be taken so.
    pub(crate) fn new(spaces: Spaces) -> Volumes {
        Volumes { spaces, ..Volumes::default() }
    }

    /// Number of names met. [`Volumes::names`] has fewer where all volumes are one.
    pub(crate) fn met(&self) -> usize {
        self.numbers.len()
    }

    /// The number of the volume called `name`.
    pub(crate) fn number(&mut self, name: &[u8]) -> u32 {
        // Neighbouring records mostly name the same volume.
        if *name == *self.last && !self.names.is_empty() {
            return self.last_number;
        }
        let number = match self.numbers.get(name) {
            Some(number) => *number,
            None => {
                let number = match self.spaces {
                    Spaces::Apart => self.names.len() as u32,
                    Spaces::One => 0,
                };
                match self.spaces {
                    Spaces::One if !self.names.is_empty() => {}
                    Spaces::Apart | Spaces::One => self.names.push(super::error::excerpt(name).replace(',', ".")),
                }
                self.numbers.insert(name.into(), number);
                number
            }
        };
        self.last = name.into();
        self.last_number = number;
        number
    }

    /// The names, by number.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }
}
