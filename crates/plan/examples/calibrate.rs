//! What the chip file says against what the papers measured: `cargo run --release -p wordline-plan --example calibrate -- [section.key=value …]`.
//!
//! A quick look for those who change physics; `wordline reproduce` is the real thing.

use wordline_cells::{Block, Condition, History, Model, References, Settings, Traits, flag, unit};
use wordline_units::Celsius;
use wordline_units::random::{Draw, Stream};

const YEAR: f64 = 365.0 * 86_400.0;
const MONTH: f64 = YEAR / 12.0;
const HOME: Celsius = Celsius(30.0);
const SEED: u64 = 1;

struct Bench {
    model: Model,
    bits: f64,
}

impl Bench {
    fn condition(&self, pe: f64, dwell: f64, kept: f64) -> Condition {
        Condition::new(self.model.cycled(pe, dwell, HOME), HOME).kept(kept)
    }

    /// Errors of a codeword for each page, with the best references.
    fn best(&self, traits: &Traits, condition: &Condition) -> Vec<f64> {
        let wordline = self.model.wordline(traits, condition);
        self.pages(&wordline, &wordline.optimal())
    }

    fn pages(&self, wordline: &wordline_cells::Wordline, references: &References) -> Vec<f64> {
        let pages = self.model.physics().shape.cell.bits();
        (0..pages).map(|page| wordline.error_rate(&self.model, page, references) * self.bits).collect()
    }

    fn sum(&self, traits: &Traits, condition: &Condition) -> f64 {
        self.best(traits, condition).iter().sum()
    }

    /// The worst of its layers after a year at 4K cycles, to look at that one only.
    fn weakest(&self, block: &Block) -> Traits {
        let condition = self.condition(8_000.0, 60.0, YEAR);
        let mut all: Vec<Traits> = (0..48).map(|layer| self.model.traits(block, layer)).collect();
        all.sort_by(|a, b| self.sum(b, &condition).total_cmp(&self.sum(a, &condition)));
        all[0]
    }

    fn death(&self, traits: &Traits, dwell: f64, at: Celsius) -> f64 {
        let (mut low, mut high) = (0.0, 60_000.0);
        for _ in 0..14 {
            let middle = 0.5 * (low + high);
            let condition = Condition::new(self.model.cycled(middle, dwell, at), HOME).kept(YEAR);
            let n = self.best(traits, &condition).into_iter().fold(0.0, f64::max);
            if n > self.model.physics().ecc.correctable { high = middle } else { low = middle }
        }
        low
    }
}

fn row(name: &str, paper: &str, model: String) {
    println!("{name:<44} {paper:<22} {model}");
}

fn spread(values: &[f64]) -> String {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
    format!("mean {mean:.2}  {:.2} … {:.2} … {:.2}", sorted[0], sorted[sorted.len() / 2], sorted[sorted.len() - 1])
}

fn main() {
    let settings: Vec<String> = std::env::args().skip(1).collect();
    let chip = match wordline_plan::Chip::load_set("tlc48", &settings) {
        Ok(chip) => chip,
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(2)
        }
    };
    let Ok(model) = Model::new(chip.physics()) else { std::process::exit(2) };
    let bits = model.codeword_bits();
    let bench = Bench { model, bits };
    let model = &bench.model;
    let blocks: Vec<Block> =
        (0..12).flat_map(|chip| (0..8).map(move |block| (chip, block * 53))).map(|(c, b)| model.block(SEED, c, b)).collect();

    layers(&bench, &blocks);
    retries(&bench, &blocks);
    life(&bench, &blocks);
    programs(&bench, &blocks);
    shifts(&bench);
    copybacks(&bench, &blocks);
    others(&bench, &blocks);
    locks(&bench);
}

