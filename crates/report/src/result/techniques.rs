//! Results about techniques: what each was asked, and what became of its answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::count;

/// A technique that is switched on, over the measured window. Each answer counts once: `asked` is the sum of `abstained`, `same`, `overruled` and
/// `acted`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TechniqueResult {
    /// Name of the technique, as in drive files.
    pub name: String,
    /// Answers to all questions together.
    #[serde(flatten)]
    pub all: AnswersResult,
    /// The same by question, of the questions that the technique answers.
    pub questions: Vec<QuestionResult>,
    /// Answers without an opinion, by reason: only reasons that occurred.
    pub why: Vec<NumberResult>,
    /// Answers that gave way, by whose answer was taken: a technique, or `core`.
    pub overruled_by: Vec<NumberResult>,
}

/// Number of answers, by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnswersResult {
    /// Times that the technique was asked.
    pub asked: u64,
    /// Answers without an opinion.
    pub abstained: u64,
    /// Answers that asked for what the drive does without the technique.
    pub same: u64,
    /// Answers that gave way to another's.
    pub overruled: u64,
    /// Answers that were done, where the drive would have done otherwise without the technique. Work that was requested counts here; `rewrites` and `flash`
    /// have its effect.
    pub acted: u64,
}

/// Answers to one question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionResult {
    /// Word for the question, as on the cards of techniques: `work`, `way`, `estimate` and others.
    pub question: String,
    /// Occasion on which it is asked.
    pub occasion: String,
    /// Answers to it.
    #[serde(flatten)]
    pub answers: AnswersResult,
}

/// A number of answers, of what the name says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NumberResult {
    /// Reason, or name of a technique.
    pub name: String,
    /// Number of answers.
    pub times: u64,
}

fn listed(numbers: &[NumberResult]) -> String {
    numbers.iter().map(|NumberResult { name, times }| format!("{name} {}", count(*times))).collect::<Vec<_>>().join(", ")
}

impl TechniqueResult {
    /// The row of the console, after the name.
    pub(crate) fn told(&self) -> String {
        let AnswersResult { asked, acted, .. } = self.all;
        if asked == 0 {
            return "never asked".to_owned();
        }
        format!("acted {} of {} times asked{}", count(acted), count(asked), self.rest())
    }

    /// Answers that did not act, with reasons; empty where there are none.
    fn rest(&self) -> String {
        let AnswersResult { abstained, same, overruled, .. } = self.all;
        let parts = [
            (abstained, "abstained", listed(&self.why)),
            (same, "same as without it", String::new()),
            (overruled, "overruled", listed(&self.overruled_by)),
        ];
        let told = parts.iter().filter(|(number, ..)| *number > 0).map(|(number, what, of)| {
            if of.is_empty() { format!("; {what} {}", count(*number)) } else { format!("; {what} {} ({of})", count(*number)) }
        });
        told.collect()
    }

    /// A warning where the technique changed nothing; `None`: it acted.
    pub fn warning(&self) -> Option<String> {
        if self.all.acted > 0 {
            return None;
        }
        let why = if self.all.asked == 0 {
            let occasions: Vec<&str> = self.questions.iter().map(|question| question.occasion.as_str()).collect();
            format!("never asked, for want of {}", occasions.join(" and of "))
        } else {
            format!("asked {} times{}", count(self.all.asked), self.rest())
        };
        Some(format!("{} is on, and acted 0 times: {why}", self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(name: &str, times: u64) -> NumberResult {
        NumberResult { name: name.to_owned(), times }
    }

    #[test]
    fn a_row_has_what_became_of_the_answers_and_a_technique_that_changed_nothing_is_a_warning() {
        let mut copies = TechniqueResult {
            name: "copy-threshold".to_owned(),
            all: AnswersResult { asked: 1_200, abstained: 1_100, same: 0, overruled: 40, acted: 60 },
            why: vec![number("beyond its table", 1_000), number("not measured", 100)],
            overruled_by: vec![number("crypto-erase", 40)],
            questions: vec![QuestionResult { question: "way".to_owned(), occasion: "a move".to_owned(), ..QuestionResult::default() }],
        };
        let told =
            "acted 60 of 1,200 times asked; abstained 1,100 (beyond its table 1,000, not measured 100); overruled 40 (crypto-erase 40)";
        assert_eq!((copies.told().as_str(), copies.warning()), (told, None));
        copies.all = AnswersResult { asked: 1_140, acted: 0, ..copies.all };
        assert!(
            copies.warning().is_some_and(|said| said.starts_with("copy-threshold is on, and acted 0 times: asked 1,140 times; abstained"))
        );
        copies.all = AnswersResult::default();
        assert_eq!(copies.told(), "never asked");
        assert_eq!(copies.warning().as_deref(), Some("copy-threshold is on, and acted 0 times: never asked, for want of a move"));
    }
}
