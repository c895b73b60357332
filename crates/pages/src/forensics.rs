//! The result of `wordline forensics` for a terminal.

use std::fmt::Write;

use wordline_figures::ForensicsResult;
use wordline_figures::forensics::{FileRead, Found, Hit, HitState, HowRead, PlaceRead, ReadOutput, StaleUnit};

use crate::number::{count, number};

const YEAR: f64 = 365.0 * 86_400.0;

/// The result as a person reads it. A list ends after `most` lines.
pub fn text(result: &ForensicsResult, most: usize) -> String {
    let mut lines = head(result);
    if result.stale.is_empty() {
        lines.push("Nothing stale was recovered.".to_owned());
    } else {
        lines.extend(stale(result, most));
    }
    if let Some(files) = &result.files {
        lines.extend(by_file(files, most));
    }
    if let Some(found) = &result.find {
        lines.extend(hits(found, most));
    }
    lines.join("\n")
}

fn head(result: &ForensicsResult) -> Vec<String> {
    let (pages, units) = (&result.pages, &result.units);
    let lay = match result.at_celsius {
        Some(celsius) => format!(", after {} years at {celsius} °C", number(result.after_seconds / YEAR)),
        None => String::new(),
    };
    let zeroes = [
        (pages.zeroes.page_lock, "page locked"),
        (pages.zeroes.block_lock, "block locked"),
        (pages.zeroes.scrub, "scrubbed"),
        (pages.zeroes.reprogram, "reprogrammed"),
    ];
    let zeroes = listed(&zeroes);
    vec![
        format!("{}, plan {}, {}: every page of its chips was read{lay}", result.drive, result.plan_hash, result.source),
        format!(
            "pages  {} read: {} erased, {} corrected, {} uncorrectable, {} broken off; zeroes: {}",
            count(pages.read),
            count(pages.erased),
            count(pages.corrected),
            count(pages.uncorrectable),
            count(pages.ruined),
            if zeroes.is_empty() { "none" } else { &zeroes }
        ),
        format!(
            "units  {} newest, {} copies of these, {} stale{}, {} of the firmware's own{}",
            count(units.newest),
            count(units.copies),
            count(units.stale),
            if units.stale_insecure > 0 { format!(" ({} of them insecure)", count(units.stale_insecure)) } else { String::new() },
            count(units.firmware),
            if result.raw_chips { "; what could not be corrected counts" } else { "" }
        ),
    ]
}

fn stale(result: &ForensicsResult, most: usize) -> Vec<String> {
    let mut lines = vec![format!("  {:>14} {:>12} {:>12}  {:<9} {:<32} read", "stale: offset", "version", "newest", "", "place")];
    for unit in result.stale.iter().take(most) {
        let StaleUnit { offset, version, newest_version, is_mapped, insecure, file, file_version, place, read } = unit;
        let newest = if *is_mapped { shown(*newest_version) } else { "trimmed".to_owned() };
        let version = match (file, file_version) {
            (Some(file), Some(version)) => format!("{version} of {file}"),
            _ => shown(*version),
        };
        let insecure = if *insecure == Some(true) { "insecure" } else { "" };
        lines.push(format!("  {offset:>14} {version:>12} {newest:>12}  {insecure:<9} {:<32} {}", at(place), how(read)));
    }
    lines.extend(rest(result.stale.len(), most));
    if result.files.is_some() && !result.stale.is_empty() {
        lines.push("  2 of 865: what the write number 2 of file 865 put there, counted from 0".to_owned());
    }
    lines
}

fn by_file(files: &[FileRead], most: usize) -> Vec<String> {
    let with_stale = files.iter().filter(|file| file.stale_units > 0).count();
    let secure = files.iter().filter(|file| file.is_secure && file.stale_units > 0).count();
    let mut lines = vec![format!(
        "files  {} with data on flash; stale versions of {}, {} of them secure",
        count(files.len() as u64),
        count(with_stale as u64),
        count(secure as u64)
    )];
    if with_stale > 0 {
        lines.push(format!("  {:>10} {:<9} {:>15} {:>12} {:>8} {:>8}", "file", "", "stale versions", "stale units", "copies", "newest"));
    }
    for file in files.iter().take(with_stale.min(most)) {
        let secure = if file.is_secure { "secure" } else { "insecure" };
        let FileRead { file, stale_versions, stale_units, copies, newest, .. } = file;
        lines.push(format!("  {file:>10} {secure:<9} {stale_versions:>15} {stale_units:>12} {copies:>8} {newest:>8}"));
    }
    lines.extend(rest(with_stale, most));
    lines
}

fn hits(found: &Found, most: usize) -> Vec<String> {
    let insecure =
        if found.insecure_versions > 0 { format!(" ({} of them insecure)", count(found.insecure_versions)) } else { String::new() };
    let mut lines = vec![format!(
        "\"{}\": {} places; {} stale versions{insecure}, {} in newest data",
        found.text.escape_default(),
        count(found.hits.len() as u64),
        count(found.stale_versions),
        count(found.newest)
    )];
    for hit in found.hits.iter().take(most) {
        let Hit { state, offset, version, goes_on, insecure, place, read } = hit;
        let state = match state {
            HitState::Stale => "stale",
            HitState::Copy => "copy",
            HitState::Newest => "newest",
            HitState::Firmware => "firmware",
            HitState::Unknown => "unknown",
        };
        let mut line = format!("  {state:<8} offset {}, version {}, {}, {}", shown(*offset), shown(*version), at(place), how(read));
        let also = [(*goes_on, "goes on in the next unit"), (*insecure == Some(true), "insecure")];
        for (_, what) in also.into_iter().filter(|(is_so, _)| *is_so) {
            let _ = write!(line, ", {what}");
        }
        lines.push(line);
    }
    lines.extend(rest(found.hits.len(), most));
    lines
}

fn rest(all: usize, most: usize) -> Option<String> {
    (all > most).then(|| format!("  … and {} more; --rows or --json shows them", count((all - most) as u64)))
}

fn listed(counts: &[(u64, &str)]) -> String {
    let some = counts.iter().filter(|(pages, _)| *pages > 0);
    some.map(|(pages, how)| format!("{} {how}", count(*pages))).collect::<Vec<_>>().join(", ")
}

fn shown(number: Option<u64>) -> String {
    number.map_or("-".to_owned(), |number| number.to_string())
}

fn at(place: &PlaceRead) -> String {
    let PlaceRead { die, plane, block, page, unit } = place;
    format!("die {die}.{plane} block {block} page {page}.{unit}")
}

fn how(read: &HowRead) -> String {
    let errors = read.errors.filter(|&errors| errors > 0).map_or(String::new(), |errors| format!(", {errors} wrong bits"));
    match (read.output, read.entry) {
        (ReadOutput::Corrected, 0) => format!("corrected{errors}"),
        (ReadOutput::Corrected, entry) => format!("corrected at entry {entry}{errors}"),
        (ReadOutput::Uncorrectable, _) => format!("not correctable{errors}"),
        (ReadOutput::Ruined, _) => "broken off".to_owned(),
    }
}
