//! From the shape of a file to a workload whose values agree with each other.

use std::ops::Range;

use toml::Spanned;
use wordline_units::host::{JOBS_MAX, SECTOR_BYTES};
use wordline_units::{Bytes, Nanos, Priority, Tolerance};

use super::quantity::{Q, Share};
use super::raw::{RawAddress, RawArrival, RawKeys, RawMix, RawPattern, RawPhase, RawProcess, RawSizes, RawWorkload, RawZone};
use super::{Address, Amount, Arrival, Burst, Gaps, JobsPhase, JobsSpec, Limit, Mix, PhaseSpec, Process, SpecError, WorkloadSpec, Zone};
use crate::words::did_you_mean;

/// Shares may miss the whole by this much, for percentages that were rounded.
const ROUNDING: f64 = 1e-6;
/// More is not a queue of any drive.
const DEEPEST_QUEUE: u32 = 65_536;
const MOST_STREAMS: u32 = 65_536;
const MOST_SIZES: usize = 64;
const MOST_ZONES: usize = 256;

type Fault = (Range<usize>, String);

/// Streams of requests: one after another, or at the same time.
pub(crate) enum Streams {
    Phases(WorkloadSpec),
    Jobs(JobsSpec),
}

/// Read a workload file of either; `file` is its name in messages.
pub(crate) fn streams(text: &str, file: &str) -> Result<Streams, SpecError> {
    let raw: RawWorkload = from_toml(text, file)?;
    checked(raw).map_err(|(span, message)| SpecError::at(file, text, Some(span), message))
}

/// Read the shape of a file, with the place of what is wrong.
pub(crate) fn from_toml<T: serde::de::DeserializeOwned>(text: &str, file: &str) -> Result<T, SpecError> {
    toml::from_str(text).map_err(|error| {
        if is_foreign(text) {
            return SpecError::at(
                file,
                "",
                None,
                "not a workload file: none of its lines sets a key of one, such as name, phases, jobs or sets",
            );
        }
        SpecError::at(file, text, error.span(), with_nearest(error.message()))
    })
}

/// Whether a text sets no key that a workload has, well or badly. Nothing of it is shown then, because it may be anything.
fn is_foreign(text: &str) -> bool {
    let known = [
        "name",
        "purpose",
        "phases",
        "jobs",
        "align",
        "prefill",
        "level",
        "length",
        "secure",
        "queue_depth",
        "layout",
        "mix",
        "sets",
        "threads",
    ];
    let (table, _) = toml::de::DeTable::parse_recoverable(text);
    !table.get_ref().iter().any(|(key, _)| known.contains(&key.get_ref().as_ref()))
}

/// The parser lists the right words in backticks after the wrong one; add which was probably meant.
fn with_nearest(message: &str) -> String {
    let message = &in_plain_words(message.trim_end());
    let mut quoted = message.split('`').skip(1).step_by(2);
    let hint = match quoted.next() {
        Some(wrong) if message.starts_with("unknown ") => did_you_mean(wrong, quoted),
        Some(_) | None => String::new(),
    };
    format!("{message}{hint}")
}

/// The parser names types of the language where a number does not fit; a reader wants its bounds.
fn in_plain_words(message: &str) -> String {
    let types = [("u8", u64::from(u8::MAX)), ("u16", u64::from(u16::MAX)), ("u32", u64::from(u32::MAX)), ("u64", u64::MAX)];
    let message = message.replace(" as i128", "").replace(" as u128", "");
    types.into_iter().fold(message, |message, (name, most)| match message.strip_suffix(&format!("expected {name}")) {
        Some(before) => format!("{before}expected a whole number from 0 to {most}"),
        None => message,
    })
}

