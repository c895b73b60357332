//! Does a session through client and server, cut and answered in any order, read what a byte array reads?

use proptest::prelude::*;
use wordline_block::Op;
use wordline_nbd::client::{Answer, Ask, Client, Content, Heard, Ready, Speak};
use wordline_nbd::wire::{allocation, transmission};
use wordline_nbd::{Event, Limits, Request, Server, Ticket};

use crate::common::{Disk, dice, settings};
use crate::split::{SIZE, is_outside, op, range};

/// What the client is to hear for an operation, after those before it.
fn expected(disk: &mut Disk, op: &Op) -> Result<Vec<u8>, u32> {
    let (offset, length) = range(op);
    if is_outside(op) {
        return Err(if matches!(op, Op::Write { .. } | Op::WriteZeroes { .. }) { 28 } else { 22 });
    }
    disk.apply(op);
    let is_read = matches!(op, Op::Read { .. });
    Ok(if is_read { disk.bytes[offset as usize..(offset + length) as usize].to_vec() } else { Vec::new() })
}

/// The bytes of a read's answer.
fn read_bytes(answer: &Answer) -> Vec<u8> {
    let part = |content: &Content| match content {
        Content::Data(_, bytes) => bytes.clone(),
        Content::Hole(_, length) => vec![0; *length as usize],
        Content::Status(..) => Vec::new(),
    };
    answer.content.iter().flat_map(part).collect()
}

struct Session {
    client: Client,
    server: Server,
    disk: Disk,
    contexts: Vec<usize>,
    held: Vec<(Op, Ticket)>,
    answers: Vec<Answer>,
    ready: Option<Ready>,
}

impl Session {
    fn new(ask: Ask, limits: Limits) -> Session {
        Session {
            client: Client::new(ask),
            server: Server::new(settings(SIZE, limits)),
            disk: Disk::new(SIZE as usize),
            contexts: Vec::new(),
            held: Vec::new(),
            answers: Vec::new(),
            ready: None,
        }
    }

    /// Moves bytes both ways until nothing moves, in steps of at most what `step` says. Up to `hold` requests wait for an answer meanwhile.
    fn settle(&mut self, step: &mut dyn FnMut(u64) -> u64, hold: usize, to_server: &mut Vec<u8>) {
        loop {
            let mut moved = false;
            to_server.extend(self.client.take_output());
            if !to_server.is_empty() && self.server.wants_input() {
                let offered = (1 + step(4000) as usize).min(to_server.len());
                let taken = self.server.receive(&to_server[..offered]);
                to_server.drain(..taken);
                moved |= taken > 0;
            }
            while let Some(event) = self.server.next() {
                moved = true;
                match event {
                    Event::Request(Request { op, ticket }) => {
                        // Reads are answered from the disk as it stands, so what would change it later waits for them.
                        if !matches!(op, Op::Write { .. }) {
                            self.answer_held();
                        }
                        self.disk.apply(&op);
                        if matches!(op, Op::Write { .. }) && hold > 0 {
                            self.held.push((op, ticket));
                        } else {
                            self.disk.answer(&mut self.server, &op, ticket, &self.contexts);
                        }
                    }
                    Event::Opened(opened) => self.contexts = opened.contexts,
                    Event::StartTls | Event::Closed(_) => {}
                }
            }
            if self.held.len() > hold || (!moved && !self.held.is_empty()) {
                self.answer_held();
                moved = true;
            }
            let ready = self.server.output().len();
            if ready > 0 {
                let count = (1 + step(4000) as usize).min(ready);
                self.client.receive(&self.server.output()[..count]).expect("the server keeps to the protocol");
                self.server.sent(count);
                moved = true;
            }
            while let Some(heard) = self.client.next() {
                match heard {
                    Heard::Ready(ready) => self.ready = Some(ready),
                    Heard::Answer(answer) => self.answers.push(answer),
                }
            }
            // Looking for events may have let a waiting head in.
            moved |= !to_server.is_empty() && self.server.wants_input();
            if !moved {
                return;
            }
        }
    }

    /// The last comes first.
    fn answer_held(&mut self) {
        while let Some((op, ticket)) = self.held.pop() {
            self.disk.answer(&mut self.server, &op, ticket, &self.contexts);
        }
    }
}

