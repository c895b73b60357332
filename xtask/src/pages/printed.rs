//! Lines that a page prints, held against what was measured.
//!
//! Each line of the page must be a line of the output, in the same order. Spaces do not count. A line that is `…` stands for lines that are left
//! out; lines may be left out without it, too. Not compared are empty lines and what another run need not repeat: the cost of a run.

use super::page::Line;

/// A line of a page that the output does not have.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mismatch {
    pub(super) printed: Line,
    /// The line of the output with the same words, where there is one.
    pub(super) measured: Option<String>,
}

/// Share of words in common from which two lines are taken for the same one with other figures.
const ALIKE: f64 = 0.6;
/// The same for the line that follows directly on the one before.
const ALIKE_NEXT: f64 = 0.75;

/// Every line of `printed` that `output` lacks.
pub(super) fn mismatches(printed: &[Line], output: &str) -> Vec<Mismatch> {
    let output: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let mut found = Vec::new();
    // The next line of the output that may stand for one of the page.
    let mut next = 0;
    let mut is_adjacent = false;
    for line in printed.iter().filter(|line| !line.text.trim().is_empty()) {
        if !is_compared(line) {
            is_adjacent = false;
            continue;
        }
        let place = match output[next..].iter().position(|measured| plain(measured) == plain(&line.text)) {
            Some(ahead) => Some(next + ahead),
            None => {
                let place = alike(&line.text, &output, next, is_adjacent);
                found.push(Mismatch { printed: line.clone(), measured: place.map(|place| output[place].trim_end().to_owned()) });
                place
            }
        };
        is_adjacent = place.is_some();
        next = place.map_or(next, |place| place + 1);
    }
    found
}

/// True if a line of a page is held against the output.
pub(super) fn is_compared(line: &Line) -> bool {
    let text = line.text.trim();
    !text.is_empty() && !is_elision(text) && !varies(text)
}

/// The page with every printed line replaced by what was measured for it, where something was. Indents stay those of the output.
pub(super) fn blessed(page: &str, mismatches: &[Mismatch]) -> String {
    let measured = |number| mismatches.iter().find(|wrong| wrong.printed.number == number).and_then(|wrong| wrong.measured.as_deref());
    page.lines().enumerate().flat_map(|(index, line)| [measured(index + 1).unwrap_or(line), "\n"]).collect()
}

/// Lines outside of what was replaced that still have a figure which was: prose that may have to be written anew. Figures of three digits and more count.
pub(super) fn left_over(blessed: &str, mismatches: &[Mismatch]) -> Vec<(Line, String)> {
    let gone: Vec<&str> = mismatches
        .iter()
        .filter_map(|wrong| Some((wrong, wrong.measured.as_ref()?)))
        .flat_map(|(wrong, measured)| figures(&wrong.printed.text).filter(move |figure| figures(measured).all(|other| other != *figure)))
        .collect();
    let lines = blessed.lines().enumerate().map(|(index, text)| Line { number: index + 1, text: text.to_owned() });
    let still = |line: &Line| figures(&line.text).find(|figure| gone.contains(figure)).map(str::to_owned);
    let is_replaced = |line: &Line| mismatches.iter().any(|wrong| wrong.printed.number == line.number);
    lines.filter(|line| !is_replaced(line)).filter_map(|line| still(&line).map(|figure| (line, figure))).collect()
}

/// Numbers with three digits or more.
fn figures(text: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| !c.is_ascii_digit() && c != '.' && c != ',';
    text.split(ends).map(|figure| figure.trim_matches(['.', ','])).filter(|figure| figure.chars().filter(char::is_ascii_digit).count() >= 3)
}

/// The line of the output from `next` on that has the most words of `line`; the first of several, and the very next one where that is near enough.
fn alike(line: &str, output: &[&str], next: usize, is_adjacent: bool) -> Option<usize> {
    if is_adjacent && output.get(next).is_some_and(|measured| likeness(line, measured) >= ALIKE_NEXT) {
        return Some(next);
    }
    let mut best = None;
    for (place, measured) in output.iter().enumerate().skip(next) {
        let likeness = likeness(line, measured);
        if likeness >= ALIKE && best.is_none_or(|(most, _)| likeness > most) {
            best = Some((likeness, place));
        }
    }
    best.map(|(_, place)| place)
}

