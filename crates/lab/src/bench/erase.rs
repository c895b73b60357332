//! Bench of erases: their share of the wear, erases that spare a wordline, and erases that are interrupted (001 §3.1.2, §3.2.2; 000 §4.1).

use wordline_cells::History;
use wordline_pages::html::figure::{Columns, Curve, Curves, Figure, Scale};

use super::guard::{coefficient, endurance};
use super::layers::end_of_life;
use super::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::lot::{Lot, crossing, deviation, greatest, least, mean, share};
use crate::protocol::{Count, Cycles, Number, Rising, Share, Span, conditions};

/// The `erase` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "erase",
    summary: "Sequences with and without programs, low-stress erases, suspended erases",
    metrics: &[
        m("erase-share", "share", "Wear of a cycle that its erase causes, by comparing errors after three sequences of operations"),
        m("erase-share-spread", "share", "Standard deviation of that share over wordlines"),
        m("weak-mean", "ratio", "Low-stress coefficient of weak wordlines, mean, from P/E counts at the error limit"),
        m("weak-least", "ratio", "The least of them"),
        m("weak-most", "ratio", "The greatest of them"),
        m("all-spread", "ratio", "Low-stress coefficient over all wordlines: greatest over least"),
        m("protected-mean", "ratio", "Mean coefficient of the wordlines of each block that are protected, its weakest"),
        m("low-stress-loops", "ratio", "Erase loops of a block with low-stress wordlines over a normal one"),
        m("voltage-ratio", "ratio", "Stress of a low-stress erase over a normal one, the erase alone"),
        m("suspended-few", "share", "More errors of blocks whose erases were suspended a few times each"),
        m("suspended-many", "share", "More errors of blocks whose erases were suspended as often as is tried"),
        m("suspended-rise", "share", "Steps to more suspensions at which errors do not fall"),
        m("retries-mean", "count", "More retries after the most suspensions of each erase, mean over pages"),
        m("retries-most", "count", "More retries after the most suspensions of each erase, of the page that needs most"),
        m("retries-range", "count", "Range of retries over pages after the most suspensions of each erase"),
        m("time", "ms", "t_BERS of a fresh block"),
        m("time-steps", "ms", "Least difference between two t_BERS there are"),
        m("erase-spread", "ratio", "t_BERS of the slowest block over the fastest, worn"),
    ],
    on: On::Chips,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "erase",
    /// Conditions of the erases.
    struct At {
        /// the retention after which errors are counted
        kept: Span,
        /// cycles at which the search for the end of a wordline's life gives up
        cycles_most: Cycles,
        /// share of low-stress erases among all, by which their coefficient is found
        gentle: Share,
        /// share of the wordlines of a block that count as weak
        weak: Share,
        /// number of the weakest wordlines of a block that are protected
        protected: Count,
        /// spacing of the h-layers that are measured, in layers
        every: Count,
        /// cycles of the test of suspensions
        cycles: Cycles,
        /// suspensions of each erase
        suspensions: Rising<Number, 3>,
        /// numbers of suspensions that count as few
        few: Count,
        /// cycles of the blocks whose t_BERS is compared
        worn: Cycles,
    }
}

