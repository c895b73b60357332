//! Job files of fio, written as workloads of jobs, or of phases where jobs wait for others.
//!
//! ```text
//! [section] key=value ─ lines ─► sections ─ given ─► job (does, extent, sizes, places, pace; keys) ─ phases ─► [[jobs]] or [[phases]]
//! ```
//!
//! Each key is in one class: it is written with the keys of a workload file, it changes no request (a comment names it), or requests would be others without
//! it, which is an error unless such keys may be left out.

mod does;
mod extent;
mod given;
mod job;
mod keys;
mod lines;
mod pace;
mod phases;
mod places;
mod sizes;
mod values;

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::AnySpec;
use crate::spec::SpecError;
use job::Job;
use lines::{Entry, Section, sections};

/// Keys that a message names beside the first one.
const OTHERS_SHOWN: usize = 5;

/// Choices of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// True if keys without which requests are others are left out. Otherwise they are errors.
    pub is_lenient: bool,
    /// Values of variables (`${NAME}`), by name; of two with one name the later one holds.
    pub defines: Vec<(String, String)>,
}

/// A job file as a workload file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The workload file: `[[jobs]]`, or `[[phases]]` where jobs wait for others.
    pub workload: String,
    /// Keys that were left out and make requests others than those of fio, each with its place and the reason.
    pub left_out: Vec<String>,
}

/// Writes the job file `text`, called `file` in messages, as a workload file.
///
/// # Errors
/// Something is wrong with a line, a key that changes requests has no counterpart, or the jobs cannot be told as a workload.
pub fn import(text: &str, file: &str, options: &ImportOptions) -> Result<Imported, SpecError> {
    let told = |(span, message): lines::Fault| SpecError::at(file, text, Some(span), message);
    let sections = sections(text, &options.defines).map_err(told)?;
    let jobs: Vec<&Section<'_>> = sections.iter().filter(|section| !section.is_global()).collect();
    if jobs.is_empty() {
        return Err(SpecError::at(file, text, Some(0..0), "no job: expected a section such as [reader] beside [global]"));
    }
    sections.iter().flat_map(Section::entries).try_for_each(Entry::check).map_err(told)?;
    // A section of global keys holds for the jobs below it.
    let globals = |section: &Section<'_>| -> Vec<&Section<'_>> {
        sections.iter().filter(|global| global.is_global() && global.span().start < section.span().start).collect()
    };
    let globals: Vec<Vec<&Section<'_>>> = jobs.iter().map(|section| globals(section)).collect();
    let read = jobs.iter().zip(&globals).map(|(section, globals)| Job::read(section, globals, jobs.len() == 1));
    let read = read.collect::<Result<Vec<_>, _>>().map_err(told)?;
    let idle: Vec<&Section<'_>> = jobs.iter().zip(&read).filter(|(_, job)| job.is_idle()).map(|(section, _)| *section).collect();
    let phases = phases::phases(&read).map_err(told)?;
    let written = tables(&read, &phases);
    let refused = refused(&sections);
    if let Some((first, others)) = refused.split_first().filter(|_| !options.is_lenient) {
        return Err(told((first.span(), strict(text, first, others))));
    }
    if idle.len() == jobs.len() {
        return Err(SpecError::at(file, text, Some(jobs[0].span()), "no job here asks a drive for anything"));
    }
    let workload = whole(file, &sections, &idle, &written);
    if let Err(error) = AnySpec::parse(&workload, file) {
        return Err(SpecError::at(file, "", None, format!("these jobs are no workload: {}", error.message())));
    }
    let left_out = |entry: &&Entry<'_>| plain(&format!("{file}:{}: {}: {}", line(text, entry), entry.line(), reason(entry)));
    Ok(Imported { workload, left_out: refused.iter().map(left_out).collect() })
}

