//! Read retries by rate, for drives whose cells have no physics: the model of an evaluation that knows how many reads need retries but not why (003 §6.2).
//!
//! A read that begins at the default needs retries with probability `share`. It then needs at least one, and each further one with the same probability, so
//! that there are `mean` on average. No data are lost: the last entry of the table corrects what is left.
//!
//! The share `alike` of the reads need what their h-layer needs: a number that is drawn once for each filling of a block. An entry of the table from that
//! number on serves, and firmware that knows the number saves these retries. The other reads need a number of tries that is drawn for each read: every try
//! counts alike, wherever it is in the table, and firmware cannot foresee it. Both kinds of reads need as many retries with the same probability. So `share`
//! and `mean` describe a drive that begins every read at the default, and `alike` is the part of its retries that can be saved.

use wordline_units::random::{Draw, Stream};

/// Rates of read retries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retries {
    /// Share of the reads begun at the default that need retries.
    pub share: f64,
    /// Mean number of retries of the reads that need any, if the table is long enough; 1 at least.
    pub mean: f64,
    /// Share of the reads that need what their h-layer needs.
    pub alike: f64,
    /// Number of entries of the retry table, the default among them.
    pub entries: u32,
}

impl Retries {
    /// The number of retries that uniform random bits stand for.
    fn drawn(&self, bits: u64) -> u32 {
        let u = ((bits >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        if u >= self.share {
            return 0;
        }
        let again = 1.0 - 1.0 / self.mean;
        let more = if again > 0.0 { libm::floor(libm::log(u / self.share) / libm::log(again)) } else { 0.0 };
        (1.0 + more).min(f64::from(self.entries - 1)) as u32
    }
}

/// One try to read a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Try {
    /// Block number, counted over all planes of the die.
    pub block: u32,
    /// H-layer of the wordline.
    pub layer: u32,
    /// Page of the block.
    pub page: u32,
    /// Erases of the block so far.
    pub erases: u32,
    /// Reads of the block since its last erase, tries among them.
    pub reads: u32,
    /// Entry of the retry table.
    pub entry: u32,
}

/// The requirement of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    /// The first entry of the retry table that serves the read; later ones do, too.
    Entry(u32),
    /// The number of tries that fail first.
    Tries(u32),
}

/// The read retries of one die.
#[derive(Clone, Debug)]
pub(crate) struct Tried {
    retries: Retries,
    of_layers: Draw,
    of_reads: Draw,
    /// Pages whose last try has failed, and the requirement of their reads, the latest last: a read may give way to others between two tries.
    failed: Vec<(u32, u32, Need)>,
    /// Page of the try before this one, and the requirement that it met.
    last: Option<(u32, u32, Need)>,
}

/// The most reads of a die that have tries to come: one of each priority, and those that were given up.
const FAILED_MOST: usize = 8;

impl Tried {
    pub(crate) fn new(retries: Retries, seed: u64, die: u32) -> Tried {
        let draw = |stream| Draw::new(seed, stream, die);
        Tried {
            retries,
            of_layers: draw(Stream::LayerRetries),
            of_reads: draw(Stream::ReadRetries),
            failed: Vec::with_capacity(FAILED_MOST + 1),
            last: None,
        }
    }

    /// True if a try can be corrected. Tries of a page are of one read, until one succeeds.
    pub(crate) fn serves(&mut self, of: &Try) -> bool {
        let at = self.failed.iter().position(|&(block, page, _)| (block, page) == (of.block, of.page));
        let need = if let Some(at) = at { self.failed.remove(at).2 } else { self.need(of) };
        self.last = Some((of.block, of.page, need));
        let (serves, left) = match need {
            Need::Entry(least) => (of.entry >= least, need),
            Need::Tries(left) => (left == 0, Need::Tries(left.saturating_sub(1))),
        };
        if !serves {
            self.keep((of.block, of.page, left));
        }
        serves
    }

    fn keep(&mut self, failed: (u32, u32, Need)) {
        self.failed.push(failed);
        if self.failed.len() > FAILED_MOST {
            self.failed.remove(0);
        }
    }

    /// Takes the last try back: it was broken off, and its page has told nothing.
    pub(crate) fn take_back(&mut self) {
        if let Some(last) = self.last.take() {
            self.failed.retain(|&(block, page, _)| (block, page) != (last.0, last.1));
            self.keep(last);
        }
    }

    /// The requirement of a read that begins now. It is a function of the block's erases and reads, so that nothing has to be saved with the drive.
    fn need(&self, of: &Try) -> Need {
        let read = u64::from(of.block) << 40 | u64::from(of.erases & 0x7f) << 33 | u64::from(of.reads) << 1;
        if (self.of_reads.at(read) >> 11) as f64 / (1u64 << 53) as f64 >= self.retries.alike {
            return Need::Tries(self.retries.drawn(self.of_reads.at(read + 1)));
        }
        let filling = u64::from(of.block) << 40 | u64::from(of.erases & 0xff_ffff) << 16 | u64::from(of.layer & 0xffff);
        Need::Entry(self.retries.drawn(self.of_layers.at(filling)))
    }

