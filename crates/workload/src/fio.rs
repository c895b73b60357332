//! Job files of fio, written as workloads of jobs.
//!
//! ```text
//! [section] key=value ─ lines ─► sections ─ job (values, keys) ─► [[jobs]], and a comment for each key that has no counterpart
//! ```
//!
//! What is not understood is never dropped in silence: a key is used, or is printed as a comment with its name, or is an error with its place.

mod job;
mod keys;
mod lines;
mod values;

use std::fmt::Write;

use crate::spec::{JobsSpec, SpecError};
use job::Job;
use lines::{Section, sections};

/// Writes the job file `text`, called `file` in messages, as a workload file with `[[jobs]]`.
///
/// # Errors
/// Something is wrong with a line, or the jobs cannot be told as a workload of jobs.
pub fn import(text: &str, file: &str) -> Result<String, SpecError> {
    let told = |(span, message): lines::Fault| SpecError::at(file, text, Some(span), message);
    let sections = sections(text).map_err(told)?;
    let jobs: Vec<&Section<'_>> = sections.iter().filter(|section| !section.is_global()).collect();
    if jobs.is_empty() {
        return Err(SpecError::at(file, text, Some(0..0), "no job: expected a section such as [reader] beside [global]"));
    }
    sections.iter().flat_map(|section| &section.entries).try_for_each(keys::check).map_err(told)?;
    let mut written = String::new();
    for (number, section) in jobs.iter().enumerate() {
        // A section of global keys holds for the jobs below it.
        let globals: Vec<&Section<'_>> =
            sections.iter().filter(|global| global.is_global() && global.span.start < section.span.start).collect();
        let job = Job::read(section, &globals, number).map_err(told)?;
        job.write(&mut written);
    }
    let stem = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let stem = stem.strip_suffix(".fio").unwrap_or(stem);
    let name = if stem.trim().is_empty() { "fio" } else { stem };
    let mut workload = String::new();
    // Writing into a String cannot fail.
    let _ = writeln!(workload, "# Written by `wordline import fio`. Comments name what has no counterpart here.\n");
    let _ = writeln!(workload, "name = {}", quoted(name));
    let _ = writeln!(workload, "purpose = {}\n", quoted(&format!("the jobs of {file}")));
    for global in sections.iter().filter(|section| section.is_global()) {
        for entry in global.entries.iter().filter(|entry| entry.is_told()) {
            comment(&mut workload, "[global] ", entry);
        }
    }
    workload.push_str(written.trim_end());
    workload.push('\n');
    match JobsSpec::parse(&workload, file) {
        Ok(_) => Ok(workload),
        Err(error) => Err(SpecError::at(file, "", None, format!("these jobs are no workload: {}", error.message()))),
    }
}

/// A line that names a key without a counterpart.
fn comment(text: &mut String, of: &str, entry: &lines::Entry<'_>) {
    let why = entry.why().unwrap_or_else(|| keys::why(entry.key).to_owned());
    let equals = if entry.value.is_empty() { "" } else { "=" };
    let _ = writeln!(text, "# {}", plain(&format!("{of}{}{equals}{}: {why}", entry.key, entry.value)));
}

