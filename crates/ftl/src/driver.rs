//! The conversation with a core, for whoever drives one without a calendar of its own.
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

use crate::firmware::Ftl;
use crate::state::data::DataStep;
use crate::state::request::{Acknowledgement, Deeds, Note};

/// What stands around a core: it carries out what the core orders, and hears what the core says. None of it may tell the core of a
/// new request: that is for between two conversations.
pub trait Driver {
    /// The core.
    fn core(&mut self) -> &mut Ftl;

    /// The instant.
    fn now(&self) -> Nanos {
        Nanos::ZERO
    }

    /// Whether nobody listens any more: the power has gone.
    fn is_dark(&self) -> bool {
        false
    }

    /// Do `operation`, or begin it.
    fn carry_out(&mut self, operation: &Operation);

    /// A request is done.
    fn acknowledged(&mut self, done: Acknowledgement);

    /// Something is to be written down.
    fn note(&mut self, _note: Note) {}

    /// Something is to be done with bytes.
    fn move_bytes(&mut self, _step: DataStep) {}
}

/// Carry out all that the core wants done with bytes.
pub fn follow(driver: &mut impl Driver) {
    while let Some(step) = driver.core().next_data_step() {
        driver.move_bytes(step);
    }
}

/// Hear what the core has to say beside operations.
pub fn hear(driver: &mut impl Driver) {
    while let Some(note) = driver.core().note() {
        driver.note(note);
    }
    while let Some(done) = driver.core().acknowledge() {
        driver.acknowledged(done);
    }
}

/// Carry out what the core orders and hear what it says, until it has nothing more to say.
pub fn converse(driver: &mut impl Driver) {
    follow(driver);
    while !driver.is_dark() {
        let now = driver.now();
        if let Some(operation) = driver.core().next_operation(now) {
            driver.carry_out(&operation);
            follow(driver);
        } else {
            return hear(driver);
        }
    }
}

/// Tell `core` that a program, an erase, a copyback or a sanitisation has ended, or a read whose die was kept for it: its die can take the next operation.
pub fn ended(core: &mut Ftl, now: Nanos, report: &Report<'_>) -> Deeds {
    core.die_ready(report.die);
    core.report(now, report)
}
