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
use wordline_units::{BlockId, Nanos, PageId, PlaneId};

use super::inspect::audit;
use super::rest::{is_quiet, told_unrest};
use crate::config::Config;
use crate::events::Events;
use crate::machine::{Machine, Parts};

const MAGIC: [u8; 8] = *b"wordline";
/// Format version, which grows with every change of what an image holds.
const VERSION: u32 = 15;
/// Formats that can be read, and the parts that are missing at their ends, which were empty: no die lay without power before format 15, the temperature did
/// not change before format 14, work that waited was let start at once before format 13, no die had failed before format 12, cores had no services and ordered
/// no guarded erases before format 11, no die had any before format 10, copybacks carried nothing before format 9, dies had no registers of read offsets before
/// format 8, and drives had no lost sectors before format 7.
const READABLE: [(u32, &[u8]); 10] = [
    (VERSION, &[]),
    (14, &[0]),
    (13, &[0; 2]),
    (12, &[0; 3]),
    (11, &[0; 4]),
    (10, &[0; 6]),
    (9, &[0; 7]),
    (8, &[0; 8]),
    (7, &[0; 9]),
    (6, &[0; 10]),
];
const HEADER: usize = 28;
/// Greatest number of units for which the whole audit of a restored drive takes about a second.
const AUDITED_MAX: u64 = 1 << 24;

/// The drive is busy: it can be imaged once [`crate::Drive::settle`] has been called. Its text names the work that keeps it.
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
    /// Work of each core that waits, and the latencies that it may take; empty: none of any.
    waits: Vec<wordline_ftl::WaitTables>,
    /// Time for which the drive had worked, as far as its temperature goes by it.
    lived: Nanos,
    /// Times for which the blocks of each die lay without power; empty: none of any.
    rests: Vec<wordline_chip::RestTables>,
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

/// Image of the drive as plain data.
pub(crate) fn image(machine: &Machine) -> Result<Image, NotQuiet> {
    let busy = || NotQuiet(told_unrest(machine));
    if !is_quiet(machine) {
        return Err(busy());
    }
    let cores = machine.ftls().iter().map(wordline_ftl::Firmware::image).collect::<Option<_>>().ok_or_else(busy)?;
    let chips = machine.dies().iter().map(|(_, chip)| chip.image(machine.now())).collect::<Option<_>>().ok_or_else(busy)?;
    let lost = machine.ftls().iter().map(wordline_ftl::Firmware::lost_sectors).collect();
    let read_offsets = machine.dies().iter().map(|(_, chip)| chip.read_offsets()).collect();
    let carried = machine.dies().iter().map(|(_, chip)| chip.carried_tables()).collect();
    let guard = machine.dies().iter().map(|(_, chip)| chip.guard_image()).collect();
    let (services, waits): (Vec<_>, Vec<_>) = machine.ftls().iter().map(wordline_ftl::Firmware::beside_image).unzip();
    let spared = machine.ftls().iter().map(wordline_ftl::Firmware::spared_wordlines).collect();
    let has_failed = machine.dies().have_failures();
    let failures = machine.dies().iter().filter(|_| has_failed).map(|(_, chip)| chip.failure_image()).collect();
    let has_waits = waits.iter().any(|waits| *waits != wordline_ftl::WaitTables::default());
    let waits = if has_waits { waits } else { Vec::new() };
    let rests: Vec<_> = machine.dies().iter().map(|(_, chip)| chip.rest_tables()).collect();
    let has_lain = rests.iter().any(|rests| *rests != wordline_chip::RestTables::default());
    let rests = if has_lain { rests } else { Vec::new() };
    let (&Config { exported_units, stripe_units, .. }, lived) = (machine.config(), machine.lived());
    let image = Image {
        exported_units,
        stripe_units,
        cores,
        chips,
        lost,
        read_offsets,
        carried,
        guard,
        services,
        spared,
        failures,
        waits,
        lived,
        rests,
    };
    Ok(image)
}

/// Creates a drive of this `config` that goes on where `image` was taken, at time zero: what was written, locked or erased before then was so at time zero.
/// The seed of `config` may be another: dice go on under it, while blocks that were bad stay bad.
pub(crate) fn from_image(config: Config, mut image: Image, events: Events) -> Result<Machine, ImageError> {
    let (waits, lived) = (std::mem::take(&mut image.waits), image.lived);
    let mut machine = restored(config, image, events, lived)?;
    // Instants of the clock that the image was taken by would lie in the future of this one, and a block may be erased by one and programmed by the other.
    machine.dies_mut().iter_mut().for_each(|(_, chip)| chip.rest(Nanos::ZERO));
    restore_waits(&mut machine, waits)?;
    Ok(machine)
}

/// The drive with the instants of the clock that `image` was taken by. `lived`: the time for which it had worked when that clock began.
fn restored(config: Config, image: Image, events: Events, lived: Nanos) -> Result<Machine, ImageError> {
    let misfit = |why: &str| ImageError::Misfit(why.to_owned());
    let mut machine = Machine::assemble(config, events, &mut |_| None);
    machine.warm_after(lived);
    machine.start();
    let (cores, dies) = (machine.ftls().len(), machine.dies().len());
    if image.cores.len() != cores || image.chips.len() != dies {
        return Err(misfit("it has another number of cores or dies"));
    }
    if (image.exported_units, image.stripe_units) != (machine.config().exported_units, machine.config().stripe_units) {
        return Err(misfit("it shows the host another space"));
    }
    restore_parts(&mut machine, image).map_err(misfit)?;
    check_blocks(&machine).map_err(misfit)?;
    if machine.config().exported_units <= AUDITED_MAX {
        audit(&machine).map_err(ImageError::Misfit)?;
    }
    Ok(machine)
}