/// `text` in one line without control characters.
fn plain(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

/// `text` as a string of TOML.
fn quoted(text: &str) -> String {
    format!("\"{}\"", plain(text).replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wordline_units::{Bytes, Nanos, Priority};

    use super::*;
    use crate::spec::{Address, Amount, Arrival, Mix, Process};

    fn imported(text: &str) -> (String, JobsSpec) {
        let workload = import(text, "x.fio").unwrap_or_else(|error| panic!("{error}"));
        let spec = JobsSpec::parse(&workload, "x.toml").unwrap_or_else(|error| panic!("{error}\n{workload}"));
        (workload, spec)
    }

    const MIXED: &str = "; a comment\n[global]\nioengine=libaio\ndirect=1\nruntime=10s\ntime_based\nsize=1g\n\n[reader]\nrw=randread\nbs=4k\niodepth=1\nprio=0\n\
                         prioclass=1\n\n[writers]\nrw=randwrite\nbs=16k # of a page\niodepth=16\nnumjobs=4\nfsync=32\nrandom_distribution=zipf:1.1\n";

    #[test]
    fn jobs_of_fio_become_jobs_with_what_is_global() {
        let (workload, spec) = imported(MIXED);
        assert_eq!(
            spec.jobs.iter().map(|job| job.name.as_str()).collect::<Vec<_>>(),
            ["reader", "writers 1", "writers 2", "writers 3", "writers 4"]
        );
        let [reader, writer] = [&spec.jobs[0], &spec.jobs[1]];
        assert_eq!((reader.mix, writer.mix), (Mix::reads(1.0), Mix::reads(0.0)));
        assert_eq!((reader.sizes[0].0, writer.sizes[0].0), (Bytes::kib(4), Bytes::kib(16)));
        assert_eq!((reader.queue_depth(), writer.queue_depth()), (Some(1), Some(16)));
        assert_eq!((reader.priority, writer.priority), (Priority::Urgent, Priority::Normal));
        assert_eq!((reader.limit.time, reader.limit.bytes), (Some(Nanos::from_secs(10)), None));
        assert_eq!(reader.span, Amount::Bytes(Bytes::mib(1024)));
        assert_eq!(writer.address, Address::Zipf { theta: 1.1, scatter: true });
        for named in ["# [global] direct=1", "# fsync=32"] {
            assert!(workload.contains(named), "{workload}");
        }
    }

    #[test]
    fn what_fio_does_without_being_told_is_done_here_too() {
        let (_, spec) = imported("[a]\nsize=64m\n");
        let job = &spec.jobs[0];
        assert_eq!((job.mix, &job.address, job.queue_depth()), (Mix::reads(1.0), &Address::Sequential { streams: 1 }, Some(1)));
        assert_eq!((job.sizes[0], job.limit.bytes), ((Bytes::kib(4), 1.0), Some(Amount::Bytes(Bytes::mib(64)))));
    }

    #[test]
    fn every_kind_of_value_is_understood() {
        let read = |lines: &str| imported(&format!("[a]\n{lines}\n")).1.jobs.remove(0);
        let job = read("rw=randrw\nrwmixread=70\nsize=50%\noffset=25%\nio_size=2g\nruntime=1m\nnumber_ios=5000\nbs=8k,8k");
        assert!((job.mix.read - 0.7).abs() < 1e-9);
        assert_eq!((job.start, job.span), (Amount::OfDrive(0.25), Amount::OfDrive(0.5)));
        assert_eq!((job.limit.requests, job.limit.time), (Some(5_000), Some(Nanos::from_secs(60))));
        assert_eq!((job.limit.bytes, job.sizes[0].0), (Some(Amount::Bytes(Bytes::mib(2048))), Bytes::kib(8)));
        assert_eq!(read("rw=rw\nrwmixwrite=20").mix.read, 0.8);
        assert_eq!(read("readwrite=readwrite").mix.read, 0.5);
        assert_eq!((read("rw=trim").mix.trim, read("rw=randtrim").address), (1.0, Address::Uniform));
        let sizes = read("rw=randread\nbssplit=4k/50:64k/:32k/").sizes;
        assert_eq!(sizes, [(Bytes::kib(4), 0.5), (Bytes::kib(64), 0.25), (Bytes::kib(32), 0.25)]);
        let parts = read("rw=randread\npercentage_random=75").address;
        assert_eq!(parts, Address::Mixed(vec![(0.75, Address::Uniform), (0.25, Address::Sequential { streams: 1 })]));
        let open = read("rw=randwrite\nrate_iops=500\nioengine=io_uring").arrival;
        assert_eq!(open, Arrival::Open { rate: 500.0, process: Process::Constant, burst: None });
        let open = read("rw=randwrite\nrate_iops=2k\nrate_process=poisson").arrival;
        assert_eq!(open, Arrival::Open { rate: 2_048.0, process: Process::Poisson, burst: None });
        assert_eq!(read("rw=write\nsync=1").fua, 1.0);
        assert_eq!(read("prioclass=3").priority, Priority::Low);
        assert_eq!(read("bs=4k\nkb_base=1000\nbs=1Mi").sizes[0].0, Bytes::mib(1));
        assert_eq!(read("rw=randread\niodepth=32\nioengine=psync").queue_depth(), Some(1));
        assert_eq!(read("iodepth=0x10\nioengine=libaio").queue_depth(), Some(16));
    }

    /// Keys that fio has and this does not do anything about, and values of those that it does that have no counterpart.
    #[test]
    fn no_key_is_dropped_without_a_comment_that_names_it() {
        let used = ["rw=randread", "bs=4k", "size=1m", "ioengine=libaio", "iodepth=4"];
        for key in keys::OTHERS.iter().chain(&["zzzzzzzzzz_private_option"]) {
            for (section, value) in [("global", "1"), ("a", "abc"), ("a", "")] {
                let line = if value.is_empty() { (*key).to_owned() } else { format!("{key}={value}") };
                let text = if section == "global" {
                    format!("[global]\n{line}\n[a]\n{}\n", used.join("\n"))
                } else {
                    format!("[a]\n{}\n{line}\n", used.join("\n"))
                };
                let (workload, _) = imported(&text);
                let comments = workload.lines().filter(|line| line.starts_with("# "));
                assert!(comments.clone().any(|comment| comment.contains(&line)), "{line}:\n{workload}");
            }
        }
        let partly = [
            "random_distribution=zoned:60/10:30/20:10/70",
            "random_distribution=pareto:0.9",
            "bs=8k\nbs=4k",
            "iodepth=8\nioengine=sync",
            "time_based",
            "rate_iops=100",
            "stonewall",
            "rwmixread=70",
            "percentage_random=50",
            "fsync=1",
            "rw=randread:8",
            "prioclass=1\nprio=7",
            "offset=1m\nsync=1",
            "rate_process=poisson",
        ];
        for lines in partly {
            let (workload, _) = imported(&format!("[a]\nrw=read\nsize=1m\nioengine=libaio\niodepth=4\n{lines}\n"));
            for line in lines
                .lines()
                .filter(|line| !["bs=4k", "ioengine=sync", "prioclass=1", "offset=1m", "rate_iops=100", "rw=randread:8"].contains(line))
            {
                assert!(workload.lines().any(|told| told.starts_with("# ") && told.contains(line)), "{line}:\n{workload}");
            }
        }
        let (workload, _) = imported("[global]\nbs=64k\n[a]\nsize=1m\nbs=4k\n[b]\nsize=1m\nrw=randread:8\n");
        assert!(!workload.contains("# [global] bs"), "it is used by b: {workload}");
        assert!(workload.contains("# rw=randread:8"), "{workload}");
        let (workload, _) = imported("[a]\nsize=1m\n[global]\ndirect=1\nbs=8k\n");
        assert!(workload.contains("# [global] direct=1") && workload.contains("# [global] bs=8k"), "it stands below all jobs: {workload}");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line_and_the_nearest_right_word() {
        let cases = [
            ("[a]\nrw=radnread\n", 2, "did you mean 'randread'?"),
            ("[a]\nsize=1m\niodpeth=4\n", 3, "did you mean 'iodepth'?"),
            ("[a]\nioengine=libiao\n", 2, "did you mean 'libaio'?"),
            ("[a]\nbs=4k,8k\nrw=randrw\n", 2, "8 KiB"),
            ("[a]\nbs=1000\n", 2, "multiple of 512 B"),
            ("[a]\nbs=4q\n", 2, "'4q'"),
            ("[a]\nbssplit=4k/50:8k/60\n", 2, "110 %"),
            ("[a]\nbssplit=4k/50:8k/50,4k/100\nrw=randrw\n", 2, "one list"),
            ("[a]\nsize=1m\n[b]\nsize=1m\nstonewall\n", 5, "one after another"),
            ("[global]\nstonewall\n[a]\nsize=1m\n[b]\nsize=1m\n", 2, "one after another"),
            ("[a]\nnumjobs=0\n", 2, "from 1"),
            ("[a]\nnumjobs=300\n", 2, "256"),
            ("[a]\niodepth=many\n", 2, "'many'"),
            ("[a]\nruntime=ten\n", 2, "'ten'"),
            ("rw=read\n", 1, "before the first [section]"),
            ("[a\nrw=read\n", 1, "']'"),
            ("[a]\nrw=read\nrandom_distribution=zipf:9\nrw=randread\n", 3, "5"),
            ("[a]\nsize=${SIZE}\n", 2, "environment"),
            ("[a]\ninclude other.fio\n", 2, "include"),
            ("[a]\nprioclass=4\n", 2, "from 0 to 3"),
            ("[a]\nrwmixread=170\nrw=rw\n", 2, "from 0 to 100"),
            ("# nothing\n[global]\nbs=4k\n", 1, "no job"),
        ];
        for (text, line, told) in cases {
            let error = import(text, "jobs.fio").expect_err(told);
            assert!(error.to_string().starts_with("jobs.fio:") && error.message().contains(told), "{text}: {error}");
            assert_eq!(error.position().map(|(line, _)| line), Some(line), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_workload_or_a_message(text in "\\PC{0,200}") {
            if let Ok(workload) = import(&text, "x.fio") {
                prop_assert!(JobsSpec::parse(&workload, "x.toml").is_ok());
            }
        }

        #[test]
        fn any_lines_of_keys_are_a_workload_or_a_message(
            lines in prop::collection::vec((prop::sample::select([keys::USED, keys::OTHERS].concat()), "[0-9a-z:/,.%=#\\[\\]\"\\\\]{0,10}"), 0..12),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut lines: Vec<String> = lines.into_iter().map(|(key, value)| format!("{key}={value}")).collect();
            lines.insert(0, "[global]".to_owned());
            lines.insert(1 + cut.index(lines.len()), "[\"job\\]".to_owned());
            match import(&lines.join("\n"), "x.fio") {
                Ok(workload) => prop_assert!(JobsSpec::parse(&workload, "x.toml").is_ok()),
                Err(error) => prop_assert!(error.to_string().starts_with("x.fio")),
            }
        }
    }
}
