//! Nulls of claims: settings by which the effect that a claim is about is switched off, on the chips and drives of a bench.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use wordline_plan::{Plan, PlanError, Setting};

use crate::error::LabError;

/// The settings of a null, and for each of them the fact that a chip or drive has taken it. Copies of a null share these facts. By default, there are none.
#[derive(Clone, Default)]
pub struct Null(Arc<Vec<Part>>);

struct Part {
    setting: Setting,
    is_taken: AtomicBool,
}

impl Null {
    /// The null of these settings, such as `physics.wear.field=0`.
    ///
    /// # Errors
    ///
    /// A text is no setting of a chip or drive.
    pub fn of(texts: &[String]) -> Result<Null, LabError> {
        let part = |text: &String| Ok::<_, PlanError>(Part { setting: Setting::read(text)?, is_taken: AtomicBool::new(false) });
        Ok(Null(Arc::new(texts.iter().map(part).collect::<Result<_, _>>()?)))
    }

    /// `settings` of a chip with those of the null behind them, which count more. Keys that only drives have are left out.
    pub(crate) fn on_chip(&self, settings: &[String]) -> Vec<String> {
        let of_chip: Vec<&Setting> = self.settings().filter(|setting| setting.is_of_chip()).collect();
        self.take(&of_chip);
        settings.iter().cloned().chain(of_chip.iter().map(|setting| setting.text().to_owned())).collect()
    }

    /// The drive of `plan` with the effect switched off. Settings of parts that it does not have are left out.
    pub(crate) fn on_drive(&self, plan: Plan) -> Result<Plan, LabError> {
        self.put_on(plan, |_| true)
    }

    /// The drive of `plan` as the one that others are compared with: it takes only what is of its chip and of its cells, because both are of one world.
    pub(crate) fn on_baseline(&self, plan: Plan) -> Result<Plan, LabError> {
        self.put_on(plan, Setting::is_of_cells)
    }

    fn put_on(&self, plan: Plan, reaches: fn(&Setting) -> bool) -> Result<Plan, LabError> {
        let offered: Vec<&Setting> = self.settings().filter(|setting| reaches(setting)).collect();
        let taken = wordline_plan::taken(&plan, &offered);
        if taken.is_empty() {
            return Ok(plan);
        }
        self.take(&taken);
        let texts: Vec<&str> = taken.iter().map(|setting| setting.text()).collect();
        Ok(plan.override_keys(&texts)?)
    }

    /// The settings that no chip and no drive has taken so far.
    pub(crate) fn untaken(&self) -> Vec<&str> {
        self.0.iter().filter(|part| !part.is_taken.load(Ordering::Relaxed)).map(|part| part.setting.text()).collect()
    }

    fn settings(&self) -> impl Iterator<Item = &Setting> {
        self.0.iter().map(|part| &part.setting)
    }

    fn take(&self, settings: &[&Setting]) {
        let taken = self.0.iter().filter(|part| settings.contains(&&part.setting));
        taken.for_each(|part| part.is_taken.store(true, Ordering::Relaxed));
    }
}

impl fmt::Debug for Null {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.settings().map(Setting::text)).finish()
    }
}

/// Nulls are equal by their settings.
impl PartialEq for Null {
    fn eq(&self, other: &Null) -> bool {
        self.settings().eq(other.settings())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn null(texts: &[&str]) -> Null {
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        Null::of(&texts).unwrap_or_else(|error| panic!("{error}"))
    }

    fn plan() -> Plan {
        Plan::load("pageftl").unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_null_reaches_a_drive_and_of_a_baseline_its_cells_alone() {
        let settings = ["gc.victim=fifo", "cells.cycles=3000"];
        let changed = null(&settings);
        let (drive, baseline) = (changed.on_drive(plan()).expect("a drive"), changed.on_baseline(plan()).expect("a drive"));
        let of = |settings: &[&str]| plan().override_keys(settings).expect("a drive").id();
        assert_eq!((drive.id(), baseline.id()), (of(&settings), of(&settings[1..])));
        assert!(of(&settings) != of(&settings[1..]) && changed.untaken().is_empty());
        let baseline_alone = null(&settings);
        baseline_alone.on_baseline(plan()).expect("a drive");
        assert_eq!(baseline_alone.untaken(), settings[..1]);
    }

    #[test]
    fn a_setting_that_nothing_has_stays_untaken() {
        let parameter = null(&["techniques.idle-reclaim.after=1 s", "physics.wear.field=1.5"]);
        assert_eq!(parameter.untaken().len(), 2);
        assert_eq!(parameter.on_chip(&["a=1".to_owned()]), ["a=1", "physics.wear.field=1.5"]);
        parameter.on_drive(plan()).expect("a drive");
        assert_eq!(parameter.untaken(), ["techniques.idle-reclaim.after=1 s"]);
    }
}
