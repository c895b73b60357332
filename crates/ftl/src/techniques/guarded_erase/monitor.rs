//! Write amplification in intervals, and whether it is steady (001 §3.3.3).
//!
//! ```text
//!   new mode ──► the host overwrites what the drive holds ──► ten intervals ──► steady if all are near their mean
//! ```

use crate::techniques::seam::Written;

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
    /// Sums at the start of the interval; `None`: it begins with the next erase.
    since: Option<Written>,
    erases: u32,
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
            since: None,
            erases: 0,
            last: Vec::new(),
        }
    }

    /// Half of the band, as a share of the mean.
    pub(super) fn band(&self) -> f64 {
        self.band
    }

    /// Begins anew, once the host has written `units`.
    pub(super) fn begin(&mut self, units: u64) {
        (self.settling, self.since, self.erases) = (units, None, 0);
        self.last.clear();
    }

    /// Counts an erase, when so much was `written`. Returns write amplification at the end of an interval, if it is steady.
    pub(super) fn erased(&mut self, written: Written) -> Option<f64> {
        let Some(since) = self.since else {
            self.since = Some(written);
            return None;
        };
        if self.settling > 0 {
            let host = written.host.saturating_sub(since.host);
            if host >= self.settling {
                (self.settling, self.since) = (0, Some(written));
            }
            return None;
        }
        self.erases += 1;
        if self.erases < self.interval {
            return None;
        }
        let [host, programmed] =
            [written.host - since.host.min(written.host), written.programmed - since.programmed.min(written.programmed)];
        (self.erases, self.since) = (0, Some(written));
        // An interval without new data has no write amplification.
        if host == 0 {
            return None;
        }
        if self.last.len() == INTERVALS {
            self.last.remove(0);
        }
        self.last.push(programmed as f64 / host as f64);
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

    /// Write amplification that the monitor returns after so many intervals of these values, one erase each.
    fn told(monitor: &mut WafMonitor, values: &[f64]) -> Vec<Option<f64>> {
        let mut written = Written { host: 5, programmed: 9 };
        assert_eq!(monitor.erased(written), None, "the first begins the interval");
        let next = |&waf: &f64| {
            written = Written { host: written.host + 1_024, programmed: written.programmed + (waf * 1_024.0) as u64 };
            monitor.erased(written)
        };
        values.iter().map(next).collect()
    }

    #[test]
    fn ten_intervals_near_their_mean_are_steady_and_one_beyond_the_band_is_not() {
        let near = [2.0, 2.03125, 1.984375, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0];
        let mut monitor = WafMonitor { interval: 1, ..WafMonitor::new(4_000, 0.02) };
        let all = told(&mut monitor, &near);
        assert_eq!((all[..9].iter().flatten().count(), all[9]), (0, Some(2.0015625)));
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
        let all = told(&mut monitor, &[9.0, 9.0, 9.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]);
        assert_eq!(all.iter().flatten().collect::<Vec<_>>(), [&2.0], "3 of 13 were before");
    }

    #[test]
    fn a_small_drive_has_twice_its_noise_for_a_band() {
        let wide = WafMonitor::new(500, 0.02).band();
        assert!((wide - 0.04).abs() < 1e-12, "{wide}");
        assert_eq!(WafMonitor::new(500, 0.2).band(), 0.2);
    }
}