/// The workload file: its head, what has no counterpart for all jobs, and the jobs.
fn whole(file: &str, sections: &[Section<'_>], idle: &[&Section<'_>], written: &str) -> String {
    let stem = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let stem = stem.strip_suffix(".fio").unwrap_or(stem);
    let name = if stem.trim().is_empty() { "fio" } else { stem };
    let mut workload = String::new();
    // Writing into a String cannot fail.
    let _ = writeln!(workload, "# Written by `wordline import fio`. Comments name what has no counterpart here.\n");
    let _ = writeln!(workload, "name = {}", quoted(name));
    let _ = writeln!(workload, "purpose = {}\n", quoted(&format!("the jobs of {file}")));
    for section in sections.iter().filter(|section| section.is_global() || idle.iter().any(|idle| std::ptr::eq(*idle, *section))) {
        for entry in section.entries().iter().filter(|entry| entry.is_told()) {
            comment(&mut workload, &format!("[{}] ", section.name()), entry);
        }
    }
    workload.push_str(written.trim_end());
    workload.push('\n');
    workload
}

/// The tables of jobs in these phases: `[[jobs]]` where there is one phase, `[[phases]]` where each has one job, and else phases that hold jobs.
fn tables(jobs: &[Job<'_>], phases: &[Vec<usize>]) -> String {
    let mut laid_out = extent::lay_out(&jobs.iter().filter_map(Job::extent).collect::<Vec<_>>()).into_iter();
    let places: Vec<_> = jobs.iter().map(|job| if job.is_idle() { Vec::new() } else { laid_out.next().unwrap_or_default() }).collect();
    let mut taken = BTreeSet::new();
    let mut unique = |name: &str| {
        let names = std::iter::once(name.to_owned()).chain((2..).map(|number| format!("{name} ({number})")));
        names.into_iter().find(|name| taken.insert(name.clone())).unwrap_or_default()
    };
    let names: Vec<String> = jobs.iter().map(|job| unique(job.name())).collect();
    let mut text = String::new();
    for (number, phase) in phases.iter().enumerate() {
        let write = |head: &str, job: usize, name: &str, text: &mut String| jobs[job].write(text, head, name, &places[job]);
        match phase.as_slice() {
            _ if phases.len() == 1 => phase.iter().for_each(|job| write("jobs", *job, &names[*job], &mut text)),
            [only] if jobs[*only].count() == 1 => write("phases", *only, &names[*only], &mut text),
            [only] => {
                let _ = writeln!(text, "[[phases]]\nname = {}\n", quoted(&names[*only]));
                write("phases.jobs", *only, "job", &mut text);
            }
            _ => {
                let _ = writeln!(text, "[[phases]]\nname = {}\n", quoted(&unique(&format!("phase {}", number + 1))));
                phase.iter().for_each(|job| write("phases.jobs", *job, &names[*job], &mut text));
            }
        }
    }
    text
}

/// The entries without which requests are others than those of fio.
fn refused<'s, 'a>(sections: &'s [Section<'a>]) -> Vec<&'s Entry<'a>> {
    sections.iter().flat_map(Section::entries).filter(|entry| entry.refused().is_some()).collect()
}

/// The message of an import that may leave out nothing which changes requests.
fn strict(text: &str, first: &Entry<'_>, others: &[&Entry<'_>]) -> String {
    let listed = others.iter().take(OTHERS_SHOWN).map(|entry| format!("{} in line {}", entry.written(), line(text, entry)));
    let mut listed: Vec<String> = listed.collect();
    if others.len() > OTHERS_SHOWN {
        listed.push(format!("{} more", others.len() - OTHERS_SHOWN));
    }
    let (also, it) = if listed.is_empty() { (String::new(), "it") } else { (format!(" (and without {})", listed.join(", ")), "them") };
    plain(&format!("{}: {}; requests would be others without it{also}; --lenient leaves {it} out", first.written(), reason(first)))
}

