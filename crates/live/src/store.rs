//! The dies of a drive in media files.
//!
//! A page of the drive is a page of the file, with the mark of each mapping unit in its spare area: the unit's number in four bytes, its
//! version in eight; behind all of them their lost sectors, eight bytes each; all with the lowest byte first. The highest bit of a version marks a
//! unit that may stay readable once it is stale. The marks of places without data have the largest number, as in the drive.
//!
//! A lock is a flag beside its page or block, and the hidden data stays in the file as it stays in the cells of a chip: the die that stands on the file does
//! not give it out. Scrubbed or reprogrammed data is overwritten.

use std::cell::RefCell;
use std::fmt::Debug;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wordline_block::Errno;
use wordline_chip::{Contents, DieFault, Kept, KeptBlock, KeptLife, Mark, PADDING, PageImage, Payload, Persistent, Place, Sanitisation};
use wordline_drive::{BufferSlot, Capacitors, Config, FACTS, HeldUnit};
use wordline_media::{
    Backing, Backlog, Condition, Disk, Dump, DumpShape, Durability, Held, Identity, Label, Media, MediaError, Overlay, PageBuffer, PageRun,
    PageState, Shape,
};
use wordline_units::random::Draw;
use wordline_units::{BlockId, DieId, Id, Lpn, PlaneId};

use crate::hints_file::HINTS;
use crate::host::Host;
use crate::keeper::{Keeper, Refused};

/// Bytes of a mark in the spare area: the unit's number, its version, and its lost sectors.
const MARK_BYTES: usize = NAME_BYTES + LOST_BYTES;
const NAME_BYTES: usize = 12;
const LOST_BYTES: usize = 8;

/// The flag beside a page that is a copy of one that could not be read.
const COPY_OF_TORN: u8 = 1;

/// The flag beside a page that is locked.
const LOCKED: u8 = 2;
/// The flag beside a page that was destroyed with its wordline.
const SCRUBBED: u8 = 4;
/// The flag beside a page that was destroyed alone.
const REPROGRAMMED: u8 = 8;
/// The flag of a block that is locked.
const BLOCK_LOCKED: u32 = 1;

/// Bit of a version that marks the unit as insecure.
const INSECURE: u64 = 1 << 63;

/// Shared state of all dies: the media, and their errors.
#[derive(Debug)]
struct Shared<B> {
    media: Media<Held<B>>,
    dump: Option<Dump<Held<B>>>,
    /// Data that the host has not taken yet.
    backlog: Backlog,
    host: Host,
    /// First error of the host without a remedy. After it, nothing can be relied on.
    trouble: Option<String>,
}

impl<B: Backing> Shared<B> {
    fn note<T>(&mut self, result: Result<T, MediaError>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                if self.trouble.is_none() {
                    self.host.say(&format!("{error}: every request fails until a restart, and the files stay as they are"));
                    self.trouble = Some(error.to_string());
                    // The drive's substitute for a page that it could not read must not replace the page.
                    self.backlog.freeze();
                }
                None
            }
        }
    }

    /// Tries to write down the data that the host has not taken.
    fn settle(&mut self) -> Result<(), Refused> {
        if let Some(why) = self.trouble.clone() {
            return Err(Refused { errno: Errno::Io, why });
        }
        self.host.settle(&mut self.media, self.dump.as_mut(), &self.backlog)
    }

    /// A page of a die, or `None` if the host does not give it.
    fn read(&mut self, die: u32, place: wordline_media::Place, buffer: &mut PageBuffer) -> Option<(PageState, u8)> {
        let read = self.media.die(die).read_page(place, buffer);
        // Errors of a disk may pass.
        let read = read.or_else(|_| self.media.die(die).read_page(place, buffer));
        self.note(read)
    }
}

/// The path of the file `name` beside `media`, for messages.
fn path_of<B: Backing>(media: &Media<Held<B>>, name: &str) -> String {
    media.folder().map_or(name.to_owned(), |folder| folder.path().join(name).display().to_string())
}

/// The media and what belongs to them. A panic of the thread that held them leaves them as the process would have left them.
fn locked<B>(shared: &Mutex<Shared<B>>) -> MutexGuard<'_, Shared<B>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The media of a drive, as the source of each die's own. The drive's thread owns it.
#[derive(Debug)]
pub struct MediaStore<B> {
    shared: Arc<Mutex<Shared<B>>>,
    units: usize,
}

