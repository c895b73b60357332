use wordline_flash::tables::{CopyIndex, Tables};
use wordline_units::{Cause, Nanos};

use super::*;
use crate::Config;
use crate::config::tests::small;
use crate::dispatch::Rooms;
use crate::setup::build;
use crate::state::groups::Use;
use crate::techniques::Choice;
use crate::techniques::apply::ctx;
use crate::techniques::say::agree;
use crate::techniques::seam::ProgramUnit;

const PARAMS: Params = Params { classes: Classes::Block, samples: 1, retention: 0, moved_blocks: 4 };

/// The columns (3K, 4K] and (4K, 5K] of 001 Table 6, one year, at 10 and 20 cycles.
fn table() -> Copyback {
    let by_pe = CopyIndex { class_errors: vec![[5, 9]; 2], thresholds: vec![vec![3, 2], vec![2, 1], vec![1, 0]], ..CopyIndex::default() };
    Copyback { pe: vec![10, 20], retention: vec![31_536_000], layers: vec![0], by_pe, ..Copyback::default() }
}

/// A core that keeps the provenance of its data, and the technique.
fn trial_of(table: Copyback) -> (Rooms, RestrictedCopyback) {
    let tables = Tables { copyback: Some(Arc::new(table)), ..Tables::NONE };
    let mut sheet = small(64).sheet;
    sheet.capabilities.copyback = true;
    let config = Config { techniques: vec![Choice::RestrictedCopyback(PARAMS)], tables: tables.clone(), exported_units: 48, sheet, ..small(64) };
    let layout = config.layout();
    let technique = RestrictedCopyback::new(&Site { tables: &tables, ..Site::bare(&layout, &config.sheet) }, PARAMS);
    (build(&config), technique)
}

fn trial() -> (Rooms, RestrictedCopyback) {
    trial_of(table())
}

fn unit(group: u32) -> ProgramUnit {
    ProgramUnit { group: BlockGroup(group), layer: 0, place: 0 }
}

fn program(rooms: &mut Rooms, technique: &mut RestrictedCopyback, group: u32) {
    rooms.core.services_mut().programmed(BlockGroup(group), Nanos(1));
    let report = ProgramReport { at: unit(group), status: Status::Good, loops: 0, array: Nanos(1), trace: None };
    technique.learn(&ctx(&rooms.core), &News::Programmed(report));
}

fn copy(rooms: &mut Rooms, technique: &mut RestrictedCopyback, from: u32, to: u32) {
    let report = CopyReport { from: unit(from), to: unit(to), status: Status::Good, copies: None, array: Nanos(1) };
    technique.learn(&ctx(&rooms.core), &News::Copied(report));
    let services = rooms.core.services_mut().get_mut().expect("provenance is asked for");
    services.copied((BlockGroup(from), 0), (BlockGroup(to), 0), Nanos(1));
}

fn choose(rooms: &Rooms, technique: &mut RestrictedCopyback, victim: u32) {
    technique.learn(&ctx(&rooms.core), &News::VictimChosen { victim: BlockGroup(victim), why: Cause::Gc });
}

fn close(rooms: &Rooms, technique: &mut RestrictedCopyback, group: u32) -> Memo {
    let news = News::Closed { group: BlockGroup(group) };
    technique.learn(&ctx(&rooms.core), &news);
    technique.remember(&ctx(&rooms.core), &news).expect("the quota is told")
}

fn way(rooms: &Rooms, technique: &RestrictedCopyback, from: u32, to: u32) -> Way {
    agree(technique.way(&ctx(&rooms.core), &Copy { from: unit(from), to: Some(BlockGroup(to)), why: Cause::Gc }))
}

fn quota(technique: &RestrictedCopyback, group: u32) -> u8 {
    technique.quotas[group as usize]
}

fn age(rooms: &mut Rooms, technique: &mut RestrictedCopyback, group: u32, erases: u32) {
    rooms.core.groups_mut().set_erases(BlockGroup(group), erases);
    let report = EraseReport { has_left: false, ..EraseReport::without_erase(BlockGroup(group)) };
    technique.learn(&ctx(&rooms.core), &News::Erased(report));
}

/// Groups 1, 2 and 3 are of the best, the median and the worst class.
fn classed() -> (Rooms, RestrictedCopyback) {
    let (rooms, mut technique) = trial();
    (0..3).for_each(|class| technique.classes.set(BlockGroup(class as u32 + 1), class));
    (rooms, technique)
}

