//! Budget of metadata: the block groups that a core reserves for what it writes for itself, and the check that it has room for them.
//!
//! These groups come out of the dies' free groups like those for data, the least worn of any die first, and go back there when what they hold is not needed
//! any more. So nothing of it wears out blocks of its own, a group that grows bad is replaced like any other, and nothing depends on any one die.

use crate::config::Config;
use crate::pages::checkpoint::{groups_per_page, places_per_page};
use crate::pages::journal::{marks_per_page, memos_per_page, records_per_page, units_per_page};
use crate::pages::keys::{entries_per_page, most_bytes, most_pages};
use crate::sanitise::keys::{Forest, GROWTH};
use crate::state::layout::Layout;
use crate::state::settings::Settings;
use crate::state::spared::least_usable;
use crate::state::stops::Steps;
use crate::techniques::hooks::Hook;
use crate::techniques::merge::merge_key_stores;
use crate::techniques::seam::{Ask, KeyStore, Persists};

/// Number of block groups of the journal.
const JOURNAL_GROUPS: u32 = 2;
/// Number of free groups without spared wordlines that data leaves to metadata: one that takes its next group, and one for when a program in that fails.
const PLAIN_GROUPS: u32 = 2;

/// Settings of a core with this configuration.
pub(crate) fn settings(config: &Config) -> Settings {
    let (sheet, layout) = (&config.sheet, config.layout());
    Settings {
        unit: config.unit.0,
        page: sheet.geometry.page.0 as usize,
        bits: sheet.geometry.cell.bits(),
        blocks: sheet.geometry.blocks,
        any_order: sheet.capabilities.any_order,
        copyback: sheet.capabilities.copyback,
        capabilities: sheet.capabilities,
        steps: Steps::of(&sheet.timing),
        keeps_data: config.keeps_data,
        checkpoint_every: config.checkpoint_every,
        twins: config.has_twins(),
        log_programs: log_programs(config, &layout),
        reserve: config.dies * config.reserve() + groups(config, &layout),
        buffer: config.buffer,
        gc: config.gc,
        free_block: config.free_block,
        retirement: config.retirement,
        repair: config.repair,
        bad_groups_most: ((config.repair.bad_blocks_per_die * f64::from(layout.groups)) as u32).max(1),
        noise_bits: ((config.repair.noise * f64::from(config.codeword_bits)) as u32).max(1),
        die_reserve: config.reserve(),
        schedule: config.schedule,
        wordline_order: config.wordline_order,
        moved_blocks: config.open_for_moved(),
        counters: config.writes_counters(),
        spared_max: config.most_spared(),
        plain_groups: if groups(config, &layout) > 0 { PLAIN_GROUPS } else { 0 },
    }
}

/// Block groups that a core with this configuration keeps for itself at most.
pub(crate) fn groups(config: &Config, layout: &Layout) -> u32 {
    let keys = key_groups_of(config, layout);
    if config.has_twins() {
        return log_groups(config, layout) + keys;
    }
    if config.keeps_data || config.recovers { JOURNAL_GROUPS + checkpoint_groups(config, layout) + keys } else { keys }
}

/// Block groups that a core with this configuration keeps for its journal, its checkpoints and its keys, at most.
pub fn metadata_groups(config: &Config) -> u32 {
    groups(config, &config.layout())
}

/// Mapping units of a block group that take data after an erase that spares nothing, in a core with this configuration. Sets are granted from what is left.
pub fn data_units(config: &Config) -> u32 {
    units_after(config, 0)
}

/// Mapping units of a block group that take data after an erase that spares as much as one may, in a core with this configuration.
pub fn least_units(config: &Config) -> u32 {
    units_after(config, config.most_spared())
}

fn units_after(config: &Config, wordlines: u32) -> u32 {
    let layout = config.layout();
    let counters = if config.writes_counters() { layout.units_per_program } else { 0 };
    least_usable(&layout, wordlines).saturating_sub(counters)
}

