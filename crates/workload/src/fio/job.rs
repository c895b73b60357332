//! One job: from its keys and those that are global to the keys of a workload file.

use std::fmt::Write;

use wordline_units::host::JOBS_MAX;

use super::keys::{ASYNC_ENGINES, SYNC_ENGINES};
use super::lines::{Entry, Fault, Section};
use super::values::{self, Data};
use super::{comment, quoted};
use crate::words::did_you_mean;

/// What fio does where a file does not say it.
const BLOCK: &str = "4096";
const READ_SHARE: f64 = 50.0;
/// Most sizes of a mixture.
const SIZES_MAX: usize = 64;
/// Most requests outstanding.
const DEPTH_MAX: u64 = 65_536;
/// Kinds of request, in the order in which fio lists values for them.
const KINDS: [&str; 3] = ["read", "write", "trim"];

/// A job as a workload file has it.
#[derive(Debug)]
pub(super) struct Job<'a> {
    section: &'a Section<'a>,
    keys: Vec<(&'static str, String)>,
}

/// The keys that hold for a job: its own after those that are global.
struct Keys<'a> {
    section: &'a Section<'a>,
    globals: &'a [&'a Section<'a>],
    /// Whether `k` is 1000.
    si: bool,
    /// Whether it is the first job of the file.
    is_first: bool,
}

/// What a job asks for: the shares of kinds of request in percent, and whether their places are random.
#[derive(Clone, Copy)]
struct Does {
    shares: [f64; 3],
    is_random: bool,
}

impl Does {
    /// Numbers of the kinds of request that it has.
    fn kinds(self) -> impl Iterator<Item = usize> {
        (0..KINDS.len()).filter(move |kind| self.shares[*kind] > 0.0)
    }
}

impl<'a> Job<'a> {
    /// The job of `section`, the one of this `number` in the file, below these sections of global keys.
    pub(super) fn read(section: &'a Section<'a>, globals: &'a [&'a Section<'a>], number: usize) -> Result<Job<'a>, Fault> {
        let mut keys = Keys { section, globals, si: false, is_first: number == 0 };
        keys.overridden();
        keys.si = keys.base()?;
        keys.alone()?;
        let name = keys.find(&["name"]).map_or(section.name, |entry| {
            entry.take();
            entry.value
        });
        let mut written = vec![("name", quoted(name))];
        let count = keys.count("numjobs", 1, JOBS_MAX as u64)?;
        if count > 1 {
            written.push(("count", count.to_string()));
        }
        let does = keys.does()?;
        written.extend(keys.extent()?);
        let shares = does.kinds().map(|kind| format!("{} = \"{} %\"", KINDS[kind], does.shares[kind])).collect::<Vec<_>>();
        written.push(("mix", format!("{{ {} }}", shares.join(", "))));
        if keys.is_durable(does)? {
            written.push(("fua", "\"100 %\"".to_owned()));
        }
        written.extend(keys.sizes(does)?);
        written.push(("address", keys.address(does)?));
        written.push(("arrival", keys.arrival(does)?));
        written.extend(keys.priority()?.map(|class| ("priority", quoted(class))));
        Ok(Job { section, keys: written })
    }

    /// Writes it, and what has no counterpart.
    pub(super) fn write(&self, text: &mut String) {
        text.push_str("[[jobs]]\n");
        for (key, value) in &self.keys {
            // Writing into a String cannot fail.
            let _ = writeln!(text, "{key} = {value}");
        }
        for entry in self.section.entries.iter().filter(|entry| entry.is_told()) {
            comment(text, "", entry);
        }
        text.push('\n');
    }
}

fn fault(entry: &Entry<'_>, message: impl Into<String>) -> Fault {
    (entry.span.clone(), format!("{}: {}", entry.key, message.into()))
}

/// The word of `known` that `entry` says.
fn word<'k>(entry: &Entry<'_>, value: &str, known: impl Iterator<Item = &'k str> + Clone) -> Result<&'k str, Fault> {
    let lower = value.trim().to_ascii_lowercase();
    known.clone().find(|word| *word == lower).ok_or_else(|| {
        let words: Vec<&str> = known.clone().collect();
        fault(entry, format!("'{value}' is not one of {}{}", words.join(", "), did_you_mean(value, known)))
    })
}

impl<'a> Keys<'a> {
    /// The entry that holds for any of these names of a key: the last one.
    fn find(&self, names: &[&str]) -> Option<&'a Entry<'a>> {
        let all = self.globals.iter().flat_map(|global| &global.entries).chain(&self.section.entries);
        all.filter(|entry| names.contains(&entry.key)).last()
    }