#[test]
fn the_quota_of_figures_20_and_21_goes_down_by_what_the_source_stands_and_is_whole_again_over_the_bus() {
    let (mut rooms, mut technique) = classed();
    program(&mut rooms, &mut technique, 1);
    choose(&rooms, &mut technique, 1);
    assert_eq!((quota(&technique, 1), way(&rooms, &technique, 1, 4)), (6, Way::Copyback));
    copy(&mut rooms, &mut technique, 1, 4);
    assert_eq!(quota(&technique, 4), 4, "a copy out of a block that stands three");
    program(&mut rooms, &mut technique, 2);
    choose(&rooms, &mut technique, 2);
    copy(&mut rooms, &mut technique, 2, 5);
    assert_eq!(quota(&technique, 5), 3, "b_v2[6, 3] goes to a block of quota 3");
    technique.classes.set(BlockGroup(4), 1);
    choose(&rooms, &mut technique, 4);
    copy(&mut rooms, &mut technique, 4, 6);
    assert_eq!((quota(&technique, 6), way(&rooms, &technique, 6, 7)), (0, Way::Bus), "4 - 3 is less than any copy takes");
    program(&mut rooms, &mut technique, 7);
    assert_eq!(quota(&technique, 7), 6, "corrected data has the whole quota");
    program(&mut rooms, &mut technique, 3);
    choose(&rooms, &mut technique, 3);
    assert_eq!((way(&rooms, &technique, 3, 8), technique.left(BlockGroup(3))), (Way::Copyback, Ok(0)), "the last copy that it stands");
}

#[test]
fn a_group_has_the_least_quota_of_what_came_into_it_in_any_order() {
    for order in [[1, 2], [2, 1]] {
        let (mut rooms, mut technique) = classed();
        [1, 2].into_iter().for_each(|group| program(&mut rooms, &mut technique, group));
        order.into_iter().for_each(|from| copy(&mut rooms, &mut technique, from, 5));
        program(&mut rooms, &mut technique, 5);
        assert_eq!(quota(&technique, 5), 3, "{order:?}");
    }
}

#[test]
fn a_failed_copy_lowers_nothing_and_the_class_of_the_destination_is_no_matter() {
    let (mut rooms, mut technique) = classed();
    program(&mut rooms, &mut technique, 1);
    let report = CopyReport { from: unit(1), to: unit(5), status: Status::Failed, copies: None, array: Nanos(1) };
    technique.learn(&ctx(&rooms.core), &News::Copied(report));
    assert_eq!(quota(&technique, 5), UNSET);
    copy(&mut rooms, &mut technique, 1, 3);
    assert_eq!(quota(&technique, 3), 4, "group 3 is of the worst class");
}

#[test]
fn a_copy_goes_to_a_group_of_its_own_quota_or_a_lower_one_and_data_of_the_bus_is_never_refused() {
    let (mut rooms, mut technique) = classed();
    [1, 2, 6].into_iter().for_each(|group| program(&mut rooms, &mut technique, group));
    copy(&mut rooms, &mut technique, 1, 4);
    copy(&mut rooms, &mut technique, 2, 5);
    let fit = |technique: &RestrictedCopyback, from: u32, way, to: u32, is_open| {
        let data = Moving { from: Some(BlockGroup(from)), way, cause: Cause::Gc };
        technique.fit(&ctx(&rooms.core), &data, &Place { group: BlockGroup(to), is_open })
    };
    let copied = |to, is_open| fit(&technique, 1, Way::Copyback, to, is_open);
    assert_eq!([4, 5, 6, 8].map(|to| copied(to, true)), [Fit::Exact, Fit::Loose(1), Fit::Never, Fit::Exact]);
    assert_eq!(copied(6, false), Fit::Exact, "a free group, whatever was in it");
    let moved = |to| fit(&technique, 1, Way::Bus, to, true);
    assert_eq!([4, 5, 6, 8].map(moved), [Fit::Loose(2), Fit::Loose(3), Fit::Exact, Fit::Exact]);
    assert_eq!(fit(&technique, 8, Way::Copyback, 7, false), Fit::Never, "nothing is known of its source");
}

