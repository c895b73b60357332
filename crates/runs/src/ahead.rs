//! What copies of a drive tell of the time ahead of a point of its life: a page that will not be read, and the speed.

use wordline_figures::LifeEnd;
use wordline_pages::number::number;
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{HostOp, HostRequest};

use crate::error::RunError;
use crate::life_point::{End, Ends, Point, World, place_of};

/// A look ahead from points of one life.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ahead<'a> {
    world: World<'a>,
    /// False if no read of the last epoch had to be tried again: the end by a page that cannot be read is far.
    has_retries: bool,
}

/// What was seen ahead.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    /// Epochs that may be skipped.
    pub(crate) times: u32,
    /// The end that they bring, if it is nearer than can be told apart.
    pub(crate) end: Option<End>,
    /// Requests in a second at the point, where the life goes on.
    pub(crate) iops: Option<f64>,
}

impl<'a> Ahead<'a> {
    /// A look ahead after an epoch in which reads had retries or not.
    pub(crate) fn new(world: World<'a>, has_retries: bool) -> Ahead<'a> {
        Ahead { world, has_retries }
    }

    /// Looks how many of `times` epochs may be skipped from `point` on. A leap that would bring an end is halved until it is as short as `fine`.
    pub(crate) fn look(&self, point: &Point, ends: &Ends, mut times: u32, fine: u32) -> Result<Seen, RunError> {
        loop {
            match self.foresee(point, ends, times + 1)? {
                None => return Ok(Seen { times, end: None, iops: self.speed(point)? }),
                Some(_) if times > fine => times /= 2,
                end => return Ok(Seen { times, end, iops: None }),
            }
        }
    }

    /// The end of the life that the next `times` epochs would bring by a page that cannot be read, if a copy of the drive at `point` tells of one: all its
    /// data is read, each page for as many as there would be in its place.
    ///
    /// A life in leaps reads a page far less often than a whole life does, so that the rare read that fails would come too late.
    fn foresee(&self, point: &Point, ends: &Ends, times: u32) -> Result<Option<End>, RunError> {
        let is_far = !self.has_retries && ends.kept.is_none();
        if is_far || !(ends.uncorrectable || ends.kept.is_some()) || (times <= 1 && ends.kept.is_none()) {
            return Ok(None);
        }
        let mut twin = point.drive(self.world.config)?;
        twin.run_until(twin.now() + ends.kept.unwrap_or_default());
        if !twin.is_quiet() {
            twin.settle();
        }
        let sectors = (twin.unit_bytes().0 / SECTOR_BYTES) as u32;
        let held: Vec<u64> = (0..self.world.config.exported_units).filter(|&unit| twin.is_held(unit)).collect();
        let mut reads = held.iter().map(|unit| HostRequest::new(HostOp::Read, unit * u64::from(sectors), sectors));
        twin.read_worst_of(times);
        let work = twin.age(&mut reads, u64::MAX);
        let lost = work.failed_host_reads + work.failed_moves;
        if lost == 0 {
            return Ok(None);
        }
        let place = work.failed_at.map(|place| place_of(&place)).unwrap_or_default();
        Ok(Some(match ends.kept {
            Some(kept) => {
                let days = kept.as_secs_f64() / 86_400.0;
                (LifeEnd::KeptData, format!("data could not be read after it had been kept for {} days{place}", number(days)))
            }
            None => (LifeEnd::HostRead, format!("data could not be read{place}")),
        }))
    }

    /// Requests in a second of a short run in virtual time on a copy of the drive at `point`, behind some that are not measured.
    fn speed(&self, point: &Point) -> Result<Option<f64>, RunError> {
        let requests = self.world.sample;
        if requests == 0 {
            return Ok(None);
        }
        let mut twin = point.drive(self.world.config)?;
        let (mut source, stage) = point.requests(&self.world)?;
        // An open loop goes on from here, whenever its next request would have come.
        let mut begins = None;
        let mut load = std::iter::from_fn(|| {
            let request = source.next()?;
            let begins = *begins.get_or_insert(request.at);
            Some(HostRequest { at: request.at.saturating_sub(begins), ..request })
        });
        let pace = stage.pace(twin.now());
        twin.serve(&mut load, pace, Some(requests / 4));
        let began = twin.now();
        let served = twin.serve(&mut load, pace, Some(requests));
        let took = (twin.now() - began).as_secs_f64();
        Ok((served > 0 && took > 0.0).then(|| served as f64 / took))
    }
}
