//! Drives that come into the world used: filled in order, without writing them.

use wordline_units::DieId;

use crate::die::{Open, Stream};
use crate::firmware::Ftl;
use crate::layout::Group;

impl Ftl {
    /// Make this fresh core look as if its first `units` units had been written once in order. Costs nothing per unit. Returns, for each group that holds data, how many of its program units are written; the caller gives the flash the
    /// same content ([`crate::Layout::regular_lpn`]).
    pub fn construct_filled(&mut self, units: u32) -> Vec<(Group, u32)> {
        let layout = self.layout;
        assert!(self.is_quiet() && units <= self.map.exported());
        let filled: Vec<(Group, u32)> = (0..layout.group_count() as u32)
            .map(Group)
            .map(|group| (group, self.regular_programs(group, units)))
            .filter(|&(_, programs)| programs > 0)
            .collect();
        for &(group, programs) in &filled {
            let die = layout.die(group);
            let place = self.dies[die].free.iter().position(|&free| free == group).expect("a fill needs every group it uses in service");
            self.dies[die].free.remove(place);
            self.groups.open(group);
            let first = layout.regular_lpn(group, (programs - 1) * layout.units_per_program);
            let last = layout.units_per_program.min(units - first);
            let valid = (programs - 1) * layout.units_per_program + last;
            self.groups.add_valid(group, valid);
            for offset in valid..programs * layout.units_per_program {
                self.groups.add_stale(layout.unit(group, offset));
            }
            if programs == layout.programs {
                self.groups.close(group);
            } else {
                self.dies[die].open[Stream::Host as usize] = Some(Open { group, program: programs });
            }
        }
        self.map.fill_regular(units);
        filled
    }

    /// How many program units of `group` hold the first `units` units in regular order.
    fn regular_programs(&self, group: Group, units: u32) -> u32 {
        let layout = &self.layout;
        let die = u32::from(layout.die(group).0);
        let round = layout.number(group) * layout.programs;
        // Program unit p of the group is number (round + p) * dies + die of the fill.
        let total = units.div_ceil(layout.units_per_program);
        let of_die = total / layout.dies + u32::from(total % layout.dies > die);
        of_die.saturating_sub(round).min(layout.programs)
    }

    /// Set how often `group` has been erased.
    pub fn set_erases(&mut self, group: Group, erases: u32) {
        self.groups.set_erases(group, erases);
    }

    /// The dies of this core.
    pub fn dies(&self) -> impl Iterator<Item = DieId> {
        (0..self.layout.dies as u16).map(DieId)
    }
}