#[test]
fn the_bin_is_that_of_the_most_erased_group_and_quotas_are_carried_over() {
    let (mut rooms, mut technique) = classed();
    [1, 2].into_iter().for_each(|group| program(&mut rooms, &mut technique, group));
    copy(&mut rooms, &mut technique, 1, 4);
    age(&mut rooms, &mut technique, 9, 10);
    assert_eq!((quota(&technique, 1), quota(&technique, 4)), (6, 4));
    age(&mut rooms, &mut technique, 9, 11);
    assert_eq!(technique.column().init(), 2);
    assert_eq!((quota(&technique, 1), quota(&technique, 4)), (2, 0), "one of three is used, and the worst class stands none any more");
    assert_eq!(technique.left(BlockGroup(3)), Err(Why::BeyondTable));
    age(&mut rooms, &mut technique, 9, 21);
    assert_eq!((quota(&technique, 1), way(&rooms, &technique, 1, 5)), (0, Way::Bus), "beyond the table nothing is copied");
}

#[test]
fn erases_that_came_without_news_are_seen_before_anything_is_copied() {
    let (mut rooms, mut technique) = classed();
    rooms.core.groups_mut().set_erases(BlockGroup(7), 15);
    program(&mut rooms, &mut technique, 1);
    assert_eq!((quota(&technique, 1), technique.column().init()), (2, 2));
    rooms.core.groups_mut().set_erases(BlockGroup(8), 25);
    choose(&rooms, &mut technique, 1);
    assert_eq!(way(&rooms, &technique, 1, 8), Way::Bus, "the group that would take it is beyond the table");
    assert_eq!(way(&rooms, &technique, 1, 7), Way::Copyback);
}

#[test]
fn a_leap_counts_its_cycles_and_an_image_brings_everything_back() {
    let (mut rooms, mut technique) = classed();
    [1, 2].into_iter().for_each(|group| program(&mut rooms, &mut technique, group));
    copy(&mut rooms, &mut technique, 1, 4);
    let _ = close(&rooms, &mut technique, 2);
    let (_, mut back) = trial();
    assert!(back.restore(&technique.image()));
    assert_eq!((back.image(), back.quotas.clone(), back.classes.class(BlockGroup(2))), (technique.image(), technique.quotas.clone(), 1));
    let image = technique.image();
    assert!(!back.restore(&image[..4]) && !back.restore(&[]));
    let cycles: Vec<u32> = (0..10).map(|group| if group == 3 { 12 } else { 0 }).collect();
    technique.leap(&Leap { times: 1, cycles: &cycles, erases: &[1; 10] });
    assert_eq!((quota(&technique, 1), quota(&technique, 4)), (2, 0));
}

#[test]
fn after_a_power_cut_a_group_has_what_its_memo_says_and_without_one_what_its_provenance_says() {
    let (mut rooms, mut technique) = classed();
    [1, 2].into_iter().for_each(|group| program(&mut rooms, &mut technique, group));
    copy(&mut rooms, &mut technique, 1, 4);
    copy(&mut rooms, &mut technique, 2, 5);
    let memos: Vec<Memo> = [1, 4, 5].into_iter().map(|group| close(&rooms, &mut technique, group)).collect();
    assert_eq!(memos.iter().map(|memo| memo.value).collect::<Vec<_>>(), [1, 86, 128]);
    let (_, mut back) = trial();
    back.recover(rooms.core.groups(), &memos);
    assert_eq!([1, 4, 5, 2, 6].map(|group| quota(&back, group)), [6, 4, 3, UNSET, UNSET]);
    assert_eq!(back.classes.class(BlockGroup(1)), 2, "no memo of its class");
    assert_eq!(way(&rooms, &back, 2, 7), Way::Bus, "nothing is known");
    choose(&rooms, &mut back, 2);
    assert_eq!(quota(&back, 2), 6, "its data is known to be corrected");
    // A group that was open at the cut: nobody knows how often its data was copied.
    rooms.core.groups_mut().add_valid(BlockGroup(6), 1);
    let groups = rooms.core.groups().clone();
    rooms.core.services_mut().find(&groups, Nanos(1), |_| [None; 2]);
    program(&mut rooms, &mut back, 6);
    choose(&rooms, &mut back, 6);
    assert_eq!((quota(&back, 6), way(&rooms, &back, 6, 7)), (0, Way::Bus));
    let later = Memo { group: BlockGroup(6), slot: QUOTA, value: 1 };
    back.recover(rooms.core.groups(), &[later]);
    choose(&rooms, &mut back, 6);
    assert_eq!(quota(&back, 6), 0, "a memo does not outdo that");
}

