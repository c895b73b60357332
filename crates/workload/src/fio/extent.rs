//! Place of a job on the drive, and its end.
//!
//! ```text
//! job (size, offset, files) ─ Extent::read ─► extents of all jobs ─ lay_out ─► start, step and span of each
//! ```
//!
//! Jobs of fio that name no file have a file each, and so has each of their clones. Files of jobs lie one behind another on the drive here.

use super::given::{Given, fault};
use super::lines::{Entry, Fault};
use super::quoted;
use super::values::{self, Data};

/// Files begin at multiples of this.
const FILE_ALIGN: u64 = 4_096;
/// Most files of a job.
const FILES_MAX: u64 = 65_536;

/// The extent of a job.
#[derive(Debug)]
pub(super) struct Extent<'a> {
    /// Keys of its end.
    ends: Vec<(&'static str, String)>,
    offset: Option<Data>,
    span: Option<Data>,
    increment: Option<Data>,
    count: u64,
    file: File<'a>,
}

/// The file of a job.
#[derive(Debug)]
enum File<'a> {
    /// The drive itself.
    Drive(&'a Entry<'a>),
    /// A file that other jobs may have, too.
    Named(String),
    /// One of its own for each of its clones.
    Own,
}

/// The files of a job: how many there are, and the key that says so.
pub(super) fn files<'a>(given: &Given<'a>) -> Result<(u64, Option<&'a Entry<'a>>), Fault> {
    let named = given.find("filename").map_or(0, |entry| names(entry.value()).len() as u64);
    let count = given.count("nrfiles", 1, FILES_MAX)?;
    let count = if count > 1 { count } else { named.max(1) };
    Ok((count, given.find("nrfiles").or_else(|| given.find("filename"))))
}

/// The names in a list of them, in which a colon that is no separator stands behind a backslash.
fn names(list: &str) -> Vec<String> {
    let hidden = list.replace("\\:", "\0");
    hidden.split(':').map(|name| name.replace('\0', ":")).filter(|name| !name.trim().is_empty()).collect()
}

fn is_drive(name: &str) -> bool {
    name.starts_with("/dev/") || name.starts_with("\\\\") || name.contains("trtype") || name.contains("traddr")
}

impl<'a> Extent<'a> {
    /// The extent of a job with so many clones.
    pub(super) fn read(given: &Given<'a>, count: u64) -> Result<Extent<'a>, Fault> {
        let (size, offset, moved) = (given.data("size")?, given.data("offset")?, given.data("io_size")?);
        let increment = given.data("offset_increment")?;
        let span = file_size(given)?.or(size);
        let requests = match given.take("number_ios") {
            Some(entry) => values::number(entry.value(), given.is_si()).map_err(|message| fault(entry, message))?,
            None => 0,
        };
        let time = time(given)?;
        let is_time_based = given.is_set("time_based")?;
        if let Some(entry) = given.find("time_based").filter(|_| is_time_based && time == 0) {
            entry.explain("without a runtime fio passes over it");
        }
        let loops = given.count("loops", 1, u64::from(u32::MAX))?;
        let mut ends = Vec::new();
        if requests > 0 {
            ends.push(("requests", requests.to_string()));
        }
        if !(is_time_based && time > 0) {
            let all = moved.or(size).or(span).unwrap_or(match offset {
                Some(Data::Percent(share)) if share < 100.0 => Data::Percent(100.0 - share),
                Some(_) | None => Data::Percent(100.0),
            });
            let all = match all {
                Data::Bytes(bytes) => Data::Bytes(bytes.saturating_mul(loops)),
                Data::Percent(share) => Data::Percent(share * loops as f64),
            };
            ends.push(("bytes", quoted(&values::written(all))));
        } else if let Some(entry) = given.find("loops") {
            entry.explain("of no effect: time_based goes on until the runtime is over");
        }
        if time > 0 {
            ends.push(("time", quoted(&values::written_time(wordline_units::Nanos(time)))));
        }
        Ok(Extent { ends, offset, span, increment, count, file: file(given) })
    }

    /// Keys of its end.
    pub(super) fn ends(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.ends.iter().cloned()
    }

    /// Bytes of its file, where they are known.
    fn reach(&self) -> Option<u64> {
        match (self.offset, self.span) {
            (None, Some(Data::Bytes(span))) => Some(span),
            (Some(Data::Bytes(offset)), Some(Data::Bytes(span))) => Some(offset.saturating_add(span)),
            _ => None,
        }
    }
}

/// The file of a job. Its name says no more than whose it is.
fn file<'a>(given: &Given<'a>) -> File<'a> {
    let folder = given.take("directory").map_or("", |entry| entry.value());
    let Some(entry) = given.take("filename") else { return File::Own };
    let names = names(entry.value());
    if !names.iter().any(|name| is_drive(name)) {
        return File::Named(format!("{folder}/{}", entry.value()));
    }
    if names.len() > 1 {
        entry.refuse("several drives have no counterpart: there is one");
    }
    File::Drive(entry)
}

