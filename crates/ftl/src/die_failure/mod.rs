//! The detector of failed dies: it goes by the statuses of operations and by how many bits of a page are wrong.
//!
//! ```text
//!            a program or erase that failed, a read that no try has mended: noise
//!   well ───────────────────────────────────────────────────────────────► suspect ──more bad groups than a die may have──► failed
//!    ▲                                                                       │
//!    └──────────── both directions have come to a good group, or to the end ─┘
//!
//!   group   … 6    7    8    9    10   11   12 …
//!             ◄── good  bad  ▲    bad  bad  ──►          ▲ where it was suspected; the first page of each group is read
//! ```
//!
//! - A read that fails makes no die suspect if it has left fewer wrong bits than noise: its page is old, or has been hit by something of its own.
//! - A probe is one sensing, and no try follows it: on old cells most first tries fail, so that one has failed says nothing. The number of wrong
//!   bits is the criterion. A die that puts out nothing reads as noise, half of whose bits are wrong; an old page has a few.
//! - A page with fewer wrong bits than noise is read again with all its tries. If these do not mend it either, it is old, and the die is well as far as it is
//!   concerned.
//! - An erased page reads as good.
//! - Where a sanitiser has made something unreadable, no read is a sign of anything: pages beside it may go with it. Such groups are passed over until they
//!   are erased, and so are groups that have received copies from them.
//! - Blocks that were found bad stay counted, but only a page that reads as noise makes a failed die of a suspect one: blocks that wear out one by one do not.
//!
//! A die that does not answer has failed without any of this. The handling of a failed die is for all rooms; `dispatch` goes from one to the next.

mod walk;

use std::collections::BTreeSet;

use wordline_flash::{Operation, OperationKind, ReadTry, Report, Status};
use wordline_units::{Cause, DieId, Id, PageId, PlaneId};

use crate::state::Core;
use crate::state::failures;
use crate::state::layout::BlockGroup;
use crate::state::pending::{Pending, Purpose};
use crate::state::request::Note;
use walk::{Look, Walk};

/// Sign that a die may have failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// The status of a program or an erase: the blocks of its group are bad.
    Status,
    /// A read that no try has mended, with so many wrong bits in its worst codeword.
    Read(u32),
}

/// Next step of a die that is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The die is under no suspicion.
    Nothing,
    /// A probe.
    Probe(Operation),
    /// A probe has left the die and is not reported yet.
    Wait,
}

/// Outcome of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// More is to be read.
    Open,
    /// The die is well.
    Well,
    /// The die has failed.
    Failed,
}

/// Facts about one die.
#[derive(Clone, Debug, Default)]
struct Suspect {
    /// Blocks of the first plane that were found bad, each with those of the other planes.
    bad: BTreeSet<u16>,
    /// Probes under way, while the die is suspect.
    walk: Option<Box<Walk>>,
}

/// The detector of one core.
#[derive(Clone, Debug, Default)]
pub(crate) struct Detector {
    /// Empty until something goes wrong.
    dies: Vec<Suspect>,
}

impl Detector {
    /// Take note of an operation in `group` that went badly.
    #[cold]
    pub(crate) fn notice(&mut self, core: &mut Core, group: BlockGroup, sign: Sign) {
        let die = core.layout().die(group);
        let is_old = matches!(sign, Sign::Read(wrong) if wrong < core.settings().noise_bits || core.groups().is_destroyed(group));
        if !core.settings().repair.detect || core.is_failed(die) || is_old {
            return;
        }
        self.dies.resize_with(core.layout().dies as usize, Suspect::default);
        let suspect = &mut self.dies[die.index()];
        suspect.bad.insert(core.groups().blocks(group)[0]);
        if suspect.walk.is_none() {
            suspect.walk = Some(Box::new(Walk::new(core.layout(), group, sign != Sign::Status)));
            failures::watch(core);
            core.loadable_mut().remove(die);
            core.outbox_mut().note(Note::DieSuspected(group));
            core.wake(die);
        }
    }

