//! Threads at work on a file system: an endless choice of operations, as requests, until enough is written.

use wordline_units::random::{Draw, Stream};
use wordline_units::{Bytes, HostRequest};

use super::spec::{CacheSpec, Deed, FileSpec, Layout, Op, Sizes, ThreadSpec};
use super::system::{Slot, System, Tagged};
use crate::spec::SpecError;

/// A request is taken for done when so many times the queue's depth of writes have followed it.
const DEPTHS: u64 = 2;
/// The dice of a workload of files lie behind those of any phase.
const ENTITY: u32 = 1 << 24;
/// Turns without a request after which nothing more can come: every thread would have had many.
const IDLE_TURNS: u32 = 1_000_000;

/// What a user changes about a workload of files.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FileOptions {
    /// How full the drive is at the beginning, and stays.
    pub prefill: Option<f64>,
    /// The share of written data that belongs to secure files.
    pub secure: Option<f64>,
    /// Bytes written, in capacities; bytes read, where no thread writes.
    pub length: Option<f64>,
    /// Requests outstanding.
    pub queue_depth: Option<u32>,
    /// Most bytes of a TRIM.
    pub trim: Option<Bytes>,
}

/// One thread: where it is in its operations, and which file it had last.
#[derive(Clone, Copy, Debug)]
struct Thread {
    kind: usize,
    next: usize,
    repeated: u32,
    last: Option<(Slot, u32)>,
}

/// The requests of a workload of files on a drive of some capacity. The same seed, workload, options and capacity give the same requests on every machine.
#[derive(Clone, Debug)]
pub struct FileLoad {
    spec: FileSpec,
    system: System,
    threads: Vec<Thread>,
    /// Threads that read and do nothing else, and the others.
    readers: Vec<u32>,
    writers: Vec<u32>,
    turns: Draw,
    sizes: Draw,
    places: Draw,
    prefilled: u64,
    level: u64,
    /// Blocks to write before what is measured begins.
    warm_up: u64,
    /// Blocks written when the load ends, or read where it writes none.
    goal: u64,
    /// True if a thread writes.
    writes: bool,
}

impl FileLoad {
    /// The requests of the workload `of` on a drive of `capacity`, and the files that are there before.
    pub fn new(of: &FileSpec, seed: u64, capacity: Bytes, options: FileOptions) -> Result<FileLoad, SpecError> {
        let fault = |message: String| Err(SpecError::whole(&of.name, message));
        let mut spec = of.clone();
        if let Some(prefill) = options.prefill {
            spec.level = if of.level == of.prefill { prefill } else { of.level.max(prefill) };
            spec.prefill = prefill;
        }
        spec.secure = options.secure.unwrap_or(spec.secure);
        spec.length = options.length.unwrap_or(spec.length);
        spec.queue_depth = options.queue_depth.unwrap_or(spec.queue_depth);
        let block = spec.align.0;
        let blocks = capacity.0 / block;
        let distance = DEPTHS * u64::from(spec.queue_depth);
        let mut system = System::new(capacity, spec.align, spec.sets.len(), spec.secure, distance);
        if let Some(trim) = options.trim.or(spec.trim) {
            if trim.0 == 0 || !trim.0.is_multiple_of(block) {
                return fault(format!("TRIMs of {trim}: expected a multiple of the alignment of {}, above zero", spec.align));
            }
            system = system.trimming(trim.0 / block);
        }
        if let Some(CacheSpec { size, dirty }) = spec.cache {
            if blocks >= u64::from(u32::MAX) {
                return fault(format!(
                    "a page cache before a drive of {blocks} blocks of {}: it knows {} at most",
                    spec.align,
                    u32::MAX - 1
                ));
            }
            let cached = size.on(capacity).0 / block;
            system = system.cached(cached, (cached as f64 * dirty) as u64);
        }
        let mut load = FileLoad {
            system,
            threads: Vec::new(),
            readers: Vec::new(),
            writers: Vec::new(),
            turns: Draw::new(seed, Stream::Mix, ENTITY),
            sizes: Draw::new(seed, Stream::Mix, ENTITY + 1),
            places: Draw::new(seed, Stream::Address, ENTITY),
            prefilled: (blocks as f64 * spec.prefill) as u64,
            level: (blocks as f64 * spec.level) as u64,
            warm_up: (blocks as f64 * spec.warm_up) as u64,
            goal: (blocks as f64 * (spec.warm_up + spec.length)) as u64,
            writes: spec.writes(),
            spec,
        };
        load.holds_what_is_made(capacity).map_err(|message| SpecError::whole(&of.name, message))?;
        load.prefill();
        load.has_its_files(capacity).map_err(|message| SpecError::whole(&of.name, message))?;
        load.start_threads();
        Ok(load)
    }

