//! Plans drawn at random over the table of keys: a small drive, and settings of it that `check` has accepted together.
//!
//! Values stand here because the table of keys has kinds and no values worth trying. Techniques are drawn from their declarations.

use wordline_ftl::techniques::DECLARATIONS;
use wordline_ftl::techniques::declaration::{Kind, Param, Value};
use wordline_plan::Plan;
use wordline_units::random::{Draw, Stream};

/// Sections whose keys are drawn, each with the values worth trying. A key without any is listed with the reason in [`NOT_DRAWN`].
const KEYS: &[(&str, &[&str])] = &[
    ("faults.factory_bad", &["0.5 %", "2 %", "5 %"]),
    ("faults.program_fail", &["0.01 %", "0.1 %", "1 %"]),
    ("faults.erase_fail", &["0.1 %", "1 %", "10 %"]),
    ("faults.read_fail", &["0.01 %", "1 %"]),
    ("faults.endurance", &["2", "10", "1000", "none"]),
    ("retries.share", &["50 %", "90 %"]),
    ("retries.mean", &["1", "2.5"]),
    ("retries.alike", &["0 %", "66 %", "100 %"]),
    ("retries.entries", &["2", "16", "256"]),
    ("programs.saving", &["10 %", "30 %"]),
    ("cells.physics", &["false", "true"]),
    ("cells.temperature", &["10 C", "70 C"]),
    ("cells.cycles", &["100", "2000", "8000", "child", "young-adult"]),
    ("cells.lifetime", &["500", "2000"]),
    ("cells.dwell", &["1 min", "1 d"]),
    ("cells.dwells", &["[\"1 min\", \"1 h\"]"]),
    ("cells.retention", &["1 d", "3 mo", "1 y"]),
    ("cells.kept_at", &["30 C", "85 C"]),
    ("controller.cores", &["1", "2"]),
    ("controller.stripe", &["64 KiB", "256 KiB", "none"]),
    ("controller.queue_depth", &["1", "7", "256"]),
    ("controller.weight_high", &["1", "256"]),
    ("controller.weight_normal", &["1", "256"]),
    ("controller.weight_low", &["1", "256"]),
    ("controller.trims", &["whole", "by-page"]),
    ("controller.dram", &["1 GB/s", "none"]),
    ("controller.link", &["100 MB/s", "none"]),
    ("controller.link_in", &["100 MB/s", "1 GB/s"]),
    ("controller.ftl", &["host"]),
    ("controller.ecc_latency", &["0 ns", "5 us"]),
    ("controller.ecc_rate", &["200 MB/s", "none"]),
    ("controller.search_step", &["0 mV", "20 mV", "100 mV"]),
    ("controller.search_reach", &["2", "12"]),
    ("controller.die_timeout", &["1 ms", "1 s"]),
    ("costs.command", &["0 ns", "5 us"]),
    ("costs.unit", &["0 ns", "1 us"]),
    ("costs.operation", &["0 ns", "2 us"]),
    ("mapping.unit", &["4 KiB", "8 KiB", "16 KiB"]),
    ("mapping.over_provisioning", &["50 %", "60 %", "80 %"]),
    ("mapping.capacity", &["2 MiB", "16 MiB"]),
    ("mapping.spare_blocks", &["0", "1", "3"]),
    ("buffer.load_window", &["1 ms", "1 s"]),
    ("buffer.size", &["64 KiB", "256 KiB", "1 MiB", "4 MiB"]),
    ("buffer.acknowledge", &["buffered", "programmed"]),
    ("buffer.protection", &["none", "capacitor"]),
    ("buffer.partial_watermark", &["0 %", "50 %", "100 %"]),
    ("gc.victim", &["greedy", "fifo", "random", "d-choices", "cost-benefit"]),
    ("gc.start", &["2", "3", "6", "10 %"]),
    ("gc.floor", &["1", "2", "3"]),
    ("gc.scheduler", &["classic", "paced"]),
    ("gc.preemptible", &["true", "false"]),
    ("gc.lazy_erase", &["true", "false"]),
    ("free_block.key", &["longest-free", "erases", "wear"]),
    ("free_block.gap", &["1", "2", "20", "none"]),
    ("retirement.policy", &["failed", "spent"]),
    ("schedule.reads_first", &["true", "false"]),
    ("schedule.linger", &["0 ns", "1 ms", "none"]),
    ("schedule.held_max", &["100 us", "none"]),
    ("schedule.reads_in_row", &["1", "4", "none"]),
    ("placement.order", &["horizontal-first", "mixed"]),
    ("placement.threshold", &["0 %", "50 %", "100 %"]),
    ("placement.open_blocks", &["1", "2", "3"]),
    ("placement.moved_blocks", &["1", "2", "5"]),
    ("recovery.on", &["true", "false"]),
    ("recovery.checkpoint_every", &["1", "4", "32", "none"]),
    ("recovery.oob_copies", &["true", "false"]),
    ("recovery.oob_place", &["group", "neighbour"]),
    ("repair.detect", &["true", "false"]),
    ("repair.bad_blocks_per_die", &["0 %", "2 %", "50 %", "100 %"]),
    ("repair.noise", &["1 %", "25 %", "50 %"]),
    ("repair.limit", &["50 %", "100 %"]),
    ("capabilities.cache_read", &["true", "false"]),
    ("capabilities.cache_program", &["true", "false"]),
    ("capabilities.any_order", &["true", "false"]),
];

