//! Changes to a trace that was played on a drive: beside its figures, because each of them changes the load that they are of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_units::{Bytes, Nanos};

use crate::text::count;

/// Changes to the requests of a trace. Counts are of requests that were issued, in all of the times that the trace was played.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TraceResult {
    /// The tick of its times: the greatest common divisor of the steps between them; null where it has no times, or too few to be sure.
    #[schemars(extend("x-unit" = "ns"))]
    pub tick_ns: Option<u64>,
    /// Records of the file that have a time.
    pub timed_records: u64,
    /// Records of the file with the same time as the one before them.
    pub shared_times: u64,
    /// The most records of the file with one time.
    pub most_at_one_time: u64,
    /// `spread` if records with one time were spread evenly over the tick, `burst` if they were issued at once although the tick is coarser than the gaps
    /// between records; null where the tick is fine, and where requests are not issued at the trace's times.
    pub within_tick: Option<String>,
    /// The number of volumes.
    pub volumes: u64,
    /// `apart` if each volume has an address space of its own, side by side; `one` if they were taken as one.
    pub spaces: String,
    /// Bytes that the volumes need on a drive.
    #[schemars(extend("x-unit" = "B"))]
    pub reach_bytes: u64,
    /// Treatment of addresses beyond the drive: reject, wrap, scale or compact.
    pub fit: String,
    /// Requests at another address than their own.
    #[schemars(extend("x-unit" = "requests"))]
    pub elsewhere: u64,
    /// Requests across the end of the drive that were split; each piece is counted as a request in all other figures.
    #[schemars(extend("x-unit" = "requests"))]
    pub split: u64,
    /// Requests across the end of the drive that were moved to end there.
    #[schemars(extend("x-unit" = "requests"))]
    pub moved: u64,
    /// Requests of which a part was left out.
    #[schemars(extend("x-unit" = "requests"))]
    pub clipped: u64,
    /// Bytes that were left out of them.
    #[schemars(extend("x-unit" = "B"))]
    pub clipped_bytes: u64,
    /// Trims that were shrunk to what the trace reads or writes of what they cover.
    #[schemars(extend("x-unit" = "requests"))]
    pub shrunk_trims: u64,
    /// Trims that were left out, because the trace reads and writes nothing that they cover.
    #[schemars(extend("x-unit" = "requests"))]
    pub dropped_trims: u64,
    /// Requests that were widened to whole sectors of 512 B.
    #[schemars(extend("x-unit" = "requests"))]
    pub widened: u64,
    /// Lines of the file that were passed over: malformed ones, if that was asked for, and those without a request that are usual in its format.
    pub skipped_lines: u64,
    /// Records that the file has behind later ones. They were issued at their times.
    pub late_records: u64,
}

impl TraceResult {
    /// Sentences that belong beside the figures.
    pub fn notes(&self) -> Vec<String> {
        self.of_times().into_iter().chain(self.of_volumes()).chain(self.of_places()).chain(self.of_lines()).collect()
    }

    fn of_times(&self) -> Option<String> {
        let shared = format!(
            "{} of the {} records of the trace have the time of the one before, up to {} have one time",
            count(self.shared_times),
            count(self.timed_records),
            count(self.most_at_one_time)
        );
        let within = self.within_tick.as_deref()?;
        Some(match self.tick_ns {
            Some(tick) if within == "spread" => format!(
                "the times of the trace have a tick of {}: {shared}. Those of a tick are spread evenly over it, in their order; --within-tick burst issues \
                 them at once",
                Nanos(tick)
            ),
            Some(tick) => format!(
                "the times of the trace have a tick of {}, coarser than the gaps between its records: {shared}. Those of a tick are issued at once, in bursts \
                 that the traced system need not have seen; --within-tick spread spreads them over it",
                Nanos(tick)
            ),
            None => format!("{shared}, and there are too few different times to find their tick. Those of one time are issued at once"),
        })
    }

    fn of_volumes(&self) -> Option<String> {
        if self.volumes < 2 {
            return None;
        }
        let volumes = count(self.volumes);
        Some(if self.spaces == "one" {
            format!("the {volumes} volumes of the trace are taken as one address space")
        } else {
            format!(
                "the {volumes} volumes of the trace stand side by side, over {}; --volumes one takes them as one address space",
                Bytes(self.reach_bytes)
            )
        })
    }

    fn of_places(&self) -> Option<String> {
        let told = [
            (self.elsewhere, "at other addresses than their own"),
            (self.split, "split at the end of the drive, to go on at its beginning"),
            (self.moved, "moved to end where the drive ends"),
            (self.shrunk_trims, "trims shrunk to what the trace reads or writes"),
            (self.dropped_trims, "trims left out, because the trace reads and writes nothing that they cover"),
        ];
        let mut parts: Vec<String> =
            told.iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{} {what}", count(*number))).collect();
        if self.clipped > 0 {
            parts.push(format!("{} clipped to the drive, by {} in all", count(self.clipped), Bytes(self.clipped_bytes)));
        }
        (!parts.is_empty()).then(|| format!("requests of the trace that --fit {} has changed: {}", self.fit, parts.join(", ")))
    }

    fn of_lines(&self) -> Vec<String> {
        let mut told = Vec::new();
        if self.skipped_lines > 0 {
            told.push(format!("lines of the trace that were passed over: {}", count(self.skipped_lines)));
        }
        if self.widened > 0 {
            told.push(format!("requests of the trace that were widened to whole sectors of 512 B: {}", count(self.widened)));
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_that_was_played_as_it_stands_has_no_notes() {
        let plain = TraceResult {
            tick_ns: Some(1_000),
            timed_records: 9,
            volumes: 1,
            fit: "wrap".to_owned(),
            late_records: 3,
            ..TraceResult::default()
        };
        assert_eq!(plain.notes(), Vec::<String>::new());
    }

    #[test]
    fn whatever_was_changed_is_told_with_its_number() {
        let changed = TraceResult {
            tick_ns: Some(1_000_000_000),
            within_tick: Some("spread".to_owned()),
            volumes: 3,
            spaces: "apart".to_owned(),
            fit: "scale".to_owned(),
            elsewhere: 11,
            split: 12,
            moved: 13,
            clipped: 14,
            clipped_bytes: 15 << 20,
            shrunk_trims: 16,
            dropped_trims: 17,
            widened: 18,
            skipped_lines: 19,
            ..TraceResult::default()
        };
        let told = changed.notes().join("\n");
        let parts = [
            "tick of 1 s",
            "spread evenly",
            "3 volumes",
            "--fit scale",
            "11 at",
            "12 split",
            "13 moved",
            "14 clipped",
            "15 MiB",
            "16 trims",
        ];
        for part in parts.into_iter().chain(["17 trims", "512 B: 18", "over: 19"]) {
            assert!(told.contains(part), "{part}: {told}");
        }
        let burst = TraceResult { within_tick: Some("burst".to_owned()), spaces: "one".to_owned(), ..changed };
        let told = burst.notes().join("\n");
        assert!(told.contains("at once, in bursts") && told.contains("one address space"), "{told}");
        let unknown = TraceResult { tick_ns: None, ..burst };
        assert!(unknown.notes()[0].contains("too few different times"), "{:?}", unknown.notes());
    }
}
