//! The origin of a table, as it stands in its file.

use wordline_figures::MadeBy;
use wordline_figures::made_by::RunName;

/// Origin of a table, as keys and values: the command, the version, and as JSON the identity of each of these runs.
pub fn about<'a>(made_by: &MadeBy, runs: impl Iterator<Item = &'a RunName>) -> Vec<(String, String)> {
    let runs: Vec<&RunName> = runs.collect();
    let runs = serde_json::to_string(&runs).expect("a tree of numbers and strings is always valid JSON");
    vec![
        ("wordline.command".to_owned(), made_by.command.clone()),
        ("wordline.version".to_owned(), made_by.version.clone()),
        ("wordline.runs".to_owned(), runs),
    ]
}
