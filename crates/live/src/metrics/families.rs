//! The metrics of a served drive: one table, from which the text and the reference are made.

use wordline_figures::Measured;
use wordline_figures::totals::FlashCount;
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{Cause, FlashOp, HostOp};

use super::text::{Kind, Text};
use crate::ask::Look;
use crate::disk::About;

/// A family of metrics.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// Name; a counter's samples have `_total` behind it.
    pub name: &'static str,
    /// Kind of its samples.
    pub kind: Kind,
    /// Unit, which ends the name; empty for a number or a share.
    pub unit: &'static str,
    /// Description in the reference and after `# HELP`.
    pub help: &'static str,
    samples: fn(&Seen<'_>, &mut Text),
}

/// Source of the samples.
#[derive(Debug)]
pub(super) struct Seen<'a> {
    pub(super) look: &'a Look,
    pub(super) about: &'a About,
    pub(super) measured: Measured,
    /// Wall time since the start of the server.
    pub(super) wall_seconds: f64,
}

/// The whole text.
pub(super) fn write(seen: &Seen<'_>) -> String {
    let mut text = Text::default();
    for family in metrics() {
        text.family(family.name, family.kind, family.unit, family.help);
        (family.samples)(seen, &mut text);
    }
    text.end()
}

const fn counter(name: &'static str, unit: &'static str, help: &'static str, samples: fn(&Seen<'_>, &mut Text)) -> Family {
    Family { name, kind: Kind::Counter, unit, help, samples }
}

const fn gauge(name: &'static str, unit: &'static str, help: &'static str, samples: fn(&Seen<'_>, &mut Text)) -> Family {
    Family { name, kind: Kind::Gauge, unit, help, samples }
}

/// Kinds of requests with samples: all but hints, and those where there were any.
fn ops(seen: &Seen<'_>) -> impl Iterator<Item = HostOp> {
    let hints = seen.measured.totals.host(HostOp::Hint);
    let has_hints = hints.requests + hints.failed > 0;
    HostOp::ALL.into_iter().filter(move |op| *op != HostOp::Hint || has_hints)
}

fn each_op(seen: &Seen<'_>, text: &mut Text, value: impl Fn(HostOp) -> u64) {
    ops(seen).for_each(|op| text.count(&[("op", op.name())], value(op)));
}

fn each_flash(seen: &Seen<'_>, text: &mut Text, value: impl Fn(&FlashCount) -> u64) {
    for op in FlashOp::ALL {
        for cause in Cause::ALL {
            let count = seen.measured.totals.flash(op, cause);
            if count.operations > 0 {
                text.count(&[("op", op.name()), ("cause", cause.name())], value(count));
            }
        }
    }
}

fn page_bytes(seen: &Seen<'_>) -> u64 {
    seen.look.page.0
}

