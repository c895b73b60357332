//! Gains of techniques that go by the age of blocks: what each of them brings on virtual chips, before a drive runs.
//!
//! The chips are those of a lot that the chip's tables were not made from. Each block is cycled with a dwell of its own, as on a drive some blocks are written
//! often and others are not. Firmware's part is done with what firmware sees: counts and erase traces with their noise, and the chip's tables.

use std::sync::Arc;

use wordline_cells::{Block, References, Traits, errors_at};
use wordline_flash::tables::{Aging, CopyReferences, Copyback, Ort, OrtIndex, OrtPlace, Sequence};
use wordline_flash::{ReadOffsets, Tables};
use wordline_plan::Chip;

use crate::bench::Setup;
use crate::copies::Chain;
use crate::error::LabError;
use crate::lot::{Lot, greatest, mean, rank_correlation};
use crate::tables::aging::{Cycler, seen};

/// A lot of a chip with tables.
#[derive(Debug)]
pub struct Chips {
    lot: Lot,
    setup: Setup,
    tables: Tables,
}

/// Age of a block and the errors behind it.
#[derive(Clone, Copy, Debug)]
pub struct Aged {
    /// Age that firmware tells, in thousandths of a life.
    pub age: f64,
    /// N(12): wrong bits of a codeword of the weakest wordline's worst page after the required retention, at the best references.
    pub errors: f64,
}

/// Copies in a row of blocks of one P/E count, in the mean.
#[derive(Clone, Copy, Debug)]
pub struct Allowed {
    /// Copies that the table allows by P/E count.
    pub by_pe: f64,
    /// Copies that the table allows by the age of each block.
    pub by_age: f64,
    /// Copies that each block by itself stands with the risk that the table promises.
    pub own: f64,
}

/// Wrong bits of data kept for some time.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    /// Mean over the blocks.
    pub mean: f64,
    /// Greatest of the blocks.
    pub most: f64,
}

impl Chips {
    /// The chips of a setup's lot, with the tables of their kind.
    ///
    /// # Errors
    ///
    /// There is no such chip, or it has no physics.
    pub fn open(setup: &Setup) -> Result<Chips, LabError> {
        let tables = Chip::load_set(&setup.chip, &setup.null.on_chip(&setup.settings))?.tables().clone();
        Ok(Chips { lot: Lot::open(setup)?, setup: setup.clone(), tables })
    }

    /// Wrong bits of a codeword that can be corrected.
    pub fn limit(&self) -> f64 {
        self.lot.limit()
    }

    /// P/E counts at which the chip's marker of ages tells its worst block.
    ///
    /// # Errors
    ///
    /// The chip has no such table.
    pub fn counts(&self) -> Result<Vec<f64>, LabError> {
        Ok(self.aging()?.pe.iter().map(|pe| f64::from(*pe)).collect())
    }

    fn aging(&self) -> Result<&Arc<Aging>, LabError> {
        self.tables.aging.as_ref().ok_or_else(|| self.lacks("aging"))
    }

    fn copyback(&self) -> Result<&Arc<Copyback>, LabError> {
        self.tables.copyback.as_ref().ok_or_else(|| self.lacks("copyback"))
    }

    fn lacks(&self, table: &str) -> LabError {
        LabError::Usage(format!("chip {} has no table [{table}]", self.setup.chip))
    }

    /// Ages and errors of the blocks that are alive at each of these P/E counts.
    ///
    /// # Errors
    ///
    /// The chip has no ages.
    pub fn ages(&self, counts: &[f64]) -> Result<Vec<Vec<Aged>>, LabError> {
        let aging = self.aging()?;
        let cycler = Cycler::new(&self.lot, &self.setup)?;
        let lives = self.lot.map(|block| self.looked(&cycler, aging, block, counts));
        let at = |count: usize| lives.iter().filter_map(|life| life[count]).collect();
        Ok((0..counts.len()).map(at).collect())
    }

