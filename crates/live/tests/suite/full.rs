//! Does a drive on a host whose disk fills up, or fails, keep what it has acknowledged, go on reading, and go on writing once there is room?
//!
//! The oracle: each unit holds, after a kill at any instant, the last state that is owed or one that was asked for later. It does not check which of these.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use wordline_block::{Errno, Op};
use wordline_drive::{Config as DriveConfig, Watched};
use wordline_live::{About, Keeper, LiveDisk, MediaStore, Refused, Timing, watch};
use wordline_media::{Backing, Die, Dump, DumpShape, Durability, Identity, Media, Memory, Shape};
use wordline_units::random::{Draw, Stream};

use crate::client::{Answer, Client, connect};
use crate::common::{small_drive, stamped};

const NO_SPACE: Errno = Errno::NoSpace;
const IO: Errno = Errno::Io;
/// Units that are written; more than there is buffer for, and so few that reclaim has work.
const UNITS: u64 = 500;

/// The host's disk, with all files of a drive.
#[derive(Debug)]
struct HostDisk {
    files: Vec<Memory>,
    /// Bytes that it can hold.
    capacity: u64,
    /// Writes that fail from now on.
    failing: u32,
    /// Syncs and reads that do.
    failing_syncs: u32,
    failing_reads: u32,
    /// As they were when the last of these reads failed.
    at_failure: Vec<Memory>,
}

impl Default for HostDisk {
    fn default() -> HostDisk {
        HostDisk { files: Vec::new(), capacity: u64::MAX, failing: 0, failing_syncs: 0, failing_reads: 0, at_failure: Vec::new() }
    }
}

impl HostDisk {
    fn used(&self) -> u64 {
        self.files.iter().map(Memory::allocated).sum()
    }
}

type Host = Arc<Mutex<HostDisk>>;

fn lock(host: &Host) -> MutexGuard<'_, HostDisk> {
    host.lock().expect("nobody panics with it")
}

/// One of its files.
#[derive(Debug)]
struct File(Host, usize);

impl Backing for File {
    fn length(&self) -> io::Result<u64> {
        lock(&self.0).files[self.1].length()
    }

    fn set_length(&mut self, length: u64) -> io::Result<()> {
        lock(&self.0).files[self.1].set_length(length)
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let mut host = lock(&self.0);
        if host.failing_reads > 0 {
            host.failing_reads -= 1;
            host.at_failure = host.files.clone();
            return Err(io::Error::from_raw_os_error(IO as i32));
        }
        host.files[self.1].read(offset, into)
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut host = lock(&self.0);
        let room = host.capacity.saturating_sub(host.used());
        let is_failing = host.failing > 0;
        host.failing = host.failing.saturating_sub(1);
        if !is_failing && room >= bytes.len() as u64 + 8192 {
            return host.files[self.1].write(offset, bytes);
        }
        // Some of it may be there.
        host.files[self.1].write(offset, &bytes[..bytes.len() / 3])?;
        Err(if is_failing { io::Error::from_raw_os_error(IO as i32) } else { io::ErrorKind::StorageFull.into() })
    }

    fn punch(&mut self, offset: u64, length: u64) -> io::Result<()> {
        lock(&self.0).files[self.1].punch(offset, length)
    }

    fn data_end(&self, from: u64, until: u64) -> io::Result<u64> {
        lock(&self.0).files[self.1].data_end(from, until)
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut host = lock(&self.0);
        if host.failing_syncs > 0 {
            host.failing_syncs -= 1;
            return Err(io::Error::from_raw_os_error(IO as i32));
        }
        host.files[self.1].sync()
    }

    fn room(&self) -> io::Result<u64> {
        let host = lock(&self.0);
        Ok(host.capacity.saturating_sub(host.used()))
    }
}

/// What the drive owes, and who keeps its bytes.
#[derive(Clone, Copy)]
struct Kind {
    settings: &'static [&'static str],
    /// Every write that was acknowledged, and not only what was flushed.
    owes_writes: bool,
    reserve: u64,
    held_max: u64,
    durability: Durability,
    /// The keeper says that all is well, whatever the host does.
    lies: bool,
}

const BUFFERED: Kind =
    Kind { settings: &[], owes_writes: false, reserve: 0, held_max: 256 << 20, durability: Durability::Process, lies: false };
const PROGRAMMED: Kind = Kind { settings: &["buffer.acknowledge=programmed"], owes_writes: true, ..BUFFERED };
const CAPACITOR: Kind = Kind { settings: &["buffer.protection=capacitor"], owes_writes: true, ..BUFFERED };

