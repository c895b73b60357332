//! Does a life in leaps end where the whole life ends, whatever the number of its epochs?

use wordline_figures::{LifeEnd, LifetimeResult};
use wordline_plan::Plan;
use wordline_runs::wear_out::{Ends, Leaps, Pace, WearOut, wear_out};
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
    worn_by("uniform-write", plan, asked)
}

fn worn_by(workload: &str, plan: &Plan, asked: &WearOut) -> Result<LifetimeResult, RunError> {
    let load = Load::default();
    let workload = Workload::load(workload, &load, &mut |line| panic!("{line}")).expect("it is built in");
    wear_out(plan, &workload, &load, asked, &mut ())
}

/// A life at ten drive writes a day, until blocks fail at their limit of erases.
fn limited() -> WearOut {
    let ends = Ends { uncorrectable: false, kept: None, bad_blocks: Some(0.025), years: None };
    WearOut { pace: Pace::Dwpd(10.0), ends, sample: 0, ..WearOut::default() }
}

/// Difference of two figures, relative to the first.
fn off(one: f64, other: f64) -> f64 {
    (other / one - 1.0).abs()
}

#[test]
fn lives_in_leaps_end_as_the_whole_life_does() {
    let plan = plan("pageftl", &["faults.endurance=1000", "mapping.spare_blocks=4", "free_block.key=erases"]);
    let whole = worn(&plan, &WearOut { leaps: Leaps::None, ..limited() }).expect("it wears out");
    println!("whole: {} drive writes, P/E {:.0}, WAF {:.3}, {}", whole.drive_writes, whole.cycles.mean, whole.waf, whole.reason);
    for epochs in [30, 60, 120] {
        let life = worn(&plan, &WearOut { epochs, ..limited() }).expect("it wears out");
        println!("{epochs}: {} drive writes, P/E {:.0}, WAF {:.3}, {}", life.drive_writes, life.cycles.mean, life.waf, life.reason);
        assert_eq!(life.end, whole.end);
        assert!(off(whole.waf, life.waf) < 0.01);
        assert!(off(whole.drive_writes, life.drive_writes) < 0.02 && off(whole.cycles.mean, life.cycles.mean) < 0.03);
    }
    let quick = worn(&plan, &WearOut { leaps: Leaps::Growing, ..limited() }).expect("it wears out");
    println!("quick: {} drive writes, P/E {:.0}, WAF {:.3}", quick.drive_writes, quick.cycles.mean, quick.waf);
    assert!(off(whole.drive_writes, quick.drive_writes) < 0.04 && quick.resolution < 0.02, "resolution {}", quick.resolution);
    assert_eq!(whole.leaps_off, 0.0, "nothing is skipped");
    for life in [quick, worn(&plan, &limited()).expect("it wears out")] {
        let known_within = life.resolution + life.leaps_off;
        assert!(off(whole.drive_writes, life.drive_writes) <= known_within, "{known_within}");
    }
}

/// Leaps bring all blocks to one level. Levelling itself lifts the coldest and does not hold the hottest back, so that a whole life ends a little sooner.
#[test]
fn lives_of_levelled_drives_in_leaps_are_a_little_longer_than_the_whole_life() {
    let settings = ["faults.endurance=2000", "mapping.spare_blocks=4", "free_block.key=erases", "free_block.gap=20"];
    let plan = plan("pageftl", &settings);
    let whole = worn(&plan, &WearOut { leaps: Leaps::None, ..limited() }).expect("it wears out");
    println!("whole: {} drive writes, P/E {:.0}, WAF {:.3}, {}", whole.drive_writes, whole.cycles.mean, whole.waf, whole.reason);
    for leaps in [Leaps::Even, Leaps::Growing] {
        let life = worn(&plan, &WearOut { leaps, epochs: 30, ..limited() }).expect("it wears out");
        println!("{leaps:?}: {} drive writes, P/E {:.0}, WAF {:.3}, {}", life.drive_writes, life.cycles.mean, life.waf, life.reason);
        let longer = life.drive_writes / whole.drive_writes - 1.0;
        assert!(longer.abs() <= life.resolution + life.leaps_off, "{longer} is within what is told");
        assert!(off(whole.waf, life.waf) < 0.03 && (-0.02..0.08).contains(&longer), "longer by {longer}");
    }
}

