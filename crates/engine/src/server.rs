//! First-come-first-served resources. Where requests are made in the order of their instants, the end of each can be computed when it is made
//! and needs no event of its own.

use wordline_units::{Bytes, Nanos, Rate};

/// A resource that serves one user at a time in the order they ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Server {
    free_at: Nanos,
}

impl Server {
    /// Use the resource for `span`, no earlier than `now`; returns when the use ends.
    #[inline]
    pub fn occupy(&mut self, now: Nanos, span: Nanos) -> Nanos {
        let start = if self.free_at > now { self.free_at } else { now };
        self.free_at = start + span;
        self.free_at
    }

    /// When the last use so far ends.
    #[inline]
    pub fn free_at(&self) -> Nanos {
        self.free_at
    }
}

/// A [`Server`] that moves bytes at a rate. The fraction of a nanosecond that a transfer leaves over is carried into the next one, so that
/// a saturated bus moves exactly its rate.
#[derive(Clone, Copy, Debug)]
pub struct Bus {
    server: Server,
    rate: Rate,
    carry_picos: u64,
    /// The sizes of the last transfers, the last first, their whole nanoseconds, and what was over.
    last: [(Bytes, Nanos, u64); 2],
}

impl Bus {
    /// An idle bus.
    pub fn new(rate: Rate) -> Bus {
        Bus { server: Server::default(), rate, carry_picos: 0, last: [(Bytes(0), Nanos::ZERO, 0); 2] }
    }

    /// Move `bytes`, plus a fixed `overhead` (command and address cycles), no earlier than `now`; returns the span the bus is held and the instant the
    /// transfer ends.
    #[inline]
    pub fn transfer(&mut self, now: Nanos, bytes: Bytes, overhead: Nanos) -> (Nanos, Nanos) {
        // Almost every transfer has the size of the one before it, or of the one before that, as reads of a page and programs of a wordline take turns; the
        // 128-bit division is worth skipping.
        if self.last[0].0 != bytes {
            self.last.swap(0, 1);
            if self.last[0].0 != bytes {
                self.measure(bytes);
            }
        }
        let (_, mut span, over) = self.last[0];
        self.carry_picos += over;
        if self.carry_picos >= 1_000 {
            self.carry_picos -= 1_000;
            span += Nanos(1);
        }
        let span = span + overhead;
        (span, self.server.occupy(now, span))
    }

    #[cold]
    fn measure(&mut self, bytes: Bytes) {
        let picos = self.rate.picos(bytes);
        self.last[0] = (bytes, Nanos(picos / 1_000), picos % 1_000);
    }

    /// When the last transfer so far ends.
    #[inline]
    pub fn free_at(&self) -> Nanos {
        self.server.free_at()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saturated_bus_moves_exactly_its_rate() {
        for mega_transfers in [40, 333, 533, 667, 1066, 1200, 2400, 4800] {
            let mut bus = Bus::new(Rate::from_mega_transfers(mega_transfers, 8));
            let mut end = Nanos::ZERO;
            for _ in 0..30_000 {
                end = bus.transfer(Nanos::ZERO, Bytes(4_096), Nanos::ZERO).1;
            }
            let exact = 30_000.0 * 4_096.0 * 1e3 / mega_transfers as f64;
            assert!((end.0 as f64 - exact).abs() <= 1.0 + 30_000.0 / 1_000.0, "{mega_transfers} MT/s: {end:?} against {exact} ns");
        }
    }

    #[test]
    fn users_are_served_in_the_order_they_ask() {
        let mut server = Server::default();
        assert_eq!(server.occupy(Nanos(10), Nanos(5)), Nanos(15));
        assert_eq!(server.occupy(Nanos(11), Nanos(5)), Nanos(20));
        assert_eq!(server.occupy(Nanos(100), Nanos(5)), Nanos(105));
    }
}
