//! Configuration of a firmware core, fixed when it starts. The plan has checked it; the firmware asserts the few relations it relies on.

use std::sync::Arc;

use wordline_flash::{Margins, Sheet, Tables};
use wordline_units::{Bytes, Nanos, Seconds};

use crate::pages::oob::marks_per_page;
use crate::retirement::RetirementPolicy;
use crate::state::layout::Layout;
pub use crate::state::settings::{Acknowledge, BufferConfig, FreeBlockConfig, GcConfig, Protection, RepairConfig, ScheduleConfig};
use crate::state::wordline_order::WordlineOrder;
use crate::techniques::Choice;
use crate::techniques::declaration::Site;
use crate::techniques::seam::Ask;

/// Place of the second copies of out-of-band marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OobPlace {
    /// The last program units of the block group that they are of, and one journal until then. A block or a die that fails takes both copies.
    Group,
    /// A log on two dies, which holds the map as well.
    Neighbour,
}

/// Configuration of one firmware core and its dies.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Data sheet of the core's dies.
    pub sheet: Sheet,
    /// Entries of the dies' read-retry table; 1 means that no retry is possible. The drive sets it.
    pub read_entries: u32,
    /// True if the controller searches for the best references of a page that no entry of the table serves. The drive sets it.
    pub read_search: bool,
    /// Time in which a page comes over the bus and is corrected. The drive sets it.
    pub transfer: Nanos,
    /// Bits of a codeword; 0: the controller does not count wrong bits. The drive sets it.
    pub codeword_bits: u32,
    /// Limits within which the chip's maker characterised narrowed programs; `None`: not characterised.
    pub margins: Option<Arc<Margins>>,
    /// Tables of how blocks age, found on lots of chips that are not the drive's.
    pub tables: Tables,
    /// Number of dies that the core owns.
    pub dies: u32,
    /// Size of a mapping unit, which is what one map entry points to: a page, or a divisor of one.
    pub unit: Bytes,
    /// Number of mapping units exported to the host.
    pub exported_units: u32,
    /// Blocks per plane kept back to replace bad ones.
    pub spare_blocks: u32,
    /// Factory bad blocks: one list per die of (plane, block) marks, as the firmware reads them at its first start.
    pub factory_bad: Vec<Vec<(u8, u16)>>,
    /// Settings of the write buffer.
    pub buffer: BufferConfig,
    /// Settings of GC.
    pub gc: GcConfig,
    /// Settings of the choice of free blocks, which is wear levelling.
    pub free_block: FreeBlockConfig,
    /// Policy that decides when blocks leave service.
    pub retirement: RetirementPolicy,
    /// Settings of the detector of failed dies.
    pub repair: RepairConfig,
    /// Settings of the order in which a die takes its work.
    pub schedule: ScheduleConfig,
    /// Order in which the wordlines of a block are programmed.
    pub wordline_order: WordlineOrder,
    /// Number of wordlines that an erase may spare whatever techniques ask for: see [`Config::most_spared`].
    pub spared_max: u32,
    /// Least number of blocks of a die that take moved data at once, where a technique says that places suit it differently: see [`Config::open_for_moved`].
    pub moved_blocks: u32,
    /// The techniques that are switched on, in any order.
    pub techniques: Vec<Choice>,
    /// True if the drive stores the bytes of user data: see [`crate::DataStep`]. Such a core also recovers.
    pub keeps_data: bool,
    /// Program one checkpoint unit for every N data units, in a core that keeps data. `None` disables checkpoints.
    pub checkpoint_every: Option<u32>,
    /// True if the core writes the metadata that recovery after a power cut needs. In simulation there is nothing to recover; the overhead is modelled all
    /// the same.
    pub recovers: bool,
    /// True if a core that recovers writes the out-of-band marks of its pages twice: see [`crate::OobPage`]. Without the second copy, a page that cannot be
    /// read after a power cut is taken for one that was never finished.
    pub oob_copies: bool,
    /// Place of the second copies. It matters to a core with two dies or more.
    pub oob_place: OobPlace,
    /// Seed of all policies that sample.
    pub seed: u64,
    /// Number of this core, which keys its dice.
    pub core: u32,
}

/// A technique that has each block group rewritten after no more reads than others make to measure it: no group would ever rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overread {
    /// Name of the technique.
    pub technique: &'static str,
    /// Reads after which it has a group rewritten.
    pub reads: u32,
    /// Pages of a group that all techniques together have measured in each filling.
    pub measured: u32,
}

/// A technique whose tables hold for less time than data may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outlived {
    /// Name of the technique.
    pub technique: &'static str,
    /// Time for which its tables hold.
    pub retention: Seconds,
    /// Time within which other techniques have all data moved; `None`: none does.
    pub kept: Option<Seconds>,
}

impl Config {
    /// Block groups of a die that never hold data at rest: those that GC keeps free, and those that are open.
    pub(crate) fn reserve(&self) -> u32 {
        self.gc.floor + self.open_for_moved() + self.wordline_order.open_blocks()
    }

    /// Number of blocks of a die that take moved data at once: [`Config::moved_blocks`], or more where a technique asks for more.
    pub fn open_for_moved(&self) -> u32 {
        self.techniques.iter().map(|choice| choice.declaration().asks_places(&choice.values())).fold(self.moved_blocks, u32::max)
    }

    /// Greatest number of wordlines that an erase spares: [`Config::spared_max`], or what techniques ask for together if that is more. Their sets are united,
    /// so the demands of several add up.
    pub fn most_spared(&self) -> u32 {
        let asked = self.techniques.iter().map(|choice| choice.declaration().asks_spared(&choice.values(), &self.tables)).sum();
        self.spared_max.max(asked)
    }

