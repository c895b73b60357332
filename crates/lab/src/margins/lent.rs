//! Bench of similarity beyond 003: on other cells, with more wordlines in an h-layer, and with leaders that speak for the blocks beside their own too.
//!
//! A leader that speaks for `n` blocks is measured on the first of them; all wordlines of the same layer in the others follow it. Layers of different
//! blocks are not alike (003 §3.3), so that data may be lost where programs are not checked. The firmware's check is applied as it stands: where a program has
//! far more wrong cells than the leader had, it is done again, and that wordline leads its own layer. Each chip's table of margins is found on the same
//! blocks.
//!
//! ```text
//! time of n blocks of W wordlines, over that without: (1 + (W − 1)·(1 − own) + Σ others) / (n·W)
//!   an other that is trusted: W·(1 − lent)      one that is not: (1 − lent) + 1 + (W − 1)·(1 − own)
//! ```

use toml::Value;
use wordline_pages::html::figure::{Curve, Curves, Figure, Scale};

use super::wordline::{Borrowed, Looker};
use super::{Lot, characterise, mean, share};
use crate::bench::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::protocol::{Count, Cycles, Name, Number, conditions};

/// The `leaders` bench: its metrics, its conditions and the function that measures.
pub(crate) const LEADERS: Bench = Bench {
    name: "leaders",
    summary: "t_PROG saved by what leaders show, on other cells, with more wordlines in an h-layer, and where a leader speaks for more than its own block",
    metrics: &[
        m(
            "saved",
            "share",
            "Mean time of all programs saved, leaders counted, with the fewest wordlines in an h-layer and a leader in every block",
        ),
        m("saved-wide", "share", "The same with the most wordlines in an h-layer"),
        m("saved-far", "share", "The same as the first where a leader speaks for the most blocks"),
        m("saved-other", "share", "The same as the first on the other cells"),
        m("lost-far", "share", "Layers whose data could be lost at the end where a leader speaks for the most blocks and nobody looks"),
        m("lost-checked", "share", "The same where each program is checked"),
        m("again-far", "share", "Layers of which a program is done again then"),
    ],
    on: On::Chips,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "leaders",
    /// Conditions of the leaders that speak for other blocks.
    struct At {
        /// names of the other chips
        others: Vec<Name>,
        /// cycles of the other chips that a table must be safe for
        others_pe: Vec<Cycles>,
        /// numbers of wordlines in an h-layer
        wordlines: Vec<Count>,
        /// numbers of blocks that a leader speaks for
        every: Vec<Count>,
        /// factor over the wrong cells of a leader at which the check distrusts a program
        rise: Number,
        /// number of wrong cells up to which the check ignores them
        chance: Number,
    }
}

/// Results of a leader that speaks for `every` blocks on one chip, for any number of wordlines.
struct Spoken {
    every: u32,
    /// Share of t_PROG saved by followers of their own leader.
    own: f64,
    /// Results of the other blocks' layers.
    others: Vec<Other>,
}

struct Other {
    saved: [f64; 2],
    safe: bool,
    trusted: bool,
}

impl Spoken {
    /// Share of the time of all programs saved, with `wordlines` wordlines in an h-layer.
    fn saved(&self, wordlines: u32) -> f64 {
        let (w, n) = (f64::from(wordlines), f64::from(self.every));
        let led = |own: f64| 1.0 + (w - 1.0) * (1.0 - own);
        let of = |other: &Other| {
            let [lent, own] = other.saved;
            if other.trusted { w * (1.0 - lent) } else { 1.0 - lent + led(own) }
        };
        let others = mean(&self.others.iter().map(of).collect::<Vec<_>>());
        1.0 - (led(self.own) + if self.every > 1 { (n - 1.0) * others } else { 0.0 }) / (n * w)
    }

    /// Shares of layers: whose data could be lost without a check of programs, whose data could be lost with it, and that are programmed again.
    fn lost(&self) -> [f64; 3] {
        // The first of the blocks follows its own leader.
        let part = 1.0 - 1.0 / f64::from(self.every);
        let of = |bad: &dyn Fn(&Other) -> bool| if self.others.is_empty() { 0.0 } else { part * share(self.others.iter().map(bad)) };
        [of(&|other| !other.safe), of(&|other| !other.safe && other.trusted), of(&|other| !other.trusted)]
    }
}

