//! Are wrong histograms refused with the place and what was expected?

use proptest::prelude::*;
use wordline_lab::fit::{Digest, Histograms};

const HEAD: &str = "model,WL,Retention,PEC,step,freq\n";

/// A whole MLC table of so many wordlines at P/E 0 and 1000.
fn table(wordlines: u32) -> String {
    let mut text = HEAD.to_owned();
    for pe in [0, 1000] {
        for wordline in 0..wordlines {
            for state in 2..5 {
                for (step, count) in [(9, 5), (10, 90), (11, 100), (12, 7)] {
                    text += &format!("{state},{wordline},1,{pe},{},{count}\n", step + 17 * (state - 2));
                }
            }
        }
    }
    text
}

fn refusal(text: &[u8]) -> String {
    Histograms::read(text, "x.csv").expect_err("it is wrong").to_string()
}

#[test]
fn a_whole_table_is_read() {
    let histograms = Histograms::read(table(4).as_bytes(), "x.csv").expect("well written");
    assert_eq!((histograms.states, histograms.wordlines.len(), histograms.pe.as_slice()), (3, 4, [0, 1000].as_slice()));
    assert_eq!(histograms.curve(1, 0, 3, 2).bins, [(43, 5.0), (44, 90.0), (45, 100.0), (46, 7.0)]);
    assert!(Digest::of(&histograms, 3).is_none(), "4 wordlines are no whole layers of 3");
    assert_eq!(Digest::of(&histograms, 2).expect("two layers").layers(), 2);
}

#[test]
fn columns_come_in_any_order() {
    let swapped: String = table(1)
        .lines()
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            format!("{},{},{},{},{},{}\r\n", fields[5], fields[0], fields[1], fields[2], fields[3], fields[4])
        })
        .collect();
    let plain = Histograms::read(table(1).as_bytes(), "x.csv").expect("well written");
    assert_eq!(Histograms::read(swapped.as_bytes(), "x.csv").expect("the same in another order"), plain);
}

#[test]
fn wrong_files_are_refused_with_the_place() {
    let whole = table(2);
    let with = |line: &str| format!("{whole}{line}\n");
    let last = whole.lines().count() + 1;
    let cases: Vec<(String, Vec<String>)> = vec![
        (String::new(), vec!["x.csv:".into(), "no histogram".into()]),
        (HEAD.into(), vec!["no histogram".into()]),
        ("2,0,1,0,9,5\n".into(), vec!["x.csv:1".into(), "model".into(), "columns".into()]),
        ("model,WL,Retention,PEC,step\n".into(), vec!["x.csv:1".into(), "freq".into()]),
        (with("2,0,1,0,9"), vec![format!("x.csv:{last}"), "6 fields".into()]),
        (with("1,0,1,0,9,5"), vec![format!("x.csv:{last}"), "model".into(), "2 to 16".into()]),
        (with("2,-1,1,0,9,5"), vec!["WL".into(), "'-1'".into()]),
        (with("2,0,0,0,9,5"), vec!["Retention".into()]),
        (with("2,0,1,1e9,9,5"), vec!["PEC".into(), "'1e9'".into()]),
        (with("2,0,1,0,5000,5"), vec!["step".into(), "4095".into()]),
        (with("2,0,1,0,30,nan"), vec!["freq".into(), "'nan'".into()]),
        (with("2,0,1,0,30,-3"), vec!["freq".into()]),
        (with("2,0,1,0,10,3"), vec![format!("x.csv:{last}"), "second time".into(), "P1".into()]),
        (with("4,7,1,0,60,3"), vec!["holes".into(), "wordline 7".into()]),
        (whole.replace("4,1,1,1000", "3,1,1,1000").lines().take(20).map(|line| format!("{line}\n")).collect(), vec!["x.csv".into()]),
        (format!("{HEAD}2,0,1,0,9,5\n"), vec!["P1".into(), "P3 (MLC)".into()]),
        (format!("{HEAD}{}", "9".repeat(5000)), vec!["x.csv:2".into(), "4096".into()]),
    ];
    for (text, words) in cases {
        let told = refusal(text.as_bytes());
        for word in words {
            assert!(told.contains(&word), "'{word}' is missing in: {told}");
        }
    }
    assert!(refusal(&[b'm', 0xff, 0xfe, b'\n']).contains("x.csv:1"));
}

proptest! {
    #[test]
    fn no_bytes_bring_it_down(tail in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut bytes = HEAD.as_bytes().to_vec();
        bytes.extend(&tail);
        let _ = Histograms::read(bytes.as_slice(), "x.csv");
        let _ = Histograms::read(tail.as_slice(), "x.csv");
    }

    #[test]
    fn whatever_is_read_can_be_digested(counts in proptest::collection::vec((0u16..200, 1u32..1000), 9..60)) {
        let mut text = HEAD.to_owned();
        for (number, (step, count)) in counts.iter().enumerate() {
            text += &format!("{},0,1,0,{},{count}\n", 2 + number % 3, usize::from(*step) + 200 * (number / 3));
        }
        if let Ok(histograms) = Histograms::read(text.as_bytes(), "x.csv") {
            let digest = Digest::of(&histograms, 1).expect("one wordline to a layer");
            for quantile in digest.conditions[0].mean_quantiles(0) {
                prop_assert!(quantile.is_finite());
            }
        }
    }
}
