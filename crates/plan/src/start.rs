//! Start of an experiment: what every drive of a comparison has from the first one, because it is a condition and no property of a drive.

use crate::Plan;
use crate::error::PlanError;

/// Key of the share of capacity that is written before a run starts.
const FILL: &str = "run.fill";
/// Key of the way in which that data lies.
const STEADY: &str = "run.steady";
/// Keys of the age of a drive whose cells have physics.
const AGE: [&str; 6] = ["cells.cycles", "cells.lifetime", "cells.dwell", "cells.dwells", "cells.retention", "cells.kept_at"];

/// Keys of the age of a drive without physics.
const IN_CYCLES: [&str; 2] = ["cells.cycles", "cells.lifetime"];

/// Value of `key` in `plan`, as TOML.
fn value(plan: &Plan, key: &str) -> String {
    let (section, name) = key.split_once('.').expect("a section and a key");
    let lines = plan.sections().lines();
    lines.into_iter().find(|line| (line.section, line.key) == (section, name)).expect("every plan has it").value
}

/// `key = value` of each of `keys` in `plan`.
fn settings(plan: &Plan, keys: &[&'static str]) -> Vec<String> {
    keys.iter().map(|key| format!("{key} = {}", value(plan, key))).collect()
}

/// The drives whose starts the others have: the first, and for the age the first whose cells have physics and the first whose cells have none.
struct Leaders<'a> {
    first: &'a Plan,
    aged: Option<&'a Plan>,
    in_cycles: Option<&'a Plan>,
    /// The share of capacity that is written is not the plans'.
    fill_is_given: bool,
}

impl Leaders<'_> {
    fn of(plans: &[Plan], fill_is_given: bool) -> Option<Leaders<'_>> {
        let like = |has_physics: bool| plans.iter().find(|plan| plan.config().cells.is_some() == has_physics);
        Some(Leaders { first: plans.first()?, aged: like(true), in_cycles: like(false), fill_is_given })
    }

    /// Keys by which `plan` begins differently, each group with the drive whose values hold. Ages are alike where neither drive has one.
    fn differences(&self, plan: &Plan) -> Vec<(&Plan, Vec<&'static str>)> {
        let data = if self.fill_is_given { &[STEADY][..] } else { &[FILL, STEADY] };
        let has_age = |plan: &Plan| plan.config().age().is_some();
        let (leader, age) = if plan.config().cells.is_some() { (self.aged, &AGE[..]) } else { (self.in_cycles, &IN_CYCLES[..]) };
        let aged = leader.filter(|leader| has_age(leader) || has_age(plan));
        let of = |leader, keys: &[&'static str]| -> (_, Vec<&'static str>) {
            (leader, keys.iter().copied().filter(|key| value(plan, key) != value(leader, key)).collect())
        };
        let all = [Some(of(self.first, data)), aged.map(|leader| of(leader, age))];
        all.into_iter().flatten().filter(|(_, keys)| !keys.is_empty()).collect()
    }
}

/// Lets all of `plans` begin as the first does. A drive that would begin otherwise by itself gets a note that names what gave way.
///
/// # Errors
/// A drive cannot begin as the first does.
pub fn begin_alike(plans: Vec<Plan>, fill_is_given: bool) -> Result<Vec<Plan>, PlanError> {
    let Some(leaders) = Leaders::of(&plans, fill_is_given) else { return Ok(plans) };
    let begin = |plan: &Plan| {
        let differences = leaders.differences(plan);
        if differences.is_empty() {
            return Ok(plan.clone());
        }
        let wanted: Vec<String> = differences.iter().flat_map(|(leader, keys)| settings(leader, keys)).collect();
        let notes = differences.iter().map(|(leader, keys)| {
            let [wanted, own] = [leader, &plan].map(|of| settings(of, keys).join(", "));
            format!("begins as {} does, with {wanted}; its own {own} gave way", leader.name())
        });
        let begun = plan.override_keys(&wanted)?;
        // Notes that were added to the plan stay. Those that follow from its values follow from the new ones.
        let own = plan.override_keys::<String>(&[])?;
        let kept = plan.notes().iter().filter(|note| !own.notes().contains(note)).cloned();
        let notes = kept.chain(notes).collect();
        Ok(begun.with_notes(notes))
    };
    plans.iter().map(begin).collect()
}

/// Differences between the starts of `plans` and that of the first, in words; none: they begin alike.
pub fn unlike_starts(plans: &[Plan], fill_is_given: bool) -> Vec<String> {
    let Some(leaders) = Leaders::of(plans, fill_is_given) else { return Vec::new() };
    let of = |plan: &Plan| -> Vec<String> {
        let told = |plan: &Plan, key: &str| format!("{key} = {} of {}", value(plan, key), plan.name());
        let each = leaders.differences(plan).into_iter().flat_map(|(leader, keys)| keys.into_iter().map(move |key| (leader, key)));
        each.map(|(leader, key)| format!("{}, {}", told(leader, key), told(plan, key))).collect()
    };
    plans.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(name: &str, settings: &[&str]) -> Plan {
        Plan::load_set(name, settings).expect("a drive that is built in")
    }

    #[test]
    fn a_drive_begins_as_the_first_one_does_and_what_gave_way_is_named() {
        let [first, other] = [plan("pageftl", &[]), plan("pageftl-4k", &["run.fill=75 %", "run.steady=true"])];
        assert_eq!(unlike_starts(&[first.clone(), other.clone()], false).len(), 2);
        let begun = begin_alike(vec![first.clone(), other], false).expect("both can");
        assert_eq!(begun[0].media_number(), first.media_number());
        assert_eq!(begun[1].media_number(), plan("pageftl-4k", &[]).media_number());
        let note = begun[1].notes().last().expect("one");
        assert_eq!(
            note,
            "begins as pageftl does, with run.fill = \"100 %\", run.steady = false; its own run.fill = \"75 %\", run.steady = true gave way"
        );
        assert!(unlike_starts(&begun, false).is_empty() && begin_alike(Vec::new(), false).expect("nothing").is_empty());
    }

    #[test]
    fn a_share_that_is_given_is_no_difference() {
        let plans = [plan("pageftl", &[]), plan("secssd", &["run.fill=40 %"])];
        assert_eq!((unlike_starts(&plans, true).len(), unlike_starts(&plans, false).len()), (0, 1));
    }

    #[test]
    fn drives_with_physics_have_one_age_and_rests_of_new_cells_are_no_difference() {
        let [fixed, aged, new] = [
            plan("pageftl", &["cells.physics=false"]),
            plan("pageftl", &["cells.cycles=2000", "cells.retention=1y"]),
            plan("secssd", &["cells.dwell=1 min"]),
        ];
        // The first has no cells that age, so the first that has leads.
        let begun = begin_alike(vec![fixed.clone(), aged.clone(), new.clone()], false).expect("all can");
        assert_eq!((begun[0].media_number(), begun[1].media_number()), (fixed.media_number(), aged.media_number()));
        assert_eq!(begun[2].age(), aged.age());
        assert!(begun[2].notes().iter().any(|note| note.contains("cells.cycles = 2000")), "{:?}", begun[2].notes());
        assert_eq!(unlike_starts(&[plan("pageftl", &[]), new], true), [""; 0]);
    }
}
