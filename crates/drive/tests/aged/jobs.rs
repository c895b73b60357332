//! Jobs: several streams of requests at the same time, each at its own pace.

use std::cell::RefCell;
use std::rc::Rc;

use wordline_drive::{JobLoad, JobPace, Jobs, Pace, Watched};
use wordline_engine::{Event, Observer};
use wordline_plan::Plan;
use wordline_units::random::{Draw, Stream};
use wordline_units::{HostOp, HostRequest, Id, JobId, Nanos};

/// A small drive.
fn drive<O: Observer>(observer: O) -> Watched<O> {
    let settings = ["geometry.blocks=24", "flash.channels=1", "flash.dies_per_channel=2", "mapping.over_provisioning=40 %"];
    let plan = Plan::load_set("pageftl", &settings.map(str::to_owned)).unwrap_or_else(|error| panic!("{error}"));
    Watched::new(plan.build(), observer)
}

const fn closed(depth: u32, has_end: bool) -> JobPace {
    JobPace { depth: Some(depth), time: None, has_end }
}

const OPEN: JobPace = JobPace { depth: None, time: None, has_end: true };

/// Requests of jobs at random places: even jobs write and odd ones read. `left` is how many each still has, and `gap` the time between two of an open one.
#[derive(Clone)]
struct Load {
    draws: Vec<Draw>,
    left: Vec<u64>,
    given: Vec<u64>,
    gap: u64,
    order: Rc<RefCell<Vec<usize>>>,
}

impl Load {
    fn new(left: &[u64], gap: u64) -> Load {
        let draws = (0..left.len() as u32).map(|job| Draw::new(3, Stream::Address, job)).collect();
        Load { draws, left: left.to_vec(), given: vec![0; left.len()], gap, order: Rc::default() }
    }
}

impl JobLoad for Load {
    fn next_of(&mut self, job: JobId) -> Option<HostRequest> {
        let place = job.index();
        self.left[place] = self.left[place].checked_sub(1)?;
        self.given[place] += 1;
        self.order.borrow_mut().push(place);
        let op = if place.is_multiple_of(2) { HostOp::Write } else { HostOp::Read };
        let at = Nanos(self.given[place] * (self.gap + place as u64));
        Some(HostRequest { at, ..HostRequest::new(op, self.draws[place].below(400) * 32, 32) })
    }
}

/// Requests of each job in flight, told apart by the order in which closed jobs were given them.
#[derive(Default)]
struct InFlight {
    order: Rc<RefCell<Vec<usize>>>,
    arrived: usize,
    now: [u32; 4],
    /// Of each job: how many were in flight at each of its completions, this one included, and when that was.
    at_completion: [Vec<(u32, Nanos)>; 4],
    arrivals: Vec<Nanos>,
    last_arrival: [Nanos; 4],
}

impl Observer for InFlight {
    fn observe(&mut self, at: Nanos, event: &Event) {
        match event {
            Event::Arrived { .. } => {
                self.arrivals.push(at);
                let job = self.order.borrow().get(self.arrived).copied();
                self.arrived += 1;
                if let Some(job) = job {
                    self.now[job] += 1;
                    self.last_arrival[job] = at;
                }
            }
            Event::Completed(done) => {
                let job = done.job.index();
                self.at_completion[job].push((self.now[job], at));
                self.now[job] = self.now[job].saturating_sub(1);
            }
            Event::Flash(_)
            | Event::Invalidated { .. }
            | Event::Stopped { .. }
            | Event::Retired { .. }
            | Event::Exposed { .. }
            | Event::ProgrammedAgain { .. }
            | Event::DataLost { .. }
            | Event::DieSuspected { .. }
            | Event::DieFailed { .. }
            | Event::UnitsLost { .. }
            | Event::UnitsHealed { .. }
            | Event::Harmed { .. }
            | Event::WornOut => {}
        }
    }
}

fn run(paces: &[JobPace], load: &mut Load) -> Watched<InFlight> {
    let mut drive = drive(InFlight { order: load.order.clone(), ..InFlight::default() });
    let mut jobs = Jobs::new(drive.now(), paces, load);
    drive.serve_jobs(&mut jobs, load, None);
    assert_eq!(drive.outstanding(), 0);
    drive
}

