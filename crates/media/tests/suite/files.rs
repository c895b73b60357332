//! Do real files do what memory does: come back, punch holes, refuse a second server, and say what is wrong with them?

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use wordline_media::{Durability, Identity, Media, MediaError, Place, Shape};

use crate::common::{dice, draw_act, erased, expect, identity, page, perform, see};

/// A folder that is gone when this is.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("wordline-media-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_life_in_files() {
    for durability in [Durability::Process, Durability::Host] {
        let folder = Folder::new("life");
        let mut media = Media::create(&folder.0, &identity(3), durability).expect("a fresh folder");
        let (mut draw, mut twin) = (dice(11), erased(3));
        for _ in 0..12 {
            for _ in 0..12 {
                let act = draw_act(&mut draw, &twin);
                perform(&mut media, act);
                expect(&mut twin, act);
            }
            assert_eq!(see(&media), twin);
            drop(media);
            media = Media::open(&folder.0, Some(&identity(3)), durability).expect("its own files");
            assert_eq!(see(&media), twin);
        }
    }
}

#[test]
fn media_are_their_owners_alone() {
    let folder = Folder::new("owner");
    let media = Media::create(&folder.0, &identity(2), Durability::Process).expect("a fresh folder");
    media.create_dump(wordline_media::DumpShape { drive: 1, slots: 2, slot_bytes: 4096, facts: 0, fact_bytes: 0 }).expect("a fresh folder");
    let mode = |path: &std::path::Path| fs::metadata(path).expect("it is there").mode() & 0o777;
    assert_eq!(mode(&folder.0), 0o700);
    let files: Vec<_> = fs::read_dir(&folder.0).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    assert_eq!(files.len(), 4, "{files:?}");
    assert!(files.iter().all(|file| mode(file) == 0o600), "{files:?}");
}

#[test]
fn a_drive_that_cannot_be_made_leaves_nothing_in_the_way() {
    let folder = Folder::new("unmade");
    // Where the second die is to be made there is something else.
    fs::create_dir_all(folder.0.join("die-001.media.new/x")).expect("a folder");
    assert!(Media::create(&folder.0, &identity(3), Durability::Process).is_err());
    assert!(!folder.0.join("die-000.media").exists() && folder.0.join("die-001.media.new/x").exists());
    fs::remove_dir_all(folder.0.join("die-001.media.new")).expect("ours");
    Media::create(&folder.0, &identity(3), Durability::Process).expect("nothing is in the way");
}

#[test]
fn files_are_sparse_and_an_erase_gives_space_back_but_that_of_a_few_blocks() {
    let shape = Shape { planes: 1, blocks: 64, pages: 64, page_bytes: 16384, spare_bytes: 1024 };
    let (block, slack) = (64 * shape.slot(), 100 << 10);
    for (durability, kept) in [(Durability::Process, 8), (Durability::Host, 0)] {
        let folder = Folder::new("sparse");
        let mut media = Media::create(&folder.0, &Identity { shape, ..identity(1) }, durability).expect("a fresh folder");
        let used = || fs::metadata(folder.0.join("die-000.media")).expect("a file").blocks() * 512;
        let empty = used();
        assert!(empty < slack, "{empty} bytes for nothing");
        let fill = |media: &mut Media<_>, block| {
            for number in 0..64 {
                media.die_mut(0).program_page(Place { block, page: number }, &mut page(&shape, 1 + 5 * u64::from(number))).expect("room");
            }
        };
        (0..12).for_each(|block| fill(&mut media, block));
        assert!(used() >= empty + 12 * block, "{}", used());
        (0..12).for_each(|block| media.erase_block(0, block).expect("room"));
        assert!(used() < empty + kept * block + slack, "{} bytes remain", used());
        // A block that is programmed makes place for another.
        fill(&mut media, 3);
        media.erase_block(0, 3).expect("room");
        assert!(used() < empty + kept * block + slack, "{} bytes remain", used());
        // One that is not full gives its space back.
        media.die_mut(0).program_page(Place { block: 4, page: 0 }, &mut page(&shape, 7)).expect("room");
        media.erase_block(0, 4).expect("room");
        assert!(used() < empty + kept.saturating_sub(1) * block + slack, "{} bytes remain", used());
        drop(media);
        let media = Media::open(&folder.0, None, durability).expect("its own files");
        assert!((0..12).all(|block| media.die(0).block(block).cursor == 0), "what is erased with zeroes is found erased");
    }
}

#[test]
fn a_second_server_is_refused() {
    let folder = Folder::new("lock");
    let media = Media::create(&folder.0, &identity(1), Durability::Process).expect("a fresh folder");
    for result in [Media::open(&folder.0, None, Durability::Process), Media::create(&folder.0, &identity(1), Durability::Process)] {
        let error = result.expect_err("in use");
        assert!(matches!(&error, MediaError::Locked { holder, .. } if *holder == std::process::id().to_string()), "{error}");
        assert!(error.to_string().ends_with("a drive has one server at a time"));
    }
    drop(media);
    assert!(Media::open(&folder.0, None, Durability::Process).is_ok());
    assert!(matches!(Media::create(&folder.0, &identity(1), Durability::Process), Err(MediaError::Exists { .. })));
}

#[test]
fn drives_that_are_not_whole() {
    let folder = Folder::new("whole");
    let open = || Media::open(&folder.0, None, Durability::Process).expect_err("not whole").to_string();
    assert!(open().contains("die-000.media: at offset 0: expected the first die of a drive, found no such file"), "{}", open());
    drop(Media::create(&folder.0, &identity(3), Durability::Process).expect("a fresh folder"));
    let die = |number: u32| folder.0.join(format!("die-{number:03}.media"));
    fs::copy(die(2), folder.0.join("saved")).expect("copied");
    fs::remove_file(die(2)).expect("removed");
    assert!(open().contains("die-002.media: at offset 0: expected die 2 of 3, found no such file"), "{}", open());
    fs::copy(die(1), die(2)).expect("copied");
    assert!(open().contains("die-002.media: at offset 32: expected die 2, found 1"), "{}", open());
    fs::rename(folder.0.join("saved"), die(2)).expect("renamed");
    assert!(Media::open(&folder.0, None, Durability::Process).is_ok());
    let other = Identity { drive: 99, ..identity(3) };
    let error = Media::open(&folder.0, Some(&other), Durability::Process).expect_err("another drive").to_string();
    assert!(error.contains("of drive 0000000000000000123456789abcdef0, and not of drive 00000000000000000000000000000063"), "{error}");
}
