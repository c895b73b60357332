//! Write amplification in intervals, and whether it is steady (001 §3.3.3).
//!
//! The erase of a group with room for so many units, out of which so many were moved, makes room for as many of the host's as are left.
//!
//! ```text
//!   new mode ──► the host overwrites what the drive holds ──► ten intervals ──► steady if all are near their mean
//! ```

/// Intervals that must be near their mean.
const INTERVALS: usize = 10;
/// Share of the block groups whose erases are one interval.
const OF_GROUPS: u32 = 20;
/// Block groups from which on the band holds as it is set. Fewer show more chance: twice the noise is the least band.
const GROUPS: f64 = 2_000.0;
/// Noise of an interval on a drive of so many groups.
const NOISE: f64 = 0.01;

/// Monitor of write amplification.
#[derive(Clone, Debug)]
pub(super) struct WafMonitor {
    /// Erases of an interval.
    interval: u32,
    /// Half of the band around the mean, as a share of it.
    band: f64,
    /// Units of the host that must be written before an interval counts.
    settling: u64,
    /// Erases, units that the erased groups had room for, and units that were moved out of them, since the interval began.
    erases: u32,
    room: u64,
    moved: u64,
    /// Write amplification of the last intervals, the oldest first.
    last: Vec<f64>,
}

impl WafMonitor {
    /// Creates the monitor of a core with so many block groups. `band`: half of the band, as a share of the mean; wider where chance is greater.
    pub(super) fn new(groups: u32, band: f64) -> WafMonitor {
        let noise = NOISE * (GROUPS / f64::from(groups.max(1))).sqrt();
        WafMonitor {
            interval: groups.div_ceil(OF_GROUPS).max(1),
            band: if f64::from(groups) < GROUPS { band.max(2.0 * noise) } else { band },
            settling: 0,
            erases: 0,
            room: 0,
            moved: 0,
            last: Vec::new(),
        }
    }

    /// Half of the band, as a share of the mean.
    pub(super) fn band(&self) -> f64 {
        self.band
    }

    /// Begins anew, once the host has written `units`.
    pub(super) fn begin(&mut self, units: u64) {
        (self.settling, self.erases, self.room, self.moved) = (units, 0, 0, 0);
        self.last.clear();
    }

    /// Counts the erase of a group with `room` for so many units, out of which so many were `moved`: new data of the host has room where they were not. Sums of
    /// what was programmed would swing with the victims that are under way. Returns write amplification at the end of an interval, if it is steady.
    pub(super) fn erased(&mut self, room: u32, moved: u32) -> Option<f64> {
        if self.settling > 0 {
            self.settling = self.settling.saturating_sub(u64::from(room.saturating_sub(moved)));
            return None;
        }
        self.erases += 1;
        self.room += u64::from(room);
        self.moved += u64::from(moved);
        if self.erases < self.interval {
            return None;
        }
        let (room, host) = (self.room, self.room.saturating_sub(self.moved));
        (self.erases, self.room, self.moved) = (0, 0, 0);
        // An interval without new data has no write amplification.
        if host == 0 {
            return None;
        }
        if self.last.len() == INTERVALS {
            self.last.remove(0);
        }
        self.last.push(room as f64 / host as f64);
        self.steady()
    }

    fn steady(&self) -> Option<f64> {
        let mean = self.last.iter().sum::<f64>() / self.last.len() as f64;
        let is_near = |waf: &f64| (waf / mean - 1.0).abs() <= self.band;
        (self.last.len() == INTERVALS && self.last.iter().all(is_near)).then_some(mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Room of a group in units.
    const ROOM: u32 = 10_000;

    /// Write amplification that the monitor returns after so many intervals of these values, one erase each.
    fn told(monitor: &mut WafMonitor, values: &[f64]) -> Vec<Option<f64>> {
        values.iter().map(|waf| monitor.erased(ROOM, ROOM - (f64::from(ROOM) / waf).round() as u32)).collect()
    }

    fn is_about(waf: Option<f64>, expected: f64) -> bool {
        waf.is_some_and(|waf| (waf - expected).abs() < 1e-3)
    }

    #[test]
    fn ten_intervals_near_their_mean_are_steady_and_one_beyond_the_band_is_not() {
        let near = [2.0, 2.03125, 1.984375, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0];
        let mut monitor = WafMonitor { interval: 1, ..WafMonitor::new(4_000, 0.02) };
        let all = told(&mut monitor, &near);
        assert!(all[..9].iter().flatten().count() == 0 && is_about(all[9], 2.0015625), "{all:?}");
        let mut far = near;
        far[4] = 2.2;
        let mut monitor = WafMonitor { interval: 1, ..WafMonitor::new(4_000, 0.02) };
        let all = told(&mut monitor, &[&far[..], &[2.0; 5]].concat());
        assert_eq!(all.iter().position(Option::is_some), Some(14), "it has left the window");
    }

    #[test]
    fn an_interval_is_the_erases_of_a_twentieth_of_the_groups() {
        let mut monitor = WafMonitor::new(4_000, 0.02);
        assert_eq!((monitor.interval, monitor.band()), (200, 0.02));
        let all = told(&mut monitor, &vec![3.0; 2_000]);
        assert_eq!(all.iter().position(Option::is_some), Some(1_999));
    }

    #[test]
    fn a_new_mode_counts_only_once_the_host_has_written_so_much() {
        let mut monitor = WafMonitor { interval: 1, ..WafMonitor::new(4_000, 0.02) };
        monitor.begin(3_000);
        let all = told(&mut monitor, &[10.0, 10.0, 10.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]);
        assert_eq!(all.iter().flatten().collect::<Vec<_>>(), [&2.0], "3,000 units of the host were before");
    }

    #[test]
    fn a_small_drive_has_twice_its_noise_for_a_band() {
        let wide = WafMonitor::new(500, 0.02).band();
        assert!((wide - 0.04).abs() < 1e-12, "{wide}");
        assert_eq!(WafMonitor::new(500, 0.2).band(), 0.2);
    }
}
