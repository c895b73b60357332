//! Does wrong input end with exit code 2, a message a person can act on, and nothing half-written?

use std::path::Path;

use crate::{Scratch, wordline};

/// Arguments, and words of the message that they end with.
const CASES: &[(&[&str], &[&str])] = &[
    (&["run", "--from", "longer.wl", "--requests", "1"], &["longer.wl", "4 bytes stand behind"]),
    (&["run", "pageftl", "--interval", "10"], &["--interval", "bare number", "ms"]),
    (&["run", "pageftl", "--interval", "0ms"], &["--interval", "longer than 0"]),
    (&["run", "pageftl", "--age", "99999k"], &["'99999k'", "whole number of cycles up to 1000000"]),
    (&["age", "pageftl", "--fill", "0%", "--overwrite", "random:2x", "--save", "none.wl"], &["--overwrite random:2x", "--fill is 0%"]),
    (&["compare", "--interval", "10 parsecs"], &["--interval", "parsecs", "ms"]),
    (&["trace", "info", "eight.csv"], &["eight.csv:2", "seven columns", "there are 8"]),
    (&["run", "pageftl", "--workload", "late.csv"], &["late.csv:3", "100 s earlier", "sort the file by time"]),
    (&["trace", "info", "packed.csv"], &["packed.csv", "packed by xz", "unpack it"]),
    (&["trace", "info", "unknown.txt"], &["unknown.txt:1", "nearest are", "put the header of csv over the columns"]),
    (&["trace", "info", "truncated.csv", "--format", "mrs"], &["'mrs'", "did you mean 'msr'?", "the nearest are"]),
    (&["chip", "fit", "cells.csv"], &["no unit", "--step \"40 mV\"", "normalised"]),
    (&["chip", "calibrate", "--free", "physics.wear.noize"], &["--free", "physics.wear.noize", "did you mean \"physics.wear.noise\"?"]),
    (&["chip", "calibrate", "--free", "physics.states.verify"], &["--free physics.states.verify", "a list"]),
    (&["chip", "calibrate", "--seeds", "6..1"], &["--seeds \"6..1\"", "before the first"]),
    (&["chip", "calibrate", "--step", "2"], &["--step \"2\"", "per cent"]),
    (&["chip", "calibrate", "--lot", "4"], &["--lot", "16x12"]),
    (&["chip", "calibrate", "--chip", "tlc84"], &["tlc84", "tlc48"]),
    (&["chip", "calibrate", "--studies", "drives"], &["chip tlc48", "--studies"]),
    (&["chip", "calibrate", "--studies", "cube.qlc"], &["chip tlc48", "cube.qlc", "--like"]),
    (&["chip", "calibrate", "--set", "physics.wear.noise=x"], &["physics.wear.noise", "not a number"]),
    (&["chip", "calibrate", "--out", "no/such/folder/x.toml"], &["no/such/folder"]),
    (&["chip", "fit", "cells.csv", "--step", "40"], &["no voltage", "40 mV"]),
    (&["chip", "fit", "cells.csv", "--step", "9 V"], &["0.1 mV to 1 V"]),
    (&["chip", "fit", "cells.csv", "--step", "40 mV", "--out", "x.toml"], &["cells.csv:3", "column step", "'x'"]),
    (&["chip", "fit", "holes.csv", "--step", "40 mV"], &["holes", "P2 of wordline 0"]),
    (&["chip", "fit", "missing.csv", "--step", "40 mV"], &["missing.csv"]),
    (&["chip", "fit", "holes.csv", "--step", "40 mV", "--anchor", "12"], &["--anchor", "unit"]),
    (&["chip", "fit", "holes.csv", "--step", "40 mV", "--like", "tlc84"], &["tlc84", "tlc48"]),
    (&["chip", "fit", "holes.csv", "--step", "40 mV", "--out", "no/such/folder/x.toml"], &["no/such/folder"]),
    (&["run", "pagftl"], &["pagftl", "pageftl"]),
    (&["serve", "--link", "50us"], &["--link 50us", "--timing real"]),
    (&["serve", "--timing", "real", "--link", "50"], &["--link", "auto", "50us"]),
    (&["serve", "cryptossd"], &["techniques.crypto-erase", "keeps its bytes", "secssd"]),
    (&["run", "cryptossd", "--set", "techniques.crypto-erase.leaves=100"], &["leaves is 100", "power of two from 64 to 1024"]),
    (&["run", "cryptossd", "--set", "techniques.crypto-erase.register=none"], &["crypto-erase.register is not set"]),
    (&["run", "zero.toml"], &["zero.toml:4", "channels"]),
    (&["run", "unit.toml"], &["unit.toml:4", "size"]),
    (&["run", "key.toml"], &["key.toml:4", "victm", "victim"]),
    (&["run", "pageftl", "--set", "gc.victim=gredy"], &["gredy", "greedy"]),
    (&["run", "pageftl", "--set", "reclaim.start=8"], &["unknown key `start` in [reclaim]", "the key is gc.start now"]),
    (&["run", "pageftl", "--set", "wear.dynamic=true"], &["the key is free_block.key now", "true is \"erases\""]),
    (&["compare", "--sweep", "reclaim.victim=greedy,fifo"], &["the key is gc.victim now"]),
    (&["run", "old.toml"], &["old.toml:4", "the key is gc.floor now"]),
    (&["run", "pageftl", "--set", "mapping.over_provisioning=0 %"], &["over_provisioning"]),
    (&["run", "pageftl", "--workload", "load.toml"], &["load.toml:6", "size"]),
    (&["run", "pageftl", "--workload", "both.toml"], &["both.toml:8", "[[phases]]", "[[jobs]]", "both"]),
    (&["run", "pageftl", "--workload", "endless.toml"], &["endless.toml:2", "at least one job needs an end"]),
    (&["run", "pageftl", "--workload", "reader-beside-writers", "--qd", "4"], &["--qd", "reader-beside-writers", "jobs"]),
    (&["run", "pageftl", "--workload", "reader-beside-writers", "--until-steady"], &["--until-steady", "reader-beside-writers"]),
    (&["wear-out", "pageftl", "--workload", "reader-beside-writers"], &["reader-beside-writers", "jobs", "phases"]),
    (&["import", "fio", "wrong.fio"], &["wrong.fio:2", "'radnread'", "did you mean 'randread'?"]),
    (&["import", "fio", "waits.fio"], &["waits.fio:3", "SIZE is not defined", "--define SIZE=VALUE"]),
    (&["import", "fio", "waits.fio", "-D", "SIZE"], &["VAR=VALUE"]),
    (&["import", "fio", "flows.fio"], &["flows.fio:2", "flow", "rw in line 4", "--lenient"]),
    (&["import", "fio", "missing.fio"], &["missing.fio", "No such file"]),
    (&["run", "pageftl", "--workload", "uniform-wirte"], &["uniform-wirte", "uniform-write"]),
    (&["run", "pageftl", "--workload", "mobil"], &["mobil", "did you mean 'mobile'?"]),
    (&["run", "pageftl", "--workload", "files.toml"], &["files.toml:12", "'mial'", "did you mean 'mail'?"]),
    (&["run", "pageftl", "--workload", "mobile", "--secure-fraction", "160%"], &["160%", "0 % to 100 %"]),
    (&["run", "pageftl", "--workload", "mobile", "--length", "4"], &["--length", "4 %"]),
    (&["run", "pageftl", "--workload", "mobile", "--until-steady"], &["--until-steady", "files"]),
    (&["run", "pageftl", "--secure-fraction", "60%"], &["--secure-fraction", "mobile"]),
    (&["run", "pageftl", "--vertrace"], &["--vertrace", "mobile"]),
    (&["run", "pageftl", "--plot-files", "1"], &["--vertrace"]),
    (&["run", "pageftl", "--workload", "missing.csv"], &["missing.csv", "No such file"]),
    (&["run", "pageftl", "--workload", "."], &["cannot be read", "directory"]),
    (&["run", "pageftl", "--workload", "truncated.csv"], &["truncated.csv:2"]),
    (&["run", "pageftl", "--workload", "binary.trace"], &["binary.trace"]),
    (&["run", "pageftl", "--workload", "empty.trace"], &["empty.trace"]),
    (&["run", "pageftl", "--workload", "far.csv"], &["wrap", "scale", "compact"]),
    (&["run", "pageftl", "--workload", "far.csv", "--fit", "wrp"], &["wrp", "wrap"]),
    (&["run", "pageftl", "--fit", "wrp"], &["wrp", "wrap"]),
    (&["run", "pageftl", "--fit", "wrap"], &["--fit", "traces"]),
    (&["run", "pageftl", "--open-loop"], &["--open-loop", "traces"]),
    (&["run", "pageftl", "--speed", "10"], &["--speed", "traces"]),
    (&["run", "pageftl", "--speed", "-1"], &["-1", "positive"]),
    (&["run", "pageftl", "--repeat", "2"], &["--repeat", "traces"]),
    (&["run", "pageftl", "--repeat", "0"], &["--repeat", "0"]),
    (&["run", "pageftl", "--requests", "0"], &["--requests", "0"]),
    (&["run", "pageftl", "--seed", "-1"], &["--seed", "-1"]),
    (&["run", "pageftl", "--workload", "slow.csv", "--speed", "1e-300"], &["slow.csv", "years", "faster"]),
    (&["compare", "--lenient"], &["--lenient", "traces"]),
    (&["compare", "--workload", "oltp,rocks", "--format", "mrs"], &["mrs", "msr"]),
    (&["run", "pageftl", "--set", "schedule.linger=100 y"], &["\"y\" is no unit of this time", "ms"]),
    (&["run", "pageftl", "--fill", "120%"], &["120%"]),
    (&["run", "pageftl", "--html", "."], &["directory"]),
    (&["run", "pageftl", "--json", "x.json/"], &["x.json/", "directory"]),
    (&["run", "pageftl", "--html", "no/such/folder/x.html"], &["no/such/folder"]),
    (&["run", "--from", "damaged.wl"], &["damaged.wl"]),
    (&["run", "--from", "truncated.csv"], &["truncated.csv", "wordline age"]),
    (&["run", "pageftl", "--qd", "0"], &["--qd"]),
    (&["run", "pageftl", "--age", "old"], &["'old'", "2k+1mo", "did you mean 'old-adult'?"]),
    (&["run", "pageftl", "--age", "2k+1 month"], &["cells.retention", "mo"]),
    (&["run", "pageftl", "--age", "2k+1y@hot"], &["cells.kept_at", "30 C"]),
    (&["run", "pageftl", "--age", "2k+1mo", "--physics", "off"], &["2k+1mo", "cycles alone"]),
    (&["run", "mqsim-b", "--physics", "on"], &["mqsim-b", "physics_of"]),
    (&["run", "pageftl", "--pe", "2kk"], &["2kk"]),
    (&["compare", "--drives", "pageftl,pageftl"], &["named twice"]),
    (&["compare", "--drives", "pageftl,pagftl"], &["pagftl", "pageftl"]),
    (&["compare", "--drives", "pageftl,./pageftl.toml"], &["'pageftl'", "'./pageftl.toml'", "both called"]),
    (&["compare", "--workload", "oltp,rcks"], &["rcks", "did you mean 'rocks'?"]),
    (&["compare", "--workload", "oltp,prxy"], &["prxy", "did you mean 'proxy'?"]),
    (&["compare", "--workload", "oltp,rocks", "--workload", "oltp"], &["'oltp' is named twice"]),
    (&["compare", "--workload", "proxy,webproxy"], &["'webproxy' is the same as 'proxy'"]),
    (&["compare", "--workload", "far.csv,./far.csv", "--fit", "wrap"], &["'./far.csv' is the same as 'far.csv'"]),
    (&["compare", "--workload", "oltp,,rocks"], &["--workload", "empty"]),
    (&["compare", "--workload", "oltp,uniform-read", "--length", "50%"], &["--length", "uniform-read has none"]),
    (&["compare", "--workload", "oltp,missing.csv"], &["missing.csv"]),
    (&["compare", "--workload", "uniform-read,far.csv", "--requests", "10", "--size", "1GiB"], &["wrap", "scale", "compact"]),
    (&["compare", "--age", "fresh,2k+1mo,frsh"], &["'frsh'", "did you mean 'fresh'?"]),
    (&["compare", "--age", "2k,1k,2k"], &["'2k' is named twice"]),
    (&["compare", "--age", "2k,2000"], &["'2000' is the same as '2k'"]),
    (&["compare", "--age", "fresh,"], &["'' is not an age"]),
    (&["compare", "--drives", "pageftl,mqsim-b", "--age", "fresh,2k+1mo"], &["mqsim-b", "physics"]),
    (&["compare", "--age", "2k", "--pe", "1k"], &["--age", "--pe"]),
    (&["run", "pageftl", "--age", "fresh,2k"], &["fresh,2k"]),
    (&["run", "pageftl", "--workload", "oltp,rocks"], &["oltp,rocks"]),
    (&["age", "pageftl", "--overwrite", "zipf:2x", "--save", "x.wl"], &["zipf:2x", "random:2x"]),
    (&["trace", "info", "binary.trace"], &["binary.trace"]),
    (&["trace", "convert", "truncated.csv", "--to", "mrs", "--output", "x.csv"], &["mrs", "msr"]),
    (&["trace", "convert", "truncated.csv", "--to", "csv", "--output", "x.csv"], &["truncated.csv:2"]),
    (&["describe", "nothing"], &["nothing"]),
    (&["reproduce", "celsl"], &["celsl", "cells"]),
    (&["reproduce", "cube.inter-layr", "--json", "x.json"], &["cube.inter-layer"]),
    (&["reproduce", "study.toml"], &["study.toml:3", "dV.frsh", "dV.fresh"]),
    (&["reproduce", "arithmetic", "--html", "no/such/folder/x.html"], &["no/such/folder"]),
    (&["reproduce", "cube.drives", "--size", "4pounds"], &["--size", "pounds", "whole"]),
    (&["reproduce", "arithmetic", "--size", "whole"], &["--size", "none of these studies"]),
    (&["characterize", "retrys"], &["retrys", "retries"]),
    (&["characterize", "--lot", "4by4"], &["4by4", "16x12"]),
    (&["characterize", "--lot", "0x4"], &["0x4"]),
    (&["characterize", "--lot", "999999x1"], &["100000"]),
    (&["characterize", "--lot", "1001x1000"], &["1001x1000", "at most 1000000"]),
    (&["characterize", "--lot", "-1x1"], &["-1x1", "16x12"]),
    (&["run", "pageftl", "--requests", "9", "--round", "5"], &["--round"]),
    (&["characterize", "--pe", "0,1kk"], &["1kk"]),
    (&["characterize", "--pe", "-5"], &["-5", "whole number from 0"]),
    (&["characterize", "--against", "mlc48"], &["--against", "reprogram"]),
    (&["characterize", "margins", "--seed", "0"], &["--seed 0", "--seed 1"]),
    (&["characterize", "--retention", "3"], &["3mo"]),
    (&["characterize", "--retention", "3mo@300C"], &["300C"]),
    (&["characterize", "--retention", "3mo,,1y"], &["empty"]),
    (&["characterize", "--by", "layr"], &["layr", "layer"]),
    (&["characterize", "--out", "x.xlsx"], &[".csv", ".parquet"]),
    (&["characterize", "--out", "no/such/folder/x.csv"], &["no/such/folder"]),
    (&["characterize", "layers", "--pe", "1k"], &["conditions of its own"]),
    (&["characterize", "--chip", "tlc84"], &["tlc84"]),
    (&["characterize", "--chip", "femu"], &["femu", "tlc48"]),
    (&["characterize", "--set", "physics.wear.feild=2"], &["feild", "field"]),
    (&["characterize", "--set", "physics.ispe.depth=-1"], &["ispe.depth", "greater than zero"]),
    (&["characterize", "--set", "physics.states.verify=[\"900 mV\", \"1600 mV\"]"], &["states.verify", "7"]),
    (&["reproduce", "reparo.ssd-failure-cause"], &["dies that fail"]),
    (&["chip", "tlc84"], &["tlc84", "tlc48"]),
    (&["chip", "tlc48", "--layer", "kapa"], &["kapa", "kappa"]),
    (&["chip", "tlc48", "--layer", "48"], &["48", "47"]),
    (&["chip", "tlc48", "--show", "vht"], &["vht", "vth"]),
    (&["chip", "tlc48", "--pe", "1k,2k"], &["one P/E count"]),
    (&["chip", "tlc48", "--retention", "1year"], &["yr"]),
    (&["rn", "pageftl"], &["unknown command `rn`", "did you mean `run`?"]),
    (&["xyzzy"], &["unknown command `xyzzy`", "wordline help"]),
    (&["run", "pageftl", "--age", "-2k"], &["'-2k' is not an age"]),
    (&["run", "pageftl", "--size", "-4GiB"], &["a size cannot be negative"]),
];

