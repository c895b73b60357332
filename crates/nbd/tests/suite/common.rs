//! A byte-array disk behind the protocol, and the settings that the tests share.

use std::sync::Arc;

use wordline_block::{ContextStatus, Errno, Extent, Failure, Op, Piece, Reply};
use wordline_nbd::wire::allocation;
use wordline_nbd::{Access, Context, Event, Export, Limits, Request, Server, Settings, Ticket, Tls};
use wordline_units::random::{Draw, Stream};

/// Bytes in an allocation unit of the test disk.
pub(crate) const UNIT: usize = 512;

/// Exports `disk` (with everything), `sealed` (read-only) and `coarse` (4-KiB blocks), of `size` bytes each.
pub(crate) fn settings(size: u64, limits: Limits) -> Arc<Settings> {
    let mut disk = Export::new("disk", size);
    disk.description = "a test disk".to_owned();
    disk.contexts.extend(["x-wordline:media", "x-wordline:hint"].map(|name| Context { name: name.to_owned() }));
    disk.classes = ["insecure", "high"].map(String::from).to_vec();
    let mut sealed = Export::new("sealed", size);
    sealed.access = Access::ReadOnly;
    let mut coarse = Export::new("coarse", size);
    coarse.block_min = 4096;
    Arc::new(Settings { exports: vec![disk, sealed, coarse], tls: Tls::Absent, extended_headers: true, limits })
}

pub(crate) fn dice(seed: u64) -> Draw {
    Draw::new(seed, Stream::Mix, 0)
}

/// Prints the seed if the test dies while this lives.
pub(crate) struct Seed(pub(crate) u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {}", self.0);
        }
    }
}

/// A disk that is an array of bytes, with a flag for each unit that was never written or was given up.
pub(crate) struct Disk {
    pub(crate) bytes: Vec<u8>,
    hole: Vec<bool>,
    /// Reads that touch it fail there.
    pub(crate) bad: Option<usize>,
}

impl Disk {
    pub(crate) fn new(size: usize) -> Disk {
        Disk { bytes: vec![0; size], hole: vec![true; size.div_ceil(UNIT)], bad: None }
    }

    /// What is read of a range: bytes, and holes where whole units have none.
    pub(crate) fn pieces(&self, offset: usize, length: usize) -> Vec<Piece<'_>> {
        let mut pieces = Vec::new();
        let mut at = offset;
        while at < offset + length {
            let end = ((at / UNIT + 1) * UNIT).min(offset + length);
            pieces.push(if self.hole[at / UNIT] { Piece::Hole((end - at) as u64) } else { Piece::Data(&self.bytes[at..end]) });
            at = end;
        }
        pieces
    }

    pub(crate) fn extents(&self, offset: usize, length: usize) -> Vec<Extent> {
        let mut extents: Vec<Extent> = Vec::new();
        let mut at = offset;
        while at < offset + length {
            let end = ((at / UNIT + 1) * UNIT).min(self.bytes.len());
            let flags = if self.hole[at / UNIT] { allocation::HOLE | allocation::ZERO } else { 0 };
            match extents.last_mut() {
                Some(last) if last.flags == flags => last.length += (end - at) as u64,
                _ => extents.push(Extent { length: (end - at) as u64, flags }),
            }
            at = end;
        }
        extents
    }

    fn zero(&mut self, offset: u64, length: u64) {
        let (from, to) = (offset as usize, (offset + length) as usize);
        self.bytes[from..to].fill(0);
        for unit in from.div_ceil(UNIT)..to / UNIT {
            self.hole[unit] = true;
        }
    }

    /// Does what changes the disk; the answer comes from [`Disk::answer`].
    pub(crate) fn apply(&mut self, op: &Op) {
        match op {
            Op::Write { offset, data, .. } => {
                let from = *offset as usize;
                self.bytes[from..from + data.len()].copy_from_slice(data);
                self.hole[from / UNIT..(from + data.len()).div_ceil(UNIT)].fill(false);
            }
            Op::Trim { offset, length, .. } | Op::WriteZeroes { offset, length, .. } => self.zero(*offset, *length),
            Op::Read { .. } | Op::Flush | Op::Cache { .. } | Op::BlockStatus { .. } => {}
        }
    }

    /// Answers a request as the disk stands. `contexts`: those that the client chose.
    pub(crate) fn answer(&self, server: &mut Server, op: &Op, ticket: Ticket, contexts: &[usize]) {
        match op {
            Op::Read { offset, length } => {
                let (offset, length) = (*offset as usize, *length as usize);
                match self.bad.filter(|bad| (offset..offset + length).contains(bad)) {
                    Some(bad) => {
                        let failure = Failure { errno: Errno::Io, message: "lost" };
                        server.reply(ticket, Reply::ReadUntil(&self.pieces(offset, bad - offset), failure));
                    }
                    None if offset % 2 == 0 => server.reply(ticket, Reply::Read(&self.pieces(offset, length))),
                    None => server.reply_in_place(ticket, |room| {
                        room.copy_from_slice(&self.bytes[offset..offset + length]);
                        Ok(())
                    }),
                }
            }
            Op::BlockStatus { offset, length, .. } => {
                let extents = self.extents(*offset as usize, *length as usize);
                let other = [Extent { length: *length, flags: 7 }];
                let status = |&context| ContextStatus { context, extents: if context == 0 { &extents } else { &other } };
                let all: Vec<ContextStatus<'_>> = contexts.iter().map(status).collect();
                server.reply(ticket, Reply::Status(&all));
            }
            Op::Write { .. } | Op::Flush | Op::Trim { .. } | Op::WriteZeroes { .. } | Op::Cache { .. } => server.reply(ticket, Reply::Done),
        }
    }
}

/// What a server made of a stream of bytes, each request being answered at once.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Transcript {
    pub(crate) events: Vec<String>,
    pub(crate) output: Vec<u8>,
}

/// Feeds `input`, cut where `cut` says (how many bytes next), and answers everything at once from `disk`.
pub(crate) fn run(server: &mut Server, disk: &mut Disk, mut input: &[u8], mut cut: impl FnMut() -> usize) -> Transcript {
    let mut transcript = Transcript::default();
    let mut contexts = Vec::new();
    loop {
        let offered = cut().clamp(1, input.len().max(1)).min(input.len());
        let taken = server.receive(&input[..offered]);
        input = &input[taken..];
        while let Some(event) = server.next() {
            match event {
                Event::Request(Request { op, ticket }) => {
                    transcript.events.push(format!("{op:?}"));
                    disk.apply(&op);
                    disk.answer(server, &op, ticket, &contexts);
                }
                Event::Opened(opened) => {
                    transcript.events.push(format!("{opened:?}"));
                    contexts = opened.contexts;
                }
                event @ (Event::StartTls | Event::Closed(_)) => transcript.events.push(format!("{event:?}")),
            }
            drain(server, &mut transcript.output);
        }
        drain(server, &mut transcript.output);
        if input.is_empty() || (taken == 0 && !server.wants_input()) {
            return transcript;
        }
    }
}

pub(crate) fn drain(server: &mut Server, into: &mut Vec<u8>) {
    into.extend_from_slice(server.output());
    server.sent(server.output().len());
}
