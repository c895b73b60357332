//! Writes `docs/models/cells-effects.svg` below the folder given: every single effect of the cell model over the range it is used in, from the equations that
//! simulation uses and the parameters of `chips/tlc48.toml`.

use std::fmt::Write;
use std::path::PathBuf;

use wordline_cells::{Physics, effects, erase, flag, program, wear};
use wordline_units::calendar::{DAY, HOUR, YEAR};

const WIDTH: f64 = 230.0;
const HEIGHT: f64 = 150.0;
const ACROSS: usize = 3;
const POINTS: u32 = 60;

/// One effect: its name, its axis, and its curves by name.
struct Panel<'p> {
    title: &'static str,
    x: &'static str,
    from: f64,
    to: f64,
    log: bool,
    curves: Vec<Drawn<'p>>,
}

type Drawn<'p> = (&'static str, Box<dyn Fn(f64) -> f64 + 'p>);

fn curve<'p>(name: &'static str, of: impl Fn(f64) -> f64 + 'p) -> Drawn<'p> {
    (name, Box::new(of))
}

fn main() -> Result<(), String> {
    let into = PathBuf::from(std::env::args_os().nth(1).ok_or("which folder?")?).join("docs/models");
    let chip = wordline_plan::Chip::load_set(wordline_lab::CHIP, &[""; 0]).map_err(|error| error.to_string())?;
    let physics = chip.physics();
    let panels: Vec<Panel<'_>> = [of_states(physics), of_cycles(physics), of_locks(physics)].into_iter().flatten().collect();
    std::fs::create_dir_all(&into).map_err(|error| error.to_string())?;
    let path = into.join("cells-effects.svg");
    std::fs::write(&path, svg(&panels)).map_err(|error| format!("{}: {error}", path.display()))
}

fn over<'p>(title: &'static str, x: &'static str, from: f64, to: f64, curves: Vec<Drawn<'p>>) -> Panel<'p> {
    Panel { title, x, from, to, log: false, curves }
}

fn decades<'p>(title: &'static str, x: &'static str, from: f64, to: f64, curves: Vec<Drawn<'p>>) -> Panel<'p> {
    Panel { title, x, from, to, log: true, curves }
}

/// Effects on the states of cells.
fn of_states(physics: &Physics) -> Vec<Panel<'_>> {
    let reference = physics.wear.reference;
    let w = move |cycles: f64| cycles / reference;
    let day = DAY as f64;
    vec![
        over("noise variance added by wear", "P/E cycles", 0.0, 16e3, vec![curve("", move |pe| effects::wear_noise(&physics.wear, w(pe)))]),
        over(
            "rise by wear, mV",
            "P/E cycles",
            0.0,
            16e3,
            vec![
                curve("erased", move |pe| effects::wear_erased_lift(&physics.wear, w(pe))),
                curve("lowest", move |pe| effects::wear_lift(&physics.wear, w(pe), 0.0)),
                curve("highest", move |pe| effects::wear_lift(&physics.wear, w(pe), 1.0)),
            ],
        ),
        decades(
            "charge the highest state loses, mV",
            "days at 30 °C",
            0.1,
            3_650.0,
            vec![
                curve("fresh", move |days| effects::top_loss(&physics.retention, 0.0, days * day)),
                curve("2K", move |days| effects::top_loss(&physics.retention, w(2e3), days * day)),
                curve("12K", move |days| effects::top_loss(&physics.retention, w(12e3), days * day)),
            ],
        ),
        decades(
            "rise of the erased state by reads, mV",
            "reads of the block",
            100.0,
            1e6,
            vec![
                curve("fresh", move |reads| effects::read_lift(&physics.read_disturb, 0.0, reads)),
                curve("12K", move |reads| effects::read_lift(&physics.read_disturb, w(12e3), reads)),
            ],
        ),
        over(
            "noise variance added by an open interval",
            "days",
            0.0,
            physics.open_interval.time / day,
            vec![curve("", move |days| effects::open_noise(&physics.open_interval, days * day))],
        ),
    ]
}

/// Effects of programs, rests and erases.
fn of_cycles(physics: &Physics) -> Vec<Panel<'_>> {
    let day = DAY as f64;
    vec![
        over("faster programs by wear, mV", "P/E cycles", 0.0, 16e3, vec![curve("", move |pe| program::wear_speed(&physics.ispp, pe))]),
        decades(
            "share of a cycle's traps that heals",
            "minutes of dwell at 30 °C",
            0.1,
            24.0 * 60.0,
            vec![curve("", move |minutes| wear::healed(&physics.recovery, minutes * 60.0))],
        ),
        decades(
            "share of all traps that heals in a rest",
            "days at 30 °C",
            0.1,
            3_650.0,
            vec![curve("", move |days| wear::deep_rest(&physics.recovery, days * day))],
        ),
        over(
            "stress added by suspensions, erases",
            "suspensions of an erase",
            0.0,
            100.0,
            vec![curve("", move |n| erase::suspended(&physics.ispe, n))],
        ),
        over(
            "stress of a gentle erase over a normal one",
            "field over the mean, relative",
            -0.2,
            0.4,
            vec![curve("", move |field| erase::gentle_stress(&physics.ispe, field))],
        ),
    ]
}

