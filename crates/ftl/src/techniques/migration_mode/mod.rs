//! Moved data is copied inside the die while the host waits for room, and corrected while it does not (DMMS of rcFTL).
//!
//! A copy saves the bus, and its data may be copied less often later; a move over the bus makes data as good as new. Copies therefore belong to times in which
//! the host is in a hurry: victims that space demands are copied, and all others by the load of the write buffer. The way is chosen once for each victim.
//!
//! 001 calls the first kind foreground GC. A buffer that is not full is no sign of rest by itself: hosts that wait for reads, or for a flush after each write,
//! never fill it however busy the drive is.

use crate::state::groups::BlockGroups;
use crate::techniques::declaration::{Declaration, Kind, Site, Value, params, words};
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::say::{Say, Says, Way, abstain};
use crate::techniques::seam::{Ask, Card, Copy, Ctx, Memo, News, Persists, Technique};

/// Declaration of the technique.
pub const DECLARATION: Declaration = Declaration {
    card: Card {
        name: "migration-mode",
        source: "rcFTL: dissertation 001 of the papers, §4.3.2",
        claim: "data is corrected while the host is at rest, so that more of it can be copied while it is not",
        hooks: Hooks::of(&[Hook::VictimChosen, Hook::Way]),
        asks: &[Ask::BufferLoad],
        persists: Persists::Nothing("the way of a victim is of one victim"),
        limits: "it only forbids copies, and wants another technique beside it that makes them; without reclaim in the background space demands every victim, and it never acts",
    },
    about: "data of a victim that space does not demand is moved over the bus while at most half of the write buffer is in use (001 §4.3.2).",
    params: Params::ALL,
    needs: &[],
};

words! {
    /// Victims that are copied whatever the load of the write buffer is.
    pub enum Foreground {
        /// Victims that space demands.
        Demanded = "demanded",
        /// Victims that host writes wait for.
        Awaited = "awaited",
        /// No victim: the load decides on all.
        Nothing = "nothing",
    }
}

params! {
    /// Parameters of the mode of migration.
    pub struct Params {
        /// Victims that are copied whatever the load of the buffer is: "demanded" by space, "awaited" by host writes, or "nothing".
        foreground: Foreground {
            kind: Kind::Word(Foreground::WORDS),
            default: Some(Value::Word("demanded")),
            tried: &[],
            source: "001 §4.3.2: urgent tasks, such as foreground GC, use copybacks regardless of the load, and background GC goes by it",
        }
    }
}

/// Share of the write buffer in use above which data is copied (001 §4.3.2).
const THRESHOLD: f64 = 0.5;

/// Mode of each die.
#[derive(Clone, Debug)]
pub struct MigrationMode {
    params: Params,
    /// True for a die whose victim is moved over the bus.
    corrects: Vec<bool>,
}

impl MigrationMode {
    /// Creates the technique for the dies of the `site`.
    pub fn new(site: &Site<'_>, params: Params) -> Self {
        MigrationMode { params, corrects: vec![false; site.layout.dies as usize] }
    }
}

impl Technique for MigrationMode {
    fn card(&self) -> &'static Card {
        &DECLARATION.card
    }

    fn image(&self) -> Vec<u32> {
        self.corrects.chunks(32).map(|dies| dies.iter().rev().fold(0, |word, &corrects| word << 1 | u32::from(corrects))).collect()
    }

    fn restore(&mut self, state: &[u32]) -> bool {
        let fits = state.len() == self.corrects.len().div_ceil(32);
        if fits {
            self.corrects.iter_mut().enumerate().for_each(|(die, corrects)| *corrects = state[die / 32] >> (die % 32) & 1 == 1);
        }
        fits
    }

    fn recover(&mut self, _groups: &BlockGroups, _memos: &[Memo]) {
        self.corrects.fill(false);
    }

    fn learn(&mut self, ctx: &Ctx<'_>, news: &News) {
        if let News::VictimChosen { victim, .. } = *news {
            let die = ctx.view.layout().die(victim);
            let is_urgent = match self.params.foreground {
                Foreground::Demanded => ctx.view.short(die),
                Foreground::Awaited => ctx.view.pressed(die),
                Foreground::Nothing => false,
            };
            let is_loaded = ctx.view.buffer_load().is_some_and(|load| load > THRESHOLD);
            self.corrects[usize::from(die.0)] = !is_urgent && !is_loaded;
        }
    }

    fn way(&self, ctx: &Ctx<'_>, copy: &Copy) -> Says<Way> {
        let die = ctx.view.layout().die(copy.from.group);
        if self.corrects[usize::from(die.0)] { [Say::AtMost(Way::Bus), Say::Abstain] } else { abstain() }
    }
}

