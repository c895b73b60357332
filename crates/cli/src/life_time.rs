//! Time that a life takes on the wall's clock, told beforehand from its first epochs.

use std::time::Instant;

use wordline_runs::wear_out::Passes;

/// Epochs of a scout or a pass that are measured before its time is told.
const FIRST: u64 = 3;

/// Time that the ways through one life take.
#[derive(Debug)]
pub(crate) struct LifeTime {
    passes: Passes,
    /// Number of ways that have begun, the scout among them.
    begun: usize,
    started: Instant,
    /// Seconds of an epoch in the mean of the first ones of this way.
    first: Option<f64>,
    /// Ratio of the time that the scout took to the one estimated from its first epochs.
    growth: Option<f64>,
}

impl LifeTime {
    pub(crate) fn new(passes: Passes) -> LifeTime {
        LifeTime { passes, begun: 0, started: Instant::now(), first: None, growth: None }
    }

    /// A scout or a pass begins.
    pub(crate) fn begin(&mut self) {
        self.begin_after(self.started.elapsed().as_secs_f64());
        self.started = Instant::now();
    }

    /// A scout or a pass begins, after the one before it has taken so many seconds.
    fn begin_after(&mut self, seconds: f64) {
        if let (1, Some(epochs), Some(first)) = (self.begun, self.passes.scout, self.first.take()) {
            self.growth = Some((seconds / (first * f64::from(epochs))).max(1.0));
        }
        self.begun += 1;
        self.first = None;
    }

    /// Note the number of epochs done in this way. Returns a sentence on its time, once.
    pub(crate) fn at(&mut self, epochs: u64) -> Option<String> {
        self.at_after(epochs, self.started.elapsed().as_secs_f64())
    }

    fn at_after(&mut self, epochs: u64, seconds: f64) -> Option<String> {
        if epochs < FIRST || self.first.is_some() {
            return None;
        }
        let first = seconds / epochs as f64;
        self.first = Some(first);
        let Passes { scout, epochs: of_pass, most } = self.passes;
        let measured = format!("an epoch took {} in the first {epochs}", span(first));
        let slower = "epochs of worn cells take longer";
        let Some(of_pass) = of_pass else {
            return (self.begun == 1).then(|| format!("{measured}; nothing is skipped, and how many epochs the life has is not known"));
        };
        let pass = first * f64::from(of_pass);
        let of_most = if most > 1 { format!(", and as long for each further pass, of {most} at most") } else { String::new() };
        match (scout, self.begun, self.growth) {
            (Some(scout), 1, _) => Some(format!(
                "{measured} of the scout: at least {} for the scout, then at least {} for each pass of {of_pass} epochs, of {most} at most; {slower}",
                span(first * f64::from(scout)),
                span(pass)
            )),
            (Some(_), 2, Some(growth)) => Some(format!(
                "{measured} of pass 1: about {} for this pass, as the scout took {growth:.1} times as long as its first epochs{of_most}",
                span(pass * growth)
            )),
            (None, 1, _) => Some(format!("{measured} of pass 1: at least {} for this pass{of_most}; {slower}", span(pass))),
            _ => None,
        }
    }
}

/// Seconds as a person says them.
fn span(seconds: f64) -> String {
    match seconds {
        0.0..0.95 => format!("{:.0} ms", (seconds * 1e3).max(1.0)),
        0.95..99.5 => format!("{seconds:.0} s"),
        99.5..5_400.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3_600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_pass_is_that_of_its_first_epochs_times_what_the_scout_grew_by() {
        let mut time = LifeTime::new(Passes { scout: Some(20), epochs: Some(60), most: 4 });
        time.begin_after(0.0);
        assert_eq!(time.at_after(2, 4.0), None);
        let told = time.at_after(3, 6.0).expect("three epochs are measured");
        let scout = "an epoch took 2 s in the first 3 of the scout: at least 40 s for the scout, then at least 2 min for each pass of 60 epochs, of 4 at most";
        assert!(told.starts_with(scout), "{told}");
        assert_eq!(time.at_after(4, 8.0), None, "it is told once");
        time.begin_after(60.0);
        let told = time.at_after(3, 9.0).expect("three epochs are measured");
        assert!(told.contains("3 s in the first 3 of pass 1: about 4 min for this pass, as the scout took 1.5 times as long"), "{told}");
        time.begin_after(300.0);
        assert_eq!(time.at_after(3, 9.0), None, "further passes are like the first");
    }

    #[test]
    fn without_a_scout_only_what_was_measured_is_told() {
        let mut quick = LifeTime::new(Passes { scout: None, epochs: Some(60), most: 1 });
        quick.begin_after(0.0);
        let told = quick.at_after(3, 0.03).expect("three epochs are measured");
        assert_eq!(told, "an epoch took 10 ms in the first 3 of pass 1: at least 600 ms for this pass; epochs of worn cells take longer");
        let mut whole = LifeTime::new(Passes { scout: None, epochs: None, most: 1 });
        whole.begin_after(0.0);
        assert!(whole.at_after(3, 3.0).is_some_and(|told| told.ends_with("how many epochs the life has is not known")));
    }

    #[test]
    fn spans_are_in_units_that_are_read_at_a_glance() {
        let texts = [0.0, 0.2, 1.2, 99.0, 120.0, 7_200.0].map(span);
        assert_eq!(texts, ["1 ms", "200 ms", "1 s", "99 s", "2 min", "2.0 h"]);
    }
}