/// The entries of `list`, each with its core or die; none, if the list is empty. `misfit`: error if it is of another number.
fn each<T, P>(
    parts: impl ExactSizeIterator<Item = P>,
    list: Vec<T>,
    misfit: &'static str,
) -> Result<impl Iterator<Item = (P, T)>, &'static str> {
    if !list.is_empty() && list.len() != parts.len() { Err(misfit) } else { Ok(parts.zip(list)) }
}

/// Restore the cores and the dies from `image`, in the order in which they depend on each other.
fn restore_parts(machine: &mut Machine, image: Image) -> Result<(), &'static str> {
    let Parts { ftls, device, .. } = machine.parts();
    let dies = device.dies_mut();
    for (ftl, spared) in each(ftls.iter_mut(), image.spared, "it has spared wordlines of another number of cores")? {
        ftl.restore_spared(&spared)?;
    }
    for (ftl, image) in ftls.iter_mut().zip(image.cores) {
        ftl.restore(image)?;
    }
    for (ftl, lost) in each(ftls.iter_mut(), image.lost, "it has lost sectors of another number of cores")? {
        ftl.restore_lost(lost)?;
    }
    for ((_, chip), image) in dies.iter_mut().zip(image.chips) {
        chip.restore(image)?;
    }
    for ((_, chip), registers) in each(dies.iter_mut(), image.read_offsets, "it has read offsets of another number of dies")? {
        chip.restore_read_offsets(registers);
    }
    for ((_, chip), carried) in each(dies.iter_mut(), image.carried, "it has carried errors of another number of dies")? {
        chip.restore_carried(&carried)?;
    }
    for ((_, chip), guard) in each(dies.iter_mut(), image.guard, "it has guarded erases of another number of dies")? {
        chip.restore_guard(&guard)?;
    }
    for ((_, chip), rests) in each(dies.iter_mut(), image.rests, "it has times without power of another number of dies")? {
        chip.restore_rests(&rests)?;
    }
    for (ftl, tables) in each(ftls.iter_mut(), image.services, "it has services of another number of cores")? {
        ftl.restore_service_tables(tables)?;
    }
    for ((_, chip), failures) in each(dies.iter_mut(), image.failures, "it has failed parts of another number of dies")? {
        chip.restore_failures(&failures)?;
    }
    Ok(())
}

/// Creates a drive as [`from_image`] does, at the instant `now` at which the image was taken: the content of the cells is as old as it was then.
pub(crate) fn from_image_at(config: Config, mut image: Image, now: Nanos, events: Events) -> Result<Machine, ImageError> {
    let (waits, before) = (std::mem::take(&mut image.waits), image.lived.saturating_sub(now));
    let mut machine = restored(config, image, events, before)?;
    machine.run_until(now, None);
    machine.ftls_mut().iter_mut().for_each(|ftl| ftl.go_on_from(now));
    restore_waits(&mut machine, waits)?;
    Ok(machine)
}

/// Restore the work that waits, at the present instant: what is due so much later is so from now on.
fn restore_waits(machine: &mut Machine, waits: Vec<wordline_ftl::WaitTables>) -> Result<(), ImageError> {
    let misfit = |why: &str| ImageError::Misfit(why.to_owned());
    let now = machine.now();
    let each = each(machine.ftls_mut().iter_mut(), waits, "it has waiting work of another number of cores").map_err(misfit)?;
    for (ftl, waits) in each {
        ftl.restore_waits(&waits, now).map_err(misfit)?;
    }
    Ok(())
}

/// Check that the firmware's view of every block in service agrees with the block.
fn check_blocks(machine: &Machine) -> Result<(), &'static str> {
    for (core, ftl) in machine.ftls().iter().enumerate() {
        let layout = ftl.layout();
        for group in (0..layout.group_count() as u32).map(BlockGroup).filter(|&group| ftl.groups().use_of(group) != Use::Bad) {
            let chip = machine.dies().of(core as u32, layout.die(group));
            let pages = ftl.programmed_pages(group);
            for plane in 0..layout.planes as u8 {
                let (id, block) = (PlaneId(plane), BlockId(u32::from(ftl.groups().blocks(group)[usize::from(plane)])));
                if chip.is_factory_bad(id, block) {
                    return Err("a bad block is in service");
                }
                if chip.spared(id, block) != ftl.groups().gentle(group) {
                    return Err("a block has other spared wordlines than the firmware knows");
                }
                if pages.is_some_and(|pages| pages != chip.next_page(id, block)) {
                    return Err("a block holds more or less than the firmware has written");
                }
                let is_as_written = |page| chip.is_page_programmed(id, block, PageId(page)) == ftl.is_written(group, page);
                let is_open = ftl.groups().use_of(group) == Use::Active && pages.is_some();
                if is_open && !(0..machine.config().sheet.geometry.pages() as u16).all(is_as_written) {
                    return Err("a block holds other pages than the firmware has written");
                }
            }
        }
        for (local, plane, block) in ftl.dies().flat_map(|die| ftl.spares_of(die).map(move |(plane, block)| (die, plane, block))) {
            if machine.dies().of(core as u32, local).is_factory_bad(plane, block) {
                return Err("a bad block is a spare");
            }
        }
    }
    Ok(())
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
