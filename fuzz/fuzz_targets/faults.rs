//! Any text as a schedule of faults: a message with its place, or faults that can be told and checked, never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wordline_plan::Plan;
use wordline_runs::Schedule;

fuzz_target!(|text: &str| {
    match Schedule::parse(text, "input") {
        Err(error) => assert!(error.to_string().starts_with("input:")),
        Ok(schedule) => {
            assert!(!schedule.told().is_empty());
            let plan = Plan::preset("pageftl").expect("a preset");
            if let Err(error) = schedule.check(&plan.build().sheet.geometry) {
                assert!(error.to_string().starts_with("input:"));
            }
        }
    }
    if let Err(error) = Schedule::default().kill_die(text) {
        assert!(error.to_string().starts_with("--kill-die "));
    }
});
