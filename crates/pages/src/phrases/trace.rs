//! Sentences on changes to a trace: beside the figures, because each change is one of the load that they are of.

use wordline_figures::TraceResult;
use wordline_units::{Bytes, Nanos};

use crate::number::count;

/// Sentences that belong beside the figures.
pub fn notes(of: &TraceResult) -> Vec<String> {
    times(of).into_iter().chain(volumes(of)).chain(places(of)).chain(lines(of)).collect()
}

fn times(of: &TraceResult) -> Option<String> {
    let shared = format!(
        "{} of the {} records of the trace have the time of the one before, up to {} have one time",
        count(of.shared_times),
        count(of.timed_records),
        count(of.most_at_one_time)
    );
    let within = of.within_tick.as_deref()?;
    Some(match of.tick_ns {
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

fn volumes(of: &TraceResult) -> Option<String> {
    if of.volumes < 2 {
        return None;
    }
    let volumes = count(of.volumes);
    Some(if of.spaces == "one" {
        format!("the {volumes} volumes of the trace are taken as one address space")
    } else {
        format!(
            "the {volumes} volumes of the trace stand side by side, over {}; --volumes one takes them as one address space",
            Bytes(of.reach_bytes)
        )
    })
}

fn places(of: &TraceResult) -> Option<String> {
    let told = [
        (of.elsewhere, "at other addresses than their own"),
        (of.split, "split at the end of the drive, to go on at its beginning"),
        (of.moved, "moved to end where the drive ends"),
        (of.shrunk_trims, "trims shrunk to what the trace reads or writes"),
        (of.dropped_trims, "trims left out, because the trace reads and writes nothing that they cover"),
    ];
    let mut parts: Vec<String> =
        told.iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{} {what}", count(*number))).collect();
    if of.clipped > 0 {
        parts.push(format!("{} clipped to the drive, by {} in all", count(of.clipped), Bytes(of.clipped_bytes)));
    }
    (!parts.is_empty()).then(|| format!("requests of the trace that --fit {} has changed: {}", of.fit, parts.join(", ")))
}

fn lines(of: &TraceResult) -> Vec<String> {
    let mut told = Vec::new();
    if of.skipped_lines > 0 {
        told.push(format!("lines of the trace that were passed over: {}", count(of.skipped_lines)));
    }
    if of.widened > 0 {
        told.push(format!("requests of the trace that were widened to whole sectors of 512 B: {}", count(of.widened)));
    }
    told
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
        assert_eq!(notes(&plain), Vec::<String>::new());
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
        let told = notes(&changed).join("\n");
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
        let told = notes(&burst).join("\n");
        assert!(told.contains("at once, in bursts") && told.contains("one address space"), "{told}");
        let unknown = TraceResult { tick_ns: None, ..burst };
        assert!(notes(&unknown)[0].contains("too few different times"), "{:?}", notes(&unknown));
    }
}
