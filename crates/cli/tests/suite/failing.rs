//! Dies that fail in the middle of a run, as options and files order it.

use serde_json::Value;

use crate::{Scratch, wordline};

const RUN: [&str; 12] =
    ["run", "pageftl", "--size", "256MiB", "--physics", "off", "--workload", "mixed-70-30", "--requests", "20000", "--quiet", "--json"];

/// Makes the run with `more`. Returns its result, what was said, and the exit code.
fn run(scratch: &Scratch, more: &[&str]) -> (Value, String, Option<i32>) {
    let output = wordline(&scratch.0, &[&RUN[..], &["out.json"], more].concat());
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let json = std::fs::read(scratch.0.join("out.json")).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    (json, said, output.status.code())
}

#[test]
fn a_die_that_is_killed_in_a_run_costs_what_it_held_and_the_run_is_no_failure() {
    let scratch = Scratch::new("killed-die");
    let (well, said, code) = run(&scratch, &[]);
    assert_eq!((code, &well["drives"][0]["lost"], &well["drives"][0]["asked"]["faults"]), (Some(0), &Value::Null, &Value::Null), "{said}");
    let (harmed, said, code) = run(&scratch, &["--kill-die", "3@20ms"]);
    assert_eq!(code, Some(0), "{said}");
    let drive = &harmed["drives"][0];
    let number = |path: &str| drive.pointer(path).and_then(Value::as_u64).unwrap_or_else(|| panic!("{path}: {drive}"));
    assert_eq!(drive["asked"]["faults"], serde_json::json!(["die 3 fails at 20 ms"]));
    assert!(number("/lost/failed") > 0 && number("/lost/failed") == number("/host/failed"), "{said}");
    assert!((1..256 << 20).contains(&number("/lost/bytes")) && number("/lost/faults_to_come") == 0, "{said}");
    assert!(said.contains("requests failed for it") && !said.contains("FAILED"), "{said}");
    // The dies that are left have no room for all that the drive exports.
    assert!(drive["worn_out_seconds"].is_number() && said.contains("WORN OUT"), "{said}");
    let hash = |json: &Value| json["drives"][0]["event_log_hash"].clone();
    assert_ne!(hash(&harmed), hash(&well));
    // Its own command makes it again, and a file says the same.
    assert!(harmed["made_by"]["command"].as_str().is_some_and(|command| command.contains("--kill-die 3@20ms")), "{}", harmed["made_by"]);
    scratch.file("failures.toml", b"[[fault]]\nat = \"20 ms\"\ndie = 3\n");
    let (again, said, _) = run(&scratch, &["--faults", "failures.toml"]);
    assert_eq!((hash(&again), &again["drives"][0]["lost"]), (hash(&harmed), &drive["lost"]), "{said}");
}

#[test]
fn a_fault_that_comes_too_late_is_told_and_changes_nothing() {
    let scratch = Scratch::new("late-fault");
    let (well, ..) = run(&scratch, &[]);
    scratch.file("failures.toml", b"[[fault]]\nat = \"9 h\"\ndie = 0\nkind = \"silent\"\n[[fault]]\nat = \"9 h\"\ndie = 1\nplane = 0\n");
    let (late, said, code) = run(&scratch, &["--faults", "failures.toml"]);
    assert_eq!((code, &late["drives"][0]["lost"]["faults_to_come"]), (Some(0), &2.into()), "{said}");
    assert!(said.contains("2 faults: the run ended before their instants"), "{said}");
    assert_eq!(late["drives"][0]["event_log_hash"], well["drives"][0]["event_log_hash"]);
}

#[test]
fn schedules_that_make_no_sense_are_refused_with_their_line() {
    let scratch = Scratch::new("bad-faults");
    scratch.file("far.toml", b"\n[[fault]]\nat = \"1 s\"\ndie = 4000\n");
    scratch.file("wrong.toml", b"[[fault]]\nat = \"1 s\"\ndei = 4\n");
    for (more, words) in [
        (["--faults", "far.toml"], "far.toml:2:1: die 4000: the drive has"),
        (["--faults", "wrong.toml"], "wrong.toml:3:1: unknown key `dei` in [[fault]]: did you mean `die`?"),
        (["--faults", "missing.toml"], "missing.toml"),
        (["--kill-die", "17"], "--kill-die 17: there is no `@`"),
        (["--kill-die", "4000@1s"], "--kill-die 4000@1s: die 4000: the drive has"),
    ] {
        let (_, said, code) = run(&scratch, &more);
        assert_eq!(code, Some(2), "{more:?}: {said}");
        assert!(said.contains(words), "{more:?}: {said}");
        assert!(!scratch.0.join("out.json").exists(), "nothing is half written");
    }
}