/// Says that everything is written down.
struct Liar {
    _store: MediaStore<File>,
}

impl Keeper for Liar {
    fn sync(&self) -> Result<(), Refused> {
        Ok(())
    }

    fn trouble(&self) -> Option<String> {
        None
    }
}

fn build(kind: Kind) -> DriveConfig {
    small_drive(2, &[&["cells.physics=false"], kind.settings].concat())
}

/// A drive on the files of `host`; a new one where there are none.
fn drive(kind: Kind, host: &Host) -> LiveDisk {
    let config = build(kind);
    let geometry = config.sheet.geometry;
    let identity = move |die| Identity { drive: 7, die, dies: 2, chip: "small".to_owned(), shape: Shape::of(&geometry).expect("small") };
    let units = (geometry.page.0 / config.firmware.unit.0) as u32;
    let (facts, fact_bytes) = config.facts();
    let shape = DumpShape { drive: 7, slots: config.firmware.buffer.units, slot_bytes: config.firmware.unit.0 as u32, facts, fact_bytes };
    let has_dump = config.has_capacitors();
    let is_found = !lock(host).files.is_empty();
    if !is_found {
        lock(host).files = vec![Memory::new(); 3];
    }
    let host = Arc::clone(host);
    let make = move || {
        let file = |number: u32| File(Arc::clone(&host), number as usize);
        let die = |die| {
            let name = format!("die {die}");
            if is_found { Die::open(file(die), &name, Some(&identity(die))) } else { Die::create(file(die), &name, &identity(die)) }
        };
        let media = Media::of((0..2).map(|number| die(number).expect("sound files")).collect(), kind.durability);
        let dump = has_dump.then(|| if is_found { Dump::open(file(2), "dump", shape) } else { Dump::create(file(2), "dump", shape) });
        let store = MediaStore::new(media, units, dump.transpose().expect("a sound dump"))
            .reserving(kind.reserve, |_| {})
            .holding_at_most(kind.held_max);
        let capacitors = store.capacitors(config.firmware.buffer.units);
        let watched = watch(&config);
        let drive = if is_found {
            Watched::wake(config, watched, |die| store.payload(die), capacitors)
        } else {
            let mut drive = Watched::with_payload(config, watched, |die| store.payload(die));
            capacitors.into_iter().for_each(|capacitors| drive.connect(capacitors));
            drive
        };
        (drive, store)
    };
    let disk = if kind.lies {
        let lie = move || {
            let (drive, store) = make();
            (drive, Liar { _store: store })
        };
        LiveDisk::start_kept(lie, Timing::Off, About::default())
    } else {
        LiveDisk::start_kept(make, Timing::Off, About::default())
    };
    // Once it answers, it is built: what befalls the host comes later.
    disk.look().expect("it runs");
    disk
}

/// What each unit may hold: stamps of writes, 0 for nothing.
struct Ledger {
    /// The last state that is owed, and all that were asked for since.
    states: Vec<Vec<u64>>,
    /// States that were acknowledged since the last flush: unit and stamp.
    acknowledged: Vec<(usize, u64)>,
}

impl Ledger {
    fn owe(&mut self, unit: usize, stamp: u64) {
        let states = &mut self.states[unit];
        if let Some(at) = states.iter().position(|&state| state == stamp) {
            states.drain(..at);
        }
    }

    fn flushed(&mut self) {
        for (unit, stamp) in std::mem::take(&mut self.acknowledged) {
            self.owe(unit, stamp);
        }
    }

    /// Holds what was read against it. What was found has to stay if it `is_kept`.
    fn check(&mut self, unit: usize, read: &[u8], is_kept: bool) -> Result<(), String> {
        let found = self.states[unit].iter().rev().copied().find(|&stamp| stamped(unit as u64, stamp, read.len()) == read);
        match found {
            Some(stamp) if is_kept => self.states[unit] = vec![stamp],
            Some(_) => {}
            None => return Err(format!("unit {unit} may hold the writes {:?}, and holds {:?}", self.states[unit], &read[..16])),
        }
        Ok(())
    }
}

/// How often something happened.
#[derive(Debug, Default)]
struct Counts {
    refused: u64,
    reads_while_full: u64,
    went_on: u64,
    kills_while_full: u64,
}

struct Life {
    kind: Kind,
    unit_bytes: u64,
    host: Host,
    draw: Draw,
    ledger: Ledger,
    stamp: u64,
    counts: Counts,
}

fn fault(answer: &Answer) -> Option<Errno> {
    answer.fault.as_ref().map(|fault| fault.errno)
}

