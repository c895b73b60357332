//! Class of blocks, best, median or worst, by the errors of a few of their pages just after program (001 §4.2.1).
//!
//! A survey of a group begins when the group is closed. It reads the pages of one wordline, one after another, in the h-layer that is weakest in the chip's
//! table; the worst codeword of all of them gives the class. It is no technique of its own: techniques that go by classes have one each, and a page that two of
//! them want measured is read once.
//!
//! ```text
//!   closed, no copies in it ──► page ──► page ──► … ──► class        a page of which nothing is valid counts as not read
//!             │                                            ▲
//!             └──── with copies: the class of before ──────┘         chosen as a victim before the end: worst
//! ```

use wordline_flash::Status;
use wordline_flash::tables::Copyback;
use wordline_units::{Cause, PageId, PlaneId};

use super::declaration::{Site, words};
use super::seam::{Ctx, EraseReport, FlashPage, News, ReadReport, ignores};
use super::work::{NEVER, Work, WorkKind};
use crate::state::layout::{BlockGroup, Layout};

words! {
    /// Classes that a technique goes by.
    pub enum Classes {
        /// Class of each block, as measured.
        Block = "block",
        /// Worst class for all blocks.
        Worst = "worst",
    }
}

/// Worst class, which is that of each block that was not measured.
pub const WORST: usize = Copyback::CLASSES - 1;

/// Errors of a page that could not be read.
const UNREADABLE: u32 = u32::MAX - 1;

/// Survey of one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Survey {
    group: BlockGroup,
    /// Number of pages that are done.
    done: u32,
    /// Most errors of a page so far, and one; 0: no page was read.
    errors: u32,
}

/// Classes of all groups of a core.
#[derive(Clone, Debug)]
pub struct BlockClasses {
    layout: Layout,
    /// Class of each group; empty: nothing is measured.
    classes: Vec<u8>,
    /// First page of a sample in each plane.
    first: u32,
    /// Pages of a sample in each plane.
    samples: u32,
    surveys: Vec<Survey>,
}

impl BlockClasses {
    /// Creates the classes of the groups of the `site`: all are the worst. `samples`: pages of each plane that are measured, and at most those of a wordline;
    /// none are measured where the chip has no table, or by [`Classes::Worst`].
    pub fn new(site: &Site<'_>, classes: Classes, samples: u32) -> BlockClasses {
        let (layout, geometry) = (*site.layout, &site.sheet.geometry);
        let layer = site.tables.copyback.as_deref().and_then(|table| table.layers.first().copied());
        let is_measured = classes == Classes::Block && layer.is_some();
        let pages = layout.data_programs * layout.pages_per_program;
        let samples = samples.min(geometry.cell.bits()).min(pages);
        let first = layer.unwrap_or(0) * geometry.wordlines_per_layer * geometry.cell.bits();
        BlockClasses {
            layout,
            classes: if is_measured { vec![WORST as u8; layout.group_count()] } else { Vec::new() },
            // The last pages may hold the second copy of marks.
            first: first.min(pages - samples),
            samples,
            surveys: Vec::new(),
        }
    }

    /// True if classes are measured.
    pub fn is_measured(&self) -> bool {
        !self.classes.is_empty()
    }

    /// Class of `group`: 0 is the best.
    pub fn class(&self, group: BlockGroup) -> usize {
        self.classes.get(group.index()).map_or(WORST, |&class| usize::from(class))
    }

    /// Sets the class of `group`, which is known from before.
    pub fn set(&mut self, group: BlockGroup, class: usize) {
        if let Some(known) = self.classes.get_mut(group.index()) {
            *known = class.min(WORST) as u8;
        }
    }

    /// Forgets all classes and surveys.
    pub fn forget(&mut self) {
        self.classes.fill(WORST as u8);
        self.surveys.clear();
    }

    /// Page number `step` of the sample of `group`.
    fn page(&self, group: BlockGroup, step: u32) -> FlashPage {
        let planes = self.layout.planes;
        FlashPage { group, plane: PlaneId((step % planes) as u8), page: PageId((self.first + step / planes) as u16) }
    }

    /// Pages of a sample, in all planes.
    fn pages(&self) -> u32 {
        self.samples * self.layout.planes
    }

