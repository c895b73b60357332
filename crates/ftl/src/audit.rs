//! The whole-core audit: every table against every other. Costs a walk over the drive, so tests and the proving ground call it, not the hot path.

use wordline_units::{DieId, Lpn};

use crate::firmware::Ftl;
use crate::groups::Use;
use crate::layout::{Group, UnitAddr};

impl Ftl {
    /// Check map, spare areas, validity marks and counts against each other. `spare` reads the spare area of a unit from the flash itself. The first
    /// disagreement is returned as text.
    pub fn audit(&self, spare: impl Fn(UnitAddr) -> Lpn) -> Result<(), String> {
        let mut mapped = vec![0u32; self.layout.group_count()];
        for lpn in 0..self.map.exported() {
            let addr = self.map.get(lpn);
            if addr == UnitAddr::NONE {
                continue;
            }
            let group = self.layout.group(addr);
            mapped[group.index()] += 1;
            if spare(addr) != Lpn(lpn) {
                return Err(format!("unit {lpn} maps to {addr:?}, whose spare area says {}", spare(addr)));
            }
            if !self.groups.is_valid(group, self.layout.offset(addr)) {
                return Err(format!("unit {lpn} maps to {addr:?}, which is marked stale"));
            }
        }
        for (index, &mapped) in mapped.iter().enumerate() {
            let group = Group(index as u32);
            if self.groups.valid(group) != mapped {
                return Err(format!("{group:?} counts {} valid units, the map has {mapped}", self.groups.valid(group)));
            }
            if mapped > 0 && matches!(self.groups.use_of(group), Use::Free | Use::Bad) {
                return Err(format!("{group:?} holds {mapped} valid units but is {:?}", self.groups.use_of(group)));
            }
        }
        for (die, state) in self.dies.iter() {
            self.audit_die(die, &state.free.iter().copied().collect::<Vec<_>>())?;
        }
        Ok(())
    }

    fn audit_die(&self, die: DieId, free: &[Group]) -> Result<(), String> {
        let mut listed = free.to_vec();
        listed.sort_unstable();
        let marked: Vec<Group> =
            self.layout.groups_of(die).map(|index| Group(index as u32)).filter(|&group| self.groups.use_of(group) == Use::Free).collect();
        if listed == marked { Ok(()) } else { Err(format!("die {die}: free list {listed:?}, marked free {marked:?}")) }
    }
}
