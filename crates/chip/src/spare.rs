//! The spare (out-of-band) area of a block: one logical page number per mapping unit.
//!
//! A 32-TB drive has two thousand million pages, so a block keeps the coarsest form that still tells the truth: nothing, one arithmetic
//! progression, one number per page, or one number per unit. Programming refines the form when it must; an erase keeps the array, so that
//! a drive in its steady state allocates nothing.

use wordline_units::Lpn;

/// The number that stands for a unit without data.
pub const PADDING: Lpn = Lpn(u32::MAX);

/// The spare area of one block. How many pages of it mean anything is the block's business.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Spare {
    /// Nothing was ever written.
    #[default]
    Empty,
    /// Unit `u` of page `p` holds `first + p × page_step + u`.
    Regular { first: u32, page_step: u32 },
    /// The units of page `p` hold consecutive numbers from entry `p`; [`PADDING`] is a page of nothing.
    PageGrain(Box<[u32]>),
    /// Unit `u` of page `p` holds entry `p × units + u`.
    UnitGrain(Box<[u32]>),
    /// As the die's store says, which was opened again: see `wake.rs`.
    Stored,
}

/// The shape of every block's spare area.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grain {
    /// Pages in a block.
    pub(crate) pages: u32,
    /// Mapping units in a page.
    pub(crate) units: u32,
}

impl Spare {
    /// What unit `unit` of page `page` holds.
    #[inline]
    pub(crate) fn get(&self, grain: Grain, page: u32, unit: u32) -> Lpn {
        match self {
            Spare::Empty | Spare::Stored => PADDING,
            // Of a page that is not programmed this means nothing, and may be any number.
            Spare::Regular { first, page_step } => Lpn(first.saturating_add(page.saturating_mul(*page_step)).saturating_add(unit)),
            Spare::PageGrain(pages) => match pages[page as usize] {
                u32::MAX => PADDING,
                first => Lpn(first.saturating_add(unit)),
            },
            Spare::UnitGrain(units) => Lpn(units[(page * grain.units + unit) as usize]),
        }
    }

    /// Append what page `page` holds.
    #[inline]
    pub(crate) fn append(&self, grain: Grain, page: u32, into: &mut Vec<Lpn>) {
        if grain.units == 1 {
            return into.push(self.get(grain, page, 0));
        }
        into.extend((0..grain.units).map(|unit| self.get(grain, page, unit)));
    }

    /// Forget what page `page` holds, which is not programmed.
    pub(crate) fn blank(&mut self, grain: Grain, page: u32) {
        match self {
            Spare::PageGrain(pages) => pages[page as usize] = PADDING.0,
            Spare::UnitGrain(units) => units[(page * grain.units) as usize..][..grain.units as usize].fill(PADDING.0),
            Spare::Empty | Spare::Regular { .. } | Spare::Stored => {}
        }
    }

    /// Write a page's units.
    #[inline]
    pub(crate) fn set(&mut self, grain: Grain, page: u32, units: &[Lpn]) {
        if grain.units == 1 {
            // One unit per page: the two arrays are the same array.
            if let Spare::PageGrain(pages) = self {
                pages[page as usize] = units[0].0;
                return;
            }
        }
        match self {
            Spare::UnitGrain(all) => {
                let start = (page * grain.units) as usize;
                for (to, from) in all[start..start + units.len()].iter_mut().zip(units) {
                    *to = from.0;
                }
            }
            Spare::PageGrain(pages) if let Some(first) = consecutive(units) => pages[page as usize] = first,
            Spare::Empty | Spare::Regular { .. } | Spare::PageGrain(_) => self.refine(grain, page, units),
            Spare::Stored => {}
        }
    }

    /// Take the next finer form that holds what is there and this page too.
    #[cold]
    fn refine(&mut self, grain: Grain, page: u32, units: &[Lpn]) {
        let by_page = !matches!(self, Spare::PageGrain(_)) && consecutive(units).is_some();
        let old = std::mem::take(self);
        let width = if by_page { 1 } else { grain.units };
        let mut entries = vec![u32::MAX; (grain.pages * width) as usize].into_boxed_slice();
        for other in 0..grain.pages {
            for unit in 0..width {
                entries[(other * width + unit) as usize] = old.get(grain, other, unit).0;
            }
        }
        *self = if by_page { Spare::PageGrain(entries) } else { Spare::UnitGrain(entries) };
        self.set(grain, page, units);
    }

    /// Forget everything but the array.
    #[inline]
    pub(crate) fn erase(&mut self) {
        if let Spare::Regular { .. } | Spare::Stored = self {
            *self = Spare::Empty;
        }
    }

    /// What the first `pages` pages hold, without the room for the others: for snapshots.
    pub(crate) fn cut(&self, grain: Grain, pages: u16) -> Spare {
        let pages = usize::from(pages);
        match self {
            _ if pages == 0 => Spare::Empty,
            Spare::Empty => Spare::Empty,
            Spare::Stored => Spare::Stored,
            &Spare::Regular { first, page_step } => Spare::Regular { first, page_step },
            Spare::PageGrain(entries) => Spare::PageGrain(entries[..pages].into()),
            Spare::UnitGrain(entries) => Spare::UnitGrain(entries[..pages * grain.units as usize].into()),
        }
    }

    /// The spare area that [`Spare::cut`] was made of; `None` if it was made of none.
    pub(crate) fn uncut(self, grain: Grain, pages: u16) -> Option<Spare> {
        let (width, entries) = match self {
            Spare::Empty => return Some(Spare::Empty),
            Spare::Stored => return None,
            Spare::Regular { first, page_step } => {
                let steps = u64::from(pages.saturating_sub(1)) * u64::from(page_step);
                let last = u64::from(first) + steps + u64::from(grain.units - 1);
                return (last < u64::from(u32::MAX)).then_some(Spare::Regular { first, page_step });
            }
            Spare::PageGrain(entries) => (1, entries),
            Spare::UnitGrain(entries) => (grain.units, entries),
        };
        if entries.len() != usize::from(pages) * width as usize {
            return None;
        }
        // A page's numbers follow its first one: they must not run past the largest.
        if width != grain.units && entries.iter().any(|&first| first != u32::MAX && first > u32::MAX - grain.units) {
            return None;
        }
        let mut whole = entries.into_vec();
        whole.resize((grain.pages * width) as usize, u32::MAX);
        let whole = whole.into_boxed_slice();
        Some(if width == 1 { Spare::PageGrain(whole) } else { Spare::UnitGrain(whole) })
    }

    /// Heap bytes held.
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Spare::Empty | Spare::Regular { .. } | Spare::Stored => 0,
            Spare::PageGrain(entries) | Spare::UnitGrain(entries) => std::mem::size_of_val::<[u32]>(entries),
        }
    }
}

/// The first of the units if they are consecutive; [`u32::MAX`] if all are padding.
#[inline]
fn consecutive(units: &[Lpn]) -> Option<u32> {
    let first = units[0].0;
    if first == u32::MAX {
        return units.iter().all(|&lpn| lpn == PADDING).then_some(first);
    }
    // Padding is the largest number, so a run that reaches it would be read as a page of data.
    let fits = u64::from(first) + (units.len() as u64) <= u64::from(u32::MAX);
    (fits && units.iter().zip(first..).all(|(lpn, expected)| lpn.0 == expected)).then_some(first)
}

const _: () = assert!(size_of::<Spare>() <= 24);
