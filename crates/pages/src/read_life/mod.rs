//! Lives of drives that are only read (`wordline wear-out`), as a page and as text.

mod page;
mod shown;

pub use page::page;
pub use shown::shown;

#[cfg(test)]
pub(crate) mod tests {
    use wordline_figures::{MadeBy, ReadEpochResult, ReadLifeResult, ReadLivesResult, RewritesResult, WorkloadName};

    use crate::json;

    fn life(name: &str, rewrites: u64) -> ReadLifeResult {
        let epoch = |part: u64| ReadEpochResult {
            day: 10.0 * part as f64,
            timed: 20_000,
            long_reads: 200 * part,
            long_share: 0.01 * part as f64,
            device_mean_us: 60.0,
            device_max_us: 2_500.0,
            retries: 0.25,
            rewrites: rewrites * part / 3,
            postponed: 4,
            erases: rewrites * part / 3,
            failed_timed: 0,
            failed_sampled: part / 2,
            failed_moves: 0,
        };
        let begun = RewritesResult { cause: "disturb".to_owned(), asked: rewrites, begun: rewrites, ..RewritesResult::default() };
        ReadLifeResult {
            name: name.to_owned(),
            plan_hash: "00ff".to_owned(),
            seed: 1,
            exported_bytes: 1_000_000_000,
            reads_per_second: 200.0,
            days: 20.0,
            ended: None,
            reads: 345_600_000,
            sampled: 400_000,
            rewrites: if rewrites > 0 { vec![begun] } else { Vec::new() },
            rewritten: rewrites as f64 / 300.0,
            erases: rewrites,
            epochs: (0..3).map(epoch).collect(),
        }
    }

    /// Two lives.
    pub(crate) fn lives() -> ReadLivesResult {
        ReadLivesResult {
            workload: WorkloadName { name: "rlr-long".to_owned(), digest: "ab".to_owned(), bytes: 9 },
            repeats: "phase 'read' without end".to_owned(),
            years: 0.5,
            long_us: 400.0,
            drives: vec![life("one", 900), life("<two>", 0)],
            notes: vec!["leaps have no latency".to_owned()],
            made_by: MadeBy { command: "wordline wear-out one".to_owned(), version: "0".to_owned(), model: None, plans: Vec::new() },
        }
    }

    #[test]
    fn json_is_read_back_as_it_was_written() {
        assert_eq!(serde_json::from_str::<ReadLivesResult>(&json(&lives())).expect("it reads what it writes"), lives());
    }
}