    /// Checks that files that are created fit this drive.
    fn holds_what_is_made(&self, capacity: Bytes) -> Result<(), String> {
        // Where nothing creates files, those of the beginning are cut to their set.
        for (_, set) in self.spec.sets.iter().enumerate().filter(|&(number, _)| self.spec.creates(number)) {
            let most = set.size.bounds().1.map_or(set.size.mean(), |most| most.0 as f64);
            if most > self.level as f64 * self.block() as f64 {
                let (size, level) = (Bytes(most as u64), Bytes(self.level * self.block()));
                return Err(format!(
                    "a file of {size} in set '{}' does not fit the {level} that files may hold on this drive of {capacity}",
                    set.name
                ));
            }
        }
        Ok(())
    }

    /// Checks that there are files for all that is done to files.
    fn has_its_files(&self, capacity: Bytes) -> Result<(), String> {
        let missing = self.spec.threads.iter().flat_map(|thread| &thread.ops).find(|op| {
            let needs_one = matches!(op.deed, Deed::Append | Deed::Overwrite | Deed::Log | Deed::Read) && !op.same;
            needs_one && self.system.slots(op.set).is_empty() && !self.spec.creates(op.set)
        });
        if let Some(op) = missing {
            return Err(format!("set '{}' has no file on this drive of {capacity}, and nothing creates one", self.spec.sets[op.set].name));
        }
        Ok(())
    }

    /// Declares the tolerances of the sets, if one has any.
    fn declare(&mut self) {
        let tolerances: Vec<_> = self.spec.sets.iter().map(|set| set.tolerance).collect();
        if tolerances.iter().any(Option::is_some) {
            self.system.declare(tolerances);
        }
    }

    /// Begins the threads of each kind, none of which has done anything.
    fn start_threads(&mut self) {
        for (kind, thread) in self.spec.threads.iter().enumerate() {
            let reads = thread.ops.iter().all(|op| op.deed == Deed::Read);
            for _ in 0..thread.count {
                let number = self.threads.len() as u32;
                if reads {
                    self.readers.push(number)
                } else {
                    self.writers.push(number)
                }
                self.threads.push(Thread { kind, next: 0, repeated: 0, last: None });
            }
        }
    }

    /// The name of the workload.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// Requests outstanding.
    pub fn queue_depth(&self) -> u32 {
        self.spec.queue_depth
    }

    /// How much of the drive holds files before the first request, from its beginning on, without a gap.
    pub fn prefilled(&self) -> Bytes {
        Bytes(self.prefilled * self.spec.align.0)
    }

    /// True if enough is written for the measurement to begin.
    pub fn is_warm(&self) -> bool {
        self.system.written >= self.warm_up
    }

    /// The file system as it is now.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// About how many requests there will be.
    pub fn expected(&self) -> Option<u64> {
        let (reads, writes) = self.spec.mix?;
        let ops = self.spec.threads.iter().flat_map(|thread| &thread.ops).filter(|op| op.writes());
        let (sum, count) = ops.fold((0.0, 0.0), |(sum, count), op| (sum + self.size_of(op).mean(), count + 1.0));
        let written = self.goal as f64 * self.spec.align.0 as f64;
        Some((written / (sum / count) * (1.0 + reads / writes)) as u64)
    }

    /// Number of blocks written, or read where no thread writes.
    fn done(&self) -> u64 {
        if self.writes { self.system.written } else { self.system.read }
    }

    /// The next request, with whose data it is.
    pub fn next_tagged(&mut self) -> Option<Tagged> {
        let mut idle = 0;
        loop {
            if let Some(tagged) = self.system.request() {
                return Some(tagged);
            }
            if self.done() >= self.goal {
                return None;
            }
            self.turn();
            idle += 1;
            if idle == IDLE_TURNS / 2 {
                // Everything is read and written in the host's memory: it has time to write what waits there.
                self.system.write_back(true);
            }
            assert!(idle < IDLE_TURNS, "workload {}: no thread has anything left to do", self.spec.name);
        }
    }

