//! Where the bytes are, for whoever keeps them.
//!
//! The firmware moves numbers, not bytes: a drive that keeps data stores the bytes of each buffer slot beside the firmware and the rest on flash. Here the
//! firmware says what has to be done with them, in the order in which it happened. In a simulation nothing is noted and nothing costs.

use wordline_units::DieId;

use crate::die::Entry;
use crate::firmware::Ftl;
use crate::layout::UnitAddr;
use crate::oob::kept::Fact;
use crate::survey::Held;

/// Something to be done with bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataStep {
    /// The `index`-th unit of the write `request` was taken into `slot`: its sectors go over what the slot holds.
    Stored {
        /// The request's id.
        request: u32,
        /// Which of its units.
        index: u32,
        /// The slot.
        slot: u32,
        /// The slot of the older version that is being programmed: its bytes come first.
        continues: Option<u32>,
        /// What the slot holds with it.
        held: Held,
    },
    /// The sectors of `missing` of the unit in `slot` are those that lie at `from`; zeroes, if that is nowhere.
    Completed {
        /// The slot.
        slot: u32,
        /// What it holds with them.
        held: Held,
        /// One bit for each sector.
        missing: u64,
        /// A unit on flash.
        from: UnitAddr,
    },
    /// The sectors of `missing` of the unit in `slot` are lost: what there is of them is refused.
    Refused {
        /// The slot.
        slot: u32,
        /// One bit for each sector.
        missing: u64,
    },
    /// Capacitors are to keep what [`Ftl::take_kept_fact`] says.
    Kept,
    /// The controller's register has been overwritten with the key of this commit's table: no table before can be opened any more.
    Register {
        /// The commit's number.
        commit: u64,
    },
}

/// One unit of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    /// Host data.
    Buffered {
        /// The buffer slot that holds the bytes.
        slot: u32,
        /// The version to be marked on the unit. Versions count the host's writes of the core, so the newest write of a unit has its highest.
        version: u64,
        /// It may stay readable once it is stale; marked, too.
        insecure: bool,
    },
    /// A copy, whose bytes and mark are those of its source.
    Moved {
        /// The source.
        from: UnitAddr,
    },
    /// Nothing.
    Padding,
    /// A part of the journal, as long as a unit: its bytes are [`Ftl::journal_bytes`], its mark has [`crate::JOURNAL`] for a logical unit and this version.
    Journal {
        /// Which part of the program.
        unit: u32,
        /// The generation of the journal.
        version: u64,
    },
    /// A part of a checkpoint: its bytes are [`Ftl::checkpoint_bytes`], its mark has [`crate::CHECKPOINT`] for a logical unit and this version.
    Checkpoint {
        /// Which part of the program.
        unit: u32,
        /// The checkpoint's number.
        version: u64,
    },
    /// A part of the key store, as long as a unit: its bytes are [`Ftl::key_bytes`], its mark has [`crate::KEYS`] for a logical unit and this version.
    Keys {
        /// Which part of the program.
        unit: u32,
        /// The number of the commit.
        version: u64,
    },
    /// A part of the summary of a block group, as long as a unit: its bytes are [`Ftl::oob_bytes`], its mark has [`crate::OOB`] for a logical unit.
    Oob {
        /// Which part of the program.
        unit: u32,
    },
}

/// Where the newest bytes of a unit are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Newest {
    /// A buffer slot, and which of the unit's sectors it holds, one bit each.
    pub buffered: Option<(u32, u64)>,
    /// Where the other sectors are; nowhere: they are zeroes.
    pub on_flash: UnitAddr,
    /// The other sectors are not to be handed out.
    pub is_refused: bool,
}

impl Ftl {
    /// Where the newest bytes of `lpn` are.
    pub fn newest(&self, lpn: u32) -> Newest {
        Newest { buffered: self.buffer.held(lpn), on_flash: self.map.get(lpn), is_refused: self.is_refused(lpn) }
    }

    /// What is in buffer slot `slot`.
    pub fn held_in(&self, slot: u32) -> Held {
        self.buffer.content(slot)
    }

    /// The version for a copy of `lpn` that says its bytes are lost: newer than what was there, older than anything of it in the buffer.
    pub fn version_of_lost(&mut self, lpn: u32) -> u64 {
        match self.buffer.oldest_version(lpn) {
            Some(oldest) => oldest - 1,
            None => self.buffer.next_version(),
        }
    }

    /// The next thing to be done with bytes, oldest first. To be asked after every call that tells the core something, before [`Ftl::speak`].
    #[inline]
    pub fn next_data_step(&mut self) -> Option<DataStep> {
        self.data_steps.pop_front()
    }

    /// The units of the program that `die` has just been ordered to do, in the order of [`Ftl::spare`].
    pub fn batch(&self, die: DieId) -> impl Iterator<Item = Carried> + '_ {
        self.dies[die].batch.iter().map(|entry| match *entry {
            Entry::Host { slot } => {
                Carried::Buffered { slot, version: self.buffer.version_of(slot), insecure: self.buffer.is_insecure(slot) }
            }
            Entry::Moved(moved) => Carried::Moved { from: moved.from },
            Entry::Padding => Carried::Padding,
            Entry::Journal { unit } => Carried::Journal { unit, version: self.journal_generation() },
            Entry::Keys { unit } => Carried::Keys { unit, version: self.commit_number() },
            Entry::Checkpoint { unit } => Carried::Checkpoint { unit, version: self.checkpoint_number() },
            Entry::Oob { unit } => Carried::Oob { unit },
        })
    }

    /// The next fact that capacitors are to keep: its place, below [`crate::FACTS`], and its bytes, at most [`crate::fact_bytes`] of them.
    pub fn take_kept_fact(&mut self) -> Option<(u32, Vec<u8>)> {
        self.kept_facts.pop_front()
    }

    pub(crate) fn keep_fact(&mut self, index: u32, fact: Fact) {
        self.kept_facts.push_back((index, fact.encode()));
        self.note_data(DataStep::Kept);
    }

    pub(crate) fn note_data(&mut self, step: DataStep) {
        self.data_steps.push_back(step);
    }

    /// The buffer slots that hold something.
    pub fn slots_in_use(&self) -> impl Iterator<Item = u32> + '_ {
        self.buffer.in_use()
    }
}
