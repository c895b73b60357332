//! What a workload of files does, as data: sets of files, and threads that do things to them.
//!
//! ```text
//! name = "…"                purpose = "…"
//! align = "16 KiB"          blocks of the file system: every file and every write is a whole number of them
//! prefill = "75 %"          how much of the drive files hold when the run begins
//! level = "75 %"            how much they may hold later: a file that grows beyond it costs others of its set their lives; prefill by default
//! length = "400 %"          how much is written before the run ends, in capacities of the drive; read, where no thread writes
//! warm_up = "100 %"         how much is written before that, in capacities, which is no part of what is measured; nothing by default
//! secure = "100 %"          the share of what is written that belongs to secure files
//! queue_depth = 32
//! trim = "16 KiB"           of a TRIM, at most; without it, a deleted file's blocks that lie together are trimmed together
//! cache = { size = "8 GiB", dirty = "20 %" }     the host's page cache: its size, or a share of the drive, and how much of it may wait to be written
//! layout = "sets"           how they were written before: "sets", one after another, "mixed", a file of this and a file of that, or "interleaved", a write
//!                           of this and a write of that
//! mix = { reads = 1, writes = 50 }      requests; without it, they come as the threads make them
//! [[sets]]
//! name = "mail"             share = "100 %" of the prefilled space, or files = 1000 that are scaled to it
//! size = …                  of a file: "16 KiB", ["16 KiB", "32 KiB"] or { gamma = "16 KiB" }
//! write = …                 of a write                              read = "1 MiB" of a read request, at most
//! tolerance = "longer"      latency that reads of its files may have: "shortest", "typical", "longer" or "default"
//! room = "mail"             the set whose files are deleted where this one's find no room; itself by default
//! [[threads]]
//! count = 16                how many do this, or how often one of them has its turn
//! priority = "normal"       class of what they ask for
//! ops = [{ do = "create", set = "mail" }, { do = "append", set = "mail", same = true, durable = true }, …]
//! ```
//!
//! `create` writes a file of its set's size, or with `size` of another; `append`, `overwrite` (at a random place) and `log` (round and round in one file) write
//! once; `replace` writes a new file and renames it over another; `delete`, `read` (all of it, or `size` at a random place), `sync`. The file is any of its
//! set, each equally likely, or with `same` the one of the operation before.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{Bytes, Priority, Tolerance};

use super::built_in;
pub use super::sizes::Sizes;
use crate::spec::quantity::{Q, RawPriority, RawTolerance, Share};
use crate::spec::{Amount, SpecError};
use crate::words::did_you_mean;

/// The share of a page cache that may be dirty where nothing is said: the default of Linux's `vm.dirty_ratio`.
const DIRTY: f64 = 0.2;
const DEEPEST_QUEUE: u32 = 65_536;
const MOST_THREADS: u32 = 65_536;
const MOST_TIMES: u32 = 1_000_000;

/// A workload of files.
#[derive(Clone, Debug, PartialEq)]
pub struct FileSpec {
    /// Its name in tables.
    pub name: String,
    /// What it is for, in a sentence.
    pub purpose: String,
    /// The file system's block.
    pub align: Bytes,
    /// The fraction of the drive that files hold at the beginning.
    pub prefill: f64,
    /// The fraction they may hold later.
    pub level: f64,
    /// Bytes written once the drive is warm, in capacities; bytes read, where no thread writes.
    pub length: f64,
    /// Bytes written before the measurement begins, in capacities.
    pub warm_up: f64,
    /// The share of written data that belongs to secure files.
    pub secure: f64,
    /// Requests outstanding.
    pub queue_depth: u32,
    /// Most bytes of a TRIM; `None`: what lies together is trimmed together.
    pub trim: Option<Bytes>,
    /// The host's page cache, if there is one.
    pub cache: Option<CacheSpec>,
    /// In which order the files of the beginning were written.
    pub layout: Layout,
    /// Read requests to write requests.
    pub mix: Option<(f64, f64)>,
    /// The sets.
    pub sets: Vec<SetSpec>,
    /// The threads.
    pub threads: Vec<ThreadSpec>,
}

/// The host's page cache, least recently used pages replaced first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CacheSpec {
    /// Its size.
    pub size: Amount,
    /// The share of it that may wait to be written; what is more is written, the oldest first. 0: every write goes to the drive at once.
    pub dirty: f64,
}

/// In which order the files were written that are there at the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// All of one set, then all of the next.
    #[default]
    Sets,
    /// Files of all sets among each other, each set as fast as its share says.
    Mixed,
    /// One file of each set at a time, write by write among each other, each set as fast as its share says: a file lies in pieces among those of other sets.
    Interleaved,
}

