//! Facts about all units of a core, as a snapshot of the journal or a checkpoint of the map log begins with them.

use std::collections::BTreeSet;

use super::oob::filling;
use crate::pages::journal::{Facts, Record, marks_per_page, records_per_page, units_per_page};
use crate::pages::oob::{BUFFER, Filling, IN_PART, MarkCopy, ProgramMarks};
use crate::state::Core;
use crate::state::layout::{BlockGroup, UnitAddr};

/// Units that hold nothing, as trims of `version`, in pages of `bytes` bytes; behind them records of the older copies of units that are in the write buffer.
pub(super) fn unmapped(core: &Core, version: u64, bytes: usize) -> Vec<Facts> {
    let (map, buffer) = (core.map(), core.buffer());
    let exported = map.exported();
    let mut bits = vec![0u8; (exported as usize).div_ceil(8)];
    for lpn in (0..exported).filter(|&lpn| map.get(lpn) == UnitAddr::NONE) {
        bits[lpn as usize / 8] |= 1 << (lpn % 8);
    }
    let mut records = Vec::new();
    for (first, version) in buffer.wanted().filter(|&(lpn, _)| map.get(lpn) == UnitAddr::NONE) {
        bits[first as usize / 8] &= !(1 << (first % 8));
        records.push(Record { first, count: 1, version });
    }
    let each = units_per_page(bytes);
    let of_bits = (0..).zip(bits.chunks(each / 8));
    let unmapped = of_bits.map(|(index, bits)| Facts::Unmapped { first: index * each as u32, version, bits: bits.to_vec() });
    unmapped.chain(records.chunks(records_per_page(bytes)).map(|some| Facts::Records(some.to_vec()))).collect()
}

/// Marks of the program units `given_up`, which hold nothing, in pages of `bytes` bytes: their pages may be read, and say otherwise.
pub(super) fn nothings(core: &Core, given_up: &BTreeSet<(BlockGroup, u32)>, bytes: usize) -> Vec<Facts> {
    let units = core.layout().units_per_program as usize;
    let record = |&(group, program): &(BlockGroup, u32)| ProgramMarks {
        filling: filling(core.layout(), core.groups(), group),
        program,
        marks: vec![MarkCopy::NOTHING; units],
    };
    let records: Vec<ProgramMarks> = given_up.iter().map(record).collect();
    records.chunks(marks_per_page(bytes, units)).map(|some| Facts::Marks(some.to_vec())).collect()
}

/// Units in the write buffer whose copy on flash is lost with its die, as marks of no blocks, in pages of `bytes` bytes: nothing else says that capacitors keep
/// something newer.
pub(super) fn buffered(core: &Core, bytes: usize) -> Vec<Facts> {
    if core.failures().is_none() || !core.settings().has_capacitors() {
        return Vec::new();
    }
    let held = core.buffer().in_use().map(|slot| core.buffer().content(slot));
    let marks: Vec<MarkCopy> = held
        .filter(|held| core.is_lost(core.map().get(held.lpn.0)))
        .map(|held| MarkCopy { lpn: held.lpn.0, version: held.version, insecure: false, is_spoilt: false })
        .collect();
    unplaced(core, BUFFER, &marks, bytes)
}

/// Units of which some sectors are lost, as marks of no blocks, in pages of `bytes` bytes: the map says nothing of it, and a start reads few pages. `spoilt`:
/// all of them, and perhaps others.
pub(super) fn spoilt(core: &Core, spoilt: impl Iterator<Item = u32>, bytes: usize) -> Vec<Facts> {
    let marks =
        spoilt.filter(|&lpn| core.map().get(lpn) != UnitAddr::NONE).map(|lpn| MarkCopy { lpn, is_spoilt: true, ..MarkCopy::NOTHING });
    unplaced(core, IN_PART, &marks.collect::<Vec<_>>(), bytes)
}

/// Records of `marks` that lie in no blocks, in pages of `bytes` bytes.
fn unplaced(core: &Core, filling: Filling, marks: &[MarkCopy], bytes: usize) -> Vec<Facts> {
    let units = core.layout().units_per_program as usize;
    let record = |(program, some): (u32, &[MarkCopy])| {
        let mut marks = some.to_vec();
        marks.resize(units, MarkCopy::NOTHING);
        ProgramMarks { filling, program, marks }
    };
    let records: Vec<ProgramMarks> = (0..).zip(marks.chunks(units)).map(record).collect();
    records.chunks(marks_per_page(bytes, units)).map(|some| Facts::Marks(some.to_vec())).collect()
}

/// Units that are refused, in pages of `bytes` bytes.
pub(super) fn refusals(core: &Core, bytes: usize) -> Vec<Facts> {
    let Some(refused) = core.refused() else { return Vec::new() };
    let (exported, each) = (core.map().exported(), units_per_page(bytes));
    let of_chunk = |first: u32| {
        let bits = refused.chunk(first, each / 8, exported)?;
        Some(Facts::Refused { first, version: refused.version(), bits })
    };
    (0..exported).step_by(each).filter_map(of_chunk).collect()
}

#[cfg(test)]
mod tests {
    use wordline_units::{DieId, Nanos};

    use super::*;
    use crate::Config;
    use crate::config::Protection;
    use crate::config::tests::small;
    use crate::setup::{build, construct};
    use crate::state::failures::fail_die;

    #[test]
    fn units_in_the_buffer_are_told_where_capacitors_keep_them_and_their_copy_is_lost() {
        for (protection, fails, expected) in
            [(Protection::Capacitor, true, true), (Protection::None, true, false), (Protection::Capacitor, false, false)]
        {
            let mut config = Config { dies: 2, ..small(64) };
            config.buffer.protection = protection;
            let mut rooms = build(&config);
            let (core, sanitise) = (&mut rooms.core, &mut rooms.sanitise);
            construct::fill(core, sanitise, 64);
            let lost = (0..64).find(|&lpn| core.layout().die(core.layout().group(core.map().get(lpn))) == DieId(1)).expect("half of them");
            for lpn in [lost, (lost + 4) % 8] {
                core.buffer_mut().write(Nanos::ZERO, lpn, 1, wordline_units::Attributes::NONE);
            }
            if fails {
                fail_die(core, DieId(1));
            }
            let told: Vec<ProgramMarks> = buffered(core, 16_384)
                .into_iter()
                .flat_map(|facts| if let Facts::Marks(records) = facts { records } else { panic!("{facts:?}") })
                .collect();
            let slot = core.buffer().held(lost).expect("it was written").0;
            let wanted = MarkCopy { lpn: lost, version: core.buffer().version_of(slot), insecure: false, is_spoilt: false };
            let marks: Vec<MarkCopy> =
                told.iter().flat_map(|record| &record.marks).copied().filter(|mark| *mark != MarkCopy::NOTHING).collect();
            assert_eq!(marks, if expected { vec![wanted] } else { Vec::new() }, "{protection:?}");
            assert!(told.iter().all(|record| record.filling == BUFFER));
        }
    }
}
