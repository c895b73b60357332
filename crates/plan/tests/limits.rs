//! A plan that is just allowed makes a drive that works: filled to the last unit and overwritten at random, it serves everything and its books are right.

use wordline_drive::{Pace, Watched};
use wordline_plan::Plan;
use wordline_units::random::{Draw, Stream};
use wordline_units::{HostOp, HostRequest};

const SMALL: &str = "inherit = \"pageftl\"\n[geometry]\nblocks = 24\nlayers = 2\n[flash]\ndies_per_channel = 2\n[mapping]\nover_provisioning = \"60 %\"\n[buffer]\nsize = \"1 MiB\"\n";

fn small() -> Plan {
    Plan::parse("small.toml", SMALL).unwrap_or_else(|error| panic!("{error}"))
}

/// The plan with as much exported as it allows, read off the message that says so.
fn largest(plan: &Plan, settings: &[&str]) -> Plan {
    let over_full = [settings, &["mapping.over_provisioning=0 %"]].concat();
    let told = plan.override_keys(&over_full).expect_err("over-full").to_string();
    let size = told.split("can show is ").nth(1).and_then(|rest| rest.split(',').next()).unwrap_or_else(|| panic!("{told}"));
    let capacity = format!("mapping.capacity={size}");
    plan.override_keys(&[settings, &[capacity.as_str()]].concat()).unwrap_or_else(|error| panic!("{error}"))
}

fn write(sector: u64, sectors: u32) -> HostRequest {
    HostRequest::new(HostOp::Write, sector, sectors)
}

#[test]
fn the_fullest_drive_there_may_be_still_reclaims() {
    let small = small();
    let cases: &[&[&str]] = &[
        &[],
        &["mapping.unit=4 KiB"],
        &["gc.start=2", "gc.floor=1"],
        &["gc.victim=fifo"],
        &["gc.preemptible=true"],
        &["gc.scheduler=paced"],
        &["gc.scheduler=paced", "gc.start=2", "gc.floor=1"],
        &["geometry.planes=2", "geometry.blocks=12", "mapping.unit=4 KiB"],
        &["capabilities.program_scope=wordline", "timing.t_program_wordline=700 us", "mapping.unit=4 KiB"],
        &["buffer.acknowledge=programmed", "schedule.linger=none"],
        &["capabilities.copyback=true", "techniques.plain-copyback.on=true", "mapping.unit=4 KiB"],
        &["faults.factory_bad=2 %", "mapping.spare_blocks=3"],
        &["controller.cores=2", "controller.stripe=64 KiB"],
    ];
    for settings in cases {
        let plan = largest(&small, settings);
        let config = plan.build();
        let sectors_per_unit = (config.firmware.unit.0 / 512) as u32;
        let units = config.exported_units;
        let mut drive = Watched::new(config, ());
        let fill = units.div_ceil(8);
        let mut load = (0..fill).map(|run| {
            let first = run * 8;
            write(first * u64::from(sectors_per_unit), sectors_per_unit * (units - first).min(8) as u32)
        });
        let closed = Pace::Closed { depth: 16 };
        assert_eq!(drive.serve(&mut load, closed, None), fill, "{settings:?}: filled");
        let mut draw = Draw::new(1, Stream::Address, 0);
        let overwrites = 10 * units;
        let mut load = (0..overwrites).map(|_| write(draw.below(units) * u64::from(sectors_per_unit), sectors_per_unit));
        assert_eq!(drive.serve(&mut load, closed, None), overwrites, "{settings:?}: overwritten");
        drive.settle();
        drive.audit().unwrap_or_else(|error| panic!("{settings:?}: {error}"));
        assert!(!drive.is_worn_out(), "{settings:?}");
    }
}
