//! Arithmetic of quotas (001 §4.3.1) in one column of the table: copies without correction that data may still have.
//!
//! A column holds for one bin of P/E counts. Fresh data has the quota *Q_init*, the least common multiple of the column's thresholds; a copy out of a block
//! with the threshold *CT* takes *Q_init / CT* of it. Quotas of one column mean nothing in another: they are carried over.

use wordline_flash::tables::Copyback;

/// Greatest quota. A column whose least common multiple is greater has this one, and the parts that copies take are rounded up.
const MOST: u32 = 240;

/// Quotas of one column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Column {
    thresholds: [u32; Copyback::CLASSES],
    init: u32,
    /// Part of the quota that a copy takes, by the class of its source; 0: none may be made.
    costs: [u32; Copyback::CLASSES],
}

fn greatest_common(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common(b, a % b) }
}

impl Column {
    /// Column of these thresholds, by class. A threshold of 0 forbids copies.
    pub(super) fn new(thresholds: [u32; Copyback::CLASSES]) -> Column {
        let present = thresholds.into_iter().filter(|&threshold| threshold > 0);
        let multiple = |a: u32, b: u32| (u64::from(a) / u64::from(greatest_common(a, b)) * u64::from(b)).min(u64::from(u32::MAX)) as u32;
        let init = present.reduce(multiple).unwrap_or(0).min(MOST);
        Column { thresholds, init, costs: thresholds.map(|threshold| if threshold == 0 { 0 } else { init.div_ceil(threshold) }) }
    }

    /// Quota of data that was corrected.
    pub(super) fn init(&self) -> u8 {
        self.init as u8
    }

    /// Part of the quota that a copy out of a block of this class takes; `None`: no copy may be made.
    pub(super) fn cost(&self, class: usize) -> Option<u8> {
        Some(self.costs[class]).filter(|&cost| cost > 0).map(|cost| cost as u8)
    }

    /// Least part that a copy takes.
    fn least(&self) -> u32 {
        self.costs.into_iter().filter(|&cost| cost > 0).min().unwrap_or(u32::MAX)
    }

    /// A quota that no copy can be made from is 0.
    fn rounded(&self, quota: u32) -> u8 {
        if quota < self.least() { 0 } else { quota as u8 }
    }

    /// Quota that is left of `quota` after a copy out of a block of this class; `None`: the copy must not be made.
    pub(super) fn spend(&self, quota: u8, class: usize) -> Option<u8> {
        Some(self.rounded(u32::from(quota.checked_sub(self.cost(class)?)?)))
    }

    /// Quota in this column of data that has `quota` in the column `before`. What was used of it counts as if each copy had been out of a block of the class
    /// whose threshold has fallen most.
    pub(super) fn carry(&self, quota: u8, before: &Column) -> u8 {
        let (quota, used) = (u32::from(quota).min(before.init), before.init.saturating_sub(u32::from(quota)));
        if used == 0 && before.init > 0 {
            return self.init();
        }
        let fallen = before.thresholds.into_iter().zip(self.thresholds).filter(|&(before, _)| before > 0);
        // The greatest ratio of thresholds, as a fraction.
        let (over, under) = fallen.fold((1, 1), |(over, under), (before, now)| {
            if u64::from(before) * u64::from(under) > u64::from(over) * u64::from(now) { (before, now) } else { (over, under) }
        });
        if under == 0 || quota == 0 {
            return 0;
        }
        let whole = u64::from(under) * u64::from(before.init);
        let left = whole.saturating_sub(u64::from(over) * u64::from(used));
        self.rounded((u64::from(self.init) * left / whole) as u32)
    }

    /// Share of Q_init that `quota` is, in 254ths, rounded down.
    pub(super) fn share(&self, quota: u8) -> u32 {
        (254 * u32::from(quota)).checked_div(self.init).unwrap_or(0).min(254)
    }

