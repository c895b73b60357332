//! From a drive's name and the options around it to a checked plan.

use std::path::Path;

use clap::Args;
use wordline_plan::{Plan, begin_alike, read_size, shaped_as, sized, sized_alike};

use crate::cells::CellOptions;
use crate::failure::Failure;
use crate::media_folder;

/// Options that change a drive's plan and not its cells.
#[derive(Clone, Debug, Args)]
pub(crate) struct ShapeOptions {
    /// Change a value of the drive's plan, such as gc.victim=fifo. May be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// Size of the drive for the host, such as 16GiB: the same chip and share of usable spare, with as many blocks and dies as that needs, or with
    /// smaller blocks where whole ones would be too few.
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<String>,
}

impl ShapeOptions {
    /// The plan of `drive` with `cells`, and the settings that make it of the one with that name. `more` come after those of the command line.
    pub(crate) fn load(&self, drive: &str, cells: &CellOptions, more: &[&str]) -> Result<(Plan, Vec<String>), Failure> {
        let (plan, settings) = self.load_whole(drive, cells, more)?;
        let Some(size) = &self.size else { return Ok((plan, settings)) };
        let (plan, how) = sized(&plan, size)?;
        Ok((plan, [settings, how].concat()))
    }

    /// The plans of `drives` with `cells`, which begin by `start`. Those that have the same flash have the same flash at another size, too.
    pub(crate) fn load_alike(&self, drives: &[String], cells: &CellOptions, start: Starts) -> Result<Vec<Plan>, Failure> {
        let whole = drives.iter().map(|drive| Ok(self.load_whole(drive, cells, &[])?.0)).collect::<Result<Vec<Plan>, Failure>>()?;
        let whole = start.of(whole)?;
        let Some(size) = &self.size else { return Ok(whole) };
        let sized = sized_alike(&whole.iter().collect::<Vec<_>>(), size)?;
        Ok(sized.into_iter().map(|(plan, _)| plan).collect())
    }

    /// As [`ShapeOptions::load`], at the drive's own size.
    pub(crate) fn load_whole(&self, drive: &str, cells: &CellOptions, more: &[&str]) -> Result<(Plan, Vec<String>), Failure> {
        let mut settings = cells.settings(&self.settings)?;
        settings.extend(more.iter().map(|&setting| setting.to_owned()));
        let plan = Plan::load_set(drive, &settings)?;
        cells.check(&plan)?;
        Ok((plan, settings))
    }
}

/// Start of the drives of one command.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Starts {
    /// Each as its own file says.
    Own,
    /// All as the first does; true: with the share of their capacity written that `--fill` says.
    Alike(bool),
}

impl Starts {
    /// The drives of `plans` with this start.
    pub(crate) fn of(self, plans: Vec<Plan>) -> Result<Vec<Plan>, Failure> {
        match self {
            Starts::Own => Ok(plans),
            Starts::Alike(fill_is_given) => Ok(begin_alike(plans, fill_is_given)?),
        }
    }
}

/// Options that change a drive's plan.
#[derive(Clone, Debug, Args)]
pub(crate) struct PlanOptions {
    #[command(flatten)]
    pub(crate) shape: ShapeOptions,
    #[command(flatten)]
    pub(crate) cells: CellOptions,
}

impl PlanOptions {
    /// As [`ShapeOptions::load`], with the cells asked for.
    pub(crate) fn load(&self, drive: &str, more: &[&str]) -> Result<(Plan, Vec<String>), Failure> {
        self.shape.load(drive, &self.cells, more)
    }
}

/// What a power cut must not take is written down, whoever asks.
const RECOVERY: &str = "recovery.on=true";
/// Whether out-of-band marks are written twice.
const OOB_COPIES: &str = "recovery.oob_copies";
/// Where the second copies lie.
const OOB_PLACE: &str = "recovery.oob_place";
/// Note on media whose second copies lie in the blocks that they are of.
const ONE_PLACE: &str = "these media were made with second copies of out-of-band marks in the blocks that they are of: if a block or a die fails, all data is \
     refused until it is written again; a folder that is made anew has them on another die";
/// Note on media that were made without second copies.
const WITHOUT_COPIES: &str = "these media were made without a second copy of out-of-band marks: if a page cannot be read after a power cut, \
     an older version of what it held may be handed out; a folder that is made anew has it";

/// Options that change a drive's plan and its dice.
#[derive(Clone, Debug, Args)]
pub(crate) struct DriveOptions {
    #[command(flatten)]
    pub(crate) plan: PlanOptions,
    /// Seed of all random streams (default: the drive's own).
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

impl DriveOptions {
    /// As [`PlanOptions::load`], with the seed asked for.
    pub(crate) fn load(&self, drive: &str, more: &[&str]) -> Result<(Plan, Vec<String>), Failure> {
        let (plan, settings) = self.plan.load(drive, more)?;
        Ok((self.seeded(plan)?, settings))
    }