/// Files of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct SetSpec {
    /// Its name.
    pub name: String,
    /// Its share of the prefilled space.
    pub share: f64,
    /// How large a file is when it is made.
    pub size: Sizes,
    /// How large a write is.
    pub write: Sizes,
    /// The largest read request.
    pub read: Bytes,
    /// Latency that reads of its files may have; `None`: no hint.
    pub tolerance: Option<Tolerance>,
    /// The set whose files go where one of this set finds no room.
    pub room: usize,
}

/// What threads of one kind do, over and over.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadSpec {
    /// How many there are.
    pub count: u32,
    /// Class of what they ask for.
    pub priority: Priority,
    /// One after another.
    pub ops: Vec<Op>,
}

/// What is done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deed {
    /// Write a new file.
    Create,
    /// Write behind its end.
    Append,
    /// Write over a part of it.
    Overwrite,
    /// Write over the part behind the last one that was written so, and from its beginning when the end is reached.
    Log,
    /// Write a new file and rename it over one that is there.
    Replace,
    /// Delete it.
    Delete,
    /// Read it.
    Read,
    /// Make everything durable.
    Sync,
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Op {
    /// What is done.
    pub deed: Deed,
    /// The set of the file.
    pub set: usize,
    /// How much, where the set does not say.
    pub size: Option<Sizes>,
    /// The file of the operation before.
    pub same: bool,
    /// Whether a write is acknowledged only when it is durable.
    pub durable: bool,
    /// How often.
    pub times: u32,
}

