//! Rules of techniques: what each declares to need is there, and its parameters are what they can be. No rule is about one technique.

use wordline_flash::Sanitisation;
use wordline_ftl::free_block::FreeBlockPolicy;
use wordline_ftl::retirement::RetirementPolicy;
use wordline_ftl::techniques::declaration::{Kind, Need, Param, Table, Value};
use wordline_ftl::techniques::hooks::Hook;
use wordline_ftl::techniques::{Choice, DECLARATIONS};
use wordline_units::Nanos;

use crate::keys::filled::Sections;
use crate::kind::{Maybe, Share};
use crate::layer::{Mistakes, Set};
use crate::techniques::{On, expected, keys_of, write};

/// The techniques that are switched on.
pub(super) fn check(sections: &Sections, mistakes: &mut Mistakes<'_>) -> Vec<Choice> {
    let mut choices = Vec::new();
    for on in sections.techniques.on() {
        for need in on.declaration.needs {
            needs(sections, &on, *need, mistakes);
        }
        // Each of them is looked at, whatever the others are.
        let values: Vec<Option<Value>> = on.params.iter().map(|(param, set)| parameter(sections, &on, param, set, mistakes)).collect();
        let values: Option<Vec<Value>> = values.into_iter().collect();
        choices.extend(values.and_then(|values| Choice::of(on.declaration.card.name, &values)));
    }
    choices
}

fn needs(sections: &Sections, on: &On<'_>, need: Need, mistakes: &mut Mistakes<'_>) {
    let mut with = String::new();
    if let Need::Where(key, value, _) = need {
        if !on.has(key, value) {
            return;
        }
        with = match value {
            Value::Flag(_) => format!(" with {key}"),
            Value::Count(_) | Value::Span(_) | Value::Word(_) => format!(" with {key} = {}", write(Some(value))),
        };
    }
    let who = format!("{}{with} is on", on.path);
    if need.whole() == Need::Copyback && sections.retries.share.value != Share::NONE {
        let what = format!("{who}, and retries.share is set: what a die copies by itself is not tried again");
        mistakes.at(on.origin, what, None);
    }
    if is_met(sections, need) {
        return;
    }
    let keys = keys_of(need);
    let table = |section: &str, of: &str, bench: &str| {
        let what = format!("{who}, and the chip has no table of {of}: {section}.seed is not set");
        (what, Some(format!("`wordline characterize {bench}` makes one")))
    };
    let (what, help) = match need.whole() {
        Need::Suspend => (format!("{who}, and the die can suspend nothing: {} are false", together(keys)), None),
        Need::Sanitise(_) => (format!("{who}, and the die cannot do it: {} is not set", together(keys)), None),
        Need::Table(Table::Margins) => (
            format!("{who}, and the chip has no table of margins: margins.step is not set"),
            Some("`wordline characterize margins` makes one".into()),
        ),
        Need::Table(Table::Aging) => table("aging", "ages", "aging"),
        Need::Table(Table::Ort) => table("ort", "read references", "ort"),
        Need::Table(Table::Copyback) => table("copyback", "copies", "copyback --table"),
        Need::NoKeys => (
            format!(
                "{who}, and so is techniques.{}: its keys belong to places, and data that a die copies by itself keeps the old one",
                keepers(sections)
            ),
            None,
        ),
        Need::Wear => (format!("{who}, and no technique that tells the wear of blocks is"), Some(tellers())),
        Need::Copyback
        | Need::StopAtStep
        | Need::StopNowErase
        | Need::StopNowProgram
        | Need::AbortRead
        | Need::ProgramSettings
        | Need::GuardedErase
        | Need::EraseTrace
        | Need::Where(..) => (format!("{who}, and the die cannot do it: {} is false", together(keys)), None),
    };
    mistakes.at(on.origin, what, help);
}

fn is_met(sections: &Sections, need: Need) -> bool {
    let (able, timing) = (&sections.capabilities, &sections.timing);
    let has = |time: &Set<Maybe<Nanos>>| time.value.0.is_some();
    match need.whole() {
        Need::Copyback => able.copyback.value,
        Need::Suspend => able.suspend_program.value || able.suspend_erase.value,
        Need::StopAtStep => able.stop_at_step.value,
        Need::StopNowErase => able.stop_now_erase.value,
        Need::StopNowProgram => able.stop_now_program.value,
        Need::AbortRead => able.abort_read.value,
        Need::ProgramSettings => able.program_settings.value,
        Need::GuardedErase => able.guarded_erase.value,
        Need::EraseTrace => able.erase_trace.value,
        Need::Sanitise(Sanitisation::LockPage) => has(&timing.t_lock_page),
        Need::Sanitise(Sanitisation::LockBlock) => has(&timing.t_lock_block),
        Need::Sanitise(Sanitisation::Scrub) => has(&timing.t_scrub),
        Need::Sanitise(Sanitisation::Reprogram) => has(&timing.t_reprogram),
        Need::Table(Table::Margins) => sections.margins.step.value.0.is_some(),
        Need::Table(Table::Aging) => sections.aging.seed.value.0.is_some(),
        Need::Table(Table::Ort) => sections.ort.seed.value.0.is_some(),
        Need::Table(Table::Copyback) => sections.copyback.seed.value.0.is_some(),
        Need::NoKeys => keepers(sections).is_empty(),
        Need::Wear => tells_wear(sections),
        Need::Where(..) => true,
    }
}