    /// Lay the files out that are there from the beginning, in the order of the layout, and declare their tolerances.
    fn prefill(&mut self) {
        let (mut share, mut before) = (0.0, 0);
        let mut left: Vec<u64> = Vec::new();
        for set in &self.spec.sets {
            share += set.share;
            // A set that has a share has a file, however small the drive.
            let end = ((self.prefilled as f64 * share) as u64).max(before + u64::from(set.share > 0.0)).min(self.prefilled);
            left.push(end - before);
            before = end;
        }
        *left.last_mut().expect("there is a set") += self.prefilled - before;
        let whole = left.clone();
        let remaining = |left: &[u64], set: usize| left[set] as f64 / whole[set].max(1) as f64;
        // The file of each set that is being written, and its blocks that are not.
        let mut open: Vec<Option<(Slot, u64)>> = vec![None; left.len()];
        loop {
            let sets = 0..left.len();
            let next = match self.spec.layout {
                Layout::Sets => sets.into_iter().find(|&set| left[set] > 0),
                Layout::Mixed | Layout::Interleaved => {
                    sets.into_iter().filter(|&set| left[set] > 0).max_by(|&a, &b| remaining(&left, a).total_cmp(&remaining(&left, b)))
                }
            };
            let Some(set) = next else { break };
            let (slot, unwritten) = open[set].take().unwrap_or_else(|| self.first_of(set, left[set]));
            let blocks = match self.spec.layout {
                Layout::Sets | Layout::Mixed => unwritten,
                Layout::Interleaved => self.spec.sets[set].write.draw(self.spec.align.0, &mut self.sizes).min(unwritten),
            };
            self.system.place(slot, blocks);
            open[set] = (unwritten > blocks).then_some((slot, unwritten - blocks));
            left[set] -= blocks;
        }
        self.declare();
    }

    /// Creates a file of the beginning in `set`, of whose blocks `left` are not placed. Returns it, with its blocks.
    fn first_of(&mut self, set: usize, left: u64) -> (Slot, u64) {
        let size = self.spec.sets[set].size;
        let mut blocks = size.draw(self.spec.align.0, &mut self.sizes).min(left);
        // The last file takes what is left: a remnant would be written as often as any other file of its set.
        if ((left - blocks) * self.spec.align.0) as f64 * 2.0 < size.mean() {
            blocks = left;
        }
        (self.system.create(set, blocks), blocks)
    }

    /// One operation of one thread.
    fn turn(&mut self) {
        let number = match self.spec.mix {
            Some((reads, writes)) => {
                let is_behind = self.system.reads as f64 * writes < self.system.writes as f64 * reads;
                let kind = if is_behind { &self.readers } else { &self.writers };
                kind[self.turns.below(kind.len() as u64) as usize]
            }
            None => self.turns.below(self.threads.len() as u64) as u32,
        };
        let thread = &mut self.threads[number as usize];
        let ThreadSpec { ops, priority, .. } = &self.spec.threads[thread.kind];
        self.system.ask_with(*priority);
        let op = ops[thread.next];
        let last = thread.last;
        thread.repeated += 1;
        if thread.repeated >= op.times {
            thread.repeated = 0;
            thread.next = (thread.next + 1) % ops.len();
        }
        let used = self.perform(op, last);
        self.threads[number as usize].last = used.map(|slot| (slot, self.system.file(slot).id));
    }

    /// Do `op`; returns the file it was done to, if that is still there.
    fn perform(&mut self, op: Op, last: Option<(Slot, u32)>) -> Option<Slot> {
        match op.deed {
            Deed::Sync => {
                self.system.sync();
                last.filter(|&(slot, id)| self.is_there(op.set, slot, id)).map(|(slot, _)| slot)
            }
            Deed::Create => self.create(op),
            Deed::Replace => {
                let old = self.pick(op, last);
                let new = self.create(op);
                // Room may have been made at the cost of the old one.
                let gone = old.filter(|&(slot, id)| self.is_there(op.set, slot, id) && Some(slot) != new);
                if let Some((slot, _)) = gone {
                    self.system.delete(slot);
                }
                new
            }
            Deed::Delete => {
                let (slot, _) = self.pick(op, last)?;
                self.system.delete(slot);
                None
            }
            Deed::Append => {
                let (mut slot, _) = self.pick(op, last)?;
                let blocks = self.size_of(&op).draw(self.block(), &mut self.sizes);
                if !self.keep_level(op.set, blocks, Some(slot)) {
                    // Nothing else can go: the file begins anew, as a log that is rotated.
                    self.system.delete(slot);
                    slot = self.system.create(op.set, blocks);
                }
                self.system.append(slot, blocks, op.durable).then_some(slot)
            }
            Deed::Overwrite | Deed::Log | Deed::Read => {
                let (slot, _) = self.pick(op, last)?;
                let held = self.system.file(slot).blocks;
                if held == 0 {
                    return Some(slot);
                }
                let whole = op.deed == Deed::Read && op.size.is_none();
                let blocks = if whole { held } else { self.size_of(&op).draw(self.block(), &mut self.sizes).min(held) };
                if op.deed == Deed::Log {
                    self.system.log(slot, blocks, op.durable);
                    return Some(slot);
                }
                let from = if whole { 0 } else { self.places.below(held - blocks + 1) };
                if op.deed == Deed::Read {
                    let most = (self.spec.sets[op.set].read.0 / self.block()).max(1);
                    self.system.read(slot, from, blocks, most);
                } else {
                    self.system.overwrite(slot, from, blocks, op.durable);
                }
                Some(slot)
            }
        }
    }

