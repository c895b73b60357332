//! One seed: a drive, its load, and what it may hold after each cut.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use wordline_drive::{Config, Holds, Output, Watched};
use wordline_engine::{Event, Observer};
use wordline_live::{Durability, Keeper, MediaStore};
use wordline_media::{Dump, Entry, Identity, Media, Memory, Replay, Shape, Tape, Tear};
use wordline_units::random::{Draw, Stream};
use wordline_units::{Attributes, HostOp, HostRequest, Id, Nanos, RequestId};

use super::wicked::{Ills, Wicked};
use super::world::{World, world};
use crate::common::stamped;

const SECTOR: u64 = 512;

/// Cuts of one recording.
const CUTS: u64 = 5;

/// A drive that goes on for so long while a request waits is not getting anywhere.
const STEPS_WITHOUT_ANSWER: u32 = 300_000;

/// The stamp of what is written after a cut.
const AFTER: u64 = 1 << 40;

/// Everything a trial is made of.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) seed: u64,
    pub(crate) requests: u64,
    pub(crate) without: Vec<&'static str>,
}

/// What trials have seen.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    requests: u64,
    erases: u64,
    cuts: u64,
    units: u64,
    older: u64,
    /// Units and reads that failed.
    failed: u64,
    /// Drives that took no more writes at the end.
    worn_out: u64,
    /// What the flash hid.
    hidden: u64,
    /// Dies that failed and said so, and changes of temperature that cells felt.
    pub(crate) killed: u64,
    pub(crate) heated: u64,
    /// Slots of write buffers that capacitors brought back.
    held: u64,
    /// Units on the dies of drives with a sanitiser: what is not stale, and what is and need not be secret.
    put_out: u64,
    open: u64,
    /// Pages that a cut has broken off, on the dies of such drives in the end.
    torn: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, other: &Tally) {
        self.requests += other.requests;
        self.erases += other.erases;
        self.cuts += other.cuts;
        self.units += other.units;
        self.older += other.older;
        self.failed += other.failed;
        self.worn_out += other.worn_out;
        self.hidden += other.hidden;
        self.killed += other.killed;
        self.heated += other.heated;
        self.held += other.held;
        self.put_out += other.put_out;
        self.open += other.open;
        self.torn += other.torn;
    }

    pub(crate) fn has_seen_everything(&self) -> bool {
        let often =
            [self.erases, self.cuts, self.units, self.older, self.failed, self.hidden, self.heated, self.held, self.put_out, self.open];
        often.iter().all(|&count| count > 10) && self.killed > 2
    }
}

#[derive(Debug, Default)]
pub(crate) struct Completed(Vec<(RequestId, bool)>);

impl Observer for Completed {
    fn observe(&mut self, _: Nanos, event: &Event) {
        if let Event::Completed(done) = event {
            self.0.push((done.request, done.ok));
        }
    }
}

pub(crate) type Live = Watched<Completed>;

/// A state of a unit: from which entry of the tape it may be there, from which it must (or what came after), and its stamp; 0: zeroes.
#[derive(Clone, Copy, Debug)]
struct Version {
    may: usize,
    must: usize,
    stamp: u64,
    /// Its request was answered well.
    sure: bool,
    /// The host has said that it need not be secret.
    insecure: bool,
}

fn request(drive: &Live, op: HostOp, unit: u64, count: u64, fua: bool) -> HostRequest {
    let sectors = drive.unit_bytes().0 / SECTOR;
    HostRequest { fua, ..HostRequest::new(op, unit * sectors, (count * sectors) as u32) }
}

/// Lets the drive go on until `id` is done. Returns whether that was well, and the bytes of a read.
fn await_one(drive: &mut Live, id: RequestId) -> Result<(bool, Vec<u8>), String> {
    for _ in 0..STEPS_WITHOUT_ANSWER {
        if let Some(at) = drive.observer.0.iter().position(|&(done, _)| done == id) {
            let (_, ok) = drive.observer.0.swap_remove(at);
            return Ok((ok, drive.bytes_of(id).to_vec()));
        }
        let next = drive.next_at().ok_or_else(|| format!("{id:?} is outstanding and nothing is pending"))?;
        drive.run_until(next);
    }
    Err(format!("{id:?} is not answered any more"))
}