/// Size of all files of a job together, where `filesize` says so.
fn file_size(given: &Given<'_>) -> Result<Option<Data>, Fault> {
    let Some(entry) = given.take("filesize") else { return Ok(None) };
    if entry.value().contains('-') {
        entry.refuse("files of random sizes have no counterpart");
        return Ok(None);
    }
    let (files, _) = files(given)?;
    Ok(given.data("filesize")?.map(|data| match data {
        Data::Bytes(bytes) => Data::Bytes(bytes.saturating_mul(files)),
        Data::Percent(share) => Data::Percent((share * files as f64).min(100.0)),
    }))
}

/// Time for which a job goes on, in nanoseconds; 0 where it is not limited.
fn time(given: &Given<'_>) -> Result<u64, Fault> {
    let of = |key: &str| {
        given.take(key).map_or(Ok(0), |entry| values::time(entry.value()).map(|time| time.0).map_err(|message| fault(entry, message)))
    };
    let (time, ramp) = (of("runtime")?, of("ramp_time")?);
    if let Some(entry) = given.find("ramp_time").filter(|_| ramp > 0) {
        let longer = if time > 0 { ", and the time is longer by it" } else { "" };
        entry.explain(format!("everything from the start is measured{longer}"));
    }
    Ok(if time > 0 { time.saturating_add(ramp) } else { 0 })
}

/// The keys of the places of these jobs on the drive, job by job.
pub(super) fn lay_out(extents: &[&Extent<'_>]) -> Vec<Vec<(&'static str, String)>> {
    one_drive(extents);
    extents.iter().zip(regions(extents)).map(|(extent, region)| keys(extent, region)).collect()
}

/// A part of the drive that is a file.
#[derive(Clone, Copy, Debug)]
struct Region {
    base: u64,
    length: u64,
}

/// The file of each job, the first clone's where each has one; `None` where there is one file at most, or where nobody says how large it is.
fn regions(extents: &[&Extent<'_>]) -> Vec<Option<Region>> {
    let mut named: Vec<(&str, Option<u64>, Option<Region>)> = Vec::new();
    for extent in extents {
        let File::Named(name) = &extent.file else { continue };
        match named.iter_mut().find(|(known, ..)| known == name) {
            Some((_, reach, _)) => *reach = (*reach).max(extent.reach()),
            None => named.push((name.as_str(), extent.reach(), None)),
        }
    }
    let own: u64 = extents.iter().filter(|extent| matches!(extent.file, File::Own)).map(|extent| extent.count).sum();
    if own + named.len() as u64 <= 1 {
        return vec![None; extents.len()];
    }
    let mut end = 0u64;
    let mut next = |length: u64, count: u64| {
        let length = length.next_multiple_of(FILE_ALIGN);
        let region = Region { base: end, length };
        end = end.saturating_add(length.saturating_mul(count));
        region
    };
    let mut found = Vec::new();
    for extent in extents {
        found.push(match &extent.file {
            File::Own => {
                let more = if let Some(Data::Bytes(more)) = extent.increment { more } else { 0 };
                extent.reach().map(|reach| next(reach.saturating_add(more), extent.count))
            }
            File::Named(name) => named.iter_mut().find(|(known, ..)| known == name).and_then(|(_, reach, region)| {
                *region = region.or_else(|| reach.map(|reach| next(reach, 1)));
                *region
            }),
            File::Drive(_) => None,
        });
    }
    found
}

/// The keys of the place of a job, in its file if it is a part of the drive.
fn keys(extent: &Extent<'_>, region: Option<Region>) -> Vec<(&'static str, String)> {
    let base = region.map_or(0, |region| region.base);
    let start = match extent.offset {
        Some(Data::Bytes(offset)) => Some(Data::Bytes(base.saturating_add(offset))),
        Some(share) => Some(share),
        None => (base > 0).then_some(Data::Bytes(base)),
    };
    let step = match (&extent.file, region) {
        (File::Own, Some(region)) => Some(Data::Bytes(region.length)),
        _ => extent.increment,
    };
    let span = extent.span.or_else(|| region.map(|region| Data::Bytes(region.length)));
    let keys = [("start", start), ("step", step.filter(|_| extent.count > 1)), ("span", span)];
    keys.into_iter().filter_map(|(key, data)| Some((key, quoted(&values::written(data?))))).collect()
}

/// Refuses jobs on another drive than the first.
fn one_drive(extents: &[&Extent<'_>]) {
    let mut first: Option<&str> = None;
    for extent in extents {
        let File::Drive(entry) = extent.file else { continue };
        match first {
            Some(first) if first != entry.value() => entry.refuse(format!("another drive than {first}: there is one")),
            Some(_) | None => first = Some(entry.value()),
        }
    }
}
