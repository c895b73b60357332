//! The warm clock: how long each block group has rested and kept its data, in seconds at 30 °C.
//!
//! Cells heal and lose charge faster where it is warmer. A second at the temperature of the board's sensor counts for as many seconds at 30 °C as the
//! activation energy of the chip's table of ageing says; without such a table, or without a sensor, for one. The clock is worked out when it is asked, so it
//! costs nothing while time passes.
//!
//! It knows of each group its last erase and its first program since, in ticks of four seconds. While the power is off it stands: what lay in a group then
//! has been kept *at least* as long as it says, until somebody tells how long that was.

use serde::{Deserialize, Serialize};
use wordline_units::arrhenius::acceleration;
use wordline_units::{Celsius, Nanos, Seconds};

use crate::state::layout::BlockGroup;

/// Temperature at which a second counts as one.
const REFERENCE: Celsius = Celsius(30.0);
/// Seconds in a tick.
const TICK: u64 = 4;
/// Seconds in a day.
const DAY: u64 = 86_400;
/// Flag on a tick of a first program: the data may have been kept longer.
const LEAST: u32 = 1 << 31;
/// Tick of an event that has not been seen.
const NEVER: u32 = 0;

/// Number of a day of a core's clock, counted in days at 30 °C from its first start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Day(pub u32);

/// Time for which a block group has kept its data, or has rested between two erases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kept {
    /// Effective time, in seconds at 30 °C.
    pub effective: Seconds,
    /// True if it was that long at least, and nobody knows how much longer.
    pub is_least: bool,
}

/// Clock of one core.
#[derive(Clone, Debug)]
pub(crate) struct WarmClock {
    /// Activation energy, in eV.
    energy: f64,
    /// Seconds at 30 °C for each second, since `since`.
    pace: f64,
    since: Nanos,
    /// Seconds at 30 °C up to `since`.
    warm: f64,
    /// Tick after the last erase of each group.
    erased: Vec<u32>,
    /// Tick of the first program of each group since its erase.
    programmed: Vec<u32>,
}

/// The clock as plain data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ClockTable {
    pub warm: f64,
    pub erased: Vec<u32>,
    pub programmed: Vec<u32>,
}

impl WarmClock {
    /// Creates a clock for `groups` groups that begins with `day`. `energy`: activation energy in eV, 0 where temperature makes no difference.
    pub(crate) fn new(groups: usize, energy: f64, day: Day) -> WarmClock {
        let warm = (u64::from(day.0) * DAY) as f64;
        WarmClock { energy, pace: 1.0, since: Nanos::ZERO, warm, erased: vec![NEVER; groups], programmed: vec![NEVER; groups] }
    }

    /// Set the temperature of the sensor from `now` on; `None`: nobody knows it.
    pub(crate) fn feel(&mut self, now: Nanos, sensor: Option<Celsius>) {
        (self.warm, self.since) = (self.seconds(now), now);
        self.pace = sensor.map_or(1.0, |sensor| self.pace_at(sensor));
    }

    /// Seconds at 30 °C that `span` seconds at this temperature are worth.
    pub(crate) fn effective(&self, span: f64, at: Celsius) -> f64 {
        span * self.pace_at(at)
    }

    /// Seconds at 30 °C for each second at this temperature.
    fn pace_at(&self, at: Celsius) -> f64 {
        acceleration(self.energy, at, REFERENCE)
    }

    /// Let `span` seconds at 30 °C pass at once.
    pub(crate) fn skip(&mut self, span: f64) {
        self.warm += span;
    }

    /// Make the erase and the first program of `group` later by `span`, which the clock is going to pass: the group would have been erased again.
    pub(crate) fn renew(&mut self, group: BlockGroup, span: Nanos) {
        let later = ((span.as_secs_f64() * self.pace) as u64 / TICK).min(u64::from(LEAST)) as u32;
        for tick in [&mut self.erased[group.index()], &mut self.programmed[group.index()]] {
            if *tick != NEVER {
                *tick = (*tick & !LEAST).saturating_add(later).min(LEAST - 1) | (*tick & LEAST);
            }
        }
    }

    /// Go on from `now`, up to which the clock has been restored.
    pub(crate) fn go_on_from(&mut self, now: Nanos) {
        self.since = now;
    }

    /// Let `span` seconds at this temperature pass at once, in which all data that there is was kept and no block was erased.
    pub(crate) fn let_pass(&mut self, now: Nanos, span: f64, at: Celsius) {
        let before = self.tick(now);
        self.programmed.iter_mut().filter(|tick| **tick != NEVER).for_each(|tick| *tick = before);
        self.skip(self.effective(span, at));
        let after = self.tick_after(now);
        self.erased.fill(after);
    }

    /// Let `span` seconds at this temperature pass at once, for which the drive lay without power: all data is older by it. Rests of blocks between two erases
    /// stay as they are.
    pub(crate) fn lie(&mut self, span: f64, at: Celsius) {
        let effective = self.effective(span, at);
        let later = (effective as u64 / TICK).min(u64::from(LEAST)) as u32;
        self.skip(effective);
        self.erased.iter_mut().filter(|tick| **tick != NEVER).for_each(|tick| *tick = tick.saturating_add(later).min(LEAST - 1));
    }

