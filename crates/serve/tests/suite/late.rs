//! Does everybody get the answer to what was asked, if the disk answers from another thread, late, out of order, or not at all?

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use wordline_block::{Disk, Done, Op, Piece, Session};
use wordline_nbd::Limits;
use wordline_serve::Config;

use crate::common::{bytes, connect, start};

/// Hands everything to a thread that answers in batches, the last first. A read of offset `n` is answered with the low byte of `n / 512`.
struct Late(Mutex<Sender<(Op, Done)>>);

impl Late {
    fn new(batch: usize) -> Late {
        let (sender, receiver) = channel();
        thread::spawn(move || Late::work(&receiver, batch));
        Late(Mutex::new(sender))
    }

    fn work(receiver: &Receiver<(Op, Done)>, batch: usize) {
        while let Ok(first) = receiver.recv() {
            let mut held = vec![first];
            held.extend(receiver.try_iter().take(batch));
            for (op, done) in held.into_iter().rev() {
                match op {
                    Op::Read { offset, length } => done.read(&[Piece::Data(&vec![(offset / 512) as u8; length as usize])]),
                    Op::Flush | Op::Write { .. } | Op::Trim { .. } | Op::WriteZeroes { .. } | Op::Cache { .. } => done.ok(),
                    Op::BlockStatus { .. } => drop(done),
                }
            }
        }
    }
}

impl Disk for Late {
    fn submit(&self, op: Op, _: &Arc<Session>, done: Done) {
        self.0.lock().expect("nobody panics here").send((op, done)).expect("the thread lives");
    }
}

#[test]
fn answers_in_any_order_and_within_any_bound() {
    let tight = Limits { requests: 3, held_bytes: 5000, ..Limits::DEFAULT };
    for (limits, batch) in [(Limits::DEFAULT, 1), (Limits::DEFAULT, 64), (tight, 1), (tight, 64)] {
        let (_running, path) = start(Arc::new(Late::new(batch)), 1 << 20, Config { limits, ..Config::default() });
        let clients: Vec<_> = (0..3)
            .map(|_| {
                let path = path.clone();
                thread::spawn(move || {
                    let mut client = connect(&path);
                    for round in 0..30u64 {
                        let mut offsets = std::collections::BTreeMap::new();
                        for at in 0..40 {
                            let offset = (round * 40 + at) % 2000 * 512;
                            let op = match at % 4 {
                                0 => Op::Write { offset, data: vec![1; 3000], fua: true },
                                1 => Op::Flush,
                                _ => Op::Read { offset, length: 2000 },
                            };
                            offsets.insert(client.request(&op), (at % 4 > 1).then_some(offset));
                        }
                        client.send();
                        while !offsets.is_empty() {
                            let answer = client.answer();
                            assert_eq!(answer.fault, None);
                            if let Some(offset) = offsets.remove(&answer.cookie).expect("asked once") {
                                assert_eq!(bytes(&answer), vec![(offset / 512) as u8; 2000]);
                            }
                        }
                    }
                })
            })
            .collect();
        clients.into_iter().for_each(|client| client.join().expect("no client failed"));
    }
}

#[test]
fn a_disk_without_an_answer_gives_an_error() {
    let (_running, path) = start(Arc::new(Late::new(1)), 1 << 20, Config::default());
    let mut client = connect(&path);
    let fault = client.call(&Op::BlockStatus { offset: 0, length: 512, one: false }).fault.expect("it fails");
    assert_eq!((fault.errno, fault.message.as_str()), (5, "the disk gave no answer"));
    assert_eq!(client.read(512, 4), [1; 4], "and the connection goes on");
}

/// Panics over a trim.
struct Fragile;

impl Disk for Fragile {
    fn submit(&self, op: Op, _: &Arc<Session>, done: Done) {
        assert!(!matches!(op, Op::Trim { .. }), "planted");
        done.fail(wordline_block::Errno::NotSupported, "nothing works here");
    }
}

#[test]
fn a_disk_that_panics_costs_one_connection() {
    let (running, path) = start(Arc::new(Fragile), 1 << 20, Config::default());
    let mut other = connect(&path);
    let mut client = connect(&path);
    client.request(&Op::Trim { offset: 0, length: 512, fua: false });
    client.send();
    let mut rest = Vec::new();
    std::io::Read::read_to_end(&mut client.stream, &mut rest).expect("the end");
    assert_eq!(other.call(&Op::Flush).fault.expect("it fails").errno, 95);
    drop(running);
}