fn checked(raw: RawWorkload) -> Result<Streams, Fault> {
    if raw.name.get_ref().trim().is_empty() {
        return Err((raw.name.span(), "a workload needs a name".to_owned()));
    }
    let RawWorkload { name, purpose, phases, jobs } = raw;
    let either = "a workload has either [[phases]], one after another, or [[jobs]], at the same time (or [[sets]] of files)";
    match (phases, jobs) {
        (Some(phases), None) => {
            if phases.get_ref().is_empty() {
                return Err((phases.span(), "a workload needs at least one phase".to_owned()));
            }
            let name = name.into_inner();
            if phases.get_ref().iter().any(|phase| phase.get_ref().jobs.is_some()) {
                let place = phases.span();
                return without_gaps(JobsSpec { name, purpose, phases: phases_of_jobs(phases.into_inner())? }, place);
            }
            let phases = phases.into_inner().into_iter().enumerate();
            let phases = phases.map(|(index, raw)| phase(index, raw)).collect::<Result<_, _>>()?;
            Ok(Streams::Phases(WorkloadSpec { name, purpose, phases }))
        }
        (None, Some(raw)) => {
            let (name, place, jobs) = (name.into_inner(), raw.span(), all_jobs(raw, 0)?);
            without_gaps(JobsSpec { phases: vec![JobsPhase { name: name.clone(), jobs }], name, purpose }, place)
        }
        (Some(_), Some(jobs)) => Err((jobs.span(), format!("{either}, and this one has both"))),
        (None, None) => Err((name.span(), format!("{either}, and this one has none of them"))),
    }
}

/// The workload of jobs at `place`, none of which may have gaps: a drive is without requests for all of them or for none.
fn without_gaps(spec: JobsSpec, place: Range<usize>) -> Result<Streams, Fault> {
    if spec.phases.iter().flat_map(|phase| &phase.jobs).any(|job| job.gaps().is_some()) {
        return Err((place, "'cycle', 'without_gap' and 'gap' are for phases, and these are jobs".to_owned()));
    }
    Ok(Streams::Jobs(spec))
}

/// The phases of a workload in which at least one of them holds jobs. A phase without jobs is a job alone.
fn phases_of_jobs(raw: Vec<Spanned<RawPhase>>) -> Result<Vec<JobsPhase>, Fault> {
    let mut phases: Vec<JobsPhase> = Vec::new();
    for (index, mut raw) in raw.into_iter().enumerate() {
        let (place, before) = (raw.span(), phases.iter().map(|phase| phase.jobs.len()).sum::<usize>());
        let (name, jobs) = match raw.get_mut().jobs.take() {
            Some(jobs) => {
                let name = holder(index, raw)?;
                let mut jobs = all_jobs(jobs, before)?;
                // A job's row stands among those of other phases.
                jobs.iter_mut().for_each(|job| job.name = format!("{name}/{}", job.name));
                (name, jobs)
            }
            None if before == JOBS_MAX => return Err((place, format!("{JOBS_MAX} jobs up to here, and there may be no more"))),
            None => {
                let phase = phase(index, raw)?;
                (phase.name.clone(), vec![phase])
            }
        };
        if phases.iter().any(|phase| phase.name == name) {
            return Err((place, format!("a second phase is called '{name}', so that nobody could tell whose jobs are whose")));
        }
        phases.push(JobsPhase { name, jobs });
    }
    Ok(phases)
}

/// The name of a phase that holds jobs, which has no other key.
fn holder(index: usize, raw: Spanned<RawPhase>) -> Result<String, Fault> {
    let RawPhase {
        name,
        count,
        jobs: _,
        requests,
        bytes,
        time,
        start,
        step,
        span,
        align,
        mix,
        fua,
        flush_every,
        size,
        address,
        arrival,
        priority,
        tolerance,
    } = raw.into_inner();
    let given = [
        ("count", count.map(|key| key.span())),
        ("requests", requests.map(|key| key.span())),
        ("bytes", bytes.map(|key| key.span())),
        ("time", time.map(|key| key.span())),
        ("start", start.map(|key| key.span())),
        ("step", step.map(|key| key.span())),
        ("span", span.map(|key| key.span())),
        ("align", align.map(|key| key.span())),
        ("mix", mix.map(|key| key.span())),
        ("fua", fua.map(|key| key.span())),
        ("flush_every", flush_every.map(|key| key.span())),
        ("size", size.map(|key| key.span())),
        ("address", address.map(|key| key.span())),
        ("arrival", arrival.map(|key| key.span())),
        ("priority", priority.map(|key| key.span())),
        ("tolerance", tolerance.map(|key| key.span())),
    ];
    match given.into_iter().find_map(|(key, place)| Some((key, place?))) {
        Some((key, place)) => {
            Err((place, format!("'{key}' belongs to the jobs of this phase: a phase that holds jobs has a name beside them")))
        }
        None => Ok(name.unwrap_or_else(|| format!("phase {}", index + 1))),
    }
}

