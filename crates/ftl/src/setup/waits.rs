//! Work that waits, and tolerated latencies, beside the image of a core: images of before have neither.

use serde::{Deserialize, Serialize};
use wordline_units::Nanos;

use crate::dispatch::Rooms;
use crate::state::rewrites::Wait;
use crate::state::tolerances::{self, ToleranceTable};

/// Waits of the requested rewrites of each die, and the tolerated latencies of a core.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitTables {
    rewrites: Vec<Vec<Wait>>,
    tolerances: ToleranceTable,
}

/// Waits of the core, which is at rest.
pub(crate) fn image(rooms: &Rooms) -> WaitTables {
    let core = &rooms.core;
    let rewrites: Vec<Vec<Wait>> = core.dies().map(|(_, die)| die.rewrites().waits(core.now())).collect();
    let has_none = rewrites.iter().all(Vec::is_empty);
    WaitTables { rewrites: if has_none { Vec::new() } else { rewrites }, tolerances: tolerances::image(core) }
}

/// Restore the waits of a core that was just restored, and whose time is `now`. Requests without waits in `tables` may start at once.
pub(crate) fn restore(rooms: &mut Rooms, tables: &WaitTables, now: Nanos) -> Result<(), &'static str> {
    let Rooms { core, gc, .. } = rooms;
    tolerances::restore(core, &tables.tolerances)?;
    if !tables.rewrites.is_empty() && tables.rewrites.len() != core.layout().dies as usize {
        return Err("it has waiting rewrites of another number of dies");
    }
    for (die, waits) in core.die_ids().zip(&tables.rewrites) {
        if !core.die_mut(die).change_rewrites(|rewrites| rewrites.restore_waits(waits, now)) {
            return Err("its waiting rewrites are not those of its dies");
        }
    }
    gc.await_held(core);
    Ok(())
}
