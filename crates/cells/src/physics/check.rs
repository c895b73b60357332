//! Checks that a set of parameters can be a chip.

use super::{Physics, Unit};

/// One fault of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Section of the parameter: `"wear"` for `[physics.wear]`.
    pub section: &'static str,
    /// Key of the parameter in its section.
    pub key: &'static str,
    /// Text of the fault: what is wrong, and what was expected.
    pub what: String,
}

/// Bound on the absolute value of a threshold, reference or window of a flash cell, in millivolts.
const VOLT_MAX: f64 = 30_000.0;

/// Checks a set of parameters: [`Physics::check`].
pub(super) fn check(physics: &Physics) -> Result<(), Vec<Fault>> {
    let mut faults = Vec::new();
    for parameter in Physics::PARAMETERS {
        let mut refuse = |what: String| faults.push(Fault { section: parameter.section, key: parameter.key, what });
        let numbers = physics.get(parameter.section, parameter.key).unwrap_or_default();
        if numbers.is_empty() || numbers.iter().any(|number| !number.is_finite()) {
            refuse("is not set".into());
            continue;
        }
        if let Some(what) = numbers.iter().find_map(|number| unfit(parameter.unit, *number)) {
            refuse(what);
        } else if let Some(what) = rule(physics, parameter.section, parameter.key, &numbers) {
            refuse(what);
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

fn rule(physics: &Physics, section: &str, key: &str, numbers: &[f64]) -> Option<String> {
    let (states, first) = (physics.shape.states(), numbers[0]);
    let expect = |right: bool, what: String| if right { None } else { Some(what) };
    let length = |wanted: usize| {
        expect(
            numbers.len() == wanted,
            format!("lists {} values: expected {wanted}, as {} has {states} states", numbers.len(), physics.shape.cell.name()),
        )
    };
    let rising = || {
        let hole = numbers.windows(2).find(|pair| pair[1] <= pair[0])?;
        Some(format!("{} mV comes after {} mV: expected levels that rise", hole[1], hole[0]))
    };
    let positive = || expect(first > 0.0, format!("is {first}: expected a value greater than zero"));
    match (section, key) {
        ("states", "verify") => length(states - 1).or_else(rising).or_else(|| {
            let erased = physics.states.erased_mean;
            expect(erased.is_nan() || first > erased, format!("begins at {first} mV, below the erased state's mean, {erased} mV"))
        }),
        ("states", "references") => length(states - 1).or_else(rising),
        ("profile", "offset" | "width") if numbers.len() != 1 && numbers.len() != physics.shape.layers as usize => {
            Some(format!("lists {} values: expected one for each of {} layers, or one for all", numbers.len(), physics.shape.layers))
        }
        ("states", "noise_by_state") | ("tails", "lower_by_state") if numbers.len() != 1 && numbers.len() != states - 1 => {
            Some(format!("lists {} values: expected one for each of {} programmed states, or one for all", numbers.len(), states - 1))
        }
        ("tails", "lower_by_state") => {
            numbers.iter().find(|&&number| number < 0.0).map(|number| format!("lists {number}: expected no value below zero"))
        }
        ("profile", "width") | ("states", "noise_by_state") => {
            numbers.iter().find(|&&number| number <= 0.0).map(|number| format!("lists {number}: expected values greater than zero"))
        }
        ("retry", "step") => length(states - 1),
        ("retry", "disturb_step") if numbers.len() != 1 => length(states - 1),
        ("retry", "disturb_entries") => {
            let most = 255.0 - physics.retry.entries;
            expect((0.0..=most).contains(&first), format!("is {first}: expected at most {most}, 255 with the others"))
        }
        ("retry", "entries") => expect((0.0..=255.0).contains(&first), format!("is {first}: expected at most 255 besides the default")),
        ("states", "coding") => length(states).or_else(|| coding(numbers, states)),
        ("states", "erased_sigma" | "noise" | "placement" | "pass")
        | ("ispp", "step" | "gain" | "speed" | "pulse")
        | ("ispe", "depth" | "pulse" | "stress_scale" | "suspend_power")
        | ("wear", "reference" | "noise_power" | "lift_power")
        | ("ecc", "codeword" | "correctable")
        | ("recovery" | "retention", "start")
        | ("recovery", "deep_start")
        | ("read_disturb", "reads" | "power" | "reach")
        | ("open_interval", "time" | "power")
        | ("flag", "sigma" | "time" | "step" | "years" | "disturb_scale" | "disturb_dose")
        | ("select", "sigma" | "time" | "step" | "start")
        | ("tails", "upper_length" | "lower_length" | "lower_power" | "erased_length")
        | ("ispp", "wear_speed_scale")
        | ("profile", "rugged_width" | "edge_decay") => positive(),
        ("flag", "cells") => {
            let odd = first % 2.0 == 1.0 && (1.0..=255.0).contains(&first);
            expect(odd, format!("is {first}: expected an odd number up to 255, so that there is a majority"))
        }
        ("ispp", "window") => expect(first >= physics.ispp.step, format!("is {first} mV, less than one step of {} mV", physics.ispp.step)),
        ("recovery", "end") => {
            expect(first > physics.recovery.start, format!("is {first} s, not after recovery.start, {} s", physics.recovery.start))
        }
        ("profile", "taper") => expect(first < 1.0, "is 100 % or more: no hole is left at the bottom".into()),
        _ => None,
    }
}

fn unfit(unit: Unit, number: f64) -> Option<String> {
    match unit {
        Unit::Share if !(0.0..=1.0).contains(&number) => Some(format!("is {} %: expected a share from 0 % to 100 %", number * 100.0)),
        Unit::Millivolts | Unit::MillivoltList if number.abs() > VOLT_MAX => {
            Some(format!("is {number} mV: no cell sees more than {VOLT_MAX} mV"))
        }
        Unit::Celsius if !(-273.15..=1_000.0).contains(&number) => Some(format!("is {number} C: no chip is kept at that temperature")),
        Unit::ElectronVolts if !(0.0..=10.0).contains(&number) => Some(format!("is {number} eV: expected an energy up to 10 eV")),
        Unit::Seconds | Unit::Microseconds | Unit::Cycles | Unit::Bits if number < 0.0 => {
            Some(format!("is {number}: expected no less than zero"))
        }
        Unit::Codes if number < 0.0 || number != libm::floor(number) => Some(format!("lists {number}: expected whole numbers")),
        Unit::Number
        | Unit::Share
        | Unit::Millivolts
        | Unit::MillivoltsPerKelvin
        | Unit::ElectronVolts
        | Unit::Celsius
        | Unit::Seconds
        | Unit::Microseconds
        | Unit::Cycles
        | Unit::Bits
        | Unit::Codes
        | Unit::MillivoltList
        | Unit::NumberList => None,
    }
}

/// Checks that each state has its own bits and that neighbours differ in one of them.
fn coding(numbers: &[f64], states: usize) -> Option<String> {
    let codes: Vec<u32> = numbers.iter().map(|&number| number as u32).collect();
    if let Some(code) = codes.iter().find(|&&code| code as usize >= states) {
        return Some(format!("lists {code}: expected bits below {states}"));
    }
    if let Some(pair) = codes.windows(2).find(|pair| (pair[0] ^ pair[1]).count_ones() != 1) {
        return Some(format!("{} and {} are neighbours and differ in more than one bit: expected a Gray code", pair[0], pair[1]));
    }
    (1..states).find(|&state| codes[..state].contains(&codes[state])).map(|state| format!("lists {} twice", codes[state]))
}
