//! Addresses of mapping units: the arithmetic between unit addresses and pages, planes, blocks and dies.
//!
//! The firmware's erase unit is the *block group*: one block of every plane of a die, erased together. Its write unit is the *program unit*: what one
//! multi-plane (and, where the die does it, one-shot) program fills. A [`UnitAddr`] names one mapping unit of a group:
//!
//! ```text
//!   unit address = group << shift | offset
//!   offset       = ((program · pages per program + page in wordline) · planes + plane) · units per page + unit
//! ```
//!
//! The shift wastes addresses (576 units take 1,024) and saves a division on every overwrite.

use wordline_flash::{PlaneSet, ProgramScope, Sheet, Target};
use wordline_units::{Bytes, DieId, PageId, PlaneId};

use crate::util::divisor::Divisor;

/// Number of a block group, counted over all dies of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct BlockGroup(pub u32);

impl BlockGroup {
    /// Index of the group in a table over all groups.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Address of one mapping unit: its group and its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct UnitAddr(pub u32);

impl UnitAddr {
    /// No address.
    pub const NONE: UnitAddr = UnitAddr(u32::MAX);
}

/// Position of a unit inside its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Page of each plane, in program order.
    pub page: PageId,
    /// Plane of the page.
    pub plane: PlaneId,
    /// Index of the unit inside the page.
    pub unit: u32,
}

/// Fixed dimensions of one core's flash. Each field counts the next smaller thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Dies of this core.
    pub dies: u32,
    /// Block groups of a die that hold data.
    pub groups: u32,
    /// Planes of a die.
    pub planes: u32,
    /// Mapping units in one page of one plane.
    pub units_per_page: u32,
    /// Pages of one plane that a program fills.
    pub pages_per_program: u32,
    /// Mapping units in a program unit.
    pub units_per_program: u32,
    /// Program units in a group.
    pub programs: u32,
    /// Program units in an h-layer of a group, where one fills whole wordlines; otherwise 1.
    pub programs_per_layer: u32,
    /// Program units in a wordline.
    programs_per_wordline: u32,
    /// Mapping units in a group.
    pub units_per_group: u32,
    /// Program units of a group that take data: all but the last ones, where those hold the second copy of its marks.
    pub data_programs: u32,
    /// Mapping units of a group that take data.
    pub data_units: u32,
    /// Program units that are the first of their h-layer. It is kept because a program asks for it, and a division costs more than the rest of the
    /// question.
    leaders: u32,
    by_dies: Divisor,
    by_groups: Divisor,
    by_planes: Divisor,
    by_units_per_page: Divisor,
    by_units_per_program: Divisor,
    by_programs: Divisor,
    shift: u32,
}

impl Layout {
    /// Creates the layout of `dies` dies with `groups` groups each. The plan has checked that all of it fits 32-bit unit addresses.
    pub fn new(sheet: &Sheet, dies: u32, groups: u32, unit: Bytes) -> Layout {
        let geometry = &sheet.geometry;
        assert!(geometry.page.0.is_multiple_of(unit.0), "a mapping unit must divide a page");
        let units_per_page = (geometry.page.0 / unit.0) as u32;
        let pages_per_program = sheet.pages_per_program();
        let units_per_program = units_per_page * pages_per_program * geometry.planes;
        let programs = geometry.pages() / pages_per_program;
        let programs_per_layer = match sheet.capabilities.program_scope {
            ProgramScope::Page => 1,
            ProgramScope::Wordline => geometry.wordlines_per_layer,
        };
        let units_per_group = programs * units_per_program;
        let shift = u32::BITS - (units_per_group - 1).leading_zeros();
        assert!((u64::from(dies * groups) << shift) < u64::from(u32::MAX), "unit addresses do not fit 32 bits: use more cores");
        Layout {
            dies,
            groups,
            planes: geometry.planes,
            units_per_page,
            pages_per_program,
            units_per_program,
            programs,
            programs_per_layer,
            programs_per_wordline: geometry.cell.bits() / pages_per_program.min(geometry.cell.bits()),
            units_per_group,
            data_programs: programs,
            data_units: units_per_group,
            leaders: programs / programs_per_layer,
            by_dies: Divisor::new(dies),
            by_groups: Divisor::new(groups),
            by_planes: Divisor::new(geometry.planes),
            by_units_per_page: Divisor::new(units_per_page),
            by_units_per_program: Divisor::new(units_per_program),
            by_programs: Divisor::new(programs),
            shift,
        }
    }

    /// Derives a layout that reserves the last program units of each group for the second copy of the marks, of which a page holds `marks`.
    ///
    /// They are whole wordlines: what is scrubbed with a wordline must not reach into them.
    #[must_use]
    pub(crate) fn with_oob_copies(self, marks: usize) -> Layout {
        let (marks, pages) = (marks as u32, self.pages_per_program * self.planes);
        let holds = |copies: u32| ((self.programs - copies) * self.units_per_program).div_ceil(marks) <= copies * pages;
        let each = self.programs_per_wordline as usize;
        let copies = (self.programs_per_wordline..self.programs).step_by(each).find(|&copies| holds(copies)).unwrap_or(self.programs);
        self.with_data_programs(self.programs - copies)
    }

