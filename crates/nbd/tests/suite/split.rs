//! Does any split of the byte stream give the same requests and the same answers?

use proptest::prelude::*;
use wordline_block::{Op, ZeroHow};
use wordline_nbd::client::{put_op, put_option, put_request};
use wordline_nbd::{Limits, Server};

use crate::common::{Disk, run, settings};

pub(crate) const SIZE: u64 = 64 << 10;

/// Requests, most of them right.
pub(crate) fn op() -> impl Strategy<Value = Op> {
    let range = (0..SIZE, 1..9000u32);
    (0..8u8, range, any::<bool>(), any::<u8>()).prop_map(|(kind, (offset, length), flag, fill)| {
        let wide = u64::from(length);
        match kind {
            0 | 1 => Op::Read { offset, length },
            2 | 3 => Op::Write { offset, data: (0..length).map(|at| fill.wrapping_add(at as u8)).collect(), fua: flag },
            4 => Op::Trim { offset, length: wide, fua: flag },
            5 => Op::WriteZeroes { offset, length: wide, how: ZeroHow { may_punch: flag, must_be_fast: !flag }, fua: flag },
            6 => Op::BlockStatus { offset, length: wide, one: flag },
            _ if flag => Op::Flush,
            _ => Op::Cache { offset, length: wide },
        }
    })
}

/// What an operation touches: offset and length.
pub(crate) fn range(op: &Op) -> (u64, u64) {
    match op {
        Op::Read { offset, length } => (*offset, u64::from(*length)),
        Op::Write { offset, data, .. } => (*offset, data.len() as u64),
        Op::Trim { offset, length, .. }
        | Op::WriteZeroes { offset, length, .. }
        | Op::Cache { offset, length }
        | Op::BlockStatus { offset, length, .. } => (*offset, *length),
        Op::Flush => (0, 0),
    }
}

/// Whether it reaches past the end of the disk.
pub(crate) fn is_outside(op: &Op) -> bool {
    let (offset, length) = range(op);
    offset + length > SIZE
}

/// The bytes of a whole session: flags, options, requests, good-bye. `dialect` 0: simple, 1: structured, 2: extended.
pub(crate) fn session(dialect: u8, name: &str, ops: &[Op]) -> Vec<u8> {
    let mut out = 3u32.to_be_bytes().to_vec();
    let string = |text: &str| [&(text.len() as u32).to_be_bytes()[..], text.as_bytes()].concat();
    put_option(&mut out, 3, &[]);
    put_option(&mut out, 77, b"anything");
    if dialect > 0 {
        put_option(&mut out, if dialect == 1 { 8 } else { 11 }, &[]);
        put_option(&mut out, 9, &[string(name), vec![0; 4]].concat());
        let queries = [2u32.to_be_bytes().to_vec(), string("base:allocation"), string("x-wordline:media")].concat();
        put_option(&mut out, 10, &[string(name), queries].concat());
    }
    put_option(&mut out, 6, &[string(name), vec![0, 2, 0, 1, 0, 2]].concat());
    put_option(&mut out, 7, &[string(name), vec![0, 0]].concat());
    for (cookie, op) in ops.iter().enumerate() {
        put_op(&mut out, dialect == 2, cookie as u64, op);
    }
    put_request(&mut out, dialect == 2, 0, 2, 99, 0, 0);
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_split_is_the_same_session(
        dialect in 0..3u8,
        // A refusal may overtake the answers to what came before it, so only requests that are granted.
        ops in prop::collection::vec(op().prop_filter("inside", |op| !is_outside(op)), 0..24),
        cuts in prop::collection::vec(prop_oneof![1..4usize, 1..200usize, 1..20_000usize], 1..40),
    ) {
        let ops: Vec<Op> = ops.into_iter().filter(|op| dialect > 0 || !matches!(op, Op::BlockStatus { .. })).collect();
        let stream = session(dialect, "disk@high", &ops);
        let fresh = || (Server::new(settings(SIZE, Limits::DEFAULT)), Disk::new(SIZE as usize));
        let (mut server, mut disk) = fresh();
        let whole = run(&mut server, &mut disk, &stream, || usize::MAX);
        prop_assert!(whole.events.last().is_some_and(|last| last.contains("Disconnected")), "{:?}", whole.events);
        prop_assert!(server.is_finished());
        let (mut server, mut disk) = fresh();
        let mut next = cuts.iter().cycle();
        let split = run(&mut server, &mut disk, &stream, || *next.next().expect("endless"));
        prop_assert_eq!(&split.events, &whole.events);
        prop_assert!(split.output == whole.output, "other answers");
        let (mut server, mut disk) = fresh();
        let single = run(&mut server, &mut disk, &stream, || 1);
        prop_assert_eq!(&single.events, &whole.events);
        prop_assert!(single.output == whole.output, "other answers byte by byte");
    }
}
