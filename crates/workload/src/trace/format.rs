//! The formats, by name, and what their columns mean.
//!
//! Five-column ASCII is written by many simulators with the same shape and different meanings, so it is described by three
//! independent choices ([`Ascii`]) and the familiar names stand for combinations of them.

use std::fmt;

use serde::{Serialize, Serializer};

/// A trace format with every choice that its reading depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// MSR Cambridge.
    Msr,
    /// SYSTOR '17 (LUN traces of a virtual desktop installation).
    Systor,
    /// Alibaba block traces of 2020.
    Alibaba,
    /// Tencent CBS as published.
    Tencent,
    /// Tencent CBS replayed by FlashNet on a real drive, with latencies.
    FlashNet,
    /// UMass / Storage Performance Council.
    Spc,
    /// CloudPhysics virtual disks.
    CloudPhysics,
    /// The comma-separated blktrace extract of YCSB on RocksDB.
    Ycsb,
    /// BIOTracer's smartphone traces, reduced to order.
    Nexus5,
    /// WiscSee's blktrace extract.
    WiscSee,
    /// The default text of blkparse.
    Blkparse(BlockEvent),
    /// The files of blktrace itself.
    Blktrace(BlockEvent),
    /// fio iolog, version 2.
    FioV2,
    /// fio iolog, version 3.
    FioV3,
    /// `time device address size type`.
    Ascii(Ascii),
    /// This project's own plain columns under a header.
    Csv,
}

/// Which blktrace event stands for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockEvent {
    /// Q: the request enters the block layer. What the application asked, at the time it asked.
    Queue,
    /// D: the request is issued to the driver, after merging and scheduling.
    Issue,
    /// C: the request is complete.
    Complete,
}

impl BlockEvent {
    /// The letter blkparse prints.
    pub const fn letter(self) -> u8 {
        match self {
            BlockEvent::Queue => b'Q',
            BlockEvent::Issue => b'D',
            BlockEvent::Complete => b'C',
        }
    }

    /// Which event stands for requests in a trace that has some of these: Q if there are any, else D, else C.
    pub(crate) const fn chosen(queued: bool, issued: bool, completed: bool) -> BlockEvent {
        match (queued, issued, completed) {
            (true, ..) => BlockEvent::Queue,
            (false, false, true) => BlockEvent::Complete,
            (false, true, _) | (false, false, false) => BlockEvent::Issue,
        }
    }

    /// The choice in words, for [`Recognised::why`](super::Recognised::why).
    pub(crate) const fn chosen_words(self) -> &'static str {
        match self {
            BlockEvent::Queue => "Q events taken as requests",
            BlockEvent::Issue => "no Q events, D events taken as requests",
            BlockEvent::Complete => "no Q events, C events taken as requests",
        }
    }
}

/// How a five-column ASCII file is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ascii {
    /// The first column.
    pub time: AsciiTime,
    /// The third and fourth column.
    pub unit: AsciiUnit,
    /// The last column.
    pub code: AsciiCode,
}

/// What the first column of five-column ASCII counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AsciiTime {
    /// Time in nanoseconds.
    Nanos,
    /// Milliseconds with a fraction.
    Millis,
    /// A position, not a time.
    Position,
}

/// What addresses and sizes of five-column ASCII count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AsciiUnit {
    /// Sectors of 512 bytes.
    Sectors,
    /// Size in bytes.
    Bytes,
}

/// Which number means a read in five-column ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AsciiCode {
    /// 1 reads, 0 writes: MQSim, SSDSim and DiskSim's SSD extension.
    OneReads,
    /// 0 reads, 1 writes.
    ZeroReads,
}

impl Ascii {
    /// MQSim: nanoseconds and sectors.
    pub const MQSIM: Ascii = Ascii { time: AsciiTime::Nanos, unit: AsciiUnit::Sectors, code: AsciiCode::OneReads };
    /// DiskSim and SSDSim: milliseconds and sectors.
    pub const DISKSIM: Ascii = Ascii { time: AsciiTime::Millis, unit: AsciiUnit::Sectors, code: AsciiCode::OneReads };
    /// Heimdall: milliseconds and bytes.
    pub const HEIMDALL: Ascii = Ascii { time: AsciiTime::Millis, unit: AsciiUnit::Bytes, code: AsciiCode::OneReads };
}

