//! What a plan may say, and what its results are then worth: cells that nobody has calibrated so far, an energy of nothing, several sanitisers of which one
//! acts, an ability of the die that the techniques leave unused.

use wordline_cells::Physics;
use wordline_drive::Config;
use wordline_flash::Sheet;
use wordline_ftl::techniques::declaration::Site;
use wordline_ftl::techniques::empty::EmptyCore;
use wordline_ftl::techniques::hooks::Hook;
use wordline_ftl::techniques::seam::{Card, SanitiseMethod, StaleSecrets};
use wordline_ftl::{BlockGroup, Layout};
use wordline_units::{Nanos, calendar};

use crate::keys::filled;

/// What cells were calibrated to, as their chip file says; `None` where it says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calibrated {
    /// Program/erase cycles.
    pub cycles: Option<u32>,
    /// Time kept, in seconds.
    pub retention: Option<u64>,
    /// Reads of a block.
    pub reads: Option<u64>,
}

impl Calibrated {
    pub(crate) fn of(keys: &filled::Calibrated) -> Calibrated {
        Calibrated { cycles: keys.cycles.value.0, retention: keys.retention.value.0.map(|span| span.0), reads: keys.reads.value.0 }
    }

    /// What is to be said of `cycles`, of `seconds` of keeping and of `reads`, where they are beyond what the cells were calibrated to. `of` says whose they
    /// are.
    pub fn beyond(&self, of: &str, cycles: f64, seconds: f64, reads: f64) -> Vec<String> {
        let mut notes = Vec::new();
        let mut tell = |what: &str, value: String, most: String| {
            notes.push(format!(
                "{of} {what} {value}, and the cells were calibrated to {most}: what the model says beyond that is an extrapolation, and no chip has been measured there"
            ));
        };
        if let Some(most) = self.cycles.filter(|most| cycles > f64::from(*most)) {
            tell("cycles of", cycles.to_string(), format!("{most} cycles"));
        }
        if let Some(most) = self.retention.filter(|most| seconds > *most as f64) {
            let years = |seconds: f64| format!("{:.1} years", seconds / calendar::YEAR as f64);
            tell("retention of", years(seconds), years(most as f64));
        }
        if let Some(most) = self.reads.filter(|most| reads > *most as f64) {
            tell("reads of", reads.to_string(), format!("{most} reads of a block"));
        }
        notes
    }
}

/// What is to be said of the energies of `physics`.
pub fn energies(physics: &Physics) -> Vec<String> {
    let energies = [("retention.energy", physics.retention.energy, "keeping"), ("recovery.energy", physics.recovery.energy, "rest")];
    let none = energies.iter().filter(|(_, energy, _)| *energy == 0.0);
    none.map(|(key, _, what)| format!("physics.{key} is 0 eV: the temperature of {what} makes no difference")).collect()
}

/// What is to be said of erases that stop at once and go on sooner than their cells ramp down and up again.
fn ramps(physics: &Physics, sheet: &Sheet) -> Option<String> {
    let (halt, resume, needed) = (sheet.timing.halt_erase, sheet.timing.resume, physics.ispe.suspend_time);
    let is_short = sheet.capabilities.stop_now_erase && ((halt + resume).0 as f64) < needed * 1e3;
    is_short.then(|| {
        format!(
            "an erase that is stopped at once loses timing.t_halt_erase and t_resume, {} together, and physics.ispe.suspend_time says that its cells need {needed} us \
             to ramp down and up again",
            halt + resume
        )
    })
}

/// The notes of a drive's plan.
pub(crate) fn notes(sections: &filled::Sections, config: &Config) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(physics) = config.cells.as_ref().map(|cells| &cells.physics) {
        let cells = &sections.cells;
        let calibrated = Calibrated::of(&sections.calibrated);
        notes.extend(calibrated.beyond(
            "it has",
            f64::from(cells.cycles.value.of(cells.lifetime.value)),
            cells.retention.value.0 as f64,
            0.0,
        ));
        notes.extend(energies(physics));
        notes.extend(ramps(physics, &config.sheet));
    }
    if sections.run.steady.value {
        notes.push("in a run its data lies as endless random overwrites leave it before the first request (run.steady)".to_owned());
    }
    notes.extend(sanitisers(config));
    notes.extend(cache_programs(config));
    notes.extend(config.firmware.doubts());
    notes.extend(crowded(config));
    notes
}

/// Dies that could take in data while they program, and do not because of the techniques that are on.
fn cache_programs(config: &Config) -> Option<String> {
    let bars: Vec<&str> = config.firmware.bars_loading_ahead().collect();
    (config.sheet.capabilities.cache_program && !bars.is_empty()).then(|| {
        format!(
            "capabilities.cache_program is true and not used: {} must be able to stop or to sanitise after one program, and a die that takes in data has two",
            bars.join(" and ")
        )
    })
}

/// What a sanitiser does of itself.
struct Sanitiser {
    card: &'static Card,
    /// In a block of which something is needed.
    usual: SanitiseMethod,
    /// In a block of which nothing is needed.
    whole: SanitiseMethod,
}

