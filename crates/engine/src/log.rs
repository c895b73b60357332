//! The event log: a running hash of everything that happened, and the last events for a post-mortem.

use wordline_units::{Attributes, Cause, FlashOp, HostOp, Nanos, Priority, Tolerance};

use crate::event::{Event, FlashEvent, StopKind};

/// Enough for a post-mortem, and little of a first-level cache.
const KEPT: usize = 16;

/// The identity of a run. Two runs with the same seed, plan and trace have the same hash on any machine.
#[derive(Clone, Debug)]
pub struct EventLog {
    hash: u64,
    count: u64,
    /// The last events as they were hashed, with their instants: to keep them whole cost more than to hash them.
    last: [(Nanos, [u64; 3]); KEPT],
}

impl Default for EventLog {
    fn default() -> Self {
        EventLog { hash: 0x9E37_79B9_7F4A_7C15, count: 0, last: [(Nanos::ZERO, [0; 3]); KEPT] }
    }
}

impl EventLog {
    /// Write down that `event` happened at `at`. Always inlined: where it is called, the kind of event is known.
    #[inline(always)]
    pub fn record(&mut self, at: Nanos, event: &Event) {
        if let Event::Stopped { how: StopKind::FixedTime, .. } = event {
            // The array's time says so already, and logs from before there were other stops are to be compared.
            return;
        }
        self.note(at, digest(event));
    }

    /// Write down that the operation of `flash` ended at `at`: the same as its event, without a copy of it.
    #[inline(always)]
    pub fn record_flash(&mut self, at: Nanos, flash: &FlashEvent) {
        self.note(at, digest_flash(flash));
    }

    #[inline(always)]
    fn note(&mut self, at: Nanos, words: [u64; 3]) {
        self.last[(self.count % KEPT as u64) as usize] = (at, words);
        self.count += 1;
        self.hash = mix(self.hash ^ at.0, words[0] ^ 0xA076_1D64_78BD_642F);
        self.hash = mix(self.hash ^ words[1], words[2] ^ 0xE703_7ED1_A0B4_28DB);
    }

    /// The hash of all events so far.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// How many events there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The last events, oldest first, as text for a panic message: what of them can be told from their digests.
    pub fn tail(&self) -> String {
        let start = self.count.saturating_sub(KEPT as u64);
        (start..self.count)
            .map(|number| {
                let (at, words) = self.last[(number % KEPT as u64) as usize];
                format!("{number}: {at} {}\n", tell(words))
            })
            .collect()
    }
}

/// What can be told of an event from its digest.
fn tell([first, second, third]: [u64; 3]) -> String {
    let part = |word: u64, from: u32, bits: u32| (word >> from & ((1 << bits) - 1)) as usize;
    let failed = |is_good: usize| if is_good == 1 { "" } else { ", failed" };
    match part(first, 0, 8) {
        ARRIVED => {
            let (request, op, sectors) = (part(first, 8, 32), HostOp::ALL[part(second, 0, 8)].name(), third);
            let reads = match part(second, 16, 8) {
                0 => String::new(),
                class => format!(", read latency {}", Tolerance::ALL[Tolerance::Default as usize - class].name()),
            };
            format!("request {request} arrived: {} {op} of {sectors} sectors{reads}", Priority::ALL[part(second, 8, 8)].name())
        }
        COMPLETED => format!("request {} completed{}", part(first, 8, 32), failed(part(first, 40, 1))),
        FLASH => {
            let (op, cause) = (FlashOp::ALL[part(first, 24, 4)].name(), Cause::ALL[part(first, 28, 4)].name());
            let (die, block, page) = (part(first, 8, 16), part(second, 32, 16), part(second, 0, 16));
            format!("{op} for {cause}, die {die} block {block} page {page}{}", failed(part(first, 48, 1)))
        }
        INVALIDATED => format!("{third} units of die {second} became stale"),
        RETIRED => format!("die {second} block {third} went out of service"),
        EXPOSED => format!("die {second} does not make block {third} unreadable"),
        AGAIN => format!("die {second} block {third}: a program is done again elsewhere"),
        STOPPED => {
            let (op, cause) = (FlashOp::ALL[part(first, 24, 4)].name(), Cause::ALL[part(first, 28, 4)].name());
            format!("{op} for {cause} was stopped on die {}", part(first, 8, 16))
        }
        HARMED => match part(first, 8, 8) {
            0 => format!("die {second} fails"),
            1 => format!("die {second} fails and falls silent"),
            2 => format!("plane {} of die {second} fails", part(first, 16, 8)),
            _ => format!("blocks {} to {} of plane {} of die {second} fail", part(third, 0, 32), part(third, 32, 32), part(first, 16, 8)),
        },
        LOST => format!("die {second} has lost {third} units that had to be moved"),
        SUSPECTED => format!("die {second} is suspected to have failed, after block {third}"),
        DIE_FAILED => format!("die {second} has failed"),
        UNITS_LOST => format!("{third} units were lost with die {second}"),
        UNITS_HEALED => format!("{third} units that were lost with die {second} are written or trimmed"),
        _ => "the drive takes no more writes".to_owned(),
    }
}