/// Every name, the format it stands for, and the columns. A new format is one line here, and the compiler then asks the rest.
const NAMED: [(&str, Format, &str); 31] = [
    ("msr", Format::Msr, "filetime_100ns,host,disk,Read|Write,offset_bytes,size_bytes,response_100ns"),
    ("systor", Format::Systor, "unix_s,response_s,R|W,lun,offset_bytes,size_bytes"),
    ("alibaba", Format::Alibaba, "device,R|W,offset_bytes,length_bytes,unix_us"),
    ("tencent", Format::Tencent, "unix_s,offset_sectors,size_sectors,0=read|1=write,volume"),
    ("flashnet", Format::FlashNet, "original_ms,latency_us,1=read|0=write,size_bytes,offset_bytes,submit_ms,done_bytes"),
    ("spc", Format::Spc, "asu,lba_sectors,size_bytes,r|w,time_s"),
    ("cloudphysics", Format::CloudPhysics, "version,time_us,scsi_opcode_hex,size_bytes,lba_sectors"),
    ("ycsb", Format::Ycsb, "major,minor,cpu,record,time_s,pid,action,rwbs,sector,sectors,process"),
    ("nexus5", Format::Nexus5, "offset_sectors,size_bytes,1=write|0=read"),
    ("wiscsee", Format::WiscSee, "pid D|C read|write offset_bytes size_bytes time_s gap_s sync"),
    ("blkparse", Format::Blkparse(BlockEvent::Queue), "major,minor cpu seq time_s pid Q rwbs sector + sectors [process]"),
    ("blkparse-d", Format::Blkparse(BlockEvent::Issue), "major,minor cpu seq time_s pid D rwbs sector + sectors [process]"),
    ("blkparse-c", Format::Blkparse(BlockEvent::Complete), "major,minor cpu seq time_s pid C rwbs sector + sectors [error]"),
    ("blktrace", Format::Blktrace(BlockEvent::Queue), "binary records of 48 bytes, those of Q; one file for each processor"),
    ("blktrace-d", Format::Blktrace(BlockEvent::Issue), "binary records of 48 bytes, those of D; one file for each processor"),
    ("blktrace-c", Format::Blktrace(BlockEvent::Complete), "binary records of 48 bytes, those of C; one file for each processor"),
    ("fio2", Format::FioV2, "file action offset_bytes length_bytes, or file wait time_us"),
    ("fio3", Format::FioV3, "time_us file action offset_bytes length_bytes"),
    ("mqsim", Format::Ascii(Ascii::MQSIM), "time_ns device lba_sectors size_sectors 1=read|0=write"),
    ("disksim", Format::Ascii(Ascii::DISKSIM), "time_ms device lba_sectors size_sectors 1=read|0=write"),
    ("heimdall", Format::Ascii(Ascii::HEIMDALL), "time_ms device offset_bytes size_bytes 1=read|0=write"),
    (
        "mqsim-untimed",
        ascii(AsciiTime::Position, AsciiUnit::Sectors, AsciiCode::OneReads),
        "position device lba_sectors size_sectors 1=read|0=write",
    ),
    (
        "mqsim-bytes",
        ascii(AsciiTime::Nanos, AsciiUnit::Bytes, AsciiCode::OneReads),
        "time_ns device offset_bytes size_bytes 1=read|0=write",
    ),
    (
        "mqsim-inverted",
        ascii(AsciiTime::Nanos, AsciiUnit::Sectors, AsciiCode::ZeroReads),
        "time_ns device lba_sectors size_sectors 0=read|1=write",
    ),
    (
        "disksim-inverted",
        ascii(AsciiTime::Millis, AsciiUnit::Sectors, AsciiCode::ZeroReads),
        "time_ms device lba_sectors size_sectors 0=read|1=write",
    ),
    (
        "heimdall-inverted",
        ascii(AsciiTime::Millis, AsciiUnit::Bytes, AsciiCode::ZeroReads),
        "time_ms device offset_bytes size_bytes 0=read|1=write",
    ),
    (
        "mqsim-untimed-bytes",
        ascii(AsciiTime::Position, AsciiUnit::Bytes, AsciiCode::OneReads),
        "position device offset_bytes size_bytes 1=read|0=write",
    ),
    (
        "mqsim-untimed-inverted",
        ascii(AsciiTime::Position, AsciiUnit::Sectors, AsciiCode::ZeroReads),
        "position device lba_sectors size_sectors 0=read|1=write",
    ),
    (
        "mqsim-bytes-inverted",
        ascii(AsciiTime::Nanos, AsciiUnit::Bytes, AsciiCode::ZeroReads),
        "time_ns device offset_bytes size_bytes 0=read|1=write",
    ),
    (
        "mqsim-untimed-bytes-inverted",
        ascii(AsciiTime::Position, AsciiUnit::Bytes, AsciiCode::ZeroReads),
        "position device offset_bytes size_bytes 0=read|1=write",
    ),
    (
        "csv",
        Format::Csv,
        "header naming time_us, op, offset, length, volume, latency_us, fua, priority, insecure, tolerance in any order; op, offset and length are required",
    ),
];

