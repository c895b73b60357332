//! Blocks whose reads have become long are rewritten only where the host does not tolerate long reads (004 §3).
//!
//! ```text
//!   hint: range ──► class ──► strictest class of the valid data of a group ──► tolerated latency ─┐
//!   reads of a group ──► most retries in this filling ──► (1 + retries) · one try ────────────────┴──► rewrite: now, or postponed
//! ```
//!
//! A rewrite against read disturb costs lifetime, and a long read costs time. The host alone can judge which of the two is cheaper. Data without a hint
//! tolerates nothing: what holds any of it is rewritten as without the technique.

use wordline_units::{Cause, Nanos, Tolerance};

use crate::state::groups::BlockGroups;
use crate::state::layout::BlockGroup;
use crate::techniques::declaration::{Declaration, Kind, Site, Value, params, words};
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::say::{Say, Says, Start, abstain};
use crate::techniques::seam::{Ask, Card, Ctx, EraseReport, Memo, News, Persists, ReadReport, Technique, ignores};
use crate::techniques::work::{Waiting, Work, WorkKind};
use crate::util::packed::{pack, unpack};

/// Declaration of the technique.
pub const DECLARATION: Declaration = Declaration {
    card: Card {
        name: "latency-hints",
        source: "004 §3: hints of the host about the latency of reads that it tolerates",
        claim: "fewer rewrites against read disturb, for longer reads of data whose host tolerates them",
        hooks: Hooks::of(&[Hook::Read, Hook::Erased, Hook::MayWork]),
        asks: &[Ask::Tolerances],
        persists: Persists::Nothing(
            "hints are gone at a power cut: until the host gives them again nothing is tolerated, and postponed rewrites are wanted at once",
        ),
        limits: "acts only beside read-disturb-refresh with its guard, and on nothing but its rewrites; the latency of a group is that of its longest read so far, so a page that has \
                 not been read may take longer; waiting in queues is not counted; one unit without a hint has its whole group rewritten",
    },
    about: "postpones rewrites against read disturb while the host tolerates reads as long as those of the block.",
    params: Params::ALL,
    needs: &[],
};

words! {
    /// Treatment of a rewrite whose reads are tolerated.
    pub enum OnWait {
        /// The rewrite waits until a read takes longer than is tolerated.
        Postpone = "postpone",
        /// The rewrite is dropped until its trigger comes again.
        Skip = "skip",
    }
}

params! {
    /// Parameters of latency hints.
    pub struct Params {
        /// Time that a read of data of the class `shortest` may take in the device.
        shortest: Nanos {
            kind: Kind::Span { least: Nanos(1) },
            default: Some(Value::Span(Nanos(200_000))),
            tried: &[Value::Span(Nanos(1)), Value::Span(Nanos(200_000))],
            source: "assumed: two or three senses of a page",
        }
        /// Time that a read of data of the class `typical` may take in the device.
        typical: Nanos {
            kind: Kind::Span { least: Nanos(1) },
            default: Some(Value::Span(Nanos(400_000))),
            tried: &[Value::Span(Nanos(400_000))],
            source: "assumed: 004 §2 calls reads above 400 us long",
        }
        /// Time that a read of data of the class `longer` may take in the device.
        longer: Nanos {
            kind: Kind::Span { least: Nanos(1) },
            default: Some(Value::Span(Nanos(2_000_000))),
            tried: &[Value::Span(Nanos(400_000)), Value::Span(Nanos(50_000_000))],
            source: "assumed: 004 gives no duration",
        }
        /// Treatment of a rewrite whose reads are tolerated: `postpone` keeps it until a read takes longer, `skip` drops it until its trigger comes again.
        on_wait: OnWait {
            kind: Kind::Word(OnWait::WORDS),
            default: Some(Value::Word("postpone")),
            tried: &[],
            source: "004 §3: rewrites are skipped or postponed",
        }
    }
}

impl Params {
    /// Times that reads of the classes `shortest`, `typical` and `longer` may take in the device.
    pub fn limits(&self) -> [Nanos; 3] {
        [self.shortest, self.typical, self.longer]
    }
}

/// The limits of [`Params::limits`] where a plan sets none.
pub fn default_limits() -> [Nanos; 3] {
    ["shortest", "typical", "longer"].map(|key| {
        let param = Params::ALL.iter().find(|param| param.key == key);
        match param.and_then(|param| param.default) {
            Some(Value::Span(limit)) => limit,
            _ => unreachable!("{key} is a span with a default"),
        }
    })
}