/// Keys of sections in [`KEYS`] that are not drawn, each with the reason.
const NOT_DRAWN: &[(&str, &str)] = &[
    ("capabilities.program_scope", "it goes with the times of programs, and both kinds are among the bases"),
    ("capabilities.copyback", "in groups"),
    ("capabilities.suspend_program", "in groups"),
    ("capabilities.suspend_erase", "in groups"),
    ("capabilities.stop_at_step", "in groups"),
    ("capabilities.stop_now_program", "in groups"),
    ("capabilities.stop_now_erase", "in groups"),
    ("capabilities.abort_read", "in groups"),
    ("capabilities.program_settings", "in groups"),
    ("capabilities.guarded_erase", "in groups"),
    ("capabilities.erase_trace", "in groups"),
];

/// Settings that go with each other, or with nothing.
const GROUPS: &[&[&str]] = &[
    &["gc.scheduler=classic", "gc.preemptible=true"],
    &["gc.start=3", "gc.floor=2"],
    &["gc.start=2", "gc.floor=1", "free_block.key=erases", "free_block.gap=1"],
    &["retries.share=90 %", "retries.mean=2", "retries.alike=66 %", "retries.entries=16", "cells.physics=false"],
    &["recovery.on=true", "recovery.checkpoint_every=1", "free_block.key=erases", "free_block.gap=1"],
    &["recovery.on=true", "recovery.oob_copies=true", "recovery.oob_place=neighbour"],
    &["capabilities.any_order=true", "placement.order=mixed", "placement.open_blocks=3"],
    &["capabilities.copyback=true", "techniques.plain-copyback.on=true"],
    &["capabilities.program_settings=true", "programs.saving=30 %", "cells.physics=false"],
    &["capabilities.guarded_erase=true", "capabilities.erase_trace=true"],
    &["timing.t_lock_page=100 us", "timing.t_lock_block=300 us", "timing.t_scrub=100 us", "timing.t_reprogram=100 us"],
    &[
        "capabilities.suspend_program=true",
        "capabilities.suspend_erase=true",
        "timing.t_suspend_program=44 us",
        "timing.t_suspend_erase=117 us",
    ],
    &[
        "capabilities.suspend_program=true",
        "capabilities.suspend_erase=true",
        "capabilities.stop_at_step=true",
        "capabilities.stop_now_program=true",
        "capabilities.stop_now_erase=true",
        "capabilities.abort_read=true",
        "timing.t_step_program=44 us",
        "timing.t_step_erase=167 us",
        "timing.t_halt_program=40 us",
        "timing.t_halt_erase=40 us",
        "timing.t_abort_read=5 us",
        "timing.t_resume=5 us",
    ],
];

/// A drive of a preset with so few blocks that a run takes milliseconds.
const TINY: &[&str] = &[
    "mapping.over_provisioning=50 %",
    "geometry.blocks=28",
    "geometry.layers=4",
    "flash.channels=1",
    "flash.dies_per_channel=2",
    "buffer.size=512 KiB",
];
/// The same with garbage collection that begins late.
const LOW: &[&str] = &[
    "mapping.over_provisioning=50 %",
    "geometry.blocks=28",
    "geometry.layers=4",
    "flash.channels=1",
    "flash.dies_per_channel=2",
    "buffer.size=512 KiB",
    "gc.start=4",
];
/// The same with whole blocks, for tables of the chip.
const WHOLE: &[&str] = &[
    "mapping.over_provisioning=60 %",
    "geometry.blocks=24",
    "mapping.spare_blocks=0",
    "flash.channels=1",
    "flash.dies_per_channel=2",
    "buffer.size=1 MiB",
];

/// Presets of different kinds. The more often one is drawn, the more often it stands here.
const BASES: &[(&str, &[&str])] = &[
    ("pageftl", TINY),
    ("pageftl", TINY),
    ("mqsim-b", LOW),
    ("mqsim-b", LOW),
    ("pageftl-4k", TINY),
    ("paper-evanesco", TINY),
    ("secssd", TINY),
    ("cryptossd", TINY),
    ("psr-baseline", TINY),
    ("paper-cubeftl", TINY),
    ("cubeftl", WHOLE),
    ("rftl", WHOLE),
    ("paftl-8", WHOLE),
];