    fn with_data_programs(self, data_programs: u32) -> Layout {
        Layout {
            data_programs,
            data_units: data_programs * self.units_per_program,
            leaders: data_programs.div_ceil(self.programs_per_layer),
            by_programs: Divisor::new(data_programs.max(1)),
            ..self
        }
    }

    /// Wordline of a block that program unit `program` lies on.
    pub(crate) fn wordline(&self, program: u32) -> u32 {
        program / self.programs_per_wordline
    }

    /// Wordlines of a block.
    pub fn wordlines(&self) -> u32 {
        self.wordline(self.programs)
    }

    /// Wordlines of a block that take data: they come before those with the second copy of the marks.
    pub(crate) fn data_wordlines(&self) -> u32 {
        self.wordline(self.data_programs)
    }

    /// Mapping units on a wordline of all planes.
    pub(crate) fn units_per_wordline(&self) -> u32 {
        self.programs_per_wordline * self.units_per_program
    }

    /// Program units on a wordline.
    pub(crate) const fn programs_per_wordline(&self) -> u32 {
        self.programs_per_wordline
    }

    /// True if the first `programs` program units of a group are whole wordlines.
    pub(crate) fn ends_wordline(&self, programs: u32) -> bool {
        programs.is_multiple_of(self.programs_per_wordline)
    }

    /// Program units of a group that hold the second copy of its marks; 0: there is no second copy.
    pub const fn oob_programs(&self) -> u32 {
        self.programs - self.data_programs
    }

    /// Program units of a group that are the first of their h-layer.
    pub const fn leaders(&self) -> u32 {
        self.leaders
    }

    /// Block groups of all dies.
    pub fn group_count(&self) -> usize {
        (self.dies * self.groups) as usize
    }

    /// Group at `index` of `die`.
    #[inline]
    pub fn group_at(&self, die: DieId, index: u32) -> BlockGroup {
        BlockGroup(u32::from(die.0) * self.groups + index)
    }

    /// The groups of `die`, as a range of table places.
    #[inline]
    pub fn groups_of(&self, die: DieId) -> std::ops::Range<usize> {
        let first = usize::from(die.0) * self.groups as usize;
        first..first + self.groups as usize
    }

    /// The die of `group`.
    #[inline]
    pub fn die(&self, group: BlockGroup) -> DieId {
        DieId(self.by_groups.quotient(group.0) as u16)
    }

    /// The number of `group` inside its die.
    #[inline]
    pub fn number(&self, group: BlockGroup) -> u32 {
        self.by_groups.split(group.0).1
    }

    /// Address of the unit at `offset` in `group`.
    #[inline]
    pub fn unit(&self, group: BlockGroup, offset: u32) -> UnitAddr {
        debug_assert!(offset < self.units_per_group);
        UnitAddr(group.0 << self.shift | offset)
    }

    /// Group of the unit at `addr`.
    #[inline]
    pub fn group(&self, addr: UnitAddr) -> BlockGroup {
        BlockGroup(addr.0 >> self.shift)
    }

    /// Offset of the unit at `addr` in its group.
    #[inline]
    pub fn offset(&self, addr: UnitAddr) -> u32 {
        addr.0 & ((1 << self.shift) - 1)
    }

    /// The offset of the first unit of the page that holds `offset`.
    #[inline]
    pub fn page_start(&self, offset: u32) -> u32 {
        offset - self.by_units_per_page.split(offset).1
    }

    /// Position of the unit at `offset`.
    #[inline]
    pub fn place(&self, offset: u32) -> Place {
        let (rest, unit) = self.by_units_per_page.split(offset);
        let (page, plane) = self.by_planes.split(rest);
        Place { page: PageId(page as u16), plane: PlaneId(plane as u8), unit }
    }

    /// Offset of the first unit of `page` of `plane`.
    #[inline]
    pub fn page_offset(&self, plane: PlaneId, page: PageId) -> u32 {
        (u32::from(page.0) * self.planes + u32::from(plane.0)) * self.units_per_page
    }

    /// The offsets of the units of program unit `program`.
    #[inline]
    pub fn units_of(&self, program: u32) -> std::ops::Range<u32> {
        program * self.units_per_program..(program + 1) * self.units_per_program
    }

    /// The first page of program unit `program`.
    #[inline]
    pub fn first_page(&self, program: u32) -> PageId {
        PageId((program * self.pages_per_program) as u16)
    }

    /// Address of `lpn` after the whole logical space was written once in order, program unit by program unit over the dies in turn.
    #[inline]
    pub fn regular(&self, lpn: u32) -> UnitAddr {
        let (sequence, unit) = self.by_units_per_program.split(lpn);
        let (round, die) = self.by_dies.split(sequence);
        let (number, program) = self.by_programs.split(round);
        self.unit(BlockGroup(die * self.groups + number), program * self.units_per_program + unit)
    }

