//! The nearest right word to a wrong one.

/// The candidate that `wrong` was most likely meant to be; `None` where nothing is near. Among equals, the first.
pub fn nearest<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Anything longer is no typing mistake, and the distance of two long texts would take their product in time.
    if wrong.len() > 64 {
        return None;
    }
    let folded = fold(wrong);
    let limit = (folded.chars().count() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let distance = distance(&folded, &fold(candidate));
        if distance <= limit && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Letter case and the choice between `-`, `_` and a space are no difference worth counting.
fn fold(word: &str) -> String {
    word.trim().to_lowercase().replace(['-', ' '], "_")
}

/// Edits from `a` to `b`, where swapping two neighbours counts once.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let differ = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + differ);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_finds_its_word_and_nonsense_finds_none() {
        let words = ["pageftl", "pageftl-4k", "mqsim-b"];
        assert_eq!(nearest("pagftl", words), Some("pageftl"));
        assert_eq!(nearest("paegftl", words), Some("pageftl"));
        assert_eq!(nearest("PageFTL_4K", words), Some("pageftl-4k"));
        assert_eq!(nearest("toaster", words), None);
        assert_eq!(nearest("", words), None);
        assert_eq!(nearest(&"x".repeat(1 << 20), words), None);
    }
}