impl<B: Backing + Debug + Send + 'static> MediaStore<B> {
    /// A store for drives with `units` mapping units in a page, and capacitors if there is a `dump`.
    ///
    /// # Panics
    /// If the spare area has no room for their marks.
    pub fn new(media: Media<B>, units: u32, dump: Option<Dump<B>>) -> MediaStore<B> {
        let (units, room) = (units as usize, media.die(0).shape().spare_bytes as usize);
        assert!(units * MARK_BYTES <= room, "{units} marks of {MARK_BYTES} bytes in a spare area of {room}");
        let backlog = Backlog::default();
        let dump = dump.map(|dump| dump.patient(media.dies(), &backlog));
        let media = media.patient(&backlog);
        let shared = Shared { media, dump, backlog, host: Host::new(), trouble: None };
        MediaStore { shared: Arc::new(Mutex::new(shared)), units }
    }

    /// Takes no writes while the host's disk has less room than `bytes`, which the drive may need to write down the data it has taken. `tell` gets a line when
    /// the host takes nothing, and when it does again. Without a reserve, data that the host does not take is held all the same.
    #[must_use]
    pub fn reserving(self, bytes: u64, tell: impl Fn(&str) + Send + 'static) -> MediaStore<B> {
        locked(&self.shared).host.reserve(bytes, Box::new(tell));
        self
    }

    /// Lets the drive stand still if more than `bytes` wait for the host (default 256 MiB). Requests under way wait, too, and others are refused.
    #[must_use]
    pub fn holding_at_most(self, bytes: u64) -> MediaStore<B> {
        locked(&self.shared).host.hold_at_most(bytes);
        self
    }

    /// Capacitors that keep the write buffers of cores with `slots` slots each.
    pub fn capacitors(&self, slots: u32) -> Option<Box<dyn Capacitors>>
    where
        B: std::fmt::Debug + 'static,
    {
        let is_there = locked(&self.shared).dump.is_some();
        is_there.then(|| Box::new(StoredBuffer { shared: Arc::clone(&self.shared), slots }) as Box<dyn Capacitors>)
    }

    /// The bytes of a die.
    pub fn payload(&self, die: DieId) -> MediaPayload<B> {
        let (buffer, run) = {
            let shared = locked(&self.shared);
            let shape = shared.media.die(0).shape();
            (RefCell::new(PageBuffer::new(shape)), PageRun::new(shape))
        };
        MediaPayload { shared: Arc::clone(&self.shared), die: die.index() as u32, units: self.units, buffer, run }
    }
}

impl<B: Backing> Keeper for MediaStore<B> {
    fn sync(&self) -> Result<(), Refused> {
        let mut shared = locked(&self.shared);
        shared.settle()?;
        shared.media.sync().map_err(|error| {
            shared.host.lose(&error);
            Refused { errno: Errno::Io, why: error.to_string() }
        })
    }

    fn admits(&self) -> Result<(), Refused> {
        let mut shared = locked(&self.shared);
        let Shared { host, media, .. } = &mut *shared;
        host.admit(media)
    }

    fn catches_up(&self) -> Result<(), Refused> {
        locked(&self.shared).settle()
    }

    fn is_overfull(&self) -> bool {
        let shared = locked(&self.shared);
        shared.host.is_overfull(&shared.backlog)
    }

    fn trouble(&self) -> Option<String> {
        locked(&self.shared).trouble.clone()
    }

    fn keeps_buffer(&self) -> bool {
        locked(&self.shared).dump.is_some()
    }

    fn survives(&self) -> &'static str {
        match locked(&self.shared).media.durability() {
            Durability::Process => "process",
            Durability::Host => "host",
        }
    }

    fn keep_hints(&self, text: Option<&str>) -> Result<bool, String> {
        let shared = locked(&self.shared);
        let kept = shared.media.keep_text(HINTS, text).map_err(|error| format!("{}: {error}", path_of(&shared.media, HINTS)));
        kept.map(|()| shared.media.folder().is_some())
    }

    fn kept_hints(&self) -> Result<Option<String>, String> {
        let shared = locked(&self.shared);
        shared.media.kept_text(HINTS).map_err(|error| format!("{}: {error}", path_of(&shared.media, HINTS)))
    }

    fn say(&self, line: &str) {
        locked(&self.shared).host.say(line);
    }

    fn copy(&self, folder: &Path) -> Result<u64, String> {
        match locked(&self.shared).media.folder() {
            Some(from) => crate::snapshot::copy(from, folder),
            None => Err("these media are in no folder".to_owned()),
        }
    }
}

