//! Measurements of one wordline of a lot: what it shows as a leader, and the errors and program times of its followers.

use wordline_cells::{Block, History, Program, References, Settings, Traits, errors_at};
use wordline_flash::{MarginStep, Margins, WindowMargin};
use wordline_units::Microvolts;

use super::At;
use crate::bench::Setup;
use crate::error::LabError;
use crate::lot::Lot;

/// Measures wordlines.
pub(super) struct Looker<'l> {
    pub(super) lot: &'l Lot,
    pub(super) at: &'l At,
    /// The retry table, its default first.
    entries: Vec<References>,
    /// Retention at the reference temperature.
    kept: f64,
}

/// One wordline as a leader, at one age.
struct Leader {
    layer: usize,
    age: usize,
    traits: Traits,
    history: History,
    program: Program,
    /// Errors between the erased state and P1 just after the program: expected, and counted.
    expected: f64,
    shown: u32,
}

/// A follower with one split of a margin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tried {
    split: (u32, u32),
    /// Loops by which V_start is raised: no more than there is room for.
    pub(super) start: u32,
    /// Mean number of errors of a codeword of the follower's worst page after retention.
    pub(super) errors: f64,
    /// True if these errors can be corrected with the likelihood that is asked for.
    pub(super) safe: bool,
    /// Share of t_PROG that the follower saves.
    pub(super) saved: f64,
}

/// The errors that a leader showed, and the margins that its followers could have.
pub(super) struct Seen {
    pub(super) layer: usize,
    pub(super) shown: u32,
    /// Loops that V_final alone may give up without skipping.
    pub(super) end_alone: u32,
    tried: Vec<Tried>,
}

impl Seen {
    /// The follower with this split; `None` where less of the same was too much already.
    pub(super) fn with(&self, split: (u32, u32)) -> Option<&Tried> {
        self.tried.iter().find(|tried| tried.split == split)
    }
}

/// Effects of a table on a wordline.
pub(super) struct Applied {
    pub(super) layer: usize,
    pub(super) age: usize,
    pub(super) expected: f64,
    pub(super) shown: u32,
    /// Errors as in [`super::Age::worst`].
    pub(super) errors: [f64; 3],
    /// Savings as in [`super::Age::saved`].
    pub(super) saved: [f64; 6],
}

/// Results of a wordline that is programmed by what the leader of another block showed.
pub(super) struct Borrowed {
    /// Share of t_PROG saved: by that leader, and by its own.
    pub(super) saved: [f64; 2],
    /// True if the data can be read at the end.
    pub(super) safe: bool,
    /// True if the data could be read at the end after a program with default settings.
    pub(super) sound: bool,
    /// Wrong cells just after the program: of that leader, and of the wordline itself.
    pub(super) wrong: [f64; 2],
}

