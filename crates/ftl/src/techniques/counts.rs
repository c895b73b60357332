//! Counts of what techniques were asked, and of what became of their answers.
//!
//! Each question is put to its subscribers by the [`Panel`](super::panel::Panel), which merges their answers; one of five things becomes of each:
//!
//! | | the technique |
//! |---|---|
//! | abstained | had no opinion, with the reason ([`Why`]) |
//! | same | asked for what is done without it |
//! | overruled | asked for another thing than what was merged, with the technique that it gave way to |
//! | acted | got what it asked for, and the core alone would have done otherwise |
//!
//! Questions are no events, so these counts are no function of the event stream; they change no decision, and no image holds them.

use super::census::Census;
use super::hooks::{Hook, Hooks};
use super::say::{Say, Says, Scale};
pub use super::why::Why;

/// Effect of one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Abstained(Why),
    Same,
    /// The place among the answers of the one that it gave way to; `None`: that of the core.
    Overruled(Option<usize>),
    Acted,
}

/// Effect of the answer at `at` of `all` to a question that is answered by agreement ([`agree`](super::say::agree)), where the core alone proposes `own`.
pub(super) fn effect_of_says<T: Scale>(own: T, all: &[Says<T>], at: usize, merged: T) -> Effect {
    let proposals = |says: &Says<T>| says.iter().filter_map(|say| if let Say::Propose(far) = *say { Some(far) } else { None }).max();
    let caps = |says: &Says<T>| says.iter().filter_map(|say| if let Say::AtMost(far) = *say { Some(far) } else { None }).min();
    let boldest = all.iter().filter_map(proposals).fold(own, T::max);
    let (proposed, cap) = (proposals(&all[at]), caps(&all[at]));
    let does_propose = proposed.is_some_and(|far| far > own);
    let does_cap = cap.is_some_and(|far| far < boldest);
    if does_propose && proposed == Some(merged) || does_cap && cap == Some(merged) {
        return Effect::Acted;
    }
    if does_propose || does_cap {
        let prevails = |of: &dyn Fn(&Says<T>) -> Option<T>| (0..all.len()).find(|&other| other != at && of(&all[other]) == Some(merged));
        return Effect::Overruled(prevails(&caps).or_else(|| prevails(&proposals)));
    }
    let reason = all[at].iter().find_map(|say| if let Say::Because(why) = *say { Some(why) } else { None });
    match reason {
        Some(why) => Effect::Abstained(why),
        None if proposed.is_some() || cap.is_some() => Effect::Same,
        None => Effect::Abstained(Why::NoConcern),
    }
}

/// Effect of the answer at `at` of `all`, of which `merged` was taken. `is_own`: true if an answer is what the core does alone.
pub(super) fn effect_of_best<V: PartialEq>(all: &[Result<V, Why>], at: usize, merged: Option<&V>, is_own: impl Fn(&V) -> bool) -> Effect {
    match &all[at] {
        Err(why) => Effect::Abstained(*why),
        Ok(answer) if merged == Some(answer) => {
            if is_own(answer) {
                Effect::Same
            } else {
                Effect::Acted
            }
        }
        Ok(_) => Effect::Overruled(all.iter().position(|other| other.as_ref().ok() == merged)),
    }
}

/// Effect of one `answer` to a question whose answers are united.
pub(super) fn effect_of_union<V: PartialEq + Default>(answer: &Result<V, Why>) -> Effect {
    match answer {
        Err(why) => Effect::Abstained(*why),
        Ok(answer) if *answer == V::default() => Effect::Same,
        Ok(_) => Effect::Acted,
    }
}

/// Answers of one technique to one question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnswerCounts {
    /// Number of times that it was asked.
    pub asked: u64,
    /// Answers without an opinion.
    pub abstained: u64,
    /// Answers that asked for what is done without them.
    pub same: u64,
    /// Answers that gave way to another's.
    pub overruled: u64,
}

impl AnswerCounts {
    /// Answers that were done, where the core alone would have done otherwise.
    pub fn acted(&self) -> u64 {
        self.asked - self.abstained - self.same - self.overruled
    }

    fn combine(&mut self, other: &AnswerCounts, with: impl Fn(u64, u64) -> u64) {
        self.asked = with(self.asked, other.asked);
        self.abstained = with(self.abstained, other.abstained);
        self.same = with(self.same, other.same);
        self.overruled = with(self.overruled, other.overruled);
    }
}

