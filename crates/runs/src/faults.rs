//! Schedules of faults: parts of dies that fail for good at instants of a run.
//!
//! ```text
//! [[fault]]
//! at = "2 s"            from the beginning of the load, in virtual time
//! die = 17              counted over the drive
//! plane = 0             of the die alone, or
//! blocks = "4..7"       the last one included; in every plane without one
//! kind = "failing"      or "silent", of a whole die: it does not answer either
//! ```

use std::fmt;
use std::ops::Range;

use toml::de::{DeTable, DeValue};
use wordline_drive::DieFault;
use wordline_drive::Watched;
use wordline_engine::Observer;
use wordline_plan::nearest;
use wordline_units::{BlockId, DieId, Geometry, Nanos, PlaneId};
use wordline_workload::spec::read_time;

/// Keys of a fault.
const KEYS: [&str; 5] = ["at", "die", "plane", "blocks", "kind"];
/// Kinds of failure.
const KINDS: [&str; 2] = ["failing", "silent"];
/// The most faults of a schedule.
const MOST: usize = 4_096;

/// Error in a schedule, with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct FaultsError {
    /// File, line and column, from 1; or the option as it was given.
    pub place: String,
    /// The error, and the value that was expected.
    pub what: String,
}

/// A part of a die that fails at an instant of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    at: Nanos,
    die: u32,
    part: Part,
    /// Where it was asked for, for messages.
    place: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Die { silent: bool },
    Plane(u32),
    Blocks { plane: Option<u32>, first: u32, last: u32 },
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Entry { at, die, .. } = self;
        match self.part {
            Part::Die { silent: false } => write!(f, "die {die} fails at {at}"),
            Part::Die { silent: true } => write!(f, "die {die} fails and falls silent at {at}"),
            Part::Plane(plane) => write!(f, "plane {plane} of die {die} fails at {at}"),
            Part::Blocks { plane: Some(plane), first, last } => {
                write!(f, "blocks {first}..{last} of plane {plane} of die {die} fail at {at}")
            }
            Part::Blocks { plane: None, first, last } => write!(f, "blocks {first}..{last} of all planes of die {die} fail at {at}"),
        }
    }
}

/// Faults that are to happen in a run, in the order in which they were asked for. By default there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    entries: Vec<Entry>,
}

impl Schedule {
    /// Reads a schedule from the text of `file`.
    ///
    /// # Errors
    /// The text is no TOML, a key is unknown, missing or does not go with another, or a value is wrong; with its place.
    pub fn parse(text: &str, file: &str) -> Result<Schedule, FaultsError> {
        let reader = Reader { text, file };
        let table = DeTable::parse(text).map_err(|error| {
            let what = format!("not TOML: {}", error.message().replace('\n', ", "));
            reader.at(&error.span().unwrap_or_default(), what)
        })?;
        let mut entries = Vec::new();
        for (key, value) in table.get_ref() {
            let name: &str = key.get_ref();
            if name != "fault" {
                return Err(reader.unknown(name, &key.span(), &["fault"], "the file"));
            }
            let DeValue::Array(faults) = value.get_ref() else {
                return Err(reader.at(&key.span(), "`fault` is no list: expected [[fault]] with at and die below it"));
            };
            for fault in faults {
                let DeValue::Table(keys) = fault.get_ref() else {
                    return Err(reader.at(&fault.span(), "this is no fault: expected [[fault]] with at and die below it"));
                };
                entries.push(reader.fault(keys, &fault.span())?);
            }
        }
        if entries.is_empty() {
            return Err(reader.at(&(0..0), "no fault: expected [[fault]] with at and die below it"));
        }
        if entries.len() > MOST {
            return Err(reader.at(&(0..0), format!("{} faults: expected {MOST} at most", entries.len())));
        }
        Ok(Schedule { entries })
    }

