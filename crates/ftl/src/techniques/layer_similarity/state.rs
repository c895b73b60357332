//! State of the h-layers that are being written.
//!
//! A few blocks of each die are open at a time, so a table of all h-layers would be empty but for a few thousandths. A group gets a row of its layers with its
//! first leader and gives it back when its last follower is programmed, or when it is erased.

use wordline_flash::program::STATES_MAX;
use wordline_flash::{ProgramSettings, WindowMargin};
use wordline_units::Microvolts;

use crate::state::layout::{BlockGroup, Layout};
use crate::techniques::seam::ProgramUnit;

/// Observations of the leader of an h-layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// Settings for the leader's followers, from what the die reported of it.
    pub(super) settings: ProgramSettings,
    /// Wrong cells of the wordline programmed last on the layer and relied on.
    pub(super) errors: u32,
    /// Number of wordlines programmed since the erase; 0: there is no leader.
    programmed: u32,
    /// True if the next wordline is programmed as a leader, because the last one is not relied on.
    is_stale: bool,
}

/// Role in which a wordline was programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// A leader, programmed with the chip's own settings: its followers are programmed with these.
    AsLeader { settings: ProgramSettings },
    /// A follower, programmed as its leader allows.
    AsFollower,
    /// A follower that is not relied on.
    Distrusted,
}

/// A group that is being written.
#[derive(Clone, Debug)]
struct Row {
    group: BlockGroup,
    layers: Vec<Seen>,
    /// Wordlines programmed in all layers.
    programmed: u32,
}

/// All h-layers that are being written.
#[derive(Clone, Debug)]
pub(super) struct Layers {
    /// The row of each group; [`NONE`]: it has none.
    of: Vec<u32>,
    rows: Vec<Row>,
    /// Room of rows that were given back.
    unused: Vec<Vec<Seen>>,
    layers: usize,
    /// Wordlines of an h-layer, and of a group.
    each: u32,
    all: u32,
}

const NONE: u32 = u32::MAX;
/// Numbers of one layer in an image.
const NUMBERS: usize = 6 + STATES_MAX;

impl Layers {
    pub(super) fn new(layout: &Layout) -> Layers {
        Layers {
            of: vec![NONE; layout.group_count()],
            rows: Vec::new(),
            unused: Vec::new(),
            layers: layout.leaders() as usize,
            each: layout.programs_per_layer,
            all: layout.programs,
        }
    }

    /// Observations of the leader whose follower `at` would be; `None`: there is no leader to go by.
    pub(super) fn get(&self, at: &ProgramUnit) -> Option<&Seen> {
        let row = self.rows.get(self.of[at.group.index()] as usize)?;
        Some(&row.layers[at.layer as usize]).filter(|seen| seen.programmed > 0 && !seen.is_stale)
    }

    /// Counts a program of the wordline at `at`, of whose cells `errors` are wrong. If it is not relied on, its leader is not any more either.
    pub(super) fn programmed(&mut self, at: &ProgramUnit, errors: u32, how: How) {
        let seen = &mut self.row(at.group).layers[at.layer as usize];
        match how {
            How::AsLeader { settings } => (seen.settings, seen.errors, seen.is_stale) = (settings, errors, false),
            How::AsFollower => seen.errors = errors,
            How::Distrusted => seen.is_stale = true,
        }
        self.count(at, true);
    }

    /// Counts a program of the wordline at `at`. `is_told`: the die reported a trace of it.
    pub(super) fn count(&mut self, at: &ProgramUnit, is_told: bool) {
        let (each, all) = (self.each, self.all);
        let row = self.row(at.group);
        let seen = &mut row.layers[at.layer as usize];
        seen.is_stale |= !is_told && seen.programmed == 0;
        seen.programmed = (seen.programmed + 1).min(each);
        row.programmed += 1;
        if row.programmed >= all {
            self.erased(at.group);
        }
    }

    /// Drops the row of `group`, which holds nothing or takes no more.
    pub(super) fn erased(&mut self, group: BlockGroup) {
        let at = std::mem::replace(&mut self.of[group.index()], NONE);
        if at != NONE {
            self.unused.push(self.rows.swap_remove(at as usize).layers);
            if let Some(moved) = self.rows.get(at as usize) {
                self.of[moved.group.index()] = at;
            }
        }
    }

    fn row(&mut self, group: BlockGroup) -> &mut Row {
        if self.of[group.index()] == NONE {
            self.of[group.index()] = self.rows.len() as u32;
            let mut layers = self.unused.pop().unwrap_or_default();
            layers.clear();
            layers.resize(self.layers, Seen::default());
            self.rows.push(Row { group, layers, programmed: 0 });
        }
        &mut self.rows[self.of[group.index()] as usize]
    }

