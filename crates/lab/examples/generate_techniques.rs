//! Writes `docs/techniques/*/*.svg` below the folder given: what techniques that go by the age of blocks or of data bring on chips of `tlc48-tables` that its
//! tables were not made from, and the tails of reads where operations give way.

use std::fmt::Write;
use std::path::PathBuf;

use wordline_figures::result::PriorityLatency;
use wordline_lab::bench::{Null, Setup, Teller};
use wordline_lab::conditions::LotSize;
use wordline_lab::gains::{self, Chips};
use wordline_lab::protocol::Changes;
use wordline_pages::number::number;
use wordline_plan::Plan;
use wordline_runs::{Job, Load, Workload};
use wordline_units::calendar::{DAY, YEAR};

/// Size of a picture, and distances of its plots from its edges and from each other.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 54.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 46.0;
const BETWEEN: f64 = 62.0;
/// Seed of the lots, which is not that of the tables' lot.
const SEED: u64 = 7;
/// Days at 30 °C after which `retention-refresh` rewrites data by default, and those of its patrol.
const REFRESHED: u32 = 180;
const PATROL: u32 = 1;
/// P/E cycles of an old block in 000 (`lifetime.realwear` in `studies/stages.toml`, old adult).
const OLD: f64 = 6_150.0;

/// Form in which a series is drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Line,
    Dashed,
    Dots,
}

struct Series {
    name: String,
    colour: usize,
    form: Form,
    points: Vec<(f64, f64)>,
}

type Picture = fn() -> Result<String, String>;

