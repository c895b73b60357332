//! Does wrong input end with exit code 2, a message a person can act on, and nothing half-written?

use std::path::Path;

use crate::{Scratch, wordline};

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

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
