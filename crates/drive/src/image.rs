//! A quiet drive as bytes: taken once, restored often.
//!
//! ```text
//!   magic 8 │ version 4 │ plan hash 8 │ checksum 8 │ payload …     (numbers little-endian)
//! ```
//!
//! An image holds all that firmware and dies know at an instant when nothing is under way. Virtual time, the event log and the fractions of a
//! nanosecond that buses carry from transfer to transfer start anew. The checksum finds accidents; against anything else every number is checked
//! before it is used, so that no bytes make the drive panic while it is restored.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};
use wordline_ftl::BlockGroup;
use wordline_ftl::groups::Use;
use wordline_units::{BlockId, DieId, Nanos, PageId, PlaneId};

use crate::config::Config;
use crate::drive::Drive;
use crate::events::Events;

const MAGIC: [u8; 8] = *b"wordline";
/// Format version, which grows with every change of what an image holds.
const VERSION: u32 = 12;
/// Formats that can be read, and the lists that are missing at their ends, which were empty: no die had failed before format 12, cores had no services and
/// ordered no guarded erases before format 11, no die had any before format 10, copybacks carried nothing before format 9, dies had no registers of read
/// offsets before format 8, and drives had no lost sectors before format 7.
const READABLE: [(u32, &[u8]); 7] = [(VERSION, &[]), (11, &[0]), (10, &[0; 3]), (9, &[0; 4]), (8, &[0; 5]), (7, &[0; 6]), (6, &[0; 7])];
const HEADER: usize = 28;
/// Greatest number of units for which the whole audit of a restored drive takes about a second.
const AUDITED_MAX: u64 = 1 << 24;

/// The drive is busy: it can be imaged once [`Drive::settle`] has been called. Its text names the work that keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotQuiet(String);

/// Reasons why bytes are no image of this drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageError {
    /// The bytes do not begin as an image does.
    Foreign,
    /// The image was written by another version of Wordline.
    OtherVersion {
        /// The format of the image.
        found: u32,
    },
    /// The image is of a drive with another plan.
    OtherPlan {
        /// The hash of the plan that the image was made with.
        found: u64,
        /// The hash of this plan.
        expected: u64,
    },
    /// The bytes were cut short or changed since they were written.
    Damaged,
    /// The bytes are an image, but not of a drive like this one.
    Misfit(String),
}

impl fmt::Display for NotQuiet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the drive cannot be saved as it is: {}", self.0)
    }
}

impl Error for NotQuiet {}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImageError::Foreign => f.write_str("this is not the image of a drive"),
            ImageError::OtherVersion { found } => write!(f, "the image has format {found}, and this is format {VERSION}: make it again"),
            ImageError::OtherPlan { found, expected } => {
                write!(f, "the image was made of a drive with plan {found:016x}, and this plan is {expected:016x}")
            }
            ImageError::Damaged => f.write_str("the image is damaged: it was cut short or changed since it was written"),
            ImageError::Misfit(why) => write!(f, "the image does not fit the drive: {why}"),
        }
    }
}

impl Error for ImageError {}

/// A quiet drive as plain data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Image {
    exported_units: u64,
    stripe_units: u32,
    cores: Vec<wordline_ftl::image::Image>,
    chips: Vec<wordline_chip::image::Image>,
    /// Lost sectors of each core.
    lost: Vec<wordline_ftl::Lost>,
    /// Registers of read offsets of each die; empty: none is set.
    read_offsets: Vec<[u32; 4]>,
    /// Errors that copybacks carried over, of each die.
    carried: Vec<wordline_chip::CarriedTables>,
    /// State of each die that guarded erases have left.
    guard: Vec<wordline_chip::GuardImage>,
    /// State of each core's services for techniques.
    services: Vec<wordline_ftl::ServiceTables>,
    /// Spared wordlines as each core knows them.
    spared: Vec<wordline_ftl::Spared>,
    /// Parts of each die that have failed for good; empty: none of any.
    failures: Vec<wordline_chip::FailureImage>,
}