    /// Forget what is suspected of `die`, which has failed.
    pub(crate) fn close(&mut self, die: DieId) {
        if let Some(suspect) = self.dies.get_mut(die.index()) {
            suspect.walk = None;
        }
    }

    /// Next step of `die`, which is free.
    #[cold]
    pub(crate) fn step(&mut self, core: &mut Core, die: DieId) -> Step {
        let Some(walk) = self.dies.get_mut(die.index()).and_then(|suspect| suspect.walk.as_deref_mut()) else { return Step::Nothing };
        if walk.is_waiting() {
            failures::hold(core, die);
            return Step::Wait;
        }
        match walk.next(core.groups()) {
            Some(look) => Step::Probe(probe(core, die, look)),
            None => {
                self.close(die);
                Step::Nothing
            }
        }
    }

    /// End the probe of `report`.
    #[cold]
    pub(crate) fn probed(&mut self, core: &mut Core, report: &Report<'_>, has_tries: bool) -> Verdict {
        let die = report.die;
        failures::let_go(core, die);
        let Some(suspect) = self.dies.get_mut(die.index()) else { return Verdict::Well };
        let Some(walk) = suspect.walk.as_deref_mut() else { return Verdict::Well };
        let noise = core.settings().noise_bits;
        let is_noise = report.corrected_bits >= noise;
        match (report.status, is_noise, has_tries) {
            (Status::Good, ..) => walk.good(core.layout()),
            (_, true, _) => suspect.bad.extend(walk.bad().map(|group| core.groups().blocks(group)[0])),
            (_, false, false) => walk.again(),
            // It is old, and puts out what it holds.
            (_, false, true) => walk.good(core.layout()),
        }
        if suspect.bad.len() as u32 > core.settings().bad_groups_most && walk.has_found() {
            suspect.walk = None;
            return Verdict::Failed;
        }
        if walk.has_ended(core.groups()) {
            suspect.walk = None;
            return Verdict::Well;
        }
        Verdict::Open
    }
}

/// Order the probe `look` on `die`.
fn probe(core: &mut Core, die: DieId, look: Look) -> Operation {
    let Look { group, plane, has_tries } = look;
    let (plane, page) = (PlaneId(plane as u8), PageId(0));
    let target = core.layout().one_plane(core.groups().blocks(group), plane, page);
    let (offset, bytes) = (core.layout().page_offset(plane, page), core.settings().unit_bytes(core.layout().units_per_page));
    core.groups_mut().pin(group);
    let tag = core.begin(Pending::read(Purpose::Probe { has_tries }, group, offset, bytes, Cause::Probe));
    let kind = OperationKind::Read { target, bytes, first: ReadTry::DEFAULT, tally: false, attributes: None };
    core.issue(die, tag, kind, Cause::Probe)
}

/// Declare the dies of `failed` failed in a core that has just started: their groups are lost, or bad where they hold nothing valid. Nobody is told.
pub(crate) fn resume(core: &mut Core, failed: impl IntoIterator<Item = DieId>) {
    for die in failed {
        failures::fail_die(core, die);
    }
}

#[cfg(test)]
mod tests {
    use wordline_units::Bytes;

    use super::*;
    use crate::config::tests::small;
    use crate::config::{Config, RepairConfig};
    use crate::setup::build;
    use crate::state::layout::tests::small_sheet;

    const DIE: DieId = DieId(0);
    /// Codewords of so many bits: noise is a quarter of them.
    const CODEWORD: u32 = 8_192;
    const AT: BlockGroup = BlockGroup(50);

    /// A die of 100 groups, of which two may be bad.
    fn config() -> Config {
        let sheet = small_sheet(1, 100, wordline_flash::ProgramScope::Page);
        Config { sheet, codeword_bits: CODEWORD, unit: Bytes::kib(4), ..small(64) }
    }