    /// The entry as [`Keys::find`] finds it, which has its counterpart.
    fn take(&self, names: &[&str]) -> Option<&'a Entry<'a>> {
        self.find(names).inspect(|entry| entry.take())
    }

    /// Say which keys of the section a later line of it sets again.
    fn overridden(&self) {
        let aliases: [&[&str]; 6] = [
            &["rw", "readwrite"],
            &["bs", "blocksize"],
            &["blockalign", "ba"],
            &["io_size", "io_limit"],
            &["runtime", "timeout"],
            &["rwmixread", "rwmixwrite"],
        ];
        let same = |one: &str, other: &str| one == other || aliases.iter().any(|names| names.contains(&one) && names.contains(&other));
        for (place, entry) in self.section.entries.iter().enumerate() {
            if self.section.entries[place + 1..].iter().any(|later| same(later.key, entry.key)) {
                entry.explain("a later line sets it again");
            }
        }
    }

    /// Whether `k` is 1000.
    fn base(&self) -> Result<bool, Fault> {
        let Some(entry) = self.take(&["kb_base"]) else { return Ok(false) };
        Ok(word(entry, entry.value, ["1000", "1024"].into_iter())? == "1000")
    }

    /// Refuses jobs that wait for others.
    fn alone(&self) -> Result<(), Fault> {
        for name in ["stonewall", "wait_for_previous"] {
            let Some(entry) = self.find(&[name]) else { continue };
            if !values::flag(entry.value).map_err(|message| fault(entry, message))? {
                entry.take();
            } else if self.is_first {
                entry.explain("nothing is before the first job");
            } else {
                return Err(fault(
                    entry,
                    "jobs of a workload run at the same time, and this one waits for those before it; put them into files of their own, or write them as \
                     [[phases]], which run one after another",
                ));
            }
        }
        Ok(())
    }

    /// The number of `name`, or `usual`.
    fn count(&self, name: &str, usual: u64, most: u64) -> Result<u64, Fault> {
        let Some(entry) = self.take(&[name]) else { return Ok(usual) };
        let count = values::number(entry.value, self.si).map_err(|message| fault(entry, message))?;
        if (1..=most).contains(&count) { Ok(count) } else { Err(fault(entry, format!("'{}' is not from 1 to {most}", entry.value))) }
    }

    fn does(&self) -> Result<Does, Fault> {
        let usual = Does { shares: [100.0, 0.0, 0.0], is_random: false };
        let Some(entry) = self.take(&["rw", "readwrite"]) else { return Ok(usual) };
        let (value, more) = entry.value.split_once(':').map_or((entry.value, None), |(value, more)| (value, Some(more)));
        let known = ["read", "write", "trim", "randread", "randwrite", "randtrim", "rw", "readwrite", "randrw"];
        let lower = value.trim().to_ascii_lowercase();
        if ["trimwrite", "randtrimwrite"].contains(&lower.as_str()) {
            return Err(fault(entry, format!("'{value}' has no counterpart: no job trims a place and then writes it")));
        }
        let word = word(entry, value, known.into_iter())?;
        if more.is_some() {
            entry.explain("what follows the colon has no counterpart: places are drawn, or follow, one by one");
        }
        let (kind, is_random) = word.strip_prefix("rand").map_or((word, false), |kind| (kind, true));
        let shares = match kind {
            "read" => [100.0, 0.0, 0.0],
            "write" => [0.0, 100.0, 0.0],
            "trim" => [0.0, 0.0, 100.0],
            _ => {
                let read = self.read_share()?;
                [read, 100.0 - read, 0.0]
            }
        };
        Ok(Does { shares, is_random })
    }