#[test]
fn closed_jobs_keep_exactly_their_depth_until_they_end() {
    let mut load = Load::new(&[2_000, 500, 3_000], 0);
    let drive = run(&[closed(16, true), closed(1, true), closed(5, true)], &mut load);
    for (job, depth, count) in [(0, 16, 2_000), (1, 1, 500), (2, 5, 3_000)] {
        let seen = &drive.observer.at_completion[job];
        assert_eq!(seen.len(), count, "job {job}");
        // Several may complete at the same instant before others come, so depth is what there is at the first of each instant.
        let busy = &seen[..count - depth as usize + 1];
        let firsts = busy.iter().enumerate().filter(|(place, (_, at))| *place == 0 || busy[place - 1].1 != *at);
        assert!(firsts.clone().count() > count / 20 && firsts.clone().all(|(_, (in_flight, _))| *in_flight == depth), "job {job}");
        assert!(seen.iter().all(|(in_flight, _)| (1..=depth).contains(in_flight)), "job {job}");
    }
}

#[test]
fn open_jobs_bring_requests_at_their_own_times_in_their_order() {
    let mut load = Load::new(&[200, 300, 100], 50_000);
    let drive = run(&[OPEN, OPEN, OPEN], &mut load);
    let times = [(200, 50_000), (300, 50_001), (100, 50_002)].map(|(count, gap)| (1..=count).map(move |number| Nanos(number * gap)));
    let mut expected: Vec<Nanos> = times.into_iter().flatten().collect();
    expected.sort();
    assert_eq!(drive.observer.arrivals, expected);
    assert_eq!([0, 1, 2].map(|job: usize| drive.observer.at_completion[job].len()), [200, 300, 100]);
}

#[test]
fn one_job_is_the_stream_that_it_equals() {
    for depth in [1, 7, 64] {
        let jobs = run(&[closed(depth, true)], &mut Load::new(&[4_000], 0));
        let mut load = Load::new(&[4_000], 0);
        let mut alone = drive(());
        alone.serve(&mut std::iter::from_fn(|| load.next_of(JobId(0))), Pace::Closed { depth }, None);
        assert_eq!((jobs.log().hash(), jobs.now()), (alone.log().hash(), alone.now()), "depth {depth}");
    }
}

#[test]
fn a_run_of_jobs_that_is_cut_into_rounds_is_the_same_run() {
    let paces = [closed(8, true), OPEN, closed(2, false)];
    let whole = run(&paces, &mut Load::new(&[3_000, 400, u64::MAX], 40_000));
    let mut load = Load::new(&[3_000, 400, u64::MAX], 40_000);
    let mut cut = drive(());
    let mut jobs = Jobs::new(cut.now(), &paces, &mut load);
    while cut.serve_jobs(&mut jobs, &mut load, Some(37)) == 37 {}
    assert_eq!((cut.log().hash(), cut.completed()), (whole.log().hash(), whole.completed()));
}

#[test]
fn a_job_that_ends_leaves_the_others_and_those_without_an_end_go_with_the_last() {
    let mut load = Load::new(&[u64::MAX, 100, 1_000, u64::MAX], 0);
    let drive = run(&[closed(4, false), closed(2, true), closed(4, true), closed(1, false)], &mut load);
    let seen = &drive.observer;
    assert_eq!((seen.at_completion[1].len(), seen.at_completion[2].len()), (100, 1_000));
    let end = seen.at_completion[2].last().expect("it ran").1;
    assert!(seen.at_completion[1].last().expect("it ran").1 < end);
    for job in [0, 3] {
        assert!(seen.last_arrival[job] <= end, "job {job} goes on after {end}");
        assert!(seen.at_completion[job].len() > 200, "job {job}");
        assert_eq!(seen.at_completion[job].len() as u64, load.given[job]);
    }
}

#[test]
fn a_job_ends_when_its_time_has_passed() {
    let time = Some(Nanos::from_millis(20));
    let mut load = Load::new(&[u64::MAX, u64::MAX, u64::MAX], 100_000);
    let timed = |depth| JobPace { depth, time, has_end: true };
    let drive = run(&[timed(Some(4)), timed(None), closed(2, false)], &mut load);
    let last = *drive.observer.arrivals.last().expect("it ran");
    assert!(last < Nanos::from_millis(30) && last > Nanos::from_millis(19), "{last}");
    assert_eq!(drive.observer.at_completion[1].len(), 199, "one each 100.001 us, the last before 20 ms");
}
