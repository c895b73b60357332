//! Results as JSON text.

use serde::Serialize;

/// `result` as indented JSON that ends with a line feed.
///
/// # Panics
///
/// Never for results: a tree of numbers and strings is always valid JSON.
pub fn json(result: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(result).expect("a tree of numbers and strings is always valid JSON");
    text.push('\n');
    text
}