/// The write buffers of a drive in the dump beside its dies.
#[derive(Debug)]
struct StoredBuffer<B> {
    shared: Arc<Mutex<Shared<B>>>,
    /// Slots of each core.
    slots: u32,
}

impl<B: Backing + Debug + Send> Capacitors for StoredBuffer<B> {
    fn keep(&mut self, slot: BufferSlot, unit: HeldUnit, bytes: &[u8]) {
        let HeldUnit { lpn, version, mask, lost } = unit;
        let mut shared = locked(&self.shared);
        let label = Label { unit: lpn.0, version, mask, lost };
        let kept = shared.dump.as_mut().map_or(Ok(()), |dump| dump.keep(slot.core * self.slots + slot.slot, label, bytes));
        shared.note(kept);
    }

    fn kept(&mut self, slot: BufferSlot) -> Option<HeldUnit> {
        let label = locked(&self.shared).dump.as_ref()?.label(slot.core * self.slots + slot.slot)?;
        let Label { unit, version, mask, lost } = label;
        Some(HeldUnit { lpn: Lpn(unit), version, mask, lost })
    }

    fn keep_fact(&mut self, core: u32, index: u32, bytes: &[u8]) {
        let mut shared = locked(&self.shared);
        let kept = shared.dump.as_mut().map_or(Ok(()), |dump| dump.keep_fact(core * FACTS + index, bytes));
        shared.note(kept);
    }

    fn kept_fact(&mut self, core: u32, index: u32, into: &mut Vec<u8>) -> bool {
        let mut shared = locked(&self.shared);
        let read = shared.dump.as_ref().map_or(Ok(false), |dump| dump.fact(core * FACTS + index, into));
        shared.note(read).unwrap_or(false)
    }

    fn bytes(&mut self, slot: BufferSlot, into: &mut [u8]) -> bool {
        let mut shared = locked(&self.shared);
        let read = shared.dump.as_mut().map_or(Ok(()), |dump| dump.read(slot.core * self.slots + slot.slot, into));
        shared.note(read).is_some()
    }
}

/// The bytes of one die in its media file. A page that cannot be trusted reads as one without data: its marks are [`Mark::NOTHING`].
#[derive(Debug)]
pub struct MediaPayload<B> {
    shared: Arc<Mutex<Shared<B>>>,
    die: u32,
    /// Mapping units in a page.
    units: usize,
    buffer: RefCell<PageBuffer>,
    /// Pages of the next program.
    run: PageRun,
}

fn media_place(place: Place) -> wordline_media::Place {
    wordline_media::Place { block: place.block, page: place.page }
}

fn put_marks(spare: &mut [u8], marks: &[Mark]) {
    spare.fill(0);
    let (names, lost) = spare.split_at_mut(marks.len() * NAME_BYTES);
    for ((name, lost), mark) in names.chunks_exact_mut(NAME_BYTES).zip(lost.chunks_exact_mut(LOST_BYTES)).zip(marks) {
        name[..4].copy_from_slice(&mark.lpn.0.to_le_bytes());
        let version = mark.version | if mark.insecure { INSECURE } else { 0 };
        name[4..].copy_from_slice(&version.to_le_bytes());
        lost.copy_from_slice(&mark.lost.to_le_bytes());
    }
}

/// The marks of the `units` mapping units of a page.
fn marks_in(spare: &[u8], units: usize) -> impl Iterator<Item = Mark> {
    let (names, lost) = spare.split_at(units * NAME_BYTES);
    names.chunks_exact(NAME_BYTES).zip(lost.chunks_exact(LOST_BYTES)).map(|(name, lost)| {
        let (lpn, version) = name.split_at(4);
        let lpn = Lpn(u32::from_le_bytes(lpn.try_into().unwrap_or([0xFF; 4])));
        let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or([0; 8]));
        let version = number(version);
        let mark = Mark { lpn, version: version & !INSECURE, lost: number(lost), insecure: version & INSECURE != 0 };
        if lpn == PADDING { Mark::NOTHING } else { mark }
    })
}

