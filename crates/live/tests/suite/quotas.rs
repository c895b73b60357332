//! Are the quotas of copies of a served drive back after its power was cut, and has data of unknown copies none?
//!
//! The power goes at random operations, and the drive wakes up on its files. Does not check: what quotas allow, which is a matter of cells.

use std::collections::BTreeMap;

use wordline_drive::{Config, Fault};
use wordline_ftl::BlockGroup;
use wordline_ftl::groups::Use;
use wordline_ftl::techniques::Choice;
use wordline_plan::Plan;
use wordline_units::HostOp;
use wordline_units::random::{Draw, Stream};

use crate::common::{Folder, Live, answered, of_unit, stamped};

/// Quota of a group of which nothing is known.
const UNSET: u8 = u8::MAX;

/// A drive of rcFTL with two small dies, whose blocks are of several classes.
fn config() -> Config {
    let settings = [
        "geometry.blocks=64",
        "geometry.layers=8",
        "flash.channels=1",
        "flash.dies_per_channel=2",
        "mapping.over_provisioning=40 %",
        "buffer.size=512 KiB",
        "recovery.on=true",
        "recovery.oob_copies=true",
    ];
    Plan::load_set("rcftl-minus", &settings).unwrap_or_else(|error| panic!("{error}")).build()
}

/// The filling of a group: the blocks that it stands on, and how often they were erased.
type Filling = (BlockGroup, [u16; 4], u32);

/// Quotas of groups that are full, with valid data or without: a power cut may bring some back.
fn quotas(drive: &Live) -> BTreeMap<Filling, u8> {
    let core = &drive.firmware()[0];
    let words = core.learnt("restricted-copyback").expect("it is on");
    let groups = core.groups();
    let is_full = |group: usize| matches!(groups.use_of(BlockGroup(group as u32)), Use::Closed | Use::Draining | Use::Drained);
    let full = (0..core.layout().group_count()).filter(|&group| is_full(group));
    let quota = |group: usize| (words[1 + group / 2] >> (16 * (group % 2))) as u8;
    full.map(|group| {
        let at = BlockGroup(group as u32);
        ((at, groups.blocks(at), groups.erases(at)), quota(group))
    })
    .collect()
}

/// A unit to write: one of a few most of the time, so that the others are moved again and again.
fn hot(draw: &mut Draw, units: u64) -> u64 {
    if draw.below(10) < 8 { draw.below(units / 5) } else { draw.below(units) }
}

/// Writes of the host, the `first` ones in order, until the power goes after so many operations of the dies.
fn write_until_dark(drive: &mut Live, draw: &mut Draw, (units, first): (u64, u64), after: u64) {
    let length = drive.unit_bytes().0 as usize;
    drive.inject(Fault::Power { after, seed: draw.next_u64() });
    for number in 0.. {
        if drive.power_cut().is_some() {
            break;
        }
        let unit = if number < first { number } else { hot(draw, units) };
        let request = of_unit(drive, HostOp::Write, unit);
        _ = answered(drive, &request, &stamped(unit, number + 1, length));
    }
}

/// One write of the host.
fn write(drive: &mut Live, draw: &mut Draw, units: u64) {
    let (unit, length) = (hot(draw, units), drive.unit_bytes().0 as usize);
    let request = of_unit(drive, HostOp::Write, unit);
    let (done, _) = answered(drive, &request, &stamped(unit, 1, length)).expect("no power is cut");
    assert!(done.ok, "{request:?} failed");
}

/// Greatest quota that full groups have.
fn greatest(drive: &Live) -> u8 {
    quotas(drive).into_values().filter(|&quota| quota != UNSET).max().unwrap_or(0)
}

/// Power cuts of a trial, after so many operations of the dies at most.
const CUTS: u64 = 24;
const OPERATIONS: u64 = 9_000;

#[test]
fn quotas_of_closed_groups_are_back_after_each_of_many_power_cuts_and_those_of_open_ones_are_none() {
    let config = config();
    let (units, folder) = (config.exported_units, Folder::new("quotas-back"));
    let mut draw = Draw::new(5, Stream::Mix, 0);
    let [mut back, mut partly, mut unknown, mut open] = [0; 4];
    let mut drive = folder.drive(&config);
    for cut in 0..CUTS {
        let (first, after) = if cut == 0 { (units, 2 * units) } else { (0, 1 + draw.below(OPERATIONS)) };
        write_until_dark(&mut drive, &mut draw, (units, first), after);
        let (before, whole) = (quotas(&drive), greatest(&drive));
        drop(drive);
        drive = folder.drive(&config);
        for (filling, quota) in quotas(&drive) {
            match before.get(&filling) {
                // The journal had no program between its close and the cut. A victim that the start has chosen has none left.
                Some(&known) if quota == UNSET || (quota == 0 && known > 0) => unknown += 1,
                Some(&known) => {
                    assert_eq!(quota, known, "cut {cut}: {filling:?}");
                    back += 1;
                    partly += u32::from(known > 0 && known < whole);
                }
                None => {
                    assert!([UNSET, 0].contains(&quota), "cut {cut}: {filling:?} was open, and has a quota of {quota}");
                    open += 1;
                }
            }
        }
    }
    println!("{back} quotas were back, {partly} of them partly used, {unknown} unknown; {open} groups were open");
    assert!(back > 1_000 && partly > 100 && unknown * 50 < back && open > 20, "{back}, {partly}, {unknown}, {open}");
}

/// The same drive that copies without quotas, and counts nothing.
fn plain() -> Config {
    let mut config = config();
    config.firmware.techniques = vec![Choice::PlainCopyback];
    config
}

#[test]
fn data_from_before_the_technique_was_on_has_no_quota_and_new_data_has() {
    let folder = Folder::new("quotas-none");
    let mut draw = Draw::new(6, Stream::Mix, 0);
    let mut drive = folder.drive(&plain());
    let units = drive.config().exported_units;
    write_until_dark(&mut drive, &mut draw, (units, units), 2 * units);
    drop(drive);
    let mut drive = folder.drive(&config());
    let old = quotas(&drive);
    assert!(old.len() > 50 && old.values().all(|&quota| quota == UNSET), "{old:?}");
    let [mut seen, mut none] = [0; 2];
    for _ in 0..4_000 {
        write(&mut drive, &mut draw, units);
        for (filling, quota) in quotas(&drive) {
            if old.contains_key(&filling) {
                assert!([UNSET, 0].contains(&quota), "{filling:?} is from before, and has a quota of {quota}");
                (seen, none) = (seen + 1, none + u32::from(quota == 0));
            }
        }
    }
    println!("{seen} times an old group, {none} times as a victim; the greatest quota is {}", greatest(&drive));
    assert!(seen > 100 && none > 0 && greatest(&drive) > 0, "{seen}, {none}, {}", greatest(&drive));
}