/// Effects of time on locks.
fn of_locks(physics: &Physics) -> Vec<Panel<'_>> {
    let year = YEAR as f64;
    vec![
        over(
            "flag cells that read as locked",
            "years after the lock",
            0.0,
            5.0,
            vec![
                curve("V3", move |years| flag::holding(physics, 2.0, physics.flag.time, years * year)),
                curve("V5", move |years| flag::holding(physics, 4.0, physics.flag.time, years * year)),
            ],
        ),
        decades(
            "centre of locked select cells, V",
            "hours after the lock",
            0.1,
            5.0 * year / HOUR as f64,
            vec![curve("V6", move |hours| flag::select_centre(&physics.select, 5.0, 300.0, hours * HOUR as f64) / 1e3)],
        ),
    ]
}

fn svg(panels: &[Panel<'_>]) -> String {
    let (width, height) = (ACROSS as f64 * WIDTH, panels.len().div_ceil(ACROSS) as f64 * HEIGHT);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"system-ui, sans-serif\" font-size=\"10\" role=\"img\" \
         aria-label=\"Every single effect of the cell model\">\n<style>:root{{color-scheme:light dark;--card:#fff;--ink:#1b2230;--soft:#5c6675;--line:#2563eb}}\
         @media (prefers-color-scheme:dark){{:root{{--card:#1b2029;--ink:#e6e9ee;--soft:#98a2b1;--line:#7aa2f7}}}}text{{fill:var(--ink)}}.s{{fill:var(--soft)}}\
         path{{fill:none;stroke:var(--line);stroke-width:1.6}}.a{{stroke:var(--soft);stroke-width:.7}}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"var(--card)\"/>\n"
    );
    for (place, panel) in panels.iter().enumerate() {
        let (left, top) = ((place % ACROSS) as f64 * WIDTH + 12.0, (place / ACROSS) as f64 * HEIGHT + 26.0);
        draw(&mut out, panel, (left, top), (WIDTH - 46.0, HEIGHT - 62.0));
    }
    out + "</svg>\n"
}

fn draw(out: &mut String, panel: &Panel<'_>, (left, top): (f64, f64), (wide, high): (f64, f64)) {
    let at = |part: f64| {
        if panel.log { panel.from * libm::pow(panel.to / panel.from, part) } else { panel.from + (panel.to - panel.from) * part }
    };
    let parts: Vec<f64> = (0..=POINTS).map(|point| f64::from(point) / f64::from(POINTS)).collect();
    let values: Vec<Vec<f64>> = panel.curves.iter().map(|(_, of)| parts.iter().map(|part| of(at(*part))).collect()).collect();
    let most = values.iter().flatten().copied().fold(0.0, f64::max);
    let least = values.iter().flatten().copied().fold(0.0, f64::min);
    let y = |value: f64| top + high * (1.0 - (value - least) / (most - least).max(1e-12));
    let number = wordline_pages::number::number;
    let short = |value: f64| number(if value.abs() >= 100.0 { value.round() } else { (value * 1e3).round() / 1e3 });
    let _ = writeln!(out, "<text x=\"{left}\" y=\"{}\">{}</text>", top - 10.0, panel.title);
    let _ = writeln!(out, "<path class=\"a\" d=\"M{left} {top}V{}H{}\"/>", top + high, left + wide);
    let _ = writeln!(out, "<text class=\"s\" x=\"{}\" y=\"{}\">{}</text>", left + 3.0, top + 4.0, short(most));
    let scale = if panel.log { ", log" } else { "" };
    let _ = writeln!(
        out,
        "<text class=\"s\" x=\"{left}\" y=\"{0}\">{1}</text><text class=\"s\" x=\"{2}\" y=\"{0}\" text-anchor=\"middle\">{3}{scale}</text>\
         <text class=\"s\" x=\"{4}\" y=\"{0}\" text-anchor=\"end\">{5}</text>",
        top + high + 13.0,
        short(panel.from),
        left + wide / 2.0,
        panel.x,
        left + wide + 20.0,
        short(panel.to),
    );
    for ((name, _), values) in panel.curves.iter().zip(&values) {
        let points: Vec<String> =
            parts.iter().zip(values).map(|(part, value)| format!("{:.1} {:.1}", left + part * wide, y(*value))).collect();
        let _ = writeln!(out, "<path d=\"M{}\"/>", points.join("L"));
        let end = values.last().copied().unwrap_or(0.0);
        let _ = writeln!(out, "<text class=\"s\" x=\"{:.1}\" y=\"{:.1}\">{name}</text>", left + wide + 3.0, y(end) + 3.0);
    }
}
