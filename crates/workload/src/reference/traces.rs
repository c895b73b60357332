//! `docs/reference/traces.md`: trace formats, with a sample of each.

use std::fmt::Write;

use crate::trace::order::{WINDOW_RECORDS, WINDOW_TIME};
use crate::trace::own::COLUMNS;
use crate::trace::samples::sample;
use crate::trace::write::{CARRIED, OutputFormat};
use crate::trace::{Ascii, AsciiCode, AsciiTime, AsciiUnit, BlockEvent, Format, TraceRecord};

/// How many lines of a sample are shown.
const SHOWN: usize = 6;

/// The reference of trace formats.
pub fn traces_markdown() -> String {
    let mut text = format!(
        "# Traces\n\n\
         *Generated from the code by `wordline_workload::reference::traces_markdown`. Do not edit.*\n\n\
         Any command that takes a workload takes a block trace: `wordline run DRIVE --workload FILE`.\n\
         The format is recognised by what is in the file, not by its name; `wordline trace info FILE` says which it is and why, and\n\
         `--format NAME` says it instead. A file may be packed with gzip or zstd. Workload files are [another page](workloads.md).\n\n\
         What holds for all formats:\n\n\
         - Each volume of a trace has an address space of its own. Volumes stand side by side on\n  \
         the drive, in the order of their first appearance in the file; `--volumes one`\n  \
           takes them as parts of one. Where they need more room than the drive has, `--fit` says what to do.\n\
         - Whatever a fit changes is counted, in the notes of a run and under `trace` in its JSON. A request across the end of the\n  \
         drive goes on at its beginning with `wrap`; with `scale` it is moved to end there, or clipped if it is longer than the drive.\n\
         - The tick of a trace's clock is the greatest common divisor of the steps between its times. Where it is above 10 us\n  \
         and at least one record in ten has the time of the one before, a replay spreads the\n  \
           records of a tick evenly over it, in their order. `--within-tick burst` issues them at once; at least 64 records and 8 steps are needed.\n\
         - `--time-unit` and `--sector` say the unit of times and the size of a sector where they are not those of the format.\n\
         - Records are put in the order of their times, within {WINDOW_RECORDS} records of the file\n  \
         and {WINDOW_TIME}. `trace info` and `run` tell how many were late and by\n  \
           how much. A record that is later than that is refused.\n\
         - A trace without times is replayed in a closed loop (`--qd`, 32 by default); one with times at its own, divided by `--speed`.\n\
         - A malformed line stops the reading with its place and what was expected. With `--lenient` it is counted and passed over.\n  \
         Rows of SYSTOR traces without a type are passed over and counted by any reading.\n\
         - A read or write is of 1 B to {}, and a trim or a hint of at most {}; a larger one means that\n  \
         columns or units were mistaken. Requests are widened to whole sectors of\n  \
           512 B. A line has at most 64 KiB. A line that begins with `#` is a comment.\n\n\
         ## A trace of your own: `csv`\n\n\
         Text with commas under a header that names the columns, in any order.\n\n\
         | column | needed | value | meaning |\n|---|---|---|---|\n",
        TraceRecord::LARGEST_TRANSFER,
        TraceRecord::LARGEST_TRIM,
    );
    for column in COLUMNS {
        let needed = if column.needed { "yes" } else { "" };
        let _ = writeln!(text, "| `{}` | {needed} | {} | {} |", column.name, column.value, column.meaning);
    }
    shown(&mut text, Format::Csv);
    text.push_str("\n## All formats\n\n| name | columns | what writes it |\n|---|---|---|\n");
    for format in Format::all() {
        let _ = writeln!(text, "| `{}` | {} | {} |", format.name(), cell(format.columns()), about(format));
    }
    text.push_str(BLKTRACE);
    text.push_str(
        "\n## What is written\n\n`wordline trace convert FILE --to FORMAT` writes these, and says how many records it left out or widened.\n\n\
         | format | times | operations | addresses | volumes | latency | unit access | priority, security, tolerance |\n|---|---|---|---|---|---|---|---|\n",
    );
    for (format, carried) in OutputFormat::ALL.iter().zip(CARRIED) {
        let _ = writeln!(text, "| `{}` | {} |", format.name(), carried.join(" | "));
    }
    text.push_str("\n## Samples\n\nThe same requests in each format.\n");
    for format in Format::all().filter(|format| *format != Format::Csv && sample(*format).is_some()) {
        let _ = write!(text, "\n### `{}`\n", format.name());
        shown(&mut text, format);
    }
    text
}

