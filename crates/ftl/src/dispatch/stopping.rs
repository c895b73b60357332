//! Operations that were stopped, and reads that give way between two tries.

use wordline_flash::{Stop, Stopped};
use wordline_units::{DieId, Nanos};

use crate::state::Core;
use crate::state::measures::Measurement;
use crate::state::pending::{Pending, Purpose};
use crate::state::work::Asked;
use crate::techniques::apply::{gives_way_between_tries, long_busy, read_left};
use crate::techniques::hooks::Hook;
use crate::techniques::panel::Panel;
use crate::techniques::seam::StopReport;

/// Take the answer to the order to stop what `die` is doing. Returns what is to be told; `None`: nothing was stopped.
pub(crate) fn answered(core: &mut Core, die: DieId, answer: Stopped) -> Option<StopReport> {
    match answer {
        Stopped::Refused => {
            core.die_mut(die).refuse_stop();
            None
        }
        Stopped::Held { how, waited } => {
            let (now, steps) = (core.now(), core.settings().steps);
            if !core.die_mut(die).hold(now, (how, waited), &steps) {
                return None;
            }
            core.let_in(die);
            Some(StopReport { busy: long_busy(core, die), how, waited })
        }
        Stopped::Aborted { waited } => leave(core, die, Stop::Now, waited),
    }
}

/// Let the read that `die` is doing give way, between two tries, if the techniques agree on it. Returns what is to be told; `None`: it goes on.
pub(crate) fn between_tries(core: &mut Core, panel: &mut Panel, die: DieId) -> Option<StopReport> {
    let does = panel.has(Hook::Stop) && gives_way_between_tries(core, panel, die);
    if does { leave(core, die, Stop::AtStep, Nanos::ZERO) } else { None }
}

/// Note that the read of `die` has left it unfinished, in the way of `how`. It is queued again, before the others of its priority. A measurement waits among
/// the others instead: its page may be made unreadable before its turn comes.
fn leave(core: &mut Core, die: DieId, how: Stop, waited: Nanos) -> Option<StopReport> {
    let report = StopReport { busy: read_left(core, die, how), how, waited };
    let (tag, priority) = core.die_mut(die).leave(how)?;
    if let Purpose::Measure { tally } = core.pending(tag).purpose {
        let Pending { group, offset, .. } = core.end(tag);
        core.groups_mut().unpin(group);
        let wanted = Measurement { group, erases: core.groups().erases(group), offset, tally };
        let measures = core.services_mut().measures_mut();
        measures.end(die);
        measures.ask(die, wanted, Asked::BY_CORE);
    } else {
        core.queue_again(die, priority, tag);
    }
    core.let_in(die);
    Some(report)
}
