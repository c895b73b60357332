//! The claims of the five sources, as data in `studies/claims/`, one entry each. Bands are not here but in the studies.

use std::sync::LazyLock;

use serde::Deserialize;

/// The kind of statement of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimKind {
    /// The source measured the claim on chips.
    DevicePhysics,
    /// The claim follows by arithmetic.
    Analytic,
    /// The claim is an ordering or a trend without a number.
    Qualitative,
    /// The source measured the claim on a drive, an emulator or a simulator.
    Measured,
}

impl ClaimKind {
    /// The kind's name in the inventory.
    pub fn name(self) -> &'static str {
        match self {
            ClaimKind::DevicePhysics => "device-physics",
            ClaimKind::Analytic => "analytic",
            ClaimKind::Qualitative => "qualitative",
            ClaimKind::Measured => "measured",
        }
    }
}

/// The subject of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum About {
    /// The claim is about chips, their cells and their times.
    Device,
    /// The claim is about firmware, drives and what is built of drives.
    Drive,
}

/// The value a source gives.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// One number.
    One(f64),
    /// A range, or one number for each condition.
    Several(Vec<f64>),
}

/// One claim of a source.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Name of the claim, unique over all sources.
    pub id: String,
    /// Source, section and figure.
    pub source: String,
    /// Statement of the claim, in our words.
    pub says: String,
    /// Quantity of the claim.
    pub metric: String,
    /// Kind of the claim.
    pub kind: ClaimKind,
    /// Subject of the claim.
    pub about: About,
    /// Part of Wordline that will measure the claim, for claims about drives that nothing measures yet.
    pub part: Option<String>,
    /// Value of the claim, where the text gives one.
    pub value: Option<Value>,
    /// Unit of the value; "ratio", "share" and "count" are pure numbers.
    pub unit: Option<String>,
    /// Relation of the value to the quantity, as the source states it: "exact", "about", "mean", "up to", "at most", "at least", "less than", "more than";
    /// "order" where only an ordering or a trend is claimed.
    pub bound: String,
    /// True if the claim follows by arithmetic from numbers of the text without being in it itself.
    #[serde(default)]
    pub derived: bool,
    /// True if the value is an input of the authors' emulator: matching it on a drive would prove nothing.
    #[serde(default)]
    pub model_input: bool,
    /// True if the claim is an outlook, not a result.
    #[serde(default)]
    pub future: bool,
    /// Reason for which what is measured cannot fail, so that it is no measurement: arithmetic on the source's own numbers, an input that comes out again, or
    /// something that is always true. Such claims are counted apart.
    pub cannot_fail: Option<String>,
}

impl Claim {
    /// The value and its bound as a person reads them; empty where there is none.
    pub fn paper(&self) -> String {
        let unit = match self.unit.as_deref() {
            None | Some("ratio" | "share" | "count") => String::new(),
            Some(unit) => format!(" {unit}"),
        };
        let bound = match self.bound.as_str() {
            "exact" => "",
            "order" => return "ordering".to_owned(),
            bound => &format!("{bound} "),
        };
        match &self.value {
            None => "ordering".to_owned(),
            Some(Value::One(value)) => format!("{bound}{}{unit}", wordline_pages::html::figure::scientific(*value)),
            Some(Value::Several(values)) => {
                let numbers: Vec<String> = values.iter().map(|value| wordline_pages::html::figure::scientific(*value)).collect();
                format!("{bound}{}{unit}", numbers.join(if values.len() == 2 { " to " } else { ", " }))
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    claim: Vec<Claim>,
}

/// The inventory's files: source and text.
const FILES: [(&str, &str); 5] = [
    ("000", include_str!("../../../studies/claims/000.toml")),
    ("001", include_str!("../../../studies/claims/001.toml")),
    ("002", include_str!("../../../studies/claims/002.toml")),
    ("003", include_str!("../../../studies/claims/003.toml")),
    ("004", include_str!("../../../studies/claims/004.toml")),
];

/// All claims, in the order of their sources.
pub fn claims() -> &'static [Claim] {
    static CLAIMS: LazyLock<Vec<Claim>> = LazyLock::new(|| {
        FILES
            .iter()
            .flat_map(|(source, text)| {
                let file: File = toml::from_str(text).unwrap_or_else(|error| panic!("studies/claims/{source}.toml: {error}"));
                file.claim
            })
            .collect()
    });
    &CLAIMS
}

/// The claim of this name.
pub fn claim(id: &str) -> Option<&'static Claim> {
    claims().iter().find(|claim| claim.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_claim_has_a_name_of_its_own_a_source_and_a_unit_where_it_has_a_value() {
        let mut names: Vec<&str> = claims().iter().map(|claim| claim.id.as_str()).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "two claims of one name");
        for claim in claims() {
            assert!(claim.source.starts_with("00") && !claim.says.is_empty() && !claim.metric.is_empty(), "{}", claim.id);
            assert_eq!(claim.value.is_some(), claim.unit.is_some(), "{}: a value needs a unit", claim.id);
            assert_eq!(claim.value.is_none(), claim.bound == "order", "{}: {}", claim.id, claim.bound);
        }
    }

    #[test]
    fn a_paper_value_reads_as_it_was_stated() {
        let of = |id: &str| claim(id).unwrap_or_else(|| panic!("{id}")).paper();
        assert_eq!(of("cube.dev.dV.fresh"), "about 1.6");
        assert_eq!(of("realwear.tprog-uninformative"), "30 to 58 bit");
        assert_eq!(of("cube.dev.edges-high"), "ordering");
    }
}
