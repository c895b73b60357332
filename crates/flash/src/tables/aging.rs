//! The age of a block: a linear marker of quantities that firmware sees in passing (RealWear, 000 §3.2), and those of its rivals.

use super::bin;

/// Marker that foretells the errors of a block after a year, and so its age.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Aging {
    /// Seed of the lot that the marker was fitted on.
    pub seed: u64,
    /// Errors of a codeword after a year, for each P/E cycle, each pulse of the last erase, each error of the measured page for each of its codewords, each
    /// unit of the logarithm of the last rest in seconds, and at all.
    pub weights: [f64; 5],
    /// The same of PeWear+: for each P/E cycle, each microsecond of mean t_PROG, and at all.
    pub plus: [f64; 3],
    /// The same of PeWear++: for each P/E cycle, each microsecond of mean t_PROG, each error of the measured page for each of its codewords, and at all.
    pub plus_plus: [f64; 4],
    /// Errors of a codeword that can be corrected: a block of which so many are foretold is at the end of its life.
    pub limit: f64,
    /// Errors by which the marker is raised for what telegraph noise may take from a count.
    pub flicker: f64,
    /// Errors by which the marker is raised so that no block that it was fitted on dies unforeseen.
    pub safe: f64,
    /// Page of a block whose errors are counted just after its program.
    pub page: u32,
    /// Longest rest that counts, in seconds at the reference temperature.
    pub rest_max: u32,
    /// P/E counts, rising, for which `pe_worst` tells an age.
    pub pe: Vec<u32>,
    /// Greatest age, in thousandths, of a block of the lot at each of these counts: that of a block of which nothing else is known.
    pub pe_worst: Vec<u32>,
    /// Activation energy of ageing and keeping, in eV.
    pub energy: f64,
}

/// What a block has shown of its age.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    /// P/E cycles.
    pub cycles: u32,
    /// Pulses of the last erase, the last of them counted by the part of it that was needed: [`Shown::pulses_of`].
    pub pulses: f64,
    /// Wrong bits of the measured page just after its program, for each of its codewords.
    pub errors: f64,
    /// Rest before the last erase, in seconds at the reference temperature.
    pub rest: f64,
}

impl Shown {
    /// Pulses from an erase trace: its loops, and how much of the last was needed, in 255ths.
    pub fn pulses_of(loops: u8, part: u8) -> f64 {
        f64::from(loops.saturating_sub(1)) + if loops == 0 { 0.0 } else { f64::from(part) / 255.0 }
    }
}

impl Aging {
    /// Greatest age that is told, in thousandths.
    pub const MOST: u16 = 9_999;

    /// Errors of a codeword after a year that a block's signs foretell, as they were fitted.
    pub fn foretold(&self, shown: &Shown) -> f64 {
        let [cycles, pulses, errors, rest, constant] = self.weights;
        // A rest of which nothing is known counts as none, which makes blocks older and never younger.
        let rested = libm::log(shown.rest.clamp(1.0, f64::from(self.rest_max.max(1))));
        cycles * f64::from(shown.cycles) + pulses * shown.pulses + errors * shown.errors + rest * rested + constant
    }

    /// Age of a block in thousandths of a life: rather too old than too young.
    pub fn age(&self, shown: &Shown) -> u16 {
        self.age_of(self.foretold(shown) + self.flicker + self.safe)
    }

    /// Age of a block by PeWear+ (000 §3.3.1), from its P/E cycles and its mean t_PROG in microseconds. The marker is not raised: what makes RealWear safe
    /// was not fitted to it.
    pub fn age_plus(&self, cycles: u32, program: f64) -> u16 {
        let [by_cycle, by_program, constant] = self.plus;
        self.age_of(by_cycle * f64::from(cycles) + by_program * program + constant)
    }

    /// Age of a block by PeWear++ (000 §3.3.1), which counts wrong bits as RealWear does.
    pub fn age_plus_plus(&self, cycles: u32, program: f64, errors: f64) -> u16 {
        let [by_cycle, by_program, by_error, constant] = self.plus_plus;
        self.age_of(by_cycle * f64::from(cycles) + by_program * program + by_error * errors + constant)
    }

