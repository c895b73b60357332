//! Jobs: streams of requests at the same time, each described as a phase is, and phases that hold them.

use super::{PhaseSpec, SpecError};
use crate::AnySpec;

const FILES: [(&str, &str); 3] = [
    ("reader-beside-writers", include_str!("../../../../studies/workloads/reader-beside-writers.toml")),
    ("mixed-priority", include_str!("../../../../studies/workloads/mixed-priority.toml")),
    ("erase-stress", include_str!("../../../../studies/workloads/erase-stress.toml")),
];

/// A workload of jobs: phases one after another, and the jobs of a phase start at the same time. A file of `[[jobs]]` alone is one phase.
#[derive(Clone, Debug, PartialEq)]
pub struct JobsSpec {
    /// Its name in tables.
    pub name: String,
    /// What it is for, in a sentence.
    pub purpose: String,
    /// Its phases, in order; at least one.
    pub phases: Vec<JobsPhase>,
}

/// Jobs that start at the same time. The phase ends when the last of them has its last answer.
#[derive(Clone, Debug, PartialEq)]
pub struct JobsPhase {
    /// Its name in tables; that of the workload where it is the only one.
    pub name: String,
    /// Its jobs. One without any limit runs as long as one that has a limit; at least one has. Where the file has phases, the name of a job that a phase
    /// holds is `phase/job`.
    pub jobs: Vec<PhaseSpec>,
}

impl JobsSpec {
    /// Read a workload file; `file` is its name in messages.
    ///
    /// # Errors
    /// Something is wrong with it, or it has no jobs.
    pub fn parse(text: &str, file: &str) -> Result<JobsSpec, SpecError> {
        match AnySpec::parse(text, file)? {
            AnySpec::Jobs(spec) => Ok(spec),
            AnySpec::Phases(_) | AnySpec::Files(_) => Err(SpecError::at(file, "", None, "this workload has no [[jobs]]")),
        }
    }

    /// The names of the built-in workloads of jobs.
    pub fn built_in_names() -> Vec<&'static str> {
        FILES.iter().map(|(name, _)| *name).collect()
    }

    /// The built-in workload of this name, if it is one of jobs.
    pub fn built_in(name: &str) -> Option<Result<JobsSpec, SpecError>> {
        JobsSpec::built_in_text(name).map(|text| JobsSpec::parse(text, &format!("{name}.toml")))
    }

    /// The jobs of all phases, by number.
    pub fn jobs(&self) -> impl Iterator<Item = &PhaseSpec> {
        self.phases.iter().flat_map(|phase| &phase.jobs)
    }

    /// The text of the built-in workload of this name, comments included.
    pub fn built_in_text(name: &str) -> Option<&'static str> {
        FILES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }

    /// Number of requests that are outstanding in all jobs together; `None` where one of them is an open loop, or where there are several phases.
    pub fn queue_depth(&self) -> Option<u32> {
        match self.phases.as_slice() {
            [only] => only.queue_depth(),
            _ => None,
        }
    }
}

