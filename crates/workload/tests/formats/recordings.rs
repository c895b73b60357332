//! Files of `blktrace`: are they read as what they are, and as `blkparse`, which shares no code with the reader, says they are?

use std::path::Path;
use std::process::Command;

use wordline_units::HostOp::{self, Flush, Read, Trim, Write};
use wordline_workload::trace::{OnFault, ReadOptions, TraceReader, TraceRecord, TraceStats, open};
use wordline_workload::{Format, TraceError};

use crate::Scratch;
use crate::outside;
use crate::recording::*;
use crate::requests::{Count, REQUESTS};

/// The requests of all samples as events on four processors, queued on one and completed on the next.
fn events() -> Vec<Event> {
    let mut events: Vec<Event> =
        (0..4).map(|cpu| Event { cpu, at: 1, device: (0, 0), action: NOTE, sector: 0, bytes: 0, data: b"fio\0".to_vec() }).collect();
    for (number, (at, volume, op, offset, length)) in REQUESTS.iter().enumerate() {
        let fua = if number == 5 { FUA } else { 0 };
        for (what, later) in [(QUEUE, 0), (GET_REQUEST, 1), (INSERT, 2), (ISSUE, 3), (COMPLETE, 80)] {
            let cpu = (number as u32 + u32::from(what == COMPLETE)) % 4;
            let (at, device) = (5_000_000_000 + (at + later) * 1000, (8, 16 * volume));
            let data = if what == INSERT { vec![7; 13] } else { Vec::new() };
            events.push(Event { cpu, at, device, action: what | flags(*op) | fua, sector: offset / 512, bytes: *length as u32, data });
        }
    }
    events
}

/// All events in one stream, as `blktrace -o -` writes them.
pub(crate) fn stream() -> Vec<u8> {
    files(&events(), false).concat()
}

fn write(folder: &Path, device: &str, files: &[Vec<u8>]) {
    for (cpu, bytes) in files.iter().enumerate() {
        std::fs::write(folder.join(format!("{device}.blktrace.{cpu}")), bytes).expect("a scratch file");
    }
}

fn named(name: &str) -> ReadOptions {
    ReadOptions { format: Some(Format::parse(name).expect("known")), ..ReadOptions::default() }
}

fn all(reader: TraceReader<'_>) -> Vec<TraceRecord> {
    reader.collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{error}"))
}

fn check(mut reader: TraceReader<'_>, again: TraceReader<'_>) {
    assert_eq!(reader.recognised().format.name(), "blktrace");
    let stats = TraceStats::measure(&mut reader).expect("sound");
    assert_eq!(Count::of_stats(&stats), Count::of_requests(&REQUESTS));
    assert_eq!(reader.volume_names(), ["8.0", "8.16"]);
    let read: Vec<_> = all(again)
        .iter()
        .map(|record| {
            ((record.at.expect("it has times").0 - 5_000_000_000) / 1000, record.volume, record.op, record.offset.0, record.length.0)
        })
        .collect();
    assert_eq!(read, REQUESTS);
}

#[test]
fn a_folder_any_of_its_files_and_one_stream_are_the_same_requests_in_either_byte_order() {
    let scratch = Scratch::new("parts");
    for big_endian in [false, true] {
        let files = files(&events(), big_endian);
        write(&scratch.0, "sda", &files);
        // Another recording and another file beside it are not part of it, unless the folder as a whole is named.
        std::fs::write(scratch.0.join("notes.txt"), "x").expect("a scratch file");
        let options = ReadOptions::default();
        for named in [scratch.0.clone(), scratch.0.join("sda.blktrace.0"), scratch.0.join("sda.blktrace.3")] {
            check(open(&named, options).expect("known"), open(&named, options).expect("known"));
        }
        let stream = files.concat();
        let packed = zstd::encode_all(stream.as_slice(), 1).expect("memory");
        for bytes in [&stream, &packed] {
            let reader = || TraceReader::new(bytes.as_slice(), "stream", options).expect("known");
            check(reader(), reader());
        }
    }
    let info = open(&scratch.0, ReadOptions::default()).expect("known").recognised().why.clone();
    assert_eq!(info, "records of blktrace in 4 files; Q events taken as requests");
    std::fs::remove_file(scratch.0.join("sda.blktrace.1")).expect("it was written");
    let info = open(&scratch.0, ReadOptions::default()).expect("known").recognised().why.clone();
    assert!(info.contains("3 files, of which sda.blktrace.1 is absent"), "{info}");
}

