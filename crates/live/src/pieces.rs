//! Host requests of one block request: a single one, or several one after the other.

use std::collections::VecDeque;

use wordline_block::Op;
use wordline_drive::HostBytes;
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{Attributes, HostOp, HostRequest, Tolerance};

/// Zeroes are written in pieces of no more than this.
const ZEROES: u64 = 1 << 20;
/// Trims are cut after this many bytes, so that no other request waits long behind one.
const TRIM: u64 = 1 << 30;

/// Host requests of one block request, first to last. Each waits for the one before, and is made when its turn comes: zeroes over a whole drive in one
/// request are many host requests.
#[derive(Debug)]
pub(crate) struct Pieces {
    steps: VecDeque<Step>,
    unit: u64,
    /// Attributes of written data, such as insecure, and of hints.
    attributes: Attributes,
}

/// One host request and its bytes.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) request: HostRequest,
    pub(crate) bytes: HostBytes,
}

/// Rest of a block request.
#[derive(Debug)]
enum Step {
    Whole(Piece),
    /// Zeroes from here to there.
    Zeroes {
        at: u64,
        end: u64,
        fua: bool,
    },
    /// Trims from here to there, in pieces that begin and end with units.
    Trim {
        at: u64,
        end: u64,
    },
    /// Zeroes from here to there, within one unit that was trimmed in part, where that has not dropped it.
    Rest {
        at: u64,
        end: u64,
        fua: bool,
    },
    /// The trim of what was just zeroed, which a write undoes.
    Again {
        at: u64,
        end: u64,
    },
}

impl Pieces {
    /// Requests of `op` to a drive whose mapping units have `unit` bytes; none if the drive is not needed. They have `attributes`, and all but writes
    /// are secure and have no tolerance.
    pub(crate) fn of(op: Op, unit: u64, attributes: Attributes) -> Pieces {
        let mut pieces = Pieces { steps: VecDeque::new(), unit, attributes };
        match op {
            Op::Read { offset, length } => pieces.steps.push_back(plain(HostOp::Read, offset, u64::from(length))),
            Op::Write { offset, data, fua } => {
                let request = request(HostOp::Write, offset, data.len() as u64, fua);
                pieces.steps.push_back(Step::Whole(Piece { request, bytes: HostBytes::These(data) }));
            }
            Op::Flush => pieces.steps.push_back(plain(HostOp::Flush, 0, 0)),
            Op::Trim { offset, length, fua } => pieces.punch(offset, offset + length, fua),
            Op::WriteZeroes { offset, length, how, fua } if how.may_punch => pieces.punch(offset, offset + length, fua),
            Op::WriteZeroes { offset, length, fua, .. } => pieces.steps.push_back(Step::Zeroes { at: offset, end: offset + length, fua }),
            Op::Cache { .. } | Op::BlockStatus { .. } => {}
        }
        pieces
    }

    /// Hints that reads of the sectors with bytes from `from` to `end` may have the latency of `tolerance`.
    pub(crate) fn hint(from: u64, end: u64, unit: u64, tolerance: Tolerance) -> Pieces {
        let (mut at, end) = (from / SECTOR_BYTES, end.div_ceil(SECTOR_BYTES));
        let mut steps = VecDeque::new();
        while at < end {
            let sectors = u32::try_from(end - at).unwrap_or(u32::MAX);
            steps.push_back(Step::Whole(Piece { request: HostRequest::new(HostOp::Hint, at, sectors), bytes: HostBytes::None }));
            at += u64::from(sectors);
        }
        Pieces { steps, unit, attributes: Attributes::NONE.with_tolerance(tolerance) }
    }

    /// Lets go of the bytes from `at` to `end`, which read as zeroes then. The drive drops a unit once all of it has been trimmed, and keeps the data of one
    /// that is trimmed in part: that data is overwritten with zeroes at both ends. A file system that punches a hole through FUSE and a loop device relies on
    /// zeroes, and deleted data must be gone.
    fn punch(&mut self, at: u64, end: u64, fua: bool) {
        self.steps.push_back(Step::Trim { at, end });
        let (first, last) = (at.next_multiple_of(self.unit), end / self.unit * self.unit);
        let ends = if first > last { [(at, end), (end, end)] } else { [(at, first), (last, end)] };
        self.steps.extend(ends.into_iter().filter(|(at, end)| at < end).map(|(at, end)| Step::Rest { at, end, fua }));
        self.steps.extend(fua.then(|| plain(HostOp::Flush, 0, 0)));
    }

