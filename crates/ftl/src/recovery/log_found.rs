//! The map log as recovery finds it: which of its pages count, which checkpoint they begin with, and whether one is missing.
//!
//! ```text
//!   serials   17 … 55 │ 56 57 │                  begun 17: what the newest whole checkpoint needs
//!                       tail: the last program     no page behind it shows that it has ended
//! ```
//!
//! 1. Every page that can be read counts: what a program held that has failed, or never ended, is true all the same.
//! 2. A page may be missing if its program has failed or may not have ended: each page names the last serial number before its own start that must be there.
//!    The last program of all may not have ended. Where one of its copies is not whole, it is written once more.
//! 3. The newest checkpoint counts of which no page is missing up to the end, and nothing is missing behind it. Without one, all pages there ever were.

use std::collections::{BTreeMap, BTreeSet};

use crate::metadata::map_log::Resumed;
use crate::pages::checkpoint::{CheckpointPage, Said};
use crate::pages::journal::Facts;
use crate::pages::map_log::{Body, LogPage};
use crate::pages::oob::{BUFFER, Filling, MarkCopy, ProgramMarks};

/// Serial numbers left out after a power cut: pages that cannot be read now may have them.
const SERIALS_SKIPPED: u64 = 1 << 16;

/// Pages of the log, and the stands they lie in.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogPages {
    /// By serial number, with the number of copies that can be read.
    pages: BTreeMap<u64, (LogPage, u32)>,
    /// Of each stand with pages of the log: the first serial number and the last.
    stands: BTreeMap<usize, (u64, u64)>,
}

impl LogPages {
    /// Take in `page`, found in stand `number`.
    pub(crate) fn add(&mut self, number: usize, page: LogPage) {
        let serial = page.serial;
        let span = self.stands.entry(number).or_insert((serial, serial));
        *span = (span.0.min(serial), span.1.max(serial));
        self.pages.entry(serial).or_insert((page, 0)).1 += 1;
    }
}

/// The log as it counts.
#[derive(Clone, Debug)]
pub(crate) struct LogFound {
    /// Pages that count, in their order.
    pages: Vec<LogPage>,
    /// Stands with pages that are needed, each with its first serial number.
    stands: BTreeMap<usize, (u64, u64)>,
    /// Program units whose marks are told.
    told: BTreeSet<(Filling, u32)>,
    /// True if no page is missing.
    pub(crate) is_whole: bool,
    /// Place at which the log goes on.
    pub(crate) resumed: Resumed,
    /// Facts of the last program that are to be written again.
    pub(crate) again: Vec<Facts>,
}

impl Default for LogFound {
    /// The log of a core that has written none.
    fn default() -> LogFound {
        let resumed = Resumed { next: 1, before: 0, begun: 1, whole: None };
        LogFound { pages: Vec::new(), stands: BTreeMap::new(), told: BTreeSet::new(), is_whole: true, resumed, again: Vec::new() }
    }
}

impl LogFound {
    /// The log in `found`.
    pub(crate) fn of(found: LogPages) -> LogFound {
        let Some((last, _)) = found.pages.last_key_value().map(|(_, page)| page.clone()) else {
            return LogFound::default();
        };
        let next = last.serial + SERIALS_SKIPPED;
        let is_sure = (last.first..=last.serial)
            .all(|serial| found.pages.get(&serial).is_some_and(|(page, copies)| u64::from(*copies) >= page.copies));
        // Of the last program, pages may be missing.
        let before = match last.first - 1 {
            _ if is_sure => last.serial,
            _ if last.first == last.start => last.before,
            body => body,
        };
        let starts: BTreeMap<u64, u64> = found.pages.values().map(|(page, _)| (page.start, page.before)).collect();
        let tail = (!is_sure).then_some((u64::MAX, last.first - 1));
        let gaps: Vec<(u64, u64)> = starts.into_iter().chain(tail).map(|(start, before)| (before, start)).collect();
        let pages: Vec<LogPage> = found.pages.into_values().map(|(page, _)| page).collect();
        // A checkpoint that may not have ended is relied on only where what is before it is gone: the start after it went by what was there before.
        let begun = begin_of(&pages, &gaps, false).or_else(|| begin_of(&pages, &gaps, true));
        let (begin, whole) = begun.unwrap_or((0, None));
        let pages: Vec<LogPage> = pages.into_iter().filter(|page| page.serial >= begin).collect();
        let stands = found.stands.into_iter().filter(|&(_, (_, to))| to >= begin).collect();
        let of_tail = |page: &&LogPage| !is_sure && page.first == last.first;
        let again =
            pages.iter().filter(of_tail).filter_map(|page| if let Body::Facts(facts) = &page.body { Some(facts.clone()) } else { None });
        let again = again.collect();
        let resumed = Resumed { next, before, begun: begin.max(1), whole };
        let mut log = LogFound { pages, stands, told: BTreeSet::new(), is_whole: begun.is_some(), resumed, again };
        log.told = log.records().map(|record| (record.filling, record.program)).collect();
        log
    }

