//! Rules of what stands around the dies, and the first draft of the drive: all of it but how much the host sees.

use std::sync::Arc;

use wordline_cells::{Faults, Retries};
use wordline_drive::config::{Costs, Ecc};
use wordline_drive::{Config, SearchSteps, Weights};
use wordline_flash::{ProgramScope, ReadOffsets, Sheet, Tables};
use wordline_ftl::config::{BufferConfig, FreeBlockConfig, GcConfig, RepairConfig, ScheduleConfig};
use wordline_ftl::scheduler::Scheduler;
use wordline_ftl::techniques::Choice;
use wordline_ftl::wordline_order::WordlineOrder as Order;
use wordline_units::{Microvolts, Rate};

use super::{gc_start, techniques, within};
use crate::keys::filled::Sections;
use crate::kind::{Groups, Kind, Number, Share};
use crate::layer::Mistakes;
use crate::words::WordlineOrder;

const QUEUE_MAX: u32 = 65_536;
/// As far as an arbitration weight of NVMe goes.
const WEIGHT_MAX: u32 = 256;
/// What is seen of leaders is kept for each open block, and blocks that are open hold no space for good.
const OPEN_BLOCKS_MAX: u32 = 64;
/// Each stream of moved data keeps a block of each die open.
const MOVED_BLOCKS_MAX: u32 = 16;
const TRANSFERS: std::ops::RangeInclusive<u64> = 1_000_000..=20_000_000_000;
/// An entry of the retry table is one byte.
const ENTRIES_MAX: u32 = 256;
/// Below this, the transfer of one large request would take longer than virtual time lasts.
const RATE_LEAST: u64 = 1_000_000;

/// What has been found right and cannot be read off the sections without being looked at again.
pub(super) struct Checked {
    techniques: Vec<Choice>,
    retries: Option<Retries>,
    search: SearchSteps,
}

/// Checks everything that does not hang on how much the host sees.
pub(super) fn check(sections: &Sections, mistakes: &mut Mistakes<'_>) -> Option<Checked> {
    let before = mistakes.count();
    super::stops::held(sections, mistakes);
    let (flash, controller, gc) = (&sections.flash, &sections.controller, &sections.gc);
    if !TRANSFERS.contains(&flash.channel_rate.value.0) {
        let what =
            format!("flash.channel_rate is {}: expected between 1 MT/s and 20000 MT/s", flash.channel_rate.value.write().trim_matches('"'));
        mistakes.at(&flash.channel_rate.origin, what, None);
    }
    for (key, rate) in [
        ("controller.dram", &controller.dram),
        ("controller.link", &controller.link),
        ("controller.link_in", &controller.link_in),
        ("controller.ecc_rate", &controller.ecc_rate),
    ] {
        if rate.value.0.is_some_and(|rate| rate.bytes_per_second() < RATE_LEAST) {
            mistakes.at(&rate.origin, format!("{key} is {}: expected at least 1 MB/s, or \"none\"", rate.value.write()), None);
        }
    }
    within(mistakes, "controller.queue_depth", &controller.queue_depth, 1, QUEUE_MAX);
    for (key, weight) in [
        ("controller.weight_high", &controller.weight_high),
        ("controller.weight_normal", &controller.weight_normal),
        ("controller.weight_low", &controller.weight_low),
    ] {
        within(mistakes, key, weight, 1, WEIGHT_MAX);
    }
    within(mistakes, "controller.cores", &controller.cores, 1, u32::MAX);
    within(mistakes, "gc.floor", &gc.floor, 1, u32::MAX);
    let start = gc_start(sections);
    if start <= gc.floor.value {
        let of = match gc.start.value {
            Groups::Count(_) => String::new(),
            Groups::Share(share) => format!(", {} of a die's {} blocks,", share.write().trim_matches('"'), sections.geometry.blocks.value),
        };
        let what = format!("gc.start is {start}{of} and gc.floor {}: expected start above floor", gc.floor.value);
        mistakes.at(&gc.start.origin, what, Some("garbage collection must start before the host has to wait for it".into()));
    }
    if gc.preemptible.value && gc.scheduler.value != Scheduler::Classic {
        let what = format!("gc.preemptible does nothing with the scheduler \"{}\"", gc.scheduler.value.name());
        mistakes.at(&gc.preemptible.origin, what, Some("leave it out, or take gc.scheduler = \"classic\"".into()));
    }
    let (row, first) = (&sections.schedule.reads_in_row, &sections.schedule.reads_first);
    match row.value.0 {
        Some(0) => {
            let what = "schedule.reads_in_row is 0, so that no read would go before other work: expected at least 1, or \"none\"";
            mistakes.at(&row.origin, what, None);
        }
        Some(_) if !first.value => {
            let what = "schedule.reads_in_row does nothing where schedule.reads_first is false: reads and other work take turns then";
            mistakes.at(&row.origin, what, Some("leave it out, or take schedule.reads_first = true".into()));
        }
        Some(_) | None => {}
    }
    if sections.free_block.gap.value.0 == Some(0) {
        mistakes.at(&sections.free_block.gap.origin, "free_block.gap is 0: expected at least 1, or \"none\"", None);
    }
    let every = &sections.recovery.checkpoint_every;
    if every.value.0 == Some(0) {
        mistakes.at(&every.origin, "recovery.checkpoint_every is 0: expected at least 1, or \"none\"", None);
    }
    repair(sections, mistakes);
    placement(sections, mistakes);
    programs(sections, mistakes);
    let techniques = techniques::check(sections, mistakes);
    techniques::slots(sections, mistakes);
    let retries = retries(sections, mistakes);
    let search = search(sections, mistakes);
    (mistakes.count() == before).then_some(Checked { techniques, retries, search })
}

