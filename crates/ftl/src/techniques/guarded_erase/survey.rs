//! Errors of the wordlines of each block group, by which the weakest are found (001 §3.3.2).
//!
//! Reads differ by the time that data was kept and by the kind of page, so errors of single reads do not compare. A group is therefore surveyed as a whole from
//! time to time: just after it was closed, the worst kind of page of each wordline is read in each plane. Until the next survey, a read counts only if data was
//! kept for as long, to the power of ten, as it was then.
//!
//! ```text
//!   closed, due, nothing spared ──► page ──► page ──► … ──► errors of each wordline        a page of which nothing is valid leaves what was known
//! ```

use wordline_flash::Status;
use wordline_units::{Cause, PageId, PlaneId};

use crate::state::layout::BlockGroup;
use crate::techniques::declaration::Site;
use crate::techniques::seam::{Ctx, FlashPage, News, ReadReport, ignores};
use crate::techniques::work::{NEVER, Work, WorkKind};

/// Errors of a page that needed a retry or could not be read.
const LIMIT: u8 = u8::MAX;
/// Turn of a group that was never closed.
const UNKNOWN: u32 = u32::MAX;
/// Power of ten of a group that was never surveyed.
const NEVER_SURVEYED: u8 = u8::MAX;

/// Survey of one group.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Survey {
    group: BlockGroup,
    /// Number of pages that are done.
    done: u32,
}

/// Errors of all wordlines of a core.
#[derive(Clone, Debug)]
pub(super) struct Surveys {
    wordlines: u32,
    planes: u32,
    pages_per_wordline: u32,
    every: u32,
    /// True if groups with spared wordlines are surveyed too, because all have some.
    takes_spared: bool,
    /// Errors of each wordline of each group, of its worst page.
    errors: Vec<u8>,
    /// Turn of the last survey of each group: erases, by `every`.
    turns: Vec<u32>,
    /// Power of ten of the seconds for which data was kept at the last survey of each group.
    decades: Vec<u8>,
    under_way: Vec<Survey>,
}

impl Surveys {
    /// Creates the table for the groups of the `site`, of which nothing is known: each is surveyed once in `every` erases.
    pub(super) fn new(site: &Site<'_>, every: u32, takes_spared: bool) -> Surveys {
        let (layout, groups) = (site.layout, site.layout.group_count());
        let wordlines = layout.data_wordlines();
        Surveys {
            wordlines,
            planes: layout.planes,
            pages_per_wordline: site.sheet.geometry.cell.bits(),
            every,
            takes_spared,
            errors: vec![0; groups * wordlines as usize],
            turns: vec![UNKNOWN; groups],
            decades: vec![NEVER_SURVEYED; groups],
            under_way: Vec::new(),
        }
    }

    /// Errors of `wordline` of `group`.
    pub(super) fn errors(&self, group: BlockGroup, wordline: u32) -> u8 {
        self.errors[group.index() * self.wordlines as usize + wordline as usize]
    }

    /// Pages of a survey.
    pub(super) fn pages(&self) -> u32 {
        self.wordlines * self.planes
    }

    /// Page number `step` of a survey of `group`: the last of a wordline has most errors.
    fn page(&self, group: BlockGroup, step: u32) -> FlashPage {
        let page = step / self.planes * self.pages_per_wordline + self.pages_per_wordline - 1;
        FlashPage { group, plane: PlaneId((step % self.planes) as u8), page: PageId(page as u16) }
    }

    /// Turn of `group` after so many erases. Groups take turns at different counts.
    fn turn(&self, group: BlockGroup, erases: u32) -> u32 {
        (erases + group.0 % self.every) / self.every
    }

    /// Begins the survey of `group`, which has just been closed, if it is due.
    pub(super) fn closed(&mut self, ctx: &Ctx<'_>, group: BlockGroup) {
        self.under_way.retain(|survey| survey.group != group);
        let turn = self.turn(group, ctx.view.erases(group));
        let last = self.turns[group.index()];
        if last == UNKNOWN {
            self.turns[group.index()] = turn;
            return;
        }
        // A spared wordline has nothing to read.
        let is_whole = ctx.view.usable(group) == ctx.view.layout().data_units;
        if turn > last && (is_whole || self.takes_spared) {
            (self.turns[group.index()], self.decades[group.index()]) = (turn, decade(ctx, group));
            self.under_way.push(Survey { group, done: 0 });
        }
    }

    /// Ends the survey of `group`, which is going to be emptied.
    pub(super) fn stop(&mut self, group: BlockGroup) {
        self.under_way.retain(|survey| survey.group != group);
    }

    /// Forgets `group`, which has left its blocks.
    pub(super) fn forget(&mut self, group: BlockGroup) {
        let wordlines = self.wordlines as usize;
        self.errors[group.index() * wordlines..][..wordlines].fill(0);
        (self.turns[group.index()], self.decades[group.index()]) = (UNKNOWN, NEVER_SURVEYED);
    }

