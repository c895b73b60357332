//! A firmware core on flash that answers at once: the fastest way to billions of page moves.
//!
//! Checks nothing itself: it counts. Time stands still, so nothing here says anything about latency or order under delay.

use wordline_flash::{Operation, OperationKind, Report, Status};
use wordline_ftl::driver::{self, Driver};
use wordline_ftl::{Acknowledgement, Config, Firmware, Request};
use wordline_units::{Attributes, Cause, DieId, HostOp, Lpn, Nanos};

/// What a core has ordered so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Programmed units of any origin.
    pub programs: u64,
    /// Programs of data that was programmed before.
    pub moves: u64,
    /// Erased block groups.
    pub erases: u64,
    /// Reads of victims.
    pub reads: u64,
}

/// One core of one die, with flash that remembers spare areas only.
#[derive(Debug)]
pub struct Core {
    /// The firmware.
    pub ftl: Firmware,
    /// What it has ordered.
    pub counts: Counts,
    spare: Vec<Lpn>,
    /// Requests that are under way.
    asked: u32,
}

impl Core {
    /// A core at its first start. One plane, one mapping unit per page, pages programmed one by one.
    pub fn new(config: Config) -> Core {
        assert!(config.sheet.geometry.planes == 1 && config.unit == config.sheet.geometry.page && config.sheet.pages_per_program() == 1);
        let pages = config.sheet.geometry.pages() * config.sheet.geometry.blocks * config.dies;
        Core { ftl: Firmware::new(config), counts: Counts::default(), spare: vec![Lpn(u32::MAX); pages as usize], asked: 0 }
    }

    /// Write one page and do everything that follows from it.
    pub fn write(&mut self, lpn: u32) {
        self.ask(HostOp::Write, lpn);
    }

    /// Trim one page.
    pub fn trim(&mut self, lpn: u32) {
        self.ask(HostOp::Trim, lpn);
    }

    fn ask(&mut self, op: HostOp, lpn: u32) {
        let request = Request { id: 0, op, lpn, units: 1, skip_head: 0, skip_tail: 0, attributes: Attributes::NONE, fua: false };
        self.asked += 1;
        self.ftl.submit(Nanos::ZERO, request);
        driver::converse(self);
        assert_eq!(self.asked, 0, "acknowledged as soon as it is done");
    }

    fn place(&self, die: DieId, target: &wordline_flash::Target) -> usize {
        let layout = self.ftl.layout();
        ((u32::from(die.0) * layout.groups + u32::from(target.blocks[0])) * layout.programs + u32::from(target.page.0)) as usize
    }

    /// The firmware's own audit against the flash.
    pub fn audit(&self) {
        let audited = self.ftl.audit(|addr| {
            let layout = self.ftl.layout();
            let (group, offset) = (layout.group(addr), layout.offset(addr));
            self.spare[(u32::from(layout.die(group).0) * layout.groups + layout.number(group)) as usize * layout.programs as usize
                + offset as usize]
        });
        audited.unwrap_or_else(|problem| panic!("{problem}"));
    }
}

impl Driver for Core {
    fn core(&mut self) -> &mut Firmware {
        &mut self.ftl
    }

    fn carry_out(&mut self, operation: &Operation) {
        let mut read = [Lpn(u32::MAX)];
        match operation.kind {
            OperationKind::Read { target, .. } => {
                self.counts.reads += 1;
                read[0] = self.spare[self.place(operation.die, &target)];
            }
            OperationKind::Program { target, .. } => {
                self.counts.programs += 1;
                self.counts.moves += u64::from(operation.cause != Cause::Host);
                let place = self.place(operation.die, &target);
                self.spare[place] = self.ftl.load(operation.die, operation.tag).oob[0];
            }
            OperationKind::Erase { .. } => self.counts.erases += 1,
            OperationKind::Copyback { .. }
            | OperationKind::Sanitise { .. }
            | OperationKind::Suspend { .. }
            | OperationKind::Resume
            | OperationKind::Abort => {
                unreachable!("no technique asks for it")
            }
        }
        driver::ended(&mut self.ftl, Nanos::ZERO, &Report::plain(operation.tag, operation.die, Status::Good, &read));
    }

    fn acknowledged(&mut self, done: Acknowledgement) {
        assert!(done.ok && self.asked == 1, "one at a time, and all are done");
        self.asked = 0;
    }
}
