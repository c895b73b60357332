//! Jobs of a host: several streams of requests at the same time, each with a pace of its own.
//!
//! A closed job has requests of its own outstanding, counted by job; an open job brings each at its own time. Nothing here is part of [`Drive::serve`],
//! which has one stream and no questions to ask about it.

use wordline_engine::Observer;
use wordline_units::{HostRequest, Id, JobId, Nanos};

use crate::drive::Drive;

/// Source of the requests of jobs.
pub trait JobLoad {
    /// The next request of `job`, its time counted from the start of all jobs; `None`: it has no more.
    fn next_of(&mut self, job: JobId) -> Option<HostRequest>;
}

/// The pace of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobPace {
    /// Number of its requests that are outstanding; `None`: each comes at its own time, whatever the drive does.
    pub depth: Option<u32>,
    /// Time since the start of all jobs from which on it brings no more.
    pub time: Option<Nanos>,
    /// False if it runs as long as a job that has an end does.
    pub has_end: bool,
}

/// Jobs under way.
#[derive(Clone, Debug)]
pub struct Jobs {
    origin: Nanos,
    /// Closed jobs, those that have an end first.
    closed: Vec<Closed>,
    open: Vec<Open>,
    /// Instant of the next request of an open job, and its place among them.
    due: Option<(Nanos, usize)>,
}

#[derive(Clone, Copy, Debug)]
struct Closed {
    job: JobId,
    depth: u32,
    ends: Nanos,
    has_end: bool,
    is_over: bool,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    job: JobId,
    ends: Nanos,
    has_end: bool,
    /// Next request of the job; `None`: it is over.
    next: Option<HostRequest>,
}

impl Jobs {
    /// Jobs, by number, that start at `origin`.
    ///
    /// # Panics
    ///
    /// There are more than a [`JobId`] tells apart.
    pub fn new(origin: Nanos, paces: &[JobPace], load: &mut impl JobLoad) -> Jobs {
        let (mut closed, mut open) = (Vec::new(), Vec::new());
        for (number, pace) in paces.iter().enumerate() {
            let &JobPace { depth, time, has_end } = pace;
            let (job, ends) = (JobId::from_index(number), time.map_or(Nanos::MAX, |time| origin.saturating_add(time)));
            match depth {
                Some(depth) => closed.push(Closed { job, depth, ends, has_end, is_over: false }),
                None => {
                    let mut job = Open { job, ends, has_end, next: None };
                    job.draw(origin, load);
                    open.push(job);
                }
            }
        }
        closed.sort_by_key(|job| !job.has_end);
        let mut jobs = Jobs { origin, closed, open, due: None };
        jobs.look();
        jobs
    }

    /// Finds the next request of an open job.
    fn look(&mut self) {
        let origin = self.origin;
        let times = self.open.iter().zip(0..).filter_map(|(job, place)| Some((origin.saturating_add(job.next?.at), place)));
        self.due = times.min();
    }

    /// True if a job that has an end still runs, with so many requests of each outstanding.
    fn runs(&self, outstanding: &[u32]) -> bool {
        let closed = self.closed.iter().filter(|job| job.has_end).map(|job| (job.job, job.is_over));
        let open = self.open.iter().filter(|job| job.has_end).map(|job| (job.job, job.next.is_none()));
        closed.chain(open).any(|(job, is_over)| !is_over || outstanding[job.index()] > 0)
    }

    /// Ends the jobs that run as long as others do.
    fn end_others(&mut self) {
        self.closed.iter_mut().filter(|job| !job.has_end).for_each(|job| job.is_over = true);
        self.open.iter_mut().filter(|job| !job.has_end).for_each(|job| job.next = None);
        self.look();
    }

    /// True if no job brings any more.
    fn are_over(&self) -> bool {
        self.due.is_none() && self.closed.iter().all(|job| job.is_over)
    }
}

impl Open {
    fn draw(&mut self, origin: Nanos, load: &mut impl JobLoad) {
        let next = load.next_of(self.job).map(|request| HostRequest { job: self.job, ..request });
        self.next = next.filter(|request| origin.saturating_add(request.at) < self.ends);
    }
}

impl Drive {
    /// Serves `jobs` until `completions` more requests are acknowledged, or, with `None`, until all jobs are over and everything is acknowledged. Returns the
    /// number of acknowledged requests.
    ///
    /// What is outstanding at the end stays so: the next call goes on where this one stopped, so a run cut into rounds is the same run.
    pub fn serve_jobs(&mut self, jobs: &mut Jobs, load: &mut impl JobLoad, completions: Option<u64>, observer: &mut dyn Observer) -> u64 {
        let before = self.completed();
        let goal = completions.map_or(u64::MAX, |count| before.saturating_add(count));
        let mut looked_at = None;
        while self.completed() < goal {
            if self.events.is_full() {
                self.events.show(observer);
            }
            if looked_at != Some(self.completed()) {
                looked_at = Some(self.completed());
                self.refill(jobs, load);
            }
            if let Some((at, place)) = jobs.due
                && self.next_at().is_none_or(|event| at <= event)
            {
                let open = &mut jobs.open[place];
                let request = open.next.expect("it is due");
                // A load whose requests are out of order cannot bring one into the past.
                let at = at.max(self.now());
                self.calendar.advance(at);
                self.arrive(at, &request);
                open.draw(jobs.origin, load);
                jobs.look();
            } else if jobs.are_over() && self.outstanding() == 0 {
                break;
            } else if !self.step() {
                panic!("{}", self.post_mortem("nothing is due, yet requests of jobs are outstanding"));
            }
        }
        self.completed() - before
    }

    /// Brings what the closed jobs have room for, and ends the jobs that nothing keeps running.
    fn refill(&mut self, jobs: &mut Jobs, load: &mut impl JobLoad) {
        let now = self.now();
        let mut goes_on = None;
        for place in 0..jobs.closed.len() {
            // Those that have an end came first, so this is known by now.
            if !jobs.closed[place].has_end && !*goes_on.get_or_insert_with(|| jobs.runs(&self.host.outstanding_of)) {
                break;
            }
            let closed = &mut jobs.closed[place];
            while !closed.is_over && self.host.outstanding_of[closed.job.index()] < closed.depth {
                let next = if now < closed.ends { load.next_of(closed.job) } else { None };
                match next {
                    Some(request) => self.arrive(now, &HostRequest { job: closed.job, ..request }),
                    None => closed.is_over = true,
                }
            }
        }
        if !goes_on.unwrap_or_else(|| jobs.runs(&self.host.outstanding_of)) {
            jobs.end_others();
        }
    }
}
