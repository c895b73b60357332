//! Nanoseconds per observed event: `cargo run --release --example observer_cost`. The stream lies in memory, so the cost of reading it is shown beside.

use std::hint::black_box;
use std::time::{Duration, Instant};

use toy::Toy;
use wordline_engine::{Event, Observer};
use wordline_figures::{Interval, Metrics, Scope};
use wordline_units::Nanos;

#[path = "fabricated/toy.rs"]
mod toy;

fn main() {
    let toy = Toy { requests: 20_000, shape: (16, 4), depth: 64, mix: (30, 0), ..Toy::default() };
    let (events, _) = toy.events();
    // Rows as long as those of a run of some seconds, which is where time is spent.
    let scope = Scope { interval: Interval::Fixed(Nanos::from_millis(20)), ..toy.scope() };
    type Keep = fn(&Event) -> bool;
    let kinds: [(&str, Keep); 3] = [
        ("all", |_| true),
        ("flash", |event| matches!(event, Event::Flash(_))),
        ("arrived and completed", |event| !matches!(event, Event::Flash(_))),
    ];
    for (name, keep) in kinds {
        let some: Vec<_> = events.iter().filter(|event| keep(&event.1)).copied().collect();
        let (metrics, reading) = (best(|| Metrics::new(scope), &some), best(Reader::default, &some));
        let (metrics, reading) = (per(metrics, some.len()), per(reading, some.len()));
        println!("{}, {name}: {} events, metrics {metrics:.1} ns, reading alone {reading:.1} ns", toy.name, some.len());
    }
}

fn per(time: Duration, count: usize) -> f64 {
    time.as_nanos() as f64 / count as f64
}

fn best<O: Observer>(make: impl Fn() -> O, events: &[(Nanos, Event)]) -> Duration {
    let round = |_| {
        let mut observer = make();
        let start = Instant::now();
        for (at, event) in events {
            observer.observe(*at, event);
        }
        let took = start.elapsed();
        black_box(&observer);
        took
    };
    (0..300).map(round).min().unwrap_or_default()
}

/// Reads every word of an event and does nothing with it.
#[derive(Default)]
struct Reader(u64);

impl Observer for Reader {
    fn observe(&mut self, at: Nanos, event: &Event) {
        self.0 ^= at.0;
        match event {
            Event::Completed(done) => self.0 ^= done.stages.total().0 ^ done.arrived.0 ^ done.sector,
            Event::Flash(flash) => self.0 ^= flash.issued.0 ^ flash.array.0 ^ flash.core.0 ^ u64::from(flash.pages),
            Event::Arrived { request, .. } => self.0 ^= u64::from(request.0),
            Event::Stopped { .. }
            | Event::Invalidated { .. }
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