/// Checks that a core with this configuration has room for its metadata beside its data, and its journal for a snapshot. The error says what is missing.
pub fn fits(config: &Config) -> Result<(), String> {
    let config = &Config { keeps_data: true, ..config.clone() };
    let layout = config.layout();
    if layout.data_programs == 0 {
        return Err("a block group has no room for the second copy of its marks: larger blocks would fit, or recovery.oob_copies = false"
            .to_owned());
    }
    spares_fit(config)?;
    let programs = snapshot_programs(config, &layout);
    if programs >= layout.programs as usize && !config.has_twins() {
        return Err(format!(
            "a snapshot of the journal takes {programs} program units and a block group has {}: \
             fewer logical units per core, or a smaller write buffer, would fit",
            layout.programs
        ));
    }
    let own = groups(config, &layout);
    let reserve = config.dies * config.reserve() + own;
    let (room, needed) = (config.dies * layout.groups, reserve + config.exported_units.div_ceil(data_units(config).max(1)));
    if needed > room {
        return Err(format!(
            "a core that keeps data needs {needed} block groups, {own} of them for its journal and checkpoints, and has {room}: \
             show less to the host"
        ));
    }
    Ok(())
}

/// Checks that the erases of a core with this configuration leave some wordlines of each block to data. The error has what is missing.
pub fn spares_fit(config: &Config) -> Result<(), String> {
    let (most, of_data) = (config.most_spared(), config.layout().data_wordlines());
    if most < of_data {
        return Ok(());
    }
    Err(format!("an erase may leave {most} wordlines without data and a block has {of_data} that take data: fewer would leave some"))
}

/// Share of the units of all block groups that is spare beside data and reserve.
pub fn spare_share(config: &Config) -> f64 {
    let layout = config.layout();
    let all = config.dies * layout.groups;
    let reserve = config.dies * config.reserve() + groups(config, &layout);
    1.0 - (f64::from(reserve) + f64::from(config.exported_units) / f64::from(data_units(config).max(1))) / f64::from(all.max(1))
}

/// Program units that the longest snapshot takes.
fn snapshot_programs(config: &Config, layout: &Layout) -> usize {
    let page = config.sheet.geometry.page.0 as usize;
    let bits = (config.exported_units as usize).div_ceil(units_per_page(page));
    let records = (config.buffer.units as usize).div_ceil(records_per_page(page));
    let memos = most_memos(config, layout).div_ceil(memos_per_page(page));
    // The units that are refused are told only where marks are.
    let refused = if config.copies_oob() { bits } else { 0 };
    // Those of groups that are open now, and of those that were when the power went.
    let groups = if config.copies_oob() {
        2 * layout.dies as usize * (config.open_for_moved() + config.wordline_order.open_blocks()) as usize
    } else {
        0
    };
    let marks = (groups * layout.data_programs as usize).div_ceil(marks_per_page(page, layout.units_per_program as usize));
    (2 * (bits + refused + records + memos + 1) + marks).div_ceil((layout.units_per_program / layout.units_per_page) as usize)
}

/// Program units that a checkpoint takes at most.
fn checkpoint_programs(config: &Config, layout: &Layout) -> u32 {
    let page = config.sheet.geometry.page.0 as usize;
    let pages = layout.group_count().div_ceil(groups_per_page(page)) + (config.exported_units as usize).div_ceil(places_per_page(page)) + 1;
    pages.div_ceil((layout.units_per_program / layout.units_per_page) as usize) as u32
}

/// Length of the map log, in programs, from which on its checkpoints hurry: as much as four checkpoints take, and the memos and refused units in them.
fn log_programs(config: &Config, layout: &Layout) -> u32 {
    if !config.has_twins() {
        return 0;
    }
    let page = config.sheet.geometry.page.0 as usize;
    let bits = (config.exported_units as usize).div_ceil(units_per_page(page));
    let records = (config.buffer.units as usize).div_ceil(records_per_page(page));
    let facts = most_memos(config, layout).div_ceil(memos_per_page(page)) + 2 * bits + records + 1;
    let pages = (layout.units_per_program / layout.units_per_page) as usize;
    4 * (checkpoint_programs(config, layout) + facts.div_ceil(pages) as u32 + 1)
}

