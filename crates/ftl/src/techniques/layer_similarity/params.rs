//! What can be chosen of it.

/// The parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Params {
    /// Narrow the window by what the leader's errors between the erased state and P1 leave over.
    pub window: bool,
    /// Leave out verifies before the leader's first cells arrived.
    pub verify: bool,
    /// Leave out all verifies before the leader's first cells arrived, as 003 is printed: counted from the leader's V_start though the follower's is raised,
    /// and none early. For comparison: it costs data.
    pub is_literal: bool,
    /// Compare each program with the one before it on its layer, and program again where it is far worse.
    pub check: bool,
    /// Program as the chip does by itself on dies where so many programs are done again that it is a loss.
    pub relent: bool,
}

/// The most that wrong cells may have multiplied between two wordlines of a layer. 003 §4.1.4 asks for "significantly higher" and gives no number; what is
/// taken from the margin on purpose stays below a factor of two by a wide margin, and cells that run past their level multiply errors by ten and more.
const RISE: u32 = 4;
/// Wrong cells that say nothing: so many more come by chance where few are expected.
const CHANCE: u32 = 64;

impl Params {
    /// Whether a wordline with `errors` wrong cells is not relied on, when the one before it on its layer had `before`.
    pub(super) fn is_off(&self, errors: u32, before: u32) -> bool {
        self.check && errors > most_errors(before)
    }
}

/// The most wrong cells that a wordline may have, when the one before it on its layer had `errors`.
fn most_errors(errors: u32) -> u32 {
    errors.saturating_mul(RISE).saturating_add(CHANCE)
}
