//! Erasing: its share of the wear, erases that spare a wordline, and erases that are interrupted (001 §3.1.2, §3.2.2; 000 §4.1).

use wordline_cells::{Condition, History};
use wordline_report::html::figure::{Columns, Curve, Curves, Figure, Scale};

use super::layers::end_of_life;
use super::{Bench, Findings, Setup, m};
use crate::error::LabError;
use crate::lot::{DWELL_W2, Lot, ROOM, YEAR, crossing, deviation, greatest, least, mean, share};

/// The bench.
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
        m("protected-mean", "ratio", "Mean coefficient of the eight weakest wordlines of each block"),
        m("low-stress-loops", "ratio", "Erase loops of a block with low-stress wordlines over a normal one"),
        m("voltage-ratio", "ratio", "Stress of a low-stress erase over a normal one, the erase alone"),
        m("suspended-30", "share", "More errors of blocks whose erases were suspended 30 times each"),
        m("suspended-100", "share", "More errors of blocks whose erases were suspended 100 times each"),
        m("suspended-rise", "share", "Steps of ten suspensions at which errors do not fall"),
        m("retries-mean", "count", "More retries after 100 suspensions of each erase, mean over pages"),
        m("retries-most", "count", "More retries after 100 suspensions of each erase, of the page that needs most"),
        m("retries-range", "count", "Range of retries over pages after 100 suspensions of each erase"),
        m("time", "ms", "t_BERS of a fresh block"),
        m("time-steps", "ms", "Least difference between two t_BERS there are"),
        m("erase-spread", "ratio", "t_BERS of the slowest block over the fastest at 4K P/E"),
    ],
    run,
};

/// Cycles of the suspension test.
const CYCLES: f64 = 1_000.0;

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
    let seen = lot.map(|block| look(&lot, block));
    let mut findings = Findings::default();
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
    let rises: Vec<f64> = (0..=10).map(rise).collect();
    findings.set("suspended-30", rises[3]);
    findings.set("suspended-100", rises[10]);
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
    findings.figures = figures(&rises, &retries);
    Ok(findings)
}

fn look(lot: &Lot, block: &wordline_cells::Block) -> Seen {
    let traits = lot.traits(block);
    let model = &lot.model;
    let end = end_of_life(lot, &traits);
    // The three sequences of 001 Table 1, each as long as the block's life: both operations, erases alone, programs alone.
    let both = lot.cycled(end, DWELL_W2);
    let sequences = [both, History { program: 0.0, ..both }, History { erase: 0.0, gentle: 0.0, ..both }];
    let shares = traits.iter().map(|traits| {
        let wear = |history: &History| equivalent_cycles(lot, traits, history);
        let [_, erase, program] = sequences.each_ref().map(wear);
        erase / (erase + program)
    });
    let shares = shares.collect();
    // Group B of 001 §3.2.2: every other erase is a low-stress one. S follows from the two P/E counts at which errors reach the limit.
    let most = |traits: &wordline_cells::Traits, gentle: f64| {
        crossing(0.0, 80_000.0, lot.limit(), |cycles| {
            let history = lot.cycled(cycles, DWELL_W2);
            lot.worst_page(traits, &Condition::new(History { gentle: history.erase * gentle as f32, ..history }, ROOM).kept(YEAR))
        })
    };
    let mut coefficients: Vec<(f64, f64)> = traits
        .iter()
        .step_by(3)
        .map(|traits| {
            let (normal, half) = (most(traits, 0.0), most(traits, 0.5));
            // maxPE_B / maxPE_A = 1 / (0.5 + 0.5·S)
            (normal, 2.0 * normal / half - 1.0)
        })
        .collect();
    coefficients.sort_by(|a, b| a.0.total_cmp(&b.0));
    let values: Vec<f64> = coefficients.iter().map(|(_, s)| *s).collect();
    let weak = values[..values.len().div_ceil(6)].to_vec();
    let protected = values[..1.max(values.len() * 8 / 192)].to_vec();
    let errors = |suspensions: u32| {
        let stress = 1.0 + wordline_cells::erase::suspended(&model.physics().ispe, f64::from(suspensions));
        let normal = lot.cycled(CYCLES, DWELL_W2);
        let condition = Condition::new(History { erase: normal.erase * stress as f32, ..normal }, ROOM).kept(YEAR);
        (mean(&traits.iter().map(|traits| lot.n_ret(traits, &condition)).collect::<Vec<_>>()), condition)
    };
    let base = errors(0).0;
    let rise = (0..=10).map(|tens| errors(tens * 10).0 / base - 1.0).collect();
    let retries = [0, 100].map(|suspensions| {
        let condition = errors(suspensions).1;
        let of = |(layer, traits): (usize, &wordline_cells::Traits)| {
            let wordline = model.wordline(traits, &condition);
            let worst = lot.pages() - 1;
            let bits = (lot.dice([block.chip, block.block, layer as u32, 77]) * (1u64 << 53) as f64) as u64;
            f64::from(model.read(&wordline, worst, bits << 11, bits).retries)
        };
        traits.iter().enumerate().map(of).collect()
    });
    let worn_time = model.erase(block, &lot.cycled(4_000.0, DWELL_W2)).time / 1e3;
    Seen { shares, weak, all: values, protected, rise, retries, worn_time }
}

/// Normal cycles after which a wordline has as many errors as after `history`.
fn equivalent_cycles(lot: &Lot, traits: &wordline_cells::Traits, history: &History) -> f64 {
    let errors = lot.n_ret(traits, &Condition::new(*history, ROOM));
    crossing(0.0, 80_000.0, errors, |cycles| lot.n_ret(traits, &Condition::new(lot.cycled(cycles, DWELL_W2), ROOM)))
}

fn figures(rises: &[f64], retries: &[Vec<f64>; 2]) -> Vec<Figure> {
    let most = greatest(&retries[1]).max(1.0) as usize;
    let part = |of: &[f64], count: usize| share(of.iter().map(|retries| *retries as usize == count)) * 100.0;

    vec![
        Figure::Curves(Curves {
            title: "Errors over suspensions of each erase".to_owned(),
            note: "after 1K P/E and 1 year, over no suspension".to_owned(),
            x: Scale::from_zero("suspensions of an erase"),
            y: Scale::from_zero("more errors, %"),
            curves: vec![Curve {
                label: "errors".to_owned(),
                colour: 0,
                dashed: false,
                points: rises.iter().enumerate().map(|(tens, rise)| (tens as f64 * 10.0, rise * 100.0)).collect(),
            }],
            marks: Vec::new(),
        }),
        Figure::Columns(Columns {
            title: "Retries with and without suspended erases".to_owned(),
            note: "after 1K P/E and 1 year".to_owned(),
            x: "retries".to_owned(),
            y: "% of reads".to_owned(),
            groups: (0..=most).map(|count| count.to_string()).collect(),
            series: vec![
                ("never suspended".to_owned(), (0..=most).map(|count| part(&retries[0], count)).collect()),
                ("100 suspensions".to_owned(), (0..=most).map(|count| part(&retries[1], count)).collect()),
            ],
        }),
    ]
}
