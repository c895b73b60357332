//! What a block request asks of the drive: one host request, or several one after the other.

use std::collections::VecDeque;

use wordline_drive::HostBytes;
use wordline_nbd::Op;
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{HostOp, HostRequest};

/// Zeroes are written in pieces of no more than this.
const ZEROES: u64 = 1 << 20;
/// Trims are cut after this many bytes, so that no other request waits long behind one.
const TRIM: u64 = 1 << 30;

/// The host requests that one block request stands for, first to last. Each waits for the one before, and is made when its turn comes: a client that asks
/// for zeroes over a whole drive in one request is owed many.
#[derive(Debug)]
pub(super) struct Pieces {
    steps: VecDeque<Step>,
    unit: u64,
    /// What is written need not be secret.
    insecure: bool,
}

/// One host request and its bytes.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) request: HostRequest,
    pub(super) bytes: HostBytes,
}

/// What is left of a block request.
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
}

impl Pieces {
    /// What `op` asks of a drive whose mapping units have `unit` bytes; nothing where the drive need not be asked. Writes say `insecure`.
    pub(super) fn of(op: Op, unit: u64, insecure: bool) -> Pieces {
        let mut steps = VecDeque::new();
        match op {
            Op::Read { offset, length } => steps.push_back(plain(HostOp::Read, offset, u64::from(length))),
            Op::Write { offset, data, fua } => {
                let request = request(HostOp::Write, offset, data.len() as u64, fua);
                steps.push_back(Step::Whole(Piece { request, bytes: HostBytes::These(data) }));
            }
            Op::Flush => steps.push_back(plain(HostOp::Flush, 0, 0)),
            Op::Trim { offset, length, fua } => {
                steps.push_back(Step::Trim { at: offset, end: offset + length });
                steps.extend(fua.then(|| plain(HostOp::Flush, 0, 0)));
            }
            Op::WriteZeroes { offset, length, how, fua } => {
                let end = offset + length;
                // Whole units may be trimmed, which reads as zeroes; what is left at both ends is written, and then trimmed as well: a unit that is trimmed piece by
                // piece is dropped with the last one.
                let (first, last) = (offset.next_multiple_of(unit), end / unit * unit);
                let has_whole = first < last;
                if how.may_punch && has_whole {
                    steps.push_back(Step::Zeroes { at: offset, end: first, fua });
                    steps.push_back(Step::Zeroes { at: last, end, fua });
                } else {
                    steps.push_back(Step::Zeroes { at: offset, end, fua });
                }
                if how.may_punch {
                    steps.push_back(Step::Trim { at: offset, end });
                    // The zeroes of a unit that is dropped are durable.
                    steps.extend((fua && has_whole).then(|| plain(HostOp::Flush, 0, 0)));
                }
            }
            Op::Cache { .. } | Op::BlockStatus { .. } => {}
        }
        Pieces { steps, unit, insecure }
    }

    pub(super) fn next(&mut self) -> Option<Piece> {
        let mut piece = self.next_plain()?;
        piece.request.insecure = self.insecure && piece.request.op == HostOp::Write;
        Some(piece)
    }

    fn next_plain(&mut self) -> Option<Piece> {
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
                Step::Whole(_) => {
                    if let Some(Step::Whole(piece)) = self.steps.pop_front() {
                        return Some(piece);
                    }
                }
                Step::Zeroes { .. } | Step::Trim { .. } => drop(self.steps.pop_front()),
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
    use wordline_nbd::ZeroHow;

    fn asked(op: Op) -> Vec<(HostOp, u64, u32, bool)> {
        let mut pieces = Pieces::of(op, 16_384, false);
        std::iter::from_fn(|| pieces.next())
            .map(|piece| (piece.request.op, piece.request.sector, piece.request.sectors, piece.request.fua))
            .collect()
    }

    #[test]
    fn zeroes_trim_whole_units_and_write_the_ends() {
        let how = ZeroHow { may_punch: true, must_be_fast: false };
        let op = |offset, length, how, fua| Op::WriteZeroes { offset, length, how, fua };
        assert_eq!(
            asked(op(512, 40_960, how, true)),
            [(HostOp::Write, 1, 31, true), (HostOp::Write, 64, 17, true), (HostOp::Trim, 1, 80, false), (HostOp::Flush, 0, 0, false)]
        );
        assert_eq!(asked(op(512, 1_024, how, true)), [(HostOp::Write, 1, 2, true), (HostOp::Trim, 1, 2, false)], "no whole unit");
        let whole = ZeroHow { may_punch: false, must_be_fast: false };
        let pieces = asked(op(0, 5 << 20, whole, false));
        assert_eq!(pieces.len(), 5);
        assert!(pieces.iter().all(|piece| piece.0 == HostOp::Write && piece.2 == 2_048));
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
            let mut pieces = Pieces::of(op.clone(), 16_384, insecure);
            let said: Vec<HostRequest> = std::iter::from_fn(|| pieces.next()).map(|piece| piece.request).collect();
            assert!(said.iter().all(|request| request.insecure == (insecure && request.op == HostOp::Write)), "{op:?}: {said:?}");
            assert!(!said.is_empty());
        }
    }

    #[test]
    fn long_trims_are_cut_at_units() {
        let pieces = asked(Op::Trim { offset: 512, length: 5 << 40, fua: false });
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