/// Block groups that the map log takes at most, on two dies: a long log, as much again until the checkpoint that shortens it is whole, the pair that a failed
/// program has ended, and the pair that comes next.
fn log_groups(config: &Config, layout: &Layout) -> u32 {
    2 * ((2 * log_programs(config, layout)).div_ceil(layout.programs) + 2)
}

/// Block groups that checkpoints take at most: two checkpoints, and the rest of a group in front of the older.
fn checkpoint_groups(config: &Config, layout: &Layout) -> u32 {
    if config.checkpoint_every.is_none() { 0 } else { (2 * checkpoint_programs(config, layout)).div_ceil(layout.programs) + 1 }
}

/// Block groups that the key store of a core with this configuration takes at most.
fn key_groups_of(config: &Config, layout: &Layout) -> u32 {
    let Some(store) = key_store(config, layout) else {
        return 0;
    };
    let forest = Forest::new(layout, config.sheet.geometry.blocks, store.leaves);
    let page = config.sheet.geometry.page.0 as usize;
    let used = |tree: u32| (layout.units_per_group - tree * store.leaves).min(store.leaves);
    let of_stand = (0..forest.per_stand()).map(|tree| most_bytes(store.leaves, used(tree)));
    let largest = most_bytes(store.leaves, used(0));
    let trees = most_pages(forest.stands() * of_stand.sum::<usize>(), largest, page);
    let pages = trees + forest.trees().div_ceil(entries_per_page(page));
    let per_program = (layout.units_per_program / layout.units_per_page) as usize;
    let (whole, group) = (pages.div_ceil(per_program), layout.programs as usize);
    // The log before it is found too long, the commit that makes it so, and the one that writes all of it anew. Then the end of a group that a program has
    // failed in or that is not trusted after a power cut, and a group that waits for its erase.
    ((GROWTH * whole).max(group) + 2 * whole).div_ceil(group) as u32 + 2
}

/// Block groups that a core with this configuration keeps for keys at most; 0 where it has no key store.
pub fn key_groups(config: &Config) -> u32 {
    key_groups_of(config, &config.layout())
}

fn key_store(config: &Config, layout: &Layout) -> Option<KeyStore> {
    let with_store = config.techniques.iter().filter(|choice| choice.card().hooks.has(Hook::KeyStore));
    merge_key_stores(with_store.map(|choice| choice.build(&config.site(layout)).key_store()))
}

/// The longest snapshot's memos.
fn most_memos(config: &Config, layout: &Layout) -> usize {
    let remember = config.techniques.iter().filter(|choice| matches!(choice.card().persists, Persists::Memos(_)));
    let slots = |asks: &[Ask]| asks.iter().find_map(|ask| if let Ask::Slots(slots) = *ask { Some(slots as usize) } else { None });
    let slots: usize = remember.map(|choice| slots(choice.card().asks).unwrap_or(1)).sum();
    // The core's own: of copies, and of birth.
    let asks = config.techniques.iter().any(|choice| choice.card().asks.contains(&Ask::Provenance));
    (slots + if asks { 2 } else { 0 }) * layout.group_count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::small;

    #[test]
    fn a_core_keeps_room_for_what_it_writes_and_says_what_is_missing() {
        let plain = small(64);
        assert_eq!(metadata_groups(&plain), 0);
        let recovers = Config { recovers: true, ..small(64) };
        assert_eq!(metadata_groups(&recovers), JOURNAL_GROUPS);
        let with_checkpoints = Config { checkpoint_every: Some(8), ..recovers.clone() };
        assert!(metadata_groups(&with_checkpoints) > JOURNAL_GROUPS);
        assert_eq!(fits(&recovers), Ok(()));
        // Ten groups of 48 units: two are the journal's, and three are for GC and what is open.
        assert_eq!(fits(&Config { exported_units: 240, ..recovers.clone() }), Ok(()));
        let why = fits(&Config { exported_units: 241, ..recovers }).expect_err("one unit too many");
        assert!(why.contains("needs 11 block groups") && why.contains("has 10"), "{why}");
    }
}
