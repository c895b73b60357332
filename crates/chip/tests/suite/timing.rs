//! Is the timing right: legal at t, blocked at t − 1, for every rule.

use wordline_chip::rule::{Array, Class, Interface, RULES, Span, markdown};
use wordline_chip::{Chip, Probe};
use wordline_flash::{Command, Feature, ProgramScope, Status, Timing};
use wordline_units::Nanos;

use crate::common::*;

fn timing() -> Timing {
    crate::common::sheet(ProgramScope::Page).timing
}

/// One command of every class, each legal sooner or later on a die that has sensed page 0 of block 0.
fn one_of_each() -> Vec<Command> {
    vec![
        read(at(0, 0)),
        cache_read(at(0, 0)),
        OUT,
        IN,
        copyback(at(1, 0)),
        erase(at(0, 0)),
        GET,
        Command::SetFeature { feature: Feature::DriveStrength, value: 3 },
    ]
}

#[test]
fn every_command_waits_for_what_occupies_the_die() {
    let t = timing();
    // What runs, and how long it keeps the array and the ready/busy line.
    let occupants: [(&str, Vec<Command>, Nanos); 9] = [
        ("read of an LSB page", vec![read(at(0, 0))], t.read[0]),
        ("read of a CSB page", vec![read(at(0, 1))], t.read[1]),
        ("read of an MSB page", vec![read(at(0, 2))], t.read[2]),
        ("multi-plane read", vec![read(both([1, 3], 5))], t.read[2]),
        ("erase", vec![erase(at(2, 0))], t.erase),
        ("multi-plane erase", vec![erase(both([2, 3], 0))], t.erase),
        ("get feature", vec![GET], t.feature),
        ("set feature", vec![Command::SetFeature { feature: Feature::InterfaceMode, value: 5 }], t.feature),
        ("reset", vec![Command::Reset], t.reset),
    ];
    for (name, commands, span) in occupants {
        let mut chip = chip();
        // A sensed page to put out or to copy, so that those have something to wait for.
        let mut now = give(&mut chip, read(at(0, 0)), Nanos::ZERO).ready_at;
        let start = now;
        for command in commands {
            now = give(&mut chip, command, now).ready_at;
        }
        assert_eq!(now, start + span, "{name}");
        for command in one_of_each() {
            if name == "reset" && matches!(command, OUT | Command::CopybackProgram { .. }) {
                continue;
            }
            if name.starts_with("multi-plane read") && matches!(command, Command::CopybackProgram { .. }) {
                continue;
            }
            assert_earliest_ready_at(&chip, command, now);
        }
        assert_eq!(chip.probe(&Command::Status, start), Probe::Ready, "status is legal during {name}");
        assert_eq!(chip.probe(&Command::Reset, start), Probe::Ready, "reset is legal during {name}");
    }
}

#[test]
fn a_program_waits_for_its_data_and_keeps_the_die_for_its_page_type() {
    let t = timing();
    let mut chip = chip();
    let mut now = Nanos::ZERO;
    for page in 0..6 {
        assert_earliest_ready_at(&chip, IN, now);
        give(&mut chip, IN, now);
        assert_earliest_ready_at(&chip, program(at(0, page)), now + BUS);
        let issued = give(&mut chip, program(at(0, page)), now + BUS);
        assert_eq!(issued.ready_at, now + BUS + t.program[page as usize % 3]);
        assert_eq!(issued.status, Status::Good);
        now = issued.ready_at;
        for command in [IN, read(at(0, 0)), erase(at(1, 0)), GET] {
            assert_earliest_ready_at(&chip, command, now);
        }
    }
}

#[test]
fn a_wordline_is_programmed_in_one_shot() {
    let t = timing();
    let mut chip = one_shot();
    for part in 0..6 {
        assert_earliest_ready_at(&chip, IN, BUS * part);
        give(&mut chip, IN, BUS * part);
    }
    let begin = BUS * 6;
    assert_earliest_ready_at(&chip, program(both([0, 1], 0)), begin);
    let issued = give(&mut chip, program(both([0, 1], 0)), begin);
    assert_eq!(issued.ready_at, begin + t.program_wordline);
    assert_earliest_ready_at(&chip, read(both([0, 1], 2)), issued.ready_at);
}