impl<'l> Looker<'l> {
    pub(super) fn new(lot: &'l Lot, at: &'l At) -> Looker<'l> {
        let entries = (0..=lot.model.retry_entries()).map(|entry| lot.model.references(entry)).collect();
        Looker { lot, at, entries, kept: lot.model.kept(at.kept, lot.room) }
    }

    /// Leaders of every h-layer of a block at every age.
    fn leaders(&self, block: &Block) -> Vec<Leader> {
        let of = |(age, &pe): (usize, &f64)| {
            let history = self.lot.worn(pe);
            let layers = self.lot.traits(block).into_iter().enumerate();
            layers.map(move |(layer, traits)| self.leader(block, (layer, traits), age, history)).collect::<Vec<_>>()
        };
        self.at.pe.iter().enumerate().flat_map(of).collect()
    }

    fn leader(&self, block: &Block, (layer, traits): (usize, Traits), age: usize, history: History) -> Leader {
        let model = &self.lot.model;
        // The wordline above is not programmed yet, and nothing has been read.
        let fresh = wordline_cells::Condition { neighbour: false, ..self.lot.after(history, 0.0) };
        let cells = f64::from(model.physics().shape.cells());
        let expected = model.wordline(&traits, &fresh).misread(1, self.entries[0][0] - self.at.lowered) * cells;
        let dice = self.lot.dice([block.chip, block.block, layer as u32, age as u32]);
        let program = model.program(&traits, &history, &Settings::default());
        Leader { layer, age, traits, history, program, expected, shown: errors_at(expected, cells, dice) }
    }

    /// Program settings of a follower by a table.
    fn settings(&self, leader: &Leader, margins: &Margins, window: WindowMargin, skips: bool) -> Settings {
        let mut settings = Settings {
            start_margin: window.start.millivolts() as f32,
            final_margin: window.end.millivolts() as f32,
            ..Settings::default()
        };
        if skips {
            let states = self.lot.model.physics().shape.states() - 1;
            for (skip, first) in settings.skip.iter_mut().zip(&leader.program.first[..states]) {
                *skip = margins.skip(*first, window.start);
            }
        }
        settings
    }

    /// Results when the wordlines of one h-layer of `block` are programmed as those of `leader`'s own block would be by a table.
    fn borrowed(&self, leader: &Leader, own: &Leader, table: &Margins) -> Borrowed {
        let model = &self.lot.model;
        let by = |leader: &Leader| self.settings(leader, table, table.window(leader.shown, leader.program.first[0]), true);
        let (theirs, its) = (by(leader), by(own));
        let references = &self.entries[0];
        let wrong = |of: &Leader, settings: Settings| {
            let fresh = wordline_cells::Condition { neighbour: false, ..self.lot.after(of.history, 0.0) }.settings(settings);
            let wordline = model.wordline(&of.traits, &fresh);
            (1..wordline.count).map(|boundary| wordline.misread(boundary, references[boundary - 1])).sum::<f64>()
                * f64::from(model.physics().shape.cells())
        };
        Borrowed {
            saved: [self.saved(own, &theirs), self.saved(own, &its)],
            safe: self.safe(self.errors(own, theirs)),
            sound: self.safe(self.errors(own, Settings::default())),
            wrong: [wrong(leader, Settings::default()), wrong(own, theirs)],
        }
    }

    /// Results of the h-layers of `others` at every age, programmed as the leaders of `block` say.
    pub(super) fn lent(&self, block: &Block, others: &[Block], table: &Margins) -> Vec<Borrowed> {
        let leaders = self.leaders(block);
        let of = |other: &Block| {
            let own = self.leaders(other);
            leaders.iter().zip(&own).map(|(leader, own)| self.borrowed(leader, own, table)).collect::<Vec<_>>()
        };
        others.iter().flat_map(of).collect()
    }

    /// Mean number of errors of a codeword of a follower's worst page after retention, where the retry table comes nearest.
    fn errors(&self, leader: &Leader, settings: Settings) -> f64 {
        let model = &self.lot.model;
        let wordline = model.wordline(&leader.traits, &self.lot.after(leader.history, self.kept).settings(settings));
        let of_page = |page: u32| self.entries.iter().map(|entry| wordline.error_rate(model, page, entry)).fold(1.0, f64::min);
        (0..self.lot.pages()).map(of_page).fold(0.0, f64::max) * model.codeword_bits()
    }

    fn saved(&self, leader: &Leader, settings: &Settings) -> f64 {
        1.0 - self.lot.model.program(&leader.traits, &leader.history, settings).time / leader.program.time
    }

    fn safe(&self, errors: f64) -> bool {
        self.lot.model.uncorrectable(errors / self.lot.model.codeword_bits()) <= self.at.risk
    }

    /// The least `early` that a block's followers need when they have no margins; `None` where there is none.
    pub(super) fn early(&self, block: &Block, none: &Margins) -> Option<u32> {
        let enough = |leader: &Leader, early: u32| {
            let margins = Margins { early: early as u8, ..none.clone() };
            self.safe(self.errors(leader, self.settings(leader, &margins, WindowMargin::default(), true)))
        };
        let mut early = 0;
        for leader in self.leaders(block) {
            early = (early..=self.at.early_most).find(|early| enough(&leader, *early))?;
        }
        Some(early)
    }

    /// The margins that the followers of each leader of a block could have.
    pub(super) fn block(&self, block: &Block, table: &Margins) -> Vec<Seen> {
        self.leaders(block).iter().map(|leader| self.seen(leader, table)).collect()
    }

    fn seen(&self, leader: &Leader, table: &Margins) -> Seen {
        let volts = |loops: u32| Microvolts(loops * table.step.0);
        let mut tried = Vec::new();
        for total in 0..=self.at.loops_most {
            for start in 0..=total {
                let split = (start, total - start);
                let asked = WindowMargin { start: volts(start), end: volts(total - start) };
                let window = table.room(asked, leader.program.first[0]);
                let settings = self.settings(leader, table, window, true);
                let errors = self.errors(leader, settings);
                let start = window.start.0 / table.step.0.max(1);
                tried.push(Tried { split, start, errors, safe: self.safe(errors), saved: self.saved(leader, &settings) });
            }
            // More of what is too much however it is divided is too much.
            if tried.iter().rev().take(total as usize + 1).all(|tried| !tried.safe) {
                break;
            }
        }
        let alone = |end: u32| Settings { final_margin: volts(end).millivolts() as f32, ..Settings::default() };
        let end_alone = (1..=self.at.loops_most).take_while(|end| self.safe(self.errors(leader, alone(*end)))).last().unwrap_or(0);
        Seen { layer: leader.layer, shown: leader.shown, end_alone, tried }
    }

    /// Effects of a table on each wordline of a block.
    pub(super) fn applied(&self, block: &Block, table: &Margins) -> Vec<Applied> {
        let up_to_first = Margins { early: 0, ..table.clone() };
        let of = |leader: &Leader| {
            let window = table.window(leader.shown, leader.program.first[0]);
            let skipped = self.settings(leader, &up_to_first, WindowMargin::default(), true);
            let by_table = self.settings(leader, table, window, true);
            let end = table.layers.get(leader.layer).copied().unwrap_or_default();
            let all = [
                skipped,
                self.settings(leader, table, window, false),
                self.settings(leader, &up_to_first, window, true),
                self.settings(leader, table, WindowMargin::default(), true),
                by_table,
                self.settings(leader, table, WindowMargin { end, ..WindowMargin::default() }, false),
            ];
            Applied {
                layer: leader.layer,
                age: leader.age,
                expected: leader.expected,
                shown: leader.shown,
                errors: [Settings::default(), skipped, by_table].map(|settings| self.errors(leader, settings)),
                saved: all.map(|settings| self.saved(leader, &settings)),
            }
        };
        self.leaders(block).iter().map(of).collect()
    }
}

/// Number of followers of a setup's lot that are not safe with a table, and with one that takes a loop more from V_final: of every h-layer at every age.
///
/// # Errors
///
/// There is no such chip, or it has no physics.
pub fn unsafe_followers(setup: &Setup, table: &Margins) -> Result<[usize; 2], LabError> {
    let (at, lot) = (At::of(setup)?, Lot::open(setup)?);
    let looker = Looker::new(&lot, &at);
    let further = |step: &MarginStep| MarginStep {
        window: WindowMargin { end: Microvolts(step.window.end.0 + table.step.0), ..step.window },
        ..*step
    };
    let more = Margins { steps: table.steps.iter().map(further).collect(), ..table.clone() };
    let harmed = |block: &Block| {
        let leaders = looker.leaders(block);
        [table, &more].map(|table| {
            let is_safe = |leader: &&Leader| {
                let window = table.window(leader.shown, leader.program.first[0]);
                !looker.safe(looker.errors(leader, looker.settings(leader, table, window, true)))
            };
            leaders.iter().filter(is_safe).count()
        })
    };
    let of_blocks = lot.map(harmed);
    Ok([0, 1].map(|which| of_blocks.iter().map(|harmed| harmed[which]).sum()))
}
