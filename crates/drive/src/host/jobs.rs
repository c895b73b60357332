//! Jobs of a host: several streams of requests at the same time, each with a pace of its own.
//!
//! A closed job has requests of its own outstanding, counted by job; an open job brings each at its own time. Nothing here is part of
//! [`crate::Drive::serve`], which has one stream and no questions to ask about it.

use wordline_units::{HostRequest, Id, JobId, Nanos};

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
    pub fn new(origin: Nanos, paces: &[JobPace], load: &mut dyn JobLoad) -> Jobs {
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

    /// Instant of the next request of an open job, if any brings one.
    pub(crate) fn due_at(&self) -> Option<Nanos> {
        self.due.map(|(at, _)| at)
    }

    /// The next request of an open job, which is due.
    pub(crate) fn next_open(&self) -> HostRequest {
        self.due.and_then(|(_, place)| self.open[place].next).expect("one is due")
    }

    /// Goes on to the request of an open job after the one that was due.
    pub(crate) fn go_on(&mut self, load: &mut dyn JobLoad) {
        let (_, place) = self.due.expect("one was due");
        self.open[place].draw(self.origin, load);
        self.look();
    }

    /// Lets `arrive` bring `drive` the requests that it has room for of the closed jobs, by the number that are `outstanding` of each, and ends the jobs that
    /// nothing keeps running.
    pub(crate) fn refill<D>(
        &mut self,
        now: Nanos,
        load: &mut dyn JobLoad,
        drive: &mut D,
        outstanding: fn(&D) -> &[u32],
        arrive: fn(&mut D, Nanos, &HostRequest),
    ) {
        let mut goes_on = None;
        for place in 0..self.closed.len() {
            // Those that have an end came first, so this is known by now.
            if !self.closed[place].has_end && !*goes_on.get_or_insert_with(|| self.runs(outstanding(drive))) {
                break;
            }
            let closed = &mut self.closed[place];
            while !closed.is_over && outstanding(drive)[closed.job.index()] < closed.depth {
                let next = if now < closed.ends { load.next_of(closed.job) } else { None };
                match next {
                    Some(request) => arrive(drive, now, &HostRequest { job: closed.job, ..request }),
                    None => closed.is_over = true,
                }
            }
        }
        if !goes_on.unwrap_or_else(|| self.runs(outstanding(drive))) {
            self.end_others();
        }
    }

    /// True if no job brings any more.
    pub(crate) fn are_over(&self) -> bool {
        self.due.is_none() && self.closed.iter().all(|job| job.is_over)
    }
}

impl Open {
    fn draw(&mut self, origin: Nanos, load: &mut dyn JobLoad) {
        let next = load.next_of(self.job).map(|request| HostRequest { job: self.job, ..request });
        self.next = next.filter(|request| origin.saturating_add(request.at) < self.ends);
    }
}
