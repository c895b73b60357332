//! Any text as a drive file, and as a setting of the command line: a plan that describes itself, or an error, never a panic.
//!
//! Good seeds: `drives/` and `crates/plan/tests/mistakes/`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wordline_plan::Plan;

fuzz_target!(|text: &str| {
    match Plan::parse("fuzz.toml", text) {
        Ok(plan) => {
            let again = Plan::parse("again.toml", &plan.describe()).expect("a description is a drive file");
            assert_eq!(again.build(), plan.build());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    // The same text as a setting of the command line.
    if let Err(error) = Plan::load_set("pageftl", &[text]) {
        assert!(!error.to_string().is_empty());
    }
});
