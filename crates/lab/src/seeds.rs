//! Dependence of verdicts on the seed: the same studies on lots of other seeds.
//!
//! Only what was measured is kept. Verdicts follow from it by the bands as they are, so a band that is moved cannot leave an old verdict behind.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use wordline_pages::html::figure::scientific;

use crate::band::{Band, written};
use crate::claims::{About, Claim, ClaimKind, claim};
use crate::reproduce::{Line, Outcome};
use crate::study::Study;

/// Parameters of chips may be found on the first so many seeds; the others judge.
pub const FITTED: u64 = 6;

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
    /// Value of each seed with the effect of the claim switched off. Empty: the judgement has no null.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub null: Vec<Option<f64>>,
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

/// Shares of claims that came out with several seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// Number of judged claims.
    pub judged: usize,
    /// Share of the reproduced ones in the mean over the seeds.
    pub mean: f64,
    /// Share with the seed of the fewest.
    pub least: f64,
    /// Share with the seed of the most.
    pub most: f64,
    /// Number of claims that came out with most of the seeds.
    pub by_majority: usize,
}

/// Result of a claim with the seeds that judge.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// Number of seeds with which it came out.
    pub holds: usize,
    /// Number of seeds with which it came out, and did so with its effect switched off as well.
    pub stays: usize,
    /// Number of seeds.
    pub seeds: usize,
    /// The measured values of each of its questions in words.
    pub measured: Vec<String>,
}

impl Told {
    /// True if it came out with more than half of the seeds.
    pub fn is_reproduced(&self) -> bool {
        2 * self.holds > self.seeds
    }

    /// True if it came out with more than half of the seeds, but for those on which it stays when its effect is off.
    pub fn is_staying(&self) -> bool {
        !self.is_reproduced() && 2 * (self.holds + self.stays) > self.seeds
    }
}

/// A claim put to one quantity, with its band and the values of each seed.
struct Judged {
    claim: &'static Claim,
    study: String,
    metric: String,
    band: Band,
    measured: Vec<Option<f64>>,
    null: Vec<Option<f64>>,
    /// False where another reading is the row of record of the claim.
    decides: bool,
}

impl Judged {
    fn holds(&self, seed: usize) -> bool {
        self.is_within(seed) && !self.stays(seed)
    }

    fn is_within(&self, seed: usize) -> bool {
        self.measured[seed].is_some_and(|value| self.band.miss(value) == 0.0)
    }

    /// True if the value with the effect switched off lies within the band.
    fn stays(&self, seed: usize) -> bool {
        self.null.get(seed).copied().flatten().is_some_and(|value| self.band.miss(value) == 0.0)
    }

    fn changes(&self, seeds: usize) -> bool {
        (1..seeds).any(|seed| self.holds(seed) != self.holds(0))
    }

    /// Mean of the values of the seeds of `columns`, with the least and the most where they differ.
    fn over(&self, columns: &[usize]) -> String {
        let values: Vec<f64> = columns.iter().filter_map(|&column| self.measured[column]).collect();
        let unit = written(self.band.unit());
        let [least, most] = [values.iter().copied().fold(f64::MAX, f64::min), values.iter().copied().fold(f64::MIN, f64::max)];
        match values.len() {
            0 => "–".to_owned(),
            _ if least == most => format!("{}{unit}", scientific(least)),
            count => {
                let mean = values.iter().sum::<f64>() / count as f64;
                format!("{}{unit} ({} to {})", scientific(mean), scientific(least), scientific(most))
            }
        }
    }

