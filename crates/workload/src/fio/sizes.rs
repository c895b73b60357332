//! Sizes of the requests of a job, and what they are aligned to.

use super::does::Does;
use super::given::{Given, fault};
use super::lines::{Entry, Fault};
use super::{quoted, values};

/// Defaults of fio.
const BLOCK: u64 = 4_096;
/// Most sizes of a mixture.
const SIZES_MAX: usize = 64;

/// Sizes of requests, each with its share in percent.
#[derive(Debug)]
pub(super) struct Sizes(Vec<(u64, f64)>);

impl Sizes {
    /// Sizes of the requests of a job.
    pub(super) fn read(given: &Given<'_>, does: Does) -> Result<Sizes, Fault> {
        let sizes = match given.any(&["bssplit", "bsrange", "bs"]) {
            None => return Ok(Sizes(vec![(BLOCK, 100.0)])),
            // A list of shares holds whatever other lines say.
            Some(_) if given.find("bssplit").is_some() => "bssplit",
            Some(entry) => entry.key(),
        };
        for other in ["bs", "bsrange"].into_iter().filter(|other| *other != sizes) {
            given.own(other).iter().for_each(|entry| entry.explain(format!("{sizes} says which sizes there are")));
        }
        let Some(entry) = given.take(sizes) else { return Ok(Sizes(vec![(BLOCK, 100.0)])) };
        match sizes {
            "bssplit" => split(entry, given.is_si(), does),
            "bsrange" => range(entry, given.is_si(), does),
            _ => {
                let block = |value: &str| if value.is_empty() { Ok(BLOCK) } else { values::block(value, given.is_si()) };
                Ok(Sizes(vec![(does.same(entry, block, values::size)?, 100.0)]))
            }
        }
    }

    /// True if all requests have one size.
    pub(super) fn is_one(&self) -> bool {
        self.0.len() == 1
    }

    /// The mean size in bytes.
    pub(super) fn mean(&self) -> f64 {
        self.0.iter().map(|(size, share)| *size as f64 * share / 100.0).sum()
    }

    /// As a workload file has it.
    pub(super) fn written(&self) -> String {
        if let [(size, _)] = self.0.as_slice() {
            return quoted(&values::size(*size));
        }
        let size = |(size, share): &(u64, f64)| format!("{{ size = {}, share = \"{share} %\" }}", quoted(&values::size(*size)));
        format!("[{}]", self.0.iter().map(size).collect::<Vec<_>>().join(", "))
    }
}

/// Alignment of requests, where that is not the smallest size.
pub(super) fn align(given: &Given<'_>, does: Does) -> Result<Option<u64>, Fault> {
    let Some(entry) = given.take("blockalign") else { return Ok(None) };
    does.same(entry, |value| values::block(value, given.is_si()), values::size).map(Some)
}

/// A list of sizes with their shares; those without one have what is left.
fn split(entry: &Entry<'_>, is_si: bool, does: Does) -> Result<Sizes, Fault> {
    let parts = does.same(entry, |list| Ok(list.to_owned()), |list| format!("'{list}'"))?;
    let parts = values::shares(&parts).map_err(|message| fault(entry, message))?;
    if parts.len() > SIZES_MAX {
        return Err(fault(entry, format!("{} sizes, and there may be {SIZES_MAX}", parts.len())));
    }
    let size = |(size, share): (&str, f64)| Ok((values::block(size, is_si)?, share));
    let sizes: Result<Vec<(u64, f64)>, String> = parts.into_iter().map(size).collect();
    Ok(Sizes(sizes.map_err(|message| fault(entry, message))?))
}

/// From a smallest to a largest size, as fio draws them: the smallest and a part of the largest, rounded down to a multiple of the smallest.
fn range(entry: &Entry<'_>, is_si: bool, does: Does) -> Result<Sizes, Fault> {
    let read = |value: &str| -> Result<(u64, u64), String> {
        let (least, most) = value.split_once('-').unwrap_or((value, value));
        let (least, most) = (values::block(least, is_si)?, values::block(most, is_si)?);
        if least <= most { Ok((least, most)) } else { Err(format!("'{value}' goes from more to less")) }
    };
    let (least, most) = does.same(entry, read, |(least, most)| format!("{} to {}", values::size(least), values::size(most)))?;
    let steps = most.div_ceil(least);
    if steps as usize > SIZES_MAX {
        return Err(fault(entry, format!("{steps} sizes, and there may be {SIZES_MAX}")));
    }
    let (mut sizes, mut sum) = (Vec::<(u64, f64)>::new(), 0.0);
    for step in 0..steps {
        let size = (least * (step + 1)).min(most);
        let end = if step + 1 == steps { 100.0 } else { (least * (step + 1)) as f64 * 100.0 / most as f64 };
        match sizes.last_mut().filter(|last| last.0 == size) {
            Some(last) => last.1 += end - sum,
            None => sizes.push((size, end - sum)),
        }
        sum = end;
    }
    Ok(Sizes(if least == most { vec![(least, 100.0)] } else { sizes }))
}