/// The jobs, as often as they are to be there, behind so many of other phases.
fn all_jobs(raw: Spanned<Vec<Spanned<RawPhase>>>, before: usize) -> Result<Vec<PhaseSpec>, Fault> {
    let place = raw.span();
    let mut jobs = Vec::new();
    let first = raw.get_ref().first().map_or(place.clone(), Spanned::span);
    for (index, raw) in raw.into_inner().into_iter().enumerate() {
        let message = format!("from 1 to {JOBS_MAX} jobs");
        let place = raw.get_ref().count.as_ref().map_or(raw.span(), Spanned::span);
        let count = positive(&raw.get_ref().count, |count| (1..=JOBS_MAX as u32).contains(count), &message)?;
        if let Some(inner) = &raw.get_ref().jobs {
            return Err((inner.span(), "a job holds no jobs; phases do".to_owned()));
        }
        let step = step(&raw)?;
        let job = stream(index, raw, "job")?;
        let count_all = before + jobs.len() + count.unwrap_or(1) as usize;
        if count_all > JOBS_MAX {
            return Err((place, format!("{count_all} jobs up to here, and there may be {JOBS_MAX}")));
        }
        match count {
            Some(count) if count > 1 => {
                jobs.extend((0..count).map(|number| PhaseSpec {
                    name: format!("{} {}", job.name, number + 1),
                    start: later(job.start, step, number),
                    ..job.clone()
                }));
            }
            Some(_) | None => jobs.push(job),
        }
    }
    if jobs.is_empty() {
        return Err((place, "a workload, and each phase that holds jobs, needs at least one job".to_owned()));
    }
    if !jobs.iter().any(PhaseSpec::has_end) {
        return Err((first, "at least one job needs an end: requests, bytes or time; those without one run as long".to_owned()));
    }
    Ok(jobs)
}

/// Distance by which each further job of one table begins later on the drive.
fn step(raw: &Spanned<RawPhase>) -> Result<Option<Amount>, Fault> {
    let Some(step) = &raw.get_ref().step else { return Ok(None) };
    let is_share = |amount: Amount| matches!(amount, Amount::OfDrive(_));
    if raw.get_ref().count.as_ref().is_none_or(|count| *count.get_ref() < 2) {
        return Err((step.span(), "'step' is the way from job to job, and needs a 'count' of several".to_owned()));
    }
    match &raw.get_ref().start {
        Some(start) if nonzero(start.get_ref().0) && is_share(start.get_ref().0) != is_share(step.get_ref().0) => {
            Err((step.span(), "'start' and 'step' are either both sizes or both shares of the drive".to_owned()))
        }
        Some(_) | None => Ok(Some(step.get_ref().0)),
    }
}

/// The beginning of the part of the job of this number, from 0.
fn later(start: Amount, step: Option<Amount>, number: u32) -> Amount {
    match (start, step) {
        (_, None) => start,
        (Amount::Bytes(start), Some(Amount::Bytes(step))) => {
            Amount::Bytes(Bytes(start.0.saturating_add(step.0.saturating_mul(u64::from(number)))))
        }
        (Amount::OfDrive(start), Some(Amount::OfDrive(step))) => Amount::OfDrive(start + step * f64::from(number)),
        // One of both is zero.
        (Amount::Bytes(_), Some(Amount::OfDrive(step))) => Amount::OfDrive(step * f64::from(number)),
        (Amount::OfDrive(_), Some(Amount::Bytes(step))) => Amount::Bytes(Bytes(step.0.saturating_mul(u64::from(number)))),
    }
}

fn phase(index: usize, raw: Spanned<RawPhase>) -> Result<PhaseSpec, Fault> {
    if let Some(count) = &raw.get_ref().count {
        return Err((count.span(), "'count' belongs to [[jobs]], which run at the same time; phases run one after another".to_owned()));
    }
    if let Some(step) = &raw.get_ref().step {
        return Err((step.span(), "'step' belongs to [[jobs]] with a 'count'".to_owned()));
    }
    let place = raw.span();
    let phase = stream(index, raw, "phase")?;
    if phase.has_end() { Ok(phase) } else { Err((place, "a phase needs an end: requests, bytes or time".to_owned())) }
}