impl<B: Backing> MediaPayload<B> {
    /// Appends a page with `contents` to the pages of the next program.
    fn gather(&mut self, contents: Contents<'_>) {
        let (data, spare) = self.run.add();
        contents.copy_to(data);
        put_marks(spare, contents.marks);
    }

    /// Programs the gathered pages, from `first` on.
    fn program_run(&mut self, first: Place) {
        let mut shared = locked(&self.shared);
        let slot = shared.media.die(self.die).shape().slot();
        shared.host.spend(u64::from(self.run.count()) * slot);
        let programmed = shared.media.die_mut(self.die).begin_pages(media_place(first), &mut self.run);
        shared.note(programmed);
    }

    /// Puts the fetched page into `image`.
    fn show(&self, buffer: &PageBuffer, state: PageState, image: &mut PageImage) {
        image.bytes.clear();
        image.bytes.extend_from_slice(buffer.data());
        self.show_marks(buffer, state, image);
    }

    /// Puts a single unit of the fetched page into `image`.
    fn show_unit(&self, buffer: &PageBuffer, state: PageState, unit: usize, image: &mut PageImage) {
        let data = buffer.data();
        let bytes = unit * data.len() / self.units..(unit + 1) * data.len() / self.units;
        image.bytes.resize(data.len(), 0);
        image.bytes[bytes.clone()].copy_from_slice(&data[bytes]);
        self.show_marks(buffer, state, image);
    }

    fn show_marks(&self, buffer: &PageBuffer, state: PageState, image: &mut PageImage) {
        image.marks.clear();
        if state == PageState::Written {
            image.marks.extend(marks_in(buffer.spare(), self.units));
        } else {
            image.marks.resize(self.units, Mark::NOTHING);
        }
    }

    /// Fetches a page into `buffer`; returns its state, and the sanitisation that made it unreadable, if any.
    fn fetch(&self, place: Place, buffer: &mut PageBuffer) -> (PageState, Option<Sanitisation>) {
        let mut shared = locked(&self.shared);
        let Some((state, flags)) = shared.read(self.die, media_place(place), buffer) else { return (PageState::Torn, None) };
        let how = [(SCRUBBED, Sanitisation::Scrub), (REPROGRAMMED, Sanitisation::Reprogram), (LOCKED, Sanitisation::LockPage)]
            .into_iter()
            .find_map(|(flag, how)| (flags & flag != 0).then_some(how));
        match state {
            PageState::Written if flags & COPY_OF_TORN == 0 => (state, how),
            PageState::Erased => (state, None),
            PageState::Written | PageState::Torn => (PageState::Torn, None),
        }
    }
}

/// Worth of a page in this state, made unreadable in this way.
fn worth(state: PageState, how: Option<Sanitisation>) -> Kept {
    match (state, how) {
        (PageState::Erased, _) => Kept::Erased,
        (PageState::Torn, _) => Kept::Torn,
        (PageState::Written, None) => Kept::Whole,
        (PageState::Written, Some(how)) => Kept::Sanitised(how),
    }
}