    /// Image of all rows as numbers: the group, its count, then each layer.
    pub(super) fn image(&self) -> Vec<u32> {
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        rows.sort_unstable_by_key(|row| row.group);
        let mut image = Vec::with_capacity(rows.len() * (2 + self.layers * NUMBERS));
        for row in rows {
            image.extend([row.group.0, row.programmed]);
            for Seen { settings: ProgramSettings { window, skip, lowered }, errors, programmed, is_stale } in &row.layers {
                image.extend([*errors, *programmed, u32::from(*is_stale), window.start.0, window.end.0, lowered.0]);
                image.extend(skip.iter().map(|&skip| u32::from(skip)));
            }
        }
        image
    }

    /// Restores the rows that [`Layers::image`] gave. Returns false if they are of another shape.
    pub(super) fn restore(&mut self, state: &[u32]) -> bool {
        let width = 2 + self.layers * NUMBERS;
        let is_sound = |row: &[u32]| (row[0] as usize) < self.of.len() && row[1] > 0 && row[1] < self.all;
        if !state.len().is_multiple_of(width) || !state.chunks_exact(width).all(is_sound) {
            return false;
        }
        for numbers in state.chunks_exact(width) {
            if self.of[numbers[0] as usize] != NONE {
                return false;
            }
            let row = self.row(BlockGroup(numbers[0]));
            row.programmed = numbers[1];
            for (seen, numbers) in row.layers.iter_mut().zip(numbers[2..].chunks_exact(NUMBERS)) {
                let window = WindowMargin { start: Microvolts(numbers[3]), end: Microvolts(numbers[4]) };
                let skip = core::array::from_fn(|state| numbers[6 + state] as u8);
                let settings = ProgramSettings { window, skip, lowered: Microvolts(numbers[5]) };
                *seen = Seen { settings, errors: numbers[0], programmed: numbers[1], is_stale: numbers[2] != 0 };
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::layout::tests::small_sheet;
    use proptest::prelude::*;
    use wordline_flash::ProgramScope;
    use wordline_units::Bytes;

    fn layers() -> Layers {
        let mut sheet = small_sheet(1, 6, ProgramScope::Wordline);
        (sheet.geometry.layers, sheet.geometry.wordlines_per_layer) = (3, 4);
        Layers::new(&Layout::new(&sheet, 1, 6, Bytes::kib(16)))
    }

    fn at(group: u32, layer: u32, place: u32) -> ProgramUnit {
        ProgramUnit { group: BlockGroup(group), layer, place }
    }

    fn leader(number: u32) -> How {
        let window = WindowMargin { start: Microvolts(number), end: Microvolts(number / 2) };
        How::AsLeader { settings: ProgramSettings { window, skip: [number as u8; STATES_MAX], lowered: Microvolts(7) } }
    }

    #[test]
    fn the_first_wordline_of_a_layer_is_its_leader_until_one_is_off() {
        let mut layers = layers();
        assert_eq!(layers.get(&at(1, 0, 0)), None);
        layers.programmed(&at(1, 0, 0), 7, leader(1));
        layers.programmed(&at(1, 0, 1), 9, How::AsFollower);
        let seen = *layers.get(&at(1, 0, 2)).expect("it has a leader");
        assert_eq!(
            (leader(1), seen.errors),
            (How::AsLeader { settings: seen.settings }, 9),
            "as its leader says, and the errors of the one before"
        );
        assert_eq!(layers.get(&at(1, 1, 1)), None, "another layer");
        assert_eq!(layers.get(&at(2, 0, 1)), None, "another group");
        layers.programmed(&at(1, 0, 2), 900, How::Distrusted);
        assert_eq!(layers.get(&at(1, 0, 3)), None, "its leader is not relied on any more");
        layers.programmed(&at(1, 0, 3), 11, leader(2));
        assert_eq!(leader(2), How::AsLeader { settings: layers.get(&at(1, 0, 3)).expect("a new leader").settings });
    }

    proptest! {
        #[test]
        fn an_image_brings_everything_back(steps in prop::collection::vec((0u32..6, 0u32..3, 0u32..500, 0u8..3, 0u8..20), 0..80)) {
            let mut layers = layers();
            for (group, layer, errors, how, kind) in steps {
                match kind {
                    0 => layers.erased(BlockGroup(group)),
                    1 => layers.count(&at(group, layer, 0), false),
                    _ => layers.programmed(&at(group, layer, 0), errors, [leader(errors), How::AsFollower, How::Distrusted][usize::from(how)]),
                }
            }
            let mut again = super::tests::layers();
            prop_assert!(again.restore(&layers.image()));
            prop_assert_eq!(again.image(), layers.image());
            for group in 0..6 {
                for layer in 0..3 {
                    prop_assert_eq!(again.get(&at(group, layer, 1)), layers.get(&at(group, layer, 1)));
                }
            }
            prop_assert!(!super::tests::layers().restore(&[9, 1, 2]));
        }
    }
}
