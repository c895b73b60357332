//! Bench of guarded erases by themselves: the block of ten wordlines of 001 §3.2.1 (Figs 6 and 7), and the choice of a mode in 001 §3.3.4 (Table 4).
//!
//! The weakest wordlines and the mode are chosen by the code of the technique. Errors of a wordline grow with its wear, in proportion.

use wordline_drive::{ModeSelector, WeakOrder};
use wordline_pages::html::figure::{Columns, Figure};

use super::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::lot::share;
use crate::protocol::{Count, Number, conditions};

/// The `spared` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "spared",
    summary: "The block of ten wordlines by normal erases, by BPM and by guarded erases, and the mode that the selector chooses from told write amplification",
    metrics: &[
        m("normal", "count", "Wordlines written until the block dies by normal erases"),
        m("bpm", "count", "Wordlines written until the block dies where two of its wordlines may go"),
        m("guarded", "count", "Wordlines written until the block dies where every second erase spares the weakest"),
        m("cycles", "count", "Cycles of the block then"),
        m("counts", "share", "Wordlines that were spared as often as in the source"),
        m("usable", "count", "Wordlines that take data after an erase that spares some"),
        m("ratio", "ratio", "Errors of the weakest wordline over those of the strongest after the first cycle"),
        m("monotone", "share", "Erases after which a block under BPM holds no more than before"),
        m("back", "share", "Normal erases after which a block with guarded erases holds all its wordlines"),
        m("promise-1", "ratio", "Writes that mode 1 promises over those of mode 0"),
        m("promise-2", "ratio", "The same of mode 2"),
        m("promise-3", "ratio", "The same of mode 3"),
        m("trace", "share", "Modes that are those of the source, one after another"),
    ],
    on: On::Chips,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "spared",
    /// Numbers of the source's examples.
    struct At {
        /// normal cycles that each wordline of the block stands
        endurance: [Number; 10],
        /// wear of a low-stress erase over that of a normal one
        coefficient: Number,
        /// wordlines that a guarded erase spares; every second erase is one
        spared: Count,
        /// errors of a wordline at its end
        errors: Number,
        /// times that the source spares each wordline
        told: [Number; 10],
        /// wordlines that a block may lose under BPM
        lost: Count,
        /// endurance with each mode over that with normal erases, mode 0 first
        modes: [Number; 10],
        /// write amplification of the modes that are tried
        waf: [Number; 4],
        /// share by which write amplification must move before a settled mode is tried again
        moved: Number,
        /// modes after each measurement
        trace: [Number; 6],
    }
}

/// Life of the block.
#[derive(Clone, Debug, Default)]
struct Life {
    /// Wordlines that took data after each erase.
    usable: Vec<u32>,
    /// Times that each wordline was spared.
    spared: [u32; 10],
    /// Wear of each wordline.
    wear: [f64; 10],
}

impl Life {
    fn written(&self) -> f64 {
        self.usable.iter().map(|&usable| f64::from(usable)).sum()
    }
}

/// Life by erases of which every second spares the `at.spared` weakest wordlines; `is_guarded` false: none does.
fn guarded(at: &At, is_guarded: bool) -> Life {
    let order = WeakOrder::of((0..at.endurance.len() as u32).collect());
    let mut life = Life::default();
    for cycle in 1.. {
        let errors = |wordline: u32| (life.wear[wordline as usize] / at.endurance[wordline as usize] * at.errors).round() as u8;
        let set = order.weakest(if is_guarded && cycle % 2 == 0 { at.spared } else { 0 }, errors);
        let mut wear = life.wear;
        for (wordline, worn) in (0..).zip(&mut wear) {
            *worn += if set.has(wordline) { at.coefficient } else { 1.0 };
        }
        if wear.iter().zip(at.endurance).any(|(worn, most)| *worn > most + 1e-9) {
            return life;
        }
        life.wear = wear;
        set.iter().for_each(|wordline| life.spared[wordline as usize] += 1);
        life.usable.push(at.endurance.len() as u32 - set.len());
    }
    unreachable!("a wordline wears out")
}

/// Life by normal erases after which worn wordlines take no data, until more are gone than may be.
fn bad_pages(at: &At) -> Life {
    let mut life = Life::default();
    for cycle in 1u32.. {
        let gone = at.endurance.iter().filter(|most| f64::from(cycle) > **most + 1e-9).count() as u32;
        if gone > at.lost {
            return life;
        }
        life.usable.push(at.endurance.len() as u32 - gone);
    }
    unreachable!("a wordline wears out")
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let at = At::of(setup)?;
    let mut findings = Findings::default();
    let [normal, spared, bpm] = [guarded(&at, false), guarded(&at, true), bad_pages(&at)];
    findings.set("normal", normal.written());
    findings.set("bpm", bpm.written());
    findings.set("guarded", spared.written());
    findings.set("cycles", spared.usable.len() as f64);
    findings.set("counts", share(spared.spared.iter().zip(at.told).map(|(times, told)| f64::from(*times) == told)));
    findings.set("usable", f64::from(spared.usable.iter().copied().min().unwrap_or(0)));
    let strongest = at.endurance.iter().copied().fold(0.0, f64::max);
    findings.set("ratio", strongest / at.endurance.iter().copied().fold(f64::INFINITY, f64::min));
    findings.set("monotone", share(bpm.usable.windows(2).map(|pair| pair[1] <= pair[0])));
    findings.set("back", share(spared.usable.iter().step_by(2).map(|&usable| usable == at.endurance.len() as u32)));
    let lives = [("normal", &normal), ("BPM", &bpm), ("guarded", &spared)];
    let cycles = spared.usable.len();
    let series = |life: &Life| (0..cycles).map(|cycle| life.usable.get(cycle).map_or(0.0, |&usable| f64::from(usable))).collect();
    findings.figures.push(Figure::Columns(Columns {
        title: "Wordlines that take data, cycle by cycle".to_owned(),
        note: "a block of ten wordlines; after its death none (001 Figs 6 and 7)".to_owned(),
        x: "cycle".to_owned(),
        y: "wordlines".to_owned(),
        groups: (1..=cycles).map(|cycle| cycle.to_string()).collect(),
        series: lives.map(|(name, life)| (name.to_owned(), series(life))).to_vec(),
    }));
    select(&at, &mut findings);
    Ok(findings)
}

/// Feeds the selector with the source's write amplification.
fn select(at: &At, findings: &mut Findings) {
    let mut selector = ModeSelector::new(at.modes.to_vec(), at.moved);
    let mut modes = vec![selector.mode() as f64];
    while modes.len() < at.trace.len() {
        let Some(&waf) = at.waf.get(selector.mode()) else { break };
        selector.measure(waf);
        modes.push(selector.mode() as f64);
    }
    findings.set("trace", share((0..at.trace.len()).map(|step| modes.get(step) == Some(&at.trace[step]))));
    for (mode, name) in ["promise-1", "promise-2", "promise-3"].into_iter().enumerate() {
        if let (Some(own), Some(first)) = (selector.promise(mode + 1), selector.promise(0)) {
            findings.set(name, own / first);
        }
    }
}