struct Seen {
    shares: Vec<f64>,
    weak: Vec<f64>,
    all: Vec<f64>,
    protected: Vec<f64>,
    rise: Vec<f64>,
    retries: [Vec<f64>; 2],
    worn_time: f64,
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let lot = Lot::open(setup)?;
    let at = At::of(setup)?;
    let seen = lot.map(|block| look(&lot, &at, block));
    let mut findings = Findings::default();
    findings.of_blocks(&lot, "erase's share of wear", seen.iter().map(|seen| mean(&seen.shares)));
    findings.of_blocks(&lot, "stress coefficient of weak wordlines, mean", seen.iter().map(|seen| mean(&seen.weak)));
    findings.of_blocks(&lot, "stress coefficient of weak wordlines, least", seen.iter().map(|seen| least(&seen.weak)));
    findings.of_blocks(&lot, "stress coefficient of weak wordlines, most", seen.iter().map(|seen| greatest(&seen.weak)));
    for (which, count) in at.suspensions.iter().enumerate() {
        let quantity = format!("rise of errors with {count} suspensions of each erase");
        findings.of_blocks(&lot, &quantity, seen.iter().map(|seen| seen.rise[which]));
    }
    findings.of_blocks(&lot, &format!("t_BERS at {} P/E, us", at.worn), seen.iter().map(|seen| seen.worn_time));
    let all = |of: fn(&Seen) -> &Vec<f64>| seen.iter().flat_map(|seen| of(seen).iter().copied()).collect::<Vec<_>>();
    let shares = all(|seen| &seen.shares);
    findings.set("erase-share", mean(&shares));
    findings.set("erase-share-spread", deviation(&shares));
    let weak = all(|seen| &seen.weak);
    findings.set("weak-mean", mean(&weak));
    findings.set("weak-least", least(&weak));
    findings.set("weak-most", greatest(&weak));
    let every = all(|seen| &seen.all);
    findings.set("all-spread", greatest(&every) / least(&every));
    findings.set("protected-mean", mean(&all(|seen| &seen.protected)));
    // A low-stress erase raises the verify level so that its loops are those of the block's other wordlines.
    let fresh = lot.model.erase(&lot.block(0, 0), &History::default());
    let gentle = lot.model.erase(&lot.block(0, 0), &History { gentle: 0.0, ..History::default() });
    findings.set("low-stress-loops", f64::from(gentle.loops) / f64::from(fresh.loops));
    findings.set("voltage-ratio", wordline_cells::erase::gentle_stress(&lot.model.physics().ispe, 0.0));
    let rise = |step: usize| mean(&seen.iter().map(|seen| seen.rise[step]).collect::<Vec<_>>());
    let rises: Vec<f64> = (0..at.suspensions.len()).map(rise).collect();
    if let Some(few) = at.suspensions.iter().position(|count| *count == f64::from(at.few)) {
        findings.set("suspended-few", rises[few]);
    }
    findings.set("suspended-many", rises[rises.len() - 1]);
    findings.set("suspended-rise", share(rises.windows(2).map(|pair| pair[1] >= pair[0])));
    let retries = [0, 1].map(|which| seen.iter().flat_map(|seen| seen.retries[which].iter().copied()).collect::<Vec<f64>>());
    findings.set("retries-mean", mean(&retries[1]) - mean(&retries[0]));
    findings.set("retries-most", greatest(&retries[1]) - greatest(&retries[0]));
    findings.set("retries-range", greatest(&retries[1]) - least(&retries[1]));
    findings.set("time", fresh.time / 1e3);
    let physics = lot.model.physics();
    findings.set("time-steps", (physics.ispe.pulse + physics.ispe.verify) / 1e3);
    let times: Vec<f64> = seen.iter().map(|seen| seen.worn_time).collect();
    findings.set("erase-spread", greatest(&times) / least(&times));
    findings.figures = figures(&at, &rises, &retries);
    Ok(findings)
}

