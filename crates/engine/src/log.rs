//! The event log: a running hash of everything that happened, and the last events for a post-mortem.

use wordline_units::Nanos;

use crate::event::Event;

/// Enough for a post-mortem, and little of a first-level cache.
const KEPT: usize = 16;

/// The identity of a run. Two runs with the same seed, plan and trace have the same hash on any machine.
#[derive(Clone, Debug)]
pub struct EventLog {
    hash: u64,
    count: u64,
    last: [Option<(Nanos, Event)>; KEPT],
}

impl Default for EventLog {
    fn default() -> Self {
        EventLog { hash: 0x9E37_79B9_7F4A_7C15, count: 0, last: [None; KEPT] }
    }
}

impl EventLog {
    /// Write down that `event` happened at `at`. Always inlined: where it is called, the kind of event is known.
    #[inline(always)]
    pub fn record(&mut self, at: Nanos, event: &Event) {
        self.last[(self.count % KEPT as u64) as usize] = Some((at, *event));
        self.count += 1;
        let words = digest(event);
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

    /// The last events, oldest first, as text for a panic message.
    pub fn tail(&self) -> String {
        let start = self.count.saturating_sub(KEPT as u64);
        (start..self.count)
            .filter_map(|number| self.last[(number % KEPT as u64) as usize].map(|(at, event)| format!("{number}: {at} {event:?}\n")))
            .collect()
    }
}

#[inline(always)]
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

#[inline(always)]
fn digest(event: &Event) -> [u64; 3] {
    match *event {
        Event::Arrived { request, op, priority, sectors } => {
            [1 | u64::from(request.0) << 8, op as u64 | (priority as u64) << 8, u64::from(sectors)]
        }
        Event::Completed(done) => [
            2 | u64::from(done.request.0) << 8 | u64::from(done.ok) << 40,
            done.arrived.0 ^ done.sector << 32 ^ (done.op as u64) << 56,
            done.stages.die.0 ^ done.stages.channel.0.rotate_left(16) ^ done.stages.core.0.rotate_left(32) ^ u64::from(done.sectors) << 40,
        ],
        Event::Flash(flash) => [
            3 | u64::from(flash.die.0) << 8
                | (flash.op as u64) << 24
                | (flash.cause as u64) << 28
                | u64::from(flash.pages) << 32
                | u64::from(flash.ok) << 48,
            (u64::from(flash.block.0) << 32 | u64::from(flash.page.0) | u64::from(flash.host_units) << 16)
                ^ u64::from(flash.errors) << 40
                ^ u64::from(flash.retries) << 56,
            flash.issued.0 ^ flash.array.0.rotate_left(20) ^ flash.bus.0.rotate_left(40) ^ u64::from(flash.moved_units) << 48,
        ],
        Event::Invalidated { die, units } => [4, u64::from(die.0), u64::from(units)],
        Event::Retired { die, block } => [5, u64::from(die.0), u64::from(block.0)],
        Event::WornOut => [6, 0, 0],
        Event::Exposed { die, block } => [7, u64::from(die.0), u64::from(block.0)],
        Event::ProgrammedAgain { die, block } => [8, u64::from(die.0), u64::from(block.0)],
    }
}