/// Erases that are to leave more of the flash without data than is spare.
fn crowded(config: &Config) -> Option<String> {
    let (idle, spare) = (config.firmware.idle_share(), wordline_ftl::spare_share(&config.firmware));
    let [told, left] = [idle, spare].map(|share| 100.0 * share.max(0.0));
    (idle > spare && idle > 0.0)
        .then(|| format!("techniques want up to {told:.1} % of the flash without data, and {left:.1} % is spare: some erases will leave all of it to data"))
}

/// The sanitisers that are on, in the rising order of what their remedies take along, as they say themselves when they are asked.
fn asked(config: &Config) -> Vec<Sanitiser> {
    // A few blocks tell as much as all of them.
    let layout = Layout::new(&config.sheet, 1, 4, config.firmware.unit);
    let core = EmptyCore::new(layout);
    let ctx = core.ctx(Nanos::ZERO);
    let pages = layout.programs * layout.pages_per_program * layout.planes;
    let mut found = Vec::new();
    for choice in config.firmware.techniques.iter().filter(|choice| choice.card().hooks.has(Hook::Sanitise)) {
        let technique = choice.build(&Site {
            margins: config.firmware.margins.as_deref(),
            tables: &config.firmware.tables,
            ..Site::bare(&layout, &config.sheet)
        });
        let needed = StaleSecrets { group: BlockGroup(0), pages: 1, valid: 1, is_full: false, has_failed: false };
        let needless = StaleSecrets { pages, valid: 0, is_full: true, ..needed };
        if let (Some(usual), Some(whole)) = (technique.sanitise(&ctx, &needed), technique.sanitise(&ctx, &needless)) {
            found.push(Sanitiser { card: choice.card(), usual, whole });
        }
    }
    found.sort_by_key(|sanitiser| sanitiser.usual);
    found
}

/// Which of several sanitisers acts. The firmware asks all of them each time, and takes the most thorough remedy.
fn sanitisers(config: &Config) -> Option<String> {
    let on = asked(config);
    let [others @ .., acts] = on.as_slice() else { return None };
    if others.is_empty() {
        return None;
    }
    let names: Vec<&str> = others.iter().map(|other| other.card.name).collect();
    let mut told = format!(
        "{} sanitisers are on, and of their remedies the most thorough one is taken: {} acts, {}",
        on.len(),
        acts.card.name,
        names.join(" and ")
    );
    told.push_str(if others.len() == 1 { " does not" } else { " do not" });
    for other in others.iter().filter(|other| other.whole > acts.whole.max(acts.usual)) {
        told.push_str(&format!(", but that {} {} where nothing in them is needed", other.card.name, done(other.whole)));
    }
    if on.iter().any(|sanitiser| sanitiser.card.hooks.has(Hook::KeyStore)) {
        told.push_str("; keys are kept and written all the same");
    }
    Some(told)
}

fn done(method: SanitiseMethod) -> &'static str {
    match method {
        SanitiseMethod::DropKeys => "destroys the keys of blocks",
        SanitiseMethod::LockPages => "locks the pages of blocks",
        SanitiseMethod::Reprogram => "reprograms the pages of blocks",
        SanitiseMethod::LockBlock => "locks whole blocks",
        SanitiseMethod::Scrub => "scrubs the wordlines of blocks",
        SanitiseMethod::Erase => "erases blocks",
    }
}

#[cfg(test)]
mod tests {
    use crate::{Calibrated, Chip, Plan, energies};

    fn notes(settings: &[&str]) -> String {
        Plan::load_set("pageftl", settings).expect("it can be made").notes().join("; ")
    }

    #[test]
    fn cells_beyond_what_they_were_calibrated_to_are_told() {
        assert_eq!(notes(&[]), "");
        assert_eq!(notes(&["cells.cycles=20000", "cells.retention=3y"]), "");
        let told = notes(&["cells.cycles=4294967295", "cells.retention=9y"]);
        assert!(
            told.contains("cycles of 4294967295, and the cells were calibrated to 20000 cycles") && told.contains("9.0 years"),
            "{told}"
        );
        assert!(told.contains("calibrated to 3.0 years") && !told.contains("energy"), "{told}");
        // Cells of fixed times have no physics that could be wrong.
        assert_eq!(notes(&["cells.physics=false", "cells.cycles=4294967295"]), "");
        let chip = Chip::load("tlc48").expect("a preset");
        assert_eq!(
            chip.calibrated(),
            Calibrated { cycles: Some(20_000), retention: Some(3 * wordline_units::calendar::YEAR), reads: Some(1_000_000) }
        );
        assert_eq!(chip.calibrated().beyond("there are", 1e4, 0.0, 1e6), Vec::<String>::new());
        assert!(chip.calibrated().beyond("there are", 0.0, 0.0, 1e12)[0].starts_with("there are reads of 1000000000000, and the cells"));
    }

    #[test]
    fn copies_of_data_that_is_older_than_its_table_is_made_for_are_told() {
        let of = |days: u32| {
            let setting = format!("techniques.restricted-copyback.days_max={days}");
            Plan::load_set("rcftl-minus", &[&setting]).expect("it can be made").notes().join("; ")
        };
        assert!(
            !of(1).contains("days_max") && of(2).contains("restricted-copyback: days_max is 2, and thresholds are of copies on the day"),
            "{}",
            of(2)
        );
    }

