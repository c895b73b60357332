//! Tracking of mapping units for an observer that asks for it.
//!
//! The live units are taken from the firmware's map after it heard of a program's end, so an observer that follows units has the view of the firmware, and not
//! one that is made out of the events.

use wordline_engine::{UnitPlace, UnitStep};
use wordline_flash::{Operation, OperationKind, Report, Sanitisation, Target};
use wordline_ftl::groups::Use;
use wordline_ftl::{BlockGroup, Carried, Firmware, Request, UnitAddr};
use wordline_units::{BlockId, DieId, FlashOp, Lpn, Nanos};

use crate::device::Ended;
use crate::device::dies::Dies;
use crate::events::Events;
use crate::host::requests::Host;
use crate::place::FlashPlace;

/// A program, copyback or erase that has ended and is not yet reported to the firmware.
#[derive(Debug)]
pub(crate) struct Followed {
    die: DieId,
    local: DieId,
    op: FlashOp,
    is_good: bool,
    target: Target,
    units: Vec<Lpn>,
}

impl Followed {
    /// Facts of `ended` that are shown once the firmware `ftl` has its `report`.
    #[cold]
    pub(crate) fn of(ended: &Ended<'_>, report: &Report<'_>, ftl: &Firmware) -> Option<Followed> {
        let (event, target) = (ended.event(), ended.target());
        let units = match event.op {
            FlashOp::Read => return None,
            FlashOp::Erase | FlashOp::LockPage | FlashOp::LockBlock | FlashOp::Scrub | FlashOp::Reprogram => Vec::new(),
            FlashOp::Program => ftl.load(report.die, report.tag).oob.to_vec(),
            FlashOp::Copyback => report.oob.to_vec(),
        };
        Some(Followed { die: event.die, local: report.die, op: event.op, is_good: event.ok, target: *target, units })
    }
}

/// Tracking of the units of one core at one instant.
pub(crate) struct Follower<'a> {
    pub(crate) now: Nanos,
    pub(crate) core: u32,
    pub(crate) ftl: &'a Firmware,
    pub(crate) host: &'a Host,
    pub(crate) dies: &'a Dies,
    pub(crate) events: &'a mut Events,
}

impl Follower<'_> {
    fn show(&mut self, step: UnitStep) {
        self.events.followed(self.now, step);
    }

    /// Unit of the drive that is `lpn` of the core; `None`, if that is none of the host's.
    fn unit_of(&self, lpn: Lpn) -> Option<u64> {
        (lpn.0 < self.ftl.map().exported()).then(|| self.host.stripe().global(self.core, lpn.0))
    }

    fn place(&self, addr: UnitAddr) -> UnitPlace {
        place(self.ftl, self.core, addr, self.dies)
    }

    /// Shows which units `operation`, just ordered, carries.
    #[cold]
    pub(crate) fn taken(&mut self, operation: &Operation) {
        let die = self.dies.die(self.core, operation.die);
        let taken: Vec<(Option<u64>, Option<UnitPlace>)> = match operation.kind {
            OperationKind::Program { .. } => {
                let load = self.ftl.load(operation.die, operation.tag);
                let told = load.units().zip(load.oob).map(|(carried, &lpn)| match carried {
                    Carried::Buffered { .. } => (self.unit_of(lpn), None),
                    Carried::Moved { from } => (self.unit_of(lpn), Some(self.place(from))),
                    Carried::Padding | Carried::Metadata { .. } => (None, None),
                });
                told.collect()
            }
            OperationKind::Copyback { from, .. } => {
                let mut lpns = Vec::new();
                self.dies[die].spare_of(&from, self.ftl.layout().pages_per_program, &mut lpns);
                let (block, first) = self.start(&from);
                let places = (first..).map(|offset| UnitPlace { die, block, offset });
                lpns.iter().zip(places).map(|(&lpn, place)| (self.unit_of(lpn), Some(place))).collect()
            }
            OperationKind::Read { .. }
            | OperationKind::Erase { .. }
            | OperationKind::Sanitise { .. }
            | OperationKind::Suspend { .. }
            | OperationKind::Resume
            | OperationKind::Abort => return,
        };
        for (unit, from) in taken {
            self.show(UnitStep::Taken { die, unit, from });
        }
    }

    /// Shows what has become of the units that `ended` carried or erased.
    #[cold]
    pub(crate) fn ended(&mut self, ended: Followed) {
        let Followed { die, local, op, is_good, target, units, .. } = ended;
        if let Some(how) = Sanitisation::ALL.into_iter().find(|how| how.op() == op) {
            return if is_good {
                self.sanitised(die, local, how, &target)
            };
        }
        let (block, first) = self.start(&target);
        if op == FlashOp::Erase {
            if is_good {
                let units = self.ftl.layout().units_per_group;
                self.show(UnitStep::Gone { die, block, first: 0, units });
            }
            return;
        }
        for (lpn, offset) in units.into_iter().zip(first..) {
            let is_live = is_good && lpn.0 < self.ftl.map().exported() && {
                let addr = self.ftl.map().get(lpn.0);
                addr != UnitAddr::NONE && self.is_at(addr, local, block, offset)
            };
            self.show(UnitStep::Landed { place: UnitPlace { die, block, offset }, is_live });
        }
    }

    /// Shows that the key of the unit at `addr` is destroyed.
    #[cold]
    pub(crate) fn key_gone(&mut self, addr: UnitAddr) {
        let UnitPlace { die, block, offset } = self.place(addr);
        self.show(UnitStep::Gone { die, block, first: offset, units: 1 });
    }

    /// Shows which units can no longer be read after a sanitise operation.
    fn sanitised(&mut self, die: DieId, local: DieId, how: Sanitisation, target: &Target) {
        let ftl = self.ftl;
        let (layout, bits) = (*ftl.layout(), ftl.config().sheet.geometry.cell.bits());
        let pages = how.reach(u32::from(target.page.0), bits, layout.programs * layout.pages_per_program);
        let stands = |group: &BlockGroup| {
            target.planes.iter().all(|plane| u32::from(ftl.groups().blocks(*group)[usize::from(plane.0)]) == target.block(plane).0)
        };
        let Some(group) = layout.groups_of(local).map(|index| BlockGroup(index as u32)).find(stands) else { return };
        let block = BlockId(u32::from(ftl.groups().blocks(group)[0]));
        for page in pages {
            for plane in target.planes.iter() {
                let first = (page * layout.planes + u32::from(plane.0)) * layout.units_per_page;
                self.show(UnitStep::Gone { die, block, first, units: layout.units_per_page });
            }
        }
    }

    /// Shows which units of the trim `request` are mapped no longer.
    #[cold]
    pub(crate) fn trimmed(&mut self, request: &Request) {
        for lpn in request.lpn..request.lpn + request.units {
            if self.ftl.map().get(lpn) == UnitAddr::NONE {
                let unit = self.host.stripe().global(self.core, lpn);
                self.show(UnitStep::Unmapped { unit });
            }
        }
    }

    /// Block of the first plane of `target`, and the place of its first unit in the group.
    fn start(&self, target: &Target) -> (BlockId, u32) {
        let layout = self.ftl.layout();
        let block = target.planes.first_plane().map_or(BlockId(0), |plane| target.block(plane));
        (block, u32::from(target.page.0) / layout.pages_per_program * layout.units_per_program)
    }

    fn is_at(&self, addr: UnitAddr, local: DieId, block: BlockId, offset: u32) -> bool {
        let layout = self.ftl.layout();
        let group: BlockGroup = layout.group(addr);
        layout.die(group) == local && layout.offset(addr) == offset && u32::from(self.ftl.groups().blocks(group)[0]) == block.0
    }
}

