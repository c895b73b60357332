//! Drives that are old without having been worked (aged without timing, constructed, restored from an image), and drives that keep bytes.

use wordline_drive::{Pace, Watched};
use wordline_engine::{Completions, Observer};
use wordline_units::HostRequest;

mod age;
mod alike;
mod bytes;
mod cached;
mod capacitors;
mod carried;
mod course;
mod failing;
mod guarded;
mod harmed;
mod hints;
mod image;
mod jobs;
mod leaps;
mod lives;
mod locks;
mod lost;
mod measures;
mod past;
mod paths;
mod plain;
mod priorities;
mod reach;
mod reads;
mod rest;
mod retries;
mod rewrites;
mod sets;
mod small;
mod steady;
mod stop_counts;
mod stops;
mod trims;
mod warm;

/// Serve `count` requests at a depth that keeps every die busy.
fn serve<O: Observer>(drive: &mut Watched<O>, load: &mut impl Iterator<Item = HostRequest>, count: u64) {
    drive.serve(load, Pace::Closed { depth: 256 }, Some(count));
    drive.settle();
}

/// The bytes that `request` reads, once it is answered; `None`: it failed.
fn try_to(drive: &mut Watched<Completions>, request: &HostRequest, bytes: &[u8]) -> Option<Vec<u8>> {
    let id = drive.submit(request, bytes);
    loop {
        if let Some(done) = drive.observer.take(id) {
            return done.ok.then(|| drive.bytes_of(id).to_vec());
        }
        let next = drive.next_at().expect("something is pending while a request is outstanding");
        drive.run_until(next);
    }
}
