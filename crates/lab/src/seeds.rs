//! Dependence of verdicts on the seed: the same studies on lots of other seeds.
//!
//! Only what was measured is kept. Verdicts follow from it by the bands as they are, so a band that is moved cannot leave an old verdict behind.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use wordline_report::html::figure::scientific;

use crate::band::{Band, Verdict, written};
use crate::claims::{About, Claim, ClaimKind, claim};
use crate::reproduce::{Line, Outcome};
use crate::study::Study;

/// The measurements of several seeds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BySeed {
    /// Seeds in the order of the columns. A study that names a seed of its own counts on from that.
    pub seeds: Vec<u64>,
    /// Rows of the table, one for each question.
    pub rows: Vec<Row>,
}

/// The measurements of one quantity for one claim with several seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the study.
    pub study: String,
    /// Name of the claim.
    pub claim: String,
    /// The measured quantity, as `bench.metric`.
    pub metric: String,
    /// Measured value of each seed; `None` where nothing was measured.
    pub measured: Vec<Option<f64>>,
}

/// Number of claims that came out with one seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Number of reproduced claims.
    pub reproduced: usize,
    /// Number of judged claims.
    pub judged: usize,
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let percent = 100.0 * self.reproduced as f64 / self.judged.max(1) as f64;
        write!(f, "{} of {}, {percent:.1} %", self.reproduced, self.judged)
    }
}

/// A claim put to one quantity, with its band and the values of each seed.
struct Judged {
    claim: &'static Claim,
    study: String,
    metric: String,
    band: Band,
    measured: Vec<Option<f64>>,
}

impl Judged {
    fn holds(&self, seed: usize) -> bool {
        self.measured[seed].is_some_and(|value| Verdict::of(&self.band, value) == Verdict::Reproduced)
    }

    fn changes(&self, seeds: usize) -> bool {
        (1..seeds).any(|seed| self.holds(seed) != self.holds(0))
    }

    fn told(&self, seed: usize) -> String {
        let value =
            self.measured[seed].map_or_else(|| "–".to_owned(), |value| format!("{}{}", scientific(value), written(self.band.unit())));
        if self.holds(seed) { value } else { format!("{value} (off)") }
    }
}

impl BySeed {
    /// Puts the outcomes of the same studies with several seeds side by side.
    ///
    /// # Panics
    ///
    /// The outcomes are not of the same studies.
    pub fn of(runs: &[(u64, Vec<Outcome>)]) -> BySeed {
        let lines = |run: usize| runs[run].1.iter().flat_map(|outcome| &outcome.lines).filter(|line| !line.metric.is_empty());
        let rows = (0..runs.len().min(1)).flat_map(lines).enumerate().map(|(index, line)| {
            let measured = (0..runs.len()).map(|run| {
                let other = lines(run).nth(index).expect("the same studies ask the same");
                assert_eq!((&other.claim, &other.metric), (&line.claim, &line.metric), "the same studies ask the same");
                other.measured
            });
            Row { study: line.study.clone(), claim: line.claim.clone(), metric: line.metric.clone(), measured: measured.collect() }
        });
        BySeed { seeds: runs.iter().map(|(seed, _)| *seed).collect(), rows: rows.collect() }
    }

    /// The command that measures these rows again.
    pub fn again(&self) -> String {
        format!("wordline reproduce cells --seeds {} --json studies/results.json --by-seed studies/seeds.json", self.seeds.len())
    }

    /// Reads the text of `studies/seeds.json`.
    ///
    /// # Errors
    ///
    /// What is wrong with the text.
    pub fn parse(text: &str) -> Result<BySeed, String> {
        let held: BySeed = serde_json::from_str(text).map_err(|error| format!("studies/seeds.json: {error}"))?;
        match held.rows.iter().find(|row| row.measured.len() != held.seeds.len()) {
            Some(row) => Err(format!(
                "studies/seeds.json: {} {} has {} values for {} seeds",
                row.claim,
                row.metric,
                row.measured.len(),
                held.seeds.len()
            )),
            None if held.seeds.is_empty() => Err("studies/seeds.json: no seeds".to_owned()),
            None => Ok(held),
        }
    }

    /// Text of the rows as JSON, one line for each: made to be compared by eye and by version control.
    pub fn to_json(&self) -> String {
        let row = |row: &Row| serde_json::to_string(row).expect("rows are plain data");
        let rows: Vec<String> = self.rows.iter().map(row).collect();
        format!("{{\"seeds\": {:?}, \"rows\": [\n{}\n]}}", self.seeds, rows.join(",\n"))
    }

