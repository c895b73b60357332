//! Power cuts: a core that keeps data on flash that keeps it too, until the power goes.
//!
//! ```text
//!   plan ──► world ──requests, reports──► Ftl          life after life of one drive:
//!              │  ◄──operations, bytes──               run, cut, look, recover, look, run …
//!              ├──► nand     what stands in pages; what a cut leaves of what was under way
//!              └──► ledger   what each unit may hold after a cut
//! ```
//!
//! Checks: every write that a flush or FUA has made durable is back; every other is back or as it was before, unit by unit, never torn, never another's; trims
//! hold; the recovered tables agree with the flash; recovering twice gives the same; what was recovered stays, whatever the next cut does; the firmware reads
//! whole pages only, programs erased pages only, and uses no block that has failed. Does not check: bit errors, a page that is torn and reads as whole, a
//! program that spoils pages programmed before on the same wordline, dead dies, the drive around the core.

mod ledger;
mod nand;
mod world;

use wordline_ftl::config::Acknowledge;
use wordline_units::random::{Draw, Stream};

pub use world::World;

use crate::swarm::{self, Scenario};

/// A fault planted in the world, to see that it is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
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
}

impl Bug {
    /// All of them.
    pub const ALL: [Bug; 10] = [
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
    /// Programs of the journal; snapshots begun.
    pub journal: [u64; 2],
    /// Erases, moved units, failed programs and erases.
    pub work: [u64; 3],
    /// Lives that ended with a core that takes no more writes.
    pub worn_out: u64,
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
        both(&mut self.worn_out, other.worn_out);
        self.journal.iter_mut().zip(other.journal).for_each(|(a, b)| both(a, b));
        self.work.iter_mut().zip(other.work).for_each(|(a, b)| both(a, b));
    }
}

/// The drive of `seed`: as the swarm's, but smaller, and it keeps its data.
pub fn scenario(seed: u64) -> Scenario {
    let mut scenario = swarm::scenario(seed);
    let draw = &mut Draw::new(seed, Stream::Mix, 1);
    let config = &mut scenario.config;
    let geometry = &mut config.sheet.geometry;
    geometry.layers = 1 + draw.below(2) as u32;
    geometry.wordlines_per_layer = 2 + draw.below(2) as u32;
    // Two groups for the journal.
    geometry.blocks += 2;
    let (odd, room) = (draw.next_u64(), draw.below(60) as u32);
    loop {
        let geometry = config.sheet.geometry;
        let per_page = (geometry.page.0 / config.unit.0) as u32;
        let program = geometry.planes * config.sheet.pages_per_program() * per_page;
        let data = geometry.blocks - config.spare_blocks - 2 - config.reclaim.start - 3;
        config.exported_units = config.dies * data * geometry.planes * geometry.pages() * per_page - (odd % u64::from(program)) as u32;
        config.buffer.units = config.dies * program + room;
        if wordline_ftl::fits(config).is_ok() {
            break;
        }
        config.sheet.geometry.wordlines_per_layer += 1;
    }
    config.keeps_data = true;
    let habits = &mut scenario.habits;
    habits.units_max = habits.units_max.min(config.exported_units);
    if config.spare_blocks > 0 {
        // Few programs fit between two cuts: enough of them must fail for spares to be used up.
        habits.program_fail = [0.0, 2e-3, 0.02][draw.below(3) as usize];
        habits.erase_fail = [0.0, 1e-2, 0.05][draw.below(3) as usize];
    }
    let mixes = [[0.7, 0.1, 0.05], [0.5, 0.3, 0.1], [0.8, 0.02, 0.02], [0.3, 0.4, 0.2]];
    habits.mix = mixes[draw.below(4) as usize];
    if config.buffer.acknowledge == Acknowledge::Programmed && draw.happens(0.5) {
        // Promises that are kept at once leave little to look at.
        config.buffer.acknowledge = Acknowledge::Buffered;
    }
    scenario
}

/// One drive through some lives. In the first, the power goes at operation boundary `cut`, if it comes so far; in the others, at random ones. The error says
/// what was broken.
pub fn trial(seed: u64, cut: Option<u64>, requests: u64, bug: Option<Bug>) -> Result<Tally, String> {
    let mut world = World::new(scenario(seed), bug);
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

/// How many operation boundaries the first life of `seed` has.
pub fn boundaries(seed: u64, requests: u64) -> Result<u64, String> {
    let mut world = World::new(scenario(seed), None);
    world.live(requests, None)?;
    Ok(world.boundaries())
}