impl<B: Backing + Debug + Send + 'static> Payload for MediaPayload<B> {
    fn persistent(&self) -> Option<&dyn Persistent> {
        Some(self)
    }

    fn program(&mut self, place: Place, contents: Contents<'_>) {
        if locked(&self.shared).media.die(self.die).block(place.block).condition == Condition::Bad {
            // Rest of a scrubbed wordline in a block that has failed: it holds nothing, and the file takes no more pages of such a block.
            return;
        }
        self.run.clear();
        self.gather(contents);
        self.program_run(place);
    }

    fn program_pages(&mut self, places: &[Place], units: usize, contents: Contents<'_>) {
        // Pages of one program follow each other in their block, and the planes take turns: each block's pages go to the host in one write.
        for (at, &first) in places.iter().enumerate() {
            if places[..at].iter().any(|place| place.block == first.block) {
                continue;
            }
            if locked(&self.shared).media.die(self.die).block(first.block).condition == Condition::Bad {
                continue;
            }
            self.run.clear();
            for (index, place) in places.iter().enumerate().filter(|(_, place)| place.block == first.block) {
                assert_eq!(place.page, first.page + self.run.count(), "pages of a program follow each other");
                self.gather(contents.of_page(index, units));
            }
            self.program_run(first);
        }
    }

    fn read(&self, place: Place, image: &mut PageImage) -> Kept {
        let mut buffer = self.buffer.borrow_mut();
        let (state, how) = self.fetch(place, &mut buffer);
        self.show(&buffer, state, image);
        worth(state, how)
    }

    fn read_unit(&self, place: Place, unit: usize, image: &mut PageImage) -> Kept {
        let mut buffer = self.buffer.borrow_mut();
        let (state, how) = self.fetch(place, &mut buffer);
        self.show_unit(&buffer, state, unit, image);
        worth(state, how)
    }

    fn copy(&mut self, from: Place, to: Place) {
        let mut buffer = self.buffer.borrow_mut();
        let (state, _) = self.fetch(from, &mut buffer);
        if state != PageState::Written {
            // Without the flag below it would look sound, with a checksum of its own.
            put_marks(buffer.spare_mut(), &vec![Mark::NOTHING; self.units]);
        }
        let mut shared = locked(&self.shared);
        let slot = shared.media.die(self.die).shape().slot();
        shared.host.spend(slot);
        let programmed = shared.media.die_mut(self.die).begin_page(media_place(to), &mut buffer);
        if shared.note(programmed).is_some() && state == PageState::Torn {
            let flagged = shared.media.die_mut(self.die).flag_page(media_place(to), COPY_OF_TORN);
            shared.note(flagged);
        }
    }

    fn sanitise(&mut self, place: Place, how: Sanitisation, is_whole: bool) {
        let mut shared = locked(&self.shared);
        let die = shared.media.die_mut(self.die);
        let at = media_place(place);
        let is_programmed = place.page < die.block(place.block).cursor;
        let done = match how {
            Sanitisation::LockBlock => die.flag_block(place.block, BLOCK_LOCKED),
            // The page exists in the die, but its file has lost it.
            _ if !is_programmed => Ok(()),
            // Flags beside a torn page mean nothing, so the file forgets what it held.
            Sanitisation::LockPage if !is_whole => die.wipe_page(at, LOCKED),
            Sanitisation::LockPage => die.flag_page(at, LOCKED),
            Sanitisation::Scrub => die.wipe_page(at, SCRUBBED),
            Sanitisation::Reprogram => die.wipe_page(at, REPROGRAMMED),
        };
        shared.note(done);
    }

    fn erase(&mut self, block: u32) {
        let mut shared = locked(&self.shared);
        let erased = shared.media.begin_erase(self.die, block);
        shared.note(erased);
    }

    fn end(&mut self, block: u32) {
        let mut shared = locked(&self.shared);
        let die = shared.media.die_mut(self.die);
        let is_erased = die.block(block).is_erasing;
        let ended = if is_erased { die.end_erase(block) } else { die.end_program(block) };
        shared.note(ended);
    }

    fn break_off(&mut self, block: u32) {
        locked(&self.shared).media.die_mut(self.die).break_off(block);
    }

    fn corrupt(&mut self, place: Place, draw: &mut Draw) {
        let mut shared = locked(&self.shared);
        let corrupted = shared.media.die_mut(self.die).corrupt_page(media_place(place), draw);
        shared.note(corrupted);
    }

    fn tear(&mut self, place: Place, contents: Contents<'_>, draw: &mut Draw) {
        if locked(&self.shared).media.die(self.die).block(place.block).condition == Condition::Bad {
            return;
        }
        let buffer = self.buffer.get_mut();
        contents.copy_to(buffer.data_mut());
        put_marks(buffer.spare_mut(), contents.marks);
        let mut shared = locked(&self.shared);
        let torn = shared.media.die_mut(self.die).tear_page(media_place(place), buffer, draw);
        shared.note(torn);
    }

    fn tear_erase(&mut self, block: u32, draw: &mut Draw) {
        let mut shared = locked(&self.shared);
        let torn = shared.media.die_mut(self.die).tear_erase(block, draw);
        shared.note(torn);
    }

    fn set_erases(&mut self, block: u32, erases: u32) {
        let mut shared = locked(&self.shared);
        let set = shared.media.die_mut(self.die).set_erases(block, erases);
        shared.note(set);
    }

    fn keep_life(&mut self, block: u32, life: &KeptLife) {
        let mut shared = locked(&self.shared);
        shared.host.spend(life.bytes().len() as u64);
        let kept = shared.media.keep_wear(self.die, block, life.bytes());
        shared.note(kept);
    }

    fn keep_failure(&mut self, failure: &DieFault) {
        let mut shared = locked(&self.shared);
        let die = shared.media.die_mut(self.die);
        let in_plane = die.shape().blocks / die.shape().planes;
        let kept = match *failure {
            DieFault::Die { silent } => die.fail(silent),
            DieFault::Plane(plane) => die.fail_plane(plane.0.into()),
            DieFault::Blocks { plane, first, last } => {
                let before = u32::from(plane.0) * in_plane;
                (first.0..=last.0).try_for_each(|block| die.fail_block(before + block))
            }
            DieFault::Read { .. } | DieFault::Program { .. } => Ok(()),
        };
        shared.note(kept);
    }

    fn fail(&mut self, block: u32) {
        let mut shared = locked(&self.shared);
        let marked = shared.media.die_mut(self.die).mark_bad(block);
        shared.note(marked);
    }
}

