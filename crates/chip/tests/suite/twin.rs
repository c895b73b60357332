//! Does the die agree with a naive twin about what is legal, when it ends and what the pages hold, whatever is tried?

use proptest::prelude::*;
use wordline_cells::Faults;
use wordline_chip::rule::Class;
use wordline_chip::{Chip, Probe};
use wordline_flash::command::PLANES_MAX;
use wordline_flash::{Command, Feature, PlaneSet, ProgramScope, Sanitisation, Stop, Target};
use wordline_units::{BlockId, Bytes, Lpn, Nanos, PageId, PlaneId};

use crate::common::*;
use crate::naive::{Twin, spots};

/// Raw material of one step: what, where and when.
type Step = (u8, [u8; 4], u8, u32);

/// Mostly sensible commands: pages in order, blocks that exist, sizes that fit.
fn command(twin: &Twin, (kind, place, _, _): &Step) -> Command {
    let planes = PlaneSet([1, 2, 3, 3, 1, 2, 3, 4][usize::from(place[0] % 8)]);
    let wild = place[3] % 16;
    let mut blocks = [0; PLANES_MAX];
    blocks[0] = u16::from(place[1] % 3) + if wild == 15 { 2 } else { 0 };
    blocks[1] = if place[2] % 4 == 0 { u16::from(place[2] / 4 % 3) } else { blocks[0] };
    let anywhere = Target { planes, blocks, page: PageId(u16::from(place[3] / 16 % 7)) };
    let spot = spots(&anywhere).first().copied().unwrap_or_default();
    // In any order: of three in four, a wordline drawn at random, or the next page of one that has been begun.
    let is_begun = twin.pages.contains_key(&(spot.0, spot.1, anywhere.page.0));
    let drawn = if is_begun { anywhere.page.0 + 1 } else { anywhere.page.0 / 3 * 3 };
    let page = match (wild, twin.sheet.capabilities.any_order) {
        (14, _) => anywhere.page.0,
        (0..11, true) => drawn,
        _ => (twin.next_page(spot)..6).find(|&page| !twin.is_spared(spot, page)).unwrap_or(6),
    };
    let next = Target { page: PageId(page), ..anywhere };
    let bytes = Bytes(if wild == 13 { 1_000 } else { u64::from(place[2]) + u64::from(wild > 2) });
    match kind % 31 {
        0..=3 => read(anywhere),
        4..=6 => cache_read(anywhere),
        7 | 8 => Command::DataOut { bytes },
        9 | 10 => Command::DataIn { bytes },
        11..=13 => program(next),
        14 | 15 => cache_program(next),
        16 | 17 => copyback(next),
        18 => erase(anywhere),
        23 => sanitise(anywhere, Sanitisation::LockPage),
        24 => sanitise(anywhere, Sanitisation::Scrub),
        25 => sanitise(anywhere, Sanitisation::Reprogram),
        26 => sanitise(anywhere, Sanitisation::LockBlock),
        19 | 29 => Command::Suspend { stop: if place[0] % 2 == 0 { Stop::AtStep } else { Stop::Now } },
        30 => Command::Abort,
        20 | 21 => Command::Resume,
        22 => match place[0] % 4 {
            0 if twin.sheet.capabilities.guarded_erase => {
                Command::SetFeature { feature: Feature::Spare0, value: [0, 0, 1, 2][usize::from(place[1] % 4)] }
            }
            0 => Command::SetFeature { feature: Feature::DriveStrength, value: 1 },
            1 if place[1] < 64 => Command::Reset,
            2 => Command::Status,
            _ => GET,
        },
        _ => erase(anywhere),
    }
}

