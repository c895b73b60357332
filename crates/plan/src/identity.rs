//! The media number of a plan, which drives in files carry, and its id.
//!
//! The id is over every line. The number is the same for two plans that make the same drive, as far as earlier builds could tell.
//!
//! A technique that is off leaves nothing in it, so a technique that is added changes no plan's number. Before that was the rule, each technique left a line,
//! on or off. Media and saved drives of that time carry the number of the old rule, so it is still computed, over the techniques that there were.
//!
//! A key that is renamed stays in the number under the name it had first: a name is no part of what a drive is.

use wordline_ftl::techniques::DECLARATIONS;
use wordline_ftl::techniques::declaration::{Declaration, Need};
use wordline_ftl::techniques::seam::Ask;

use crate::keys::{LOT_TABLES, table};
use crate::renamed::first_of;
use crate::section::Line;
use crate::techniques::TECHNIQUES;

/// The techniques that there were under the old rule, with their keys, in the order of that time. Frozen: what is new joins neither.
const THEN: &[(&str, &[&str])] = &[
    ("read-disturb-refresh", &["on", "reads_max"]),
    ("idle-reclaim", &["on", "after", "until_free"]),
    ("plain-copyback", &["on"]),
    ("read-preemption", &["on"]),
    ("layer-read-offsets", &["on"]),
    ("page-lock", &["on", "block_lock"]),
    ("wordline-scrub", &["on"]),
    ("erase-at-once", &["on"]),
    ("reprogram-page", &["on"]),
    ("crypto-erase", &["on", "leaves", "register"]),
    ("layer-similarity", &["on", "window", "verify", "literal", "check", "relent"]),
    ("layer-margins", &["on"]),
];

/// An ability of a chip that makes another drive only where a technique that needs it is on: chip files may learn that their chips have it.
const COPYBACK: (&str, &str) = ("capabilities", "copyback");
/// A table that makes another drive only where a technique is on that has wordlines without data: chip files may get it.
const GUARD: &str = "guard";
/// The scheduler of GC, under the name it had first.
const SCHEDULER: (&str, &str) = ("reclaim", "scheduler");

/// Identity of the plan of these `lines` whose host sees `exported` units, with this `seed`: 32 hexadecimal digits.
pub(crate) fn id(lines: &[Line<'_>], exported: u64, seed: u64) -> String {
    let mut hasher = blake3::Hasher::new();
    for Line { section, key, value, .. } in lines {
        hasher.update(format!("{section}.{key} = {value}\n").as_bytes());
    }
    hasher.update(format!("{exported} units\nseed {seed}\n").as_bytes());
    hasher.finalize().to_hex()[..32].to_owned()
}

/// The lines that act: without those of parts that are switched off, but for the switch, and without the two ways to say what the host sees.
pub(crate) fn acting<'a>(lines: Vec<Line<'a>>) -> Vec<Line<'a>> {
    let off = off(&lines);
    let is_elsewhere = |line: &Line<'_>| matches!((line.section, line.key), ("mapping", "capacity" | "over_provisioning"));
    lines.into_iter().filter(|line| (line.key == "on" || !off.contains(&line.section)) && !is_elsewhere(line)).collect()
}

