//! Steady state, as the SNIA Solid State Storage Performance Test Specification defines it.
//!
//! A test repeats rounds and follows one number per round. Over the last five rounds the state is steady when no round strays far
//! (highest less lowest at most 20 % of the average) and there is no drift (the least-squares line rises or falls by at most 10 % of
//! the average over the window). A run that gets no steady window within 25 rounds is reported as it is, not as steady.

/// The limits of steady state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Criteria {
    /// How many rounds the window holds; at least two.
    pub window: usize,
    /// Highest less lowest, as a fraction of the average.
    pub excursion: f64,
    /// Rise or fall of the fitted line over the window, as a fraction of the average.
    pub slope_excursion: f64,
    /// After how many rounds to give up.
    pub rounds: usize,
}

impl Default for Criteria {
    fn default() -> Criteria {
        Criteria { window: 5, excursion: 0.20, slope_excursion: 0.10, rounds: 25 }
    }
}

/// What the last window looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// The first round of the window, from 1.
    pub first_round: usize,
    /// The average.
    pub average: f64,
    /// Highest less lowest, as a fraction of the average.
    pub excursion: f64,
    /// Slope of the fitted line, per round.
    pub slope: f64,
    /// Rise or fall of the fitted line over the window, as a fraction of the average.
    pub slope_excursion: f64,
}

/// Where a test stands after a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Progress {
    /// Too few rounds, or not steady yet.
    Going(Option<Window>),
    /// Steady over this window.
    Steady(Window),
    /// Not steady within the allowed rounds; the last window, for the report.
    GivenUp(Option<Window>),
}

/// Follows one number, round by round.
#[derive(Clone, Debug)]
pub struct SteadyState {
    criteria: Criteria,
    rounds: Vec<f64>,
}

impl SteadyState {
    /// Follow a number under `criteria`.
    pub fn new(criteria: Criteria) -> SteadyState {
        SteadyState { criteria, rounds: Vec::new() }
    }

    /// The numbers so far.
    pub fn rounds(&self) -> &[f64] {
        &self.rounds
    }

    /// Add the number of one round.
    pub fn add(&mut self, metric: f64) -> Progress {
        self.rounds.push(metric);
        let window = self.window();
        match window {
            Some(window) if self.is_steady(&window) => Progress::Steady(window),
            _ if self.rounds.len() >= self.criteria.rounds => Progress::GivenUp(window),
            _ => Progress::Going(window),
        }
    }

    fn is_steady(&self, window: &Window) -> bool {
        // Written so that a number that is no number is never steady.
        window.average > 0.0 && window.excursion <= self.criteria.excursion && window.slope_excursion <= self.criteria.slope_excursion
    }

    /// The last window; `None` before there are enough rounds.
    pub fn window(&self) -> Option<Window> {
        let width = self.criteria.window.max(2);
        let first = self.rounds.len().checked_sub(width)?;
        let values = &self.rounds[first..];
        let count = width as f64;
        let average = values.iter().sum::<f64>() / count;
        let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let middle = (count - 1.0) / 2.0;
        let (mut product, mut square) = (0.0, 0.0);
        for (index, value) in values.iter().enumerate() {
            let from_middle = index as f64 - middle;
            product += from_middle * (value - average);
            square += from_middle * from_middle;
        }
        let slope = product / square;
        Some(Window {
            first_round: first + 1,
            average,
            excursion: (highest - lowest) / average,
            slope,
            slope_excursion: (slope * (count - 1.0)).abs() / average,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_steady(metrics: &[f64]) -> Option<usize> {
        let mut state = SteadyState::new(Criteria::default());
        metrics.iter().position(|metric| matches!(state.add(*metric), Progress::Steady(_))).map(|index| index + 1)
    }

    #[test]
    fn a_flat_sequence_is_steady_at_the_fifth_round_and_not_before() {
        assert_eq!(first_steady(&[100.0; 4]), None);
        assert_eq!(first_steady(&[100.0; 5]), Some(5));
    }

    #[test]
    fn a_fresh_drive_that_slows_down_is_steady_only_once_it_has_settled() {
        let metrics = [900.0, 500.0, 300.0, 210.0, 150.0, 120.0, 106.0, 101.0, 100.0, 99.0, 100.0, 101.0];
        // Rounds 6 to 10 still span more than a fifth; rounds 7 to 11 do not.
        assert_eq!(first_steady(&metrics), Some(11));
    }

    #[test]
    fn drift_is_not_steady_though_every_round_is_near_the_average() {
        // Highest less lowest is 16 %, but all of it is drift.
        assert_eq!(first_steady(&[108.0, 104.0, 100.0, 96.0, 92.0]), None);
        assert_eq!(first_steady(&[92.0, 96.0, 100.0, 104.0, 108.0]), None);
    }

    #[test]
    fn noise_is_not_steady_though_there_is_no_drift() {
        assert_eq!(first_steady(&[112.0, 90.0, 96.0, 90.0, 112.0]), None);
    }

    #[test]
    fn the_limits_themselves_are_steady() {
        // Excursion exactly 20 %, slope zero; then slope excursion exactly 10 %.
        assert_eq!(first_steady(&[110.0, 90.0, 100.0, 90.0, 110.0]), Some(5));
        assert_eq!(first_steady(&[105.0, 102.5, 100.0, 97.5, 95.0]), Some(5));
    }

    #[test]
    fn what_is_no_number_is_never_steady() {
        assert_eq!(first_steady(&[f64::NAN; 8]), None);
        assert_eq!(first_steady(&[0.0; 8]), None);
        assert_eq!(first_steady(&[f64::INFINITY; 8]), None);
        assert_eq!(first_steady(&[-100.0; 8]), None);
    }

    #[test]
    fn a_run_that_never_settles_is_given_up() {
        let mut state = SteadyState::new(Criteria::default());
        let last = (0..25).map(|round| state.add(if round % 2 == 0 { 50.0 } else { 150.0 })).last();
        assert!(matches!(last, Some(Progress::GivenUp(Some(_)))));
    }
}
