//! One key of a drive's plan at several values: each figure as a curve over them, with its interval.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::{self, Figure};
use crate::chance::interval;
use crate::grid::{self, CellResult};

/// Every figure over the values of one key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepResult {
    /// The key that was swept.
    pub key: String,
    /// Its values, in the order they were asked for.
    pub values: Vec<String>,
    /// How the intervals came about, or why there are none.
    pub method: String,
    /// What keeps the curve from saying what it seems to say, such as values at which GC was never reached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// One entry per workload, age, drive, figure and value, in this order.
    pub points: Vec<SweepPoint>,
}

/// One figure of one drive at one value of the key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepPoint {
    /// The workload.
    pub workload: String,
    /// The age of the cells, as it was asked for; null where none was.
    pub age: Option<String>,
    /// The drive.
    pub drive: String,
    /// The figure, as a path into an entry of `cells[].drives`.
    pub figure: String,
    /// The figure's name for people.
    pub label: String,
    /// Its unit.
    pub unit: String,
    /// The value of the key.
    pub value: String,
    /// How many seeds have the figure.
    #[schemars(extend("x-unit" = "runs"))]
    pub seeds: u64,
    /// The arithmetic mean over the seeds.
    pub mean: f64,
    /// The lower end of the 95 % confidence interval; null with one seed.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// Whether the drive failed requests with any of the seeds, so that the figure is of what was left of the load.
    pub failed: bool,
}

/// The curves of one workload at one age: what they are of, the drives, and the cells by value.
pub struct Group<'a> {
    /// The workload.
    pub workload: &'a str,
    /// The age of the cells; `None` where none was named.
    pub age: Option<&'a str>,
    /// The cells, by value of the key.
    pub cells: Vec<&'a CellResult>,
}

impl Group<'_> {
    /// What it is, for people: `rocks, 2k+1y`.
    pub fn title(&self) -> String {
        match self.age {
            Some(age) => format!("{}, {age}", self.workload),
            None => self.workload.to_owned(),
        }
    }
}

/// The cells of a sweep, those of one workload at one age together.
pub fn groups(cells: &[CellResult]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for cell in cells {
        let (workload, age) = (cell.workload.as_str(), cell.age.as_deref());
        match groups.iter_mut().find(|group| (group.workload, group.age) == (workload, age)) {
            Some(group) => group.cells.push(cell),
            None => groups.push(Group { workload, age, cells: vec![cell] }),
        }
    }
    groups
}

impl SweepResult {
    /// The curves of these cells; `None` where no key was swept.
    pub fn new(cells: &[CellResult]) -> Option<SweepResult> {
        let key = cells.first()?.swept.as_ref()?.key.clone();
        let mut values: Vec<String> = Vec::new();
        for value in cells.iter().filter_map(|cell| Some(&cell.swept.as_ref()?.value)) {
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
        let mut points = Vec::new();
        for group in groups(cells) {
            for drive in grid::drives(cells) {
                for figure in catalogue::compared() {
                    points.extend(group.cells.iter().filter_map(|cell| SweepPoint::new(cell, drive, figure)));
                }
            }
        }
        let most = points.iter().map(|point| point.seeds).max().unwrap_or(0);
        let mut method = match most {
            0 | 1 => "One seed: figures carry no confidence interval; use several seeds to get one".to_owned(),
            seeds => format!("Arithmetic mean over {seeds} seeds; 95 % interval from Student's t"),
        };
        let runs = || cells.iter().flat_map(|cell| &cell.drives);
        if runs().any(|run| run.host.writes > 0) && !runs().any(|run| run.steady) {
            method += ". Figures are of the whole window, from the filled drive on; --until-steady measures what the drive settles at";
        }
        Some(SweepResult { warnings: unreached(&key, cells).into_iter().collect(), key, values, method, points })
    }

    /// The points of one curve, in the order of the values.
    pub fn curve<'a>(&'a self, group: &'a Group<'_>, drive: &'a str, figure: &'a str) -> impl Iterator<Item = &'a SweepPoint> {
        let is_of = move |point: &&SweepPoint| {
            (point.workload.as_str(), point.age.as_deref()) == (group.workload, group.age) && point.drive == drive && point.figure == figure
        };
        self.points.iter().filter(is_of)
    }

    /// One point of a curve.
    pub fn point(&self, group: &Group<'_>, drive: &str, figure: &str, value: &str) -> Option<&SweepPoint> {
        self.points.iter().find(|point| {
            (point.workload.as_str(), point.age.as_deref()) == (group.workload, group.age)
                && (point.drive.as_str(), point.figure.as_str(), point.value.as_str()) == (drive, figure, value)
        })
    }

    /// The figures that the page draws and that the terminal shows, where any drive has them, each with its name and unit.
    pub fn shown(&self) -> Vec<(&str, &str, &str)> {
        let mut figures: Vec<&Figure> = catalogue::figures().iter().filter(|figure| figure.in_sweep().is_some()).collect();
        figures.sort_by_key(|figure| figure.in_sweep());
        let first = figures.into_iter().filter_map(|figure| self.points.iter().find(|point| point.figure == figure.path()));
        first.map(|point| (point.figure.as_str(), point.label.as_str(), point.unit.as_str())).collect()
    }
}

