//! Observer of a drive's programs and reads, by leaders, followers and h-layers.

use std::collections::{BTreeMap, BTreeSet};

use wordline_drive::Config;
use wordline_engine::{Event, Observer};
use wordline_runs::Beside;
use wordline_units::{Cause, FlashOp, Nanos};

/// Observer of programs and reads. A leader is the first wordline of its h-layer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Programs {
    wordlines: u16,
    bits: u16,
    programs: u32,
    in_burst: bool,
    /// Numbers of leaders and followers programmed with host data in bursts.
    pub(crate) mix: [u64; 2],
    /// Program times of leaders in us, by die, block and h-layer, with the time the die is set and asked.
    leaders: BTreeMap<(u16, u32, u16), f64>,
    /// Share of its leader's time that each follower saved.
    pub(crate) saved: Vec<f64>,
    /// Program times of all wordlines in us, by die, block and wordline; the last ones where blocks were erased.
    pub(crate) times: BTreeMap<(u16, u32, u16), f64>,
    /// Numbers of leaders and followers programmed in each block.
    begun: BTreeMap<(u16, u32), [u32; 2]>,
    /// The largest share of a block that waited as followers at once.
    pub(crate) waiting: f64,
    /// Number of programs of any cause, and of those that were not relied on.
    pub(crate) all: u64,
    pub(crate) again: u64,
    /// Numbers of reads, of their retries, and of reads that no entry could correct, and the most wrong bits in a codeword of the others.
    pub(crate) reads: u64,
    pub(crate) retries: u64,
    pub(crate) lost: u64,
    pub(crate) worst: u16,
    /// Repeated reads of h-layers since their block was erased, and of page types of h-layers.
    pub(crate) by_layer: Again,
    pub(crate) by_type: Again,
}

/// Counts of repeated reads since the block was erased.
#[derive(Clone, Debug, Default)]
pub(crate) struct Again {
    /// Keys of what was read: die, block, h-layer, and page type or nothing.
    seen: BTreeSet<(u16, u32, u16, u16)>,
    pub(crate) reads: u64,
    pub(crate) retried: u64,
    pub(crate) retries: u64,
}

impl Again {
    fn read(&mut self, of: (u16, u32, u16, u16), retries: u8) {
        if !self.seen.insert(of) {
            self.reads += 1;
            self.retried += u64::from(retries > 0);
            self.retries += u64::from(retries);
        }
    }

    fn erased(&mut self, die: u16, block: u32) {
        let seen: Vec<_> = self.seen.range((die, block, 0, 0)..=(die, block, u16::MAX, u16::MAX)).copied().collect();
        seen.iter().for_each(|of| {
            self.seen.remove(of);
        });
    }
}

impl Programs {
    /// An observer on a drive of `config` that has seen nothing yet.
    pub(crate) fn new(config: &Config) -> Programs {
        let geometry = &config.sheet.geometry;
        let (wordlines, bits) = (geometry.wordlines_per_layer as u16, geometry.cell.bits() as u16);
        Programs { wordlines, bits, programs: geometry.wordlines(), in_burst: true, ..Programs::default() }
    }

    /// Counts programs as those of a burst from now on.
    pub(crate) fn begin_burst(&mut self) {
        self.in_burst = true;
    }

    /// Counts programs as those of no burst from now on.
    pub(crate) fn end_burst(&mut self) {
        self.in_burst = false;
    }

    /// Forgets what was read where, which is of no use when a run is over.
    pub(crate) fn forget_places(&mut self) {
        [&mut self.by_layer, &mut self.by_type].into_iter().for_each(|again| again.seen.clear());
    }

    /// The most followers of a block that waited at once.
    pub(crate) fn waiting_most(&self) -> f64 {
        libm::round(self.waiting * f64::from(self.programs))
    }

    fn program(&mut self, die: u16, block: u32, page: u16, time: f64, is_host: bool) {
        let wordline = page / self.bits;
        let layer = (die, block, wordline / self.wordlines);
        let is_leader = wordline.is_multiple_of(self.wordlines);
        self.all += 1;
        self.times.insert((die, block, wordline), time);
        if is_leader {
            self.leaders.insert(layer, time);
        } else if let Some(leader) = self.leaders.get(&layer) {
            self.saved.push(1.0 - time / leader);
        }
        if is_host {
            self.mix[usize::from(!is_leader)] += u64::from(self.in_burst);
            let begun = self.begun.entry((die, block)).or_default();
            begun[usize::from(!is_leader)] += 1;
            let followers = (begun[0] * (u32::from(self.wordlines) - 1)).saturating_sub(begun[1]);
            self.waiting = self.waiting.max(f64::from(followers) / f64::from(self.programs));
        }
    }
}

impl Observer for Programs {
    fn observe(&mut self, _: Nanos, event: &Event) {
        match event {
            Event::Flash(flash) if flash.op == FlashOp::Program => {
                let time = flash.array.0 as f64 / 1e3;
                self.program(flash.die.0, flash.block.0, flash.page.0, time, flash.cause == Cause::Host);
            }
            Event::Flash(flash) if flash.op == FlashOp::Read => {
                self.reads += 1;
                self.retries += u64::from(flash.retries);
                self.lost += u64::from(!flash.ok);
                self.worst = self.worst.max(flash.errors);
                let (die, block, page) = (flash.die.0, flash.block.0, flash.page.0);
                let layer = page / self.bits / self.wordlines;
                self.by_layer.read((die, block, layer, 0), flash.retries);
                self.by_type.read((die, block, layer, page % self.bits), flash.retries);
            }
            Event::Flash(flash) if flash.op == FlashOp::Erase => {
                self.begun.remove(&(flash.die.0, flash.block.0));
                [&mut self.by_layer, &mut self.by_type].into_iter().for_each(|again| again.erased(flash.die.0, flash.block.0));
            }
            Event::ProgrammedAgain { .. } => self.again += 1,
            Event::Flash(_)
            | Event::Arrived { .. }
            | Event::Completed(_)
            | Event::Invalidated { .. }
            | Event::Stopped { .. }
            | Event::Retired { .. }
            | Event::Exposed { .. }
            | Event::DataLost { .. }
            | Event::DieSuspected { .. }
            | Event::DieFailed { .. }
            | Event::UnitsLost { .. }
            | Event::UnitsHealed { .. }
            | Event::Harmed { .. }
            | Event::WornOut => {}
        }
    }
}

impl Beside for Programs {}
