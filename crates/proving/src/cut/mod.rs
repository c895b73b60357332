//! Power cuts: a core that keeps data on flash that keeps it too, until the power goes.
//!
//! ```text
//!   plan ──► world ──requests, reports──► Ftl          life after life of one drive:
//!              │  ◄──operations, bytes──               run, cut, look, recover, look, run …
//!              ├──► nand     what stands in pages; what a cut leaves of what was under way
//!              └──► ledger   what each unit may hold after a cut
//! ```
//!
//! Checks: every write that a flush or FUA has made durable is back; every other is back or as it was before, unit by unit, never torn, never another's;
//! trims hold; what capacitors keep is back, flushed or not; counts of reads are back, rounded up; the recovered tables agree with the flash; recovering
//! twice gives the same, and so does recovering without a checkpoint; the newest checkpoint that was whole is used; what was recovered stays, whatever
//! the next cut does; no read is answered before pages that were sensed to their end have brought what it asked for; the firmware
//! reads whole pages only, programs erased pages only, uses no block that has failed, and gives up on no flash that is good. Does not check: bit errors, a page
//! that is torn and reads as whole, a program that spoils pages programmed before on the same wordline, the drive around the core. Parts that fail for good
//! are in trials of their own: `world/failing.rs`.

mod keys;
mod ledger;
mod nand;
mod price;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};

use wordline_ftl::config::{Acknowledge, OobPlace, Protection};
use wordline_ftl::techniques::block_class::Classes;
use wordline_ftl::techniques::declaration::Declaration;
use wordline_ftl::techniques::hooks::Hook;
use wordline_ftl::techniques::{Choice, DECLARATIONS, crypto_erase, page_lock, restricted_copyback};
use wordline_units::Nanos;
use wordline_units::random::{Draw, Stream};

pub use price::{End, Extent, Price, priced_trial};
pub use world::World;

use crate::swarm::{self, Scenario};

/// Sanitisers that trials draw, whatever these techniques declare: a drive whose plan has one of them promises that nothing stale can be read, and the oracle
/// must not be armed by the word of what it judges.
const SANITISERS: &[Choice] = &[
    Choice::PageLock(page_lock::Params { block_lock: true }),
    Choice::PageLock(page_lock::Params { block_lock: false }),
    Choice::WordlineScrub,
    Choice::EraseAtOnce,
    Choice::ReprogramPage,
    Choice::CryptoErase(crypto_erase::Params { leaves: 64, register: Nanos::from_micros(20) }),
];

/// What trials draw sanitisers from, and by which the oracle looks: those of the list, and whatever else declares that it answers what is done about stale
/// secrets.
pub(crate) fn sanitisers() -> Vec<Choice> {
    let is_new = |declaration: &&&Declaration| {
        declaration.card.hooks.has(Hook::Sanitise) && SANITISERS.iter().all(|known| known.card().name != declaration.card.name)
    };
    let new = DECLARATIONS.iter().filter(is_new).map(|declaration| swarm::tried(declaration, &mut Draw::new(0, Stream::Mix, 0)));
    SANITISERS.iter().copied().chain(new).collect()
}