impl Life {
    fn new(kind: Kind, seed: u64) -> Life {
        let host = Arc::new(Mutex::new(HostDisk::default()));
        let ledger = Ledger { states: vec![vec![0]; UNITS as usize], acknowledged: Vec::new() };
        Life {
            kind,
            unit_bytes: build(kind).firmware.unit.0,
            host,
            draw: Draw::new(seed, Stream::Mix, 77),
            ledger,
            stamp: 0,
            counts: Counts::default(),
        }
    }

    fn read(&mut self, client: &mut Client, unit: usize, is_kept: bool) -> Result<(), String> {
        let length = self.unit_bytes;
        let answer = client.call(&Op::Read { offset: unit as u64 * length, length: length as u32 });
        if answer.fault.is_some() {
            return Err(format!("reads go on, but unit {unit}: {:?}", answer.fault));
        }
        self.ledger.check(unit, &answer.bytes, is_kept)
    }

    /// Asks for something; whether it was taken. `errnos`: the errors that may be.
    fn step(&mut self, client: &mut Client, errnos: &[Errno]) -> Result<bool, String> {
        let unit = self.draw.below(UNITS) as usize;
        let length = self.unit_bytes;
        let answer = match self.draw.below(20) {
            0 => {
                let covered = client.call(&Op::Flush);
                if covered.fault.is_none() {
                    self.ledger.flushed();
                }
                covered
            }
            1..=4 => {
                self.read(client, unit, false)?;
                return Ok(true);
            }
            kind => {
                self.stamp += 1;
                let (stamp, fua) = (if kind == 5 { 0 } else { self.stamp }, kind == 6);
                self.ledger.states[unit].push(stamp);
                let offset = unit as u64 * length;
                let data = stamped(unit as u64, stamp, length as usize);
                let answer = client.call(&Op::Write { offset, data, fua });
                if answer.fault.is_none() && (fua || self.kind.owes_writes) {
                    self.ledger.states[unit] = vec![stamp];
                } else if answer.fault.is_none() {
                    self.ledger.acknowledged.push((unit, stamp));
                }
                answer
            }
        };
        match fault(&answer) {
            None => Ok(true),
            Some(errno) if errnos.contains(&errno) => {
                self.counts.refused += 1;
                Ok(false)
            }
            Some(_) => Err(format!("errors {errnos:?} were expected: {:?}", answer.fault)),
        }
    }

    /// Fills the host's disk up, looks, and then kills the drive or makes room; so many times.
    fn live(&mut self, rounds: u32) -> Result<(), String> {
        let disk = drive(self.kind, &self.host);
        let mut disk = Some(Arc::new(disk));
        for round in 0..rounds {
            let disk_of_round = disk.take().expect("one");
            let mut client = connect(&disk_of_round);
            {
                let mut host = lock(&self.host);
                let is_failing = self.draw.below(3) == 0;
                (host.capacity, host.failing) = if is_failing && round > 0 {
                    (u64::MAX, 1 + self.draw.below(40) as u32)
                } else {
                    (host.used() + self.draw.below(4 << 20), 0)
                };
            }
            let mut refused = 0;
            for _ in 0..700 {
                refused += u32::from(!self.step(&mut client, &[NO_SPACE, IO])?);
                if refused > 20 {
                    break;
                }
            }
            let is_full = lock(&self.host).capacity < u64::MAX;
            for unit in (0..UNITS as usize).step_by(7) {
                self.read(&mut client, unit, false)?;
                self.counts.reads_while_full += u64::from(is_full);
            }
            if self.draw.below(2) == 0 {
                // The process is killed at this instant.
                let files = lock(&self.host).files.clone();
                drop((client, disk_of_round));
                let capacity = if self.draw.below(2) == 0 { u64::MAX } else { lock(&self.host).capacity };
                self.counts.kills_while_full += u64::from(is_full && refused > 0);
                self.host = Arc::new(Mutex::new(HostDisk { files, capacity, ..HostDisk::default() }));
                self.ledger.acknowledged.clear();
                let again = drive(self.kind, &self.host);
                let again = Arc::new(again);
                let mut client = connect(&again);
                for unit in 0..UNITS as usize {
                    self.read(&mut client, unit, true)?;
                }
                drop(client);
                disk = Some(again);
            } else {
                (lock(&self.host).capacity, lock(&self.host).failing) = (u64::MAX, 0);
                // By itself: nobody restarts it. A read is served at any time, so it says nothing of that.
                let begun = Instant::now();
                loop {
                    let written = self.stamp;
                    if self.step(&mut client, &[NO_SPACE, IO])? && self.stamp > written {
                        break;
                    }
                    if begun.elapsed() > Duration::from_secs(30) {
                        return Err("there is room, and the drive does not go on".to_owned());
                    }
                }
                self.counts.went_on += u64::from(refused > 0);
                if client.call(&Op::Flush).fault.is_some() {
                    return Err("a flush fails with room enough".to_owned());
                }
                self.ledger.flushed();
                drop((client, disk_of_round));
                let again = drive_after_kill(self);
                disk = Some(again);
            }
        }
        Ok(())
    }
}