    /// Forgets the failed tries.
    pub(crate) fn forget(&mut self) {
        self.failed.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETRIES: Retries = Retries { share: 0.3, mean: 2.5, alike: 0.66, entries: 32 };

    fn tried(retries: Retries) -> Tried {
        Tried::new(retries, 1, 0)
    }

    /// Number of retries of a read that begins at `begin` and goes up the table, then down, and the entry of its last try.
    fn read(tried: &mut Tried, mut of: Try, begin: u32) -> (u32, Try) {
        let last = tried.retries.entries;
        for (retries, entry) in (begin..last).chain((0..begin).rev()).enumerate() {
            of.entry = entry;
            let serves = tried.serves(&of);
            of.reads += 1;
            if serves {
                return (retries as u32, of);
            }
        }
        panic!("no entry serves {of:?}");
    }

    #[test]
    fn reads_of_several_pages_keep_what_they_need_whoever_goes_between() {
        let retries = Retries { alike: 0.0, share: 0.9, mean: 6.0, ..RETRIES };
        let of = |page| Try { block: 3, layer: 0, page, erases: 1, reads: 9, entry: 0 };
        let alone = |page| read(&mut tried(retries), of(page), 0).0;
        let mut between = tried(retries);
        let mut tries = [0; 4];
        let mut left: Vec<u32> = (0..4).collect();
        while !left.is_empty() {
            left.retain(|&page| {
                let serves = between.serves(&of(page));
                tries[page as usize] += u32::from(!serves);
                !serves
            });
        }
        assert_eq!(tries, [0, 1, 2, 3].map(alone));
        assert!(between.failed.is_empty());
    }

    #[test]
    fn a_try_that_was_broken_off_is_made_again_to_the_same_end() {
        let retries = Retries { alike: 0.0, share: 0.9, mean: 6.0, ..RETRIES };
        for page in 0..20 {
            let of = Try { block: 3, layer: 0, page, erases: 1, reads: 9, entry: 0 };
            let alone = read(&mut tried(retries), of, 0).0;
            let mut broken_off = tried(retries);
            let mut fails = 0;
            loop {
                // Each sensing counts with its block, those that are broken off too.
                let serves = [0, 1, 2].map(|more| {
                    let serves = broken_off.serves(&Try { reads: of.reads + more, ..of });
                    broken_off.take_back();
                    serves
                });
                assert!(serves.iter().all(|&serve| serve == serves[0]));
                if broken_off.serves(&of) {
                    break;
                }
                fails += 1;
            }
            assert_eq!(fails, alone);
        }
    }

    /// Share of reads with retries, and mean of those, when pages of a thousand blocks are read in turn, all from the default or each from what served its
    /// h-layer last.
    fn reads(retries: Retries, reuses: bool) -> (f64, f64) {
        let mut tried = tried(retries);
        let mut last = vec![(0, 0); 1_000 * 48];
        let (mut retried, mut sum, count) = (0, 0, 400_000u32);
        for number in 0..count {
            let (block, layer) = (number * 7 % 1_000, number / 1_000 * 11 % 48);
            let (begin, reads) = last[(block * 48 + layer) as usize];
            let of = Try { block, layer, page: layer * 12 + number % 12, erases: 3, reads: reads * 48 + layer, entry: 0 };
            let (retries, after) = read(&mut tried, of, if reuses { begin } else { 0 });
            let entry = if retries > 0 { after.entry } else { begin };
            last[(block * 48 + layer) as usize] = (entry, reads + retries + 1);
            retried += u32::from(retries > 0);
            sum += retries;
        }
        (f64::from(retried) / f64::from(count), f64::from(sum) / f64::from(retried.max(1)))
    }

    #[test]
    fn as_many_reads_as_asked_for_need_as_many_retries() {
        for (share, alike) in [(0.0, 0.66), (0.3, 0.66), (0.9, 0.66), (0.3, 0.0), (0.9, 1.0)] {
            let (retried, mean) = reads(Retries { share, alike, ..RETRIES }, false);
            println!("{share} of reads to be retried, {alike} alike: {retried:.4}, {mean:.3} times");
            // 48,000 h-layers: a standard deviation of a quarter per cent where all are alike.
            assert!((retried - share).abs() < 0.01, "{retried} of reads retried, not {share}");
            assert!(share == 0.0 || (mean - RETRIES.mean).abs() < 0.05, "{mean} retries each, not {}", RETRIES.mean);
        }
    }

    #[test]
    fn what_is_alike_is_saved_by_whoever_knows_what_served_last_and_nothing_else() {
        for alike in [0.0, 0.66, 1.0] {
            let retries = Retries { share: 0.9, alike, ..RETRIES };
            let sum = |(share, mean)| share * mean;
            let left = sum(reads(retries, true)) / sum(reads(retries, false));
            println!("{alike} alike: {left:.3} of the retries are left");
            // Every h-layer has to be read once before anything is known: here one read in eight.
            assert!((1.0 - left - alike).abs() < 0.13 && left >= 0.99 - alike, "{left} of the retries left where {alike} is alike");
        }
    }

    #[test]
    fn the_end_of_the_table_serves_always_and_a_single_retry_can_be_asked_for() {
        let of = |block| Try { block, layer: 0, page: 0, erases: 0, reads: 0, entry: 0 };
        let most = |retries: Retries, begin: u32| (0..20_000).map(|block| read(&mut tried(retries), of(block), begin).0).max();
        let long = Retries { share: 1.0, mean: 40.0, ..RETRIES };
        assert_eq!((most(long, 0), most(long, 31)), (Some(31), Some(31)));
        assert_eq!(most(Retries { mean: 1.0, ..long }, 0), Some(1));
    }

    #[test]
    fn a_rewritten_block_needs_something_else() {
        let needs = |erases| -> Vec<Need> {
            let tried = tried(Retries { alike: 1.0, share: 0.9, ..RETRIES });
            (0..100).map(|layer| tried.need(&Try { block: 5, layer, page: 0, erases, reads: 0, entry: 0 })).collect()
        };
        assert_eq!(needs(1), needs(1));
        assert_ne!(needs(1), needs(2));
    }
}