    /// Outcome of the probes of a die that answers by `answers`: status and wrong bits of the first page of a group, read with tries or without: the
    /// verdict, and what was read.
    fn judged(config: &Config, sign: Sign, answers: impl Fn(u32, bool) -> (Status, u32)) -> (Verdict, Vec<(u32, bool)>) {
        let mut core = build(config).core;
        let mut detector = Detector::default();
        detector.notice(&mut core, AT, sign);
        let mut read = Vec::new();
        loop {
            let Step::Probe(operation) = detector.step(&mut core, DIE) else { return (Verdict::Well, read) };
            assert_eq!(detector.step(&mut core, DIE), Step::Wait, "one probe at a time");
            let Pending { group, purpose: Purpose::Probe { has_tries }, .. } = core.end(operation.tag) else { panic!("no probe") };
            core.groups_mut().unpin(group);
            read.push((group.0, has_tries));
            let (status, wrong) = answers(group.0, has_tries);
            let report = Report { corrected_bits: wrong, ..Report::plain(operation.tag, DIE, status, &[]) };
            core.ready(DIE);
            match detector.probed(&mut core, &report, has_tries) {
                Verdict::Open => {}
                verdict @ (Verdict::Well | Verdict::Failed) => return (verdict, read),
            }
        }
    }

    const NOISE: (Status, u32) = (Status::Uncorrectable, CODEWORD / 2);

    #[test]
    fn a_die_that_puts_out_noise_has_failed_after_as_many_groups_as_may_be_bad() {
        let (verdict, read) = judged(&config(), Sign::Status, |_, _| NOISE);
        assert_eq!((verdict, read), (Verdict::Failed, vec![(49, false), (51, false)]), "three are bad, and no try follows a probe");
        let (verdict, read) = judged(&config(), Sign::Read(CODEWORD / 2), |_, _| NOISE);
        assert_eq!((verdict, read.len()), (Verdict::Failed, 2));
    }

    #[test]
    fn a_die_between_whose_bad_groups_there_are_good_ones_is_well() {
        let (verdict, read) = judged(&config(), Sign::Status, |_, _| (Status::Good, 3));
        assert_eq!((verdict, read), (Verdict::Well, vec![(49, false), (51, false)]));
        // Two bad in a row are one too few.
        let (verdict, read) = judged(&config(), Sign::Status, |group, _| if group == 51 { NOISE } else { (Status::Good, 3) });
        assert_eq!((verdict, read), (Verdict::Well, vec![(49, false), (51, false), (52, false)]));
    }

    #[test]
    fn a_group_in_which_something_was_destroyed_is_no_sign_and_is_passed_over_until_it_is_erased() {
        let mut core = build(&config()).core;
        let mut detector = Detector::default();
        core.groups_mut().destroy(AT);
        detector.notice(&mut core, AT, Sign::Read(CODEWORD / 2));
        assert_eq!(detector.step(&mut core, DIE), Step::Nothing);
        core.groups_mut().destroy(BlockGroup(AT.0 - 1));
        detector.notice(&mut core, AT, Sign::Status);
        let Step::Probe(operation) = detector.step(&mut core, DIE) else { panic!("the die is suspect") };
        assert_eq!(core.end(operation.tag).group, BlockGroup(AT.0 - 2), "the group beside it says nothing");
        core.groups_mut().erased(AT);
        assert!(!core.groups().is_destroyed(AT));
    }

    #[test]
    fn old_cells_are_read_again_with_their_tries_and_are_well_even_if_none_mends_them() {
        for last in [(Status::Good, 60), (Status::Uncorrectable, 150)] {
            let answers = |_, has_tries| if has_tries { last } else { (Status::Uncorrectable, 400) };
            let (verdict, read) = judged(&config(), Sign::Status, answers);
            assert_eq!((verdict, read), (Verdict::Well, vec![(49, false), (49, true), (51, false), (51, true)]));
        }
        // A page that reads as noise only at the second look is noise.
        let late = |_, has_tries| if has_tries { NOISE } else { (Status::Uncorrectable, CODEWORD / 4 - 1) };
        assert_eq!(judged(&config(), Sign::Status, late).0, Verdict::Failed);
    }

