//! One job: from its keys and those that are global to the keys of a workload file.

use std::fmt::Write;

use wordline_units::host::JOBS_MAX;

use super::does::Does;
use super::extent::Extent;
use super::given::{Given, fault, word};
use super::keys::{self, Class};
use super::lines::{Entry, Fault, Section};
use super::pace::{self, Engine};
use super::places::Places;
use super::sizes::{self, Sizes};
use super::{comment, plain, quoted, values};

/// A job as a workload file has it.
#[derive(Debug)]
pub(super) struct Job<'a> {
    section: &'a Section<'a>,
    name: String,
    count: u64,
    waits: Waits<'a>,
    /// `None`: it asks no drive for anything.
    load: Option<Load<'a>>,
}

/// The requests of a job.
#[derive(Debug)]
struct Load<'a> {
    extent: Extent<'a>,
    keys: Vec<(&'static str, String)>,
    note: Option<&'static str>,
}

/// Jobs that a job waits for before it starts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Waits<'a> {
    /// It starts with the first ones, or with the last that waited for all before it.
    No,
    /// All jobs before it.
    ForAll,
    /// The jobs whose name this entry has.
    For(&'a Entry<'a>),
}

impl<'a> Job<'a> {
    /// The job of `section` below these sections of global keys; `is_alone`: the file has no other.
    pub(super) fn read(section: &'a Section<'a>, globals: &'a [&'a Section<'a>], is_alone: bool) -> Result<Job<'a>, Fault> {
        let given = Given::new(section, globals)?;
        let name = given.take("name").map_or(section.name(), |entry| entry.value()).to_owned();
        let (count, waits) = (given.count("numjobs", 1, JOBS_MAX as u64)?, waits(&given)?);
        let engine = Engine::read(&given)?;
        if engine == Engine::Idle {
            return Ok(Job { section, name, count, waits, load: None });
        }
        classes(&given);
        exits(&given, is_alone && count == 1)?;
        strides(&given)?;
        let load = Some(Load::read(&given, engine, count)?);
        Ok(Job { section, name, count, waits, load })
    }

    /// True if it asks no drive for anything.
    pub(super) fn is_idle(&self) -> bool {
        self.load.is_none()
    }

    /// Its name, which others may have, too.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Number of jobs of this kind.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Jobs that it waits for before it starts.
    pub(super) fn waits(&self) -> Waits<'a> {
        self.waits
    }

