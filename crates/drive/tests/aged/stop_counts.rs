//! Do the stops that the firmware counts agree with those that the die tells of in the trace of the erase?

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use wordline_drive::{Pace, Watched};
use wordline_ftl::techniques::hooks::{Hook, Hooks};
use wordline_ftl::techniques::seam::{Ask, Card, Ctx, News, Persists, Technique};
use wordline_plan::Plan;
use wordline_units::random::{Draw, Stream};
use wordline_units::{Attributes, FlashOp, HostOp, HostRequest, Nanos, Priority};

const CARD: Card = Card {
    name: "counts stops",
    source: "a test",
    claim: "none",
    hooks: Hooks::of(&[Hook::Stopped, Hook::Erased]),
    asks: &[Ask::EraseTrace],
    persists: Persists::Nothing("it knows nothing that could be forgotten"),
    limits: "it helps nobody",
};

/// Stops of erases: as the core counts them, those under way by block group, and those that have ended beside what the trace says.
#[derive(Debug, Default)]
struct Books {
    under_way: BTreeMap<u32, u16>,
    /// The core's count and that of the trace, erase by erase.
    ended: Vec<(u16, u16)>,
    told: u64,
}

/// Keeps the books; planted, without one stop in so many.
#[derive(Debug)]
struct Listens {
    books: Arc<Mutex<Books>>,
    passes_over: Option<u64>,
}

impl Technique for Listens {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn learn(&mut self, _: &Ctx<'_>, news: &News) {
        let mut books = self.books.lock().expect("nobody panics with it");
        if let News::Stopped(stop) = news
            && stop.busy.kind == FlashOp::Erase
        {
            books.told += 1;
            if self.passes_over.is_none_or(|each| !books.told.is_multiple_of(each)) {
                books.under_way.insert(stop.busy.group.0, stop.busy.stops);
            }
        }
        if let News::Erased(erase) = news {
            let counted = books.under_way.remove(&erase.group.0).unwrap_or(0);
            if let Some(trace) = erase.trace {
                books.ended.push((counted, trace.stops));
            }
        }
    }
}

/// Overwrites of a small drive beside reads of all classes. Returns the counts of all erases.
fn erases(passes_over: Option<u64>) -> Vec<(u16, u16)> {
    let small = ["flash.channels=1", "flash.dies_per_channel=2", "geometry.blocks=24", "mapping.over_provisioning=40 %"];
    let config = Plan::load_set("paftl", &small).unwrap_or_else(|error| panic!("{error}")).build();
    let books = Arc::new(Mutex::new(Books::default()));
    let mut drive = Watched::new(config, ());
    drive.join(|| Box::new(Listens { books: Arc::clone(&books), passes_over }));
    drive.fill(1.0);
    let (span, sectors) = (drive.config().exported_units, drive.config().firmware.unit.0 / 512);
    let mut draw = Draw::new(5, Stream::Address, 0);
    let mut load = (0..300_000u64).map(|number| {
        let op = if draw.happens(0.7) { HostOp::Read } else { HostOp::Write };
        let priority = Priority::ALL[draw.below(4) as usize];
        let request = HostRequest::new(op, draw.below(span) * sectors, sectors as u32);
        HostRequest { at: Nanos::from_micros(150) * number, attributes: Attributes::of(priority), ..request }
    });
    drive.serve(&mut load, Pace::Open { origin: Nanos::ZERO }, None);
    drive.settle();
    drop(drive);
    Arc::into_inner(books).expect("the drive is gone").into_inner().expect("nobody panics with it").ended
}

fn agree(erases: &[(u16, u16)]) -> bool {
    erases.iter().all(|(core, die)| core == die)
}

#[test]
fn the_firmware_counts_the_stops_of_an_erase_as_its_trace_does() {
    let erases = erases(None);
    let (stopped, most) = (erases.iter().filter(|(_, die)| *die > 0).count(), erases.iter().map(|(_, die)| *die).max());
    println!("{} erases, {stopped} of them stopped, at most {most:?} times", erases.len());
    assert!(erases.len() > 200 && stopped > 100 && most > Some(10));
    assert!(agree(&erases), "the core's count and the die's: {erases:?}");
}

#[test]
fn planted_a_stop_that_is_not_counted_shows() {
    assert!(!agree(&erases(Some(10))));
}