/// A fault planted in the world, to see that it is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// What is suspended never goes on.
    ResumeForgotten,
    /// Journal pages with records are programmed empty.
    RecordDropped,
    /// Trims are lost on the way to the journal: after a cut no page of it can be read.
    TrimLost,
    /// A flush is acknowledged when it is submitted.
    FlushReordered,
    /// A program of host data is reported well before it is down.
    EarlyReport,
    /// A program of the journal is reported well before it is down.
    EarlyJournalReport,
    /// A copy gets a new version.
    CopyRenewed,
    /// A copy loses its mark.
    CopyUnmarked,
    /// A torn page passes for whole.
    TornPasses,
    /// A write has the version of the one before it.
    VersionKept,
    /// After a cut, counting begins anew.
    VersionsAnew,
    /// Erase counts stand still from the begin of a checkpoint on: what it says of blocks that were erased since passes for true.
    ErasesForgotten,
    /// Blocks that were opened since a checkpoint was begun are not looked at.
    OpenedMissed,
    /// A page of a checkpoint that the power cut short passes for whole, and half of its places are missing.
    TornCheckpointPasses,
    /// The places in a page of a checkpoint are lost on the way.
    PlacesLost,
    /// Two places in a page of a checkpoint change places.
    PlacesSwapped,
    /// A program of a checkpoint is reported well before it is down.
    EarlyCheckpointReport,
    /// The checkpoint before is erased when another is begun.
    CheckpointErasedEarly,
    /// What techniques remember is left out of the journal's pages.
    MemosDropped,
    /// What techniques remember is doubled on its way to the journal.
    MemosDoubled,
    /// A die reports a lock, a scrub or a reprogram that it has not done.
    LockIgnored,
    /// After a cut, torn pages pass for pages that were made unreadable.
    TornIgnored,
    /// Pages of the key store are programmed with the keys that were to be destroyed.
    KeysKept,
    /// The register holds the key of the table before the newest.
    RegisterLate,
    /// Capacitors do not notice a write that goes over what a slot holds already.
    HeldForgotten,
    /// What capacitors have kept is taken for newer than it is.
    HeldRenewed,
    /// What capacitors have kept of a part of a unit is taken for the whole.
    HeldWidened,
    /// Marks are written once.
    CopiesOff,
    /// Summaries of block groups say that they hold nothing.
    SummariesEmpty,
    /// Records of marks are left out of the journal's pages.
    MarksDropped,
    /// What capacitors have kept beside the buffer is gone.
    KeptFactsLost,
    /// After a cut, a block whose first wordline is spared passes for blank.
    SparedPassesForBlank,
    /// Data is copied inside a die once more than its blocks stand.
    ThresholdRaised,
    /// What a die has taken in while it programmed is not programmed, and reported as if it were.
    FollowerDropped,
    /// A read that was broken off is reported as if its page had been sensed to the end.
    AbortedPassesForRead,
    /// The second copy of each program of the map log is programmed empty.
    LogOnce,
    /// At a start, what has failed passes for erased.
    FailedPassesForBlank,
}

impl Bug {
    /// Those that show only where pages become unreadable.
    pub const OF_ROT: [Bug; 4] = [Bug::CopiesOff, Bug::SummariesEmpty, Bug::MarksDropped, Bug::KeptFactsLost];
    /// Those that show only where blocks, planes or dies fail.
    pub const OF_FAILURES: [Bug; 2] = [Bug::LogOnce, Bug::FailedPassesForBlank];
    /// All others.
    pub const ALL: [Bug; 31] = [
        Bug::AbortedPassesForRead,
        Bug::ThresholdRaised,
        Bug::FollowerDropped,
        Bug::ResumeForgotten,
        Bug::RecordDropped,
        Bug::TrimLost,
        Bug::FlushReordered,
        Bug::EarlyReport,
        Bug::EarlyJournalReport,
        Bug::CopyRenewed,
        Bug::CopyUnmarked,
        Bug::TornPasses,
        Bug::VersionKept,
        Bug::VersionsAnew,
        Bug::ErasesForgotten,
        Bug::OpenedMissed,
        Bug::TornCheckpointPasses,
        Bug::PlacesLost,
        Bug::PlacesSwapped,
        Bug::EarlyCheckpointReport,
        Bug::CheckpointErasedEarly,
        Bug::MemosDropped,
        Bug::MemosDoubled,
        Bug::LockIgnored,
        Bug::TornIgnored,
        Bug::KeysKept,
        Bug::RegisterLate,
        Bug::HeldForgotten,
        Bug::HeldRenewed,
        Bug::HeldWidened,
        Bug::SparedPassesForBlank,
    ];
}