    #[test]
    fn sets_that_take_more_than_is_spare_are_told() {
        let of = |spare: &str| {
            let settings = ["techniques.guarded-erase.target=fixed", "techniques.guarded-erase.mode=9", spare];
            Plan::load_set("longftl", &settings).expect("it can be made").notes().join("; ")
        };
        let [whole, less] = [of("mapping.over_provisioning=10 %"), of("mapping.over_provisioning=5 %")];
        assert!(!whole.contains("without data") && less.contains("want up to 9.4 % of the flash without data"), "{less}");
    }

    #[test]
    fn cache_programs_that_a_technique_rules_out_are_told() {
        assert_eq!(notes(&["capabilities.cache_program=true"]), "");
        let with = |name: &str, able: bool| {
            let able = format!("capabilities.cache_program={able}");
            Plan::load_set(name, &[able]).expect("it can be made").notes().join("; ")
        };
        assert!(with("irftl", true).contains("not used: read-preemption must"), "{}", with("irftl", true));
        assert_eq!(with("irftl", false), with("psr-baseline", false), "a drive without the ability is told nothing more than its baseline");
        assert_eq!(with("cubeftl", true), "", "settings wait for the program before");
    }

    #[test]
    fn an_energy_of_nothing_is_told() {
        let told = notes(&["physics.retention.energy=0 eV"]);
        assert!(
            notes(&["physics.retention.energy=0 eV", "cells.cycles=30000"]).contains("calibrated to 20000 cycles"),
            "a setting of physics leaves the range"
        );
        assert!(told.contains("physics.retention.energy is 0 eV: the temperature of keeping makes no difference"), "{told}");
        assert!(energies(Chip::load("tlc48").expect("a preset").physics()).is_empty());
    }

    #[test]
    fn erases_that_stop_and_go_on_sooner_than_their_cells_can_are_told() {
        let with = |halt: &str| {
            let halt = format!("timing.t_halt_erase={halt}");
            let able = ["capabilities.suspend_erase=true", "capabilities.stop_now_erase=true", "timing.t_step_erase=117us"];
            notes(&[&able[..], &["timing.t_suspend_erase=117us", "timing.t_resume=5us", &halt]].concat())
        };
        assert_eq!(with("35us"), "");
        let told = with("10us");
        assert!(told.contains("15 us together") && told.contains("need 40 us"), "{told}");
    }

    #[test]
    fn what_cells_were_calibrated_to_makes_no_other_drive() {
        let [one, other] =
            ["1000", "20000"].map(|most| Plan::load_set("pageftl", &[format!("calibrated.cycles={most}")]).expect("it can be made"));
        assert_eq!(one.media_number(), other.media_number());
        assert_eq!(one.media_number(), Plan::load("pageftl").expect("a preset").media_number());
    }

    #[test]
    fn of_several_sanitisers_the_one_that_acts_is_told() {
        let on = |names: &[&str]| {
            let settings: Vec<String> = names.iter().map(|name| format!("techniques.{name}.on=true")).collect();
            let plan = Plan::load_set(
                "erssd",
                &[&settings[..], &["timing.t_lock_page=100us".to_owned(), "timing.t_lock_block=300us".to_owned()]].concat(),
            );
            plan.expect("it can be made").notes().join("; ")
        };
        assert_eq!(on(&[]), "");
        let told = on(&["page-lock", "wordline-scrub"]);
        assert!(
            told.starts_with("3 sanitisers are on") && told.contains("erase-at-once acts, page-lock and wordline-scrub do not"),
            "{told}"
        );
    }

    #[test]
    fn a_sanitiser_that_goes_further_where_nothing_is_needed_is_told() {
        let settings = ["techniques.reprogram-page.on=true", "timing.t_reprogram=100us"];
        let with = |more: &[&str]| Plan::load_set("secssd", &[&settings, more].concat()).expect("it can be made").notes().join("; ");
        let locks = ", but that page-lock locks whole blocks where nothing in them is needed";
        assert!(with(&[]).contains("reprogram-page acts, page-lock does not") && with(&[]).contains(locks), "{}", with(&[]));
        assert!(!with(&["techniques.page-lock.block_lock=false"]).contains("but that"));
        assert!(!with(&["techniques.wordline-scrub.on=true"]).contains("but that"), "a scrub goes further still");
        let keys = ["techniques.crypto-erase.on=true", "techniques.crypto-erase.leaves=64", "techniques.crypto-erase.register=1us"];
        assert!(
            with(&keys).contains("crypto-erase and page-lock do not") && with(&keys).ends_with("; keys are kept and written all the same")
        );
    }

    #[test]
    fn a_drive_of_ones_own_is_as_full_as_presets_are() {
        let own = Plan::parse("own", &Plan::load("pageftl").expect("a preset").describe().replace("fill ", "#fill ")).expect("it is whole");
        assert_eq!(own.initial_fill(), 1.0);
    }
}