/// Answers of one technique since its core was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TechniqueCounts {
    /// Name of the technique.
    pub name: &'static str,
    /// Hooks that the technique subscribes to.
    pub hooks: Hooks,
    /// Counts by question, of the questions that it subscribes to.
    pub questions: Vec<(Hook, AnswerCounts)>,
    /// Number of answers without an opinion, by reason.
    pub why: [u64; Why::ALL.len()],
    /// Number of answers that gave way, by whom: a technique, or last `None` for the core.
    pub overruled_by: Vec<(Option<&'static str>, u64)>,
    /// Block groups by what the technique holds of them now.
    pub censuses: Vec<Census>,
}

impl TechniqueCounts {
    /// Answers to all questions.
    pub fn total(&self) -> AnswerCounts {
        let mut total = AnswerCounts::default();
        self.questions.iter().for_each(|(_, counts)| total.combine(counts, |a, b| a + b));
        total
    }

    /// Counts since `before`, of the same techniques. A census is of now.
    #[must_use]
    pub fn since(mut self, before: &TechniqueCounts) -> TechniqueCounts {
        self.combine(before, |now, then| now - then);
        self
    }

    /// Sums of the counts of several cores with the same techniques.
    pub fn sums(cores: impl Iterator<Item = Vec<TechniqueCounts>>) -> Vec<TechniqueCounts> {
        let add = |mut sums: Vec<TechniqueCounts>, more: Vec<TechniqueCounts>| {
            for (sum, more) in sums.iter_mut().zip(&more) {
                sum.combine(more, |a, b| a + b);
                sum.censuses.iter_mut().zip(&more.censuses).for_each(|(sum, more)| sum.add(more));
            }
            sums
        };
        cores.reduce(add).unwrap_or_default()
    }

    fn combine(&mut self, other: &TechniqueCounts, with: impl Fn(u64, u64) -> u64 + Copy) {
        self.questions.iter_mut().zip(&other.questions).for_each(|((_, counts), (_, other))| counts.combine(other, with));
        self.why.iter_mut().zip(&other.why).for_each(|(number, &other)| *number = with(*number, other));
        self.overruled_by.iter_mut().zip(&other.overruled_by).for_each(|((_, number), &(_, other))| *number = with(*number, other));
    }
}

/// Questions that are counted. A key store is demanded once, before anything happens, and a memo decides nothing.
const COUNTED: [Hook; 13] = [
    Hook::Work,
    Hook::MayWork,
    Hook::Stop,
    Hook::Hold,
    Hook::Way,
    Hook::Fit,
    Hook::Sanitise,
    Hook::ProgramSettings,
    Hook::Distrusts,
    Hook::WearOf,
    Hook::Estimate,
    Hook::Rung,
    Hook::EraseSettings,
];

/// Counters of each question: asked, abstained, same, overruled.
const EACH: usize = 4;

/// Counters of all techniques of a panel, in one flat list: for each technique its questions, its reasons, and those that it gave way to.
#[derive(Debug)]
pub(super) struct Books {
    counters: Vec<u64>,
    members: usize,
}

impl Books {
    /// Empty books of so many techniques.
    pub(super) fn new(members: usize) -> Books {
        Books { counters: vec![0; members * Books::stride(members)], members }
    }

    fn stride(members: usize) -> usize {
        Hook::ALL.len() * EACH + Why::ALL.len() + members + 1
    }

    /// Writes down the effects of the answers to `question` of the techniques `asked`, by the place of each among them.
    #[inline]
    pub(super) fn note_all(&mut self, question: Hook, asked: &[u8], effect: impl Fn(usize) -> Effect) {
        for (at, &member) in asked.iter().enumerate() {
            let by = |place: usize| usize::from(asked[place]);
            match effect(at) {
                Effect::Overruled(place) => self.note(member.into(), question, Effect::Overruled(place.map(by))),
                own @ (Effect::Abstained(_) | Effect::Same | Effect::Acted) => self.note(member.into(), question, own),
            }
        }
    }

    /// Writes down that the technique `member` was asked `question`, and the effect of its answer. An [`Effect::Overruled`] has the place of a technique.
    #[inline]
    fn note(&mut self, member: usize, question: Hook, effect: Effect) {
        let at = member * Books::stride(self.members);
        let mut add = |counter: usize| self.counters[at + counter] += 1;
        let (row, why) = (question as usize * EACH, Hook::ALL.len() * EACH);
        add(row);
        match effect {
            Effect::Abstained(reason) => {
                add(row + 1);
                add(why + reason as usize);
            }
            Effect::Same => add(row + 2),
            Effect::Overruled(by) => {
                add(row + 3);
                add(why + Why::ALL.len() + by.unwrap_or(self.members));
            }
            Effect::Acted => {}
        }
    }

