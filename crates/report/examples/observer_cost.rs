//! Nanoseconds per observed event: `cargo run --release --example observer_cost`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use fabricated::Toy;
use wordline_engine::{Event, Observer};
use wordline_report::Metrics;
use wordline_units::Nanos;

#[allow(dead_code)]
mod fabricated;

fn main() {
    let toy = Toy { requests: 300_000, shape: (16, 4), depth: 64, mix: (30, 0), ..Toy::default() };
    let (events, _) = toy.events();
    let whole = best(&toy, &events);
    println!("{} events, {:.1} ns per event", events.len(), per(whole, events.len()));
    type Keep = fn(&Event) -> bool;
    let kinds: [(&str, Keep); 2] =
        [("flash", |event| matches!(event, Event::Flash(_))), ("arrived and completed", |event| !matches!(event, Event::Flash(_)))];
    for (name, keep) in kinds {
        let some: Vec<_> = events.iter().filter(|event| keep(&event.1)).copied().collect();
        println!("{name}: {} events, {:.1} ns per event", some.len(), per(best(&toy, &some), some.len()));
    }
}

fn per(time: Duration, count: usize) -> f64 {
    time.as_nanos() as f64 / count as f64
}

fn best(toy: &Toy, events: &[(Nanos, Event)]) -> Duration {
    let round = |_| {
        let mut metrics = Metrics::new(toy.scope());
        let start = Instant::now();
        for (at, event) in events {
            metrics.observe(*at, black_box(event));
        }
        let took = start.elapsed();
        black_box(metrics.in_flight());
        took
    };
    (0..9).map(round).min().unwrap_or_default()
}
