//! Does wrong input end with exit code 2, a message a person can act on, and nothing half-written?

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn wordline(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wordline")).args(arguments).current_dir(folder).output().expect("the command starts")
}

/// A folder of this test's own, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let folder = std::env::temp_dir().join(format!("wordline-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a scratch folder");
        Scratch(folder)
    }

    fn file(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.0.join(name), bytes).expect("a scratch file");
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn wrong_input_is_refused_with_the_place_and_the_nearest_right_word() {
    let scratch = Scratch::new("bad-input");
    scratch.file("truncated.csv", b"128166372003061629,hm,0,Read,383496192,32768,413\n128166372016382155,hm,0,Wri");
    scratch.file("binary.trace", &[0, 159, 146, 150, 7, 255, 254, 0, 0, 1, 2, 3]);
    scratch.file("empty.trace", b"");
    scratch.file("zero.toml", b"inherit = \"pageftl\"\nsummary = \"x\"\n[flash]\nchannels = { value = 0, source = \"x\" }\n");
    scratch.file("unit.toml", b"inherit = \"pageftl\"\nsummary = \"x\"\n[buffer]\nsize = { value = \"8 MB/s\", source = \"x\" }\n");
    scratch.file("key.toml", b"inherit = \"pageftl\"\nsummary = \"x\"\n[reclaim]\nvictm = { value = \"greedy\", source = \"x\" }\n");
    scratch.file("load.toml", b"name = \"x\"\npurpose = \"x\"\n[[phases]]\nname = \"a\"\nrequests = 10\nsize = 4096\n");
    scratch.file("damaged.wl", b"WORDLINE DRIVE 1\n\x05\0\0\0\0\0\0\0abc");
    scratch.file("far.csv", b"128166372003061629,hm,0,Read,3834961920000000,32768,413\n");
    let cases: &[(&[&str], &[&str])] = &[
        (&["run", "pagftl"], &["pagftl", "pageftl"]),
        (&["run", "zero.toml"], &["zero.toml:4", "channels"]),
        (&["run", "unit.toml"], &["unit.toml:4", "size"]),
        (&["run", "key.toml"], &["key.toml:4", "victm", "victim"]),
        (&["run", "pageftl", "--set", "reclaim.victim=gredy"], &["gredy", "greedy"]),
        (&["run", "pageftl", "--set", "mapping.over_provisioning=0 %"], &["over_provisioning"]),
        (&["run", "pageftl", "--workload", "load.toml"], &["load.toml:6", "size"]),
        (&["run", "pageftl", "--workload", "uniform-wirte"], &["uniform-wirte", "uniform-write"]),
        (&["run", "pageftl", "--workload", "missing.csv"], &["missing.csv"]),
        (&["run", "pageftl", "--workload", "truncated.csv"], &["truncated.csv:2"]),
        (&["run", "pageftl", "--workload", "binary.trace"], &["binary.trace"]),
        (&["run", "pageftl", "--workload", "empty.trace"], &["empty.trace"]),
        (&["run", "pageftl", "--workload", "far.csv"], &["wrap", "scale", "compact"]),
        (&["run", "pageftl", "--workload", "far.csv", "--fit", "wrp"], &["wrp", "wrap"]),
        (&["run", "pageftl", "--fill", "120%"], &["120%"]),
        (&["run", "pageftl", "--html", "no/such/folder/x.html"], &["no/such/folder"]),
        (&["run", "--from", "damaged.wl"], &["damaged.wl"]),
        (&["run", "--from", "truncated.csv"], &["truncated.csv", "wordline age"]),
        (&["run", "pageftl", "--qd", "0"], &["--qd"]),
        (&["compare", "--drives", "pageftl,pageftl"], &["named twice"]),
        (&["age", "pageftl", "--overwrite", "zipf:2x", "--save", "x.wl"], &["zipf:2x", "random:2x"]),
        (&["trace", "info", "binary.trace"], &["binary.trace"]),
        (&["trace", "convert", "truncated.csv", "--to", "mrs", "--output", "x.csv"], &["mrs", "msr"]),
        (&["trace", "convert", "truncated.csv", "--to", "csv", "--output", "x.csv"], &["truncated.csv:2"]),
        (&["describe", "nothing"], &["nothing"]),
    ];
    let before = names(&scratch.0);
    for (arguments, expected) in cases {
        let output = wordline(&scratch.0, arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?} ended with {:?}: {told}", output.status);
        assert!(!told.contains("panicked"), "{arguments:?} panicked: {told}");
        for word in *expected {
            assert!(told.contains(word), "{arguments:?} does not mention '{word}': {told}");
        }
        assert_eq!(names(&scratch.0), before, "{arguments:?} left something behind");
    }
}

#[test]
fn a_lenient_reading_counts_what_it_passes_over() {
    let scratch = Scratch::new("lenient");
    scratch.file("truncated.csv", b"128166372003061629,hm,0,Write,383496192,32768,413\n128166372016382155,hm,0,Wri");
    let output = wordline(&scratch.0, &["run", "pageftl", "--workload", "truncated.csv", "--lenient", "--quiet"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("1 malformed") && told.contains("truncated.csv:2"), "{told}");
}

#[test]
fn a_saved_drive_gives_the_same_run_each_time() {
    let scratch = Scratch::new("fork");
    let saved = wordline(&scratch.0, &["age", "pageftl", "--steady", "--fill", "50%", "--save", "aged.wl"]);
    assert!(saved.status.success(), "{}", String::from_utf8_lossy(&saved.stderr));
    let runs: Vec<serde_json::Value> = (0..2)
        .map(|_| {
            let output =
                wordline(&scratch.0, &["run", "--from", "aged.wl", "--workload", "uniform-write", "--requests", "3000", "--json", "-"]);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            serde_json::from_slice(&output.stdout).expect("JSON")
        })
        .collect();
    let hash = |run: &serde_json::Value| run["drives"][0]["event_log_hash"].clone();
    assert!(hash(&runs[0]).is_string());
    assert_eq!(hash(&runs[0]), hash(&runs[1]));
}

#[test]
fn the_number_of_threads_changes_nothing_but_the_time() {
    let scratch = Scratch::new("threads");
    let hashes = |threads: &str| {
        let output = wordline(
            &scratch.0,
            &["compare", "--drives", "pageftl,pageftl-4k", "--seeds", "2", "--threads", threads, "--requests", "4000", "--json", "-"],
        );
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        report["drives"].as_array().expect("drives").iter().map(|drive| drive["event_log_hash"].clone()).collect::<Vec<_>>()
    };
    let one = hashes("1");
    assert_eq!(one.len(), 4);
    assert_eq!(one, hashes("2"));
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