    /// The next host request. `holds` returns true if the unit at a byte holds data.
    pub(crate) fn next(&mut self, holds: impl Fn(u64) -> bool) -> Option<Piece> {
        let mut piece = self.next_plain(holds)?;
        let (op, Attributes { secure, tolerance, .. }) = (piece.request.op, self.attributes);
        let tolerance = if matches!(op, HostOp::Write | HostOp::Hint) { tolerance } else { Tolerance::Default };
        piece.request.attributes = self.attributes.with_secure(secure || op != HostOp::Write).with_tolerance(tolerance);
        Some(piece)
    }

    /// The bytes that were zeroed last, and are trimmed again next.
    pub(crate) fn zeroed(&self) -> Option<(u64, u64)> {
        match self.steps.front() {
            Some(&Step::Again { at, end }) => Some((at, end)),
            _ => None,
        }
    }

    /// Cancels the second trim of zeroed bytes after a client's write to them: its data stays.
    pub(crate) fn leave_zeroed(&mut self) {
        if self.zeroed().is_some() {
            self.steps.pop_front();
        }
    }

    fn next_plain(&mut self, holds: impl Fn(u64) -> bool) -> Option<Piece> {
        loop {
            match self.steps.front_mut()? {
                Step::Zeroes { at, end, fua } if *at < *end => {
                    let count = (*end - *at).min(ZEROES);
                    let piece = Piece { request: request(HostOp::Write, *at, count, *fua), bytes: HostBytes::Zeroes };
                    *at += count;
                    return Some(piece);
                }
                Step::Trim { at, end } if *at < *end => {
                    let until = if *end - *at > TRIM { (*at + TRIM) / self.unit * self.unit } else { *end };
                    let piece = Piece { request: request(HostOp::Trim, *at, until - *at, false), bytes: HostBytes::None };
                    *at = until;
                    return Some(piece);
                }
                &mut Step::Rest { at, end, fua } if holds(at) => {
                    self.steps.pop_front();
                    self.steps.push_front(Step::Again { at, end });
                    return Some(Piece { request: request(HostOp::Write, at, end - at, fua), bytes: HostBytes::Zeroes });
                }
                &mut Step::Again { at, end } => {
                    self.steps.pop_front();
                    return Some(Piece { request: request(HostOp::Trim, at, end - at, false), bytes: HostBytes::None });
                }
                Step::Whole(_) => {
                    if let Some(Step::Whole(piece)) = self.steps.pop_front() {
                        return Some(piece);
                    }
                }
                Step::Zeroes { .. } | Step::Trim { .. } | Step::Rest { .. } => drop(self.steps.pop_front()),
            }
        }
    }
}

fn plain(op: HostOp, offset: u64, length: u64) -> Step {
    Step::Whole(Piece { request: request(op, offset, length, false), bytes: HostBytes::None })
}

