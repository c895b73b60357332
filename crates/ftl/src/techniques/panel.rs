//! The techniques of one core: the subscribers of each hook, and the merge of their answers.

use wordline_flash::{Failed, ProgramSettings, ReadTry};
use wordline_units::Nanos;

use super::counts::{Books, Effect, TechniqueCounts, Why, effect_of_best, effect_of_says, effect_of_union};
use super::hooks::{Hook, Hooks};
use super::ladder::Ladder;
use super::merge::{
    merge_distrust, merge_erase_settings, merge_estimates, merge_fits, merge_key_stores, merge_methods, merge_program_settings,
    merge_rungs, merge_wear,
};
use super::say::{Hold, Say, Says, Scale, Start, Urgency, Way, abstain, agree};
use super::seam::{
    Ask, Card, Conflict, Copy, Ctx, Estimate, Fit, FlashPage, Held, IdleWordlines, KeyStore, Leap, Memo, Moving, News, Place,
    ProgramReport, ProgramUnit, Rung, SanitiseMethod, StaleSecrets, Technique, Wear, Worn,
};
use super::work::{Waiting, Work, merge_work};
use crate::state::groups::BlockGroups;
use crate::state::layout::BlockGroup;

/// The place of a technique in the panel.
type Member = u8;

/// Most techniques of a panel.
const MOST: usize = 32;

/// The techniques that are switched on, with an index of their subscriptions.
#[derive(Debug)]
pub struct Panel {
    members: Vec<Box<dyn Technique>>,
    books: Books,
    /// The core's own rung, always there.
    ladder: Ladder,
    /// Subscribers of each hook.
    interest: [Vec<Member>; Hook::ALL.len()],
    /// Hooks with a subscriber.
    wanted: Hooks,
    /// True if a technique asks for [`Ask::Programs`].
    sets_programs: bool,
    /// True if open groups of a die may suit the same data differently.
    tells_open_apart: bool,
    /// Subscribers to idle dies, each with the time after which it is told.
    idle: Vec<(Member, Nanos)>,
    /// Instant at which each technique is to be told the time; [`Nanos::MAX`]: never.
    timers: Vec<Nanos>,
    /// Earliest instant of `timers`.
    alarm: Nanos,
    /// Scratch list of the techniques that are told the time.
    ringing: Vec<Member>,
    /// Scratch list of the free groups that suit some data best.
    places: Vec<usize>,
}

impl Panel {
    /// Creates a panel of these techniques, in this order, beside the core's own `ladder`. The order decides nothing but the order in which they are told.
    pub fn new(members: Vec<Box<dyn Technique>>, ladder: Ladder) -> Panel {
        assert!(members.len() <= MOST, "more techniques than a panel has places");
        let mut panel = Panel {
            books: Books::new(members.len()),
            interest: std::array::from_fn(|_| Vec::new()),
            wanted: Hooks::NONE,
            sets_programs: false,
            tells_open_apart: false,
            idle: Vec::new(),
            timers: vec![Nanos::MAX; members.len()],
            alarm: Nanos::MAX,
            ringing: Vec::new(),
            places: Vec::new(),
            members,
            ladder,
        };
        for (index, technique) in panel.members.iter().enumerate() {
            let hooks = technique.card().hooks;
            panel.wanted = panel.wanted.with(hooks);
            hooks.iter().for_each(|hook| panel.interest[hook as usize].push(index as Member));
            if hooks.has(Hook::Idle)
                && let Some(wait) = technique.idle_after()
            {
                panel.idle.push((index as Member, wait));
            }
            if hooks.has(Hook::Timer) {
                panel.timers[index] = technique.wake_at().unwrap_or(Nanos::MAX);
            }
        }
        panel.alarm = panel.timers.iter().copied().min().unwrap_or(Nanos::MAX);
        panel.sets_programs = panel.asks(Ask::Programs);
        let tells_open_apart = panel.asked(Hook::Fit).any(Technique::tells_open_apart);
        panel.tells_open_apart = tells_open_apart;
        panel
    }

    /// Creates the panel of this one's techniques and `technique`.
    pub fn with(self, technique: Box<dyn Technique>) -> Panel {
        let mut members = self.members;
        members.push(technique);
        Panel::new(members, self.ladder)
    }

