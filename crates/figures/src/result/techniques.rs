//! Results about techniques: what each was asked, and what became of its answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// Block groups at the end of the run, by what the technique holds of them. Absent where it holds nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub censuses: Vec<CensusResult>,
}

/// Block groups with data by one property that a technique holds of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CensusResult {
    /// The property: `quota`, `copies left` or `class`. Copies left are by the quota alone: data that has been kept for too long is not copied all the same.
    pub of: String,
    /// Number of block groups by its values, the least first.
    pub groups: Vec<CensusRow>,
}

/// Block groups of one value of a property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CensusRow {
    /// The value.
    pub value: u32,
    /// Number of block groups.
    pub groups: u64,
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
