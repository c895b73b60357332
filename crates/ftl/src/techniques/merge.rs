//! Merge rules of the seam: the one answer of all techniques to each question that is not an agreement ([`agree`](super::say::agree)).

use wordline_flash::{ProgramSettings, ReadTry, WindowMargin};

use super::seam::{Estimate, Fit, IdleWordlines, KeyStore, Rung, SanitiseMethod};

/// Merges remedies to the most thorough: each does what those below it do.
pub fn merge_methods(answers: impl IntoIterator<Item = Option<SanitiseMethod>>) -> Option<SanitiseMethod> {
    answers.into_iter().flatten().max()
}

/// Merges demands for a key store to the greatest.
pub fn merge_key_stores(answers: impl IntoIterator<Item = Option<KeyStore>>) -> Option<KeyStore> {
    answers.into_iter().flatten().max()
}

/// Merges program settings: each margin and each skip is the smallest that any answer has. What one technique takes of the margin to error correction, no
/// other can take as well.
pub fn merge_program_settings(answers: impl IntoIterator<Item = Option<ProgramSettings>>) -> Option<ProgramSettings> {
    let careful = |a: ProgramSettings, b: ProgramSettings| ProgramSettings {
        window: WindowMargin { start: a.window.start.min(b.window.start), end: a.window.end.min(b.window.end) },
        skip: core::array::from_fn(|state| a.skip[state].min(b.skip[state])),
        lowered: a.lowered.max(b.lowered),
    };
    answers.into_iter().flatten().reduce(careful)
}

/// Merges wordlines that take no data after an erase to the union of each kind: one that any answer spares is spared.
pub fn merge_erase_settings(answers: impl IntoIterator<Item = Option<IdleWordlines>>) -> Option<IdleWordlines> {
    answers.into_iter().flatten().reduce(|a, b| IdleWordlines { spared: a.spared.with(b.spared), withheld: a.withheld.with(b.withheld) })
}

/// Merges distrust: one distrusting technique is enough.
pub fn merge_distrust(answers: impl IntoIterator<Item = Option<()>>) -> Option<()> {
    answers.into_iter().flatten().next()
}

/// Merges estimates to the one with the least doubt; of equals, the one that begins lowest. A read goes up its table first: begun too low it takes as many
/// retries as it is off, begun too high it goes to the end of the table before it looks below.
pub fn merge_estimates(answers: impl IntoIterator<Item = Option<Estimate>>) -> Option<Estimate> {
    answers.into_iter().flatten().min()
}

/// Merges tellings of wear to the greatest: a block is as worn as it is to whom it is most.
pub fn merge_wear<W: Ord>(answers: impl IntoIterator<Item = Option<W>>) -> Option<W> {
    answers.into_iter().flatten().max()
}

/// Merges fits to the worst: a place suits as well as it suits whom it suits least. `None`: it suits exactly.
pub fn merge_fits(answers: impl IntoIterator<Item = Option<Fit>>) -> Option<Fit> {
    answers.into_iter().flatten().max()
}