/// Share of the words that two lines have in common, 0 to 1. Numbers and bars are no words.
fn likeness(one: &str, other: &str) -> f64 {
    let words = |line: &str| line.split_whitespace().filter(|word| is_word(word)).map(str::to_owned).collect::<Vec<String>>();
    let (one, mut rest) = (words(one), words(other));
    let all = one.len() + rest.len();
    let mut common = 0;
    for word in &one {
        if let Some(place) = rest.iter().position(|other| other == word) {
            rest.swap_remove(place);
            common += 2;
        }
    }
    if all == 0 { 0.0 } else { f64::from(common) / all as f64 }
}

fn is_word(word: &str) -> bool {
    !word.contains(|c: char| c.is_ascii_digit() || c == '█') && word != "-"
}

/// With one space between words.
fn plain(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_elision(line: &str) -> bool {
    line == "…" || line == "..."
}

/// Time, memory and speed of the machine.
fn varies(line: &str) -> bool {
    line.starts_with("cost ") || line.contains("CPU-s")
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "head\n\n1. read at 9,107 us: 1,682 us\n   core    3.391 us   0.1 %  █\n   die        115 us\n2. read at 1 us: 1,675 us\n   \
                          core  2.5 us   0.2 %  █\n   die        116 us\ntotal 17 us\n  cost 0.5 CPU-s\n";

    fn page(text: &str) -> Vec<Line> {
        text.lines().enumerate().map(|(index, text)| Line { number: index + 10, text: text.to_owned() }).collect()
    }

    #[test]
    fn what_was_measured_may_be_printed_in_part_and_with_other_spaces() {
        for printed in [
            OUTPUT,
            "1. read at 9,107 us:   1,682 us\n…\n  die 116 us\n",
            "head\ntotal 17 us\ncost 9 CPU-s and other things\n",
            "  ...\n2. read at 1 us: 1,675 us\n",
        ] {
            assert_eq!(mismatches(&page(printed), OUTPUT), [], "{printed}");
        }
    }

    #[test]
    fn a_wrong_figure_is_found_with_its_line_and_what_was_measured() {
        let found = mismatches(&page("head\n1. read at 9,107 us: 6,764 us\n   core 3.391 us 0.1 % █\n"), OUTPUT);
        let printed = Line { number: 11, text: "1. read at 9,107 us: 6,764 us".to_owned() };
        assert_eq!(found, [Mismatch { printed, measured: Some("1. read at 9,107 us: 1,682 us".to_owned()) }]);
    }

    #[test]
    fn order_counts_and_a_line_of_other_words_was_not_measured() {
        let found = mismatches(&page("total 17 us\n1. read at 9,107 us: 1,682 us\n"), OUTPUT);
        assert_eq!(found.iter().map(|wrong| (wrong.printed.number, &wrong.measured)).collect::<Vec<_>>(), [(11, &None)]);
        let found = mismatches(&page("write amplification of it 17\n"), OUTPUT);
        assert_eq!(found.iter().map(|wrong| (wrong.printed.number, &wrong.measured)).collect::<Vec<_>>(), [(10, &None)]);
    }

    #[test]
    fn a_page_is_blessed_line_by_line_with_the_lines_that_follow_each_other() {
        let text = "2. read at 1 us: 9,000 us\n   core  7 us   7 %  ███\n   die  7 us\nthe 9,000 us of above\n";
        let lines = page(text);
        let printed: Vec<Line> = lines[..3].iter().map(|line| Line { number: line.number - 9, text: line.text.clone() }).collect();
        let wrong = mismatches(&printed, &OUTPUT[OUTPUT.find("2. read").expect("there")..]);
        let page = blessed(text, &wrong);
        assert_eq!(page, "2. read at 1 us: 1,675 us\n   core  2.5 us   0.2 %  █\n   die        116 us\nthe 9,000 us of above\n");
        let left: Vec<(usize, String)> = left_over(&page, &wrong).into_iter().map(|(line, figure)| (line.number, figure)).collect();
        assert_eq!(left, [(4, "9,000".to_owned())]);
        assert_eq!(
            mismatches(
                &page
                    .lines()
                    .take(3)
                    .zip(&printed)
                    .map(|(text, line)| Line { number: line.number, text: text.to_owned() })
                    .collect::<Vec<_>>(),
                OUTPUT
            ),
            []
        );
    }
}