    /// Forgets all groups.
    pub(super) fn forget_all(&mut self) {
        self.errors.fill(0);
        self.turns.fill(UNKNOWN);
        self.decades.fill(NEVER_SURVEYED);
        self.under_way.clear();
    }

    /// Learns a read.
    pub(super) fn read(&mut self, ctx: &Ctx<'_>, report: &ReadReport) {
        let &ReadReport { at, cause, status, retries, worst, .. } = report;
        let errors = if status == Status::Good && retries == 0 { worst.min(u32::from(LIMIT) - 1) as u8 } else { LIMIT };
        if cause == Cause::Measure && self.step(at, Some(errors)) {
            return;
        }
        // Most reads have no more errors than are known, and the age of the data need not be looked up.
        let known = self.decades[at.group.index()];
        if known != NEVER_SURVEYED
            && let Some(of) = self.place(at)
            && errors > self.errors[of]
            && known == decade(ctx, at.group)
        {
            self.errors[of] = errors;
        }
    }

    /// Learns that a page was not measured.
    pub(super) fn unmeasured(&mut self, at: FlashPage) {
        self.step(at, None);
    }

    fn place(&self, at: FlashPage) -> Option<usize> {
        let wordline = u32::from(at.page.0) / self.pages_per_wordline;
        (wordline < self.wordlines).then(|| at.group.index() * self.wordlines as usize + wordline as usize)
    }

    /// Ends the page `at` of a survey, if one waits for it. The first plane of a wordline replaces what was known, the others add to it.
    fn step(&mut self, at: FlashPage, errors: Option<u8>) -> bool {
        let place = self.under_way.iter().position(|survey| self.page(survey.group, survey.done) == at);
        let Some(place) = place else { return false };
        let is_first = at.plane.0 == 0;
        if let Some((errors, of)) = errors.zip(self.place(at)) {
            self.errors[of] = if is_first { errors } else { self.errors[of].max(errors) };
        }
        self.under_way[place].done += 1;
        if self.under_way[place].done == self.pages() {
            self.under_way.swap_remove(place);
        }
        true
    }

    /// Next page of a survey that `news` has begun or brought on.
    pub(super) fn work(&self, news: &News) -> Option<Work> {
        let (group, before) = match *news {
            News::Closed { group } => (group, None),
            News::Read(ReadReport { at, cause: Cause::Measure, .. }) | News::Unmeasured { at } => (at.group, Some(at)),
            ignores!(Read, Programmed, Erased, Copied, Opened, VictimChosen, Moved, Retired, DataLost, DieFailed, Stopped, Timer, Idle) => {
                return None;
            }
        };
        let survey = self.under_way.iter().find(|survey| survey.group == group)?;
        // A read of another page has brought nothing on: the page that is waited for has been asked for.
        let is_due = before.is_none_or(|at| survey.done > 0 && at == self.page(group, survey.done - 1));
        let at = self.page(group, survey.done);
        is_due.then_some(Work { kind: WorkKind::Measure { at, tally: false }, cause: Cause::Measure, due: NEVER })
    }

    /// State as plain numbers; surveys under way begin anew with the next closing.
    pub(super) fn image(&self) -> Vec<u32> {
        let packed = |bytes: &[u8]| bytes.iter().enumerate().fold(0, |word, (at, &byte)| word | u32::from(byte) << (8 * at));
        let words = |bytes: &[u8]| bytes.chunks(4).map(packed).collect::<Vec<u32>>();
        [words(&self.errors), words(&self.decades), self.turns.clone()].concat()
    }

    /// Restores what [`Surveys::image`] gave. Returns false if it is of another shape.
    #[must_use]
    pub(super) fn restore(&mut self, state: &[u32]) -> bool {
        let [errors, decades] = [self.errors.len().div_ceil(4), self.decades.len().div_ceil(4)];
        if state.len() != errors + decades + self.turns.len() {
            return false;
        }
        let unpack = |bytes: &mut [u8], words: &[u32]| {
            bytes.iter_mut().enumerate().for_each(|(at, byte)| *byte = (words[at / 4] >> (8 * (at % 4))) as u8);
        };
        unpack(&mut self.errors, &state[..errors]);
        unpack(&mut self.decades, &state[errors..errors + decades]);
        self.turns.copy_from_slice(&state[errors + decades..]);
        self.under_way.clear();
        true
    }
}