    /// A block's age and errors at each P/E count; `None` once it is dead.
    fn looked(&self, cycler: &Cycler<'_>, aging: &Aging, block: &Block, counts: &[f64]) -> Vec<Option<Aged>> {
        let (traits, weak, dwell) = (self.lot.traits(block), cycler.weakest(block), cycler.dwell(block));
        let of = |pe: &f64| {
            let look = cycler.look(block, &traits, &weak, *pe, dwell);
            let aged = Aged { age: f64::from(aging.age(&seen(cycler, aging, &look))), errors: look.sight.n12 };
            (aged.errors <= self.lot.limit()).then_some(aged)
        };
        counts.iter().map(of).collect()
    }

    /// Mean retries of reads of data kept for `kept` seconds, by P/E count: from the vendor's table, from sets by P/E count, and from sets by age. Reads are
    /// of all pages of the blocks that are alive; those that nothing serves before a search are left out.
    ///
    /// # Errors
    ///
    /// The chip has no ages or no read references.
    pub fn retries(&self, counts: &[f64], kept: f64) -> Result<Vec<[f64; 3]>, LabError> {
        let aging = self.aging()?;
        let ort = self.tables.ort.as_ref().ok_or_else(|| self.lacks("ort"))?;
        let cycler = Cycler::new(&self.lot, &self.setup)?;
        let reads: Vec<Vec<Vec<[Option<u32>; 3]>>> = self.lot.map(|block| {
            let ages = self.looked(&cycler, aging, block, counts);
            counts
                .iter()
                .zip(ages)
                .map(|(pe, aged)| aged.map_or_else(Vec::new, |aged| self.read(&cycler, ort, block, *pe, aged.age as u16, kept)))
                .collect()
        });
        let at = |count: usize| {
            [0, 1, 2].map(|which| {
                let tries = reads.iter().flat_map(|block| &block[count]).filter_map(|tries| tries[which]);
                mean(&tries.map(f64::from).collect::<Vec<_>>())
            })
        };
        Ok((0..counts.len()).map(at).collect())
    }

    /// Retries of a read of each page of a block: from the vendor's table, from sets by P/E count, and from sets by age; `None` if nothing serves it.
    fn read(&self, cycler: &Cycler<'_>, ort: &Ort, block: &Block, pe: f64, age: u16, kept: f64) -> Vec<[Option<u32>; 3]> {
        let (lot, model) = (&self.lot, &self.lot.model);
        let condition = lot.after(lot.cycled(pe, cycler.dwell(block)), kept);
        let vendor: Vec<References> = (0..=model.retry_entries()).map(|entry| model.references(entry)).collect();
        let count = model.physics().shape.states() - 1;
        let set = |number: u8| {
            let (mut references, offsets) = (model.references(0), &ort.sets[usize::from(number)]);
            let steps = (1..=count as u8).map(|reference| f64::from(offsets.of(reference)));
            references.iter_mut().zip(steps).for_each(|(reference, steps)| *reference += steps * ReadOffsets::STEP.millivolts());
            references
        };
        let sequence = |index: &OrtIndex, step: usize, layer: u32| -> Sequence {
            index.sequences[ort.place(&OrtPlace { step, kept: Some(kept as u32), layer, reads: 0 })]
        };
        let of = |(layer, traits): (usize, Traits)| {
            let wordline = model.wordline(&traits, &condition);
            let layer = layer as u32;
            let own: [Vec<References>; 3] = [
                Vec::new(),
                sequence(&ort.by_pe, ort.pe_step(pe as u32), layer).sets().map(set).collect(),
                sequence(&ort.by_age, Ort::age_step(age), layer).sets().map(set).collect(),
            ];
            let page = |page: u32| {
                let luck = |what: u32| lot.luck([block.chip << 16 | block.block, layer << 2 | page, pe as u32, what]);
                let (bits, noise) = (luck(0x61), luck(0x62));
                [0, 1, 2].map(|which| {
                    let reading = model.read_through(&wordline, page, bits, noise, own[which].iter().chain(&vendor).copied());
                    reading.corrected.then_some(reading.retries)
                })
            };
            (0..lot.pages()).map(page).collect::<Vec<_>>()
        };
        lot.traits(block).into_iter().enumerate().flat_map(of).collect()
    }

