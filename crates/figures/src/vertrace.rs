//! VerTrace (000 §5.1.1, 002 §3): how many versions of each file's data lie on flash, over time.
//!
//! ```text
//! what the file system says of each request ─► FileStep ─┐
//!                                                        ├─► VerTrace ─► VerTraceResult
//! requests, and where each mapping unit goes ────────────┘
//! ```
//!
//! A mapping unit on flash is valid if the map leads to it, and invalid from when the map leads elsewhere until its block is erased. For every file the
//! observer counts its valid and its invalid units. From these follow VAF, the most invalid units over the most valid ones (the two need not be at the same
//! time), and T_insecure, how long there was any invalid one. Time is logical: it goes on by what the host writes, and one capacity written is 1.0.
//!
//! A file that only grew, or was written once, is uni-version; one that was overwritten or deleted is multi-version. Files that never had a valid unit
//! are not counted. What was on the drive before the run has been there since its beginning. A deleted file stays insecure until the last of it is
//! erased.
//!
//! The file of a unit is that of the last write of it which had arrived when its program was ordered; a copy has its source's. A unit that several files
//! share, because it is larger than a block of the file system, is the last writer's.

mod result;

use std::collections::VecDeque;
use std::sync::mpsc::Receiver;

use wordline_engine::{Event, Observer, UnitPlace, UnitStep};
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{BlockId, Bytes, DieId, Geometry, HostOp, Id, Nanos};

pub use result::{ClassResult, Extreme, FilePlot, PlotPoint, VerTraceResult};

/// Points of a plot for each capacity that is written.
const POINTS: u64 = 256;
/// No file.
const NOBODY: u32 = u32::MAX;
const NOWHERE: u64 = u64::MAX;

/// What a file system says of a write or trim that it makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStep {
    /// The file's number.
    pub file: u32,
    /// Which write of the file it is.
    pub version: u32,
    /// First sector.
    pub sector: u64,
    /// Number of sectors.
    pub sectors: u32,
    /// What is asked: a write or a trim.
    pub op: HostOp,
    /// Whether it takes away what the file held there.
    pub replaces: bool,
}

/// What the books must know of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileScope {
    /// What the host can address.
    pub capacity: Bytes,
    /// A mapping unit.
    pub unit: Bytes,
    /// Dies of the drive.
    pub dies: u32,
    /// Blocks of a plane.
    pub blocks: u32,
    /// Mapping units of a block group.
    pub units_per_group: u32,
}

impl FileScope {
    /// Of a drive that the host sees `capacity` of, with mapping units of `unit`.
    pub fn of(capacity: Bytes, unit: Bytes, geometry: &Geometry) -> FileScope {
        FileScope {
            capacity,
            unit,
            dies: geometry.dies(),
            blocks: geometry.blocks,
            units_per_group: (geometry.page.0 / unit.0) as u32 * geometry.pages() * geometry.planes,
        }
    }
}

/// Whose a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tag {
    file: u32,
    version: u32,
}

const UNTAGGED: Tag = Tag { file: NOBODY, version: 0 };

/// What lies at a place.
#[derive(Clone, Copy, Debug)]
struct Held {
    tag: Tag,
    is_live: bool,
    /// It was erased or made unreadable since.
    is_gone: bool,
}

impl Held {
    const NOTHING: Held = Held { tag: UNTAGGED, is_live: false, is_gone: false };

    /// Whose data can be read there.
    fn readable(&self) -> Tag {
        if self.is_gone { UNTAGGED } else { self.tag }
    }
}

/// The books of one file.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    valid: u32,
    invalid: u32,
    most_valid: u32,
    most_invalid: u32,
    /// Sectors that had been written when it last became insecure.
    since: u64,
    /// Sectors written while it was insecure before that.
    insecure: u64,
    is_multi: bool,
}

/// The observer.
#[derive(Debug)]
pub struct VerTrace {
    scope: FileScope,
    steps: Receiver<FileStep>,
    unit_sectors: u64,
    /// The last write of each unit.
    newest: Vec<Tag>,
    /// Where each unit is live.
    live: Vec<u64>,
    /// What lies at each place, group by group.
    held: Vec<Vec<Held>>,
    /// What the program of each die carries.
    taken: Vec<VecDeque<(Option<u64>, Tag)>>,
    files: Vec<Account>,
    written: u64,
    plots: Vec<FilePlot>,
    next_point: u64,
    broken: Vec<String>,
}

