//! A small trace in each format: the same twelve reads and writes, and where the format has words for them, a trim and a flush.
//!
//! They are what the reference shows, what tests read, and what an unknown file is compared with.

use super::format::{Ascii, AsciiCode, AsciiTime, AsciiUnit, BlockEvent, Format};

macro_rules! sample {
    ($name:literal) => {
        include_str!(concat!("../../samples/", $name, ".trace"))
    };
}

/// The sample in `format`; `None` for one that is not text, or has the shape of another and only means other things.
pub const fn sample(format: Format) -> Option<&'static str> {
    Some(match format {
        Format::Msr => sample!("msr"),
        Format::Systor => sample!("systor"),
        Format::Alibaba => sample!("alibaba"),
        Format::Tencent => sample!("tencent"),
        Format::FlashNet => sample!("flashnet"),
        Format::Spc => sample!("spc"),
        Format::CloudPhysics => sample!("cloudphysics"),
        Format::Ycsb => sample!("ycsb"),
        Format::Nexus5 => sample!("nexus5"),
        Format::WiscSee => sample!("wiscsee"),
        Format::Blkparse(BlockEvent::Queue) => sample!("blkparse"),
        Format::FioV2 => sample!("fio2"),
        Format::FioV3 => sample!("fio3"),
        Format::Ascii(Ascii { time, unit, code: AsciiCode::OneReads }) => match (time, unit) {
            (AsciiTime::Nanos, AsciiUnit::Sectors) => sample!("mqsim"),
            (AsciiTime::Millis, AsciiUnit::Sectors) => sample!("disksim"),
            (AsciiTime::Millis, AsciiUnit::Bytes) => sample!("heimdall"),
            (AsciiTime::Position, AsciiUnit::Sectors) => sample!("mqsim-untimed"),
            (AsciiTime::Nanos | AsciiTime::Position, AsciiUnit::Bytes) => return None,
        },
        Format::Csv => sample!("csv"),
        Format::Blkparse(BlockEvent::Issue | BlockEvent::Complete)
        | Format::Blktrace(_)
        | Format::Ascii(Ascii { code: AsciiCode::ZeroReads, .. }) => return None,
    })
}
