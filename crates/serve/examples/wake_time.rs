//! How long a drive of 64 GiB on media files takes to come back: `cargo run --release -p wordline-serve --example wake_time -- FOLDER [GIB]`.
//!
//! Where the folder is empty, a drive is made in it, so many GiB (2) are written at random places, and the process dies by its own hand, without a flush. Run
//! again, the drive comes back, and it says how long that took and what was read. Then write on and die again, as often as wanted.

use std::path::Path;
use std::time::Instant;

use wordline_drive::Drive;
use wordline_plan::Plan;
use wordline_serve::{Durability, MediaStore, open_or_make};
use wordline_units::random::{Draw, Stream};
use wordline_units::{HostOp, HostRequest, Nanos, Priority};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().expect("a folder");
    let gib: u64 = arguments.next().map_or(2, |text| text.parse().expect("a number"));
    let settings = ["flash.dies_per_channel=9", "mapping.over_provisioning=5 %", "cells.physics=false"];
    let plan = Plan::load_set("pageftl", &settings).expect("the preset, larger");
    let config = plan.build();
    let unit = config.firmware.unit.0;
    let units = (config.sheet.geometry.page.0 / unit) as u32;
    let begun = Instant::now();
    let named = (plan.name(), u128::from(plan.hash()));
    let (media, is_found) =
        open_or_make(Path::new(&folder), &config.sheet.geometry, units, named, Durability::Process).expect("a folder for media");
    let opened = begun.elapsed();
    let store = MediaStore::new(media, units);
    let exported = config.exported_units;
    println!("{:.1} GiB, files opened in {:.2} s", (exported * unit) as f64 / f64::from(1u32 << 30), opened.as_secs_f64());
    let mut drive = if is_found {
        let drive = Drive::wake(config, (), |die| store.payload(die));
        println!("back in {:.2} s, the files included: {:?}", begun.elapsed().as_secs_f64(), drive.firmware()[0].recovery());
        drive
    } else {
        Drive::with_payload(config, (), |die| store.payload(die))
    };
    let mut draw = Draw::new(begun.elapsed().as_nanos() as u64, Stream::Address, 0);
    let (bytes, sectors) = (vec![0x5A; unit as usize], unit / 512);
    for _ in 0..(gib << 30) / unit {
        let sector = draw.below(exported) * sectors;
        let request =
            HostRequest { at: Nanos::ZERO, sector, sectors: sectors as u32, op: HostOp::Write, priority: Priority::Normal, fua: false };
        while drive.outstanding() > 32 {
            let next = drive.next_at().expect("something is pending while requests are outstanding");
            drive.run_until(next);
        }
        drive.submit(&request, &bytes);
    }
    println!("{gib} GiB written in {:.0} s; now the process dies", begun.elapsed().as_secs_f64());
    std::process::abort();
}
