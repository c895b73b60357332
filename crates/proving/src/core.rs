//! A firmware core on flash that answers at once: the fastest way to billions of page moves.
//!
//! Checks nothing itself: it counts. Time stands still, so nothing here says anything about latency or order under delay.

use wordline_flash::{OperationKind, Report, Status};
use wordline_ftl::{Config, Ftl, Request};
use wordline_units::{Cause, DieId, HostOp, Lpn, Nanos, Priority};

/// What a core has ordered so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Programs.
    pub programs: u64,
    /// Programs of data that was programmed before.
    pub moves: u64,
    /// Erases.
    pub erases: u64,
    /// Reads of victims.
    pub reads: u64,
}

/// One core of one die, with flash that remembers spare areas only.
#[derive(Debug)]
pub struct Core {
    /// The firmware.
    pub ftl: Ftl,
    /// What it has ordered.
    pub counts: Counts,
    spare: Vec<Lpn>,
}

impl Core {
    /// A core at its first start. One plane, one mapping unit per page, pages programmed one by one.
    pub fn new(config: Config) -> Core {
        assert!(config.sheet.geometry.planes == 1 && config.unit == config.sheet.geometry.page && config.sheet.pages_per_program() == 1);
        let pages = config.sheet.geometry.pages() * config.sheet.geometry.blocks * config.dies;
        Core { ftl: Ftl::new(config), counts: Counts::default(), spare: vec![Lpn(u32::MAX); pages as usize] }
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
        let request =
            Request { id: 0, op, lpn, units: 1, skip_head: 0, skip_tail: 0, priority: Priority::Normal, fua: false, insecure: false };
        self.ftl.submit(Nanos::ZERO, request);
        self.run();
        let done = self.ftl.acknowledge().expect("acknowledged as soon as it is done");
        assert!(done.ok && self.ftl.acknowledge().is_none());
    }

    fn place(&self, die: DieId, target: &wordline_flash::Target) -> usize {
        let layout = self.ftl.layout();
        ((u32::from(die.0) * layout.groups + u32::from(target.blocks[0])) * layout.programs + u32::from(target.page.0)) as usize
    }

    fn run(&mut self) {
        while let Some(operation) = self.ftl.speak(Nanos::ZERO) {
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
                    self.spare[place] = self.ftl.spare(operation.die)[0];
                }
                OperationKind::Erase { .. } => self.counts.erases += 1,
                OperationKind::Copyback { .. } | OperationKind::Sanitise { .. } | OperationKind::Suspend | OperationKind::Resume => {
                    unreachable!("no technique asks for it")
                }
            }
            self.ftl.die_ready(operation.die);
            let report = Report {
                tag: operation.tag,
                die: operation.die,
                status: Status::Good,
                corrected_bits: 0,
                loops: 0,
                retries: 0,
                entry: 0,
                array: Nanos::ZERO,
            };
            self.ftl.report(Nanos::ZERO, &report, &read);
        }
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