impl Op {
    /// Whether it makes write requests.
    pub fn writes(&self) -> bool {
        matches!(self.deed, Deed::Create | Deed::Append | Deed::Overwrite | Deed::Log | Deed::Replace)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFiles {
    name: Spanned<String>,
    #[serde(default)]
    purpose: String,
    align: Spanned<Q<Bytes>>,
    prefill: Spanned<Q<Share>>,
    level: Option<Spanned<Q<Share>>>,
    length: Spanned<Q<Multiple>>,
    warm_up: Option<Spanned<Q<Multiple>>>,
    secure: Option<Q<Share>>,
    queue_depth: Spanned<u32>,
    trim: Option<Spanned<Q<Bytes>>>,
    cache: Option<Spanned<RawCache>>,
    #[serde(default)]
    layout: Layout,
    mix: Option<Spanned<RawMix>>,
    sets: Spanned<Vec<Spanned<RawSet>>>,
    threads: Spanned<Vec<Spanned<RawThread>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCache {
    size: Q<Amount>,
    dirty: Option<Q<Share>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawMix {
    reads: u32,
    writes: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSet {
    name: String,
    share: Option<Q<Share>>,
    files: Option<u32>,
    size: Sizes,
    write: Option<Sizes>,
    read: Option<Q<Bytes>>,
    tolerance: Option<RawTolerance>,
    room: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawThread {
    #[serde(default = "one")]
    count: u32,
    priority: Option<RawPriority>,
    ops: Vec<Spanned<RawOp>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawOp {
    #[serde(rename = "do")]
    deed: Deed,
    set: Option<String>,
    size: Option<Sizes>,
    #[serde(default)]
    same: bool,
    #[serde(default)]
    durable: bool,
    #[serde(default = "one")]
    times: u32,
}

fn one() -> u32 {
    1
}

/// A multiple of the drive's capacity.
#[derive(Clone, Copy, Debug)]
pub struct Multiple(pub f64);

impl crate::spec::quantity::Quantity for Multiple {
    const KIND: &'static str = "a multiple of the drive's capacity";
    const USUAL: &'static str = "%";
    const UNITS: &'static [(&'static str, f64)] = &[("%", 0.01)];

    fn of(number: f64, _unit: &str, factor: f64) -> Result<Multiple, String> {
        if number > 0.0 && number <= 1e6 { Ok(Multiple(number * factor)) } else { Err("above 0 %, at most 1 000 000 %".to_owned()) }
    }
}

impl Multiple {
    /// The multiple in `text`, such as `400 %`.
    pub fn parse(text: &str) -> Result<Multiple, String> {
        crate::spec::quantity::parse(text)
    }
}

type Fault = (Range<usize>, String);

impl FileSpec {
    /// Read a file of a workload of files; `file` is its name in messages.
    pub fn parse(text: &str, file: &str) -> Result<FileSpec, SpecError> {
        let raw: RawFiles = crate::spec::from_toml(text, file)?;
        checked(raw).map_err(|(span, message)| SpecError::at(file, text, Some(span), message))
    }

    /// The names of the built-in workloads of files.
    pub fn built_in_names() -> Vec<&'static str> {
        built_in::FILES.iter().map(|(name, _)| *name).collect()
    }

    /// The built-in workload of files of this name; `None` if there is none.
    pub fn built_in(name: &str) -> Option<Result<FileSpec, SpecError>> {
        let (_, text) = built_in::FILES.iter().find(|(known, _)| *known == name)?;
        Some(FileSpec::parse(text, &format!("{name}.toml")))
    }

    /// True if a thread writes.
    pub fn writes(&self) -> bool {
        self.threads.iter().flat_map(|thread| &thread.ops).any(Op::writes)
    }

    /// Whether some thread creates files of `set`.
    pub(super) fn creates(&self, set: usize) -> bool {
        self.threads.iter().flat_map(|thread| &thread.ops).any(|op| op.set == set && matches!(op.deed, Deed::Create | Deed::Replace))
    }
}

fn checked(raw: RawFiles) -> Result<FileSpec, Fault> {
    if raw.name.get_ref().trim().is_empty() {
        return Err((raw.name.span(), "a workload needs a name".to_owned()));
    }
    let align = raw.align.get_ref().0;
    if align.0 == 0 || !align.0.is_multiple_of(SECTOR_BYTES) || align.0 > Bytes::mib(64).0 {
        return Err((raw.align.span(), "an alignment is a multiple of 512 B above zero, at most 64 MiB".to_owned()));
    }
    let prefill = raw.prefill.get_ref().0.0;
    let level = raw.level.as_ref().map_or(prefill, |level| level.get_ref().0.0);
    if level < prefill {
        let span = raw.level.map_or(raw.prefill.span(), |level| level.span());
        return Err((span, "a level below the prefill would delete what was just there".to_owned()));
    }
    if !(1..=DEEPEST_QUEUE).contains(raw.queue_depth.get_ref()) {
        return Err((raw.queue_depth.span(), format!("from 1 to {DEEPEST_QUEUE} requests outstanding")));
    }
    let mix = match raw.mix {
        Some(mix) if mix.get_ref().writes == 0 => return Err((mix.span(), "a workload of files writes something".to_owned())),
        Some(mix) => Some((f64::from(mix.get_ref().reads), f64::from(mix.get_ref().writes))),
        None => None,
    };
    if let Some(trim) = &raw.trim
        && (trim.get_ref().0.0 == 0 || !trim.get_ref().0.0.is_multiple_of(align.0))
    {
        return Err((trim.span(), format!("a TRIM is a multiple of the alignment of {align}, above zero")));
    }
    let cache = match &raw.cache {
        None => None,
        Some(cache) if mix.is_some() => {
            return Err((cache.span(), "a mix is one of requests that reach the drive, so no page cache lies before it".to_owned()));
        }
        Some(cache) => {
            let RawCache { size: Q(size), dirty } = cache.get_ref();
            if !matches!(size, Amount::Bytes(bytes) if bytes.0 > 0) && !matches!(size, Amount::OfDrive(share) if *share > 0.0) {
                return Err((cache.span(), "a page cache has a size above zero".to_owned()));
            }
            Some(CacheSpec { size: *size, dirty: dirty.as_ref().map_or(DIRTY, |dirty| dirty.0.0) })
        }
    };
    let sets = sets(raw.sets)?;
    let span = raw.threads.span();
    let warm_up = raw.warm_up.as_ref().map(Spanned::span);
    let threads = raw.threads.into_inner().into_iter().map(|raw| thread(raw, &sets)).collect::<Result<Vec<_>, _>>()?;
    ends(&threads, cache.is_some(), warm_up).map_err(|(place, message)| (place.unwrap_or(span.clone()), message))?;
    let reads = threads.iter().any(|thread| thread.ops.iter().all(|op| op.deed == Deed::Read));
    if mix.is_some_and(|(share, _)| share > 0.0) && !reads {
        return Err((span, "a mix with reads needs a thread that reads and does nothing else".to_owned()));
    }
    if mix.is_some() && threads.iter().all(|thread| thread.ops.iter().all(|op| op.deed == Deed::Read)) {
        return Err((span, "a mix needs a thread that writes".to_owned()));
    }
    Ok(FileSpec {
        name: raw.name.into_inner(),
        purpose: raw.purpose,
        align,
        prefill,
        level,
        length: raw.length.get_ref().0.0,
        warm_up: raw.warm_up.map_or(0.0, |warm_up| warm_up.get_ref().0.0),
        secure: raw.secure.map_or(1.0, |secure| secure.0.0),
        queue_depth: *raw.queue_depth.get_ref(),
        trim: raw.trim.map(|trim| trim.get_ref().0),
        cache,
        layout: raw.layout,
        mix,
        sets,
        threads,
    })
}

/// Checks that a load of `threads` ends: at what they write, or at what they read where none writes. The fault has the place of the warm-up, or none.
fn ends(threads: &[ThreadSpec], has_cache: bool, warm_up: Option<Range<usize>>) -> Result<(), (Option<Range<usize>>, String)> {
    let does = |of: fn(&Op) -> bool| threads.iter().flat_map(|thread| &thread.ops).any(of);
    if does(Op::writes) {
        return Ok(());
    }
    if !does(|op| op.deed == Deed::Read) || does(|op| op.deed == Deed::Delete) || has_cache {
        let message = "no thread writes: then threads read, and nothing else, without a page cache, or the run would never end";
        return Err((None, message.to_owned()));
    }
    warm_up.map_or(Ok(()), |place| Err((Some(place), "a warm-up is written, and no thread writes".to_owned())))
}

fn sets(raw: Spanned<Vec<Spanned<RawSet>>>) -> Result<Vec<SetSpec>, Fault> {
    let span = raw.span();
    let raw = raw.into_inner();
    let by_share = raw.iter().all(|set| set.get_ref().share.is_some() && set.get_ref().files.is_none());
    let by_count = raw.iter().all(|set| set.get_ref().share.is_none() && set.get_ref().files.is_some());
    if raw.is_empty() || !(by_share || by_count) {
        return Err((span, "a workload needs sets, either all with 'share' or all with 'files'".to_owned()));
    }
    let mut sets: Vec<SetSpec> = Vec::new();
    let names: Vec<String> = raw.iter().map(|set| set.get_ref().name.clone()).collect();
    for set in raw {
        let place = set.span();
        let RawSet { name, share, files, size, write, read, tolerance, room } = set.into_inner();
        if sets.iter().any(|other| other.name == name) {
            return Err((place, format!("there are two sets '{name}'")));
        }
        if size.bounds().1.is_some_and(|most| most.0 == 0) || write.is_some_and(|write| write.bounds().1.is_some_and(|most| most.0 == 0)) {
            return Err((place, "a size lies above zero".to_owned()));
        }
        let weight = share.map_or(f64::from(files.unwrap_or(0)) * size.mean(), |share| share.0.0);
        let read = read.map_or(Bytes::mib(1), |read| read.0);
        let room = match &room {
            None => sets.len(),
            Some(other) => find(&names, other).map_err(|message| (place, message))?,
        };
        let (write, tolerance) = (write.unwrap_or(size), tolerance.map(Tolerance::from));
        sets.push(SetSpec { name, share: weight, size, write, read, tolerance, room });
    }
    let sum: f64 = sets.iter().map(|set| set.share).sum();
    if by_share && (sum - 1.0).abs() > 1e-6 {
        return Err((span, format!("the shares of the sets sum to {:.4} %, not 100 %", sum * 100.0)));
    }
    if sum <= 0.0 {
        return Err((span, "no set has a file".to_owned()));
    }
    sets.iter_mut().for_each(|set| set.share /= sum);
    Ok(sets)
}

fn find(names: &[String], name: &str) -> Result<usize, String> {
    let hint = || did_you_mean(name, names.iter().map(String::as_str));
    names.iter().position(|known| known == name).ok_or_else(|| format!("there is no set '{name}'{}", hint()))
}

fn thread(raw: Spanned<RawThread>, sets: &[SetSpec]) -> Result<ThreadSpec, Fault> {
    let span = raw.span();
    let RawThread { count, priority, ops } = raw.into_inner();
    if !(1..=MOST_THREADS).contains(&count) || ops.is_empty() {
        return Err((span, format!("from 1 to {MOST_THREADS} threads, which do something")));
    }
    let mut checked: Vec<Op> = Vec::with_capacity(ops.len());
    for raw in ops {
        let place = raw.span();
        let RawOp { deed, set, size, same, durable, times } = raw.into_inner();
        let set = match (&set, deed) {
            (None, Deed::Sync) => 0,
            (None, _) => return Err((place, "this needs 'set', the files it is done to".to_owned())),
            (Some(name), _) => {
                let names: Vec<String> = sets.iter().map(|set| set.name.clone()).collect();
                find(&names, name).map_err(|message| (place.clone(), message))?
            }
        };
        if same && !checked.last().is_some_and(|before| before.set == set && !matches!(before.deed, Deed::Delete | Deed::Sync)) {
            return Err((
                place,
                "'same' means the file of the operation before, which must be of the same set and leave it there".to_owned(),
            ));
        }
        if same && matches!(deed, Deed::Create | Deed::Replace) {
            return Err((place, "'same' has no meaning for a new file".to_owned()));
        }
        if !(1..=MOST_TIMES).contains(&times) {
            return Err((place, format!("from 1 to {MOST_TIMES} times")));
        }
        let op = Op { deed, set, size, same, durable, times };
        if durable && !op.writes() {
            return Err((place, "'durable' belongs to a write".to_owned()));
        }
        checked.push(op);
    }
    Ok(ThreadSpec { count, priority: priority.map_or(Priority::Normal, Priority::from), ops: checked })
}
