//! Speed of making drives old: ageing without timing, direct construction, images.

use std::time::Instant;

use wordline_drive::{Image, Watched};

#[path = "../tests/aged/small.rs"]
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
    let started = Instant::now();
    let image = drive.image().expect("quiet").to_bytes(0);
    println!("its image: {:.1} MB in {:.2} s", image.len() as f64 / 1e6, started.elapsed().as_secs_f64());
    let started = Instant::now();
    let image = Image::from_bytes(&image, 0).expect("its own");
    Watched::from_image(config.clone(), image, ()).expect("its own");
    println!("restored and audited in {:.2} s", started.elapsed().as_secs_f64());
    let mut drive = shape.drive();
    let started = Instant::now();
    drive.construct_steady(&vec![1.0; drive.config().cores as usize], 1);
    let seconds = started.elapsed().as_secs_f64();
    let aged = drive.age(&mut load, span);
    println!("constructed steady in {seconds:.2} s, WAF of the next overwrite {:.2}", aged.waf());

    // 32 TB: 512 dies of 4 planes, 454 blocks, 2,304 pages of 16 KiB; 8 cores.
    let shape = small::Shape { channels: 16, dies_per_channel: 32, cores: 8, planes: 4, blocks: 454, layers: 192, spare: 0.07, ..shape };
    let mut drive = shape.drive();
    let started = Instant::now();
    drive.fill(1.0);
    println!("{} filled in {:.2} s", shape.config().exported(), started.elapsed().as_secs_f64());
    let started = Instant::now();
    let image = drive.image().expect("quiet").to_bytes(0);
    println!("its image: {:.1} MB in {:.2} s", image.len() as f64 / 1e6, started.elapsed().as_secs_f64());
    let started = Instant::now();
    let image = Image::from_bytes(&image, 0).expect("its own");
    Watched::from_image(shape.config(), image, ()).expect("its own");
    println!("restored in {:.2} s", started.elapsed().as_secs_f64());
    drop(drive);

    // 2 TB, steady.
    let shape = small::Shape { channels: 8, dies_per_channel: 4, ..shape };
    let mut drive = shape.drive();
    let started = Instant::now();
    drive.construct_steady(&vec![1.0; drive.config().cores as usize], 1);
    println!("{} constructed steady in {:.2} s", shape.config().exported(), started.elapsed().as_secs_f64());
}
