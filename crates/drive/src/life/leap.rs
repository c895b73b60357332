//! Leaps: lives of years in minutes.
//!
//! A life is some thousand cycles of each block, and most of them are like those before. A few are run, as an *epoch*; then the same use is added many times
//! over, to the wear of cells and to erase counts, and nothing else is simulated:
//!
//! ```text
//! begin_epoch ──▶ age, or requests in virtual time ──▶ leap(times, rest) ──▶ begin_epoch ──▶ …
//! ```
//!
//! | of a block | becomes |
//! |---|---|
//! | erase count, of the die and of the firmware | + `times` · erases in an epoch, by the habit of the group over the last ones: [`Habits`] |
//! | stress of its cells, by wordline | + what so many erases and programs add, with suspensions and guarded erases in proportion |
//! | what it holds, its place in the map, its reads since the last erase | as it was |
//! | age of its data | as it was, if it was erased in the last eight epochs, as long as this one; else older by the leap |
//!
//! Two things are not in a leap: operations that fail by rate are drawn in epochs only, and without static wear levelling a block that none of the last epochs
//! erased is not erased. A leap ends at the first block that comes to the end of its erases, and there is none with a part of a die that has
//! failed.
//!
//! Where blocks would drift apart by half the gap of static wear levelling, the erases of a die are shared out as levelling does: all its blocks come to one
//! level of what the gap is measured in, erases or wear, and rest evenly. Blocks that were not erased in the epoch hold cold data, and stay behind that level
//! by less than the gap, each at a place of its own; what they gain is what a usual block did. So levelling acts in each epoch on as many of them as it
//! would, and what that costs is in the epoch's write amplification.

use std::ops::Range;

use wordline_cells::{Pace, Repetition};
use wordline_chip::Chip;
use wordline_ftl::groups::Use;
use wordline_ftl::{BlockGroup, Firmware, Share, Skipped};
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{BlockId, DieId, HostOp, HostRequest, Nanos, PlaneId};

use super::habits::Habits;
use super::inspect::is_held;
use super::precondition::age;
use super::rest::{is_quiet, settle};
use crate::machine::{Machine, Parts};

/// Rest of blocks between the cycles of a leap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rest {
    /// Rests as long as in the epoch. Each epoch that is skipped takes as long as the present one took.
    Measured,
    /// The epochs that are skipped take so long together, and the cycles of each block are spread evenly over that time.
    Spread {
        /// Years of 365.25 days.
        years: f64,
    },
}

/// Reason for which a leap is not longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// No more was asked for.
    Asked,
    /// A block comes to the end of its erases.
    Retirement,
    /// A part of a die has failed. A leap knows only blocks that go on as they did.
    Failure,
    /// A technique still tries how it goes on.
    Unsettled,
}

/// Result of a leap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leapt {
    /// Number of epochs skipped.
    pub times: u32,
    /// Reason for which there were no more.
    pub bound: Bound,
    /// Virtual time that they took.
    pub took: Nanos,
}

/// Greatest number of reads that one read of a sample stands for. A refresh comes late by so many reads of its block at most.
pub const READS_EACH: u32 = 1_024;
/// Number of reads of a sample after which the firmware ends what it has begun.
const SAMPLES_IN_ROW: u64 = 8;

/// Result of a leap over reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadLeapt {
    /// Number of reads.
    pub reads: u64,
    /// Number of reads that were carried out for them.
    pub sampled: u64,
    /// Number of retries in the sample.
    pub retries: u64,
    /// Erases of block groups meanwhile: those that the firmware has refreshed.
    pub erases: u64,
    /// Units programmed again meanwhile, for refreshes and for the room that they need.
    pub moved_units: u64,
    /// Reads of the sample that failed: of the worst of those that each stands for.
    pub failed_host_reads: u64,
    /// Pages that were to be moved and could not be read.
    pub failed_moves: u64,
}

/// An epoch.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    began: Nanos,
    /// True once habits were learnt from it.
    is_learnt: bool,
}

/// Number of epochs, the present one among them, within which a block is erased that is not cold. Blocks are erased once in an epoch or so, and by chance some
/// not at all; cold ones rest for years.
const RENEWING: u64 = 8;

const YEAR_SECONDS: f64 = 365.25 * 86_400.0;

/// Leaps of a drive: its present epoch, and what it has learnt from all.
#[derive(Clone, Debug)]
pub(crate) struct Leaps {
    /// The present epoch, if one has begun.
    epoch: Option<Epoch>,
    /// Use of block groups over the epochs so far.
    habits: Habits,
    /// Number of reads that each read of the host stands for.
    read_times: u32,
}

impl Default for Leaps {
    fn default() -> Leaps {
        Leaps { epoch: None, habits: Habits::default(), read_times: 1 }
    }
}

impl Leaps {
    /// Use of block groups over the epochs so far.
    pub(crate) fn habits(&self) -> &Habits {
        &self.habits
    }

    /// Goes on with the `habits` of another drive.
    pub(crate) fn set_habits(&mut self, habits: Habits) {
        self.habits = habits;
    }

