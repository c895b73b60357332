//! Progress of a run, for whoever waits for it.

use wordline_units::Nanos;

/// Number of requests that are served between two words about progress.
pub(crate) const CHUNK: u64 = 20_000;

/// A listener to the progress of a run. Nothing that it does changes the run.
pub trait Progress {
    /// Hears that the run takes about `total` requests in all, where that is known.
    fn expect(&mut self, total: Option<u64>);

    /// Hears that `requests` are done at the virtual time `now`, and what is being done.
    fn update(&mut self, requests: u64, now: Nanos, doing: &str);

    /// Hears something that is true once, and worth knowing whatever the figures are.
    fn say(&mut self, what: &str);
}

/// Nobody waits.
impl Progress for () {
    fn expect(&mut self, _: Option<u64>) {}

    fn update(&mut self, _: u64, _: Nanos, _: &str) {}

    fn say(&mut self, _: &str) {}
}
