//! Parameters of a calibration: scalars of a chip's physics, by name.

use wordline_cells::{Parameter as Known, Physics};

use crate::error::{LabError, help};
use crate::fit::{digits, number};

/// One scalar of a chip's physics.
#[derive(Clone, Debug)]
pub struct Parameter {
    known: &'static Known,
    start: f64,
}

/// The parameters of a calibration, and those that were left out.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// Parameters that the search moves.
    pub free: Vec<Parameter>,
    /// Names of scalars that were asked for by their section and cannot move, each with the reason.
    pub left_out: Vec<(String, String)>,
}

/// Digits that values of a search are written with.
const DIGITS: i32 = 6;

impl Parameter {
    /// Name as in settings, such as `physics.wear.noise`.
    pub fn name(&self) -> String {
        name(self.known)
    }

    /// Section of the chip file, such as `physics.wear`, and key.
    pub fn place(&self) -> (String, &'static str) {
        (format!("physics.{}", self.known.section), self.known.key)
    }

    /// Value at `searched`: above zero, the search goes by the logarithm of the value; below, by its share of the start.
    pub fn value(&self, searched: f64) -> f64 {
        let value = if self.start > 0.0 { self.start * libm::exp(searched) } else { self.start * (1.0 + searched) };
        digits(value, DIGITS)
    }

    /// The value at `searched` as a chip file has it.
    pub fn text(&self, searched: f64) -> String {
        let value = self.value(searched);
        match self.known.unit.names().first() {
            None => number(value),
            Some((unit, size)) if *size < 1.0 => format!("{} {unit}", number(digits(value / size, DIGITS))),
            Some((unit, size)) => format!("{} {unit}", number(value / size)),
        }
    }

    /// The setting that gives a chip the value at `searched`.
    pub fn setting(&self, searched: f64) -> String {
        format!("{}={}", self.name(), self.text(searched))
    }

    /// The reason why the parameter cannot move by `step` to either side.
    fn stuck(&self, physics: &Physics, step: f64) -> Option<String> {
        if self.start == 0.0 {
            return Some("it is 0, and moves by shares of its value".to_owned());
        }
        let refused = |to: f64| {
            let mut moved = physics.clone();
            moved.set(self.known.section, self.known.key, &[self.value(to)]);
            moved.check().err().map(|faults| faults.first().map_or_else(String::new, |fault| fault.what.clone()))
        };
        refused(step).and(refused(-step)).map(|what| format!("it {what}"))
    }
}

fn name(known: &Known) -> String {
    format!("physics.{}.{}", known.section, known.key)
}

impl Parameters {
    /// The scalars of `physics` that `free` names and `fixed` does not: names of scalars, of sections such as `physics.wear`, or `physics` for all.
    ///
    /// # Errors
    ///
    /// A name that nothing has, a list, a scalar by its own name that cannot move by `step`, or nothing that can move.
    pub fn choose(physics: &Physics, free: &[String], fixed: &[String], step: f64) -> Result<Parameters, LabError> {
        free.iter().try_for_each(|word| is_known("--free", word))?;
        fixed.iter().try_for_each(|word| is_known("--fixed", word))?;
        let mut chosen = Parameters { free: Vec::new(), left_out: Vec::new() };
        let is_of =
            |known: &Known, word: &str| name(known) == word || name(known).strip_prefix(word).is_some_and(|rest| rest.starts_with('.'));
        for known in Physics::PARAMETERS.iter().filter(|known| !known.unit.is_list()) {
            if !free.iter().any(|word| is_of(known, word)) || fixed.iter().any(|word| is_of(known, word)) {
                continue;
            }
            let start = physics.get(known.section, known.key).unwrap_or_default()[0];
            let parameter = Parameter { known, start };
            match parameter.stuck(physics, step) {
                None => chosen.free.push(parameter),
                Some(why) if free.contains(&parameter.name()) => {
                    return Err(LabError::Usage(format!("--free {}: it cannot move: {why}", parameter.name())));
                }
                Some(why) => chosen.left_out.push((parameter.name(), why)),
            }
        }
        if chosen.free.is_empty() {
            return Err(LabError::Usage(format!("--free {}: nothing is left that can move", free.join(","))));
        }
        Ok(chosen)
    }