/// Place at the unit address `addr` of `core`.
fn place(ftl: &Firmware, core: u32, addr: UnitAddr, dies: &Dies) -> UnitPlace {
    let layout = ftl.layout();
    let group = layout.group(addr);
    let block = BlockId(u32::from(ftl.groups().blocks(group)[0]));
    UnitPlace { die: dies.die(core, layout.die(group)), block, offset: layout.offset(addr) }
}

/// Mapped units among the first `units` of the drive, with their places, in the order of units.
pub(crate) fn mapped<'a>(ftls: &'a [Firmware], host: &'a Host, dies: &'a Dies, units: u64) -> impl Iterator<Item = (u64, UnitPlace)> + 'a {
    (0..units).filter_map(move |unit| {
        let (core, lpn) = host.stripe().locate(unit);
        let ftl = &ftls[core as usize];
        let addr = ftl.map().get(lpn);
        (addr != UnitAddr::NONE).then(|| (unit, place(ftl, core, addr, dies)))
    })
}

/// Places for mapping units in the block groups that are in service, each as observers name it and with its location on flash.
pub(crate) fn unit_places<'a>(ftls: &'a [Firmware], dies: &'a Dies) -> impl Iterator<Item = (UnitPlace, FlashPlace)> + 'a {
    let groups = ftls.iter().enumerate().flat_map(|(core, ftl)| {
        let layout = ftl.layout();
        let used = (0..layout.group_count() as u32).map(BlockGroup).filter(|&group| ftl.groups().use_of(group) != Use::Bad);
        used.map(move |group| (core as u32, group))
    });
    groups.flat_map(move |(core, group)| {
        let ftl = &ftls[core as usize];
        let layout = ftl.layout();
        let (die, blocks) = (dies.die(core, layout.die(group)), ftl.groups().blocks(group));
        (0..layout.units_per_group).map(move |offset| {
            let at = layout.place(offset);
            let block = |plane: usize| BlockId(u32::from(blocks[plane]));
            let place = FlashPlace { die, plane: at.plane, block: block(usize::from(at.plane.0)), page: at.page, unit: at.unit };
            (UnitPlace { die, block: block(0), offset }, place)
        })
    })
}