/// What trials have seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Power cuts.
    pub cuts: u64,
    /// Programs, erases and copybacks that were under way at a cut.
    pub in_flight: u64,
    /// Requests submitted.
    pub requests: u64,
    /// Units compared after cuts.
    pub units: u64,
    /// Units of them that held an older state than the newest.
    pub older: u64,
    /// Slots of the write buffer that capacitors brought back.
    pub held: u64,
    /// Programs of the journal; snapshots begun.
    pub journal: [u64; 2],
    /// Programs of checkpoints; recoveries that used one; block groups that it spared them; units of which it left open which copy is the newest.
    pub checkpoints: [u64; 4],
    /// Operations that made something unreadable; readable copies of units found when a promise was given, all of them newest.
    pub sanitised: u64,
    /// See above.
    pub gone: u64,
    /// Programs of the key store; overwrites of its register.
    pub keys: [u64; 2],
    /// Programs of summaries; pages made unreadable; units that were lost to them; units refused.
    pub marks: [u64; 4],
    /// Read counts of block groups compared; of those, counts that rest on what was written down.
    pub counts: [u64; 2],
    /// Units that were compared and had been copied more than once; copied ones whose count rests on what was written down; units born after the first day, on
    /// a day that is known. Copies inside a die that thresholds of a table allowed.
    pub copies: [u64; 4],
    /// Copies inside a die that quotas allowed; those of them that were not the first of their data; units whose group had a quota that was held against their
    /// own, some of it used; those of them from before a power cut. Copies that quotas allowed of data that had been kept over a day; starts at which another
    /// column of quotas held than before the cut.
    pub quotas: [u64; 6],
    /// Measurements that somebody has asked for, and that were done.
    pub measured: [u64; 2],
    /// Reads that began elsewhere than at the default.
    pub reused: u64,
    /// Erases, moved units, failed programs and erases.
    pub work: [u64; 3],
    /// Lives that ended with a core that takes no more writes.
    pub worn_out: u64,
    /// Stops that have taken hold: at a step, at once, of reads.
    pub stops: [u64; 4],
    /// Erases that have spared wordlines; recoveries of drives on which some had; units whose newest copy they found in blocks with a spared first wordline,
    /// with a checkpoint and without; blank blocks with spared wordlines at cuts.
    pub guarded: [u64; 5],
    /// Sets of spared wordlines that were granted, refused, and taken back or made plain.
    pub spared: [u64; 3],
    /// Programs ordered while their die was at another; of those, dropped by a power cut before they began.
    pub followed: [u64; 2],
    /// Parked rewrites at cuts; rewrites against read disturb that were begun after a first cut; comparisons of the classes of all units.
    pub hinted: [u64; 3],
}

impl Tally {
    /// Add `other`.
    pub fn add(&mut self, other: &Tally) {
        let both = |a: &mut u64, b: u64| *a += b;
        both(&mut self.cuts, other.cuts);
        both(&mut self.in_flight, other.in_flight);
        both(&mut self.requests, other.requests);
        both(&mut self.units, other.units);
        both(&mut self.older, other.older);
        both(&mut self.held, other.held);
        both(&mut self.worn_out, other.worn_out);
        both(&mut self.reused, other.reused);
        self.journal.iter_mut().zip(other.journal).for_each(|(a, b)| both(a, b));
        self.checkpoints.iter_mut().zip(other.checkpoints).for_each(|(a, b)| both(a, b));
        both(&mut self.sanitised, other.sanitised);
        both(&mut self.gone, other.gone);
        self.keys.iter_mut().zip(other.keys).for_each(|(a, b)| both(a, b));
        self.marks.iter_mut().zip(other.marks).for_each(|(a, b)| both(a, b));
        self.counts.iter_mut().zip(other.counts).for_each(|(a, b)| both(a, b));
        self.measured.iter_mut().zip(other.measured).for_each(|(a, b)| both(a, b));
        self.copies.iter_mut().zip(other.copies).for_each(|(a, b)| both(a, b));
        self.quotas.iter_mut().zip(other.quotas).for_each(|(a, b)| both(a, b));
        self.work.iter_mut().zip(other.work).for_each(|(a, b)| both(a, b));
        self.guarded.iter_mut().zip(other.guarded).for_each(|(a, b)| both(a, b));
        self.spared.iter_mut().zip(other.spared).for_each(|(a, b)| both(a, b));
        self.stops.iter_mut().zip(other.stops).for_each(|(a, b)| both(a, b));
        self.hinted.iter_mut().zip(other.hinted).for_each(|(a, b)| both(a, b));
        self.followed.iter_mut().zip(other.followed).for_each(|(a, b)| both(a, b));
    }
}