/// Merges ways on to the cheapest; of equals, the least try. A try among `tried` is never taken again, so a read ends whatever techniques answer.
pub fn merge_rungs(answers: impl IntoIterator<Item = Option<Rung>>, tried: &[ReadTry]) -> Option<Rung> {
    answers.into_iter().flatten().filter(|rung| !tried.contains(&rung.next)).min()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use wordline_units::{Nanos, Wear, WordlineSet};

    use super::*;

    #[test]
    fn nobody_asked_means_nothing_is_done() {
        assert_eq!(merge_estimates([None, None]), None);
        assert_eq!(merge_rungs([None], &[]), None);
        assert_eq!(merge_methods([None, Some(SanitiseMethod::Erase), Some(SanitiseMethod::LockPages)]), Some(SanitiseMethod::Erase));
        assert_eq!(merge_program_settings([None]), None);
        assert_eq!(merge_distrust([None]), None);
        assert_eq!(merge_erase_settings([None]), None);
        assert_eq!(merge_fits([None]), None);
        assert_eq!(merge_wear::<Wear>([None, None]), None);
    }

    #[test]
    fn a_block_is_as_worn_as_the_most_that_anybody_tells() {
        assert_eq!(merge_wear([Some(Wear(3)), None, Some(Wear(700)), Some(Wear(20))]), Some(Wear(700)));
    }

    #[test]
    fn less_doubt_goes_before_a_lower_entry_and_a_cheaper_way_before_a_lower_one() {
        let estimate = |doubt, entry| Some(Estimate { doubt, first: ReadTry::vendor(entry) });
        assert_eq!(merge_estimates([estimate(16, 1), None, estimate(3, 7), estimate(3, 5)]), estimate(3, 5));
        let rung = |cost, entry| Some(Rung { cost: Nanos(cost), next: ReadTry::vendor(entry) });
        let answers = [rung(90, 1), None, rung(20, 9), rung(20, 6), rung(10, 4)];
        assert_eq!(merge_rungs(answers, &[ReadTry::DEFAULT]), rung(10, 4));
        assert_eq!(merge_rungs(answers, &[ReadTry::vendor(4)]), rung(20, 6), "not twice");
    }

    fn answer<T: std::fmt::Debug + Clone + 'static>(of: impl Strategy<Value = T> + 'static) -> impl Strategy<Value = Vec<Option<T>>> {
        prop::collection::vec(prop::option::of(of), 0..8)
    }

    fn tries() -> impl Strategy<Value = ReadTry> {
        (0u8..3, 0u8..6).prop_map(|(set, entry)| ReadTry { set, entry })
    }

    #[test]
    fn an_erase_spares_what_any_answer_spares_in_any_order() {
        let set = |wordlines: &[u32]| WordlineSet::of(wordlines.iter().copied());
        let idle = |spared: &[u32], withheld: &[u32]| Some(IdleWordlines { spared: set(spared), withheld: set(withheld) });
        let mut answers = [idle(&[0, 3], &[]), None, idle(&[3, 7], &[1]), idle(&[], &[1, 2])];
        assert_eq!(merge_erase_settings(answers), idle(&[0, 3, 7], &[1, 2]));
        answers.reverse();
        assert_eq!(merge_erase_settings(answers), idle(&[0, 3, 7], &[1, 2]));
    }

    proptest! {
        /// The merged estimate is the same in any order of answers, is one of them, and none is better.
        #[test]
        fn estimates_come_to_the_best_in_any_order(
            answers in answer((0u16..4, tries()).prop_map(|(doubt, first)| Estimate { doubt, first })),
            turn in 0usize..8,
        ) {
            let merged = merge_estimates(answers.clone());
            let mut turned = answers.clone();
            turned.rotate_left(turn.min(answers.len()));
            prop_assert_eq!(merge_estimates(turned.clone()), merged);
            turned.reverse();
            prop_assert_eq!(merge_estimates(turned), merged);
            prop_assert_eq!(merged.is_some(), answers.iter().any(Option::is_some));
            prop_assert!(merged.is_none() || answers.contains(&merged));
            for other in answers.into_iter().flatten() {
                let best = merged.expect("somebody knows");
                prop_assert!((best.doubt, best.first) <= (other.doubt, other.first));
            }
        }

        /// The merged fit is the same in any order of answers, is one of them, and none is worse.
        #[test]
        fn fits_come_to_the_worst_in_any_order(answers in prop::collection::vec(0u8..9, 1..8), turn in 0usize..8) {
            let fits: Vec<Fit> = answers.iter().map(|&answer| match answer {
                0 => Fit::Exact,
                8 => Fit::Never,
                loose => Fit::Loose(loose),
            }).collect();
            let fits: Vec<Option<Fit>> = fits.into_iter().map(|fit| Some(fit).filter(|&fit| fit != Fit::Exact)).collect();
            let merged = merge_fits(fits.clone());
            let mut turned = fits.clone();
            turned.rotate_left(turn.min(fits.len()));
            prop_assert_eq!(merge_fits(turned), merged);
            prop_assert!(fits.contains(&merged) && fits.iter().all(|&fit| fit <= merged));
        }

        /// The merged rung is the same in any order of answers, the cheapest that was not tried, and none is taken twice.
        #[test]
        fn rungs_come_to_the_cheapest_in_any_order_and_to_nothing_twice(
            answers in answer((0u64..4, tries()).prop_map(|(cost, next)| Rung { cost: Nanos(cost), next })),
            tried in prop::collection::vec(tries(), 1..6),
            turn in 0usize..8,
        ) {
            let merged = merge_rungs(answers.clone(), &tried);
            let mut turned = answers.clone();
            turned.rotate_left(turn.min(answers.len()));
            prop_assert_eq!(merge_rungs(turned.clone(), &tried), merged);
            turned.reverse();
            prop_assert_eq!(merge_rungs(turned, &tried), merged);
            let left: Vec<Rung> = answers.into_iter().flatten().filter(|rung| !tried.contains(&rung.next)).collect();
            prop_assert_eq!(merged.is_some(), !left.is_empty());
            if let Some(merged) = merged {
                let cheapest = left.iter().map(|rung| rung.cost).min().expect("there is one");
                let least = left.iter().filter(|rung| rung.cost == cheapest).map(|rung| rung.next).min();
                prop_assert_eq!((merged.cost, Some(merged.next)), (cheapest, least));
            }
        }
    }
}
