//! Does a life of reads have the rewrites and the long reads that its number of reads brings, in whatever steps it goes?

use wordline_figures::ReadLifeResult;
use wordline_plan::Plan;
use wordline_runs::read_out::{ReadOut, read_out};
use wordline_runs::{Load, Reads, Workload};
use wordline_units::Nanos;

use crate::named;

/// A few blocks on two dies.
const FEW: [&str; 5] =
    ["flash.channels=1", "flash.dies_per_channel=2", "geometry.blocks=40", "mapping.spare_blocks=2", "mapping.over_provisioning=30 %"];

fn plan(name: &str, more: &[&str]) -> Plan {
    let settings: Vec<String> = FEW.iter().chain(more).map(|&setting| setting.to_owned()).collect();
    Plan::load_set(name, &settings).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn life_by(workload: &Workload, plan: &Plan, asked: &ReadOut) -> ReadLifeResult {
    let load = Load::default();
    let reads = Reads::of(workload, &load).unwrap_or_else(|error| panic!("{error}")).expect("it only reads");
    read_out(plan, &reads, &load, asked, &mut ()).unwrap_or_else(|error| panic!("{error}"))
}

fn life(plan: &Plan, asked: &ReadOut) -> ReadLifeResult {
    life_by(&named("rlr-long", &Load::default()), plan, asked)
}

#[test]
fn rewrites_come_as_often_as_the_number_of_reads_brings_them_in_whatever_steps() {
    let plan = plan("rewriter", &["techniques.read-disturb-refresh.reads_max=20000"]);
    let config = plan.build();
    let gib = config.exported().0 as f64 / f64::from(1 << 30);
    for epochs in [10, 40] {
        let asked = ReadOut { years: 0.05, epochs, timed: 200, ..ReadOut::default() };
        let life = life(&plan, &asked);
        let (reads, days) = (20.0 * gib * 0.05 * 365.25 * 86_400.0, 0.05 * 365.25);
        assert!((life.reads_per_second / (20.0 * gib) - 1.0).abs() < 1e-9);
        assert!((life.days / days - 1.0).abs() < 0.02 && life.ended.is_none(), "{} days", life.days);
        assert!((life.reads as f64 / reads - 1.0).abs() < 0.03, "{} of {reads} reads", life.reads);
        assert!(life.sampled < life.reads / 10, "{} carried out", life.sampled);
        // Each time that all that the drive holds was read so often, it is rewritten.
        let group =
            f64::from(config.sheet.geometry.pages()) * config.sheet.geometry.page.0 as f64 * f64::from(config.sheet.geometry.planes);
        let expected = reads * group / config.exported().0 as f64 / 20_000.0;
        println!("{epochs} epochs: rewritten {} times, {expected} expected", life.rewritten);
        assert!((life.rewritten - expected.floor()).abs() <= 1.0, "{} times, {expected} expected", life.rewritten);
        assert_eq!(life.begun(), life.epochs.iter().map(|epoch| epoch.rewrites).sum::<u64>());
        assert_eq!(life.erases, life.begun(), "a group is erased when it has been rewritten");
        assert_eq!(life.epochs.len(), epochs as usize + 1);
        assert_eq!(life.failed(), [0; 3]);
    }
}

#[test]
fn a_drive_that_retries_has_long_reads_in_the_end_and_one_that_rewrites_has_none() {
    let asked = ReadOut { years: 0.5, epochs: 12, timed: 2_000, ..ReadOut::default() };
    let [rewriter, retrier] = ["rewriter", "retrier"].map(|name| life(&plan(name, &[]), &asked));
    assert_eq!((rewriter.timed(), retrier.epochs[0].long_reads), ((26_000, 0), 0));
    let worst = |life: &ReadLifeResult| life.epochs.iter().map(|epoch| epoch.device_max_us).fold(0.0, f64::max);
    println!("retrier: {:?} are long, {} us at most, rewritten {} times", retrier.timed(), worst(&retrier), retrier.rewritten);
    assert!(retrier.long_worst() > 0.005 && worst(&retrier) > 400.0 && worst(&rewriter) < 400.0);
    assert!(retrier.rewritten < 2.0 && rewriter.rewritten > 20.0, "{} and {}", retrier.rewritten, rewriter.rewritten);
    // The limit is the user's.
    let patient = life(&plan("retrier", &[]), &ReadOut { long: Nanos::from_millis(100), ..asked });
    assert_eq!(patient.timed(), (26_000, 0));
    assert_eq!(worst(&patient), worst(&retrier), "nothing else changes");
}

#[test]
fn a_hinted_drive_postpones_what_a_rewriter_does() {
    let asked = ReadOut { years: 0.02, epochs: 4, timed: 200, ..ReadOut::default() };
    let soon = "techniques.read-disturb-refresh.reads_max=20000";
    let hinted = life(&plan("hinted", &[soon]), &asked);
    let rewriter = life(&plan("rewriter", &[soon]), &asked);
    let postponed = hinted.epochs.last().map_or(0, |epoch| epoch.postponed);
    assert!(hinted.begun() == 0 && postponed > 0 && rewriter.begun() > 0, "{} begun, {postponed} postponed", hinted.begun());
}
