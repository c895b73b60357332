//! How much a core reads to come back: a count of pages on a 64-GiB drive that is filled and overwritten, on flash that takes no time.

use std::collections::BTreeMap;

use wordline_flash::{Mark, Operation, OperationKind, Report, Status, Target};
use wordline_ftl::config::{Acknowledge, BufferConfig, Config};
use wordline_ftl::driver::{self, Driver};
use wordline_ftl::{
    Acknowledgement, BlockRecord, Carried, Firmware, FlashReader, Found, Held, Layout, PagePlace, Recovery, Request, Trust,
};
use wordline_proving::shape::{firmware, sheet};
use wordline_units::random::{Draw, Stream};
use wordline_units::{Attributes, BlockId, Bytes, DieId, HostOp, Lpn, Nanos, PlaneId};

/// Marks of pages, and the bytes of those that the core writes for itself.
struct Flash {
    layout: Layout,
    pages: u32,
    marks: Vec<Mark>,
    programmed: Vec<u32>,
    erases: Vec<u32>,
    own: BTreeMap<usize, Vec<u8>>,
    programs: u64,
}

impl Flash {
    fn new(layout: Layout) -> Flash {
        assert_eq!((layout.planes, layout.pages_per_program, layout.units_per_page), (1, 1, 1));
        let blocks = layout.group_count();
        let pages = layout.programs;
        let marks = vec![Mark::NOTHING; blocks * pages as usize];
        Flash { layout, pages, marks, programmed: vec![0; blocks], erases: vec![0; blocks], own: BTreeMap::new(), programs: 0 }
    }

    fn block_at(&self, die: DieId, block: BlockId) -> usize {
        usize::from(die.0) * self.layout.groups as usize + block.0 as usize
    }

    fn at(&self, die: DieId, target: &Target) -> usize {
        self.block_at(die, target.block(PlaneId(0))) * self.pages as usize + usize::from(target.page.0)
    }
}

/// A core on such flash, which does at once what is ordered.
struct Serving<'a> {
    ftl: &'a mut Firmware,
    flash: &'a mut Flash,
    moved: &'a mut BTreeMap<u32, Mark>,
}

impl Driver for Serving<'_> {
    fn core(&mut self) -> &mut Firmware {
        self.ftl
    }

    fn carry_out(&mut self, operation: &Operation) {
        let Serving { ftl, flash, moved } = self;
        let die = operation.die;
        let mut spare = vec![];
        match operation.kind {
            OperationKind::Read { target, .. } => {
                let mark = flash.marks[flash.at(die, &target)];
                moved.insert(mark.lpn.0, mark);
                spare.push(mark.lpn);
            }
            OperationKind::Program { target, .. } => {
                let at = flash.at(die, &target);
                let load = ftl.load(die, operation.tag);
                let carried = load.units().next().expect("a program carries something");
                let lpn = load.oob[0];
                flash.marks[at] = match carried {
                    Carried::Buffered { version, .. } => Mark { lpn, version, lost: 0, insecure: false },
                    Carried::Moved { .. } => moved.remove(&lpn.0).expect("it was read"),
                    Carried::Padding => Mark::NOTHING,
                    Carried::Metadata { kind, unit, version } => {
                        flash.own.insert(at, ftl.metadata_bytes(kind, unit).to_vec());
                        Mark { lpn, version, lost: 0, insecure: false }
                    }
                };
                ftl.note_marks(die, &[flash.marks[at]]);
                flash.programs += 1;
                let block = flash.block_at(die, target.block(PlaneId(0)));
                flash.programmed[block] += 1;
                assert_eq!(flash.programmed[block], u32::from(target.page.0) + 1);
            }
            OperationKind::Erase { target, .. } => {
                let block = flash.block_at(die, target.block(PlaneId(0)));
                let first = block * flash.pages as usize;
                let own: Vec<usize> = flash.own.range(first..first + flash.pages as usize).map(|(&at, _)| at).collect();
                own.into_iter().for_each(|at| drop(flash.own.remove(&at)));
                flash.programmed[block] = 0;
                flash.erases[block] += 1;
            }
            OperationKind::Copyback { .. }
            | OperationKind::Sanitise { .. }
            | OperationKind::Suspend { .. }
            | OperationKind::Resume
            | OperationKind::Abort => {
                unreachable!("nobody asked for it")
            }
        }
        driver::ended(ftl, Nanos::ZERO, &Report::plain(operation.tag, die, Status::Good, &spare));
    }

    fn acknowledged(&mut self, _: Acknowledgement) {}
}

