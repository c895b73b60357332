//! Runs that are compared: every drive with every seed in every cell.

use wordline_plan::Plan;

/// One run of a comparison: a drive with one seed in one cell.
#[derive(Clone, Debug)]
pub struct Turn {
    cell: usize,
    plan: Plan,
    is_first: bool,
}

impl Turn {
    /// The cell, by its place among the cells.
    pub fn cell(&self) -> usize {
        self.cell
    }

    /// The drive, with the seed of this run.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Whether it is the first of its drive in its cell, the one that is drawn.
    pub fn is_first(&self) -> bool {
        self.is_first
    }
}

/// The runs of `cells`, each given by its drives, with so many seeds: cell by cell, drive by drive, seed by seed.
///
/// The seeds are the same for every drive: what the generators draw for one they draw for all. They count from that of the first drive of all.
pub fn turns(cells: &[&[Plan]], seeds: u64) -> Vec<Turn> {
    let Some(first) = cells.iter().find_map(|plans| plans.first()).map(Plan::seed) else { return Vec::new() };
    let turn =
        |cell, plan: &Plan, number: u64| Turn { cell, plan: plan.clone().with_seed(first.wrapping_add(number)), is_first: number == 0 };
    let mut turns = Vec::new();
    for (cell, plans) in cells.iter().enumerate() {
        for plan in *plans {
            turns.extend((0..seeds).map(|number| turn(cell, plan, number)));
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_drive_has_the_same_seeds_from_the_first_ones_on() {
        let load = |name: &str, seed| Plan::load_set::<&str>(name, &[]).expect("a drive that is built in").with_seed(seed);
        let [one, two] = [vec![load("pageftl", u64::MAX), load("secssd", 3)], vec![load("pageftl", 9)]];
        let turns = turns(&[&one, &two], 2);
        let told: Vec<_> = turns.iter().map(|turn| (turn.cell(), turn.plan().name(), turn.plan().seed(), turn.is_first())).collect();
        let of = |cell, name| [(cell, name, u64::MAX, true), (cell, name, 0, false)];
        assert_eq!(told, [of(0, "pageftl"), of(0, "secssd"), of(1, "pageftl")].concat());
        assert!(super::turns(&[], 3).is_empty());
    }
}