/// The drive is killed after a flush, with room enough.
fn drive_after_kill(life: &mut Life) -> Arc<LiveDisk> {
    let files = lock(&life.host).files.clone();
    life.host = Arc::new(Mutex::new(HostDisk { files, ..HostDisk::default() }));
    Arc::new(drive(life.kind, &life.host))
}

#[test]
fn what_was_acknowledged_is_there_whatever_the_hosts_disk_did() {
    let reserving = Kind { reserve: 2 << 20, ..BUFFERED };
    let on_host = Kind { durability: Durability::Host, ..BUFFERED };
    let mut all = Counts::default();
    for (number, kind) in [BUFFERED, PROGRAMMED, CAPACITOR, reserving, on_host].into_iter().enumerate() {
        for seed in 0..3 {
            let mut life = Life::new(kind, seed + 100 * number as u64);
            if let Err(why) = life.live(8) {
                panic!("kind {number}, seed {seed}: {why}");
            }
            let Counts { refused, reads_while_full, went_on, kills_while_full } = life.counts;
            all.refused += refused;
            all.reads_while_full += reads_while_full;
            all.went_on += went_on;
            all.kills_while_full += kills_while_full;
        }
    }
    assert!(all.refused > 100 && all.reads_while_full > 1_000 && all.went_on > 10 && all.kills_while_full > 10, "{all:?}");
}

#[test]
fn the_oracle_sees_a_drive_that_acknowledges_what_the_host_has_not_taken() {
    for kind in [BUFFERED, PROGRAMMED, CAPACITOR] {
        let caught = (0..6).any(|seed| Life::new(Kind { lies: true, ..kind }, seed).live(8).is_err_and(|why| why.contains("may hold")));
        assert!(caught, "nothing was missed of {:?}", kind.settings);
    }
}

#[test]
fn a_stop_on_a_full_disk_says_what_it_could_not_do() {
    let life = Life::new(BUFFERED, 1);
    let disk = drive(BUFFERED, &life.host);
    let disk = Arc::new(disk);
    let mut client = connect(&disk);
    let room = lock(&life.host).used();
    lock(&life.host).capacity = room;
    // The first one may be acknowledged before its program is tried.
    client.call(&Op::Write { offset: 0, data: vec![5; 16_384], fua: false });
    let answer = client.call(&Op::Flush);
    assert_eq!(fault(&answer), Some(NO_SPACE));
    assert_eq!(client.read(0, 16_384), [5; 16_384], "reads go on");
    let told = disk.look().expect("it runs").trouble.expect("something waits");
    assert!(told.contains("no space left") && told.contains("wait"), "{told}");
    let refused = disk.stop().expect_err("nothing could be written down");
    assert!(refused.contains("no space left"), "{refused}");
}

/// A drive with a client, and a unit that is on flash.
fn served(kind: Kind) -> (Host, Arc<LiveDisk>, Client) {
    let life = Life::new(kind, 1);
    let disk = drive(kind, &life.host);
    let disk = Arc::new(disk);
    let mut client = connect(&disk);
    client.write(0, &[1; 16_384]);
    assert_eq!(client.call(&Op::Flush).fault, None);
    (life.host, disk, client)
}

fn all_of(file: &Memory) -> Vec<u8> {
    let mut bytes = vec![0; file.length().expect("memory") as usize];
    file.read(0, &mut bytes).expect("memory");
    bytes
}

/// Waits until something waits for the host.
fn wait_for_trouble(disk: &LiveDisk) {
    let begun = Instant::now();
    while disk.look().expect("it is asked, and answers").trouble.is_none() {
        assert!(begun.elapsed() < Duration::from_secs(30), "nothing waits for the host");
    }
}

#[test]
fn a_sync_that_failed_ends_writing_until_a_restart_and_nothing_else() {
    let (host, disk, mut client) = served(Kind { durability: Durability::Host, ..BUFFERED });
    client.write(16_384, &[2; 16_384]);
    lock(&host).failing_syncs = 1;
    for op in [Op::Flush, Op::Flush, Op::Write { offset: 0, data: vec![3; 16_384], fua: false }] {
        let fault = client.call(&op).fault.expect("the host may have lost what it had taken");
        assert_eq!(fault.errno, IO);
        assert!(fault.message.contains("restart") || fault.message.contains("syncing"), "{}", fault.message);
    }
    assert_eq!((client.read(0, 16_384), client.read(16_384, 16_384)), (vec![1; 16_384], vec![2; 16_384]), "reads go on");
    assert!(disk.stop().is_err());
}

