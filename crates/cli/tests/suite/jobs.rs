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
    assert!(printed.status.success() && text.contains("# fsync=8") && text.contains("# [global] direct=1"), "{text}");
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