fn read(drive: &mut Live, unit: u64) -> Result<Option<Vec<u8>>, String> {
    let request = request(drive, HostOp::Read, unit, 1, false);
    let id = drive.submit(&request, &[]);
    let (ok, bytes) = await_one(drive, id)?;
    Ok(ok.then_some(bytes))
}

/// What a request in flight will have changed: its units, its stamp (`None`: it is a read), whether it is durable once it is answered.
struct Asked {
    id: RequestId,
    units: std::ops::Range<u64>,
    stamp: Option<u64>,
    fua: bool,
    is_flush: bool,
    /// What a flush promises: how many versions of each unit there were.
    covers: Vec<usize>,
}

/// One seed. The error says what was broken.
pub(crate) fn trial(case: &Case) -> Result<Tally, String> {
    let world = world(case);
    let config = &world.config;
    let geometry = config.sheet.geometry;
    let units_per_page = (geometry.page.0 / config.firmware.unit.0) as u32;
    let identity = identity(config)?;
    let mut draw = Draw::new(case.seed, Stream::Address, 6);
    let ills = ills(&world, &mut draw);
    let tape = Tape::new();
    let any_order = config.sheet.capabilities.any_order;
    let media = Media::in_memory(&identity, Durability::Process, &tape).map_err(|error| error.to_string())?.with_order(any_order);
    let dump = world.dump().map(|shape| Dump::create(Memory::recorded(&tape, geometry.dies() as usize), "buffer", shape));
    let made = tape.len();
    let slots = config.firmware.buffer.units;
    let store = MediaStore::new(media, units_per_page, dump.transpose().map_err(|error| error.to_string())?);
    let payload = |store: &MediaStore<Memory>, die| Wicked::new(store.payload(die), &ills[die.index()]);
    let mut drive: Live = Watched::with_payload(config.clone(), Completed::default(), |die| payload(&store, die));
    store.capacitors(slots).into_iter().for_each(|capacitors| drive.connect(capacitors));
    let mut tally = Tally::default();
    let history = load(case, &world, &mut drive, &tape, &mut draw, &mut tally)?;
    tally.erases += drive.blocks().map(|block| u64::from(block.erases)).sum::<u64>();
    tally.worn_out += u64::from(drive.is_worn_out());
    store.trouble().map_or(Ok(()), Err)?;
    if world.keeps_secrets() && !drive.is_worn_out() {
        nothing_stale_is_put_out(drive, &history, &mut tally)?;
    } else {
        drop(drive);
    }

    let entries = tape.entries();
    if entries.len() == made {
        // Nothing has reached the flash: its only die is dead.
        return Ok(tally);
    }
    let mut cuts: Vec<usize> = (0..CUTS).map(|_| made + draw.below((entries.len() - made) as u64) as usize).collect();
    cuts.sort_unstable();
    let mut replay = Replay::new(geometry.dies() as usize + 1);
    let mut applied = 0;
    for cut in cuts {
        entries[applied..cut].iter().for_each(|entry| replay.apply(entry).expect("memory takes it"));
        applied = cut;
        let left = torn(&replay, &entries[cut], case.seed, &mut draw);
        let (files, beside) = left.files().split_at(geometry.dies() as usize);
        let media = Media::open_memory(files, Some(&identity), Durability::Process).map_err(|error| error.to_string())?;
        let media = media.with_order(any_order);
        let dump = world.dump().map(|shape| Dump::open(beside[0].unrecorded(), "buffer", shape));
        let store = MediaStore::new(media, units_per_page, dump.transpose().map_err(|error| error.to_string())?);
        let mut drive: Live = Watched::wake(config.clone(), Completed::default(), |die| payload(&store, die), store.capacitors(slots));
        tally.cuts += 1;
        tally.held += drive.firmware().iter().map(|core| core.slots_in_use().count() as u64).sum::<u64>();
        let after = After { world: &world, history: &history, cut, entries: entries.len() };
        after.compare(&mut drive, &mut tally)?;
        // It goes on working.

        let rewritten = after.goes_on(&mut drive)?;
        if world.keeps_secrets() && !drive.is_worn_out() {
            flush(&mut drive)?;
        }
        if !world.is_silent {
            drive.settle();
            drive.audit().map_err(|problem| format!("cut at {cut}: {problem}"))?;
        }
        store.trouble().map_or(Ok(()), Err)?;
        if world.keeps_secrets() && !drive.is_worn_out() {
            tally.torn += nothing_older_is_put_out(drive, &history, &rewritten).map_err(|leak| format!("cut at {cut}: {leak}"))?;
        }
    }
    tally.hidden = ills.iter().map(|ills| ills.lock().expect("one thread").happened).sum();
    Ok(tally)
}

