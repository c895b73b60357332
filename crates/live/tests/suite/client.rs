//! A client inside the process: it asks a disk as a connection does, without a socket and without a protocol.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use wordline_block::{
    Answer as BlockAnswer, Disk, Done, Errno, Extent, Failure, Hints, Op, Piece, Reply, Requester, Session, Visit, allocation,
};
use wordline_chip::RamPayload;
use wordline_drive::{Config, Watched};
use wordline_live::{LiveDisk, MemoryDisk, Timing, watch};

use crate::common::small_drive;

/// An answer is waited for this long.
const PATIENCE: Duration = Duration::from_secs(60);

/// A whole answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Number of the request, from 1 on.
    pub(crate) tag: u64,
    /// The bytes of a read.
    pub(crate) bytes: Vec<u8>,
    /// Contexts of a block status with their extents.
    pub(crate) status: Vec<(usize, Vec<Extent>)>,
    /// Error of the request, if it failed.
    pub(crate) fault: Option<Fault>,
}

/// An error, with a copy of its sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) errno: Errno,
    /// First byte of the disk that could not be read, if the disk gives it.
    pub(crate) offset: Option<u64>,
    pub(crate) message: String,
}

/// Answers on their way to a client.
#[derive(Debug, Default)]
struct Inbox {
    state: Mutex<State>,
    came: Condvar,
    is_gone: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    /// Requests under way: first byte and length.
    asked: BTreeMap<u64, (u64, usize)>,
    answers: VecDeque<Answer>,
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn joined(pieces: &[Piece<'_>]) -> Vec<u8> {
    let bytes = |piece: &Piece<'_>| match piece {
        Piece::Data(bytes) => bytes.to_vec(),
        Piece::Hole(length) => vec![0; *length as usize],
    };
    pieces.iter().flat_map(bytes).collect()
}

impl Requester for Inbox {
    fn answer(&self, tag: u64, answer: BlockAnswer<'_>, _: bool) {
        let mut state = self.lock();
        let (offset, length) = state.asked.remove(&tag).expect("a request is answered once");
        let fault = |at: Option<u64>, Failure { errno, message }: Failure<'_>| {
            Some(Fault { errno, offset: at.map(|at| offset + at), message: message.to_owned() })
        };
        let mut came = Answer { tag, ..Answer::default() };
        match answer {
            BlockAnswer::Reply(Reply::Done) | BlockAnswer::DoneWith(_) => {}
            BlockAnswer::Reply(Reply::Read(pieces)) => came.bytes = joined(pieces),
            BlockAnswer::Reply(Reply::ReadUntil(pieces, failure)) => {
                came.bytes = joined(pieces);
                came.fault = fault(Some(came.bytes.len() as u64), failure);
            }
            BlockAnswer::Reply(Reply::Status(contexts)) => {
                came.status = contexts.iter().map(|status| (status.context, status.extents.to_vec())).collect();
            }
            BlockAnswer::Reply(Reply::Failed(failure)) => came.fault = fault(None, failure),
            BlockAnswer::Reply(Reply::FailedAt(at, failure)) => came.fault = fault(Some(at), failure),
            BlockAnswer::Fill(fill) => {
                came.bytes = vec![0; length];
                came.fault = fill(&mut came.bytes).err().and_then(|failure| fault(None, failure));
            }
        }
        state.answers.push_back(came);
        self.came.notify_one();
    }

    fn is_there(&self) -> bool {
        !self.is_gone.load(Ordering::Acquire)
    }
}

/// A client with the disk that it has opened. It leaves without a farewell.
pub(crate) struct Client {
    disk: Arc<dyn Disk>,
    session: Arc<Session>,
    inbox: Arc<Inbox>,
    last_tag: u64,
    /// There until it leaves.
    visit: Option<Visit>,
}

/// A client of `disk` without hints, which asks for allocation alone.
pub(crate) fn connect<D: Disk + 'static>(disk: &Arc<D>) -> Client {
    Client::open(disk, &[], &[0])
}

