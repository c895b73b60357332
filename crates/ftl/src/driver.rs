//! The conversation with a core, for callers without a calendar of their own.
//!
//! ```text
//!   bytes ─► next_operation ─► carry_out ─┐     none left: notes ─► acknowledged
//!     ▲───────────────────────────────────┘
//! ```
//!
//! An operation that has ended is told by [`ended`], at once or later; then the conversation goes on. A drive in virtual time has a loop of its own, in which
//! it counts what each step costs.

use wordline_flash::{Operation, Report};
use wordline_units::Nanos;

use crate::firmware::Firmware;
use crate::state::data::DataStep;
use crate::state::request::{Acknowledgement, Deeds, Note};

/// Environment of a core: it carries out the core's operations and receives its acknowledgements, notes and data steps. No method may submit a request;
/// requests are submitted between two conversations.
pub trait Driver {
    /// The core that is driven.
    fn core(&mut self) -> &mut Firmware;

    /// The present instant.
    fn now(&self) -> Nanos {
        Nanos::ZERO
    }

    /// True if the conversation must stop because power is lost.
    fn is_dark(&self) -> bool {
        false
    }

    /// Carry out `operation`, or begin it.
    fn carry_out(&mut self, operation: &Operation);

    /// Receive the acknowledgement of a finished request.
    fn acknowledged(&mut self, done: Acknowledgement);

    /// Receive a note for the log.
    fn note(&mut self, _note: Note) {}

    /// Receive a step to be done with bytes.
    fn move_bytes(&mut self, _step: DataStep) {}
}

/// Carry out all data steps that the core has queued.
pub fn follow(driver: &mut impl Driver) {
    while let Some(step) = driver.core().next_data_step() {
        driver.move_bytes(step);
    }
}

/// Receive the core's notes and acknowledgements until none is left.
pub fn hear(driver: &mut impl Driver) {
    while let Some(note) = driver.core().note() {
        driver.note(note);
    }
    while let Some(done) = driver.core().acknowledge() {
        driver.acknowledged(done);
    }
}

/// Carry out the core's operations and data steps until none is left, then receive its notes and acknowledgements.
pub fn converse(driver: &mut impl Driver) {
    follow(driver);
    while !driver.is_dark() {
        let now = driver.now();
        if let Some(operation) = driver.core().next_operation(now) {
            driver.carry_out(&operation);
            follow(driver);
        } else {
            hear(driver);
            debug_assert!(
                driver.is_dark() || driver.core().next_operation(now).is_none(),
                "it had nothing more to say, and has been told nothing"
            );
            return;
        }
    }
}

/// Tell `core` that an operation has ended which leaves its die free: a program, an erase, a copyback, a sanitisation, or a read that kept its die.
pub fn ended(core: &mut Firmware, now: Nanos, report: &Report<'_>) -> Deeds {
    core.die_ready(report.die);
    core.report(now, report)
}

#[cfg(test)]
mod tests {
    use wordline_flash::Status;
    use wordline_units::HostOp;

    use super::*;
    use crate::config::tests::small;
    use crate::state::request::Request;
    use crate::state::request::tests::WRITE;

    /// A driver whose operations succeed at once, until the power goes after `left` of them.
    struct Quick {
        core: Firmware,
        left: u32,
        done: Vec<(u32, bool)>,
    }

    impl Driver for Quick {
        fn core(&mut self) -> &mut Firmware {
            &mut self.core
        }

        fn is_dark(&self) -> bool {
            self.left == 0
        }

        fn carry_out(&mut self, operation: &Operation) {
            self.left -= 1;
            let oob = self.core.load(operation.die, operation.tag).oob.to_vec();
            ended(&mut self.core, Nanos::ZERO, &Report::plain(operation.tag, operation.die, Status::Good, &oob));
        }

        fn acknowledged(&mut self, done: Acknowledgement) {
            self.done.push((done.id, done.ok));
        }
    }

    fn driven(left: u32) -> Quick {
        let mut driver = Quick { core: Firmware::new(small(64)), left, done: Vec::new() };
        for (id, op) in [(1, HostOp::Write), (2, HostOp::Flush)] {
            driver.core.submit(Nanos::ZERO, Request { id, op, units: 8, ..WRITE });
        }
        converse(&mut driver);
        driver
    }

    #[test]
    fn a_conversation_ends_when_all_is_answered_or_the_power_goes() {
        let driver = driven(100);
        assert_eq!((driver.left, driver.done), (98, vec![(1, true), (2, true)]), "two programs of four units");
        let driver = driven(1);
        assert_eq!((driver.left, driver.done), (0, vec![]), "no word after the power has gone");
    }
}