fn layers(bench: &Bench, blocks: &[Block]) {
    let model = &bench.model;
    let fresh = bench.condition(0.0, 60.0, 0.0);
    let end = bench.condition(2_000.0, 60.0, YEAR);
    let profile = |block: &Block, condition: &Condition| -> Vec<f64> {
        (0..48).map(|layer| bench.sum(&model.traits(block, layer), condition)).collect()
    };
    let ratio = |list: &[f64]| list.iter().copied().fold(0.0, f64::max) / list.iter().copied().fold(f64::MAX, f64::min);
    let dv = |condition: &Condition| -> Vec<f64> { blocks.iter().map(|block| ratio(&profile(block, condition))).collect() };
    row("ΔV fresh", "1.6", spread(&dv(&fresh)));
    row("ΔV 2K + 1 year", "2.3, pairs differ 18 %", spread(&dv(&end)));
    row("ΔV 8K + 1 year", "> 2", spread(&dv(&bench.condition(8_000.0, 60.0, YEAR))));
    let mean = |condition: &Condition| -> Vec<f64> {
        let mut sum = vec![0.0; 48];
        for block in blocks {
            for (slot, value) in sum.iter_mut().zip(profile(block, condition)) {
                *slot += value / blocks.len() as f64;
            }
        }
        sum
    };
    let (a, b, r) = (mean(&fresh), mean(&end), mean(&bench.condition(2_000.0, 60.0, 0.0)));
    for layer in [0usize, 1, 2, 3, 4, 5, 6, 8, 10, 14, 18, 22, 26, 30, 34, 38, 42, 44, 46, 47] {
        println!(
            "   layer {layer:2}: fresh {:5.2}  end {:6.2}  growth {:.2}  by retention {:.2}",
            a[layer],
            b[layer],
            b[layer] / a[layer],
            b[layer] / r[layer]
        );
    }
}

fn retries(bench: &Bench, blocks: &[Block]) {
    let model = &bench.model;
    for (name, paper, pe, kept) in [
        ("retries fresh", "0 %", 0.0, 0.0),
        ("retries 2K + 1 month", "30 %", 2_000.0, MONTH),
        ("retries 2K + 1 year", "90 %", 2_000.0, YEAR),
        ("retries 1K + 1 year", "", 1_000.0, YEAR),
        ("retries 4K + 1 year", "", 4_000.0, YEAR),
        ("retries 8K + 1 year", "", 8_000.0, YEAR),
        ("retries 8K + 0", "", 8_000.0, 0.0),
    ] {
        let draw = Draw::new(SEED, Stream::CellErrors, 0);
        let (mut n, mut some, mut sum, mut most, mut lost, mut per) = (0u64, 0, 0, 0, 0, [0; 3]);
        for block in &blocks[..24] {
            for layer in 0..48 {
                let wordline = model.wordline(&model.traits(block, layer), &bench.condition(pe, 60.0, kept));
                for page in 0..3 {
                    let reading = model.read(&wordline, page, draw.at(2 * n), draw.at(2 * n + 1));
                    n += 1;
                    some += u32::from(reading.retries > 0);
                    per[page as usize] += u32::from(reading.retries > 0);
                    sum += reading.retries;
                    most = reading.retries.max(most);
                    lost += u32::from(!reading.corrected);
                }
            }
        }
        row(
            name,
            paper,
            format!(
                "{:.1} % {per:?}  mean {:.2}  max {most}  lost {lost} of {n}",
                100.0 * f64::from(some) / n as f64,
                f64::from(sum) / n as f64
            ),
        );
    }
}

fn life(bench: &Bench, blocks: &[Block]) {
    let weak: Vec<Traits> = blocks.iter().map(|block| bench.weakest(block)).collect();
    let deaths = |dwell: f64, at: Celsius| -> Vec<f64> { weak.iter().map(|traits| bench.death(traits, dwell, at) / 1e3).collect() };
    let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len() as f64;
    let w2 = deaths(60.0, HOME);
    row("death at 1 min dwell (K)", "12.3, 8 to 16+", spread(&w2));
    row("death at 5 min dwell (K)", "13.9", spread(&deaths(300.0, HOME)));
    let (cool, warm) = (deaths(600.0, HOME), deaths(600.0, Celsius(40.0)));
    row("10 min dwell at 40 against 30 C", "+20 %", format!("{:+.1} %", 100.0 * (mean(&warm) / mean(&cool) - 1.0)));
    let n12 = |pe: f64, dwell: f64| -> Vec<f64> {
        weak.iter().map(|traits| bench.best(traits, &bench.condition(pe, dwell, YEAR)).into_iter().fold(0.0, f64::max)).collect()
    };
    for (pe, paper) in
        [(0.0, ""), (1_000.0, ""), (3_000.0, "max 37"), (4_000.0, "spread 19"), (7_000.0, "spread 25"), (8_000.0, "min 37"), (12_000.0, "")]
    {
        let list = n12(pe, 60.0);
        let (low, high) = (list.iter().copied().fold(f64::MAX, f64::min), list.iter().copied().fold(0.0, f64::max));
        row(&format!("N(12) at {pe}"), paper, format!("{}  spread {:.1}", spread(&list), high - low));
    }
    let (none, long) = (mean(&n12(6_000.0, 0.0)), mean(&n12(6_000.0, 12_000.0)));
    row("N(12) by dwell", "at most 30 %", format!("{:.1} %", 100.0 * (1.0 - long / none)));
    let n0: Vec<f64> =
        weak.iter().map(|traits| bench.best(traits, &bench.condition(6_000.0, 60.0, 0.0)).into_iter().fold(0.0, f64::max)).collect();
    row("N(0) at 6000", "", spread(&n0));
    // Time of an erase against wear.
    for pe in [0.0, 1_000.0, 2_000.0, 4_000.0, 6_000.0, 8_000.0, 10_000.0, 12_000.0, 16_000.0] {
        let history = bench.model.cycled(pe, 60.0, HOME);
        let erases: Vec<f64> = blocks.iter().map(|block| bench.model.erase(block, &history).time / 1e3).collect();
        let programs: Vec<f64> = blocks
            .iter()
            .map(|block| {
                (0..48)
                    .map(|layer| bench.model.program(&bench.model.traits(block, layer), &history, &Settings::default()).time)
                    .sum::<f64>()
                    / 48.0
            })
            .collect();
        let list = n12(pe, 60.0);
        row(&format!("t_BERS, t_PROG, N(12) at {pe}"), "", format!("{} | {} | {}", spread(&erases), spread(&programs), spread(&list)));
    }
}