    /// Adds the failure of a die that `text`, such as `17@2s`, stands for.
    ///
    /// # Errors
    /// The text is no number of a die, an `@` and a time.
    pub fn kill_die(&mut self, text: &str) -> Result<(), FaultsError> {
        let place = format!("--kill-die {text}");
        let wrong = |what: String| FaultsError { place: place.clone(), what };
        let expected = "expected the number of a die and an instant, such as 17@2s";
        let (die, at) = text.split_once('@').ok_or_else(|| wrong(format!("there is no `@`: {expected}")))?;
        let die = die.trim().parse().map_err(|_| wrong(format!("'{die}' is no number of a die: {expected}")))?;
        let at = read_time(at.trim()).map_err(|what| wrong(format!("{what}; {expected}")))?;
        self.entries.push(Entry { at, die, part: Part::Die { silent: false }, place });
        Ok(())
    }

    /// Adds the faults of `others` behind its own.
    pub fn append(&mut self, others: Schedule) {
        self.entries.extend(others.entries);
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Refuses faults of what a drive of this `geometry` does not have.
    ///
    /// # Errors
    /// The first of them.
    pub fn check(&self, geometry: &Geometry) -> Result<(), FaultsError> {
        for Entry { die, part, place, .. } in &self.entries {
            let within = |what: &str, number: u32, count: u32, of: &str| {
                let error = || FaultsError { place: place.clone(), what: format!("{what} {number}: {of} has {count}, counted from 0") };
                if number < count { Ok(()) } else { Err(error()) }
            };
            within("die", *die, geometry.dies(), "the drive")?;
            match *part {
                Part::Die { .. } => {}
                Part::Plane(plane) => within("plane", plane, geometry.planes, "a die")?,
                Part::Blocks { plane, last, .. } => {
                    within("plane", plane.unwrap_or(0), geometry.planes, "a die")?;
                    within("block", last, geometry.blocks, "a plane")?;
                }
            }
        }
        Ok(())
    }

    /// The faults in words, one by one.
    pub fn told(&self) -> Vec<String> {
        self.entries.iter().map(Entry::to_string).collect()
    }

    /// Orders them of `drive`, which has all these parts, from now on.
    pub(crate) fn order<O: Observer>(&self, drive: &mut Watched<O>) {
        let (from, planes) = (drive.now(), drive.config().sheet.geometry.planes);
        for &Entry { at, die, part, .. } in &self.entries {
            let mut schedule = |fault| drive.schedule(Nanos(from.0.saturating_add(at.0)), DieId(die as u16), fault);
            match part {
                Part::Die { silent } => schedule(DieFault::Die { silent }),
                Part::Plane(plane) => schedule(DieFault::Plane(PlaneId(plane as u8))),
                Part::Blocks { plane, first, last } => {
                    for plane in plane.map_or(0..planes, |plane| plane..plane + 1) {
                        schedule(DieFault::Blocks { plane: PlaneId(plane as u8), first: BlockId(first), last: BlockId(last) });
                    }
                }
            }
        }
    }
}

/// A text that is read, for messages.
struct Reader<'a> {
    text: &'a str,
    file: &'a str,
}

