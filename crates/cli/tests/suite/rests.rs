//! Does a run begin and end on drives at the edge of what a plan may say: more bad blocks than spares, levelling that makes its own work, tables on flash?

use crate::{Scratch, wordline};

/// Runs `arguments` and returns what was printed. It has to end well.
fn ran(scratch: &Scratch, arguments: &[&str]) -> String {
    let output = wordline(&scratch.0, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A drive of two dies: blocks in a plane, h-layers, wordlines of each, spare flash, write buffer, and further sections.
fn two_dies(blocks: u32, layers: u32, wordlines: u32, spare: &str, buffer: &str, more: &str) -> String {
    format!(
        "summary = \"two dies\"\ninherit = \"pageftl\"\n[geometry]\nblocks = {blocks}\nlayers = {layers}\nwordlines_per_layer = {wordlines}\n\
         [flash]\nchannels = 1\ndies_per_channel = 2\n[mapping]\nover_provisioning = \"{spare}\"\n[buffer]\nsize = \"{buffer}\"\n{more}\n"
    )
}

#[test]
fn drives_with_more_bad_blocks_than_spares_are_filled_and_run() {
    let scratch = Scratch::new("bad-blocks");
    // A few of 128 blocks are bad when they leave the factory, and there are no spares.
    scratch.file("bad.toml", two_dies(64, 16, 2, "25 %", "1 MiB", "[faults]\nfactory_bad = \"2 %\"").as_bytes());
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
    // A gap of one erase, and a checkpoint after each four programs: each block that is moved makes the journal erase one more.
    let more = "[free_block]\ngap = 1\n[recovery]\non = true\ncheckpoint_every = 4\n[cells]\nphysics = false";
    scratch.file("perpetual.toml", two_dies(32, 2, 4, "70 %", "256 KiB", more).as_bytes());
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
