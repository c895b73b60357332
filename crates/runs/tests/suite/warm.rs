//! Runs that warm a drive up first, and firmware in the host.

use wordline_figures::DriveResult;
use wordline_runs::{Load, Workload};
use wordline_workload::{AnySpec, FileOptions};

use crate::{hash, plan, run};

fn workload(amounts: &str) -> Workload {
    let text = format!(
        "name = \"x\"\nalign = \"16 KiB\"\nprefill = \"80 %\"\n{amounts}\nqueue_depth = 32\n[[sets]]\nname = \"s\"\nshare = \"100 %\"\nsize = \"64 KiB\"\n\
         [[threads]]\nops = [{{ do = \"overwrite\", set = \"s\", size = \"16 KiB\" }}]\n"
    );
    match AnySpec::parse(&text, "x.toml").unwrap_or_else(|error| panic!("{error}")) {
        AnySpec::Files(spec) => Workload::Filed(Box::new(spec), FileOptions::default()),
        AnySpec::Phases(_) | AnySpec::Jobs(_) => panic!("it has files"),
    }
}

#[test]
fn what_warms_a_drive_up_is_done_and_not_measured() {
    let of = |amounts: &str| run(&plan(&[]), &workload(amounts), &Load::default());
    let (warm, whole) = (of("warm_up = \"150 %\"\nlength = \"50 %\""), of("length = \"200 %\""));
    assert_eq!(hash(&warm), hash(&whole), "the drive does the same");
    let writes = |result: &DriveResult| result.host.writes as f64;
    let share = writes(&warm.result) / writes(&whole.result);
    // The window begins at a multiple of some requests.
    assert!((0.2..=0.26).contains(&share), "{share} of all writes are measured");
    assert!(warm.result.waf.total > whole.result.waf.total, "{:?}", (warm.result.waf.total, whole.result.waf.total));
    assert!(warm.result.checks.violations.is_empty() && warm.result.simulated_seconds < whole.result.simulated_seconds);
}

#[test]
fn both_directions_of_the_link_are_in_the_figures_where_the_firmware_is_in_the_host() {
    let busy = |settings: &[&str]| run(&plan(settings), &workload("length = \"300 %\""), &Load::default()).result.utilisation;
    let drive = busy(&[]);
    assert_eq!((drive.link_in, drive.link_out), (None, None));
    assert!(drive.dram > 0.0);
    let host = busy(&["controller.ftl=host", "controller.link=800 MB/s", "controller.link_in=20 MB/s"]);
    let [Some(inwards), Some(outwards)] = [host.link_in, host.link_out] else { panic!("both are used: {host:?}") };
    assert!(host.dram == 0.0 && inwards > 0.9 && (0.001..0.25).contains(&outwards), "{host:?}");
    let fast = busy(&["controller.ftl=host", "controller.link=800 MB/s", "controller.link_in=800 MB/s"]);
    assert!(fast.link_in.is_some_and(|fast| fast < inwards), "{fast:?}");
}
