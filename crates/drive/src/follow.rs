//! Tracking of mapping units for an observer that asks for it.
//!
//! All of it is compiled away for observers that do not. What is live is taken from the firmware's map after it heard of a program's end, so an observer that
//! follows units knows what the firmware knows, and not what somebody else makes of the events.

use wordline_engine::{UnitPlace, UnitStep};
use wordline_flash::{Operation, OperationKind, Sanitisation, Status, Target};
use wordline_ftl::groups::Use;
use wordline_ftl::{BlockGroup, Carried, Firmware, Request, UnitAddr};
use wordline_units::{BlockId, DieId, FlashOp, Lpn, Nanos};

use crate::control::FlashPlace;
use crate::drive::Drive;
use crate::flash::Flight;

/// A program, copyback or erase that has ended and is not yet reported to the firmware.
pub(crate) struct Ended {
    core: u32,
    die: DieId,
    local: DieId,
    op: FlashOp,
    is_good: bool,
    target: Target,
    units: Vec<Lpn>,
}

impl Ended {
    /// Facts of `flight` to be told once the firmware knows of its end. `source` is the spare area of what a copyback read.
    #[cold]
    pub(crate) fn of(flight: &Flight, ftl: &Firmware, source: &[Lpn]) -> Option<Ended> {
        let units = match flight.op {
            FlashOp::Read => return None,
            FlashOp::Erase | FlashOp::LockPage | FlashOp::LockBlock | FlashOp::Scrub | FlashOp::Reprogram => Vec::new(),
            FlashOp::Program => ftl.load(flight.local, flight.tag).oob.to_vec(),
            FlashOp::Copyback => source.to_vec(),
        };
        let &Flight { core, die, local, op, status, target, .. } = flight;
        Some(Ended { core, die, local, op, is_good: status == Status::Good, target, units })
    }
}