    fn age_of(&self, foretold: f64) -> u16 {
        libm::ceil(foretold / self.limit * 1e3).clamp(1.0, f64::from(Aging::MOST)) as u16
    }

    /// Age that a block of `age` will have after so many further erases, by the mean slope of the ages of the worst blocks.
    pub fn after(&self, age: u16, erases: u32) -> u16 {
        let (ends, worst) = (self.pe.first().zip(self.pe.last()), self.pe_worst.first().zip(self.pe_worst.last()));
        let by_erase = match (ends, worst) {
            (Some((first, last)), Some((least, most))) if first < last && least < most => f64::from(most - least) / f64::from(last - first),
            // Of one bin, all of the age has come by its erases.
            (Some((_, &last)), Some((_, &most))) => f64::from(most) / f64::from(last.max(1)),
            _ => 0.0,
        };
        (f64::from(age) + libm::ceil(by_erase * f64::from(erases))).min(f64::from(Aging::MOST)) as u16
    }

    /// Age of a block of which only its P/E count is known, in thousandths. Never zero.
    pub fn worst(&self, cycles: u32) -> u16 {
        let at = bin(&self.pe, cycles).and_then(|bin| self.pe_worst.get(bin)).copied().unwrap_or(Aging::MOST.into());
        at.clamp(1, Aging::MOST.into()) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aging() -> Aging {
        Aging {
            weights: [0.001, 2.0, 3.0, -1.0, 4.0],
            limit: 64.0,
            flicker: 1.0,
            safe: 2.0,
            rest_max: 10_800,
            pe: vec![0, 1_000],
            pe_worst: vec![0, 400],
            ..Aging::default()
        }
    }

    #[test]
    fn an_age_is_the_foretold_errors_over_the_limit_raised_and_rounded_up() {
        let shown = Shown { cycles: 2_000, pulses: 5.5, errors: 4.0, rest: 60.0 };
        let foretold = 2.0 + 11.0 + 12.0 - libm::log(60.0) + 4.0;
        assert!((aging().foretold(&shown) - foretold).abs() < 1e-12);
        assert_eq!(f64::from(aging().age(&shown)), ((foretold + 3.0) / 64.0 * 1e3).ceil());
    }

    #[test]
    fn long_rests_count_up_to_the_most_and_none_makes_a_block_older() {
        let age = |rest| aging().age(&Shown { cycles: 100, pulses: 3.0, errors: 1.0, rest });
        assert_eq!(age(1e9), age(10_800.0));
        assert!(age(0.0) > age(60.0) && age(60.0) > age(10_800.0));
    }

    #[test]
    fn the_age_of_an_unknown_block_is_never_zero_and_the_most_beyond_the_table() {
        assert_eq!([0, 1, 1_000, 1_001].map(|cycles| aging().worst(cycles)), [1, 400, 400, Aging::MOST]);
    }

    #[test]
    fn pulses_are_whole_loops_and_the_part_of_the_last() {
        assert_eq!([(0, 9), (1, 255), (3, 51)].map(|(loops, part)| Shown::pulses_of(loops, part)), [0.0, 1.0, 2.2]);
    }

    #[test]
    fn an_age_grows_by_the_mean_slope_of_the_worst() {
        let of = |pe: &[u32], pe_worst: &[u32]| Aging { pe: pe.to_vec(), pe_worst: pe_worst.to_vec(), ..aging() };
        let table = of(&[1_000, 2_000, 5_000], &[400, 600, 800]);
        assert_eq!([0, 1, 1_000, u32::MAX].map(|erases| table.after(300, erases)), [300, 301, 400, Aging::MOST]);
        assert_eq!(of(&[1_000], &[500]).after(300, 100), 350, "of one bin");
        assert_eq!(of(&[], &[]).after(300, 100), 300);
    }
}
