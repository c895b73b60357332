//! What a bench of the lab may not say: the conditions it measures at, and its results.
//!
//! P/E counts, times, voltages and sample sizes stand in `studies/benches/`, each with its source; a result comes out of the chips. A scale to draw a figure
//! by is neither, so that functions with `figure` in their names are left alone.

use super::tokens::{Kind, Token, tokens, without_tests};
use super::tree::{Finding, Severity, Tree};

/// Where the benches are.
const BENCHES: &str = "crates/lab/src/bench/";
/// From here on a number is no index, no count of a few things and no half.
const LARGE: f64 = 20.0;

/// Checks every bench.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.with_extension("rs")
        .filter(|(path, _)| path.starts_with(BENCHES))
        .flat_map(|(path, text)| {
            let code = without_tests(tokens(text)).0;
            let found = results(&code).chain(conditions(&code)).collect::<Vec<_>>();
            found.into_iter().map(|(line, message)| Finding {
                severity: Severity::Error,
                path: path.to_owned(),
                line,
                rule: "measured-numbers",
                message,
            })
        })
        .collect()
}

/// `findings.set("name", 3.0)`.
fn results(code: &[Token]) -> impl Iterator<Item = (usize, String)> {
    code.windows(6).filter_map(|window| match window {
        [set, open, name, comma, Token { kind: Kind::Number(number), .. }, close]
            if set.word() == Some("set") && open.is_mark('(') && name.kind == Kind::Text && comma.is_mark(',') && close.is_mark(')') =>
        {
            Some((set.line, format!("the result is {number} whatever the chip: measure it, or set the claim aside with the reason")))
        }
        _ => None,
    })
}

/// Large numbers outside of functions that draw.
fn conditions(code: &[Token]) -> impl Iterator<Item = (usize, String)> {
    let (mut depth, mut drawing, mut pending) = (0usize, None, false);
    code.iter().enumerate().filter_map(move |(index, token)| {
        if token.word() == Some("fn") {
            pending = code.get(index + 1).and_then(Token::word).is_some_and(|name| name.contains("figure"));
        }
        if token.is_mark('{') {
            depth += 1;
            if pending && drawing.is_none() {
                drawing = Some(depth);
            }
            pending = false;
        }
        if token.is_mark('}') {
            if drawing == Some(depth) {
                drawing = None;
            }
            depth = depth.saturating_sub(1);
        }
        let Kind::Number(number) = &token.kind else { return None };
        let large = value(number).is_some_and(|value| value >= LARGE && !power_of_ten(value));
        (large && drawing.is_none()).then(|| {
            (
                token.line,
                format!("{number} looks like a condition: put it into `studies/benches/` with its source, and read it with `conditions!`"),
            )
        })
    })
}

fn value(number: &str) -> Option<f64> {
    number.replace('_', "").parse().ok()
}

fn power_of_ten(value: f64) -> bool {
    std::iter::successors(Some(10.0), |power| Some(power * 10.0)).take_while(|power| *power <= value).last() == Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> usize {
        check(&Tree::planted(&[("crates/lab/src/bench/a.rs", text)])).len()
    }

    #[test]
    fn conditions_and_results_do_not_stand_in_benches() {
        assert_eq!(found("const PE: f64 = 2_000.0;"), 1);
        assert_eq!(found("fn f() { lot.aged(4_000.0, YEAR); g(60.0, 1e9, 100.0) }"), 2);
        assert_eq!(found("fn run() { findings.set(\"time\", 0.0); }"), 1);
        assert_eq!(found("fn run() { findings.set(\"time\", at.time); findings.set(\"share\", 1.0 - x); }"), 0);
        assert_eq!(found("fn states_figure() { let points = 0..=320; }\nfn f() -> f64 { 640.0 }"), 1);
        assert_eq!(found("// 2_000.0\nfn f() { \"4k\"; [1, 2, 8, 0.5] }\n#[cfg(test)]\nmod tests { fn f() { 640.0 } }"), 0);
        assert_eq!(check(&Tree::planted(&[("crates/lab/src/lot.rs", "const X: f64 = 640.0;")])).len(), 0);
    }
}