/// Puts the files there that arguments name.
fn put_files(scratch: &Scratch) {
    scratch.file("truncated.csv", b"128166372003061629,hm,0,Read,383496192,32768,413\n128166372016382155,hm,0,Wri");
    scratch.file("binary.trace", &[0, 159, 146, 150, 7, 255, 254, 0, 0, 1, 2, 3]);
    scratch.file("empty.trace", b"");
    let seven = "128166372003061629,hm,0,Read,383496192,32768,413\n";
    scratch.file("eight.csv", format!("{seven}{},9\n{seven}{seven}", seven.trim_end()).as_bytes());
    scratch.file("late.csv", b"time_us,op,offset,length\n100000000,read,0,4096\n0,read,0,4096\n");
    scratch.file("packed.csv", b"\xFD7zXZ\0\0\x04\xE6\xD6");
    scratch.file("unknown.txt", b"some words in a row\n");
    scratch.file("zero.toml", b"inherit = \"pageftl\"\nsummary = \"x\"\n[flash]\nchannels = { value = 0, source = \"x\" }\n");
    scratch.file("unit.toml", b"inherit = \"pageftl\"\nsummary = \"x\"\n[buffer]\nsize = { value = \"8 MB/s\", source = \"x\" }\n");
    scratch.file("key.toml", b"inherit = \"pageftl\"\nsummary = \"x\"\n[gc]\nvictm = { value = \"greedy\", source = \"x\" }\n");
    scratch.file("old.toml", b"inherit = \"pageftl\"\nsummary = \"x\"\n[reclaim]\nfloor = { value = 2, source = \"x\" }\n");
    scratch.file("load.toml", b"name = \"x\"\npurpose = \"x\"\n[[phases]]\nname = \"a\"\nrequests = 10\nsize = 4096\n");
    let stream = "mix = { read = \"100 %\" }\nsize = \"4 KiB\"\naddress = \"uniform\"\narrival = { queue_depth = 1 }\n";
    scratch.file("both.toml", format!("name = \"x\"\n[[phases]]\nrequests = 1\n{stream}[[jobs]]\nrequests = 1\n{stream}").as_bytes());
    scratch.file("endless.toml", format!("name = \"x\"\n[[jobs]]\n{stream}").as_bytes());
    scratch.file("wrong.fio", b"[a]\nrw=radnread\n");
    scratch.file("waits.fio", b"[a]\n[b]\nsize=${SIZE}\n");
    scratch.file("flows.fio", b"[a]\nflow=3\n[b]\nrw=read:-8k\n");
    scratch.file(
        "files.toml",
        b"name = \"x\"\nalign = \"16 KiB\"\nprefill = \"50 %\"\nlength = \"10 %\"\nqueue_depth = 4\n[[sets]]\nname = \"mail\"\nshare = \"100 %\"\n\
          size = \"16 KiB\"\n[[threads]]\nops = [\n{ do = \"create\", set = \"mial\" }]\n",
    );
    scratch.file("pageftl.toml", b"inherit = \"pageftl\"\nsummary = \"x\"\n");
    scratch.file("damaged.wl", b"WORDLINE DRIVE 1\n\x05\0\0\0\0\0\0\0abc");
    scratch.file("far.csv", b"128166372003061629,hm,0,Read,3834961920000000,32768,413\n");
    scratch.file("slow.csv", b"time_us,op,offset,length\n0,read,0,4096\n1000000,read,0,4096\n");
    scratch.file(
        "study.toml",
        b"title = \"x\"\n[[judge]]\nclaim = \"cube.dev.dV.frsh\"\nmeasured = \"layers.dv-fresh\"\nband = \"1 to 2\"\nwhy = \"x\"\n",
    );
    scratch.file("cells.csv", b"model,WL,Retention,PEC,step,freq\n2,0,1,0,9,5\n2,0,1,0,x,5\n");
    scratch.file("holes.csv", b"model,WL,Retention,PEC,step,freq\n2,0,1,0,9,5\n4,0,1,0,50,5\n");
    let saved = wordline(&scratch.0, &["age", "pageftl", "--fill", "0%", "--save", "whole.wl", "-q"]);
    assert!(saved.status.success(), "{}", String::from_utf8_lossy(&saved.stderr));
    let whole = std::fs::read(scratch.0.join("whole.wl")).expect("it was written");
    scratch.file("longer.wl", &[&whole[..], b"more"].concat());
}