    /// Seconds at 30 °C up to `now`.
    fn seconds(&self, now: Nanos) -> f64 {
        self.warm + now.saturating_sub(self.since).as_secs_f64() * self.pace
    }

    /// The present day.
    pub(crate) fn today(&self, now: Nanos) -> Day {
        Day((self.seconds(now) as u64 / DAY).min(u64::from(u32::MAX)) as u32)
    }

    /// Tick at `now`, counted from 1.
    fn tick(&self, now: Nanos) -> u32 {
        (self.seconds(now) as u64 / TICK + 1).min(u64::from(LEAST - 1)) as u32
    }

    /// Tick that has begun by `now` or begins next: so a rest is never told too long.
    fn tick_after(&self, now: Nanos) -> u32 {
        let begun = self.tick(now);
        begun + u32::from(self.seconds(now) > (u64::from(begun - 1) * TICK) as f64 && begun < LEAST - 1)
    }

    /// Note a program in `group`, which may be the first since its erase.
    #[inline]
    pub(crate) fn programmed(&mut self, group: BlockGroup, now: Nanos) {
        if self.programmed[group.index()] == NEVER {
            self.programmed[group.index()] = self.tick(now);
        }
    }

    /// Note that `group` was erased, or that it is on other blocks (`has_left`), whose rest nobody knows.
    pub(crate) fn erased(&mut self, group: BlockGroup, has_left: bool, now: Nanos) {
        self.programmed[group.index()] = NEVER;
        self.erased[group.index()] = if has_left { NEVER } else { self.tick_after(now) };
    }

    /// Note that `group` holds data from a time before the clock knew of it: from `day` on, or from a day that nobody knows.
    pub(crate) fn found(&mut self, group: BlockGroup, day: Option<Day>, now: Nanos) {
        let tick = day.map_or(self.tick(now), |day| (u64::from(day.0) * DAY / TICK + 1).min(u64::from(LEAST - 1)) as u32);
        self.programmed[group.index()] = tick | LEAST;
    }

    /// Note that `group` has not been kept longer than the clock says.
    pub(crate) fn is_known(&mut self, group: BlockGroup) {
        self.programmed[group.index()] &= !LEAST;
    }

    /// Time since the first program of `group`; `None`: it has not been programmed since its erase.
    pub(crate) fn kept(&self, group: BlockGroup, now: Nanos) -> Option<Kept> {
        let tick = self.programmed[group.index()];
        let effective = Seconds(u64::from(self.tick(now).saturating_sub(tick & !LEAST)) * TICK);
        (tick != NEVER).then_some(Kept { effective, is_least: tick & LEAST != 0 })
    }

    /// Time since the last erase of `group`; none at least, where that has not been seen.
    pub(crate) fn rest(&self, group: BlockGroup, now: Nanos) -> Kept {
        match self.erased[group.index()] {
            NEVER => Kept { effective: Seconds(0), is_least: true },
            tick => Kept { effective: Seconds(u64::from(self.tick(now).saturating_sub(tick)) * TICK), is_least: false },
        }
    }

    /// Image of the clock at `now`.
    pub(crate) fn image(&self, now: Nanos) -> ClockTable {
        ClockTable { warm: self.seconds(now), erased: self.erased.clone(), programmed: self.programmed.clone() }
    }