fn spoken(setup: &Setup, at: &At) -> Result<Vec<Spoken>, LabError> {
    let table = characterise(setup)?.margins;
    let (of_margins, lot) = (super::At::of(setup)?, Lot::open(setup)?);
    let looker = Looker::new(&lot, &of_margins);
    let judged = |borrowed: Borrowed| {
        let [leader, own] = borrowed.wrong;
        // What could not be read at the end in any case is not lost by this.
        let safe = borrowed.safe || !borrowed.sound;
        Other { saved: borrowed.saved, safe, trusted: own <= at.rise * leader + at.chance }
    };
    let of = |&every: &u32| {
        setup.teller.tell(&format!("{}: a leader for {every} blocks", setup.chip));
        let groups = lot.size.blocks / every;
        let found = wordline_runs::parallel::map(setup.threads, (lot.size.chips * groups) as usize, |index| {
            let (chip, first) = (index as u32 / groups, index as u32 % groups * every);
            let blocks: Vec<_> = (first..first + every).map(|block| lot.block(chip, block)).collect();
            (looker.lent(&blocks[0], &blocks[..1], &table), looker.lent(&blocks[0], &blocks[1..], &table))
        });
        let own: Vec<f64> = found.iter().flat_map(|(own, _)| own).map(|own| own.saved[1]).collect();
        let others = found.into_iter().flat_map(|(_, others)| others).map(judged).collect();
        Spoken { every, own: mean(&own), others }
    };
    Ok(at.every.iter().filter(|every| **every <= lot.size.blocks).map(of).collect())
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let at = At::of(setup)?;
    let chips: Vec<String> =
        std::iter::once(setup.chip.clone()).chain(at.others.iter().filter(|other| **other != setup.chip).cloned()).collect();
    let of_chip = |(number, chip): (usize, &String)| {
        let mut setup = Setup { chip: chip.clone(), ..setup.clone() };
        if number > 0 {
            let pe = at.others_pe.iter().map(|cycles| Value::String(cycles.to_string())).collect();
            setup.conditions.entry("margins".to_owned()).or_default().insert("pe".to_owned(), Value::Array(pe));
        }
        spoken(&setup, &at)
    };
    let of_chips: Vec<Vec<Spoken>> = chips.iter().enumerate().map(of_chip).collect::<Result<_, _>>()?;
    let mut findings = Findings::default();
    let (few, many) = (at.wordlines[0], at.wordlines[at.wordlines.len() - 1]);
    if let (Some(first), Some(last)) = (of_chips[0].first(), of_chips[0].last()) {
        let [lost, checked, again] = last.lost();
        let values = [first.saved(few), first.saved(many), last.saved(few), lost, checked, again];
        for (name, value) in ["saved", "saved-wide", "saved-far", "lost-far", "lost-checked", "again-far"].into_iter().zip(values) {
            findings.set(name, value);
        }
    }
    if let Some(first) = of_chips.get(1).and_then(|spoken| spoken.first()) {
        findings.set("saved-other", first.saved(few));
    }
    findings.figures = figures(&at, &chips, &of_chips);
    Ok(findings)
}

fn figures(at: &At, chips: &[String], of_chips: &[Vec<Spoken>]) -> Vec<Figure> {
    let curve = |label: String, colour: usize, dashed: bool, spoken: &[Spoken], of: &dyn Fn(&Spoken) -> f64| Curve {
        label,
        colour,
        dashed,
        points: spoken.iter().map(|spoken| (f64::from(spoken.every), 100.0 * of(spoken))).collect(),
    };
    let plain = |title: &str, note: &str, y: &str, curves: Vec<Curve>| {
        Figure::Curves(Curves {
            title: title.to_owned(),
            note: note.to_owned(),
            x: Scale::from_zero("blocks a leader speaks for"),
            y: Scale::from_zero(y),
            curves,
            marks: Vec::new(),
        })
    };
    let (mut saved, mut lost) = (Vec::new(), Vec::new());
    for (number, (chip, spoken)) in chips.iter().zip(of_chips).enumerate() {
        for (&wordlines, dashed) in at.wordlines.iter().zip([false, true]) {
            saved.push(curve(format!("{chip}, {wordlines} wordlines"), number, dashed, spoken, &|spoken| spoken.saved(wordlines)));
        }
        lost.push(curve(format!("{chip}, unchecked"), number, true, spoken, &|spoken| spoken.lost()[0]));
        lost.push(curve(format!("{chip}, checked"), number, false, spoken, &|spoken| spoken.lost()[1]));
    }
    vec![
        plain("Time of all programs that similarity saves", "leaders and programs done again counted", "saved, %", saved),
        plain("Layers whose data could be lost at the end", "by a leader of another block", "layers, %", lost),
    ]
}