impl VerTrace {
    /// The books of a drive on which nothing lies. `steps` brings what the file system says of each write and trim, in the order in which they arrive at the
    /// drive; `plotted` are the files whose counts over time are kept.
    pub fn new(scope: FileScope, steps: Receiver<FileStep>, plotted: &[u32]) -> VerTrace {
        let units = (scope.capacity.0 / scope.unit.0) as usize;
        let plots = plotted.iter().map(|&file| FilePlot { file, class: String::new(), points: Vec::new() }).collect();
        VerTrace {
            scope,
            steps,
            unit_sectors: scope.unit.0 / SECTOR_BYTES,
            newest: vec![UNTAGGED; units],
            live: vec![NOWHERE; units],
            held: vec![Vec::new(); (scope.dies * scope.blocks) as usize],
            taken: vec![VecDeque::new(); scope.dies as usize],
            files: Vec::new(),
            written: 0,
            plots,
            next_point: 0,
            broken: Vec::new(),
        }
    }

    /// `step` was done before the watching began.
    pub fn before(&mut self, step: &FileStep) {
        self.tag(step);
    }

    /// `unit` lies at `place` when the watching begins.
    pub fn lies(&mut self, unit: u64, place: UnitPlace) {
        let tag = self.newest[unit as usize];
        self.put(place, Some(unit), tag, true);
    }

    /// Valid and invalid units of `file` now.
    pub fn counts(&self, file: u32) -> (u32, u32) {
        self.files.get(file as usize).map_or((0, 0), |account| (account.valid, account.invalid))
    }

    /// Invalid units of all files now.
    pub fn stale_units(&self) -> u64 {
        self.files.iter().map(|account| u64::from(account.invalid)).sum()
    }

    /// The file and the version of the data that was programmed last at `place`, if it is a file's; whether anybody can read it still, or not.
    pub fn holder(&self, place: UnitPlace) -> Option<(u32, u32)> {
        let (group, offset) = self.locate(place);
        let held = self.held[group].get(offset)?;
        (held.tag.file != NOBODY).then_some((held.tag.file, held.tag.version))
    }

    /// Hold the books against where the drive itself says that each unit lies, and tell what was amiss during the run.
    pub fn check(&self, mapped: impl Iterator<Item = (u64, UnitPlace)>) -> Result<(), String> {
        if let Some(first) = self.broken.first() {
            return Err(format!("{first} ({} such)", self.broken.len()));
        }
        let mut mapped = mapped.peekable();
        for (unit, &live) in self.live.iter().enumerate() {
            let place = mapped.next_if(|&(other, _)| other == unit as u64).map(|(_, place)| self.index(place));
            if place.unwrap_or(NOWHERE) != live {
                return Err(format!("unit {unit} lies at {place:?} for the drive, and at {live} for VerTrace"));
            }
        }
        Ok(())
    }

    /// What it all came to.
    pub fn conclude(&self) -> VerTraceResult {
        let capacity_sectors = (self.scope.capacity.0 / SECTOR_BYTES) as f64;
        let of = |account: &Account| {
            let running = if account.invalid > 0 { self.written - account.since } else { 0 };
            let vaf = f64::from(account.most_invalid) / f64::from(account.most_valid);
            (vaf, (account.insecure + running) as f64 / capacity_sectors)
        };
        let class = |name: &str, is_multi: bool| {
            let counted = self.files.iter().zip(0..).filter(|(account, _)| account.is_multi == is_multi && account.most_valid > 0);
            let figures = counted.map(|(account, file)| {
                let (vaf, insecure) = of(account);
                (file, vaf, insecure)
            });
            ClassResult::new(name, figures)
        };
        let plots = self.plots.iter().map(|plot| {
            let is_multi = self.files.get(plot.file as usize).is_some_and(|account| account.is_multi);
            FilePlot { class: (if is_multi { "multi-version" } else { "uni-version" }).to_owned(), ..plot.clone() }
        });
        VerTraceResult {
            unit_bytes: self.scope.unit.0,
            capacity_bytes: self.scope.capacity.0,
            capacities_written: self.written as f64 / capacity_sectors,
            classes: vec![class("uni-version", false), class("multi-version", true)],
            plots: plots.collect(),
        }
    }

    fn account(&mut self, file: u32) -> &mut Account {
        let index = file as usize;
        if self.files.len() <= index {
            self.files.resize(index + 1, Account::default());
        }
        &mut self.files[index]
    }

    fn tag(&mut self, step: &FileStep) {
        let account = self.account(step.file);
        account.is_multi |= step.replaces;
        if step.op != HostOp::Write {
            return;
        }
        let (first, end) = (step.sector / self.unit_sectors, (step.sector + u64::from(step.sectors)).div_ceil(self.unit_sectors));
        let end = end.min(self.newest.len() as u64);
        self.newest[first as usize..end as usize].fill(Tag { file: step.file, version: step.version });
    }

