//! Heat maps.

use std::fmt::Write;

use super::super::chart::{Names, figure_head, plot};
use super::super::escape;
use super::shades::Shades;
use crate::number::{fit, scientific};

/// Values over two conditions.
#[derive(Clone, Debug)]
pub struct Heat {
    /// The figure's title.
    pub title: String,
    /// A line of explanation.
    pub note: String,
    /// What the columns are.
    pub x: String,
    /// What the rows are.
    pub y: String,
    /// The columns' names.
    pub columns: Vec<String>,
    /// For each row its name and its values.
    pub rows: Vec<(String, Vec<f64>)>,
    /// Shades by the logarithm.
    pub log: bool,
}

impl Heat {
    pub(super) fn html(&self) -> String {
        let mut html = String::new();
        figure_head(&mut html, &self.title, &self.note);
        let shades = Shades::of(self.rows.iter().flat_map(|row| row.1.iter().copied()), self.log);
        // In percent of the plot, and in pixels.
        let cell = (100.0 / self.columns.len().max(1) as f64, (360.0 / self.rows.len().max(1) as f64).clamp(5.0, 34.0));
        let bottom = cell.1 * self.rows.len() as f64;
        html.push_str(&plot(bottom, &format!("aria-label=\"{}\"", escape(&self.title))));
        let skip = (14.0 / cell.1).ceil().max(1.0) as usize;
        for (index, (name, values)) in self.rows.iter().enumerate() {
            let y = cell.1 * index as f64;
            if index % skip == 0 {
                let _ =
                    write!(html, "<text class=\"tick left\" x=\"0\" y=\"{:.1}\">{}</text>", y + cell.1 / 2.0 + 4.0, escape(&fit(name, 9)));
            }
            for (column, value) in values.iter().enumerate() {
                let x = cell.0 * column as f64;
                let (width, height) = (cell.0 * 0.985, cell.1 - if cell.1 > 8.0 { 1.0 } else { 0.0 });
                let _ = write!(
                    html,
                    "<rect class=\"hole\" x=\"{x:.2}%\" y=\"{y:.1}\" width=\"{width:.2}%\" height=\"{height:.1}\"/><rect class=\"heat\" fill-opacity=\"{:.2}\" x=\"{x:.2}%\" y=\"{y:.1}\" width=\"{width:.2}%\" height=\"{height:.1}\" data-tip=\"{}, {}: {}\"/>",
                    shades.shade(*value),
                    escape(name),
                    escape(self.columns.get(column).map_or("", String::as_str)),
                    scientific(*value)
                );
                // Numbers need about 44 pixels.
                if cell.1 >= 18.0 && cell.0 >= 9.0 {
                    let _ = write!(
                        html,
                        "<text class=\"on{} middle{}\" x=\"{:.2}%\" y=\"{:.1}\">{}</text>",
                        if shades.shade(*value) > 0.55 { "dark" } else { "light" },
                        if cell.0 < 18.0 { " roomy" } else { "" },
                        x + cell.0 / 2.0,
                        y + cell.1 / 2.0 + 4.0,
                        scientific(*value)
                    );
                }
            }
        }
        let mut names = Names::new();
        for (column, name) in self.columns.iter().enumerate() {
            let x = cell.0 * (column as f64 + 0.5);
            if let Some(class) = names.place(x / 100.0, name, true) {
                let _ = write!(html, "<text class=\"tick middle{class}\" x=\"{x:.2}%\" y=\"{:.1}\">{}</text>", bottom + 16.0, escape(name));
            }
        }
        let _ = write!(html, "<text class=\"name middle\" x=\"50%\" y=\"{:.1}\">{}</text></svg></div>", bottom + 36.0, escape(&self.x));
        let _ = write!(
            html,
            "<div class=\"legend\"><span>{}</span><span>{}</span></div></figure>",
            escape(&format!("rows: {}", self.y)),
            shades.key()
        );
        html
    }
}
