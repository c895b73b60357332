//! The measured window of a run: what a drive had counted when it began, so that results have what was counted since.

use wordline_drive::{AnswerCounts, Census, Hook, Hooks, RewriteCounts, SpareCounts, TechniqueCounts, Watched, Why};
use wordline_engine::Observer;
use wordline_figures::cells::BlockCells;
use wordline_figures::{
    AnswersResult, CensusResult, CensusRow, Cost, NumberResult, QuestionResult, RewritesResult, SparedResult, TechniqueResult,
};
use wordline_units::Cause;

use crate::cost::Stopwatch;
use crate::inspection::{Inspection, cells, wears};

/// Counts of a drive at the beginning of its measured window, and a stopwatch that started there.
#[derive(Debug)]
pub struct Measuring {
    cost: Stopwatch,
    rewrites: Vec<(Cause, RewriteCounts)>,
    techniques: Vec<TechniqueCounts>,
    spared: Option<SpareCounts>,
    free_groups: u64,
    /// The inspection that is asked for, and the wear of each flash block when the window began.
    inspected: Option<(Inspection, Vec<f64>)>,
}

impl Measuring {
    /// The window of `drive` that begins now. At its end there is an `inspection` of the cells, or none.
    pub(crate) fn begin<O: Observer>(drive: &Watched<O>, inspection: Option<Inspection>) -> Measuring {
        Measuring {
            rewrites: drive.rewrites(),
            techniques: drive.technique_counts(),
            spared: drive.spare_counts(),
            free_groups: drive.free_groups(),
            inspected: inspection.map(|inspection| (inspection, wears(drive))),
            cost: Stopwatch::start(),
        }
    }

    /// Begins the window of `drive` again: only the last part of the load is measured.
    pub fn begin_again<O: Observer>(&mut self, drive: &Watched<O>) {
        *self = Measuring::begin(drive, self.inspected.as_ref().map(|&(inspection, _)| inspection));
    }

    /// The cells of each flash block of `drive` now; none, unless they are inspected.
    pub(crate) fn cells<O: Observer>(&self, drive: &Watched<O>) -> Vec<BlockCells> {
        self.inspected.as_ref().map_or_else(Vec::new, |(inspection, before)| cells(drive, *inspection, before))
    }

    /// Cost of the window so far.
    pub(crate) fn cost(&self) -> Cost {
        self.cost.read()
    }

    /// Free block groups of the drive when the window began.
    pub(crate) fn free_groups(&self) -> u64 {
        self.free_groups
    }

    /// Rewrites of `drive` since the window began, by cause.
    pub(crate) fn rewrites<O: Observer>(&self, drive: &Watched<O>) -> Vec<RewritesResult> {
        let earlier = |of: Cause| self.rewrites.iter().find(|(known, _)| *known == of).map(|(_, counts)| *counts).unwrap_or_default();
        drive.rewrites().into_iter().filter_map(|(cause, counts)| rewrites(cause, counts.since(&earlier(cause)))).collect()
    }

    /// Erases of `drive` since the window began that leave wordlines without data; `None`: it orders none.
    pub(crate) fn spared<O: Observer>(&self, drive: &Watched<O>) -> Option<SparedResult> {
        let SpareCounts { granted, refused, taken_back, made_plain } = drive.spare_counts()?.since(&self.spared.unwrap_or_default());
        let [refused_for_die, refused_for_capacity, refused_for_gc, refused_as_full] = refused;
        Some(SparedResult {
            granted,
            refused: refused.iter().sum(),
            refused_for_die,
            refused_for_capacity,
            refused_for_gc,
            refused_as_full,
            taken_back,
            made_whole: made_plain,
            idle_share: drive.idle_share(),
        })
    }

    /// Answers of the techniques of `drive` since the window began.
    pub(crate) fn techniques<O: Observer>(&self, drive: &Watched<O>) -> Vec<TechniqueResult> {
        drive.technique_counts().into_iter().zip(&self.techniques).map(|(now, before)| technique(&now.since(before))).collect()
    }
}

/// Result about the rewrites of one cause; `None`: there were none.
fn rewrites(cause: Cause, counts: RewriteCounts) -> Option<RewritesResult> {
    let RewriteCounts { asked, begun, needless, waiting, parked, longest_wait, longest_hold } = counts;
    let [longest_wait_us, longest_hold_us] = [longest_wait, longest_hold].map(|time| time.as_secs_f64() * 1e6);
    let is_any = asked + begun + needless + waiting + parked > 0;
    is_any.then(|| RewritesResult {
        cause: cause.name().to_owned(),
        asked,
        begun,
        needless,
        waiting,
        parked,
        longest_wait_us,
        longest_hold_us,
    })
}

/// Occasion on which a technique that subscribes to `hooks` is asked `question`.
fn occasion(question: Hook, hooks: Hooks) -> String {
    if question != Hook::Work {
        return question.occasion().to_owned();
    }
    // Work is asked for after the news that a technique learns.
    hooks.iter().filter(|hook| hook.is_news()).map(Hook::occasion).collect::<Vec<_>>().join(" or ")
}

fn technique(counts_of: &TechniqueCounts) -> TechniqueResult {
    let number = |name: &str, times: u64| (times > 0).then(|| NumberResult { name: name.to_owned(), times });
    TechniqueResult {
        name: counts_of.name.to_owned(),
        all: answers(&counts_of.total()),
        questions: counts_of
            .questions
            .iter()
            .map(|(question, counts)| QuestionResult {
                question: question.name().to_owned(),
                occasion: occasion(*question, counts_of.hooks),
                answers: answers(counts),
            })
            .collect(),
        why: Why::ALL.iter().zip(counts_of.why).filter_map(|(why, times)| number(why.words(), times)).collect(),
        overruled_by: counts_of.overruled_by.iter().filter_map(|&(by, times)| number(by.unwrap_or("core"), times)).collect(),
        censuses: counts_of.censuses.iter().map(census).collect(),
    }
}

fn census(census: &Census) -> CensusResult {
    let groups = census.groups().iter().map(|&(value, groups)| CensusRow { value, groups }).collect();
    CensusResult { of: census.of().to_owned(), groups }
}

fn answers(counts: &AnswerCounts) -> AnswersResult {
    let &AnswerCounts { asked, abstained, same, overruled } = counts;
    AnswersResult { asked, abstained, same, overruled, acted: counts.acted() }
}
