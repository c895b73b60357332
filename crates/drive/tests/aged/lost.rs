//! Does what could not be read when it had to be moved become good again by being moved?

use wordline_cells::{Faults, Retries};
use wordline_drive::{Config, Image, Watched};
use wordline_engine::{Event, Observer};
use wordline_units::{Bytes, HostOp, HostRequest, Nanos};

use crate::serve;
use crate::small::{Shape, uniform};

/// Counts what was lost, and the reads of the host that failed.
#[derive(Clone, Debug, Default)]
struct Losses {
    units: u64,
    failed: Vec<u64>,
}

impl Observer for Losses {
    fn observe(&mut self, _: Nanos, event: &Event) {
        if let Event::DataLost { units, .. } = event {
            self.units += u64::from(*units);
        } else if let Event::Completed(done) = event
            && !done.ok
        {
            self.failed.push(done.sector);
        }
    }
}

/// Small units on flash that fails to be read now and then, or never.
fn config(read_fail: f64) -> Config {
    Shape { unit: Bytes::kib(4), layers: 4, faults: Faults { read_fail, ..Faults::default() }, ..Shape::default() }.config()
}

const SECTORS: u64 = 8;

/// The units whose read fails on a drive that goes on where `image` was taken, on flash that reads well; and the drive.
fn unreadable(image: &Image) -> (Vec<u64>, Watched<Losses>) {
    let mut drive = Watched::from_image(config(0.0), image.clone(), Losses::default()).expect("it is the same drive");
    let span = drive.config().exported_units;
    let mut reads = (0..span).map(|unit| HostRequest::new(HostOp::Read, unit * SECTORS, SECTORS as u32));
    serve(&mut drive, &mut reads, span);
    let mut failed: Vec<u64> = std::mem::take(&mut drive.observer.failed).into_iter().map(|sector| sector / SECTORS).collect();
    failed.sort_unstable();
    (failed, drive)
}

fn worked() -> Watched<Losses> {
    let config = config(0.004);
    let span = config.exported_units;
    let mut drive = Watched::new(config.clone(), Losses::default());
    drive.construct_filled(span);
    serve(&mut drive, &mut uniform(&config, span, 1), span * 2);
    drive
}

#[test]
fn what_was_lost_on_the_way_stays_lost_until_it_is_written_or_trimmed() {
    let drive = worked();
    let image = drive.image().expect("it is settled");
    let image = Image::from_bytes(&image.to_bytes(7), 7).expect("just written");
    let (lost, mut drive) = unreadable(&image);
    let told = worked().observer.units;
    assert!(lost.len() > 50 && lost.len() as u64 <= told, "{} units cannot be read, and {told} were told of", lost.len());
    // Moved again, on flash that reads well, they are no better.
    let (config, span) = (config(0.0), drive.config().exported_units);
    let is_lost = |unit: &u64| lost.binary_search(unit).is_ok();
    let others: Vec<u64> = (0..span).filter(|unit| !is_lost(unit)).collect();
    let mut again = uniform(&config, others.len() as u64, 5)
        .map(|request| HostRequest { sector: others[(request.sector / SECTORS) as usize] * SECTORS, ..request });
    serve(&mut drive, &mut again, span);
    assert_eq!(unreadable(&drive.image().expect("it is settled")).0, lost);
    // Half of them are written anew, a quarter trimmed, and of the rest one sector is written.
    let mends = lost.iter().enumerate().map(|(at, &unit)| match at % 4 {
        0 | 1 => HostRequest::new(HostOp::Write, unit * SECTORS, SECTORS as u32),
        2 => HostRequest::new(HostOp::Trim, unit * SECTORS, SECTORS as u32),
        _ => HostRequest::new(HostOp::Write, unit * SECTORS + 3, 1),
    });
    serve(&mut drive, &mut mends.collect::<Vec<_>>().into_iter(), lost.len() as u64);
    let left: Vec<u64> = lost.iter().copied().enumerate().filter(|(at, _)| at % 4 == 3).map(|(_, unit)| unit).collect();
    let (failed, mut drive) = unreadable(&drive.image().expect("it is settled"));
    assert_eq!(failed, left, "a sector that was written does not bring the others back");
    let of_written = left.iter().map(|&unit| HostRequest::new(HostOp::Read, unit * SECTORS + 3, 1));
    serve(&mut drive, &mut of_written.collect::<Vec<_>>().into_iter(), left.len() as u64);
    assert!(drive.observer.failed.is_empty(), "and it can be read itself");
    drive.audit().expect("the tables agree");
}

#[test]
fn an_image_of_before_there_were_losses_is_read_and_has_none() {
    let mut drive = Watched::new(config(0.0), ());
    serve(&mut drive, &mut uniform(&config(0.0), 500, 1), 900);
    let image = drive.image().expect("it is settled");
    let mut bytes = image.to_bytes(7);
    // The list of the one core, which is empty, makes two bytes; behind it come, of each die, four registers of read offsets, what it has carried, and sixteen
    // registers and three things more of guarded erases. None has anything, and makes a byte, as does the number of dies. Then come two services of the core,
    // and what it is to measure; the two lists of its spared wordlines, then the list of what
    // waits, and the time lived, and the times without power, which are empty. Each of the two has the number of cores before it.
    let dies = config(0.0).sheet.geometry.dies() as usize;
    bytes.truncate(bytes.len() - 2 - (1 + 4 * dies) - (1 + dies) - (1 + 19 * dies) - 4 - 3 - 3);
    bytes[8..12].copy_from_slice(&6u32.to_le_bytes());
    let sum = wordline_drive::image::checksum(&bytes[28..]).to_le_bytes();
    bytes[20..28].copy_from_slice(&sum);
    let before = Image::from_bytes(&bytes, 7).expect("the format of before");
    let restored = Watched::from_image(config(0.0), before, ()).expect("it is the same drive");
    assert_eq!(restored.image().expect("just restored"), image);
}

#[test]
fn ageing_loses_nothing_that_a_later_entry_of_the_retry_table_serves() {
    // Nine reads in ten need another entry, and the last serves all of them.
    let retries = Retries { share: 0.9, mean: 2.5, alike: 0.5, entries: 8 };
    let faults = Faults { retries: Some(retries), ..Faults::default() };
    let config = Shape { unit: Bytes::kib(4), layers: 4, faults, ..Shape::default() }.config();
    let span = config.exported_units;
    let mut drive = Watched::new(config.clone(), Losses::default());
    drive.fill(1.0);
    let aged = drive.age(&mut uniform(&config, span, 8), 2 * span);
    assert!(aged.moved_units > span / 4, "little was moved: {aged:?}");
    assert!(aged.page_reads > aged.moved_units / 2, "tries are reads: {aged:?}");
    let mut reads = (0..span).map(|unit| HostRequest::new(HostOp::Read, unit * SECTORS, SECTORS as u32));
    serve(&mut drive, &mut reads, span);
    assert!(drive.observer.failed.is_empty(), "{} of {span} units were lost by ageing", drive.observer.failed.len());
}
