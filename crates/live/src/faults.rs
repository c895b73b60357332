//! Faults on demand, done to a running drive: orders of the control socket, as faults of dies and pages.

use std::collections::BTreeSet;

use wordline_chip::DieFault;
use wordline_drive::{Fault, FlashPlace, PowerCut, Watched};
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{BlockId, DieId, FlashOp, PageId, PlaneId};

use crate::ask::Told;
use crate::disk::Watch;
use crate::record::{Recorder, note_all};

/// Mapping units in one order, at most.
const UNITS_MAX: u64 = 1 << 16;

/// An order for a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Harm {
    /// Reads of the flash pages that hold these bytes fail: `reads` times each, or until the pages are erased.
    Reads { from: u64, end: u64, reads: Option<u32> },
    /// Bits flip in the flash pages that hold these bytes (default seed: the drive's).
    Corrupt { from: u64, end: u64, seed: Option<u64> },
    /// The next programs fail, on this die or on any.
    Programs { die: Option<DieId>, programs: u32 },
    /// The power goes during this program or erase from now on, counted from 1; 0: now.
    Power { after: u64, seed: Option<u64> },
    /// A die fails.
    Die { die: DieId, silent: bool },
    /// A plane fails.
    Plane { die: DieId, plane: u32 },
    /// Blocks fail, in one plane or in all.
    Blocks { die: DieId, plane: Option<u32>, first: u32, last: u32 },
    /// List of the faults in force.
    List,
    /// End of all faults of reads, programs and power.
    Clear,
}

/// Effect of an order on pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Harmed {
    /// The pages.
    pub(crate) pages: BTreeSet<PageOf>,
    /// Mapping units asked for that are on flash nowhere.
    pub(crate) unmapped: u64,
    /// Units with all their data in the write buffer alone.
    pub(crate) buffered: u64,
    /// Units on these pages with newer data in the write buffer.
    pub(crate) covered: u64,
}

/// A page of a drive: die, plane, block and page.
pub(crate) type PageOf = (DieId, PlaneId, BlockId, PageId);

/// Callback for a power cut on demand, called at once and in the drive's thread.
pub(crate) struct Darkness(pub(crate) Box<dyn FnOnce(&str) + Send>);

impl std::fmt::Debug for Darkness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Darkness")
    }
}

/// Does `harm` to the drive, and adds notes on it to the recordings.
pub(crate) fn harm(drive: &mut Watched<Watch>, recorders: &[Recorder], harm: Harm) -> Told {
    let done = match harm {
        Harm::Reads { from, end, reads } => {
            return harm_pages(
                (drive, recorders),
                from,
                end,
                |drive, page| {
                    let (die, plane, block, page) = page;
                    drive.inject(Fault::Die(die, DieFault::Read { plane, block, page, reads }));
                    true
                },
                "cannot be read from here on",
            );
        }
        Harm::Corrupt { from, end, seed } => {
            let seed = seed.unwrap_or(drive.config().seed);
            return harm_pages(
                (drive, recorders),
                from,
                end,
                |drive, (die, plane, block, page)| drive.corrupt(&FlashPlace { die, plane, block, page, unit: 0 }, seed),
                "is corrupt from here on",
            );
        }
        Harm::Programs { die, programs } => is_die(drive, die).map(|()| {
            let fault = match die {
                Some(die) => Fault::Die(die, DieFault::Program { programs }),
                None => Fault::Program { programs },
            };
            drive.inject(fault);
            format!("the next {programs} programs{} fail", die.map_or(String::new(), |die| format!(" of die {}", die.0)))
        }),
        Harm::Power { after, seed } => {
            drive.inject(Fault::Power { after, seed: seed.unwrap_or(drive.config().seed) });
            Ok(format!("the power goes after {after} programs and erases"))
        }
        Harm::Die { die, silent } => is_die(drive, Some(die)).map(|()| {
            drive.inject(Fault::Die(die, DieFault::Die { silent }));
            format!("die {} fails{}", die.0, if silent { " and falls silent" } else { "" })
        }),
        Harm::Plane { die, plane } => is_part(drive, die, Some(plane), 0).map(|()| {
            drive.inject(Fault::Die(die, DieFault::Plane(PlaneId(plane as u8))));
            format!("plane {plane} of die {} fails", die.0)
        }),
        Harm::Blocks { die, plane, first, last } => is_part(drive, die, plane, last).map(|()| {
            let planes = drive.config().sheet.geometry.planes;
            for plane in plane.map_or(0..planes, |plane| plane..plane + 1) {
                let fault = DieFault::Blocks { plane: PlaneId(plane as u8), first: BlockId(first), last: BlockId(last) };
                drive.inject(Fault::Die(die, fault));
            }
            format!("blocks {first} to {last} of die {} fail", die.0)
        }),
        Harm::List => return Told::Faults(drive.faults()),
        Harm::Clear => {
            drive.clear_faults();
            Ok("faults of reads, programs and power are taken back".to_owned())
        }
    };
    match done {
        Ok(what) => {
            note_all(recorders, drive.now(), format!("{what} from here on, which a replay does not know"));
            Told::Done
        }
        Err(why) => Told::Refused(why),
    }
}

