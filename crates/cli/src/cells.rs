//! The cells of a drive on the command line: `--physics` and `--age`, as settings of the plan.

use clap::{Args, ValueEnum};
use wordline_plan::{Plan, nearest, stages};

use crate::failure::Failure;

/// What may be said of a drive's cells, but for their age.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct CellState {
    /// Whether cells have their physics (errors, read retries, times that follow wear and layer) or the fixed times of the data sheet; by default they have it
    /// wherever the chip's file gives it.
    #[arg(long, value_name = "on|off")]
    pub(crate) physics: Option<Switch>,
    /// The cycles of --age alone, such as 2k.
    #[arg(long, value_name = "CYCLES", conflicts_with = "age")]
    pub(crate) pe: Option<String>,
    /// The time kept of --age alone, such as 1mo@30C. For a saved drive (`run --from`), it is the time that it has lain since.
    #[arg(long, value_name = "TIME", conflicts_with = "age")]
    pub(crate) retention: Option<String>,
}

/// How the drive's cells are.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct CellOptions {
    /// Set the filled drive to an age before the run: program/erase cycles and time kept, such as 2k, 2k+1mo or 1500+90d@40C. A stage of life also
    /// says it: fresh, child, young-adult or old-adult, as `studies/stages.toml` has them.
    #[arg(long, value_name = "AGE")]
    pub(crate) age: Option<String>,
    #[command(flatten)]
    pub(crate) state: CellState,
}

/// How the drives' cells are, at one age or at several.
#[derive(Clone, Debug, Args)]
pub(crate) struct CellRange {
    /// Set the filled drives to these ages before the runs: program/erase cycles and time kept, such as 2k, 2k+1mo or 1500+90d@40C. A stage of life also
    /// says it: fresh, child, young-adult or old-adult, as `studies/stages.toml` has them. Each workload is run at each age.
    #[arg(long, value_name = "AGE,…", value_delimiter = ',')]
    pub(crate) age: Vec<String>,
    #[command(flatten)]
    pub(crate) state: CellState,
}

impl CellRange {
    /// The cells at each age, in order; as the drives' files have them where no age was asked for.
    pub(crate) fn each(&self) -> Vec<CellOptions> {
        let at = |age: Option<&String>| CellOptions { age: age.cloned(), state: self.state.clone() };
        if self.age.is_empty() { vec![at(None)] } else { self.age.iter().map(|age| at(Some(age))).collect() }
    }
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    On,
    Off,
}

impl CellOptions {
    /// The settings these options stand for, after `settings`, which they override.
    pub(crate) fn settings(&self, settings: &[String]) -> Result<Vec<String>, Failure> {
        let mut all = settings.to_vec();
        if let Some(switch) = self.state.physics {
            all.push(format!("cells.physics={}", switch == Switch::On));
        }
        if let Some(age) = self.asked_age() {
            if self.state.physics == Some(Switch::Off) && !is_in_cycles(&age) {
                let what = format!("--age {age} keeps data for a time, which needs the cells' physics, and --physics off switches it off");
                return Err(Failure::Usage(format!("{what}; without physics expected cycles alone, such as 2k")));
            }
            all.extend(age_settings(&age)?);
        }
        Ok(all)
    }

    /// The age asked for, in one text.
    pub(crate) fn asked_age(&self) -> Option<String> {
        match (&self.age, &self.state.pe, &self.state.retention) {
            (None, None, None) => None,
            (Some(age), _, _) => Some(age.clone()),
            (None, cycles, None) => cycles.clone(),
            (None, cycles, Some(kept)) => Some(format!("{}+{kept}", cycles.as_deref().unwrap_or("0"))),
        }
    }

    /// Whether `plan` has what these options ask for.
    pub(crate) fn check(&self, plan: &Plan) -> Result<(), Failure> {
        if plan.build().cells.is_some() {
            return Ok(());
        }
        if let Some(age) = self.asked_age().filter(|age| !is_in_cycles(age)) {
            return Err(Failure::Usage(format!(
                "{}: its cells have no physics, and --age {age} keeps data for a time: expected cycles alone, such as 2k, which dies and firmware count",
                plan.name()
            )));
        }
        if self.state.physics == Some(Switch::On) {
            return Err(Failure::Usage(format!(
                "{}: its cells have no physics: the chip file has no [physics.*], and the drive file does not say physics_of = \"tlc48\" or another such chip",
                plan.name()
            )));
        }
        Ok(())
    }
}

