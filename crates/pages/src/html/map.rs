//! The block map: dies down, blocks across, coloured by how much of each block is still valid.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::bars::ramp;
use super::chart::{Names, figure_head, plot};
use super::escape;
use crate::number::count;
use wordline_figures::blocks::{BlockMap, MapCell};
use wordline_figures::conclude::DriveDetail;

/// Cells are drawn in so many units across, which are stretched to the plot.
const UNITS: f64 = 1176.0;
const LETTERS: &[u8; 52] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Shades of validity; more would not be told apart.
const SHADES: u32 = 10;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Paint {
    Bad,
    Free,
    Active,
    Shade(u32),
}

/// A cell of several blocks is painted as most of them are.
fn paint(cell: &MapCell) -> Option<Paint> {
    let all = cell.good + cell.bad;
    if all == 0 {
        return None;
    }
    Some(match cell.valid() {
        _ if cell.bad * 2 >= all => Paint::Bad,
        _ if cell.free * 2 > all => Paint::Free,
        _ if cell.active * 2 >= all => Paint::Active,
        Some(valid) => Paint::Shade((valid * f64::from(SHADES)).round() as u32),
        None => Paint::Free,
    })
}

/// The letter that the script reads back when the pointer is over the cell.
fn letter(cell: &MapCell) -> char {
    match paint(cell) {
        None => ' ',
        Some(Paint::Bad) => '!',
        Some(Paint::Free) => '.',
        Some(Paint::Active) => '+',
        Some(Paint::Shade(_)) => char::from(LETTERS[((cell.valid().unwrap_or(0.0) * 51.0).round() as usize).min(51)]),
    }
}

/// The block map of one drive; empty when its blocks are not known.
pub(super) fn block_map(detail: &DriveDetail) -> String {
    let map = &detail.map;
    if map.cells.is_empty() {
        return String::new();
    }
    let mut html = String::new();
    let cell = match (map.blocks_per_cell, map.dies_per_row) {
        (1, 1) => "each cell is a block group".to_owned(),
        (blocks, 1) => format!("each cell is {blocks} block groups"),
        (blocks, dies) => format!("each cell is {blocks} block groups on each of {dies} dies"),
    };
    figure_head(&mut html, &detail.name, &format!("{} dies of {} block groups; {cell}", map.dies, count(map.blocks as u64)));
    let height = (320.0 / map.rows() as f64).clamp(4.0, 18.0);
    let width = UNITS / map.columns as f64;
    let bottom = height * map.rows() as f64;
    let letters: Vec<String> = map.cells.chunks(map.columns).map(|row| row.iter().map(letter).collect()).collect();
    let _ = write!(
        html,
        "<div class=\"bare\">{}<svg class=\"map\" width=\"100%\" height=\"{bottom}\" viewBox=\"0 0 {UNITS} {bottom}\" preserveAspectRatio=\"none\" data-grid=\"0|0|{width:.4}|{height:.4}|{}|{}\" data-cells=\"{}\">",
        plot(bottom, &format!("aria-label=\"Block map of {}\"", escape(&detail.name))),
        map.dies_per_row,
        map.blocks_per_cell,
        letters.join("|")
    );
    cells(&mut html, map, width, height);
    html.push_str("</svg>");
    axes(&mut html, map, height);
    let _ = write!(
        html,
        "</svg></div></div><div class=\"legend\"><span>{}</span><span><i class=\"active\"></i>being written</span><span><i class=\"free\"></i>free</span><span><i class=\"broken\"></i>bad</span></div></figure>",
        ramp("valid 0 %", "100 %")
    );
    html
}

/// One path per colour: a drive has thousands of cells and few colours.
fn cells(html: &mut String, map: &BlockMap, width: f64, height: f64) {
    let mut paths: BTreeMap<Paint, String> = BTreeMap::new();
    let (gap_across, gap_down) = (if width > 5.0 { 0.8 } else { 0.0 }, if height > 5.0 { 0.8 } else { 0.0 });
    for (index, cell) in map.cells.iter().enumerate() {
        if let Some(paint) = paint(cell) {
            let (x, y) = (width * (index % map.columns) as f64, height * (index / map.columns) as f64);
            let (w, h) = (width - gap_across, height - gap_down);
            let _ = write!(paths.entry(paint).or_default(), "M{x:.1} {y:.1}h{w:.1}v{h:.1}h-{w:.1}z");
        }
    }
    for (paint, path) in paths {
        let _ = match paint {
            Paint::Bad => write!(html, "<path class=\"broken\" d=\"{path}\"/>"),
            Paint::Free => write!(html, "<path class=\"free\" d=\"{path}\"/>"),
            Paint::Active => write!(html, "<path class=\"active\" d=\"{path}\"/>"),
            Paint::Shade(shade) => {
                let opacity = 0.08 + 0.92 * f64::from(shade) / f64::from(SHADES);
                write!(html, "<path class=\"heat\" fill-opacity=\"{opacity:.2}\" d=\"{path}\"/>")
            }
        };
    }
}

fn axes(html: &mut String, map: &BlockMap, height: f64) {
    // A word needs 14 units of height, however low the rows are.
    let every = (14.0 / height).ceil().max((map.rows() as f64 / 12.0).ceil()) as usize;
    for row in (0..map.rows()).step_by(every) {
        let y = height * (row as f64 + 0.5) + 4.0;
        let _ = write!(html, "<text class=\"tick left\" x=\"0\" y=\"{y:.1}\">die {}</text>", row * map.dies_per_row);
    }
    let every = map.columns.div_ceil(10).max(1);
    let y = height * map.rows() as f64 + 16.0;
    let mut names = Names::new();
    for column in (0..map.columns).step_by(every) {
        let share = (column as f64 + 0.5) / map.columns as f64;
        let name = if column == 0 { "block 0".to_owned() } else { (column * map.blocks_per_cell).to_string() };
        let (share, anchor) = if column == 0 { (0.0, "start") } else { (share, "middle") };
        if let Some(class) = names.place(share, &name, column > 0) {
            let _ = write!(html, "<text class=\"tick {anchor}{class}\" x=\"{:.2}%\" y=\"{y:.1}\">{name}</text>", share * 100.0);
        }
    }
}
