//! The contents of a program, for the caller that carries it out.

use wordline_flash::ProgramSettings;
use wordline_units::{DieId, Lpn, OpTag};

use super::Rooms;
use crate::state::data::{Carried, MetadataKind};
use crate::state::pending::{Pending, Purpose};
use crate::state::work::Entry;

/// Contents of a program, borrowed from the core until its report. They are not part of the order, because an order that borrowed them would keep the core,
/// and with it the whole drive, from being used while it is carried out.
#[derive(Clone, Copy)]
pub struct Load<'a> {
    rooms: &'a Rooms,
    /// Spare areas of the program, unit by unit.
    pub oob: &'a [Lpn],
    /// Settings of the program; `None`: no technique sets programs or asks how they went.
    pub settings: Option<&'a ProgramSettings>,
    entries: &'a [Entry],
}

impl std::fmt::Debug for Load<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Load").field("oob", &self.oob).field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl<'a> Load<'a> {
    /// Contents of the program or copyback `tag` of `die`.
    #[inline]
    pub(crate) fn new(rooms: &'a Rooms, die: DieId, tag: OpTag) -> Load<'a> {
        debug_assert!(is_loaded(rooms, die, tag), "operation {tag} of die {die} is no program");
        let batch = rooms.core.die(die).batch();
        Load { rooms, oob: batch.spare(), settings: rooms.core.sets_programs().then(|| batch.settings()), entries: batch.entries() }
    }

    /// Content of each unit, in the order of [`Load::oob`].
    pub fn units(&self) -> impl ExactSizeIterator<Item = Carried> + use<'a> {
        let (rooms, core) = (self.rooms, &self.rooms.core);
        self.entries.iter().map(move |entry| match *entry {
            Entry::Host { slot } => {
                Carried::Buffered { slot, version: core.buffer().version_of(slot), insecure: core.buffer().is_insecure(slot) }
            }
            Entry::Moved(moved) => Carried::Moved { from: moved.from },
            Entry::Padding => Carried::Padding,
            Entry::Metadata { kind, unit } => Carried::Metadata { kind, unit, version: version_of(rooms, kind) },
        })
    }
}

/// Number by which the metadata of this `kind` that is programmed now is told from older.
fn version_of(rooms: &Rooms, kind: MetadataKind) -> u64 {
    let Rooms { metadata, sanitise, .. } = rooms;
    let version = match kind {
        MetadataKind::Journal => metadata.journal().map(|journal| journal.generation()),
        MetadataKind::Checkpoint => metadata.checkpoints().map(|checkpoints| checkpoints.number()),
        MetadataKind::Keys => sanitise.keys().map(|keys| keys.commit_number()),
        MetadataKind::Summary => None,
    };
    version.unwrap_or(0)
}

/// The bytes of part `unit` of the program of metadata of this `kind` ordered last.
pub(crate) fn metadata_bytes(rooms: &Rooms, kind: MetadataKind, unit: u32) -> &[u8] {
    let Rooms { core, metadata, sanitise, .. } = rooms;
    let length = core.settings().unit as usize;
    let bytes = match kind {
        MetadataKind::Journal => metadata.journal().map(|journal| journal.bytes(unit, length)),
        MetadataKind::Checkpoint => metadata.checkpoints().map(|checkpoints| checkpoints.bytes(unit, length)),
        MetadataKind::Keys => sanitise.keys().map(|keys| keys.bytes(unit, length)),
        MetadataKind::Summary => metadata.oob().map(|oob| oob.bytes(unit, length)),
    };
    bytes.expect("only a core that keeps such metadata programs it")
}

/// True if `tag` is a program or copyback of `die` that is under way.
fn is_loaded(rooms: &Rooms, die: DieId, tag: OpTag) -> bool {
    let Pending { purpose, group, .. } = rooms.core.pending(tag);
    rooms.core.layout().die(group) == die && (purpose.is_program() || matches!(purpose, Purpose::Copyback { .. }))
}
