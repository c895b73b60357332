//! What a program brings with it, for whoever carries it out.

use wordline_flash::ProgramSettings;
use wordline_units::{DieId, Lpn};

use super::Rooms;
use crate::state::data::Carried;
use crate::state::pending::{Pending, Purpose};
use crate::state::work::Entry;

/// What a program brings with it: borrowed from the core, and gone with its report. Beside the order, because an order that borrowed it would keep the core,
/// and with it the whole drive, from being used while the order is carried out.
#[derive(Clone, Copy)]
pub struct Load<'a> {
    rooms: &'a Rooms,
    /// Its spare areas, unit by unit.
    pub oob: &'a [Lpn],
    /// How it is to be done; `None`: nobody sets programs, and nobody wants to hear of them.
    pub settings: Option<&'a ProgramSettings>,
    entries: &'a [Entry],
}

impl std::fmt::Debug for Load<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Load").field("oob", &self.oob).field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl<'a> Load<'a> {
    /// That of the program or copyback `tag` of `die`.
    #[inline]
    pub(crate) fn new(rooms: &'a Rooms, die: DieId, tag: u32) -> Load<'a> {
        debug_assert!(is_loaded(rooms, die, tag), "operation {tag} of die {die} is no program");
        let batch = rooms.core.die(die).batch();
        Load { rooms, oob: batch.spare(), settings: rooms.core.sets_programs().then(|| batch.settings()), entries: batch.entries() }
    }

    /// Its units, in the order of [`Load::oob`].
    pub fn units(&self) -> impl ExactSizeIterator<Item = Carried> + use<'a> {
        let Rooms { core, metadata, sanitise, .. } = self.rooms;
        self.entries.iter().map(move |entry| match *entry {
            Entry::Host { slot } => {
                Carried::Buffered { slot, version: core.buffer().version_of(slot), insecure: core.buffer().is_insecure(slot) }
            }
            Entry::Moved(moved) => Carried::Moved { from: moved.from },
            Entry::Padding => Carried::Padding,
            Entry::Journal { unit } => Carried::Journal { unit, version: metadata.journal().map_or(0, |journal| journal.generation()) },
            Entry::Keys { unit } => Carried::Keys { unit, version: sanitise.keys().map_or(0, |keys| keys.commit_number()) },
            Entry::Checkpoint { unit } => {
                Carried::Checkpoint { unit, version: metadata.checkpoints().map_or(0, |checkpoints| checkpoints.number()) }
            }
            Entry::Oob { unit } => Carried::Oob { unit },
        })
    }
}

/// Whether `tag` is a program or copyback of `die` that is under way.
fn is_loaded(rooms: &Rooms, die: DieId, tag: u32) -> bool {
    let Pending { purpose, group, .. } = rooms.core.pending(tag);
    rooms.core.layout().die(group) == die && (purpose.is_program() || matches!(purpose, Purpose::Copyback { .. }))
}
