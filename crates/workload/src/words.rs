//! The nearest right word, for messages about a wrong one.

/// Words longer than this are not compared: nobody mistypes that much.
const LONGEST: usize = 40;

/// The entry of `known` that `word` was most likely meant to be, if any is near enough to be worth naming.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_ascii_lowercase();
    if lower.is_empty() || lower.len() > LONGEST {
        return None;
    }
    let allowed = (lower.chars().count() / 3).max(1) + 1;
    known
        .into_iter()
        .map(|candidate| (distance(&lower, &candidate.to_ascii_lowercase()), candidate))
        .filter(|(edits, candidate)| *edits <= allowed && *edits < candidate.len())
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// `; did you mean 'x'?` or nothing.
pub(crate) fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map(|near| format!("; did you mean '{near}'?")).unwrap_or_default()
}

/// All of `known`, those that `word` is most like first.
pub(crate) fn ranked<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let lower: String = word.to_ascii_lowercase().chars().take(LONGEST).collect();
    let mut ranked: Vec<&str> = known.into_iter().collect();
    ranked.sort_by_cached_key(|candidate| distance(&lower, candidate));
    ranked
}

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut rows: Vec<Vec<usize>> = (0..=a.len()).map(|i| (i..=i + b.len()).collect()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let substitution = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = substitution.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_named_and_a_far_one_is_not() {
        assert_eq!(nearest("wirte", ["read", "write", "trim"]), Some("write"));
        assert_eq!(nearest("queue_dpeth", ["queue_depth", "rate"]), Some("queue_depth"));
        assert_eq!(nearest("zebra", ["read", "write"]), None);
        assert_eq!(nearest("", ["read"]), None);
    }
}
