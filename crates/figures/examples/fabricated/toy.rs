//! A toy drive: events honest enough to pass every self-check, without any firmware.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use wordline_engine::{BlockState, BlockView, Completion, Event, FlashEvent, Stages};
use wordline_figures::{Interval, Scope};
use wordline_units::random::{Draw, Stream};
use wordline_units::{
    Attributes, BlockId, Bytes, Cause, ChannelId, DieId, FlashOp, GroupId, HostOp, JobId, Nanos, PageId, Priority, RequestId,
};

/// What to fabricate.
#[derive(Clone, Debug)]
pub(crate) struct Toy {
    /// The drive's name.
    pub(crate) name: &'static str,
    /// The seed of all random choices.
    pub(crate) seed: u64,
    /// Requests to complete.
    pub(crate) requests: u64,
    /// Of 100 requests, how many are reads and how many are trims; the rest write.
    pub(crate) mix: (u64, u64),
    /// Requests in flight.
    pub(crate) depth: u32,
    /// Channels, and dies on each.
    pub(crate) shape: (u16, u16),
    /// Block groups in a die.
    pub(crate) blocks: u32,
    /// Pages moved for each 10 pages that the host writes, once space runs out.
    pub(crate) moved: u64,
    /// The time of a program.
    pub(crate) program: Nanos,
    /// Of 100 requests, how many fail if they are writes. The first that does wears the drive out.
    pub(crate) failed: u64,
}

impl Default for Toy {
    fn default() -> Self {
        Toy {
            name: "toy",
            seed: 1,
            requests: 20_000,
            mix: (70, 0),
            depth: 32,
            shape: (4, 2),
            blocks: 96,
            moved: 12,
            program: Nanos::from_micros(660),
            failed: 0,
        }
    }
}

const UNIT: Bytes = Bytes::kib(4);
const PAGE: Bytes = Bytes::kib(16);
const BUS: Nanos = Nanos(13_700);

/// The toy drive at work.
pub(crate) struct Machine {
    toy: Toy,
    random: Draw,
    die_free: Vec<Nanos>,
    channel_free: Vec<Nanos>,
    events: Vec<(Nanos, Event)>,
    written: u64,
    erases: Vec<u32>,
    worn_out: bool,
}

impl Toy {
    /// The scope of the toy drive.
    pub(crate) fn scope(&self) -> Scope {
        Scope {
            dies: u32::from(self.shape.0 * self.shape.1),
            channels: u32::from(self.shape.0),
            cores: 1,
            unit: UNIT,
            page: PAGE,
            h_layer: None,
            queue_depth: Some(self.depth),
            interval: Interval::Auto { first: Nanos::from_micros(500), rows: 256 },
            read_limits: None,
        }
    }

    /// Everything that happens, in order of time.
    pub(crate) fn events(&self) -> (Vec<(Nanos, Event)>, Vec<BlockView>) {
        let dies = usize::from(self.shape.0 * self.shape.1);
        let mut machine = Machine {
            toy: self.clone(),
            random: Draw::new(self.seed, Stream::Mix, 0),
            die_free: vec![Nanos::ZERO; dies],
            channel_free: vec![Nanos::ZERO; usize::from(self.shape.0)],
            events: Vec::new(),
            written: 0,
            erases: vec![0; dies * self.blocks as usize],
            worn_out: false,
        };
        machine.run();
        let blocks = machine.blocks();
        // Stable: a completion stays before the arrival that it makes room for.
        machine.events.sort_by_key(|event| event.0);
        (machine.events, blocks)
    }
}

impl Machine {
    fn draw(&mut self, below: u64) -> u64 {
        self.random.below(below)
    }

    fn run(&mut self) {
        let mut ready: BinaryHeap<_> = (0..self.toy.depth).map(|slot| Reverse((Nanos(u64::from(slot) * 700), slot))).collect();
        for number in 0..self.toy.requests {
            let Some(Reverse((at, slot))) = ready.pop() else { break };
            let kind = self.draw(100);
            let (reads, trims) = self.toy.mix;
            let op = if kind < reads {
                HostOp::Read
            } else if kind < reads + trims {
                HostOp::Trim
            } else {
                HostOp::Write
            };
            let priority = if number % 16 == 0 { Priority::High } else { Priority::Normal };
            let (request, sectors) = (RequestId(slot), if self.draw(3) == 0 { 8 } else { 32 });
            self.events.push((at, Event::Arrived { request, op, attributes: Attributes::of(priority), sectors }));
            let stages = match op {
                HostOp::Read => self.read(at),
                HostOp::Write => self.write(at),
                HostOp::Trim | HostOp::Flush | HostOp::Hint => Stages { core: Nanos(2_500 + self.draw(400)), ..Stages::default() },
            };
            let end = at + stages.total();
            let done = Completion {
                request,
                op,
                attributes: Attributes::of(priority),
                sectors,
                sector: self.draw(1 << 24) * 8,
                arrived: at,
                stages,
                core: Nanos::ZERO,
                dram: Nanos::ZERO,
                ok: op != HostOp::Write || number % 100 >= self.toy.failed,
                for_failure: false,
                blank: 0,
                die: None,
                job: JobId(0),
            };
            self.events.push((end, Event::Completed(done)));
            if !done.ok && !std::mem::replace(&mut self.worn_out, true) {
                self.events.push((end, Event::WornOut));
            }
            ready.push(Reverse((end, slot)));
        }
    }