/// All families, in the order of the text.
const FAMILIES: [Family; 44] = [
    Family {
        name: "wordline_drive",
        kind: Kind::Info,
        unit: "",
        help: "Drive that is served.",
        samples: |seen, text| {
            let version = env!("CARGO_PKG_VERSION");
            text.count(&[("name", &seen.about.name), ("plan", &format!("{:016x}", seen.about.plan_hash)), ("version", version)], 1);
        },
    },
    gauge("wordline_size_bytes", "bytes", "Capacity for the host, in bytes.", |seen, text| text.count(&[], seen.look.size)),
    counter("wordline_wall_time_seconds", "seconds", "Time since the server was started, on the wall's clock.", |seen, text| {
        text.number(&[], seen.wall_seconds);
    }),
    counter(
        "wordline_drive_time_seconds",
        "seconds",
        "Time since the server was started, on the drive's own, virtual clock.",
        |seen, text| {
            text.number(&[], seen.look.now.as_secs_f64());
        },
    ),
    counter("wordline_host_requests", "", "Requests of the host that were answered.", |seen, text| {
        each_op(seen, text, |op| seen.measured.totals.host(op).requests);
    }),
    counter("wordline_host_failed_requests", "", "Requests of the host that were answered with an error.", |seen, text| {
        each_op(seen, text, |op| seen.measured.totals.host(op).failed);
    }),
    counter("wordline_host_bytes", "bytes", "Bytes of the requests that were answered.", |seen, text| {
        each_op(seen, text, |op| seen.measured.totals.host(op).sectors * SECTOR_BYTES);
    }),
    counter(
        "wordline_zeroed_by_trims_bytes",
        "bytes",
        "Bytes that were written with zeroes because they were trimmed and their mapping unit was not.",
        |seen, text| text.count(&[], seen.look.smart.zeroed_by_trims.0),
    ),
    counter("wordline_trims_in_vain", "", "Trims that freed no mapping unit.", |seen, text| {
        text.count(&[], seen.look.smart.trims_freed_nothing);
    }),
    Family {
        name: "wordline_host_latency_seconds",
        kind: Kind::Histogram,
        unit: "seconds",
        help: "Latency of requests, in the drive's own, virtual time.",
        samples: |seen, text| {
            for op in ops(seen) {
                text.spans(&[("op", op.name())], &seen.measured.latencies(op));
            }
        },
    },
    gauge("wordline_outstanding_requests", "", "Requests that have arrived and are not answered.", |seen, text| {
        text.count(&[], seen.look.outstanding);
    }),
    counter("wordline_late_answers", "", "Answers whose lateness was measured; only on drives that keep a pace.", |seen, text| {
        text.count(&[], seen.look.lateness.answers);
    }),
    counter("wordline_late_seconds", "seconds", "Total lateness of those answers, in the drive's own time.", |seen, text| {
        text.number(&[], seen.look.lateness.sum.as_secs_f64());
    }),
    counter("wordline_flash_operations", "", "Flash operations, by operation and cause.", |seen, text| {
        each_flash(seen, text, |count| count.operations);
    }),
    counter("wordline_flash_failed_operations", "", "Flash operations that ended badly; reads: all tries together.", |seen, text| {
        each_flash(seen, text, |count| count.failed);
    }),
    counter("wordline_flash_written_bytes", "bytes", "Flash pages that were programmed, in bytes, by cause.", |seen, text| {
        for cause in Cause::ALL {
            let pages: u64 = [FlashOp::Program, FlashOp::Copyback].map(|op| seen.measured.totals.flash(op, cause).pages).into_iter().sum();
            text.count(&[("cause", cause.name())], pages * page_bytes(seen));
        }
    }),
    counter("wordline_flash_read_bytes", "bytes", "Flash pages that were read, in bytes, by cause.", |seen, text| {
        for cause in Cause::ALL {
            text.count(&[("cause", cause.name())], seen.measured.totals.flash(FlashOp::Read, cause).pages * page_bytes(seen));
        }
    }),
    counter("wordline_read_retries", "", "Tries of flash reads after their first.", |seen, text| {
        let retries = seen.measured.totals.errors.retries;
        text.count(&[], (0..).zip(retries).map(|(tries, reads)| tries * reads).sum());
    }),
    gauge(
        "wordline_write_amplification_ratio",
        "ratio",
        "Bytes programmed to flash over bytes written by the host, since the start; absent before the first write.",
        |seen, text| {
            seen.look.waf().into_iter().for_each(|waf| text.number(&[], waf));
        },
    ),
    counter("wordline_die_busy_seconds", "seconds", "Time that the arrays of a die worked, in the drive's own time.", |seen, text| {
        for (die, busy) in seen.measured.die_busy().enumerate() {
            text.number(&[("die", &die.to_string())], busy.as_secs_f64());
        }
    }),
    counter("wordline_channel_busy_seconds", "seconds", "Time that a channel's bus was held, in the drive's own time.", |seen, text| {
        for (channel, busy) in seen.measured.channel_busy().enumerate() {
            text.number(&[("channel", &channel.to_string())], busy.as_secs_f64());
        }
    }),
    counter("wordline_media_errors", "", "Flash reads that could not be corrected with all their tries, since the start.", |seen, text| {
        text.count(&[], seen.look.smart.media_errors);
    }),
    gauge(
        "wordline_unreadable_units",
        "",
        "Mapping units that answer EIO now, as far as the drive has noticed since its start.",
        |seen, text| {
            text.count(&[], seen.look.smart.health.unreadable);
        },
    ),
    gauge(
        "wordline_refused_units",
        "",
        "Mapping units that answer EIO because their copy on flash cannot be proved the newest.",
        |seen, text| {
            text.count(&[], seen.look.smart.health.refused);
        },
    ),
    gauge(
        "wordline_lost_bytes",
        "bytes",
        "Bytes of the mapping units that answer EIO now, each counted whole, as far as the firmware has noticed.",
        |seen, text| {
            text.count(&[], seen.look.lost_bytes());
        },
    ),
    counter("wordline_lost_changes", "", "Times that data has gone from whole to lost, since the start.", |seen, text| {
        text.count(&[], seen.look.lost_generation);
    }),
    gauge(
        "wordline_core_utilisation_ratio",
        "ratio",
        "Share of the drive that a firmware core serves, over the units of its block groups in service.",
        |seen, text| {
            for (core, share) in seen.look.utilisation.iter().enumerate() {
                text.number(&[("core", &core.to_string())], *share);
            }
        },
    ),
    gauge(
        "wordline_units_lost_at_recovery",
        "",
        "Mapping units whose newest version could not be read at this start, as far as the start looked.",
        |seen, text| {
            text.count(&[], seen.look.smart.life.units_lost);
        },
    ),
    counter("wordline_power_cycles", "", "Starts of the drive.", |seen, text| text.count(&[], seen.look.smart.life.power_cycles)),
    counter("wordline_unsafe_shutdowns", "", "Starts of the drive that found it cut off.", |seen, text| {
        text.count(&[], seen.look.smart.life.unsafe_shutdowns);
    }),
    gauge("wordline_spare_blocks", "", "Spare block groups that are left.", |seen, text| {
        text.count(&[], seen.look.smart.health.spares_left)
    }),
    gauge("wordline_spare_ratio", "ratio", "Share of the spare block groups that is left; absent if the drive has none.", |seen, text| {
        seen.look.smart.spare_percent().into_iter().for_each(|percent| text.number(&[], percent / 100.0));
    }),
    gauge("wordline_grown_bad_blocks", "", "Block groups that have failed since the factory.", |seen, text| {
        text.count(&[], seen.look.smart.health.grown_bad);
    }),
    gauge("wordline_free_block_groups", "", "Block groups that are erased and free.", |seen, text| {
        let is_free = |block: &&wordline_engine::BlockView| block.state == wordline_engine::BlockState::Free;
        text.count(&[], seen.look.blocks.iter().filter(is_free).count() as u64);
    }),
    gauge("wordline_mean_block_erases", "", "Mean erases of a block group in service.", |seen, text| {
        text.number(&[], seen.look.smart.erases_mean);
    }),
    gauge("wordline_most_block_erases", "", "Most erases of a block group in service.", |seen, text| {
        text.count(&[], seen.look.smart.erases_max.into());
    }),
    gauge(
        "wordline_endurance_used_ratio",
        "ratio",
        "Mean erases over the limit of the plan; absent if the plan has no limit.",
        |seen, text| {
            seen.look.smart.used_percent().into_iter().for_each(|percent| text.number(&[], percent / 100.0));
        },
    ),
    gauge("wordline_dead_dies", "", "Dies that have failed, as far as the firmware has noticed.", |seen, text| {
        text.count(&[], seen.look.smart.dead_dies.into())
    }),
    gauge("wordline_temperature_celsius", "celsius", "Temperature of the cells; absent if they have no physics.", |seen, text| {
        seen.look.temperature.into_iter().for_each(|celsius| text.number(&[], celsius.0));
    }),
    gauge("wordline_worn_out", "", "1: too few good blocks are left, and the drive takes no more writes.", |seen, text| {
        text.count(&[], seen.look.is_worn_out.into());
    }),
    gauge(
        "wordline_media_trouble",
        "",
        "1: the media files have an error, data is lost or refused, or the drive takes no more writes; ctl SOCKET media has the details.",
        |seen, text| {
            text.count(&[], seen.look.trouble.is_some().into());
        },
    ),
    gauge("wordline_faults", "", "Faults on demand in force.", |seen, text| text.count(&[], seen.look.faults as u64)),
    gauge("wordline_recordings", "", "Recordings under way.", |seen, text| text.count(&[], seen.look.recordings as u64)),
    counter("wordline_events", "", "Entries of the drive's event log.", |seen, text| text.count(&[], seen.look.log.1)),
];

/// All families of metrics of a served drive.
pub fn metrics() -> &'static [Family] {
    &FAMILIES
}
