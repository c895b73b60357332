//! Images: a restored drive is the drive, and bad bytes are an error.

use proptest::prelude::*;
use wordline_cells::Faults;
use wordline_drive::{Image, ImageError, Pace, Watched};
use wordline_engine::BlockView;
use wordline_flash::ProgramScope;
use wordline_ftl::techniques::{Choice, read_disturb_refresh};
use wordline_units::Bytes;

use crate::serve;
use crate::small::{Shape, uniform};

const PLAN: u64 = 0x1234_5678_9ABC_DEF0;

fn shapes() -> [Shape; 4] {
    let faults = Faults { factory_bad: 0.02, program_fail: 2e-4, erase_fail: 1e-3, read_fail: 1e-4, endurance: None, ..Faults::default() };
    [
        Shape::default(),
        Shape { planes: 2, unit: Bytes::kib(4), cores: 2, layers: 4, ..Shape::default() },
        Shape { scope: ProgramScope::Wordline, unit: Bytes::kib(4), layers: 4, preemptible: true, ..Shape::default() },
        Shape { faults, spare: 0.5, ..Shape::default() },
    ]
}

fn config(shape: &Shape) -> wordline_drive::Config {
    let mut config = shape.config();
    config.firmware.spare_blocks = if shape.faults.factory_bad > 0.0 { 20 } else { 0 };
    config.firmware.techniques = vec![Choice::ReadDisturbRefresh(read_disturb_refresh::Params::by_reads(300)), Choice::ReadPreemption];
    config
}

fn aged(shape: &Shape) -> Watched {
    let config = config(shape);
    let span = config.exported_units * 9 / 10;
    let mut drive = Watched::new(config.clone(), ());
    drive.age(&mut uniform(&config, span, 1), span * 2);
    serve(&mut drive, &mut uniform(&config, span, 2), span / 4);
    drive
}

fn through_bytes(drive: &Watched) -> Image {
    let image = drive.image().expect("settled");
    let bytes = image.to_bytes(PLAN);
    assert_eq!(Image::from_bytes(&bytes, PLAN).as_ref(), Ok(&image));
    image
}

fn blocks(drive: &Watched) -> Vec<BlockView> {
    drive.blocks().collect()
}

#[test]
fn a_restored_drive_goes_on_as_the_drive_itself() {
    for shape in shapes() {
        let mut drive = aged(&shape);
        assert!(!drive.is_worn_out(), "{shape:?}");
        let image = through_bytes(&drive);
        let restore = || Watched::from_image(config(&shape), image.clone(), ()).unwrap_or_else(|problem| panic!("{shape:?}: {problem}"));
        let (mut one, mut two) = (restore(), restore());
        assert_eq!(one.now().0, 0);
        assert_eq!(one.image().expect("just restored"), image, "{shape:?}");
        assert_eq!(blocks(&one), blocks(&drive));
        let span = drive.config().exported_units * 9 / 10;
        let (start, events) = (drive.now(), drive.log().count());
        for drive in [&mut drive, &mut one, &mut two] {
            serve(drive, &mut uniform(&config(&shape), span, 3), span / 2);
            drive.audit().unwrap_or_else(|problem| panic!("{shape:?}: {problem}"));
        }
        assert_eq!(one.log().hash(), two.log().hash());
        assert_eq!((one.now(), one.log().count()), (drive.now() - start, drive.log().count() - events), "{shape:?}");
        assert_eq!(blocks(&one), blocks(&drive), "{shape:?}");
        assert_eq!(one.image(), drive.image(), "{shape:?}");
    }
}

#[test]
fn an_image_can_go_on_under_another_seed_and_other_techniques() {
    let shape = shapes()[3];
    let drive = aged(&shape);
    let image = drive.image().expect("settled");
    let mut other = config(&shape);
    other.seed = 99;
    other.firmware.techniques = vec![Choice::PlainCopyback];
    let mut restored = Watched::from_image(other.clone(), image, ()).expect("it fits");
    let span = other.exported_units * 9 / 10;
    serve(&mut restored, &mut uniform(&other, span, 3), span);
    restored.audit().expect("sound");
}

#[test]
fn a_busy_drive_has_no_image() {
    let shape = Shape::default();
    let mut drive = shape.drive();
    drive.serve(&mut uniform(&shape.config(), 1_000, 1), Pace::Closed { depth: 32 }, Some(500));
    let told = drive.image().expect_err("busy").to_string();
    assert!(told.contains("requests of the host are not answered"), "{told}");
    drive.settle();
    assert!(drive.image().is_ok());
}

