//! Rules of a die.

use wordline_cells::Shape;
use wordline_flash::{Capabilities, ProgramScope, Sheet, Timing};
use wordline_units::{Bytes, CellKind, Geometry, Nanos, WordlineSet};

use super::mistakes::{instant, needed};
use super::within;
use crate::keys::filled::Sections;
use crate::kind::{Kind, Maybe};
use crate::layer::{Mistakes, Set};
use crate::words::PageTimes;

/// Ids of dies, blocks and pages have sixteen bits.
pub(crate) const IDS: u32 = 65_535;
pub(crate) const PLANES_MAX: u32 = wordline_flash::command::PLANES_MAX as u32;
const PAGE_MAX: Bytes = Bytes::mib(1);
/// Thirty times the largest drive there is, and far from the end of 64 bits.
const RAW_MAX: u128 = 1 << 50;
/// Each block costs some forty bytes of memory whether it is used or not.
const BLOCKS_MAX: u128 = 1 << 26;

/// Checks geometry, timing and capabilities; `None` where a geometry cannot be.
pub(super) fn check(sections: &Sections, mistakes: &mut Mistakes<'_>) -> Option<Sheet> {
    let geometry = geometry(sections, mistakes);
    let timing = timing(sections, mistakes);
    faults(sections, mistakes);
    let capabilities = capabilities(sections);
    let geometry = geometry?;
    let lines = geometry.layers * geometry.wordlines_per_layer;
    if capabilities.guarded_erase && lines > WordlineSet::WORDLINES {
        let most = WordlineSet::WORDLINES;
        let what = format!(
            "capabilities.guarded_erase is true, and a block has {lines} wordlines: expected at most {most}, one bit each in the die's registers"
        );
        mistakes.at(&sections.capabilities.guarded_erase.origin, what, None);
    }
    Some(Sheet { geometry, timing: timing?, capabilities })
}

/// Abilities of the die. An operation that has a time is one of them.
pub(super) fn capabilities(sections: &Sections) -> Capabilities {
    let (wanted, times) = (&sections.capabilities, &sections.timing);
    let able = |time: &Set<Maybe<Nanos>>| time.value.0.is_some();
    Capabilities {
        program_scope: wanted.program_scope.value,
        cache_read: wanted.cache_read.value,
        cache_program: wanted.cache_program.value,
        copyback: wanted.copyback.value,
        suspend_program: wanted.suspend_program.value,
        suspend_erase: wanted.suspend_erase.value,
        stop_at_step: wanted.stop_at_step.value,
        stop_now_program: wanted.stop_now_program.value,
        stop_now_erase: wanted.stop_now_erase.value,
        abort_read: wanted.abort_read.value,
        page_lock: able(&times.t_lock_page),
        block_lock: able(&times.t_lock_block),
        scrub: able(&times.t_scrub),
        reprogram: able(&times.t_reprogram),
        any_order: wanted.any_order.value,
        program_settings: wanted.program_settings.value,
        guarded_erase: wanted.guarded_erase.value,
        erase_trace: wanted.erase_trace.value,
    }
}

fn geometry(sections: &Sections, mistakes: &mut Mistakes<'_>) -> Option<Geometry> {
    let (shape, flash) = (&sections.geometry, &sections.flash);
    let before = mistakes.count();
    within(mistakes, "geometry.planes", &shape.planes, 1, PLANES_MAX);
    within(mistakes, "geometry.blocks", &shape.blocks, 1, IDS);
    within(mistakes, "flash.channels", &flash.channels, 1, IDS);
    within(mistakes, "flash.dies_per_channel", &flash.dies_per_channel, 1, IDS);
    let cells = wordlines(mistakes, &shape.cell, [&shape.layers, &shape.wordlines_per_layer], &shape.page, &shape.spare)?;
    if mistakes.count() > before {
        return None;
    }
    let dies = u64::from(flash.channels.value) * u64::from(flash.dies_per_channel.value);
    if dies > u64::from(IDS) {
        mistakes.at(
            &flash.dies_per_channel.origin,
            format!("flash.channels × dies_per_channel make {dies} dies: expected at most {IDS}"),
            None,
        );
    }
    let blocks = u128::from(dies) * u128::from(shape.planes.value) * u128::from(shape.blocks.value);
    let raw = blocks * u128::from(pages(&cells)) * u128::from(cells.page.0);
    if mistakes.count() == before && raw > RAW_MAX {
        let what = format!("this makes a drive of {} TiB: expected at most {} TiB", raw >> 40, RAW_MAX >> 40);
        mistakes.at(&shape.blocks.origin, what, None);
    }
    if mistakes.count() == before && blocks > BLOCKS_MAX {
        let what = format!("this makes a drive of {blocks} blocks: expected at most {BLOCKS_MAX}");
        mistakes.at(&shape.blocks.origin, what, None);
    }
    if mistakes.count() > before {
        return None;
    }
    Some(Geometry {
        channels: flash.channels.value,
        dies_per_channel: flash.dies_per_channel.value,
        planes: shape.planes.value,
        blocks: shape.blocks.value,
        layers: cells.layers,
        wordlines_per_layer: cells.wordlines_per_layer,
        cell: cells.cell,
        page: cells.page,
        spare: cells.spare,
    })
}