fn look(lot: &Lot, at: &At, block: &wordline_cells::Block) -> Seen {
    let traits = lot.traits(block);
    let model = &lot.model;
    let end = end_of_life(lot, &traits, at.kept, at.cycles_most);
    // The three sequences of 001 Table 1, each as long as the block's life: both operations, erases alone, programs alone.
    let both = lot.worn(end);
    let sequences = [both, History { program: 0.0, ..both }, History { erase: 0.0, gentle: 0.0, ..both }];
    let shares = traits.iter().map(|traits| {
        let wear = |history: &History| equivalent_cycles(lot, at, traits, history);
        let [_, erase, program] = sequences.each_ref().map(wear);
        erase / (erase + program)
    });
    let shares = shares.collect();
    // Group B of 001 §3.2.2: some erases are low-stress ones. S follows from the two P/E counts at which errors reach the limit.
    let most = |traits: &wordline_cells::Traits, gentle: f64| endurance(lot, traits, gentle, at.kept, at.cycles_most);
    let mut coefficients: Vec<(f64, f64)> = traits
        .iter()
        .step_by(at.every as usize)
        .map(|traits| {
            let (normal, mixed) = (most(traits, 0.0), most(traits, at.gentle));
            (normal, coefficient(normal, mixed, at.gentle))
        })
        .collect();
    coefficients.sort_by(|a, b| a.0.total_cmp(&b.0));
    let values: Vec<f64> = coefficients.iter().map(|(_, s)| *s).collect();
    let share_of = |share: f64| libm::ceil(values.len() as f64 * share).max(1.0) as usize;
    let weak = values[..share_of(at.weak)].to_vec();
    let wordlines = f64::from(model.physics().shape.wordlines());
    let protected = values[..share_of(f64::from(at.protected) / wordlines)].to_vec();
    let errors = |suspensions: f64| {
        let stress = 1.0 + wordline_cells::erase::suspended(&model.physics().ispe, suspensions);
        let normal = lot.worn(at.cycles);
        let condition = lot.after(History { erase: normal.erase * stress as f32, ..normal }, at.kept);
        (mean(&traits.iter().map(|traits| lot.n_ret(traits, &condition)).collect::<Vec<_>>()), condition)
    };
    let base = errors(0.0).0;
    let rise = at.suspensions.iter().map(|count| errors(*count).0 / base - 1.0).collect();
    let retries = [0.0, at.suspensions[at.suspensions.len() - 1]].map(|suspensions| {
        let condition = errors(suspensions).1;
        let of = |(layer, traits): (usize, &wordline_cells::Traits)| {
            let wordline = model.wordline(traits, &condition);
            let worst = lot.pages() - 1;
            let luck = |what: u32| lot.luck([block.chip, block.block, layer as u32, what]);
            f64::from(model.read(&wordline, worst, luck(7), luck(8)).retries)
        };
        traits.iter().enumerate().map(of).collect()
    });
    let worn_time = model.erase(block, &lot.worn(at.worn)).time / 1e3;
    Seen { shares, weak, all: values, protected, rise, retries, worn_time }
}

/// Normal cycles after which a wordline has as many errors as after `history`.
fn equivalent_cycles(lot: &Lot, at: &At, traits: &wordline_cells::Traits, history: &History) -> f64 {
    let errors = lot.n_ret(traits, &lot.after(*history, 0.0));
    crossing(0.0, at.cycles_most, errors, |cycles| lot.n_ret(traits, &lot.aged(cycles, 0.0)))
}

fn figures(at: &At, rises: &[f64], retries: &[Vec<f64>; 2]) -> Vec<Figure> {
    let most = greatest(&retries[1]).max(1.0) as usize;
    let when = format!("after {} P/E and {}", at.cycles, crate::conditions::span_text(at.kept));
    let part = |of: &[f64], count: usize| share(of.iter().map(|retries| *retries as usize == count)) * 100.0;

    vec![
        Figure::Curves(Curves {
            title: "Errors over suspensions of each erase".to_owned(),
            note: format!("{when}, over no suspension"),
            x: Scale::from_zero("suspensions of an erase"),
            y: Scale::from_zero("more errors, %"),
            curves: vec![Curve {
                label: "errors".to_owned(),
                colour: 0,
                dashed: false,
                points: at.suspensions.iter().zip(rises).map(|(count, rise)| (*count, rise * 100.0)).collect(),
            }],
            marks: Vec::new(),
        }),
        Figure::Columns(Columns {
            title: "Retries with and without suspended erases".to_owned(),
            note: when,
            x: "retries".to_owned(),
            y: "% of reads".to_owned(),
            groups: (0..=most).map(|count| count.to_string()).collect(),
            series: vec![
                ("never suspended".to_owned(), (0..=most).map(|count| part(&retries[0], count)).collect()),
                (
                    format!("{} suspensions", at.suspensions[at.suspensions.len() - 1]),
                    (0..=most).map(|count| part(&retries[1], count)).collect(),
                ),
            ],
        }),
    ]
}