    /// Copies in a row at each P/E count, of the blocks that are alive there, with the longest retention of the table after the last one.
    ///
    /// # Errors
    ///
    /// The chip has no ages or no thresholds of copies.
    pub fn copies(&self, counts: &[f64], most: u32) -> Result<Vec<Allowed>, LabError> {
        let (aging, table) = (self.aging()?, self.copyback()?);
        let cycler = Cycler::new(&self.lot, &self.setup)?;
        let column = table.retention.len().saturating_sub(1);
        let threshold = |bin: usize, by_age: bool| {
            let index = if by_age { &table.by_age } else { &table.by_pe };
            f64::from(index.threshold(CopyReferences::Default, column, Copyback::CLASSES - 1, bin))
        };
        let kept = table.retention.last().copied().map_or(0.0, f64::from);
        let own = |block: &Block, pe: f64| {
            let (lot, model) = (&self.lot, &self.lot.model);
            let history = lot.cycled(pe, cycler.dwell(block));
            let chain = Chain { sensed: lot.after(history, 0.0), references: model.references(0), last: lot.after(history, kept), most };
            let all: Vec<Vec<f64>> = lot.traits(block).iter().map(|traits| chain.rates(lot, traits)).collect();
            let is_safe =
                |copies: usize| model.uncorrectable(greatest(&all.iter().map(|rates| rates[copies]).collect::<Vec<_>>())) <= table.risk;
            (1..=most as usize).take_while(|copies| is_safe(*copies)).count() as f64
        };
        let blocks: Vec<Vec<Option<[f64; 3]>>> = self.lot.map(|block| {
            let ages = self.looked(&cycler, aging, block, counts);
            let of = |(pe, aged): (&f64, Option<Aged>)| {
                let by_pe = table.pe_bin(*pe as u32).map_or(0.0, |bin| threshold(bin, false));
                aged.map(|aged| [by_pe, threshold(Copyback::age_bin(aged.age as u16), true), own(block, *pe)])
            };
            counts.iter().zip(ages).map(of).collect()
        });
        let at = |count: usize| {
            let [by_pe, by_age, own] = [0, 1, 2]
                .map(|which| mean(&blocks.iter().filter_map(|block| block[count]).map(|copies| copies[which]).collect::<Vec<_>>()));
            Allowed { by_pe, by_age, own }
        };
        Ok((0..counts.len()).map(at).collect())
    }

    /// Wrong bits of the worst codeword of a block of `cycles` P/E cycles, at the best references, for each time kept, in seconds. The codeword is one of the
    /// worst page of the wordline that is weakest after the longest of the times.
    pub fn kept(&self, cycles: f64, times: &[f64]) -> Vec<Kept> {
        let (lot, model) = (&self.lot, &self.lot.model);
        let (bits, codewords) = (model.codeword_bits(), model.codewords());
        // The median of the worst of all codewords: each is below it with the root of a half.
        let worst = |errors: f64| f64::from(errors_at(errors, bits, libm::pow(0.5, 1.0 / codewords)));
        let blocks: Vec<Vec<f64>> = lot.map(|block| {
            let weak = lot.weakest(block, &lot.aged(cycles, greatest(times)));
            times.iter().map(|time| worst(lot.worst_page(&weak, &lot.aged(cycles, *time)))).collect()
        });
        let at = |time: usize| {
            let all: Vec<f64> = blocks.iter().map(|block| block[time]).collect();
            Kept { mean: mean(&all), most: greatest(&all) }
        };
        (0..times.len()).map(at).collect()
    }
}

/// Rank correlation of the ages and the errors of blocks.
pub fn rank(blocks: &[Aged]) -> f64 {
    let of = |what: fn(&Aged) -> f64| blocks.iter().map(what).collect::<Vec<f64>>();
    rank_correlation(&of(|aged| aged.age), &of(|aged| aged.errors))
}