    /// Facts that count, in their order.
    pub(crate) fn facts(&self) -> impl Iterator<Item = &Facts> {
        self.pages.iter().filter_map(|page| if let Body::Facts(facts) = &page.body { Some(facts) } else { None })
    }

    /// Records of marks that count, in the order in which their programs have landed.
    pub(crate) fn records(&self) -> impl Iterator<Item = &ProgramMarks> {
        self.facts().flat_map(|facts| if let Facts::Marks(records) = facts { &records[..] } else { &[] })
    }

    /// Units that were in the write buffer when the checkpoint was begun, each with its version there, and whose copies on flash were lost.
    pub(crate) fn buffered(&self) -> BTreeSet<(u32, u64)> {
        let marks = self.records().filter(|record| record.filling == BUFFER).flat_map(|record| &record.marks);
        marks.map(|mark| (mark.lpn, mark.version)).collect()
    }

    /// Program units of which a record says that they hold nothing.
    pub(crate) fn given_up(&self) -> Vec<(Filling, u32)> {
        let is_nothing = |record: &&ProgramMarks| record.marks.iter().all(|mark| *mark == MarkCopy::NOTHING);
        self.records().filter(is_nothing).map(|record| (record.filling, record.program)).collect()
    }

    /// Number and pages of the checkpoint that the log begins with.
    pub(crate) fn checkpoint(&self) -> Option<(u64, Vec<CheckpointPage>)> {
        let number = self.resumed.whole?;
        let of_page = |page: &LogPage| if let Body::Checkpoint(page) = &page.body { Some(page.clone()) } else { None };
        Some((number, self.pages.iter().filter_map(of_page).filter(|page| page.number == number).collect()))
    }

    /// True if a record tells the marks of program unit `program` of the blocks with this `filling`.
    pub(crate) fn tells(&self, filling: Filling, program: u32) -> bool {
        self.told.contains(&(filling, program))
    }

    /// True if stand `number` holds pages that are needed.
    pub(crate) fn holds(&self, number: usize) -> bool {
        self.stands.contains_key(&number)
    }

    /// Stands that hold the same pages, oldest first, each group with its first serial number.
    pub(crate) fn pairs(&self) -> Vec<(u64, Vec<usize>)> {
        let mut spans: Vec<((u64, u64), usize)> = self.stands.iter().map(|(&stand, &span)| (span, stand)).collect();
        spans.sort_unstable();
        let mut pairs: Vec<(u64, u64, Vec<usize>)> = Vec::new();
        for ((from, to), stand) in spans {
            match pairs.last_mut().filter(|(_, end, _)| from <= *end) {
                Some((_, end, stands)) => {
                    *end = to.max(*end);
                    stands.push(stand);
                }
                None => pairs.push((from, to, vec![stand])),
            }
        }
        pairs.into_iter().map(|(from, _, stands)| (from, stands)).collect()
    }
}

