//! In which order a read goes through the vendor's read-retry table.
//!
//! ```text
//!   entry     0   1   2   3   4   5   6   7        begins at 3
//!   try       8   7   6   1   2   3   4   5
//! ```
//!
//! Upwards first: charge is lost for as long as data is kept, so what was right a while ago is by now too low. What is below comes last, from the nearest down,
//! and is needed only where the read began too high. Every entry is tried at most once.

/// The entry to try when `entry` has failed, of a read that began at `begin`, in a table of `entries`; `None`: all have been tried.
pub(crate) fn next_entry(begin: u32, entry: u32, entries: u32) -> Option<u32> {
    let is_rising = entry >= begin;
    if is_rising && entry + 1 < entries { Some(entry + 1) } else { entry.min(begin).checked_sub(1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn walk(begin: u32, entries: u32) -> Vec<u32> {
        std::iter::successors(Some(begin), |&entry| next_entry(begin, entry, entries)).take(1_000).collect()
    }

    #[test]
    fn from_the_default_a_read_goes_down_the_table() {
        assert_eq!(walk(0, 5), [0, 1, 2, 3, 4]);
        assert_eq!(walk(0, 1), [0]);
        assert_eq!(walk(3, 8), [3, 4, 5, 6, 7, 2, 1, 0]);
        assert_eq!(walk(4, 5), [4, 3, 2, 1, 0]);
    }

    proptest! {
        #[test]
        fn every_entry_is_tried_once_and_those_above_the_first_before_those_below(entries in 1u32..256, part in 0.0..1.0) {
            let begin = (f64::from(entries) * part) as u32;
            let tried = walk(begin, entries);
            let mut sorted = tried.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..entries).collect::<Vec<_>>());
            let above = (entries - begin) as usize;
            prop_assert!(tried[..above].windows(2).all(|pair| pair[1] == pair[0] + 1), "{:?}", tried);
            prop_assert!(tried[above..].windows(2).all(|pair| pair[1] + 1 == pair[0]), "{:?}", tried);
        }
    }
}
