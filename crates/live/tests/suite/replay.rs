//! Does what clients asked of a served drive, recorded and replayed in virtual time, lead to the same events, to the last?

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use wordline_block::{Op, ZeroHow};
use wordline_drive::{Config as DriveConfig, Pace, Watched};
use wordline_figures::Metrics;
use wordline_live::{LiveDisk, Stop, Timing, control};
use wordline_units::random::{Draw, Stream};
use wordline_units::{Bytes, FlashOp, Nanos};
use wordline_workload::trace::{ReadOptions, TraceReader};
use wordline_workload::{Fit, Footprint, Placement, Replay, ReplayOptions};

use crate::client::{Client, ram_drive};
use crate::common::{small_drive, socket};

/// One client's requests, `depth` at a time.
fn load(disk: &Arc<LiveDisk>, size: u64, seed: u64, steps: u32) {
    // One of two clients tolerates long reads of what it writes.
    let classes: &[&str] = if seed.is_multiple_of(2) { &["longer"] } else { &[] };
    let mut client = Client::open(disk, classes, &[0]);
    let mut draw = Draw::new(seed, Stream::Mix, 17);
    for _ in 0..steps {
        let depth = 1 + draw.below(12);
        for _ in 0..depth {
            let span = if draw.below(2) == 0 { size / 5 } else { size };
            let length = 512 * (1 + if draw.below(8) == 0 { draw.below(512) } else { draw.below(64) });
            let offset = draw.below((span - length) / 512) * 512;
            let fua = draw.below(12) == 0;
            client.request(&match draw.below(20) {
                0..11 => Op::Write { offset, data: vec![1; length as usize], fua },
                11 => Op::Trim { offset, length, fua },
                12 => Op::WriteZeroes { offset, length, how: ZeroHow { may_punch: true, must_be_fast: false }, fua },
                13 => Op::Flush,
                _ => Op::Read { offset, length: length as u32 },
            });
        }
        for _ in 0..depth {
            assert_eq!(client.answer().fault, None, "seed {seed}");
        }
    }
}

/// Says `line` on a control socket; returns the answer and what can be read behind it.
pub(crate) fn tell(path: &Path, line: &str) -> (String, BufReader<UnixStream>) {
    let mut reader = BufReader::new(UnixStream::connect(path).expect("it listens"));
    writeln!(reader.get_mut(), "{line}").expect("it is taken");
    let mut answer = String::new();
    reader.read_line(&mut answer).expect("an answer");
    (answer, reader)
}

