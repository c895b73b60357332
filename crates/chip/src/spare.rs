//! The spare (out-of-band) area of a block: one logical page number per mapping unit.
//!
//! A 32-TB drive has two thousand million pages, so a block keeps the coarsest form that is still exact: nothing, one arithmetic
//! progression, one number per page, or one number per unit. Programming refines the form when it must; an erase keeps the array, so that
//! a drive in its steady state allocates nothing.

use wordline_units::Lpn;

use crate::place::Shape;

/// The number that stands for a unit without data.
pub const PADDING: Lpn = Lpn(u32::MAX);

/// The spare area of one block. The number of its pages that mean anything is the block's.
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
    /// The die's store has it, which was opened again: see `wake.rs`.
    Stored,
}

impl Spare {
    /// True if the store has the numbers.
    #[inline]
    pub(crate) fn is_stored(&self) -> bool {
        matches!(self, Spare::Stored)
    }

    /// The number in unit `unit` of page `page`.
    #[inline]
    pub(crate) fn get(&self, shape: &Shape, page: u32, unit: u32) -> Lpn {
        match self {
            Spare::Empty | Spare::Stored => PADDING,
            // For a page that is not programmed this means nothing, and may be any number.
            Spare::Regular { first, page_step } => Lpn(first.saturating_add(page.saturating_mul(*page_step)).saturating_add(unit)),
            Spare::PageGrain(pages) => of_page(pages[page as usize], unit),
            Spare::UnitGrain(units) => Lpn(units[(page * shape.units() + unit) as usize]),
        }
    }

    /// Append the numbers of page `page`.
    #[inline(always)]
    pub(crate) fn append(&self, shape: &Shape, page: u32, into: &mut Vec<Lpn>) {
        if let Spare::PageGrain(pages) = self
            && shape.units() == 1
        {
            return into.push(Lpn(pages[page as usize]));
        }
        self.append_run(shape, page, into);
    }

    /// Append the numbers of a page of several units, or of any form.
    #[inline(never)]
    fn append_run(&self, shape: &Shape, page: u32, into: &mut Vec<Lpn>) {
        let count = shape.units();
        match self {
            Spare::UnitGrain(units) => into.extend(units[(page * count) as usize..][..count as usize].iter().map(|&lpn| Lpn(lpn))),
            Spare::PageGrain(pages) => {
                let first = pages[page as usize];
                into.extend((0..count).map(|unit| of_page(first, unit)));
            }
            Spare::Empty | Spare::Stored | Spare::Regular { .. } => into.extend((0..count).map(|unit| self.get(shape, page, unit))),
        }
    }

    /// Forget the numbers of page `page`, which is not programmed.
    pub(crate) fn blank(&mut self, shape: &Shape, page: u32) {
        match self {
            Spare::PageGrain(pages) => pages[page as usize] = PADDING.0,
            Spare::UnitGrain(units) => units[(page * shape.units()) as usize..][..shape.units() as usize].fill(PADDING.0),
            Spare::Empty | Spare::Regular { .. } | Spare::Stored => {}
        }
    }

    /// Write a page's units.
    #[inline(always)]
    pub(crate) fn set(&mut self, shape: &Shape, page: u32, units: &[Lpn]) {
        // With one unit per page the two arrays are the same array.
        if let (Spare::PageGrain(pages), &[lpn]) = (&mut *self, units) {
            pages[page as usize] = lpn.0;
            return;
        }
        self.set_run(shape, page, units);
    }

    /// Write the units of a page of several, or of any form.
    #[inline(never)]
    fn set_run(&mut self, shape: &Shape, page: u32, units: &[Lpn]) {
        match self {
            Spare::UnitGrain(all) => {
                let entries = &mut all[(page * shape.units()) as usize..][..units.len()];
                entries.iter_mut().zip(units).for_each(|(to, from)| *to = from.0);
            }
            Spare::PageGrain(pages) if let Some(first) = consecutive(units) => pages[page as usize] = first.0,
            Spare::Empty | Spare::Regular { .. } | Spare::PageGrain(_) => self.refine(shape, page, units),
            Spare::Stored => {}
        }
    }

    /// Take the next finer form that holds what is there and this page too.
    #[cold]
    fn refine(&mut self, shape: &Shape, page: u32, units: &[Lpn]) {
        let by_page = !matches!(self, Spare::PageGrain(_)) && consecutive(units).is_some();
        let old = std::mem::take(self);
        let width = if by_page { 1 } else { shape.units() };
        let mut entries = vec![PADDING.0; (shape.pages() * width) as usize].into_boxed_slice();
        for other in 0..shape.pages() {
            for unit in 0..width {
                entries[(other * width + unit) as usize] = old.get(shape, other, unit).0;
            }
        }
        *self = if by_page { Spare::PageGrain(entries) } else { Spare::UnitGrain(entries) };
        self.set(shape, page, units);
    }

