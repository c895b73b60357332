//! Programs, erases and reads give way to reads by their priority, at safe points, with a bound on how often (pSR).
//!
//! A read of high priority stops an erase at once. Any other read does so only while its class has a share left of as many stops as an erase stands without
//! harm, and waits for the end of a step, the safe point, afterwards. Programs stop at the end of a loop, which is shorter than a read. A read of high priority
//! breaks off one of lower priority; a normal one goes before a low one between two tries of it, where nothing that was sensed is lost.
//!
//! ```text
//!   waits ╲ works │ erase                                 program         read of lower priority
//!   ──────────────┼─────────────────────────────────────────────────────────────────────────────
//!   high          │ at once                               end of a loop   at once
//!   normal        │ at once within its share, else        end of a loop   between two tries of a low one
//!   low           │ at the end of a step                  end of a loop   waits
//! ```
//!
//! All counts are the core's, in [`Busy`]; the technique has no state.

use wordline_units::{FlashOp, Priority};

use crate::techniques::declaration::{Declaration, Kind, Need, Site, Value, params, words};
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::say::{Hold, Say, Says, Urgency, abstain};
use crate::techniques::seam::{Ask, Busy, ByPriority, Card, Conflict, Ctx, Held, Persists, Technique};

/// Declaration of the technique.
pub const DECLARATION: Declaration = Declaration {
    card: Card {
        name: "priority-preemption",
        source: "pSR: dissertation 000 of the papers, §4.2",
        claim: "a read of high priority waits for no erase, no program and no read of lower priority; reads of the other classes stop an erase at once at most \
                as often as it stands without harm; and whatever is stopped gets done",
        hooks: Hooks::of(&[Hook::Stop, Hook::Hold]),
        asks: &[Ask::OneProgram],
        persists: Persists::Nothing("counts are of the operation under way, which a power cut ends"),
        limits: "a read that garbage collection has ordered is not stopped; without high-max, readers of high priority can hold up an erase for ever",
    },
    about: "programs, erases and reads give way to reads by their priority, at safe points and within a quota (000 §4.2).",
    params: Params::ALL,
    needs: &[Need::StopAtStep, Need::StopNowErase, Need::AbortRead, Need::Where("program_now", Value::Flag(true), &Need::StopNowProgram)],
};

words! {
    /// Lowest priority that counts as high.
    pub enum Lowest {
        /// Urgent reads alone.
        Urgent = "urgent",
        /// Urgent and high reads.
        High = "high",
        /// Urgent, high and normal reads.
        Normal = "normal",
    }
}

params! {
    /// Parameters of priority preemption.
    pub struct Params {
        /// Lowest priority that counts as high: "urgent", "high" or "normal".
        high: Lowest {
            kind: Kind::Word(Lowest::WORDS),
            default: Some(Value::Word("high")),
            tried: &[],
            source: "assumed: 000 §4.2 has three priorities, and hosts four",
        }
        /// Stops at once of one erase that normal reads may ask for.
        share_normal: u32 {
            kind: Kind::Count { least: 0, most: 1_000 },
            default: Some(Value::Count(20)),
            tried: &[Value::Count(0), Value::Count(1), Value::Count(20)],
            source: "assumed: 000 §4.2.1 shares 30 in proportion and gives no ratio",
        }
        /// Stops at once of one erase that low reads may ask for.
        share_low: u32 {
            kind: Kind::Count { least: 0, most: 1_000 },
            default: Some(Value::Count(10)),
            tried: &[Value::Count(0), Value::Count(1), Value::Count(10)],
            source: "assumed: 000 §4.2.1 shares 30 in proportion and gives no ratio",
        }
        /// Stops at once that an erase stands without harm, and its safe points: normal and low reads together never ask for more.
        steps: u32 {
            kind: Kind::Count { least: 1, most: 1_000 },
            default: Some(Value::Count(30)),
            tried: &[Value::Count(1), Value::Count(4), Value::Count(30)],
            source: "000 §4.2.1: 30 safe points of an erase",
        }
        /// A share is earned step by step, so that some is left for what comes later.
        pace: bool {
            kind: Kind::Flag,
            default: Some(Value::Flag(true)),
            tried: &[],
            source: "000 §4.2.1: if the remaining quota is enough for the future workload; the rule is assumed",
        }
        /// Reads that are not high and are served in one spell in which something is held.
        held_max: u32 {
            kind: Kind::Count { least: 1, most: 1_000 },
            default: Some(Value::Count(1)),
            tried: &[Value::Count(1), Value::Count(4), Value::Count(16)],
            source: "assumed: 000 §4.2.2 lets management work go on after each read",
        }
        /// High reads that one program or erase lets past as soon as they come, and as many stops at once for them; 0: any number.
        high_max: u32 {
            kind: Kind::Count { least: 0, most: 60_000 },
            default: Some(Value::Count(0)),
            tried: &[Value::Count(0), Value::Count(2), Value::Count(60)],
            source: "000 §4.2.1 does not count them",
        }
        /// A high read stops a program at once, too.
        program_now: bool {
            kind: Kind::Flag,
            default: Some(Value::Flag(false)),
            tried: &[],
            source: "000 §4.2.2; §4.3 tells the opposite",
        }
        /// Only high reads stop anything on a die without a free block group.
        reserve_guard: bool {
            kind: Kind::Flag,
            default: Some(Value::Flag(true)),
            tried: &[],
            source: "assumed: what frees blocks is what everybody waits for then",
        }
    }
}