/// The detector of failed dies.
fn repair(sections: &Sections, mistakes: &mut Mistakes<'_>) {
    let keys = &sections.repair;
    for (key, share) in [("noise", &keys.noise), ("limit", &keys.limit)] {
        if share.value == Share::NONE {
            let why = if key == "noise" { "every page would be noise" } else { "no core with a failed die would take writes" };
            mistakes.at(&share.origin, format!("repair.{key} is 0 %, and {why}: expected more"), None);
        }
    }
    if keys.noise.value.fraction() > 0.5 {
        let what = format!("repair.noise is {}: expected at most 50 %", keys.noise.value.write().trim_matches('"'));
        mistakes.at(&keys.noise.origin, what, Some("half of all bits are wrong where a die puts out anything at all".into()));
    }
}

fn placement(sections: &Sections, mistakes: &mut Mistakes<'_>) {
    let (placement, able) = (&sections.placement, &sections.capabilities);
    within(mistakes, "placement.moved_blocks", &placement.moved_blocks, 1, MOVED_BLOCKS_MAX);
    if placement.order.value == WordlineOrder::HorizontalFirst {
        return;
    }
    within(mistakes, "placement.open_blocks", &placement.open_blocks, 1, OPEN_BLOCKS_MAX);
    if !able.any_order.value || able.program_scope.value != ProgramScope::Wordline {
        let what =
            "placement.order is \"mixed\", and the die cannot do it: it needs capabilities.any_order, and program_scope = \"wordline\"";
        mistakes.at(&placement.order.origin, what, None);
    }
}

/// Programs by rate.
fn programs(sections: &Sections, mistakes: &mut Mistakes<'_>) {
    let saving = &sections.programs.saving;
    if saving.value == Share::NONE {
        return;
    }
    let written = saving.value.write();
    let written = written.trim_matches('"');
    if saving.value.fraction() >= 1.0 {
        mistakes.at(&saving.origin, format!("programs.saving is {written}: expected less than 100 %"), None);
    }
    if !sections.capabilities.program_settings.value {
        let what = format!("programs.saving is {written}, and the die has no settings to narrow: it needs capabilities.program_settings");
        mistakes.at(&saving.origin, what, None);
    }
}

/// The last resort of reads.
fn search(sections: &Sections, mistakes: &mut Mistakes<'_>) -> SearchSteps {
    let (step, reach) = (&sections.controller.search_step, &sections.controller.search_reach);
    let SearchSteps { width: widest, reach: furthest } = SearchSteps::MOST;
    let Microvolts(unit) = ReadOffsets::STEP;
    let width = step.value.0 / unit;
    if !step.value.0.is_multiple_of(unit) || width > u32::from(widest) {
        let what =
            format!("controller.search_step is {}: expected a multiple of 10 mV, at most 100 mV", step.value.write().trim_matches('"'));
        mistakes.at(&step.origin, what, Some("\"0 mV\" means that no references are searched for".into()));
    }
    let least = SearchSteps::LEAST_REACH;
    within(mistakes, "controller.search_reach", reach, least.into(), furthest.into());
    SearchSteps { width: width.min(widest.into()) as u8, reach: reach.value.clamp(least.into(), furthest.into()) as u8 }
}