impl Client {
    /// A client with hints of these classes, which asks for these contexts.
    pub(crate) fn open<D: Disk + 'static>(disk: &Arc<D>, classes: &[&str], contexts: &[usize]) -> Client {
        let disk = Arc::clone(disk) as Arc<dyn Disk>;
        let session = Arc::new(Session { hints: Hints::of_classes(classes.iter().copied()), contexts: contexts.to_vec() });
        let visit = Some(Visit::begin(&disk));
        Client { disk, session, inbox: Arc::new(Inbox::default()), last_tag: 0, visit }
    }

    /// Asks for something, and returns the number of the request.
    pub(crate) fn request(&mut self, op: &Op) -> u64 {
        self.last_tag += 1;
        let about = match op {
            Op::Read { offset, length } => (*offset, *length as usize),
            Op::Write { .. } | Op::Flush | Op::Trim { .. } | Op::WriteZeroes { .. } | Op::Cache { .. } | Op::BlockStatus { .. } => (0, 0),
        };
        self.inbox.lock().asked.insert(self.last_tag, about);
        let done = Done::new(Arc::clone(&self.inbox) as Arc<dyn Requester>, self.last_tag);
        self.disk.submit(op.clone(), &self.session, done);
        self.last_tag
    }

    /// The next answer.
    pub(crate) fn answer(&mut self) -> Answer {
        let state = self.inbox.lock();
        let waited = self.inbox.came.wait_timeout_while(state, PATIENCE, |state| state.answers.is_empty());
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.answers.pop_front().expect("an answer in time")
    }

    /// Does one thing and waits for its answer.
    pub(crate) fn call(&mut self, op: &Op) -> Answer {
        let tag = self.request(op);
        let answer = self.answer();
        assert_eq!(answer.tag, tag);
        answer
    }

    pub(crate) fn write(&mut self, offset: u64, data: &[u8]) {
        assert_eq!(self.call(&Op::Write { offset, data: data.to_vec(), fua: false }).fault, None);
    }

    pub(crate) fn read(&mut self, offset: u64, length: u32) -> Vec<u8> {
        let answer = self.call(&Op::Read { offset, length });
        assert_eq!(answer.fault, None);
        answer.bytes
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.inbox.is_gone.store(true, Ordering::Release);
        self.visit = None;
    }
}

/// A drive with its bytes in memory.
pub(crate) fn ram_drive(config: Config, timing: Timing) -> Arc<LiveDisk> {
    let (sheet, units, watched) = (config.sheet, (config.sheet.geometry.page.0 / config.firmware.unit.0) as u32, watch(&config));
    Arc::new(LiveDisk::start(move || Watched::with_payload(config, watched, |_| RamPayload::new(&sheet, units)), timing))
}

/// Writes, reads, flushes and trims; and everything that was asked for is answered, once.
fn is_a_disk<D: Disk + 'static>(disk: &Arc<D>) {
    let mut client = connect(disk);
    client.write(0, &[1; 65_536]);
    client.write(4096, &[2; 512]);
    assert_eq!(client.call(&Op::Flush).fault, None);
    assert_eq!(client.read(3584, 1536), [[1; 512], [2; 512], [1; 512]].concat());
    assert_eq!(client.call(&Op::Trim { offset: 32_768, length: 32_768, fua: true }).fault, None);
    assert_eq!(client.read(32_768, 32_768), [0; 32_768]);
    assert_eq!(client.read(0, 512), [1; 512], "what lies beside it stays");
    let answer = client.call(&Op::BlockStatus { offset: 0, length: 65_536, one: false });
    let free = allocation::HOLE | allocation::ZERO;
    assert_eq!(answer.status, [(0, vec![Extent { length: 32_768, flags: 0 }, Extent { length: 32_768, flags: free }])]);
    // Many at a time, of two clients, and their answers in any order.
    let mut other = connect(disk);
    for at in 0..32u64 {
        client.request(&Op::Write { offset: at * 4096, data: vec![at as u8; 4096], fua: false });
        other.request(&Op::Write { offset: (at + 32) * 4096, data: vec![at as u8 + 32; 4096], fua: false });
    }
    for client in [&mut client, &mut other] {
        let mut tags: Vec<u64> =
            (0..32).map(|_| client.answer()).inspect(|answer| assert_eq!(answer.fault, None)).map(|answer| answer.tag).collect();
        tags.sort_unstable();
        assert_eq!(tags, (tags[0]..tags[0] + 32).collect::<Vec<_>>());
    }
    drop(client);
    (0..64).for_each(|at| assert_eq!(other.read(at * 4096, 4096), [at as u8; 4096]));
}

#[test]
fn something_inside_the_process_writes_reads_flushes_and_trims() {
    is_a_disk(&Arc::new(MemoryDisk::new(1 << 20)));
    is_a_disk(&ram_drive(small_drive(2, &["cells.physics=false"]), Timing::Off));
    is_a_disk(&ram_drive(small_drive(2, &["cells.physics=false"]), Timing::Real(100.0)));
}

#[test]
fn a_drive_that_has_stopped_refuses_everything_and_answers_everything() {
    let disk = ram_drive(small_drive(2, &["cells.physics=false"]), Timing::Off);
    let mut client = connect(&disk);
    client.write(0, &[1; 4096]);
    (0..50u64).for_each(|at| _ = client.request(&Op::Write { offset: at * 4096, data: vec![2; 4096], fua: false }));
    disk.stop().expect("in good order");
    let after = client.request(&Op::Read { offset: 0, length: 512 });
    for _ in 0..51 {
        let answer = client.answer();
        let expected = (answer.tag == after).then_some(Errno::Shutdown);
        assert_eq!(answer.fault.map(|fault| fault.errno), expected, "request {}", answer.tag);
    }
}
