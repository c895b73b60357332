//! Does a life in leaps end where the whole life ends, whatever the number of its epochs?

use wordline_plan::Plan;
use wordline_report::{LifeEnd, LifetimeResult};
use wordline_runs::wear_out::{Ends, Pace, WearOut, wear_out};
use wordline_runs::{Load, RunError, Workload};
use wordline_units::Nanos;

/// A drive of 64 small blocks with physics.
const SMALL: [&str; 6] = [
    "mapping.over_provisioning=30 %",
    "geometry.blocks=64",
    "geometry.layers=4",
    "geometry.planes=1",
    "flash.channels=1",
    "flash.dies_per_channel=1",
];
const YEAR: Nanos = Nanos::from_millis(365 * 86_400_000);

fn plan(drive: &str, more: &[&str]) -> Plan {
    let settings: Vec<String> = SMALL.iter().chain(more).map(|&setting| setting.to_owned()).collect();
    Plan::load_set(drive, &settings).unwrap_or_else(|error| panic!("{error}"))
}

fn worn(plan: &Plan, asked: &WearOut) -> Result<LifetimeResult, RunError> {
    let load = Load::default();
    let workload = Workload::load("uniform-write", &load, &mut |line| panic!("{line}")).expect("it is built in");
    wear_out(plan, &workload, &load, asked, &mut ())
}

/// A life at ten drive writes a day whose data must be kept for a year at its end.
fn asked() -> WearOut {
    let ends = Ends { uncorrectable: true, kept: Some(YEAR), bad_blocks: None, years: None };
    WearOut { pace: Pace::Dwpd(10.0), ends, sample: 0, ..WearOut::default() }
}

/// Difference of two figures, relative to the first.
fn off(one: f64, other: f64) -> f64 {
    (other / one - 1.0).abs()
}

#[test]
fn lives_in_leaps_end_as_the_whole_life_does() {
    let plan = plan("pageftl", &[]);
    let whole = worn(&plan, &WearOut { leaps: false, ..asked() }).expect("it wears out");
    println!("whole: {} drive writes, P/E {:.0}, {}", whole.drive_writes, whole.cycles.mean, whole.reason);
    for epochs in [30, 60, 120] {
        let life = worn(&plan, &WearOut { epochs, ..asked() }).expect("it wears out");
        println!("{epochs}: {} drive writes, P/E {:.0}, WAF {:.3}, {}", life.drive_writes, life.cycles.mean, life.waf, life.reason);
        assert_eq!(life.end, whole.end);
    }
}
