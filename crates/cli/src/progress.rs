//! How far a long run has come: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use wordline_runs::Progress;
use wordline_units::Nanos;

/// The progress of several runs.
#[derive(Debug)]
pub(crate) struct Board {
    bars: Option<MultiProgress>,
    quiet: bool,
}

impl Board {
    pub(crate) fn new(quiet: bool) -> Board {
        let terminal = std::io::stderr().is_terminal();
        let bars = (terminal && !quiet).then(|| MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(10)));
        Board { bars, quiet }
    }

    /// A line for `total` things of one kind that are done one after another, or side by side.
    pub(crate) fn count(&self, name: &str, things: &'static str, total: u64) -> Counter {
        let bar = self.bars.as_ref().map(|bars| {
            let bar = bars.add(ProgressBar::new(total));
            let template = format!(
                "{{prefix:22}} {{bar:24}} {{percent:>3}} %  {{human_pos}} of {{human_len}} {things}  {{per_sec}}  ETA {{eta}}  {{msg}}"
            );
            bar.set_style(ProgressStyle::with_template(&template).expect("the template is valid").progress_chars("█▌ "));
            bar.set_prefix(name.to_owned());
            bar
        });
        Counter { bar, quiet: self.quiet, name: name.trim_end().to_owned(), things, total, told: Instant::now(), started: Instant::now() }
    }

    /// A line for one run of `name`.
    pub(crate) fn line(&self, name: &str) -> Line {
        let bar = self.bars.as_ref().map(|bars| {
            let bar = bars.add(ProgressBar::new_spinner());
            bar.set_style(style(None));
            bar.set_prefix(name.to_owned());
            bar
        });
        Line { bar, quiet: self.quiet, name: name.trim_end().to_owned(), told: Instant::now(), total: None }
    }
}

/// The progress of work that is counted.
#[derive(Debug)]
pub(crate) struct Counter {
    bar: Option<ProgressBar>,
    quiet: bool,
    name: String,
    things: &'static str,
    total: u64,
    told: Instant,
    started: Instant,
}

impl Counter {
    /// So many are done, and `now` is being done.
    pub(crate) fn at(&mut self, done: u64, now: &str) {
        if let Some(bar) = &self.bar {
            bar.set_position(done);
            bar.set_message(now.to_owned());
        } else if !self.quiet && self.told.elapsed() >= Duration::from_secs(5) {
            self.told = Instant::now();
            let rate = done as f64 / self.started.elapsed().as_secs_f64();
            // More may be done than was expected.
            let left = if rate > 0.0 && done < self.total {
                format!(", {:.1} per second, {:.0} s left", rate, self.total.saturating_sub(done) as f64 / rate)
            } else {
                String::new()
            };
            eprintln!("{}: {done} of {} {}{left}, {now}", self.name, self.total, self.things);
        }
    }

    /// Says something that is true once.
    pub(crate) fn say(&self, what: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{}: {what}", self.name)),
            None if !self.quiet => eprintln!("{}: {what}", self.name),
            None => {}
        }
    }

    /// All are done.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The progress of work that is counted, some of which is done in parts on several threads.
#[derive(Debug)]
pub(crate) struct Parts(Mutex<(Counter, u64, String)>);

impl Parts {
    pub(crate) fn new(counter: Counter) -> Parts {
        Parts(Mutex::new((counter, 0, String::new())))
    }

    /// As [`Counter::at`].
    pub(crate) fn at(&self, done: u64, now: &str) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.0.at(done, now);
        (held.1, held.2) = (done, now.to_owned());
    }

    /// How far it is with what is being done.
    pub(crate) fn more(&self, text: &str) {
        let (counter, done, now) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counter.at(*done, &format!("{now}: {text}"));
    }

    /// All are done.
    pub(crate) fn finish(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0.finish();
    }
}

fn style(total: Option<u64>) -> ProgressStyle {
    let template = match total {
        Some(_) => "{prefix:22} {bar:24} {percent:>3} %  {human_pos} requests  {per_sec}  ETA {eta}  {msg}",
        None => "{prefix:22} {spinner} {human_pos} requests  {per_sec}  {msg}",
    };
    ProgressStyle::with_template(template).expect("the template is valid").progress_chars("█▌ ")
}

/// The progress of one run.
#[derive(Debug)]
pub(crate) struct Line {
    bar: Option<ProgressBar>,
    quiet: bool,
    name: String,
    told: Instant,
    total: Option<u64>,
}

impl Progress for Line {
    fn expect(&mut self, total: Option<u64>) {
        self.total = total;
        if let Some(bar) = &self.bar {
            bar.set_style(style(total));
            bar.set_length(total.unwrap_or(0));
        }
    }

    fn update(&mut self, requests: u64, now: Nanos, stage: &str) {
        if let Some(bar) = &self.bar {
            bar.set_position(requests);
            bar.set_message(format!("{stage}, {now} simulated"));
        } else if !self.quiet && self.told.elapsed() >= Duration::from_secs(5) {
            self.told = Instant::now();
            let share = self.total.filter(|&total| total > 0).map(|total| format!(" ({} %)", requests * 100 / total));
            eprintln!("{}: {stage}: {requests} requests{}, {now} simulated", self.name, share.unwrap_or_default());
        }
    }

    fn say(&mut self, what: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{}: {what}", self.name)),
            None if !self.quiet => eprintln!("{}: {what}", self.name),
            None => {}
        }
    }
}

impl Line {
    /// The run is over.
    pub(crate) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