    /// The drive to be served, with its media in `folder`: by what `wordline run` takes to make it again, its plan, and the settings that make it. Where no
    /// drive is named it is the one in the folder, as it was made, with whatever is asked of its plan; and pageftl where there is none.
    pub(crate) fn load_served(&self, drive: Option<&str>, folder: Option<&Path>) -> Result<(String, Plan, Vec<String>), Failure> {
        let kept = folder.filter(|_| drive.is_none()).and_then(|folder| Some((folder, media_folder::kept_plan(folder)?)));
        let shape = &self.plan.shape;
        let is_as_made = shape.settings.is_empty() && shape.size.is_none() && self.plan.cells.settings(&[])?.is_empty();
        if let (Some((folder, kept)), true) = (&kept, is_as_made) {
            return Ok((folder.join(media_folder::PLAN).display().to_string(), self.seeded(kept.clone())?, Vec::new()));
        }
        let drive = drive.or(kept.as_ref().map(|(_, kept)| kept.name())).unwrap_or("pageftl");
        let (plan, settings) = self.load_on_media(drive, folder)?;
        Ok((drive.to_owned(), plan, settings))
    }

    /// As [`DriveOptions::load`], for a drive that is served, with its media in `folder`. If they are there, and of this drive at this size, the drive is as
    /// they were made: with second copies of out-of-band marks where they have them, if they have them, and with the flash that they have.
    fn load_on_media(&self, drive: &str, folder: Option<&Path>) -> Result<(Plan, Vec<String>), Failure> {
        let says = |key: &str| self.plan.shape.settings.iter().any(|setting| setting.trim_start().starts_with(key));
        let copies = (!says(OOB_COPIES)).then(|| format!("{OOB_COPIES}=true"));
        let place = (!says(OOB_PLACE) && !says(OOB_COPIES)).then(|| format!("{OOB_PLACE}=neighbour"));
        let with = |more: &[&Option<String>]| -> Vec<String> { more.iter().filter_map(|&more| more.clone()).collect() };
        // As it is made now; then as earlier builds have made it.
        let ways = [(with(&[&copies, &place]), None), (with(&[&copies]), Some(ONE_PLACE)), (with(&[]), Some(WITHOUT_COPIES))];
        let load = |way: &[String]| {
            let more: Vec<&str> = std::iter::once(RECOVERY).chain(way.iter().map(String::as_str)).collect();
            match folder {
                Some(folder) => self.load_kept(drive, &more, folder),
                None => self.load(drive, &more),
            }
        };
        let loaded = load(&ways[0].0);
        let Some(made) = folder.and_then(media_folder::identity) else { return loaded };
        let is_theirs = |plan: &Plan| plan.has_media_number(made);
        if loaded.as_ref().is_ok_and(|(plan, _)| is_theirs(plan)) {
            return loaded;
        }
        let mut before: Option<&[String]> = Some(&ways[0].0);
        for (way, note) in &ways[1..] {
            // Settings that are given by hand leave no other way.
            if before.replace(way) == Some(way) {
                continue;
            }
            if let Ok((plan, settings)) = load(way)
                && is_theirs(&plan)
            {
                return Ok((note.map_or(plan.clone(), |note| plan.with_note(note)), settings));
            }
        }
        loaded
    }

    fn load_kept(&self, drive: &str, more: &[&str], folder: &Path) -> Result<(Plan, Vec<String>), Failure> {
        let Some(size) = &self.plan.shape.size else { return self.load(drive, more) };
        if let (Some(kept), Ok(size)) = (media_folder::kept_plan(folder), read_size(size)) {
            let (whole, settings) = self.plan.shape.load_whole(drive, &self.plan.cells, more)?;
            if kept.build().exported() == size
                && let Ok((plan, how)) = shaped_as(&whole, &kept)
                && plan.media_number() == kept.media_number()
            {
                return Ok((self.seeded(plan)?, [settings, how].concat()));
            }
        }
        self.load(drive, more)
    }

    /// `plan` with the seed asked for.
    pub(crate) fn seeded(&self, plan: Plan) -> Result<Plan, Failure> {
        let Some(seed) = self.seed else { return Ok(plan) };
        plan.allows_seed(seed)?;
        Ok(plan.with_seed(seed))
    }
}

/// What is to be said of drives that are compared and have not the same raw flash.
pub(crate) fn raw_flash_note(plans: &[Plan]) -> Option<String> {
    let raw = |plan: &Plan| plan.figures().raw;
    let first = raw(plans.first()?);
    if plans.iter().all(|plan| raw(plan) == first) {
        return None;
    }
    let each: Vec<String> = plans.iter().map(|plan| format!("{} {}", plan.name(), raw(plan))).collect();
    Some(format!("the drives have not the same raw flash: {}", each.join(", ")))
}