/// A phase or a job, whichever `word` says.
fn stream(index: usize, raw: Spanned<RawPhase>, word: &str) -> Result<PhaseSpec, Fault> {
    let place = raw.span();
    let raw = raw.into_inner();
    let missing = |key: &str| (place.clone(), format!("missing field `{key}`"));
    let limit = Limit {
        requests: positive(&raw.requests, |count| *count > 0, &format!("a {word} of no requests does nothing"))?,
        bytes: positive(&raw.bytes, |amount| nonzero(amount.0), &format!("a {word} of no bytes does nothing"))?.map(|amount| amount.0),
        time: positive(&raw.time, |time| time.0.0 > 0, &format!("a {word} of no time does nothing"))?.map(|time| time.0),
    };
    let span = positive(&raw.span, |amount| nonzero(amount.0), "a span of nothing has no addresses")?;
    for amount in [&raw.start, &raw.span].into_iter().flatten() {
        if matches!(amount.get_ref().0, Amount::OfDrive(fraction) if fraction > 1.0) {
            return Err((amount.span(), "more than the whole drive".to_owned()));
        }
    }
    let align = positive(&raw.align, |align| sectors(align.0), "an alignment is a multiple of 512 B above zero")?.map(|align| align.0);
    Ok(PhaseSpec {
        name: raw.name.unwrap_or_else(|| format!("{word} {}", index + 1)),
        limit,
        start: raw.start.map_or(Amount::Bytes(Bytes(0)), |start| start.into_inner().0),
        span: span.map_or(Amount::OfDrive(1.0), |span| span.0),
        align,
        mix: mix(raw.mix.ok_or_else(|| missing("mix"))?)?,
        fua: raw.fua.map_or(0.0, |share| share.get_ref().0.0),
        flush_every: positive(&raw.flush_every, |writes| *writes > 0, "a flush follows after at least one write")?,
        sizes: sizes(raw.size.ok_or_else(|| missing("size"))?)?,
        address: address(raw.address.ok_or_else(|| missing("address"))?, true)?.1,
        arrival: arrival(raw.arrival.ok_or_else(|| missing("arrival"))?)?,
        priority: raw.priority.map_or(Priority::Normal, |priority| Priority::from(priority.into_inner())),
        tolerance: raw.tolerance.map(|tolerance| Tolerance::from(tolerance.into_inner())),
    })
}

fn positive<T: Copy>(value: &Option<Spanned<T>>, holds: impl Fn(&T) -> bool, message: &str) -> Result<Option<T>, Fault> {
    match value {
        Some(value) if !holds(value.get_ref()) => Err((value.span(), message.to_owned())),
        Some(value) => Ok(Some(*value.get_ref())),
        None => Ok(None),
    }
}

fn nonzero(amount: Amount) -> bool {
    match amount {
        Amount::Bytes(bytes) => bytes.0 > 0,
        Amount::OfDrive(fraction) => fraction > 0.0,
    }
}

fn sectors(size: Bytes) -> bool {
    size.0 > 0 && size.0.is_multiple_of(SECTOR_BYTES)
}

fn whole(sum: f64, span: Range<usize>, what: &str) -> Result<(), Fault> {
    if (sum - 1.0).abs() <= ROUNDING { Ok(()) } else { Err((span, format!("{what} sum to {:.4} %, not 100 %", sum * 100.0))) }
}

fn mix(raw: Spanned<RawMix>) -> Result<Mix, Fault> {
    let share = |share: Option<Q<Share>>| share.map_or(0.0, |share| share.0.0);
    let span = raw.span();
    let raw = raw.into_inner();
    let mix = Mix { read: share(raw.read), write: share(raw.write), trim: share(raw.trim), flush: share(raw.flush) };
    whole(mix.read + mix.write + mix.trim + mix.flush, span, "the shares of read, write, trim and flush")?;
    Ok(mix)
}

