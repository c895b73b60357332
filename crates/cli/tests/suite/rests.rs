//! Does a run begin and end on drives at the edge of what a plan may say: more bad blocks than spares, levelling that makes its own work, tables on flash?

use crate::{Scratch, wordline};

/// Runs `arguments` and returns what was printed. It has to end well.
fn ran(scratch: &Scratch, arguments: &[&str]) -> String {
    let output = wordline(&scratch.0, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A few of 128 blocks are bad when they leave the factory, and there are no spares.
const BAD: &str = r#"
summary = "two dies with bad blocks"
inherit = "pageftl"
[geometry]
blocks = 64
layers = 16
wordlines_per_layer = 2
[flash]
channels = 1
dies_per_channel = 2
[mapping]
over_provisioning = "25 %"
[buffer]
size = "1 MiB"
[faults]
factory_bad = "2 %"
"#;

/// Levelling by a gap of one erase, and a checkpoint after each four programs: each block that is moved makes the journal erase one more.
const PERPETUAL: &str = r#"
summary = "two dies of 32 small blocks, with a journal"
inherit = "pageftl"
[geometry]
blocks = 32
layers = 2
wordlines_per_layer = 4
[flash]
channels = 1
dies_per_channel = 2
[mapping]
over_provisioning = "70 %"
[buffer]
size = "256 KiB"
[free_block]
gap = 1
[recovery]
on = true
checkpoint_every = 4
[cells]
physics = false
"#;

#[test]
fn drives_with_more_bad_blocks_than_spares_are_filled_and_run() {
    let scratch = Scratch::new("bad-blocks");
    scratch.file("bad.toml", BAD.as_bytes());
    for fill in ["0%", "50%", "100%"] {
        for seed in ["1", "2", "3", "4", "5", "6"] {
            let told =
                ran(&scratch, &["run", "bad.toml", "--seed", seed, "-w", "uniform-write", "--requests", "50", "--fill", fill, "--quiet"]);
            assert!(told.contains("all self-checks passed"), "{told}");
        }
    }
    ran(&scratch, &["run", "bad.toml", "--set", "run.steady=true", "-w", "uniform-write", "--requests", "50", "--quiet"]);
    ran(&scratch, &["run", "mqsim-b", "-w", "uniform-write", "--requests", "150", "--set", "faults.factory_bad=1 %", "--quiet"]);
}

#[test]
fn a_drive_whose_levelling_makes_its_own_work_comes_to_rest() {
    let scratch = Scratch::new("perpetual");
    scratch.file("perpetual.toml", PERPETUAL.as_bytes());
    for seed in ["1", "5", "11"] {
        ran(&scratch, &["run", "perpetual.toml", "-w", "mixed-70-30", "--requests", "1000", "--seed", seed, "--quiet"]);
    }
}

#[test]
fn a_drive_that_keeps_its_tables_on_flash_is_not_saved_and_says_why() {
    let scratch = Scratch::new("not-saved");
    let output = wordline(&scratch.0, &["age", "pageftl", "--size", "1GiB", "--set", "recovery.on=true", "--save", "saved"]);
    let why = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && why.contains("recovery.on=false"), "{why}");
    assert!(!scratch.0.join("saved").exists());
}
