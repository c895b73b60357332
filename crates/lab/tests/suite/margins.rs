//! The table of program margins that tlc48 comes with, held against chips that it was not found on.
//!
//! That `wordline characterize margins` prints it again, with the lot and the seed that its source names, is not checked here: it takes two minutes.

use std::sync::Arc;

use wordline_flash::{MarginStep, Margins};
use wordline_lab::bench::{Null, Setup, Teller};
use wordline_lab::conditions::LotSize;
use wordline_lab::margins::{characterise, unsafe_followers};
use wordline_lab::protocol::Changes;
use wordline_plan::{Chip, Plan};

fn setup(lot: &str, seed: u64, conditions: &str) -> Setup {
    let mut changes = Changes::new();
    changes.insert("margins".to_owned(), conditions.parse().expect("TOML"));
    Setup {
        chip: wordline_lab::CHIP.to_owned(),
        against: None,
        settings: Vec::new(),
        null: Null::default(),
        conditions: changes,
        lot: LotSize::read(lot).expect("a lot"),
        seed,
        threads: 2,
        teller: Teller::default(),
    }
}

fn stored() -> Margins {
    Chip::load(wordline_lab::CHIP).expect("a preset").margins().expect("it has a table").clone()
}

/// The ends of life, where the guard band of a hundred is used up by the chance that other chips are worse than those of the lot.
const ELSEWHERE: &str = "pe = [\"0\", \"1k\", \"2k\"]\nrisk = \"1 %\"";

#[test]
fn the_stored_table_is_safe_for_chips_it_has_not_seen_and_a_loop_more_is_not() {
    for seed in [2, 3] {
        let setup = setup("3x3", seed, ELSEWHERE);
        let [safe, further] = unsafe_followers(&setup, &stored()).expect("a lot");
        let followers = 3 * 3 * 48 * 3;
        assert_eq!(safe, 0, "seed {seed}: {safe} of {followers} followers");
        assert!(further > followers / 2, "seed {seed}: a loop more from V_final harms only {further} of {followers} followers");
    }
}

#[test]
fn what_the_table_takes_care_of_harms_without_it() {
    let table = stored();
    let harmed = |lot: &str, risk: &str, table: &Margins| -> usize {
        let count = |seed| unsafe_followers(&setup(lot, seed, &format!("pe = [\"2k\"]\nrisk = \"{risk}\"")), table).expect("a lot")[0];
        (2..6).map(count).sum()
    };
    // Verifies skipped up to the loop in which the leader saw the first cells.
    assert_eq!(harmed("3x3", "1 %", &table), 0);
    let up_to_first = Margins { early: 0, ..table.clone() };
    assert!(harmed("3x3", "1 %", &up_to_first) > 0, "skipping up to L_min harms nobody");
    // The first line's margin, however many errors a leader shows: less is harmed where the count decides.
    let window = table.for_errors(0);
    let whatever = Margins { steps: vec![MarginStep { errors_max: u32::MAX, window }], ..table.clone() };
    let (with, without) = (harmed("4x4", "0.01 %", &table), harmed("4x4", "0.01 %", &whatever));
    assert!(with < without, "{with} followers with the count, {without} without");
}

#[test]
fn a_lot_gives_a_table_whose_text_is_read_as_what_it_is() {
    let setup = setup("2x1", 5, "pe = [\"0\", \"2k\"]");
    let found = characterise(&setup).expect("a lot");
    let table = &found.margins;
    assert!(
        table.steps.windows(2).all(|pair| { pair[0].errors_max < pair[1].errors_max && pair[0].window.total() > pair[1].window.total() })
    );
    assert!(!table.steps.is_empty() && table.layers.len() == 48);
    let text = format!("inherit = \"tlc48\"\n{}{}", found.remarks(), found.section());
    let chip = Chip::parse("found", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(chip.margins(), Some(table));
    assert_eq!(characterise(&Setup { threads: 1, ..setup }).expect("a lot").section(), found.section());
}

#[test]
fn firmware_is_given_the_table_of_its_chip_and_none_of_a_chip_of_another_shape() {
    let of = |drive: &str| Plan::load(drive).expect(drive).build().firmware.margins;
    // Its chip has no physics of its own; that of tlc48 fits its shape.
    assert_eq!(of("paper-cubeftl"), Some(Arc::new(stored())));
    // Pages of 8 KiB, and 64 layers.
    assert_eq!((of("paper-longftl"), of("paper-reparo-32tb")), (None, None));
    let plan = Plan::load("paper-cubeftl").expect("a preset");
    let without = plan.override_key("margins.step=none").expect("it does without");
    assert_eq!(without.build().firmware.margins, None);
}

#[test]
fn a_table_of_a_changed_chip_is_toml_and_says_what_was_changed() {
    let setting = "physics.retry.step=[\"6 mV\",\"2 mV\",\"0 mV\",\"-5 mV\",\"-7 mV\",\"-15 mV\",\"-13 mV\"]";
    let found = characterise(&Setup { settings: vec![setting.to_owned()], ..setup("1x1", 1, "pe = [\"0\"]") }).expect("a lot");
    let section: toml::Table = found.section().parse().unwrap_or_else(|error| panic!("{error}\n{}", found.section()));
    let source = section["margins"]["source"].as_str().expect("a text");
    assert!(source.contains(setting), "{source}");
}