    /// Rows that these studies do not ask for, questions to chips without a row, and first seeds that differ from `results`. Empty: the rows are of these
    /// studies.
    pub fn drift(&self, studies: &[Study], results: &[Line]) -> Vec<String> {
        let asked = studies
            .iter()
            .filter(|study| !study.is_of_drives())
            .flat_map(|study| study.judge.iter().map(move |judgement| (study, judgement)));
        let asked: Vec<_> =
            asked.map(|(study, judgement)| (study.id.as_str(), judgement.claim.id.as_str(), judgement.measured.as_str())).collect();
        let held: Vec<_> = self.rows.iter().map(|row| (row.study.as_str(), row.claim.as_str(), row.metric.as_str())).collect();
        let missing =
            asked.iter().filter(|one| !held.contains(one)).map(|one| format!("{}: {} {} was not run on other seeds", one.0, one.1, one.2));
        let stray = held.iter().filter(|one| !asked.contains(one)).map(|one| format!("{}: {} {} is not asked for", one.0, one.1, one.2));
        let other = self.rows.iter().filter(|row| {
            let same = |line: &&Line| (&line.study, &line.claim, &line.metric) == (&row.study, &row.claim, &row.metric);
            results.iter().find(same).is_none_or(|line| line.measured != row.measured[0])
        });
        let other = other.map(|row| format!("{}: {} {} is another value than in the results", row.study, row.claim, row.metric));
        missing.chain(stray).chain(other).collect()
    }

    /// The rows that `studies` ask for, with their bands.
    fn judged(&self, studies: &[Study]) -> Vec<Judged> {
        let band = |row: &Row| {
            let study = studies.iter().find(|study| study.id == row.study)?;
            let same = |judgement: &&crate::study::Judgement| judgement.claim.id == row.claim && judgement.measured == row.metric;
            Some(study.judge.iter().find(same)?.band.clone())
        };
        let judged = |row: &Row| {
            Some(Judged {
                claim: claim(&row.claim)?,
                study: row.study.clone(),
                metric: row.metric.clone(),
                band: band(row)?,
                measured: row.measured.clone(),
            })
        };
        self.rows.iter().filter_map(judged).collect()
    }

    /// Number of the claims picked by `of` that came out, for each seed. A claim with several lines has the worst of them.
    pub fn counts(&self, studies: &[Study], of: impl Fn(&Claim) -> bool) -> Vec<Share> {
        let judged = self.judged(studies);
        let mut ids: Vec<&str> = judged.iter().filter(|line| of(line.claim)).map(|line| line.claim.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        let holds = |id: &str, seed: usize| judged.iter().filter(|line| line.claim.id == id).all(|line| line.holds(seed));
        (0..self.seeds.len()).map(|seed| Share { reproduced: ids.iter().filter(|id| holds(id, seed)).count(), judged: ids.len() }).collect()
    }

    /// Rows of a table: the group that is counted, and the count of each seed.
    fn table(&self, studies: &[Study]) -> Vec<(&'static str, Vec<Share>)> {
        [
            ("about devices", self.counts(studies, |claim| claim.about == About::Device)),
            ("device-physics", self.counts(studies, |claim| claim.kind == ClaimKind::DevicePhysics)),
        ]
        .into()
    }

    /// The report for a terminal: counts by seed, then every line whose verdict depends on the seed.
    pub fn text(&self, studies: &[Study]) -> String {
        let columns = |cells: &[String]| cells.iter().map(|cell| format!("  {cell:>18}")).collect::<String>();
        let mut text =
            format!("{:16}{}\n", "verdicts by seed", columns(&self.seeds.iter().map(|seed| format!("seed {seed}")).collect::<Vec<_>>()));
        for (name, shares) in self.table(studies) {
            let _ = writeln!(text, "{name:16}{}", columns(&shares.iter().map(Share::to_string).collect::<Vec<_>>()));
        }
        let changing: Vec<Judged> = self.judged(studies).into_iter().filter(|line| line.changes(self.seeds.len())).collect();
        let _ = write!(text, "{} verdicts change with the seed", changing.len());
        let width = |of: fn(&Judged) -> usize| changing.iter().map(of).max().unwrap_or(0);
        let (claim, metric) = (width(|line| line.claim.id.len()), width(|line| line.metric.len()));
        for line in &changing {
            let cells: Vec<String> = (0..self.seeds.len()).map(|seed| line.told(seed)).collect();
            let _ = write!(text, "\n  {:claim$}  {:metric$}{}  {}", line.claim.id, line.metric, columns(&cells), line.band);
        }
        text
    }

    /// The section on seeds of `docs/claims.md`.
    pub fn markdown(&self, studies: &[Study]) -> String {
        let head: String = self.seeds.iter().map(|seed| format!(" seed {seed} |")).collect();
        let rule = "---|".repeat(self.seeds.len());
        let mut text = format!("| claims |{head}\n|---|{rule}\n");
        for (name, shares) in self.table(studies) {
            let _ = writeln!(text, "| {name} |{}", shares.iter().map(|share| format!(" {share} |")).collect::<String>());
        }
        let changing: Vec<Judged> = self.judged(studies).into_iter().filter(|line| line.changes(self.seeds.len())).collect();
        if changing.is_empty() {
            text += "\nNo verdict changes with the seed.\n";
            return text;
        }
        let _ =
            writeln!(text, "\n{} verdicts change with the seed:\n\n| claim | measured | band |{head}\n|---|---|---|{rule}", changing.len());
        for line in &changing {
            let cells: String = (0..self.seeds.len()).map(|seed| format!(" {} |", line.told(seed))).collect();
            let _ = writeln!(text, "| `{}` | {} of {} | {} |{cells}", line.claim.id, line.metric, line.study, line.band);
        }
        text
    }
}
