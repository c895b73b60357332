//! Whose data lies where on the flash of a drive that a workload of files has driven: a book kept by VerTrace, and saved beside the drive.
//!
//! No attacker has it. It names what he has recovered.

use std::collections::{BTreeMap, BTreeSet};

use wordline_drive::FlashPlace;
use wordline_engine::UnitPlace;
use wordline_figures::VerTrace;
use wordline_units::{BlockId, DieId, PageId, PlaneId};

/// A file, and which write of it.
pub type Tag = (u32, u32);

/// The book.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tags {
    places: BTreeMap<FlashPlace, Tag>,
    /// Files whose data need not be gone once it is stale.
    insecure: BTreeSet<u32>,
}

const RECORD: usize = 24;

impl Tags {
    /// What `books` say of the units that lie in these places of a drive.
    pub(crate) fn of(units: impl IntoIterator<Item = (UnitPlace, FlashPlace)>, books: &VerTrace, insecure: BTreeSet<u32>) -> Tags {
        let held = units.into_iter().filter_map(|(place, flash)| books.holder(place).map(|tag| (flash, tag)));
        Tags { places: held.collect(), insecure }
    }

    /// The file and the version of what was programmed last at `place`, if it is a file's.
    pub fn at(&self, place: FlashPlace) -> Option<Tag> {
        self.places.get(&place).copied()
    }

    /// Whether a file's data must be gone once it is stale.
    pub fn is_secure(&self, file: u32) -> bool {
        !self.insecure.contains(&file)
    }

    /// How many files are insecure, their numbers, and a record for each place: all numbers with the lowest byte first.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = (self.insecure.len() as u64).to_le_bytes().to_vec();
        bytes.extend(self.insecure.iter().flat_map(|file| file.to_le_bytes()));
        for (place, &(file, version)) in &self.places {
            let FlashPlace { die, plane, block, page, unit } = *place;
            for number in [u32::from(die.0), u32::from(plane.0) << 16 | u32::from(page.0), block.0, unit, file, version] {
                bytes.extend(number.to_le_bytes());
            }
        }
        bytes
    }

    /// Read back what [`Tags::to_bytes`] wrote.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Tags> {
        let (count, rest) = bytes.split_first_chunk::<8>()?;
        let (insecure, records) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*count)).ok()?.checked_mul(4)?)?;
        let numbers = |bytes: &[u8]| -> Vec<u32> {
            bytes.chunks_exact(4).map(|number| u32::from_le_bytes(number.try_into().expect("four bytes"))).collect()
        };
        if !records.len().is_multiple_of(RECORD) {
            return None;
        }
        let record = |record: &[u8]| {
            let [die, plane_and_page, block, unit, file, version] = numbers(record).try_into().expect("six numbers");
            let (plane, page) = (PlaneId((plane_and_page >> 16) as u8), PageId(plane_and_page as u16));
            (FlashPlace { die: DieId(die as u16), plane, block: BlockId(block), page, unit }, (file, version))
        };
        Some(Tags { places: records.chunks_exact(RECORD).map(record).collect(), insecure: numbers(insecure).into_iter().collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_come_back_as_they_were_and_damaged_ones_are_refused() {
        let place = |number: u32| FlashPlace {
            die: DieId(number as u16),
            plane: PlaneId(number as u8 % 4),
            block: BlockId(number * 70_001),
            page: PageId(number as u16 * 3),
            unit: number % 4,
        };
        let tags =
            Tags { places: (0..100).map(|number| (place(number), (number * 7, number))).collect(), insecure: BTreeSet::from([3, 70_000]) };
        let bytes = tags.to_bytes();
        assert_eq!(Tags::from_bytes(&bytes), Some(tags));
        for wrong in [&bytes[..7], &bytes[..11], &bytes[..bytes.len() - 1], &[0xFF; 8]] {
            assert_eq!(Tags::from_bytes(wrong), None);
        }
    }
}