impl Image {
    /// Serialises the image under the hash of the plan it belongs to. The bytes are not compressed, and compress well.
    pub fn to_bytes(&self, plan_hash: u64) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(plan_hash.to_le_bytes());
        bytes.extend([0; 8]);
        let mut bytes = postcard::to_extend(self, bytes).expect("plain data always fits a vector");
        let sum = checksum(&bytes[HEADER..]).to_le_bytes();
        bytes[HEADER - 8..HEADER].copy_from_slice(&sum);
        bytes
    }

    /// Parses what [`Image::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8], plan_hash: u64) -> Result<Image, ImageError> {
        let field = |from: usize| bytes.get(from..from + 8).and_then(|field| field.try_into().ok()).map(u64::from_le_bytes);
        if !bytes.starts_with(&MAGIC) {
            return Err(ImageError::Foreign);
        }
        let (Some(version), Some(found), Some(sum)) = (field(8), field(12), field(20)) else {
            return Err(ImageError::Damaged);
        };
        let version = version as u32;
        let Some((_, missing)) = READABLE.iter().find(|(readable, _)| *readable == version) else {
            return Err(ImageError::OtherVersion { found: version });
        };
        if checksum(&bytes[HEADER..]) != sum {
            return Err(ImageError::Damaged);
        }
        if found != plan_hash {
            return Err(ImageError::OtherPlan { found, expected: plan_hash });
        }
        let completed;
        let payload = if missing.is_empty() {
            &bytes[HEADER..]
        } else {
            completed = [&bytes[HEADER..], missing].concat();
            &completed
        };
        match postcard::take_from_bytes(payload) {
            Ok((image, [])) => Ok(image),
            Ok(_) | Err(_) => Err(ImageError::Damaged),
        }
    }
}

impl Drive {
    /// Image of the drive as plain data.
    pub fn image(&self) -> Result<Image, NotQuiet> {
        let busy = || NotQuiet(self.told_unrest());
        if !self.is_quiet() {
            return Err(busy());
        }
        let cores = self.ftls.iter().map(wordline_ftl::Firmware::image).collect::<Option<_>>().ok_or_else(busy)?;
        let chips = self.chips.iter().map(|(_, chip)| chip.image(self.now())).collect::<Option<_>>().ok_or_else(busy)?;
        let lost = self.ftls.iter().map(wordline_ftl::Firmware::lost_sectors).collect();
        let read_offsets = self.chips.iter().map(|(_, chip)| chip.read_offsets()).collect();
        let carried = self.chips.iter().map(|(_, chip)| chip.carried_tables()).collect();
        let guard = self.chips.iter().map(|(_, chip)| chip.guard_image()).collect();
        let services = self.ftls.iter().map(wordline_ftl::Firmware::service_tables).collect();
        let spared = self.ftls.iter().map(wordline_ftl::Firmware::spared_wordlines).collect();
        let has_failed = self.chips.iter().any(|(_, chip)| chip.has_failures());
        let failures = self.chips.iter().filter(|_| has_failed).map(|(_, chip)| chip.failure_image()).collect();
        let Config { exported_units, stripe_units, .. } = self.config;
        Ok(Image { exported_units, stripe_units, cores, chips, lost, read_offsets, carried, guard, services, spared, failures })
    }

    /// Creates a drive of this `config` that goes on where `image` was taken, at time zero: what was written, locked or erased before then was so at time zero.
    /// The seed of `config` may be another: dice go on under it, while blocks that were bad stay bad.
    pub fn from_image(config: Config, image: Image, events: Events) -> Result<Drive, ImageError> {
        let mut drive = Drive::restored(config, image, events)?;
        // Instants of the clock that the image was taken by would lie in the future of this one, and a block may be erased by one and programmed by the other.
        drive.chips.iter_mut().for_each(|(_, chip)| chip.rest(Nanos::ZERO));
        Ok(drive)
    }