/// Longest reads of all groups.
#[derive(Clone, Debug)]
pub struct LatencyHints {
    params: Params,
    /// Time that one try of a read takes.
    one_try: Nanos,
    /// Most retries that a read of each group has needed since its erase.
    most: Vec<u8>,
}

impl LatencyHints {
    /// Creates the technique for the groups of the `site`.
    pub fn new(site: &Site<'_>, params: Params) -> Self {
        let sense = site.sheet.timing.read[..site.sheet.geometry.cell.bits() as usize].iter().copied().max().unwrap_or(Nanos::ZERO);
        LatencyHints { params, one_try: sense + site.transfer, most: vec![0; site.layout.group_count()] }
    }

    /// Time that a read of `group` may take, by the strictest hint about its valid data; `None`: nothing is tolerated, or there is nothing to read.
    fn tolerated(&self, ctx: &Ctx<'_>, group: BlockGroup) -> Option<Nanos> {
        let has = |class: Tolerance| ctx.view.units_tolerating(group, class) > 0;
        let Params { shortest, typical, longer, .. } = self.params;
        let classes = [(Tolerance::Shortest, shortest), (Tolerance::Typical, typical), (Tolerance::Longer, longer)];
        if has(Tolerance::Default) { None } else { classes.into_iter().filter(|&(class, _)| has(class)).map(|(_, time)| time).min() }
    }

    /// Most retries with which a read of `group` is still tolerated; `None`: not even one try is.
    fn tolerated_retries(&self, ctx: &Ctx<'_>, group: BlockGroup) -> Option<u32> {
        let tries = self.tolerated(ctx, group)?.0 / self.one_try.0.max(1);
        u32::try_from(tries).unwrap_or(u32::MAX).checked_sub(1)
    }
}

