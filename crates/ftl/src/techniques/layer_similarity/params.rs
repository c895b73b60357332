//! Parameters of layer similarity.

use crate::techniques::declaration::{Kind, Value, params};

params! {
    /// Parameters of layer similarity.
    pub struct Params {
        /// Narrow the window of voltages by what the first wordline's errors leave over. Needs the chip's `margins`; without them the window stays.
        window: bool {
            kind: Kind::Flag,
            default: Some(Value::Flag(true)),
            tried: &[],
            source: "003 §4.1",
        }
        /// Leave out verifies before the first wordline's fastest cells arrived.
        verify: bool {
            kind: Kind::Flag,
            default: Some(Value::Flag(true)),
            tried: &[],
            source: "003 §4.1",
        }
        /// Leave out all verifies before the loop in which the first wordline's cells arrived, as the paper is printed: counted from that one's V_start
        /// though that of the others is raised, and none early, whatever the chip's `margins` say. It costs data, and is there to show that.
        literal: bool {
            kind: Kind::Flag,
            default: Some(Value::Flag(false)),
            tried: &[],
            source: "003 §4.1, as it is printed",
        }
        /// Compare the errors of each program with those of the one before it on its h-layer, and program again where they are far more.
        check: bool {
            kind: Kind::Flag,
            default: Some(Value::Flag(true)),
            tried: &[],
            source: "003 §4.1.4",
        }
        /// Program as the chip does by itself on dies where repeated programs cost more than the settings save. Such dies try again now and then.
        relent: bool {
            kind: Kind::Flag,
            default: Some(Value::Flag(true)),
            tried: &[],
            source: "ours",
        }
    }
}

/// Greatest factor by which wrong cells may multiply between two wordlines of a layer. 003 §4.1.4 asks for "significantly higher" and gives no number; what
/// is taken from the margin on purpose stays below a factor of two by a wide margin, and cells that run past their level multiply errors by ten and more.
const RISE: u32 = 4;
/// Number of wrong cells that says nothing, because as many come by chance where few are expected.
const CHANCE: u32 = 64;

impl Params {
    /// True if a wordline with `errors` wrong cells must not be relied on, when the one before it on its layer had `before`.
    pub(super) fn is_off(&self, errors: u32, before: u32) -> bool {
        self.check && errors > most_errors(before)
    }
}

/// The most wrong cells that a wordline may have, when the one before it on its layer had `errors`.
fn most_errors(errors: u32) -> u32 {
    errors.saturating_mul(RISE).saturating_add(CHANCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_alone_makes_no_wordline_distrusted_and_errors_that_multiply_do() {
        let params = Params { window: true, verify: true, literal: false, check: true, relent: true };
        assert!(!params.is_off(CHANCE, 0) && params.is_off(CHANCE + 1, 0));
        assert!(!params.is_off(RISE * 1_000 + CHANCE, 1_000) && params.is_off(RISE * 1_000 + CHANCE + 1, 1_000));
        assert!(!params.is_off(u32::MAX, u32::MAX), "no overflow");
        assert!(!Params { check: false, ..params }.is_off(u32::MAX, 0), "the check is switched off");
    }
}
