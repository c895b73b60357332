//! The jobs of a workload, each with figures of its own: what a reader feels beside writers is lost in figures of all of them together.

use wordline_engine::Completion;
use wordline_units::{HostOp, Id, Nanos, Priority};

use crate::histogram::Latencies;
use crate::measured::{JobMeasured, Measured};
use crate::scope::Scope;
use crate::totals::Totals;

/// Books of the jobs that run and of those of earlier phases; empty where there are none.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobBooks {
    /// Number of jobs of earlier phases.
    before: usize,
    jobs: Vec<Book>,
}

#[derive(Clone, Debug)]
struct Book {
    name: String,
    queue_depth: Option<u32>,
    /// Instant at which it began.
    start: Nanos,
    /// When it got its last answer.
    last: Nanos,
    totals: Totals,
    latencies: [[Latencies; Priority::ALL.len()]; HostOp::ALL.len()],
}

impl JobBooks {
    /// Begin the jobs of a phase at `start`, by number. Jobs of earlier phases have all their answers.
    pub(crate) fn begin<'a>(&mut self, start: Nanos, jobs: impl Iterator<Item = (&'a str, Option<u32>)>) {
        self.before = self.jobs.len();
        self.jobs.extend(jobs.map(|(name, queue_depth)| Book::new(name.to_owned(), queue_depth, start)));
    }

    /// Forget what was, and count from `start` on.
    pub(crate) fn restart(&mut self, start: Nanos) {
        for book in &mut self.jobs {
            *book = Book::new(std::mem::take(&mut book.name), book.queue_depth, start);
        }
    }

    /// Book a request that was answered at `at`.
    #[inline]
    pub(crate) fn completed(&mut self, at: Nanos, done: &Completion, latency: Nanos) {
        if let Some(book) = self.jobs.get_mut(self.before + done.job.index()) {
            book.last = at;
            book.totals.complete(done);
            if done.ok {
                book.latencies[done.op as usize][done.attributes.priority as usize].record(latency);
            }
        }
    }

    /// What each job got, of a drive of `scope`.
    pub(crate) fn close(self, scope: Scope) -> Vec<JobMeasured> {
        let measured = |book: Book| JobMeasured {
            name: book.name,
            measured: Measured {
                elapsed: book.last - book.start,
                totals: book.totals,
                latencies: book.latencies,
                ..Measured::empty(Scope { queue_depth: book.queue_depth, ..scope })
            },
        };
        self.jobs.into_iter().map(measured).collect()
    }
}

impl Book {
    fn new(name: String, queue_depth: Option<u32>, start: Nanos) -> Book {
        Book { name, queue_depth, start, last: start, totals: Totals::default(), latencies: Default::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_engine::Stages;
    use wordline_units::{Attributes, Bytes, JobId, RequestId};

    use crate::scope::Interval;

    fn scope() -> Scope {
        let (unit, page) = (Bytes::kib(4), Bytes::kib(16));
        Scope {
            dies: 1,
            channels: 1,
            cores: 1,
            unit,
            page,
            h_layer: None,
            queue_depth: None,
            interval: Interval::default(),
            read_limits: None,
        }
    }

    fn done(job: u8, op: HostOp, took: u64, ok: bool) -> Completion {
        Completion {
            request: RequestId(0),
            op,
            attributes: Attributes::NONE,
            sectors: 8,
            sector: 0,
            arrived: Nanos::ZERO,
            stages: Stages { die: Nanos(took), ..Stages::default() },
            core: Nanos::ZERO,
            dram: Nanos::ZERO,
            ok,
            for_failure: false,
            blank: 0,
            die: None,
            job: JobId(job),
        }
    }

    #[test]
    fn each_job_has_its_own_requests_over_its_own_time() {
        let mut books = JobBooks::default();
        books.begin(Nanos(1_000), [("reader", Some(1)), ("writer", None)].into_iter());
        books.completed(Nanos(2_000), &done(0, HostOp::Read, 500, true), Nanos(500));
        books.completed(Nanos(5_000), &done(1, HostOp::Write, 700, true), Nanos(700));
        books.completed(Nanos(9_000), &done(1, HostOp::Write, 900, false), Nanos(900));
        books.completed(Nanos(9_500), &done(2, HostOp::Write, 900, true), Nanos(900));
        let jobs = books.clone().close(scope());
        assert_eq!(jobs.iter().map(|job| job.measured.elapsed.0).collect::<Vec<_>>(), [1_000, 8_000]);
        assert_eq!(jobs.iter().map(|job| (job.measured.requests(), job.measured.failed())).collect::<Vec<_>>(), [(1, 0), (1, 1)]);
        assert_eq!(jobs[0].measured.latencies(HostOp::Read).max(), Nanos(500));
        assert_eq!(jobs[1].measured.latencies(HostOp::Write).count(), 1, "failed requests have no latency");
        assert_eq!(jobs[0].measured.scope.queue_depth, Some(1));
        books.begin(Nanos(10_000), [("then/reader", Some(4))].into_iter());
        books.completed(Nanos(10_700), &done(0, HostOp::Read, 600, true), Nanos(600));
        let later = books.clone().close(scope());
        assert_eq!(
            later.iter().map(|job| job.measured.elapsed.0).collect::<Vec<_>>(),
            [1_000, 8_000, 700],
            "each from the start of its phase"
        );
        assert_eq!(later.iter().map(|job| job.measured.requests()).collect::<Vec<_>>(), [1, 1, 1]);
        books.restart(Nanos(10_500));
        assert_eq!(books.close(scope()).iter().map(|job| job.measured.requests()).sum::<u64>(), 0);
    }
}