    fn create(&mut self, op: Op) -> Option<Slot> {
        let set = &self.spec.sets[op.set];
        let (size, write) = (op.size.unwrap_or(set.size), set.write);
        let blocks = size.draw(self.block(), &mut self.sizes);
        self.keep_level(op.set, blocks, None);
        if !self.system.has_room(blocks) {
            return None;
        }
        let slot = self.system.create(op.set, blocks);
        let least = (write.bounds().0.0 / self.block()).max(1);
        let mut left = blocks;
        while left > 0 {
            let mut piece = write.draw(self.block(), &mut self.sizes).min(left);
            if left > piece && left - piece < least {
                // What is left over would be smaller than a write is.
                piece = if piece > least { left - least } else { left };
            }
            self.system.append(slot, piece, op.durable);
            left -= piece;
        }
        Some(slot)
    }

    /// Delete files of the set that makes room for `set`, picked at random, until `blocks` more do not lift the living above the level. `spared` stays.
    /// Returns whether there is room now.
    fn keep_level(&mut self, set: usize, blocks: u64, spared: Option<Slot>) -> bool {
        let set = self.spec.sets[set].room;
        while self.system.live() + blocks > self.level {
            let slots = self.system.slots(set);
            let victims = slots.len() - usize::from(spared.is_some_and(|spared| self.system.file(spared).set == set));
            if victims == 0 {
                return false;
            }
            let mut slot = slots[self.places.below(slots.len() as u64) as usize];
            if Some(slot) == spared {
                slot = slots[slots.iter().position(|&other| other != slot).expect("there is another")];
            }
            self.system.delete(slot);
        }
        true
    }

    fn pick(&mut self, op: Op, last: Option<(Slot, u32)>) -> Option<(Slot, u32)> {
        if op.same {
            return last.filter(|&(slot, id)| self.is_there(op.set, slot, id));
        }
        let slots = self.system.slots(op.set);
        if slots.is_empty() {
            return None;
        }
        let slot = slots[self.places.below(slots.len() as u64) as usize];
        Some((slot, self.system.file(slot).id))
    }

    fn is_there(&self, set: usize, slot: Slot, id: u32) -> bool {
        self.system.holds(set, slot, id)
    }

    fn size_of(&self, op: &Op) -> Sizes {
        op.size.unwrap_or(self.spec.sets[op.set].write)
    }

    fn block(&self) -> u64 {
        self.spec.align.0
    }
}

impl Iterator for FileLoad {
    type Item = HostRequest;

    #[inline]
    fn next(&mut self) -> Option<HostRequest> {
        self.next_tagged().map(|tagged| tagged.request)
    }
}

#[cfg(test)]
mod tests {
    use wordline_units::HostOp;

    use super::*;

    const READERS: &str = r#"
name = "readers"
align = "16 KiB"
prefill = "50 %"
length = "200 %"
queue_depth = 4
[[sets]]
name = "files"
share = "100 %"
size = "64 KiB"
[[threads]]
ops = [{ do = "read", set = "files" }]
"#;

    #[test]
    fn a_load_that_only_reads_ends_when_it_has_read_its_length() {
        let spec = FileSpec::parse(READERS, "readers.toml").expect("it is right");
        let load = FileLoad::new(&spec, 1, Bytes::mib(64), FileOptions::default()).expect("it fits");
        let requests: Vec<HostRequest> = load.collect();
        assert!(requests.iter().all(|request| request.op == HostOp::Read));
        let read: u64 = requests.iter().map(|request| u64::from(request.sectors) * 512).sum();
        assert_eq!(read, Bytes::mib(128).0, "two capacities of whole files");
    }

    #[test]
    fn a_load_that_neither_writes_nor_goes_on_reading_is_refused() {
        let refused =
            |from: &str, to: &str| FileSpec::parse(&READERS.replace(from, to), "readers.toml").expect_err("it would never end").to_string();
        assert!(refused("do = \"read\"", "do = \"delete\"").contains("no thread writes"));
        assert!(refused("queue_depth = 4", "queue_depth = 4\ncache = { size = \"1 MiB\" }").contains("no thread writes"));
        assert!(refused("queue_depth = 4", "queue_depth = 4\nwarm_up = \"100 %\"").contains("warm-up"));
        assert!(refused("queue_depth = 4", "queue_depth = 4\nmix = { reads = 1, writes = 1 }").contains("a thread that writes"));
    }
}