/// A plot with even axes from zero.
struct Plot {
    title: String,
    x: (&'static str, f64, f64),
    y: (&'static str, f64, f64),
    series: Vec<Series>,
    /// A height that is marked, and its name.
    mark: Option<(f64, &'static str)>,
}

fn series(name: impl Into<String>, colour: usize, form: Form, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
    Series { name: name.into(), colour, form, points: points.into_iter().collect() }
}

fn main() -> Result<(), String> {
    let into = PathBuf::from(std::env::args_os().nth(1).ok_or("which folder?")?).join("docs/techniques");
    let pictures: [(&str, Picture); 5] = [
        ("block_age", block_age),
        ("read_reference", read_reference),
        ("copy_threshold", copy_threshold),
        ("retention_refresh", retention_refresh),
        ("priority_preemption", priority_preemption),
    ];
    for (name, picture) in pictures {
        let folder = into.join(name);
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let path = folder.join(format!("{name}.svg"));
        std::fs::write(&path, picture()?).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

fn chips(lot: &str) -> Result<Chips, String> {
    let setup = Setup {
        chip: "tlc48-tables".to_owned(),
        against: None,
        settings: Vec::new(),
        null: Null::default(),
        conditions: Changes::new(),
        lot: LotSize::read(lot)?,
        seed: SEED,
        threads: 2,
        teller: Teller::default(),
    };
    Chips::open(&setup).map_err(|error| error.to_string())
}

fn block_age() -> Result<String, String> {
    let chips = chips("16x4")?;
    let counts = [1_000.0, 3_000.0, 5_000.0, 7_000.0];
    let blocks = chips.ages(&counts).map_err(|error| error.to_string())?;
    let each = || counts.iter().zip(&blocks).enumerate();
    let limit = chips.limit();
    let mark = Some((limit, "most that can be corrected"));
    let by_count = each().map(|(colour, (pe, blocks))| {
        // Neighbours stand beside each other so that each is seen.
        let points = blocks.iter().enumerate().map(|(place, block)| (pe + 8.0 * (place as f64 - 0.5 * blocks.len() as f64), block.errors));
        series(format!("{} P/E", number(*pe)), colour, Form::Dots, points)
    });
    let by_age = each().map(|(colour, (_, blocks))| {
        let name = format!("rank correlation {:.2}", gains::rank(blocks));
        series(name, colour, Form::Dots, blocks.iter().map(|block| (block.age, block.errors)))
    });
    let told = series("errors = age", counts.len(), Form::Dashed, [(0.0, 0.0), (1_100.0, 1.1 * limit)]);
    let top = 1.1 * limit;
    let y = "N(12), wrong bits of a codeword";
    Ok(svg(
        "Blocks of equal P/E counts differ, and their ages tell by how much",
        &[
            Plot { title: "by P/E count".into(), x: ("P/E cycles", 8_000.0, 2_000.0), y: (y, top, 10.0), series: by_count.collect(), mark },
            Plot {
                title: "by the age that firmware tells".into(),
                x: ("age, thousandths of a life", 1_100.0, 200.0),
                y: (y, top, 10.0),
                series: by_age.chain([told]).collect(),
                mark,
            },
        ],
    ))
}

fn read_reference() -> Result<String, String> {
    let chips = chips("16x8")?;
    let failed = |error: wordline_lab::LabError| error.to_string();
    let counts = chips.counts().map_err(failed)?;
    let tries = chips.retries(&counts, YEAR as f64).map_err(failed)?;
    let names = ["vendor's table", "sets by P/E count", "sets by age"];
    // Of the ways from the `first` on, with ticks of this step.
    let plot = |title: &str, first: usize, step: f64| {
        let most = tries.iter().flat_map(|tries| &tries[first..]).copied().fold(0.0, f64::max);
        let curve = |which: usize| {
            let points = counts.iter().zip(&tries).map(|(pe, tries)| (*pe, tries[which]));
            series(names[which], which, if which == 2 { Form::Dashed } else { Form::Line }, points)
        };
        Plot {
            title: title.to_owned(),
            x: ("P/E cycles", 8_000.0, 2_000.0),
            y: ("retries of a read", libm::ceil(most / step) * step, step),
            series: (first..names.len()).map(curve).collect(),
            mark: None,
        }
    };
    let title = "Retries of reads of data kept for a year, mean over all pages of all blocks";
    Ok(svg(title, &[plot("all", 0, 2.0), plot("the sets alone, enlarged", 1, 0.02)]))
}

fn copy_threshold() -> Result<String, String> {
    let chips = chips("16x4")?;
    let counts: Vec<f64> = (1..=20).map(|step| f64::from(step) * 200.0).collect();
    let allowed = chips.copies(&counts, 6).map_err(|error| error.to_string())?;
    let curve = |name: &str, colour, form, of: fn(&gains::Allowed) -> f64| {
        series(name, colour, form, counts.iter().zip(&allowed).map(|(pe, allowed)| (*pe, of(allowed))))
    };
    let curves = vec![
        curve("the table by P/E count", 0, Form::Line, |allowed| allowed.by_pe),
        curve("the table by age", 1, Form::Line, |allowed| allowed.by_age),
        curve("what blocks stand", 2, Form::Dashed, |allowed| allowed.own),
    ];
    Ok(svg(
        "Copies in a row after which data can still be read in a year",
        &[Plot {
            title: "mean over blocks".into(),
            x: ("P/E cycles", 4_000.0, 500.0),
            y: ("copies in a row", 4.0, 1.0),
            series: curves,
            mark: None,
        }],
    ))
}

fn retention_refresh() -> Result<String, String> {
    let chips = chips("16x8")?;
    let day = DAY as f64;
    let longest = 730u32;
    let days: Vec<f64> = (0..=longest / 5).map(|step| f64::from(step) * 5.0).collect();
    let errors = chips.kept(OLD, &days.iter().map(|days| days * day).collect::<Vec<_>>());
    // A group becomes due after the patrol has just passed it, at worst.
    let period = REFRESHED + PATROL;
    let first = chips.kept(OLD, &(0..=period).map(|at| f64::from(at) * day).collect::<Vec<_>>());
    let rewritten: Vec<gains::Kept> = (0..=longest).map(|at| first[(at % (period + 1)) as usize]).collect();
    let left = |of: fn(&gains::Kept) -> f64| days.iter().zip(&errors).map(move |(days, errors)| (*days, of(errors)));
    let moved = |of: fn(&gains::Kept) -> f64| rewritten.iter().enumerate().map(move |(day, errors)| (day as f64, of(errors)));
    let curves = vec![
        series("left, worst block", 3, Form::Line, left(|kept| kept.most)),
        series("left, mean block", 3, Form::Dashed, left(|kept| kept.mean)),
        series("rewritten, worst block", 0, Form::Line, moved(|kept| kept.most)),
        series("rewritten, mean block", 0, Form::Dashed, moved(|kept| kept.mean)),
    ];
    Ok(svg(
        &format!("Wrong bits of the worst codeword after {} P/E cycles, left alone and rewritten every {REFRESHED} days", number(OLD)),
        &[Plot {
            title: "weakest wordline of a block, best references".into(),
            x: ("days at 30 °C", 730.0, 90.0),
            y: ("wrong bits", 110.0, 10.0),
            series: curves,
            mark: Some((chips.limit(), "most that can be corrected")),
        }],
    ))
}

/// Tails of reads of three drives under the load of the studies, high reads and low ones.
fn priority_preemption() -> Result<String, String> {
    let drives = ["psr-baseline", "irftl", "paftl"];
    let results = drives.map(|name| {
        let plan = Plan::load_set(name, &["cells.cycles=young-adult", "cells.retention=1 mo"]).map_err(|error| error.to_string())?;
        let load = Load::default();
        let workload = Workload::load("mixed-priority", &load, &mut |_| ()).map_err(|error| error.to_string())?;
        let outcome = Job::new(&plan, &workload, &load).run((), &mut ()).map_err(|error| error.to_string())?;
        Ok::<_, String>(outcome.result)
    });
    let mut curves = [Vec::new(), Vec::new()];
    for (colour, (name, result)) in drives.iter().zip(results).enumerate() {
        let result = result?;
        for (curves, class) in curves.iter_mut().zip(["high", "low"]) {
            let of_class = |of: &&PriorityLatency| of.op == "read" && of.priority == class;
            let found = result.latency_us_by_priority.iter().find(of_class).ok_or("no reads of a class")?;
            let of = &found.latency_us;
            let nines = [(0.301, of.p50), (1.0, of.p90), (2.0, of.p99), (3.0, of.p999), (4.0, of.p9999)];
            curves.push(series(*name, colour, Form::Line, nines.map(|(nines, us)| (nines, us / 1e3))));
        }
    }
    let [high, low] = curves;
    let plot = |title: &str, series: Vec<Series>| Plot {
        title: title.to_owned(),
        x: ("nines of the share of reads: 2 is p99, 4 is p99.99", 4.0, 1.0),
        y: ("latency, ms", 12.0, 2.0),
        series,
        mark: None,
    };
    Ok(svg("Reads beside writes and garbage collection, by class", &[plot("high reads", high), plot("low reads", low)]))
}

fn svg(title: &str, plots: &[Plot]) -> String {
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"system-ui, sans-serif\" font-size=\"11\" role=\"img\" \
         aria-label=\"{title}\">\n<style>:root{{color-scheme:light dark;--card:#fff;--ink:#1b2230;--soft:#5c6675;--rule:#e2e6ec;--c0:#2563eb;--c1:#0b7a4b;\
         --c2:#c2740a;--c3:#c02626;--c4:#5c6675}}@media (prefers-color-scheme:dark){{:root{{--card:#1b2029;--ink:#e6e9ee;--soft:#98a2b1;--rule:#2c3340;\
         --c0:#7aa2f7;--c1:#4ade9a;--c2:#f0b060;--c3:#f87171;--c4:#98a2b1}}}}text{{fill:var(--ink)}}.s{{fill:var(--soft)}}.l{{fill:none;stroke-width:1.8}}\
         .g{{fill:none;stroke:var(--rule)}}.a{{fill:none;stroke:var(--soft)}}.m{{fill:none;stroke:var(--c3);stroke-dasharray:2 3}}</style>\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"var(--card)\"/>\n<text x=\"{LEFT}\" y=\"18\" font-size=\"13\">{title}</text>\n"
    );
    let count = plots.len() as f64;
    let wide = (WIDTH - LEFT - RIGHT - (count - 1.0) * BETWEEN) / count;
    for (place, plot) in plots.iter().enumerate() {
        draw(&mut out, plot, LEFT + place as f64 * (wide + BETWEEN), wide);
    }
    out + "</svg>\n"
}

fn draw(out: &mut String, plot: &Plot, left: f64, wide: f64) {
    let (high, bottom) = (HEIGHT - TOP - BOTTOM, HEIGHT - BOTTOM);
    let (x, y) = (|value: f64| left + wide * value / plot.x.1, |value: f64| bottom - high * value / plot.y.1);
    let ticks = |(_, most, step): (&str, f64, f64)| (0..=libm::floor(most / step + 1e-9) as u32).map(move |tick| f64::from(tick) * step);
    for tick in ticks(plot.y) {
        let _ = writeln!(
            out,
            "<path class=\"g\" d=\"M{left:.1} {0:.1}h{wide:.1}\"/><text class=\"s\" x=\"{1:.1}\" y=\"{2:.1}\" text-anchor=\"end\">{3}</text>",
            y(tick),
            left - 5.0,
            y(tick) + 4.0,
            number(tick)
        );
    }
    for tick in ticks(plot.x) {
        let _ = writeln!(
            out,
            "<path class=\"a\" d=\"M{0:.1} {bottom}v4\"/><text class=\"s\" x=\"{0:.1}\" y=\"{1}\" text-anchor=\"middle\">{2}</text>",
            x(tick),
            bottom + 16.0,
            number(tick)
        );
    }
    let middle = TOP + high / 2.0;
    let _ = writeln!(
        out,
        "<path class=\"a\" d=\"M{left:.1} {TOP}V{bottom}h{wide:.1}\"/>\n<text class=\"s\" x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n\
         <text class=\"s\" transform=\"translate({:.1} {middle}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n<text x=\"{left:.1}\" y=\"{}\">{}</text>",
        left + wide / 2.0,
        bottom + 33.0,
        plot.x.0,
        left - 36.0,
        plot.y.0,
        TOP - 12.0,
        plot.title,
    );
    if let Some((height, name)) = plot.mark {
        let _ = writeln!(
            out,
            "<path class=\"m\" d=\"M{left:.1} {0:.1}h{wide:.1}\"/><text class=\"s\" x=\"{1:.1}\" y=\"{2:.1}\">{name}</text>",
            y(height),
            left + 10.0,
            y(height) - 4.0
        );
    }
    // Below a mark that leaves no room above it.
    let from = plot.mark.filter(|(height, _)| plot.y.1 < 1.5 * height).map_or(TOP, |(height, _)| y(height) + 2.0);
    for (place, series) in plot.series.iter().enumerate() {
        let colour = format!("var(--c{})", series.colour);
        let dashes = if series.form == Form::Dashed { " stroke-dasharray=\"5 3\"" } else { "" };
        let legend = (left + 10.0, from + 12.0 + 15.0 * place as f64);
        if series.form == Form::Dots {
            for (at, value) in &series.points {
                let _ =
                    writeln!(out, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.2\" fill=\"{colour}\" fill-opacity=\".7\"/>", x(*at), y(*value));
            }
            let _ = writeln!(out, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{colour}\"/>", legend.0 + 8.0, legend.1);
        } else {
            let points: Vec<String> = series
                .points
                .iter()
                .filter(|(_, value)| value.is_finite())
                .map(|(at, value)| format!("{:.1} {:.1}", x(*at), y(*value)))
                .collect();
            let _ = writeln!(out, "<path class=\"l\" d=\"M{}\" stroke=\"{colour}\"{dashes}/>", points.join("L"));
            let _ = writeln!(out, "<path class=\"l\" d=\"M{:.1} {:.1}h18\" stroke=\"{colour}\"{dashes}/>", legend.0, legend.1);
        }
        let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>", legend.0 + 24.0, legend.1 + 4.0, series.name);
    }
}
