//! The block as the block it is.

use std::fmt::Write;

use super::super::chart::figure_head;
use super::super::escape;
use super::shades::Shades;
use crate::number::scientific;

/// Width of the drawing.
const WIDTH: f64 = 620.0;
/// Left edge of the front.
const LEFT: f64 = 110.0;
/// Width of the front.
const FRONT: f64 = 300.0;
/// Width of the right side.
const DEPTH: f64 = 110.0;
/// Height that the right side rises by.
const RISE: f64 = 56.0;
/// Height of the front.
const TALL: f64 = 360.0;

/// A value for each wordline, painted on the block: h-layers stacked, the first at the top, wordlines side by side.
#[derive(Clone, Debug)]
pub struct Cube {
    /// The figure's title.
    pub title: String,
    /// A line of explanation.
    pub note: String,
    /// What the shade shows.
    pub value: String,
    /// For each h-layer from the top, the value of each of its wordlines.
    pub layers: Vec<Vec<f64>>,
    /// Names of h-layers worth naming.
    pub names: Vec<(usize, String)>,
}

impl Cube {
    pub(super) fn html(&self) -> String {
        let mut html = String::new();
        figure_head(&mut html, &self.title, &self.note);
        let count = self.layers.len().max(1);
        let shades = Shades::of(self.layers.iter().flatten().copied(), false);
        let step = TALL / count as f64;
        let top = 14.0 + RISE;
        let bottom = top + TALL;
        let _ = write!(
            html,
            "<svg class=\"cube\" viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"{}\">",
            bottom + 16.0,
            escape(&self.title)
        );
        for (layer, values) in self.layers.iter().enumerate() {
            let y = top + step * layer as f64;
            let width = FRONT / values.len().max(1) as f64;
            for (wordline, value) in values.iter().enumerate() {
                let x = LEFT + width * wordline as f64;
                let shade = shades.shade(*value);
                let tip = format!("h-layer {layer}, wordline {wordline}: {}", scientific(*value));
                let _ = write!(
                    html,
                    "<rect class=\"hole\" x=\"{x:.1}\" y=\"{y:.2}\" width=\"{:.1}\" height=\"{step:.2}\"/><rect class=\"heat\" fill-opacity=\"{shade:.2}\" x=\"{x:.1}\" y=\"{y:.2}\" width=\"{:.1}\" height=\"{step:.2}\" data-tip=\"{tip}\"/>",
                    width - 1.0,
                    width - 1.0
                );
            }
            // The right side shows the last wordline's layer going into the depth.
            let shade = shades.shade(values.last().copied().unwrap_or(0.0));
            let (x, far) = (LEFT + FRONT, LEFT + FRONT + DEPTH);
            let _ = write!(
                html,
                "<path class=\"heat\" fill-opacity=\"{:.2}\" d=\"M{x} {:.2}L{far} {:.2}L{far} {:.2}L{x} {y:.2}Z\"/>",
                shade * 0.7,
                y + step,
                y + step - RISE,
                y - RISE
            );
        }
        let shade = self.layers.first().and_then(|layer| layer.first()).map_or(0.0, |value| shades.shade(*value));
        let _ = write!(
            html,
            "<path class=\"heat\" fill-opacity=\"{:.2}\" d=\"M{LEFT} {top}L{} {}L{} {}L{} {top}Z\"/>",
            shade * 0.85,
            LEFT + DEPTH,
            top - RISE,
            LEFT + FRONT + DEPTH,
            top - RISE,
            LEFT + FRONT
        );
        frame(&mut html, top);
        names(self, &mut html, (top, step));
        let _ =
            write!(html, "</svg><div class=\"legend\"><span>{}</span><span>{}</span></div></figure>", escape(&self.value), shades.key());
        html
    }
}

/// Draws the edges of the block, whose front begins at `top`.
fn frame(html: &mut String, top: f64) {
    let bottom = top + TALL;
    let _ = write!(
        html,
        "<path class=\"frame\" d=\"M{LEFT} {top}H{}V{bottom}H{LEFT}ZM{LEFT} {top}L{} {}H{}V{}L{} {bottom}M{} {top}L{} {}\"/>",
        LEFT + FRONT,
        LEFT + DEPTH,
        top - RISE,
        LEFT + FRONT + DEPTH,
        bottom - RISE,
        LEFT + FRONT,
        LEFT + FRONT,
        LEFT + FRONT + DEPTH,
        top - RISE
    );
}

/// Writes the names of h-layers, and of both ends where they have none.
fn names(cube: &Cube, html: &mut String, (top, step): (f64, f64)) {
    let (count, bottom) = (cube.layers.len().max(1), top + TALL);
    // An h-layer at an end that has a name needs no number.
    let named = |layer: usize| cube.names.iter().any(|(known, _)| known.abs_diff(layer) < 3);
    for (layer, y, word) in [(0, top + 10.0, "top"), (count - 1, bottom, "bottom")] {
        if !named(layer) {
            let _ = write!(html, "<text class=\"tick end\" x=\"{}\" y=\"{y:.1}\">{word}</text>", LEFT - 12.0);
        }
    }
    for (layer, name) in &cube.names {
        let y = top + step * (*layer as f64 + 0.5);
        let _ = write!(html, "<line class=\"axis\" x1=\"{}\" x2=\"{LEFT}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>", LEFT - 8.0);
        let _ = write!(html, "<text class=\"name end\" x=\"{}\" y=\"{:.1}\">{}</text>", LEFT - 12.0, y + 4.0, escape(name));
    }
}
