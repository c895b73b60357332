//! Files, and what is done to them, as block requests.

use std::collections::VecDeque;

use wordline_units::host::SECTOR_BYTES;
use wordline_units::{Attributes, Bytes, HostOp, HostRequest, Priority, Tolerance};

use super::cache::{Owner, PageCache};
use super::space::{Extent, Space};
use super::tag::FileTag;
use super::tolerances::Tolerances;

/// A request, and whose data it writes or trims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tagged {
    /// What the drive is asked.
    pub request: HostRequest,
    /// The file; nothing for a flush and a hint.
    pub tag: Option<FileTag>,
}

/// A file that lives.
#[derive(Clone, Debug)]
pub struct File {
    /// Its number.
    pub id: u32,
    /// The set it belongs to.
    pub set: usize,
    /// Whether its data must be gone once it is deleted or overwritten: not opened with `O_INSEC` (002 §6).
    pub is_secure: bool,
    /// Where it lies, in the file's own order.
    pub extents: Vec<Extent>,
    /// How many blocks it has.
    pub blocks: u64,
    /// Writes so far.
    version: u32,
    /// Where a log goes on.
    cursor: u64,
    /// Its place in the list of its set.
    place: u32,
}

/// Extents on their way from a deleted file to free space.
#[derive(Clone, Debug)]
struct Dying {
    due: u64,
    tag: FileTag,
    extents: Vec<Extent>,
    is_trimmed: bool,
}

/// A set's files and where the next one is looked for.
#[derive(Clone, Debug, Default)]
struct Set {
    slots: Vec<u32>,
    goal: u64,
    /// Bytes of secure files, and of all, in blocks as they were created.
    secure: f64,
    all: f64,
}

/// The file system.
#[derive(Clone, Debug)]
pub struct System {
    block: u64,
    space: Space,
    files: Vec<File>,
    unused: Vec<u32>,
    sets: Vec<Set>,
    next_id: u32,
    secure: f64,
    /// How many writes follow a request before it is taken for done.
    distance: u64,
    dying: VecDeque<Dying>,
    cooling: u64,
    /// Blocks of living files.
    live: u64,
    requests: VecDeque<Tagged>,
    /// Pages of the drive in the host's memory, if it keeps any.
    cache: Option<PageCache>,
    /// Tolerances of the sets and of the blocks, if a set has one.
    tolerances: Option<Tolerances>,
    /// Most blocks of a trim.
    trim: u64,
    /// Class of the requests of whoever has the present turn.
    priority: Priority,
    /// Reads and writes that were put out.
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    /// Blocks written.
    pub(crate) written: u64,
    /// Blocks read.
    pub(crate) read: u64,
}

/// Which file something is done to.
pub type Slot = u32;

impl System {
    /// An empty file system of `capacity` in blocks of `block`, for `sets` sets of files of which a `secure` share is secure, by written bytes. A request is
    /// taken for done after `distance` writes.
    pub fn new(capacity: Bytes, block: Bytes, sets: usize, secure: f64, distance: u64) -> System {
        System {
            block: block.0,
            space: Space::new(capacity.0 / block.0),
            files: Vec::new(),
            unused: Vec::new(),
            sets: vec![Set::default(); sets],
            next_id: 0,
            secure,
            distance,
            dying: VecDeque::new(),
            cooling: 0,
            live: 0,
            requests: VecDeque::new(),
            cache: None,
            tolerances: None,
            trim: u64::MAX,
            priority: Priority::Normal,
            reads: 0,
            writes: 0,
            written: 0,
            read: 0,
        }
    }

    /// The file system with a page cache of `blocks` blocks before the drive, of which `dirty` may wait to be written. It holds what is placed last.
    pub(super) fn cached(mut self, blocks: u64, dirty: u64) -> System {
        self.cache = Some(PageCache::new(self.capacity(), blocks, dirty));
        self
    }

    /// The file system with trims of at most `blocks` blocks.
    pub(super) fn trimming(mut self, blocks: u64) -> System {
        self.trim = blocks;
        self
    }

