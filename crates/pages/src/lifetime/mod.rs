//! Lives of drives (`wordline wear-out`), as a page and as text.

mod page;
mod shown;

pub use page::page;
pub(crate) use page::{made_by, notes};
pub use shown::shown;
pub(crate) use shown::some;

#[cfg(test)]
pub(crate) mod tests {
    use wordline_figures::{CyclesResult, EpochResult, LifeEnd, LifetimeResult, LifetimesResult, MadeBy, WorkloadName};

    use crate::json;

    /// A life as small as can be.
    pub(crate) fn life(name: &str, written_bytes: u64) -> LifetimeResult {
        let epoch = |part: u64| EpochResult {
            written_bytes: written_bytes * part / 2,
            years: part as f64,
            skipped: 9,
            cycles_mean: 100.0 * part as f64,
            cycles_least: 90,
            cycles_most: 210,
            waf: 1.5,
            retries: 0.25,
            iops: (part == 1).then_some(20_000.0),
            ..EpochResult::default()
        };
        LifetimeResult {
            name: name.to_owned(),
            plan_hash: "00ff".to_owned(),
            seed: 1,
            exported_bytes: 1_000_000_000,
            end: LifeEnd::MovedUnit,
            reason: "a unit could not be read when it was moved: die 0, plane 0, block 3, page 7, after 210 erases".to_owned(),
            written_bytes,
            drive_writes: written_bytes as f64 / 1e9,
            years: 2.0,
            dwpd: 0.5,
            resolution: 0.004,
            leaps_off: 0.15,
            waf: 1.5,
            cycles: CyclesResult::of(vec![210, 90, 200]),
            grown_bad: 0,
            passes_years: vec![3.0, 2.0],
            epochs: vec![epoch(1), epoch(2)],
        }
    }

    /// Two lives.
    pub(crate) fn lives() -> LifetimesResult {
        LifetimesResult {
            workload: WorkloadName { name: "oltp".to_owned(), digest: "ab".to_owned(), bytes: 9 },
            repeats: "phase 'storm' without end".to_owned(),
            ends: vec!["no write is taken".to_owned(), "data does not keep".to_owned()],
            drives: vec![life("one", 300_000_000_000), life("<two>", 450_000_000_000)],
            notes: vec!["what fails by rate fails in epochs only".to_owned()],
            made_by: MadeBy { command: "wordline wear-out one".to_owned(), version: "0".to_owned(), model: None, plans: Vec::new() },
        }
    }

    #[test]
    fn json_says_what_ended_a_life_in_the_words_of_the_reference() {
        for end in [LifeEnd::HostRead, LifeEnd::MovedUnit, LifeEnd::KeptData, LifeEnd::WornOut, LifeEnd::BadBlocks, LifeEnd::Years] {
            assert_eq!(serde_json::to_value(end).expect("it is a word"), end.name());
        }
        let text = json(&lives());
        assert_eq!(serde_json::from_str::<LifetimesResult>(&text).expect("it reads what it writes"), lives());
    }
}