#[test]
fn wrong_input_is_refused_with_the_place_and_the_nearest_right_word() {
    let scratch = Scratch::new("bad-input");
    put_files(&scratch);
    let before = names(&scratch.0);
    for (arguments, expected) in CASES {
        let output = wordline(&scratch.0, arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?} ended with {:?}: {told}", output.status);
        assert!(!told.contains("panicked"), "{arguments:?} panicked: {told}");
        assert!(!told.contains("os error"), "{arguments:?} gives a number of the operating system: {told}");
        for word in *expected {
            assert!(told.contains(word), "{arguments:?} does not mention '{word}': {told}");
        }
        assert_eq!(names(&scratch.0), before, "{arguments:?} left something behind");
    }
}

#[test]
fn a_claim_that_is_off_is_a_finding_and_fails_only_where_that_was_asked_for() {
    let scratch = Scratch::new("strict");
    let study = "title = \"x\"\nlot = \"1x1\"\n[[judge]]\nclaim = \"plock.1gib-file\"\nmeasured = \"arithmetic.page-locks\"\nband = \"BAND\"\nwhy = \"x\"\n";
    scratch.file("off.toml", study.replace("BAND", "at least 65537").as_bytes());
    scratch.file("right.toml", study.replace("BAND", "exactly 65536").as_bytes());
    let code = |arguments: &[&str]| wordline(&scratch.0, arguments).status.code();
    assert_eq!(code(&["reproduce", "off.toml", "-q"]), Some(0));
    assert_eq!(code(&["reproduce", "off.toml", "-q", "--strict"]), Some(1));
    assert_eq!(code(&["reproduce", "right.toml", "-q", "--strict"]), Some(0));
    let output = wordline(&scratch.0, &["reproduce", "off.toml", "-q", "--json", "-"]);
    let lines: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing else");
    assert_eq!((lines[0]["verdict"].as_str(), lines[0]["measured"].as_f64()), (Some("off"), Some(65536.0)));
    for name in ["claim", "source", "paper", "measured", "band", "verdict", "reason"] {
        assert!(lines[0].get(name).is_some(), "{name}");
    }
}

#[test]
fn a_characterisation_is_the_same_with_one_thread_and_with_two() {
    let scratch = Scratch::new("characterize");
    for (threads, name) in [("1", "one.csv"), ("2", "two.csv")] {
        let output = wordline(
            &scratch.0,
            &["characterize", "--lot", "2x5", "--pe", "2k", "--retention", "1y", "--threads", threads, "--out", name, "-q"],
        );
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let read = |name: &str| std::fs::read(scratch.0.join(name)).expect("a table");
    assert_eq!(read("one.csv"), read("two.csv"));
    assert_eq!(read("one.csv").iter().filter(|byte| **byte == b'\n').count(), 1 + 10 * 576);
}

#[test]
fn a_lenient_reading_counts_what_it_passes_over() {
    let scratch = Scratch::new("lenient");
    scratch.file("truncated.csv", b"128166372003061629,hm,0,Write,383496192,32768,413\n128166372016382155,hm,0,Wri");
    let output = wordline(&scratch.0, &["run", "pageftl", "--workload", "truncated.csv", "--lenient", "--quiet"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("1 lines passed over") && told.contains("truncated.csv:2"), "{told}");
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
