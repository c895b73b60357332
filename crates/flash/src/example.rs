//! A made-up die for documents, tests and measurements of speed: round numbers that belong to no product, so that what is built on it shows how something
//! works and never how fast a drive is. Drives that are meant to be something have data sheets in `chips/`.

use wordline_units::{Bytes, CellKind, Geometry, Nanos};

use crate::sheet::{Capabilities, ProgramScope, Sheet, Timing};

/// A die of one plane of 64 blocks of 32 TLC wordlines, with 16-KiB pages that are programmed one by one; no cache commands. Change what matters:
///
/// ```
/// let mut sheet = wordline_flash::example::sheet();
/// sheet.geometry.planes = 2;
/// sheet.capabilities.program_scope = wordline_flash::ProgramScope::Wordline;
/// assert_eq!(sheet.pages_per_program(), 3);
/// ```
pub const fn sheet() -> Sheet {
    Sheet {
        geometry: Geometry {
            channels: 1,
            dies_per_channel: 1,
            planes: 1,
            blocks: 64,
            layers: 8,
            wordlines_per_layer: 4,
            cell: CellKind::Tlc,
            page: Bytes::kib(16),
            spare: Bytes(1_872),
        },
        timing: Timing {
            read: [Nanos(65_000); 4],
            program: [Nanos(700_000); 4],
            program_wordline: Nanos(2_000_000),
            erase: Nanos(5_000_000),
            feature: Nanos(1_000),
            cache_busy: Nanos(3_000),
            suspend_program: Nanos(20_000),
            suspend_erase: Nanos(20_000),
            step_program: Nanos::ZERO,
            step_erase: Nanos::ZERO,
            halt_program: Nanos::ZERO,
            halt_erase: Nanos::ZERO,
            abort_read: Nanos::ZERO,
            resume: Nanos(5_000),
            suspend_interval: Nanos(100_000),
            reset: Nanos(5_000),
            lock_page: Nanos::ZERO,
            lock_block: Nanos::ZERO,
            scrub: Nanos::ZERO,
            reprogram: Nanos::ZERO,
            bus_overhead: Nanos::ZERO,
        },
        capabilities: Capabilities {
            program_scope: ProgramScope::Page,
            cache_read: false,
            cache_program: false,
            copyback: true,
            suspend_program: true,
            suspend_erase: true,
            stop_at_step: false,
            stop_now_program: false,
            stop_now_erase: false,
            abort_read: false,
            page_lock: false,
            block_lock: false,
            scrub: false,
            reprogram: false,
            any_order: false,
            program_settings: false,
            guarded_erase: false,
            erase_trace: false,
        },
    }
}