/// The drive of `seed`: as the swarm's, but smaller, and it keeps its data.
pub fn scenario(seed: u64) -> Scenario {
    let mut scenario = still(seed);
    swarm::stops(seed, &mut scenario);
    swarm::copies(seed, &mut scenario);
    swarm::masks(seed, &mut scenario);
    swarm::stand_in(seed, &mut scenario);
    swarm::cache_programs(seed, &mut scenario);
    scenario
}

/// The drive of `seed` on dies that take in data while they program, with no technique that keeps them from it.
pub fn cached(seed: u64) -> Scenario {
    let mut scenario = scenario(seed);
    let config = &mut scenario.config;
    config.sheet.capabilities.cache_program = true;
    let barred: Vec<&str> = config.bars_loading_ahead().collect();
    config.techniques.retain(|choice| !barred.contains(&choice.card().name));
    (scenario.habits.stops_by_dice, scenario.habits.depth) = (false, scenario.habits.depth.max(16));
    // The next is in the group of one that fails only as often as programs fail.
    if scenario.config.spare_blocks > 0 {
        scenario.habits.program_fail = scenario.habits.program_fail.max(0.01);
    }
    scenario
}

/// The drive of `seed` with quotas of copies, and a technique that has data copied whenever they allow it.
pub fn copying(seed: u64) -> Scenario {
    let mut scenario = scenario(seed);
    scenario.habits.is_copying = true;
    let config = &mut scenario.config;
    let before = config.open_for_moved();
    let is_in_the_way = |choice: &Choice| choice.card().hooks.has(Hook::KeyStore) || matches!(choice, Choice::CopyThreshold(_));
    config.techniques.retain(|choice| !is_in_the_way(choice) && !matches!(choice, Choice::RestrictedCopyback(_)));
    config.techniques.push(Choice::RestrictedCopyback(restricted_copyback::Params {
        classes: if seed.is_multiple_of(4) { Classes::Worst } else { Classes::Block },
        samples: 1 + (seed % 3) as u32,
        retention: 0,
        moved_blocks: [1, 2, 4, 16][(seed / 4 % 4) as usize],
        // Days pass between copies, and quotas are to last for some.
        days_max: 1 + (seed % 5) as u32,
    }));
    swarm::equip(config);
    config.sheet.capabilities.copyback = true;
    config.sheet.geometry.blocks += config.open_for_moved().saturating_sub(before);
    while wordline_ftl::fits(config).is_err() {
        config.sheet.geometry.blocks += 1;
        // Each open group has marks in the longest snapshot.
        config.sheet.geometry.wordlines_per_layer += 1;
    }
    scenario
}

