//! The longest silence of a drive: the longest time for which it held requests and answered none.

use wordline_units::Nanos;

/// Silences of a drive in its measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Silence {
    since: Nanos,
    longest: Nanos,
}

impl Silence {
    /// No silence so far, from `at` on.
    pub(crate) fn from(at: Nanos) -> Silence {
        Silence { since: at, longest: Nanos::ZERO }
    }

    /// A request comes at `at`, beside `others` that the drive holds.
    #[inline]
    pub(crate) fn asked(&mut self, at: Nanos, others: u64) {
        if others == 0 {
            self.since = at;
        }
    }

    /// A request is answered at `at`.
    #[inline]
    pub(crate) fn answered(&mut self, at: Nanos) {
        self.longest = self.longest.max(at - self.since);
        self.since = at;
    }

    /// The longest silence until `at`, at which the drive holds `held` requests.
    pub(crate) fn longest(mut self, at: Nanos, held: u64) -> Nanos {
        if held > 0 {
            self.answered(at);
        }
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silence_lasts_from_a_request_or_an_answer_to_the_next_answer_and_not_while_nothing_is_asked() {
        let mut silence = Silence::from(Nanos(5));
        silence.asked(Nanos(100), 0);
        silence.asked(Nanos(103), 1);
        silence.answered(Nanos(107));
        assert_eq!(silence.longest(Nanos(107), 1), Nanos(7), "from the first request");
        silence.answered(Nanos(119));
        assert_eq!(silence.longest(Nanos(119), 0), Nanos(12), "from the answer before");
        silence.asked(Nanos(900), 0);
        assert_eq!(silence.longest(Nanos(950), 0), Nanos(12), "nobody waits");
        assert_eq!(silence.longest(Nanos(950), 1), Nanos(50), "it still has not answered");
    }
}