const ARRIVED: usize = 1;
const COMPLETED: usize = 2;
const FLASH: usize = 3;
const INVALIDATED: usize = 4;
const RETIRED: usize = 5;
const WORN_OUT: usize = 6;
const EXPOSED: usize = 7;
const AGAIN: usize = 8;
const LOST: usize = 9;
const STOPPED: usize = 10;
const SUSPECTED: usize = 11;
const DIE_FAILED: usize = 12;
const UNITS_LOST: usize = 13;
const UNITS_HEALED: usize = 14;
const HARMED: usize = 15;

#[inline(always)]
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

#[inline(always)]
fn digest_flash(flash: &FlashEvent) -> [u64; 3] {
    [
        FLASH as u64
            | u64::from(flash.die.0) << 8
            | (flash.op as u64) << 24
            | (flash.cause as u64) << 28
            | u64::from(flash.pages) << 32
            | u64::from(flash.ok) << 48
            | u64::from(flash.retries) << 56,
        u64::from(flash.block.0) << 32 | u64::from(flash.page.0) | u64::from(flash.host_units) << 16 | u64::from(flash.errors) << 48,
        flash.issued.0
            ^ flash.array.0.rotate_left(20)
            ^ flash.bus.0.rotate_left(40)
            ^ u64::from(flash.moved_units) << 48
            ^ u64::from(flash.stops_now).rotate_left(32),
    ]
}

/// Priority of a request, and how far above the default its tolerance is: nothing where it has none, as in logs from before there were tolerances.
#[inline(always)]
fn classes(attributes: Attributes) -> u64 {
    attributes.priority as u64 | (Tolerance::Default as u64 - attributes.tolerance as u64) << 8
}

