//! One measured histogram: counts by read step.

/// The histogram of one state of one wordline under one condition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Steps with their counts, rising.
    pub bins: Vec<(u16, f32)>,
}

impl Curve {
    /// Enters a count. `false`: the step has one already.
    pub(super) fn put(&mut self, step: u16, count: f32) -> bool {
        match self.bins.last() {
            Some(&(last, _)) if last < step => self.bins.push((step, count)),
            None => self.bins.push((step, count)),
            Some(_) => match self.bins.binary_search_by_key(&step, |&(step, _)| step) {
                Ok(_) => return false,
                Err(at) => self.bins.insert(at, (step, count)),
            },
        }
        true
    }
}