/// Checks layers, wordlines and pages, of a chip by itself as of one in a drive; `None` where they cannot be.
pub(crate) fn wordlines(
    mistakes: &mut Mistakes<'_>,
    cell: &Set<CellKind>,
    [layers, wordlines]: [&Set<u32>; 2],
    page: &Set<Bytes>,
    spare: &Set<Bytes>,
) -> Option<Shape> {
    let before = mistakes.count();
    within(mistakes, "geometry.layers", layers, 1, IDS);
    within(mistakes, "geometry.wordlines_per_layer", wordlines, 1, IDS);
    let size = page.value;
    if size.0 == 0 || !size.0.is_multiple_of(512) || size > PAGE_MAX {
        mistakes.at(&page.origin, format!("geometry.page is {size}: expected a multiple of 512 B, at most {PAGE_MAX}"), None);
    } else if spare.value > size {
        mistakes.at(&spare.origin, format!("geometry.spare is {}: expected at most a page, {size}", spare.value), None);
    }
    let shape = Shape { cell: cell.value, layers: layers.value, wordlines_per_layer: wordlines.value, page: size, spare: spare.value };
    let pages = pages(&shape);
    if mistakes.count() == before && pages > u64::from(IDS) {
        let what = format!("geometry.layers × wordlines_per_layer × bits per cell make {pages} pages in a block: expected at most {IDS}");
        mistakes.at(&layers.origin, what, None);
    }
    (mistakes.count() == before).then_some(shape)
}

/// Pages of a block.
fn pages(shape: &Shape) -> u64 {
    u64::from(shape.layers) * u64::from(shape.wordlines_per_layer) * u64::from(shape.cell.bits())
}

fn timing(sections: &Sections, mistakes: &mut Mistakes<'_>) -> Option<Timing> {
    let (times, wanted) = (&sections.timing, &sections.capabilities);
    let before = mistakes.count();
    let read = page_times(sections, "timing.t_read", &times.t_read, times.t_read.value, mistakes);
    let scope = &wanted.program_scope;
    let (mut program, mut program_wordline) = (Some([Nanos::ZERO; 4]), Nanos::ZERO);
    match (scope.value, times.t_program.value.0, times.t_program_wordline.value.0) {
        (ProgramScope::Page, Some(time), _) => program = page_times(sections, "timing.t_program", &times.t_program, time, mistakes),
        (ProgramScope::Wordline, _, Some(time)) => program_wordline = time,
        (ProgramScope::Page, None, _) => {
            needed(mistakes, "timing.t_program", "capabilities.program_scope is \"page\"", &PageTimes::expected(), scope);
        }
        (ProgramScope::Wordline, _, None) => {
            needed(mistakes, "timing.t_program_wordline", "capabilities.program_scope is \"wordline\"", &Nanos::expected(), scope);
        }
    }
    if scope.value == ProgramScope::Wordline && times.t_program_wordline.value.0 == Some(Nanos::ZERO) {
        instant(mistakes, "timing.t_program_wordline", &times.t_program_wordline);
    }
    if times.t_erase.value == Nanos::ZERO {
        instant(mistakes, "timing.t_erase", &times.t_erase);
    }
    let one_shots = [
        ("timing.t_lock_page", &times.t_lock_page),
        ("timing.t_lock_block", &times.t_lock_block),
        ("timing.t_scrub", &times.t_scrub),
        ("timing.t_reprogram", &times.t_reprogram),
    ];
    let [lock_page, lock_block, scrub, reprogram] = one_shots.map(|(key, time)| {
        if time.value.0 == Some(Nanos::ZERO) {
            instant(mistakes, key, time);
        }
        time.value.0.unwrap_or_default()
    });
    let stops = super::stops::check(sections, mistakes);
    if mistakes.count() > before {
        return None;
    }
    Some(Timing {
        read: read?,
        program: program?,
        program_wordline,
        erase: times.t_erase.value,
        feature: times.t_feature.value,
        cache_busy: times.t_cache_busy.value,
        suspend_program: stops.suspend[0],
        suspend_erase: stops.suspend[1],
        step_program: stops.step[0],
        step_erase: stops.step[1],
        halt_program: stops.halt[0],
        halt_erase: stops.halt[1],
        abort_read: stops.abort,
        resume: times.t_resume.value,
        suspend_interval: times.suspend_interval.value,
        reset: times.t_reset.value,
        lock_page,
        lock_block,
        scrub,
        reprogram,
        bus_overhead: times.bus_overhead.value,
    })
}

fn page_times<T>(sections: &Sections, key: &str, set: &Set<T>, times: PageTimes, mistakes: &mut Mistakes<'_>) -> Option<[Nanos; 4]> {
    let cell = sections.geometry.cell.value;
    let Some(held) = times.for_bits(cell.bits()) else {
        let what = format!("{key} lists {} times: expected one, or {} as {} has page types", times.len(), cell.bits(), cell.name());
        mistakes.at(&set.origin, what, None);
        return None;
    };
    if times.as_slice().contains(&Nanos::ZERO) {
        instant(mistakes, key, set);
        return None;
    }
    Some(held)
}

fn faults(sections: &Sections, mistakes: &mut Mistakes<'_>) {
    let endurance = &sections.faults.endurance;
    if endurance.value.0 == Some(0) {
        mistakes.at(&endurance.origin, "faults.endurance is 0: expected at least 1, or \"none\"", None);
    }
}
