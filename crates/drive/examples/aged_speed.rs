//! How fast drives become old: ageing without timing, direct construction, images.

use std::time::Instant;

#[path = "../tests/aged/small.rs"]
#[expect(dead_code, reason = "shared with the tests, which use more of it")]
mod small;

fn main() {
    // 30 GiB in 16-KiB pages: 8 dies of 428 blocks of 576 pages.
    let shape = small::Shape { channels: 2, dies_per_channel: 4, blocks: 428, layers: 48, spare: 0.136, ..Default::default() };
    let config = shape.config();
    let span = config.exported_units;
    let mut drive = shape.drive();
    drive.fill(1.0);
    let mut load = small::uniform(&config, span, 1);
    for round in 1..=3 {
        let started = Instant::now();
        let aged = drive.age(&mut load, span);
        let seconds = started.elapsed().as_secs_f64();
        let pages = (aged.host_units + aged.moved_units) as f64;
        println!(
            "age {round}x of {span} units: {seconds:.2} s, WAF {:.2}, {:.2} M host and moved pages/s, {:.0} ns per flash operation",
            aged.waf(),
            pages / seconds / 1e6,
            seconds * 1e9 / (pages + (aged.page_reads + aged.erases) as f64)
        );
    }
}
