//! Is a drive as worn after a restart as it was before?

use wordline_chip::{KeptLife, Persistent};
use wordline_drive::{Config, Watched};
use wordline_ftl::BlockGroup;
use wordline_ftl::groups::Use;
use wordline_live::{Durability, MediaStore};
use wordline_media::{Identity, Media, Memory, Replay, Shape, Tape};
use wordline_plan::Plan;
use wordline_units::random::{Draw, Stream};
use wordline_units::{DieId, HostOp, HostRequest, Wear};

type Live = Watched<()>;

/// The stress of all erases of each block of the first die, as its cells count it.
fn stress(drive_store: &MediaStore<Memory>, blocks: u32) -> Vec<f32> {
    let die = drive_store.payload(DieId(0));
    // Behind the version of the string and what is in it.
    let stress = |life: &KeptLife| f32::from_le_bytes(life.bytes()[2..6].try_into().expect("four bytes"));
    (0..blocks).map(|block| stress(&die.kept_block(block).life)).collect()
}

fn overwrite(drive: &mut Live, draw: &mut Draw, times: u64) {
    let bytes = vec![0x5A; drive.unit_bytes().0 as usize];
    let sectors = drive.unit_bytes().0 / 512;
    let units = drive.config().exported_units;
    for _ in 0..times {
        let request = HostRequest::new(HostOp::Write, draw.below(units) * sectors, sectors as u32);
        let before = drive.completed();
        drive.submit(&request, &bytes);
        while drive.completed() == before {
            let next = drive.next_at().expect("something is pending while a request is outstanding");
            drive.run_until(next);
        }
    }
    drive.settle();
}

/// A die of a few blocks in memory files, with a drive on it.
fn small(mut config: Config) -> (Config, MediaStore<Memory>) {
    assert!(config.cells.is_some(), "the preset has physics");
    config.sheet.geometry.blocks = 20;
    config.firmware.sheet = config.sheet;
    config.firmware.spare_blocks = 1;
    config.exported_units = 8 * u64::from(config.sheet.geometry.pages());
    let geometry = config.sheet.geometry;
    let identity = Identity { drive: 7, die: 0, dies: 1, chip: "a chip".to_owned(), shape: Shape::of(&geometry).expect("a small shape") };
    let (tape, mut made) = (Tape::new(), Replay::new(1));
    Media::in_memory(&identity, Durability::Process, &tape).expect("it can be written down");
    tape.entries().iter().for_each(|entry| made.apply(entry).expect("memory takes it"));
    let media = Media::open_memory(made.files(), Some(&identity), Durability::Process).expect("it was just made");
    (config, MediaStore::new(media, 1, None))
}

const ONE_DIE: [&str; 2] = ["flash.channels=1", "flash.dies_per_channel=1"];

#[test]
fn a_drive_is_as_worn_after_a_restart_as_before() {
    let (config, store) = small(Plan::load_set("pageftl", &ONE_DIE).expect("a preset").build());
    let blocks = config.sheet.geometry.blocks;
    let mut drive: Live = Watched::with_payload(config.clone(), (), |die| store.payload(die));
    let mut draw = Draw::new(5, Stream::Address, 4);
    overwrite(&mut drive, &mut draw, 4 * config.exported_units);
    let worn = stress(&store, blocks);
    assert!(worn.iter().filter(|&&stress| stress > 0.0).count() > 8, "{worn:?}");
    // The process ends here. What its cells were is in the media alone.
    drop(drive);
    let mut drive: Live = Watched::wake(config.clone(), (), |die| store.payload(die), None);
    overwrite(&mut drive, &mut draw, 2 * config.exported_units);
    let later = stress(&store, blocks);
    assert!(worn.iter().zip(&later).all(|(worn, later)| later >= worn), "a block has become younger: {worn:?}, then {later:?}");
    assert!(worn.iter().zip(&later).any(|(worn, later)| *worn > 0.0 && later > worn), "none has been erased again");
}

/// Ages of the groups that hold data and take no more of it.
fn ages(drive: &Live) -> Vec<(BlockGroup, Option<Wear>)> {
    let ftl = &drive.firmware()[0];
    let all = (0..ftl.layout().group_count() as u32).map(BlockGroup);
    all.filter(|&group| ftl.groups().use_of(group) == Use::Closed).map(|group| (group, ftl.groups().wear(group))).collect()
}

#[test]
fn ages_of_blocks_are_back_after_a_process_was_killed() {
    let (config, store) = small(Plan::load_set("longlive", &ONE_DIE).expect("a preset").build());
    let mut drive: Live = Watched::with_payload(config.clone(), (), |die| store.payload(die));
    let mut draw = Draw::new(5, Stream::Address, 4);
    overwrite(&mut drive, &mut draw, 4 * config.exported_units);
    let before = ages(&drive);
    let health = drive.health().ages.expect("a technique tells them");
    assert!(before.len() > 4 && health.least <= health.median && health.median <= health.most, "{health:?}, {before:?}");
    assert!(before.iter().all(|(_, wear)| wear.is_some()), "each was measured when it was filled: {before:?}");
    // No word of what its memory held is written down.
    drop(drive);
    let drive: Live = Watched::wake(config, (), |die| store.payload(die), None);
    let after = ages(&drive);
    let same = before.iter().filter(|age| after.contains(age)).count();
    println!("{same} of {} ages are back: {before:?}, {after:?}", before.len());
    // The last few may wait for the journal, and count as the worst of their cycles until they are filled again.
    assert!(same + 2 >= before.len() && same > 2, "{same} of {}", before.len());
    let is_younger = |(group, wear): &&(BlockGroup, Option<Wear>)| after.iter().any(|(of, now)| of == group && now < wear);
    assert_eq!(before.iter().find(is_younger), None, "{after:?}");
}