/// Sections of parts that are switched off, and of tables that nobody made.
fn off(lines: &[Line<'_>]) -> Vec<&'static str> {
    // A table that nobody made is part of no drive: drives made before there were such tables keep their number.
    let is_unmade = |line: &Line<'_>| LOT_TABLES.contains(&line.section) && line.key == "seed" && line.value == "\"none\"";
    let is_off = |line: &Line<'_>| line.key == "on" && line.value == "false";
    lines.iter().filter(|line| is_off(line) || is_unmade(line)).map(|line| line.section).collect()
}

/// The media number of the plan of these `lines` whose host sees `exported` units.
pub(crate) fn number(lines: &[Line<'_>], exported: u64) -> u64 {
    whole(lines, exported, switched_on(lines).into_iter(), &Rule::of(lines))
}

/// Choice of what goes into a number beside what goes into every one.
#[derive(Clone, Copy, Debug)]
struct Rule {
    /// Without the ability of the chip to copy back.
    leaves_copyback_out: bool,
    /// Without the chip's table of guarded erases.
    leaves_guard_out: bool,
    /// With the scheduler as it is written; else it counts as the one that all media had first, as who goes next on a die is no part of what lies there.
    as_scheduled: bool,
}

impl Rule {
    /// The rule of today.
    fn of(lines: &[Line<'_>]) -> Rule {
        Rule { leaves_copyback_out: !copies(lines), leaves_guard_out: !spares(lines), as_scheduled: false }
    }

    /// The rules of today and of the builds before: those took abilities and tables as they were written, and told schedulers apart.
    fn all(lines: &[Line<'_>]) -> impl Iterator<Item = Rule> {
        let today = Rule::of(lines);
        (0..8u32).map(move |bits| Rule {
            leaves_copyback_out: bits & 1 == 0 && today.leaves_copyback_out,
            leaves_guard_out: bits & 2 == 0 && today.leaves_guard_out,
            as_scheduled: bits & 4 != 0,
        })
    }
}

/// Whether the plan has this number, by the rule of today or by one of the builds before ([`Rule::all`]); in the first of those each technique left a line.
pub(crate) fn is_number(lines: &[Line<'_>], exported: u64, number: u64) -> bool {
    let then = techniques_then(lines);
    Rule::all(lines).any(|rule| {
        let of = |techniques: &[&Line<'_>]| whole(lines, exported, techniques.iter().copied(), &rule);
        of(&switched_on(lines)) == number || then.as_deref().is_some_and(|then| of(then) == number)
    })
}

/// The lines of techniques as the old rule took them; `None`: the plan says something of techniques that could not be said then.
fn techniques_then<'a>(lines: &'a [Line<'a>]) -> Option<Vec<&'a Line<'a>>> {
    let on = switched_on(lines);
    let name = |line: &Line<'_>| line.section.strip_prefix(TECHNIQUES).unwrap_or_default();
    let was_there = |line: &Line<'_>| THEN.iter().any(|(known, keys)| *known == name(line) && keys.contains(&line.key));
    if on.iter().any(|line| !was_there(line) && !is_default(line)) {
        return None;
    }
    let mut then = Vec::new();
    for (technique, keys) in THEN {
        let of_it = |key: &&str| lines.iter().find(|line| name(line) == *technique && line.key == *key);
        then.extend(keys.iter().filter_map(of_it));
    }
    Some(then)
}

/// Whether a technique is on that needs a die to copy back.
fn copies(lines: &[Line<'_>]) -> bool {
    is_any_on(lines, |declaration| declaration.has_need(Need::Copyback))
}

/// Whether a technique is on that has wordlines without data.
fn spares(lines: &[Line<'_>]) -> bool {
    is_any_on(lines, |declaration| declaration.card.asks.iter().any(|ask| matches!(ask, Ask::Spared(_))))
}

fn is_any_on(lines: &[Line<'_>], is_one: impl Fn(&Declaration) -> bool) -> bool {
    let on: Vec<&str> = switched_on(lines).iter().filter_map(|line| line.section.strip_prefix(TECHNIQUES)).collect();
    DECLARATIONS.iter().filter(|declaration| is_one(declaration)).any(|declaration| on.contains(&declaration.card.name))
}

/// The lines of techniques that are on.
fn switched_on<'a>(lines: &'a [Line<'a>]) -> Vec<&'a Line<'a>> {
    let is_on = |section: &str| lines.iter().any(|line| line.section == section && line.key == "on" && line.value == "true");
    lines.iter().filter(|line| line.section.starts_with(TECHNIQUES) && is_on(line.section)).collect()
}

fn is_default(line: &Line<'_>) -> bool {
    let keys = table().iter().filter(|section| section.path == line.section).flat_map(|section| &section.keys);
    keys.filter(|key| key.name == line.key).any(|key| key.default.as_ref() == Some(&line.value))
}

/// The number of all `lines` by this `rule`, with those of `techniques` for the lines of techniques.
fn whole<'a>(lines: &'a [Line<'a>], exported: u64, techniques: impl Iterator<Item = &'a Line<'a>>, rule: &Rule) -> u64 {
    let is_technique = |line: &&Line<'_>| line.section.starts_with(TECHNIQUES);
    // What is set of a part that is off changes nothing.
    let off = off(lines);
    let is_idle = |line: &Line<'_>| (line.key != "on" && off.contains(&line.section)) || (rule.leaves_guard_out && line.section == GUARD);
    let before = lines.iter().take_while(|line| !is_technique(line));
    let after = lines.iter().skip_while(|line| !is_technique(line)).filter(|line| !is_technique(line));
    // FNV-1a, 64 bits: the same on every machine and in every release of the compiler.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut take = |text: &str| {
        for byte in text.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    for line in before.chain(techniques).chain(after).filter(|line| !is_elsewhere(line) && !is_idle(line) && !is_as_link(line, lines)) {
        let (section, key, value) = first_of(line);
        let value = match (section, key) {
            COPYBACK if rule.leaves_copyback_out => "false",
            SCHEDULER if !rule.as_scheduled => "\"classic\"",
            _ => value,
        };
        take(&format!("{section}.{key} = {value}\n"));
    }
    // What the host sees can be said in two ways.
    take(&format!("exported_units = {exported}\n"));
    hash
}

/// True if a line gives the link inwards the rate that it has outwards, as all drives had before they were told apart.
fn is_as_link(line: &Line<'_>, lines: &[Line<'_>]) -> bool {
    let is = |line: &Line<'_>, key: &str| line.section == "controller" && line.key == key;
    is(line, "link_in") && lines.iter().any(|link| is(link, "link") && link.value == line.value)
}

/// Whether a line says nothing of the drive, or nothing that is not said elsewhere.
fn is_elsewhere(line: &Line<'_>) -> bool {
    matches!((line.section, line.key), ("run", "seed" | "may_fail") | ("mapping", "capacity" | "over_provisioning"))
        // What cells were calibrated to makes no other drive.
        || line.section == "calibrated"
        // What drives made before these keys were there do, by their defaults: their media stay theirs.
        || matches!(
            (line.section, line.key, line.value.as_str()),
            ("recovery", "oob_copies", "false")
                | ("recovery", "oob_place", "\"group\"")
                | ("placement", "moved_blocks", "1")
                | ("buffer", "load_window", "\"84.48 ms\"")
                | ("techniques.copy-threshold", "classes", "\"worst\"")
                | ("techniques.copy-threshold", "counters", "\"kept\"")
                | ("retirement", "policy", "\"failed\"")
                | ("repair", "detect", "true")
                | ("repair", "bad_blocks_per_die", "\"2 %\"")
                | ("repair", "noise", "\"25 %\"")
                | ("repair", "limit", "\"98 %\"")
                | ("controller", "trims", "\"whole\"")
                | ("controller", "ftl", "\"drive\"")
                | ("classes", "best" | "median" | "worst", "\"0 %\"")
                | ("controller", "search_step", "\"20 mV\"")
                | ("controller", "search_reach", "5")
                | ("controller", "die_timeout", "\"100 ms\"")
                | ("run", "steady", "false")
                | ("schedule", "held_max" | "reads_in_row", "\"none\"")
                | ("cells", "dwells", "[]")
                | ("disturb", "searched", "[]")
                | ("techniques.read-disturb-refresh", "trigger_retries" | "trigger_errors", "0")
                | ("techniques.read-reference", "told", "\"place\"")
                | ("techniques.read-disturb-refresh", "guard", "false")
                | ("cells", "lifetime", "2000")
                | ("programs", "saving", "\"0 %\"")
                | ("physics.variation", "erase_loss", "0")
                | ("physics.retry", "disturb_entries", "0")
                | ("physics.retry", "disturb_step", "[\"0 mV\"]")
                // The second is what the chip of the papers got later. It is about blocks of a few cycles: what is on media of before is as it was.
                | ("physics.wear", "onset", "\"0 cycles\"" | "\"30 cycles\"")
                | ("physics.states", "noise_by_state", "[1]")
                | ("physics.tails", "lower_by_state", "[1]")
                | ("timing", "t_step_program" | "t_step_erase" | "t_halt_program" | "t_halt_erase" | "t_abort_read", "\"none\"")
                | ("capabilities", "stop_at_step" | "stop_now_program" | "stop_now_erase" | "abort_read" | "guarded_erase" | "erase_trace", "false")
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plan;
    use crate::layer::Origin;

    /// Abilities and tables as they are written.
    const WRITTEN: Rule = Rule { leaves_copyback_out: false, leaves_guard_out: false, as_scheduled: false };

    /// The lines of a plan with one technique on, before the last of them those of a technique that nobody has written yet.
    fn with_new<'a>(plan: &'a Plan, keys: &[(&'static str, &str)]) -> Vec<Line<'a>> {
        let mut lines = plan.sections().lines();
        let at = lines.iter().rposition(|line| line.section.starts_with(TECHNIQUES)).expect("there are techniques");
        let line = |(key, value): &(&'static str, &str)| Line {
            section: "techniques.new",
            key,
            value: (*value).to_owned(),
            origin: &Origin::Default,
        };
        lines.splice(at..at, keys.iter().map(line).collect::<Vec<_>>());
        lines
    }

    #[test]
    fn every_line_makes_another_id_and_so_do_seed_and_capacity() {
        let plan = Plan::load("cubeftl").expect("a preset");
        let whole = id(&plan.sections().lines(), 9, 1);
        assert_eq!((whole.len(), &id(&plan.sections().lines(), 9, 1)), (32, &whole));
        for at in 0..plan.sections().lines().len() {
            let (mut changed, mut cut) = (plan.sections().lines(), plan.sections().lines());
            changed[at].value.push('0');
            let gone = cut.remove(at);
            assert!(id(&changed, 9, 1) != whole && id(&cut, 9, 1) != whole, "{}.{}", gone.section, gone.key);
        }
        assert!(id(&plan.sections().lines(), 8, 1) != whole && id(&plan.sections().lines(), 9, 2) != whole);
        // Two drives with other event logs, of one media number.
        let onset = |value: &str| Plan::load_set("cubeftl", &[format!("physics.wear.onset={value} cycles")]).expect("a preset");
        assert_eq!(onset("0").media_number(), onset("30").media_number());
        assert_ne!(onset("0").id(), onset("30").id());
    }

    #[test]
    fn plans_that_differ_in_what_is_off_make_the_same_drive_and_others_do_not() {
        let of = |settings: &[&str]| Plan::load_set("pageftl", settings).expect("a preset");
        let whole = of(&[]);
        assert!(whole.makes_same(&of(&["techniques.idle-reclaim.until_free=20"])));
        let refresh = |on: bool| of(&[&format!("techniques.read-disturb-refresh.on={on}"), "techniques.read-disturb-refresh.reads_max=9"]);
        assert!(refresh(false).makes_same(&whole) && !refresh(true).makes_same(&whole));
        assert!(!whole.makes_same(&of(&["physics.wear.onset=3 cycles"])) && !of(&[]).makes_same(&whole.with_seed(9)));
    }

    #[test]
    fn a_technique_that_is_added_changes_no_number_until_it_is_on() {
        let plan = Plan::load("secssd").expect("a preset");
        let lines = plan.sections().lines();
        let then = |lines: &[Line<'_>]| techniques_then(lines).map(|then| whole(lines, 1, then.into_iter(), &WRITTEN));
        let (number_now, number_then) = (number(&lines, 1), then(&lines));
        assert!(number_then.is_some_and(|then| then != number_now && is_number(&lines, 1, then)));
        let off = with_new(&plan, &[("on", "false"), ("quota", "7")]);
        assert_eq!((number(&off, 1), then(&off)), (number_now, number_then));
        let on = with_new(&plan, &[("on", "true"), ("quota", "7")]);
        assert_ne!(number(&on, 1), number_now);
        assert_eq!(then(&on), None, "no drive of that time had it");
    }

    #[test]
    fn that_a_chip_can_copy_back_makes_another_drive_only_where_it_does() {
        let number = |settings: &[&str]| {
            let plan = Plan::load_set("pageftl", settings).expect("a preset");
            let lines = plan.sections().lines();
            assert!(is_number(&lines, 1, number(&lines, 1)) && !is_number(&lines, 1, number(&lines, 1) ^ 1));
            (number(&lines, 1), whole(&lines, 1, switched_on(&lines).into_iter(), &WRITTEN))
        };
        let (able, unable) = (number(&["capabilities.copyback=true"]), number(&["capabilities.copyback=false"]));
        assert_eq!(able.0, unable.0);
        assert_ne!(able.0, able.1, "builds before took it as it was written");
        let plan = Plan::load_set("pageftl", &["capabilities.copyback=true"]).expect("a preset");
        assert!([able, unable].iter().all(|(now, written)| [now, written].iter().all(|&&of| is_number(&plan.sections().lines(), 1, of))));
        let copying = number(&["capabilities.copyback=true", "techniques.plain-copyback.on=true"]);
        assert_eq!(copying.0, copying.1);
    }

    #[test]
    fn a_table_of_guarded_erases_makes_another_drive_only_where_wordlines_are_left_without_data() {
        let number = |drive: &str, settings: &[&str]| {
            let plan = Plan::load_set(drive, settings).expect("a preset");
            let lines = plan.sections().lines();
            let [now, written] = [number(&lines, 1), whole(&lines, 1, switched_on(&lines).into_iter(), &WRITTEN)];
            assert!(is_number(&lines, 1, now) && is_number(&lines, 1, written) && !is_number(&lines, 1, now ^ 1));
            (now, written)
        };
        let [with, without] = [&[][..], &["guard.seed=none"]].map(|settings| number("paftl", settings));
        assert_eq!(with.0, without.0);
        assert_ne!(with.0, with.1, "builds before took it as it was written");
        let [guarded, other] = [&[][..], &["guard.coefficient=0.4"]].map(|settings| number("longftl", settings));
        assert!(guarded.0 == guarded.1 && guarded.0 != other.0);
    }

    #[test]
    fn a_table_makes_another_drive_and_one_that_nobody_made_leaves_its_number() {
        // That of guarded erases counts where a technique goes by it.
        for (drive, table) in LOT_TABLES.map(|table| (if table == GUARD { "bpm-2.1" } else { "pageftl" }, table)) {
            let plan = Plan::load_set(drive, &["guard.seed=none"]).expect("a preset");
            let all = plan.sections().lines();
            let without: Vec<Line<'_>> = plan.sections().lines().into_iter().filter(|line| !LOT_TABLES.contains(&line.section)).collect();
            assert!(without.len() + LOT_TABLES.len() < all.len(), "every table has keys");
            assert_eq!(number(&all, 1), number(&without, 1));
            let made = |seed: &str| {
                let mut lines = plan.sections().lines();
                let line = lines.iter_mut().find(|line| line.section == table && line.key == "seed").expect("each has a seed");
                seed.clone_into(&mut line.value);
                number(&lines, 1)
            };
            assert_eq!(made("\"none\""), number(&without, 1), "{table}");
            assert!(made("1001") != number(&without, 1) && made("1001") != made("1002"), "{table}");
        }
    }

    #[test]
    fn what_was_there_then_is_still_there() {
        for (technique, keys) in THEN {
            let path = format!("{TECHNIQUES}{technique}");
            let section = table().iter().find(|section| section.path == path).unwrap_or_else(|| panic!("{path} is gone"));
            for key in *keys {
                assert!(section.keys.iter().any(|known| known.name == *key), "{path}.{key} is gone: how is it written now?");
            }
        }
    }
}