/// The drive that media files belong to.
fn identity(config: &Config) -> Result<Identity, String> {
    let geometry = config.sheet.geometry;
    Ok(Identity {
        drive: 7,
        die: 0,
        dies: geometry.dies(),
        chip: "a chip".to_owned(),
        shape: Shape::of(&geometry).map_err(|e| e.to_string())?,
    })
}

/// Lies of the flash, die by die; none where it is honest.
fn ills(world: &World, draw: &mut Draw) -> Vec<Arc<Mutex<Ills>>> {
    let geometry = world.config.sheet.geometry;
    (0..geometry.dies())
        .map(|_| Arc::new(Mutex::new(if world.is_silent { Ills::new(draw, geometry.planes, geometry.blocks) } else { Ills::default() })))
        .collect()
}

/// The files that a cut leaves at `entry`: without it, or with some of it.
fn torn(replay: &Replay, entry: &Entry, seed: u64, draw: &mut Draw) -> Replay {
    let mut left = Replay::from(replay.files());
    match draw.below(3) {
        0 => {}
        1 => left.apply_torn(entry, Tear::Prefix(draw.below(16_384))).expect("memory takes it"),
        _ => left.apply_torn(entry, Tear::Sectors(&|sector| sector % 3 != seed % 3)).expect("memory takes it"),
    }
    left
}

/// A cut, and what each unit may hold after it.
struct After<'a> {
    world: &'a World,
    history: &'a [Vec<Version>],
    cut: usize,
    /// Entries of the tape.
    entries: usize,
}

impl After<'_> {
    /// Compares each unit with what it may hold.
    fn compare(&self, drive: &mut Live, tally: &mut Tally) -> Result<(), String> {
        let (world, unit_bytes) = (self.world, drive.unit_bytes().0 as usize);
        for (unit, history) in (0u64..).zip(self.history) {
            tally.units += 1;
            let Some(found) = read(drive, unit)? else {
                tally.failed += 1;
                if world.may_fail {
                    continue;
                }
                return Err(format!("cut at {} of {}: unit {unit} cannot be read", self.cut, self.entries));
            };
            let durable = if world.is_silent { 0 } else { history.iter().rposition(|version| version.must <= self.cut).unwrap_or(0) };
            let possible: Vec<&Version> = history[durable..].iter().filter(|version| version.may <= self.cut).collect();
            match possible.iter().rposition(|version| found == stamped(unit, version.stamp, unit_bytes)) {
                Some(at) => tally.older += u64::from(at + 1 < possible.len()),
                None => {
                    return Err(format!(
                        "cut at {} of {}: unit {unit} holds {:?}…, expected one of {possible:?}",
                        self.cut,
                        self.entries,
                        &found[..16]
                    ));
                }
            }
        }
        Ok(())
    }

    /// Writes and reads some units, as the drive goes on working. Returns those that were written.
    fn goes_on(&self, drive: &mut Live) -> Result<BTreeSet<u64>, String> {
        let (world, cut, unit_bytes) = (self.world, self.cut, drive.unit_bytes().0 as usize);
        let mut rewritten = BTreeSet::new();
        for unit in 0..world.config.exported_units.min(40) {
            let request = request(drive, HostOp::Write, unit, 1, unit % 8 == 0);
            let id = drive.submit(&request, &stamped(unit, AFTER, unit_bytes));
            let (ok, _) = await_one(drive, id)?;
            if !ok && !world.may_fail {
                return Err(format!("cut at {cut}: unit {unit} cannot be written any more"));
            }
            if ok {
                rewritten.insert(unit);
            }
            let found = if ok { read(drive, unit)? } else { None };
            if found.as_ref().is_some_and(|found| *found != stamped(unit, AFTER, unit_bytes)) || (found.is_none() && !world.may_fail) {
                return Err(format!(
                    "cut at {cut}: unit {unit} was written after it and reads as {:?}…",
                    found.map(|bytes| bytes[..16].to_vec())
                ));
            }
        }
        Ok(rewritten)
    }
}