fn sizes(raw: Spanned<RawSizes>) -> Result<Vec<(Bytes, f64)>, Fault> {
    const MESSAGE: &str = "a size is a multiple of 512 B from 512 B to 1 GiB";
    let valid = |size: Bytes| sectors(size) && size <= crate::trace::TraceRecord::LARGEST_TRANSFER;
    let span = raw.span();
    match raw.into_inner() {
        RawSizes::One(size) if valid(size) => Ok(vec![(size, 1.0)]),
        RawSizes::One(_) => Err((span, MESSAGE.to_owned())),
        RawSizes::Many(sizes) if sizes.is_empty() || sizes.len() > MOST_SIZES => {
            Err((span, format!("a mixture has from 1 to {MOST_SIZES} sizes")))
        }
        RawSizes::Many(sizes) => {
            if let Some(wrong) = sizes.iter().find(|size| !valid(size.get_ref().size.0)) {
                return Err((wrong.span(), MESSAGE.to_owned()));
            }
            whole(sizes.iter().map(|size| size.get_ref().share.0.0).sum(), span, "the shares of the sizes")?;
            Ok(sizes.into_iter().map(|size| (size.get_ref().size.0, size.get_ref().share.0.0)).collect())
        }
    }
}

/// Refuses keys of other patterns than that of `keys`.
fn belonging(keys: &RawKeys, outermost: bool) -> Result<(), Fault> {
    let pattern = keys.pattern;
    let given = [
        ("share", keys.share.as_ref().map(Spanned::span), !outermost),
        ("theta", keys.theta.as_ref().map(Spanned::span), pattern == RawPattern::Zipf),
        ("scatter", keys.scatter.as_ref().map(Spanned::span), matches!(pattern, RawPattern::Zipf | RawPattern::HotCold)),
        ("hot", keys.hot.as_ref().map(Spanned::span), pattern == RawPattern::HotCold),
        ("traffic", keys.traffic.as_ref().map(Spanned::span), pattern == RawPattern::HotCold),
        ("zones", keys.zones.as_ref().map(Spanned::span), pattern == RawPattern::Zoned),
        ("streams", keys.streams.as_ref().map(Spanned::span), pattern == RawPattern::Sequential),
        ("parts", keys.parts.as_ref().map(Spanned::span), pattern == RawPattern::Mixed && outermost),
    ];
    for (key, place, belongs) in given {
        if let (Some(place), false) = (place, belongs) {
            return Err((place, format!("'{key}' has no meaning for the pattern {} here", pattern.name())));
        }
    }
    Ok(())
}

/// The zones of a pattern, whose shares agree with each other.
fn zones(raw: Spanned<Vec<Spanned<RawZone>>>) -> Result<Vec<Zone>, Fault> {
    let place = raw.span();
    let raw = raw.into_inner();
    if raw.is_empty() || raw.len() > MOST_ZONES {
        return Err((place, format!("a zoned space has from 1 to {MOST_ZONES} zones")));
    }
    if let Some(wrong) = raw.iter().find(|zone| !nonzero(zone.get_ref().span.0)) {
        return Err((wrong.span(), "a zone of no span has no addresses".to_owned()));
    }
    let fraction = |zone: &RawZone| match zone.span.0 {
        Amount::OfDrive(fraction) => Some(fraction),
        Amount::Bytes(_) => None,
    };
    let relative = raw.iter().filter(|zone| fraction(zone.get_ref()).is_some()).count();
    if relative > 0 && relative < raw.len() {
        return Err((place, "the spans of zones are either all shares of the space or all sizes".to_owned()));
    }
    whole(raw.iter().map(|zone| zone.get_ref().share.0.0).sum(), place.clone(), "the shares of the zones")?;
    if relative > 0 {
        whole(raw.iter().filter_map(|zone| fraction(zone.get_ref())).sum(), place, "the spans of the zones")?;
    }
    Ok(raw.into_iter().map(|zone| Zone { share: zone.get_ref().share.0.0, span: zone.get_ref().span.0 }).collect())
}