    /// The drive with the instants of the clock that `image` was taken by.
    fn restored(config: Config, image: Image, events: Events) -> Result<Drive, ImageError> {
        let misfit = |why: &str| ImageError::Misfit(why.to_owned());
        let mut drive = Drive::new(config, events);
        if image.cores.len() != drive.ftls.len() || image.chips.len() != drive.chips.len() {
            return Err(misfit("it has another number of cores or dies"));
        }
        if (image.exported_units, image.stripe_units) != (drive.config.exported_units, drive.config.stripe_units) {
            return Err(misfit("it shows the host another space"));
        }
        if !image.spared.is_empty() && image.spared.len() != drive.ftls.len() {
            return Err(misfit("it has spared wordlines of another number of cores"));
        }
        for (ftl, spared) in drive.ftls.iter_mut().zip(&image.spared) {
            ftl.restore_spared(spared).map_err(misfit)?;
        }
        for (ftl, image) in drive.ftls.iter_mut().zip(image.cores) {
            ftl.restore(image).map_err(misfit)?;
        }
        if !image.lost.is_empty() && image.lost.len() != drive.ftls.len() {
            return Err(misfit("it has lost sectors of another number of cores"));
        }
        for (ftl, lost) in drive.ftls.iter_mut().zip(image.lost) {
            ftl.restore_lost(lost).map_err(misfit)?;
        }
        for ((_, chip), image) in drive.chips.iter_mut().zip(image.chips) {
            chip.restore(image).map_err(misfit)?;
        }
        if !image.read_offsets.is_empty() && image.read_offsets.len() != drive.chips.len() {
            return Err(misfit("it has read offsets of another number of dies"));
        }
        for ((_, chip), registers) in drive.chips.iter_mut().zip(image.read_offsets) {
            chip.restore_read_offsets(registers);
        }
        if !image.carried.is_empty() && image.carried.len() != drive.chips.len() {
            return Err(misfit("it has carried errors of another number of dies"));
        }
        for ((_, chip), carried) in drive.chips.iter_mut().zip(&image.carried) {
            chip.restore_carried(carried).map_err(misfit)?;
        }
        if !image.guard.is_empty() && image.guard.len() != drive.chips.len() {
            return Err(misfit("it has guarded erases of another number of dies"));
        }
        for ((_, chip), guard) in drive.chips.iter_mut().zip(&image.guard) {
            chip.restore_guard(guard).map_err(misfit)?;
        }
        if !image.services.is_empty() && image.services.len() != drive.ftls.len() {
            return Err(misfit("it has services of another number of cores"));
        }
        for (ftl, tables) in drive.ftls.iter_mut().zip(image.services) {
            ftl.restore_service_tables(tables).map_err(misfit)?;
        }
        if !image.failures.is_empty() && image.failures.len() != drive.chips.len() {
            return Err(misfit("it has failed parts of another number of dies"));
        }
        for ((_, chip), failures) in drive.chips.iter_mut().zip(&image.failures) {
            chip.restore_failures(failures).map_err(misfit)?;
        }
        drive.check_blocks().map_err(misfit)?;
        if drive.config.exported_units <= AUDITED_MAX {
            drive.audit().map_err(ImageError::Misfit)?;
        }
        Ok(drive)
    }

    /// Creates a drive as [`Drive::from_image`] does, at the instant `now` at which the image was taken: what the cells hold is as old as it was then.
    pub fn from_image_at(config: Config, image: Image, now: Nanos, events: Events) -> Result<Drive, ImageError> {
        let mut drive = Drive::restored(config, image, events)?;
        drive.run_until(now);
        drive.ftls.iter_mut().for_each(|ftl| ftl.go_on_from(now));
        Ok(drive)
    }

    /// Check that the firmware's view of every block in service agrees with the block.
    fn check_blocks(&self) -> Result<(), &'static str> {
        for (core, ftl) in self.ftls.iter().enumerate() {
            let layout = ftl.layout();
            for group in (0..layout.group_count() as u32).map(BlockGroup).filter(|&group| ftl.groups().use_of(group) != Use::Bad) {
                let chip = &self.chips[self.wiring.die(core as u32, layout.die(group))];
                let pages = ftl.programmed_pages(group);
                for plane in 0..layout.planes as u8 {
                    let (id, block) = (PlaneId(plane), BlockId(u32::from(ftl.groups().blocks(group)[usize::from(plane)])));
                    if chip.is_factory_bad(id, block) {
                        return Err("a bad block is in service");
                    }
                    if chip.spared(id, block) != ftl.groups().spared(group) {
                        return Err("a block has other spared wordlines than the firmware knows");
                    }
                    if pages.is_some_and(|pages| pages != chip.next_page(id, block)) {
                        return Err("a block holds more or less than the firmware has written");
                    }
                    let is_as_written = |page| chip.is_page_programmed(id, block, PageId(page)) == ftl.is_written(group, page);
                    let is_open = ftl.groups().use_of(group) == Use::Active && pages.is_some();
                    if is_open && !(0..self.config.sheet.geometry.pages() as u16).all(is_as_written) {
                        return Err("a block holds other pages than the firmware has written");
                    }
                }
            }
            for (local, plane, block) in ftl.dies().flat_map(|die| ftl.spares_of(die).map(move |(plane, block)| (die, plane, block))) {
                let die: DieId = self.wiring.die(core as u32, local);
                if self.chips[die].is_factory_bad(plane, block) {
                    return Err("a bad block is a spare");
                }
            }
        }
        Ok(())
    }
}

/// Checksum that finds accidents, not malice. It takes eight bytes at a time, because a large drive's image has hundreds of megabytes.
#[doc(hidden)]
pub fn checksum(bytes: &[u8]) -> u64 {
    let step = |sum: u64, word: u64| (sum.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let words = bytes.chunks_exact(8);
    let mut last = [0; 8];
    last[..words.remainder().len()].copy_from_slice(words.remainder());
    let sum = words.map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes"))).fold(bytes.len() as u64, step);
    let sum = step(sum, u64::from_le_bytes(last));
    sum ^ sum >> 32
}