    /// Forget everything but the array.
    #[inline]
    pub(crate) fn erase(&mut self) {
        if let Spare::Regular { .. } | Spare::Stored = self {
            *self = Spare::Empty;
        }
    }

    /// The numbers of the first `pages` pages, without the room for the others: for snapshots.
    pub(crate) fn cut(&self, shape: &Shape, pages: u16) -> Spare {
        let pages = usize::from(pages);
        match self {
            _ if pages == 0 => Spare::Empty,
            Spare::Empty => Spare::Empty,
            Spare::Stored => Spare::Stored,
            &Spare::Regular { first, page_step } => Spare::Regular { first, page_step },
            Spare::PageGrain(entries) => Spare::PageGrain(entries[..pages].into()),
            Spare::UnitGrain(entries) => Spare::UnitGrain(entries[..pages * shape.units() as usize].into()),
        }
    }

    /// The spare area that [`Spare::cut`] was made of; `None` if it was made of none.
    pub(crate) fn uncut(self, shape: &Shape, pages: u16) -> Option<Spare> {
        let (width, entries) = match self {
            Spare::Empty => return Some(Spare::Empty),
            Spare::Stored => return None,
            Spare::Regular { first, page_step } => {
                let steps = u64::from(pages.saturating_sub(1)) * u64::from(page_step);
                let last = u64::from(first) + steps + u64::from(shape.units() - 1);
                return (last < u64::from(u32::MAX)).then_some(Spare::Regular { first, page_step });
            }
            Spare::PageGrain(entries) => (1, entries),
            Spare::UnitGrain(entries) => (shape.units(), entries),
        };
        if entries.len() != usize::from(pages) * width as usize {
            return None;
        }
        // A page's numbers follow its first one: they must not run past the largest.
        if width != shape.units() && entries.iter().any(|&first| first != PADDING.0 && first > u32::MAX - shape.units()) {
            return None;
        }
        let mut whole = entries.into_vec();
        whole.resize((shape.pages() * width) as usize, PADDING.0);
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

/// The number in unit `unit` of a page whose numbers follow `first`.
#[inline(always)]
fn of_page(first: u32, unit: u32) -> Lpn {
    if first == PADDING.0 { PADDING } else { Lpn(first.saturating_add(unit)) }
}

/// The first of the units if they are consecutive; [`PADDING`] if all are padding.
#[inline]
fn consecutive(units: &[Lpn]) -> Option<Lpn> {
    let first = units[0];
    if first == PADDING {
        return units.iter().all(|&lpn| lpn == PADDING).then_some(first);
    }
    // Padding is the largest number, so a run that reaches it would be read as a page of data.
    let fits = u64::from(first.0) + (units.len() as u64) <= u64::from(u32::MAX);
    (fits && units.iter().zip(first.0..).all(|(lpn, expected)| lpn.0 == expected)).then_some(first)
}

const _: () = assert!(size_of::<Spare>() <= 24);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::tests::shape;

    fn appended(spare: &Spare, shape: &Shape, page: u32) -> Vec<u32> {
        let mut into = vec![Lpn(7)];
        spare.append(shape, page, &mut into);
        into[1..].iter().map(|lpn| lpn.0).collect()
    }

    #[test]
    fn each_form_gives_unit_by_unit_what_it_appends_page_by_page() {
        for units in [1, 2, 4] {
            let shape = shape(units);
            let page = |first: u32, step: u32| (0..units).map(|unit| Lpn(first + unit * step)).collect::<Vec<_>>();
            let mut spare = Spare::Regular { first: 100, page_step: units };
            for (step, form) in [(0, "Regular"), (1, "PageGrain"), (3, if units == 1 { "PageGrain" } else { "UnitGrain" })] {
                if step > 0 {
                    spare.set(&shape, step, &page(1000 * step, step));
                    assert_eq!(appended(&spare, &shape, step), page(1000 * step, step).iter().map(|lpn| lpn.0).collect::<Vec<_>>());
                }
                assert!(format!("{spare:?}").starts_with(form), "{spare:?}");
                for page in 0..shape.pages() {
                    let by_unit = (0..units).map(|unit| spare.get(&shape, page, unit).0).collect::<Vec<_>>();
                    assert_eq!(appended(&spare, &shape, page), by_unit);
                }
                assert_eq!(appended(&spare, &shape, 5)[0], 100 + 5 * units, "what was there stays");
            }
        }
    }

    #[test]
    fn what_is_cut_for_a_snapshot_is_whole_again() {
        let shape = shape(2);
        let mut spare = Spare::Empty;
        spare.set(&shape, 0, &[Lpn(4), Lpn(9)]);
        spare.set(&shape, 1, &[PADDING, PADDING]);
        let cut = spare.cut(&shape, 2);
        assert_eq!(cut.clone().uncut(&shape, 2), Some(spare));
        assert_eq!(cut.uncut(&shape, 3), None);
    }
}