impl SweepPoint {
    fn new(cell: &CellResult, drive: &str, figure: &Figure) -> Option<SweepPoint> {
        let runs = cell.values(figure, drive);
        let swept = cell.swept.as_ref()?;
        if runs.is_empty() {
            return None;
        }
        let (mean, half) = interval(&runs);
        Some(SweepPoint {
            workload: cell.workload.clone(),
            age: cell.age.clone(),
            drive: drive.to_owned(),
            figure: figure.path().to_owned(),
            label: figure.label().trim().to_owned(),
            unit: figure.unit().to_owned(),
            value: swept.value.clone(),
            seeds: runs.len() as u64,
            mean,
            low: half.map(|half| mean - half),
            high: half.map(|half| mean + half),
            failed: cell.failed(drive),
        })
    }

    /// Half the width of its interval.
    pub fn half(&self) -> Option<f64> {
        self.high.map(|high| high - self.mean)
    }
}

/// What is to be said of runs that wrote into blocks which had been free from the start.
fn unreached(key: &str, cells: &[CellResult]) -> Option<String> {
    let mut places: Vec<String> = Vec::new();
    for group in groups(cells) {
        for drive in grid::drives(cells) {
            let is_at = |cell: &&&CellResult| cell.drives.iter().any(|run| run.name == drive && run.is_unreached());
            let values: Vec<&str> = group.cells.iter().filter(is_at).filter_map(|cell| Some(cell.swept.as_ref()?.value.as_str())).collect();
            if !values.is_empty() {
                places.push(format!("{drive} on {} at {}", group.title(), values.join(", ")));
            }
        }
    }
    (!places.is_empty()).then(|| {
        format!(
            "GC was never reached by {}: write amplification there is that of a drive which still has free blocks. Write more (--requests, --length, \
             --repeat), fill it (--fill 100%), measure with --until-steady, or age the drive first: `wordline age DRIVE --steady --set {key}=VALUE --save \
             FILE`, then `wordline run --from FILE`",
            places.join("; ")
        )
    })
}

/// Where values lie on an axis: their numbers, where all of them have one of a common kind; `None` where they are words.
pub fn places(values: &[String]) -> Option<Vec<f64>> {
    const UNITS: [&[(&str, f64)]; 6] = [
        &[("", 1.0), ("k", 1e3), ("M", 1e6)],
        &[("%", 1.0)],
        &[("B", 1.0), ("KiB", 1024.0), ("MiB", 1_048_576.0), ("GiB", 1_073_741_824.0), ("TiB", 1_099_511_627_776.0)],
        &[("ns", 1e-3), ("us", 1.0), ("ms", 1e3), ("s", 1e6)],
        &[("s", 1.0), ("min", 60.0), ("h", 3_600.0), ("d", 86_400.0), ("mo", 2_592_000.0), ("y", 31_536_000.0)],
        &[("C", 1.0)],
    ];
    let read = |value: &String, units: &[(&str, f64)]| {
        let value = value.trim();
        let end = value.find(|letter: char| !(letter.is_ascii_digit() || ".-".contains(letter))).unwrap_or(value.len());
        let number: f64 = value[..end].parse().ok()?;
        let scale = units.iter().find(|(name, _)| *name == value[end..].trim())?.1;
        Some(number * scale)
    };
    UNITS.iter().find_map(|units| values.iter().map(|value| read(value, units)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(values: &[&str]) -> Option<Vec<f64>> {
        places(&values.iter().map(|&value| value.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn values_of_one_kind_have_a_place_and_words_have_none() {
        assert_eq!(all(&["5%", "7 %", "12.5%"]), Some(vec![5.0, 7.0, 12.5]));
        assert_eq!(all(&["512 B", "4KiB"]), Some(vec![512.0, 4096.0]));
        assert_eq!(all(&["100us", "1 ms"]), Some(vec![100.0, 1_000.0]));
        assert_eq!(all(&["2", "16"]), Some(vec![2.0, 16.0]));
        assert_eq!(all(&["greedy", "fifo"]), None);
        assert_eq!(all(&["5%", "4KiB"]), None);
        assert_eq!(all(&["none", "5%"]), None);
    }
}
