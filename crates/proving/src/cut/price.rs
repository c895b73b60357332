//! The price of safety: what a recovery refuses when one page, one block or one die cannot be read.
//!
//! Newest or an error is half of what is owed. The other half: an error only where the newest copy can have been. So at a stop, and at a power cut, each single
//! failure is tried on a copy of the flash, erased pages included, and what the core makes of it is held against what it makes of the flash as it is.
//!
//! Checks: a unit fails only if its newest copy lay in what has failed; any other reads as it would have, or as what no flush had covered. Does not check:
//! failures of two things at once, and what a core does after that start.

use super::nand::Harm;
use super::world::World;
use super::{Bug, leave_to_others};
use crate::swarm::Scenario;
use wordline_units::random::{Draw, Stream};

/// Counts of what single failures have cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Price {
    /// Failures of pages, of blocks, of planes, of dies that were tried.
    pub tried: [u64; 4],
    /// Units that failed, and had lain there.
    pub owed: [u64; 4],
    /// Failures after which some unit failed, or was older, that had not lain there.
    pub dear: [u64; 4],
    /// Units that failed and had not lain there.
    pub over: [u64; 4],
}

impl Price {
    /// Add `other`.
    pub fn add(&mut self, other: &Price) {
        let both = |a: &mut [u64; 4], b: [u64; 4]| a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        both(&mut self.tried, other.tried);
        both(&mut self.owed, other.owed);
        both(&mut self.dear, other.dear);
        both(&mut self.over, other.over);
    }

    pub(super) fn note(&mut self, harm: Harm, owed: u64, over: u64) {
        let kind = harm.extent() as usize;
        self.tried[kind] += 1;
        self.owed[kind] += owed;
        self.over[kind] += over;
        self.dear[kind] += u64::from(over > 0);
    }
}

/// Extent of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// One page.
    Page,
    /// One block of a plane.
    Block,
    /// One plane of a die.
    Plane,
    /// One die.
    Die,
}

impl Extent {
    /// All of them.
    pub const ALL: &[Extent] = &[Extent::Page, Extent::Block, Extent::Plane, Extent::Die];
}

/// End of a life before its price is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// An orderly stop.
    Stop,
    /// A power cut.
    Cut,
}

/// The drive of `scenario` through some lives, each of which ends in one of `ends`. At each end all single failures are tried.
///
/// # Errors
/// The check that was broken: an older state of flushed data, or any fault that [`super::trial`] finds.
pub fn priced_trial(mut scenario: Scenario, requests: u64, ends: &[End], extents: &[Extent], bug: Option<Bug>) -> Result<Price, String> {
    leave_to_others(&mut scenario);
    scenario.config.oob_copies = true;
    let seed = scenario.seed;
    let mut world = World::new(scenario, bug);
    let mut draw = Draw::new(seed, Stream::Mix, 12);
    let mut price = Price::default();
    // Pages fail, so what no flush had covered may be older.
    world.rot(0.0);
    for _ in 0..2 + draw.below(3) {
        let end = ends[draw.below(ends.len() as u64) as usize];
        let at = (end == End::Cut).then(|| draw.below(requests * 3));
        world.live(requests, at)?;
        if at.is_none() {
            world.stop()?;
        }
        let before = world.ledger();
        if !world.recover()? {
            break;
        }
        price.add(&world.price(&before, extents)?);
    }
    Ok(price)
}