    /// Quota whose share [`Column::share`] gave.
    pub(super) fn of_share(&self, share: u32) -> u8 {
        (self.init * share.min(254)).div_ceil(254) as u8
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// 001 Table 6, one year: by bin, best class first.
    const TABLE_6: [[u32; 3]; 6] = [[5, 5, 3], [4, 4, 2], [4, 3, 2], [3, 3, 1], [3, 2, 1], [2, 1, 0]];

    /// Quotas that data can have in this column.
    fn reached(column: &Column) -> BTreeSet<u8> {
        let mut all = BTreeSet::from([column.init()]);
        loop {
            let next: BTreeSet<u8> = all.iter().flat_map(|&quota| (0..3).filter_map(move |class| column.spend(quota, class))).collect();
            if next.is_subset(&all) {
                return all;
            }
            all.extend(next);
        }
    }

    #[test]
    fn fresh_data_has_the_least_common_multiple_of_the_thresholds() {
        assert_eq!(TABLE_6.map(|thresholds| Column::new(thresholds).init()), [15, 4, 12, 3, 6, 2], "`rcftl.q-init-scope`: of one column");
        assert_eq!(Column::new([0; 3]).init(), 0);
        assert_eq!(Column::new([254, 253, 251]).init(), 240);
        assert_eq!(Column::new([254, 253, 3]).cost(2), Some(80), "a multiple that is too great is cut, and parts are rounded up");
    }

    #[test]
    fn the_quotas_of_figure_21_are_those_of_its_column() {
        let column = Column::new(TABLE_6[4]);
        assert_eq!([0, 1, 2].map(|class| column.cost(class)), [Some(2), Some(3), Some(6)]);
        assert_eq!(reached(&column), BTreeSet::from([0, 2, 3, 4, 6]));
        assert_eq!(column.spend(6, 1), Some(3), "b_v2[6, 3]: its pages go to a block of quota 3");
        assert_eq!([0, 1, 2].map(|class| column.spend(0, class)), [None; 3], "b_vn[0, x]: its pages go over the bus");
        let open = TABLE_6.map(|thresholds| reached(&Column::new(thresholds)).len());
        assert_eq!(open, [10, 5, 8, 4, 5, 3]);
    }

    #[test]
    fn a_copy_is_legal_at_its_part_of_the_quota_and_refused_at_one_less() {
        for thresholds in TABLE_6 {
            let column = Column::new(thresholds);
            for class in 0..3 {
                let Some(cost) = column.cost(class) else {
                    assert_eq!(column.spend(column.init(), class), None);
                    continue;
                };
                assert_eq!((column.spend(cost, class), column.spend(cost - 1, class)), (Some(0), None), "{thresholds:?}, class {class}");
                let copies = (0..).scan(column.init(), |quota, _| column.spend(*quota, class).inspect(|left| *quota = *left)).count();
                assert_eq!(copies as u32, thresholds[class], "a chain within one class is as long as its threshold");
            }
        }
    }

    #[test]
    fn two_copies_of_five_leave_no_third_where_blocks_stand_two() {
        let (before, now) = (Column::new([5, 5, 5]), Column::new([2, 2, 2]));
        assert_eq!(now.carry(3, &before), 0, "the share alone, 0.6, would allow one");
        assert_eq!((now.carry(5, &before), now.carry(4, &before)), (2, 1));
        assert_eq!(Column::new([0; 3]).carry(5, &before), 0);
        assert_eq!(now.carry(0, &Column::new([0; 3])), 0, "what may never be copied again is not known to be fresh");
    }

    #[test]
    fn what_a_change_of_the_column_leaves_is_rounded_down() {
        let (before, now) = (Column::new([5, 4, 3]), Column::new([4, 3, 2]));
        assert_eq!((before.init(), now.init()), (60, 12));
        assert_eq!(now.carry(48, &before), 8, "a fifth is used, three tenths count, and 8.4 are left");
        assert_eq!(now.carry(28, &before), 0, "2.4 are left, and no copy takes less than 3");
    }

    /// A page that keeps its own copies.
    fn left_of(column: &Column, chain: &[usize]) -> Option<f64> {
        let used: f64 = chain.iter().map(|&class| 1.0 / f64::from(column.thresholds[class])).sum();
        (used <= 1.0 + 1e-9).then_some(1.0 - used)
    }

    fn thresholds() -> impl Strategy<Value = [u32; 3]> {
        (0u32..7, 0u32..4, 0u32..4).prop_map(|(worst, more, most)| [worst + more + most, worst + more, worst])
    }

    proptest! {
        /// No chain of copies is longer than the thresholds allow, wherever in it the column changes.
        #[test]
        fn a_chain_is_never_longer_than_a_page_of_its_own_would_stand(
            columns in prop::collection::vec(thresholds(), 1..4),
            steps in prop::collection::vec((0usize..3, prop::bool::weighted(0.2)), 1..30),
        ) {
            let columns: Vec<Column> = columns.into_iter().map(Column::new).collect();
            let (mut at, mut quota, mut chain) = (0, columns[0].init(), Vec::new());
            for (class, moves_on) in steps {
                if moves_on && at + 1 < columns.len() {
                    quota = columns[at + 1].carry(quota, &columns[at]);
                    at += 1;
                }
                if let Some(left) = columns[at].spend(quota, class) {
                    chain.push(class);
                    quota = left;
                    let own = left_of(&columns[at], &chain);
                    prop_assert!(own.is_some(), "{chain:?} in column {at} of {columns:?}");
                    let share = f64::from(quota) / f64::from(columns[at].init.max(1));
                    prop_assert!(own.is_some_and(|own| share <= own + 1e-9), "a share of {share} is left of {chain:?}");
                }
            }
        }

        #[test]
        fn a_quota_comes_back_from_its_share(thresholds in thresholds(), quota in 0u8..=240) {
            let column = Column::new(thresholds);
            let quota = quota.min(column.init());
            prop_assert_eq!(column.of_share(column.share(quota)), quota);
        }
    }
}
