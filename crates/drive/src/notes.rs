//! Notes of the firmware, as events of the drive.

use wordline_engine::Event;
use wordline_ftl::{BlockGroup, Layout, Note};
use wordline_units::{DieId, GroupId};

use crate::device::dies::Dies;

/// The event that `note` of `core` is. A note on single units goes to observers that follow them, and is no event.
pub(crate) fn event_of(note: Note, core: u32, layout: &Layout, dies: &Dies) -> Option<Event> {
    let die = |die: DieId| dies.die(core, die);
    let at = |group: BlockGroup| (die(layout.die(group)), GroupId(layout.number(group)));
    Some(match note {
        Note::KeyGone(_) => return None,
        Note::Retired(group) => {
            let (die, group) = at(group);
            Event::Retired { die, group }
        }
        Note::Exposed(group) => {
            let (die, group) = at(group);
            Event::Exposed { die, group }
        }
        Note::ProgrammedAgain(group) => {
            let (die, group) = at(group);
            Event::ProgrammedAgain { die, group }
        }
        Note::DataLost(group, units) => Event::DataLost { die: at(group).0, units },
        Note::DieSuspected(group) => {
            let (die, group) = at(group);
            Event::DieSuspected { die, group }
        }
        Note::DieFailed(failed) => Event::DieFailed { die: die(failed) },
        Note::UnitsLost(of, units) => Event::UnitsLost { die: die(of), units },
        Note::UnitsHealed(of, units) => Event::UnitsHealed { die: die(of), units },
        Note::WornOut => Event::WornOut,
    })
}