    /// Number of reads that each read of the host stands for.
    pub(crate) fn read_times(&self) -> u32 {
        self.read_times
    }

    /// Begins an epoch: the use of each block is counted from now on.
    pub(crate) fn begin_epoch(&mut self, machine: &mut Machine) {
        self.learn(machine);
        self.epoch = Some(Epoch { began: machine.now(), is_learnt: false });
        machine.dies_mut().iter_mut().for_each(|(_, chip)| chip.begin_epoch());
    }

    /// Skips `times` epochs like the present one, or as many as [`leap_bound`] allows.
    ///
    /// # Panics
    /// If no epoch is under way, or if the drive is not quiet.
    pub(crate) fn leap(&mut self, machine: &mut Machine, times: u32, rest: Rest) -> Leapt {
        let Epoch { began, .. } = self.epoch.expect("a leap goes on from an epoch");
        assert!(is_quiet(machine), "only a quiet drive can leap: settle it first");
        self.learn(machine);
        let (times, bound) = leap_bound(machine, times);
        if times == 0 {
            return Leapt { times, bound, took: Nanos::ZERO };
        }
        let (took, pace) = match rest {
            Rest::Measured => (Nanos((machine.now() - began).0.saturating_mul(u64::from(times))), Pace::Measured),
            Rest::Spread { years } => (Nanos((years * YEAR_SECONDS * 1e9) as u64), Pace::Spread(years * YEAR_SECONDS)),
        };
        let length = machine.now() - began;
        let skip = Skip { times, pace, took, since: began.saturating_sub(length * (RENEWING - 1)) };
        for core in 0..machine.config().cores {
            self.skip(machine.parts(), core, &skip);
        }
        machine.dies_mut().iter_mut().for_each(|(_, chip)| chip.end_leap());
        // The instants of the cells are those of the leap's end by now.
        let end = machine.now() + took;
        machine.run_until(end, None);
        if !is_quiet(machine) {
            settle(machine, None);
        }
        Leapt { times, bound, took }
    }

    /// Reads `units` of the host this number of times without timing, in a sample: see [`crate::Drive::read_leap`].
    pub(crate) fn read_leap(&mut self, machine: &mut Machine, units: Range<u64>, reads: u64) -> ReadLeapt {
        let held: Vec<u64> = units.filter(|&unit| is_held(machine, unit)).collect();
        let mut leapt = ReadLeapt::default();
        let Some(rounds) = reads.checked_div(held.len() as u64) else { return leapt };
        let each = rounds.clamp(1, u64::from(READS_EACH)) as u32;
        let (samples, rest) = (reads / u64::from(each), (reads % u64::from(each)) as u32);
        let sectors = machine.config().firmware.unit.0 / SECTOR_BYTES;
        // Where there are fewer reads than units, they are spread over all of them.
        let (stride, spread) = if rounds == 0 { (held.len() as u64, samples.max(1)) } else { (1, 1) };
        let at = |sample: u64| held[((u128::from(sample) * u128::from(stride) / u128::from(spread)) % held.len() as u128) as usize];
        for (times, range) in [(each, 0..samples), (rest, samples..samples + 1)].into_iter().filter(|(times, _)| *times > 0) {
            self.reads_stand_for(machine, times);
            let mut reads = range.map(|sample| HostRequest::new(HostOp::Read, at(sample) * sectors, sectors as u32)).peekable();
            // Between two reads of a sample lies the time of many, in which a refresh ends.
            while reads.peek().is_some() {
                let sampled = age(machine, &mut reads, SAMPLES_IN_ROW, times);
                leapt.reads += u64::from(times) * sampled.requests;
                leapt.sampled += sampled.requests;
                leapt.retries += sampled.retries;
                leapt.erases += sampled.erases;
                leapt.moved_units += sampled.moved_units;
                leapt.failed_host_reads += sampled.failed_host_reads;
                leapt.failed_moves += sampled.failed_moves;
            }
        }
        self.reads_stand_for(machine, 1);
        leapt
    }

    /// Learn the use of block groups from the present epoch, once.
    fn learn(&mut self, machine: &mut Machine) {
        let Some(epoch) = self.epoch.as_mut().filter(|epoch| !epoch.is_learnt) else { return };
        epoch.is_learnt = true;
        let dies = machine.dies();
        for (core, ftl) in (0..).zip(machine.ftls()) {
            for die in ftl.dies() {
                let place = dies.die(core, die);
                self.habits.learn(usize::from(place.0), &used(ftl, &dies[place], die));
            }
        }
    }

    /// Let each read of the host stand for `times`. Those of the firmware stand for one: see `read_through`.
    fn reads_stand_for(&mut self, machine: &mut Machine, times: u32) {
        self.read_times = times;
        machine.dies_mut().iter_mut().for_each(|(_, chip)| chip.reads_stand_for(times));
        machine.ftls_mut().iter_mut().for_each(|ftl| ftl.reads_stand_for(times));
    }