    /// Its place on the drive; `None` where it is idle.
    pub(super) fn extent(&self) -> Option<&Extent<'a>> {
        self.load.as_ref().map(|load| &load.extent)
    }

    /// Writes it, if it is not idle, as a table `head` of this name, at these places, and what has no counterpart.
    pub(super) fn write(&self, text: &mut String, head: &str, name: &str, places: &[(&'static str, String)]) {
        let Some(load) = &self.load else { return };
        let count = (self.count > 1).then(|| ("count", self.count.to_string()));
        let keys = [("name", quoted(name))].into_iter().chain(count).chain(load.extent.ends()).chain(places.iter().cloned());
        // Writing into a String cannot fail.
        let _ = writeln!(text, "[[{head}]]");
        for (key, value) in keys.chain(load.keys.iter().cloned()) {
            let _ = writeln!(text, "{key} = {value}");
        }
        for entry in self.section.entries().iter().filter(|entry| entry.is_told()) {
            comment(text, "", entry);
        }
        if let Some(note) = load.note {
            let _ = writeln!(text, "# {}", plain(note));
        }
        text.push('\n');
    }
}

impl<'a> Load<'a> {
    /// The requests of a job with so many clones.
    fn read(given: &Given<'a>, engine: Engine, count: u64) -> Result<Load<'a>, Fault> {
        let does = Does::read(given)?;
        let extent = Extent::read(given, count)?;
        let sizes = Sizes::read(given, does)?;
        let align = sizes::align(given, does)?;
        let mut keys = vec![("mix", does.mix())];
        if is_durable(given, does)? {
            keys.push(("fua", "\"100 %\"".to_owned()));
        }
        keys.extend(flushes(given, does)?);
        keys.push(("size", sizes.written()));
        keys.extend(align.map(|align| ("align", quoted(&values::size(align)))));
        let places = Places::read(given, does, &sizes, align)?;
        keys.push(("address", places.written));
        keys.push(("arrival", pace::arrival(given, engine, does, &sizes)?));
        keys.extend(priority(given)?.map(|class| ("priority", quoted(class))));
        checks(given, does)?;
        Ok(Load { extent, keys, note: places.note })
    }
}

/// Refuses jobs that end with the first of them, unless there is one.
fn exits(given: &Given<'_>, is_alone: bool) -> Result<(), Fault> {
    let Some(entry) = given.find("exitall") else { return Ok(()) };
    if !given.is_set("exitall")? {
        entry.explain("of no effect with this value");
    } else if is_alone {
        entry.explain("of no effect: there is no other job");
    } else {
        entry.refuse("jobs that end with the first of them have no counterpart");
    }
    Ok(())
}

/// Says of each key that has no counterpart whether requests are others because of it.
fn classes(given: &Given<'_>) {
    for entry in given.each() {
        match keys::class(entry.key()) {
            Some(Class::Used) => {}
            Some(Class::Harmless(why)) => entry.explain(format!("no counterpart: {why}")),
            Some(Class::Changes { unless, .. }) if is_one_of(entry, unless) => entry.explain("of no effect with this value"),
            Some(Class::Changes { why, .. }) => entry.refuse(why),
            None => entry.refuse("nobody here has heard of this key, so that requests may be others because of it"),
        }
    }
}

/// True if an entry has one of these values. Zero is that with any unit, and for each of several kinds of request.
fn is_one_of(entry: &Entry<'_>, values: &[&str]) -> bool {
    let value = entry.value().trim().to_ascii_lowercase();
    let zero = |part: &str| {
        let digits = part.trim_end_matches(|letter: char| letter.is_ascii_alphabetic() || letter == '%');
        !digits.is_empty() && digits.chars().all(|digit| digit == '0')
    };
    values.contains(&value.as_str()) || values.contains(&"0") && value.split(',').all(|part| zero(part.trim()))
}

/// True if each write is durable before it is acknowledged.
fn is_durable(given: &Given<'_>, does: Does) -> Result<bool, Fault> {
    let Some(entry) = given.find("sync") else { return Ok(false) };
    let is_set = !matches!(word(entry, entry.value(), ["", "none", "0", "sync", "1", "dsync"].into_iter())?, "none" | "0");
    if is_set && !does.writes() {
        entry.explain("of no effect: it writes nothing");
        return Ok(false);
    }
    entry.take();
    Ok(is_set)
}

/// After how many writes a flush follows.
fn flushes(given: &Given<'_>, does: Does) -> Result<Option<(&'static str, String)>, Fault> {
    let mut every = None;
    for key in ["fsync", "fdatasync"] {
        let Some(entry) = given.take(key) else { continue };
        let writes = values::number(entry.value(), given.is_si()).map_err(|message| fault(entry, message))?;
        if writes > 0 && !does.writes() {
            entry.explain("of no effect: it writes nothing");
        } else if writes > 0 && every.is_some() {
            entry.explain("of no effect: fsync is set, too");
        } else if writes > 0 {
            every = Some(("flush_every", writes.to_string()));
        }
    }
    Ok(every)
}

/// Refuses reads that check what was written.
fn checks(given: &Given<'_>, does: Does) -> Result<(), Fault> {
    let is_done = given.find("do_verify").is_none() || given.is_set("do_verify")?;
    let Some(entry) = given.find("verify") else { return Ok(()) };
    if is_one_of(entry, &["0", "none"]) {
        entry.explain("of no effect with this value");
    } else if is_done && does.writes() {
        entry.refuse("reads that check what a job wrote have no counterpart; put a job of reads behind it with `stonewall`");
    } else {
        entry.explain("no counterpart: the content of data makes no difference to the drive");
    }
    Ok(())
}

/// Refuses zones in which a job goes on for a while before it leaves a gap, or whose rules the drive has.
fn strides(given: &Given<'_>) -> Result<(), Fault> {
    let mode = given.find("zonemode");
    let is_off = mode.is_some_and(|entry| is_one_of(entry, &["none"]));
    for key in ["zonemode", "zonesize", "zonerange", "zoneskip"] {
        let Some(entry) = given.find(key) else { continue };
        let is_zero = key != "zonemode" && is_one_of(entry, &["0"]);
        if is_off || is_zero {
            entry.explain("of no effect without a zonemode");
        } else if mode.is_some_and(|entry| entry.value().trim().eq_ignore_ascii_case("zbd")) {
            entry.refuse("zones that are written in order and reset have no counterpart: the drive has none");
        } else {
            entry.refuse("requests that leave gaps between zones have no counterpart");
        }
    }
    Ok(())
}

/// Jobs that it waits for before it starts.
fn waits<'a>(given: &Given<'a>) -> Result<Waits<'a>, Fault> {
    if given.is_set("stonewall")? {
        given.take("wait_for");
        return Ok(Waits::ForAll);
    }
    Ok(given.take("wait_for").map_or(Waits::No, Waits::For))
}

/// The class of its requests, where that is not the usual one.
fn priority(given: &Given<'_>) -> Result<Option<&'static str>, Fault> {
    let number = |entry: &Entry<'_>, most: u64| {
        let value = values::number(entry.value(), false).ok().filter(|value| *value <= most);
        value.ok_or_else(|| fault(entry, format!("'{}' is not from 0 to {most}", entry.value())))
    };
    let class = match given.take("prioclass") {
        Some(entry) => number(entry, 3)?,
        None => 0,
    };
    let prio = given.find("prio");
    let level = prio.map(|entry| number(entry, 7)).transpose()?;
    match (class, prio) {
        (1 | 3, Some(entry)) => entry.explain("prioclass alone says which of four classes it is"),
        (_, Some(entry)) => entry.take(),
        (_, None) => {}
    }
    Ok(match (class, level) {
        (1, _) => Some("urgent"),
        (3, _) => Some("low"),
        (_, Some(0..=3)) => Some("high"),
        (_, Some(5..)) => Some("low"),
        (_, Some(4) | None) => None,
    })
}