    /// True if a technique subscribes to `hook`.
    #[inline]
    pub fn has(&self, hook: Hook) -> bool {
        self.wanted.has(hook)
    }

    /// True if a technique subscribes to any of `hooks`.
    #[inline]
    pub fn has_any(&self, hooks: Hooks) -> bool {
        self.wanted.meets(hooks)
    }

    /// True if a technique sets programs and learns how they went.
    #[inline]
    pub fn sets_programs(&self) -> bool {
        self.sets_programs
    }

    /// True if a technique wants to be told the past of a drive that is set to an age: it asks for traces of erases, or may have pages measured.
    pub fn asks_past(&self) -> bool {
        self.asks(Ask::EraseTrace) || (self.has(Hook::Work) && self.has_any(Hooks::of(&[Hook::Opened, Hook::Closed])))
    }

    /// True if a technique asks for `service`.
    pub fn asks(&self, service: Ask) -> bool {
        self.cards().any(|card| card.asks.contains(&service))
    }

    /// Cards of the techniques, in the order of the panel.
    pub fn cards(&self) -> impl Iterator<Item = &'static Card> {
        self.members.iter().map(|technique| technique.card())
    }

    /// Learnt state of each technique, with its name.
    pub fn images(&self) -> impl Iterator<Item = (&'static str, Vec<u32>)> {
        self.members.iter().map(|technique| (technique.card().name, technique.image()))
    }

    /// Learnt state of the technique `name`; `None`: it is not switched on.
    pub fn image(&self, name: &str) -> Option<Vec<u32>> {
        self.images().find(|(known, _)| *known == name).map(|(_, image)| image)
    }

    /// Restores the state that `state_of` gives for the name of each technique; an error names the first technique that refuses its state.
    pub fn restore<'a>(&mut self, state_of: impl Fn(&str) -> Option<&'a [u32]>) -> Result<(), &'static str> {
        for technique in &mut self.members {
            let name = technique.card().name;
            if state_of(name).is_some_and(|state| !technique.restore(state)) {
                return Err(name);
            }
        }
        (0..self.members.len()).for_each(|member| self.set_timer(member, Nanos::ZERO));
        Ok(())
    }

    /// Tells each technique that the core has come back from a power cut, with the memos that `memos_of` gives for its card.
    pub fn recover(&mut self, groups: &BlockGroups, mut memos_of: impl FnMut(&'static Card) -> Vec<Memo>) {
        for member in 0..self.members.len() {
            let technique = &mut self.members[member];
            let memos = memos_of(technique.card());
            technique.recover(groups, &memos);
            self.set_timer(member, Nanos::ZERO);
        }
    }

    /// Tells each technique of `leap`.
    pub fn leap(&mut self, leap: &Leap<'_>) {
        self.members.iter_mut().for_each(|technique| technique.leap(leap));
    }

    /// Tells `news` to its subscribers.
    pub fn learn(&mut self, ctx: &Ctx<'_>, news: &News) {
        let hook = news.hook() as usize;
        for at in 0..self.interest[hook].len() {
            self.teach(self.interest[hook][at], ctx, news);
        }
    }

    /// Memos that subscribers of `news` give because of it, each with its technique's card.
    pub fn memos(&self, ctx: &Ctx<'_>, news: &News) -> impl Iterator<Item = (&'static Card, Memo)> {
        self.asked_after(Hook::Remember, news.hook()).filter_map(|technique| Some((technique.card(), technique.remember(ctx, news)?)))
    }

    /// Gathers the work that subscribers of `news` want done because of it.
    pub fn work(&mut self, ctx: &Ctx<'_>, news: &News, into: &mut Vec<Work>) {
        for at in 0..self.interest[Hook::Work as usize].len() {
            let member = self.interest[Hook::Work as usize][at];
            if self.subscribes(member, news.hook()) {
                into.extend(self.work_of(member, ctx, news));
            }
        }
        merge_work(into);
    }

    fn subscribes(&self, member: Member, hook: Hook) -> bool {
        self.members[usize::from(member)].card().hooks.has(hook)
    }

    fn work_of(&mut self, member: Member, ctx: &Ctx<'_>, news: &News) -> Option<Work> {
        let work = self.members[usize::from(member)].work(ctx, news);
        let effect = if work.is_some() { Effect::Acted } else { Effect::Abstained(Why::NoConcern) };
        self.books.note_all(Hook::Work, &[member], |_| effect);
        work
    }

    /// Times after which each subscriber to idle dies is told of one: [`Panel::learn_idle`] takes a place in this list.
    pub fn idle_waits(&self) -> impl ExactSizeIterator<Item = Nanos> {
        self.idle.iter().map(|&(_, wait)| wait)
    }

    /// Tells `news` to the subscriber at `place` of [`Panel::idle_waits`]. Returns the work that it wants done.
    pub fn learn_idle(&mut self, place: usize, ctx: &Ctx<'_>, news: &News) -> Option<Work> {
        self.learn_alone(self.idle[place].0, ctx, news)
    }

    /// Next instant at which a technique is to be told the time.
    #[inline]
    pub fn alarm(&self) -> Option<Nanos> {
        (self.alarm != Nanos::MAX).then_some(self.alarm)
    }

    /// Tells the time to all techniques whose instant has come, and gathers the work that they want done.
    pub fn ring(&mut self, ctx: &Ctx<'_>, into: &mut Vec<Work>) {
        let mut ringing = std::mem::take(&mut self.ringing);
        ringing.extend((0..self.members.len()).filter(|&member| self.timers[member] <= ctx.now).map(|member| member as Member));
        for member in ringing.drain(..) {
            into.extend(self.learn_alone(member, ctx, &News::Timer));
        }
        self.ringing = ringing;
    }

    fn learn_alone(&mut self, member: Member, ctx: &Ctx<'_>, news: &News) -> Option<Work> {
        self.teach(member, ctx, news);
        if self.subscribes(member, Hook::Work) { self.work_of(member, ctx, news) } else { None }
    }

    fn teach(&mut self, member: Member, ctx: &Ctx<'_>, news: &News) {
        self.members[usize::from(member)].learn(ctx, news);
        self.set_timer(usize::from(member), ctx.now);
    }

    /// Asks `member` again for its instant; one that has passed at `now` counts as none.
    fn set_timer(&mut self, member: usize, now: Nanos) {
        if self.has(Hook::Timer) && self.members[member].card().hooks.has(Hook::Timer) {
            self.timers[member] = self.members[member].wake_at().filter(|&at| at > now).unwrap_or(Nanos::MAX);
            self.alarm = self.timers.iter().copied().min().unwrap_or(Nanos::MAX);
        }
    }

    fn asked(&self, hook: Hook) -> impl Iterator<Item = &dyn Technique> {
        self.interest[hook as usize].iter().map(|&member| self.members[usize::from(member)].as_ref())
    }

    /// Subscribers of `question` that also subscribe to `news`.
    fn asked_after(&self, question: Hook, news: Hook) -> impl Iterator<Item = &dyn Technique> {
        self.asked(question).filter(move |technique| technique.card().hooks.has(news))
    }

    /// Counts of what each technique was asked and of what became of its answers, in the order of the panel.
    pub fn counts(&self) -> Vec<TechniqueCounts> {
        let names: Vec<_> = self.cards().map(|card| card.name).collect();
        let cards = self.cards().map(|card| card.hooks).zip(&self.members).enumerate();
        cards.map(|(member, (hooks, technique))| self.books.of(member, &names, hooks, technique.censuses())).collect()
    }

    /// Agreement of the subscribers of `question`, where the core alone would do `own`.
    fn agreed<T: Scale>(&mut self, question: Hook, own: T, says: impl Fn(&dyn Technique) -> Says<T>) -> T {
        let Panel { members, books, interest, .. } = self;
        let asked = &interest[question as usize][..];
        let mut answers = [abstain(); MOST];
        let answers = &mut answers[..asked.len()];
        for (answer, &member) in answers.iter_mut().zip(asked) {
            *answer = says(members[usize::from(member)].as_ref());
        }
        let merged = agree(answers.iter().flatten().copied().chain([Say::Propose(own)]));
        books.note_all(question, asked, |at| effect_of_says(own, answers, at, merged));
        merged
    }

    /// The answer to `question` that `merge` makes of those of its subscribers. `is_own`: true if an answer is what the core does alone.
    fn best<V: Clone + PartialEq>(
        &mut self,
        question: Hook,
        ask: impl Fn(&dyn Technique) -> Result<V, Why>,
        merge: impl Fn(&mut dyn Iterator<Item = Option<V>>) -> Option<V>,
        is_own: impl Fn(&V) -> bool,
    ) -> Option<V> {
        let Panel { members, books, interest, .. } = self;
        let asked = &interest[question as usize][..];
        // One technique answers most questions, and needs no room for others.
        if let &[member] = asked {
            let answer = [ask(members[usize::from(member)].as_ref())];
            let merged = merge(&mut answer.iter().map(|answer| answer.clone().ok()));
            books.note_all(question, asked, |at| effect_of_best(&answer, at, merged.as_ref(), &is_own));
            return merged;
        }
        let mut answers: [Result<V, Why>; MOST] = std::array::from_fn(|_| Err(Why::NoConcern));
        let answers = &mut answers[..asked.len()];
        for (answer, &member) in answers.iter_mut().zip(asked) {
            *answer = ask(members[usize::from(member)].as_ref());
        }
        let merged = merge(&mut answers.iter().map(|answer| answer.clone().ok()));
        books.note_all(question, asked, |at| effect_of_best(answers, at, merged.as_ref(), &is_own));
        merged
    }

    /// Agreement on whether `work` starts.
    pub fn start(&mut self, ctx: &Ctx<'_>, work: &Work, waiting: &Waiting) -> Start {
        self.agreed(Hook::MayWork, Start::Now, |technique| technique.may_work(ctx, work, waiting))
    }

    /// Most retries that a read of `group` may need while work on it stays parked: the least answer of all.
    pub fn retries_borne(&self, ctx: &Ctx<'_>, group: BlockGroup) -> u32 {
        self.asked(Hook::MayWork).map(|technique| technique.retries_borne(ctx, group)).min().unwrap_or(u32::MAX)
    }

    /// Agreement on how urgently the operation of a die is stopped for a waiting read.
    pub fn urgency(&mut self, ctx: &Ctx<'_>, conflict: &Conflict) -> Urgency {
        self.agreed(Hook::Stop, Urgency::LEAST, |technique| technique.stop(ctx, conflict))
    }

    /// Agreement on whether a further read is served while an operation is suspended: true if it is.
    pub fn serves(&mut self, ctx: &Ctx<'_>, held: &Held) -> bool {
        self.agreed(Hook::Hold, Hold::Serve, |technique| technique.hold(ctx, held)) == Hold::Serve
    }

    /// Agreement on the way by which a whole program unit is moved.
    pub fn way(&mut self, ctx: &Ctx<'_>, copy: &Copy) -> Way {
        self.agreed(Hook::Way, Way::LEAST, |technique| technique.way(ctx, copy))
    }

    /// Merged answer how well the place `to` suits `data`.
    pub fn fit(&mut self, ctx: &Ctx<'_>, data: &Moving, to: &Place) -> Fit {
        let fit = |technique: &dyn Technique| Some(technique.fit(ctx, data, to)).filter(|&fit| fit != Fit::Exact).ok_or(Why::NoConcern);
        self.best(Hook::Fit, fit, |answers| merge_fits(answers), |_| false).unwrap_or(Fit::Exact)
    }

    /// True if free groups of a die may suit the same data differently.
    pub(crate) fn tells_free_apart(&self) -> bool {
        self.asked(Hook::Fit).any(Technique::tells_free_apart)
    }

    /// True if open groups of a die may suit the same data differently.
    #[inline]
    pub(crate) fn tells_open_apart(&self) -> bool {
        self.tells_open_apart
    }

    /// True if every technique goes on as it does now while the load does.
    pub fn is_settled(&self) -> bool {
        self.members.iter().all(|technique| technique.is_settled())
    }

    /// Takes the empty scratch list of free groups that suit some data best, which goes back by [`Panel::give_places`].
    pub(crate) fn take_places(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.places)
    }

    /// Gives the scratch list back.
    pub(crate) fn give_places(&mut self, mut places: Vec<usize>) {
        places.clear();
        self.places = places;
    }

    /// Merged method for stale secrets; `None`: no technique sanitises them.
    pub fn method(&mut self, ctx: &Ctx<'_>, exposed: &StaleSecrets) -> Option<SanitiseMethod> {
        let method = |technique: &dyn Technique| technique.sanitise(ctx, exposed).ok_or(Why::NoConcern);
        self.best(Hook::Sanitise, method, |answers| merge_methods(answers), |_| false)
    }

    /// Merged demand for a key store; `None`: no technique needs one.
    pub fn key_store(&self) -> Option<KeyStore> {
        merge_key_stores(self.asked(Hook::KeyStore).map(|technique| technique.key_store()))
    }

    /// Merged settings for the program of the unit at `at`.
    pub fn program_settings(&mut self, ctx: &Ctx<'_>, at: &ProgramUnit) -> ProgramSettings {
        let settings = |technique: &dyn Technique| technique.program_settings(ctx, at).ok_or(Why::NoConcern);
        // The level that cells are counted from is no matter of how they are programmed.
        let is_own = |settings: &ProgramSettings| {
            ProgramSettings { lowered: ProgramSettings::DEFAULT.lowered, ..*settings } == ProgramSettings::DEFAULT
        };
        let merged = self.best(Hook::ProgramSettings, settings, |answers| merge_program_settings(answers), is_own);
        merged.unwrap_or(ProgramSettings::DEFAULT)
    }

    /// Wordlines of `group` that are to take no data after its next erase.
    pub fn erase_settings(&mut self, ctx: &Ctx<'_>, group: BlockGroup) -> IdleWordlines {
        let Panel { members, books, interest, .. } = self;
        let asked = &interest[Hook::EraseSettings as usize][..];
        let answers: Vec<_> =
            asked.iter().map(|&member| members[usize::from(member)].erase_settings(ctx, group).ok_or(Why::NoConcern)).collect();
        books.note_all(Hook::EraseSettings, asked, |at| effect_of_union(&answers[at]));
        merge_erase_settings(answers.iter().map(|answer| answer.ok())).unwrap_or_default()
    }

    /// True if a technique distrusts the program of `report`.
    pub fn distrusts(&mut self, ctx: &Ctx<'_>, report: &ProgramReport) -> bool {
        let distrusts = |technique: &dyn Technique| if technique.distrusts(ctx, report) { Ok(()) } else { Err(Why::NoConcern) };
        self.best(Hook::Distrusts, distrusts, |answers| merge_distrust(answers), |()| false).is_some()
    }

    /// Greatest wear of `group` that a technique tells; `None`: nobody does.
    pub fn wear_of(&mut self, ctx: &Ctx<'_>, group: BlockGroup) -> Option<Worn> {
        self.best(Hook::WearOf, |technique| technique.wear_of(ctx, group), |answers| merge_wear(answers), |_| false)
    }

    /// Greatest wear that a technique foretells of `group` after so many further erases; `None`: nobody does.
    pub fn wear_after(&self, ctx: &Ctx<'_>, group: BlockGroup, erases: u32) -> Option<Wear> {
        merge_wear(self.asked(Hook::WearOf).map(|technique| technique.wear_after(ctx, group, erases)))
    }

    /// Best estimate of where a read of `at` should begin; `None`: no technique has one.
    pub fn estimate(&mut self, ctx: &Ctx<'_>, at: FlashPage) -> Option<Estimate> {
        let is_default = |estimate: &Estimate| estimate.first == ReadTry::DEFAULT;
        self.best(Hook::Estimate, |technique| technique.estimate(ctx, at), |answers| merge_estimates(answers), is_default)
    }

    /// Next try of the read of `at` that has `failed`: the cheapest that the ladder or a technique knows. `None`: all known tries have been made.
    pub fn next_try(&mut self, ctx: &Ctx<'_>, at: FlashPage, failed: &Failed<'_>) -> Option<ReadTry> {
        let own = self.ladder.rung(failed);
        if !self.has(Hook::Rung) {
            return merge_rungs([own], failed.tried).map(|rung| rung.next);
        }
        let rung = |technique: &dyn Technique| technique.rung(ctx, at, failed).ok_or(Why::NoConcern);
        let is_own = |rung: &Rung| own.is_some_and(|own| own.next == rung.next);
        let merged = self.best(Hook::Rung, rung, |answers| merge_rungs(answers.chain([own]), failed.tried), is_own);
        merged.map(|rung| rung.next)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::config::tests::small;
    use crate::techniques::empty::EmptyCore;
    use crate::techniques::seam::Persists;

    /// A technique that wants to be told the time `every` so many ns, and of dies that have been idle for 7.
    #[derive(Debug, Default)]
    struct Clock {
        told: AtomicU32,
        next: u64,
        every: u64,
        is_sound: bool,
    }

    static CARD: Card = Card {
        name: "clock",
        source: "",
        claim: "",
        hooks: Hooks::of(&[Hook::Timer, Hook::Idle]),
        asks: &[Ask::Programs],
        persists: Persists::Nothing(""),
        limits: "",
    };

    impl Technique for Clock {
        fn card(&self) -> &'static Card {
            &CARD
        }

        fn image(&self) -> Vec<u32> {
            vec![self.told.load(Ordering::Relaxed)]
        }

        fn restore(&mut self, _: &[u32]) -> bool {
            self.is_sound
        }

        fn learn(&mut self, ctx: &Ctx<'_>, _: &News) {
            self.told.fetch_add(1, Ordering::Relaxed);
            self.next = ctx.now.0 + self.every;
        }

        fn wake_at(&self) -> Option<Nanos> {
            Some(Nanos(self.next))
        }

        fn idle_after(&self) -> Option<Nanos> {
            Some(Nanos(7))
        }
    }

    fn panel(next: u64, is_sound: bool) -> Panel {
        let refresh = crate::techniques::read_preemption::ReadPreemption;
        Panel::new(vec![Box::new(refresh), Box::new(Clock { next, is_sound, every: 10, told: AtomicU32::new(0) })], Ladder::NONE)
    }

    #[test]
    fn a_timer_rings_once_when_its_instant_has_come_and_is_asked_for_the_next() {
        let core = EmptyCore::new(small(64).layout());
        let mut panel = panel(30, true);
        assert_eq!(panel.alarm(), Some(Nanos(30)));
        let mut work = Vec::new();
        for (now, told, alarm) in [(29, 0, 30), (30, 1, 40), (30, 1, 40), (55, 2, 65)] {
            panel.ring(&core.ctx(Nanos(now)), &mut work);
            assert_eq!((panel.image("clock"), panel.alarm()), (Some(vec![told]), Some(Nanos(alarm))), "at {now}");
        }
        assert!(work.is_empty(), "it does not subscribe to the question for work");
    }

    #[test]
    fn an_instant_that_has_passed_never_rings() {
        let core = EmptyCore::new(small(64).layout());
        let mut panel = Panel::new(vec![Box::new(Clock { next: 5, ..Clock::default() })], Ladder::NONE);
        panel.ring(&core.ctx(Nanos(8)), &mut Vec::new());
        assert_eq!((panel.image("clock"), panel.alarm()), (Some(vec![1]), None), "it asks for the instant that is now");
    }

    #[test]
    fn news_reaches_its_subscribers_alone() {
        let core = EmptyCore::new(small(64).layout());
        let mut panel = panel(30, true);
        assert!(panel.has(Hook::Timer) && panel.has(Hook::Stop) && !panel.has(Hook::Read));
        assert!(panel.has_any(Hooks::of(&[Hook::Read, Hook::Idle])) && !panel.has_any(Hooks::of(&[Hook::Read, Hook::Way])));
        assert!(panel.sets_programs(), "the clock asks for it");
        panel.learn(&core.ctx(Nanos(1)), &News::Closed { group: crate::state::layout::BlockGroup(0) });
        assert_eq!(panel.image("clock"), Some(vec![0]));
        assert!(panel.idle_waits().eq([Nanos(7)]));
        let idle = News::Idle { die: wordline_units::DieId(0), idle: Nanos(7), free: 1 };
        assert_eq!(panel.learn_idle(0, &core.ctx(Nanos(7)), &idle), None);
        assert_eq!(panel.image("clock"), Some(vec![1]));
    }

    #[test]
    fn state_that_a_technique_refuses_is_told_with_its_name() {
        let state = [5];
        assert_eq!(panel(0, true).restore(|name| (name == "clock").then_some(&state[..])), Ok(()));
        assert_eq!(panel(0, false).restore(|name| (name == "clock").then_some(&state[..])), Err("clock"));
        assert_eq!(panel(0, false).restore(|_| None), Ok(()), "nothing was kept for it");
    }
}
