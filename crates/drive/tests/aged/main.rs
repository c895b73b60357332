//! Drives that are old without having been worked (aged without timing, constructed, restored from an image), and drives that keep bytes.

use wordline_drive::{Drive, Pace};
use wordline_engine::Observer;
use wordline_units::HostRequest;

mod age;
mod alike;
mod bytes;
mod cached;
mod capacitors;
mod carried;
mod failing;
mod guarded;
mod harmed;
mod image;
mod jobs;
mod leaps;
mod lives;
mod locks;
mod lost;
mod measures;
mod priorities;
mod reach;
mod reads;
mod relive;
mod retries;
mod sets;
mod small;
mod steady;
mod stop_counts;
mod stops;
mod trims;
mod warm;

/// Serve `count` requests at a depth that keeps every die busy.
fn serve<O: Observer>(drive: &mut Drive<O>, load: &mut impl Iterator<Item = HostRequest>, count: u64) {
    drive.serve(load, Pace::Closed { depth: 256 }, Some(count));
    drive.settle();
}
