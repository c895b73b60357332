//! Settings of a command line by themselves, `section.key=value`, and the drives that take them.

use crate::error::PlanError;
use crate::keys::table;
use crate::load::Gathered;
use crate::plan::Plan;
use crate::techniques::TECHNIQUES;

/// One setting, of a known key and with a value of its kind. Rules between keys are those of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    text: String,
    section: &'static str,
    key: String,
    is_of_chip: bool,
    /// State that the setting gives to a part of the drive: a technique, or the physics of its cells.
    switch: Option<bool>,
}

/// Sections of models by rate, in the place of the physics of cells.
const BY_RATE: [&str; 2] = ["retries", "programs"];
/// Section of the cells' state, and the key in it that switches their physics.
const CELLS: (&str, &str) = ("cells", "physics");
/// Key that switches a technique.
const ON: &str = "on";
/// Section of the chip's modes of guarded erases, and its keys of modes: a table may order wordlines alone.
const GUARD: (&str, [&str; 3]) = ("guard", ["wordlines", "share", "endurance"]);

impl Setting {
    /// Reads one setting, such as `gc.victim=fifo`.
    ///
    /// # Errors
    ///
    /// The text is no setting, its key is unknown, or its value is not of the key's kind; the place is in the setting.
    pub fn read(text: &str) -> Result<Setting, PlanError> {
        Gathered::allows(text)?;
        let (path, value) = text.split_once('=').map_or((text, ""), |(path, value)| (path.trim(), value.trim()));
        let within = |section: &str| path.strip_prefix(section).is_some_and(|rest| rest.starts_with('.'));
        let info = table().iter().filter(|info| within(info.path)).max_by_key(|info| info.path.len());
        let info = info.expect("a setting that can be read has a known section");
        let key = path[info.path.len() + 1..].split('.').next().unwrap_or_default().to_owned();
        let is_switch = (info.path.starts_with(TECHNIQUES) && key == ON) || (info.path, key.as_str()) == CELLS;
        let switch = is_switch.then_some(value == "true");
        Ok(Setting { text: text.to_owned(), section: info.path, key, is_of_chip: info.of_chip, switch })
    }

    /// The text of the setting.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// True if a chip has the key, and not only a drive.
    pub fn is_of_chip(&self) -> bool {
        self.is_of_chip
    }

    /// True if the setting is of the chip or of the state of its cells, and not of the firmware or of the host's side.
    pub fn is_of_cells(&self) -> bool {
        self.is_of_chip || self.section == CELLS.0
    }

    /// True if the drive of `plan` has the part that is set, once `all` settings hold: a technique that is on, physics of cells that act, or modes of guarded
    /// erases. A switch counts where it changes the state of its part.
    fn is_taken(&self, plan: &Plan, all: &[&Setting]) -> bool {
        let set = |section: &str| all.iter().rev().find(|other| other.section == section && other.switch.is_some())?.switch;
        let has_physics = plan.physics().is_some();
        let acts = plan.config().cells.is_some();
        let will_act = has_physics && set(CELLS.0).unwrap_or(acts);
        if self.section.starts_with(TECHNIQUES) {
            let is_on = plan.sections().techniques.on().any(|on| on.path == self.section);
            return match self.switch {
                Some(switch) => switch != is_on,
                None => set(self.section).unwrap_or(is_on),
            };
        }
        if self.section == GUARD.0 && GUARD.1.contains(&self.key.as_str()) {
            return plan.build().firmware.tables.guard.is_some_and(|guard| !guard.modes.is_empty());
        }
        match self.switch {
            Some(switch) => has_physics && switch != acts,
            None if BY_RATE.contains(&self.section) => !will_act,
            None if self.section == CELLS.0 || self.section.starts_with("physics.") => will_act,
            None => true,
        }
    }
}

/// The settings among `settings` that the drive of `plan` takes. A setting of a part that the drive does not have is left out: the parameter of a technique
/// that is off, or physics where times are fixed.
pub fn taken<'s>(plan: &Plan, settings: &[&'s Setting]) -> Vec<&'s Setting> {
    settings.iter().copied().filter(|setting| setting.is_taken(plan, settings)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Setting {
        Setting::read(text).unwrap_or_else(|error| panic!("{error}"))
    }

    fn taken_by(drive: &str, set: &[&str], texts: &[&str]) -> Vec<String> {
        let plan = Plan::load_set(drive, set).unwrap_or_else(|error| panic!("{error}"));
        let settings: Vec<Setting> = texts.iter().map(|text| read(text)).collect();
        let all: Vec<&Setting> = settings.iter().collect();
        taken(&plan, &all).iter().map(|setting| setting.text().to_owned()).collect()
    }

    #[test]
    fn a_setting_is_of_a_known_key_and_kind() {
        let told = |text: &str| Setting::read(text).expect_err(text).to_string();
        assert!(told("physics.wear.feild=0").contains("did you mean `field`?"), "{}", told("physics.wear.feild=0"));
        assert!(told("gc.victim=fifi").contains("did you mean"), "{}", told("gc.victim=fifi"));
        assert!(told("gc").contains("not a setting"));
        assert!(read("physics.wear.field=1.5").is_of_chip() && !read("gc.victim=fifo").is_of_chip());
        assert!(read("cells.cycles=3000").is_of_cells() && !read("gc.victim=fifo").is_of_cells());
    }

    #[test]
    fn a_drive_takes_what_it_has() {
        let parameter = ["techniques.idle-reclaim.after=1 s"];
        assert_eq!(taken_by("pageftl", &[], &parameter), [""; 0]);
        let on = ["techniques.idle-reclaim.on=true", "techniques.idle-reclaim.after=2 s", "techniques.idle-reclaim.until_free=8"];
        assert_eq!(taken_by("pageftl", &on, &parameter), parameter);
        let off = ["techniques.idle-reclaim.on=false", parameter[0]];
        assert_eq!(taken_by("pageftl", &on, &off), off[..1]);
        assert_eq!(taken_by("pageftl", &[], &off), [""; 0]);
        assert_eq!(taken_by("pageftl", &[], &["gc.victim=fifo"]), ["gc.victim=fifo"]);
        let modes = ["guard.endurance=[1, 1, 1, 1, 1, 1, 1, 1, 1]"];
        assert_eq!(taken_by("longftl-fixed", &[], &modes), modes);
        assert_eq!([taken_by("paper-longftl", &[], &modes), taken_by("bpm-2.1", &[], &modes)], [[""; 0]; 2], "no modes, or no table");
        let cells = ["cells.cycles=3000", "retries.share=10 %"];
        assert_eq!(taken_by("pageftl", &[], &cells), cells[..1]);
        assert_eq!(taken_by("pageftl", &["cells.physics=false"], &cells), cells[1..]);
    }
}