/// With a sanitiser: once a flush was answered, the pins of no die put out what is stale, unless it need not be secret.
fn nothing_stale_is_put_out(mut drive: Live, history: &[Vec<Version>], tally: &mut Tally) -> Result<(), String> {
    let unit_bytes = drive.unit_bytes().0 as usize;
    flush(&mut drive)?;
    drive.settle();
    let (mut leak, mut open) = (None, 0);
    drive.chip_off().read(|page| {
        for (held, bytes) in page.units.iter().zip(page.bytes.chunks_exact(unit_bytes)) {
            let Holds::Unit { unit, .. } = *held else { continue };
            let history = &history[unit as usize];
            let newest = history.iter().rposition(|version| version.sure).unwrap_or(0);
            // By the host's words: what is marked as secret without need is only known to be so by the marks.
            match history.iter().rposition(|version| bytes == stamped(unit, version.stamp, unit_bytes)) {
                Some(at) if at >= newest => tally.put_out += 1,
                Some(at) if history[at].insecure => open += 1,
                found => {
                    leak = Some(format!("{:?} puts out {:?} of unit {unit}, version {found:?} of {history:?}", page.place, page.output));
                }
            }
        }
    });
    tally.open += open;
    leak.map_or(Ok(()), Err)
}

fn flush(drive: &mut Live) -> Result<(), String> {
    let flush = request(drive, HostOp::Flush, 0, 0, false);
    let id = drive.submit(&flush, &[]);
    await_one(drive, id).map(|_| ())
}

/// As [`nothing_stale_is_put_out`], after a cut, when `units` were written anew: nothing older of them can be read, not even from what the cut has broken
/// off. By what the bytes look like, for a torn page has no marks. Returns how many pages there were that hold something and are not whole.
fn nothing_older_is_put_out(mut drive: Live, history: &[Vec<Version>], units: &BTreeSet<u64>) -> Result<u64, String> {
    let unit_bytes = drive.unit_bytes().0 as usize;
    drive.settle();
    let (mut leak, mut torn) = (None, 0);
    drive.chip_off().read(|page| {
        torn += u64::from(page.output == Output::Ruined);
        for bytes in page.bytes.chunks_exact(unit_bytes) {
            let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
            let (stamp, unit) = (number(0), number(8));
            let looks_so = |version: &Version| version.stamp == stamp && stamp > 0 && !version.insecure;
            if units.contains(&unit) && history[unit as usize].iter().any(looks_so) && bytes[16..64] == stamped(unit, stamp, 64)[16..] {
                leak = Some(format!("{:?} puts out {:?} with bytes of unit {unit}, stamp {stamp}", page.place, page.output));
            }
        }
    });
    leak.map_or(Ok(torn), Err)
}

