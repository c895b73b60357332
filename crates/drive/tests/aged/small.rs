//! Small drives and uniform loads.

use wordline_cells::Faults;
use wordline_drive::{Config, Costs, Ecc, FtlPlace, SearchSteps, Trims, Watched, Weights};
use wordline_flash::{ProgramScope, example};
use wordline_ftl::config::{Acknowledge, BufferConfig, FreeBlockConfig, GcConfig, Protection, ScheduleConfig};
use wordline_ftl::free_block::FreeBlockPolicy;
use wordline_ftl::retirement::RetirementPolicy;
use wordline_ftl::victim::VictimPolicy;
use wordline_units::random::{Draw, Stream};
use wordline_units::{Bytes, Geometry, HostOp, HostRequest, Nanos, Rate};

/// Parameters of small drives that tests vary.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) channels: u32,
    pub(crate) dies_per_channel: u32,
    pub(crate) cores: u32,
    pub(crate) planes: u32,
    pub(crate) blocks: u32,
    pub(crate) layers: u32,
    pub(crate) scope: ProgramScope,
    pub(crate) unit: Bytes,
    /// Spare share of the exported space: raw = exported × (1 + this).
    pub(crate) spare: f64,
    pub(crate) victim: VictimPolicy,
    pub(crate) preemptible: bool,
    pub(crate) faults: Faults,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape {
            channels: 2,
            dies_per_channel: 2,
            cores: 1,
            planes: 1,
            blocks: 128,
            layers: 8,
            scope: ProgramScope::Page,
            unit: Bytes::kib(16),
            spare: 0.28,
            victim: VictimPolicy::Greedy,
            preemptible: false,
            faults: Faults::default(),
        }
    }
}

impl Shape {
    pub(crate) fn config(&self) -> Config {
        let mut sheet = example::sheet();
        sheet.geometry = Geometry {
            channels: self.channels,
            dies_per_channel: self.dies_per_channel,
            planes: self.planes,
            blocks: self.blocks,
            layers: self.layers,
            ..sheet.geometry
        };
        sheet.capabilities.program_scope = self.scope;
        let raw = sheet.geometry.raw().0 / self.unit.0;
        let firmware = wordline_ftl::Config {
            sheet,
            dies: 0,
            unit: self.unit,
            exported_units: 0,
            spare_blocks: 0,
            read_entries: 1,
            read_search: false,
            transfer: Nanos::ZERO,
            codeword_bits: 0,
            factory_bad: vec![],
            buffer: BufferConfig {
                units: 256,
                acknowledge: Acknowledge::Buffered,
                protection: Protection::None,
                partial_watermark: 0.5,
                load_window: wordline_units::Nanos::from_millis(1),
            },
            gc: GcConfig {
                victim: self.victim,
                start: 3,
                floor: 1,
                scheduler: wordline_ftl::scheduler::Scheduler::Classic,
                preemptible: self.preemptible,
                lazy_erase: false,
            },
            free_block: FreeBlockConfig { key: FreeBlockPolicy::LongestFree, gap: None },
            retirement: RetirementPolicy::Failed,
            repair: wordline_ftl::config::RepairConfig::DEFAULT,
            spared_max: 0,
            moved_blocks: 1,
            wordline_order: wordline_ftl::wordline_order::WordlineOrder::HorizontalFirst,
            margins: None,
            tables: wordline_flash::Tables::default(),
            schedule: ScheduleConfig { reads_first: true, linger: None, held_max: None, reads_in_row: None },
            techniques: vec![],
            keeps_data: false,
            checkpoint_every: None,
            recovers: false,
            oob_copies: true,
            oob_place: wordline_ftl::config::OobPlace::Group,
            seed: 1,
            core: 0,
        };
        Config {
            sheet,
            faults: self.faults,
            cells: None,
            cycles: 0,
            classes: None,
            // A byte takes a whole nanosecond, so that no fraction is carried from transfer to transfer.
            channel: Rate::from_mega_transfers(1_000, 8),
            dram: None,
            link: None,
            link_in: None,
            ftl: FtlPlace::Drive,
            ecc: Ecc { latency: Nanos(0), rate: None },
            search: SearchSteps { width: 2, reach: 5 },
            die_timeout: Nanos::from_millis(100),
            read_sets: std::sync::Arc::default(),
            cores: self.cores,
            stripe_units: 4,
            costs: Costs::default(),
            queue_depth: 65_535,
            weights: Weights::default(),
            trims: Trims::Whole,
            firmware,
            exported_units: (raw as f64 / (1.0 + self.spare)) as u64,
            seed: 1,
        }
    }

    pub(crate) fn drive(&self) -> Watched {
        Watched::new(self.config(), ())
    }
}

/// One-unit writes, uniform over the first `span` units.
pub(crate) fn uniform(config: &Config, span: u64, seed: u64) -> impl Iterator<Item = HostRequest> + use<> {
    let sectors = config.firmware.unit.0 / 512;
    let mut draw = Draw::new(seed, Stream::Address, 0);
    std::iter::from_fn(move || Some(HostRequest::new(HostOp::Write, draw.below(span) * sectors, sectors as u32)))
}
