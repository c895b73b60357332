//! Sentences on techniques: what each was asked, and what became of its answers.

use wordline_figures::{AnswersResult, CensusResult, NumberResult, TechniqueResult};

use crate::number::{count, percent};

fn listed(numbers: &[NumberResult]) -> String {
    numbers.iter().map(|NumberResult { name, times }| format!("{name} {}", count(*times))).collect::<Vec<_>>().join(", ")
}

/// The row of the console, after the name.
pub(crate) fn row(of: &TechniqueResult) -> String {
    let AnswersResult { asked, acted, .. } = of.all;
    if asked == 0 {
        return "never asked".to_owned();
    }
    format!("acted {} of {} times asked{}", count(acted), count(asked), rest(of))
}

/// Answers that did not act, with reasons; empty where there are none.
fn rest(of: &TechniqueResult) -> String {
    let AnswersResult { abstained, same, overruled, .. } = of.all;
    let parts = [
        (abstained, "abstained", listed(&of.why)),
        (same, "same as without it", String::new()),
        (overruled, "overruled", listed(&of.overruled_by)),
    ];
    let told = parts.iter().filter(|(number, ..)| *number > 0).map(|(number, what, why)| {
        if why.is_empty() { format!("; {what} {}", count(*number)) } else { format!("; {what} {} ({why})", count(*number)) }
    });
    told.collect()
}

/// Block groups by one property, each value with the share of groups that have it.
pub(crate) fn census(of: &CensusResult) -> String {
    let all: u64 = of.groups.iter().map(|row| row.groups).sum();
    let shares: Vec<String> = of.groups.iter().map(|row| format!("{} {}", row.value, percent(row.groups as f64 / all as f64))).collect();
    format!("block groups by {}: {}", of.of, if shares.is_empty() { "none holds data".to_owned() } else { shares.join(", ") })
}

/// A warning where the technique changed nothing; `None`: it acted.
pub fn warning(of: &TechniqueResult) -> Option<String> {
    if of.all.acted > 0 {
        return None;
    }
    let why = if of.all.asked == 0 {
        let occasions: Vec<&str> = of.questions.iter().map(|question| question.occasion.as_str()).collect();
        format!("never asked, for want of {}", occasions.join(" and of "))
    } else {
        format!("asked {} times{}", count(of.all.asked), rest(of))
    };
    Some(format!("{} is on, and acted 0 times: {why}", of.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_figures::{CensusRow, QuestionResult};

    fn number(name: &str, times: u64) -> NumberResult {
        NumberResult { name: name.to_owned(), times }
    }

    #[test]
    fn a_census_has_shares_by_value() {
        let rows = [(0, 1), (6, 3)].map(|(value, groups)| CensusRow { value, groups });
        let census_of = |groups: &[CensusRow]| census(&CensusResult { of: "quota".to_owned(), groups: groups.to_vec() });
        assert_eq!(census_of(&rows), "block groups by quota: 0 25 %, 6 75 %");
        assert_eq!(census_of(&[]), "block groups by quota: none holds data");
    }

    #[test]
    fn a_row_has_what_became_of_the_answers_and_a_technique_that_changed_nothing_is_a_warning() {
        let mut copies = TechniqueResult {
            name: "copy-threshold".to_owned(),
            all: AnswersResult { asked: 1_200, abstained: 1_100, same: 0, overruled: 40, acted: 60 },
            why: vec![number("beyond its table", 1_000), number("not measured", 100)],
            overruled_by: vec![number("crypto-erase", 40)],
            censuses: Vec::new(),
            questions: vec![QuestionResult { question: "way".to_owned(), occasion: "a move".to_owned(), ..QuestionResult::default() }],
        };
        let told =
            "acted 60 of 1,200 times asked; abstained 1,100 (beyond its table 1,000, not measured 100); overruled 40 (crypto-erase 40)";
        assert_eq!((row(&copies).as_str(), warning(&copies)), (told, None));
        copies.all = AnswersResult { asked: 1_140, acted: 0, ..copies.all };
        assert!(
            warning(&copies).is_some_and(|said| said.starts_with("copy-threshold is on, and acted 0 times: asked 1,140 times; abstained"))
        );
        copies.all = AnswersResult::default();
        assert_eq!(row(&copies), "never asked");
        assert_eq!(warning(&copies).as_deref(), Some("copy-threshold is on, and acted 0 times: never asked, for want of a move"));
    }
}