/// Most blocks hold data that is hardly written, and no epoch erases them. Levelling uses them all the same, and so do leaps.
#[test]
fn lives_of_levelled_drives_with_cold_data_in_leaps_are_as_long_as_the_whole_life() {
    let settings = ["faults.endurance=600", "mapping.spare_blocks=4", "free_block.key=erases", "free_block.gap=60"];
    let plan = plan("pageftl", &settings);
    let file = std::env::temp_dir().join(format!("wordline-cold-{}.toml", std::process::id()));
    let text = "name = \"cold\"\n[[phases]]\nname = \"write\"\nbytes = \"200 %\"\nmix = { write = \"100 %\" }\nsize = \"16 KiB\"\n\
                address = { pattern = \"hot-cold\", hot = \"30 %\", traffic = \"100 %\" }\narrival = { queue_depth = 32 }\n";
    std::fs::write(&file, text).expect("there is room");
    let life = |leaps: Leaps, plan: &Plan| {
        let life = worn_by(file.to_str().expect("a name"), plan, &WearOut { leaps, epochs: 30, ..limited() }).expect("it wears out");
        println!("{leaps:?}: {} drive writes, P/E {:?}, WAF {:.3}, {}", life.drive_writes, life.cycles, life.waf, life.reason);
        life.drive_writes
    };
    let whole = life(Leaps::None, &plan);
    for leaps in [Leaps::Even, Leaps::Growing] {
        let longer = life(leaps, &plan) / whole - 1.0;
        assert!((-0.03..0.12).contains(&longer), "longer by {longer}");
    }
    let unlevelled = self::plan("pageftl", &settings[..3]);
    assert!(life(Leaps::Even, &unlevelled) < 0.9 * whole, "what levelling brings");
    std::fs::remove_file(&file).expect("it was written");
}

#[test]
fn drives_come_in_the_same_order_by_leaps() {
    let settings = ["faults.endurance=300", "mapping.spare_blocks=4", "free_block.key=erases"];
    // Their whole lives differ by far more than a life in leaps is off.
    let more = ["gc.victim=greedy", "gc.victim=random", "mapping.over_provisioning=20 %"];
    let drives = more.map(|setting| plan("pageftl", &[&settings[..], &[setting]].concat()));
    let order = |leaps: Leaps| {
        let writes = drives.each_ref().map(|plan| worn(plan, &WearOut { leaps, ..limited() }).expect("it wears out").drive_writes);
        let mut order = [0, 1, 2];
        order.sort_by(|&a, &b| writes[a].total_cmp(&writes[b]));
        println!("{more:?} with leaps {leaps:?}: {writes:?} drive writes");
        order
    };
    let whole = order(Leaps::None);
    assert_eq!(order(Leaps::Even), whole);
    assert_eq!(order(Leaps::Growing), whole);
}

#[test]
fn data_that_must_be_kept_for_a_year_ends_a_life_before_data_that_need_not() {
    let plan = plan("pageftl", &["faults.endurance=20000"]);
    let life = |kept: Option<Nanos>| {
        let ends = Ends { uncorrectable: true, kept, bad_blocks: Some(0.025), years: None };
        worn(&plan, &WearOut { ends, epochs: 20, ..limited() }).expect("it wears out")
    };
    let (kept, free) = (life(Some(YEAR)), life(None));
    assert_eq!(kept.end, LifeEnd::KeptData, "{}", kept.reason);
    assert_ne!(free.end, LifeEnd::KeptData, "{}", free.reason);
    // The bench has lifetimes of 7.9K to 22K cycles for the chip's blocks, by the weakest codeword after a year (000 figure 3.11).
    assert!((4_000.0..12_000.0).contains(&kept.cycles.mean), "{}", kept.cycles.mean);
    assert!(kept.drive_writes < free.drive_writes);
}

#[test]
fn a_drive_without_wear_is_refused() {
    let plan = plan("pageftl", &["cells.physics=false"]);
    assert!(matches!(worn(&plan, &limited()), Err(RunError::NoWear(name)) if name == "pageftl"));
}

#[test]
fn a_life_has_one_temperature() {
    let plan = plan("pageftl", &["cells.temperature=30 C, 55 C from 2 d"]);
    assert!(matches!(worn(&plan, &limited()), Err(RunError::ChangingWarmth(name)) if name == "pageftl"));
}
