//! Does a die on media files know after any cut what was locked or destroyed, and give nothing of it?

use wordline_chip::{Chip, Contents, Kept, Mark, PADDING, PageImage, Payload, Place, Sanitisation};
use wordline_drive::Config;
use wordline_live::{Durability, MediaPayload, MediaStore};
use wordline_media::{Backing, Identity, Media, Memory, Replay, Shape, Tape, Tear};
use wordline_plan::Plan;
use wordline_units::random::{Draw, Stream};
use wordline_units::{BlockId, DieId, Lpn, PageId, PlaneId};

const UNITS: u32 = 4;

fn config() -> Config {
    let settings = ["flash.channels=1", "flash.dies_per_channel=1", "cells.physics=false"];
    let mut config = Plan::load_set("pageftl-4k", &settings).expect("a preset").build();
    config.sheet.geometry.blocks = 4;
    config.sheet.geometry.layers = 2;
    config
}

fn store(files: &[Memory], identity: &Identity) -> MediaStore<Memory> {
    MediaStore::new(Media::open_memory(files, Some(identity), Durability::Process).expect("a cut leaves a die"), UNITS, None)
}

fn secret(place: Place) -> u8 {
    (place.block * 100 + place.page) as u8 + 1
}

fn program(payload: &mut MediaPayload<Memory>, place: Place, bytes: usize) {
    let mark = |unit| Mark { lpn: Lpn(place.page * UNITS + unit), version: 9, lost: 0, insecure: unit % 2 == 1 };
    let marks: Vec<Mark> = (0..UNITS).map(mark).collect();
    payload.program(place, Contents::of(&vec![secret(place); bytes], &marks));
}

/// What a die that wakes up on these files gives of each page, twice: as the survey asks for it and as a read does.
fn wake(files: &[Memory], identity: &Identity, config: &Config, pages: &[Place]) -> Vec<(Kept, PageImage)> {
    let store = store(files, identity);
    let mut die = Chip::with_payload(config.sheet, Default::default(), 1, 0, UNITS, Some(Box::new(store.payload(DieId(0)))));
    for block in 0..config.sheet.geometry.blocks {
        die.wake_block(PlaneId(0), BlockId(block));
    }
    let mut image = PageImage::new(config.sheet.geometry.page.0 as usize, UNITS as usize);
    let see = |&place: &Place| {
        let (block, page) = (BlockId(place.block), PageId(place.page as u16));
        // Before anybody has looked at the page, its spare area is asked for.
        let spare = die.spare(PlaneId(0), block, page, 1);
        let kept = die.wake_page(PlaneId(0), block, page, &mut image);
        let seen = image.clone();
        let sound = die.contents(PlaneId(0), block, page, &mut image);
        assert_eq!((sound, &image), (matches!(kept, Kept::Whole | Kept::Erased), &seen), "{place:?}");
        assert_eq!(spare, seen.marks[1].lpn, "{place:?}");
        (kept, seen)
    };
    pages.iter().map(see).collect()
}

/// A lock or destruction of a page, and the entries of the tape from its first to behind its last.
struct Deed {
    how: Sanitisation,
    span: (usize, usize),
}

/// Judges a page that a die gives after the entry `index`, and a tear in the next.
fn check_page(index: usize, place: Place, (kept, image): (Kept, &PageImage), deed: Option<Deed>) {
    let (from, until) = deed.as_ref().map_or((usize::MAX, usize::MAX), |deed| deed.span);
    match kept {
        Kept::Whole => {
            assert!(index < until, "{place:?} is there after entry {index}, and was done with {until}");
            assert!(image.bytes.iter().all(|&byte| byte == secret(place)));
            assert!(
                image.marks.iter().zip([false, true, false, true]).all(|(mark, insecure)| mark.insecure == insecure && mark.version == 9)
            );
        }
        Kept::Sanitised(how) => {
            assert!(index >= from && deed.is_some_and(|deed| deed.how == how), "{place:?} {how:?}");
            assert!(image.bytes.iter().all(|&byte| byte == 0) && image.marks.iter().all(|mark| mark.lpn == PADDING));
        }
        // Only a page that is being overwritten.
        Kept::Torn => {
            assert!((from..until).contains(&index) && matches!(deed.expect("one").how, Sanitisation::Scrub | Sanitisation::Reprogram));
        }
        Kept::Erased => panic!("{place:?} was programmed"),
    }
}

