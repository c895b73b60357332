//! Pictures of block groups by what techniques hold of them at the end of a run.

use std::collections::BTreeSet;

use wordline_figures::result::DriveResult;
use wordline_figures::{CensusResult, TechniqueResult};

use super::figure::{Columns, Figure};

/// A picture for each technique and property, with the columns of all drives that have it side by side.
pub(super) fn pictures(drives: &[&DriveResult]) -> Vec<String> {
    let of_all = |drive: &&DriveResult| drive.techniques.iter().flat_map(properties).collect::<Vec<_>>();
    let mut seen: Vec<(String, String)> = Vec::new();
    for property in drives.iter().flat_map(of_all) {
        if !seen.contains(&property) {
            seen.push(property);
        }
    }
    seen.iter().map(|(technique, property)| picture(drives, technique, property).html()).collect()
}

fn properties(technique: &TechniqueResult) -> impl Iterator<Item = (String, String)> {
    technique.censuses.iter().map(|census| (technique.name.clone(), census.of.clone()))
}

fn picture(drives: &[&DriveResult], technique: &str, property: &str) -> Figure {
    let with = |drive: &&DriveResult| {
        let held = drive.techniques.iter().find(|held| held.name == technique)?;
        Some((drive.name.clone(), held.censuses.iter().find(|census| census.of == property)?.clone()))
    };
    let censuses: Vec<(String, CensusResult)> = drives.iter().filter_map(with).collect();
    let values: BTreeSet<u32> = censuses.iter().flat_map(|(_, census)| census.groups.iter().map(|row| row.value)).collect();
    Figure::Columns(Columns {
        title: format!("Block groups by {property} ({technique})"),
        note: "share of all block groups with data, at the end of the run".to_owned(),
        x: property.to_owned(),
        y: "share".to_owned(),
        groups: values.iter().map(u32::to_string).collect(),
        series: censuses.iter().map(|(name, census)| (name.clone(), values.iter().map(|value| share(census, *value)).collect())).collect(),
    })
}

/// Share of block groups that have `value`.
fn share(census: &CensusResult, value: u32) -> f64 {
    let all: u64 = census.groups.iter().map(|row| row.groups).sum();
    census.groups.iter().find(|row| row.value == value).map_or(0.0, |row| row.groups as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use wordline_figures::CensusRow;

    use super::*;

    #[test]
    fn a_share_is_of_all_groups_and_a_value_that_none_has_is_none() {
        let rows = [(0, 1), (6, 3)].map(|(value, groups)| CensusRow { value, groups });
        let census = CensusResult { of: "quota".to_owned(), groups: rows.to_vec() };
        assert_eq!([0, 3, 6].map(|value| share(&census, value)), [0.25, 0.0, 0.75]);
        let technique = TechniqueResult { name: "restricted-copyback".to_owned(), censuses: vec![census], ..TechniqueResult::default() };
        assert_eq!(properties(&technique).collect::<Vec<_>>(), [("restricted-copyback".to_owned(), "quota".to_owned())]);
    }
}
