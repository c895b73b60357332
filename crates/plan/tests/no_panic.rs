//! No text is a panic: what comes out is a plan that can be built, or an error that can be printed.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use wordline_ftl::{Firmware, Layout};
use wordline_plan::{Plan, PlanError, presets};

/// A plan must be good for everything it is for; an error must have places inside of its text.
fn judge(outcome: &Result<Plan, PlanError>) {
    match outcome {
        Ok(plan) => {
            let config = plan.build();
            let firmware = &config.firmware;
            let groups = config.sheet.geometry.blocks - firmware.spare_blocks;
            // Asserts that every address fits.
            let layout = Layout::new(&config.sheet, firmware.dies, groups, firmware.unit);
            assert!(u64::from(firmware.exported_units) < u64::from(layout.units_per_group) * layout.group_count() as u64);
            // So does the firmware itself, at its first start.
            if layout.group_count() < 100_000 && firmware.buffer.units < 1_000_000 {
                drop(Firmware::new(firmware.clone()));
            }
            assert!(plan.describe().contains(&plan.media_number_hex()));
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            if let PlanError::Mistakes(mistakes) = error {
                assert!(!mistakes.is_empty());
                assert!(
                    mistakes
                        .iter()
                        .filter_map(|mistake| mistake.place.as_ref())
                        .all(|place| place.line > 0 && place.column > 0 && place.width > 0)
                );
            }
        }
    }
}

fn texts() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../drives");
    let mut texts: Vec<String> =
        presets().iter().map(|preset| fs::read_to_string(root.join(format!("{}.toml", preset.name))).expect(preset.name)).collect();
    texts.extend(presets().iter().map(|preset| Plan::load(preset.name).expect(preset.name).describe()));
    texts
}

/// Values that have hurt some program somewhere.
const NASTY: &[&str] = &[
    "0",
    "1",
    "-1",
    "3",
    "64",
    "255",
    "256",
    "65535",
    "65536",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "1e999",
    "nan",
    "inf",
    "true",
    "[]",
    "[[[[]]]]",
    "{}",
    "{ value = {} }",
    "{ value = 1, source = 2 }",
    "1979-05-27",
    "\"\"",
    "\"none\"",
    "\"0 B\"",
    "\"1 B\"",
    "\"512 B\"",
    "\"4 KiB\"",
    "\"1 MiB\"",
    "\"16777215 TiB\"",
    "\"0 ns\"",
    "\"1 ns\"",
    "\"365 h\"",
    "\"0 %\"",
    "\"100 %\"",
    "\"99.9999999999999 %\"",
    "\"1 MT/s\"",
    "\"0.000001 MT/s\"",
    "\"20 GT/s\"",
    "\"1 B/s\"",
    "\"16 GiB/s\"",
    "\"page\"",
    "\"wordline\"",
    "\"QLC\"",
    "\"SLC\"",
    "[\"1 us\", \"2 us\", \"3 us\"]",
    "\"µ\u{0}\"",
    "\"../../etc/passwd\"",
];

#[test]
fn every_key_survives_every_nasty_value() {
    let plan = Plan::load("pageftl").expect("a preset");
    let text = plan.describe();
    let mut section = "";
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
        } else if let Some((key, _)) = line.split_once('=').filter(|_| !section.is_empty()) {
            for value in NASTY {
                judge(&plan.override_key(&format!("{section}.{}={value}", key.trim())));
            }
        }
    }
}

#[derive(Clone, Debug)]
enum Edit {
    Cut(usize, usize),
    Put(usize, String),
    Nasty(usize, usize),
    Swap(usize, usize),
    Double(usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (any::<usize>(), 1usize..20).prop_map(|(at, length)| Edit::Cut(at, length)),
        (any::<usize>(), "\\PC{1,3}").prop_map(|(at, text)| Edit::Put(at, text)),
        (any::<usize>(), 0..NASTY.len()).prop_map(|(at, which)| Edit::Nasty(at, which)),
        (any::<usize>(), any::<usize>()).prop_map(|(a, b)| Edit::Swap(a, b)),
        any::<usize>().prop_map(Edit::Double),
    ]
}

fn apply(text: &str, edit: &Edit) -> String {
    let boundary = |at: usize| (0..=at % (text.len() + 1)).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let count = lines.len().max(1);
    match edit {
        Edit::Cut(at, length) => {
            let start = boundary(*at);
            let end = (start + length..=text.len()).find(|&end| text.is_char_boundary(end)).unwrap_or(text.len());
            return format!("{}{}", &text[..start], &text[end..]);
        }
        Edit::Put(at, put) => {
            let at = boundary(*at);
            return format!("{}{put}{}", &text[..at], &text[at..]);
        }
        Edit::Nasty(at, which) => {
            if let Some(line) = lines.get_mut(at % count)
                && let Some((key, _)) = line.split_once('=')
            {
                *line = format!("{key}= {}", NASTY[*which]);
            }
        }
        Edit::Swap(a, b) if !lines.is_empty() => lines.swap(a % count, b % count),
        Edit::Double(at) if !lines.is_empty() => lines.insert(at % count, lines[at % count].clone()),
        Edit::Swap(..) | Edit::Double(_) => {}
    }
    lines.join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_valid_file_with_random_changes(which: usize, edits in prop::collection::vec(edit(), 1..6)) {
        thread_local!(static TEXTS: Vec<String> = texts());
        let text = TEXTS.with(|texts| texts[which % texts.len()].clone());
        judge(&Plan::parse("mutant.toml", &edits.iter().fold(text, |text, edit| apply(&text, edit))));
    }

    #[test]
    fn any_text_at_all(text in "(\\PC|\n|\t|\r|\u{0}){0,200}") {
        judge(&Plan::parse("noise.toml", &text));
        judge(&Plan::load_set("pageftl", &[text]));
    }
}