/// The drive of `seed` on dies that are not stopped but for techniques.
pub fn still(seed: u64) -> Scenario {
    let mut scenario = swarm::still(seed);
    let draw = &mut Draw::new(seed, Stream::Mix, 1);
    let config = &mut scenario.config;
    let geometry = &mut config.sheet.geometry;
    geometry.layers = 1 + draw.below(2) as u32;
    geometry.wordlines_per_layer = 2 + draw.below(2) as u32;
    // Groups for the journal and checkpoints.
    geometry.blocks += 4;
    let (odd, room) = (draw.next_u64(), draw.below(60) as u32);
    config.checkpoint_every = [None, Some(1), Some(2), Some(5), Some(20)][draw.below(5) as usize];
    config.keeps_data = true;
    loop {
        let geometry = config.sheet.geometry;
        let per_page = (geometry.page.0 / config.unit.0) as u32;
        let program = geometry.planes * config.sheet.pages_per_program() * per_page;
        let data = geometry.blocks - config.spare_blocks - 4 - config.gc.start - 2 - config.open_for_moved();
        config.exported_units = (config.dies * data * wordline_ftl::data_units(config)).saturating_sub((odd % u64::from(program)) as u32);
        config.buffer.units = config.dies * program + room;
        if config.exported_units > 0 && wordline_ftl::fits(config).is_ok() {
            break;
        }
        config.sheet.geometry.wordlines_per_layer += 1;
    }
    if Draw::new(seed, Stream::Mix, 8).happens(0.3) {
        config.buffer.protection = Protection::Capacitor;
    }
    let draw_counts = &mut Draw::new(seed, Stream::Mix, 9);
    let draw_sanitiser = &mut Draw::new(seed, Stream::Mix, 10);
    if draw_sanitiser.happens(0.5) {
        let all = sanitisers();
        config.techniques.push(all[draw_sanitiser.below(all.len() as u64) as usize]);
        swarm::equip(config);
        let timing = &mut config.sheet.timing;
        (timing.lock_page, timing.lock_block) = (Nanos::from_micros(100), Nanos::from_micros(300));
        config.gc.lazy_erase = draw_sanitiser.happens(0.5);
        // What must be moved at once needs somewhere to go.
        config.sheet.geometry.blocks += 3;
        while wordline_ftl::fits(config).is_err() {
            config.sheet.geometry.blocks += 1;
        }
        // With capacitors a promise is given before the program.
        config.buffer.protection = Protection::None;
        scenario.habits.insecure = [0.0, 0.3][draw_sanitiser.below(2) as usize];
    }
    let habits = &mut scenario.habits;
    habits.units_max = habits.units_max.min(config.exported_units);
    if config.spare_blocks > 0 {
        // Few programs fit between two cuts: enough of them must fail for spares to be used up.
        habits.program_fail = [0.0, 2e-3, 0.02][draw.below(3) as usize];
        habits.erase_fail = [0.0, 1e-2, 0.05][draw.below(3) as usize];
    }
    let mixes = [[0.7, 0.1, 0.05], [0.5, 0.3, 0.1], [0.8, 0.02, 0.02], [0.3, 0.4, 0.2]];
    habits.mix = mixes[draw.below(4) as usize];
    if draw_counts.happens(0.2) {
        habits.mix = [0.2, 0.05, 0.02];
    }
    if config.buffer.acknowledge == Acknowledge::Programmed && draw.happens(0.5) {
        // Promises that are kept at once leave little to look at.
        config.buffer.acknowledge = Acknowledge::Buffered;
    }
    scenario
}

/// The drive of `scenario` with second copies on another die, and two dies or more.
pub fn twinned(mut scenario: Scenario) -> Scenario {
    let config = &mut scenario.config;
    (config.oob_copies, config.oob_place) = (true, OobPlace::Neighbour);
    let program = config.buffer.units / config.dies;
    config.dies = config.dies.max(2);
    config.factory_bad.resize(config.dies as usize, Vec::new());
    config.buffer.units = config.buffer.units.max(config.dies * program);
    while wordline_ftl::fits(config).is_err() {
        config.sheet.geometry.blocks += 1;
    }
    scenario
}

/// One drive through some lives. In the first, the power goes at operation boundary `cut`, if it comes so far; in the others, at random ones. The error says
/// what was broken.
pub fn trial(seed: u64, cut: Option<u64>, requests: u64, bug: Option<Bug>) -> Result<Tally, String> {
    trial_on(scenario(seed), cut, requests, bug)
}

/// As [`trial`], on the drive of `scenario`.
///
/// # Errors
/// The check that was broken.
pub fn trial_on(scenario: Scenario, cut: Option<u64>, requests: u64, bug: Option<Bug>) -> Result<Tally, String> {
    let seed = scenario.seed;
    let mut world = World::new(scenario, bug);
    let mut draw = Draw::new(seed, Stream::Mix, 2 + cut.map_or(0, |cut| cut as u32 + 1));
    let lives = 2 + draw.below(4);
    for life in 0..lives {
        let at = match cut {
            Some(cut) if life == 0 => cut,
            _ if draw.happens(0.4) => draw.below(20),
            _ => draw.below(requests * 3),
        };
        world.live(requests, Some(at))?;
        if !world.recover()? {
            return Ok(world.tally);
        }
    }
    world.live(requests, None)?;
    world.recover()?;
    Ok(world.tally)
}