fn shown(text: &mut String, format: Format) {
    let lines: Vec<&str> = sample(format).unwrap_or_default().lines().take(SHOWN).collect();
    let _ = writeln!(text, "\n```text\n{}\n```", lines.join("\n"));
}

fn cell(text: &str) -> String {
    format!("`{}`", text.replace('|', "\\|"))
}

/// Where a format is met.
fn about(format: Format) -> &'static str {
    match format {
        Format::Msr => "MSR Cambridge (SNIA IOTTA); exactly seven columns",
        Format::Systor => "SYSTOR '17, a virtual desktop installation (SNIA IOTTA)",
        Format::Alibaba => "Alibaba block traces of 2020",
        Format::Tencent => "Tencent CBS, as published (SNIA IOTTA)",
        Format::FlashNet => "FlashNet: Tencent CBS replayed on a real drive",
        Format::Spc => "the Storage Performance Council and UMass; columns behind the fifth are passed over",
        Format::CloudPhysics => "CloudPhysics virtual disks",
        Format::Ycsb => "an extract of blktrace, from YCSB on RocksDB; D events are requests",
        Format::Nexus5 => "smartphone traces (BIOTracer), reduced to their order",
        Format::WiscSee => "WiscSee's extract of blktrace; D rows are requests",
        Format::Blkparse(BlockEvent::Queue) => "`blkparse`, its default text; Q events are requests",
        Format::Blkparse(BlockEvent::Issue) => "the same; D events are requests, which is recognised where there is no Q",
        Format::Blkparse(BlockEvent::Complete) => "the same; C events are requests, which is recognised where there is neither Q nor D",
        Format::Blktrace(BlockEvent::Queue) => "`blktrace` itself: see below; Q events are requests",
        Format::Blktrace(BlockEvent::Issue) => "the same; D events are requests, which is recognised where there is no Q",
        Format::Blktrace(BlockEvent::Complete) => "the same; C events are requests, which is recognised where there is neither Q nor D",
        Format::FioV2 => "fio (`write_iolog`), version 2; timed if a `wait` stands in its first 64 KiB",
        Format::FioV3 => "fio (`write_iolog`), version 3",
        Format::Ascii(ascii) => five_numbers(ascii),
        Format::Csv => "this program, and `wordline record`; see above",
    }
}

fn five_numbers(ascii: Ascii) -> &'static str {
    match ascii {
        Ascii::MQSIM => "MQSim; recognised where the first column is whole numbers and addresses or sizes are not all multiples of 512",
        Ascii::DISKSIM => "DiskSim and SSDSim; recognised by a decimal point in the first column",
        Ascii::HEIMDALL => "Heimdall; recognised by a decimal point in the first column and multiples of 512 in the others",
        Ascii { time: AsciiTime::Position, unit: AsciiUnit::Sectors, code: AsciiCode::OneReads } => {
            "simulators' traces without times; recognised where the first column rises by less than 100 a line"
        }
        Ascii { code: AsciiCode::ZeroReads, .. } => "as the one without `-inverted`, with 0 for reads; never recognised, only named",
        Ascii { .. } => "as its name says, and recognised by the same rules",
    }
}

const BLKTRACE: &str = "
## Files of `blktrace`

`blktrace -d /dev/sda` writes one file for each processor, `sda.blktrace.0` and so on, and each is only a part. Name their folder, or any one of them: all
files of that device in the folder are read and merged by time, as `blkparse` does. A stream with all processors in it (`blktrace -o -`) is read as well, and so
is what `blkparse -d` writes. Either byte order is read; the records are those of version 7. With `--lenient`, a file that cannot be read on ends
there and is told.

Which events are requests follows the rules of `blkparse`'s text, and both forms of one recording are the same requests:

| event | request |
|---|---|
| read, write, discard | read, write, trim, with offset and length |
| write with FUA | write with forced unit access |
| flush without data | flush |
| Q of a write that asks for a flush first | a flush, then the write |
| D or C of such a write | the write: the kernel issues its flush as a request of its own |
| commands that are passed through to the device, notes, requests without data | nothing |
";
