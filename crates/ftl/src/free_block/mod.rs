//! The free-block policy, an exclusive slot: one policy at a time decides which free block group is written next, and whose data static wear levelling moves.
//!
//! A policy is one file with one type that implements [`Policy`], and one line in the list below. `docs/tutorials/free-block.md` walks through it.

use wordline_units::Wear;

/// Data stream of a die. The two streams go to different blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// New host data.
    Host = 0,
    /// Data that has been programmed before.
    Moved = 1,
}

/// Free groups among which a policy chooses, each at its place: the longer a group has been free, the lower its place.
#[derive(Clone, Copy)]
pub struct FreeGroups<'a> {
    count: usize,
    erases: &'a dyn Fn(usize) -> u32,
    wear: &'a dyn Fn(usize) -> Option<Wear>,
}

impl<'a> FreeGroups<'a> {
    /// Creates a view of `count` free groups with the erase counts and the wear that `erases` and `wear` give by place.
    pub fn new(count: usize, erases: &'a dyn Fn(usize) -> u32, wear: &'a dyn Fn(usize) -> Option<Wear>) -> FreeGroups<'a> {
        FreeGroups { count, erases, wear }
    }

    /// Number of free groups.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Erase count of the group at `place`.
    pub fn erases(&self, place: usize) -> u32 {
        (self.erases)(place)
    }

    /// Wear of the group at `place`; `None`: no technique tells it.
    pub fn wear(&self, place: usize) -> Option<Wear> {
        (self.wear)(place)
    }
}

/// Block groups of one die after the erase of one of them, for static wear levelling.
#[derive(Clone, Copy)]
pub struct DieGroups<'a> {
    /// Erase count of each group.
    pub erases: &'a [u32],
    /// Wear of a group; `None`: no technique tells it.
    pub wear: &'a dyn Fn(usize) -> Option<Wear>,
    /// Number of the group that has just been erased.
    pub erased: usize,
    /// True for each group that is full of data which could move.
    pub is_closed: &'a dyn Fn(usize) -> bool,
    /// True for a closed group whose data is cold: since the group was closed, the core has closed twice as many groups as it has.
    pub is_cold: &'a dyn Fn(usize) -> bool,
}

impl DieGroups<'_> {
    /// The groups whose data could move, with their erase counts.
    pub fn closed(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.erases.iter().copied().enumerate().filter(|&(group, _)| (self.is_closed)(group))
    }
}

/// Wear of a block group, as static wear levelling measures it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelledWear {
    /// Wear that is held against the gap.
    pub worn: f64,
    /// Wear that an erase adds.
    pub by_erase: f64,
}

/// Erases from now, at which the wear of a group is foretold: some that last for a good part of a life.
pub const AHEAD: u32 = 1_000;

/// Wear of a block group now and later.
#[derive(Clone, Copy, Debug)]
pub struct GroupWear {
    /// Erase count.
    pub erases: u32,
    /// Wear; `None`: no technique tells it.
    pub wear: Option<Wear>,
    /// Wear after [`AHEAD`] further erases; `None`: no technique foretells it.
    pub ahead: Option<Wear>,
}

