//! A small die whose spans are all different, and the harness of the timing tests.

use wordline_cells::Faults;
use wordline_chip::{Chip, Contents, Issued, PADDING, Probe, Why};
use wordline_flash::command::PLANES_MAX;
use wordline_flash::{Capabilities, Command, Feature, PlaneSet, ProgramScope, Sanitisation, Sheet, Status, Stop, Target, Timing};
use wordline_units::{BlockId, Bytes, CellKind, Geometry, Lpn, Nanos, PageId, PlaneId};

pub(crate) const BUS: Nanos = Nanos(1_000);
pub(crate) const UNITS: u32 = 2;
pub(crate) const PAGE: Bytes = Bytes(64);

/// Two planes of four blocks of two wordlines of TLC.
pub(crate) fn sheet(scope: ProgramScope) -> Sheet {
    Sheet {
        geometry: Geometry {
            channels: 1,
            dies_per_channel: 1,
            planes: 2,
            blocks: 4,
            layers: 1,
            wordlines_per_layer: 2,
            cell: CellKind::Tlc,
            page: PAGE,
            spare: Bytes(8),
        },
        timing: Timing {
            read: [Nanos(40_001), Nanos(50_003), Nanos(60_007), Nanos(70_009)],
            program: [Nanos(500_009), Nanos(600_011), Nanos(700_013), Nanos(800_017)],
            program_wordline: Nanos(1_500_019),
            erase: Nanos(5_000_023),
            feature: Nanos(1_009),
            cache_busy: Nanos(3_011),
            suspend_program: Nanos(20_021),
            suspend_erase: Nanos(30_029),
            step_program: Nanos::ZERO,
            step_erase: Nanos::ZERO,
            halt_program: Nanos(9_067),
            halt_erase: Nanos(11_069),
            abort_read: Nanos(7_079),
            resume: Nanos(10_037),
            suspend_interval: Nanos(100_043),
            reset: Nanos(5_051),
            bus_overhead: Nanos(200),
            lock_page: Nanos(100_057),
            lock_block: Nanos(300_073),
            scrub: Nanos(110_081),
            reprogram: Nanos(120_091),
        },
        capabilities: Capabilities {
            program_scope: scope,
            cache_read: true,
            cache_program: true,
            copyback: true,
            suspend_program: true,
            suspend_erase: true,
            stop_at_step: false,
            stop_now_program: true,
            stop_now_erase: true,
            abort_read: true,
            page_lock: true,
            block_lock: true,
            scrub: true,
            reprogram: true,
            any_order: false,
            program_settings: true,
            guarded_erase: true,
            erase_trace: true,
        },
    }
}

/// The same die, which stops at the end of a step. No step divides what it is a step of.
pub(crate) fn stepping(scope: ProgramScope) -> Sheet {
    let mut sheet = sheet(scope);
    sheet.capabilities.stop_at_step = true;
    (sheet.timing.step_program, sheet.timing.step_erase) = (Nanos(44_003), Nanos(117_007));
    sheet
}

pub(crate) fn chip() -> Chip {
    Chip::new(sheet(ProgramScope::Page), Faults::default(), 1, 0, UNITS)
}

pub(crate) fn one_shot() -> Chip {
    Chip::new(sheet(ProgramScope::Wordline), Faults::default(), 1, 0, UNITS)
}

/// A page of plane 0.
pub(crate) fn at(block: u16, page: u16) -> Target {
    Target::single(PlaneId(0), BlockId(u32::from(block)), PageId(page))
}

/// A page of both planes.
pub(crate) fn both(blocks: [u16; 2], page: u16) -> Target {
    let mut all = [0; PLANES_MAX];
    all[..2].copy_from_slice(&blocks);
    Target { planes: PlaneSet::first(2), blocks: all, page: PageId(page) }
}

pub(crate) fn read(target: Target) -> Command {
    Command::Read { target, cache: false }
}

pub(crate) fn cache_read(target: Target) -> Command {
    Command::Read { target, cache: true }
}

pub(crate) fn program(target: Target) -> Command {
    Command::Program { target, cache: false }
}