    /// Names of the techniques because of which no die is given the data of a program while it is doing one.
    pub fn bars_loading_ahead(&self) -> impl Iterator<Item = &'static str> + '_ {
        let cards = self.techniques.iter().map(|choice| choice.card());
        cards.filter(|card| card.asks.contains(&Ask::OneProgram)).map(|card| card.name)
    }

    /// True if counts of copies are written at the end of each block group that has received a copy.
    pub(crate) fn writes_counters(&self) -> bool {
        self.techniques.iter().any(|choice| choice.declaration().asks_counters(&choice.values()))
    }

    /// True if a technique has all data moved over the bus within some time.
    pub fn renews(&self) -> bool {
        let layout = self.layout();
        self.techniques.iter().any(|choice| choice.build(&self.site(&layout)).renews_within().is_some())
    }

    /// Reasons to doubt results with these techniques and parameters, each with the name of its technique.
    pub fn doubts(&self) -> Vec<String> {
        let layout = self.layout();
        let doubt = |choice: &Choice| Some(format!("{}: {}", choice.card().name, choice.build(&self.site(&layout)).doubt()?));
        self.techniques.iter().filter_map(doubt).collect()
    }

    /// Greatest share of flash that techniques together want to be without data in the mean, because erases spare or withhold it.
    pub fn idle_share(&self) -> f64 {
        let layout = self.layout();
        self.techniques.iter().map(|choice| choice.build(&self.site(&layout)).idle_share()).sum()
    }

    /// First technique that has groups rewritten after no more reads than techniques make to measure them, if there is one.
    pub fn overread(&self) -> Option<Overread> {
        let layout = self.layout();
        let techniques: Vec<_> = self.techniques.iter().map(|choice| choice.build(&self.site(&layout))).collect();
        let measured = techniques.iter().map(|technique| technique.measured_pages()).sum();
        techniques.iter().find_map(|technique| {
            let reads = technique.reads_most().filter(|&reads| reads <= measured)?;
            Some(Overread { technique: technique.card().name, reads, measured })
        })
    }

    /// First technique whose tables hold for less time than data may be kept, if there is one.
    pub fn outlived(&self) -> Option<Outlived> {
        let layout = self.layout();
        let techniques: Vec<_> = self.techniques.iter().map(|choice| choice.build(&self.site(&layout))).collect();
        let kept = techniques.iter().filter_map(|technique| technique.renews_within()).min();
        techniques.iter().find_map(|technique| {
            let retention = technique.retention()?;
            let is_outlived = kept.is_none_or(|kept| kept > retention);
            is_outlived.then(|| Outlived { technique: technique.card().name, retention, kept })
        })
    }

    /// True if the out-of-band marks are written twice.
    pub(crate) fn copies_oob(&self) -> bool {
        self.oob_copies && (self.keeps_data || self.recovers)
    }

    /// True if second copies lie on another die than the pages that they are of: in the map log.
    pub fn has_twins(&self) -> bool {
        self.copies_oob() && self.oob_place == OobPlace::Neighbour && self.dies > 1
    }

    /// Core and dies on which its techniques work.
    pub(crate) fn site<'a>(&'a self, layout: &'a Layout) -> Site<'a> {
        let sets_programs = self.techniques.iter().any(|choice| choice.card().asks.contains(&Ask::Programs));
        Site {
            layout,
            sheet: &self.sheet,
            margins: self.margins.as_deref(),
            tables: &self.tables,
            sets_programs,
            read_entries: self.read_entries,
            transfer: self.transfer,
        }
    }

    /// Layout of the core's flash.
    pub(crate) fn layout(&self) -> Layout {
        let layout = Layout::new(&self.sheet, self.dies, self.sheet.geometry.blocks - self.spare_blocks, self.unit);
        if self.copies_oob() && !self.has_twins() {
            layout.with_oob_copies(marks_per_page(self.sheet.geometry.page.0 as usize))
        } else {
            layout
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::free_block::FreeBlockPolicy;
    use crate::scheduler::Scheduler;
    use crate::state::layout::tests::small_sheet;
    use crate::victim::VictimPolicy;
    use wordline_flash::ProgramScope;

    /// One die of ten block groups of one plane with twelve program units of one 16-KiB page, in units of 4 KiB, of which `exported` are shown to the host.
    /// Write-back, greedy, without recovery and techniques.
    pub(crate) fn small(exported: u32) -> Config {
        Config {
            sheet: small_sheet(1, 10, ProgramScope::Page),
            read_entries: 1,
            read_search: false,
            transfer: Nanos::ZERO,
            codeword_bits: 0,
            margins: None,
            tables: Tables::default(),
            dies: 1,
            unit: Bytes::kib(4),
            exported_units: exported,
            spare_blocks: 0,
            factory_bad: vec![],
            buffer: BufferConfig {
                units: 16,
                acknowledge: Acknowledge::Buffered,
                protection: Protection::None,
                partial_watermark: 0.5,
                load_window: Nanos::from_millis(1),
            },
            gc: GcConfig {
                victim: VictimPolicy::Greedy,
                start: 3,
                floor: 1,
                scheduler: Scheduler::Classic,
                preemptible: false,
                lazy_erase: false,
            },
            free_block: FreeBlockConfig { key: FreeBlockPolicy::LongestFree, gap: None },
            retirement: RetirementPolicy::Failed,
            repair: RepairConfig::DEFAULT,
            schedule: ScheduleConfig { reads_first: true, linger: None, held_max: None, reads_in_row: None },
            wordline_order: WordlineOrder::HorizontalFirst,
            spared_max: 0,
            moved_blocks: 1,
            techniques: vec![],
            keeps_data: false,
            checkpoint_every: None,
            recovers: false,
            oob_copies: false,
            oob_place: OobPlace::Group,
            seed: 1,
            core: 0,
        }
    }
}