impl JobsPhase {
    /// Number of requests that are outstanding in its jobs together; `None` where one of them is an open loop.
    pub fn queue_depth(&self) -> Option<u32> {
        self.jobs.iter().map(PhaseSpec::queue_depth).try_fold(0u32, |sum, depth| Some(sum.saturating_add(depth?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobsGenerator;
    use crate::spec::Amount;
    use wordline_units::{Bytes, Nanos};

    const READER: &str = "[[jobs]]\nname = \"reader\"\nrequests = 100\nmix = { read = \"100 %\" }\nsize = \"4 KiB\"\naddress = \"uniform\"\n\
                          arrival = { queue_depth = 1 }\n";
    const WRITER: &str = "[[jobs]]\nname = \"writer\"\ncount = 4\nmix = { write = \"100 %\" }\nsize = \"16 KiB\"\naddress = \"uniform\"\n\
                          arrival = { queue_depth = 16 }\n";

    fn file(parts: &[&str]) -> String {
        format!("name = \"x\"\n{}", parts.concat())
    }

    #[test]
    fn jobs_are_counted_out_and_told_apart_by_number() {
        let spec = JobsSpec::parse(&file(&[READER, WRITER]), "x.toml").expect("sound");
        let names: Vec<&str> = spec.jobs().map(|job| job.name.as_str()).collect();
        assert_eq!(names, ["reader", "writer 1", "writer 2", "writer 3", "writer 4"]);
        assert_eq!(spec.queue_depth(), Some(65));
        assert!(spec.phases[0].jobs[0].has_end() && !spec.phases[0].jobs[1].has_end());
        let timed = READER.replace("requests = 100", "time = \"10 ms\"").replace("queue_depth = 1 ", "rate = \"1 k/s\" ");
        let spec = JobsSpec::parse(&file(&[&timed]), "x.toml").expect("sound");
        assert_eq!((spec.phases[0].jobs[0].limit.time, spec.queue_depth()), (Some(Nanos::from_millis(10)), None));
    }

    #[test]
    fn a_phase_may_hold_jobs_and_its_name_stands_before_theirs() {
        let hold = |name: &str, parts: &[&str]| {
            format!("[[phases]]\nname = \"{name}\"\n{}", parts.concat().replace("[[jobs]]", "[[phases.jobs]]"))
        };
        let alone = READER.replace("[[jobs]]", "[[phases]]").replace("reader", "then");
        let spec = JobsSpec::parse(&file(&[&hold("fill", &[READER, WRITER]), &alone, &hold("again", &[READER])]), "x.toml").expect("sound");
        let names: Vec<Vec<&str>> = spec.phases.iter().map(|phase| phase.jobs.iter().map(|job| job.name.as_str()).collect()).collect();
        assert_eq!(
            names,
            [vec!["fill/reader", "fill/writer 1", "fill/writer 2", "fill/writer 3", "fill/writer 4"], vec!["then"], vec!["again/reader"]]
        );
        assert_eq!((spec.queue_depth(), spec.phases[0].queue_depth()), (None, Some(65)));
        let mut jobs = JobsGenerator::new(&spec, 7, Bytes::mib(64)).expect("fits");
        let mut sectors = |job| -> Vec<u64> { std::iter::from_fn(|| jobs.next_of(job)).take(100).map(|request| request.sector).collect() };
        assert_ne!(sectors(0), sectors(6), "the reader of a later phase has dice of its own");
        let wrong = [
            (file(&[&hold("a", &[WRITER])]), "at least one job needs an end"),
            (
                file(&[&hold("a", &[READER]).replace("[[phases.jobs]]", "time = \"1 s\"\n[[phases.jobs]]")]),
                "'time' belongs to the jobs of this phase",
            ),
            (file(&[&hold("a", &[READER]), &hold("a", &[READER])]), "a second phase is called 'a'"),
            (file(&[&hold("a", &[&READER.replace("requests", "jobs = []\nrequests")])]), "a job holds no jobs"),
            (file(&[&hold("a", &[READER]), &hold("b", &[READER, &WRITER.replace("= 4", "= 255")])]), "257 jobs"),
            (file(&["[[phases]]\nname = \"a\"\njobs = []\n"]), "at least one job"),
            (file(&["[[phases]]\nname = \"a\"\nrequests = 1\n"]), "missing field `mix`"),
        ];
        for (text, told) in wrong {
            let error = AnySpec::parse(&text, "x.toml").expect_err(told);
            assert!(error.message().contains(told) && error.position().is_some(), "{error}");
        }
    }

    #[test]
    fn jobs_of_one_table_begin_a_step_after_each_other() {
        let starts = |keys: &str| -> Result<Vec<Amount>, String> {
            let text = file(&[READER, &WRITER.replace("count = 4", &format!("count = 3\n{keys}"))]);
            JobsSpec::parse(&text, "x.toml")
                .map(|spec| spec.jobs().skip(1).map(|job| job.start).collect())
                .map_err(|error| error.message().to_owned())
        };
        let mib = |mib: u64| Amount::Bytes(Bytes::mib(mib));
        assert_eq!(starts("step = \"2 MiB\""), Ok(vec![mib(0), mib(2), mib(4)]));
        assert_eq!(starts("start = \"1 MiB\"\nstep = \"2 MiB\""), Ok(vec![mib(1), mib(3), mib(5)]));
        assert_eq!(starts("step = \"25 %\""), Ok([0.0, 0.25, 0.5].map(Amount::OfDrive).to_vec()));
        assert!(starts("start = \"1 MiB\"\nstep = \"25 %\"").is_err_and(|message| message.contains("both sizes")));
        let alone = file(&[&READER.replace("requests", "step = \"1 MiB\"\nrequests")]);
        assert!(AnySpec::parse(&alone, "x.toml").expect_err("one job").message().contains("needs a 'count'"));
    }

    #[test]
    fn each_job_has_dice_of_its_own_and_stays_on_the_drive() {
        let spec = JobsSpec::parse(&file(&[READER, WRITER]), "x.toml").expect("sound");
        let mut jobs = JobsGenerator::new(&spec, 7, Bytes::mib(64)).expect("fits");
        let mut addresses = |job| -> Vec<u64> { (0..100).filter_map(|_| jobs.next_of(job)).map(|request| request.sector).collect() };
        let [reader, first, second] = [0, 1, 2].map(&mut addresses);
        assert_eq!(reader.len(), 100);
        assert!(first != second && first.iter().chain(&second).all(|sector| sector + 32 <= 64 << 11));
        assert_eq!(jobs.next_of(0), None, "the reader has had its hundred");
        assert!(jobs.next_of(1).is_some());
    }

    #[test]
    fn what_is_wrong_with_a_file_of_jobs_is_told_with_its_line() {
        let unlimited = READER.replace("requests = 100\n", "");
        let phase = READER.replace("[[jobs]]", "[[phases]]");
        let cases = [
            (file(&[&unlimited, WRITER]), 2, "at least one job needs an end"),
            (file(&[READER, &phase]), 2, "either [[phases]], one after another, or [[jobs]], at the same time"),
            (file(&[READER, &WRITER.replace("count = 4", "count = 0")]), 11, "from 1 to 256"),
            (file(&[READER, &WRITER.replace("count = 4", "count = 256")]), 11, "257 jobs"),
            (file(&[&phase.replace("requests", "count = 2\nrequests")]), 4, "'count' belongs to [[jobs]]"),
            (file(&[&READER.replace("100\n", "0\n")]), 4, "a job of no requests does nothing"),
            (file(&[&READER.replace("100\n", "100\ncuont = 3\n")]), 5, "did you mean 'count'?"),
        ];
        for (text, line, told) in cases {
            let error = AnySpec::parse(&text, "x.toml").expect_err(told);
            assert!(error.message().contains(told), "{error}");
            assert_eq!(error.position().map(|(line, _)| line), Some(line), "{error}");
        }
        let neither = AnySpec::parse("name = \"x\"\n", "x.toml").expect_err("it does nothing").to_string();
        assert!(neither.starts_with("x.toml:1:") && neither.contains("[[phases]]") && neither.contains("[[jobs]]"), "{neither}");
        let empty = AnySpec::parse("name = \"x\"\njobs = []\n", "x.toml").expect_err("it does nothing").to_string();
        assert!(empty.contains("at least one job"), "{empty}");
    }

    #[test]
    fn built_in_workloads_of_jobs_are_sound() {
        for name in JobsSpec::built_in_names() {
            let spec = JobsSpec::built_in(name).expect("it is one").unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(spec.name, name);
            JobsGenerator::new(&spec, 1, Bytes::mib(64)).unwrap_or_else(|error| panic!("{error}"));
        }
    }
}
