//! Scheduler of turns: GC and host are served at the rate at which victims give room back.
//!
//! A victim that holds v valid of n units gives n − v units of room and costs v moves. So for each unit that is moved the host may program (n − v) / v units,
//! and when the victim is empty the host has programmed as many as it has given back: the number of free groups stays where it is, and no host write waits for
//! more than its own share of the moves. GC goes first where no group is free, as moved data must always find room. A victim that a
//! technique asked for while enough groups are free holds nobody up: the host goes first, and pays nothing.

use super::{DieWork, Policy, Turn};

/// Credit is counted in parts of a unit.
pub(super) const PART: i32 = 256;

/// Serves the host while it has credit.
pub(super) struct Paced;

impl Policy for Paced {
    #[inline]
    fn first(&self, die: &DieWork) -> Turn {
        // Nobody waits for the room that an extra victim gives.
        let is_hosts = !die.is_due || die.is_extra || die.credit > 0;
        if die.free > 0 && is_hosts { Turn::Host } else { Turn::Gc }
    }

    fn earned(&self, moved: u32, valid: u32, units: u32) -> i32 {
        let given = i64::from(units - valid) * i64::from(PART);
        let parts = if valid == 0 { given } else { given * i64::from(moved) / i64::from(valid) };
        parts.try_into().unwrap_or(i32::MAX)
    }

    fn taken(&self, units: u32) -> i32 {
        -(units as i32).saturating_mul(PART)
    }
}

#[cfg(test)]
mod tests {
    use super::super::add;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A die that has work of both kinds all the time, its victims `valid` of 64 units each: both are served, at the rate at which room is given back.
        #[test]
        fn nobody_waits_for_ever(valid in 1u32..64) {
            let (mut credit, mut moved, mut written) = (0, 0u32, 0u32);
            for _ in 0..20_000 {
                let die = DieWork { is_due: true, is_extra: false, free: 1, floor: 1, preemptible: false, credit };
                match Paced.first(&die) {
                    Turn::Host => {
                        written += 1;
                        credit = add(credit, Paced.taken(1));
                    }
                    Turn::Gc => {
                        moved += 1;
                        credit = add(credit, Paced.earned(1, valid, 64));
                    }
                }
            }
            let rate = f64::from(64 - valid) / f64::from(valid);
            let found = f64::from(written) / f64::from(moved);
            prop_assert!(moved > 0 && (found - rate).abs() < 0.01 * rate + 0.005, "{found} for {rate}");
        }
    }

    #[test]
    fn a_victim_earns_what_it_gives_back() {
        let earned: i32 = (0..48).map(|_| Paced.earned(1, 48, 64)).sum();
        assert!((earned + Paced.taken(16)).abs() < 48, "16 units but for rounding");
        assert_eq!(Paced.earned(0, 0, 64) + Paced.taken(64), 0);
        assert_eq!(Paced.earned(4, 64, 64), 0, "a full victim gives nothing");
    }

    #[test]
    fn the_host_is_served_while_it_has_credit() {
        let die = DieWork { is_due: true, is_extra: false, free: 1, floor: 1, preemptible: false, credit: 1 };
        assert_eq!(Paced.first(&die), Turn::Host);
        assert_eq!(Paced.first(&DieWork { credit: 0, ..die }), Turn::Gc);
        assert_eq!(Paced.first(&DieWork { credit: -5, is_due: false, ..die }), Turn::Host, "nothing has to be reclaimed");
        assert_eq!(Paced.first(&DieWork { credit: -5, is_extra: true, ..die }), Turn::Host, "nor has it to be now");
        assert_eq!(Paced.first(&DieWork { free: 0, ..die }), Turn::Gc);
    }
}
