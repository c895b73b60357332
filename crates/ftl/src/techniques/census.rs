//! Numbers of block groups by a property that a technique holds of them, for results. No decision looks at them.

/// Block groups by one property that a technique holds of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Census {
    of: &'static str,
    groups: Vec<(u32, u64)>,
}

impl Census {
    /// Name of the census of the mode that a technique is in, which all groups of a core share.
    pub const MODE: &str = "mode";

    /// Counts the `values` of block groups. `of`: the property, in the singular, such as `quota`.
    pub fn new(of: &'static str, values: impl Iterator<Item = u32>) -> Census {
        let mut census = Census { of, groups: Vec::new() };
        values.for_each(|value| census.count(value, 1));
        census
    }

    /// The property, in the singular.
    pub fn of(&self) -> &'static str {
        self.of
    }

    /// Mean of the values; `None`: no group was counted.
    pub fn mean(&self) -> Option<f64> {
        let (sum, groups) =
            self.groups.iter().fold((0.0, 0), |(sum, all), &(value, groups)| (sum + f64::from(value) * groups as f64, all + groups));
        (groups > 0).then(|| sum / groups as f64)
    }

    /// Number of block groups by its values, the least first.
    pub fn groups(&self) -> &[(u32, u64)] {
        &self.groups
    }

    /// Adds what `other` has counted of the same property.
    pub(crate) fn add(&mut self, other: &Census) {
        other.groups.iter().for_each(|&(value, groups)| self.count(value, groups));
    }

    fn count(&mut self, value: u32, groups: u64) {
        match self.groups.binary_search_by_key(&value, |entry| entry.0) {
            Ok(place) => self.groups[place].1 += groups,
            Err(place) => self.groups.insert(place, (value, groups)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_in_their_order_and_those_of_several_cores_together() {
        let mut census = Census::new("quota", [6, 2, 6, 0].into_iter());
        assert_eq!((census.of(), census.groups()), ("quota", &[(0, 1), (2, 1), (6, 2)][..]));
        census.add(&Census::new("quota", [2, 3].into_iter()));
        assert_eq!(census.groups(), [(0, 1), (2, 2), (3, 1), (6, 2)]);
        assert_eq!((census.mean(), Census::new("quota", std::iter::empty()).mean()), (Some(19.0 / 6.0), None));
    }
}
