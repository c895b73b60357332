//! Dies and firmware configurations by hand: small, complete and with one thing to change at a time.

use wordline_flash::{Capabilities, ProgramScope, Sheet, Timing};
use wordline_ftl::config::{Acknowledge, BufferConfig, Config, ReclaimConfig, ScheduleConfig, WearConfig};
use wordline_ftl::victim::VictimPolicy;
use wordline_units::{Bytes, CellKind, Geometry, Nanos};

/// A die of one plane: `blocks` blocks of `pages` 16-KiB pages that are programmed one by one. 65 us read, 700 us program, 5 ms erase.
pub fn sheet(blocks: u32, pages: u32) -> Sheet {
    let us = Nanos::from_micros;
    Sheet {
        geometry: Geometry {
            channels: 1,
            dies_per_channel: 1,
            planes: 1,
            blocks,
            layers: pages,
            wordlines_per_layer: 1,
            cell: CellKind::Slc,
            page: Bytes::kib(16),
            spare: Bytes(1872),
        },
        timing: Timing {
            read: [us(65); 4],
            program: [us(700); 4],
            program_wordline: us(2_000),
            erase: us(5_000),
            feature: us(1),
            cache_busy: us(3),
            suspend_program: us(20),
            suspend_erase: us(20),
            resume: us(5),
            suspend_interval: us(100),
            reset: us(5),
            bus_overhead: Nanos(0),
        },
        capabilities: Capabilities {
            program_scope: ProgramScope::Page,
            cache_read: false,
            cache_program: false,
            copyback: true,
            suspend_program: true,
            suspend_erase: true,
        },
    }
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
        factory_bad: vec![],
        buffer: BufferConfig { units: 64.max(2 * dies * program), acknowledge: Acknowledge::Programmed, partial_watermark: 0.5 },
        reclaim: ReclaimConfig { victim: VictimPolicy::Greedy, start: 3, floor: 1, preemptible: false },
        wear: WearConfig { dynamic: false, static_gap: None },
        schedule: ScheduleConfig { reads_first: true, linger: None },
        techniques: vec![],
        seed: 1,
        core: 0,
    }
}