    /// Skip the cycles of the groups of `core`.
    fn skip(&self, parts: Parts<'_>, core: u32, skip: &Skip) {
        let &Skip { times, pace, took, since } = skip;
        let Parts { ftls, device, .. } = parts;
        let (ftl, dies) = (&mut ftls[core as usize], device.dies_mut());
        let layout = *ftl.layout();
        let mut skipped = vec![Skipped::default(); layout.group_count()];
        for die in ftl.dies() {
            let place = dies.die(core, die);
            let chip = &mut dies[place];
            let groups: Vec<BlockGroup> = layout.groups_of(die).map(|index| BlockGroup(index as u32)).collect();
            let used = used(ftl, chip, die);
            let levelled = ftl.levelled(die, times, |group| used[group.index() - groups[0].index()]);
            let pace = if levelled.is_some() { Pace::Spread(took.as_secs_f64()) } else { pace };
            let shares = levelled.unwrap_or_else(|| shares(&used, &self.habits.erases(usize::from(place.0), &used, times)));
            for (place, &group) in groups.iter().enumerate().filter(|(place, _)| used[*place].is_some()) {
                let Share { like, times, has_moved } = shares[place];
                let erases = used[like].unwrap_or(0);
                for ((plane, block), (_, of_like)) in blocks_of(ftl, group).zip(blocks_of(ftl, groups[like])) {
                    // A share cannot give a block more than it takes.
                    let left = chip.erases_left(plane, block).and_then(|left| left.checked_div(erases)).unwrap_or(u32::MAX);
                    let times = times.min(left);
                    let cycles = erases.saturating_mul(times);
                    let is_renewed = chip.is_renewed(plane, block, since) || has_moved;
                    skipped[group.index()] = Skipped { cycles, is_renewed };
                    chip.leap(plane, [block, of_like], cycles, &Repetition { times, pace, clock: took, is_renewed });
                }
            }
        }
        ftl.leap(times, &skipped, took);
    }
}

/// A number of epochs to be skipped.
struct Skip {
    times: u32,
    pace: Pace,
    took: Nanos,
    /// Blocks erased since are not cold.
    since: Nanos,
}

/// Greatest number of epochs like the present one that a leap of `times` can skip, and why no more.
///
/// # Panics
/// If no epoch is under way.
pub(crate) fn leap_bound(machine: &Machine, times: u32) -> (u32, Bound) {
    let (dies, ftls) = (machine.dies(), machine.ftls());
    if dies.have_failures() || ftls.iter().any(|ftl| ftl.failed_dies().next().is_some()) {
        return (0, Bound::Failure);
    }
    if !ftls.iter().all(Firmware::is_settled) {
        return (0, Bound::Unsettled);
    }
    let mut bound = (times, Bound::Asked);
    for (core, ftl) in (0..).zip(ftls) {
        let layout = ftl.layout();
        for group in (0..layout.group_count() as u32).map(BlockGroup).filter(|&group| is_in_service(ftl, group)) {
            let chip = dies.of(core, layout.die(group));
            for (plane, block) in blocks_of(ftl, group) {
                let erases = chip.epoch_erases(plane, block);
                if let Some(left) = chip.erases_left(plane, block).filter(|_| erases > 0)
                    && left / erases < bound.0
                {
                    bound = (left / erases, Bound::Retirement);
                }
            }
        }
    }
    bound
}

/// Shares of groups, of which `used` were erased so often in the epoch, that come to these `erases`. A group that was not erased repeats the epoch of the most
/// usual one.
fn shares(used: &[Option<u32>], erases: &[f64]) -> Vec<Share> {
    let usual = wordline_ftl::most_usual(used);
    let share = |(place, &erases): (usize, &f64)| {
        let own = used[place].filter(|&used| used > 0).map(|used| (place, used));
        let Some((like, each)) = own.or(usual) else { return Share { like: place, times: 0, has_moved: false } };
        Share { like, times: (erases / f64::from(each)).round() as u32, has_moved: false }
    };
    erases.iter().enumerate().map(share).collect()
}

/// Erases in the epoch of each group of `die`, `None` for those out of service. All planes of a group are erased together.
fn used(ftl: &Firmware, chip: &Chip, die: DieId) -> Vec<Option<u32>> {
    let groups = ftl.layout().groups_of(die).map(|index| BlockGroup(index as u32));
    let erases = |group| blocks_of(ftl, group).map(|(plane, block)| chip.epoch_erases(plane, block)).max();
    groups.map(|group| erases(group).filter(|_| is_in_service(ftl, group))).collect()
}

/// True if the blocks of `group` are used.
fn is_in_service(ftl: &Firmware, group: BlockGroup) -> bool {
    !matches!(ftl.groups().use_of(group), Use::Bad | Use::Lost)
}

/// Blocks of `group`, one of each plane.
fn blocks_of(ftl: &Firmware, group: BlockGroup) -> impl Iterator<Item = (PlaneId, BlockId)> {
    let blocks = ftl.groups().blocks(group);
    (0..ftl.layout().planes as u8).map(move |plane| (PlaneId(plane), BlockId(u32::from(blocks[usize::from(plane)]))))
}
