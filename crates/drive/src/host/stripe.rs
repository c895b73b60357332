//! Ownership: the host's addresses striped over firmware cores.

/// Static striping of logical units over cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stripe {
    cores: u32,
    units: u32,
}

impl Stripe {
    /// Creates a striping in which runs of `units` units go to `cores` cores in turn.
    pub fn new(cores: u32, units: u32) -> Stripe {
        assert!(cores > 0 && units > 0);
        Stripe { cores, units }
    }

    /// Core of a unit of the drive, and the unit's number there.
    #[inline]
    pub fn locate(&self, unit: u64) -> (u32, u32) {
        if self.cores == 1 {
            return (0, unit as u32);
        }
        let (row, offset) = (unit / u64::from(self.units), unit % u64::from(self.units));
        let (turn, core) = (row / u64::from(self.cores), row % u64::from(self.cores));
        (core as u32, (turn * u64::from(self.units) + offset) as u32)
    }

    /// Unit of the drive that is `unit` of `core`; the inverse of [`Stripe::locate`].
    #[inline]
    pub fn global(&self, core: u32, unit: u32) -> u64 {
        let (turn, offset) = (u64::from(unit / self.units), u64::from(unit % self.units));
        (turn * u64::from(self.cores) + u64::from(core)) * u64::from(self.units) + offset
    }

    /// Number of units of `core` among the first `units` of the drive.
    #[inline]
    pub fn share(&self, core: u32, units: u64) -> u32 {
        if self.cores == 1 {
            return units as u32;
        }
        let row = u64::from(self.units) * u64::from(self.cores);
        let rest = (units % row).saturating_sub(u64::from(core) * u64::from(self.units)).min(u64::from(self.units));
        (units / row * u64::from(self.units) + rest) as u32
    }
}

/// Conversion from sectors to units. Nearly every unit is a power of two of sectors, and a shift costs a tenth of a division.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Units {
    sectors: u64,
    shift: Option<u32>,
}

impl Units {
    /// Creates the conversion for units of `sectors` sectors each.
    pub(crate) fn new(sectors: u64) -> Units {
        Units { sectors, shift: sectors.is_power_of_two().then(|| sectors.trailing_zeros()) }
    }

    /// Sectors of one unit.
    #[inline]
    pub(crate) fn sectors(&self) -> u64 {
        self.sectors
    }

    /// The unit that holds `sector`.
    #[inline]
    pub(crate) fn holding(&self, sector: u64) -> u64 {
        match self.shift {
            Some(shift) => sector >> shift,
            None => sector / self.sectors,
        }
    }

    /// First unit that `sectors` sectors from `sector` touch, and how many units they touch.
    #[inline]
    pub(crate) fn touched(&self, sector: u64, sectors: u32) -> (u64, u32) {
        let first = self.holding(sector);
        if sectors == 0 { (first, 0) } else { (first, (self.holding(sector + u64::from(sectors) - 1) - first + 1) as u32) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn striping_gives_each_unit_one_place() {
        for (cores, units) in [(1, 1), (4, 1), (4, 16), (3, 5)] {
            let stripe = Stripe::new(cores, units);
            let total = 1_000u64;
            let mut seen = vec![0; cores as usize];
            let mut places = std::collections::BTreeSet::new();
            for unit in 0..total {
                let place = stripe.locate(unit);
                assert!(places.insert(place));
                assert_eq!(stripe.global(place.0, place.1), unit);
                seen[place.0 as usize] += 1;
            }
            for (core, &count) in seen.iter().enumerate() {
                assert_eq!(stripe.share(core as u32, total), count);
            }
        }
    }

    #[test]
    fn shifts_and_divisions_find_the_same_units() {
        for sectors in [1, 8, 24, 32, 64] {
            let units = Units::new(sectors);
            for (sector, count) in [(0, 1), (7, 1), (7, 2), (23, 2), (24, 24), (31, 64), (1_000_003, 129), (5, 0)] {
                let first = sector / sectors;
                let touched = if count == 0 { 0 } else { (sector + u64::from(count) - 1) / sectors - first + 1 };
                assert_eq!(units.touched(sector, count), (first, touched as u32));
            }
        }
    }
}
