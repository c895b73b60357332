//! Whole drives whose erases spare wordlines: their dies refuse every program that is not to be, and so does the image of a drive whose sets are lost.

use wordline_chip::GuardImage;
use wordline_drive::{Config, Image, ImageError, Watched};
use wordline_engine::{Event, Observer};
use wordline_flash::ProgramScope;
use wordline_ftl::wordline_order::WordlineOrder;
use wordline_ftl::{BlockGroup, Spared};
use wordline_units::random::{Draw, Stream};
use wordline_units::{Bytes, FlashOp, Nanos, WordlineSet};

use crate::serve;
use crate::small::{Shape, uniform};

const PLAN: u64 = 5;
const MOST: u32 = 3;

/// Erases, and those that took longer than an erase takes.
#[derive(Clone, Copy, Debug, Default)]
struct Erases {
    all: u64,
    plain: Nanos,
    longer: u64,
}

impl Observer for Erases {
    fn observe(&mut self, _: Nanos, event: &Event) {
        if let Event::Flash(flash) = event
            && flash.op == FlashOp::Erase
        {
            self.all += 1;
            self.longer += u64::from(flash.array > self.plain);
        }
    }
}

/// A drive whose erases may spare up to `spared_max` of 32 wordlines, and that shows as much as with [`MOST`] of them.
fn config(shape: &Shape, spared_max: u32) -> Config {
    let mut config = shape.config();
    config.sheet.capabilities.guarded_erase = true;
    config.exported_units = config.exported_units * u64::from(32 - MOST) / 32;
    config.firmware.spared_max = spared_max;
    if shape.scope == ProgramScope::Wordline {
        config.sheet.capabilities.any_order = true;
        config.firmware.wordline_order = WordlineOrder::Mixed { threshold: 0.3, open_blocks: 2 };
    }
    config.firmware.sheet.capabilities = config.sheet.capabilities;
    config
}

/// In order by pages, on one plane and on two, and in any order.
fn shapes() -> [Shape; 3] {
    let shape = Shape { layers: 8, spare: 0.5, ..Shape::default() };
    [
        shape,
        Shape { planes: 2, unit: Bytes::kib(4), cores: 2, dies_per_channel: 2, ..shape },
        Shape { scope: ProgramScope::Wordline, unit: Bytes::kib(4), ..shape },
    ]
}

/// Order `set` of each of the groups for its next erase.
fn order<O: Observer>(drive: &mut Watched<O>, mut set: impl FnMut() -> WordlineSet) {
    let config = drive.config();
    let groups = config.sheet.geometry.dies() / config.cores * config.sheet.geometry.blocks;
    for core in 0..config.cores {
        for group in (0..groups).map(BlockGroup) {
            drive.spare_next(core, group, set()).expect("no more than it may");
        }
    }
}

/// Overwrite a tenth of the drive again and again, aged without time or served, while sets are drawn for the next erases.
fn worked(shape: &Shape, rounds: u64) -> Watched<Erases> {
    let config = config(shape, MOST);
    let span = config.exported_units;
    let mut drive = Watched::new(config.clone(), Erases { plain: config.sheet.timing.erase, ..Erases::default() });
    drive.age(&mut uniform(&config, span, 1), span);
    let mut draw = Draw::new(1, Stream::Mix, 0);
    for round in 0..rounds {
        order(&mut drive, || {
            WordlineSet::of((0..draw.below(u64::from(MOST) + 1)).map(|_| draw.below(32) as u32 * u32::from(round % 3 > 0)))
        });
        let mut load = uniform(&config, span, round + 2);
        if round % 2 == 0 {
            drive.age(&mut load, span / 10);
        } else {
            serve(&mut drive, &mut load, span / 10);
        }
        drive.audit().unwrap_or_else(|problem| panic!("{shape:?}: {problem}"));
    }
    drive
}

fn spared(image: &Image) -> Vec<Spared> {
    serde_json::from_value(serde_json::to_value(image).expect("plain data")["spared"].clone()).expect("its cores")
}