#[test]
fn a_transfer_keeps_the_registers() {
    let mut chip = chip();
    let sensed = give(&mut chip, read(at(0, 0)), Nanos::ZERO).ready_at;
    give(&mut chip, OUT, sensed);
    for command in [read(at(0, 1)), OUT, IN, copyback(at(1, 0)), erase(at(0, 0)), GET] {
        assert_earliest_ready_at(&chip, command, sensed + BUS);
    }
    give(&mut chip, IN, sensed + BUS);
    for command in [read(at(0, 1)), cache_read(at(0, 1)), IN, program(at(0, 0)), cache_program(at(0, 0)), erase(at(0, 0)), GET] {
        assert_earliest_ready_at(&chip, command, sensed + BUS * 2);
    }
}

#[test]
fn a_cache_read_senses_while_the_page_before_is_put_out() {
    let t = timing();
    let mut chip = chip();
    let first = give(&mut chip, read(at(0, 0)), Nanos::ZERO).ready_at;
    give(&mut chip, OUT, first);
    assert_earliest_ready_at(&chip, cache_read(at(0, 1)), first);
    let second = give(&mut chip, cache_read(at(0, 1)), first).ready_at;
    assert_eq!(second, first + t.cache_busy + t.read[1]);
    assert_earliest_ready_at(&chip, OUT, second);
    assert_earliest_ready_at(&chip, cache_read(at(0, 2)), second);
}

#[test]
fn a_page_that_waits_moves_to_the_cache_register() {
    let t = timing();
    let mut chip = chip();
    let first = give(&mut chip, read(at(0, 0)), Nanos::ZERO).ready_at;
    let second = give(&mut chip, cache_read(at(0, 1)), first).ready_at;
    // The first page goes out while the second is sensed, once the registers have been handed over.
    assert_earliest_ready_at(&chip, OUT, first + t.cache_busy);
    let long = second + Nanos(77_000);
    chip.transfer(OUT, first + t.cache_busy, long);
    // The second is sensed before the first is out, so a third has to wait for the cache register.
    assert_earliest_ready_at(&chip, cache_read(at(0, 2)), long);
    let third = give(&mut chip, cache_read(at(0, 2)), long).ready_at;
    assert_earliest_ready_at(&chip, OUT, long + t.cache_busy);
    give(&mut chip, OUT, long + t.cache_busy);
    assert_earliest_ready_at(&chip, OUT, third);
}

#[test]
fn a_cache_program_takes_in_data_while_it_works() {
    let t = timing();
    let mut chip = chip();
    give(&mut chip, IN, Nanos::ZERO);
    let first = give(&mut chip, cache_program(at(0, 0)), BUS).ready_at;
    assert_eq!(first, BUS + t.cache_busy + t.program[0]);
    assert_earliest_ready_at(&chip, IN, BUS + t.cache_busy);
    give(&mut chip, IN, BUS + t.cache_busy);
    assert_earliest_ready_at(&chip, cache_program(at(0, 1)), first);
    assert_earliest_ready_at(&chip, program(at(0, 1)), first);
    assert_earliest_ready_at(&chip, read(at(0, 0)), first);
}

#[test]
fn registers_of_the_next_program_are_set_once_the_one_before_has_ended_and_its_data_stays() {
    let t = timing();
    let set = Command::SetFeature { feature: Feature::DriveStrength, value: 3 };
    for transfer in [BUS, t.program[0] * 2] {
        let mut chip = chip();
        give(&mut chip, IN, Nanos::ZERO);
        let first = give(&mut chip, cache_program(at(0, 0)), BUS).ready_at;
        let (from, until) = (BUS + t.cache_busy, BUS + t.cache_busy + transfer);
        chip.transfer(IN, from, until);
        // Neither while the array programs nor while the data comes in, and not a nanosecond later.
        for command in [GET, set] {
            assert_earliest_ready_at(&chip, command, first.max(until));
        }
        let is_set = give(&mut chip, set, first.max(until)).ready_at;
        assert_eq!(is_set, first.max(until) + t.feature);
        assert_earliest_ready_at(&chip, cache_program(at(0, 1)), is_set);
        assert_eq!(give(&mut chip, cache_program(at(0, 1)), is_set).ready_at, is_set + t.cache_busy + t.program[1]);
    }
}