#[cfg(test)]
mod tests {
    use wordline_units::{Cause, DieId, Nanos};

    use super::*;
    use crate::Config;
    use crate::config::tests::small;
    use crate::dispatch::Rooms;
    use crate::setup::build;
    use crate::state::layout::BlockGroup;
    use crate::state::request::Request;
    use crate::state::request::tests::WRITE;
    use crate::techniques::Choice;
    use crate::techniques::apply::ctx;
    use crate::techniques::say::agree;
    use crate::techniques::seam::ProgramUnit;

    const VICTIM: BlockGroup = BlockGroup(1);

    /// A core of which so many of the 16 slots of the buffer have been in use for long, and the technique.
    fn trial(used: u32, foreground: Foreground) -> (Rooms, MigrationMode) {
        let params = Params { foreground };
        let config = Config { techniques: vec![Choice::MigrationMode(params)], ..small(64) };
        let mut rooms = build(&config);
        rooms.submit(Request { units: used, ..WRITE });
        rooms.core.set_now(Nanos::from_millis(9));
        let layout = config.layout();
        (rooms, MigrationMode::new(&Site::bare(&layout, &config.sheet), params))
    }

    fn way(rooms: &Rooms, technique: &mut MigrationMode) -> Way {
        technique.learn(&ctx(&rooms.core), &News::VictimChosen { victim: VICTIM, why: Cause::Gc });
        let copy = Copy { from: ProgramUnit { group: VICTIM, layer: 0, place: 0 }, to: Some(BlockGroup(2)), why: Cause::Gc };
        agree([Say::Propose(Way::Copyback)].into_iter().chain(technique.way(&ctx(&rooms.core), &copy)))
    }

    #[test]
    fn in_the_background_the_way_goes_by_whether_more_than_half_of_the_buffer_is_in_use() {
        for (used, expected) in [(1, Way::Bus), (8, Way::Bus), (9, Way::Copyback), (16, Way::Copyback)] {
            for foreground in [Foreground::Demanded, Foreground::Awaited, Foreground::Nothing] {
                let (rooms, mut technique) = trial(used, foreground);
                assert_eq!(way(&rooms, &mut technique), expected, "{used} of 16 slots");
            }
        }
    }

    #[test]
    fn a_victim_is_copied_whatever_the_load_is_where_space_demands_it_or_writes_wait_for_it() {
        for (foreground, short, pressed) in [
            (Foreground::Demanded, Way::Copyback, Way::Copyback),
            (Foreground::Awaited, Way::Bus, Way::Copyback),
            (Foreground::Nothing, Way::Bus, Way::Bus),
        ] {
            let (mut rooms, mut technique) = trial(1, foreground);
            let mut leave = |free: u32| {
                while rooms.core.view().free(DieId(0)) > free {
                    rooms.core.die_mut(DieId(0)).take_free_at(0);
                }
                way(&rooms, &mut technique)
            };
            let start = small(64).gc.start;
            assert_eq!([leave(start), leave(start - 1), leave(1)], [Way::Bus, short, pressed]);
        }
    }

    #[test]
    fn the_way_is_that_of_the_victim_until_the_next_is_chosen() {
        let (mut rooms, mut technique) = trial(1, Foreground::Demanded);
        let bus = way(&rooms, &mut technique);
        rooms.submit(Request { id: 1, lpn: 4, units: 12, ..WRITE });
        rooms.core.set_now(Nanos::from_millis(30));
        let copy = Copy { from: ProgramUnit { group: VICTIM, layer: 0, place: 1 }, to: None, why: Cause::Gc };
        assert_eq!((bus, technique.way(&ctx(&rooms.core), &copy)[0]), (Way::Bus, Say::AtMost(Way::Bus)));
        assert_eq!(way(&rooms, &mut technique), Way::Copyback);
        let mut back = technique.clone();
        back.corrects.fill(true);
        assert!(back.restore(&technique.image()) && back.corrects == technique.corrects);
        assert!(!back.restore(&[]));
    }
}