/// The pattern and its share in a mixture.
fn address(raw: Spanned<RawAddress>, outermost: bool) -> Result<(f64, Address), Fault> {
    let span = raw.span();
    let keys = *raw.into_inner().0;
    let pattern = keys.pattern;
    belonging(&keys, outermost)?;
    let missing = |key: &str| (span.clone(), format!("the pattern {} needs '{key}'", pattern.name()));
    let share = match (&keys.share, outermost) {
        (Some(share), _) => share.get_ref().0.0,
        (None, true) => 1.0,
        (None, false) => return Err(missing("share")),
    };
    let scatter = |usual: bool| keys.scatter.as_ref().map_or(usual, |scatter| *scatter.get_ref());
    let address = match pattern {
        RawPattern::Uniform => Address::Uniform,
        RawPattern::Shuffled => Address::Shuffled,
        RawPattern::Zipf => {
            let message = "theta lies above 0 and at most at 5; 0.99 is usual";
            let theta = positive(&keys.theta, |theta| *theta > 0.0 && *theta <= 5.0, message)?.ok_or_else(|| missing("theta"))?;
            Address::Zipf { theta, scatter: scatter(true) }
        }
        RawPattern::HotCold => {
            let message = "a hot part lies above 0 % and below 100 %";
            let hot = positive(&keys.hot, |hot| hot.0.0 > 0.0 && hot.0.0 < 1.0, message)?.ok_or_else(|| missing("hot"))?;
            let traffic = keys.traffic.as_ref().ok_or_else(|| missing("traffic"))?.get_ref().0.0;
            Address::HotCold { hot: hot.0.0, traffic, scatter: scatter(false) }
        }
        RawPattern::Zoned => Address::Zoned(zones(keys.zones.ok_or_else(|| missing("zones"))?)?),
        RawPattern::Sequential => {
            let message = format!("from 1 to {MOST_STREAMS} streams");
            let streams = positive(&keys.streams, |streams| (1..=MOST_STREAMS).contains(streams), &message)?;
            Address::Sequential { streams: streams.unwrap_or(1) }
        }
        RawPattern::Mixed if outermost => {
            let parts = keys.parts.ok_or_else(|| missing("parts"))?;
            let place = parts.span();
            let parts = parts.into_inner().into_iter().map(|part| address(part, false)).collect::<Result<Vec<_>, _>>()?;
            whole(parts.iter().map(|(share, _)| share).sum(), place, "the shares of the parts")?;
            Address::Mixed(parts)
        }
        RawPattern::Mixed => return Err((span, "a part of a mixture cannot be a mixture itself".to_owned())),
    };
    Ok((share, address))
}

/// Gaps of the closed loop at `span`.
fn gaps(
    span: Range<usize>,
    cycle: Option<Spanned<u64>>,
    without: Option<Spanned<Q<Share>>>,
    gap: Option<Spanned<Q<Nanos>>>,
) -> Result<Option<Gaps>, Fault> {
    let cycle = positive(&cycle, |cycle| *cycle > 0, "at least one request")?;
    let gap = positive(&gap, |gap| gap.0.0 > 0, "a time above zero")?;
    match (cycle, without, gap) {
        (None, None, None) => Ok(None),
        (Some(cycle), Some(without), Some(gap)) => {
            let run = (cycle as f64 * without.get_ref().0.0).round() as u64;
            if run >= cycle {
                return Err((without.span(), "no request is left that comes after a gap".to_owned()));
            }
            Ok(Some(Gaps { run, cycle, gap: gap.0 }))
        }
        _ => Err((span, "gaps need 'cycle', 'without_gap' and 'gap'".to_owned())),
    }
}