impl Reader<'_> {
    fn place(&self, span: &Range<usize>) -> String {
        let mut start = span.start.min(self.text.len());
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        let before = &self.text[..start];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&letter| letter != '\n').count() + 1;
        format!("{}:{line}:{column}", self.file)
    }

    fn at(&self, span: &Range<usize>, what: impl Into<String>) -> FaultsError {
        FaultsError { place: self.place(span), what: what.into() }
    }

    fn unknown(&self, name: &str, span: &Range<usize>, known: &[&str], of: &str) -> FaultsError {
        // A word of any length may stand there.
        let shown: String = name.chars().take(40).collect();
        let meant = nearest(name, known.iter().copied()).map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        self.at(span, format!("unknown key `{shown}` in {of}: {meant}expected {}", known.join(", ")))
    }

    fn fault(&self, keys: &DeTable<'_>, span: &Range<usize>) -> Result<Entry, FaultsError> {
        if let Some((key, _)) = keys.iter().find(|(key, _)| !KEYS.contains(&key.get_ref().as_ref())) {
            return Err(self.unknown(key.get_ref(), &key.span(), &KEYS, "[[fault]]"));
        }
        let value = |name: &str| keys.iter().find(|(key, _)| key.get_ref() == name).map(|(_, value)| (value.get_ref(), value.span()));
        let needed = |name: &str, example: &str| {
            value(name).ok_or_else(|| self.at(span, format!("`{name}` is missing: expected {name} = {example}")))
        };
        let at = self.time(needed("at", "\"2 s\"")?)?;
        let die = self.number("die", needed("die", "17")?)?;
        let plane = value("plane").map(|plane| self.number("plane", plane)).transpose()?;
        let blocks = value("blocks").map(|blocks| self.blocks(blocks)).transpose()?;
        let silent = value("kind").map_or(Ok(false), |kind| self.is_silent(kind))?;
        if silent && (plane.is_some() || blocks.is_some()) {
            return Err(self
                .at(&value("kind").map_or(span.clone(), |(_, span)| span), "only a whole die falls silent: expected kind = \"failing\""));
        }
        let part = match (plane, blocks) {
            (plane, Some((first, last))) => Part::Blocks { plane, first, last },
            (Some(plane), None) => Part::Plane(plane),
            (None, None) => Part::Die { silent },
        };
        Ok(Entry { at, die, part, place: self.place(span) })
    }

    fn time(&self, (value, span): (&DeValue<'_>, Range<usize>)) -> Result<Nanos, FaultsError> {
        let DeValue::String(text) = value else {
            return Err(self.at(&span, "at: expected a time with its unit, such as \"2 s\""));
        };
        read_time(text).map_err(|what| self.at(&span, format!("at: {what}")))
    }

    fn number(&self, name: &str, (value, span): (&DeValue<'_>, Range<usize>)) -> Result<u32, FaultsError> {
        let number = if let DeValue::Integer(number) = value { u32::from_str_radix(number.as_str(), number.radix()).ok() } else { None };
        number.ok_or_else(|| self.at(&span, format!("{name}: expected a whole number from 0")))
    }

    /// One block, or the first and the last.
    fn blocks(&self, (value, span): (&DeValue<'_>, Range<usize>)) -> Result<(u32, u32), FaultsError> {
        let wrong = || self.at(&span, "blocks: expected one block, such as 17, or the first and the last, such as \"4..7\"");
        if let DeValue::Integer(_) = value {
            return self.number("blocks", (value, span.clone())).map(|block| (block, block));
        }
        let DeValue::String(text) = value else { return Err(wrong()) };
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        match (first.trim().parse::<u32>(), last.trim().parse::<u32>()) {
            (Ok(first), Ok(last)) if first <= last => Ok((first, last)),
            _ => Err(wrong()),
        }
    }

    fn is_silent(&self, (value, span): (&DeValue<'_>, Range<usize>)) -> Result<bool, FaultsError> {
        let word = if let DeValue::String(word) = value { word.as_ref() } else { "" };
        match KINDS.iter().position(|&kind| kind == word) {
            Some(number) => Ok(number == 1),
            None => {
                let meant = nearest(word, KINDS).map(|near| format!("did you mean \"{near}\"? ")).unwrap_or_default();
                Err(self.at(&span, format!("kind: {meant}expected \"failing\" or \"silent\"")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        Schedule::parse(text, "f.toml").expect_err(text).to_string()
    }

    #[test]
    fn faults_are_read_as_they_stand_there() {
        let text = "[[fault]]\nat = \"2 s\"\ndie = 17\n[[fault]]\nat = \"10ms\"\ndie = 0\nkind = \"silent\"\n[[fault]]\nat = \"1 s\"\ndie = 3\nplane = 1\n\
                    [[fault]]\nat = \"1 s\"\ndie = 3\nblocks = \"4..7\"\n[[fault]]\nat = \"1 s\"\ndie = 3\nplane = 0\nblocks = 9\nkind = \"failing\"\n";
        let told = [
            "die 17 fails at 2 s",
            "die 0 fails and falls silent at 10 ms",
            "plane 1 of die 3 fails at 1 s",
            "blocks 4..7 of all planes of die 3 fail at 1 s",
            "blocks 9..9 of plane 0 of die 3 fail at 1 s",
        ];
        let mut schedule = Schedule::parse(text, "f.toml").expect("a schedule");
        assert_eq!(schedule.told(), told);
        let mut of_option = Schedule::default();
        of_option.kill_die("17@2s").expect("a fault");
        assert_eq!(of_option.told(), told[..1]);
        schedule.append(of_option);
        assert_eq!(schedule.told().len(), 6);
    }

    #[test]
    fn what_is_wrong_is_said_with_line_key_and_the_nearest_word() {
        for (text, said) in [
            ("", "f.toml:1:1: no fault: expected [[fault]] with at and die below it"),
            ("[[fautl]]\n", "f.toml:1:3: unknown key `fautl` in the file: did you mean `fault`? expected fault"),
            ("fault = 3\n", "f.toml:1:1: `fault` is no list: expected [[fault]] with at and die below it"),
            ("[[fault]]\nat = \"2 s\"\n", "f.toml:1:1: `die` is missing: expected die = 17"),
            ("[[fault]]\ndie = 1\n", "f.toml:1:1: `at` is missing: expected at = \"2 s\""),
            (
                "[[fault]]\nat = \"2 s\"\ndei = 1\n",
                "f.toml:3:1: unknown key `dei` in [[fault]]: did you mean `die`? expected at, die, plane, blocks, kind",
            ),
            ("[[fault]]\nat = \"2 s\"\ndie = -1\n", "f.toml:3:7: die: expected a whole number from 0"),
            ("[[fault]]\nat = 2\ndie = 1\n", "f.toml:2:6: at: expected a time with its unit, such as \"2 s\""),
            (
                "[[fault]]\nat = \"2 s\"\ndie = 1\nblocks = \"7..4\"\n",
                "f.toml:4:10: blocks: expected one block, such as 17, or the first and the last, such as \"4..7\"",
            ),
            (
                "[[fault]]\nat = \"2 s\"\ndie = 1\nkind = \"slient\"\n",
                "f.toml:4:8: kind: did you mean \"silent\"? expected \"failing\" or \"silent\"",
            ),
            (
                "[[fault]]\nat = \"2 s\"\ndie = 1\nplane = 0\nkind = \"silent\"\n",
                "f.toml:5:8: only a whole die falls silent: expected kind = \"failing\"",
            ),
        ] {
            assert_eq!(refused(text), said);
        }
        assert!(refused("[[fault]\n").starts_with("f.toml:1:"), "{}", refused("[[fault]\n"));
        assert!(refused("[[fault]]\nat = \"2 parsecs\"\ndie = 1\n").starts_with("f.toml:2:6: at: "));
        for (text, said) in [
            ("17", "--kill-die 17: there is no `@`: expected the number of a die and an instant, such as 17@2s"),
            ("x@2s", "--kill-die x@2s: 'x' is no number of a die: expected the number of a die and an instant, such as 17@2s"),
        ] {
            assert_eq!(Schedule::default().kill_die(text).expect_err(text).to_string(), said);
        }
    }

    #[test]
    fn parts_that_a_drive_does_not_have_are_refused_with_their_place() {
        let plan = wordline_plan::Plan::load("pageftl").expect("a preset");
        let geometry = plan.build().sheet.geometry;
        let check = |text: &str| Schedule::parse(text, "f.toml").expect("a schedule").check(&geometry).map_err(|error| error.to_string());
        let (dies, planes, blocks) = (geometry.dies(), geometry.planes, geometry.blocks);
        let fault = |rest: String| format!("\n[[fault]]\nat = \"1 s\"\n{rest}");
        assert_eq!(check(&fault(format!("die = {}\n", dies - 1))), Ok(()));
        assert_eq!(check(&fault(format!("die = {dies}\n"))), Err(format!("f.toml:2:1: die {dies}: the drive has {dies}, counted from 0")));
        assert_eq!(
            check(&fault(format!("die = 0\nplane = {planes}\n"))),
            Err(format!("f.toml:2:1: plane {planes}: a die has {planes}, counted from 0"))
        );
        assert_eq!(
            check(&fault(format!("die = 0\nblocks = {blocks}\n"))),
            Err(format!("f.toml:2:1: block {blocks}: a plane has {blocks}, counted from 0"))
        );
    }
}