fn run(
    scope: ProgramScope,
    [any_order, by_steps]: [bool; 2],
    faults: Faults,
    seed: u64,
    steps: &[Step],
) -> Result<([usize; 3], [usize; 19]), TestCaseError> {
    let mut sheet = if by_steps { stepping(scope) } else { sheet(scope) };
    sheet.capabilities.any_order = any_order;
    sheet.capabilities.guarded_erase = seed.is_multiple_of(2);
    let mut chip: Chip = Chip::new(sheet, faults, seed, 0, UNITS);
    let mut twin = Twin::new(sheet);
    note_bad(&chip, &mut twin);
    let (mut now, mut fresh, mut answers, mut carried_out) = (Nanos::ZERO, 0, [0; 3], [0; 19]);
    for step in steps {
        let command = command(&twin, step);
        let verdict = chip.probe(&command, now);
        let allowed = twin.allows(&command, now);
        prop_assert_eq!(verdict == Probe::Ready, allowed, "{:?} at {}: {:?}", command, now, verdict);
        answers[match verdict {
            Probe::Ready => 0,
            Probe::Blocked { .. } => 1,
            Probe::Illegal(_) => 2,
        }] += 1;
        match verdict {
            Probe::Illegal(_) => continue,
            Probe::Blocked { until } => {
                prop_assert!(until > now);
                prop_assert!(!twin.allows(&command, until - Nanos(1)), "{:?} could come before {}", command, until);
                // Sometimes try something else while it is busy.
                if step.2.is_multiple_of(3) {
                    now += Nanos(u64::from(step.3 % 3_000));
                    continue;
                }
                now = until;
                if chip.probe(&command, now) != Probe::Ready {
                    // A suspend whose operation ends before the interval does.
                    prop_assert!(!twin.allows(&command, now));
                    continue;
                }
                prop_assert!(twin.allows(&command, now), "{:?} at {}, where the die says it is ready", command, now);
            }
            Probe::Ready => {}
        }
        carried_out[Class::of(&command) as usize] += 1;
        let until = now + Nanos(u64::from(step.3 % 30_000));
        let mut spare = Vec::new();
        if let Command::Program { target, .. } = command {
            let run_length = if step.2 < 128 { UNITS } else { 1 };
            for unit in 0..unit_count(&chip, &target) as u32 {
                fresh += if unit % run_length == 0 { 10 } else { 1 };
                spare.push(fresh);
            }
        }
        let numbers: Vec<Lpn> = spare.iter().copied().map(Lpn).collect();
        let issued = carry_out(&mut chip, command, now, until, &numbers);
        let (ends, status) = twin.book(&command, now, until, &spare, issued.status);
        prop_assert_eq!(issued.ready_at, ends, "{:?} at {}", command, now);
        if let Some(status) = status {
            prop_assert_eq!(issued.status, status, "{:?} at {}", command, now);
        }
        now += Nanos(u64::from(step.3 % 4) * u64::from(step.3 % 5_000));
    }
    compare(&chip, &twin, now)?;
    Ok((answers, carried_out))
}

/// Notes the blocks that came from the factory as bad.
fn note_bad(chip: &Chip, twin: &mut Twin) {
    for plane in 0..2 {
        for block in 0..4 {
            if chip.is_factory_bad(PlaneId(plane), BlockId(u32::from(block))) {
                twin.bad.insert((plane, block));
            }
        }
    }
}

/// Compares the pages of a die with those of its twin.
fn compare(chip: &Chip, twin: &Twin, now: Nanos) -> Result<(), TestCaseError> {
    for plane in [PlaneId(0), PlaneId(1)] {
        for block in 0..4 {
            prop_assert_eq!(chip.next_page(plane, BlockId(block)), u32::from(twin.next_page((plane.0, block as u16))));
            for page in 0..6 {
                let is_programmed = twin.pages.contains_key(&(plane.0, block as u16, page));
                prop_assert_eq!(chip.is_page_programmed(plane, BlockId(block), PageId(page)), is_programmed);
            }
            for page in 0..6 {
                let units: Vec<u32> = (0..UNITS).map(|unit| chip.spare(plane, BlockId(block), PageId(page), unit).0).collect();
                let mut appended = Vec::new();
                chip.spare_of(&Target::single(plane, BlockId(block), PageId(page)), 1, &mut appended);
                prop_assert_eq!(&units, &appended.iter().map(|lpn| lpn.0).collect::<Vec<_>>());
                prop_assert_eq!(units, twin.units(plane, block as u16, page), "plane {} block {} page {}", plane, block, page);
                let sealed = chip.sealed(plane, BlockId(block), PageId(page), now);
                prop_assert_eq!(
                    sealed.is_some(),
                    twin.hides((plane.0, block as u16), page),
                    "plane {} block {} page {}",
                    plane,
                    block,
                    page
                );
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_die_and_its_twin_agree(
        one_shot: bool,
        any_order: bool,
        by_steps: bool,
        seed in 0u64..50,
        failing: bool,
        steps in prop::collection::vec(any::<Step>(), 1..400),
    ) {
        let scope = if one_shot { ProgramScope::Wordline } else { ProgramScope::Page };
        let faults = if failing { Faults { program_fail: 0.1, factory_bad: 0.1, ..Faults::default() } } else { Faults::default() };
        run(scope, [any_order, by_steps], faults, seed, &steps)?;
    }
}

#[test]
fn the_random_commands_reach_every_class() {
    let mut state = 1u64;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u32
    };
    let steps: Vec<Step> = (0..50_000).map(|_| (draw() as u8, draw().to_le_bytes(), draw() as u8, draw())).collect();
    let scopes = [ProgramScope::Page, ProgramScope::Wordline];
    let kinds = [[false, false], [true, false], [false, true], [true, true]];
    for (scope, kind) in scopes.into_iter().flat_map(|scope| kinds.map(|kind| (scope, kind))) {
        let (answers, carried_out) = run(scope, kind, Faults::default(), 1, &steps).expect("the twin agrees");
        assert!(answers.iter().all(|&count| count > 1_000), "ready, blocked, illegal: {answers:?}");
        assert!(carried_out.iter().all(|&count| count > 20), "commands carried out, in the order of Class: {carried_out:?}");
    }
}