fn ask(speak: Speak, by_export_name: bool) -> Ask {
    let contexts = if speak == Speak::Simple { vec![] } else { vec!["base:allocation".to_owned(), "x-wordline:hint".to_owned()] };
    Ask { export: "disk@insecure".to_owned(), dialect: speak, contexts, by_export_name, list: true }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn sessions_agree_with_a_byte_array(
        speak in prop_oneof![Just(Speak::Simple), Just(Speak::Structured), Just(Speak::Extended)],
        by_export_name in any::<bool>(),
        ops in prop::collection::vec(op(), 1..48),
        hold in 0..6usize,
        small in any::<bool>(),
        seed in any::<u64>(),
    ) {
        // With the small bounds the server has to stop taking input all the time.
        let limits = if small { Limits { requests: 2, held_bytes: 9000, ..Limits::DEFAULT } } else { Limits::DEFAULT };
        let mut draw = dice(seed);
        let mut step = |bound| draw.below(bound);
        let mut session = Session::new(ask(speak, by_export_name), limits);
        let mut wire = Vec::new();
        session.settle(&mut step, 0, &mut wire);
        let ready = session.ready.clone().expect("open");
        prop_assert_eq!(ready.size, SIZE);
        prop_assert_eq!(ready.flags & transmission::SEND_DF != 0, speak != Speak::Simple);
        prop_assert_eq!(ready.blocks, if by_export_name { None } else { Some([1, 4096, 32 << 20]) });
        prop_assert_eq!(ready.listed.len(), 5);

        let mut twin = Disk::new(SIZE as usize);
        let expected: Vec<_> = ops.iter().map(|op| expected(&mut twin, op)).collect();
        for (cookie, op) in ops.iter().enumerate() {
            session.client.request(cookie as u64, op);
            if cookie % 3 == 0 {
                session.settle(&mut step, hold, &mut wire);
            }
        }
        session.client.disconnect();
        session.settle(&mut step, hold, &mut wire);
        prop_assert!(session.server.is_finished() && session.client.pending() == 0, "{} pending, {:?}", session.client.pending(), session.server);
        prop_assert_eq!(session.answers.len(), ops.len());
        for answer in &session.answers {
            let (op, expected) = (&ops[answer.cookie as usize], &expected[answer.cookie as usize]);
            match (op, expected) {
                (Op::BlockStatus { .. }, Ok(_)) if speak == Speak::Simple => prop_assert_eq!(answer.fault.as_ref().map(|fault| fault.errno), Some(22)),
                (Op::BlockStatus { length, one, .. }, Ok(_)) => {
                    let ids: Vec<u32> = answer.content.iter().map(|part| if let Content::Status(id, _) = part { *id } else { 0 }).collect();
                    prop_assert_eq!(ids, vec![1, 3]);
                    for part in &answer.content {
                        let Content::Status(_, extents) = part else { continue };
                        let sum: u64 = extents.iter().map(|extent| extent.length).sum();
                        prop_assert!(if *one { extents.len() == 1 && sum <= *length } else { sum == *length }, "{:?}", extents);
                    }
                }
                (Op::Read { .. }, Ok(bytes)) => prop_assert!(&read_bytes(answer) == bytes, "cookie {}", answer.cookie),
                (_, Ok(_)) => prop_assert_eq!(&answer.fault, &None),
                (_, Err(errno)) => prop_assert_eq!(answer.fault.as_ref().map(|fault| fault.errno), Some(*errno)),
            }
        }
        prop_assert!(session.disk.bytes == twin.bytes);
    }
}

#[test]
fn holes_travel_as_holes_and_errors_with_their_offset() {
    let mut session = Session::new(ask(Speak::Structured, false), Limits::DEFAULT);
    let mut wire = Vec::new();
    let mut step = |bound: u64| bound;
    session.settle(&mut step, 0, &mut wire);
    session.disk.bad = Some(6000);
    let ops = [
        Op::Write { offset: 4096, data: vec![7; 512], fua: false },
        Op::Read { offset: 0, length: 5120 },
        Op::Read { offset: 4096, length: 4096 },
        Op::BlockStatus { offset: 0, length: 8192, one: false },
    ];
    for (cookie, op) in ops.iter().enumerate() {
        session.client.request(cookie as u64, op);
        session.settle(&mut step, 0, &mut wire);
    }
    let answers = &session.answers;
    assert_eq!(answers[1].content, [Content::Hole(0, 4096), Content::Data(4096, vec![7; 512]), Content::Hole(4608, 512)]);
    assert_eq!(answers[2].content, [Content::Data(4096, vec![7; 512]), Content::Hole(4608, 1392)]);
    let fault = answers[2].fault.as_ref().expect("it failed");
    assert_eq!((fault.errno, fault.offset, fault.message.as_str()), (5, Some(6000), "lost"));
    let Content::Status(1, extents) = &answers[3].content[0] else { panic!("{:?}", answers[3]) };
    let hole = allocation::HOLE | allocation::ZERO;
    assert_eq!(extents.iter().map(|extent| (extent.length, extent.flags)).collect::<Vec<_>>(), [(4096, hole), (512, 0), (3584, hole)]);
}
