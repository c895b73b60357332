//! Places that the requests of a job go to.

use super::does::Does;
use super::given::{Given, fault, word};
use super::lines::{Entry, Fault};
use super::sizes::Sizes;
use super::values::{self, Data};
use super::{extent, quoted};

/// The pattern of a job.
#[derive(Debug)]
pub(super) struct Places {
    /// As a workload file has it.
    pub(super) written: String,
    /// Difference from that of fio, where no key of the file is to blame.
    pub(super) note: Option<&'static str>,
}

impl Places {
    /// Places that the requests of a job go to, which have these sizes and this alignment.
    pub(super) fn read(given: &Given<'_>, does: Does, sizes: &Sizes, align: Option<u64>) -> Result<Places, Fault> {
        let sequential = sequential(given, does)?;
        if !does.is_random() {
            return Ok(Places { written: table(&sequential), note: None });
        }
        let share = match given.take("percentage_random") {
            Some(entry) => does.same(entry, values::share_of_hundred, |share| format!("{share} %"))?,
            None => 100.0,
        };
        if share <= 0.0 {
            return Ok(Places { written: table(&sequential), note: None });
        }
        let is_whole = share >= 100.0;
        let (random, note) = match distribution(given, does)? {
            Some(random) => (random, None),
            None if given.is_set("norandommap")? => ("pattern = \"uniform\"".to_owned(), None),
            None if is_whole && sizes.is_one() && align.is_none() => ("pattern = \"shuffled\"".to_owned(), None),
            None => {
                let note = "fio visits no place twice before it has been at all others, unless norandommap is set; here one may come twice";
                ("pattern = \"uniform\"".to_owned(), Some(note))
            }
        };
        if is_whole {
            return Ok(Places { written: table(&random), note });
        }
        let rest = 100.0 - share;
        let parts = format!("{{ {random}, share = \"{share} %\" }}, {{ {sequential}, share = \"{rest} %\" }}");
        Ok(Places { written: format!("{{ pattern = \"mixed\", parts = [{parts}] }}"), note })
    }
}

/// The keys of a pattern as a table; the name of the pattern alone where that is all.
fn table(keys: &str) -> String {
    match keys.strip_prefix("pattern = ") {
        Some(name) if !name.contains(',') => name.to_owned(),
        Some(_) | None => format!("{{ {keys} }}"),
    }
}

/// The keys of places one after another: in one file, or a request in each file in turn.
fn sequential(given: &Given<'_>, does: Does) -> Result<String, Fault> {
    let one = "pattern = \"sequential\"".to_owned();
    let (files, entry) = extent::files(given)?;
    let Some(entry) = entry.filter(|_| files > 1) else {
        ["file_service_type", "openfiles"]
            .into_iter()
            .for_each(|key| given.find(key).iter().for_each(|entry| entry.explain("of no effect with one file")));
        return Ok(one);
    };
    let (service, open) = (given.take("file_service_type"), given.take("openfiles"));
    let in_turn = match service.map(|entry| entry.value().trim().to_ascii_lowercase()).as_deref() {
        None | Some("roundrobin" | "roundrobin:1") => {
            open.is_none_or(|entry| values::number(entry.value(), false).is_ok_and(|open| open >= files))
        }
        Some("sequential") => return Ok(one),
        Some(_) => false,
    };
    if does.is_random() {
        // Places over all files are equally likely, whichever file has its turn.
        return Ok(one);
    }
    if !in_turn {
        let entry = service.or(open).unwrap_or(entry);
        entry.refuse("files that take turns in another way than one request each have no counterpart");
        return Ok(one);
    }
    Ok(format!("pattern = \"sequential\", streams = {files}"))
}