/// Read retries by rate.
fn retries(sections: &Sections, mistakes: &mut Mistakes<'_>) -> Option<Retries> {
    let keys = &sections.retries;
    let share = &keys.share;
    if share.value == Share::NONE {
        return None;
    }
    let mut needed = |key: &str, is_set: bool, expected: String| {
        if !is_set {
            mistakes.at(&share.origin, format!("{key} is not set, and retries.share is"), Some(format!("expected {expected}")));
        }
    };
    needed("retries.mean", keys.mean.value.0.is_some(), Number::expected());
    needed("retries.entries", keys.entries.value.0.is_some(), <u32 as Kind>::expected());
    let (mean, entries) = (keys.mean.value.0?.value(), keys.entries.value.0?);
    if mean < 1.0 {
        let what = format!("retries.mean is {mean}: expected at least 1");
        mistakes.at(&keys.mean.origin, what, Some("it is the mean of the reads that need any".into()));
    }
    if !(2..=ENTRIES_MAX).contains(&entries) {
        let what = format!("retries.entries is {entries}: expected 2 to {ENTRIES_MAX}, the default among them");
        mistakes.at(&keys.entries.origin, what, None);
    }
    Some(Retries { share: share.value.fraction(), mean, alike: keys.alike.value.fraction(), entries })
}

/// The drive, with nothing in it yet that hangs on how much the host sees.
pub(super) fn assemble(sections: &Sections, sheet: Sheet, checked: Checked) -> Config {
    let (controller, costs, faults) = (&sections.controller, &sections.costs, &sections.faults);
    let seed = sections.run.seed.value;
    Config {
        sheet,
        faults: Faults {
            factory_bad: faults.factory_bad.value.fraction(),
            program_fail: faults.program_fail.value.fraction(),
            erase_fail: faults.erase_fail.value.fraction(),
            endurance: faults.endurance.value.0,
            read_fail: faults.read_fail.value.fraction(),
            retries: checked.retries,
            program_saving: sections.programs.saving.value.fraction(),
        },
        cells: None,
        cycles: 0,
        classes: None,
        // A channel is eight lines wide: one byte with each transfer.
        channel: Rate::from_bytes_per_second(sections.flash.channel_rate.value.0),
        dram: controller.dram.value.0,
        link: controller.link.value.0,
        link_in: controller.link_in.value.0,
        ftl: controller.ftl.value,
        ecc: Ecc { latency: controller.ecc_latency.value, rate: controller.ecc_rate.value.0 },
        search: checked.search,
        die_timeout: controller.die_timeout.value,
        read_sets: Arc::default(),
        cores: controller.cores.value,
        stripe_units: 1,
        costs: Costs { command: costs.command.value, unit: costs.unit.value, operation: costs.operation.value },
        queue_depth: controller.queue_depth.value,
        trims: controller.trims.value,
        weights: Weights { high: controller.weight_high.value, normal: controller.weight_normal.value, low: controller.weight_low.value },
        firmware: wordline_ftl::Config {
            sheet,
            margins: None,
            tables: Tables::default(),
            dies: 0,
            unit: sections.mapping.unit.value,
            exported_units: 0,
            spare_blocks: sections.mapping.spare_blocks.value,
            read_entries: 1,
            read_search: false,
            transfer: wordline_units::Nanos::ZERO,
            codeword_bits: 0,
            factory_bad: Vec::new(),
            buffer: BufferConfig {
                units: 0,
                acknowledge: sections.buffer.acknowledge.value,
                protection: sections.buffer.protection.value,
                partial_watermark: sections.buffer.partial_watermark.value.fraction(),
                load_window: sections.buffer.load_window.value,
            },
            gc: GcConfig {
                victim: sections.gc.victim.value,
                start: gc_start(sections),
                floor: sections.gc.floor.value,
                scheduler: sections.gc.scheduler.value,
                preemptible: sections.gc.preemptible.value,
                lazy_erase: sections.gc.lazy_erase.value,
            },
            free_block: FreeBlockConfig { key: sections.free_block.key.value, gap: sections.free_block.gap.value.0 },
            retirement: sections.retirement.policy.value,
            repair: RepairConfig {
                detect: sections.repair.detect.value,
                bad_blocks_per_die: sections.repair.bad_blocks_per_die.value.fraction(),
                noise: sections.repair.noise.value.fraction(),
                limit: sections.repair.limit.value.fraction(),
            },
            spared_max: 0,
            moved_blocks: sections.placement.moved_blocks.value,
            wordline_order: match sections.placement.order.value {
                WordlineOrder::HorizontalFirst => Order::HorizontalFirst,
                WordlineOrder::Mixed => Order::Mixed {
                    threshold: sections.placement.threshold.value.fraction(),
                    open_blocks: sections.placement.open_blocks.value,
                },
            },
            schedule: ScheduleConfig {
                reads_first: sections.schedule.reads_first.value,
                linger: sections.schedule.linger.value.0,
                held_max: sections.schedule.held_max.value.0,
                reads_in_row: sections.schedule.reads_in_row.value.0,
            },
            techniques: checked.techniques,
            keeps_data: false,
            checkpoint_every: sections.recovery.checkpoint_every.value.0,
            recovers: sections.recovery.on.value,
            oob_copies: sections.recovery.oob_copies.value,
            oob_place: sections.recovery.oob_place.value,
            seed,
            core: 0,
        },
        exported_units: 0,
        seed,
    }
}