/// A free-block policy.
pub trait Policy {
    /// Place of the free group that takes the next data of `stream`; `None` only where no group is free.
    fn pick(&self, free: &FreeGroups<'_>, stream: Stream) -> Option<usize>;

    /// Number of the closed group whose data moves so that its block is used again: the one that is furthest behind the group just erased, once it is behind
    /// by `gap`. Here the measure is erases; a policy that ranks by another one measures the gap in that.
    fn level(&self, die: &DieGroups<'_>, gap: u32) -> Option<usize> {
        let (coldest, erases) = die.closed().min_by_key(|&(_, erases)| erases)?;
        (die.erases[die.erased].saturating_sub(erases) >= gap).then_some(coldest)
    }

    /// Wear of a group in what the gap is measured in, and what one erase adds to it. `None`: it is not known.
    fn levelled_wear(&self, group: &GroupWear) -> Option<LevelledWear> {
        Some(LevelledWear { worn: f64::from(group.erases), by_erase: 1.0 })
    }
}

crate::util::slot! {
    /// All free-block policies.
    pub enum FreeBlockPolicy {
        /// The group that has been free longest, for both streams.
        LongestFree = "longest-free" in longest_free;
        /// Dynamic wear levelling by erase counts: the least-worn group for host data, the most-worn for moved data.
        Erases = "erases" in erases;
        /// Wear levelling by the wear that techniques tell, in thousandths of a life: the least-worn group for host data, the most-worn for moved data.
        Wear = "wear" in wear;
    }
    asks {
        fn pick(&self, free: &FreeGroups<'_>, stream: Stream) -> Option<usize>;
        fn level(&self, die: &DieGroups<'_>, gap: u32) -> Option<usize>;
        fn levelled_wear(&self, group: &GroupWear) -> Option<LevelledWear>;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_policy_takes_a_free_group_wherever_there_is_one(erases in prop::collection::vec(0u32..9, 0..40)) {
            let of = |place: usize| erases[place];
            let worn = |place: usize| erases[place].checked_sub(1).map(|wear| Wear(wear as u16));
            let free = FreeGroups::new(erases.len(), &of, &worn);
            for policy in FreeBlockPolicy::ALL {
                for stream in [Stream::Host, Stream::Moved] {
                    match policy.pick(&free, stream) {
                        Some(place) => prop_assert!(place < erases.len(), "{} took a group that is not there", policy.name()),
                        None => prop_assert!(erases.is_empty(), "{} took nothing", policy.name()),
                    }
                }
            }
        }

        #[test]
        fn every_policy_levels_closed_groups_only_and_none_where_all_are_level(
            groups in prop::collection::vec((0u32..30, any::<bool>()), 1..40),
            erased in any::<prop::sample::Index>(),
            gap in 1u32..20,
        ) {
            let erases: Vec<u32> = groups.iter().map(|&(erases, _)| erases).collect();
            let (level, erased) = (vec![7; erases.len()], erased.index(erases.len()));
            for policy in FreeBlockPolicy::ALL {
                let worn = |group: usize| Some(Wear(erases[group] as u16));
                let die = DieGroups { erases: &erases, wear: &worn, erased, is_closed: &|group| groups[group].1, is_cold: &|_| true };
                if let Some(group) = policy.level(&die, gap) {
                    prop_assert!(groups[group].1, "{} moves data out of a group that is not closed", policy.name());
                }
                prop_assert_eq!(policy.level(&DieGroups { erases: &level, wear: &|_| Some(Wear(7)), ..die }, gap), None, "{} never rests", policy.name());
            }
        }
    }

    #[test]
    fn each_policy_takes_what_its_name_says() {
        let erases = [5, 9, 2, 9, 2];
        let of = |place: usize| erases[place];
        let worn = |place: usize| Some(Wear([3, 2, 2, 8, 8][place]));
        let free = FreeGroups::new(erases.len(), &of, &worn);
        let picks = |policy: FreeBlockPolicy| [Stream::Host, Stream::Moved].map(|stream| policy.pick(&free, stream));
        assert_eq!(picks(FreeBlockPolicy::LongestFree), [Some(0), Some(0)]);
        assert_eq!(picks(FreeBlockPolicy::Erases), [Some(2), Some(1)], "among equals, the one that has been free longest");
        assert_eq!(picks(FreeBlockPolicy::Wear), [Some(1), Some(3)], "whatever their erase counts are");
    }

    #[test]
    fn the_coldest_group_is_levelled_once_it_is_behind_by_the_gap() {
        let erases = [3, 1, 8, 0, 1];
        let worn = |group: usize| Some(Wear(erases[group] as u16));
        let die = DieGroups { erases: &erases, wear: &worn, erased: 2, is_closed: &|group| group != 3, is_cold: &|_| true };
        for &policy in FreeBlockPolicy::ALL {
            assert_eq!(policy.level(&die, 7), Some(1), "group 3 holds no data that could move");
            assert_eq!(policy.level(&die, 8), None);
        }
        let warm = DieGroups { is_cold: &|_| false, ..die };
        assert_eq!([FreeBlockPolicy::Erases, FreeBlockPolicy::Wear].map(|policy| policy.level(&warm, 7)), [Some(1), None]);
    }

    #[test]
    fn a_policy_by_wear_measures_wear_and_what_an_erase_will_add_or_else_has_added_so_far() {
        let of = |policy: FreeBlockPolicy, erases: u32, wear: Option<u16>, ahead: Option<u16>| {
            let group = GroupWear { erases, wear: wear.map(Wear), ahead: ahead.map(Wear) };
            policy.levelled_wear(&group).map(|wear| (wear.worn, wear.by_erase))
        };
        let wear = FreeBlockPolicy::Wear;
        assert_eq!(of(wear, 400, Some(100), Some(180)), Some((100.0, 0.08)));
        assert_eq!(of(wear, 400, Some(100), None), Some((100.0, 0.25)));
        assert_eq!(of(wear, 0, Some(7), None), None);
        assert_eq!(of(wear, 9, Some(7), Some(7)), None, "as much as can be told");
        assert_eq!(of(wear, 9, None, Some(7)), None);
        assert_eq!(of(FreeBlockPolicy::LongestFree, 9, Some(7), Some(8)), Some((9.0, 1.0)));
    }
}
