//! Search for the shape of a drive of another size: flash on which GC has the share of spare that it has at the drive's own size.
//!
//! Usable spare is what GC works with: spare less what it keeps free, the empty half of open blocks, metadata and marks, as a share of the flash that data and
//! GC have ([`Figures::usable_spare`](crate::figures::Figures::usable_spare)). Most of what is set aside is a number of block groups of each die, so it is a
//! greater share of fewer blocks, and a small drive needs more nominal spare.
//!
//! Many shapes keep the usable share within its tolerance. Write amplification differs between them, since fewer blocks, and smaller ones, act as more spare
//! (docs/models/write-amplification.md, "Fewer and smaller blocks"). The search takes whole blocks where that makes little difference, and otherwise the shape
//! for which it makes least.

use wordline_drive::Config;
use wordline_ftl::scheduler::Scheduler;
use wordline_ftl::techniques::declaration::{Need, Table};

use super::{SPARE_TOLERANCE, Shape};
use crate::figures::usable_spare;
use crate::plan::Plan;

/// Die numbers have 16 bits.
pub(super) const DIES_MAX: u64 = 1 << 16;
/// Numbers of dies that are tried, the fewest first: more dies have fewer blocks each, and lack nothing else.
const DIES_TRIED: usize = 2;
/// A plane of *N* blocks acts as one of unlimited blocks with this share of *1/N* more spare. Source: the tables named above, 0.43 to 0.59.
const SPARE_OF_FEW_BLOCKS: f64 = 0.5;
/// Share of a block that GC in turns with the host has for use of those that it is said to keep free, because a block fills while a victim is emptied.
const SPARE_OF_TURNS: f64 = 0.5;
/// Blocks of *b* units act as unlimited ones with this share of *1/b* more spare. Source: the table named above, 0.51 to 0.52.
const SPARE_OF_SMALL_BLOCKS: f64 = 0.5;
/// Whole blocks are taken where they act as spare that is off by no more than this share.
const OFF_OF_WHOLE: f64 = 0.002;
/// Shapes that act as spare off by no more than this apart are as good, and the largest blocks are taken.
const AS_GOOD: f64 = 0.0005;
/// The least number of h-layers of blocks of a drive whose techniques go by tables of h-layers. With fewer, the weakest h-layer and some classes of h-layers of
/// 48 have none at their height.
pub(super) const LAYERS_OF_TABLES: u32 = 10;

/// A drive whose shape and capacity are varied, to find its usable spare without checking a plan of each.
struct Probe {
    config: Config,
    own: f64,
    /// [`acts_as`] at the drive's own size.
    own_acts: f64,
}

/// Spare that a drive acts as having beyond its own, as a share of usable flash, by the number and the size of its blocks.
fn acts_as(config: &Config) -> f64 {
    let turns = if config.firmware.gc.scheduler == Scheduler::Paced { SPARE_OF_TURNS } else { 0.0 };
    (SPARE_OF_FEW_BLOCKS + turns) / f64::from(config.sheet.geometry.blocks)
        + SPARE_OF_SMALL_BLOCKS / f64::from(wordline_ftl::data_units(&config.firmware))
}

impl Probe {
    fn new(plan: &Plan) -> Probe {
        let config = plan.config().clone();
        Probe { own: plan.figures().usable_spare, own_acts: acts_as(&config), config }
    }

    /// Gives the drive this shape. Returns false if its blocks would hold no data.
    fn takes(&mut self, shape: Shape, bytes: u64) -> bool {
        let config = &mut self.config;
        let units = bytes / config.firmware.unit.0;
        let Ok(units_of_core) = u32::try_from(units / u64::from(config.cores)) else { return false };
        let (Ok(dies), Ok(blocks)) = (u32::try_from(shape.dies_per_channel), u32::try_from(shape.blocks)) else { return false };
        for geometry in [&mut config.sheet.geometry, &mut config.firmware.sheet.geometry] {
            (geometry.layers, geometry.dies_per_channel, geometry.blocks) = (shape.layers, dies, blocks);
        }
        config.exported_units = units;
        config.firmware.exported_units = units_of_core;
        config.firmware.dies = config.sheet.geometry.dies() / config.cores;
        blocks > config.firmware.spare_blocks && wordline_ftl::data_units(&config.firmware) > 0
    }

    /// Distance of usable spare from the drive's own, as a share of usable flash, negative where it is less; `None`: blocks hold no data.
    fn off(&mut self, shape: Shape, bytes: u64) -> Option<f64> {
        self.takes(shape, bytes).then(|| usable_spare(&self.config) - self.own)
    }

    /// The least number of blocks with which usable spare is not below the drive's own; one more than `most` if none is. `None`: blocks hold no data.
    fn enough(&mut self, shape: Shape, bytes: u64, most: u64) -> Option<u64> {
        self.off(Shape { blocks: most, ..shape }, bytes)?;
        let (mut low, mut high) = (0, most + 1);
        while high - low > 1 {
            let blocks = low.midpoint(high);
            match self.off(Shape { blocks, ..shape }, bytes) {
                Some(off) if off >= 0.0 => high = blocks,
                _ => low = blocks,
            }
        }
        Some(high)
    }