/// What two clients asked of a live drive, as a trace.
fn recorded(config: DriveConfig, timing: Timing, seed: u64, steps: u32) -> String {
    let size = config.exported().0;
    let disk = ram_drive(config, timing);
    // Whether answers leave at their instants or before makes no difference to what happens in the drive.
    disk.allow_for(Duration::from_micros(40));
    let control_path = socket();
    let control = control(&control_path, Arc::clone(&disk), Stop::default()).expect("it starts");
    // What need not be secret is in the recording, too.
    let (answer, _) = tell(&control_path, &format!(r#"{{"do":"hint","length":{},"security":"insecure"}}"#, size / 2));
    assert!(answer.contains("\"ok\":true"), "{answer}");
    let (answer, mut lines) = tell(&control_path, r#"{"do":"record"}"#);
    assert!(answer.contains("\"ok\":true"), "{answer}");
    // So are tolerated latencies: of the whole drive, taken away, and of bytes that no sector begins or ends with, amid the load.
    let hint = |from: u64, length: u64, latency: &str| {
        let line = format!(r#"{{"do":"hint","offset":{from},"length":{length},"read_latency":"{latency}"}}"#);
        let (answer, _) = tell(&control_path, &line);
        assert!(answer.contains("\"ok\":true") && answer.contains("read_latency"), "{answer}");
    };
    hint(0, size, "longer");
    hint(size / 4, size / 4, "none");
    let reader = std::thread::spawn(move || {
        let mut trace = String::new();
        std::io::Read::read_to_string(&mut lines, &mut trace).expect("a trace");
        trace
    });
    let clients: Vec<_> = (0..2)
        .map(|number| {
            let disk = Arc::clone(&disk);
            std::thread::spawn(move || load(&disk, size, seed * 10 + number, steps))
        })
        .collect();
    hint(100, 1_000, "shortest");
    clients.into_iter().for_each(|client| client.join().expect("no error"));
    let (answer, _) = tell(&control_path, r#"{"do":"stop-recording"}"#);
    assert!(answer.contains("\"ok\":true"), "{answer}");
    let trace = reader.join().expect("it was read");
    drop(control);
    trace
}

/// The end line that a recording of the same would have, had it been made in virtual time, and the questions that technique `latency-hints` has answered.
fn replayed(config: DriveConfig, trace: &str) -> (String, u64) {
    let open = || TraceReader::new(trace.as_bytes(), "trace", ReadOptions::default());
    let (unit, exported) = (config.firmware.unit, config.exported());
    let footprint = Footprint::measure(&mut open().expect("a trace"), Bytes::kib(4)).expect("a trace");
    let placement = Placement::new(footprint, exported, Fit::Reject).expect("it fits");
    let mut replay = Replay::new(open, placement, ReplayOptions::default()).expect("a trace").map(|request| request.expect("a good line"));
    let scope = wordline_figures::Scope::new(&config.sheet.geometry, unit, config.cores);
    let mut drive = Watched::new(config, Metrics::new(scope));
    let requests = drive.serve(&mut replay, Pace::Open { origin: Nanos::ZERO }, None);
    let totals = drive.observer.so_far();
    assert_eq!(drive.observer.violations(), []);
    let counts = drive.firmware()[0].technique_counts();
    let of = counts.iter().filter(|counts| counts.name == "latency-hints").flat_map(|counts| &counts.questions);
    let asked = of.map(|(_, answers)| answers.asked).sum();
    let line = format!(
        "# end: {requests} requests, event log {:016x}, write amplification {}, flash pages programmed {}, read {}, block groups erased {}",
        drive.log().hash(),
        totals.waf(unit).expect("it was written"),
        totals.pages_programmed(),
        totals.pages(FlashOp::Read),
        totals.pages(FlashOp::Erase)
    );
    (line, asked)
}

#[test]
fn a_recording_replays_to_the_same_events() {
    let tolerant = [
        "cells.physics=false",
        "techniques.read-disturb-refresh.on=true",
        "techniques.read-disturb-refresh.reads_max=12",
        "techniques.read-disturb-refresh.guard=true",
        "techniques.latency-hints.on=true",
    ];
    let all: [(&[&str], Timing, u32); 11] = [
        (&["cells.physics=false"], Timing::Off, 150),
        (&["cells.physics=false", "mapping.unit=4 KiB"], Timing::Off, 150),
        (&tolerant, Timing::Off, 150),
        (&tolerant, Timing::Real(50.0), 30),
        (&["cells.physics=false", "controller.cores=2", "mapping.unit=4 KiB"], Timing::Off, 100),
        // Steps of the firmware that take no time put many events on one instant.
        (
            &["cells.physics=false", "costs.command=0 ns", "costs.unit=0 ns", "costs.operation=0 ns", "controller.link=none"],
            Timing::Off,
            100,
        ),
        (&["cells.physics=false", "buffer.acknowledge=programmed", "gc.preemptible=true"], Timing::Off, 150),
        (&["cells.physics=false", "buffer.acknowledge=programmed", "techniques.page-lock.on=true"], Timing::Off, 100),
        (&["cells.cycles=2000", "cells.retention=1 y"], Timing::Off, 40),
        (&["cells.cycles=2000", "cells.retention=1 y", "techniques.retention-refresh.on=true"], Timing::Real(50.0), 30),
        (
            &[
                "cells.physics=false",
                "techniques.idle-reclaim.on=true",
                "techniques.idle-reclaim.after=2 ms",
                "techniques.idle-reclaim.until_free=6",
            ],
            Timing::Real(50.0),
            30,
        ),
    ];
    for (seed, (settings, timing, steps)) in (1..).zip(all) {
        let trace = recorded(small_drive(2, settings), timing, seed, steps);
        let live = trace.lines().last().expect("lines");
        assert!(live.starts_with("# end: "), "seed {seed}: {live}");
        let erased: u32 = live.rsplit(' ').next().and_then(|count| count.parse().ok()).expect("a count");
        assert!(erased > 0 || steps < 60, "seed {seed}: nothing was reclaimed: {live}");
        let (line, asked) = replayed(small_drive(2, settings), &trace);
        assert_eq!(line, live, "seed {seed}, {settings:?}");
        assert!(asked > 0 || settings != tolerant, "seed {seed}: nothing was to wait");
        let hints: Vec<&str> = trace.lines().filter(|line| line.contains(",hint,")).collect();
        let ends = [",longer", ",default", ",shortest"];
        assert!(hints.len() == 3 && hints.iter().zip(ends).all(|(hint, end)| hint.ends_with(end)), "{hints:?}");
        let writes = |end: &str| trace.lines().filter(|line| line.contains(",write,") && line.ends_with(end)).count();
        assert!(writes(",longer") > 0 && writes(",0,") > 0, "{} writes with a class, {} without", writes(",longer"), writes(",0,"));
        assert!(hints[2].contains(",hint,0,1536,"), "bytes 100 to 1100 lie in three sectors: {}", hints[2]);
    }
}