/// The time of `pages` pages, each after the other, with or without the cache register.
fn span_of(pages: u16, cache: bool, transfer: Nanos, writing: bool) -> Nanos {
    let mut chip = chip();
    let mut end = Nanos::ZERO;
    let move_data = |chip: &mut Chip, command: Command, from: Nanos| {
        let at = match chip.probe(&command, from) {
            Probe::Blocked { until } => until,
            Probe::Ready | Probe::Illegal(_) => from,
        };
        chip.transfer(command, at, at + transfer);
        at
    };
    let mut now = Nanos::ZERO;
    if writing {
        for page in 0..pages {
            now = move_data(&mut chip, IN, now) + transfer;
            let command = Command::Program { target: at(0, page), cache };
            end = soonest(&mut chip, command, now).ready_at;
        }
        return end;
    }
    now = give(&mut chip, read(at(0, 0)), now).ready_at;
    for page in 1..=pages {
        let moved = move_data(&mut chip, OUT, now);
        if page < pages {
            now = soonest(&mut chip, Command::Read { target: at(0, page), cache }, moved).ready_at;
        }
        end = moved + transfer;
    }
    end
}

#[test]
fn the_cache_register_hides_the_shorter_of_transfer_and_array() {
    let t = timing();
    let array = |spans: &[Nanos]| (0..6).map(|page| spans[page % 3]).sum::<Nanos>();
    let transfer = Nanos(20_000);
    assert_eq!(span_of(6, false, transfer, false), array(&t.read) + transfer * 6);
    assert_eq!(span_of(6, true, transfer, false), array(&t.read) + t.cache_busy * 5 + transfer, "all transfers but the last are hidden");
    assert_eq!(span_of(6, false, transfer, true), array(&t.program) + transfer * 6);
    assert_eq!(span_of(6, true, transfer, true), array(&t.program) + t.cache_busy * 6 + transfer, "all transfers but the first are hidden");
    let slow = Nanos(200_000);
    assert_eq!(span_of(6, true, slow, false), t.read[0] + slow * 6, "a slow bus hides the array");
}

#[test]
fn features_hold_their_value() {
    let mut chip = chip();
    give(&mut chip, Command::SetFeature { feature: Feature::DriveStrength, value: 7 }, Nanos::ZERO);
    assert_eq!((chip.feature(Feature::DriveStrength), chip.feature(Feature::InterfaceMode)), (7, 0));
}

#[test]
fn status_says_when_and_how_the_last_operation_ends() {
    let mut chip = chip();
    let ready = give(&mut chip, erase(at(0, 0)), Nanos::ZERO).ready_at;
    let answer = give(&mut chip, Command::Status, Nanos(5));
    assert_eq!((answer.ready_at, answer.status), (ready, Status::Good));
    assert_eq!(give(&mut chip, Command::Status, ready + Nanos(9)).ready_at, ready + Nanos(9));
}

#[test]
fn probing_changes_nothing_and_answers_the_same_twice() {
    let mut chip = chip();
    let now = give(&mut chip, read(at(0, 0)), Nanos::ZERO).ready_at;
    let before = format!("{chip:?}");
    for command in one_of_each() {
        for instant in [Nanos::ZERO, now, now + Nanos(1)] {
            assert_eq!(chip.probe(&command, instant), chip.probe(&command, instant));
        }
    }
    assert_eq!(format!("{chip:?}"), before);
}

#[test]
fn the_table_is_consistent_and_prints() {
    for rule in &RULES {
        assert_eq!(rule.array_busy.is_empty(), rule.interface_busy.is_empty(), "{}: a busy array begins with a busy interface", rule.class);
        assert!(rule.array_busy.starts_with(rule.interface_busy), "{}: the interface is ready no later than the array", rule.class);
        let array_free = rule.array == Array::Any;
        assert!(!array_free || rule.array_busy.is_empty() || rule.class == Class::Reset, "{}: two works at once", rule.class);
        assert!(rule.interface == Interface::Ready || rule.array_busy != [Span::Read], "{}", rule.class);
    }
    let text = markdown();
    assert_eq!(text.lines().count(), RULES.len() + 2);
    assert!(
        text.contains("| CacheProgram | CacheProgram | Idle | Ready | Idle | TakenIn | AtMostErase | HandOver + Program | HandOver |"),
        "{text}"
    );
}
