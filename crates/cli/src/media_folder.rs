//! The folder of a served drive's media, as its user sees it: what drive is in it, the command that made it, and who else may read it.

use std::path::Path;

use wordline_live::{Folder, MediaError, Taken};
use wordline_plan::Plan;

use crate::command::command_line;
use crate::failure::Failure;

/// The plan of a served drive, beside its media.
pub(crate) const PLAN: &str = "plan.toml";

/// What the first line of that file begins with; the command that made the drive follows.
const MADE_BY: &str = "# made by: ";

/// Writes down beside its media what the drive in `folder` is, and with which command it was made. A command that is there stays: a drive is made once.
pub(crate) fn keep_plan(folder: &Path, plan: &Plan, is_found: bool) -> Result<(), Failure> {
    let folder = Folder::open(folder).map_err(|error| Failure::Usage(error.to_string()))?;
    let there = folder.read(PLAN);
    let made_by = match there.as_deref().ok().and_then(made_by) {
        Some(command) => Some(command.to_owned()),
        None => (!is_found).then(command_line),
    };
    let head = made_by.map_or(String::new(), |command| format!("{MADE_BY}{command}\n"));
    let text = format!("{head}{}", plan.describe());
    // A plan that was read from there holds no more than the text there.
    let is_from_there = |there: &str| Plan::parse_stored(plan.name(), there).is_ok_and(|kept| kept.describe() == plan.describe());
    if there.is_ok_and(|there| there == text || is_from_there(&there)) {
        return Ok(());
    }
    folder.write(PLAN, &text).map_err(|error| Failure::File { path: folder.path().join(PLAN), error })
}

/// The text of the plan beside the media in `folder`.
fn plan_text(folder: &Path) -> Option<String> {
    Folder::look_into(folder).ok()?.read(PLAN).ok()
}

/// The plan that lies beside the media in `folder`, if it is theirs.
pub(crate) fn kept_plan(folder: &Path) -> Option<Plan> {
    let (name, number) = Taken::identity(folder).ok()?;
    let plan = Plan::parse_stored(&name, &plan_text(folder)?).ok()?;
    plan.has_media_number(number).then_some(plan)
}

/// The number of the drive whose media are in `folder`.
pub(crate) fn identity(folder: &Path) -> Option<u128> {
    Taken::identity(folder).ok().map(|(_, number)| number)
}

/// The command that made the drive whose plan has this text, where that was written down.
fn made_by(text: &str) -> Option<&str> {
    text.lines().next()?.strip_prefix(MADE_BY)
}

/// Why the drive of `plan` could not be opened or made in `folder`.
pub(crate) fn refused(folder: &Path, plan: &Plan, error: &MediaError) -> Failure {
    let MediaError::AnotherDrive { found, expected, .. } = error else { return Failure::Usage(error.to_string()) };
    let text = plan_text(folder);
    let made = match text.as_deref().and_then(made_by) {
        Some(command) => format!("it was made by `{command}`"),
        None => format!("its plan is in {}", folder.join(PLAN).display()),
    };
    Failure::Usage(format!(
        "{}: there is another drive in this folder: {made} (plan {found:016x}), and this command asks for {} of {} (plan {expected:016x}): \
         start it as it was made, with the same drive, --size and --set, or choose another folder",
        folder.display(),
        plan.name(),
        plan.build().exported(),
    ))
}

/// A warning where others than its owner may look into `folder`.
pub(crate) fn warning(folder: &Path) -> Option<String> {
    let mode = Folder::open(folder).ok()?.mode().ok()?;
    let folder = folder.display();
    let others = "other users of this machine can look into the folder, where the files of older versions can be read by everybody";
    (mode & 0o077 != 0).then(|| format!("warning: {folder} has mode {mode:03o}: {others}; `chmod -R go= {folder}` keeps it to its owner"))
}
