//! From a drive's name and the options around it to a checked plan.

use wordline_plan::Plan;

use crate::args::{DriveOptions, PlanOptions, ShapeOptions};
use crate::cells::CellOptions;
use crate::failure::Failure;

impl ShapeOptions {
    /// The plan of `drive` with `cells`, and the settings that make it of the one with that name. `more` come after those of the command line.
    pub(crate) fn load(&self, drive: &str, cells: &CellOptions, more: &[&str]) -> Result<(Plan, Vec<String>), Failure> {
        let mut settings = cells.settings(&self.settings)?;
        settings.extend(more.iter().map(|&setting| setting.to_owned()));
        let mut plan = Plan::load_set(drive, &settings)?;
        if let Some(size) = &self.size {
            let (sized, how) = plan.sized(size)?;
            plan = sized;
            settings.extend(how);
        }
        cells.check(&plan)?;
        Ok((plan, settings))
    }
}

impl PlanOptions {
    /// As [`ShapeOptions::load`], with the cells asked for.
    pub(crate) fn load(&self, drive: &str, more: &[&str]) -> Result<(Plan, Vec<String>), Failure> {
        self.shape.load(drive, &self.cells, more)
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
