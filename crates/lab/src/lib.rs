//! The lab: virtual chips on the bench, measured as the sources measured real ones, and their claims judged by what was measured.
//!
//! ```text
//! studies/*.toml ──► Study ──► benches (what is measured) ──► Findings ──► verdict of each claim by its band ──► tables, JSON, one page
//! studies/claims/ ──► Claim ─┘        ▲ chips of a lot
//! ```
//!
//! - A bench measures and knows no claim; a study asks and holds no physics; a verdict follows from the two and from nothing else.
//! - A claim that does not come out stays in its study, with the reason.
//! - A null switches the effect of a claim off, and the claim must then be off; a row of record is the one reading that its sentence means.
//! - The same lot, seed and conditions give the same numbers on any machine and any number of threads.

/// Sentence on the definition by which chips are calibrated to the lives of their sources, for all that tells of ages and lives.
pub const LIFE_BY_MEAN: &str = "A life is by the mean error count over the sixteen codewords of a page, and error correction meets the worst of them: on seeds \
     7 and 8 the first page that no references can read comes at 7.1 to 7.7K P/E in the mean, where the life says 12.3K.";

pub mod band;
pub mod bench;
pub mod calibrate;
pub mod claims;
pub mod conditions;
mod copies;
mod error;
mod filed;
pub mod fit;
pub mod gains;
pub mod grid;
mod jobbed;
pub mod lot;
pub mod margins;
mod marker;
mod null;
mod paced;
pub mod page;
mod programs;
pub mod progress;
pub mod protocol;
pub mod raw;
mod reading;
pub mod reproduce;
pub mod seeds;
mod study;
pub mod tables;
mod whole;

pub use error::LabError;
pub use study::{Judgement, SetAside, Study};

/// The chip that is measured by default.
pub const CHIP: &str = "tlc48";

macro_rules! embedded {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../studies/", $name, ".toml")))),*]
    };
}

/// The studies that come with Wordline, in the order in which they are shown: name and text.
pub const STUDIES: &[(&str, &str)] = embedded! {
    "arithmetic" "cube.inter-layer" "cube.intra-layer" "cube.program" "gerase.wear" "psr.suspension" "realwear.life"
    "realwear.markers" "ort.references" "retries" "rcftl.copyback" "osr.reprogram" "evanesco.locks" "gerase.planar" "nand.mlc"
    "cube.ispp" "gerase.modes" "gerase.example" "flash.paths" "cube.qlc" "rlr.density" "evanesco.drives" "vertrace" "cube.drives"
    "realwear.drives" "boundedread.drives" "fastcopy.drives" "longlive.drives" "psr.drives" "paftl.drives" "rcftl.throughput" "rcftl.modes"
    "longftl.drives" "rlr.long" "rlr.drives" "rlr.hints"
};
