//! Rest: a drive finishes its work, or says what work has no end.

use std::error::Error;
use std::fmt;

use wordline_engine::Observer;
use wordline_ftl::Firmware;
use wordline_units::{HostOp, HostRequest};

use super::inspect::is_worn_out;
use crate::machine::Machine;

/// Events in which any drive comes to rest, however small it is.
const EVENTS_LEAST: u64 = 1 << 22;
/// Events for each mapping unit of the flash: with five to a program and its read, the whole drive is rewritten six times.
const EVENTS_PER_UNIT: u64 = 64;
/// Pieces of work that a message names.
const NAMED: usize = 4;

/// A drive that goes on working without an end, although nothing is asked of it. Its text names the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restless(String);

impl fmt::Display for Restless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the drive does not come to rest: {}", self.0)
    }
}

impl Error for Restless {}

/// Lets the drive finish its work: it writes out the buffer and waits until no operation is under way. The host asks for a flush, which is logged as
/// one.
///
/// # Panics
///
/// If the drive does not come to rest: see [`Drive::try_settle`].
pub(crate) fn settle(machine: &mut Machine, observer: Option<&mut dyn Observer>) {
    try_settle(machine, observer).unwrap_or_else(|restless| panic!("{}", machine.post_mortem(&restless.to_string())));
}

/// Lets the drive finish its work as [`Drive::settle`] does. Events are shown to `observer` on the way: a drive that does not come to rest has more than fit
/// in memory.
///
/// # Errors
///
/// The drive has worked for as long as several rewrites of all that it holds take, and goes on.
pub(crate) fn try_settle(machine: &mut Machine, mut observer: Option<&mut dyn Observer>) -> Result<(), Restless> {
    let flash: u64 = machine.ftls().iter().map(|ftl| u64::from(ftl.layout().units_per_group) * ftl.layout().group_count() as u64).sum();
    let mut events = EVENTS_LEAST.saturating_add(flash.saturating_mul(EVENTS_PER_UNIT));
    machine.ftls_mut().iter_mut().for_each(|ftl| ftl.drain(true));
    let mut outcome = flush(machine, &mut events, &mut observer);
    if outcome.is_ok() && !machine.ftls().iter().all(Firmware::is_quiet) && !is_worn_out(machine) {
        // A write that still waited for room when the flush came was not covered by it.
        outcome = flush(machine, &mut events, &mut observer);
    }
    machine.ftls_mut().iter_mut().for_each(|ftl| ftl.drain(false));
    outcome
}

/// Shuts the drive down in order, with a last record in the journal. The next [`Drive::wake`] reports a clean start, if nothing is written in between.
/// No request may be under way.
pub(crate) fn go_down(machine: &mut Machine, observer: &mut dyn Observer) {
    settle(machine, Some(&mut *observer));
    let now = machine.now();
    for core in 0..machine.config().cores {
        machine.ftls_mut()[core as usize].go_down(now);
        machine.pump(now, core);
    }
    // A core that takes no more writes may keep what no die has room for, and still writes the record.
    let has_ended = |ftl: &Firmware| ftl.is_down() || (ftl.is_worn_out() && ftl.waits_for_timers_only());
    while !machine.ftls().iter().all(has_ended) {
        if !machine.step() {
            break;
        }
        machine.show_full(observer);
    }
}

/// Work that keeps the drive from resting, in the words of a message: requests of the host, then the work of each core. Empty: an image can be taken,
/// unless a die is still busy with a reset or a suspended operation.
pub(crate) fn unrest(machine: &Machine) -> Vec<String> {
    let requests = machine.host().outstanding();
    let waiting = (requests > 0).then(|| format!("{requests} requests of the host are not answered"));
    let of_cores = machine.ftls().iter().zip(0..).flat_map(|(ftl, core)| {
        ftl.unrest().into_iter().map(move |unrest| match unrest.die() {
            Some(die) => format!("{unrest} on die {}", machine.dies().die(core, die).0),
            None => unrest.to_string(),
        })
    });
    waiting.into_iter().chain(of_cores).collect()
}

/// The first pieces of work that keep the drive from resting, as one text.
pub(crate) fn told_unrest(machine: &Machine) -> String {
    let all = unrest(machine);
    let more = all.len().saturating_sub(NAMED);
    let told = all.into_iter().take(NAMED).collect::<Vec<_>>().join("; ");
    let told = match (told.is_empty(), more) {
        (true, _) => "a die has not ended its last operation".to_owned(),
        (false, 0) => told,
        (false, more) => format!("{told}; and {more} more"),
    };
    if is_worn_out(machine) { format!("it is worn out and takes no more writes, so that work is left: {told}") } else { told }
}

/// Serves a flush and all that is under way, in at most `events` events.
fn flush(machine: &mut Machine, events: &mut u64, observer: &mut Option<&mut dyn Observer>) -> Result<(), Restless> {
    let now = machine.now();
    machine.arrive(now, &HostRequest { at: now, ..HostRequest::new(HostOp::Flush, 0, 0) });
    loop {
        let is_served = machine.host().outstanding() == 0 && !machine.host().expects();
        // Data that no die has room for stays where it is, and timers would ring for ever.
        if is_served && machine.ftls().iter().all(|ftl| ftl.is_at_rest() || ftl.waits_for_timers_only()) {
            return Ok(());
        }
        if machine.next_at().is_none() {
            assert!(is_served, "{}", machine.post_mortem("nothing is due, yet requests are outstanding"));
            return Ok(());
        }
        if *events == 0 {
            return Err(Restless(told_unrest(machine)));
        }
        *events -= 1;
        machine.step();
        if let Some(observer) = observer {
            machine.show_full(*observer);
        }
    }
}

/// True if no request and no operation is under way and the buffer is empty.
pub(crate) fn is_quiet(machine: &Machine) -> bool {
    let host = machine.host();
    host.outstanding() == 0
        && !host.expects()
        && machine.ftls().iter().all(Firmware::is_quiet)
        && machine.dies().iter().all(|(_, chip)| chip.is_at_rest(machine.now()))
}