/// Shares of pages that become unreadable at a cut, as a drive may meet them.
pub const FEW: &[f64] = &[0.0, 0.003, 0.01];
/// The same, and more than any drive survives: with one page in twenty gone, both copies of some marks are.
pub const MANY: &[f64] = &[0.0, 0.003, 0.01, 0.05, 0.2];

/// As [`trial`], while pages become unreadable at every cut, in one of `shares` each time: each flushed unit must be back in its newest version, or lost and
/// told.
///
/// # Errors
/// The check that was broken.
pub fn rotten_trial(seed: u64, requests: u64, shares: &[f64], bug: Option<Bug>) -> Result<Tally, String> {
    // What is stopped is tried elsewhere, and seeds that have shown something go on showing it.
    rotten_trial_on(still(seed), requests, shares, bug)
}

/// Take out techniques that trials with unreadable pages do not judge. A destroyed key is no page that cannot be read, and no second copy tells of it; the
/// place where reads begin is checked elsewhere, on pages that can be read.
fn leave_to_others(scenario: &mut Scenario) {
    scenario.config.techniques.retain(|choice| !matches!(choice, Choice::CryptoErase(_) | Choice::LayerReadOffsets));
}

/// As [`rotten_trial`], on the drive of `scenario`.
///
/// # Errors
/// The check that was broken.
pub fn rotten_trial_on(mut scenario: Scenario, requests: u64, shares: &[f64], bug: Option<Bug>) -> Result<Tally, String> {
    let seed = scenario.seed;
    leave_to_others(&mut scenario);
    scenario.config.oob_copies = bug != Some(Bug::CopiesOff);
    let mut world = World::new(scenario, bug);
    let mut draw = Draw::new(seed, Stream::Mix, 11);
    let lives = 2 + draw.below(5);
    for _ in 0..lives {
        world.rot(shares[draw.below(shares.len() as u64) as usize]);
        let at = if draw.happens(0.3) { draw.below(20) } else { draw.below(requests * 3) };
        world.live(requests, Some(at))?;
        if !world.recover()? {
            return Ok(world.tally);
        }
    }
    Ok(world.tally)
}

/// The drive of `seed` for failures: with dies to spare, and second copies on another die.
pub fn spacious(seed: u64) -> Scenario {
    let mut scenario = still(seed);
    let draw = &mut Draw::new(seed, Stream::Mix, 15);
    let (program, dies) = (scenario.config.buffer.units / scenario.config.dies, 3 + draw.below(3) as u32);
    let config = &mut scenario.config;
    // Two dies may fail, and what is left has room for all.
    config.exported_units = (config.exported_units / config.dies * (dies - 2)).max(1) * 3 / 4 + 1;
    config.dies = dies;
    config.factory_bad.resize(dies as usize, Vec::new());
    config.buffer.units = config.buffer.units.max(dies * program);
    config.codeword_bits = 8_192;
    // A die has so few blocks that one of them is more than a share of it.
    config.repair.bad_blocks_per_die = 0.2;
    scenario.habits.units_max = scenario.habits.units_max.min(config.exported_units);
    twinned(scenario)
}

/// One drive through some lives, in one of which, or between two, something fails for good; `failures` times, of these `extents`.
///
/// # Errors
/// The check that was broken: an older state of flushed data, or a unit that fails and of which nothing lay in the parts that have failed.
pub fn failing_trial(
    mut scenario: Scenario,
    requests: u64,
    (extents, failures): (&[Extent], usize),
    bug: Option<Bug>,
) -> Result<Tally, String> {
    let seed = scenario.seed;
    leave_to_others(&mut scenario);
    let mut world = World::new(scenario, bug);
    let mut draw = Draw::new(seed, Stream::Mix, 16);
    world.rot(0.0);
    let lives = 3 + draw.below(4);
    let mut fails: Vec<u64> = (0..lives).collect();
    while fails.len() > failures {
        fails.swap_remove(draw.below(fails.len() as u64) as usize);
    }
    for life in 0..lives {
        let at = if draw.happens(0.3) { draw.below(20) } else { draw.below(requests * 3) };
        let at = draw.happens(0.7).then_some(at);
        let harm = world.harm(extents[draw.below(extents.len() as u64) as usize], draw.next_u64());
        let (is_on, boundary) = (draw.happens(0.6), draw.below(at.unwrap_or(requests).max(1)));
        if fails.contains(&life) && is_on {
            world.fail_at(boundary, harm);
        }
        world.live(requests, at)?;
        if at.is_none() {
            world.stop()?;
        }
        if fails.contains(&life) && !is_on {
            world.fail_off(harm);
        }
        if !world.recover()? {
            return Ok(world.tally);
        }
    }
    world.live(requests, None)?;
    world.recover()?;
    Ok(world.tally)
}