    /// Pages of a group that are measured in each filling.
    pub fn measured_pages(&self) -> u32 {
        if self.is_measured() { self.pages() } else { 0 }
    }

    fn survey(&self, group: BlockGroup) -> Option<&Survey> {
        self.surveys.iter().find(|survey| survey.group == group)
    }

    /// Learns `news`. `class_of`: the class of a group whose worst page has shown so many errors.
    pub fn learn(&mut self, ctx: &Ctx<'_>, news: &News, class_of: impl Fn(BlockGroup, u32) -> usize) {
        if !self.is_measured() {
            return;
        }
        match *news {
            News::Closed { group } => {
                self.surveys.retain(|survey| survey.group != group);
                // Errors that a copy has carried along are no sign of the block.
                if (0..self.layout.data_programs).all(|program| ctx.view.copies(group, program) == Some(0)) {
                    self.surveys.push(Survey { group, done: 0, errors: 0 });
                }
            }
            News::Read(ReadReport { at, cause: Cause::Measure, status, worst, .. }) => {
                let errors = if status == Status::Good { worst.min(UNREADABLE) } else { UNREADABLE };
                self.step(at, errors + 1, class_of);
            }
            News::Unmeasured { at } => self.step(at, 0, class_of),
            News::VictimChosen { victim, .. } => {
                if self.survey(victim).is_some() {
                    self.set(victim, WORST);
                    self.surveys.retain(|survey| survey.group != victim);
                }
            }
            News::Erased(EraseReport { group, has_left, .. }) => {
                self.surveys.retain(|survey| survey.group != group);
                if has_left {
                    self.set(group, WORST);
                }
            }
            ignores!(Read, Programmed, Copied, Opened, Moved, Retired, DataLost, DieFailed, Stopped, Timer, Idle) => {}
        }
    }

    /// Ends the page `at` of a survey, if one waits for it.
    fn step(&mut self, at: FlashPage, errors: u32, class_of: impl Fn(BlockGroup, u32) -> usize) {
        let Some(place) = self.surveys.iter().position(|survey| self.page(survey.group, survey.done) == at) else { return };
        let survey = &mut self.surveys[place];
        (survey.done, survey.errors) = (survey.done + 1, survey.errors.max(errors));
        let Survey { group, done, errors } = *survey;
        if done == self.pages() {
            self.surveys.swap_remove(place);
            self.set(group, errors.checked_sub(1).map_or(WORST, |errors| class_of(group, errors)));
        }
    }

    /// Next page of a survey that `news` has begun or brought on.
    pub fn work(&self, news: &News) -> Option<Work> {
        let (group, page) = match *news {
            News::Closed { group } => (group, None),
            News::Read(ReadReport { at, cause: Cause::Measure, .. }) | News::Unmeasured { at } => (at.group, Some(at)),
            ignores!(Read, Programmed, Erased, Copied, Opened, VictimChosen, Moved, Retired, DataLost, DieFailed, Stopped, Timer, Idle) => {
                return None;
            }
        };
        let survey = self.survey(group)?;
        // A read of another page has brought nothing on: the page that is waited for has been asked for.
        let is_due = page.is_none_or(|at| survey.done > 0 && at == self.page(group, survey.done - 1));
        let at = self.page(group, survey.done);
        is_due.then_some(Work { kind: WorkKind::Measure { at, tally: false }, cause: Cause::Measure, due: NEVER })
    }

    /// Group whose class `news` has settled: its survey has ended, or its blocks were erased and keep their class for the next filling.
    pub fn settled(&self, news: &News) -> Option<BlockGroup> {
        if !self.is_measured() {
            return None;
        }
        match *news {
            News::Read(ReadReport { at, cause: Cause::Measure, .. }) | News::Unmeasured { at } => {
                (at == self.page(at.group, self.pages() - 1) && self.survey(at.group).is_none()).then_some(at.group)
            }
            News::Erased(EraseReport { group, has_left: false, .. }) => Some(group),
            ignores!(
                Read,
                Programmed,
                Erased,
                Copied,
                Opened,
                Closed,
                VictimChosen,
                Moved,
                Retired,
                DataLost,
                DieFailed,
                Stopped,
                Timer,
                Idle
            ) => None,
        }
    }