/// Do `harm` to each flash page that holds any of the bytes from `from` to `end`.
fn harm_pages(
    (drive, recorders): (&mut Watched<Watch>, &[Recorder]),
    from: u64,
    end: u64,
    mut harm: impl FnMut(&mut Watched<Watch>, PageOf) -> bool,
    what: &str,
) -> Told {
    let size = drive.config().exported().0;
    let unit = drive.unit_bytes().0;
    let end = if end == u64::MAX { size } else { end };
    if from >= end || end > size {
        return Told::Refused(format!("bytes {from} to {end}: the drive has {size}"));
    }
    let units = from / unit..end.div_ceil(unit);
    if units.end - units.start > UNITS_MAX {
        return Told::Refused(format!("\"length\": more than {UNITS_MAX} mapping units of {unit} bytes: expected less"));
    }
    let mut harmed = Harmed::default();
    for number in units {
        let located = drive.locate(number * unit / SECTOR_BYTES);
        match located.on_flash {
            Some(place) => {
                harmed.covered += u64::from(located.is_buffered);
                harmed.pages.insert((place.die, place.plane, place.block, place.page));
            }
            None if located.is_buffered => harmed.buffered += 1,
            None => harmed.unmapped += 1,
        }
    }
    harmed.pages.retain(|&page| harm(drive, page));
    if harmed.pages.is_empty() {
        return Told::Refused(if harmed.buffered > 0 {
            format!("bytes {from} to {end} are in the write buffer and on no flash page yet: flush first")
        } else {
            format!("bytes {from} to {end} were never written, or were trimmed: there is no flash page that could fail")
        });
    }
    for (die, plane, block, page) in harmed.pages.iter().take(4) {
        note_all(
            recorders,
            drive.now(),
            format!("page {} of block {} of plane {} of die {} {what}, which a replay does not know", page.0, block.0, plane.0, die.0),
        );
    }
    if harmed.pages.len() > 4 {
        note_all(recorders, drive.now(), format!("and so do {} more pages", harmed.pages.len() - 4));
    }
    Told::Harmed(harmed)
}

fn is_die(drive: &Watched<Watch>, die: Option<DieId>) -> Result<(), String> {
    let dies = drive.config().sheet.geometry.dies();
    match die {
        Some(die) if u32::from(die.0) >= dies => Err(format!("die {}: the drive has {dies}, counted from 0", die.0)),
        Some(_) | None => Ok(()),
    }
}

fn is_part(drive: &Watched<Watch>, die: DieId, plane: Option<u32>, block: u32) -> Result<(), String> {
    is_die(drive, Some(die))?;
    let geometry = drive.config().sheet.geometry;
    if let Some(plane) = plane.filter(|&plane| plane >= geometry.planes) {
        return Err(format!("plane {plane}: a die has {}, counted from 0", geometry.planes));
    }
    if block >= geometry.blocks {
        return Err(format!("block {block}: a plane has {}, counted from 0", geometry.blocks));
    }
    Ok(())
}

/// The power cut in words.
pub(crate) fn in_words(cut: &PowerCut) -> String {
    match cut.torn {
        None => "the power is cut, as ordered".to_owned(),
        Some((op, die, block, page)) => {
            let op = if op == FlashOp::Erase {
                format!("erase of block {}", block.0)
            } else {
                format!("program of block {} from page {} on", block.0, page.0)
            };
            format!("the power is cut, as ordered, during the {op} of die {}", die.0)
        }
    }
}