/// Erases both blocks of a die, which ends all that was done to their pages.
fn check_erased(store: &MediaStore<Memory>, config: &Config) {
    let bytes = config.sheet.geometry.page.0 as usize;
    let mut payload = store.payload(DieId(0));
    for block in [0, 1] {
        payload.erase(block);
        payload.end(block);
        program(&mut payload, Place { block, page: 0 }, bytes);
        payload.end(block);
    }
    let mut die = Chip::with_payload(config.sheet, Default::default(), 1, 0, UNITS, Some(Box::new(payload)));
    let mut image = PageImage::new(bytes, UNITS as usize);
    for block in [0, 1] {
        assert!(!die.wake_block(PlaneId(0), BlockId(block)).is_locked);
        assert_eq!(die.wake_page(PlaneId(0), BlockId(block), PageId(0), &mut image), Kept::Whole);
        assert_eq!(image.bytes[0], secret(Place { block, page: 0 }));
    }
}

/// Looks into the file of a die: what was destroyed is not in it either; what was locked is, as it is in the cells.
fn check_file(file: &Memory, orders: &[(Place, Sanitisation)]) {
    let mut held = vec![0; file.length().expect("memory") as usize];
    file.read(0, &mut held).expect("memory");
    let is_held = |place: Place| held.windows(64).any(|bytes| bytes.iter().all(|&byte| byte == secret(place)));
    for &(place, how) in orders {
        assert_eq!(is_held(place), matches!(how, Sanitisation::LockPage | Sanitisation::LockBlock), "{place:?} {how:?}");
    }
}

#[test]
fn what_was_made_unreadable_stays_so_wherever_the_process_dies() {
    let seed = 4711;
    println!("seed {seed}");
    let config = config();
    let geometry = config.sheet.geometry;
    let bytes = geometry.page.0 as usize;
    let identity = Identity { drive: 7, die: 0, dies: 1, chip: "a chip".to_owned(), shape: Shape::of(&geometry).expect("a small shape") };
    let tape = Tape::new();
    let media = Media::in_memory(&identity, Durability::Process, &tape).expect("it can be written down");
    let all = MediaStore::new(media, UNITS, None);
    let mut payload = all.payload(DieId(0));
    let pages: Vec<Place> = (0..2).flat_map(|block| (0..9).map(move |page| Place { block, page })).collect();
    pages.iter().for_each(|&place| program(&mut payload, place, bytes));
    (0..2).for_each(|block| payload.end(block));
    let begun = tape.len();
    // What is done to which page or block, and the entry of the tape with which it is done.
    let orders = [
        (Place { block: 0, page: 0 }, Sanitisation::LockPage),
        (Place { block: 0, page: 1 }, Sanitisation::Reprogram),
        (Place { block: 0, page: 3 }, Sanitisation::Scrub),
        (Place { block: 0, page: 4 }, Sanitisation::Scrub),
        (Place { block: 1, page: 5 }, Sanitisation::LockBlock),
        (Place { block: 0, page: 8 }, Sanitisation::LockPage),
    ];
    let spans: Vec<(usize, usize)> = orders
        .iter()
        .map(|&(place, how)| {
            let from = tape.len();
            payload.sanitise(place, how, true);
            (from, tape.len())
        })
        .collect();
    let entries = tape.entries();
    let mut replay = Replay::new(1);
    entries[..begun].iter().for_each(|entry| replay.apply(entry).expect("memory"));
    let mut draw = Draw::new(seed, Stream::Mix, 3);
    let (mut cuts, mut torn_pages) = (0, 0);
    for (index, entry) in (begun..).zip(&entries[begun..]) {
        for attempt in 0..6 {
            let mut cut = replay.clone();
            if attempt > 0 {
                cut.apply_torn(entry, Tear::Prefix(draw.below(bytes as u64 * 2))).expect("memory");
            }
            cuts += 1;
            for (&place, (kept, image)) in pages.iter().zip(wake(cut.files(), &identity, &config, &pages)) {
                let covers =
                    |&(at, how): &(Place, Sanitisation)| place == at || (how == Sanitisation::LockBlock && place.block == at.block);
                let order = orders.iter().position(covers);
                let deed = order.map(|order| Deed { how: orders[order].1, span: spans[order] });
                torn_pages += usize::from(kept == Kept::Torn);
                check_page(index, place, (kept, &image), deed);
            }
        }
        replay.apply(entry).expect("memory");
    }
    println!("{cuts} cuts, {torn_pages} torn pages");
    assert!(cuts > 40 && torn_pages > 3);
    let whole: Vec<Kept> = wake(replay.files(), &identity, &config, &pages).into_iter().map(|(kept, _)| kept).collect();
    let expected = |place: &Place| match (place.block, place.page) {
        (0, 0 | 8) => Kept::Sanitised(Sanitisation::LockPage),
        (0, 1) => Kept::Sanitised(Sanitisation::Reprogram),
        (0, 3 | 4) => Kept::Sanitised(Sanitisation::Scrub),
        (1, _) => Kept::Sanitised(Sanitisation::LockBlock),
        _ => Kept::Whole,
    };
    assert_eq!(whole, pages.iter().map(expected).collect::<Vec<_>>());
    check_file(&replay.files()[0], &orders);
    check_erased(&store(replay.files(), &identity), &config);
}