#[test]
fn d_events_stand_for_requests_where_there_is_no_q_and_c_where_there_is_neither() {
    for (without, name) in [(&[QUEUE][..], "blktrace-d"), (&[QUEUE, ISSUE], "blktrace-c")] {
        let left: Vec<Event> =
            events().into_iter().filter(|event| event.action & NOTE != 0 || !without.contains(&(event.action & 0xFF))).collect();
        let bytes = files(&left, false).concat();
        let reader = TraceReader::new(bytes.as_slice(), "t", ReadOptions::default()).expect("known");
        assert_eq!(reader.recognised().format.name(), name);
        assert_eq!(reader.count(), REQUESTS.len());
    }
}

/// A simple event on processor 0 of device 8,0.
fn event(at: u64, action: u32, sector: u64, bytes: u32) -> Event {
    Event { cpu: 0, at, device: (8, 0), action, sector, bytes, data: Vec::new() }
}

fn read_events(events: &[Event]) -> Vec<(HostOp, u64, u64, bool)> {
    let bytes = files(events, false).concat();
    let reader = TraceReader::new(bytes.as_slice(), "t", named("blktrace")).expect("known");
    all(reader).iter().map(|record| (record.op, record.offset.0, record.length.0, record.fua)).collect()
}

#[test]
fn flags_mean_what_the_kernel_means_by_them() {
    let read = read_events(&[
        event(1, QUEUE | READ | META | FS, 8, 4096),
        event(2, QUEUE | WRITE | FUA | FS, 16, 4096),
        event(3, QUEUE | FLUSH | WRITE | FUA | FS, 24, 512),
        event(4, QUEUE | FLUSH | FS, 0, 0),
        event(5, QUEUE | DISCARD | WRITE | FS, 32, 1 << 20),
        event(6, QUEUE | IN_GROUP | WRITE | FS, 40, 512),
        // No requests: a command that is passed through, a note, a request for nothing, other steps of a request's way.
        event(7, QUEUE | PASSED_THROUGH, 0, 36),
        event(8, NOTE | 2, 0, 0),
        event(9, QUEUE | WRITE | FS, 48, 0),
        event(10, BACK_MERGE | WRITE | FS, 56, 512),
        event(11, REMAP | WRITE | FS, 64, 512),
        event(12, PLUG | FS, 0, 0),
    ]);
    let flush = (Flush, 0, 0, false);
    let expected = [
        (Read, 8 * 512, 4096, false),
        (Write, 16 * 512, 4096, true),
        flush,
        (Write, 24 * 512, 512, true),
        flush,
        (Trim, 32 * 512, 1 << 20, false),
        (Write, 40 * 512, 512, false),
    ];
    assert_eq!(read, expected);
}

#[test]
fn damaged_records_are_refused_with_their_place_or_end_their_file() {
    let files = files(&events(), false);
    let cut = &files[0][..files[0].len() - 10];
    let mut other = files[0].clone();
    // Behind a note with four bytes of data and a first event.
    let place = 48 + 4 + 48;
    assert_eq!(other[place..place + 4], [0x07, b't', b'a', b'e']);
    other[place] = 8;
    let mut noise = files[0].clone();
    noise[place..place + 4].copy_from_slice(b"junk");
    for (bytes, words) in [
        (cut, &["a whole record", "at the end of the file"][..]),
        (other.as_slice(), &["the record at byte 100: ", "version 7", "version 8"]),
        (noise.as_slice(), &["the record at byte 100: ", "magic number"]),
    ] {
        let strict = TraceReader::new(bytes, "t.blktrace.0", ReadOptions::default()).expect("known");
        let told = strict.filter_map(Result::err).next().expect("it is refused").to_string();
        assert!(told.starts_with("t.blktrace.0: ") && words.iter().all(|word| told.contains(word)), "{told}");
        let options = ReadOptions { on_fault: OnFault::Skip, ..ReadOptions::default() };
        let mut lenient = TraceReader::new(bytes, "t.blktrace.0", options).expect("known");
        assert!(lenient.by_ref().all(|record| record.is_ok()));
        assert_eq!(lenient.skipped().count, 1);
        assert!(lenient.skipped().first[0].to_string().contains("the rest of this file is passed over"));
    }
}