fn programs(bench: &Bench, blocks: &[Block]) {
    let model = &bench.model;
    for pe in [0.0, 2_000.0] {
        let history = model.cycled(pe, 60.0, HOME);
        let (mut base, mut skipped, mut margin, mut both, mut n) = (0.0, 0.0, 0.0, 0.0, 0.0);
        let mut first = [0.0; 7];
        for block in &blocks[..24] {
            for layer in 0..48 {
                let traits = model.traits(block, layer);
                let leader = model.program(&traits, &history, &Settings::default());
                let mut settings = Settings::default();
                for (state, sum) in first.iter_mut().enumerate() {
                    settings.skip[state] = leader.first[state] - 1;
                    *sum += f64::from(settings.skip[state]);
                }
                let follower = model.program(&traits, &history, &settings);
                let shorter = Settings { start_margin: 160.0, final_margin: 160.0, ..Settings::default() };
                let narrow = model.program(&traits, &history, &shorter);
                let mut all = shorter;
                for state in 0..7 {
                    all.skip[state] = settings.skip[state].saturating_sub(1);
                }
                base += leader.time;
                skipped += 1.0 - follower.time / leader.time;
                margin += 1.0 - narrow.time / leader.time;
                both += 1.0 - model.program(&traits, &history, &all).time / leader.time;
                n += 1.0;
            }
        }
        row(
            &format!("t_PROG at {pe}"),
            "700 us, 1..7",
            format!("{:.1} us, skips {:?}", base / n, first.map(|sum| (10.0 * sum / n).round() / 10.0)),
        );
        row("  skipping verifies", "-16.2 %", format!("-{:.1} %", 100.0 * skipped / n));
        row("  320 mV", "-19.7 %", format!("-{:.1} %", 100.0 * margin / n));
        row("  both", "-30 % to -35.9 %", format!("-{:.1} %", 100.0 * both / n));
    }
    let typical = model.typical();
    let condition = bench.condition(0.0, 60.0, MONTH);
    let base = bench.sum(&typical, &condition);
    for (state, count) in [(6usize, 10), (3, 8), (0, 4)] {
        let curve: Vec<String> = (0..=count)
            .map(|skip| {
                let mut settings = Settings::default();
                settings.skip[state] = skip;
                format!("{:.2}", bench.sum(&typical, &condition.settings(settings)) / base)
            })
            .collect();
        row(&format!("errors over verifies skipped, P{}", state + 1), "", curve.join(" "));
    }
    for (name, start, last) in [("V_start margin", 1.0, 0.0), ("V_final margin", 0.0, 1.0), ("both ends", 0.5, 0.5)] {
        let curve: Vec<String> = (0..=8)
            .map(|step| {
                let margin = 50.0 * step as f32;
                let settings = Settings { start_margin: start * margin, final_margin: last * margin, ..Settings::default() };
                format!("{:.2}", bench.sum(&typical, &condition.settings(settings)) / base)
            })
            .collect();
        row(&format!("errors over {name}, 0 to 400 mV"), "", curve.join(" "));
    }
    for (name, layer) in [("alpha", 0), ("kappa", 4), ("beta", 24), ("omega", 47)] {
        let traits = model.traits(&blocks[0], layer);
        let ep1 = |pe: f64| {
            let wordline = model.wordline(&traits, &bench.condition(pe, 60.0, 0.0));
            wordline.misread(1, wordline.optimal_reference(1)) * 1e6
        };
        row(
            &format!("BER_EP1 of {name} (ppm) at 0, 1K, 2K, 4K"),
            "",
            format!("{:.0} {:.0} {:.0} {:.0}", ep1(0.0), ep1(1e3), ep1(2e3), ep1(4e3)),
        );
    }
    let coefficients: Vec<(f64, f64)> = (0..48)
        .map(|layer| (model.traits(&blocks[3], layer), layer))
        .map(|(traits, _)| (traits.wear, model.low_stress_coefficient(&traits)))
        .collect();
    let mut sorted = coefficients.clone();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    let s: Vec<f64> = sorted.iter().map(|pair| pair.1).collect();
    row("S_k of the 8 weakest, of the 8 strongest", "0.31-0.34; larger", format!("{} | {}", spread(&s[..8]), spread(&s[40..])));
    row("wear strongest to weakest", "about 0.5", format!("{:.2}", sorted[47].0 / sorted[0].0));
}