#[test]
fn images_of_other_drives_versions_and_plans_are_told_apart() {
    let shape = Shape::default();
    let image = shape.drive().image().expect("new");
    let bytes = image.to_bytes(PLAN);
    assert_eq!(Image::from_bytes(b"MZ, a program", PLAN), Err(ImageError::Foreign));
    assert_eq!(Image::from_bytes(&[], PLAN), Err(ImageError::Foreign));
    assert_eq!(Image::from_bytes(&bytes[..10], PLAN), Err(ImageError::Damaged));
    assert_eq!(Image::from_bytes(&bytes[..bytes.len() - 1], PLAN), Err(ImageError::Damaged));
    assert_eq!(Image::from_bytes(&bytes, 7), Err(ImageError::OtherPlan { found: PLAN, expected: 7 }));
    let mut newer = bytes.clone();
    newer[8] = 200;
    assert_eq!(Image::from_bytes(&newer, PLAN), Err(ImageError::OtherVersion { found: 200 }));
    for other in [
        Shape { blocks: 64, ..shape },
        Shape { channels: 4, dies_per_channel: 1, cores: 4, ..shape },
        Shape { layers: 4, ..shape },
        Shape { spare: 0.4, ..shape },
        Shape { planes: 2, ..shape },
        Shape { unit: Bytes::kib(4), ..shape },
    ] {
        let refused = Watched::from_image(other.config(), image.clone(), ());
        assert!(matches!(refused, Err(ImageError::Misfit(_))), "{other:?}");
    }
}

/// Random bytes find this damage once in thousands of images.
#[test]
fn a_unit_that_is_stale_before_it_is_written_is_refused() {
    let shape = Shape::default();
    let mut image = serde_json::to_value(aged(&shape).image().expect("settled")).unwrap();
    let core = &mut image["cores"][0];
    let open = core["dies"][0]["open"].as_array().unwrap().iter().flat_map(|stream| stream.as_array().unwrap());
    let free = &core["dies"][0]["free"][0];
    let blank: Vec<u64> = open.map(|open| &open["group"]).chain([free]).map(|group| group.as_u64().unwrap()).collect();
    let units = u64::from(shape.config().sheet.geometry.pages());
    let (word, words) = (1u64 << ((units - 1) % 64), units.div_ceil(64) as usize);
    assert!(blank.len() > 1);
    for group in blank {
        let mut marked = image.clone();
        let bits = &mut marked["cores"][0]["groups"]["stale"][group as usize];
        let before: Vec<u64> = bits.as_array().map_or(vec![0; words], |bits| bits.iter().map(|word| word.as_u64().unwrap()).collect());
        *bits = (0..words).map(|at| before[at] | if at + 1 == words { word } else { 0 }).collect::<Vec<u64>>().into();
        let refused = Watched::from_image(config(&shape), serde_json::from_value(marked).unwrap(), ());
        assert!(matches!(refused, Err(ImageError::Misfit(why)) if why.contains("marked stale")), "group {group}");
    }
    assert!(Watched::from_image(config(&shape), serde_json::from_value(image).unwrap(), ()).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Damage that the checksum would find, with a checksum that fits: what is left is the checks of the numbers themselves.
    #[test]
    fn no_bytes_make_a_restoring_drive_panic(
        which in 0usize..4,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop::option::weighted(0.1, any::<prop::sample::Index>()),
    ) {
        let shape = Shape { blocks: 24, layers: 1, spare: 1.0, ..shapes()[which] };
        let config = { let mut config = config(&shape); config.firmware.spare_blocks = 3; config };
        let mut drive = Watched::new(config.clone(), ());
        drive.age(&mut uniform(&config, config.exported_units / 2, 1), config.exported_units * 2);
        let image = drive.image().unwrap();
        let mut bytes = image.to_bytes(PLAN);
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        prop_assert!(Image::from_bytes(&bytes, PLAN).is_err_or_same(&image));
        if bytes.len() >= 28 {
            let sum = wordline_drive::image::checksum(&bytes[28..]).to_le_bytes();
            bytes[20..28].copy_from_slice(&sum);
        }
        if let Ok(image) = Image::from_bytes(&bytes, PLAN) && let Ok(mut drive) = Watched::from_image(config.clone(), image, ()) {
            // What passes every check is a drive that works.
            serve(&mut drive, &mut uniform(&config, config.exported_units / 2, 5), 500);
            drive.audit().unwrap();
        }
    }
}

trait Same {
    fn is_err_or_same(&self, image: &Image) -> bool;
}

impl Same for Result<Image, ImageError> {
    fn is_err_or_same(&self, image: &Image) -> bool {
        self.as_ref().map_or(true, |read| read == image)
    }
}