    /// Class of each group, for an image; empty: nothing is measured.
    pub fn image(&self) -> &[u8] {
        &self.classes
    }

    /// Surveys that have not ended, for an image.
    pub fn surveys_image(&self) -> impl Iterator<Item = u32> + '_ {
        self.surveys.iter().flat_map(|survey| [survey.group.0, survey.done, survey.errors])
    }

    /// Restores surveys. Returns false if they are of another core.
    #[must_use]
    pub fn restore_surveys(&mut self, state: &[u32]) -> bool {
        let (surveys, rest) = state.as_chunks::<3>();
        let is_sound = |&[group, done, _]: &[u32; 3]| (group as usize) < self.classes.len() && done < self.pages();
        if !rest.is_empty() || !surveys.iter().all(is_sound) {
            return false;
        }
        self.surveys.clear();
        self.surveys.extend(surveys.iter().map(|&[group, done, errors]| Survey { group: BlockGroup(group), done, errors }));
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use wordline_flash::tables::Tables;
    use wordline_flash::{ReadTry, Sheet};
    use wordline_units::{DieId, Nanos};

    use super::*;
    use crate::Config;
    use crate::config::tests::small;
    use crate::dispatch::Rooms;
    use crate::setup::build;
    use crate::techniques::Choice;
    use crate::techniques::apply::ctx;
    use crate::techniques::seam::Technique as _;

    const GROUP: BlockGroup = BlockGroup(2);

    /// Classes by pages with 5 and 9 errors at most.
    fn class_of(_: BlockGroup, errors: u32) -> usize {
        [5, 9].iter().take_while(|&&most| errors > most).count()
    }

    /// A core that keeps the provenance of its data, and classes by two pages of the second h-layer.
    fn trial() -> (Rooms, BlockClasses) {
        let tables = Tables { copyback: Some(Arc::new(Copyback { layers: vec![1, 0], ..Copyback::default() })), ..Tables::NONE };
        let config = Config { tables: tables.clone(), ..small(64) };
        let refresh = crate::techniques::retention_refresh::Params { days_max: 9, patrol: Nanos(10_000_000) };
        let config = Config { techniques: vec![Choice::RetentionRefresh(refresh)], ..config };
        let layout = config.layout();
        let sheet: Sheet = config.sheet;
        let classes = BlockClasses::new(&Site { tables: &tables, ..Site::bare(&layout, &sheet) }, Classes::Block, 2);
        let mut rooms = build(&config);
        rooms.core.services_mut().programmed(GROUP, Nanos(1));
        (rooms, classes)
    }

    fn read(at: FlashPage, worst: u32) -> News {
        News::Read(ReadReport {
            at,
            cause: Cause::Measure,
            status: Status::Good,
            retries: 0,
            last: ReadTry::DEFAULT,
            worst,
            tally: None,
            array: Nanos(1),
            times: 1,
        })
    }

    fn tell(rooms: &Rooms, classes: &mut BlockClasses, news: &News) -> Option<FlashPage> {
        classes.learn(&ctx(&rooms.core), news, class_of);
        classes.work(news).map(|work| match work.kind {
            WorkKind::Measure { at, .. } => at,
            other @ (WorkKind::Rewrite(_) | WorkKind::Collect(_)) => panic!("{other:?}"),
        })
    }

    const CLOSED: News = News::Closed { group: GROUP };
    const VICTIM: News = News::VictimChosen { victim: GROUP, why: Cause::Gc };

    fn erased(has_left: bool) -> News {
        News::Erased(EraseReport { has_left, ..EraseReport::without_erase(GROUP) })
    }

    #[test]
    fn the_worst_of_the_pages_of_one_wordline_gives_the_class() {
        for (errors, class) in [([1, 5], 0), ([6, 2], 1), ([3, 9], 1), ([10, 1], 2)] {
            let (rooms, mut classes) = trial();
            let geometry = small(64).sheet.geometry;
            let layer = geometry.wordlines_per_layer * geometry.cell.bits();
            let first = tell(&rooms, &mut classes, &CLOSED).expect("a survey begins");
            assert_eq!((u32::from(first.page.0), first.group), (layer, GROUP), "the first page of the weakest h-layer");
            let second = tell(&rooms, &mut classes, &read(first, errors[0])).expect("a second page");
            assert_eq!((second.page.0, classes.class(GROUP)), (first.page.0 + 1, WORST), "it is not measured yet");
            assert_eq!(tell(&rooms, &mut classes, &read(first, 99)), Some(second), "the same page once more brings nothing on");
            assert_eq!(tell(&rooms, &mut classes, &read(FlashPage { page: PageId(0), ..first }, 99)), None, "another's page");
            assert_eq!(tell(&rooms, &mut classes, &read(second, errors[1])), None);
            assert_eq!((classes.class(GROUP), classes.settled(&read(second, 0))), (class, Some(GROUP)), "{errors:?}");
        }
    }

    #[test]
    fn a_page_that_is_not_read_is_passed_over_and_a_block_of_which_none_was_is_of_the_worst_class() {
        let (rooms, mut classes) = trial();
        let first = tell(&rooms, &mut classes, &CLOSED).expect("a survey begins");
        let second = tell(&rooms, &mut classes, &News::Unmeasured { at: first }).expect("a second page");
        tell(&rooms, &mut classes, &read(second, 3));
        assert_eq!(classes.class(GROUP), 0);
        let first = tell(&rooms, &mut classes, &CLOSED).expect("a survey begins");
        let second = tell(&rooms, &mut classes, &News::Unmeasured { at: first }).expect("a second page");
        assert_eq!(tell(&rooms, &mut classes, &News::Unmeasured { at: second }), None);
        assert_eq!(classes.class(GROUP), WORST);
    }

    #[test]
    fn data_that_was_copied_is_no_sign_and_the_class_of_the_filling_before_stays() {
        let (mut rooms, mut classes) = trial();
        classes.set(GROUP, 0);
        let services = rooms.core.services_mut().get_mut().expect("provenance is asked for");
        services.copied((BlockGroup(1), 0), (GROUP, 3), Nanos(1));
        assert_eq!((tell(&rooms, &mut classes, &CLOSED), classes.class(GROUP)), (None, 0));
        tell(&rooms, &mut classes, &erased(false));
        assert_eq!((classes.class(GROUP), classes.settled(&erased(false))), (0, Some(GROUP)));
        tell(&rooms, &mut classes, &erased(true));
        assert_eq!((classes.class(GROUP), classes.settled(&erased(true))), (WORST, None), "its blocks are others");
    }

    #[test]
    fn a_victim_whose_survey_has_not_ended_is_of_the_worst_class() {
        let (rooms, mut classes) = trial();
        classes.set(GROUP, 0);
        let first = tell(&rooms, &mut classes, &CLOSED).expect("a survey begins");
        tell(&rooms, &mut classes, &read(first, 1));
        tell(&rooms, &mut classes, &VICTIM);
        assert_eq!((classes.class(GROUP), classes.surveys.len()), (WORST, 0));
        classes.set(GROUP, 1);
        tell(&rooms, &mut classes, &VICTIM);
        assert_eq!(classes.class(GROUP), 1, "its survey had ended");
    }

    #[test]
    fn where_all_count_as_the_worst_or_the_chip_has_no_table_nothing_is_measured() {
        let (rooms, classes) = trial();
        let tables = Tables { copyback: Some(Arc::new(Copyback { layers: vec![0], ..Copyback::default() })), ..Tables::NONE };
        let sheet = small(64).sheet;
        for (tables, how) in [(&tables, Classes::Worst), (&Tables::NONE, Classes::Block)] {
            let site = Site { tables, ..Site::bare(&classes.layout, &sheet) };
            let mut classes = BlockClasses::new(&site, how, 3);
            assert_eq!((tell(&rooms, &mut classes, &CLOSED), classes.class(GROUP)), (None, WORST));
            assert!(classes.image().is_empty() && classes.settled(&erased(false)).is_none());
        }
        assert_eq!(rooms.core.layout().die(GROUP), DieId(0));
        assert!(crate::techniques::plain_copyback::PlainCopyback.retention().is_none());
    }
}
