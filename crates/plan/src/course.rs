//! The temperature of a drive over virtual time: `"30 C"`, or `"30 C, 55 C from 2 d, 40 C from 3 d"`.

use serde_json::{Value as Json, json};
use toml::de::DeValue;
use wordline_units::{Celsius, Nanos};

use crate::kind::{Degrees, Kind, quoted, unfit};
use crate::quantity::{INSTANT, Refusal, shown};

/// A first temperature, and others from later instants on. Instants rise and count from the start of a new drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Course {
    first: Degrees,
    changes: Vec<(Nanos, Degrees)>,
}

/// Longest time until the last change, in nanoseconds.
const LONGEST: u64 = wordline_units::calendar::YEAR * 1_000_000_000;

impl Course {
    /// The first temperature.
    pub(crate) fn first(&self) -> Degrees {
        self.first
    }

    /// The later temperatures, each with its instant.
    pub(crate) fn changes(&self) -> Vec<(Nanos, Celsius)> {
        self.changes.iter().map(|&(at, degrees)| (at, Celsius(degrees.celsius()))).collect()
    }

    /// Reads a temperature from a later instant on.
    fn change(text: &str) -> Result<(Nanos, Degrees), Refusal> {
        let text = text.trim();
        let Some((degrees, at)) = text.split_once(" from ") else {
            let what = format!("\"{}\" has no instant from which it holds", shown(text));
            let degrees = text.split_once('C').map_or("55 C".to_owned(), |(number, _)| format!("{}C", shown(number)));
            return Err(Refusal::new(what).with_help(format!("write \"{degrees} from 2 d\", or the instant that is meant")));
        };
        let (degrees, at) = (Degrees::parse(degrees)?, INSTANT.read(at)?);
        match at {
            0 => Err(Refusal::new("the first temperature holds from the start: a later one comes after it")),
            at if at > LONGEST => Err(Refusal::new("a change of temperature after more than a year")),
            at => Ok((Nanos(at), degrees)),
        }
    }
}

impl Kind for Course {
    fn expected() -> String {
        format!("{}, which may be followed by others from later instants on, such as \"30 C, 55 C from 2 d\"", Degrees::expected())
    }
    fn read(value: &DeValue<'_>) -> Result<Self, Refusal> {
        let DeValue::String(text) = value else { return Err(unfit(value, &Self::expected())) };
        let mut parts = text.split(',');
        let first = Degrees::parse(parts.next().unwrap_or_default())?;
        let changes = parts.map(Course::change).collect::<Result<Vec<_>, Refusal>>()?;
        match changes.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            Some(pair) => {
                let [before, after] = [pair[0].0, pair[1].0].map(|at| INSTANT.write(at.0));
                Err(Refusal::new(format!("\"{after}\" does not come after \"{before}\": instants of temperatures rise")))
            }
            None => Ok(Course { first, changes }),
        }
    }
    fn write(&self) -> String {
        let changes = self.changes.iter().map(|(at, degrees)| format!(", {} from {}", degrees.text(), INSTANT.write(at.0)));
        quoted(&format!("{}{}", self.first.text(), changes.collect::<String>()))
    }
    fn schema() -> Json {
        let degrees = "[-+]?[0-9]+(\\.[0-9]+)? ?°?C";
        let pattern = format!("^{degrees}( *, *{degrees} +from +[0-9][0-9_]*(\\.[0-9_]+)? ?(ns|us|ms|s|min|h|d))*$");
        json!({ "type": "string", "pattern": pattern, "examples": ["30 C", "30 C, 55 C from 2 d"] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Course, Refusal> {
        Course::read(&DeValue::String(text.into()))
    }

    #[test]
    fn a_course_is_read_as_it_is_written_and_one_temperature_as_ever() {
        let course = read("30C,55.5 °C from 36 h , -5 C from 3 d").expect("a course");
        assert_eq!(course.write(), "\"30 C, 55.5 C from 36 h, -5 C from 3 d\"");
        assert_eq!(read(course.write().trim_matches('"')), Ok(course.clone()));
        let hours = |hours: u64| Nanos(hours * 3_600_000_000_000);
        assert_eq!(course.changes(), [(hours(36), Celsius(55.5)), (hours(72), Celsius(-5.0))]);
        let plain = read("40 C").expect("a temperature");
        assert_eq!((plain.write(), plain.first(), plain.changes().len()), (Degrees(40_000).write(), Degrees(40_000), 0));
    }

    #[test]
    fn what_is_no_course_is_refused_with_its_reason() {
        let told = |text: &str| read(text).expect_err(text).what;
        assert!(told("30 C, 55 C").contains("\"55 C\" has no instant"));
        let help = |text: &str| read(text).expect_err(text).help.unwrap_or_default();
        assert!(help("30 C, 40 C form 2 d").starts_with("write \"40 C from 2 d\"") && help("30 C,").starts_with("write \"55 C from 2 d\""));
        assert!(told("30 C, 55 C from 2 d, 40 C from 48 h").contains("\"2 d\" does not come after \"2 d\""));
        assert!(told("30 C, 55 C from 0 s").contains("holds from the start"));
        assert!(told("30 C, 55 C from 366 d").contains("more than a year"));
        assert!(told("30 C, 55 from 2 d").contains("not a temperature"));
        assert!(told("30 C, 300 C from 2 d").contains("no temperature of a drive"));
        assert!(told("30 C, 55 C from 2 days").contains("no unit"));
        assert!(told("30 C from 2 d").contains("not a temperature"));
    }
}