    /// Declares `tolerances`, by set, with hints for the blocks that the files of each set have now: one for each run of blocks. Later writes to those files
    /// carry the class of their set.
    pub(super) fn declare(&mut self, tolerances: Vec<Option<Tolerance>>) {
        let capacity = self.capacity();
        let declared = self.tolerances.insert(Tolerances::new(tolerances, capacity));
        for set in 0..self.sets.len() {
            let files = self.sets[set].slots.iter().map(|&slot| &self.files[slot as usize]);
            let extents = files.flat_map(|file| file.extents.iter().copied()).collect();
            for (run, tolerance) in declared.declare(set, extents) {
                self.requests.extend(hints(run, tolerance, self.block / SECTOR_BYTES));
            }
        }
    }

    /// All blocks, in use or not.
    pub fn capacity(&self) -> u64 {
        self.space.free() + self.cooling + self.live
    }

    /// Blocks of files that live.
    pub fn live(&self) -> u64 {
        self.live
    }

    /// The size of a block in bytes.
    pub fn block_bytes(&self) -> u64 {
        self.block
    }

    /// Free extents, those that wait for their trim not among them.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// The files of a set.
    pub fn slots(&self, set: usize) -> &[Slot] {
        &self.sets[set].slots
    }

    /// A file.
    pub fn file(&self, slot: Slot) -> &File {
        &self.files[slot as usize]
    }

    /// Whether `slot` of `set` is still the file with number `id`.
    pub fn holds(&self, set: usize, slot: Slot, id: u32) -> bool {
        let file = &self.files[slot as usize];
        file.id == id && self.sets[set].slots.get(file.place as usize) == Some(&slot)
    }

    /// All files that live.
    pub fn files(&self) -> impl Iterator<Item = &File> {
        self.sets.iter().flat_map(|set| set.slots.iter().map(|&slot| self.file(slot)))
    }

    /// The next request.
    pub fn request(&mut self) -> Option<Tagged> {
        self.requests.pop_front()
    }

    /// Whether `blocks` more blocks can be given to files.
    pub fn has_room(&self, blocks: u64) -> bool {
        blocks <= self.space.free() + self.cooling
    }

    /// A new, empty file in `set` that is expected to become `expected` blocks long.
    pub fn create(&mut self, set: usize, expected: u64) -> Slot {
        let account = &mut self.sets[set];
        let expected = expected as f64;
        account.all += expected;
        // Whatever brings the share nearer to what was asked.
        let is_secure = account.secure + expected / 2.0 < self.secure * account.all;
        account.secure += if is_secure { expected } else { 0.0 };
        let place = account.slots.len() as u32;
        let file = File { id: self.next_id, set, is_secure, extents: Vec::new(), blocks: 0, version: 0, cursor: 0, place };
        self.next_id += 1;
        let slot = match self.unused.pop() {
            Some(slot) => {
                self.files[slot as usize] = file;
                slot
            }
            None => {
                self.files.push(file);
                (self.files.len() - 1) as u32
            }
        };
        self.sets[set].slots.push(slot);
        slot
    }

    /// Give the next blocks of the drive to a file without writing them: what was there before the run begins.
    pub fn place(&mut self, slot: Slot, blocks: u64) {
        let start = self.live;
        let extents = self.space.take(start, blocks).expect("what is placed before the run fits");
        let file = &mut self.files[slot as usize];
        self.sets[file.set].goal = start + blocks;
        if let Some(cache) = &mut self.cache {
            extents.iter().flat_map(|extent| extent.start..extent.end()).for_each(|block| cache.keep(block));
            while cache.write_back(false).is_some() {}
        }
        for extent in extents {
            match file.extents.last_mut() {
                Some(last) if last.end() == extent.start => last.len += extent.len,
                Some(_) | None => file.extents.push(extent),
            }
        }
        file.blocks += blocks;
        file.version = 1;
        self.live += blocks;
    }

    /// Write `blocks` blocks behind the end of a file, if there is room.
    pub fn append(&mut self, slot: Slot, blocks: u64, is_durable: bool) -> bool {
        if !self.has_room(blocks) {
            return false;
        }
        self.make_room(blocks);
        let file = &self.files[slot as usize];
        let goal = file.extents.last().map_or(self.sets[file.set].goal, Extent::end);
        let mut taken = Vec::with_capacity(1);
        let mut left = blocks;
        // What lies behind the file's end keeps it in one piece.
        if let Some(next) = (!file.extents.is_empty()).then(|| self.space.extend(goal, blocks)).flatten() {
            left -= next.len;
            taken.push(next);
        }
        if left > 0 {
            taken.extend(self.space.take(goal, left).expect("room was made"));
        }
        let end = taken.last().expect("something was taken").end();
        let (is_new, set) = (file.extents.is_empty(), file.set);
        if is_new {
            self.sets[set].goal = end;
        }
        self.live += blocks;
        let file = &mut self.files[slot as usize];
        file.blocks += blocks;
        for &extent in &taken {
            match file.extents.last_mut() {
                Some(last) if last.end() == extent.start => last.len += extent.len,
                _ => file.extents.push(extent),
            }
        }
        self.write(slot, &taken, false, is_durable);
        true
    }