/// Why requests would be others.
fn reason(entry: &Entry<'_>) -> String {
    entry.refused().unwrap_or_default()
}

/// The line in which an entry stands, from 1.
fn line(text: &str, entry: &Entry<'_>) -> usize {
    text.get(..entry.span().start).map_or(0, |before| before.matches('\n').count()) + 1
}

/// A line that names a key without a counterpart.
fn comment(text: &mut String, of: &str, entry: &Entry<'_>) {
    let why = entry.why().unwrap_or_else(|| "of no effect here".to_owned());
    // Writing into a String cannot fail.
    let _ = writeln!(text, "# {}", plain(&format!("{of}{}: {why}", entry.line())));
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
    use crate::spec::{Address, Amount, Arrival, Mix, PhaseSpec, Process, Rate, Zone};
    use crate::{JobsSpec, WorkloadSpec};

    const STRICT: ImportOptions = ImportOptions { is_lenient: false, defines: Vec::new() };
    const LENIENT: ImportOptions = ImportOptions { is_lenient: true, defines: Vec::new() };

    fn imported(text: &str, options: &ImportOptions) -> (Imported, AnySpec) {
        let imported = import(text, "x.fio", options).unwrap_or_else(|error| panic!("{error}"));
        let spec = AnySpec::parse(&imported.workload, "x.toml").unwrap_or_else(|error| panic!("{error}\n{}", imported.workload));
        (imported, spec)
    }

    fn jobs(text: &str) -> (String, JobsSpec) {
        match imported(text, &STRICT) {
            (imported, AnySpec::Jobs(spec)) => (imported.workload, spec),
            (imported, _) => panic!("{}", imported.workload),
        }
    }

    fn phases(text: &str) -> WorkloadSpec {
        match imported(text, &STRICT) {
            (_, AnySpec::Phases(spec)) => spec,
            (imported, _) => panic!("{}", imported.workload),
        }
    }

    fn one(lines: &str) -> PhaseSpec {
        jobs(&format!("[a]\n{lines}\n")).1.phases.remove(0).jobs.remove(0)
    }

    const MIXED: &str = "; a comment\n[global]\nioengine=libaio\ndirect=1\nruntime=10s\ntime_based\nsize=1g\nfilename=/dev/x\n\n[reader]\nrw=randread\nbs=4k\niodepth=1\nprio=0\n\
                         prioclass=1\n\n[writers]\nrw=randwrite\nbs=16k # of a page\niodepth=16\nnumjobs=4\nfsync=32\nrandom_distribution=zipf:1.1\n";

    #[test]
    fn jobs_of_fio_become_jobs_with_what_is_global() {
        let (workload, spec) = jobs(MIXED);
        assert_eq!(
            spec.jobs().map(|job| job.name.as_str()).collect::<Vec<_>>(),
            ["reader", "writers 1", "writers 2", "writers 3", "writers 4"]
        );
        let [reader, writer] = [0, 4].map(|number| spec.jobs().nth(number).expect("it is there"));
        assert_eq!((reader.mix, writer.mix), (Mix::reads(1.0), Mix::reads(0.0)));
        assert_eq!((reader.sizes[0].0, writer.sizes[0].0), (Bytes::kib(4), Bytes::kib(16)));
        assert_eq!((reader.queue_depth(), writer.queue_depth()), (Some(1), Some(16)));
        assert_eq!((reader.priority, writer.priority), (Priority::Urgent, Priority::Normal));
        assert_eq!((reader.limit.time, reader.limit.bytes), (Some(Nanos::from_secs(10)), None));
        assert_eq!((reader.span, writer.start), (Amount::Bytes(Bytes::mib(1024)), Amount::Bytes(Bytes(0))), "all are on one drive");
        assert_eq!((writer.flush_every, reader.flush_every), (Some(32), None));
        assert_eq!((&reader.address, &writer.address), (&Address::Shuffled, &Address::Zipf { theta: 1.1, scatter: true }));
        assert!(workload.contains("# [global] direct=1"), "{workload}");
    }

    #[test]
    fn what_fio_does_without_being_told_is_done_here_too() {
        let (_, spec) = jobs("[a]\nsize=64m\n");
        let job = &spec.phases[0].jobs[0];
        assert_eq!((job.mix, &job.address, job.queue_depth()), (Mix::reads(1.0), &Address::Sequential { streams: 1 }, Some(1)));
        assert_eq!((job.sizes[0], job.limit.bytes), ((Bytes::kib(4), 1.0), Some(Amount::Bytes(Bytes::mib(64)))));
    }

    #[test]
    fn every_kind_of_value_is_understood() {
        let job = one("rw=randrw\nrwmixread=70\nsize=50%\noffset=25%\nio_size=2g\nruntime=1m\nnumber_ios=5000\nbs=8k,8k");
        assert!((job.mix.read - 0.7).abs() < 1e-9);
        assert_eq!((job.start, job.span), (Amount::OfDrive(0.25), Amount::OfDrive(0.5)));
        assert_eq!((job.limit.requests, job.limit.time), (Some(5_000), Some(Nanos::from_secs(60))));
        assert_eq!((job.limit.bytes, job.sizes[0].0), (Some(Amount::Bytes(Bytes::mib(2048))), Bytes::kib(8)));
        assert_eq!(one("rw=rw\nrwmixwrite=20").mix.read, 0.8);
        assert_eq!(one("readwrite=readwrite").mix.read, 0.5);
        assert_eq!((one("rw=trim").mix.trim, one("rw=randtrim\nnorandommap").address), (1.0, Address::Uniform));
        let sizes = one("rw=randread\nbssplit=4k/50:64k/:32k/").sizes;
        assert_eq!(sizes, [(Bytes::kib(4), 0.5), (Bytes::kib(64), 0.25), (Bytes::kib(32), 0.25)]);
        assert_eq!(one("bsrange=4k-16k").sizes, [4, 8, 12, 16].map(|kib| (Bytes::kib(kib), 0.25)));
        let odd = one("bsrange=4k-10k").sizes;
        assert_eq!(odd.iter().map(|(size, _)| *size).collect::<Vec<_>>(), [4, 8, 10].map(Bytes::kib));
        assert!(odd.iter().zip([0.4, 0.4, 0.2]).all(|((_, share), expected)| (share - expected).abs() < 1e-9), "{odd:?}");
        let parts = one("rw=randread\npercentage_random=75\nnorandommap").address;
        assert_eq!(parts, Address::Mixed(vec![(0.75, Address::Uniform), (0.25, Address::Sequential { streams: 1 })]));
        let open = |rate, process| Arrival::Open { rate: Rate::PerSecond(rate), process, burst: None };
        assert_eq!(one("rw=randwrite\nrate_iops=500\nioengine=io_uring").arrival, open(500.0, Process::Constant));
        assert_eq!(one("rw=randwrite\nrate_iops=2k\nrate_process=poisson").arrival, open(2_048.0, Process::Poisson));
        assert_eq!(one("rw=randwrite\nbs=4k\nrate=1m\n").arrival, open(256.0, Process::Constant));
        assert_eq!(one("rw=write\nsync=1").fua, 1.0);
        assert_eq!(one("prioclass=3").priority, Priority::Low);
        assert_eq!(one("bs=4k\nkb_base=1000\nbs=1Mi").sizes[0].0, Bytes::mib(1));
        assert_eq!(one("rw=randread\niodepth=32\nioengine=psync").queue_depth(), Some(1));
        assert_eq!(one("iodepth=0x10\nioengine=libaio").queue_depth(), Some(16));
        assert_eq!(one("size=1g\nloops=3").limit.bytes, Some(Amount::Bytes(Bytes::gib(3))));
        assert_eq!(one("rw=write\nsize=8m\nnrfiles=4").address, Address::Sequential { streams: 4 });
        assert_eq!(one("filesize=2m\nnrfiles=4").span, Amount::Bytes(Bytes::mib(8)));
        let ramped = one("size=1g\nruntime=10\ntime_based\nramp_time=5");
        assert_eq!((ramped.limit.time, ramped.limit.bytes), (Some(Nanos::from_secs(15)), None));
    }

    #[test]
    fn zones_of_fio_are_zones_here() {
        let zone = |share: f64, span: f64| Zone { share: share / 100.0, span: Amount::OfDrive(span / 100.0) };
        let zones = |value: &str| {
            let address = one(&format!("rw=randread\nrandom_distribution={value}")).address;
            let Address::Zoned(zones) = address else { panic!("{address:?}") };
            zones
        };
        assert_eq!(zones("zoned:50/5:30/15:20/"), [zone(50.0, 5.0), zone(30.0, 15.0), zone(20.0, 80.0)]);
        assert_eq!(zones("zoned:60/25:40/25"), [zone(60.0, 25.0), zone(40.0, 25.0), zone(0.0, 50.0)], "nothing goes to the rest");
        let absolute = |share: f64, mib: u64| Zone { share, span: Amount::Bytes(Bytes::mib(mib)) };
        assert_eq!(zones("zoned_abs:60/20m:40/100m"), [absolute(0.6, 20), absolute(0.4, 100)]);
        assert_eq!(zones("zoned_abs=60/20m:40/100m"), [absolute(0.6, 20), absolute(0.4, 100)], "as the manual has it");
    }

    #[test]
    fn the_endurance_load_that_comes_with_the_program_is_that_of_fio() {
        let lines = "rw=randrw\nrwmixread=40\nioengine=libaio\niodepth=32\nnorandommap\nblockalign=4k\nrandom_distribution=zoned:50/5:30/15:20/\n\
                     bssplit=512/4:1k/1:1536/1:2k/1:2560/1:3k/1:3584/1:4k/67:8k/10:16k/7:32k/3:64k/3";
        let of_fio = one(lines);
        let own = WorkloadSpec::built_in("jesd219").expect("it is built in").phases.remove(0);
        assert_eq!(own, PhaseSpec { name: own.name.clone(), limit: own.limit, ..of_fio });
    }

    #[test]
    fn jobs_without_a_file_name_have_a_file_each() {
        let starts = |text: &str| -> Vec<u64> {
            let of = |start| if let Amount::Bytes(bytes) = start { bytes.0 >> 20 } else { panic!("a share") };
            jobs(text).1.jobs().map(|job| of(job.start)).collect()
        };
        assert_eq!(starts("[global]\nsize=8m\n[a]\n[b]\nnumjobs=3\nsize=4m\n[c]\n"), [0, 8, 12, 16, 20]);
        assert_eq!(starts("[global]\nsize=8m\nfilename=f\n[a]\n[b]\nnumjobs=2\noffset=2m\n"), [0, 2, 2], "one file");
        assert_eq!(starts("[global]\nsize=8m\nfilename=/dev/x\noffset_increment=3m\n[a]\nnumjobs=3\noffset=1m\n"), [1, 4, 7]);
        assert_eq!(starts("[a]\nfilename=f\nsize=8m\n[b]\nfilename=g\nsize=1m\n[c]\nfilename=f\noffset=8m\nsize=8m\n"), [0, 16, 8]);
        let open = jobs("[a]\nfilename=f\nsize=8m\n[b]\nfilename=f\n[c]\nfilename=g\nsize=1m\n").1;
        assert_eq!(open.jobs().nth(1).map(|job| job.span), Some(Amount::Bytes(Bytes::mib(8))), "the whole of the file");
    }

    #[test]
    fn jobs_that_wait_for_all_before_them_become_phases() {
        let plain = phases("[global]\nfilename=/dev/x\n[fill]\nrw=write\n[read]\nstonewall\nrw=randread\n[again]\nwait_for_previous=1\n");
        assert_eq!(plain.phases.iter().map(|phase| phase.name.as_str()).collect::<Vec<_>>(), ["fill", "read", "again"]);
        let names = |text: &str| -> Vec<Vec<String>> {
            let name = |job: &PhaseSpec| job.name.clone();
            jobs(text).1.phases.iter().map(|phase| phase.jobs.iter().map(name).collect()).collect()
        };
        assert_eq!(names("[a]\n[b]\n[c]\nstonewall\n[d]\nstonewall=0\n"), [["phase 1/a", "phase 1/b"], ["phase 2/c", "phase 2/d"]]);
        assert_eq!(names("[global]\nstonewall\n[a]\nnumjobs=2\n[b]\n"), [vec!["a/job 1", "a/job 2"], vec!["b"]]);
        assert_eq!(
            names("[a]\n[b]\nwait_for=a\nnumjobs=2\n[c]\nwait_for=a\n"),
            [vec!["a"], vec!["phase 2/b 1", "phase 2/b 2", "phase 2/c"]]
        );
        assert_eq!(names("[a]\n[a]\n[a]\nstonewall\n"), [vec!["phase 1/a", "phase 1/a (2)"], vec!["a (3)"]], "names are told apart");
        let some = import("[a]\n[b]\n[c]\nwait_for=a\n", "x.fio", &STRICT).expect_err("b goes on").to_string();
        assert!(some.starts_with("x.fio:4:") && some.contains("wait_for"), "{some}");
        assert!(import("[a]\n[b]\nwait_for=c\n", "x.fio", &LENIENT).expect_err("no c").message().contains("no job 'c'"));
    }

    /// Keys that change no request, and values of others with which they do not.
    #[test]
    fn what_changes_no_request_becomes_a_comment_that_names_it() {
        let harmless = keys::names().filter(|key| matches!(keys::class(keys::canonical(key)), Some(keys::Class::Harmless(_))));
        for key in harmless {
            for (section, value) in [("global", "1"), ("a", "abc"), ("a", "")] {
                let line = if value.is_empty() { key.to_owned() } else { format!("{key}={value}") };
                let own = if section == "global" { format!("[global]\n{line}\n[a]\nrw=read") } else { format!("[a]\nrw=read\n{line}") };
                let (imported, _) = imported(&own, &STRICT);
                assert!(
                    imported.workload.lines().any(|comment| comment.starts_with("# ") && comment.contains(&line)),
                    "{}",
                    imported.workload
                );
            }
        }
        let partly = [
            "bs=8k\nbs=4k",
            "iodepth=8\nioengine=sync",
            "time_based",
            "rate_iops=100",
            "stonewall",
            "rwmixread=70",
            "percentage_random=50",
            "fsync=1",
            "prioclass=1\nprio=7",
            "offset=1m\nsync=1",
            "rate_process=poisson",
            "flow=0",
            "thinktime=0ms",
            "zonemode=none",
            "verify=crc32c",
            "iodepth_batch=1",
            "exitall",
            "write_hint=none",
        ];
        let told = ["bs=4k", "ioengine=sync", "prioclass=1", "offset=1m", "rate_iops=100", "stonewall"];
        for lines in partly {
            let (imported, _) = imported(&format!("[a]\nrw=read\nsize=1m\nioengine=libaio\niodepth=4\n{lines}\n"), &STRICT);
            for line in lines.lines().filter(|line| !told.contains(line)) {
                assert!(
                    imported.workload.lines().any(|told| told.starts_with("# ") && told.contains(line)),
                    "{line}:\n{}",
                    imported.workload
                );
            }
        }
        let (workload, _) = jobs("[global]\nbs=64k\n[a]\nsize=1m\nbs=4k\n[b]\nsize=1m\n");
        assert!(!workload.contains("# [global] bs"), "it is used by b: {workload}");
        let (workload, _) = jobs("[a]\nsize=1m\n[global]\ndirect=1\nflow=3\n");
        assert!(workload.contains("# [global] direct=1") && workload.contains("# [global] flow=3"), "it stands below all jobs: {workload}");
    }

    #[test]
    fn what_changes_requests_is_an_error_unless_it_may_be_left_out() {
        let changing = keys::names().filter(|key| matches!(keys::class(keys::canonical(key)), Some(keys::Class::Changes { .. })));
        let mut cases: Vec<String> = changing.map(|key| format!("{key}=77")).collect();
        let others = [
            "rw=read:-8k",
            "rw=write:112k",
            "rw=randread:8",
            "random_distribution=pareto:0.9\nrw=randread",
            "random_distribution=normal:20\nrw=randread",
            "random_distribution=zipf:1.1:0.5\nrw=randread",
            "zonemode=zbd",
            "zonesize=1m",
            "zoneskip=1m",
            "iodepth_batch=4",
            "iodepth_batch_complete=4",
            "iodepth_low=2",
            "serialize_overlap",
            "verify=md5\nrw=write",
            "exitall\nnumjobs=2",
            "filesize=1m-2m",
            "nrfiles=4\nfile_service_type=random",
            "nrfiles=4\nopenfiles=2",
            "filename=/dev/x:/dev/y",
            "rate=1m\nbssplit=4k/50:8k/50",
            "zzzzzzzzzz_private_option=1",
            "zzzzzzzzzz_private_option",
        ];
        cases.extend(others.iter().map(|lines| (*lines).to_owned()));
        for lines in cases {
            let text = format!("[a]\nsize=1m\nioengine=libaio\niodepth=4\n{lines}\n");
            let named = lines.lines().find(|line| !["rw=randread", "rw=write", "numjobs=2", "nrfiles=4"].contains(line)).expect("a line");
            let number = text.lines().position(|line| line == named).expect("it is there") + 1;
            let key = named.split('=').next().expect("a key");
            let error = import(&text, "x.fio", &STRICT).expect_err(&lines);
            assert_eq!(error.position().map(|(line, _)| line), Some(number), "{error}");
            assert!(error.message().starts_with(&format!("{key}: ")) && error.message().contains("--lenient"), "{error}");
            let (imported, _) = imported(&text, &LENIENT);
            let [left_out] = imported.left_out.as_slice() else { panic!("{lines}: {:?}", imported.left_out) };
            assert!(left_out.starts_with(&format!("x.fio:{number}: {named}: ")), "{left_out}");
            assert!(imported.workload.contains(&format!("# {named}: left out: ")), "{}", imported.workload);
        }
    }

    #[test]
    fn all_that_changes_requests_is_counted_and_jobs_without_a_drive_are_left_out() {
        let text = "[global]\nflow=2\n[a]\nthinktime=1\n[spin]\nioengine=cpuio\ncpuload=50\nstonewall\n[b]\nrw=read:8k\n";
        let error = import(text, "x.fio", &STRICT).expect_err("three keys and a job");
        assert!(
            error.message().starts_with("flow: ") && error.message().contains("thinktime in line 4, ioengine in line 6, rw in line 10"),
            "{error}"
        );
        let (imported, spec) = imported(text, &LENIENT);
        assert_eq!(imported.left_out.len(), 4);
        let AnySpec::Phases(spec) = spec else { panic!("b waits for what spins, which waits for a: {}", imported.workload) };
        assert_eq!(spec.phases.iter().map(|phase| phase.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert!(import("[a]\nioengine=cpuio\n", "x.fio", &LENIENT).expect_err("nothing").message().contains("no job here asks a drive"));
        let two = import("[a]\nfilename=/dev/x\n[b]\nfilename=/dev/y\n", "x.fio", &STRICT).expect_err("two drives");
        assert_eq!(two.position().map(|(line, _)| line), Some(4));
    }

    #[test]
    fn variables_have_the_values_that_are_defined() {
        let options = ImportOptions { defines: vec![("SIZE".to_owned(), "2m".to_owned())], ..STRICT };
        let (_, AnySpec::Jobs(spec)) = imported("[a]\nsize=${SIZE}\n", &options) else { panic!("a job") };
        assert_eq!(spec.phases[0].jobs[0].span, Amount::Bytes(Bytes::mib(2)));
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
            ("[a]\nbssplit=4k/50:8k/50,4k/100\nrw=randrw\n", 2, "job of reads"),
            ("[a]\nbsrange=8k-4k\n", 2, "from more to less"),
            ("[a]\nnumjobs=0\n", 2, "from 1"),
            ("[a]\nnumjobs=300\n", 2, "256"),
            ("[a]\niodepth=many\n", 2, "'many'"),
            ("[a]\nruntime=ten\n", 2, "'ten'"),
            ("[a]\nsize=8z\n", 2, "zones"),
            ("rw=read\n", 1, "before the first [section]"),
            ("[a\nrw=read\n", 1, "']'"),
            ("[a]\nrw=read\nrandom_distribution=zipf:9\nrw=randread\n", 3, "5"),
            ("[a]\nrw=randread\nrandom_distribution=zoned:50/5:30/15\n", 3, "80 %"),
            ("[a]\nrw=randread\nrandom_distribution=zoned:50/50:50/60\n", 3, "110 %"),
            ("[a]\nrw=randrw\nrandom_distribution=zoned:100/50:0/50,50/50:50/50\n", 3, "job of reads"),
            ("[a]\nsize=${SIZE}\n", 2, "--define SIZE=VALUE"),
            ("[a]\nmem=$mb_memory\n", 2, "$mb_memory"),
            ("[a]\ninclude other.fio\n", 2, "include"),
            ("[a]\nprioclass=4\n", 2, "from 0 to 3"),
            ("[a]\nrwmixread=170\nrw=rw\n", 2, "from 0 to 100"),
            ("# nothing\n[global]\nbs=4k\n", 1, "no job"),
        ];
        for (text, line, told) in cases {
            let error = import(text, "jobs.fio", &LENIENT).expect_err(told);
            assert!(error.to_string().starts_with("jobs.fio:") && error.message().contains(told), "{text}: {error}");
            assert_eq!(error.position().map(|(line, _)| line), Some(line), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_workload_or_a_message(text in "\\PC{0,200}", is_lenient: bool) {
            if let Ok(imported) = import(&text, "x.fio", &ImportOptions { is_lenient, ..STRICT }) {
                prop_assert!(AnySpec::parse(&imported.workload, "x.toml").is_ok());
            }
        }

        #[test]
        fn any_lines_of_keys_are_a_workload_or_a_message(
            lines in prop::collection::vec((prop::sample::select(keys::names().collect::<Vec<_>>()), "[0-9a-z:/,.%=#\\[\\]\"\\\\]{0,10}"), 0..12),
            cut in any::<prop::sample::Index>(),
            is_lenient: bool,
        ) {
            let mut lines: Vec<String> = lines.into_iter().map(|(key, value)| format!("{key}={value}")).collect();
            lines.insert(0, "[global]".to_owned());
            lines.insert(1 + cut.index(lines.len()), "[\"job\\]".to_owned());
            match import(&lines.join("\n"), "x.fio", &ImportOptions { is_lenient, ..STRICT }) {
                Ok(imported) => {
                    prop_assert!(AnySpec::parse(&imported.workload, "x.toml").is_ok());
                    prop_assert!(is_lenient || imported.left_out.is_empty());
                }
                Err(error) => prop_assert!(error.to_string().starts_with("x.fio")),
            }
        }
    }
}
