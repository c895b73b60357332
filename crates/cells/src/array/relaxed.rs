//! Wordlines that were programmed with settings other than the default: with a narrowed window, or with verifies left out.
//!
//! Of each such wordline the die keeps the number of a *course*: the settings, and how much faster than at the reference temperature its cells were. Courses
//! are few, because followers of many h-layers share them. The grid knows no courses: what strays because of one is added to its rates ([`Strays`]).

use wordline_units::Celsius;

use super::{CellArray, Life};
use crate::condition::Condition;
use crate::grid::PAGES;
use crate::program::Settings;
use crate::strays::Strays;
use crate::variation::Traits;
use crate::wear::History;
use crate::wordline::References;

/// The settings and the warmth that a wordline was programmed with.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Course {
    settings: Settings,
    /// Warmth at the program, above or below the reference, in steps of two kelvin.
    warmth: i16,
}

/// The courses of a die's wordlines.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct Courses {
    /// Course number of each wordline of each block; 0: the default. Empty: every wordline has the default.
    of: Vec<u16>,
    /// Courses by number, from 1 on.
    known: Vec<Course>,
    /// Wordlines in a block.
    wordlines: u32,
}

/// Kelvins in a step of warmth: the difference that a follower's table of loops cannot show.
const WARMTH: f64 = 2.0;

impl Courses {
    /// The number of a wordline's course.
    #[inline]
    pub(super) fn of(&self, block: u32, wordline: u32) -> u16 {
        if self.of.is_empty() { 0 } else { self.of[(block * self.wordlines + wordline) as usize] }
    }

    /// Resets the courses of an erased block.
    pub(super) fn erase(&mut self, block: u32) {
        if !self.of.is_empty() {
            self.of[(block * self.wordlines) as usize..][..self.wordlines as usize].fill(0);
        }
    }

    /// True if these courses fit a die of this many blocks with this many wordlines each.
    pub(super) fn fits(&self, blocks: usize, wordlines: u32) -> bool {
        let sound = |&course: &u16| usize::from(course) <= self.known.len();
        self.of.is_empty() || (self.wordlines == wordlines && self.of.len() == blocks * wordlines as usize && self.of.iter().all(sound))
    }

    /// Records the course of a wordline. Returns true if the numbers of courses have changed.
    #[must_use]
    fn set(&mut self, (blocks, wordlines): (usize, u32), block: u32, wordline: u32, course: Course) -> bool {
        if self.of.is_empty() {
            self.wordlines = wordlines;
            self.of = vec![0; blocks * wordlines as usize];
        }
        // The latest courses are those of the layers that are being written.
        let at = self.known.iter().rposition(|known| *known == course);
        let is_over = at.is_none() && self.known.len() == usize::from(u16::MAX);
        if is_over {
            self.forget_unused();
        }
        let number = at.unwrap_or_else(|| {
            self.known.push(course);
            self.known.len() - 1
        });
        self.of[(block * self.wordlines + wordline) as usize] = number as u16 + 1;
        is_over
    }

    /// Frees the course numbers that no wordline has any more.
    #[cold]
    fn forget_unused(&mut self) {
        let mut numbers = vec![0u16; self.known.len() + 1];
        self.of.iter().for_each(|&course| numbers[usize::from(course)] = 1);
        let mut kept = Vec::new();
        for (number, course) in self.known.iter().enumerate() {
            if numbers[number + 1] == 1 {
                kept.push(*course);
                numbers[number + 1] = kept.len() as u16;
            }
        }
        numbers[0] = 0;
        self.of.iter_mut().for_each(|course| *course = numbers[usize::from(*course)]);
        assert!(kept.len() < usize::from(u16::MAX), "{} courses in use at once", kept.len());
        self.known = kept;
    }
}

impl CellArray {
    /// Records how the wordline of `page` was programmed, if not by default.
    pub(super) fn keep_course(&mut self, block: u32, page: u32, settings: &Settings) {
        let wordline = page / self.bits;
        if !settings.is_default() {
            let above = self.temperature.0 - self.model.physics().retention.temperature;
            let course = Course { settings: *settings, warmth: libm::round(above / WARMTH) as i16 };
            let size = (self.lives.len(), self.wordlines());
            if self.courses.set(size, block, wordline, course) {
                self.memory.forget();
            }
        }
    }

    /// Wordlines in a block.
    pub(super) fn wordlines(&self) -> u32 {
        self.model.layers().len() as u32 * self.wordlines_per_layer
    }

    /// Adds to the error rates of a wordline's pages the errors of the cells that strayed because of a course.
    #[expect(clippy::too_many_arguments, reason = "all of them say which read it is")]
    pub(super) fn add_strays(
        &self,
        life: &Life,
        course: u16,
        traits: &Traits,
        worn: f64,
        (retention, reads): (f64, f64),
        references: &References,
        rates: &mut [f64; PAGES],
    ) {
        let condition = Condition { retention, reads, ..self.condition(life, course, 0.0) };
        let strays = self.strays(traits, worn, &condition);
        let w = worn / self.model.physics().wear.reference;
        strays.add(traits, &condition, w, references, &mut rates[..self.bits as usize]);
    }

    /// The stray cells of a wordline that was programmed as `condition` says.
    pub(super) fn strays<'a>(&'a self, traits: &Traits, worn: f64, condition: &'a Condition) -> Strays<'a> {
        let warmed = self.model.warmed(traits, condition.programmed_at);
        Strays::new(&self.model, traits, &warmed, worn, &condition.settings)
    }

    /// The condition of a wordline of a block just after a program with this course. `gentle`: the part of its erase stress in which it was spared.
    pub(super) fn condition(&self, life: &Life, number: u16, gentle: f32) -> Condition {
        let history = History { erase: life.erase, program: life.program, gentle };
        let course = usize::from(number).checked_sub(1).map(|number| self.courses.known[number]);
        let (settings, at) = course.map_or((Settings::default(), self.temperature), |course| {
            // That a page programmed at one temperature is read at another is not modelled for simulation; that it was programmed faster is.
            (course.settings, Celsius(self.model.physics().retention.temperature + f64::from(course.warmth) * WARMTH))
        });
        Condition { settings, open_interval: (life.first - life.erased).as_secs_f64(), ..Condition::new(history, at) }
    }
}