/// Random requests, many at once; no two writes of the same unit at the same time. Returns the history of each unit.
fn load(
    case: &Case,
    world: &World,
    drive: &mut Live,
    tape: &Tape,
    draw: &mut Draw,
    tally: &mut Tally,
) -> Result<Vec<Vec<Version>>, String> {
    let (units, unit_bytes) = (world.config.exported_units, world.config.firmware.unit.0 as usize);
    let mut history: Vec<Vec<Version>> = vec![vec![Version { may: 0, must: 0, stamp: 0, sure: true, insecure: true }]; units as usize];
    let mut asked: Vec<Asked> = Vec::new();
    let span = (units / 3).max(20);
    for stamp in 1..=case.requests {
        tally.requests += 1;
        world.befall(drive, stamp, draw, tally);
        let count = 1 + draw.below(6);
        let reach = if draw.below(3) > 0 { span } else { units };
        let unit = draw.below(reach - count);
        let range = unit..unit + count;
        let what = draw.below(20);
        let is_flush = what == 0;
        if asked.len() as u64 >= world.depth || asked.iter().any(|other| other.units.start < range.end && range.start < other.units.end) {
            for done in std::mem::take(&mut asked) {
                settle(world, drive, tape, &mut history, done, tally)?;
            }
        }
        let (op, stamped_as, fua) = match what {
            0 => (HostOp::Flush, None, false),
            1..4 => (HostOp::Trim, Some(0), false),
            4..6 => (HostOp::Read, None, false),
            6 => (HostOp::Write, Some(stamp), true),
            _ => (HostOp::Write, Some(stamp), false),
        };
        let range = if is_flush { 0..0 } else { range };
        let bytes: Vec<u8> =
            if op == HostOp::Write { range.clone().flat_map(|unit| stamped(unit, stamp, unit_bytes)).collect() } else { Vec::new() };
        let insecure = op == HostOp::Write && world.insecure.is_some_and(|share| draw.happens(share));
        let may = tape.len();
        if let Some(stamp) = stamped_as {
            range.clone().for_each(|unit| history[unit as usize].push(Version { may, must: usize::MAX, stamp, sure: false, insecure }));
        }
        let covers = if is_flush {
            // What is in flight is not covered: only answered requests are.
            let open = |unit: u64| asked.iter().any(|other| other.stamp.is_some() && other.units.contains(&unit));
            (0..units).map(|unit| history[unit as usize].len() - usize::from(open(unit))).collect()
        } else {
            Vec::new()
        };
        let request = HostRequest {
            attributes: Attributes::NONE.with_secure(!insecure),
            ..request(drive, op, range.start, range.end - range.start, fua)
        };
        let id = drive.submit(&request, &bytes);
        asked.push(Asked { id, units: range, stamp: stamped_as, fua, is_flush, covers });
    }
    for done in asked {
        settle(world, drive, tape, &mut history, done, tally)?;
    }
    Ok(history)
}

/// Waits for a request and books what it promises.
fn settle(
    world: &World,
    drive: &mut Live,
    tape: &Tape,
    history: &mut [Vec<Version>],
    asked: Asked,
    tally: &mut Tally,
) -> Result<(), String> {
    let Asked { id, units, stamp, fua, is_flush, covers } = asked;
    let (ok, bytes) = await_one(drive, id)?;
    if !ok {
        tally.failed += 1;
        return if world.may_fail { Ok(()) } else { Err(format!("a request for {units:?} failed")) };
    }
    let now = tape.len();
    if is_flush {
        for (history, covered) in history.iter_mut().zip(covers) {
            history[..covered].iter_mut().filter(|version| version.sure).for_each(|version| version.must = version.must.min(now));
        }
    } else if stamp.is_some() {
        for unit in units {
            let last = history[unit as usize].last_mut().expect("never empty");
            last.sure = true;
            if fua || ((world.is_through || world.config.has_capacitors()) && stamp != Some(0)) {
                last.must = now;
            }
        }
    } else {
        let unit_bytes = bytes.len() / (units.end - units.start) as usize;
        for (unit, found) in units.zip(bytes.chunks_exact(unit_bytes)) {
            let history = &history[unit as usize];
            let newest = if world.is_silent { 0 } else { history.iter().rposition(|version| version.sure).unwrap_or(0) };
            if !history[newest..].iter().any(|version| found == stamped(unit, version.stamp, unit_bytes)) {
                return Err(format!("unit {unit} reads as {:?}…, last written was {:?}", &found[..16], history.last()));
            }
        }
    }
    Ok(())
}