fn shifts(bench: &Bench) {
    let model = &bench.model;
    let typical = model.typical();
    let best = |pe: f64, kept: f64| model.wordline(&typical, &bench.condition(pe, 60.0, kept)).optimal();
    let fresh = best(0.0, 0.0);
    for (name, paper, pe, kept) in
        [("1K cycles", "R1 +300, R2 +100", 1_000.0, 0.0), ("1 year, fresh", "R7 most", 0.0, YEAR), ("1 year at 2K", "", 2_000.0, YEAR)]
    {
        let now = best(pe, kept);
        row(&format!("best references, {name}"), paper, (0..7).map(|r| format!("{:+.0}", now[r] - fresh[r])).collect::<Vec<_>>().join(" "));
    }
    let middle = best(2_500.0, 0.0);
    row("best references at 2.5K", "", (0..7).map(|r| format!("{:.0}", middle[r])).collect::<Vec<_>>().join(" "));
    row("best references fresh", "", (0..7).map(|r| format!("{:.0}", fresh[r])).collect::<Vec<_>>().join(" "));
}

/// A page is copied again and again without correction, each copy kept for a while, the last for the whole retention; how often before it is lost.
fn copybacks(bench: &Bench, blocks: &[Block]) {
    let model = &bench.model;
    let weak: Vec<Traits> = blocks.iter().map(|block| bench.weakest(block)).collect();
    let paper = [
        "1y best 5 4 4 3 3 2",
        "1y median 5 4 3 3 2 1",
        "1y worst 3 2 2 1 1 0",
        "3m best 6 5 4 4 3 2",
        "3m median 6 5 4 3 3 2",
        "3m worst 4 3 2 2 1 1",
    ];
    for (which, kept) in [(0, YEAR), (3, YEAR / 4.0)] {
        let mut rows = vec![String::new(); 3];
        let mut detail = String::new();
        for pe in [400.0, 1_000.0, 2_000.0, 3_000.0, 4_000.0, 5_000.0] {
            let mut all: Vec<(f64, u32, f64, f64)> = weak
                .iter()
                .map(|traits| {
                    let last = bench.best(traits, &bench.condition(pe, 60.0, kept)).into_iter().fold(0.0, f64::max);
                    let wordline = model.wordline(traits, &bench.condition(pe, 60.0, 0.0));
                    let each = bench.pages(&wordline, &model.references(0)).into_iter().fold(0.0, f64::max);
                    let room = model.physics().ecc.correctable - last;
                    let times = if room < 0.0 { 0.0 } else { (room / each).floor() };
                    (each, times as u32, last, each)
                })
                .collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (text, at) in rows.iter_mut().zip([0, all.len() / 2, all.len() - 1]) {
                text.push_str(&format!(" {}", all[at].1));
            }
            detail.push_str(&format!(" [{:.0}+{:.0} {:.0}+{:.0}]", all[0].2, all[0].3, all[all.len() - 1].2, all[all.len() - 1].3));
        }
        for (number, text) in rows.iter().enumerate() {
            row("copybacks in a row", paper[which + number], text.clone());
        }
        println!("   {detail}");
    }
}