/// True if an age is one in cycles alone.
fn is_in_cycles(age: &str) -> bool {
    !age.contains(['+', '@'])
}

/// `2k+1mo@30C` as settings.
pub(crate) fn age_settings(text: &str) -> Result<Vec<String>, Failure> {
    let wrong = |why: &str| {
        let names: Vec<&str> = stages().iter().map(|stage| stage.name.as_str()).collect();
        let names = names.join(", ");
        Failure::Usage(format!(
            "'{text}' is not an age: {why}; expected cycles and time kept, such as 2k, 2k+1mo or 1500+90d@40C, or {names}"
        ))
    };
    let (state, at) = match text.split_once('@') {
        Some((state, at)) => (state, Some(at)),
        None => (text, None),
    };
    let (cycles, kept) = match state.split_once('+') {
        Some((cycles, kept)) => (cycles.trim(), Some(kept.trim())),
        None => (state.trim(), None),
    };
    if kept == Some("") || at.is_some_and(|at| at.trim().is_empty()) {
        return Err(wrong("nothing stands behind its last sign"));
    }
    let cycles = match stages().iter().find(|stage| stage.name == cycles) {
        // How many cycles that is depends on the drive's cells.lifetime.
        Some(stage) => stage.name.clone(),
        None => count(cycles).map(|count| count.to_string()).ok_or_else(|| {
            let names = || stages().iter().map(|stage| stage.name.as_str());
            let begins = |name: &&str| !cycles.is_empty() && name.starts_with(cycles);
            let near = nearest(cycles, names()).or_else(|| names().find(begins));
            wrong(&match near {
                Some(near) => format!("'{cycles}' is no number of cycles and no stage of life; did you mean '{near}'?"),
                None => format!("'{cycles}' is no whole number of cycles up to {CYCLES_MOST}"),
            })
        })?,
    };
    let mut settings = vec![format!("cells.cycles={cycles}"), format!("cells.retention={}", kept.unwrap_or("0 s"))];
    if let Some(at) = at {
        settings.push(format!("cells.kept_at={at}"));
    }
    Ok(settings)
}

/// Most cycles of an age.
const CYCLES_MOST: u32 = 1_000_000;

/// `2k`, `1.5k` or `300`.
fn count(text: &str) -> Option<u32> {
    let (number, times) = match text.strip_suffix(['k', 'K']) {
        Some(number) => (number, 1e3),
        None => (text, 1.0),
    };
    let value = number.parse::<f64>().ok()? * times;
    (value.is_finite() && (0.0..=f64::from(CYCLES_MOST)).contains(&value) && value.fract() == 0.0).then_some(value as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_without_physics_has_an_age_in_cycles_alone() {
        let plan = Plan::load("paper-rcftl").expect("a preset");
        let of = |age: &str, physics| CellOptions { age: Some(age.to_owned()), state: CellState { physics, ..CellState::default() } };
        for age in ["2k", "0", "young-adult"] {
            assert!(of(age, None).check(&plan).is_ok() && of(age, Some(Switch::Off)).settings(&[]).is_ok(), "{age}");
        }
        for age in ["2k+1mo", "2k@40C", "0+1y"] {
            let Err(Failure::Usage(told)) = of(age, None).check(&plan) else { panic!("{age}") };
            assert!(told.contains("paper-rcftl") && told.contains(age) && told.contains("cycles alone"), "{told}");
            assert!(of(age, Some(Switch::Off)).settings(&[]).is_err(), "{age}");
        }
        assert!(of("2k", Some(Switch::On)).check(&plan).is_err(), "it has none to switch on");
    }

    #[test]
    fn ages_are_read_as_written_and_nonsense_is_refused() {
        assert_eq!(age_settings("2k").unwrap(), ["cells.cycles=2000", "cells.retention=0 s"]);
        assert_eq!(age_settings("1.5k+1mo@30C").unwrap(), ["cells.cycles=1500", "cells.retention=1mo", "cells.kept_at=30C"]);
        assert_eq!(age_settings("old-adult+1y").unwrap()[0], "cells.cycles=old-adult");
        for wrong in ["", "old", "-1", "2kk", "1e9", "+1mo", "0.5", "2k+", "2k@", "2k+1mo@ "] {
            assert!(age_settings(wrong).is_err(), "{wrong}");
        }
    }
}
