//! Suggestions for an unknown word.

/// Longer words are no typing mistakes.
const LONGEST: usize = 32;

/// Suggestion in place of `wrong`: the nearest of `known`, or all of them.
pub(super) fn instead_of<'a>(wrong: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    match nearest(wrong, known.clone()) {
        Some(near) => format!("did you mean {near}? There are {}", listed(known)),
        None => format!("expected one of {}", listed(known)),
    }
}

/// All words, with commas between.
pub(super) fn listed<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

/// The word of `known` that takes the fewest edits, if they are few for its length.
fn nearest<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wrong: Vec<char> = wrong.chars().take(LONGEST + 1).collect();
    if wrong.len() > LONGEST {
        return None;
    }
    let limit = (wrong.len() / 3).max(1);
    let all = known.map(|word| (edits(&wrong, word), word));
    all.filter(|&(edits, _)| edits <= limit).min_by_key(|&(edits, _)| edits).map(|(_, word)| word)
}

/// Letters to put in, take out, replace or swap with a neighbour, from one word to another.
fn edits(from: &[char], to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=to.len()).collect()];
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_named_and_a_strange_one_has_none() {
        let known = ["status", "hint", "hints", "fault read", "fault power-cut"];
        for (wrong, near) in
            [("hnit", Some("hint")), ("statsu", Some("status")), ("fault raed", Some("fault read")), ("power", None), ("", None)]
        {
            assert_eq!(nearest(wrong, known.into_iter()), near, "{wrong}");
        }
        assert_eq!(nearest(&"x".repeat(100_000), known.into_iter()), None);
        assert!(instead_of("hnit", known.into_iter()).starts_with("did you mean hint?"));
        assert!(instead_of("quark", known.into_iter()).starts_with("expected one of status, hint"));
    }
}
