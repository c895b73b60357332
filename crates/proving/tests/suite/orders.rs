//! Is an operation a whole value: does everything that belongs to it come with it, and nothing of another?

use wordline_flash::{Operation, OperationKind, Origin, Report, Spans, Status};
use wordline_ftl::config::{Acknowledge, BufferConfig};
use wordline_ftl::driver::{self, Driver};
use wordline_ftl::{Acknowledgement, Carried, Config, Firmware, Request};
use wordline_proving::shape::{firmware, sheet};
use wordline_units::{Attributes, HostOp, Lpn, Nanos};

/// A core whose operations stay under way until a test ends them.
struct Bench {
    ftl: Firmware,
    ordered: Vec<Operation>,
    done: Vec<Acknowledgement>,
}

impl Driver for Bench {
    fn core(&mut self) -> &mut Firmware {
        &mut self.ftl
    }

    fn carry_out(&mut self, operation: &Operation) {
        self.ordered.push(*operation);
    }

    fn acknowledged(&mut self, done: Acknowledgement) {
        self.done.push(done);
    }
}

const ARRAY: Spans = Spans { die: Nanos::from_micros(700), channel: Nanos::from_micros(30), ecc: Nanos::ZERO, link: Nanos::ZERO };

impl Bench {
    fn new(acknowledge: Acknowledge) -> Bench {
        let config = firmware(sheet(16, 16), 2, 128);
        let config = Config { buffer: BufferConfig { acknowledge, ..config.buffer }, ..config };
        Bench { ftl: Firmware::new(config), ordered: Vec::new(), done: Vec::new() }
    }

    /// Ask for `op` on `units` units from `lpn`; returns how many units became stale.
    fn ask(&mut self, op: HostOp, lpn: u32, units: u32) -> u32 {
        let request = Request { id: lpn, op, lpn, units, skip_head: 0, skip_tail: 0, attributes: Attributes::NONE, fua: false };
        let deeds = self.ftl.submit(Nanos::ZERO, request);
        driver::converse(self);
        deeds.invalidated
    }

    /// End the oldest operation; returns how many units became stale by it.
    fn end(&mut self) -> u32 {
        let operation = self.ordered.remove(0);
        let report = Report { spans: ARRAY, ..Report::plain(operation.tag, operation.die, Status::Good, &[Lpn(u32::MAX)]) };
        let deeds = driver::ended(&mut self.ftl, Nanos::ZERO, &report);
        driver::converse(self);
        deeds.invalidated
    }
}

#[test]
fn is_what_a_program_brings_lent_until_its_report() {
    let mut bench = Bench::new(Acknowledge::Programmed);
    bench.ask(HostOp::Write, 7, 2);
    let programs = bench.ordered.clone();
    assert_eq!(programs.len(), 2, "one on each die");
    for program in &programs {
        let OperationKind::Program { origin, is_set, .. } = program.kind else { panic!("{program:?}") };
        assert_eq!((origin, is_set), (Origin { host: 1, moved: 0, padding: 0 }, false));
    }
    // The other die's program comes and goes meanwhile.
    bench.end();
    bench.ask(HostOp::Write, 40, 1);
    let load = bench.ftl.load(programs[1].die, programs[1].tag);
    assert_eq!((load.oob, load.settings), (&[Lpn(8)][..], None));
    let units: Vec<Carried> = load.units().collect();
    assert!(matches!(units[..], [Carried::Buffered { .. }]), "{units:?}");
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "is no program")]
fn is_the_load_of_another_die_refused() {
    let mut bench = Bench::new(Acknowledge::Programmed);
    bench.ask(HostOp::Write, 0, 2);
    bench.ftl.load(bench.ordered[0].die, bench.ordered[1].tag);
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "is no program")]
fn is_the_load_of_a_read_refused() {
    let mut bench = Bench::new(Acknowledge::Programmed);
    bench.ask(HostOp::Write, 0, 1);
    bench.end();
    bench.ask(HostOp::Read, 0, 1);
    bench.ftl.load(bench.ordered[0].die, bench.ordered[0].tag);
}

#[test]
fn does_a_request_know_what_the_operation_took_that_released_it() {
    let mut bench = Bench::new(Acknowledge::Programmed);
    bench.ask(HostOp::Write, 3, 1);
    assert!(bench.done.is_empty(), "it waits for its program");
    bench.end();
    assert_eq!(bench.done.pop().expect("it is programmed").released_by, Some(ARRAY));
    // No report stands between the one before and these: what is in the buffer, and what was never written.
    bench.ask(HostOp::Read, 90, 1);
    assert_eq!(bench.done.pop().expect("there is nothing to read").released_by, None);
    let mut bench = Bench::new(Acknowledge::Buffered);
    bench.ask(HostOp::Write, 3, 1);
    assert_eq!(bench.done.pop().expect("the buffer has it").released_by, None);
}

#[test]
fn are_stale_units_told_by_the_call_that_made_them_so() {
    let mut bench = Bench::new(Acknowledge::Programmed);
    assert_eq!(bench.ask(HostOp::Write, 3, 1), 0);
    assert_eq!(bench.end(), 0, "it was never written before");
    assert_eq!(bench.ask(HostOp::Write, 3, 1), 0, "the old data is there until the new is");
    assert_eq!(bench.end(), 1);
    assert_eq!(bench.ask(HostOp::Trim, 0, 8), 1);
    assert_eq!(bench.ask(HostOp::Trim, 0, 8), 0);
}
