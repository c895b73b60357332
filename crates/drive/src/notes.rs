//! Notes of the firmware, as events of the drive.

use wordline_engine::Event;
use wordline_ftl::{BlockGroup, Note};
use wordline_units::{DieId, GroupId, Nanos};

use crate::drive::Drive;

impl Drive {
    /// The event that `note` of `core` is. A note on single units goes to observers that follow them, and is no event.
    pub(crate) fn event_of(&mut self, now: Nanos, core: u32, note: Note) -> Option<Event> {
        let die = |die: DieId| self.wiring.die(core, die);
        let at = |group: BlockGroup| {
            let layout = self.ftls[core as usize].layout();
            (die(layout.die(group)), GroupId(layout.number(group)))
        };
        Some(match note {
            Note::KeyGone(addr) => {
                if self.events.follows() {
                    self.tell_key_gone(now, core, addr);
                }
                return None;
            }
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
}
