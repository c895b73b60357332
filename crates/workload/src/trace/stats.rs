//! What a trace does, in numbers.
//!
//! Pages here are 4 KiB of one volume's address space. A request touches every page it overlaps. The page overwrite ratio is page
//! writes over distinct pages written: how often the average written page was written. Trims and flushes are counted as requests
//! but touch no page; so are hints.

use std::fmt;

use serde::Serialize;
use wordline_units::{Bytes, HostOp, Nanos};

use super::error::TraceError;
use super::histogram::Histogram;
use super::order::Disorder;
use super::pages::Pages;
use super::tick::{Tick, TickFinder};
use super::{TraceReader, TraceRecord};

const PAGE_BYTES: u64 = 4096;

/// The numbers of a whole trace.
#[derive(Clone, Debug, Serialize)]
pub struct TraceStats {
    /// Records of every kind.
    pub requests: u64,
    /// Read requests.
    pub reads: u64,
    /// Write requests.
    pub writes: u64,
    /// Trim requests.
    pub trims: u64,
    /// Flush requests.
    pub flushes: u64,
    /// Hint requests, where there are any.
    #[serde(skip_serializing_if = "is_zero")]
    pub hints: u64,
    /// Lines that were passed over: malformed ones in a lenient reading, and those without a request that are usual in the format.
    pub skipped_lines: u64,
    /// From the earliest to the latest record; `None` for a trace without times.
    #[serde(rename = "span_ns", serialize_with = "crate::serial::maybe_nanos")]
    pub span: Option<Nanos>,
    /// Bytes read.
    #[serde(rename = "read_bytes", serialize_with = "crate::serial::bytes")]
    pub read: Bytes,
    /// Bytes written.
    #[serde(rename = "written_bytes", serialize_with = "crate::serial::bytes")]
    pub written: Bytes,
    /// Bytes trimmed.
    #[serde(rename = "trimmed_bytes", serialize_with = "crate::serial::bytes")]
    pub trimmed: Bytes,
    /// The byte after the highest one that any read or write touched, in any volume.
    #[serde(rename = "highest_byte", serialize_with = "crate::serial::bytes")]
    pub highest: Bytes,
    /// Distinct pages read or written.
    pub footprint_pages: u64,
    /// Distinct pages written.
    pub written_pages: u64,
    /// Page writes, overwrites included.
    pub page_writes: u64,
    /// Requests that begin where the previous request of the same kind and volume ended.
    pub sequential: u64,
    /// Records that the file has behind later ones. They are measured in the order of their times.
    pub out_of_order: Disorder,
    /// The tick of the times; `None` for a trace without times.
    pub tick: Option<Tick>,
    /// Times between neighbouring records; `None` for a trace without times.
    pub gaps: Option<Gaps>,
    /// How many reads and writes lie in each power-of-two range of sizes, smallest first.
    pub sizes: Vec<SizeCount>,
    /// Each volume, in order of first appearance.
    pub volumes: Vec<VolumeStats>,
}

/// Times between neighbouring records.
#[derive(Clone, Debug, Serialize)]
pub struct Gaps {
    /// The average.
    pub mean_ns: f64,
    /// The median, to within 6 %.
    pub median_ns: u64,
    /// 99 % are at most this long, to within 6 %.
    pub p99_ns: u64,
    /// The longest.
    pub longest_ns: u64,
}

/// Requests of one range of sizes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SizeCount {
    /// Sizes above half of this and up to this.
    #[serde(rename = "up_to_bytes", serialize_with = "crate::serial::bytes")]
    pub up_to: Bytes,
    /// Reads of such a size.
    pub reads: u64,
    /// Writes of such a size.
    pub writes: u64,
}

/// One volume of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VolumeStats {
    /// Its name in the file.
    pub name: String,
    /// Records of every kind.
    pub requests: u64,
    /// Bytes read.
    #[serde(rename = "read_bytes", serialize_with = "crate::serial::bytes")]
    pub read: Bytes,
    /// Bytes written.
    #[serde(rename = "written_bytes", serialize_with = "crate::serial::bytes")]
    pub written: Bytes,
    /// The byte after the highest one that any read or write touched.
    #[serde(rename = "highest_byte", serialize_with = "crate::serial::bytes")]
    pub highest: Bytes,
    /// Distinct pages read or written.
    pub footprint_pages: u64,
    /// Distinct pages written.
    pub written_pages: u64,
}

#[derive(Default)]
struct VolumeTally {
    stats: VolumeStats,
    touched: Pages,
    written: Pages,
    read_end: Option<Bytes>,
    write_end: Option<Bytes>,
}