impl<B: Backing + Debug + Send + 'static> Persistent for MediaPayload<B> {
    fn kept_block(&self, block: u32) -> KeptBlock {
        let mut shared = locked(&self.shared);
        let die = shared.media.die(self.die);
        let (known, wear) = (die.block(block), die.wear(block));
        let life = shared.note(wear.and_then(|wear| life(wear, self.die, block))).unwrap_or_default();
        KeptBlock {
            erases: known.erases,
            next_page: known.cursor,
            is_locked: known.flags & BLOCK_LOCKED != 0,
            is_torn: known.condition == Condition::Torn,
            is_bad: known.condition == Condition::Bad,
            life,
        }
    }

    fn kept_failures(&self) -> Vec<DieFault> {
        let shared = locked(&self.shared);
        let die = shared.media.die(self.die);
        let (state, &Shape { planes, blocks, .. }) = (die.state(), die.shape());
        let of_die = state.failed.map(|silent| DieFault::Die { silent });
        let of_planes = (0..planes as u8).filter(|plane| state.planes >> plane & 1 == 1).map(|plane| DieFault::Plane(PlaneId(plane)));
        let mut failures: Vec<DieFault> = of_die.into_iter().chain(of_planes).collect();
        let in_plane = blocks / planes;
        for number in (0..blocks).filter(|&block| die.block(block).has_failed) {
            let (of, block) = (PlaneId((number / in_plane) as u8), BlockId(number % in_plane));
            // Blocks that follow each other are one fault, as they were injected.
            match failures.last_mut() {
                Some(DieFault::Blocks { plane, last, .. }) if *plane == of && last.0 + 1 == block.0 => *last = block,
                _ => failures.push(DieFault::Blocks { plane: of, first: block, last: block }),
            }
        }
        failures
    }
}

/// Saved state of the cells of a block of a die, from its string.
fn life(wear: Vec<u8>, die: u32, block: u32) -> Result<KeptLife, MediaError> {
    if wear.is_empty() {
        return Ok(KeptLife::default());
    }
    let begins = wear[0];
    KeptLife::from_bytes(wear).ok_or_else(|| MediaError::Unexpected {
        file: format!("die-{die:03}.media"),
        offset: 0,
        expected: format!("what is kept of the cells of block {block}, in a form of this program"),
        found: format!("one that begins with {begins}"),
    })
}

