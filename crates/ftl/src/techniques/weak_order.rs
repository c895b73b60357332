//! The wordlines of a block in the order of their weakness, by the chip's table of guarded erases (001 §3.3.2).

use wordline_units::WordlineSet;

use super::declaration::Site;

/// Weakness of each wordline that takes data, by the h-layer that it lies in.
#[derive(Clone, Debug)]
pub struct WeakOrder {
    /// Rank of each wordline; the weakest has the least.
    rank: Vec<u32>,
}

impl WeakOrder {
    /// Creates the order for blocks of the `site`. Without a table the first wordlines count as the weakest.
    pub fn new(site: &Site<'_>) -> WeakOrder {
        let per_layer = site.sheet.geometry.wordlines_per_layer.max(1);
        let order = site.tables.guard.as_deref().map_or(&[][..], |guard| &guard.order);
        let rank = |wordline: u32| {
            let layer = wordline / per_layer;
            order.iter().position(|&other| other == layer).map_or(layer, |rank| rank as u32)
        };
        WeakOrder { rank: (0..site.layout.data_wordlines()).map(rank).collect() }
    }

    /// Creates the order of wordlines with these ranks; the weakest has the least.
    pub fn of(rank: Vec<u32>) -> WeakOrder {
        WeakOrder { rank }
    }

    /// Number of wordlines that take data.
    pub fn count(&self) -> u32 {
        self.rank.len() as u32
    }

    /// The `number` weakest wordlines by their `errors`, most first; of equals the weakest by the table.
    pub fn weakest(&self, number: u32, errors: impl Fn(u32) -> u8) -> WordlineSet {
        let mut keys = [0u32; WordlineSet::WORDLINES as usize];
        let count = self.rank.len().min(keys.len());
        let number = (number as usize).min(count);
        if number == 0 {
            return WordlineSet::NONE;
        }
        for (key, (wordline, rank)) in keys.iter_mut().zip((0u32..).zip(&self.rank)) {
            *key = u32::from(255 - errors(wordline)) << 24 | rank.min(&0xFFF) << 12 | wordline;
        }
        let keys = &mut keys[..count];
        keys.select_nth_unstable(number - 1);
        WordlineSet::of(keys[..number].iter().map(|key| key & 0xFFF))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use wordline_flash::tables::{Guard, Tables};

    use super::*;
    use crate::config::tests::small;

    #[test]
    fn most_errors_are_weakest_and_of_equals_the_weakest_by_the_table() {
        let config = small(64);
        let layout = config.layout();
        let (wordlines, per_layer) = (layout.data_wordlines(), config.sheet.geometry.wordlines_per_layer);
        let order = (0..config.sheet.geometry.layers).rev().collect();
        let tables = Tables { guard: Some(Arc::new(Guard { order, ..Guard::default() })), ..Tables::NONE };
        let of_table = WeakOrder::new(&Site { tables: &tables, ..Site::bare(&layout, &config.sheet) });
        assert_eq!(of_table.count(), wordlines);
        let first_of_last = (wordlines - 1) / per_layer * per_layer;
        assert_eq!(of_table.weakest(1, |_| 0), WordlineSet::of([first_of_last]));
        assert_eq!(of_table.weakest(2, |wordline| u8::from(wordline == 1)), WordlineSet::of([1, first_of_last]));
        assert_eq!(of_table.weakest(wordlines + 9, |_| 3).len(), wordlines);
        assert_eq!(WeakOrder::new(&Site::bare(&layout, &config.sheet)).weakest(1, |_| 0), WordlineSet::of([0]));
        assert!(of_table.weakest(0, |_| 0).is_empty());
    }
}