/// True if a technique that tells the wear of blocks is on.
fn tells_wear(sections: &Sections) -> bool {
    sections.techniques.on().any(|on| on.declaration.card.hooks.has(Hook::WearOf))
}

/// Names of the techniques that are on and keep keys of places.
fn keepers(sections: &Sections) -> String {
    let cards = sections.techniques.on().map(|on| on.declaration.card).filter(|card| card.hooks.has(Hook::KeyStore));
    cards.map(|card| card.name).collect::<Vec<_>>().join(" and techniques.")
}

/// Help where nobody tells the wear of blocks.
fn tellers() -> String {
    let names = DECLARATIONS.iter().filter(|declaration| declaration.card.hooks.has(Hook::WearOf)).map(|declaration| declaration.card.name);
    format!("set techniques.{}.on = true", names.collect::<Vec<_>>().join(".on or techniques."))
}

/// Policies that go by the wear of blocks need somebody who tells it.
pub(super) fn slots(sections: &Sections, mistakes: &mut Mistakes<'_>) {
    let key =
        (sections.free_block.key.value == FreeBlockPolicy::Wear).then_some((&sections.free_block.key.origin, "free_block.key is \"wear\""));
    let policy = &sections.retirement.policy;
    let policy = (policy.value == RetirementPolicy::Spent).then_some((&policy.origin, "retirement.policy is \"spent\""));
    for (origin, who) in key.into_iter().chain(policy) {
        if !tells_wear(sections) {
            mistakes.at(origin, format!("{who}, and no technique that tells the wear of blocks is on"), Some(tellers()));
        }
    }
}

/// `capabilities.suspend_program and suspend_erase`.
fn together(keys: &[&str]) -> String {
    let names = keys.iter().enumerate().map(|(at, key)| if at == 0 { key } else { key.split('.').next_back().unwrap_or(key) });
    names.collect::<Vec<_>>().join(" and ")
}

/// The value of a parameter; `None`: it is not set.
fn parameter(sections: &Sections, on: &On<'_>, param: &Param, set: &Set<Option<Value>>, mistakes: &mut Mistakes<'_>) -> Option<Value> {
    let key = format!("{}.{}", on.path, param.key);
    let Some(value) = set.value else {
        let help = format!("expected {}", expected(param));
        mistakes.at(on.origin, format!("{key} is not set, and the technique is on"), Some(help));
        return None;
    };
    let mut refuse = |expected: String, help: Option<&str>| {
        let told = write(Some(value));
        mistakes.at(&set.origin, format!("{key} is {}: expected {expected}", told.trim_matches('"')), help.map(str::to_owned));
    };
    match (param.kind, value) {
        (Kind::Count { least, .. }, Value::Count(count)) if count < least => refuse(format!("at least {least}"), None),
        (Kind::Count { most, .. }, Value::Count(count)) if count > most => refuse(format!("at most {most}"), None),
        (Kind::Span { least }, Value::Span(span)) if span < least => {
            refuse(format!("at least {}", write(Some(Value::Span(least))).trim_matches('"')), None);
        }
        (Kind::FreeGroups, Value::Count(free)) if free <= super::gc_start(sections) => {
            let start = super::gc_start(sections);
            refuse(format!("more than gc.start, {start}"), Some("garbage collection keeps that many free without it"));
        }
        (Kind::KeyLeaves, Value::Count(leaves)) => {
            let most = wordline_ftl::most_leaves(sections.geometry.page.value.0);
            if !leaves.is_power_of_two() || !(64..=most).contains(&leaves) {
                refuse(format!("a power of two from 64 to {most}"), Some("any tree of keys must fit a page"));
            }
        }
        (Kind::Flag | Kind::Count { .. } | Kind::Span { .. } | Kind::FreeGroups | Kind::KeyLeaves | Kind::Word(_), _) => {}
    }
    Some(value)
}

/// Free groups that a technique asks for must be within reach: of a full drive a die has at most `most` of them.
pub(super) fn reachable(sections: &Sections, most: u64, mistakes: &mut Mistakes<'_>) {
    for On { path, params, .. } in sections.techniques.on() {
        for (param, set) in params {
            if let (Kind::FreeGroups, Some(Value::Count(free))) = (param.kind, set.value)
                && u64::from(free) > most
            {
                let what = format!("{path}.{} is {free}: a full drive can never have more than {most} groups of a die free", param.key);
                mistakes.at(&set.origin, what, None);
            }
        }
    }
}