    /// Addresses by [`Layout::regular`] of `lpn` and of all units behind it, one after the other and without a division.
    pub fn regular_run(&self, lpn: u32) -> impl Iterator<Item = UnitAddr> + use<> {
        let layout = *self;
        let (sequence, mut unit) = layout.by_units_per_program.split(lpn);
        let (round, mut die) = layout.by_dies.split(sequence);
        let (mut number, mut program) = layout.by_programs.split(round);
        let start = move |die: u32, number: u32, program: u32| {
            (die * layout.groups + number) << layout.shift | (program * layout.units_per_program)
        };
        let mut first = start(die, number, program);
        std::iter::from_fn(move || {
            let addr = UnitAddr(first + unit);
            unit += 1;
            if unit == layout.units_per_program {
                (unit, die) = (0, die + 1);
                if die == layout.dies {
                    (die, program) = (0, program + 1);
                    if program == layout.data_programs {
                        (program, number) = (0, number + 1);
                    }
                }
                first = start(die, number, program);
            }
            Some(addr)
        })
    }

    /// Logical unit that [`Layout::regular`] puts at `offset` of `group`.
    pub fn regular_lpn(&self, group: BlockGroup, offset: u32) -> u32 {
        let (program, unit) = self.by_units_per_program.split(offset);
        let (die, number) = self.by_groups.split(group.0);
        let round = number * self.data_programs + program;
        (round * self.dies + die) * self.units_per_program + unit
    }

    /// Target of page `page` in all planes of the group on `blocks`.
    #[inline]
    pub fn all_planes(&self, blocks: [u16; 4], page: PageId) -> Target {
        Target { planes: PlaneSet::first(self.planes), blocks, page }
    }

    /// Target of page `page` in one plane of the group on `blocks`.
    #[inline]
    pub fn one_plane(&self, blocks: [u16; 4], plane: PlaneId, page: PageId) -> Target {
        Target { planes: PlaneSet::one(plane), blocks, page }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use wordline_units::Geometry;

    /// Marks of 12 bytes in a page of 16 KiB with a head of 64.
    const MARKS: usize = 1_360;

    /// A small die: `planes` × `blocks`, 2 h-layers × 2 wordlines.
    pub(crate) fn small_sheet(planes: u32, blocks: u32, program_scope: ProgramScope) -> Sheet {
        let mut sheet = wordline_flash::example::sheet();
        sheet.geometry = Geometry { planes, blocks, layers: 2, wordlines_per_layer: 2, ..sheet.geometry };
        sheet.capabilities.program_scope = program_scope;
        sheet
    }

    #[test]
    fn the_end_of_a_group_holds_all_marks_before_it() {
        // 768 pages of 16 KiB with 4-KiB units: 3,060 marks of 12 bytes and three heads of 64.
        for (planes, layers, scope, copies) in [
            (1, 64, ProgramScope::Page, 3),
            (2, 64, ProgramScope::Page, 3),
            (1, 64, ProgramScope::Wordline, 1),
            (2, 2, ProgramScope::Page, 3),
        ] {
            let mut sheet = small_sheet(planes, 5, scope);
            (sheet.geometry.layers, sheet.geometry.wordlines_per_layer) = (layers, 4);
            let whole = Layout::new(&sheet, 2, 5, Bytes::kib(4));
            let layout = whole.with_oob_copies(MARKS);
            assert_eq!(layout.oob_programs(), copies, "{planes} planes, {layers} layers, {scope:?}");
            assert_eq!(layout.data_units + copies * layout.units_per_program, layout.units_per_group);
            let bytes = copies * layout.pages_per_program * planes * 16_384;
            assert!(layout.data_units * 12 <= bytes, "{planes} planes, {layers} layers, {scope:?}");
        }
    }

    #[test]
    fn regular_places_are_a_bijection_and_their_own_inverse() {
        for (planes, scope, unit) in [(1, ProgramScope::Page, 16), (2, ProgramScope::Page, 4), (4, ProgramScope::Wordline, 4)] {
            let whole = Layout::new(&small_sheet(planes, 5, scope), 3, 5, Bytes::kib(unit));
            let layout = if planes == 1 { whole } else { whole.with_oob_copies(MARKS) };
            let total = layout.dies * layout.groups * layout.data_units;
            let mut seen = std::collections::BTreeSet::new();
            for lpn in 0..total {
                let addr = layout.regular(lpn);
                assert!(seen.insert(addr), "{addr:?} twice");
                assert_eq!(layout.regular_lpn(layout.group(addr), layout.offset(addr)), lpn);
                assert_eq!(layout.regular_run(lpn / 7 * 7).nth(lpn as usize % 7), Some(addr), "a run goes on as it began");
                let place = layout.place(layout.offset(addr));
                assert_eq!(layout.page_offset(place.plane, place.page), layout.page_start(layout.offset(addr)));
                assert!(u32::from(place.page.0) < 12 && u32::from(place.plane.0) < planes && place.unit < layout.units_per_page);
            }
        }
    }
}
