//! Jobs from a job file of fio to rows of a report.

use crate::{Scratch, wordline};

const FIO: &str = "[global]\nioengine=io_uring\ndirect=1\n[reader]\nrw=randread\nbs=4k\nnumber_ios=300\nprioclass=1\n[writers]\nrw=randwrite\nbs=16k\niodepth=4\n\
                   numjobs=2\nnumber_ios=200\nfsync=8\n";

#[test]
fn a_job_file_of_fio_becomes_rows_of_a_report() {
    let scratch = Scratch::new("jobs");
    scratch.file("mixed.fio", FIO.as_bytes());
    let printed = wordline(&scratch.0, &["import", "fio", "mixed.fio"]);
    let text = String::from_utf8(printed.stdout).expect("it is text");
    assert!(printed.status.success() && text.contains("flush_every = 8") && text.contains("# [global] direct=1"), "{text}");
    let written = wordline(&scratch.0, &["import", "fio", "mixed.fio", "--output", "mixed.toml"]);
    assert!(
        written.status.success() && std::fs::read_to_string(scratch.0.join("mixed.toml")).expect("it was written").trim() == text.trim()
    );

    let arguments = ["run", "pageftl", "--size", "1GiB", "--workload", "mixed.toml", "--json", "r.json", "--html", "r.html", "-q"];
    let run = wordline(&scratch.0, &arguments);
    let told = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert!(told.contains("by job") && told.contains("writers 2"), "{told}");
    let read = |name: &str| std::fs::read_to_string(scratch.0.join(name)).expect("it was written");
    let json: serde_json::Value = serde_json::from_str(&read("r.json")).expect("it is JSON");
    let jobs = json["drives"][0]["jobs"].as_array().expect("it has jobs");
    let counts: Vec<(&str, u64, u64)> = jobs
        .iter()
        .map(|job| {
            let count = |of: &str| job["host"][of].as_u64().expect("a number");
            (job["name"].as_str().expect("a name"), count("reads"), count("writes"))
        })
        .collect();
    assert_eq!(counts, [("reader", 300, 0), ("writers 1", 0, 200), ("writers 2", 0, 200)]);
    let page = read("r.html");
    assert!(page.contains("By job") && page.contains("Read latency by job") && page.contains("writers 2"));
}

#[test]
fn jobs_that_wait_become_phases_whose_jobs_have_rows_of_their_own() {
    let scratch = Scratch::new("phased-jobs");
    let text = "[global]\nioengine=libaio\nbs=16k\nfilename=/dev/x\nnumber_ios=${COUNT}\n[fill]\nrw=write\n[reader]\nstonewall\nrw=randread\nflow=2\n[writers]\n\
                rw=randwrite\nnumjobs=2\n";
    scratch.file("waits.fio", text.as_bytes());
    let strict = wordline(&scratch.0, &["import", "fio", "waits.fio", "-D", "COUNT=100", "--output", "w.toml"]);
    assert_eq!(strict.status.code(), Some(2));
    assert!(!scratch.0.join("w.toml").exists(), "nothing is half-written");
    let lenient = wordline(&scratch.0, &["import", "fio", "waits.fio", "--define", "COUNT=100", "--lenient", "--output", "w.toml"]);
    let told = String::from_utf8_lossy(&lenient.stderr).into_owned();
    assert!(
        lenient.status.success() && told.starts_with("wordline: left out: waits.fio:11: flow=2: ") && told.lines().count() == 1,
        "{told}"
    );

    let run = |name: &str, more: &[&str]| {
        let arguments = [&["run", "pageftl", "--size", "1GiB", "--workload", "w.toml", "-q", "--json", name], more].concat();
        let run = wordline(&scratch.0, &arguments);
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let json = std::fs::read_to_string(scratch.0.join(name)).expect("it was written");
        let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
        let rows = |of: &str| -> Vec<(String, u64)> {
            let rows = json["drives"][0][of].as_array().cloned().unwrap_or_default();
            let count =
                |row: &serde_json::Value| ["reads", "writes"].iter().map(|kind| row["host"][kind].as_u64().expect("a number")).sum();
            rows.iter().map(|row| (row["name"].as_str().expect("a name").to_owned(), count(row))).collect()
        };
        (rows("phases"), rows("jobs"), String::from_utf8_lossy(&run.stdout).into_owned())
    };
    let own = |rows: &[(&str, u64)]| -> Vec<(String, u64)> { rows.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect() };
    let (phases, jobs, text) = run("r.json", &[]);
    assert_eq!(phases, own(&[("fill", 100), ("phase 2", 300)]));
    assert_eq!(jobs, own(&[("fill", 100), ("phase 2/reader", 100), ("phase 2/writers 1", 100), ("phase 2/writers 2", 100)]));
    assert!(text.contains("phase 2/writers 2"), "the name is whole: {text}");
    let (_, jobs, _) = run("few.json", &["--requests", "150"]);
    assert!((150..160).contains(&jobs.iter().map(|(_, count)| count).sum::<u64>()), "{jobs:?}");
    assert_eq!(jobs[0].1, 100, "the first phase ends before the second begins: {jobs:?}");
}