    fn arrived(&mut self, op: HostOp, sectors: u32) {
        let step = self.steps.try_recv().unwrap_or_else(|_| panic!("a {} of {sectors} sectors that no file system spoke of", op.name()));
        assert!((step.op, step.sectors) == (op, sectors), "a {} of {sectors} sectors arrived, and not {step:?}", op.name());
        self.tag(&step);
        if op != HostOp::Write {
            return;
        }
        self.written += u64::from(sectors);
        while self.written >= self.next_point {
            let at = self.next_point as f64 * SECTOR_BYTES as f64 / self.scope.capacity.0 as f64;
            for plot in &mut self.plots {
                let account = self.files.get(plot.file as usize).copied().unwrap_or_default();
                plot.points.push(PlotPoint { at, valid: account.valid, invalid: account.invalid });
            }
            self.next_point += (self.scope.capacity.0 / SECTOR_BYTES / POINTS).max(1);
        }
    }

    fn locate(&self, place: UnitPlace) -> (usize, usize) {
        (place.die.index() * self.scope.blocks as usize + place.block.index(), place.offset as usize)
    }

    fn index(&self, place: UnitPlace) -> u64 {
        let (group, offset) = self.locate(place);
        group as u64 * u64::from(self.scope.units_per_group) + offset as u64
    }

    /// `tag`'s data of `unit` is at `place` now.
    fn put(&mut self, place: UnitPlace, unit: Option<u64>, tag: Tag, is_live: bool) {
        let (group, offset) = self.locate(place);
        let group = &mut self.held[group];
        if group.is_empty() {
            group.resize(self.scope.units_per_group as usize, Held::NOTHING);
        }
        if group[offset].readable().file != NOBODY {
            self.broken.push(format!("{place:?} is programmed twice"));
        }
        group[offset] = Held { tag, is_live, is_gone: false };
        let Some(unit) = unit else { return };
        if is_live {
            self.outdate(unit);
            self.live[unit as usize] = self.index(place);
        }
        if tag.file == NOBODY {
            return;
        }
        if is_live {
            let account = self.account(tag.file);
            account.valid += 1;
            account.most_valid = account.most_valid.max(account.valid);
        } else {
            self.add_invalid(tag.file);
        }
    }

    /// What is live of `unit` is so no longer.
    fn outdate(&mut self, unit: u64) {
        let live = std::mem::replace(&mut self.live[unit as usize], NOWHERE);
        if live == NOWHERE {
            return;
        }
        let units = u64::from(self.scope.units_per_group);
        let held = &mut self.held[(live / units) as usize][(live % units) as usize];
        held.is_live = false;
        let file = held.tag.file;
        if file != NOBODY {
            self.account(file).valid -= 1;
            self.add_invalid(file);
        }
    }

    fn add_invalid(&mut self, file: u32) {
        let written = self.written;
        let account = self.account(file);
        if account.invalid == 0 {
            account.since = written;
        }
        account.invalid += 1;
        account.most_invalid = account.most_invalid.max(account.invalid);
    }

    fn gone(&mut self, die: DieId, block: BlockId, first: u32, units: u32) {
        let (group, _) = self.locate(UnitPlace { die, block, offset: 0 });
        if self.held[group].is_empty() {
            return;
        }
        for offset in first..first + units {
            let place = &mut self.held[group][offset as usize];
            let held = std::mem::replace(place, Held { is_live: false, is_gone: true, ..*place });
            if held.is_live {
                self.broken.push(format!("valid data of file {} went with block {block:?} of {die:?}", held.tag.file));
                continue;
            }
            if held.readable().file == NOBODY {
                continue;
            }
            let written = self.written;
            let account = self.account(held.tag.file);
            account.invalid -= 1;
            if account.invalid == 0 {
                account.insecure += written - account.since;
            }
        }
    }
}

impl Observer for VerTrace {
    fn follows(&self) -> bool {
        true
    }

    #[inline]
    fn observe(&mut self, _: Nanos, event: &Event) {
        if let Event::Arrived { op: op @ (HostOp::Write | HostOp::Trim), sectors, .. } = event {
            self.arrived(*op, *sectors);
        }
    }

    fn follow(&mut self, _: Nanos, step: &UnitStep) {
        match *step {
            UnitStep::Taken { die, unit, from } => {
                let tag = match (unit, from) {
                    (None, _) => UNTAGGED,
                    (Some(unit), None) => self.newest[unit as usize],
                    (Some(_), Some(place)) => {
                        let (group, offset) = self.locate(place);
                        self.held[group].get(offset).map_or(UNTAGGED, Held::readable)
                    }
                };
                self.taken[die.index()].push_back((unit, tag));
            }
            UnitStep::Landed { place, is_live } => match self.taken[place.die.index()].pop_front() {
                Some((unit, tag)) => self.put(place, unit, tag, is_live),
                None => self.broken.push(format!("something landed at {place:?} that was never taken")),
            },
            UnitStep::Unmapped { unit } => self.outdate(unit),
            UnitStep::Gone { die, block, first, units } => self.gone(die, block, first, units),
        }
    }
}
