//! Writes the residual plots of the cell model, one for each page of `docs/models/cells-*.md`, below the folder given: every judged number with a band of two
//! ends, as it was measured last (`studies/results.json`), where the band is 1 wide to either side of its middle.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use wordline_lab::progress;
use wordline_lab::reproduce::Line;

/// The pages, and the benches whose numbers each explains.
const PAGES: [(&str, &[&str]); 6] = [
    ("states", &["vth"]),
    ("variation", &["layers"]),
    ("program", &["program", "ispp"]),
    ("erase", &["erase", "life"]),
    ("reading", &["retries", "copyback"]),
    ("locks", &["flags", "reprogram"]),
];
/// Half the width of the axis, in half bands.
const REACH: f64 = 2.5;
const ROW: f64 = 18.0;
/// Position of the middle of the axis, and length of a half band, in pixels.
const MIDDLE: f64 = 470.0;
const HALF: f64 = 54.0;

fn main() -> Result<(), String> {
    let into = PathBuf::from(std::env::args_os().nth(1).ok_or("which folder?")?).join("docs/models");
    let saved = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    let results = progress::results(&saved)?;
    std::fs::create_dir_all(&into).map_err(|error| error.to_string())?;
    for (page, benches) in PAGES {
        let of = |line: &&Line| line.metric.split_once('.').is_some_and(|(bench, _)| benches.contains(&bench));
        let rows: Vec<(&Line, f64)> = results.iter().filter(of).filter_map(|line| Some((line, residual(line)?))).collect();
        let path = into.join(format!("cells-{page}.svg"));
        std::fs::write(&path, svg(page, &rows)).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// Distance of a measured number from the middle of its band, in half bands; nothing where the band has one end or no width.
fn residual(line: &Line) -> Option<f64> {
    let (low, rest) = line.band.split_once(" to ")?;
    let number = |text: &str| text.replace(',', "").parse::<f64>().ok();
    let (low, high) = (number(low)?, number(rest.split(' ').next()?)?);
    (high > low).then_some((line.measured? - 0.5 * (low + high)) / (0.5 * (high - low)))
}

fn svg(page: &str, rows: &[(&Line, f64)]) -> String {
    let (height, bottom) = (rows.len() as f64 * ROW + 48.0, rows.len() as f64 * ROW + 26.0);
    let x = |residual: f64| MIDDLE + HALF * residual.clamp(-REACH, REACH);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 620 {height}\" font-family=\"system-ui, sans-serif\" font-size=\"11\" role=\"img\" \
         aria-label=\"Residuals of the numbers that the page on {page} explains\">\n<style>:root{{color-scheme:light dark;--card:#fff;--ink:#1b2230;\
         --soft:#5c6675;--band:#dbe7fb;--good:#0b7a4b;--bad:#c02626}}@media (prefers-color-scheme:dark){{:root{{--card:#1b2029;--ink:#e6e9ee;\
         --soft:#98a2b1;--band:#26344f;--good:#4ade9a;--bad:#f87171}}}}text{{fill:var(--ink)}}.s{{fill:var(--soft)}}</style>\n\
         <rect width=\"620\" height=\"{height}\" fill=\"var(--card)\"/>\n\
         <rect x=\"{}\" y=\"20\" width=\"{}\" height=\"{}\" fill=\"var(--band)\"/>\n<path d=\"M{MIDDLE} 20V{bottom}\" stroke=\"var(--soft)\"/>\n",
        MIDDLE - HALF,
        2.0 * HALF,
        bottom - 20.0,
    );
    for (place, (line, residual)) in rows.iter().enumerate() {
        let y = place as f64 * ROW + 36.0;
        let colour = if residual.abs() > 1.0 { "bad" } else { "good" };
        let name = line.metric.split_once('.').map_or(line.metric.as_str(), |(_, name)| name);
        let _ = writeln!(
            out,
            "<text x=\"8\" y=\"{y}\">{}</text><text class=\"s\" x=\"324\" y=\"{y}\" text-anchor=\"end\">{name}</text>\
             <circle cx=\"{:.1}\" cy=\"{}\" r=\"4\" fill=\"var(--{colour})\"/>",
            line.claim,
            x(*residual),
            y - 4.0,
        );
    }
    for end in [-2.0, -1.0, 0.0, 1.0, 2.0] {
        let _ = writeln!(out, "<text class=\"s\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{end}</text>", x(end), bottom + 14.0);
    }
    out.push_str(
        "<text class=\"s\" x=\"8\" y=\"14\">claim</text><text class=\"s\" x=\"324\" y=\"14\" text-anchor=\"end\">what is measured</text>",
    );
    let _ = writeln!(out, "<text class=\"s\" x=\"{MIDDLE}\" y=\"14\" text-anchor=\"middle\">half bands from the middle</text>\n</svg>");
    out
}
