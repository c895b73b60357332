//! Heat maps.

use std::fmt::Write;

use super::super::chart::figure_head;
use super::super::escape;
use super::shades::Shades;
use super::{Heat, WIDTH, scientific};

impl Heat {
    pub(super) fn html(&self) -> String {
        const LEFT: f64 = 96.0;
        const TOP: f64 = 8.0;
        let mut html = String::new();
        figure_head(&mut html, &self.title, &self.note);
        let shades = Shades::of(self.rows.iter().flat_map(|row| row.1.iter().copied()), self.log);
        let cell = ((WIDTH - LEFT - 12.0) / self.columns.len().max(1) as f64, (360.0 / self.rows.len().max(1) as f64).clamp(5.0, 34.0));
        let bottom = TOP + cell.1 * self.rows.len() as f64;
        let _ = write!(html, "<svg viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"{}\">", bottom + 44.0, escape(&self.title));
        let skip = (14.0 / cell.1).ceil().max(1.0) as usize;
        for (index, (name, values)) in self.rows.iter().enumerate() {
            let y = TOP + cell.1 * index as f64;
            if index % skip == 0 {
                let _ = write!(
                    html,
                    "<text class=\"tick end\" x=\"{}\" y=\"{:.1}\">{}</text>",
                    LEFT - 8.0,
                    y + cell.1 / 2.0 + 4.0,
                    escape(name)
                );
            }
            for (column, value) in values.iter().enumerate() {
                let x = LEFT + cell.0 * column as f64;
                let (width, height) = (cell.0 - 1.0, cell.1 - if cell.1 > 8.0 { 1.0 } else { 0.0 });
                let _ = write!(
                    html,
                    "<rect class=\"hole\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/><rect class=\"heat\" fill-opacity=\"{:.2}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" data-tip=\"{}, {}: {}\"/>",
                    shades.shade(*value),
                    escape(name),
                    escape(self.columns.get(column).map_or("", String::as_str)),
                    scientific(*value)
                );
                if cell.1 >= 18.0 && cell.0 >= 44.0 {
                    let _ = write!(
                        html,
                        "<text class=\"on{} middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                        if shades.shade(*value) > 0.55 { "dark" } else { "light" },
                        x + cell.0 / 2.0,
                        y + cell.1 / 2.0 + 4.0,
                        scientific(*value)
                    );
                }
            }
        }
        let every =
            (self.columns.iter().map(|name| name.chars().count()).max().unwrap_or(1) as f64 * 7.5 / cell.0).ceil().max(1.0) as usize;
        for (column, name) in self.columns.iter().enumerate().filter(|(column, _)| column % every == 0) {
            let x = LEFT + cell.0 * (column as f64 + 0.5);
            let _ = write!(html, "<text class=\"tick middle\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>", bottom + 16.0, escape(name));
        }
        let _ = write!(
            html,
            "<text class=\"name middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text></svg>",
            (LEFT + WIDTH) / 2.0,
            bottom + 36.0,
            escape(&self.x)
        );
        let _ = write!(
            html,
            "<div class=\"legend\"><span>{}</span><span>{}</span></div></figure>",
            escape(&format!("rows: {}", self.y)),
            shades.key()
        );
        html
    }
}
