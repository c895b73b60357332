//! The cells of a drive with its physics off: the data sheet's fixed times, and failures by rate.
//!
//! A chip asks three questions of a block ([`Cells::read`], [`Cells::program`], [`Cells::erase`]) and obeys the answers.

use wordline_units::random::{Draw, Stream};

use crate::retries::{Retries, Tried, Try};

/// Failure rates of cells. All zero: they never fail.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Faults {
    /// Share of blocks that are bad when the die leaves the factory.
    pub factory_bad: f64,
    /// Probability that a program command fails.
    pub program_fail: f64,
    /// Probability that an erase fails.
    pub erase_fail: f64,
    /// Erases after which a block can no longer be erased; `None`: no limit.
    pub endurance: Option<u32>,
    /// Probability that a page read cannot be corrected.
    pub read_fail: f64,
    /// Read retries by rate; `None`: none but those of `read_fail`.
    pub retries: Option<Retries>,
    /// Share of t_PROG that a program takes less if a controller has narrowed its settings. 0: none, and a die without physics tells nothing of its programs.
    pub program_saving: f64,
}

/// The outcome of one operation on the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The operation succeeded.
    Good,
    /// A program or erase that did not verify, or a read beyond correction.
    Bad,
}

/// The cells of one die.
#[derive(Clone, Debug)]
pub struct Cells {
    faults: Faults,
    factory: Draw,
    program: Draw,
    erase: Draw,
    read: Draw,
    tried: Option<Tried>,
}

impl Cells {
    /// New cells of die number `die` of a drive, with random numbers of their own.
    pub fn new(faults: Faults, seed: u64, die: u32) -> Cells {
        let draw = |stream| Draw::new(seed, stream, die);
        Cells {
            faults,
            factory: draw(Stream::FactoryBad),
            program: draw(Stream::ProgramFail),
            erase: draw(Stream::EraseFail),
            read: draw(Stream::ReadFail),
            tried: faults.retries.map(|retries| Tried::new(retries, seed, die)),
        }
    }

    /// Erases after which a block can no longer be erased; `None`: no limit.
    pub fn endurance(&self) -> Option<u32> {
        self.faults.endurance
    }

    /// Number of random draws so far of each kind: program, erase, read. This is the whole state for a snapshot.
    pub fn drawn(&self) -> [u64; 3] {
        [self.program.drawn(), self.erase.drawn(), self.read.drawn()]
    }

    /// Restores the state of a snapshot.
    pub fn resume(&mut self, [program, erase, read]: [u64; 3]) {
        self.program.resume(program);
        self.erase.resume(erase);
        self.read.resume(read);
    }

    /// True if the block with this number (counted over all planes of the die) was bad from the start.
    pub fn factory_bad(&self, block: u64) -> bool {
        let unit = (self.factory.at(block) >> 11) as f64 / (1u64 << 53) as f64;
        unit < self.faults.factory_bad
    }

    /// The outcome of sensing a page.
    #[inline]
    pub fn read(&mut self) -> Outcome {
        outcome(self.read.happens(self.faults.read_fail))
    }

    /// True if reads need retries by rate.
    #[inline]
    pub fn has_retries(&self) -> bool {
        self.tried.is_some()
    }

    /// True if a try to read can be corrected, as far as retries by rate go.
    pub fn serves(&mut self, of: &Try) -> bool {
        self.tried.as_mut().is_none_or(|tried| tried.serves(of))
    }

    /// Takes the last try to read back, which was broken off.
    pub fn take_back_try(&mut self) {
        self.tried.iter_mut().for_each(Tried::take_back);
    }

    /// Ends the tries of a read: the next try is the first of another read.
    pub fn end_tries(&mut self) {
        self.tried.iter_mut().for_each(Tried::forget);
    }

    /// Share of t_PROG that programs with narrowed settings take less, by rate.
    #[inline]
    pub fn program_saving(&self) -> f64 {
        self.faults.program_saving
    }

    /// The outcome of programming.
    #[inline]
    pub fn program(&mut self) -> Outcome {
        outcome(self.program.happens(self.faults.program_fail))
    }

    /// The outcome of erasing a block that has been erased `erases` times before.
    #[inline]
    pub fn erase(&mut self, erases: u32) -> Outcome {
        let worn_out = self.faults.endurance.is_some_and(|limit| erases >= limit);
        outcome(worn_out || self.erase.happens(self.faults.erase_fail))
    }
}

fn outcome(bad: bool) -> Outcome {
    if bad { Outcome::Bad } else { Outcome::Good }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_without_faults_never_fail() {
        let mut cells = Cells::new(Faults::default(), 1, 0);
        assert!((0..10_000).all(|n| !cells.factory_bad(n) && cells.read() == Outcome::Good && cells.erase(n as u32) == Outcome::Good));
    }

    #[test]
    fn failures_come_at_their_rates_and_at_the_end_of_endurance() {
        let faults = Faults { factory_bad: 0.02, program_fail: 0.1, endurance: Some(3), ..Faults::default() };
        let mut cells = Cells::new(faults, 1, 0);
        let bad = (0..100_000).filter(|&block| cells.factory_bad(block)).count();
        assert!((1_800..2_200).contains(&bad), "{bad} of 100,000 factory bad blocks at 2 %");
        let failed = (0..10_000).filter(|_| cells.program() == Outcome::Bad).count();
        assert!((900..1_100).contains(&failed), "{failed} of 10,000 programs failed at 10 %");
        assert_eq!((cells.erase(2), cells.erase(3)), (Outcome::Good, Outcome::Bad));
    }
}
