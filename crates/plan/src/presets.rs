//! The chips and drives that come with Wordline, embedded so that the tool works anywhere. One explicit list.

/// A drive, or a chip, that comes with Wordline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// What to call it.
    pub name: &'static str,
    /// One line on what it is.
    pub summary: &'static str,
}

macro_rules! embedded {
    ($folder:literal: $($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../", $folder, "/", $name, ".toml")))),*]
    };
}

/// Chips: name and text.
pub(crate) const CHIPS: &[(&str, &str)] = embedded! { "chips":
    "tlc-48l" "tlc-48l-oneshot" "tlc-48l-suspend" "tlc-2plane-8k" "tlc-512gib" "small-block-16k" "femu" "mqsim" "mqsim-b" "tlc48" "tlc48-tables" "mlc48" "qlc64" "tlc2d" "tlc64-measured" "tlc64-rlr"
    "ispp-example"
};

/// Drives: name and text, in the order in which they are listed to a person.
pub(crate) const DRIVES: &[(&str, &str)] = embedded! { "drives":
    "pageftl" "pageftl-4k" "pageftl-fifo"
    "paper-evanesco" "secssd" "secssd-nobLock" "scrssd" "erssd" "osrssd" "cryptossd"
    "paper-rftl" "pewear-1k" "pewear-8k" "longlive" "ort-pe" "boundedread" "fastgc-rftl" "fastcopy" "rftl" "paper-psr" "psr-baseline" "irftl" "paftl" "paftl-paced" "paftl-8" "paper-cubeftl" "vertftl" "cubeftl-noWAM" "cubeftl" "paper-vertrace" "paper-longftl" "longftl" "longftl-fixed" "longftl-max-relief" "bpm-2.1" "bpm-5.2" "paper-rcftl" "paper-rcftl-host" "fastgc-rcftl" "rcftl-perpage" "rcftl-unaware" "rcftl-minus" "rcftl"
    "paper-reparo-4tb" "paper-reparo-8tb" "paper-reparo-16tb" "paper-reparo-32tb" "paper-rlr"
    "rlr-ssd" "rewriter" "rewriter-by-retry" "retrier" "hinted" "predictor" "rlr-femu"
    "mqsim-default" "mqsim-b" "mqsim-b-cache" "mqsim-b-2planes" "mqsim-b-copyback" "mqsim-b-preemptible"
};

/// The text of a chip.
pub(crate) fn chip(name: &str) -> Option<&'static str> {
    CHIPS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The text of a drive.
pub(crate) fn drive(name: &str) -> Option<&'static str> {
    DRIVES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The names of all drives.
pub(crate) fn drive_names() -> Vec<&'static str> {
    DRIVES.iter().map(|(name, _)| *name).collect()
}

/// All drives that come with Wordline.
pub fn presets() -> Vec<Preset> {
    DRIVES.iter().map(|&(name, text)| Preset { name, summary: summary(text) }).collect()
}

/// All chips that come with Wordline.
pub fn chips() -> Vec<Preset> {
    CHIPS.iter().map(|&(name, text)| Preset { name, summary: summary(text) }).collect()
}

/// The summary is read off the text, without parsing: listing presets should not depend on all of them being right.
fn summary(text: &'static str) -> &'static str {
    text.lines().find_map(|line| line.strip_prefix("summary = \"")?.strip_suffix('"')).unwrap_or("")
}
