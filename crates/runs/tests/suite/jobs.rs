//! Jobs at the same time: they are the streams that they equal, their figures sum to those of the host, and options that cannot mean them are refused.

use wordline_figures::DriveResult;
use wordline_runs::wear_out::{WearOut, wear_out};
use wordline_runs::{Load, LoadKey, RunError, Workload};
use wordline_workload::AnySpec;

use crate::{hash, plan, run};

const STREAM: &str =
    "name = \"one\"\nrequests = 3000\nmix = { read = \"40 %\", write = \"60 %\" }\nsize = \"16 KiB\"\naddress = \"uniform\"\n";
const READER: &str = "[[jobs]]\nname = \"reader\"\nrequests = 2000\nmix = { read = \"100 %\" }\nsize = \"16 KiB\"\naddress = \"uniform\"\n\
                      arrival = { queue_depth = 1 }\npriority = \"high\"\n";
const WRITER: &str = "[[jobs]]\nname = \"writer\"\ncount = 3\nmix = { write = \"100 %\" }\nsize = \"16 KiB\"\naddress = \"uniform\"\n\
                      arrival = { queue_depth = 8 }\n";

fn workload(text: &str) -> Workload {
    match AnySpec::parse(&format!("name = \"x\"\n{text}"), "x.toml").unwrap_or_else(|error| panic!("{error}")) {
        AnySpec::Phases(spec) => Workload::Made(spec),
        AnySpec::Jobs(spec) => Workload::Jobs(spec),
        AnySpec::Files(_) => panic!("it has no files"),
    }
}

fn result(text: &str, load: &Load) -> DriveResult {
    run(&plan(&[]), &workload(text), load).result
}

#[test]
fn one_job_makes_the_run_of_the_phase_that_it_equals() {
    for arrival in ["{ queue_depth = 16 }", "{ rate = \"5 k/s\" }"] {
        let [phase, job] = ["phases", "jobs"].map(|kind| {
            let text = format!("[[{kind}]]\n{STREAM}arrival = {arrival}\n");
            run(&plan(&[]), &workload(&text), &Load::default())
        });
        assert_eq!(hash(&phase), hash(&job), "{arrival}");
        assert_eq!((phase.result.host.clone(), phase.result.phases.len()), (job.result.host.clone(), 0));
        let [only] = job.result.jobs.as_slice() else { panic!("one job") };
        assert!(phase.result.jobs.is_empty());
        assert_eq!((only.host.reads, only.host.writes), (job.result.host.reads, job.result.host.writes));
        assert_eq!(only.latency_us, job.result.latency_us);
    }
}

#[test]
fn requests_of_jobs_sum_to_those_of_the_host_and_each_has_its_own_latencies() {
    let result = result(&format!("{READER}{WRITER}"), &Load::default());
    let names: Vec<&str> = result.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["reader", "writer 1", "writer 2", "writer 3"]);
    assert_eq!(result.jobs.iter().map(|job| job.host.reads).sum::<u64>(), result.host.reads);
    assert_eq!(result.jobs.iter().map(|job| job.host.writes).sum::<u64>(), result.host.writes);
    assert_eq!(result.jobs.iter().map(|job| job.host.write_bytes).sum::<u64>(), result.host.write_bytes);
    assert_eq!((result.jobs[0].host.reads, result.host.queue_depth, result.jobs[1].host.queue_depth), (2_000, Some(25), Some(8)));
    assert!(result.jobs[1..].iter().all(|job| job.host.writes > 100 && job.latency_us.read.is_none()));
    // Little's law of each closed job by itself.
    for job in &result.jobs {
        let latency = [&job.latency_us.read, &job.latency_us.write].into_iter().flatten().map(|latency| latency.mean).sum::<f64>();
        let in_flight = job.host.iops * latency / 1e6;
        let depth = f64::from(job.host.queue_depth.expect("closed"));
        assert!((in_flight / depth - 1.0).abs() < 0.05, "{}: {in_flight} of {depth} in flight", job.name);
    }
    assert!(result.checks.passed);
}

#[test]
fn a_number_of_requests_is_one_of_all_jobs_together() {
    let result = result(&format!("{READER}{WRITER}"), &Load { requests: Some(1_000), ..Load::default() });
    let all: u64 = result.jobs.iter().map(|job| job.host.reads + job.host.writes).sum();
    assert!((1_000..1_032).contains(&all), "{all} requests");
    assert!(result.in_flight.at_end > 0);
}

#[test]
fn what_cannot_mean_jobs_is_refused_with_the_name_of_the_workload() {
    let refused = |load: Load| match Workload::load("reader-beside-writers", &load, &mut |_| {}) {
        Err(error @ RunError::NotForJobs { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let told = refused(Load { queue_depth: Some(4), ..Load::default() });
    assert!(told.contains("--qd") && told.contains("reader-beside-writers"), "{told}");
    let told = refused(Load { until_steady: true, ..Load::default() });
    assert!(told.contains("--until-steady") && told.contains("reader-beside-writers"), "{told}");
    let length = Load { length: Some(1.0), ..Load::default() };
    assert!(matches!(
        Workload::load("reader-beside-writers", &length, &mut |_| {}),
        Err(RunError::OnlyForFiles { key: LoadKey::Length, .. })
    ));
    let worn =
        wear_out(&plan(&["faults.endurance=20"]), &workload(&format!("{READER}{WRITER}")), &Load::default(), &WearOut::default(), &mut ());
    assert!(matches!(worn, Err(RunError::LifeOfJobs(name)) if name == "x"));
}
