//! Rules of techniques: what each declares to need is there, and its parameters are what they can be. No rule is about one technique.

use wordline_ftl::Config as Firmware;
use wordline_ftl::config::{Outlived, Overread};
use wordline_ftl::free_block::FreeBlockPolicy;
use wordline_ftl::retirement::RetirementPolicy;
use wordline_ftl::techniques::declaration::{Declaration, Feature, Kind, Lack, MissingTable, Need, Offer, Param, Table, Value};
use wordline_ftl::techniques::hooks::{Hook, Hooks};
use wordline_ftl::techniques::seam::Ask;
use wordline_ftl::techniques::{Choice, DECLARATIONS};
use wordline_units::Seconds;

use super::chip;
use crate::keys::filled::Sections;
use crate::kind::Share;
use crate::layer::{Mistakes, Set};
use crate::techniques::{On, expected, write};

/// The techniques that are switched on.
pub(super) fn check(sections: &Sections, mistakes: &mut Mistakes<'_>) -> Vec<Choice> {
    let (offer, mut choices) = (offer(sections), Vec::new());
    for on in sections.techniques.on() {
        for need in on.declaration.needs {
            needs(sections, &offer, &on, *need, mistakes);
        }
        // Each of them is looked at, whatever the others are.
        let values: Vec<Option<Value>> = on.params.iter().map(|(param, set)| parameter(sections, &on, param, set, mistakes)).collect();
        let values: Option<Vec<Value>> = values.into_iter().collect();
        choices.extend(values.and_then(|values| Choice::of(on.declaration.card.name, &values)));
    }
    choices
}

fn needs(sections: &Sections, offer: &Offer, on: &On<'_>, need: Need, mistakes: &mut Mistakes<'_>) {
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
    if need.is_met(offer) {
        return;
    }
    let Feature { keys, lack, .. } = need.feature();
    let (what, help) = match lack {
        Lack::Ability => (format!("{who}, and the die cannot do it: {} is false", together(keys)), None),
        Lack::AnyOf(verb) => (format!("{who}, and the die can {verb} nothing: {} are false", together(keys)), None),
        Lack::Time => (format!("{who}, and the die cannot do it: {} is not set", together(keys)), None),
        Lack::Table(MissingTable { of, key, bench }) => {
            let what = format!("{who}, and the chip has no table of {of}: {key} is not set");
            (what, Some(format!("`wordline characterize {bench}` makes one")))
        }
        Lack::Teller => (format!("{who}, and no technique that tells the wear of blocks is"), Some(tellers())),
        Lack::Keeper => (
            format!(
                "{who}, and so is techniques.{}: its keys belong to places, and data that a die copies by itself keeps the old one",
                keepers(sections)
            ),
            None,
        ),
    };
    mistakes.at(on.origin, what, help);
}

/// Features that the drive offers to its techniques.
fn offer(sections: &Sections) -> Offer {
    let tables = [
        (Table::Margins, sections.margins.step.value.0.is_some()),
        (Table::Aging, sections.aging.seed.value.0.is_some()),
        (Table::Ort, sections.ort.seed.value.0.is_some()),
        (Table::Copyback, sections.copyback.seed.value.0.is_some()),
        (Table::Guard, sections.guard.seed.value.0.is_some()),
    ];
    Offer {
        die: chip::capabilities(sections),
        tables: tables.into_iter().filter_map(|(table, is_there)| is_there.then_some(table)).collect(),
        hooks: sections.techniques.on().fold(Hooks::NONE, |hooks, on| hooks.with(on.declaration.card.hooks)),
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
        (Kind::Count { least, .. } | Kind::Wordlines { least, .. }, Value::Count(count)) if count < least => {
            refuse(format!("at least {least}"), None)
        }
        (Kind::Count { most, .. } | Kind::Wordlines { most, .. }, Value::Count(count)) if count > most => {
            refuse(format!("at most {most}"), None)
        }
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
        (
            Kind::Flag
            | Kind::Count { .. }
            | Kind::Wordlines { .. }
            | Kind::Span { .. }
            | Kind::FreeGroups
            | Kind::KeyLeaves
            | Kind::Word(_),
            _,
        ) => {}
    }
    Some(value)
}

/// Data must not be kept longer than the tables of techniques hold.
pub(crate) fn outlived(sections: &Sections, firmware: &Firmware, mistakes: &mut Mistakes<'_>) {
    let Some(Outlived { technique, retention, kept }) = firmware.outlived() else { return };
    let Some(on) = sections.techniques.on().find(|on| on.declaration.card.name == technique) else { return };
    let days = |span: Seconds| format!("{} d", span.0 as f64 / 86_400.0);
    let (path, retention) = (on.path, days(retention));
    let what = match kept {
        Some(kept) => format!("{path} is on, its table holds for {retention}, and data may be kept for {}", days(kept)),
        None => format!("{path} is on, its table holds for {retention}, and no technique moves data before that"),
    };
    let help = format!("set {} so that data is moved within that time", renewers(firmware).join(" or "));
    mistakes.at(on.origin, what, Some(help));
}

/// A technique must not have block groups rewritten for the reads that measure them.
pub(crate) fn overread(sections: &Sections, firmware: &Firmware, mistakes: &mut Mistakes<'_>) {
    let Some(Overread { technique, reads, measured }) = firmware.overread() else { return };
    let Some(on) = sections.techniques.on().find(|on| on.declaration.card.name == technique) else { return };
    let path = on.path;
    let what = format!("{path}: its limit of reads is {reads}, and pages measured in each block are {measured}: no block would ever rest");
    mistakes.at(on.origin, what, Some(format!("set a limit above {measured}")));
}

/// Erases must leave some wordlines of each block to data.
pub(crate) fn spared(sections: &Sections, firmware: &Firmware, mistakes: &mut Mistakes<'_>) {
    let Err(why) = wordline_ftl::spares_fit(firmware) else { return };
    let asks = |on: &On<'_>| on.declaration.card.asks.iter().any(|ask| matches!(ask, Ask::Spared(_)));
    if let Some(on) = sections.techniques.on().find(asks) {
        mistakes.at(on.origin, format!("{} is on: {why}", on.path), None);
    }
}

/// Keys that switch on techniques which move data within some time.
fn renewers(firmware: &Firmware) -> Vec<String> {
    let renews = |declaration: &&&Declaration| {
        let values: Option<Vec<Value>> = declaration.params.iter().map(|param| param.default).collect();
        let choice = values.and_then(|values| Choice::of(declaration.card.name, &values));
        choice.is_some_and(|choice| Firmware { techniques: vec![choice], ..firmware.clone() }.renews())
    };
    DECLARATIONS.iter().filter(renews).map(|declaration| format!("techniques.{}.on = true", declaration.card.name)).collect()
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
