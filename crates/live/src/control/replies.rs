//! Answers of the drive, as JSON.

use serde_json::{Value, json};
use wordline_block::Hints;
use wordline_block::hints::{LATENCIES, LIFETIMES, PRIORITIES, SECURITIES, word};
use wordline_drive::{LbaStatus, Reason};
use wordline_engine::{BlockState, BlockView};
use wordline_figures::{Cost, Identity, conclude};
use wordline_units::Id;

use super::arguments::Shown;
use super::commands::commands;
use super::{Served, faults, refusal};
use crate::ask::{Look, Place, Stored, Told};
use crate::lost::LostFound;
use crate::smart::Smart;
use crate::status::hint_flags;

/// Columns of the map of a die's blocks.
const MAP_COLUMNS: usize = 60;

pub(super) fn help() -> Value {
    let commands: Vec<Value> = commands()
        .iter()
        .map(|command| {
            let arguments: Vec<Value> = command
                .arguments
                .iter()
                .map(|argument| json!({ "key": argument.key, "needed": argument.is_needed, "what": argument.what }))
                .collect();
            json!({ "do": command.word, "what": command.what, "takes": arguments })
        })
        .collect();
    json!({ "ok": true, "commands": commands })
}

pub(super) fn of(told: Told, shown: Shown, served: &Served) -> Value {
    match told {
        Told::Done => json!({ "ok": true }),
        Told::Hinted { acts_on_latency, stored } => hinted(shown, acts_on_latency, stored),
        Told::Refused(why) => refusal(&why),
        Told::Look(look) if shown == Shown::Media => json!({ "ok": true, "media": media(&look) }),
        Told::Look(look) if shown == Shown::Smart => json!({ "ok": true, "smart": smart(&look) }),
        Told::Look(look) => status(*look, served),
        Told::Harmed(harmed) => faults::harmed(&harmed),
        Told::Faults(all) => faults::list(&all),
        Told::Places(places) => {
            let places: Vec<Value> = places.iter().map(place).collect();
            json!({ "ok": true, "places": places })
        }
        Told::Lost(found) => lost(&found),
        Told::Hints(all) => {
            let hints: Vec<Value> = all.iter().map(|(from, end, hints)| hint(*from, *end, hints)).collect();
            json!({ "ok": true, "hints": hints })
        }
        Told::Copied { bytes, stood_for } => json!({ "ok": true, "bytes": bytes, "stood_still_seconds": stood_for.as_secs_f64() }),
        Told::Recording(_) => json!({ "ok": true }),
    }
}

/// Effects of the hints just given. `acts_on_latency`: the drive acts on tolerated latencies. `stored`: they are kept for the next start.
fn hinted(shown: Shown, acts_on_latency: bool, stored: Stored) -> Value {
    let Shown::Hint { priority, security, read_latency, lifetime } = shown else { return json!({ "ok": true }) };
    let mut effects = Vec::new();
    if priority {
        effects.push("priority: the class of requests in the stretch, in the host queues and at the dies");
    }
    if security {
        effects.push("security: a drive with a sanitiser destroys stale data of the stretch, unless it was insecure when it was written");
    }
    let mut kept = Vec::new();
    match (read_latency, acts_on_latency) {
        (true, true) => {
            effects.push("read_latency: work that would keep reads of the stretch short may wait for as long as the stretch tolerates it")
        }
        (true, false) => kept.push("read_latency is shown in x-wordline:hint and handed to the drive; nothing in this drive acts on it"),
        (false, _) => {}
    }
    if lifetime {
        kept.push("lifetime is kept and shown in x-wordline:hint; nothing in the drive acts on it yet");
    }
    match stored {
        Ok(stored) => json!({ "ok": true, "in_effect": effects, "only_kept": kept, "stored": stored }),
        Err(why) => json!({ "ok": true, "in_effect": effects, "only_kept": kept, "stored": false, "not_stored": why }),
    }
}

fn hint(from: u64, end: u64, hints: &Hints) -> Value {
    json!({
        "offset": from,
        "length": end - from,
        "priority": word(&PRIORITIES, hints.priority),
        "security": word(&SECURITIES, hints.security),
        "read_latency": word(&LATENCIES, hints.read_latency),
        "lifetime": word(&LIFETIMES, hints.lifetime),
        "flags": hint_flags(*hints),
    })
}

fn place(place: &Place) -> Value {
    let located = place.located;
    let state = match (located.is_buffered, located.on_flash) {
        (true, _) => "buffered",
        (false, Some(_)) => "flash",
        (false, None) => "unmapped",
    };
    let flash = located.on_flash.map(
        |flash| json!({ "die": flash.die.0, "plane": flash.plane.0, "block": flash.block.0, "page": flash.page.0, "unit": flash.unit }),
    );
    json!({ "offset": place.offset, "length": place.length, "state": state, "flash": flash })
}

/// Records of NVMe's Get LBA Status, in sectors of 512 bytes.
fn lost(found: &LostFound) -> Value {
    let record = |run: &LbaStatus| {
        let status = match run.loss.reason {
            Reason::Lost => "lost",
            Reason::Refused => "refused",
            Reason::Unreadable => "unreadable",
        };
        json!({ "lba": run.lba, "count": run.count, "status": status, "element": run.loss.die.map(|die| format!("die:{}", die.0)) })
    };
    let records: Vec<Value> = found.runs.iter().map(record).collect();
    json!({ "ok": true, "generation": found.generation, "complete": found.next.is_none(), "next": found.next, "lost": records })
}