fn others(bench: &Bench, blocks: &[Block]) {
    let model = &bench.model;
    let physics = model.physics();
    let history = |pe: u32, suspensions: u32| {
        let mut history = History::default();
        for _ in 0..pe {
            history = history.erased(physics, 60.0, HOME, suspensions, false).programmed(physics, 60.0, HOME);
        }
        history
    };
    for pe in [1_000, 2_000, 4_000] {
        let mut texts = Vec::new();
        for suspensions in [0, 10, 30, 50, 100] {
            let history = history(pe, suspensions);
            let (mut sum, mut tries, mut most, mut least, mut n) = (0.0, 0, 0, 99, 0u64);
            let draw = Draw::new(SEED, Stream::CellErrors, 1);
            for block in &blocks[..12] {
                for layer in 0..48 {
                    let traits = model.traits(block, layer);
                    let condition = Condition::new(history, HOME).kept(YEAR);
                    sum += bench.sum(&traits, &condition);
                    let wordline = model.wordline(&traits, &condition);
                    let reading = model.read(&wordline, 2, draw.at(2 * n), draw.at(2 * n + 1));
                    tries += reading.retries;
                    most = most.max(reading.retries);
                    least = least.min(reading.retries);
                    n += 1;
                }
            }
            texts.push((sum, format!("{:.2} tries {least}..{most}", f64::from(tries) / n as f64)));
        }
        let base = texts[0].0;
        let text: Vec<String> = texts.iter().map(|(sum, text)| format!("{:+.0} % {text}", 100.0 * (sum / base - 1.0))).collect();
        row(&format!("suspended 0, 10, 30, 50, 100 times at {pe}"), "+48 %, +2.8, max +4", text.join(" | "));
    }
    let typical = model.typical();
    let base = bench.condition(1_000.0, 60.0, YEAR);
    let open: Vec<String> = [0.25, 0.5, 1.0]
        .iter()
        .map(|share| {
            let condition = Condition { open_interval: share * physics.open_interval.time, ..base };
            format!("{:+.1} %", 100.0 * (bench.sum(&typical, &condition) / bench.sum(&typical, &base) - 1.0))
        })
        .collect();
    row("open interval, a quarter, half, all", "+30 %", open.join(" "));
    let draw = Draw::new(SEED, Stream::CellErrors, 2);
    for (name, kept) in [("right after", 0.0), ("after a year", YEAR)] {
        let rates: Vec<f64> = (0..400u64)
            .map(|n| {
                let traits = model.traits(&blocks[n as usize % 24], n as u32 % 48);
                let luck = -wordline_cells::special::tail_inverse(unit(draw.at(n)));
                let how = wordline_cells::Reprogrammed { pages: 3, luck: luck as f32 };
                let condition = Condition { reprogrammed: Some(how), ..bench.condition(1_000.0, 60.0, kept) };
                let wordline = model.wordline(&traits, &condition);
                wordline.error_rate(model, 2, &model.references(0)) / model.limit()
            })
            .collect();
        let lost = rates.iter().filter(|&&rate| rate > 1.0).count();
        row(&format!("reprogrammed TLC, MSB {name}"), "all fail", format!("{:.1} %, {}", lost as f64 / 4.0, spread(&rates)));
    }
}

fn locks(bench: &Bench) {
    let physics = bench.model.physics();
    let typical = bench.model.typical();
    let base = bench.condition(1_000.0, 60.0, 0.0);
    for steps in 0..5 {
        let mut text = String::new();
        for time in [100.0, 150.0, 200.0] {
            let dose = flag::dose(&physics.flag, f64::from(steps), time) as f32;
            let more = bench.sum(&typical, &Condition { lock_dose: dose, ..base }) / bench.sum(&typical, &base) - 1.0;
            let now = flag::programmed(&physics.flag, f64::from(steps), time);
            let later = 9.0 * (1.0 - flag::holding(physics, f64::from(steps), time, 5.0 * YEAR));
            text.push_str(&format!("  {time}: {:.2} % {:+.1} % {later:.2}/9", 100.0 * now, 100.0 * more));
        }
        row(&format!("page lock V{}", steps + 1), "", text);
    }
    for steps in 0..6 {
        let mut text = String::new();
        for time in [200.0, 300.0, 400.0] {
            let at = |years: f64| flag::select_centre(&physics.select, f64::from(steps), time, years * YEAR);
            text.push_str(&format!("  {time}: {:.2} V {:.2} {:.2}", at(0.0) / 1e3, at(1.0) / 1e3, at(5.0) / 1e3));
        }
        row(&format!("block lock V{}", steps + 1), "", text);
    }
    row("select centre at which reads fail", "3 V", format!("{:.2} V", flag::centre_at(&physics.select, bench.model.limit()) / 1e3));
}