    /// Restore the clock from `table`, at the start of virtual time. Returns false if the table is of another core, or of no clock.
    #[must_use]
    pub(crate) fn restore(&mut self, table: ClockTable) -> bool {
        let ClockTable { warm, erased, programmed } = table;
        let is_sound = warm.is_finite() && warm >= 0.0 && erased.len() == self.erased.len() && programmed.len() == self.programmed.len();
        if is_sound {
            (self.warm, self.since) = (warm, Nanos::ZERO);
            (self.erased, self.programmed) = (erased, programmed);
        }
        is_sound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_that_is_renewed_keeps_its_age_while_the_clock_passes_a_leap_and_others_grow_older() {
        let (mut clock, other) = (clock(), BlockGroup(2));
        for group in [ONE, other] {
            clock.erased(group, false, at(0));
            clock.programmed(group, at(400));
        }
        clock.renew(ONE, at(40_000));
        let now = at(41_000);
        let ages = |group| [clock.rest(group, now).effective.0, clock.kept(group, now).expect("it is programmed").effective.0];
        assert_eq!((ages(ONE), ages(other)), ([1_000, 600], [41_000, 40_600]));
    }

    #[test]
    fn a_clock_that_goes_on_from_where_it_was_restored_counts_no_time_twice() {
        let mut clock = clock();
        clock.erased(ONE, false, at(0));
        let mut back = self::clock();
        assert!(back.restore(clock.image(at(8_000))));
        back.go_on_from(at(8_000));
        assert_eq!(back.rest(ONE, at(8_400)).effective.0, 8_400);
    }

    const ONE: BlockGroup = BlockGroup(1);

    fn clock() -> WarmClock {
        WarmClock::new(3, 1.1, Day(0))
    }

    fn at(seconds: u64) -> Nanos {
        Nanos::from_secs(seconds)
    }

    fn exact(seconds: u64) -> Kept {
        Kept { effective: Seconds(seconds), is_least: false }
    }

    #[test]
    fn an_hour_at_50_degrees_counts_for_thirteen_and_a_half_and_each_stretch_by_its_own_temperature() {
        let mut clock = clock();
        clock.feel(at(0), Some(Celsius(50.0)));
        clock.programmed(ONE, at(0));
        clock.feel(at(3_600), Some(Celsius(30.0)));
        let kept = clock.kept(ONE, at(7_200)).expect("it is programmed");
        assert!((13.5 * 3_600.0 - kept.effective.0 as f64 + 3_600.0).abs() < 200.0, "{kept:?}");
        // As if the first hour had been cool, too: what a clock says that takes the last temperature for all of the time.
        assert!(kept.effective.0 > 7_200);
        let unfelt = {
            let mut clock = WarmClock::new(3, 0.0, Day(0));
            clock.feel(at(0), Some(Celsius(85.0)));
            clock
        };
        assert_eq!(unfelt.today(at(86_400)), Day(1), "without a table temperature makes no difference");
    }

    #[test]
    fn the_first_program_counts_and_a_rest_is_from_erase_to_erase() {
        let mut clock = clock();
        assert_eq!((clock.kept(ONE, at(9)), clock.rest(ONE, at(9))), (None, Kept { effective: Seconds(0), is_least: true }));
        clock.erased(ONE, false, at(10));
        assert_eq!(clock.rest(ONE, at(12)), exact(0), "never too long");
        clock.programmed(ONE, at(100));
        clock.programmed(ONE, at(300));
        assert_eq!((clock.kept(ONE, at(500)), clock.rest(ONE, at(500))), (Some(exact(400)), exact(488)));
        clock.erased(ONE, true, at(600));
        assert_eq!((clock.kept(ONE, at(700)), clock.rest(ONE, at(700)).is_least), (None, true), "it is on other blocks");
    }

    #[test]
    fn data_from_before_the_clock_is_kept_at_least_so_long_until_that_is_known() {
        let mut clock = WarmClock::new(3, 1.1, Day(9));
        clock.found(ONE, Some(Day(7)), at(0));
        clock.found(BlockGroup(2), None, at(0));
        let kept = |clock: &WarmClock, group| clock.kept(group, at(0)).map(|kept| (kept.effective.0 / DAY, kept.is_least));
        assert_eq!((kept(&clock, ONE), kept(&clock, BlockGroup(2))), (Some((2, true)), Some((0, true))));
        clock.skip((3 * DAY) as f64);
        clock.is_known(ONE);
        assert_eq!((kept(&clock, ONE), kept(&clock, BlockGroup(2))), (Some((5, false)), Some((3, true))));
        assert_eq!(clock.today(at(DAY)), Day(13));
    }

    #[test]
    fn time_that_is_let_pass_makes_all_data_older_by_it_and_rests_begin_anew() {
        let mut clock = clock();
        clock.erased(ONE, false, at(0));
        clock.programmed(ONE, at(40));
        clock.let_pass(at(80), (365 * DAY) as f64, REFERENCE);
        assert_eq!(clock.kept(ONE, at(80)), Some(exact(365 * DAY)));
        assert_eq!((clock.rest(ONE, at(84)), clock.kept(BlockGroup(2), at(84))), (exact(4), None));
        assert_eq!(clock.today(at(80)), Day(365));
    }

    #[test]
    fn data_that_lay_without_power_is_older_by_it_than_it_was_and_rests_are_as_they_were() {
        let mut clock = clock();
        clock.erased(ONE, false, at(0));
        clock.programmed(ONE, at(40));
        clock.erased(BlockGroup(2), true, at(0));
        clock.lie((90 * DAY) as f64, REFERENCE);
        assert_eq!(clock.kept(ONE, at(80)), Some(exact(90 * DAY + 40)));
        assert_eq!((clock.rest(ONE, at(80)), clock.rest(BlockGroup(2), at(80)).is_least), (exact(80), true));
        clock.programmed(BlockGroup(2), at(80));
        assert_eq!((clock.kept(BlockGroup(2), at(84)), clock.today(at(80))), (Some(exact(4)), Day(90)));
    }

    #[test]
    fn a_clock_goes_on_from_its_image_though_virtual_time_begins_anew() {
        let mut clock = clock();
        clock.feel(at(0), Some(Celsius(40.0)));
        clock.programmed(ONE, at(100));
        let before = clock.kept(ONE, at(90_000));
        let mut back = self::clock();
        assert!(back.restore(clock.image(at(90_000))));
        assert_eq!(back.kept(ONE, at(0)), before);
        assert!(!WarmClock::new(2, 1.1, Day(0)).restore(clock.image(at(1))), "it is of another core");
    }
}