/// First serial number of `pages` that is needed, and the checkpoint that begins there, if nothing is missing from there on; `None`: something is, or may be.
/// `gaps`: serial numbers above the first and below the second of each may be missing. A checkpoint may end there if `anywhere`.
fn begin_of(pages: &[LogPage], gaps: &[(u64, u64)], anywhere: bool) -> Option<(u64, Option<u64>)> {
    let is_optional = |from: u64, to: u64| {
        let mut serial = from;
        while serial < to {
            match gaps.iter().find(|&&(before, start)| before < serial && serial < start) {
                Some(&(_, start)) => serial = start,
                None => return false,
            }
        }
        true
    };
    // Up to where, from the end backwards, nothing is missing before a page.
    let follows = |pair: &[LogPage]| is_optional(pair[0].serial + 1, pair[1].serial);
    let from = pages.windows(2).rposition(|pair| !follows(pair)).map_or(0, |at| at + 1);
    let whole = &pages[from..];
    let is_there = |begun: u64| whole.first().is_some_and(|first| first.serial <= begun || is_optional(begun, first.serial));
    // Every page of a checkpoint has to be there.
    let is_complete =
        |end: u64, begun: u64| whole.iter().filter(|page| (begun..=end).contains(&page.serial)).count() as u64 == end + 1 - begun;
    let is_sure = |page: &&LogPage| anywhere || !gaps.iter().any(|&(before, start)| before < page.serial && page.serial < start);
    let newest = whole.iter().rev().filter(is_sure).find_map(|page| match &page.body {
        Body::Checkpoint(checkpoint) if checkpoint.said == Said::End && is_complete(page.serial, page.begun) => {
            Some((page.begun, Some(checkpoint.number)))
        }
        Body::Checkpoint(_) | Body::Facts(_) => None,
    });
    let is_from_birth = pages.is_empty() || is_there(1);
    newest.or(is_from_birth.then_some((1, None)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(serial: u64, first: u64, (start, before): (u64, u64), body: Body) -> LogPage {
        LogPage { serial, first, start, before, begun: 0, copies: 2, body }
    }

    fn facts() -> Body {
        Body::Facts(Facts::Records(Vec::new()))
    }

    /// Pages of programs of two, each in two stands, but those of `missing` (serial, stand).
    fn log(serials: std::ops::RangeInclusive<u64>, missing: &[(u64, usize)]) -> LogPages {
        let mut found = LogPages::default();
        for serial in serials {
            for stand in (0..2).filter(|&stand| !missing.contains(&(serial, stand))) {
                found.add(stand, page(serial, (serial - 1) / 2 * 2 + 1, (1, 0), facts()));
            }
        }
        found
    }

    #[test]
    fn one_copy_of_each_page_is_enough_but_of_the_last_program() {
        let found = LogFound::of(log(1..=8, &[(3, 0), (4, 1), (1, 1)]));
        assert!(found.is_whole && found.pages.len() == 8);
        let found = LogFound::of(log(1..=8, &[(7, 0)]));
        assert!(
            found.is_whole && found.pages.len() == 8 && found.resumed.before == 6 && found.again.len() == 2,
            "nobody knows whether it has ended"
        );
        let found = LogFound::of(log(1..=8, &[(7, 0), (7, 1)]));
        assert!(found.is_whole && found.pages.len() == 7);
        let found = LogFound::of(log(1..=8, &[(3, 0), (3, 1)]));
        assert!(!found.is_whole, "both copies are gone");
    }

    #[test]
    fn one_copy_is_all_where_a_single_die_had_room() {
        let mut pages = LogPages::default();
        (1..=4).for_each(|serial| pages.add(0, LogPage { copies: 1, ..page(serial, serial, (1, 0), facts()) }));
        let found = LogFound::of(pages);
        assert!(found.is_whole && found.resumed.before == 4 && found.again.is_empty());
    }

    #[test]
    fn pages_of_the_last_program_before_a_start_may_be_missing() {
        let mut pages = log(1..=8, &[(7, 0)]);
        pages.add(2, page(100, 100, (100, 6), facts()));
        pages.add(3, page(100, 100, (100, 6), facts()));
        let found = LogFound::of(pages);
        assert_eq!(found.pages.iter().map(|page| page.serial).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7, 8, 100]);
        assert!(found.is_whole && found.resumed.before == 100);
        assert_eq!(found.pairs(), [(1, vec![0, 1]), (100, vec![2, 3])]);
    }

    #[test]
    fn a_whole_checkpoint_is_all_that_is_needed_of_what_came_before_it() {
        let mut pages = LogPages::default();
        for serial in 41..=50 {
            let body = if serial == 46 { Body::Checkpoint(CheckpointPage { number: 9, index: 0, said: Said::End }) } else { facts() };
            let page = LogPage { begun: 43, ..page(serial, serial, (1, 0), body) };
            [0, 1].into_iter().for_each(|stand| pages.add(stand, page.clone()));
        }
        let found = LogFound::of(pages);
        assert!(found.is_whole);
        assert_eq!((found.resumed.begun, found.resumed.whole, found.pages.len()), (43, Some(9), 8));
    }
}