fn request(op: HostOp, offset: u64, length: u64, fua: bool) -> HostRequest {
    let sectors = u32::try_from(length / SECTOR_BYTES).expect("payloads are bounded by the protocol, zeroes and trims are cut");
    HostRequest { fua, ..HostRequest::new(op, offset / SECTOR_BYTES, sectors) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_block::ZeroHow;

    fn asked(op: Op) -> Vec<(HostOp, u64, u32, bool)> {
        asked_of(op, true)
    }

    /// Requests for a drive whose units hold something if they are not trimmed whole, or hold nothing.
    fn asked_of(op: Op, holds: bool) -> Vec<(HostOp, u64, u32, bool)> {
        let mut pieces = Pieces::of(op, 16_384, Attributes::NONE);
        std::iter::from_fn(|| pieces.next(|_| holds))
            .map(|piece| (piece.request.op, piece.request.sector, piece.request.sectors, piece.request.fua))
            .collect()
    }

    #[test]
    fn zeroes_trim_and_write_what_units_that_were_trimmed_in_part_still_hold() {
        let how = ZeroHow { may_punch: true, must_be_fast: false };
        let op = |offset, length, how, fua| Op::WriteZeroes { offset, length, how, fua };
        let (write, trim) = (HostOp::Write, HostOp::Trim);
        let ends = [
            (trim, 1, 80, false),
            (write, 1, 31, true),
            (trim, 1, 31, false),
            (write, 64, 17, true),
            (trim, 64, 17, false),
            (HostOp::Flush, 0, 0, false),
        ];
        assert_eq!(asked(op(512, 40_960, how, true)), ends);
        assert_eq!(asked(Op::Trim { offset: 512, length: 40_960, fua: true }), ends);
        assert_eq!(asked_of(op(512, 40_960, how, false), false), [(trim, 1, 80, false)], "nothing is left");
        assert_eq!(asked(op(512, 1_024, how, false)), [(trim, 1, 2, false), (write, 1, 2, false), (trim, 1, 2, false)], "no whole unit");
        let across =
            [(trim, 31, 2), (write, 31, 1), (trim, 31, 1), (write, 32, 1), (trim, 32, 1)].map(|(op, at, count)| (op, at, count, false));
        assert_eq!(asked(op(31 * 512, 1_024, how, false)), across, "two units, neither of them whole");
        let whole = ZeroHow { may_punch: false, must_be_fast: false };
        let pieces = asked(op(0, 5 << 20, whole, false));
        assert_eq!(pieces.len(), 5);
        assert!(pieces.iter().all(|piece| piece.0 == HostOp::Write && piece.2 == 2_048));
    }

    #[test]
    fn what_was_zeroed_and_written_since_is_not_trimmed_again() {
        let mut pieces = Pieces::of(Op::Trim { offset: 512, length: 1_024, fua: false }, 16_384, Attributes::NONE);
        assert_eq!(pieces.next(|_| true).map(|piece| piece.request.op), Some(HostOp::Trim));
        assert_eq!(pieces.zeroed(), None);
        pieces.leave_zeroed();
        assert_eq!(pieces.next(|_| true).map(|piece| piece.request.op), Some(HostOp::Write));
        assert_eq!(pieces.zeroed(), Some((512, 1_536)));
        pieces.leave_zeroed();
        assert!(pieces.next(|_| true).is_none());
    }

    #[test]
    fn what_is_said_of_data_is_said_of_writes_alone() {
        let how = ZeroHow { may_punch: true, must_be_fast: false };
        let all = [
            Op::Write { offset: 512, data: vec![1; 1_024], fua: true },
            Op::WriteZeroes { offset: 512, length: 40_960, how, fua: true },
            Op::Trim { offset: 0, length: 16_384, fua: true },
            Op::Read { offset: 0, length: 512 },
        ];
        for (op, insecure) in all.into_iter().flat_map(|op| [(op.clone(), true), (op, false)]) {
            let mut pieces = Pieces::of(op.clone(), 16_384, Attributes::NONE.with_secure(!insecure));
            let said: Vec<HostRequest> = std::iter::from_fn(|| pieces.next(|_| true)).map(|piece| piece.request).collect();
            assert!(said.iter().all(|request| request.attributes.secure == (!insecure || request.op != HostOp::Write)), "{op:?}: {said:?}");
            assert!(!said.is_empty());
        }
    }

    #[test]
    fn long_trims_are_cut_at_units() {
        let pieces = asked_of(Op::Trim { offset: 512, length: 5 << 40, fua: false }, false);
        assert_eq!(pieces.iter().map(|piece| u64::from(piece.2)).sum::<u64>(), (5 << 40) / 512);
        assert_eq!((pieces[0].1, u64::from(pieces[0].2)), (1, (1 << 30) / 512 - 1));
        assert!(pieces[1..].iter().all(|piece| piece.1 % 32 == 0), "cuts are at units of 16 KiB");
    }

    #[test]
    fn a_durable_trim_is_followed_by_a_flush() {
        let pieces = asked(Op::Trim { offset: 0, length: 16_384, fua: true });
        assert_eq!(pieces, [(HostOp::Trim, 0, 32, false), (HostOp::Flush, 0, 0, false)]);
    }
}
