//! Steady state, as the SNIA Solid State Storage Performance Test Specification defines it, with what a simulation must add.
//!
//! A test repeats rounds and follows a number per round. Over the last five rounds the state is steady when no round strays far
//! (highest less lowest at most 20 % of the average) and there is no drift (the least-squares line rises or falls by at most 10 % of
//! the average over the window). A run that gets no steady window within 25 rounds is reported as it is, not as steady.
//!
//! The specification follows throughput, in rounds of a minute or more on a real drive. Two things are added here. A simulated round may
//! be as short as one likes, and five short rounds look alike whatever the drive does: until its spare blocks are used up, it need not
//! reclaim at all. So a round has a least size, [`least_requests`]. And a load that the drive keeps up with has the same throughput
//! from beginning to end, while reclaim is still finding its way; so write amplification is held to the same limits as throughput.

use wordline_units::Bytes;

use crate::spec::PhaseSpec;

/// The least share of the drive that a round writes (or reads, if it writes nothing): five rounds then write as much as the drive holds.
pub const LEAST_SHARE: f64 = 0.20;

/// The share of the drive that a round writes (or reads) unless the user says otherwise: five rounds then write 1.25 times what the drive holds.
pub const USUAL_SHARE: f64 = 0.25;

/// How many requests of `phase` write `share` of a drive of `capacity`, on average; or read it, if the phase writes nothing. At least 1.
pub fn requests_for(share: f64, phase: &PhaseSpec, capacity: Bytes) -> u64 {
    let mix = &phase.mix;
    let all = mix.read + mix.write + mix.trim + mix.flush;
    let moving = if mix.write > 0.0 { mix.write } else { mix.read };
    let bytes = phase.mean_size() * if moving > 0.0 { moving / all } else { 1.0 };
    (capacity.0 as f64 * share / bytes).ceil().max(1.0) as u64
}

/// The fewest requests of `phase` that make a round on a drive of `capacity`.
pub fn least_requests(phase: &PhaseSpec, capacity: Bytes) -> u64 {
    requests_for(LEAST_SHARE, phase, capacity)
}

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

/// What a round showed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// Requests per second.
    pub iops: f64,
    /// Flash bytes programmed per byte that the host wrote; `None` if it wrote nothing.
    pub waf: Option<f64>,
}

/// What one number did over the last window.
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

impl Window {
    /// The last `width` of so many values; `None` before there are enough.
    fn over(values: impl ExactSizeIterator<Item = f64>, width: usize) -> Option<Window> {
        let first = values.len().checked_sub(width)?;
        let values: Vec<f64> = values.skip(first).collect();
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

    fn is_within(&self, criteria: &Criteria) -> bool {
        // Written so that a number that is no number is never steady.
        self.average > 0.0 && self.excursion <= criteria.excursion && self.slope_excursion <= criteria.slope_excursion
    }
}

/// The last window of everything that is followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Windows {
    /// The throughput window.
    pub iops: Window,
    /// Write amplification; `None` if no round of the window wrote anything.
    pub waf: Option<Window>,
}

/// Where a test stands after a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Progress {
    /// Too few rounds, or not steady yet.
    Going(Option<Windows>),
    /// Steady over this window.
    Steady(Windows),
    /// Not steady within the allowed rounds; the last window, for the report.
    GivenUp(Option<Windows>),
}

/// Follows a drive, round by round.
#[derive(Clone, Debug)]
pub struct SteadyState {
    criteria: Criteria,
    rounds: Vec<Round>,
}

impl SteadyState {
    /// Follow a drive under `criteria`.
    pub fn new(criteria: Criteria) -> SteadyState {
        SteadyState { criteria, rounds: Vec::new() }
    }

    /// The rounds so far.
    pub fn rounds(&self) -> &[Round] {
        &self.rounds
    }

    /// Add one round.
    pub fn add(&mut self, round: Round) -> Progress {
        self.rounds.push(round);
        let windows = self.windows();
        match windows {
            Some(windows) if self.is_steady(&windows) => Progress::Steady(windows),
            _ if self.rounds.len() >= self.criteria.rounds => Progress::GivenUp(windows),
            _ => Progress::Going(windows),
        }
    }