    /// An operation that works on the die first and then moves data, or the other way round; returns (wait, bus wait + transfer, end).
    fn operate(
        &mut self,
        from: Nanos,
        die: usize,
        op: FlashOp,
        cause: Cause,
        array: Nanos,
        units: (u16, u16, u16),
    ) -> (Nanos, Nanos, Nanos) {
        let channel = die % usize::from(self.toy.shape.0);
        let issued = from.max(self.die_free[die]);
        let moves = op == FlashOp::Read || op == FlashOp::Program;
        let bus = if moves { BUS } else { Nanos::ZERO };
        let (end, moving);
        if op == FlashOp::Read {
            let start = (issued + array).max(self.channel_free[channel]);
            end = start + bus;
            moving = end - (issued + array);
            self.channel_free[channel] = end;
        } else {
            let start = if moves { issued.max(self.channel_free[channel]) } else { issued };
            moving = start + bus - issued;
            end = start + bus + array;
            if moves {
                self.channel_free[channel] = start + bus;
            }
        }
        self.die_free[die] = end;
        let block = BlockId(self.draw(u64::from(self.toy.blocks)) as u32);
        let flash = FlashEvent {
            die: DieId(die as u16),
            channel: ChannelId(channel as u16),
            op,
            cause,
            block,
            page: PageId(0),
            pages: 1,
            host_units: units.0,
            moved_units: units.1,
            padding_units: units.2,
            issued,
            array,
            bus,
            bus_end: end,
            dram: Nanos(bus.0 / 8),
            link: Nanos::ZERO,
            core: Nanos(900),
            ok: true,
            retries: 0,
            errors: 0,
            stops: 0,
            stops_now: 0,
            attributes: None,
        };
        if op == FlashOp::Erase {
            self.erases[die * self.toy.blocks as usize + block.0 as usize] += 1;
        }
        self.events.push((end, Event::Flash(flash)));
        (issued.saturating_sub(from), moving, end)
    }

    fn read(&mut self, at: Nanos) -> Stages {
        let (core, dram, ecc) = (Nanos(1_800 + self.draw(600)), Nanos(400), Nanos(4_000 + self.draw(2_000)));
        let array = Nanos(45_000 + self.draw(3) * 12_000);
        // Some dies are more popular than others.
        let die = (self.draw(self.die_free.len() as u64) * (4 + self.draw(5)) / 8) as usize;
        let (die_wait, channel, _) = self.operate(at + core, die, FlashOp::Read, Cause::Host, array, (0, 0, 0));
        Stages { core, dram, ecc, die_wait, die: array, channel, ..Stages::default() }
    }

    fn write(&mut self, at: Nanos) -> Stages {
        let (core, dram) = (Nanos(2_000 + self.draw(500)), Nanos(3_200));
        let die = (self.written % self.die_free.len() as u64) as usize;
        self.written += 1;
        let program = self.toy.program;
        let padding = u16::from(self.written.is_multiple_of(40));
        let (wait, ..) = self.operate(at + core, die, FlashOp::Program, Cause::Host, program, (3, 0, padding));
        // Space runs out after the first fifth of the run.
        if self.written * 100 > self.toy.requests * 6 && self.draw(10) < self.toy.moved {
            for _ in 0..self.toy.moved.div_ceil(10) {
                let cause = if self.draw(12) == 0 { Cause::Wear } else { Cause::Gc };
                self.operate(at, die, FlashOp::Read, cause, Nanos(57_000), (0, 0, 0));
                self.operate(at, die, FlashOp::Program, cause, program, (0, 3, 0));
            }
            if self.draw(12) == 0 {
                self.operate(at, die, FlashOp::Erase, Cause::Gc, Nanos(3_500_000), (0, 0, 0));
            }
        }
        // The buffer hides the program until it is full.
        let buffer = wait.saturating_sub(Nanos::from_millis(4));
        Stages { core, dram, buffer, ..Stages::default() }
    }

    fn blocks(&mut self) -> Vec<BlockView> {
        let mut views = Vec::new();
        for die in 0..self.die_free.len() {
            for block in 0..self.toy.blocks {
                let state = match (self.draw(200), block % 31) {
                    (0, _) => BlockState::Bad,
                    (1..14, _) => BlockState::Free,
                    (_, 7) => BlockState::Active,
                    _ => BlockState::Closed,
                };
                let valid = match state {
                    BlockState::Free | BlockState::Bad => 0,
                    BlockState::Active => 200,
                    BlockState::Closed => 1_024 - (self.draw(32) * self.draw(32)) as u32,
                };
                let erases = 300 + self.erases[die * self.toy.blocks as usize + block as usize] + (self.draw(12) + self.draw(12)) as u32;
                views.push(BlockView { die: DieId(die as u16), group: GroupId(block), state, valid, capacity: 1_024, erases });
            }
        }
        views
    }
}
