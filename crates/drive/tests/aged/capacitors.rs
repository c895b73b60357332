//! Write buffers with capacitors, in virtual time: the waits that they spare.

use wordline_drive::{Pace, Protection, Watched};
use wordline_ftl::config::Acknowledge;
use wordline_units::{HostOp, HostRequest, Nanos};

use crate::small::{Shape, uniform};

fn drive(protection: Protection, acknowledge: Acknowledge) -> Watched {
    let mut config = Shape::default().config();
    (config.firmware.buffer.protection, config.firmware.buffer.acknowledge) = (protection, acknowledge);
    Watched::new(config, ())
}

/// Time that a drive takes for these requests, one after the other.
fn span_of(drive: &mut Watched, requests: &[(HostOp, bool)]) -> Nanos {
    let began = drive.now();
    let mut load = requests.iter().map(|&(op, fua)| {
        let sectors = if op == HostOp::Flush { 0 } else { 32 };
        HostRequest { fua, ..HostRequest::new(op, 64, sectors) }
    });
    drive.serve(&mut load, Pace::Closed { depth: 1 }, None);
    drive.now() - began
}

#[test]
fn with_capacitors_nobody_waits_for_a_program() {
    let program = Shape::default().config().sheet.timing.program[0];
    let write = [(HostOp::Write, false)];
    for requests in [&[(HostOp::Write, true)][..], &[(HostOp::Write, false), (HostOp::Flush, false)]] {
        let with = span_of(&mut drive(Protection::Capacitor, Acknowledge::Buffered), requests);
        let without = span_of(&mut drive(Protection::None, Acknowledge::Buffered), requests);
        assert_eq!(with, span_of(&mut drive(Protection::None, Acknowledge::Buffered), &write), "as a write that nobody waits for");
        assert!(without >= with + program, "{without} without, {with} with");
        // Whoever acknowledges what is programmed waits all the same.
        let through = span_of(&mut drive(Protection::Capacitor, Acknowledge::Programmed), requests);
        assert!(through >= with + program, "{through} written through, {with} buffered");
    }
}

#[test]
fn a_drive_that_settles_empties_its_buffer_all_the_same() {
    let mut drive = drive(Protection::Capacitor, Acknowledge::Buffered);
    drive.serve(&mut uniform(&Shape::default().config(), 1_000, 1), Pace::Closed { depth: 32 }, Some(501));
    span_of(&mut drive, &[(HostOp::Flush, false)]);
    let told = drive.image().expect_err("a flush leaves in the buffer what is in it").to_string();
    assert!(told.contains("units in the write buffer wait for a program"), "{told}");
    drive.settle();
    assert!(drive.image().is_ok());
    drive.audit().expect("sound");
}
