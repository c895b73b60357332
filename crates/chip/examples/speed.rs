//! Nanoseconds of CPU time per flash operation at the chip: `cargo run --release -p wordline-chip --example speed`.

use std::time::Instant;

use wordline_cells::Faults;
use wordline_chip::{Chip, Contents};
use wordline_flash::command::PLANES_MAX;
use wordline_flash::{Capabilities, Command, PlaneSet, ProgramScope, Sheet, Target, example};
use wordline_units::{BlockId, Bytes, Geometry, Lpn, Nanos, PageId, PlaneId};

const BLOCKS: u32 = 64;
/// Short rounds, many of them: the best one was not interrupted.
const ROUNDS: u32 = 100;

fn sheet(planes: u32, program_scope: ProgramScope) -> Sheet {
    let mut sheet = example::sheet();
    sheet.geometry = Geometry { planes, blocks: BLOCKS, layers: 64, ..sheet.geometry };
    sheet.capabilities = Capabilities { program_scope, cache_read: true, cache_program: true, ..sheet.capabilities };
    sheet
}

/// Print what one of the `count` operations of a round takes, in the best round.
fn measure(name: &str, count: u32, mut round: impl FnMut()) {
    let best = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            round();
            start.elapsed()
        })
        .min()
        .unwrap_or_default();
    println!("{name:<58} {:6.1} ns", best.as_nanos() as f64 / f64::from(count));
}

fn target(planes: u32, block: u32, page: u32) -> Target {
    Target { planes: PlaneSet::first(planes), blocks: [block as u16; PLANES_MAX], page: PageId(page as u16) }
}

fn programs(name: &str, planes: u32, scope: ProgramScope, units: u32, cluster: bool) {
    let sheet = sheet(planes, scope);
    let mut chip: Chip = Chip::new(sheet, Faults::default(), 1, 0, units);
    let bytes = Bytes(16_384 * u64::from(planes * sheet.pages_per_program()));
    let pages = sheet.geometry.pages();
    let step = sheet.pages_per_program();
    let mut spare: Vec<Lpn> = (0..planes * step * units).map(Lpn).collect();
    if !cluster {
        spare.reverse();
    }
    // Targets lie ready in memory, as in the operations of a drive: to build one here would be measured too.
    let targets: Vec<Target> = (0..BLOCKS * pages).map(|at| target(planes, at / pages, at % pages)).collect();
    let mut now = Nanos::ZERO;
    measure(name, BLOCKS * pages / step, || {
        for block in 0..BLOCKS {
            now = chip.issue(Command::Erase { target: target(planes, block, 0) }, now).ready_at;
            for page in (0..pages).step_by(step as usize) {
                spare[0].0 ^= page & u32::from(units == 1);
                chip.transfer(Command::DataIn { bytes }, now, now + Nanos(10_000));
                now += Nanos(10_000);
                let command = Command::Program { target: targets[(block * pages + page) as usize], cache: false };
                now = chip.program(command, now, &spare, Contents::NONE).ready_at;
            }
        }
    });
}

fn reads(name: &str, planes: u32, stride: u32) {
    let sheet = sheet(planes, ProgramScope::Page);
    let mut chip: Chip = Chip::new(sheet, Faults::default(), 1, 0, 4);
    let count = 48_000;
    let targets: Vec<Target> = (0..count).map(|n| n * stride % (BLOCKS * 768)).map(|at| target(planes, at / 768, at % 768)).collect();
    let mut now = Nanos::ZERO;
    measure(name, count, || {
        for &target in &targets {
            let ready = chip.issue(Command::Read { target, cache: false }, now).ready_at;
            now = ready + Nanos(10_000);
            chip.transfer(Command::DataOut { bytes: Bytes(16_384) }, ready, now);
        }
    });
    assert!(now > Nanos::ZERO && chip.array_until() < now);
}

fn main() {
    println!("{} bytes of state in a die", size_of::<Chip>());
    reads("read + data out, in order", 1, 1);
    reads("read + data out, block after block", 1, 769 * 37);
    reads("4-plane read + data out", 4, 1);
    programs("data in + program, 1 unit a page", 1, ProgramScope::Page, 1, true);
    programs("data in + program, 4 units a page, consecutive", 1, ProgramScope::Page, 4, true);
    programs("data in + program, 4 units a page, scattered", 1, ProgramScope::Page, 4, false);
    programs("data in + one-shot program of 3 pages × 4 planes × 4 units", 4, ProgramScope::Wordline, 4, false);
    let start = Instant::now();
    let dies: Vec<Chip> = (0..512)
        .map(|die| {
            let mut sheet = sheet(1, ProgramScope::Page);
            sheet.geometry.blocks = 5_461;
            let mut chip = Chip::new(sheet, Faults { factory_bad: 0.01, ..Faults::default() }, 1, die, 4);
            for block in (0..5_461).map(BlockId) {
                if !chip.is_factory_bad(PlaneId(0), block) {
                    chip.fill_regular(PlaneId(0), block, 768, Lpn(block.0 * 768), 4);
                }
            }
            chip
        })
        .collect();
    let bytes: usize = dies.iter().map(Chip::memory_bytes).sum();
    println!("512 dies × 5,461 blocks constructed and filled in {:?}: {} bytes a block", start.elapsed(), bytes / (512 * 5_461));
}