/// The tallies while a trace goes by. Memory grows with the footprint and the volumes, not with the records.
#[derive(Default)]
pub struct StatsBuilder {
    counts: [u64; HostOp::ALL.len()],
    bytes: [u64; HostOp::ALL.len()],
    earliest: Option<Nanos>,
    latest: Option<Nanos>,
    previous: Option<Nanos>,
    page_writes: u64,
    sequential: u64,
    gaps: Histogram,
    tick: TickFinder,
    sizes: Vec<[u64; 2]>,
    volumes: Vec<VolumeTally>,
}

impl StatsBuilder {
    /// Count one record.
    pub fn add(&mut self, record: &TraceRecord) {
        let kind = record.op as usize;
        self.counts[kind] += 1;
        self.bytes[kind] = self.bytes[kind].saturating_add(record.length.0);
        self.add_time(record.at);
        let index = record.volume as usize;
        if index >= self.volumes.len() {
            self.volumes.resize_with(index + 1, VolumeTally::default);
        }
        let volume = &mut self.volumes[index];
        volume.stats.requests += 1;
        let previous_end = match record.op {
            HostOp::Read => &mut volume.read_end,
            HostOp::Write => &mut volume.write_end,
            HostOp::Trim | HostOp::Flush | HostOp::Hint => return,
        };
        self.sequential += u64::from(*previous_end == Some(record.offset));
        *previous_end = Some(record.end());
        volume.stats.highest = volume.stats.highest.max(record.end());
        let (first, last) = (record.offset.0 / PAGE_BYTES, record.end().0.saturating_sub(1) / PAGE_BYTES);
        volume.touched.add(first, last.max(first));
        if record.op == HostOp::Write {
            self.page_writes += last.max(first) - first + 1;
            volume.written.add(first, last.max(first));
            volume.stats.written = Bytes(volume.stats.written.0.saturating_add(record.length.0));
        } else {
            volume.stats.read = Bytes(volume.stats.read.0.saturating_add(record.length.0));
        }
        let bucket = record.length.0.max(1).next_power_of_two().ilog2() as usize;
        if bucket >= self.sizes.len() {
            self.sizes.resize(bucket + 1, [0; 2]);
        }
        self.sizes[bucket][usize::from(record.op == HostOp::Write)] += 1;
    }

    fn add_time(&mut self, at: Option<Nanos>) {
        let Some(at) = at else { return };
        self.tick.add(at);
        if let Some(previous) = self.previous.replace(at) {
            self.gaps.add(at.saturating_sub(previous).0);
        }
        self.earliest = Some(self.earliest.map_or(at, |earliest| earliest.min(at)));
        self.latest = Some(self.latest.map_or(at, |latest| latest.max(at)));
    }

    /// The numbers, with the volumes named as the reader of the trace knows them.
    pub fn finish(mut self, volume_names: &[String], skipped_lines: u64, out_of_order: Disorder) -> TraceStats {
        let total = |pages: fn(&VolumeTally) -> &Pages| self.volumes.iter().map(|volume| pages(volume).count()).sum();
        let (footprint_pages, written_pages) = (total(|volume| &volume.touched), total(|volume| &volume.written));
        for (index, volume) in self.volumes.iter_mut().enumerate() {
            volume.stats.name = volume_names.get(index).cloned().unwrap_or_else(|| index.to_string());
            volume.stats.footprint_pages = volume.touched.count();
            volume.stats.written_pages = volume.written.count();
        }
        let gaps = (self.gaps.total() > 0).then(|| Gaps {
            mean_ns: self.gaps.mean(),
            median_ns: self.gaps.percentile(50),
            p99_ns: self.gaps.percentile(99),
            longest_ns: self.gaps.most(),
        });
        let filled = self.sizes.iter().enumerate().filter(|(_, counts)| **counts != [0; 2]);
        TraceStats {
            requests: self.counts.iter().sum(),
            reads: self.counts[HostOp::Read as usize],
            writes: self.counts[HostOp::Write as usize],
            trims: self.counts[HostOp::Trim as usize],
            flushes: self.counts[HostOp::Flush as usize],
            hints: self.counts[HostOp::Hint as usize],
            skipped_lines,
            span: self.latest.zip(self.earliest).map(|(latest, earliest)| latest.saturating_sub(earliest)),
            read: Bytes(self.bytes[HostOp::Read as usize]),
            written: Bytes(self.bytes[HostOp::Write as usize]),
            trimmed: Bytes(self.bytes[HostOp::Trim as usize]),
            highest: self.volumes.iter().map(|volume| volume.stats.highest).max().unwrap_or_default(),
            footprint_pages,
            written_pages,
            page_writes: self.page_writes,
            sequential: self.sequential,
            out_of_order,
            tick: self.earliest.map(|_| self.tick.finish()),
            gaps,
            sizes: filled.map(|(bit, [reads, writes])| SizeCount { up_to: Bytes(1 << bit), reads: *reads, writes: *writes }).collect(),
            volumes: self.volumes.into_iter().map(|volume| volume.stats).collect(),
        }
    }
}