impl Technique for LatencyHints {
    fn card(&self) -> &'static Card {
        &DECLARATION.card
    }

    fn image(&self) -> Vec<u32> {
        pack(&self.most)
    }

    fn restore(&mut self, state: &[u32]) -> bool {
        unpack(state, &mut self.most)
    }

    fn recover(&mut self, _groups: &BlockGroups, _memos: &[Memo]) {
        self.most.fill(0);
    }

    fn learn(&mut self, _ctx: &Ctx<'_>, news: &News) {
        match *news {
            News::Read(ReadReport { at, retries, .. }) => {
                let most = &mut self.most[at.group.index()];
                *most = (*most).max(retries.min(u32::from(u8::MAX)) as u8);
            }
            News::Erased(EraseReport { group, .. }) => self.most[group.index()] = 0,
            ignores!(
                Programmed,
                Copied,
                Unmeasured,
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
            ) => {}
        }
    }

    fn may_work(&self, ctx: &Ctx<'_>, work: &Work, _waiting: &Waiting) -> Says<Start> {
        let (WorkKind::Rewrite(group), Cause::Disturb) = (work.kind, work.cause) else { return abstain() };
        let is_tolerated = self.tolerated_retries(ctx, group).is_some_and(|retries| u32::from(self.most[group.index()]) <= retries);
        let wait = match self.params.on_wait {
            OnWait::Postpone => Start::Parked,
            OnWait::Skip => Start::Dropped,
        };
        if is_tolerated { [Say::AtMost(wait), Say::Abstain] } else { abstain() }
    }

    fn retries_borne(&self, ctx: &Ctx<'_>, group: BlockGroup) -> u32 {
        // More than a byte holds are told apart no more, so the first read of so many is looked at.
        self.tolerated_retries(ctx, group).unwrap_or(0).min(u32::from(u8::MAX) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::small;
    use crate::setup::{build, construct};
    use crate::state::Core;
    use crate::state::tolerances::hint;
    use crate::techniques::apply::ctx;
    use crate::techniques::seam::FlashPage;
    use crate::techniques::work::NEVER;
    use wordline_flash::{ReadTry, Status};
    use wordline_units::{PageId, PlaneId};

    const PARAMS: Params = Params { shortest: Nanos(200), typical: Nanos(400), longer: Nanos(900), on_wait: OnWait::Postpone };
    const GROUP: BlockGroup = BlockGroup(0);
    const WAITING: Waiting = Waiting { since: Nanos::ZERO, reads: None };

    /// A core of which the first 60 of 64 units are written, and the technique on dies of which a try takes 100 ns.
    fn trial(params: Params) -> (Core, LatencyHints) {
        let mut config = small(64);
        config.sheet.timing.read = [Nanos(90); 4];
        let layout = config.layout();
        let technique = LatencyHints::new(&Site { transfer: Nanos(10), ..Site::bare(&layout, &config.sheet) }, params);
        let crate::dispatch::Rooms { mut core, mut sanitise, .. } = build(&config);
        construct::fill(&mut core, &mut sanitise, 60);
        core.services_mut().keep_tolerances(true);
        (core, technique)
    }

    fn read(technique: &mut LatencyHints, core: &Core, retries: u32) {
        let report = ReadReport {
            at: FlashPage { group: GROUP, plane: PlaneId(0), page: PageId(0) },
            cause: Cause::Host,
            status: Status::Good,
            retries,
            last: ReadTry::DEFAULT,
            worst: 0,
            tally: None,
            array: Nanos(1),
            times: 1,
        };
        technique.learn(&ctx(core), &News::Read(report));
    }

    fn waits(technique: &LatencyHints, core: &Core, cause: Cause) -> Option<Start> {
        let work = Work { kind: WorkKind::Rewrite(GROUP), cause, due: NEVER };
        match technique.may_work(&ctx(core), &work, &WAITING) {
            [Say::AtMost(wait), Say::Abstain] => Some(wait),
            _ => None,
        }
    }

    #[test]
    fn a_rewrite_waits_while_reads_are_as_short_as_is_tolerated_and_nothing_without_a_hint_is_valid() {
        let (mut core, mut technique) = trial(PARAMS);
        assert_eq!(waits(&technique, &core, Cause::Disturb), None, "nothing is hinted");
        hint(&mut core, (0, 60), Tolerance::Typical);
        assert_eq!(waits(&technique, &core, Cause::Disturb), Some(Start::Parked));
        assert_eq!(technique.retries_borne(&ctx(&core), GROUP), 3, "four tries take 400 ns");
        assert_eq!(waits(&technique, &core, Cause::Refresh), None, "for no other cause");
        read(&mut technique, &core, 3);
        assert_eq!(waits(&technique, &core, Cause::Disturb), Some(Start::Parked));
        read(&mut technique, &core, 4);
        read(&mut technique, &core, 0);
        assert_eq!(waits(&technique, &core, Cause::Disturb), None, "a read of the filling has taken longer");
        technique.learn(&ctx(&core), &News::Erased(EraseReport::without_erase(GROUP)));
        assert_eq!(waits(&technique, &core, Cause::Disturb), Some(Start::Parked));
        hint(&mut core, (0, 1), Tolerance::Default);
        assert_eq!(waits(&technique, &core, Cause::Disturb), None, "one unit without a hint");
        let skips = trial(Params { on_wait: OnWait::Skip, ..PARAMS });
        let (mut core, technique) = skips;
        hint(&mut core, (0, 60), Tolerance::Longer);
        assert_eq!(waits(&technique, &core, Cause::Disturb), Some(Start::Dropped));
    }

    #[test]
    fn the_shortest_time_of_all_classes_that_are_valid_counts() {
        let (mut core, technique) = trial(PARAMS);
        hint(&mut core, (0, 60), Tolerance::Longer);
        assert_eq!(technique.retries_borne(&ctx(&core), GROUP), 8);
        let first = (0..60).find(|&lpn| core.layout().group(core.map().get(lpn)) == GROUP).expect("it holds some");
        hint(&mut core, (first, 1), Tolerance::Shortest);
        assert_eq!(technique.retries_borne(&ctx(&core), GROUP), 1);
        let (mut core, technique) = trial(Params { longer: Nanos(99), ..PARAMS });
        hint(&mut core, (0, 60), Tolerance::Longer);
        assert_eq!(waits(&technique, &core, Cause::Disturb), None, "less than one try is never met");
    }

    #[test]
    fn the_limits_are_the_parameters_in_the_order_of_the_classes() {
        assert_eq!(PARAMS.limits(), [Nanos(200), Nanos(400), Nanos(900)]);
        assert_eq!(default_limits(), [Nanos(200_000), Nanos(400_000), Nanos(2_000_000)]);
        assert_eq!(crate::techniques::Choice::LatencyHints(PARAMS).read_limits(), Some(PARAMS.limits()));
        assert_eq!(crate::techniques::Choice::PlainCopyback.read_limits(), None);
    }

    #[test]
    fn the_image_holds_the_most_retries() {
        let (core, mut technique) = trial(PARAMS);
        read(&mut technique, &core, 300);
        let mut other = trial(PARAMS).1;
        assert!(other.restore(&technique.image()) && other.most == technique.most && other.most[0] == u8::MAX);
        assert!(!other.restore(&[]));
        other.recover(core.groups(), &[]);
        assert_eq!(other.most[0], 0);
    }
}