pub(crate) fn cache_program(target: Target) -> Command {
    Command::Program { target, cache: true }
}

pub(crate) fn copyback(target: Target) -> Command {
    Command::CopybackProgram { target }
}

pub(crate) fn erase(target: Target) -> Command {
    Command::Erase { target }
}

pub(crate) fn sanitise(target: Target, how: Sanitisation) -> Command {
    Command::Sanitise { target, how }
}

pub(crate) const SUSPEND: Command = Command::Suspend { stop: Stop::AtStep };
pub(crate) const HALT: Command = Command::Suspend { stop: Stop::Now };
pub(crate) const OUT: Command = Command::DataOut { bytes: PAGE };
pub(crate) const IN: Command = Command::DataIn { bytes: PAGE };
pub(crate) const GET: Command = Command::GetFeature { feature: Feature::InterfaceMode };

/// Units of the program unit that `command` fills.
pub(crate) fn unit_count(chip: &Chip, target: &Target) -> usize {
    (chip.sheet().pages_per_program() * target.planes.len() * UNITS) as usize
}

/// Issue any command; transfers take [`BUS`], programs write padding.
pub(crate) fn give(chip: &mut Chip, command: Command, now: Nanos) -> Issued {
    let spare = if let Command::Program { target, .. } = command { vec![PADDING; unit_count(chip, &target)] } else { vec![] };
    carry_out(chip, command, now, now + BUS, &spare)
}

/// Issue any command; a transfer ends at `until`, a program writes `spare`.
pub(crate) fn carry_out(chip: &mut Chip, command: Command, now: Nanos, until: Nanos, spare: &[Lpn]) -> Issued {
    match command {
        Command::DataIn { .. } | Command::DataOut { .. } => {
            chip.transfer(command, now, until);
            Issued { ready_at: until, status: Status::Good, errors: 0, loops: 0 }
        }
        Command::Program { .. } => chip.program(command, now, spare, Contents::NONE),
        Command::Read { .. }
        | Command::CopybackProgram { .. }
        | Command::Erase { .. }
        | Command::Sanitise { .. }
        | Command::Suspend { .. }
        | Command::Resume
        | Command::SetFeature { .. }
        | Command::GetFeature { .. }
        | Command::Status
        | Command::Abort
        | Command::Reset => chip.issue(command, now),
    }
}

/// Issue a command as soon as it is legal, from `now` on.
pub(crate) fn soonest(chip: &mut Chip, command: Command, now: Nanos) -> Issued {
    let at = match chip.probe(&command, now) {
        Probe::Ready => now,
        Probe::Blocked { until } => until,
        Probe::Illegal(why) => panic!("{command:?}: {why}"),
    };
    give(chip, command, at)
}

/// Take in a page and program it, beginning at `now`.
pub(crate) fn write(chip: &mut Chip, target: Target, numbers: &[u32], now: Nanos) -> Issued {
    soonest(chip, IN, now);
    let spare: Vec<Lpn> = numbers.iter().copied().map(Lpn).collect();
    let command = program(target);
    let at = match chip.probe(&command, now) {
        Probe::Ready => now,
        Probe::Blocked { until } => until,
        Probe::Illegal(why) => panic!("{command:?}: {why}"),
    };
    chip.program(command, at, &spare, Contents::NONE)
}

/// The command is legal at `at`, one nanosecond earlier it is not, and issuing it does what it should then.
#[track_caller]
pub(crate) fn assert_earliest_ready_at(chip: &Chip, command: Command, at: Nanos) {
    assert_eq!(chip.probe(&command, at), Probe::Ready, "{command:?} at {at}");
    if at > Nanos::ZERO {
        assert_eq!(chip.probe(&command, at - Nanos(1)), Probe::Blocked { until: at }, "{command:?} one nanosecond before {at}");
    }
    give(&mut chip.clone(), command, at);
}

#[track_caller]
pub(crate) fn assert_illegal(chip: &Chip, command: Command, now: Nanos, why: Why) {
    assert_eq!(chip.probe(&command, now), Probe::Illegal(why), "{command:?} at {now}");
}
