//! Dies, planes and blocks that fail and stay failed: while the core runs, during a cut, or while the power is off.
//!
//! Checks: a unit fails only if its newest copy, or one that a cut may bring back, lay in what has failed, and no newer one is durable; that goes for every
//! start after the failure. Does not check: which of two failures has taken a unit.

use std::collections::BTreeMap;

use wordline_flash::{Operation, OperationKind, Target};
use wordline_ftl::{PagePlace, UnitAddr};
use wordline_units::{DieId, OpTag};

use super::super::nand::{Bytes, Harm, Stored};
use super::checks::place_of;
use super::{LOST, World};
use crate::cut::Extent;

/// Failures so far, and what they have taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Failed {
    harms: Vec<Harm>,
    /// Number of operation boundaries in this life after which the next comes.
    at: Option<(u64, Harm)>,
    /// Newest state of each unit of which a copy may have been the newest and lay in what has failed.
    taken: BTreeMap<u32, u64>,
    /// Probes under way of pages in what has failed.
    probes: Vec<OpTag>,
}

impl World {
    /// A failure of this `extent`, the `turn`-th there can be.
    pub(in crate::cut) fn harm(&self, extent: Extent, turn: u64) -> Harm {
        let all: Vec<Harm> = self.nand.harms().into_iter().filter(|harm| harm.extent() == extent).collect();
        all[turn as usize % all.len()]
    }

    /// Let `harm` come after `boundaries` of the next life.
    pub(in crate::cut) fn fail_at(&mut self, boundaries: u64, harm: Harm) {
        self.failed.at = Some((boundaries, harm));
    }

    /// Let `harm` come while the power is off, before the next start.
    pub(in crate::cut) fn fail_off(&mut self, harm: Harm) {
        self.condemn(harm);
    }

    /// True if something has failed.
    pub(super) fn has_failed(&self) -> bool {
        !self.failed.harms.is_empty()
    }

    /// The part that was to fail fails.
    pub(super) fn befall(&mut self) {
        let Some((_, harm)) = self.failed.at.filter(|&(at, _)| self.boundaries >= at) else { return };
        self.failed.at = None;
        self.condemn(harm);
        self.nand.fail(harm);
        self.pace.fail(|operation| reaches(harm, operation));
        self.lose_what_is_lost();
    }

    /// Units that cannot be read from now on. Reads under way may fail, whatever has been written to their units since they came.
    fn lose_what_is_lost(&mut self) {
        self.was_lost.extend(self.asked.keys());
        for lpn in 0..self.ftl.map().exported() {
            let Ok(found) = self.newest(lpn) else { continue };
            if found.contains(&LOST) {
                self.ledger.lose(lpn, &found);
                self.failed.taken.insert(lpn, self.ledger.newest(lpn));
            }
        }
    }

    /// The core has given up `die`: it reads nothing of it until the next start, whatever answers.
    pub(super) fn give_up(&mut self, die: DieId) {
        if !self.has_failed() || self.failed.harms.contains(&Harm::Die(die)) {
            return;
        }
        self.note_taken(Harm::Die(die));
        self.lose_what_is_lost();
    }

    /// Note what `harm` takes, and that it is there.
    fn condemn(&mut self, harm: Harm) {
        // Data that no flush had covered may be older.
        self.rot = self.rot.or(Some(0.0));
        self.note_taken(harm);
        self.failed.harms.push(harm);
    }

    fn note_taken(&mut self, harm: Harm) {
        let exported = self.ftl.map().exported();
        // A part of it may be in the buffer, and the rest lies there.
        for lpn in 0..exported {
            let addr = self.ftl.map().get(lpn);
            if addr != UnitAddr::NONE && harm.reaches(self.place(addr)) {
                self.failed.taken.insert(lpn, self.ledger.newest(lpn));
            }
        }
        for Stored { mark, bytes, .. } in self.nand.units_in(harm).filter(|unit| unit.mark.lpn.0 < exported) {
            let Bytes::Sectors(sectors) = bytes else { continue };
            if let Some(number) = self.ledger.number_of(mark.lpn.0, sectors) {
                let taken = self.failed.taken.entry(mark.lpn.0).or_insert(number);
                *taken = number.max(*taken);
            }
        }
    }

    /// The power has gone: what has failed holds nothing that was under way.
    pub(super) fn fail_again(&mut self) {
        for harm in self.failed.harms.clone() {
            self.nand.fail(harm);
        }
    }

    /// True if an operation of `die` at `target` fails.
    pub(super) fn is_harmed(&self, die: DieId, target: &Target) -> bool {
        self.failed.harms.iter().any(|harm| reaches_target(*harm, die, target))
    }

    /// A read of the page at `target` is ordered, or a probe. A tag is used again, also that of a probe that was broken off.
    pub(super) fn note_read(&mut self, (die, tag): (DieId, OpTag), target: &Target, is_probe: bool) {
        self.failed.probes.retain(|&probe| probe != tag);
        if is_probe && self.is_harmed(die, target) {
            self.failed.probes.push(tag);
        }
    }

    /// True if the page of the read `tag`, or of the probe, is in what has failed.
    pub(super) fn is_noise(&mut self, tag: OpTag, page: &[(UnitAddr, Stored)]) -> bool {
        let Failed { probes, harms, .. } = &mut self.failed;
        let count = probes.len();
        probes.retain(|&probe| probe != tag);
        let is_probed = probes.len() < count;
        is_probed || page.first().is_some_and(|&(addr, _)| harms.iter().any(|harm| harm.reaches(place_of(&self.ftl, addr))))
    }

    /// Wrong bits of a page that is noise.
    pub(super) fn noise(&self) -> u32 {
        self.scenario.config.codeword_bits / 2
    }

    /// `lpn` fails after a start: is it owed to what has failed?
    pub(super) fn check_taken(&mut self, lpn: u32, found: &[u32]) -> Result<(), String> {
        // A write to a part of it since has left the rest as it was.
        let is_owed =
            self.failed.taken.get(&lpn).is_some_and(|&number| self.ledger.may_be(lpn, number)) || self.ledger.was_lost(lpn, found);
        if is_owed || self.failed.harms.len() != 1 {
            // From now on the ledger takes it for the newest that it may have been.
            self.failed.taken.insert(lpn, self.ledger.newest(lpn));
            return Ok(());
        }
        let addr = self.ftl.map().get(lpn);
        let place = (addr != UnitAddr::NONE).then(|| self.place(addr));
        Err(format!(
            "unit {lpn} fails, and nothing of it lay in what has failed: {:?}; {:?} taken of {}; {place:?}, {:?}; {:?}",
            self.failed.harms,
            self.failed.taken.get(&lpn),
            self.ledger.states(lpn),
            self.ftl.newest(lpn),
            self.ftl.recovery()
        ))
    }
}

fn reaches(harm: Harm, operation: &Operation) -> bool {
    match &operation.kind {
        OperationKind::Program { target, .. } | OperationKind::Erase { target, .. } | OperationKind::Sanitise { target, .. } => {
            reaches_target(harm, operation.die, target)
        }
        OperationKind::Copyback { from, to, .. } => reaches_target(harm, operation.die, from) || reaches_target(harm, operation.die, to),
        OperationKind::Read { .. } | OperationKind::Suspend { .. } | OperationKind::Resume | OperationKind::Abort => false,
    }
}

fn reaches_target(harm: Harm, die: DieId, target: &Target) -> bool {
    target.planes.iter().any(|plane| harm.reaches(PagePlace { die, plane, block: target.block(plane), page: target.page }))
}