const fn ascii(time: AsciiTime, unit: AsciiUnit, code: AsciiCode) -> Format {
    Format::Ascii(Ascii { time, unit, code })
}

impl Format {
    /// Every name that [`Format::parse`] takes.
    pub fn names() -> Vec<&'static str> {
        NAMED.iter().map(|(name, _, _)| *name).collect()
    }

    /// Every named format.
    pub fn all() -> impl Iterator<Item = Format> {
        NAMED.iter().map(|(_, format, _)| *format)
    }

    /// The format of this name.
    pub fn parse(name: &str) -> Result<Format, UnknownFormat> {
        let lower = name.trim().to_ascii_lowercase();
        match NAMED.iter().find(|(known, _, _)| *known == lower) {
            Some((_, format, _)) => Ok(*format),
            None => Err(UnknownFormat {
                name: name.to_owned(),
                hint: crate::words::did_you_mean(&lower, Format::names()),
                known: format!("of {}, the nearest are {}", NAMED.len(), crate::words::ranked(&lower, Format::names())[..3].join(", ")),
            }),
        }
    }

    /// The name used in tables and on the command line.
    pub fn name(self) -> &'static str {
        self.entry().0
    }

    /// True if records have, or can have, times.
    pub(crate) fn has_times(self) -> bool {
        !matches!(self, Format::Nexus5 | Format::Ascii(Ascii { time: AsciiTime::Position, .. }))
    }

    /// True if addresses or sizes are counted in sectors.
    pub(crate) fn counts_sectors(self) -> bool {
        match self {
            Format::Tencent | Format::Spc | Format::CloudPhysics | Format::Ycsb | Format::Nexus5 | Format::Blkparse(_) => true,
            Format::Ascii(meaning) => meaning.unit == AsciiUnit::Sectors,
            Format::Msr
            | Format::Systor
            | Format::Alibaba
            | Format::FlashNet
            | Format::WiscSee
            | Format::Blktrace(_)
            | Format::FioV2
            | Format::FioV3
            | Format::Csv => false,
        }
    }

    /// Why the units of its columns can be no others.
    pub(crate) fn fixed_units(self) -> Option<&'static str> {
        matches!(self, Format::Blktrace(_)).then_some("the records of blktrace are in nanoseconds and sectors of 512 B")
    }

    /// The columns with their units.
    pub fn columns(self) -> &'static str {
        self.entry().2
    }

    fn entry(self) -> (&'static str, Format, &'static str) {
        const UNNAMED: (&str, Format, &str) = ("ascii", Format::Csv, "time device address size type");
        NAMED.iter().find(|(_, format, _)| *format == self).copied().unwrap_or(UNNAMED)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Format {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A format was named that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{name}' is not a trace format{hint} ({known})")]
pub struct UnknownFormat {
    /// The name that was given.
    pub name: String,
    /// `; did you mean …?`, or empty.
    pub hint: String,
    /// Which names there are.
    pub known: String,
}