/// Power of ten of the seconds at 30 °C for which data of `group` has been kept.
fn decade(ctx: &Ctx<'_>, group: BlockGroup) -> u8 {
    let seconds = ctx.view.kept(group).map_or(0, |kept| kept.effective.0);
    seconds.checked_ilog10().map_or(0, |decade| decade as u8 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::small;
    use crate::techniques::empty::EmptyCore;
    use wordline_flash::ReadTry;
    use wordline_units::Nanos;

    fn surveys() -> (EmptyCore, Surveys) {
        let config = small(64);
        let layout = config.layout();
        (EmptyCore::new(layout), Surveys::new(&Site::bare(&layout, &config.sheet), 1, false))
    }

    const GROUP: BlockGroup = BlockGroup(2);

    fn read(at: FlashPage, cause: Cause, worst: u32, retries: u32) -> ReadReport {
        let (status, last) = (Status::Good, ReadTry::DEFAULT);
        ReadReport { at, cause, status, retries, last, worst, tally: None, array: Nanos(1), times: 1 }
    }

    /// Surveys the group, each page with the errors of `of`. Returns the pages that were wanted.
    fn survey(core: &EmptyCore, surveys: &mut Surveys, of: impl Fn(FlashPage) -> Option<u32>) -> Vec<FlashPage> {
        let ctx = core.ctx(Nanos(1));
        let mut news = News::Closed { group: GROUP };
        surveys.turns[GROUP.index()] = 0;
        surveys.decades[GROUP.index()] = 0;
        surveys.under_way.push(Survey { group: GROUP, done: 0 });
        let mut pages = Vec::new();
        while let Some(Work { kind: WorkKind::Measure { at, .. }, .. }) = surveys.work(&news) {
            pages.push(at);
            news = if let Some(errors) = of(at) {
                let report = read(at, Cause::Measure, errors, 0);
                surveys.read(&ctx, &report);
                News::Read(report)
            } else {
                surveys.unmeasured(at);
                News::Unmeasured { at }
            };
        }
        pages
    }

    #[test]
    fn a_survey_reads_the_last_page_of_each_wordline_in_each_plane_and_keeps_the_worst() {
        let (core, mut surveys) = surveys();
        let pages = survey(&core, &mut surveys, |at| Some(u32::from(at.page.0) + u32::from(at.plane.0)));
        assert_eq!(pages.len() as u32, surveys.pages());
        assert!(pages.iter().all(|at| (u32::from(at.page.0) + 1).is_multiple_of(surveys.pages_per_wordline)));
        let most = |wordline: u32| ((wordline + 1) * surveys.pages_per_wordline - 1 + surveys.planes - 1) as u8;
        assert!((0..surveys.wordlines).all(|wordline| surveys.errors(GROUP, wordline) == most(wordline)));
        assert!(surveys.under_way.is_empty());
    }

    #[test]
    fn a_page_that_was_not_measured_leaves_what_was_known_and_a_later_survey_replaces_the_rest() {
        let (core, mut surveys) = surveys();
        survey(&core, &mut surveys, |_| Some(40));
        survey(&core, &mut surveys, |at| (u32::from(at.page.0) >= surveys_bits()).then_some(7));
        assert_eq!([0, 1].map(|wordline| surveys.errors(GROUP, wordline)), [40, 7]);
    }

    fn surveys_bits() -> u32 {
        small(64).sheet.geometry.cell.bits()
    }

    #[test]
    fn between_surveys_a_read_counts_if_data_was_kept_as_long_and_one_with_retries_as_the_most() {
        let (core, mut surveys) = surveys();
        survey(&core, &mut surveys, |_| Some(9));
        let at = FlashPage { group: GROUP, plane: PlaneId(0), page: PageId(1) };
        let ctx = core.ctx(Nanos(1));
        surveys.read(&ctx, &read(at, Cause::Host, 5, 0));
        assert_eq!(surveys.errors(GROUP, 0), 9);
        surveys.read(&ctx, &read(at, Cause::Host, 12, 0));
        assert_eq!(surveys.errors(GROUP, 0), 12);
        surveys.decades[GROUP.index()] = 4;
        surveys.read(&ctx, &read(at, Cause::Host, 99, 3));
        assert_eq!(surveys.errors(GROUP, 0), 12, "the survey was of older data");
        surveys.decades[GROUP.index()] = 0;
        surveys.read(&ctx, &read(at, Cause::Host, 0, 3));
        assert_eq!(surveys.errors(GROUP, 0), LIMIT);
    }

    #[test]
    fn a_group_is_surveyed_at_its_turns_and_not_at_its_first_closing() {
        let (core, mut surveys) = surveys();
        let ctx = core.ctx(Nanos(1));
        surveys.closed(&ctx, GROUP);
        assert_eq!((surveys.under_way.len(), surveys.turns[GROUP.index()]), (0, 0));
        surveys.closed(&ctx, GROUP);
        assert!(surveys.under_way.is_empty(), "no erase since");
        surveys.turns[GROUP.index()] = 0;
        surveys.every = 4;
        assert_eq!([0, 1, 2, 5, 6].map(|erases| surveys.turn(GROUP, erases)), [0, 0, 1, 1, 2]);
    }

    #[test]
    fn errors_come_back_from_their_image() {
        let (core, mut of) = surveys();
        survey(&core, &mut of, |at| Some(u32::from(at.page.0)));
        let (_, mut back) = surveys();
        assert!(back.restore(&of.image()) && back.image() == of.image());
        assert!(!back.restore(&of.image()[1..]));
        back.forget(GROUP);
        assert_eq!(back.errors(GROUP, 1), 0);
    }
}
