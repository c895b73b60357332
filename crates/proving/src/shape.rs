//! Dies and firmware configurations by hand: small, complete and with one thing to change at a time.

use wordline_flash::{Sheet, Tables};
use wordline_ftl::config::{Acknowledge, BufferConfig, Config, FreeBlockConfig, GcConfig, Protection, ScheduleConfig};
use wordline_ftl::free_block::FreeBlockPolicy;
use wordline_ftl::retirement::RetirementPolicy;
use wordline_ftl::victim::VictimPolicy;
use wordline_ftl::wordline_order::WordlineOrder;
use wordline_units::{CellKind, Geometry};

/// The example die with one plane of `blocks` blocks of `pages` pages, one to a wordline.
pub fn sheet(blocks: u32, pages: u32) -> Sheet {
    let mut sheet = wordline_flash::example::sheet();
    sheet.geometry = Geometry { blocks, layers: pages, wordlines_per_layer: 1, cell: CellKind::Slc, ..sheet.geometry };
    sheet
}

/// A plain page-level firmware on `dies` such dies: greedy, write-through, one page per mapping unit, no wear levelling, no techniques.
pub fn firmware(sheet: Sheet, dies: u32, exported_units: u32) -> Config {
    let program = sheet.geometry.planes * sheet.pages_per_program();
    Config {
        sheet,
        dies,
        unit: sheet.geometry.page,
        exported_units,
        spare_blocks: 0,
        read_entries: 1,
        read_search: false,
        transfer: wordline_units::Nanos::ZERO,
        codeword_bits: 0,
        factory_bad: vec![],
        buffer: BufferConfig {
            units: 64.max(2 * dies * program),
            acknowledge: Acknowledge::Programmed,
            protection: Protection::None,
            partial_watermark: 0.5,
            load_window: wordline_units::Nanos::from_millis(1),
        },
        gc: GcConfig {
            victim: VictimPolicy::Greedy,
            start: 3,
            floor: 1,
            scheduler: wordline_ftl::scheduler::Scheduler::Classic,
            preemptible: false,
            lazy_erase: false,
        },
        free_block: FreeBlockConfig { key: FreeBlockPolicy::LongestFree, gap: None },
        retirement: RetirementPolicy::Failed,
        repair: wordline_ftl::config::RepairConfig::DEFAULT,
        spared_max: 0,
        moved_blocks: 1,
        wordline_order: WordlineOrder::HorizontalFirst,
        margins: None,
        tables: Tables::default(),
        schedule: ScheduleConfig { reads_first: true, linger: None, held_max: None, reads_in_row: None },
        techniques: vec![],
        keeps_data: false,
        checkpoint_every: None,
        recovers: false,
        oob_copies: true,
        oob_place: wordline_ftl::config::OobPlace::Group,
        seed: 1,
        core: 0,
    }
}
