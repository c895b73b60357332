//! The choice of a mode by the writes that each promises (001 §3.3.4, Fig 12).
//!
//! ```text
//!                      ┌─ mode before promises more ──────► down: the last step was wrong
//!   WAF is steady ─────┼─ next mode unknown ──────────────► up
//!                      ├─ next mode promises more ────────► up
//!                      └─ neither ────────────────────────► stay, until WAF has moved
//! ```
//!
//! A wrong step is taken back before anything else is tried: in Table 4 the third mode is left for the second although the fourth is unknown.

/// Choice of a mode, and what is known of each.
#[derive(Clone, Debug, PartialEq)]
pub struct Selector {
    /// Endurance with each mode over that with normal erases alone, mode 0 first.
    endurance: Vec<f64>,
    /// Last steady WAF of each mode.
    waf: Vec<Option<f64>>,
    /// Share by which WAF must move before a settled choice is tried again.
    moved: f64,
    mode: usize,
    /// WAF at which the choice was settled; `None`: it is not.
    settled: Option<f64>,
    /// Changes of the mode so far.
    decisions: u32,
}

impl Selector {
    /// Creates a selector in mode 0. `endurance`: that with each mode over that with normal erases alone; that of mode 0 is 1. `moved`: the share by which WAF
    /// must move before a settled choice is tried again. Less than the noise of WAF would try it again for ever.
    pub fn new(endurance: Vec<f64>, moved: f64) -> Selector {
        Selector { waf: vec![None; endurance.len()], endurance, moved, mode: 0, settled: None, decisions: 0 }
    }

    /// Present mode.
    pub fn mode(&self) -> usize {
        self.mode
    }

    /// Changes of the mode so far.
    pub fn decisions(&self) -> u32 {
        self.decisions
    }

    /// True if the present mode stays while WAF does.
    pub fn is_settled(&self) -> bool {
        self.settled.is_some()
    }

    /// Writes that `mode` promises, over those of a WAF of 1 without spared wordlines; `None`: its WAF is not known.
    pub fn promise(&self, mode: usize) -> Option<f64> {
        Some(self.endurance.get(mode)? / self.waf.get(mode).copied()??)
    }

    /// Takes the steady `waf` of the present mode, and chooses the mode that comes next. Returns true if it is another one.
    pub fn measure(&mut self, waf: f64) -> bool {
        if let Some(at) = self.settled {
            if (waf / at - 1.0).abs() <= self.moved {
                return false;
            }
            self.waf.fill(None);
        }
        self.waf[self.mode] = Some(waf);
        let own = self.endurance[self.mode] / waf;
        let promises_more = |mode: Option<usize>| mode.and_then(|mode| self.promise(mode)).is_some_and(|promise| promise > own);
        let up = Some(self.mode + 1).filter(|&mode| mode < self.endurance.len());
        let is_unknown = up.is_some_and(|mode| self.waf[mode].is_none());
        let down = self.mode.checked_sub(1);
        let next = match (up, down) {
            (_, Some(down)) if promises_more(Some(down)) => down,
            (Some(up), _) if is_unknown || promises_more(Some(up)) => up,
            _ => self.mode,
        };
        self.settled = (next == self.mode).then_some(waf);
        let has_changed = self.go(next);
        self.decisions += u32::from(has_changed);
        has_changed
    }

    /// Goes on in `mode`, of which nothing is known yet, after so many `decisions`.
    pub fn begin(&mut self, mode: usize, decisions: u32) {
        self.waf.fill(None);
        (self.mode, self.settled, self.decisions) = (mode.min(self.endurance.len() - 1), None, decisions);
    }

    fn go(&mut self, mode: usize) -> bool {
        std::mem::replace(&mut self.mode, mode) != mode
    }

    /// State as plain numbers.
    pub fn image(&self) -> Vec<u32> {
        let known = |waf: Option<f64>| waf.map_or(0, |waf| (waf as f32).to_bits());
        [self.mode as u32, self.decisions, known(self.settled)].into_iter().chain(self.waf.iter().map(|&waf| known(waf))).collect()
    }

    /// Restores what [`Selector::image`] gave. Returns false if it is of another shape.
    #[must_use]
    pub fn restore(&mut self, state: &[u32]) -> bool {
        let [mode, decisions, settled, waf @ ..] = state else { return false };
        if waf.len() != self.waf.len() || *mode as usize >= self.waf.len() {
            return false;
        }
        let known = |bits: u32| Some(f64::from(f32::from_bits(bits))).filter(|waf| waf.is_finite() && *waf > 0.0);
        (self.mode, self.decisions, self.settled) = (*mode as usize, *decisions, known(*settled));
        self.waf.iter_mut().zip(waf).for_each(|(own, &bits)| *own = known(bits));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Modes of the source's Table 2.
    fn table_2() -> Selector {
        Selector::new(vec![1.0, 1.19, 1.26, 1.30, 1.33, 1.37, 1.39, 1.41, 1.43, 1.45], 0.02)
    }

    /// Modes after each measurement, where mode n has the WAF of this index.
    fn trace(selector: &mut Selector, waf: &[f64], times: usize) -> Vec<usize> {
        let step = |_| {
            selector.measure(waf[selector.mode()]);
            selector.mode()
        };
        (0..times).map(step).collect()
    }

    #[test]
    fn table_4_is_climbed_to_its_last_mode_and_one_step_back() {
        let mut selector = table_2();
        assert_eq!(trace(&mut selector, &[2.66, 2.78, 2.91, 3.05], 7), [1, 2, 3, 2, 2, 2, 2]);
        let promised = [1, 2, 3].map(|mode| selector.promise(mode).expect("it was tried") * 2.66);
        for (promised, told) in promised.into_iter().zip([1.1386, 1.1518, 1.1338]) {
            assert!((promised - told).abs() < 5e-5, "{promised} for {told}");
        }
        assert!(selector.is_settled() && selector.decisions() == 4);
    }

    #[test]
    fn a_load_that_no_mode_harms_has_the_highest_and_one_that_every_mode_harms_none() {
        assert_eq!(trace(&mut table_2(), &[1.0; 10], 11), [1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9]);
        assert_eq!(trace(&mut table_2(), &[1.0, 1.2], 4), [1, 0, 0, 0]);
        assert_eq!(trace(&mut Selector::new(vec![1.0; 4], 0.02), &[2.0; 4], 3), [1, 2, 3], "a step that costs nothing is not taken back");
    }

    #[test]
    fn a_settled_choice_is_tried_again_once_waf_has_moved_and_not_before() {
        let mut selector = table_2();
        trace(&mut selector, &[2.66, 2.78, 2.91, 3.05], 5);
        assert!(!selector.measure(2.91 * 1.019) && selector.is_settled());
        assert!(selector.measure(2.91 * 1.03), "the next mode is unknown again");
        assert_eq!((selector.mode(), selector.promise(1)), (3, None));
    }

    #[test]
    fn a_selector_comes_back_from_its_image_and_refuses_others() {
        let mut selector = table_2();
        trace(&mut selector, &[2.66, 2.78, 2.91, 3.05], 5);
        let image = selector.image();
        let mut back = table_2();
        assert!(back.restore(&image) && back.image() == image && back.mode() == 2);
        assert!(!back.restore(&image[..6]) && !back.restore(&[&[10], &image[1..]].concat()));
        back.begin(12, 7);
        assert_eq!((back.mode(), back.decisions(), back.is_settled()), (9, 7, false));
    }
}