    /// Counts of the technique `member` of `names`, which subscribes to `hooks`.
    pub(super) fn of(&self, member: usize, names: &[&'static str], hooks: Hooks, censuses: Vec<Census>) -> TechniqueCounts {
        let all = &self.counters[member * Books::stride(self.members)..][..Books::stride(self.members)];
        let (by_question, rest) = all.split_at(Hook::ALL.len() * EACH);
        let (why, by) = rest.split_at(Why::ALL.len());
        let counts = |question: Hook| {
            let row = &by_question[question as usize * EACH..][..EACH];
            AnswerCounts { asked: row[0], abstained: row[1], same: row[2], overruled: row[3] }
        };
        TechniqueCounts {
            name: names[member],
            hooks,
            questions: COUNTED.into_iter().filter(|&question| hooks.has(question)).map(|question| (question, counts(question))).collect(),
            why: std::array::from_fn(|reason| why[reason]),
            overruled_by: names.iter().copied().map(Some).chain([None]).zip(by.iter().copied()).collect(),
            censuses,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::say::{Urgency, agree};
    use super::*;

    fn answers() -> impl Strategy<Value = Vec<Says<Urgency>>> {
        let level = prop_oneof![Just(Urgency::Wait), Just(Urgency::AtStep), Just(Urgency::Now)];
        let say = prop_oneof![
            Just(Say::Abstain),
            Just(Say::Because(Why::Unmeasured)),
            level.clone().prop_map(Say::Propose),
            level.prop_map(Say::AtMost)
        ];
        prop::collection::vec([say.clone(), say], 1..5)
    }

    proptest! {
        /// An answer that acted is what was merged and not what the core does; if something else than the core's own was merged, an answer acted.
        #[test]
        fn whoever_acted_got_its_will_and_somebody_acted_where_the_core_did_not(
            all in answers(),
            own in prop_oneof![Just(Urgency::Wait), Just(Urgency::AtStep)],
        ) {
            let merged = agree(all.iter().flatten().copied().chain([Say::Propose(own)]));
            let effects: Vec<Effect> = (0..all.len()).map(|at| effect_of_says(own, &all, at, merged)).collect();
            for (says, effect) in all.iter().zip(&effects) {
                let wants = says.contains(&Say::Propose(merged)) || says.contains(&Say::AtMost(merged));
                prop_assert!(*effect != Effect::Acted || wants, "{says:?} of {all:?}: {effect:?}");
                if let Effect::Overruled(by) = effect {
                    prop_assert!(by.is_some(), "{all:?}: a technique prevails over another, never the core");
                }
            }
            prop_assert!(merged == own || effects.contains(&Effect::Acted), "{all:?} come to {merged:?}: {effects:?}");
        }

        /// The books close: each question that was asked has one effect, and sums by reason and by technique are those of the rows.
        #[test]
        fn books_close(noted in prop::collection::vec((0usize..3, prop_oneof![Just(Hook::Stop), Just(Hook::Way)], 0usize..8), 0..60)) {
            let mut books = Books::new(3);
            let effect = |kind| match kind {
                0..5 => Effect::Abstained(Why::ALL[kind]),
                5 => Effect::Same,
                6 => Effect::Overruled(Some(1)),
                _ => Effect::Acted,
            };
            noted.iter().for_each(|&(member, question, kind)| books.note(member, question, effect(kind)));
            for member in 0..3 {
                let counts = books.of(member, &["a", "b", "c"], Hooks::all(), Vec::new());
                let of = |kinds: std::ops::Range<usize>| noted.iter().filter(|(who, _, kind)| *who == member && kinds.contains(kind)).count() as u64;
                let total = counts.total();
                prop_assert_eq!([total.asked, total.abstained, total.same, total.overruled, total.acted()], [of(0..8), of(0..5), of(5..6), of(6..7), of(7..8)]);
                prop_assert_eq!(counts.why.iter().sum::<u64>(), total.abstained);
                prop_assert_eq!(counts.overruled_by.clone(), vec![(Some("a"), 0), (Some("b"), total.overruled), (Some("c"), 0), (None, 0)]);
                prop_assert_eq!(counts.clone().since(&counts).total(), AnswerCounts::default());
            }
        }
    }

    #[test]
    fn the_best_answer_acts_and_the_others_give_way_to_it() {
        let all = [Ok(7), Err(Why::BeyondTable), Ok(3), Ok(7)];
        let effects =
            |merged: Option<i32>, own: i32| [0, 1, 2, 3].map(|at| effect_of_best(&all, at, merged.as_ref(), |&answer| answer == own));
        assert_eq!(
            effects(Some(3), 0),
            [Effect::Overruled(Some(2)), Effect::Abstained(Why::BeyondTable), Effect::Acted, Effect::Overruled(Some(2))]
        );
        assert_eq!(effects(Some(7), 7)[0], Effect::Same);
        assert_eq!(effects(Some(1), 0)[2], Effect::Overruled(None), "the core's own was better");
    }
}