impl TraceStats {
    /// Measure a whole trace.
    pub fn measure(reader: &mut TraceReader<'_>) -> Result<TraceStats, TraceError> {
        let mut builder = StatsBuilder::default();
        for record in reader.by_ref() {
            builder.add(&record?);
        }
        Ok(builder.finish(reader.volume_names(), reader.skipped().count, reader.disorder()))
    }

    /// Reads over reads and writes, in percent; zero for a trace without either.
    pub fn read_percent(&self) -> f64 {
        percent(self.reads, self.reads + self.writes)
    }

    /// Page writes over distinct pages written; `None` for a trace without writes.
    pub fn overwrite_ratio(&self) -> Option<f64> {
        (self.written_pages > 0).then(|| self.page_writes as f64 / self.written_pages as f64)
    }

    /// The average size of a read in bytes; zero without reads.
    pub fn mean_read_bytes(&self) -> f64 {
        if self.reads == 0 { 0.0 } else { self.read.0 as f64 / self.reads as f64 }
    }

    /// The average size of a write in bytes; zero without writes.
    pub fn mean_write_bytes(&self) -> f64 {
        if self.writes == 0 { 0.0 } else { self.written.0 as f64 / self.writes as f64 }
    }

    /// Distinct pages read or written, as bytes.
    pub fn footprint(&self) -> Bytes {
        Bytes(self.footprint_pages.saturating_mul(PAGE_BYTES))
    }
}

/// True if `count` counts nothing.
fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

impl fmt::Display for TraceStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let span = self.span.map_or_else(|| "no times".to_owned(), |span| span.to_string());
        writeln!(f, "requests          {}", self.requests)?;
        writeln!(f, "reads / writes    {} / {} ({:.1} % reads)", self.reads, self.writes, self.read_percent())?;
        writeln!(f, "trims / flushes   {} / {}", self.trims, self.flushes)?;
        if self.hints > 0 {
            writeln!(f, "hints             {}", self.hints)?;
        }
        writeln!(f, "span              {span}")?;
        writeln!(f, "read / written    {} / {}", self.read, self.written)?;
        let (read, write) = (self.mean_read_bytes() / 1024.0, self.mean_write_bytes() / 1024.0);
        writeln!(f, "average size      {read:.1} / {write:.1} KiB")?;
        writeln!(f, "highest byte      {}", self.highest)?;
        writeln!(f, "footprint         {} pages of 4 KiB ({})", self.footprint_pages, self.footprint())?;
        match self.overwrite_ratio() {
            Some(ratio) => writeln!(f, "page overwrite    {ratio:.2}x of {} pages written", self.written_pages)?,
            None => writeln!(f, "page overwrite    no writes")?,
        }
        writeln!(f, "sequential        {:.1} %", percent(self.sequential, self.reads + self.writes))?;
        if let Some(gaps) = &self.gaps {
            let (median, p99, longest) = (Nanos(gaps.median_ns), Nanos(gaps.p99_ns), Nanos(gaps.longest_ns));
            writeln!(f, "between records   mean {}, median {median}, 99 % {p99}, longest {longest}", Nanos(gaps.mean_ns as u64))?;
        }
        if let Some(tick) = &self.tick {
            writeln!(f, "tick              {tick}")?;
        }
        if self.out_of_order.records > 0 {
            writeln!(f, "out of order      {}; put in order", self.out_of_order)?;
        }
        if self.skipped_lines > 0 {
            writeln!(f, "lines passed over {}", self.skipped_lines)?;
        }
        writeln!(f, "\n{:>12} {:>12} {:>12}", "size up to", "reads", "writes")?;
        for size in &self.sizes {
            writeln!(f, "{:>12} {:>12} {:>12}", size.up_to.to_string(), size.reads, size.writes)?;
        }
        if self.volumes.len() > 1 {
            writeln!(f, "\n{:<16} {:>10} {:>14} {:>14} {:>14} {:>10}", "volume", "requests", "read", "written", "highest byte", "pages")?;
            for v in &self.volumes {
                let (read, written, highest) = (v.read.to_string(), v.written.to_string(), v.highest.to_string());
                writeln!(f, "{:<16} {:>10} {read:>14} {written:>14} {highest:>14} {:>10}", v.name, v.requests, v.footprint_pages)?;
            }
        }
        Ok(())
    }
}
