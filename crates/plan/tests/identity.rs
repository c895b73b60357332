//! The numbers of plans, those of the builds before this rule beside those of today.
//!
//! `identity.txt` has a line for each drive: its name, the settings it was given, the number that the last build of the old rule gave it, and the number
//! it has. To accept new numbers of today: `WORDLINE_ACCEPT=1 cargo test -p wordline-plan --test identity`, and read the difference. Those of the old rule
//! never change: media and saved drives carry them. Drives with the cells of `tlc48` have none: the chip was fitted again, and what was made of the one before
//! is of other cells; one line gives it the values of then, and has the number of then.

use std::path::Path;
use std::{env, fs};

use wordline_plan::{Plan, presets};

const FILE: &str = "tests/identity.txt";
/// What a drive has that came later than the old rule.
const NONE: &str = "-";

#[test]
fn every_plan_has_its_number_and_is_known_by_the_one_it_had() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let agreed = fs::read_to_string(&path).expect("it is there");
    let mut told = String::new();
    let mut names = Vec::new();
    for line in agreed.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let settings: Vec<&str> = words[1..].iter().copied().filter(|word| word.contains('=')).collect();
        let plan = Plan::load_set(words[0], &settings).unwrap_or_else(|error| panic!("{line}: {error}"));
        let then = words[1 + settings.len()];
        if then != NONE {
            let number = u128::from_str_radix(then, 16).expect("a number");
            assert!(plan.has_media_number(number), "{line}: {then} is the number it had");
            assert!(!plan.has_media_number(number ^ 1), "{line}");
        }
        assert!(plan.has_media_number(u128::from(plan.media_number())), "{line}");
        told += &[&words[..=1 + settings.len()], &[plan.media_number_hex().as_str()]].concat().join(" ");
        told.push('\n');
        if settings.is_empty() {
            names.push(words[0]);
        }
    }
    assert!(presets().iter().all(|preset| names.contains(&preset.name)), "a preset has no line in {FILE}");
    if env::var_os("WORDLINE_ACCEPT").is_some() {
        fs::write(&path, &told).expect("it can be written");
    }
    assert_eq!(fs::read_to_string(&path).expect("it is there"), told);
}
