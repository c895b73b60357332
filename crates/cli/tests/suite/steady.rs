//! Is a drive that is called steady really steady?

use serde_json::Value;

use crate::{Scratch, wordline};

/// One die with 48 blocks and much spare room.
const DRIVE: &[&str] = &[
    "run",
    "pageftl",
    "--set",
    "flash.channels=1",
    "--set",
    "flash.dies_per_channel=1",
    "--set",
    "geometry.blocks=48",
    "--set",
    "mapping.over_provisioning=25 %",
];

/// What the drive has no trouble keeping up with, so that its throughput is the same from the first second to the last, while it takes
/// long until hot and cold data have found their blocks.
const PACED: &[u8] = br#"
name = "paced"
purpose = "hot and cold writes at a fixed rate"
[[phases]]
name = "write"
requests = 1000
mix = { write = "100 %" }
size = "16 KiB"
address = { pattern = "hot-cold", hot = "10 %", traffic = "95 %" }
arrival = { rate = "60 /s", process = "constant" }
"#;

fn run(scratch: &Scratch, more: &[&str]) -> (Value, String) {
    let arguments = [DRIVE, &["--workload", "paced.toml", "--json", "-"], more].concat();
    let output = wordline(&scratch.0, &arguments);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    (report["drives"][0].clone(), told)
}

fn waf(drive: &Value) -> f64 {
    drive["waf"]["total"].as_f64().expect("the host wrote")
}

#[test]
fn a_drive_is_steady_only_once_its_amplification_is() {
    let scratch = Scratch::new("steady");
    scratch.file("paced.toml", PACED);
    let (drive, told) = run(&scratch, &["--until-steady"]);
    assert_eq!(drive["steady"], true, "{told}");
    assert!(told.contains("steady after") && told.contains("WAF"), "{told}");
    // Twenty-four times the drive's capacity later it is what it was called.
    let (drive_later, _) = run(&scratch, &["--until-steady", "--round", "100000"]);
    let (found, true_value) = (waf(&drive), waf(&drive_later));
    assert!((found / true_value - 1.0).abs() < 0.10, "called steady at a WAF of {found}, and later it is {true_value}");
}

#[test]
fn the_phase_is_repeated_though_its_own_end_comes_sooner() {
    let scratch = Scratch::new("repeat");
    scratch.file("paced.toml", PACED);
    let (drive, _) = run(&scratch, &["--until-steady", "--round", "6000"]);
    assert_eq!(drive["host"]["writes"], 6000);
}

#[test]
fn a_round_too_short_to_mean_anything_is_refused_with_the_least_that_does() {
    let scratch = Scratch::new("short-round");
    scratch.file("paced.toml", PACED);
    let output = wordline(&scratch.0, &[DRIVE, &["--workload", "paced.toml", "--until-steady", "--round", "100"]].concat());
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("--round 100") && told.contains("20 %") && told.contains("4148 requests"), "{told}");
}
