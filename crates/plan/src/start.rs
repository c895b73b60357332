//! Start of an experiment: what every drive of a comparison has from the first one, because it is a condition and no property of a drive.

use crate::Plan;
use crate::error::PlanError;

/// Keys of the data that a drive holds when a run starts.
const DATA: [&str; 2] = ["run.fill", "run.steady"];
/// Keys of the age of a drive whose cells have physics.
const AGE: [&str; 6] = ["cells.cycles", "cells.lifetime", "cells.dwell", "cells.dwells", "cells.retention", "cells.kept_at"];

/// Value of `key` in `plan`, as TOML.
fn value(plan: &Plan, key: &str) -> Option<String> {
    plan.sections()
        .lines()
        .into_iter()
        .find(|line| key.strip_prefix(line.section).is_some_and(|rest| rest == format!(".{}", line.key)))
        .map(|line| line.value)
}

/// Settings by which `plan` would begin as `first` does; none: it does already. `fill_is_given`: the share of capacity that is written is not the plan's.
fn differences(plan: &Plan, first: &Plan, fill_is_given: bool) -> Vec<String> {
    let have_physics = [plan, first].iter().all(|plan| plan.config().cells.is_some());
    let age = AGE.into_iter().filter(|_| have_physics);
    let keys = DATA.into_iter().filter(|key| !(fill_is_given && *key == "run.fill")).chain(age);
    let differs = |key: &&str| value(plan, key) != value(first, key);
    keys.filter(differs).filter_map(|key| Some(format!("{key}={}", value(first, key)?))).collect()
}

/// Lets all of `plans` begin as the first does. A drive that would begin otherwise by itself gets a note that names what gave way.
///
/// # Errors
/// A drive cannot begin as the first does.
pub fn begin_alike(plans: Vec<Plan>, fill_is_given: bool) -> Result<Vec<Plan>, PlanError> {
    let Some(first) = plans.first().cloned() else { return Ok(plans) };
    let begin = |plan: Plan| {
        let settings = differences(&plan, &first, fill_is_given);
        if settings.is_empty() {
            return Ok(plan);
        }
        let own: Vec<String> = settings
            .iter()
            .filter_map(|setting| setting.split_once('='))
            .filter_map(|(key, _)| Some(format!("{key} = {}", value(&plan, key)?)))
            .collect();
        let note = format!(
            "begins as {} does, with {}; its own {} gave way",
            first.name(),
            settings.join(", ").replace('=', " = "),
            own.join(", ")
        );
        let notes = plan.notes().to_vec();
        let begun = plan.override_keys(&settings)?;
        let missing = notes.into_iter().filter(|note| !begun.notes().contains(note)).collect();
        Ok(begun.clone().with_notes(missing).with_note(&note))
    };
    plans.into_iter().map(begin).collect()
}

/// Differences between the starts of `plans` and that of the first, in words; none: they begin alike.
pub fn unlike_starts(plans: &[Plan], fill_is_given: bool) -> Vec<String> {
    let Some(first) = plans.first() else { return Vec::new() };
    let told = |plan: &Plan, key: &str| format!("{key} = {} of {}", value(plan, key).unwrap_or_default(), plan.name());
    let of = |plan: &Plan| -> Vec<String> {
        let settings = differences(plan, first, fill_is_given);
        let keys = settings.iter().filter_map(|setting| Some(setting.split_once('=')?.0));
        keys.map(|key| format!("{}, {}", told(first, key), told(plan, key))).collect()
    };
    plans.iter().skip(1).flat_map(of).collect()
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
        assert_eq!(begun[0].hash(), first.hash());
        assert_eq!(begun[1].hash(), plan("pageftl-4k", &[]).hash());
        let note = begun[1].notes().last().expect("one");
        assert_eq!(
            note,
            "begins as pageftl does, with run.fill = \"100 %\", run.steady = false; its own run.fill = \"75 %\", run.steady = true gave way"
        );
        assert!(unlike_starts(&begun, false).is_empty());
    }

    #[test]
    fn a_share_that_is_given_is_no_difference_and_ages_are_one_where_both_have_cells() {
        let [first, other] = [plan("pageftl", &["cells.cycles=2000"]), plan("secssd", &["run.fill=40 %"])];
        let ages = unlike_starts(&[first.clone(), other.clone()], true);
        assert_eq!(ages.len(), if other.config().cells.is_some() && first.config().cells.is_some() { 1 } else { 0 }, "{ages:?}");
        assert!(begin_alike(Vec::new(), false).expect("nothing").is_empty());
    }
}
