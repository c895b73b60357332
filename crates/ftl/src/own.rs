//! Block groups for what a core that keeps data writes for itself: the journal of trims and checkpoints of the map.
//!
//! They come out of the dies' free groups like those for data, the least worn of any die first, and go back there when what they hold is not needed any
//! more. So neither wears out blocks of its own, a group that grows bad is replaced like any other, and neither depends on any one die.

use std::cmp::Reverse;

use wordline_units::Cause;

use crate::checkpoint;
use crate::config::Config;
use crate::die::Stream;
use crate::firmware::Ftl;
use crate::groups::Use;
use crate::journal;
use crate::journal_write;
use crate::layout::{Group, Layout};

/// Block groups that a core with this configuration keeps for itself at most.
pub(crate) fn groups(config: &Config, layout: &Layout) -> u32 {
    let keys = crate::keys::groups(config, layout);
    if config.keeps_data || config.recovers { journal::GROUPS + checkpoint::groups(config, layout) + keys } else { keys }
}

/// Block groups that a core with this configuration keeps for its journal, its checkpoints and its keys, at most.
pub fn own_groups(config: &Config) -> u32 {
    groups(config, &config.layout())
}

/// Mapping units of a block group that take data, in a core with this configuration.
pub fn data_units(config: &Config) -> u32 {
    config.layout().data_units
}

/// Whether a core with this configuration has room for what it keeps for itself beside its data, and the journal for its snapshot; or what is missing.
pub fn fits(config: &Config) -> Result<(), String> {
    let config = &Config { keeps_data: true, ..config.clone() };
    let layout = config.layout();
    if layout.data_programs == 0 {
        return Err("a block group has no room for the second copy of its marks: larger blocks would fit, or recovery.oob_copies = false"
            .to_owned());
    }
    let programs = journal_write::snapshot_programs(config, &layout);
    if programs >= layout.programs as usize {
        return Err(format!(
            "a snapshot of the journal takes {programs} program units and a block group has {}: \
             fewer logical units per core, or a smaller write buffer, would fit",
            layout.programs
        ));
    }
    let own = groups(config, &layout);
    let reserve = config.dies * config.reserve() + own;
    let (room, needed) = (config.dies * layout.groups, reserve + config.exported_units.div_ceil(layout.data_units.max(1)));
    if needed > room {
        return Err(format!(
            "a core that keeps data needs {needed} block groups, {own} of them for its journal and checkpoints, and has {room}: \
             show less to the host"
        ));
    }
    Ok(())
}

impl Ftl {
    /// Take the least worn free group of any die that has more than `left` of them.
    pub(crate) fn take_own_group(&mut self, left: u32) -> Option<Group> {
        let is_levelled = self.config.wear.dynamic;
        let worn = |group: &Group| if is_levelled { self.groups.erases(*group) } else { 0 };
        let offers = self.dies.iter().filter(|(_, die)| die.free.len() as u32 > left);
        let (.., die) = offers.map(|(id, die)| (die.free.iter().map(worn).min(), Reverse(die.free.len()), id)).min()?;
        let group = self.allocate(die, Stream::Host).expect("it has one");
        self.groups.uses[group.index()] = Use::Journal;
        Some(group)
    }

    /// Take the last group of the die that has most, of a core that is new: a fill begins with the first of each die.
    pub(crate) fn take_last_group(&mut self) -> Option<Group> {
        let (.., die) = self.dies.iter().map(|(id, die)| (Reverse(die.free.len()), id)).min()?;
        let group = self.dies[die].free.pop_back()?;
        self.groups.uses[group.index()] = Use::Journal;
        Some(group)
    }

    /// What the core has written to `group` is not needed any more.
    pub(crate) fn release_own_group(&mut self, group: Group, cause: Cause) {
        self.groups.uses[group.index()] = Use::Drained;
        let die = self.layout.die(group);
        self.dies[die].erasable.push((group, cause));
        self.wake(die);
    }
}