    /// Distance from the drive's own of the spare that GC seems to have, with the shape that was taken last, for which usable spare is `off`.
    fn seems(&self, off: f64) -> f64 {
        (off + acts_as(&self.config) - self.own_acts).abs()
    }
}

/// Shapes with which each of `plans`, all alike, keeps its usable spare within [`SPARE_TOLERANCE`] at `bytes` for the host, the best first.
pub(super) fn fitting(plans: &[&Plan], bytes: u64) -> Vec<Shape> {
    let config = plans[0].config();
    let (geometry, cores) = (config.sheet.geometry, u64::from(config.cores));
    let channels = u64::from(geometry.channels);
    let mut probes: Vec<Probe> = plans.iter().map(|plan| Probe::new(plan)).collect();
    let least_layers = if plans.iter().any(|plan| goes_by_tables(plan)) { LAYERS_OF_TABLES.min(geometry.layers) } else { 1 };
    let most = u64::from(geometry.blocks);
    // The fewest dies that hold it follow by division: a drive of many terabytes would be long in coming to them one by one.
    let of_channel = (geometry.raw().0 / u64::from(geometry.dies())).max(1) * channels;
    let (own, full) = (u64::from(geometry.dies_per_channel), bytes / of_channel);
    let numbers =
        (own.max(full)..=u64::min(own.max(2 * full) + 8, DIES_MAX / channels)).filter(|dies| (channels * dies).is_multiple_of(cores));
    let mut found: Vec<Vec<Shape>> = Vec::new();
    for dies_per_channel in numbers {
        let mut of_dies = Vec::new();
        for layers in (least_layers..=geometry.layers).rev() {
            of_dies.extend(fitting_blocks(&mut probes, Shape { layers, dies_per_channel, blocks: 0 }, bytes, most));
        }
        if !of_dies.is_empty() {
            found.push(ranked(of_dies, geometry.layers));
        }
        if found.len() == DIES_TRIED {
            break;
        }
    }
    found.concat()
}

/// True if a technique of the drive needs a table that names h-layers.
pub(super) fn goes_by_tables(plan: &Plan) -> bool {
    let is_table =
        |need: &Need| matches!(need.whole(), Need::Table(Table::Margins | Table::Aging | Table::Ort | Table::Copyback | Table::Guard));
    plan.sections().techniques.on().any(|on| on.declaration.needs.iter().any(is_table))
}

/// Shapes in the order of the distance by which spare seems to be off with them.
fn ranked(mut shapes: Vec<(f64, Shape)>, whole: u32) -> Vec<Shape> {
    let class = |(seems, shape): &(f64, Shape)| {
        if shape.layers == whole && *seems <= OFF_OF_WHOLE { 0 } else { 1 + (seems / AS_GOOD) as u64 }
    };
    shapes.sort_by(|one, other| {
        let by_size = other.1.layers.cmp(&one.1.layers);
        class(one).cmp(&class(other)).then(by_size).then(one.0.total_cmp(&other.0))
    });
    shapes.into_iter().map(|(_, shape)| shape).collect()
}

/// The numbers of blocks with which all drives keep their usable spare, with the dies and h-layers of `shape`, each with how far spare seems to be off.
fn fitting_blocks(probes: &mut [Probe], shape: Shape, bytes: u64, most: u64) -> Vec<(f64, Shape)> {
    let enough: Option<Vec<u64>> = probes.iter_mut().map(|probe| probe.enough(shape, bytes, most)).collect();
    let Some(enough) = enough else { return Vec::new() };
    let (first, last) = enough.iter().fold((most, 1), |(first, last), &blocks| (first.min(blocks), last.max(blocks)));
    // A block more is a share of 1/N more: so many are within the tolerance on either side.
    let around = 2 + (SPARE_TOLERANCE * 1.5 * first as f64) as u64;
    let of = |blocks: u64| {
        let shape = Shape { blocks, ..shape };
        let mut most_seems = 0.0;
        for probe in &mut *probes {
            let off = probe.off(shape, bytes).filter(|off| off.abs() <= SPARE_TOLERANCE)?;
            most_seems = f64::max(most_seems, probe.seems(off));
        }
        Some((most_seems, shape))
    };
    (first.saturating_sub(around).max(1)..=(last + around).min(most)).filter_map(of).collect()
}

/// The capacity with which `plan` has `share` of usable spare on flash of this shape, in bytes, a multiple of `step`; 0: none has so much.
pub(super) fn shown_on(plan: &Plan, shape: Shape, share: f64, step: u64) -> u64 {
    let mut probe = Probe::new(plan);
    if !probe.takes(shape, step) {
        return 0;
    }
    let (mut low, mut high) = (0, probe.config.sheet.geometry.raw().0 / step);
    while high - low > 1 {
        let steps = u64::midpoint(low, high);
        let is_enough = probe.takes(shape, steps * step) && usable_spare(&probe.config) >= share;
        (low, high) = if is_enough { (steps, high) } else { (low, steps) };
    }
    low * step
}

/// Number of bytes of which the sizes of a drive are multiples.
pub(super) fn size_step(plan: &Plan) -> u64 {
    let config = plan.config();
    config.firmware.unit.0 * u64::from(config.cores) * u64::from(config.stripe_units)
}