/// A drawn plan.
pub(super) struct Drawn {
    pub(super) base: &'static str,
    /// Settings that make the base small, begin it and seed it.
    pub(super) small: Vec<String>,
    /// Drawn settings, in the order in which they were accepted.
    pub(super) settings: Vec<String>,
    pub(super) plan: Plan,
    /// Drawn settings that `check` refused beside those before them.
    pub(super) refused: u64,
}

fn pick<'a, T: ?Sized>(draw: &mut Draw, of: &[&'a T]) -> &'a T {
    of[draw.below(of.len() as u64) as usize]
}

fn written(value: Value) -> String {
    match value {
        Value::Flag(flag) => flag.to_string(),
        Value::Count(count) => count.to_string(),
        Value::Span(span) => format!("{} ns", span.0),
        Value::Word(word) => word.to_owned(),
    }
}

/// A technique that is on, with a value worth trying for each of its parameters.
fn technique(draw: &mut Draw) -> Vec<String> {
    let declaration = &DECLARATIONS[draw.below(DECLARATIONS.len() as u64) as usize];
    let path = format!("techniques.{}", declaration.card.name);
    let mut value = |param: &Param| match param.kind {
        Kind::Flag => Value::Flag(draw.happens(0.5)),
        Kind::Word(words) => Value::Word(words[draw.below(words.len() as u64) as usize]),
        Kind::Count { .. } | Kind::Wordlines { .. } | Kind::Span { .. } | Kind::FreeGroups | Kind::KeyLeaves => {
            param.tried[draw.below(param.tried.len() as u64) as usize]
        }
    };
    let params = declaration.params.iter().map(|param| format!("{path}.{}={}", param.key, written(value(param))));
    std::iter::once(format!("{path}.on=true")).chain(params.collect::<Vec<_>>()).collect()
}

/// Settings that are drawn together.
fn chunk(draw: &mut Draw) -> Vec<String> {
    match draw.below(10) {
        0..2 => pick(draw, GROUPS).iter().map(|&setting| setting.to_owned()).collect(),
        2..4 => technique(draw),
        _ => {
            let (key, tried) = KEYS[draw.below(KEYS.len() as u64) as usize];
            vec![format!("{key}={}", pick(draw, tried))]
        }
    }
}

/// Draws the plan of this number under `seed`, that begins as `start` says. Settings that `check` refuses are left out, so that each plan is an accepted one.
pub(super) fn plan(seed: u64, number: u32, start: &[&str]) -> Drawn {
    let draw = &mut Draw::new(seed, Stream::Mix, number);
    let (base, small) = BASES[draw.below(BASES.len() as u64) as usize];
    let mut small: Vec<String> = small.iter().chain(start).map(|&setting| setting.to_owned()).collect();
    let mut plan = Plan::load_set(base, &small).unwrap_or_else(|error| panic!("{base}: {error}"));
    // A few seeds are those of lots of chips that tables were made from.
    let seeded = format!("run.seed={seed}");
    if let Ok(other) = plan.override_key(&seeded) {
        plan = other;
        small.push(seeded);
    }
    let (mut settings, mut refused) = (Vec::new(), 0);
    for _ in 0..3 + draw.below(12) {
        let chunk = chunk(draw);
        match plan.override_keys(&chunk) {
            Ok(changed) => {
                plan = changed;
                settings.extend(chunk);
            }
            Err(_) => refused += chunk.len() as u64,
        }
    }
    Drawn { base, small, settings, plan, refused }
}

/// Sections of the table of keys in which plans are drawn.
pub(super) fn sections() -> impl Iterator<Item = &'static str> {
    let mut named: Vec<&str> = KEYS.iter().map(|(key, _)| key.rsplit_once('.').expect("a section").0).collect();
    named.dedup();
    named.into_iter()
}

#[test]
fn every_key_of_a_drawn_section_is_drawn_or_left_out_by_name() {
    let text = Plan::load("pageftl").expect("a preset").describe();
    let mut section = "";
    let mut seen = 0;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
        } else if let Some((key, _)) = line.split_once('=').filter(|_| sections().any(|drawn| drawn == section)) {
            let key = format!("{section}.{}", key.trim());
            let is_listed = |name: &str| name == key;
            assert!(
                KEYS.iter().any(|(name, _)| is_listed(name)) || NOT_DRAWN.iter().any(|(name, _)| is_listed(name)),
                "{key} is a key of a drawn section: give it values worth trying, or a reason not to draw it"
            );
            seen += 1;
        }
    }
    assert_eq!(seen, KEYS.len() + NOT_DRAWN.len(), "a key that is listed and does not exist");
}
