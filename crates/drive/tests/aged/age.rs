//! Ageing without timing.

use wordline_cells::Faults;
use wordline_drive::Watched;
use wordline_engine::{Event, Observer};
use wordline_flash::ProgramScope;
use wordline_ftl::techniques::{Choice, read_disturb_refresh};
use wordline_units::{Bytes, FlashOp, HostOp, Nanos};

use crate::serve;
use crate::small::{Shape, uniform};

/// Counts programmed units by origin.
#[derive(Debug, Default)]
struct Counts([u64; 3]);

impl Observer for Counts {
    fn observe(&mut self, _: Nanos, event: &Event) {
        if let Event::Flash(flash) = event
            && flash.op == FlashOp::Program
        {
            for (count, units) in self.0.iter_mut().zip([flash.host_units, flash.moved_units, flash.padding_units]) {
                *count += u64::from(units);
            }
        }
    }
}

#[test]
fn ageing_takes_no_time_and_leaves_a_quiet_and_sound_drive() {
    let shapes = [
        Shape::default(),
        Shape { cores: 2, ..Shape::default() },
        Shape { planes: 2, unit: Bytes::kib(4), ..Shape::default() },
        Shape { scope: ProgramScope::Wordline, planes: 2, unit: Bytes::kib(4), cores: 2, preemptible: true, ..Shape::default() },
        Shape { faults: Faults { program_fail: 1e-4, erase_fail: 1e-3, ..Faults::default() }, ..Shape::default() },
    ];
    for shape in shapes {
        let mut drive = shape.drive();
        drive.fill(0.9);
        let span = drive.config().exported_units * 9 / 10;
        let aged = drive.age(&mut uniform(drive.config(), span, 3), 2 * span);
        assert_eq!(aged.requests, 2 * span, "{shape:?}");
        assert_eq!((drive.now(), drive.log().count()), (Nanos::ZERO, 0));
        assert!(drive.is_quiet());
        drive.audit().unwrap_or_else(|problem| panic!("{shape:?}: {problem}"));
        serve(&mut drive, &mut uniform(&shape.config(), span, 4), span / 4);
        drive.audit().unwrap_or_else(|problem| panic!("{shape:?}, served after: {problem}"));
    }
}

#[test]
fn reads_trims_flushes_and_techniques_go_through_the_same_doors() {
    let mut config = Shape { unit: Bytes::kib(4), planes: 2, ..Shape::default() }.config();
    config.firmware.techniques =
        vec![Choice::ReadDisturbRefresh(read_disturb_refresh::Params::by_reads(200)), Choice::ReadPreemption, Choice::PlainCopyback];
    let span = config.exported_units * 4 / 5;
    let mut drive = Watched::new(config.clone(), ());
    drive.fill(0.8);
    let mut load = uniform(&config, span - 4, 9).enumerate().map(|(index, request)| {
        let op = [HostOp::Write, HostOp::Read, HostOp::Write, HostOp::Trim, HostOp::Read, HostOp::Flush][index % 6];
        // Whole and partial units, inside one unit and over several.
        let sectors = if op == HostOp::Flush { 0 } else { 1 + (index as u32 * 7) % 24 };
        wordline_units::HostRequest { op, sectors, sector: request.sector + index as u64 % 8, ..request }
    });
    let aged = drive.age(&mut load, 60_000);
    assert_eq!(aged.requests, 60_000);
    assert!(aged.page_reads > 0 && aged.erases > 0);
    drive.audit().unwrap();
}

#[test]
fn an_aged_drive_wears_like_a_timed_one() {
    for shape in [Shape { spare: 0.1, ..Shape::default() }, Shape { spare: 0.2, preemptible: true, cores: 2, ..Shape::default() }] {
        let config = shape.config();
        let span = config.exported_units;
        let (mut fast, mut timed) = (shape.drive(), Watched::new(config.clone(), Counts::default()));
        fast.fill(1.0);
        timed.fill(1.0);
        fast.age(&mut uniform(&config, span, 5), 4 * span);
        let aged = fast.age(&mut uniform(&config, span, 6), span);
        serve(&mut timed, &mut uniform(&config, span, 5), 4 * span);
        timed.observer = Counts::default();
        serve(&mut timed, &mut uniform(&config, span, 6), span);
        let [host, moved, padding] = timed.observer.0;
        let waf = (host + moved + padding) as f64 / host as f64;
        assert!((aged.waf() / waf - 1.0).abs() < 0.02, "{shape:?}: WAF {} aged fast, {waf} in time", aged.waf());
    }
}

#[test]
fn a_drive_that_wears_out_while_ageing_stops() {
    let shape = Shape { faults: Faults { endurance: Some(5), ..Faults::default() }, ..Shape::default() };
    let mut drive = shape.drive();
    drive.fill(1.0);
    let span = drive.config().exported_units;
    let aged = drive.age(&mut uniform(&shape.config(), span, 3), 100 * span);
    assert!(drive.is_worn_out());
    assert!(aged.requests < 100 * span);
}
