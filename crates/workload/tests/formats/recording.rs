//! Writes files as `blktrace` does, from events as the kernel reports them. It shares no code with the reader.

use wordline_units::HostOp;

// What happened, and the flags beside it, by their numbers in the kernel's interface.
pub(crate) const QUEUE: u32 = 1;
pub(crate) const BACK_MERGE: u32 = 2;
pub(crate) const GET_REQUEST: u32 = 4;
pub(crate) const ISSUE: u32 = 7;
pub(crate) const COMPLETE: u32 = 8;
pub(crate) const PLUG: u32 = 9;
pub(crate) const INSERT: u32 = 12;
pub(crate) const REMAP: u32 = 15;
pub(crate) const IN_GROUP: u32 = 1 << 8;

pub(crate) const READ: u32 = 1 << 16;
pub(crate) const WRITE: u32 = 1 << 17;
pub(crate) const FLUSH: u32 = 1 << 18;
pub(crate) const SYNC: u32 = 1 << 19;
pub(crate) const FS: u32 = 1 << 24;
pub(crate) const PASSED_THROUGH: u32 = 1 << 25;
pub(crate) const NOTE: u32 = 1 << 26;
pub(crate) const META: u32 = 1 << 28;
pub(crate) const DISCARD: u32 = 1 << 29;
pub(crate) const FUA: u32 = 1 << 31;

/// One event on one processor.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) cpu: u32,
    pub(crate) at: u64,
    pub(crate) device: (u32, u32),
    pub(crate) action: u32,
    pub(crate) sector: u64,
    pub(crate) bytes: u32,
    pub(crate) data: Vec<u8>,
}

/// The flags of an operation.
pub(crate) fn flags(op: HostOp) -> u32 {
    FS | match op {
        HostOp::Read => READ,
        HostOp::Write => WRITE | SYNC,
        HostOp::Trim => WRITE | DISCARD,
        HostOp::Flush => FLUSH,
        HostOp::Hint => unreachable!("the kernel traces no hints"),
    }
}

/// The flag that says of what kind an event is, for programs that ask for some kinds only.
fn kind(what: u32) -> u32 {
    match what & 0xFF {
        QUEUE | BACK_MERGE | GET_REQUEST | INSERT | PLUG | REMAP => 1 << 20,
        ISSUE => 1 << 22,
        COMPLETE => 1 << 23,
        _ => 0,
    }
}

/// The files of the processors from 0 to the highest that has an event.
pub(crate) fn files(events: &[Event], big_endian: bool) -> Vec<Vec<u8>> {
    let cpus = events.iter().map(|event| event.cpu + 1).max().unwrap_or(0) as usize;
    let mut files = vec![Vec::new(); cpus];
    let mut sequences = vec![0u32; cpus];
    for event in events {
        let (file, sequence) = (&mut files[event.cpu as usize], &mut sequences[event.cpu as usize]);
        *sequence += 1;
        let is_note = event.action & NOTE != 0;
        let action = event.action | if is_note { 0 } else { kind(event.action) };
        let four = [0x6561_7407, *sequence];
        let device = event.device.0 << 20 | event.device.1;
        let rest = [event.bytes, action, 4020, device, event.cpu];
        let long = |out: &mut Vec<u8>, value: u64| out.extend(if big_endian { value.to_be_bytes() } else { value.to_le_bytes() });
        let number = |out: &mut Vec<u8>, value: u32| out.extend(if big_endian { value.to_be_bytes() } else { value.to_le_bytes() });
        four.into_iter().for_each(|value| number(file, value));
        [event.at, event.sector].into_iter().for_each(|value| long(file, value));
        rest.into_iter().for_each(|value| number(file, value));
        for short in [0, event.data.len() as u16] {
            file.extend(if big_endian { short.to_be_bytes() } else { short.to_le_bytes() });
        }
        file.extend(&event.data);
    }
    files
}