    fn is_steady(&self, windows: &Windows) -> bool {
        windows.iops.is_within(&self.criteria) && windows.waf.is_none_or(|waf| waf.is_within(&self.criteria))
    }

    /// The last window; `None` before there are enough rounds.
    pub fn windows(&self) -> Option<Windows> {
        let width = self.criteria.window.max(2);
        let iops = Window::over(self.rounds.iter().map(|round| round.iops), width)?;
        let written = self.rounds.iter().rev().take(width).any(|round| round.waf.is_some());
        // Where some rounds wrote and others did not, amplification is no number, so the window is not steady.
        let waf = self.rounds.iter().map(|round| round.waf.unwrap_or(f64::NAN));
        Some(Windows { iops, waf: if written { Window::over(waf, width) } else { None } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Limit, Mix};

    fn first_steady(iops: &[f64]) -> Option<usize> {
        first_steady_of(iops.iter().map(|&iops| Round { iops, waf: None }))
    }

    fn first_steady_of(rounds: impl IntoIterator<Item = Round>) -> Option<usize> {
        let mut state = SteadyState::new(Criteria::default());
        rounds.into_iter().position(|round| matches!(state.add(round), Progress::Steady(_))).map(|index| index + 1)
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
        let last = (0..25).map(|round| state.add(Round { iops: if round % 2 == 0 { 50.0 } else { 150.0 }, waf: None })).last();
        assert!(matches!(last, Some(Progress::GivenUp(Some(_)))));
    }

    #[test]
    fn a_flat_load_is_not_steady_while_amplification_still_grows() {
        // Measured on a drive of one die: hot and cold writes at a fixed rate, in rounds of a quarter of the drive. Throughput alone is steady at
        // the fifth round, at less than half of the amplification in the end.
        let waf = [1.02, 1.15, 1.20, 1.35, 1.35, 1.46, 1.52, 1.69, 1.86, 1.93, 2.23, 2.43, 2.77, 3.34, 3.65, 3.33, 3.44, 3.55];
        assert_eq!(first_steady(&[60.0; 18]), Some(5));
        assert_eq!(first_steady_of(waf.map(|waf| Round { iops: 60.0, waf: Some(waf) })), Some(18));
    }

    #[test]
    fn amplification_may_neither_stray_nor_drift() {
        let rounds = |waf: [f64; 5]| first_steady_of(waf.map(|waf| Round { iops: 100.0, waf: Some(waf) }));
        assert_eq!(rounds([3.0; 5]), Some(5));
        assert_eq!(rounds([3.4, 2.7, 2.9, 2.7, 3.4]), None, "strays by 23 %");
        assert_eq!(rounds([2.76, 2.88, 3.0, 3.12, 3.24]), None, "drifts by 16 %");
    }

    #[test]
    fn a_window_in_which_only_some_rounds_write_is_not_steady() {
        let some = |round: usize| Round { iops: 100.0, waf: round.is_multiple_of(2).then_some(1.0) };
        assert_eq!(first_steady_of((0..10).map(some)), None);
    }

    #[test]
    fn a_round_is_a_share_of_the_drive_in_what_it_writes() {
        let phase = |mix| PhaseSpec { mix, sizes: vec![(Bytes::kib(16), 1.0)], ..PhaseSpec::new("x", Limit::none()) };
        let drive = Bytes::mib(160);
        assert_eq!(least_requests(&phase(Mix::reads(0.0)), drive), 2_048);
        // Reads between the writes do not count.
        assert_eq!(least_requests(&phase(Mix::reads(0.75)), drive), 4 * 2_048);
        // Where nothing is written, they do.
        assert_eq!(least_requests(&phase(Mix::reads(1.0)), drive), 2_048);
        assert_eq!(requests_for(USUAL_SHARE, &phase(Mix::reads(0.0)), drive), 2_560);
        let shares = LEAST_SHARE * Criteria::default().window as f64;
        assert!((shares - 1.0).abs() < 1e-9, "a window writes the drive once over");
    }
}
