//! Any bytes through recognition, every reader, the measures, every writer and every fit: records or an error, never a panic.
//!
//! The first byte chooses the format to read as; zero leaves it to recognition.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wordline_units::Bytes;
use wordline_workload::trace::{OnFault, OutputFormat, ReadOptions, TraceReader, TraceStats, convert};
use wordline_workload::{Fit, Footprint, Format, Placement, Replay, ReplayOptions};

fuzz_target!(|input: &[u8]| {
    let Some((choice, bytes)) = input.split_first() else { return };
    let format = usize::from(*choice).checked_sub(1).and_then(|index| Format::all().nth(index));
    for on_fault in [OnFault::Stop, OnFault::Skip] {
        read(bytes, ReadOptions { format, on_fault, ..ReadOptions::default() });
    }
});

fn read(bytes: &[u8], options: ReadOptions) {
    let open = || TraceReader::new(bytes, "input", options);
    let Ok(mut reader) = open() else { return };
    let Ok(stats) = TraceStats::measure(&mut reader) else { return };
    let _ = stats.to_string();
    for format in OutputFormat::ALL {
        let mut out = Vec::new();
        let written = convert(&mut open().expect("read before"), &mut out, format).expect("read before");
        let name = if format == OutputFormat::Fio { "fio3" } else { format.name() };
        let again = ReadOptions { format: Format::parse(name).ok(), ..ReadOptions::default() };
        let count = TraceReader::new(out.as_slice(), "written", again).expect("memory").map(|record| record.expect("own output")).count();
        assert_eq!(count as u64, written.records, "{name} loses records");
    }
    for fit in Fit::ALL {
        let footprint = Footprint::measure(&mut open().expect("read before"), Footprint::UNIT).expect("read before");
        let capacity = Bytes::mib(2);
        let Ok(placement) = Placement::new(footprint, capacity, fit) else { continue };
        let replay = Replay::new(open, placement, ReplayOptions { repeat: 2, ..ReplayOptions::default() }).expect("read before");
        for request in replay {
            let request = request.expect("read before");
            assert!((request.sector + u64::from(request.sectors)) * 512 <= capacity.0);
        }
    }
}
