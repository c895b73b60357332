//! The table against a plain map, and the news that change it. Where reads begin on whole cores is checked by the twin and the power cuts.

use proptest::prelude::*;
use wordline_flash::ProgramScope;
use wordline_units::{Bytes, Cause, Nanos, PageId, PlaneId};

use super::*;
use crate::state::layout::Layout;
use crate::state::layout::tests::small_sheet;
use crate::techniques::empty::EmptyCore;
use crate::techniques::seam::EraseReport;

const PAGES: u16 = 2 * 2 * 3;

/// A site with two planes of dies with two h-layers of two wordlines: twelve pages, two entries a block.
fn table() -> LayerReadOffsets {
    let sheet = small_sheet(2, 5, ProgramScope::Page);
    let layout = Layout::new(&sheet, 2, 5, Bytes::kib(16));
    LayerReadOffsets::new(&Site::bare(&layout, &sheet))
}

fn read(group: u32, plane: u8, page: u16, retries: u32, entry: u8, status: Status) -> News {
    News::Read(ReadReport {
        at: at(group, plane, page),
        cause: Cause::Host,
        status,
        retries,
        last: ReadTry::vendor(entry),
        worst: 0,
        tally: None,
        array: Nanos::ZERO,
        times: 1,
    })
}

fn at(group: u32, plane: u8, page: u16) -> FlashPage {
    FlashPage { group: BlockGroup(group), plane: PlaneId(plane), page: PageId(page) }
}

fn erased(group: u32) -> News {
    News::Erased(EraseReport {
        group: BlockGroup(group),
        status: Status::Good,
        loops: 0,
        array: Nanos::ZERO,
        trace: None,
        rest: None,
        has_left: false,
    })
}

/// The entry of the vendor's table at which a read of `at` begins.
fn entry(table: &LayerReadOffsets, ctx: &Ctx<'_>, at: FlashPage) -> Option<u8> {
    table.estimate(ctx, at).ok().map(|estimate| estimate.first.entry)
}

fn core() -> EmptyCore {
    EmptyCore::new(Layout::new(&small_sheet(2, 5, ProgramScope::Page), 2, 5, Bytes::kib(16)))
}

#[test]
fn what_one_page_needed_its_layer_begins_with() {
    let (core, mut table) = (core(), table());
    let ctx = &core.ctx(Nanos::ZERO);
    assert!((0..PAGES).all(|page| entry(&table, ctx, at(3, 1, page)).is_none()), "nothing is known");
    table.learn(ctx, &read(3, 1, 1, 4, 4, Status::Good));
    let known = |table: &LayerReadOffsets, group: u32, plane: u8| -> Vec<u16> {
        (0..PAGES).filter(|&page| entry(table, ctx, at(group, plane, page)) == Some(4)).collect()
    };
    assert_eq!(known(&table, 3, 1), [0, 1, 2, 3, 4, 5], "all pages of both wordlines of the first h-layer");
    assert!(known(&table, 3, 0).is_empty() && known(&table, 2, 1).is_empty() && known(&table, 4, 1).is_empty(), "of that block alone");
}

#[test]
fn a_read_that_began_elsewhere_goes_on_with_the_entry_once_and_one_of_the_vendors_table_goes_its_way() {
    let (core, mut table) = (core(), table());
    let ctx = &core.ctx(Nanos::ZERO);
    table.learn(ctx, &read(3, 1, 1, 4, 4, Status::Good));
    let next = |tried: &[ReadTry], page| table.rung(ctx, at(3, 1, page), &Failed { tried, errors: 99 }).map(|rung| rung.next);
    let (set, entry) = (ReadTry { set: 2, entry: 0 }, ReadTry::vendor(4));
    assert_eq!(next(&[set], 0), Some(entry));
    assert_eq!(next(&[set, entry], 0), None);
    assert_eq!(next(&[ReadTry::DEFAULT], 0), None);
    assert_eq!(next(&[set], PAGES - 1), None, "nothing is known of that h-layer");
}

#[test]
fn only_a_read_that_was_tried_again_and_ended_well_teaches() {
    let (core, mut table) = (core(), table());
    let ctx = &core.ctx(Nanos::ZERO);
    let first = |table: &LayerReadOffsets| entry(table, ctx, at(0, 0, 0));
    table.learn(ctx, &read(0, 0, 0, 31, 2, Status::Uncorrectable));
    assert_eq!(first(&table), None, "a page that no entry brings back says nothing of its neighbours");
    table.learn(ctx, &read(0, 0, 0, 3, 3, Status::Good));
    assert_eq!(first(&table), Some(3));
    table.learn(ctx, &read(0, 0, 3, 31, 1, Status::Uncorrectable));
    table.learn(ctx, &read(0, 0, 3, 0, 3, Status::Good));
    assert_eq!(first(&table), Some(3));
    table.learn(ctx, &read(0, 0, 3, 29, 0, Status::Good));
    assert_eq!(first(&table), None, "the default was right again");
}

#[test]
fn erases_and_power_cuts_put_it_back_to_the_default() {
    let (core, mut table) = (core(), table());
    let ctx = &core.ctx(Nanos::ZERO);
    for group in 0..10 {
        (0..PAGES).for_each(|page| table.learn(ctx, &read(group, 1, page, 1, 9, Status::Good)));
    }
    table.learn(ctx, &erased(4));
    for group in 0..10 {
        let known = (0..PAGES).all(|page| entry(&table, ctx, at(group, 1, page)) == Some(9));
        let nothing = (0..PAGES).all(|page| entry(&table, ctx, at(group, 1, page)).is_none());
        assert_eq!((known, nothing), (group != 4, group == 4));
    }
    let sheet = small_sheet(2, 5, ProgramScope::Page);
    let layout = Layout::new(&sheet, 2, 5, Bytes::kib(16));
    table.recover(&BlockGroups::new(layout, vec![[0; 4]; layout.group_count()]), &[]);
    assert!(table.entries.iter().all(|&entry| entry == 0));
}

proptest! {
    /// The table is compared with a map from (group, plane, h-layer).
    #[test]
    fn it_is_a_map_of_layers_and_survives_a_snapshot(
        news in prop::collection::vec((0u32..10, 0u8..2, 0u16..PAGES, 0u32..3, 0u8..=255, prop::bool::weighted(0.8), prop::bool::weighted(0.05)), 0..200),
    ) {
        let core = core();
        let ctx = &core.ctx(Nanos::ZERO);
        let (mut table, mut map) = (table(), std::collections::BTreeMap::new());
        let name = |group: u32, plane: u8, page: u16| (group, plane, page / 6);
        for (group, plane, page, retries, entry, good, erase) in news {
            let status = if good { Status::Good } else { Status::Uncorrectable };
            let news = if erase { erased(group) } else { read(group, plane, page, retries, entry, status) };
            table.learn(ctx, &news);
            if erase {
                map.retain(|key: &(u32, u8, u16), _| key.0 != group);
            } else if good && retries > 0 {
                map.insert(name(group, plane, page), entry);
            }
        }
        let mut restored = self::table();
        assert!(restored.restore(&table.image()));
        for (group, plane, page) in (0..10).flat_map(|g| (0..2).flat_map(move |plane| (0..PAGES).map(move |page| (g, plane, page)))) {
            let expected = map.get(&name(group, plane, page)).copied().filter(|&entry| entry != 0);
            for table in [&table, &restored] {
                prop_assert_eq!(entry(table, ctx, at(group, plane, page)), expected);
            }
        }
    }
}