    /// Write `blocks` blocks of a file from its block `from` on once more, in place.
    pub fn overwrite(&mut self, slot: Slot, from: u64, blocks: u64, is_durable: bool) {
        let pieces = self.pieces(slot, from, blocks);
        self.write(slot, &pieces, true, is_durable);
    }

    /// Overwrite the next `blocks` blocks of a file that is written round and round.
    pub fn log(&mut self, slot: Slot, blocks: u64, is_durable: bool) {
        let file = &mut self.files[slot as usize];
        let (from, len) = (file.cursor, file.blocks);
        let blocks = blocks.min(len);
        file.cursor = (from + blocks) % len.max(1);
        let first = blocks.min(len - from);
        let mut pieces = self.pieces(slot, from, first);
        pieces.extend(self.pieces(slot, 0, blocks - first));
        self.write(slot, &pieces, true, is_durable);
    }

    /// Read `blocks` blocks of a file from its block `from` on, in requests of at most `most` blocks.
    pub fn read(&mut self, slot: Slot, from: u64, blocks: u64, most: u64) {
        let mut pieces = self.pieces(slot, from, blocks);
        if self.cache.is_some() {
            pieces = pieces.into_iter().flat_map(|piece| self.missing(piece)).collect();
        }
        for piece in pieces {
            let mut at = piece.start;
            while at < piece.end() {
                let len = most.min(piece.end() - at);
                let request = self.of(HostOp::Read, Extent { start: at, len });
                self.requests.push_back(Tagged { request, tag: None });
                self.reads += 1;
                self.read += len;
                at += len;
            }
        }
    }

    /// Gives the requests from now on this class, those that write back what others have left in the host's memory among them.
    pub(crate) fn ask_with(&mut self, priority: Priority) {
        self.priority = priority;
    }

    /// Make everything durable that was written.
    pub fn sync(&mut self) {
        self.write_back(true);
        let request = HostRequest { attributes: Attributes::of(self.priority), ..HostRequest::new(HostOp::Flush, 0, 0) };
        self.requests.push_back(Tagged { request, tag: None });
    }

    /// Delete a file: its blocks are trimmed, and free after that.
    pub fn delete(&mut self, slot: Slot) {
        let file = &mut self.files[slot as usize];
        let (extents, set, place) = (std::mem::take(&mut file.extents), file.set, file.place);
        let tag = FileTag { file: file.id, version: file.version, replaces: true };
        self.live -= file.blocks;
        self.cooling += file.blocks;
        let slots = &mut self.sets[set].slots;
        slots.swap_remove(place as usize);
        if let Some(&moved) = slots.get(place as usize) {
            self.files[moved as usize].place = place;
        }
        self.unused.push(slot);
        if let Some(cache) = &mut self.cache {
            extents.iter().flat_map(|extent| extent.start..extent.end()).for_each(|block| cache.forget(block));
        }
        if !extents.is_empty() {
            self.dying.push_back(Dying { due: self.writes + self.distance, tag, extents, is_trimmed: false });
        }
    }

    /// Where `blocks` blocks of a file from its block `from` on lie.
    fn pieces(&self, slot: Slot, from: u64, blocks: u64) -> Vec<Extent> {
        let (mut skip, mut left) = (from, blocks);
        let mut pieces = Vec::with_capacity(1);
        for extent in &self.files[slot as usize].extents {
            if left == 0 {
                break;
            }
            if skip >= extent.len {
                skip -= extent.len;
                continue;
            }
            let len = left.min(extent.len - skip);
            pieces.push(Extent { start: extent.start + skip, len });
            (skip, left) = (0, left - len);
        }
        debug_assert_eq!(left, 0, "a file has no more blocks than it has");
        pieces
    }