#[test]
fn a_memo_of_another_bin_is_carried_over() {
    let (mut rooms, mut technique) = classed();
    [1, 2].into_iter().for_each(|group| program(&mut rooms, &mut technique, group));
    copy(&mut rooms, &mut technique, 1, 4);
    let memos: Vec<Memo> = [2, 4].into_iter().map(|group| close(&rooms, &mut technique, group)).collect();
    rooms.core.groups_mut().set_erases(BlockGroup(9), 11);
    let (_, mut back) = trial();
    back.recover(rooms.core.groups(), &memos);
    assert_eq!((quota(&back, 2), quota(&back, 4)), (2, 0));
}

#[test]
fn the_class_comes_back_in_its_bin_and_the_one_that_was_measured_last_is_told() {
    let (mut rooms, mut technique) = trial();
    program(&mut rooms, &mut technique, 1);
    technique.classes.set(BlockGroup(1), 1);
    let erased = News::Erased(EraseReport { has_left: false, ..EraseReport::without_erase(BlockGroup(1)) });
    technique.learn(&ctx(&rooms.core), &erased);
    let before = technique.remember(&ctx(&rooms.core), &erased).expect("the class of the filling before");
    let closed = News::Closed { group: BlockGroup(1) };
    technique.learn(&ctx(&rooms.core), &closed);
    let Some(Work { kind: crate::techniques::work::WorkKind::Measure { at, .. }, .. }) = technique.work(&ctx(&rooms.core), &closed) else {
        panic!("a page is to be measured")
    };
    let read = News::Read(crate::techniques::seam::ReadReport {
        at,
        cause: Cause::Measure,
        status: Status::Good,
        retries: 0,
        last: wordline_flash::ReadTry::DEFAULT,
        worst: 3,
        tally: None,
        array: Nanos(1),
        times: 1,
    });
    technique.learn(&ctx(&rooms.core), &read);
    let after = technique.remember(&ctx(&rooms.core), &read).expect("the class that was measured");
    assert!(after.value > before.value && after.slot == before.slot, "memos only grow, and a better class is told all the same");
    let (_, mut back) = trial();
    back.recover(rooms.core.groups(), &[after]);
    assert_eq!(back.classes.class(BlockGroup(1)), 0);
    rooms.core.groups_mut().set_erases(BlockGroup(9), 11);
    back.recover(rooms.core.groups(), &[after]);
    assert_eq!(back.classes.class(BlockGroup(1)), 2, "it is of another bin");
}

#[test]
fn where_no_block_stands_a_copy_none_is_proposed_and_every_place_suits() {
    let by_pe = CopyIndex { class_errors: vec![[5, 9]], thresholds: vec![vec![0]; 3], ..CopyIndex::default() };
    let (mut rooms, mut technique) = trial_of(Copyback { pe: vec![99], by_pe, ..table() });
    program(&mut rooms, &mut technique, 1);
    choose(&rooms, &mut technique, 1);
    assert_eq!(way(&rooms, &technique, 1, 2), Way::Bus);
    let data = Moving { from: Some(BlockGroup(1)), way: Way::Bus, cause: Cause::Gc };
    let fits = [1, 2].map(|to| technique.fit(&ctx(&rooms.core), &data, &Place { group: BlockGroup(to), is_open: true }));
    assert_eq!(fits, [Fit::Exact; 2]);
    let closed = News::Closed { group: BlockGroup(1) };
    technique.learn(&ctx(&rooms.core), &closed);
    assert_eq!(technique.work(&ctx(&rooms.core), &closed), None, "nothing is measured");
    assert_eq!(rooms.core.groups().use_of(BlockGroup(1)), Use::Free);
}

#[test]
fn thresholds_are_of_the_longest_retention_unless_a_shorter_one_is_wanted() {
    let mut two = table();
    two.retention = vec![7_776_000, 31_536_000];
    two.by_pe.thresholds = vec![vec![6; 2], vec![6; 2], vec![6; 2], vec![3; 2], vec![3; 2], vec![3; 2]];
    let tables = Tables { copyback: Some(Arc::new(two)), ..Tables::NONE };
    let (layout, sheet) = (small(64).layout(), small(64).sheet);
    let of = |retention| {
        let site = Site { tables: &tables, ..Site::bare(&layout, &sheet) };
        let technique = RestrictedCopyback::new(&site, Params { retention, ..PARAMS });
        (technique.column().init(), technique.retention())
    };
    assert_eq!([0, 1, 2].map(of), [(3, Some(Seconds(31_536_000))), (6, Some(Seconds(7_776_000))), (0, None)]);
}
