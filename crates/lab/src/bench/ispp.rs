//! The worked example of program and verify: loops, verifies in each, and what a follower can skip (003 §2.2, Fig 5; §4.1.1).

use wordline_cells::{History, Settings};
use wordline_pages::html::figure::{Columns, Figure};

use super::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::lot::Lot;
use crate::protocol::Protocol;

/// The `ispp` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "ispp",
    summary: "Loops and verifies of one program of a typical wordline, and of its follower's",
    metrics: &[
        m("loops", "count", "Loops"),
        m("verifies", "count", "Verifies in all loops, which is what t_PROG counts"),
        m("profile", "count", "Verifies in each loop, read as the digits of a number"),
        m("p2-skip", "count", "Verifies of P2 before the loop in which its first cells arrive"),
        m("p3-skip", "count", "Verifies of P3 before that loop"),
        m("follower", "count", "Verifies that a follower does when it skips these"),
        m("oracle", "count", "Verifies that one who knew every cell's loop could leave out"),
        m("equations", "us", "t_PROG less loops and verifies at their times"),
    ],
    on: On::Chips,
    conditions: Protocol::NONE,
    run,
};

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let lot = Lot::open(setup)?;
    let physics = lot.model.physics();
    let typical = lot.model.typical();
    let leader = lot.model.program(&typical, &History::default(), &Settings::default());
    let mut skipping = Settings::default();
    for state in 0..physics.shape.states() - 1 {
        skipping.skip[state] = leader.first[state].saturating_sub(1);
    }
    let follower = lot.model.program(&typical, &History::default(), &skipping);
    let of =
        |program: &wordline_cells::Program| program.verifies[..program.loops as usize].iter().map(|k| f64::from(*k)).collect::<Vec<_>>();
    let (first, second) = (of(&leader), of(&follower));
    let verifies = first.iter().sum::<f64>();
    let mut findings = Findings::default();
    findings.set("loops", f64::from(leader.loops));
    findings.set("verifies", verifies);
    findings.set("profile", first.iter().fold(0.0, |number, k| number * 10.0 + k));
    findings.set("p2-skip", f64::from(skipping.skip[1]));
    findings.set("p3-skip", f64::from(skipping.skip[2]));
    findings.set("follower", second.iter().sum());
    // Knowing all, none is needed: 003 Eq 2 then leaves MaxLoop pulses.
    let bound = f64::from(leader.loops) * physics.ispp.pulse;
    findings.set("oracle", libm::round((leader.time - bound) / physics.ispp.verify));
    findings.set("equations", leader.time - bound - verifies * physics.ispp.verify);
    for (who, program) in [("leader", &leader), ("follower", &follower)] {
        findings.of_typical(format!("t_PROG, {who}, us"), program.time);
        findings.of_typical(format!("loops, {who}"), f64::from(program.loops));
        for (state, (first, last)) in program.first.iter().zip(&program.last).take(physics.shape.states() - 1).enumerate() {
            findings.of_typical(format!("first loop of P{}, {who}", state + 1), f64::from(*first));
            findings.of_typical(format!("last loop of P{}, {who}", state + 1), f64::from(*last));
        }
    }
    findings.figures = vec![Figure::Columns(Columns {
        title: "Verifies in each loop".to_owned(),
        note: "of a leader and of its follower".to_owned(),
        x: "loop".to_owned(),
        y: "verifies".to_owned(),
        groups: (1..=leader.loops).map(|number| number.to_string()).collect(),
        series: vec![("leader".to_owned(), first), ("follower".to_owned(), second)],
    })];
    Ok(findings)
}