#[test]
fn what_only_looks_like_a_recording_is_refused() {
    let scratch = Scratch::new("lookalike");
    let refused = |path: &Path, options: ReadOptions| open(path, options).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(refused(&scratch.0, ReadOptions::default()).contains("a directory without files of blktrace"));
    write(&scratch.0, "sda", &files(&events(), false));
    std::fs::write(scratch.0.join("sda.blktrace.1"), "0.5 0 1 2 1\n").expect("a scratch file");
    assert!(refused(&scratch.0, ReadOptions::default()).contains("sda.blktrace.1: not blktrace"));
    write(&scratch.0, "sda", &files(&events(), false));
    assert!(refused(&scratch.0.join("sda.blktrace.2"), named("msr")).contains("not msr: the file holds binary records of blktrace"));
    // One file of such a name may be anything.
    std::fs::write(scratch.0.join("only.blktrace.0"), "0.015625 1 754816 24 1\n0.019531 1 774760 24 0\n").expect("a scratch file");
    assert_eq!(
        open(&scratch.0.join("only.blktrace.0"), ReadOptions::default()).map(|reader| reader.recognised().format.name()).ok(),
        Some("disksim")
    );
    for empty in 0..4 {
        std::fs::write(scratch.0.join(format!("sda.blktrace.{empty}")), "").expect("a scratch file");
    }
    assert!(matches!(open(&scratch.0.join("sda.blktrace.0"), ReadOptions::default()), Err(TraceError::Empty { .. })));
}

/// Numbers that look random, the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn one_of(&mut self, values: &[u32]) -> u32 {
        values[self.below(values.len() as u64) as usize]
    }
}

/// Events of every kind that `blkparse` 1.2 prints, with all flags, on up to four processors and two devices. Some are written a little late.
fn drawn(seed: u64) -> Vec<Event> {
    let mut dice = Dice(seed);
    let mut events = Vec::new();
    let cpus = 1 + dice.below(4);
    for cpu in 0..cpus {
        events.push(Event { cpu: cpu as u32, at: 10, device: (0, 0), action: NOTE, sector: 0, bytes: 0, data: b"fio\0".to_vec() });
    }
    let mut at = 1000;
    for _ in 0..400 {
        at += 1 + dice.below(50_000);
        let what = dice.one_of(&[QUEUE, QUEUE, ISSUE, ISSUE, COMPLETE, BACK_MERGE, GET_REQUEST, INSERT, PLUG, REMAP]);
        let flags = FS
            | dice.one_of(&[READ, READ, WRITE, WRITE, WRITE | DISCARD, 0])
            | dice.one_of(&[0, 0, 0, FLUSH])
            | dice.one_of(&[0, 0, FUA])
            | dice.one_of(&[0, SYNC])
            | dice.one_of(&[0, 0, META]);
        let flags = if dice.below(12) == 0 { flags & !FS | PASSED_THROUGH } else { flags };
        let data = match what {
            // The sector and the device before it was mapped.
            REMAP => vec![0; 16],
            _ if flags & PASSED_THROUGH != 0 => vec![0x12, 0, 0, 0, 0x24, 0],
            _ => Vec::new(),
        };
        events.push(Event {
            cpu: dice.below(cpus) as u32,
            at,
            device: (8, 16 * dice.below(2) as u32),
            action: what | flags,
            sector: dice.below(1 << 40),
            bytes: if dice.below(8) == 0 { 0 } else { 512 * (1 + dice.below(2048)) as u32 },
            data,
        });
    }
    for _ in 0..20 {
        let place = 5 + dice.below(390) as usize;
        events.swap(place, place + 1);
    }
    events
}

#[test]
fn blkparse_says_the_same_of_drawn_recordings() {
    let name = "recordings::blkparse_says_the_same_of_drawn_recordings";
    if !outside::has_program_or_skip(name, "blkparse", "blktrace") {
        return;
    }
    let mut compared = 0;
    for seed in 0..24 {
        let scratch = Scratch::new(&format!("drawn-{seed}"));
        write(&scratch.0, "sda", &files(&drawn(seed), seed % 2 == 1));
        let printed = Command::new("blkparse").args(["-i", "sda"]).current_dir(&scratch.0).output().expect("it starts");
        assert!(printed.status.success(), "seed {seed}: {}", String::from_utf8_lossy(&printed.stderr));
        for kind in ["", "-d", "-c"] {
            let text = TraceReader::new(printed.stdout.as_slice(), "printed", named(&format!("blkparse{kind}"))).expect("text");
            let printed_records = all(text);
            let binary = all(open(&scratch.0, named(&format!("blktrace{kind}"))).expect("known"));
            // blkparse counts time from the first event.
            let origin = binary[0].at.expect("it has times") - printed_records[0].at.expect("it has times");
            let shifted: Vec<TraceRecord> =
                printed_records.iter().map(|record| TraceRecord { at: record.at.map(|at| at + origin), ..*record }).collect();
            for (one, other) in binary.iter().zip(&shifted) {
                assert_eq!(one, other, "seed {seed}, kind {kind:?}");
            }
            assert_eq!(binary.len(), shifted.len(), "seed {seed}, kind {kind:?}");
            compared += binary.len();
        }
    }
    assert!(compared > 3_000, "{compared}");
}
