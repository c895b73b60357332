//! The texts a plan is made of, and where in them each value stands.

use std::ops::Range;

use crate::error::{Mistake, Place};

/// One text: a drive file, its parents, its chip, or the settings of a command line. The nearest comes first.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    /// What to call it in messages: a file's name, or `--set`.
    pub(crate) name: String,
    /// The text itself.
    pub(crate) text: String,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Origin {
    /// Written in a text.
    Written {
        /// Which text: its place in the plan's list.
        layer: usize,
        /// Where in it.
        span: Range<usize>,
        /// Who says so.
        source: Option<String>,
    },
    /// Handed in by the program.
    Caller,
    /// Nobody wrote it; the key's default holds.
    Default,
}

/// A value and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Set<T> {
    pub(crate) value: T,
    pub(crate) origin: Origin,
}

impl<T> Set<T> {
    /// The value nobody wrote.
    pub(crate) fn default_of(value: T) -> Set<T> {
        Set { value, origin: Origin::Default }
    }
}

/// Collects mistakes, each with its place.
pub(crate) struct Mistakes<'a> {
    layers: &'a [Layer],
    /// Each with its layer and its place there, for the order in which they are told.
    found: Vec<(usize, usize, Mistake)>,
}

impl<'a> Mistakes<'a> {
    pub(crate) fn new(layers: &'a [Layer]) -> Mistakes<'a> {
        Mistakes { layers, found: Vec::new() }
    }

    /// A mistake at a value.
    pub(crate) fn at(&mut self, origin: &Origin, what: impl Into<String>, help: Option<String>) {
        let place = match origin {
            Origin::Written { layer, span, .. } => self.layers.get(*layer).map(|layer| Place::of(&layer.name, &layer.text, span.clone())),
            Origin::Default | Origin::Caller => None,
        };
        let (layer, start) = match origin {
            Origin::Written { layer, span, .. } => (*layer, span.start),
            Origin::Default | Origin::Caller => (usize::MAX, 0),
        };
        self.found.push((layer, start, Mistake { place, what: what.into(), help }));
    }

    /// A mistake of the plan as a whole.
    pub(crate) fn whole(&mut self, what: impl Into<String>, help: Option<String>) {
        let name = self.layers.first().map_or("plan", |layer| layer.name.as_str());
        self.found.push((usize::MAX, 0, Mistake { place: None, what: format!("{name}: {}", what.into()), help }));
    }

    /// How many there are so far.
    pub(crate) fn count(&self) -> usize {
        self.found.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// All of them in the order of the texts, those of the plan as a whole last.
    pub(crate) fn into_found(mut self) -> Vec<Mistake> {
        self.found.sort_by_key(|(layer, start, _)| (*layer, *start));
        self.found.into_iter().map(|(_, _, mistake)| mistake).collect()
    }
}
