//! Lives of drives that are only read, as one self-contained HTML page.

use std::fmt::Write;

use wordline_figures::{ReadEpochResult, ReadLifeResult, ReadLivesResult};

use super::shown;
use crate::html::figure::{Curve, Curves, Figure, Scale};
use crate::html::{document, escape};
use crate::lifetime::{made_by, notes};
use crate::number::{count, number};

/// The page of these lives.
pub fn page(result: &ReadLivesResult) -> String {
    let names: Vec<&str> = result.drives.iter().map(|drive| drive.name.as_str()).collect();
    let title = format!("Reads: {}", names.join(", "));
    let subtitle =
        format!("{}: {}; {}; what lies between two stretches is a leap", result.workload.name, result.repeats, shown::asked(result));
    let mut sections = vec![("Lives".to_owned(), "stack", vec![table(result)])];
    sections.push(("Over time".to_owned(), "grid", over_time(result)));
    sections.push(("Day by day".to_owned(), "stack", result.drives.iter().map(days).collect()));
    sections.extend(notes(&result.notes));
    sections.push(("How to make this again".to_owned(), "stack", vec![made_by(&result.made_by, &result.workload)]));
    document(&title, &subtitle, &sections)
}

/// The figures of each life, drive by drive. Drives have rewrites of their own causes, so those stand below each other in one row.
fn table(result: &ReadLivesResult) -> String {
    let first = result.drives.first();
    let columns: Vec<Vec<(&str, String)>> =
        result.drives.iter().map(|drive| shown::rows(drive, first.filter(|first| !std::ptr::eq(*first, drive)))).collect();
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in columns.iter().flatten() {
        if !names.contains(name) {
            names.push(name);
        }
    }
    let mut html = "<div class=\"tablebox\"><table><thead><tr><th></th>".to_owned();
    result.drives.iter().for_each(|drive| _ = write!(html, "<th>{}</th>", escape(&drive.name)));
    html.push_str("</tr></thead><tbody>");
    for name in names {
        let _ = write!(html, "<tr><td>{}</td>", escape(name));
        for column in &columns {
            let cells: Vec<String> = column.iter().filter(|(of, _)| *of == name).map(|(_, value)| escape(value)).collect();
            let _ = write!(html, "<td>{}</td>", cells.join("<br/>"));
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div>");
    html
}

fn over_time(result: &ReadLivesResult) -> Vec<String> {
    let figure = |title: &str, note: &str, y: Scale, points: &dyn Fn(&ReadLifeResult) -> Vec<(f64, f64)>| {
        let curve =
            |(colour, drive): (usize, &ReadLifeResult)| Curve { label: drive.name.clone(), colour, dashed: false, points: points(drive) };
        let curves = result.drives.iter().enumerate().map(curve).collect();
        let (title, note, x) = (title.to_owned(), note.to_owned(), Scale::from_zero("day"));
        Figure::Curves(Curves { title, note, x, y, curves, marks: Vec::new() }).html()
    };
    let each = |of: fn(&ReadEpochResult) -> f64| {
        move |drive: &ReadLifeResult| drive.epochs.iter().map(|epoch| (epoch.day, of(epoch))).collect::<Vec<_>>()
    };
    let so_far = |of: fn(&ReadEpochResult) -> u64| {
        move |drive: &ReadLifeResult| {
            let mut sum = 0;
            let point = |epoch: &ReadEpochResult| {
                sum += of(epoch);
                (epoch.day, sum as f64)
            };
            drive.epochs.iter().map(point).collect::<Vec<_>>()
        }
    };
    let long = format!("above {} us in the device, of the reads that were timed each day", number(result.long_us));
    let groups = || Scale::from_zero("block groups");
    vec![
        figure("Long reads", &long, Scale::from_zero("% of the reads"), &each(|epoch| 100.0 * epoch.long_share)),
        figure("Rewrites", "begun by each day, whatever the cause", groups(), &so_far(|epoch| epoch.rewrites)),
        figure("Erases", "by each day", groups(), &so_far(|epoch| epoch.erases)),
        figure("Postponed rewrites", "on each day", groups(), &each(|epoch| epoch.postponed as f64)),
        figure(
            "Time in the device",
            "mean of the reads that were timed each day",
            Scale::from_zero("us"),
            &each(|epoch| epoch.device_mean_us),
        ),
        figure(
            "Failed reads",
            "by each day, in stretches, in samples of leaps and of data to be moved",
            Scale::from_zero("reads"),
            &so_far(|epoch| epoch.failed_timed + epoch.failed_sampled + epoch.failed_moves),
        ),
    ]
}

/// All epochs of one drive.
fn days(drive: &ReadLifeResult) -> String {
    let mut html = format!("<details><summary>{}</summary><div class=\"tablebox\"><table><thead><tr>", escape(&drive.name));
    let heads = [
        "day",
        "rewrites",
        "postponed",
        "erases",
        "timed reads",
        "long reads",
        "share",
        "device, us",
        "longest, us",
        "retries a page",
        "failed, timed",
        "failed, leap",
        "failed moves",
    ];
    heads.iter().for_each(|head| _ = write!(html, "<th>{head}</th>"));
    html.push_str("</tr></thead><tbody>");
    for epoch in &drive.epochs {
        let cells = [
            number(epoch.day),
            count(epoch.rewrites),
            count(epoch.postponed),
            count(epoch.erases),
            count(epoch.timed),
            count(epoch.long_reads),
            shown::of_all(epoch.long_share),
            number(epoch.device_mean_us),
            number(epoch.device_max_us),
            number(epoch.retries),
            count(epoch.failed_timed),
            count(epoch.failed_sampled),
            count(epoch.failed_moves),
        ];
        html.push_str("<tr>");
        cells.iter().for_each(|cell| _ = write!(html, "<td>{cell}</td>"));
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div></details>");
    html
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_life::tests::lives;

    #[test]
    fn the_page_names_every_drive_and_has_every_curve_and_day() {
        let html = page(&lives());
        for words in [
            "Long reads",
            "above 400 us in the device",
            "Postponed rewrites",
            "Failed reads",
            "&lt;two&gt;",
            "wordline wear-out one",
            "leaps have no latency",
            "<td>2,500</td>",
            "disturb: 900 asked",
        ] {
            assert!(html.contains(words), "{words}");
        }
        assert!(!html.contains("<two>"));
    }
}