    fn read_share(&self) -> Result<f64, Fault> {
        let Some(entry) = self.take(&["rwmixread", "rwmixwrite"]) else { return Ok(READ_SHARE) };
        let share = values::share_of_hundred(entry.value).map_err(|message| fault(entry, message))?;
        Ok(if entry.key == "rwmixread" { share } else { 100.0 - share })
    }

    /// The value of `name` as an amount of data; `None` where it is 0 or not set.
    fn data(&self, names: &[&str]) -> Result<Option<Data>, Fault> {
        let Some(entry) = self.take(names) else { return Ok(None) };
        let data = values::data(entry.value, self.si).map_err(|message| fault(entry, message))?;
        Ok((data != Data::Bytes(0) && data != Data::Percent(0.0)).then_some(data))
    }

    /// Where it is, and when it ends.
    fn extent(&self) -> Result<Vec<(&'static str, String)>, Fault> {
        let mut written = Vec::new();
        let (size, offset, moved) = (self.data(&["size"])?, self.data(&["offset"])?, self.data(&["io_size", "io_limit"])?);
        let requests = match self.take(&["number_ios"]) {
            Some(entry) => values::number(entry.value, self.si).map_err(|message| fault(entry, message))?,
            None => 0,
        };
        let time = match self.take(&["runtime", "timeout"]) {
            Some(entry) => values::time(entry.value).map_err(|message| fault(entry, message))?,
            None => wordline_units::Nanos::ZERO,
        };
        let mut is_time_alone = false;
        if let Some(entry) = self.find(&["time_based"]) {
            let is_set = values::flag(entry.value).map_err(|message| fault(entry, message))?;
            entry.take();
            is_time_alone = is_set && time.0 > 0;
            if is_set && time.0 == 0 {
                entry.explain("without a runtime fio passes over it");
            }
        }
        if requests > 0 {
            written.push(("requests", requests.to_string()));
        }
        if !is_time_alone {
            let all = moved.or(size).unwrap_or(match offset {
                Some(Data::Percent(share)) if share < 100.0 => Data::Percent(100.0 - share),
                Some(_) | None => Data::Percent(100.0),
            });
            written.push(("bytes", quoted(&values::written(all))));
        }
        if time.0 > 0 {
            written.push(("time", quoted(&values::written_time(time))));
        }
        written.extend(offset.map(|offset| ("start", quoted(&values::written(offset)))));
        written.extend(size.map(|size| ("span", quoted(&values::written(size)))));
        Ok(written)
    }

    /// Whether each write is durable before it is acknowledged.
    fn is_durable(&self, does: Does) -> Result<bool, Fault> {
        let Some(entry) = self.find(&["sync"]) else { return Ok(false) };
        let is_set = !matches!(word(entry, entry.value, ["", "none", "0", "sync", "1", "dsync"].into_iter())?, "none" | "0");
        if is_set && does.shares[1] == 0.0 {
            entry.explain("of no effect: it writes nothing");
            return Ok(false);
        }
        entry.take();
        Ok(is_set)
    }

    /// The value for the kinds of request that the job has, which must be one; `read` reads it.
    fn same<T: PartialEq + Copy>(
        &self,
        entry: &Entry<'_>,
        does: Does,
        read: impl Fn(&str) -> Result<T, String>,
        told: impl Fn(T) -> String,
    ) -> Result<T, Fault> {
        let all = values::by_kind(entry.value).map_err(|message| fault(entry, message))?;
        let mut found: Option<T> = None;
        for kind in does.kinds() {
            let value = read(all[kind]).map_err(|message| fault(entry, message))?;
            if let Some(other) = found.filter(|other| *other != value) {
                return Err(fault(
                    entry,
                    format!(
                        "{} and {}: a job has one value for all its requests; make a job of reads and one of writes",
                        told(other),
                        told(value)
                    ),
                ));
            }
            found = Some(value);
        }
        found.ok_or_else(|| fault(entry, "the job does nothing"))
    }

