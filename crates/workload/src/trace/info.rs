//! What a file is, at a glance: the format, how it was recognised, and where it begins and ends.

use std::collections::VecDeque;
use std::fmt;

use serde::Serialize;
use wordline_units::Nanos;

use super::error::TraceError;
use super::order::Disorder;
use super::tick::{Tick, TickFinder};
use super::{Recognised, TraceReader, TraceRecord};

/// How many records are shown from each end.
const SHOWN: usize = 3;

/// A description of one trace file.
#[derive(Clone, Debug, Serialize)]
pub struct TraceInfo {
    /// The file.
    pub file: String,
    /// The format and what decided it.
    pub recognised: Recognised,
    /// What its columns mean.
    pub columns: &'static str,
    /// Whether records have a time. A trace without is replayed in a closed loop.
    pub timed: bool,
    /// How many records there are.
    pub records: u64,
    /// From the earliest to the latest record.
    #[serde(rename = "span_ns", serialize_with = "crate::serial::maybe_nanos")]
    pub span: Option<Nanos>,
    /// The tick of the times; `None` for a trace without times.
    pub tick: Option<Tick>,
    /// Records that the file has behind later ones. A replay issues them at their times.
    pub out_of_order: Disorder,
    /// The volumes, in order of first appearance.
    pub volumes: Vec<String>,
    /// The first records.
    pub first: Vec<TraceRecord>,
    /// The last records.
    pub last: Vec<TraceRecord>,
    /// Number of volumes in the file; more than are named where they were taken as one.
    pub volumes_met: usize,
    /// Lines that were passed over: malformed ones in a lenient reading, and those without a request that are usual in the format.
    pub skipped_lines: u64,
    /// The first of them, as messages.
    pub first_faults: Vec<String>,
}

impl TraceInfo {
    /// Describe a whole trace.
    pub fn gather(reader: &mut TraceReader<'_>) -> Result<TraceInfo, TraceError> {
        let (mut records, mut first, mut last) = (0, Vec::new(), VecDeque::new());
        let mut tick = TickFinder::default();
        let mut ends: Option<(Nanos, Nanos)> = None;
        for record in reader.by_ref() {
            let record = record?;
            records += 1;
            if first.len() < SHOWN {
                first.push(record);
            }
            last.push_back(record);
            if last.len() > SHOWN {
                last.pop_front();
            }
            if let Some(at) = record.at {
                tick.add(at);
                ends = Some(ends.map_or((at, at), |(earliest, latest)| (earliest.min(at), latest.max(at))));
            }
        }
        Ok(TraceInfo {
            file: reader.file().to_owned(),
            recognised: reader.recognised().clone(),
            columns: reader.recognised().format.columns(),
            timed: reader.timed(),
            records,
            span: ends.map(|(earliest, latest)| latest.saturating_sub(earliest)),
            tick: ends.map(|_| tick.finish()),
            out_of_order: reader.disorder(),
            volumes: reader.volume_names().to_vec(),
            volumes_met: reader.volumes_met(),
            first,
            last: last.into(),
            skipped_lines: reader.skipped().count,
            first_faults: reader.skipped().first.iter().map(TraceError::to_string).collect(),
        })
    }
}

impl fmt::Display for TraceInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "file        {}", self.file)?;
        writeln!(f, "format      {} ({})", self.recognised.format, self.recognised.why)?;
        writeln!(f, "columns     {}", self.columns)?;
        match (self.timed, self.span) {
            (true, Some(span)) => writeln!(f, "times       yes, over {span}")?,
            (true, None) => writeln!(f, "times       yes")?,
            (false, _) => writeln!(f, "times       none: only the order of requests is known")?,
        }
        if let Some(tick) = &self.tick {
            writeln!(f, "tick        {tick}")?;
            if tick.coarse {
                writeln!(
                    f,
                    "            coarser than the gaps between records; a replay spreads those of one tick over it, unless told otherwise"
                )?;
            }
            if tick.is_unknown() {
                writeln!(f, "            too few different times to find the tick; a replay issues what shares a time at once")?;
            }
        }
        writeln!(f, "records     {}", self.records)?;
        if self.out_of_order.records > 0 {
            writeln!(f, "order       {}; put in order", self.out_of_order)?;
        }
        match self.volumes_met > self.volumes.len() {
            true => writeln!(f, "volumes     {}, taken as one address space", self.volumes_met)?,
            false => writeln!(f, "volumes     {}: {}", self.volumes.len(), shortened(&self.volumes))?,
        }
        if self.skipped_lines > 0 {
            writeln!(f, "passed over {} lines without a request, or malformed", self.skipped_lines)?;
            for fault in &self.first_faults {
                writeln!(f, "            {fault}")?;
            }
        }
        for (heading, records) in [("first", &self.first), ("last", &self.last)] {
            for record in records {
                let at = record.at.map_or_else(|| "-".to_owned(), |at| format!("{} ns", at.0));
                let volume = self.volumes.get(record.volume as usize).map_or("?", String::as_str);
                let (op, offset, length) = (record.op.name(), record.offset.0, record.length);
                writeln!(f, "{heading:<11} {at} {volume} {op} {length} at byte {offset}")?;
            }
        }
        Ok(())
    }
}

fn shortened(names: &[String]) -> String {
    const MOST: usize = 12;
    let more = if names.len() > MOST { ", …" } else { "" };
    format!("{}{more}", names[..names.len().min(MOST)].join(", "))
}