/// Identity of the media of the drive of `config`, and the shape of its dump. `name` is the drive's, and `number` distinguishes its plan from others.
///
/// # Errors
/// If a number is larger than media files allow, or the spare area of a page has no room for the marks of its mapping units.
pub(crate) fn identity_of(config: &Config, (name, number): (&str, u128)) -> Result<(Identity, Option<DumpShape>), MediaError> {
    let geometry = &config.sheet.geometry;
    let shape = Shape::of(geometry)?;
    let units = geometry.page.0 / config.firmware.unit.0;
    if u64::from(shape.spare_bytes) < units * MARK_BYTES as u64 {
        let value = u64::from(shape.spare_bytes);
        return Err(MediaError::Shape { what: "spare bytes in a page", value, expected: "20 for each mapping unit of a page" });
    }
    let slots = config.cores * config.firmware.buffer.units;
    let (facts, fact_bytes) = config.facts();
    let dump = DumpShape { drive: number, slots, slot_bytes: config.firmware.unit.0 as u32, facts, fact_bytes };
    let identity = Identity { drive: number, die: 0, dies: geometry.dies(), chip: name.to_owned(), shape };
    Ok((identity, config.has_capacitors().then_some(dump)))
}

/// A drive's media, opened or made.
#[derive(Debug)]
pub struct Opened {
    /// The dies.
    pub media: Media<Disk>,
    /// Content of its capacitors, if it has them.
    pub dump: Option<Dump<Disk>>,
    /// True if the media existed.
    pub is_found: bool,
}

/// Makes files for the dies `missing` of the drive of `config` in `folder`, whose own are gone: each is a die that has failed. Call it before
/// [`open_or_make`].
///
/// # Errors
/// As [`Media::replace_missing`].
pub fn replace_missing(
    folder: &Path,
    config: &Config,
    named: (&str, u128),
    missing: &[u32],
    durability: Durability,
) -> Result<(), MediaError> {
    let (identity, _) = identity_of(config, named)?;
    Media::replace_missing(folder, &identity, missing, durability)
}

/// Opens the media of the drive of `config` in `folder`, or makes them there. `name` is the drive's, and `number` distinguishes its plan from others.
///
/// # Errors
/// If the folder holds another drive, another process has it, its files are damaged, the spare area of a page has no room for the marks of its mapping
/// units, it has capacitors and is to survive the host, or the host fails.
pub fn open_or_make(folder: &Path, config: &Config, (name, number): (&str, u128), durability: Durability) -> Result<Opened, MediaError> {
    let (identity, dump) = identity_of(config, (name, number))?;
    let any_order = config.sheet.capabilities.any_order;
    if let Some(DumpShape { slots, .. }) = dump
        && durability == Durability::Host
    {
        let (what, expected) =
            ("a write buffer of so many slots with capacitors", "none, where the host may die: its capacitors are files of the host");
        return Err(MediaError::Shape { what, value: slots.into(), expected });
    }
    if (0..identity.dies).any(|die| folder.join(format!("die-{die:03}.media")).exists()) {
        let media = Media::open(folder, Some(&identity), durability)?.with_order(any_order);
        let dump = dump.map(|shape| media.open_dump(shape)).transpose()?;
        Ok(Opened { media, dump, is_found: true })
    } else {
        let media = Media::create(folder, &identity, durability)?.with_order(any_order);
        let dump = dump.map(|shape| media.create_dump(shape)).transpose()?;
        Ok(Opened { media, dump, is_found: false })
    }
}

/// Media of a drive to be looked at, and the content of its capacitors.
pub type LookedAt = (Media<Overlay<Disk>>, Option<Dump<Overlay<Disk>>>);

/// Opens the media of the drive of `config` in `folder` to be looked at and worked on: all writes stay in memory, and nothing in the folder changes.
/// `name` and `number` as for [`open_or_make`]. Each of the dies `missing`, whose files are gone, is replaced by one that has failed.
///
/// # Errors
/// If the folder holds no drive or another one, another process writes in it, its files are damaged, a die is not missing, or the host fails.
pub fn look_at(folder: &Path, config: &Config, (name, number): (&str, u128), missing: &[u32]) -> Result<LookedAt, MediaError> {
    let (identity, dump) = identity_of(config, (name, number))?;
    let looked = match missing {
        [] => Media::look_at(folder, Some(&identity)),
        _ => Media::look_at_without(folder, &identity, missing),
    };
    let media = looked?.with_order(config.sheet.capabilities.any_order);
    let dump = dump.map(|shape| media.look_at_dump(shape)).transpose()?;
    Ok((media, dump))
}
