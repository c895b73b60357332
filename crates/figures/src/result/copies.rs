//! Data that was moved inside the dies, beside what crossed the buses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flash::FlashResult;

/// Causes for which data is moved.
const MOVES: [&str; 6] = ["gc", "wear", "disturb", "refresh", "retire", "sanitise"];

/// Pages copied inside their dies, for any cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Copies {
    /// Flash pages that were copied; they crossed neither a channel nor the memory of the controller.
    #[schemars(extend("x-unit" = "flash pages"))]
    pub pages: u64,
    /// Share of all pages programmed to move data.
    pub share: f64,
}

impl Copies {
    /// Copies among the operations of a run; `None`: there were none.
    pub(crate) fn of(flash: &[FlashResult]) -> Option<Copies> {
        let pages =
            |op: &str| flash.iter().filter(|row| row.op == op && MOVES.contains(&row.cause.as_str())).map(|row| row.pages).sum::<u64>();
        let (inside, over) = (pages("copyback"), pages("program"));
        (inside > 0).then(|| Copies { pages: inside, share: inside as f64 / (inside + over) as f64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_a_share_of_what_was_programmed_to_move_data() {
        let row =
            |op: &str, cause: &str, pages| FlashResult { op: op.to_owned(), cause: cause.to_owned(), operations: 1, pages, failed: 0 };
        let moved = [row("copyback", "gc", 30), row("program", "gc", 50), row("program", "refresh", 20), row("program", "host", 900)];
        assert_eq!(Copies::of(&moved), Some(Copies { pages: 30, share: 0.3 }));
        assert_eq!(Copies::of(&moved[1..]), None);
    }
}