    /// Sizes of requests, and what they are aligned to.
    fn sizes(&self, does: Does) -> Result<Vec<(&'static str, String)>, Fault> {
        let mut written = Vec::new();
        let entry = self.find(&["bs", "blocksize"]);
        let size = match self.take(&["bssplit"]) {
            Some(split) => {
                if let Some(entry) = entry.filter(|entry| self.section.entries.iter().any(|own| std::ptr::eq(own, *entry))) {
                    entry.explain("bssplit says which sizes there are");
                }
                self.split(split)?
            }
            None => {
                entry.iter().for_each(|entry| entry.take());
                let block = |value: &str| values::block(value, self.si);
                let size = match entry {
                    Some(entry) => {
                        self.same(entry, does, |value| if value.is_empty() { block(BLOCK) } else { block(value) }, values::size)?
                    }
                    None => 4_096,
                };
                quoted(&values::size(size))
            }
        };
        written.push(("size", size));
        if let Some(entry) = self.take(&["blockalign", "ba"]) {
            let align = self.same(entry, does, |value| values::block(value, self.si), values::size)?;
            written.push(("align", quoted(&values::size(align))));
        }
        Ok(written)
    }

    /// A list of sizes with their shares; those without one have what is left.
    fn split(&self, entry: &Entry<'_>) -> Result<String, Fault> {
        if entry.value.contains(',') {
            return Err(fault(entry, "a job has one list of sizes for all its requests; make a job of reads and one of writes"));
        }
        let mut sizes: Vec<(u64, Option<f64>)> = Vec::new();
        for part in entry.value.split(':') {
            let (size, share) = part.split_once('/').unwrap_or((part, ""));
            let size = values::block(size, self.si).map_err(|message| fault(entry, message))?;
            let share = if share.trim().is_empty() {
                None
            } else {
                Some(values::share_of_hundred(share).map_err(|message| fault(entry, message))?)
            };
            sizes.push((size, share));
        }
        if sizes.len() > SIZES_MAX {
            return Err(fault(entry, format!("{} sizes, and there may be {SIZES_MAX}", sizes.len())));
        }
        let sum: f64 = sizes.iter().filter_map(|(_, share)| *share).sum();
        let open = sizes.iter().filter(|(_, share)| share.is_none()).count();
        if sum > 100.0 + 1e-6 || (open == 0 && sum < 100.0 - 1e-6) {
            return Err(fault(entry, format!("the shares sum to {sum} %, not 100 %")));
        }
        let left = (100.0 - sum).max(0.0) / open.max(1) as f64;
        let sizes: Vec<String> = sizes
            .iter()
            .map(|(size, share)| format!("{{ size = {}, share = \"{} %\" }}", quoted(&values::size(*size)), share.unwrap_or(left)))
            .collect();
        Ok(format!("[{}]", sizes.join(", ")))
    }

    /// Where requests go.
    fn address(&self, does: Does) -> Result<String, Fault> {
        if !does.is_random {
            return Ok(quoted("sequential"));
        }
        let random = self.distribution()?;
        let Some(entry) = self.take(&["percentage_random"]) else { return Ok(quoted_pattern(&random)) };
        let share = self.same(entry, does, values::share_of_hundred, |share| format!("{share} %"))?;
        if share >= 100.0 {
            return Ok(quoted_pattern(&random));
        }
        if share <= 0.0 {
            return Ok(quoted("sequential"));
        }
        let rest = 100.0 - share;
        Ok(format!(
            "{{ pattern = \"mixed\", parts = [{{ {random}, share = \"{share} %\" }}, {{ pattern = \"sequential\", share = \"{rest} %\" }}] }}"
        ))
    }

    /// The keys of the pattern of random places.
    fn distribution(&self) -> Result<String, Fault> {
        let uniform = "pattern = \"uniform\"".to_owned();
        let Some(entry) = self.find(&["random_distribution"]) else { return Ok(uniform) };
        let (kind, value) = entry.value.split_once(':').unwrap_or((entry.value, ""));
        let known = ["random", "zipf", "pareto", "normal", "zoned", "zoned_abs"];
        match word(entry, kind, known.into_iter())? {
            "random" => {
                entry.take();
                Ok(uniform)
            }
            "zipf" => {
                entry.take();
                let (theta, center) = value.split_once('/').map_or((value, None), |(theta, center)| (theta, Some(center)));
                if center.is_some() {
                    entry.explain("what follows the slash has no counterpart: popular places are scattered");
                }
                let theta = theta.trim().parse::<f64>().ok().filter(|theta| *theta > 0.0 && *theta <= 5.0);
                let theta =
                    theta.ok_or_else(|| fault(entry, format!("'{value}': theta lies above 0 and at most at 5, such as zipf:1.1")))?;
                // TOML tells a float from a whole number, and both are taken.
                Ok(format!("pattern = \"zipf\", theta = {theta:?}"))
            }
            _ => {
                entry.explain("no counterpart: every place is equally likely; `hot-cold` or `mixed` may come near");
                Ok(uniform)
            }
        }
    }

