//! Requests that a job asks for: the shares of kinds of request, and whether their places are random.

use super::given::{Given, fault, word};
use super::lines::{Entry, Fault};
use super::values;

const READ_SHARE: f64 = 50.0;
/// Kinds of request, in the order in which fio lists values for them.
pub(super) const KINDS: [&str; 3] = ["read", "write", "trim"];

/// The shares of kinds of request in percent, and whether their places are random.
#[derive(Clone, Copy, Debug)]
pub(super) struct Does {
    shares: [f64; 3],
    is_random: bool,
}

impl Does {
    /// Requests that the job asks for.
    pub(super) fn read(given: &Given<'_>) -> Result<Does, Fault> {
        let usual = Does { shares: [100.0, 0.0, 0.0], is_random: false };
        let Some(entry) = given.take("rw") else { return Ok(usual) };
        let (value, more) = entry.value().split_once(':').map_or((entry.value(), None), |(value, more)| (value, Some(more)));
        let known =
            ["read", "write", "trim", "randread", "randwrite", "randtrim", "rw", "readwrite", "randrw", "trimwrite", "randtrimwrite"];
        let word = word(entry, value, known.into_iter())?;
        if word.ends_with("trimwrite") {
            return Err(fault(entry, format!("'{value}' has no counterpart: no job trims a place and then writes it")));
        }
        let (kind, is_random) = word.strip_prefix("rand").map_or((word, false), |kind| (kind, true));
        if let Some(more) = more.filter(|more| !["0", if is_random { "1" } else { "0" }].contains(&more.trim())) {
            entry.refuse(if is_random {
                format!("'{more}' requests in a row behind each random place have no counterpart")
            } else {
                format!("a step of '{more}' behind each request has no counterpart: each begins where the one before it ended")
            });
        }
        let shares = match kind {
            "read" => [100.0, 0.0, 0.0],
            "write" => [0.0, 100.0, 0.0],
            "trim" => [0.0, 0.0, 100.0],
            _ => {
                let read = read_share(given)?;
                [read, 100.0 - read, 0.0]
            }
        };
        Ok(Does { shares, is_random })
    }

    /// Numbers of the kinds of request that it has.
    pub(super) fn kinds(self) -> impl Iterator<Item = usize> {
        (0..KINDS.len()).filter(move |kind| self.shares[*kind] > 0.0)
    }

    /// The share of requests of this kind, in percent.
    pub(super) fn share(self, kind: usize) -> f64 {
        self.shares[kind]
    }

    /// True if it writes anything.
    pub(super) fn writes(self) -> bool {
        self.shares[1] > 0.0
    }

    /// True if places are random.
    pub(super) fn is_random(self) -> bool {
        self.is_random
    }

    /// As a workload file has it.
    pub(super) fn mix(self) -> String {
        let shares = self.kinds().map(|kind| format!("{} = \"{} %\"", KINDS[kind], self.shares[kind])).collect::<Vec<_>>();
        format!("{{ {} }}", shares.join(", "))
    }

    /// The value of `entry` for the kinds of request that the job has, which must be one; `read` reads it.
    pub(super) fn same<T: PartialEq + Clone>(
        self,
        entry: &Entry<'_>,
        read: impl Fn(&str) -> Result<T, String>,
        told: impl Fn(T) -> String,
    ) -> Result<T, Fault> {
        let all = values::by_kind(entry.value()).map_err(|message| fault(entry, message))?;
        let mut found: Option<T> = None;
        for kind in self.kinds() {
            let value = read(all[kind]).map_err(|message| fault(entry, message))?;
            if let Some(other) = found.filter(|other| *other != value) {
                let (other, value) = (told(other), told(value));
                let message =
                    format!("{other} and {value}: a job has one value for all its requests; make a job of reads and one of writes");
                return Err(fault(entry, message));
            }
            found = Some(value);
        }
        found.ok_or_else(|| fault(entry, "the job does nothing"))
    }
}

fn read_share(given: &Given<'_>) -> Result<f64, Fault> {
    let Some(entry) = given.any(&["rwmixread", "rwmixwrite"]) else { return Ok(READ_SHARE) };
    entry.take();
    let share = values::share_of_hundred(entry.value()).map_err(|message| fault(entry, message))?;
    Ok(if entry.key() == "rwmixread" { share } else { 100.0 - share })
}