#[test]
fn a_drive_whose_erases_spare_wordlines_goes_on_from_its_image_as_the_drive_itself() {
    for shape in shapes() {
        let mut drive = worked(&shape, 12);
        assert!(!drive.is_worn_out() && drive.observer.all > 100, "{shape:?}: {:?}", drive.observer);
        let image = drive.image().expect("settled");
        assert_ne!(spared(&image), vec![Spared::default(); spared(&image).len()], "{shape:?}: some are spared");
        assert_eq!(Image::from_bytes(&image.to_bytes(PLAN), PLAN).as_ref(), Ok(&image));
        let mut back =
            Watched::from_image(config(&shape, MOST), image.clone(), drive.observer).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(back.image().expect("just restored"), image, "{shape:?}");
        for drive in [&mut drive, &mut back] {
            let span = drive.config().exported_units;
            let mut load = uniform(&config(&shape, MOST), span, 99);
            serve(drive, &mut load, span / 4);
            drive.audit().unwrap_or_else(|problem| panic!("{shape:?}: {problem}"));
        }
        assert!(back.image() == drive.image(), "{shape:?}");
    }
}

#[test]
fn an_image_without_the_sets_of_its_dies_is_refused_and_so_is_one_of_a_core_that_may_spare_fewer() {
    let shape = shapes()[0];
    let image = worked(&shape, 12).image().expect("settled");
    assert_ne!(spared(&image), [Spared::default()], "some are spared");
    let mut bytes = image.to_bytes(PLAN);
    let length = postcard::to_extend(&spared(&image), Vec::new()).expect("plain data").len();
    // What services know stands before it, and came with the same format.
    let services: Vec<wordline_ftl::ServiceTables> =
        serde_json::from_value(serde_json::to_value(&image).expect("plain data")["services"].clone()).expect("its cores");
    let services = postcard::to_extend(&services, Vec::new()).expect("plain data").len();
    // Behind it stand what has failed, what waits, the time lived and the times without power, which are empty.
    bytes.truncate(bytes.len() - length - services - 4);
    bytes[8] = 10;
    let sum = wordline_drive::image::checksum(&bytes[28..]).to_le_bytes();
    bytes[20..28].copy_from_slice(&sum);
    let before = Image::from_bytes(&bytes, PLAN).expect("format 10 is read");
    let refused = |config, image| Watched::from_image(config, image, ()).err();
    let why = refused(config(&shape, MOST), before);
    assert!(matches!(why, Some(ImageError::Misfit(_))), "{why:?}");
    for most in [0, 1] {
        assert!(matches!(refused(config(&shape, most), image.clone()), Some(ImageError::Misfit(_))), "{most}");
    }
}

#[test]
fn a_set_costs_the_time_of_the_registers_that_change_and_none_costs_nothing() {
    let shape = shapes()[0];
    let run = |spared_max: u32, set: Option<WordlineSet>| {
        let config = config(&shape, spared_max);
        let span = config.exported_units;
        let mut drive = Watched::new(config.clone(), Erases { plain: config.sheet.timing.erase, ..Erases::default() });
        let mut load = uniform(&config, span, 1);
        for _ in 0..60 {
            set.into_iter().for_each(|set| order(&mut drive, || set));
            serve(&mut drive, &mut load, span / 20);
        }
        drive
    };
    let (unable, able, always) = (run(0, None), run(MOST, None), run(MOST, Some(WordlineSet::of([0, 31]))));
    assert_eq!(able.log().hash(), unable.log().hash(), "a core that may spare wordlines and spares none does as one that may not");
    assert_eq!(able.observer.longer, 0);
    let dies = u64::from(always.config().sheet.geometry.dies());
    assert!(always.observer.all > 100 && always.observer.longer == dies, "each die is told once: {:?}", always.observer);
    let told: Vec<GuardImage> =
        serde_json::from_value(serde_json::to_value(always.image().expect("settled")).expect("plain data")["guard"].clone())
            .expect("its dies");
    assert!(told.iter().all(|die| *die != GuardImage::default()));
}