impl Drive {
    /// Mapped units with their places, in the order of units.
    pub fn mapped(&self) -> impl Iterator<Item = (u64, UnitPlace)> + '_ {
        (0..self.config.exported_units).filter_map(|unit| {
            let (core, lpn) = self.stripe.locate(unit);
            let addr = self.ftls[core as usize].map().get(lpn);
            (addr != UnitAddr::NONE).then(|| (unit, self.place(core, addr)))
        })
    }

    /// Places for mapping units in the block groups that are in service, each as observers name it and with its location on flash.
    pub fn unit_places(&self) -> impl Iterator<Item = (UnitPlace, FlashPlace)> + '_ {
        let groups = self.ftls.iter().enumerate().flat_map(|(core, ftl)| {
            let layout = ftl.layout();
            let used = (0..layout.group_count() as u32).map(BlockGroup).filter(|&group| ftl.groups().use_of(group) != Use::Bad);
            used.map(move |group| (core as u32, group))
        });
        groups.flat_map(move |(core, group)| {
            let ftl = &self.ftls[core as usize];
            let layout = ftl.layout();
            let (die, blocks) = (self.wiring.die(core, layout.die(group)), ftl.groups().blocks(group));
            (0..layout.units_per_group).map(move |offset| {
                let at = layout.place(offset);
                let block = |plane: usize| BlockId(u32::from(blocks[plane]));
                let place = FlashPlace { die, plane: at.plane, block: block(usize::from(at.plane.0)), page: at.page, unit: at.unit };
                (UnitPlace { die, block: block(0), offset }, place)
            })
        })
    }

    /// Place at the unit address `addr` of `core`.
    fn place(&self, core: u32, addr: UnitAddr) -> UnitPlace {
        let ftl = &self.ftls[core as usize];
        let layout = ftl.layout();
        let group = layout.group(addr);
        let block = BlockId(u32::from(ftl.groups().blocks(group)[0]));
        UnitPlace { die: self.wiring.die(core, layout.die(group)), block, offset: layout.offset(addr) }
    }

    /// Unit of the drive that is `lpn` of `core`; `None`, if that is none of the host's.
    fn unit_of(&self, core: u32, lpn: Lpn) -> Option<u64> {
        (lpn.0 < self.ftls[core as usize].map().exported()).then(|| self.stripe.global(core, lpn.0))
    }

    /// Tell the observer which units `operation`, just ordered by `core`, carries.
    #[cold]
    pub(crate) fn tell_taken(&mut self, now: Nanos, core: u32, operation: &Operation) {
        let die = self.wiring.die(core, operation.die);
        let ftl = &self.ftls[core as usize];
        let taken: Vec<(Option<u64>, Option<UnitPlace>)> = match operation.kind {
            OperationKind::Program { .. } => {
                let load = ftl.load(operation.die, operation.tag);
                let told = load.units().zip(load.oob).map(|(carried, &lpn)| match carried {
                    Carried::Buffered { .. } => (self.unit_of(core, lpn), None),
                    Carried::Moved { from } => (self.unit_of(core, lpn), Some(self.place(core, from))),
                    Carried::Padding | Carried::Metadata { .. } => (None, None),
                });
                told.collect()
            }
            OperationKind::Copyback { from, .. } => {
                let mut lpns = Vec::new();
                self.chips[die].spare_of(&from, self.config.sheet.pages_per_program(), &mut lpns);
                let (block, first) = self.start(core, &from);
                let places = (first..).map(|offset| UnitPlace { die, block, offset });
                lpns.iter().zip(places).map(|(&lpn, place)| (self.unit_of(core, lpn), Some(place))).collect()
            }
            OperationKind::Read { .. }
            | OperationKind::Erase { .. }
            | OperationKind::Sanitise { .. }
            | OperationKind::Suspend { .. }
            | OperationKind::Resume
            | OperationKind::Abort => return,
        };
        for (unit, from) in taken {
            self.events.followed(now, UnitStep::Taken { die, unit, from });
        }
    }

    /// Tell the observer what has become of the units that `ended` carried or erased.
    #[cold]
    pub(crate) fn tell_ended(&mut self, now: Nanos, ended: Ended) {
        let Ended { core, die, local, op, is_good, target, units } = ended;
        if let Some(how) = Sanitisation::ALL.into_iter().find(|how| how.op() == op) {
            return if is_good {
                self.tell_sanitised(now, core, die, local, how, &target)
            };
        }
        let (block, first) = self.start(core, &target);
        if op == FlashOp::Erase {
            if is_good {
                let units = self.ftls[core as usize].layout().units_per_group;
                self.events.followed(now, UnitStep::Gone { die, block, first: 0, units });
            }
            return;
        }
        for (lpn, offset) in units.into_iter().zip(first..) {
            let is_live = is_good && lpn.0 < self.ftls[core as usize].map().exported() && {
                let addr = self.ftls[core as usize].map().get(lpn.0);
                addr != UnitAddr::NONE && self.is_at(core, addr, local, block, offset)
            };
            self.events.followed(now, UnitStep::Landed { place: UnitPlace { die, block, offset }, is_live });
        }
    }

    /// Tell the observer that the key of the unit at `addr` is destroyed.
    #[cold]
    pub(crate) fn tell_key_gone(&mut self, now: Nanos, core: u32, addr: UnitAddr) {
        let UnitPlace { die, block, offset } = self.place(core, addr);
        self.events.followed(now, UnitStep::Gone { die, block, first: offset, units: 1 });
    }

    /// Tell the observer which units can no longer be read after a sanitise operation.
    fn tell_sanitised(&mut self, now: Nanos, core: u32, die: DieId, local: DieId, how: Sanitisation, target: &Target) {
        let ftl = &self.ftls[core as usize];
        let (layout, bits) = (*ftl.layout(), self.config.sheet.geometry.cell.bits());
        let pages = how.reach(u32::from(target.page.0), bits, layout.programs * layout.pages_per_program);
        let stands = |group: &BlockGroup| {
            target.planes.iter().all(|plane| u32::from(ftl.groups().blocks(*group)[usize::from(plane.0)]) == target.block(plane).0)
        };
        let Some(group) = layout.groups_of(local).map(|index| BlockGroup(index as u32)).find(stands) else { return };
        let block = BlockId(u32::from(ftl.groups().blocks(group)[0]));
        for page in pages {
            for plane in target.planes.iter() {
                let first = (page * layout.planes + u32::from(plane.0)) * layout.units_per_page;
                self.events.followed(now, UnitStep::Gone { die, block, first, units: layout.units_per_page });
            }
        }
    }

    /// Tell the observer which units of the trim `request` are mapped no longer.
    #[cold]
    pub(crate) fn tell_trimmed(&mut self, now: Nanos, core: u32, request: &Request) {
        for lpn in request.lpn..request.lpn + request.units {
            if self.ftls[core as usize].map().get(lpn) == UnitAddr::NONE {
                let unit = self.stripe.global(core, lpn);
                self.events.followed(now, UnitStep::Unmapped { unit });
            }
        }
    }

    /// Block of the first plane of `target`, and the place of its first unit in the group.
    fn start(&self, core: u32, target: &Target) -> (BlockId, u32) {
        let layout = self.ftls[core as usize].layout();
        let block = target.planes.first_plane().map_or(BlockId(0), |plane| target.block(plane));
        (block, u32::from(target.page.0) / layout.pages_per_program * layout.units_per_program)
    }

    fn is_at(&self, core: u32, addr: UnitAddr, local: DieId, block: BlockId, offset: u32) -> bool {
        let ftl = &self.ftls[core as usize];
        let layout = ftl.layout();
        let group: BlockGroup = layout.group(addr);
        layout.die(group) == local && layout.offset(addr) == offset && u32::from(ftl.groups().blocks(group)[0]) == block.0
    }
}