    fn write(&mut self, slot: Slot, pieces: &[Extent], replaces: bool, is_durable: bool) {
        let file = &mut self.files[slot as usize];
        let tag = FileTag { file: file.id, version: file.version, replaces };
        let is_secure = file.is_secure;
        file.version += 1;
        let tolerance = self.tolerances.as_ref().map_or(Tolerance::Default, |tolerances| tolerances.of(file.set));
        let owner = Owner { tag, is_secure, tolerance };
        if let Some(cache) = &mut self.cache {
            let blocks = pieces.iter().flat_map(|piece| piece.start..piece.end());
            if !is_durable {
                blocks.for_each(|block| cache.write(block, owner));
                return self.write_back(false);
            }
            blocks.for_each(|block| cache.keep(block));
        }
        pieces.iter().for_each(|&piece| self.write_out(piece, owner, is_durable));
        self.write_back(false);
        self.advance();
    }

    fn write_out(&mut self, piece: Extent, owner: Owner, is_durable: bool) {
        if self.tolerances.as_mut().is_some_and(|tolerances| tolerances.write(piece, owner.tolerance)) {
            self.requests.extend(hints(piece, Tolerance::Default, self.block / SECTOR_BYTES));
        }
        let attributes = Attributes::of(self.priority).with_secure(owner.is_secure).with_tolerance(owner.tolerance);
        let request = HostRequest { fua: is_durable, attributes, ..self.of(HostOp::Write, piece) };
        self.requests.push_back(Tagged { request, tag: Some(owner.tag) });
        self.writes += 1;
        self.written += piece.len;
    }

    /// Write to the drive what the page cache does not keep any longer, or everything dirty in it.
    pub(super) fn write_back(&mut self, all: bool) {
        while let Some((start, len, owner)) = self.cache.as_mut().and_then(|cache| cache.write_back(all)) {
            self.write_out(Extent { start, len }, owner, false);
            self.advance();
        }
    }

    /// The runs of blocks of `piece` that the page cache does not hold. It holds all of them now.
    fn missing(&mut self, piece: Extent) -> Vec<Extent> {
        let Some(cache) = &mut self.cache else { return vec![piece] };
        let mut runs: Vec<Extent> = Vec::new();
        for block in piece.start..piece.end() {
            if cache.hit(block) {
                continue;
            }
            cache.keep(block);
            match runs.last_mut() {
                Some(run) if run.end() == block => run.len += 1,
                _ => runs.push(Extent { start: block, len: 1 }),
            }
        }
        self.write_back(false);
        runs
    }

    /// Trim what can be trimmed by now, and free what was.
    fn advance(&mut self) {
        while self.dying.front().is_some_and(|dying| dying.due <= self.writes) {
            self.age_oldest();
        }
    }

    /// The oldest extents on their way go one step further, due or not.
    fn age_oldest(&mut self) {
        let Some(dying) = self.dying.pop_front() else { return };
        if dying.is_trimmed {
            for &extent in &dying.extents {
                self.cooling -= extent.len;
                self.space.give(extent);
            }
            return;
        }
        for &extent in &dying.extents {
            let mut start = extent.start;
            while start < extent.end() {
                let len = self.trim.min(extent.end() - start);
                let request = self.of(HostOp::Trim, Extent { start, len });
                self.requests.push_back(Tagged { request, tag: Some(dying.tag) });
                start += len;
            }
        }
        self.dying.push_back(Dying { due: self.writes + self.distance, is_trimmed: true, ..dying });
    }

    /// See to it that `blocks` blocks are free, if need be by not waiting for trims. There is room.
    fn make_room(&mut self, blocks: u64) {
        while self.space.free() < blocks {
            self.age_oldest();
        }
    }

    fn of(&self, op: HostOp, extent: Extent) -> HostRequest {
        let sectors = self.block / SECTOR_BYTES;
        let request = HostRequest::new(op, extent.start * sectors, (extent.len * sectors) as u32);
        HostRequest { attributes: Attributes::of(self.priority), ..request }
    }
}

/// Hints of `tolerance` for the blocks of `run`, which have `sectors` sectors each: one, or as many as it takes where a request has too few sectors.
fn hints(run: Extent, tolerance: Tolerance, sectors: u64) -> impl Iterator<Item = Tagged> {
    let most = u64::from(u32::MAX) / sectors;
    (run.start..run.end()).step_by(most as usize).map(move |start| {
        let blocks = most.min(run.end() - start);
        Tagged { request: HostRequest::hint(start * sectors, (blocks * sectors) as u32, tolerance), tag: None }
    })
}