    /// Settings of the chip at a point of the search.
    pub fn settings(&self, at: &[f64]) -> Vec<String> {
        self.free.iter().zip(at).map(|(parameter, to)| parameter.setting(*to)).collect()
    }
}

/// Checks that `word` names a scalar, a section or all.
fn is_known(option: &str, word: &str) -> Result<(), LabError> {
    let sections = || Physics::SECTIONS.iter().map(|(section, _)| format!("physics.{section}"));
    if word == "physics" || sections().any(|section| section == word) {
        return Ok(());
    }
    match Physics::PARAMETERS.iter().find(|known| name(known) == word) {
        Some(known) if known.unit.is_list() => Err(LabError::Usage(format!("{option} {word}: a list, and only single values are fitted"))),
        Some(_) => Ok(()),
        None => {
            let all: Vec<String> = Physics::PARAMETERS.iter().map(name).chain(sections()).collect();
            let help = help(word, all.iter().map(String::as_str));
            Err(LabError::Usage(format!("{option}: no parameter is called \"{}\"\n  = help: {help}", wordline_plan::shown(word))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_plan::Chip;

    fn chosen(free: &[&str], fixed: &[&str]) -> Result<Parameters, LabError> {
        let chip = Chip::load(crate::CHIP).unwrap_or_else(|error| panic!("{error}"));
        let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        Parameters::choose(chip.physics(), &owned(free), &owned(fixed), 0.02)
    }

    #[test]
    fn every_scalar_is_written_so_that_the_chip_takes_it_and_is_where_it_was() {
        let all = chosen(&["physics"], &[]).expect("all");
        assert!(all.free.len() > 80, "{}", all.free.len());
        let names: Vec<String> = all.left_out.iter().map(|(name, _)| name.clone()).collect();
        assert!(names.contains(&"physics.tails.lower_top".to_owned()), "zero: {names:?}");
        let settings = all.settings(&vec![0.0; all.free.len()]);
        let (same, chip) = (Chip::load_set(crate::CHIP, &settings), Chip::load(crate::CHIP).expect("a chip"));
        let same = same.unwrap_or_else(|error| panic!("{error}"));
        for parameter in &all.free {
            let of = |chip: &Chip| chip.physics().get(parameter.known.section, parameter.known.key).expect("a key")[0];
            assert!((of(&same) / of(&chip) - 1.0).abs() < 1e-5, "{}: {} for {}", parameter.name(), of(&same), of(&chip));
        }
    }

    #[test]
    fn sections_give_their_scalars_but_for_those_that_are_fixed() {
        let wear = chosen(&["physics.wear"], &["physics.wear.noise_power"]).expect("a section");
        let names: Vec<String> = wear.free.iter().map(Parameter::name).collect();
        assert!(names.contains(&"physics.wear.noise".to_owned()) && !names.contains(&"physics.wear.noise_power".to_owned()), "{names:?}");
        let lift = wear.free.iter().find(|parameter| parameter.known.key == "top_lift").expect("below zero");
        assert_eq!(
            (lift.setting(-0.5).as_str(), lift.setting(1.0).as_str()),
            ("physics.wear.top_lift=-3 mV", "physics.wear.top_lift=-12 mV")
        );
    }

    #[test]
    fn names_that_are_wrong_are_refused_with_the_nearest() {
        let told = |free: &[&str], fixed: &[&str]| chosen(free, fixed).expect_err("refused").to_string();
        assert!(
            told(&["physics.wear.noize"], &[]).contains("did you mean \"physics.wear.noise\"?"),
            "{}",
            told(&["physics.wear.noize"], &[])
        );
        assert!(told(&["physics.states.verify"], &[]).contains("a list"));
        assert!(told(&["physics.tails.lower_top"], &[]).contains("it is 0"));
        assert!(told(&["physics"], &["physics.waer"]).contains("--fixed: no parameter"));
        assert!(told(&["physics.wear.noise"], &["physics.wear"]).contains("nothing is left"));
    }
}