    fn told(&self, seed: usize) -> String {
        let value =
            self.measured[seed].map_or_else(|| "–".to_owned(), |value| format!("{}{}", scientific(value), written(self.band.unit())));
        match self.holds(seed) {
            true => value,
            false if self.is_within(seed) => format!("{value} (stays)"),
            false => format!("{value} (off)"),
        }
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
            let others = (0..runs.len()).map(|run| {
                let other = lines(run).nth(index).expect("the same studies ask the same");
                assert_eq!((&other.claim, &other.metric), (&line.claim, &line.metric), "the same studies ask the same");
                other
            });
            let measured = others.clone().map(|other| other.measured).collect();
            let null = others.filter_map(|other| other.null.as_ref()).map(|null| null.measured).collect();
            Row { study: line.study.clone(), claim: line.claim.clone(), metric: line.metric.clone(), measured, null }
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
        let is_short = |values: &[Option<f64>]| values.len() != held.seeds.len();
        match held.rows.iter().find(|row| is_short(&row.measured) || (!row.null.is_empty() && is_short(&row.null))) {
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
            let differs = |line: &Line| {
                let null = line.null.as_ref().map(|null| null.measured);
                line.measured != row.measured[0] || null != row.null.first().copied()
            };
            results.iter().find(same).is_none_or(differs)
        });
        let other = other.map(|row| format!("{}: {} {} is another value than in the results", row.study, row.claim, row.metric));
        missing.chain(stray).chain(other).collect()
    }

    /// The rows that `studies` ask for, with their bands.
    fn judged(&self, studies: &[Study]) -> Vec<Judged> {
        let asked = |row: &Row| {
            let study = studies.iter().find(|study| study.id == row.study)?;
            study.judge.iter().find(|judgement| judgement.claim.id == row.claim && judgement.measured == row.metric)
        };
        let of_record = studies.iter().flat_map(|study| &study.judge).filter(|judgement| judgement.row.is_some());
        let of_record: Vec<&str> = of_record.map(|judgement| judgement.claim.id.as_str()).collect();
        let judged = |row: &Row| {
            let judgement = asked(row)?;
            Some(Judged {
                claim: claim(&row.claim)?,
                study: row.study.clone(),
                metric: row.metric.clone(),
                band: judgement.band.clone(),
                measured: row.measured.clone(),
                null: row.null.clone(),
                decides: judgement.row.is_some() || !of_record.contains(&row.claim.as_str()),
            })
        };
        self.rows.iter().filter_map(judged).collect()
    }

    /// The rows that enter the verdicts of their claims.
    fn deciding(&self, studies: &[Study]) -> Vec<Judged> {
        self.judged(studies).into_iter().filter(|line| line.decides).collect()
    }

    /// Columns of the seeds on which parameters of chips may have been found, and of those that judge.
    fn columns(&self) -> [Vec<usize>; 2] {
        (0..self.seeds.len()).partition(|&column| self.seeds[column] <= FITTED).into()
    }

    /// Shares of the claims picked by `of` that came out with the seeds of `columns`; `None`: there are no such seeds or claims. Claims that cannot fail are
    /// not among them.
    fn shares(&self, studies: &[Study], columns: &[usize], of: impl Fn(&Claim) -> bool) -> Option<Shares> {
        let (counts, lines) = (self.counts(studies, &of), self.deciding(studies));
        let holds = |id: &str, column: usize| lines.iter().filter(|line| line.claim.id == id).all(|line| line.holds(column));
        let share = |column: &usize| counts[*column].reproduced as f64 / counts[*column].judged as f64;
        let judged = counts.first().map(|share| share.judged).filter(|&judged| judged > 0 && !columns.is_empty())?;
        let by_majority = |id: &&str| 2 * columns.iter().filter(|&&column| holds(id, column)).count() > columns.len();
        Some(Shares {
            judged,
            mean: columns.iter().map(share).sum::<f64>() / columns.len() as f64,
            least: columns.iter().map(share).fold(1.0, f64::min),
            most: columns.iter().map(share).fold(0.0, f64::max),
            by_majority: self.ids(studies, &of).iter().map(String::as_str).filter(by_majority).count(),
        })
    }

    /// Names of the claims picked by `of` that can fail.
    fn ids(&self, studies: &[Study], of: impl Fn(&Claim) -> bool) -> Vec<String> {
        let judged = self.deciding(studies);
        let counted = judged.iter().filter(|line| line.claim.cannot_fail.is_none() && of(line.claim));
        let mut ids: Vec<String> = counted.map(|line| line.claim.id.clone()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Result of the claim `id` with the seeds that judge; `None`: it is not of chips, or there are no such seeds.
    pub fn told(&self, studies: &[Study], id: &str) -> Option<Told> {
        let [_, columns] = self.columns();
        let judged = self.judged(studies);
        let (deciding, beside): (Vec<&Judged>, Vec<&Judged>) =
            judged.iter().filter(|line| line.claim.id == id).partition(|line| line.decides);
        if deciding.is_empty() || columns.is_empty() {
            return None;
        }
        let count = |is: fn(&Judged, usize) -> bool| columns.iter().filter(|&&column| deciding.iter().all(|line| is(line, column))).count();
        let holds = count(Judged::holds);
        let stays = count(Judged::is_within) - holds;
        let told = deciding.iter().map(|line| line.over(&columns));
        let measured = told.chain(beside.iter().map(|line| format!("beside: {}", line.over(&columns)))).collect();
        Some(Told { holds, stays, seeds: columns.len(), measured })
    }

    /// Number of the claims picked by `of` that came out, for each seed. A claim with several lines has the worst of them. Claims that cannot fail do not
    /// count.
    pub fn counts(&self, studies: &[Study], of: impl Fn(&Claim) -> bool) -> Vec<Share> {
        let judged = self.deciding(studies);
        let ids = self.ids(studies, of);
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

    /// Shares of the claims about devices, seeds that judge first: the seeds in words, and their shares.
    pub fn summary(&self, studies: &[Study]) -> Vec<(String, Shares)> {
        let [fitted, judging] = self.columns();
        let name = |columns: &[usize]| {
            let seeds: Vec<u64> = columns.iter().map(|&column| self.seeds[column]).collect();
            match seeds.as_slice() {
                [] => String::new(),
                [only] => format!("seed {only}"),
                [first, .., last] => format!("seeds {first} to {last}"),
            }
        };
        let of = |columns: &[usize], what: &str| {
            Some((format!("{}, {what}", name(columns)), self.shares(studies, columns, |claim| claim.about == About::Device)?))
        };
        [of(&judging, "on which no parameter was found"), of(&fitted, "on which parameters may have been found")]
            .into_iter()
            .flatten()
            .collect()
    }

    /// The report for a terminal: counts by seed, then every line whose verdict depends on the seed.
    pub fn text(&self, studies: &[Study]) -> String {
        let columns = |cells: &[String]| cells.iter().map(|cell| format!("  {cell:>18}")).collect::<String>();
        let mut text =
            format!("{:16}{}\n", "verdicts by seed", columns(&self.seeds.iter().map(|seed| format!("seed {seed}")).collect::<Vec<_>>()));
        for (name, shares) in self.table(studies) {
            let _ = writeln!(text, "{name:16}{}", columns(&shares.iter().map(Share::to_string).collect::<Vec<_>>()));
        }
        for (seeds, Shares { judged, mean, least, most, by_majority }) in self.summary(studies) {
            let [mean, least, most] = [mean, least, most].map(|share| 100.0 * share);
            let _ = writeln!(
                text,
                "{seeds}: {mean:.1} % of {judged} claims about devices in the mean ({least:.1} to {most:.1}), {by_majority} by majority"
            );
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::band::Verdict;

    /// Rows of all questions to chips, with a value within the band for the seeds that `holds` picks and none for the others.
    fn rows(seeds: u64, holds: impl Fn(u64) -> bool) -> BySeed {
        let inside = |band: &Band| {
            let powers = (-2_000..2_000).map(|power| libm::pow(1.01, f64::from(power)));
            let mut tried = [0.0, 0.5, 1.0, 2.0, 3.0].into_iter().chain(powers);
            tried.find(|&value| Verdict::of(band, value) == Verdict::Reproduced)
        };
        let of = |study: &Study| {
            let row = |judgement: &crate::study::Judgement| {
                let value = inside(&judgement.band)?;
                let measured = (1..=seeds).map(|seed| holds(seed).then_some(value)).collect();
                let (claim, metric) = (judgement.claim.id.clone(), judgement.measured.clone());
                Some(Row { study: study.id.clone(), claim, metric, measured, null: Vec::new() })
            };
            study.judge.iter().filter_map(row).collect::<Vec<_>>()
        };
        let rows = Study::all().iter().filter(|study| !study.is_of_drives()).flat_map(of).collect();
        BySeed { seeds: (1..=seeds).collect(), rows }
    }

    #[test]
    fn the_figure_of_record_is_of_seeds_on_which_nothing_was_found() {
        // Everything comes out with the seeds that parameters are found on, and with one of four others.
        let summary = rows(FITTED + 4, |seed| seed <= FITTED + 1).summary(&Study::all());
        let [(judging, of_judging), (fitted, of_fitted)] = summary.as_slice() else { panic!("{summary:?}") };
        assert!(judging.starts_with("seeds 7 to 10") && fitted.starts_with("seeds 1 to 6"), "{summary:?}");
        let told = |shares: &Shares| [shares.mean, shares.least, shares.most].map(|share| (share * 100.0) as u32);
        assert_eq!((told(of_fitted), of_fitted.by_majority), ([100; 3], of_fitted.judged));
        assert_eq!((told(of_judging), of_judging.by_majority), ([25, 0, 100], 0));
    }

    #[test]
    fn a_claim_is_reproduced_by_more_than_half_of_the_judging_seeds() {
        for (good, is_reproduced) in [(1, false), (2, false), (3, true)] {
            let rows = rows(FITTED + 4, |seed| seed > FITTED && seed <= FITTED + good);
            let told = rows.told(&Study::all(), "ort.r1-pe1000").expect("it is asked of chips");
            assert_eq!((told.holds as u64, told.seeds, told.is_reproduced()), (good, 4, is_reproduced));
        }
    }

    #[test]
    fn what_cannot_fail_does_not_count() {
        let all = rows(FITTED + 2, |_| true);
        let counted = all.ids(&Study::all(), |_| true);
        assert!(counted.iter().any(|id| id == "ort.r1-pe1000") && !counted.iter().any(|id| id == "psr.prog-ratio"));
        assert!(all.rows.iter().any(|row| row.claim == "psr.prog-ratio"), "it is measured all the same");
    }

    /// One claim on four judging seeds, with two readings: one with this null by seed, and another that is off.
    fn of_two(null: &[f64], more: &str) -> (BySeed, Vec<Study>) {
        let judgement = |measured: &str, more: &str| {
            let band = "band = \"270 to 330 mV\"\nwhy = \"a test\"";
            format!("[[judge]]\nclaim = \"ort.r1-pe1000\"\nmeasured = \"{measured}\"\n{band}\n{more}\n")
        };
        let switch = if null.is_empty() { "" } else { "null = [\"physics.wear.field=0\"]\n" };
        let text = format!("title = \"x\"\n{}{}", judgement("vth.r1-cycled", &format!("{switch}{more}")), judgement("vth.r1-cycled", ""));
        let mut study = Study::parse("x", "x.toml", &text).unwrap_or_else(|error| panic!("{error}"));
        study.judge[1].measured = "vth.other".to_owned();
        let row = |metric: &str, value: f64, null: &[f64]| Row {
            study: "x".to_owned(),
            claim: "ort.r1-pe1000".to_owned(),
            metric: metric.to_owned(),
            measured: vec![Some(value); 4],
            null: null.iter().copied().map(Some).collect(),
        };
        let rows = vec![row("vth.r1-cycled", 300.0, null), row("vth.other", 900.0, &[])];
        (BySeed { seeds: (FITTED + 1..=FITTED + 4).collect(), rows }, vec![study])
    }

    #[test]
    fn a_row_of_record_decides_by_seed_and_a_null_that_stays_counts_against_it() {
        let told = |null: &[f64], more: &str| {
            let (rows, studies) = of_two(null, more);
            let told = rows.told(&studies, "ort.r1-pe1000").expect("it is of chips");
            let reproduced = rows.counts(&studies, |_| true).iter().map(|share| share.reproduced).sum::<usize>();
            (told.holds, told.stays, told.is_staying(), reproduced)
        };
        assert_eq!(told(&[], ""), (0, 0, false, 0), "both readings decide");
        assert_eq!(told(&[], "row = true"), (4, 0, false, 4));
        assert_eq!(told(&[0.0, 0.0, 0.0, 300.0], "row = true"), (3, 1, false, 3));
        assert_eq!(told(&[300.0, 300.0, 300.0, 0.0], "row = true"), (1, 3, true, 1));
        let (rows, _) = of_two(&[0.0; 4], "");
        assert_eq!(BySeed::parse(&rows.to_json()), Ok(rows), "nulls are kept");
    }
}