/// Class of a read: the source knows three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    High,
    Normal,
    Low,
}

/// Decides by the parameters alone.
#[derive(Clone, Copy, Debug)]
pub struct PriorityPreemption {
    params: Params,
}

/// Answer that goes to a step's end and lets nobody go further.
const AT_STEP: Says<Urgency> = [Say::Propose(Urgency::AtStep), Say::AtMost(Urgency::AtStep)];

impl PriorityPreemption {
    /// Creates the technique, which does not depend on the site.
    pub fn new(_site: &Site<'_>, params: Params) -> Self {
        PriorityPreemption { params }
    }

    fn class(&self, priority: Priority) -> Class {
        let lowest = match self.params.high {
            Lowest::Urgent => Priority::Urgent,
            Lowest::High => Priority::High,
            Lowest::Normal => Priority::Normal,
        };
        match priority {
            priority if priority <= lowest => Class::High,
            Priority::Low => Class::Low,
            Priority::Urgent | Priority::High | Priority::Normal => Class::Normal,
        }
    }

    /// Sum of the counts of `class`.
    fn of_class(&self, counts: &ByPriority, class: Class) -> u32 {
        let of = |priority: &Priority| self.class(*priority) == class;
        Priority::ALL.iter().filter(|priority| of(priority)).map(|&priority| u32::from(counts[priority as usize])).sum()
    }

    /// True if one more than `used` is within what high reads may have of one operation.
    fn is_within_high(&self, used: u32) -> bool {
        self.params.high_max == 0 || used < self.params.high_max
    }

    /// True if a read of `class` may stop `busy` at once: there is something left of its share.
    fn may_stop_now(&self, busy: &Busy, class: Class) -> bool {
        let Params { share_normal, share_low, steps, pace, .. } = self.params;
        let used = |class| self.of_class(&busy.stops_now, class);
        let share = match class {
            Class::High => return self.is_within_high(used(Class::High)),
            Class::Normal => share_normal,
            Class::Low => share_low,
        };
        let earned = if pace { (u32::from(busy.steps) + 1).min(steps) } else { steps };
        (used(class) + 1) * steps <= share * earned && used(Class::Normal) + used(Class::Low) < steps
    }
}

