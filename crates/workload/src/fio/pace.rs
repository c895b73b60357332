//! Pace of a job: when its requests come.

use super::does::Does;
use super::given::{Given, fault, word};
use super::keys::{ASYNC_ENGINES, OTHER_ENGINES, SYNC_ENGINES};
use super::lines::{Entry, Fault};
use super::sizes::Sizes;
use super::values;

/// Most requests outstanding.
const DEPTH_MAX: u64 = 65_536;
/// Most requests in a second.
const RATE_MAX: f64 = 1e9;

/// Way in which a job reaches its storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    /// It waits for each request.
    Waits,
    /// It keeps several outstanding.
    GoesOn,
    /// It asks no drive for anything.
    Idle,
}

impl Engine {
    /// The engine of a job.
    pub(super) fn read(given: &Given<'_>) -> Result<Engine, Fault> {
        let Some(entry) = given.take("ioengine") else { return Ok(Engine::Waits) };
        let name = entry.value().split(':').next().unwrap_or_default();
        let name = word(entry, name, [SYNC_ENGINES, ASYNC_ENGINES, OTHER_ENGINES].into_iter().flatten().copied())?;
        if OTHER_ENGINES.contains(&name) {
            entry.refuse("its jobs ask no drive for anything");
            return Ok(Engine::Idle);
        }
        Ok(if SYNC_ENGINES.contains(&name) { Engine::Waits } else { Engine::GoesOn })
    }
}

/// The arrival of requests as a workload file has it.
pub(super) fn arrival(given: &Given<'_>, engine: Engine, does: Does, sizes: &Sizes) -> Result<String, Fault> {
    let waits = engine == Engine::Waits;
    if let Some(rate) = rate(given, does, sizes)? {
        let process = match given.take("rate_process") {
            Some(entry) => word(entry, entry.value(), ["linear", "poisson"].into_iter())?,
            None => "linear",
        };
        if let Some(entry) = given.own("iodepth") {
            entry.explain("not kept: requests come at the times of the rate, where fio holds them back while this many are outstanding");
        }
        if let Some(entry) = given.own("ioengine") {
            entry.explain("of no effect: requests come at the times of the rate, whatever is outstanding");
        }
        let process = if process == "poisson" { "poisson" } else { "constant" };
        return Ok(format!("{{ rate = \"{rate} /s\", process = \"{process}\" }}"));
    }
    let depth = given.count("iodepth", 1, DEPTH_MAX)?;
    if let Some(entry) = given.find("iodepth").filter(|_| waits && depth > 1) {
        let name = given.find("ioengine").map_or("the usual ioengine of fio, psync,", |entry| entry.value());
        entry.explain(format!("of no effect: {name} waits for each request"));
    }
    let depth = if waits { 1 } else { depth };
    batches(given, depth)?;
    Ok(format!("{{ queue_depth = {depth} }}"))
}

/// Requests in a second, where the file limits them.
fn rate(given: &Given<'_>, does: Does, sizes: &Sizes) -> Result<Option<f64>, Fault> {
    let mut least: Option<(f64, &Entry<'_>)> = None;
    for (key, requests_of) in [("rate_iops", 1.0), ("rate", 1.0 / sizes.mean())] {
        let Some(entry) = given.find(key) else { continue };
        let all = values::by_kind(entry.value()).map_err(|message| fault(entry, message))?;
        // Each kind has a rate of its own, and the mix holds: the kind that reaches its rate first decides.
        for kind in does.kinds().filter(|kind| !all[*kind].is_empty()) {
            let of_kind = values::number(all[kind], given.is_si()).map_err(|message| fault(entry, message))? as f64 * requests_of;
            let rate = of_kind * 100.0 / does.share(kind);
            if of_kind > 0.0 && least.is_none_or(|(least, _)| rate < least) {
                least = Some((rate, entry));
            }
        }
        entry.take();
    }
    let Some((rate, entry)) = least else { return Ok(None) };
    if rate > RATE_MAX {
        return Err(fault(entry, "at most 1000 million requests per second"));
    }
    if entry.key() == "rate" && !sizes.is_one() {
        entry.refuse("a rate in bytes has a counterpart for one size alone: requests of this mean size come in its time");
    }
    Ok(Some(rate))
}

/// Refuses requests that are brought or awaited several at a time.
fn batches(given: &Given<'_>, depth: u64) -> Result<(), Fault> {
    let usual = depth.to_string();
    let keys = [
        ("iodepth_batch", "1"),
        ("iodepth_batch_complete_min", "1"),
        ("iodepth_batch_complete_max", "1"),
        ("iodepth_low", usual.as_str()),
        ("serialize_overlap", "0"),
    ];
    for (key, neutral) in keys {
        let Some(entry) = given.find(key) else { continue };
        let is_neutral = entry.value().trim() == neutral || key == "iodepth_batch_complete_min" && entry.value().trim() == "0";
        let is_bound = key == "iodepth_batch_complete_max";
        if depth == 1 || is_neutral || is_bound {
            entry.explain("of no effect: each request comes as soon as there is room for it");
        } else if key == "serialize_overlap" {
            entry.refuse("requests that wait for others at the same place have no counterpart");
        } else {
            entry.refuse("requests that come several at a time have no counterpart: each comes as soon as there is room for it");
        }
    }
    Ok(())
}
