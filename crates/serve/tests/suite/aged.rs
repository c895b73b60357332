//! Is a drive as worn after a restart as it was before?

use wordline_chip::{KeptLife, Persistent};
use wordline_drive::Drive;
use wordline_media::{Identity, Media, Memory, Replay, Shape, Tape};
use wordline_plan::Plan;
use wordline_serve::{Durability, MediaPayload, MediaStore};
use wordline_units::random::{Draw, Stream};
use wordline_units::{DieId, HostOp, HostRequest};

type Live = Drive<(), MediaPayload<Memory>>;

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

#[test]
fn a_drive_is_as_worn_after_a_restart_as_before() {
    let mut config = Plan::load_set("pageftl", &["flash.channels=1", "flash.dies_per_channel=1"]).expect("a preset").build();
    assert!(config.cells.is_some(), "the preset has physics");
    config.sheet.geometry.blocks = 14;
    config.firmware.sheet = config.sheet;
    config.firmware.spare_blocks = 1;
    config.exported_units = 4 * u64::from(config.sheet.geometry.pages());
    let geometry = config.sheet.geometry;
    let identity = Identity { drive: 7, die: 0, dies: 1, chip: "a chip".to_owned(), shape: Shape::of(&geometry).expect("a small shape") };
    let (tape, mut made) = (Tape::new(), Replay::new(1));
    Media::in_memory(&identity, Durability::Process, &tape).expect("it can be written down");
    tape.entries().iter().for_each(|entry| made.apply(entry).expect("memory takes it"));
    let media = Media::open_memory(made.files(), Some(&identity), Durability::Process).expect("it was just made");
    let store = MediaStore::new(media, 1, None);
    let mut drive: Live = Drive::with_payload(config.clone(), (), |die| store.payload(die));
    let mut draw = Draw::new(5, Stream::Address, 4);
    overwrite(&mut drive, &mut draw, 4 * config.exported_units);
    let worn = stress(&store, geometry.blocks);
    assert!(worn.iter().filter(|&&stress| stress > 0.0).count() > 8, "{worn:?}");
    // The process ends here. What its cells were is in the media alone.
    drop(drive);
    let mut drive: Live = Drive::wake(config.clone(), (), |die| store.payload(die), None);
    overwrite(&mut drive, &mut draw, 2 * config.exported_units);
    let later = stress(&store, geometry.blocks);
    assert!(worn.iter().zip(&later).all(|(worn, later)| later >= worn), "a block has become younger: {worn:?}, then {later:?}");
    assert!(worn.iter().zip(&later).any(|(worn, later)| *worn > 0.0 && later > worn), "none has been erased again");
}
