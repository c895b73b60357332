//! From a drive's name and the options around it to a checked plan.

use wordline_plan::Plan;

use crate::args::{DriveOptions, PlanOptions};
use crate::failure::Failure;

impl PlanOptions {
    /// The plan of `drive`, and the settings that make it of the one with that name. `more` come after those of the command line.
    pub(crate) fn load(&self, drive: &str, more: &[&str]) -> Result<(Plan, Vec<String>), Failure> {
        let mut settings = self.cells.settings(&self.settings)?;
        settings.extend(more.iter().map(|&setting| setting.to_owned()));
        let mut plan = Plan::load_set(drive, &settings)?;
        if let Some(size) = &self.size {
            let (sized, how) = plan.sized(size)?;
            plan = sized;
            settings.extend(how);
        }
        self.cells.check(&plan)?;
        Ok((plan, settings))
    }
}

impl DriveOptions {
    /// As [`PlanOptions::load`], with the seed asked for.
    pub(crate) fn load(&self, drive: &str, more: &[&str]) -> Result<(Plan, Vec<String>), Failure> {
        let (plan, settings) = self.plan.load(drive, more)?;
        Ok((self.seeded(plan), settings))
    }

    /// `plan` with the seed asked for.
    pub(crate) fn seeded(&self, plan: Plan) -> Plan {
        self.seed.map_or(plan.clone(), |seed| plan.with_seed(seed))
    }
}