impl Technique for PriorityPreemption {
    fn card(&self) -> &'static Card {
        &DECLARATION.card
    }

    fn stop(&self, _ctx: &Ctx<'_>, conflict: &Conflict) -> Says<Urgency> {
        let Conflict { busy, waiting, is_out_of_groups } = conflict;
        let class = self.class(*waiting);
        let now = [Say::Propose(Urgency::Now), Say::Abstain];
        let is_guarded = *is_out_of_groups && self.params.reserve_guard && class != Class::High;
        match busy.kind {
            FlashOp::Read => match (class, busy.reader.map(|reader| self.class(reader))) {
                (Class::High, Some(Class::Normal | Class::Low)) => now,
                (Class::Normal, Some(Class::Low)) => AT_STEP,
                (Class::High | Class::Normal | Class::Low, _) => abstain(),
            },
            // It would not be served: whoever holds is sent on at once.
            FlashOp::Erase | FlashOp::Program | FlashOp::Copyback if is_guarded => [Say::AtMost(Urgency::Wait), Say::Abstain],
            FlashOp::Erase if self.may_stop_now(busy, class) => now,
            FlashOp::Program | FlashOp::Copyback if self.params.program_now && class == Class::High && self.may_stop_now(busy, class) => {
                now
            }
            FlashOp::Erase | FlashOp::Program | FlashOp::Copyback => AT_STEP,
            FlashOp::LockPage | FlashOp::LockBlock | FlashOp::Scrub | FlashOp::Reprogram => abstain(),
        }
    }

    fn hold(&self, _ctx: &Ctx<'_>, held: &Held) -> Says<Hold> {
        let served = |class| self.of_class(&held.served, class);
        let (others, high) = (served(Class::Normal) + served(Class::Low), served(Class::High));
        let Params { held_max, reserve_guard, .. } = self.params;
        let has_high = self.is_within_high(self.of_class(&held.busy.served, Class::High));
        let serves = match self.class(held.next) {
            Class::High if has_high => return [Say::Propose(Hold::Serve), Say::Abstain],
            Class::High => others + high < held_max,
            Class::Normal | Class::Low if held.is_out_of_groups && reserve_guard => false,
            Class::Normal | Class::Low if has_high => others < held_max,
            Class::Normal | Class::Low => others + high < held_max,
        };
        if serves { abstain() } else { [Say::AtMost(Hold::Resume), Say::Abstain] }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wordline_units::{Cause, DieId, Nanos};

    use super::*;
    use crate::config::tests::small;
    use crate::state::layout::BlockGroup;
    use crate::techniques::empty::EmptyCore;
    use crate::techniques::read_preemption::ReadPreemption;
    use crate::techniques::say::agree;

    const PARAMS: Params = Params {
        high: Lowest::High,
        share_normal: 20,
        share_low: 10,
        steps: 30,
        pace: false,
        held_max: 1,
        high_max: 0,
        program_now: false,
        reserve_guard: true,
    };

    fn technique(params: Params) -> PriorityPreemption {
        PriorityPreemption { params }
    }

    fn busy(kind: FlashOp) -> Busy {
        Busy::new(DieId(0), kind, Cause::Gc, BlockGroup(1))
    }

    fn stop(params: Params, busy: Busy, waiting: Priority, is_out_of_groups: bool) -> Urgency {
        let core = EmptyCore::new(small(64).layout());
        agree(technique(params).stop(&core.ctx(Nanos(1)), &Conflict { busy, waiting, is_out_of_groups }))
    }

    fn serves(params: Params, next: Priority, served: ByPriority, is_out_of_groups: bool) -> bool {
        let core = EmptyCore::new(small(64).layout());
        let held = Held { busy: Busy { served, ..busy(FlashOp::Erase) }, served, next, is_out_of_groups };
        agree(std::iter::once(Say::Propose(Hold::Serve)).chain(technique(params).hold(&core.ctx(Nanos(1)), &held))) == Hold::Serve
    }

    use Priority::{High, Low, Normal, Urgent};

    #[test]
    fn the_table_of_who_gives_way_to_whom() {
        use Urgency::{AtStep, Now, Wait};
        let exhausted = Busy { stops_now: [0, 0, 20, 10], ..busy(FlashOp::Erase) };
        let reading = |reader| Busy { reader: Some(reader), ..busy(FlashOp::Read) };
        for (busy, by) in [
            (busy(FlashOp::Erase), [Now, Now, Now, Now]),
            (exhausted, [Now, Now, AtStep, AtStep]),
            (busy(FlashOp::Program), [AtStep; 4]),
            (busy(FlashOp::Copyback), [AtStep; 4]),
            (reading(Low), [Now, Now, AtStep, Wait]),
            (reading(Normal), [Now, Now, Wait, Wait]),
            (reading(High), [Wait; 4]),
            (busy(FlashOp::Read), [Wait; 4]),
            (busy(FlashOp::LockBlock), [Wait; 4]),
        ] {
            assert_eq!(Priority::ALL.map(|waiting| stop(PARAMS, busy, waiting, false)), by, "{busy:?}");
        }
        let program_now = Params { program_now: true, ..PARAMS };
        let by = Priority::ALL.map(|waiting| stop(program_now, busy(FlashOp::Program), waiting, false));
        assert_eq!(by, [Now, Now, AtStep, AtStep]);
    }

    #[test]
    fn without_a_free_group_only_high_reads_stop_anything_and_only_where_it_is_guarded() {
        let by = |params| Priority::ALL.map(|waiting| stop(params, busy(FlashOp::Erase), waiting, true));
        assert_eq!(by(PARAMS), [Urgency::Now, Urgency::Now, Urgency::Wait, Urgency::Wait]);
        assert_eq!(by(Params { reserve_guard: false, ..PARAMS }), [Urgency::Now; 4]);
        assert!(serves(PARAMS, High, [0; 4], true) && !serves(PARAMS, Normal, [0; 4], true));
        assert!(serves(Params { reserve_guard: false, ..PARAMS }, Normal, [0; 4], true));
    }

    #[test]
    fn a_share_is_earned_step_by_step() {
        let params = Params { pace: true, ..PARAMS };
        let at = |steps, used| stop(params, Busy { steps, stops_now: [0, 0, 0, used], ..busy(FlashOp::Erase) }, Low, false);
        for (steps, most) in [(0, 0), (1, 0), (2, 1), (5, 2), (28, 9), (29, 10), (200, 10)] {
            for used in 0..12 {
                let expected = if used < most { Urgency::Now } else { Urgency::AtStep };
                assert_eq!(at(steps, used), expected, "after {steps} steps and {used} stops");
            }
        }
    }

    #[test]
    fn high_reads_are_bounded_where_that_is_asked_for() {
        let params = Params { high_max: 2, ..PARAMS };
        let after = |params, used| stop(params, Busy { stops_now: [used, 0, 0, 0], ..busy(FlashOp::Erase) }, High, false);
        assert_eq!([0, 1, 2].map(|used| after(params, used)), [Urgency::Now, Urgency::Now, Urgency::AtStep]);
        assert_eq!(after(PARAMS, 999), Urgency::Now);
        assert!(serves(PARAMS, High, [999, 0, 0, 0], false) && serves(params, High, [1, 0, 0, 0], false));
        assert!(!serves(params, High, [2, 0, 0, 0], false), "both were let past, and one more is one too many in this spell");
    }

    #[test]
    fn so_many_reads_that_are_not_high_are_served_in_a_spell() {
        for held_max in [1, 4] {
            let params = Params { held_max, ..PARAMS };
            for served in 0..6 {
                let is_served = u32::from(served) < held_max;
                assert_eq!(serves(params, Normal, [7, 0, served, 0], false), is_served);
                assert_eq!(serves(params, Low, [7, 0, 0, served], false), is_served);
                assert!(serves(params, High, [7, 0, served, 0], false));
            }
        }
    }

    proptest! {
        #[test]
        fn normal_and_low_reads_never_stop_an_erase_at_once_more_often_than_it_stands(
            shares in (0u32..50, 0u32..50), steps in 1u32..40, pace in any::<bool>(), asked in prop::collection::vec((2usize..4, 0u16..60), 1..200),
        ) {
            let params = Params { share_normal: shares.0, share_low: shares.1, steps, pace, ..PARAMS };
            let core = EmptyCore::new(small(64).layout());
            let mut erase = busy(FlashOp::Erase);
            for (class, at) in asked {
                erase.steps = erase.steps.max(at);
                let conflict = Conflict { busy: erase, waiting: Priority::ALL[class], is_out_of_groups: false };
                // Whoever proposes to stop at once for everybody is held to it as well.
                let answers = [technique(params).stop(&core.ctx(Nanos(1)), &conflict), ReadPreemption.stop(&core.ctx(Nanos(1)), &conflict)];
                if agree(answers.into_iter().flatten()) == Urgency::Now {
                    erase.stops_now[class] += 1;
                }
                let [_, _, normal, low] = erase.stops_now.map(u32::from);
                prop_assert!(normal <= shares.0 && low <= shares.1 && normal + low <= steps);
            }
        }
    }

    #[test]
    fn planted_bug_a_proposal_without_its_cap_lets_others_go_beyond_the_quota() {
        let core = EmptyCore::new(small(64).layout());
        let used_up = Busy { stops_now: [0, 0, 20, 10], ..busy(FlashOp::Erase) };
        let conflict = Conflict { busy: used_up, waiting: Low, is_out_of_groups: false };
        let ours = technique(PARAMS).stop(&core.ctx(Nanos(1)), &conflict);
        let uncapped = ours.map(|say| if matches!(say, Say::AtMost(_)) { Say::Abstain } else { say });
        let beside = |ours: Says<Urgency>| agree([ours, ReadPreemption.stop(&core.ctx(Nanos(1)), &conflict)].into_iter().flatten());
        assert_eq!((beside(ours), beside(uncapped)), (Urgency::AtStep, Urgency::Now));
    }

    #[test]
    fn the_lowest_priority_that_counts_as_high_is_a_choice() {
        let high = |lowest| Priority::ALL.map(|priority| technique(Params { high: lowest, ..PARAMS }).class(priority) == Class::High);
        assert_eq!(high(Lowest::Urgent), [true, false, false, false]);
        assert_eq!(high(Lowest::High), [true, true, false, false]);
        assert_eq!(high(Lowest::Normal), [true, true, true, false]);
        assert_eq!(technique(PARAMS).class(Urgent), Class::High);
    }
}
