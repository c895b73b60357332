//! `wordline forensics`: what somebody recovers of a drive whose chips he has taken off the board.

mod sift;
mod text;

use std::path::Path;

use wordline_drive::{ChipsOff, Watched};
use wordline_figures::ForensicsResult;
use wordline_ftl::techniques::hooks::Hook;
use wordline_live::{Folder, MediaError, Taken};
use wordline_pages::forensics::text;
use wordline_pages::json;
use wordline_plan::Plan;
use wordline_runs::{Saved, saved};
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{Celsius, Nanos};

use crate::args::ForensicsOptions;
use crate::failure::Failure;
use crate::files;
use crate::media_folder::PLAN;
use crate::places::Places;
use sift::Sifter;

pub(crate) fn forensics(options: &ForensicsOptions) -> Result<(), Failure> {
    let media = std::fs::read_dir(&options.target).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut places = Places::reading(media.chain([options.target.clone()]));
    options.json.iter().filter(|name| *name != "-").try_for_each(|name| places.write(Path::new(name)))?;
    let result = if options.target.is_dir() { on_media(options)? } else { saved(options)? };
    if options.json.as_deref() != Some("-") {
        files::write_or_print("-", &text(&result, options.rows))?;
    }
    options.json.as_deref().map_or(Ok(()), |name| files::write_or_print(name, &json(&result)))
}

/// The chips of a served drive.
fn on_media(options: &ForensicsOptions) -> Result<ForensicsResult, Failure> {
    let folder = &options.target;
    let refused = |error: MediaError| Failure::Usage(error.to_string());
    let (name, number) = Taken::identity(folder).map_err(refused)?;
    let path = folder.join(PLAN);
    let text = Folder::open(folder).map_err(refused)?.read(PLAN).map_err(|error| Failure::File { path: path.clone(), error })?;
    let plan = Plan::parse_stored(&name, &text)?;
    if !plan.has_media_number(number) {
        let (found, expected) = (plan.media_number_hex(), format!("{number:016x}"));
        return Err(Failure::Usage(format!("{}: this is plan {found}, and the media beside it are of {expected}", path.display())));
    }
    refuse_keys(&path, &plan)?;
    let wait = Wait::read(options, &plan)?;
    let sifter = Sifter::new(options.find.as_deref(), plan.build().firmware.unit)?;
    let mut taken = Taken::off(folder, plan.build(), (plan.name(), number)).map_err(refused)?;
    let sifted = read(&mut taken.chips, wait, sifter);
    let newest = taken.newest().map_err(Failure::Usage)?;
    Ok(sifted.conclude(options.raw_chips, &newest, None, head(&plan, "media", wait, options)))
}

/// The chips of a drive that was saved.
fn saved(options: &ForensicsOptions) -> Result<ForensicsResult, Failure> {
    let Saved { plan, image, tags, .. } = saved::load(&options.target)?;
    refuse_keys(&options.target, &plan)?;
    let wait = Wait::read(options, &plan)?;
    if options.find.is_some() {
        let what = "--find needs bytes, and a drive in virtual time keeps none: give it the media of a served drive";
        return Err(Failure::Usage(format!("{}: {what}", options.target.display())));
    }
    let drive = Watched::from_image(plan.build(), image, ()).map_err(|error| Failure::Usage(error.to_string()))?;
    let sectors = drive.unit_bytes().0 / SECTOR_BYTES;
    let newest: Vec<_> = (0..drive.config().exported_units).map(|unit| drive.locate(unit * sectors).on_flash).collect();
    let sifter = Sifter::new(None, drive.unit_bytes())?;
    let sifted = read(&mut drive.chip_off(), wait, sifter);
    Ok(sifted.conclude(options.raw_chips, &newest, tags.as_ref(), head(&plan, "saved drive", wait, options)))
}

/// What is encrypted is as good as its key, and which keys were left is in no image and on no media: neither holds ciphertext.
fn refuse_keys(path: &Path, plan: &Plan) -> Result<(), Failure> {
    let config = plan.build();
    let Some(choice) = config.firmware.techniques.iter().find(|choice| choice.card().hooks.has(Hook::KeyStore)) else {
        return Ok(());
    };
    Err(Failure::Usage(format!(
        "{}: techniques.{} is on in {}: a page there is ciphertext, and a saved drive does not say which keys were destroyed, so nothing could be told of what is \
         recovered: expected a drive without it, such as secssd",
        path.display(),
        choice.card().name,
        plan.name()
    )))
}

fn read(chips: &mut ChipsOff, wait: Option<Wait>, mut sifter: Sifter) -> Sifter {
    if let Some(Wait { time, temperature, .. }) = wait {
        chips.wait(time, temperature);
    }
    chips.read(|page| sifter.take(page));
    sifter
}

/// How long the chips lie, and how warm.
#[derive(Clone, Copy, Debug)]
struct Wait {
    time: Nanos,
    seconds: f64,
    temperature: Celsius,
}

impl Wait {
    fn read(options: &ForensicsOptions, plan: &Plan) -> Result<Option<Wait>, Failure> {
        let Some(text) = &options.after else { return Ok(None) };
        let (time, at) = text.split_once('@').map_or((text.as_str(), None), |(time, at)| (time, Some(at)));
        if plan.build().cells.is_none() {
            return Err(Failure::Usage(format!(
                "--after {text}: the cells of {} have no physics, and lose nothing over time",
                plan.name()
            )));
        }
        // As any plan would say it.
        let mut settings = vec![format!("cells.retention={time}")];
        settings.extend(at.map(|at| format!("cells.kept_at={at}")));
        let asked = plan.override_keys(&settings).map_err(|error| Failure::Usage(format!("--after {text}: {error}")))?;
        let Some(age) = asked.build().cells.and_then(|cells| cells.age).filter(|age| age.retention > 0.0) else {
            return Err(Failure::Usage(format!("--after {text}: expected a time above 0, such as 5y or 90d@40C")));
        };
        let (seconds, temperature) = (age.retention, Celsius(age.temperature));
        Ok(Some(Wait { time: Nanos((seconds * 1e9) as u64), seconds, temperature }))
    }
}

/// A result of which only the circumstances are known.
fn head(plan: &Plan, source: &str, wait: Option<Wait>, options: &ForensicsOptions) -> ForensicsResult {
    ForensicsResult {
        drive: plan.name().to_owned(),
        plan_hash: plan.media_number_hex(),
        source: source.to_owned(),
        after_seconds: wait.map_or(0.0, |wait| wait.seconds),
        at_celsius: wait.map(|wait| wait.temperature.0),
        raw_chips: options.raw_chips,
        ..ForensicsResult::default()
    }
}