#[inline(always)]
fn digest(event: &Event) -> [u64; 3] {
    match *event {
        Event::Arrived { request, op, attributes, sectors } => {
            [ARRIVED as u64 | u64::from(request.0) << 8, op as u64 | classes(attributes) << 8, u64::from(sectors)]
        }
        Event::Completed(done) => [
            COMPLETED as u64 | u64::from(done.request.0) << 8 | u64::from(done.ok) << 40,
            done.arrived.0 ^ done.sector << 32 ^ (done.op as u64) << 56,
            done.stages.die.0 ^ done.stages.channel.0.rotate_left(16) ^ done.stages.core.0.rotate_left(32) ^ u64::from(done.sectors) << 40,
        ],
        Event::Flash(ref flash) => digest_flash(flash),
        Event::Invalidated { die, units } => [INVALIDATED as u64, u64::from(die.0), u64::from(units)],
        Event::Retired { die, group } => [RETIRED as u64, u64::from(die.0), u64::from(group.0)],
        Event::Stopped { die, how, kind, cause, waited } => {
            [STOPPED as u64 | u64::from(die.0) << 8 | (kind as u64) << 24 | (cause as u64) << 28, how as u64, waited.0]
        }
        Event::Harmed { die, part } => {
            let [kind, plane, first, last] = part.numbers().map(u64::from);
            [HARMED as u64 | kind << 8 | plane << 16, die.0.into(), first | last << 32]
        }
        Event::WornOut => [WORN_OUT as u64, 0, 0],
        Event::Exposed { die, group } => [EXPOSED as u64, u64::from(die.0), u64::from(group.0)],
        Event::DataLost { die, units } => [LOST as u64, u64::from(die.0), u64::from(units)],
        Event::ProgrammedAgain { die, group } => [AGAIN as u64, u64::from(die.0), u64::from(group.0)],
        Event::DieSuspected { die, group } => [SUSPECTED as u64, u64::from(die.0), u64::from(group.0)],
        Event::DieFailed { die } => [DIE_FAILED as u64, u64::from(die.0), 0],
        Event::UnitsLost { die, units } => [UNITS_LOST as u64, u64::from(die.0), u64::from(units)],
        Event::UnitsHealed { die, units } => [UNITS_HEALED as u64, u64::from(die.0), u64::from(units)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_units::{Attributes, BlockId, ChannelId, DieId, PageId, RequestId};

    #[test]
    fn the_last_events_can_be_told_from_what_was_hashed() {
        let mut log = EventLog::default();
        let arrived =
            Event::Arrived { request: RequestId(70_000), op: HostOp::Write, attributes: Attributes::of(Priority::Low), sectors: 32 };
        let flash = FlashEvent {
            die: DieId(511),
            channel: ChannelId(3),
            op: FlashOp::Program,
            cause: Cause::Gc,
            block: BlockId(65_535),
            page: PageId(767),
            pages: 12,
            host_units: 48,
            moved_units: 0,
            padding_units: 0,
            issued: Nanos(5),
            array: Nanos(700_000),
            bus: Nanos(40_000),
            bus_end: Nanos(41_000),
            dram: Nanos(2_000),
            link: Nanos::ZERO,
            core: Nanos(100),
            ok: false,
            retries: 7,
            errors: 72,
            stops: 0,
            stops_now: 0,
            attributes: None,
        };
        for turn in 0..10 {
            log.record(Nanos(turn), &arrived);
            log.record(Nanos(turn), &Event::Flash(flash));
        }
        let tail = log.tail();
        assert_eq!(tail.lines().count(), KEPT);
        assert!(tail.starts_with("4: "), "{tail}");
        assert!(tail.contains("request 70000 arrived: low write of 32 sectors"), "{tail}");
        assert!(tail.contains("program for gc, die 511 block 65535 page 767, failed"), "{tail}");
    }

    #[test]
    fn stops_are_in_the_hash_but_those_in_the_fixed_time_of_a_die() {
        let stopped = |how| Event::Stopped { die: DieId(7), how, kind: FlashOp::Erase, cause: Cause::Gc, waited: Nanos(117_000) };
        let hash = |how| {
            let mut log = EventLog::default();
            log.record(Nanos(1), &stopped(how));
            (log.hash(), log.count(), log.tail())
        };
        let [fixed, at_step, now] = [StopKind::FixedTime, StopKind::AtStep, StopKind::Now].map(hash);
        assert_eq!((fixed.0, fixed.1), (EventLog::default().hash(), 0));
        assert!(at_step.0 != now.0 && at_step.0 != fixed.0);
        assert!(now.2.contains("erase for gc was stopped on die 7"), "{}", now.2);
    }
    #[test]
    fn a_tolerance_is_in_the_hash_and_its_absence_is_not() {
        let tail = |tolerance| {
            let mut log = EventLog::default();
            let attributes = Attributes::NONE.with_tolerance(tolerance);
            log.record(Nanos(1), &Event::Arrived { request: RequestId(1), op: HostOp::Hint, attributes, sectors: 8 });
            (log.hash(), log.tail())
        };
        let all = Tolerance::ALL.map(tail);
        assert!((0..4).all(|one| (0..one).all(|other| all[one].0 != all[other].0)), "{all:?}");
        assert!(all[2].1.contains("request 1 arrived: normal hint of 8 sectors, read latency longer"), "{}", all[2].1);
        assert!(!all[3].1.contains("latency"), "{}", all[3].1);
    }
}