fn media(look: &Look) -> Value {
    let buffer = if look.keeps_buffer {
        "capacitors: every write that was acknowledged survives; trims do once they are flushed"
    } else {
        "volatile: what was written and not flushed may be lost with the process"
    };
    json!({
        "survives": look.survives,
        "write_buffer": buffer,
        "trouble": look.trouble,
    })
}

/// Health counters. The reference of the control socket describes each.
fn smart(look: &Look) -> Value {
    let Smart { media_errors, life, health, erases_mean, erases_max, endurance, host_written, host_read, flash_written, dead_dies, .. } =
        look.smart;
    let since_start = [
        "media_errors",
        "host_written_bytes",
        "host_read_bytes",
        "zeroed_by_trims_bytes",
        "trims_freed_nothing",
        "flash_written_bytes",
        "waf",
    ];
    json!({
        "media_errors": media_errors,
        "units_lost_at_recovery": life.units_lost,
        "unreadable_units": health.unreadable,
        "refused_units": health.refused,
        "unsafe_shutdowns": life.unsafe_shutdowns,
        "power_cycles": life.power_cycles,
        "spare_blocks": health.spares,
        "spare_blocks_left": health.spares_left,
        "spare_percent": look.smart.spare_percent(),
        "grown_bad_blocks": health.grown_bad,
        "dead_dies": dead_dies,
        "age_least": health.ages.map(|ages| ages.least.0),
        "age_median": health.ages.map(|ages| ages.median.0),
        "age_most": health.ages.map(|ages| ages.most.0),
        "erases_mean": erases_mean,
        "erases_max": erases_max,
        "endurance": endurance,
        "endurance_used_percent": look.smart.used_percent(),
        "host_written_bytes": host_written.0,
        "host_read_bytes": host_read.0,
        "zeroed_by_trims_bytes": look.smart.zeroed_by_trims.0,
        "trims_freed_nothing": look.smart.trims_freed_nothing,
        "flash_written_bytes": flash_written.0,
        "waf": look.waf(),
        "temperature_c": look.temperature.map(|celsius| celsius.0),
        "worn_out": look.is_worn_out,
        "since_start": since_start,
    })
}

fn status(look: Look, served: &Served) -> Value {
    let about = served.disk.about();
    let wall = served.began.elapsed().as_secs_f64();
    let identity = Identity {
        name: about.name.clone(),
        plan_hash: about.plan_hash,
        seed: about.seed,
        event_log_hash: look.log.0,
        ..Identity::default()
    };
    let smart = smart(&look);
    let measured = look.metrics.clone().finish(look.now, look.outstanding);
    let (result, detail) = conclude(&identity, &measured, &look.blocks, Cost { wall_seconds: wall, ..Cost::default() });
    let late = look.lateness;
    let live = json!({
        "size": look.size,
        "timing": served.disk.timing().to_string(),
        "wall_seconds": wall,
        "virtual_seconds": look.now.as_secs_f64(),
        "events": look.log.1,
        "outstanding": look.outstanding,
        "worn_out": look.is_worn_out,
        "read_only": about.is_read_only,
        "dead_dies": look.failed.iter().map(|die| die.0).collect::<Vec<_>>(),
        "lost_bytes": look.lost_bytes(),
        "lost_generation": look.lost_generation,
        "core_utilisation": look.utilisation,
        "temperature_c": look.temperature.map(|celsius| celsius.0),
        "lateness": {
            "answers": late.answers,
            "mean_us": if late.answers == 0 { 0.0 } else { late.sum.as_micros_f64() / late.answers as f64 },
            "max_us": late.max.as_micros_f64(),
        },
        "link_us": look.link.as_secs_f64() * 1e6,
        "media": media(&look),
        "faults": look.faults,
        "recordings": look.recordings,
        "hinted_stretches": look.hints,
        "free_groups": look.blocks.iter().filter(|block| block.state == BlockState::Free).count(),
        "die_utilisation": detail.die_utilisation,
        "channel_utilisation": detail.channel_utilisation,
        "map": map(&look.blocks),
    });
    let drive = serde_json::to_value(&result).unwrap_or(Value::Null);
    json!({ "ok": true, "live": live, "smart": smart, "drive": drive })
}

/// A line for each die. A letter stands for one block group or for several neighbours: `.` all free, `x` all bad, `*` one is being written, and otherwise
/// their share of valid data, 0 to 9.
fn map(blocks: &[BlockView]) -> Vec<String> {
    let mut dies: Vec<Vec<&BlockView>> = Vec::new();
    for block in blocks {
        if dies.len() <= block.die.index() {
            dies.resize_with(block.die.index() + 1, Vec::new);
        }
        dies[block.die.index()].push(block);
    }
    dies.iter().map(|blocks| blocks.chunks(blocks.len().div_ceil(MAP_COLUMNS).max(1)).map(letter).collect()).collect()
}

fn letter(blocks: &[&BlockView]) -> char {
    let are = |state| blocks.iter().all(|block| block.state == state);
    if are(BlockState::Free) {
        '.'
    } else if are(BlockState::Bad) {
        'x'
    } else if blocks.iter().any(|block| block.state == BlockState::Active) {
        '*'
    } else {
        let sum = |of: fn(&BlockView) -> u32| blocks.iter().map(|block| u64::from(of(block))).sum::<u64>();
        let (valid, room) = (sum(|block| block.valid), sum(|block| block.capacity).max(1));
        char::from_digit((valid * 10 / room).min(9) as u32, 10).unwrap_or('9')
    }
}