    #[test]
    fn a_page_that_is_old_makes_no_die_suspect_and_noise_does() {
        for (wrong, is_suspected) in [(0, false), (CODEWORD / 4 - 1, false), (CODEWORD / 4, true)] {
            let mut core = build(&config()).core;
            let mut detector = Detector::default();
            detector.notice(&mut core, AT, Sign::Read(wrong));
            assert_eq!(matches!(detector.step(&mut core, DIE), Step::Probe(_)), is_suspected, "{wrong} bits");
        }
    }

    #[test]
    fn blocks_that_fail_one_by_one_make_no_failed_die_however_many_they_are() {
        let mut core = build(&config()).core;
        let mut detector = Detector::default();
        for group in (0..100).step_by(3).map(BlockGroup) {
            detector.notice(&mut core, group, Sign::Status);
            while let Step::Probe(operation) = detector.step(&mut core, DIE) {
                let Pending { group, .. } = core.end(operation.tag);
                core.groups_mut().unpin(group);
                let verdict = detector.probed(&mut core, &Report::plain(operation.tag, DIE, Status::Good, &[]), false);
                assert_ne!(verdict, Verdict::Failed);
            }
        }
        // They stay counted: the next page of noise is one too many.
        detector.notice(&mut core, BlockGroup(1), Sign::Read(CODEWORD / 2));
        let Step::Probe(operation) = detector.step(&mut core, DIE) else { panic!("it is suspect") };
        let report = Report { corrected_bits: CODEWORD / 2, ..Report::plain(operation.tag, DIE, Status::Uncorrectable, &[]) };
        assert_eq!(detector.probed(&mut core, &report, false), Verdict::Failed);
    }

    #[test]
    fn at_the_ends_of_a_die_a_direction_is_over_and_without_the_detector_nothing_begins() {
        let mut core = build(&config()).core;
        let mut detector = Detector::default();
        detector.notice(&mut core, BlockGroup(0), Sign::Status);
        let Step::Probe(operation) = detector.step(&mut core, DIE) else { panic!("it is suspect") };
        assert_eq!(core.pending(operation.tag).group, BlockGroup(1));
        let report = Report::plain(operation.tag, DIE, Status::Good, &[]);
        assert_eq!(detector.probed(&mut core, &report, false), Verdict::Well);
        let off = Config { repair: RepairConfig { detect: false, ..RepairConfig::DEFAULT }, ..config() };
        let mut core = build(&off).core;
        detector.notice(&mut core, AT, Sign::Status);
        assert_eq!((detector.step(&mut core, DIE), core.failures().is_none()), (Step::Nothing, true));
    }

    #[test]
    fn a_die_that_is_declared_failed_at_the_start_has_its_groups_lost_or_bad() {
        use crate::state::groups::Use;
        let crate::dispatch::Rooms { mut core, mut sanitise, .. } = build(&Config { dies: 2, ..small(64) });
        crate::setup::construct::fill(&mut core, &mut sanitise, 60);
        resume(&mut core, [DieId(1)]);
        let uses: Vec<Use> = core.layout().groups_of(DieId(1)).map(|group| core.groups().use_of(BlockGroup(group as u32))).collect();
        assert!(uses.contains(&Use::Lost) && uses.iter().all(|of| matches!(of, Use::Lost | Use::Bad)));
        let lost = core.failures().map_or(0, |failures| failures.lost());
        let there = (0..60).filter(|&lpn| core.is_lost(core.map().get(lpn))).count() as u64;
        assert!(lost == there && lost > 0 && core.die(DieId(1)).free_count() == 0);
    }
}
