//! A technique that wants groups rewritten by an instant, and has all rewrites of most groups parked until then.
//!
//! Checks: no technique is asked about work that is due; work that is due starts as soon as nothing is under way and its die has room, whatever is
//! answered; until then it wants to be told the time no later than that. The order of work that is due at once is not checked.

use std::collections::BTreeMap;

use wordline_ftl::Firmware;
use wordline_ftl::groups::Use;
use wordline_ftl::layout::BlockGroup;
use wordline_ftl::techniques::hooks::{Hook, Hooks};
use wordline_ftl::techniques::say::{Say, Says, Start, abstain};
use wordline_ftl::techniques::seam::{Card, Ctx, Memo, News, Persists, Technique};
use wordline_ftl::techniques::work::{NEVER, Waiting, Work, WorkKind};
use wordline_units::random::{Draw, Stream};
use wordline_units::{Cause, Nanos};

/// Name of the technique.
const NAME: &str = "parker";
/// The number of the dice of wishes.
const WISHES: u32 = 20;

const CARD: Card = Card {
    name: NAME,
    source: "an oracle of deadlines",
    claim: "what is due starts, whatever is answered",
    hooks: Hooks::of(&[Hook::Read, Hook::VictimChosen, Hook::Work, Hook::MayWork]),
    asks: &[],
    persists: Persists::Nothing("its wishes are of one start"),
    limits: "it helps nobody",
};

/// Wishes by dice, and what has come of them.
#[derive(Clone, Debug, Default)]
pub struct Parker {
    seed: u64,
    /// Erase count of each group whose rewrite is wanted, and the earliest deadline of all wishes for that filling.
    wanted: BTreeMap<BlockGroup, (u32, Nanos)>,
    /// Rewrites begun, of those that were wanted, before they were due, and at their deadline or later.
    begun: [u32; 2],
}

impl Parker {
    /// Creates a parker with dice of `seed`.
    pub fn new(seed: u64) -> Parker {
        Parker { seed, ..Parker::default() }
    }

    /// The rewrite that is wanted after `news`.
    fn wish(&self, ctx: &Ctx<'_>, news: &News) -> Option<(BlockGroup, Nanos)> {
        let News::Read(report) = news else { return None };
        let group = report.at.group;
        let dice = &mut Draw::new(self.seed ^ ctx.now.0 ^ u64::from(group.0) << 48, Stream::Mix, WISHES);
        let is_wanted = report.cause == Cause::Host && ctx.view.use_of(group) == Use::Closed && dice.happens(0.1);
        let after = dice.below(30_000_000);
        is_wanted.then_some((group, if dice.happens(0.3) { NEVER } else { ctx.now + Nanos(after) }))
    }
}

impl Technique for Parker {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn image(&self) -> Vec<u32> {
        let words = |(group, &(erases, due)): (&BlockGroup, &(u32, Nanos))| [group.0, erases, due.0 as u32, (due.0 >> 32) as u32];
        self.begun.into_iter().chain(self.wanted.iter().flat_map(words)).collect()
    }

    fn restore(&mut self, state: &[u32]) -> bool {
        let Some((begun, wanted)) = state.split_first_chunk() else { return false };
        self.begun = *begun;
        self.wanted = entries(wanted).map(|(group, erases, due)| (group, (erases, due))).collect();
        true
    }

    fn recover(&mut self, _: &wordline_ftl::groups::BlockGroups, _: &[Memo]) {
        self.wanted.clear();
    }

    fn learn(&mut self, ctx: &Ctx<'_>, news: &News) {
        if let Some((group, due)) = self.wish(ctx, news) {
            let erases = ctx.view.erases(group);
            let known = self.wanted.get(&group).filter(|known| known.0 == erases).map_or(NEVER, |known| known.1);
            self.wanted.insert(group, (erases, known.min(due)));
        }
        if let News::VictimChosen { victim, .. } = *news
            && let Some((_, due)) = self.wanted.remove(&victim)
        {
            self.begun[usize::from(due <= ctx.now)] += 1;
        }
    }

    fn work(&self, ctx: &Ctx<'_>, news: &News) -> Option<Work> {
        let (group, due) = self.wish(ctx, news)?;
        Some(Work { kind: WorkKind::Rewrite(group), cause: Cause::Disturb, due })
    }

    fn may_work(&self, ctx: &Ctx<'_>, work: &Work, _: &Waiting) -> Says<Start> {
        assert!(work.due > ctx.now, "{work:?} is due, and techniques are asked about it at {:?}", ctx.now);
        let WorkKind::Rewrite(group) = work.kind else { return abstain() };
        if group.0 % 4 == 3 { abstain() } else { [Say::AtMost(Start::Parked), Say::Abstain] }
    }

    fn retries_borne(&self, _: &Ctx<'_>, group: BlockGroup) -> u32 {
        if group.0.is_multiple_of(2) { 8 } else { u32::MAX }
    }
}

fn entries(words: &[u32]) -> impl Iterator<Item = (BlockGroup, u32, Nanos)> {
    let entry = |words: &[u32; 4]| (BlockGroup(words[0]), words[1], Nanos(u64::from(words[2]) | u64::from(words[3]) << 32));
    words.as_chunks().0.iter().map(entry)
}

/// Rewrites of a parker in `ftl` that have begun: before they were due, and later. `None`: it has none.
pub(crate) fn begun(ftl: &Firmware) -> Option<[u32; 2]> {
    ftl.learnt(NAME)?.first_chunk().copied()
}

/// Check at `now` that nothing that a parker in `ftl` wants waits longer than it may. `is_still`: nothing is under way, and the core wants nothing done.
pub(crate) fn check(ftl: &Firmware, now: Nanos, is_still: bool) -> Result<(), String> {
    let Some(words) = ftl.learnt(NAME) else { return Ok(()) };
    for (group, erases, due) in entries(&words[2..]) {
        let groups = ftl.groups();
        if groups.use_of(group) != Use::Closed || groups.erases(group) != erases || due == NEVER || ftl.is_worn_out() {
            continue;
        }
        let is_free = is_still && ftl.free_groups(ftl.layout().die(group)) > ftl.config().gc.floor;
        if due > now && is_free && ftl.next_deadline().is_none_or(|at| at > due) {
            return Err(format!("{group:?} is to be rewritten at {due:?}, and the core waits for {:?}", ftl.next_deadline()));
        }
        if due <= now && is_free {
            return Err(format!("{group:?} was to be rewritten at {due:?}, it is {now:?}, and nothing is under way"));
        }
    }
    Ok(())
}