/// How many operation boundaries the first life of `seed` has.
pub fn boundaries(seed: u64, requests: u64) -> Result<u64, String> {
    let mut world = World::new(scenario(seed), None);
    world.live(requests, None)?;
    Ok(world.boundaries())
}

/// How many cuts are tried to make a failing trial smaller.
const CUTS_TRIED: u64 = 400;

/// A trial that breaks something: the smallest that was found, from `requests` requests with the power cut at `cut` on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failing {
    /// The seed.
    pub seed: u64,
    /// Where the first life was cut.
    pub cut: Option<u64>,
    /// Requests in each life.
    pub requests: u64,
    /// The check that was broken.
    pub problem: String,
}

impl Failing {
    /// The command that shows it again.
    pub fn command(&self) -> String {
        let cut = self.cut.map_or(String::new(), |cut| format!(" {cut}"));
        format!("cargo run -p wordline-proving --example power_cuts -- {} 1 {}{cut}", self.seed, self.requests)
    }
}

/// Whether a trial breaks something, as an error or a panic.
pub fn breaks(seed: u64, cut: Option<u64>, requests: u64, bug: Option<Bug>) -> Option<Failing> {
    attempt(seed, cut, requests, bug).err()
}

/// A trial, and what it broke, as an error or a panic.
///
/// # Errors
/// The check that was broken.
pub fn attempt(seed: u64, cut: Option<u64>, requests: u64, bug: Option<Bug>) -> Result<Tally, Failing> {
    let tried = catch_unwind(AssertUnwindSafe(|| trial(seed, cut, requests, bug)));
    let problem = match tried {
        Ok(Ok(tally)) => return Ok(tally),
        Ok(Err(problem)) => problem,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned())).unwrap_or_else(|| "a panic".to_owned())
        }
    };
    Err(Failing { seed, cut, requests, problem })
}

/// Whether a rotten trial breaks something, as an error or a panic.
pub fn rot_breaks(seed: u64, requests: u64, bug: Option<Bug>) -> bool {
    !matches!(catch_unwind(AssertUnwindSafe(|| rotten_trial(seed, requests, MANY, bug))), Ok(Ok(_)))
}

/// Whether a trial with a failed die breaks something, as an error or a panic.
pub fn failure_breaks(seed: u64, requests: u64, bug: Option<Bug>) -> bool {
    let trial = || failing_trial(spacious(seed), requests, (&[Extent::Die], 1), bug);
    !matches!(catch_unwind(AssertUnwindSafe(trial)), Ok(Ok(_)))
}

/// The smallest trial of the same seed that still breaks something: fewer requests first, then a cut in the first life at the earliest boundary.
pub fn shrink(failing: Failing, bug: Option<Bug>) -> Failing {
    let mut least = failing;
    let mut step = least.requests / 2;
    while step > 0 {
        match least.requests.checked_sub(step).filter(|&left| left > 0).and_then(|left| breaks(least.seed, least.cut, left, bug)) {
            Some(smaller) => least = smaller,
            None => step /= 2,
        }
    }
    let last = least.cut.unwrap_or(least.requests * 4).min(CUTS_TRIED);
    (0..last).find_map(|cut| breaks(least.seed, Some(cut), least.requests, bug)).unwrap_or(least)
}