#[test]
fn a_read_that_the_host_fails_ends_everything_and_costs_nothing() {
    for seed in 0..6 {
        let mut life = Life::new(BUFFERED, seed);
        let disk = drive(life.kind, &life.host);
        let disk = Arc::new(disk);
        let mut client = connect(&disk);
        for _ in 0..600 {
            life.step(&mut client, &[]).expect("nothing fails");
        }
        // Once more, and it is there.
        lock(&life.host).failing_reads = 1;
        while lock(&life.host).failing_reads > 0 {
            life.step(&mut client, &[]).expect("an error that passes");
        }
        lock(&life.host).failing_reads = 2;
        // Many at once, so that the drive is at work when it happens, and goes on.
        let mut refused = 0;
        for _ in 0..10 {
            for number in 0..100 {
                if number == 50 {
                    let unit = life.draw.below(UNITS);
                    client.request(&Op::Read { offset: unit * life.unit_bytes, length: life.unit_bytes as u32 });
                }
                let (unit, stamp) = (life.draw.below(UNITS) as usize, life.stamp + 1);
                life.stamp = stamp;
                life.ledger.states[unit].push(stamp);
                let data = stamped(unit as u64, stamp, life.unit_bytes as usize);
                client.request(&Op::Write { offset: unit as u64 * life.unit_bytes, data, fua: false });
            }
            refused += (0..101).filter(|_| fault(&client.answer()) == Some(IO)).count();
        }
        assert!(lock(&life.host).failing_reads == 0 && refused > 0, "seed {seed}: a read failed, and what came after it");
        let answer = client.call(&Op::Read { offset: 0, length: 512 });
        assert_eq!(fault(&answer), Some(IO), "until a restart");
        {
            let host = lock(&life.host);
            let is_as_it_was = host.files.iter().zip(&host.at_failure).all(|(now, then)| all_of(now) == all_of(then));
            assert!(is_as_it_was, "seed {seed}: the files were changed after a page could not be read");
        }
        drop((client, disk));
        let again = drive_after_kill(&mut life);
        let mut client = connect(&again);
        for unit in 0..UNITS as usize {
            life.read(&mut client, unit, true).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        }
    }
}

#[test]
fn a_drive_for_which_too_much_waits_stands_still_until_there_is_room() {
    let (host, disk, mut client) = served(Kind { held_max: 40 << 10, ..BUFFERED });
    let room = lock(&host).used();
    lock(&host).capacity = room;
    // More than may be held, all under way at once; the last one says that all of them have come.
    for unit in 2..60u64 {
        client.request(&Op::Write { offset: unit * 16_384, data: vec![7; 16_384], fua: false });
    }
    client.request(&Op::Cache { offset: 0, length: 512 });
    let last = 2 + 58 + 1;
    let mut faults = Vec::new();
    // Of the writes some may be answered before.
    loop {
        let answer = client.answer();
        if answer.tag == last {
            break;
        }
        faults.push(fault(&answer));
    }
    wait_for_trouble(&disk);
    let refused = client.request(&Op::Read { offset: 0, length: 16_384 });
    lock(&host).capacity = u64::MAX;
    let mut is_read = false;
    while faults.len() < 58 || !is_read {
        let answer = client.answer();
        if answer.tag == refused {
            is_read = true;
            assert!(matches!(fault(&answer), None | Some(NO_SPACE)), "{answer:?}");
        } else {
            faults.push(fault(&answer));
        }
    }
    assert!(faults.iter().all(|fault| matches!(fault, None | Some(NO_SPACE))), "{faults:?}");
    assert!(faults.contains(&Some(NO_SPACE)), "some were refused");
    assert_eq!(client.read(0, 16_384), [1; 16_384]);
    client.write(0, &[9; 16_384]);
    assert_eq!(client.call(&Op::Flush).fault, None);
    // And where there never is room, a stop does not wait for it.
    let room = lock(&host).used();
    lock(&host).capacity = room;
    for unit in 2..60u64 {
        client.request(&Op::Write { offset: unit * 16_384, data: vec![8; 16_384], fua: false });
    }
    wait_for_trouble(&disk);
    let why = disk.stop().expect_err("there is no room");
    assert!(why.contains("no space left"), "{why}");
}
