//! Lives of drives as one self-contained HTML page.

use std::fmt::Write;

use wordline_figures::{EpochResult, LifetimeResult, LifetimesResult, MadeBy, WorkloadName};

use super::shown;
use crate::html::figure::{Curve, Curves, Figure, Scale};
use crate::html::{document, escape};

/// Points of the curve of erase counts: a drive has thousands of blocks.
const POINTS: usize = 200;

/// The page of these lives.
pub fn page(result: &LifetimesResult) -> String {
    let names: Vec<&str> = result.drives.iter().map(|drive| drive.name.as_str()).collect();
    let title = format!("Wear-out: {}", names.join(", "));
    let subtitle = format!(
        "{}: {}; until the first of: {}; what lies between epochs is skipped",
        result.workload.name,
        result.repeats,
        result.ends.join("; ")
    );
    let mut sections = vec![("Ends".to_owned(), "stack", vec![table(result)])];
    sections.push(("Over life".to_owned(), "grid", over_life(&result.drives)));
    sections.push(("Blocks".to_owned(), "grid", vec![cycles(&result.drives)]));
    sections.extend(notes(&result.notes));
    sections.push(("How to make this again".to_owned(), "stack", vec![made_by(&result.made_by, &result.workload)]));
    document(&title, &subtitle, &sections)
}

/// The section of what figures leave out; `None`: nothing.
pub(crate) fn notes(notes: &[String]) -> Option<(String, &'static str, Vec<String>)> {
    let list: String = notes.iter().map(|note| format!("<li>{}</li>", escape(note))).collect();
    (!notes.is_empty()).then(|| ("What these figures leave out".to_owned(), "stack", vec![format!("<ul>{list}</ul>")]))
}

/// The figures of each life, drive by drive.
fn table(result: &LifetimesResult) -> String {
    let (first, has_modes) = (result.drives.first(), shown::has_modes(result));
    let columns: Vec<_> =
        result.drives.iter().map(|drive| shown::rows(drive, first.filter(|first| !std::ptr::eq(*first, drive)), has_modes)).collect();
    let mut html = "<div class=\"tablebox\"><table><thead><tr><th></th>".to_owned();
    result.drives.iter().for_each(|drive| _ = write!(html, "<th>{}</th>", escape(&drive.name)));
    html.push_str("</tr></thead><tbody>");
    for row in 0..columns.first().map_or(0, Vec::len) {
        let _ = write!(html, "<tr><td>{}</td>", escape(columns[0][row].0));
        columns.iter().for_each(|column| _ = write!(html, "<td>{}</td>", escape(&column[row].1)));
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div>");
    html
}

fn over_life(drives: &[LifetimeResult]) -> Vec<String> {
    let of = |title: &str, y: Scale, note: &str, value: &dyn Fn(&EpochResult) -> Option<f64>| {
        let curves = drives.iter().enumerate().map(|(colour, drive)| Curve {
            label: drive.name.clone(),
            colour,
            dashed: false,
            points: drive.epochs.iter().filter_map(|epoch| Some((epoch.written_bytes as f64 / 1e12, value(epoch)?))).collect(),
        });
        figure(title, note, Scale::from_zero("TB written"), y, curves.collect())
    };
    let leaves_out = drives.iter().flat_map(|drive| &drive.epochs).any(|epoch| epoch.idle_share > 0.0);
    vec![
        of("Write amplification", Scale::from_zero("WAF"), "of each epoch", &|epoch| Some(epoch.waf)),
        of("Speed", Scale::from_zero("IOPS"), "a short run in virtual time on a copy of the drive", &|epoch| epoch.iops),
        of("Retries", Scale::from_zero("retries a read"), "of all reads of each epoch", &|epoch| Some(epoch.retries)),
        of("Blocks gone bad", Scale::from_zero("block groups"), "by the end of each epoch", &|epoch| Some(epoch.grown_bad as f64)),
        of("Mode", Scale::from_zero("mode"), "at the end of each epoch; none is skipped while modes are tried", &|epoch| epoch.mode),
        of("Wordlines without data", Scale::from_zero("%"), "spared or given up, at the end of each epoch", &|epoch| {
            leaves_out.then_some(100.0 * epoch.idle_share)
        }),
        of("Wear", Scale::from_zero("P/E cycles"), "mean of the blocks in service", &|epoch| Some(epoch.cycles_mean)),
    ]
}

/// Erase counts at the end, from the least-worn block to the most-worn.
fn cycles(drives: &[LifetimeResult]) -> String {
    let curves = drives.iter().enumerate().map(|(colour, drive)| {
        let all = &drive.cycles.all;
        let last = all.len().saturating_sub(1);
        let count = POINTS.min(all.len());
        let at = |point: usize| if count > 1 { point * last / (count - 1) } else { 0 };
        let share = |place: usize| if last > 0 { 100.0 * place as f64 / last as f64 } else { 0.0 };
        let points = (0..count).map(|point| (share(at(point)), f64::from(all[at(point)]))).collect();
        Curve { label: drive.name.clone(), colour, dashed: false, points }
    });
    let x = Scale::from_zero("blocks in service, %");
    figure("P/E cycles at the end", "from the least-worn block to the most-worn", x, Scale::from_zero("P/E cycles"), curves.collect())
}

fn figure(title: &str, note: &str, x: Scale, y: Scale, curves: Vec<Curve>) -> String {
    let curves: Vec<Curve> = curves.into_iter().filter(|curve| !curve.points.is_empty()).collect();
    if curves.is_empty() {
        return String::new();
    }
    Figure::Curves(Curves { title: title.to_owned(), note: note.to_owned(), x, y, curves, marks: Vec::new() }).html()
}

/// Command, version and plans that make lives under this workload again.
pub(crate) fn made_by(made: &MadeBy, workload: &WorkloadName) -> String {
    let mut html = format!(
        "<div class=\"tablebox\"><pre>{}</pre></div><p class=\"note\">Wordline {}; workload {}, digest <code>{}</code></p>",
        escape(&made.command),
        escape(&made.version),
        escape(&workload.name),
        escape(&workload.digest)
    );
    for plan in &made.plans {
        let _ = write!(
            html,
            "<details><summary>{}, plan {}</summary><pre>{}</pre></details>",
            escape(&plan.drive),
            escape(&plan.hash),
            escape(&plan.text)
        );
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifetime::tests::lives;

    #[test]
    fn the_page_names_every_drive_and_has_every_curve() {
        let html = page(&lives());
        for words in
            ["Write amplification", "Retries", "P/E cycles at the end", "&lt;two&gt;", "wordline wear-out one", "fails in epochs only"]
        {
            assert!(html.contains(words), "{words}");
        }
        assert!(!html.contains("<two>"));
    }
}
