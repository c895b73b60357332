//! A die at rest: what is left of it when nothing is going on.

use wordline_flash::Status;
use wordline_units::Nanos;

use crate::chip::{Chip, Work};
use crate::payload::Payload;
use crate::registers::Registers;

impl<P: Payload> Chip<P> {
    /// Whether nothing is going on at `now` and nothing is suspended or half collected.
    pub fn is_at_rest(&self, now: Nanos) -> bool {
        self.suspended.is_none()
            && self.registers.collecting.is_none()
            && self.array_until.max(self.interface_until).max(self.bus_until) <= now
    }

    /// Put the die's clock at `now`, wherever it was, with empty registers. For a drive that has worked through operations without taking time, each die at a clock of its own.
    ///
    /// # Panics
    /// If an operation is suspended or a wordline half collected: that is no rest.
    pub fn rest(&mut self, now: Nanos) {
        assert!(self.suspended.is_none() && self.registers.collecting.is_none(), "a die in the middle of an operation cannot rest");
        self.latest = now;
        self.array_until = now;
        self.interface_until = now;
        self.bus_until = now;
        self.suspend_from = now;
        self.bus_takes_in = false;
        self.registers = Registers::EMPTY;
        self.work = Work::OTHER;
        self.status = Status::Good;
    }
}