    /// When requests come.
    fn arrival(&self, does: Does) -> Result<String, Fault> {
        let depth_of = self.find(&["iodepth"]);
        if let Some(entry) = self.find(&["rate_iops"]) {
            let all = values::by_kind(entry.value).map_err(|message| fault(entry, message))?;
            // Each kind has a rate of its own, and the mix holds: the kind that reaches its rate first decides.
            let mut rate = f64::MAX;
            for kind in does.kinds() {
                let of_kind = if all[kind].is_empty() { Ok(0) } else { values::number(all[kind], self.si) }
                    .map_err(|message| fault(entry, message))?;
                if of_kind > 0 {
                    rate = rate.min(of_kind as f64 * 100.0 / does.shares[kind]);
                }
            }
            if rate < f64::MAX {
                entry.take();
                if rate > 1e9 {
                    return Err(fault(entry, "at most 1000 million requests per second"));
                }
                let process = match self.take(&["rate_process"]) {
                    Some(entry) => word(entry, entry.value, ["linear", "poisson"].into_iter())?,
                    None => "linear",
                };
                let unused = [self.own("iodepth"), self.own("ioengine")];
                unused
                    .into_iter()
                    .flatten()
                    .for_each(|entry| entry.explain("of no effect: requests come at the times of rate_iops, whatever is outstanding"));
                let process = if process == "poisson" { "poisson" } else { "constant" };
                return Ok(format!("{{ rate = \"{rate} /s\", process = \"{process}\" }}"));
            }
        }
        let engine = self.take(&["ioengine"]);
        let waits = match engine {
            Some(entry) => {
                let name = entry.value.split(':').next().unwrap_or_default();
                let name = word(entry, name, SYNC_ENGINES.iter().chain(ASYNC_ENGINES).copied())?;
                SYNC_ENGINES.contains(&name)
            }
            None => true,
        };
        let depth = self.count("iodepth", 1, DEPTH_MAX)?;
        if let Some(entry) = depth_of.filter(|_| waits && depth > 1) {
            let name = engine.map_or("the usual ioengine of fio, psync,", |entry| entry.value);
            entry.explain(format!("of no effect: {name} waits for each request"));
        }
        Ok(format!("{{ queue_depth = {} }}", if waits { 1 } else { depth }))
    }

    /// The entry of this key in the section itself.
    fn own(&self, name: &str) -> Option<&'a Entry<'a>> {
        self.section.entries.iter().rfind(|entry| entry.key == name)
    }

    /// The class of its requests, where that is not the usual one.
    fn priority(&self) -> Result<Option<&'static str>, Fault> {
        let number = |entry: &Entry<'_>, most: u64| {
            let value = values::number(entry.value, false).ok().filter(|value| *value <= most);
            value.ok_or_else(|| fault(entry, format!("'{}' is not from 0 to {most}", entry.value)))
        };
        let class = match self.take(&["prioclass"]) {
            Some(entry) => number(entry, 3)?,
            None => 0,
        };
        let prio = self.find(&["prio"]);
        let level = prio.map(|entry| number(entry, 7)).transpose()?;
        match (class, prio) {
            (1 | 3, Some(entry)) => entry.explain("prioclass alone says which of four classes it is"),
            (_, Some(entry)) => entry.take(),
            (_, None) => {}
        }
        Ok(match (class, level) {
            (1, _) => Some("urgent"),
            (3, _) => Some("low"),
            (_, Some(0..=3)) => Some("high"),
            (_, Some(5..)) => Some("low"),
            (_, Some(4) | None) => None,
        })
    }
}

/// The pattern of these keys: its name alone where that is all.
fn quoted_pattern(keys: &str) -> String {
    if keys == "pattern = \"uniform\"" { quoted("uniform") } else { format!("{{ {keys} }}") }
}