impl FlashReader for Flash {
    fn block(&mut self, die: DieId, _: PlaneId, block: BlockId) -> BlockRecord {
        BlockRecord { healthy: true, erases: self.erases[self.block_at(die, block)], is_torn: false }
    }

    fn page(&mut self, place: PagePlace, marks: &mut Vec<Mark>) -> Found {
        let block = self.block_at(place.die, place.block);
        if u32::from(place.page.0) >= self.programmed[block] {
            return Found::Erased;
        }
        marks.push(self.marks[block * self.pages as usize + usize::from(place.page.0)]);
        Found::Whole
    }

    fn bytes(&mut self, place: PagePlace, bytes: &mut Vec<u8>) {
        let block = self.block_at(place.die, place.block);
        bytes.clone_from(&self.own[&(block * self.pages as usize + usize::from(place.page.0))]);
    }

    fn held(&mut self, _: u32) -> Option<Held> {
        None
    }
}

/// 64 GiB of 16-KiB pages on eight dies, shaped like those of `drives/pageftl.toml`.
fn config() -> Config {
    let mut sheet = sheet(960, 576);
    sheet.geometry.page = Bytes::kib(16);
    let exported = ((64u64 << 30) / sheet.geometry.page.0) as u32;
    let config = firmware(sheet, 8, exported);
    let buffer = BufferConfig { units: 512, acknowledge: Acknowledge::Buffered, ..config.buffer };
    Config { buffer, keeps_data: true, checkpoint_every: Some(32), ..config }
}

fn write(ftl: &mut Firmware, flash: &mut Flash, moved: &mut BTreeMap<u32, Mark>, lpn: u32, units: u32) {
    let request = Request { id: 0, op: HostOp::Write, lpn, units, skip_head: 0, skip_tail: 0, attributes: Attributes::NONE, fua: false };
    ftl.submit(Nanos::ZERO, request);
    driver::converse(&mut Serving { ftl, flash, moved });
}

#[test]
fn a_drive_of_64_gib_comes_back_by_what_was_written_lately() {
    let config = config();
    let mut ftl = Firmware::new(config.clone());
    let layout = *ftl.layout();
    let mut flash = Flash::new(layout);
    let mut moved = BTreeMap::new();
    let exported = config.exported_units;
    (0..exported).step_by(256).for_each(|lpn| write(&mut ftl, &mut flash, &mut moved, lpn, 256));
    let mut dice = Draw::new(7, Stream::Address, 0);
    let mut seen: Vec<(u64, Recovery)> = Vec::new();
    for _ in 0..3 {
        for _ in 0..exported / 64 {
            write(&mut ftl, &mut flash, &mut moved, dice.below(u64::from(exported)) as u32, 1);
        }
        let back = Firmware::recover(config.clone(), &mut flash);
        seen.push((flash.programs, back.recovery().expect("it has come back")));
        let versions = |ftl: &Firmware, flash: &Flash, lpn| {
            let addr = ftl.map().get(lpn);
            let (group, place) = (layout.group(addr), layout.place(layout.offset(addr)));
            flash.marks[group.index() * flash.pages as usize + usize::from(place.page.0)]
        };
        for lpn in 0..exported {
            assert_eq!(versions(&back, &flash, lpn).lpn, Lpn(lpn));
        }
    }
    let scan = Firmware::recover_by(config.clone(), &mut flash, Trust::Marks);
    let all = scan.recovery().expect("it has come back").pages;
    println!("programs so far and how the core came back: {seen:#?}; by all marks: {all} pages");
    // One page of each group; the journal and at most two checkpoints; what two of those see programmed; two open groups of each die.
    let checkpoint = u64::from(exported / 4_086 + 2 + layout.group_count() as u32 / 1_000);
    let groups = layout.group_count() as u64 + u64::from(2 * layout.dies * layout.programs);
    let bound = groups + 2 * checkpoint * (u64::from(config.checkpoint_every.unwrap()) + 2) + u64::from(2 * layout.programs);
    for (_, recovery) in &seen {
        assert!(recovery.checkpoint.is_some() && recovery.pages <= bound, "{recovery:?}, of {bound}");
        assert!(recovery.pages * 20 < all, "{recovery:?} of {all} pages");
    }
}