/// The keys of the pattern of random places; `None` where all are equally likely.
fn distribution(given: &Given<'_>, does: Does) -> Result<Option<String>, Fault> {
    let Some(entry) = given.take("random_distribution") else { return Ok(None) };
    // The manual has `zoned_abs=60/20g` beside `zoned:60/10`.
    let (kind, value) = entry.value().split_once([':', '=']).unwrap_or((entry.value(), ""));
    let known = ["random", "zipf", "pareto", "normal", "zoned", "zoned_abs"];
    match word(entry, kind, known.into_iter())? {
        "random" => Ok(None),
        "zipf" => {
            let value = does.same(entry, |value| Ok(value.rsplit("zipf:").next().unwrap_or_default().to_owned()), |value| value)?;
            let (theta, center) = value.split_once([':', '/']).map_or((value.as_str(), None), |(theta, center)| (theta, Some(center)));
            if center.is_some() {
                entry.refuse("popular places around a center have no counterpart: they are scattered");
            }
            let theta = theta.trim().parse::<f64>().ok().filter(|theta| *theta > 0.0 && *theta <= 5.0);
            let theta = theta.ok_or_else(|| fault(entry, format!("'{value}': theta lies above 0 and at most at 5, such as zipf:1.1")))?;
            // TOML tells a float from a whole number, and both are taken.
            Ok(Some(format!("pattern = \"zipf\", theta = {theta:?}")))
        }
        "zoned" => zones(entry, value, false, given.is_si(), does).map(Some),
        "zoned_abs" => zones(entry, value, true, given.is_si(), does).map(Some),
        kind => {
            entry.refuse(format!("the distribution {kind} has no counterpart; `hot-cold`, `zoned` or `zipf` may come near"));
            Ok(Some("pattern = \"uniform\"".to_owned()))
        }
    }
}

/// The keys of zones: the share of requests of each and how large it is, in percent or absolute.
fn zones(entry: &Entry<'_>, value: &str, is_absolute: bool, is_si: bool, does: Does) -> Result<String, Fault> {
    let lists = values::by_kind(value).map_err(|message| fault(entry, message))?;
    let lists: Vec<&str> = does.kinds().map(|kind| lists[kind]).collect();
    if lists.iter().any(|list| *list != lists[0]) {
        return Err(fault(entry, "a job has one list of zones for all its requests; make a job of reads and one of writes"));
    }
    let wrong = |message: String| fault(entry, message);
    let (mut shares, mut spans) = (Vec::new(), Vec::new());
    for part in lists[0].split(':') {
        let (share, span) = part.split_once('/').ok_or_else(|| wrong(format!("'{part}' is no zone, such as 50/5")))?;
        shares.push(values::share_of_hundred(share).map_err(wrong)?);
        let span = span.trim();
        spans.push(match (is_absolute, span.is_empty()) {
            (true, _) => Some(Data::Bytes(values::number(span, is_si).map_err(wrong)?)),
            (false, true) => None,
            (false, false) => Some(Data::Percent(values::share_of_hundred(span).map_err(wrong)?)),
        });
    }
    let sum: f64 = shares.iter().sum();
    if (sum - 100.0).abs() > 1e-6 {
        return Err(wrong(format!("the shares of the zones sum to {sum} %, not 100 %")));
    }
    let percent = |span: &Option<Data>| if let Some(Data::Percent(share)) = span { *share } else { 0.0 };
    let (covered, open) = (spans.iter().map(percent).sum::<f64>(), spans.iter().filter(|span| span.is_none()).count());
    if covered > 100.0 + 1e-6 {
        return Err(wrong(format!("the zones cover {covered} % of the space")));
    }
    let left = (100.0 - covered).max(0.0);
    let mut zones: Vec<(f64, Data)> =
        shares.into_iter().zip(spans).map(|(share, span)| (share, span.unwrap_or(Data::Percent(left / open.max(1) as f64)))).collect();
    zones.retain(|(share, span)| *share > 0.0 || !matches!(span, Data::Bytes(0) | Data::Percent(0.0)));
    if !is_absolute && open == 0 && left > 1e-6 {
        zones.push((0.0, Data::Percent(left)));
    }
    let zones: Vec<String> =
        zones.into_iter().map(|(share, span)| format!("{{ share = \"{share} %\", span = {} }}", quoted(&values::written(span)))).collect();
    Ok(format!("pattern = \"zoned\", zones = [{}]", zones.join(", ")))
}
