//! The table of hashes: what every drive that comes with Wordline, and every small drive of the interaction tables, does under short loads, as the hash of its
//! event log.
//!
//! A change of structure leaves every row as it is. A change of behaviour changes rows, and its commit lists them with the reason. The table says *that*
//! something has changed and for whom, not whether it is right: for that there are the other oracles.

use wordline_drive::{Config, Pace, Watched};
use wordline_ftl::techniques::Choice;
use wordline_plan::{Plan, presets};
use wordline_units::random::{Draw, Stream};
use wordline_units::{Bytes, HostOp, HostRequest};
use wordline_workload::{FileLoad, FileOptions, FileSpec};

use crate::bench::{self, overwrites};
use crate::bystander::Bystander;
use crate::interactions::{ALL, SMALL, Small, bursts, config, hint};

/// Requests of one run on a drive that comes with Wordline.
const REQUESTS: usize = 1_500;

/// Requests of one run on a small drive, after overwrites of as many.
const ON_SMALL: usize = 6_000;

/// How many requests are outstanding.
const DEPTH: u32 = 16;

/// The file workload: it appends, reads, deletes, trims and flushes.
const FILES: &str = "varmail";

/// The file system takes so much of a drive at most: the generator remembers each file.
const FILES_BYTES: u64 = 4 << 30;

/// The loads that every drive is put under.
const LOADS: [&str; 4] = ["writes", "mixed", "trims", "files"];

/// Whether the drive can come back from a power cut.
const RECOVERY: [(&str, &str); 2] = [("off", "recovery.on=false"), ("on", "recovery.on=true")];

/// The table: a line for each drive that comes with Wordline, load and recovery off and on, and for each small drive of the interaction tables.
pub fn table() -> String {
    let mut text = String::new();
    rows(|row| {
        text.push_str(row);
        text.push('\n');
    });
    text
}

/// The lines of the table, one by one as they are found.
pub fn rows(mut tell: impl FnMut(&str)) {
    for preset in presets() {
        for (label, key) in RECOVERY {
            match Plan::load_set(preset.name, &[key]) {
                Ok(plan) => {
                    for load in LOADS {
                        tell(&format!("{} {load} recovery={label} {:016x}", preset.name, of_preset(plan.build(), load)));
                    }
                }
                Err(_) => tell(&format!("{} * recovery={label} refused", preset.name)),
            }
        }
    }
    for Small { name, techniques, build } in SMALL {
        let mut row = |set: &str, chosen: &[Choice]| tell(&format!("interactions/{name} {set} {:016x}", of_small(build(chosen), false)));
        row("none", &[]);
        techniques.iter().for_each(|choice| row(choice.card().name, &[*choice]));
        row("all", techniques);
    }
    // What shows that nobody is silenced by somebody who asks for the same thing sooner: the row of idle reclaim again.
    let idle: Vec<Choice> = ALL.into_iter().filter(|choice| matches!(choice, Choice::IdleReclaim(_))).collect();
    tell(&format!("interactions/plain idle-reclaim+bystander {:016x}", of_small(config(&idle), true)));
}

/// Rows of `expected` and `found` that differ, a line each; empty where the tables are the same.
pub fn differences(expected: &str, found: &str) -> Vec<String> {
    fn key(line: &str) -> &str {
        line.rsplit_once(' ').map_or(line, |(key, _)| key)
    }
    let of = |table: &str, wanted: &str| table.lines().find(|line| key(line) == wanted).map(str::to_owned);
    let mut keys: Vec<&str> = expected.lines().chain(found.lines()).map(key).collect();
    keys.sort_unstable();
    keys.dedup();
    let told = |line: Option<String>| line.map_or("no row".to_owned(), |line| line.rsplit(' ').next().unwrap_or_default().to_owned());
    keys.into_iter()
        .map(|key| (key, of(expected, key), of(found, key)))
        .filter(|(_, expected, found)| expected != found)
        .map(|(key, expected, found)| format!("{key}: {} became {}", told(expected), told(found)))
        .collect()
}

fn of_preset(config: Config, load: &str) -> u64 {
    let unit = config.firmware.unit.0;
    let unit_sectors = (unit / wordline_units::host::SECTOR_BYTES) as u32;
    let (span, exported, seed) = (config.exported_units, config.exported(), config.seed);
    let age = config.cells.as_ref().and_then(|cells| cells.age);
    let mut drive = Watched::new(config, ());
    let filled = if load == "files" { files(seed, exported).1 / unit } else { span };
    drive.construct_filled(filled);
    age.iter().for_each(|age| drive.set_age(age));
    let mut requests: Box<dyn Iterator<Item = HostRequest>> = match load {
        "writes" => Box::new(overwrites(seed, span, unit_sectors)),
        "mixed" => Box::new(drawn(seed, span, unit_sectors, 0.7, HostOp::Read)),
        "trims" => Box::new(drawn(seed, span, unit_sectors, 0.4, HostOp::Trim)),
        _ => files(seed, exported).0,
    };
    drive.serve(&mut requests.by_ref().take(REQUESTS), Pace::Closed { depth: DEPTH }, None);
    drive.settle();
    drive.log().hash()
}

/// Requests of the file workload, and how many bytes it wants to find.
fn files(seed: u64, exported: Bytes) -> (Box<dyn Iterator<Item = HostRequest>>, u64) {
    let spec = FileSpec::built_in(FILES).expect("it comes with Wordline").expect("it is checked");
    let load =
        FileLoad::new(&spec, seed, Bytes(exported.0.min(FILES_BYTES)), FileOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let filled = load.prefilled().0;
    (Box::new(load), filled)
}

/// Writes, and a share of `other`, everywhere.
fn drawn(seed: u64, span: u64, unit_sectors: u32, share: f64, other: HostOp) -> impl Iterator<Item = HostRequest> {
    let mut draw = Draw::new(seed, Stream::Mix, 0);
    std::iter::from_fn(move || {
        let op = if draw.happens(share) { other } else { HostOp::Write };
        Some(bench::request(op, draw.below(span), 1, unit_sectors))
    })
}

/// The hash of a small drive; `is_watched`: beside a bystander.
fn of_small(config: Config, is_watched: bool) -> u64 {
    let (span, seed, hint) = (config.exported_units, config.seed, hint(&config));
    let age = config.cells.as_ref().and_then(|cells| cells.age);
    let mut drive = Watched::new(config, ());
    if is_watched {
        drive.join(|| Box::new(Bystander::default()));
    }
    drive.construct_filled(span);
    age.iter().for_each(|age| drive.set_age(age));
    let before = crate::interactions::overwrites(seed, span).take(ON_SMALL);
    drive.serve(&mut hint.into_iter().chain(before), Pace::Closed { depth: DEPTH }, None);
    drive.settle();
    let origin = drive.now();
    drive.serve(&mut bursts(seed, span).take(ON_SMALL), Pace::Open { origin }, None);
    drive.settle();
    drive.log().hash()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_changed_is_missing_or_is_new_is_told() {
        let expected = "a writes 1\nb writes 2\nc writes 3\n";
        assert!(differences(expected, expected).is_empty());
        let found = "a writes 1\nb writes 9\nd writes 4\n";
        assert_eq!(differences(expected, found), ["b writes: 2 became 9", "c writes: 3 became no row", "d writes: no row became 4"]);
    }
}