fn arrival(raw: Spanned<RawArrival>) -> Result<Arrival, Fault> {
    let span = raw.span();
    let raw = raw.into_inner();
    let Some(rate) = raw.rate else {
        let open = [raw.process.map(|key| key.span()), raw.busy.map(|key| key.span()), raw.idle.map(|key| key.span())];
        if let Some(place) = open.into_iter().flatten().next() {
            return Err((place, "this belongs to an open loop, which needs 'rate'".to_owned()));
        }
        let message = format!("from 1 to {DEEPEST_QUEUE} requests outstanding");
        let depth = positive(&raw.queue_depth, |depth| (1..=DEEPEST_QUEUE).contains(depth), &message)?;
        let queue_depth =
            depth.ok_or_else(|| (span.clone(), "arrivals need 'queue_depth' (closed loop) or 'rate' (open loop)".to_owned()))?;
        let gaps = gaps(span, raw.cycle, raw.without_gap, raw.gap)?;
        return Ok(Arrival::Closed { queue_depth, gaps });
    };
    if let Some(depth) = raw.queue_depth {
        return Err((depth.span(), "'queue_depth' is for a closed loop and 'rate' for an open one; choose".to_owned()));
    }
    let closed = [raw.cycle.map(|key| key.span()), raw.without_gap.map(|key| key.span()), raw.gap.map(|key| key.span())];
    if let Some(place) = closed.into_iter().flatten().next() {
        return Err((place, "this belongs to a closed loop, which needs 'queue_depth'".to_owned()));
    }
    let message = "a time above zero";
    let busy = positive(&raw.busy, |time| time.0.0 > 0, message)?;
    let idle = positive(&raw.idle, |time| time.0.0 > 0, message)?;
    let burst = match (busy, idle) {
        (Some(busy), Some(idle)) => Some(Burst { busy: busy.0, idle: idle.0 }),
        (None, None) => None,
        (Some(_), None) | (None, Some(_)) => return Err((span, "bursts need both 'busy' and 'idle'".to_owned())),
    };
    let process = match raw.process.map(Spanned::into_inner) {
        Some(RawProcess::Constant) => Process::Constant,
        Some(RawProcess::Poisson) | None => Process::Poisson,
    };
    Ok(Arrival::Open { rate: rate.0, process, burst })
}

#[cfg(test)]
mod tests {
    use super::{Gaps, WorkloadSpec};
    use crate::AnySpec;
    use wordline_units::Nanos;

    fn with_arrival(part: &str, arrival: &str) -> String {
        format!(
            "name = \"n\"\n[[{part}]]\nrequests = 9\nmix = {{ write = \"100 %\" }}\nsize = \"4 KiB\"\naddress = \"uniform\"\narrival = {{ {arrival} }}\n"
        )
    }

    #[test]
    fn gaps_of_a_closed_loop_are_read_and_half_of_them_is_refused() {
        let of = |arrival: &str| WorkloadSpec::parse(&with_arrival("phases", arrival), "n.toml");
        let whole = "queue_depth = 8, cycle = 1000, without_gap = \"70 %\", gap = \"2 us\"";
        assert_eq!(of(whole).expect("sound").phases[0].gaps(), Some(Gaps { run: 700, cycle: 1_000, gap: Nanos(2_000) }));
        assert_eq!(of("queue_depth = 8").expect("sound").phases[0].gaps(), None);
        for (wrong, why) in [
            ("queue_depth = 8, cycle = 1000, gap = \"2 us\"", "gaps need 'cycle', 'without_gap' and 'gap'"),
            ("queue_depth = 8, cycle = 0, without_gap = \"70 %\", gap = \"2 us\"", "at least one request"),
            ("queue_depth = 8, cycle = 10, without_gap = \"100 %\", gap = \"2 us\"", "no request is left that comes after a gap"),
            ("rate = \"1 k/s\", gap = \"2 us\"", "this belongs to a closed loop"),
        ] {
            let told = of(wrong).expect_err(wrong).to_string();
            assert!(told.contains(why), "{wrong}: {told}");
        }
        let told = AnySpec::parse(&with_arrival("jobs", whole), "n.toml").expect_err("jobs have none").to_string();
        assert!(told.contains("are for phases, and these are jobs"), "{told}");
    }

    #[test]
    fn a_number_that_is_too_large_is_told_with_its_bound_and_no_type_of_the_language() {
        for (count, most) in [("36893488147419103232", "18446744073709551615"), ("-3", "18446744073709551615")] {
            let text = format!("name = \"n\"\npurpose = \"p\"\n[[phases]]\nname = \"x\"\nrequests = {count}\n");
            let told = AnySpec::parse(&text, "n.toml").expect_err("no such number").to_string();
            assert!(told.contains(&format!("expected a whole number from 0 to {most}")) && !told.contains("i128"), "{told}");
        }
    }
}
