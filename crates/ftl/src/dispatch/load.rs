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
        let batch = rooms.core.die(die).programs().of(tag);
        Load { rooms, oob: batch.spare(), settings: rooms.core.sets_programs().then(|| batch.settings()), entries: batch.entries() }
    }

    /// Content of each unit, in the order of [`Load::oob`].
    pub fn units(&self) -> impl ExactSizeIterator<Item = Carried> + use<'a> {
        let (rooms, core) = (self.rooms, &self.rooms.core);
        self.entries.iter().map(move |entry| match *entry {
            Entry::Host { slot } => {
                Carried::Buffered { slot, version: core.buffer().version_of(slot), attributes: core.buffer().attributes_of(slot) }
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

#[cfg(test)]
mod tests {
    use wordline_flash::OperationKind;
    use wordline_units::{Attributes, HostOp, Nanos};

    use super::*;
    use crate::config::tests::small;
    use crate::dispatch::next::next_operation;
    use crate::setup::build;
    use crate::state::request::Request;
    use crate::state::request::tests::WRITE;

    #[test]
    fn a_program_of_the_buffer_carries_its_units_with_their_versions_and_padding() {
        let mut rooms = build(&small(64));
        let write = Request { id: 1, lpn: 7, units: 3, attributes: Attributes::NONE.with_secure(false), ..WRITE };
        rooms.submit(write);
        rooms.submit(Request { id: 2, lpn: 8, units: 1, ..write });
        rooms.submit(Request { id: 3, op: HostOp::Flush, lpn: 0, units: 0, ..write });
        let operation = next_operation(&mut rooms, Nanos(0)).expect("a flush waits for it");
        assert!(matches!(operation.kind, OperationKind::Program { .. }));
        let load = Load::new(&rooms, operation.die, operation.tag);
        assert!(load.settings.is_none(), "no technique sets programs");
        assert_eq!(load.oob.iter().map(|lpn| lpn.0).take(3).collect::<Vec<_>>(), [7, 8, 9]);
        let units: Vec<Carried> = load.units().collect();
        let versions: Vec<u64> = units
            .iter()
            .filter_map(|unit| {
                if let Carried::Buffered { version, attributes, .. } = unit { (!attributes.secure).then_some(*version) } else { None }
            })
            .collect();
        assert_eq!(versions, [1, 4, 3], "unit 8 was written again");
        assert_eq!(units[3], Carried::Padding);
        assert!(is_loaded(&rooms, operation.die, operation.tag));
    }
}
