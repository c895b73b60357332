//! Speed probe.
use std::time::Instant;
use wordline_cells::Faults;
use wordline_drive::*;
use wordline_flash::*;
use wordline_ftl::config::{BufferConfig, Acknowledge, ReclaimConfig, WearConfig, ScheduleConfig};
use wordline_ftl::victim::VictimPolicy;
use wordline_units::random::{Draw, Stream};
use wordline_units::*;

fn config() -> Config {
    let us = Nanos::from_micros;
    let sheet = Sheet {
        geometry: Geometry { channels: 2, dies_per_channel: 4, planes: 1, blocks: 428, layers: 48, wordlines_per_layer: 4, cell: CellKind::Tlc, page: Bytes::kib(16), spare: Bytes(1872) },
        timing: Timing { read: [us(65); 4], program: [us(700); 4], program_wordline: us(2000), erase: us(5000), feature: us(1), cache_busy: us(3), suspend_program: us(20), suspend_erase: us(20), resume: us(5), suspend_interval: us(100), reset: us(5), bus_overhead: Nanos(0) },
        capabilities: Capabilities { program_scope: ProgramScope::Page, cache_read: false, cache_program: false, copyback: true, suspend_program: false, suspend_erase: false },
    };
    let raw = 1_972_224f64;
    let exported = (raw * 0.88) as u64;
    let firmware = wordline_ftl::Config {
        sheet, dies: 8, unit: Bytes::kib(16), exported_units: 0, spare_blocks: 0, factory_bad: vec![],
        buffer: BufferConfig { units: 256, acknowledge: Acknowledge::Programmed, partial_watermark: 0.5 },
        reclaim: ReclaimConfig { victim: VictimPolicy::Greedy, start: 21, floor: 2, preemptible: false },
        wear: WearConfig { dynamic: true, static_gap: None },
        schedule: ScheduleConfig { reads_first: true, linger: None },
        techniques: vec![], seed: 1, core: 0,
    };
    Config { sheet, faults: Faults::default(), channel: Rate::from_mega_transfers(500, 8), dram: None, link: None, ecc: Ecc { latency: Nanos(0), rate: None }, cores: 1, stripe_units: 1, costs: Costs::default(), queue_depth: 65535, firmware, exported_units: exported, seed: 1 }
}

fn main() {
    let c = config();
    let span = (c.exported_units as f64 * 0.9) as u64;
    for (name, op, fill) in [("read", HostOp::Read, true), ("fresh write", HostOp::Write, false), ("steady write", HostOp::Write, true)] {
        let mut drive = Drive::new(c.clone(), ());
        if fill { drive.construct_filled(span); }
        let mut draw = Draw::new(7, Stream::Address, 0);
        let mut load = std::iter::from_fn(|| Some(HostRequest { at: Nanos(0), sector: draw.below(span) * 32, sectors: 32, op, priority: Priority::Normal, fua: false }));
        if name == "steady write" { drive.serve(&mut load, Pace::Closed { depth: 32 }, Some(4_000_000)); }
        let n = if name == "fresh write" { 1_000_000 } else { 4_000_000 };
        let (t0, e0, c0) = (drive.now(), drive.log().count(), Instant::now());
        drive.serve(&mut load, Pace::Closed { depth: 32 }, Some(n));
        let s = c0.elapsed().as_secs_f64();
        let events = drive.log().count() - e0 - 2 * n;
        println!("{name}: {:.2} M req/s, {:.2} M flash/s ({:.0} ns/flash), flash per req {:.2}, sim IOPS {:.0}, hash {:x}", n as f64 / s / 1e6, events as f64 / s / 1e6, s * 1e9 / events as f64, events as f64 / n as f64, n as f64 / (drive.now() - t0).as_secs_f64(), drive.log().hash());
        drive.audit().unwrap();
    }
}
