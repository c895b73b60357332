//! From pages as they were read to what was recovered: which is newest, a copy of that, or stale.

use std::collections::{BTreeMap, BTreeSet};

use wordline_chip::Sanitisation;
use wordline_drive::{FlashPlace, Holds, Output, PageRead};
use wordline_figures::ForensicsResult;
use wordline_figures::forensics::{FileRead, Found, Hit, HitState, HowRead, PagesRead, PlaceRead, ReadOutput, StaleUnit, UnitsRead};
use wordline_runs::{Tag, Tags};
use wordline_units::Bytes;

use super::text::{Needle, Traces};
use crate::failure::Failure;

/// A mapping unit as it came out of a chip.
struct Copy {
    unit: u64,
    /// Its version, and whether it was said to be insecure.
    mark: Option<(u64, bool)>,
    place: FlashPlace,
    output: Output,
}

/// A text in bytes that are no unit of the drive's.
struct Loose {
    state: HitState,
    place: FlashPlace,
    output: Output,
}

/// What has been read so far.
pub(super) struct Sifter {
    unit: Bytes,
    pages: PagesRead,
    /// Units of the firmware's own, and how their page was read.
    firmware: Vec<Output>,
    copies: Vec<Copy>,
    needle: Option<Needle>,
    /// Beside each of `copies`, where something is looked for.
    traces: Vec<Traces>,
    loose: Vec<Loose>,
}

fn is_recovered(output: Output, raw: bool) -> bool {
    match output {
        Output::Corrected { .. } => true,
        Output::Uncorrectable { .. } | Output::Ruined => raw,
        Output::Erased | Output::Zeroes(_) => false,
    }
}

fn how(output: Output) -> HowRead {
    match output {
        Output::Corrected { entry, errors } => HowRead { output: ReadOutput::Corrected, entry, errors: Some(errors) },
        Output::Uncorrectable { errors } => HowRead { output: ReadOutput::Uncorrectable, entry: 0, errors: Some(errors) },
        Output::Ruined | Output::Erased | Output::Zeroes(_) => HowRead { output: ReadOutput::Ruined, entry: 0, errors: None },
    }
}

fn shown(place: FlashPlace) -> PlaceRead {
    PlaceRead { die: place.die.0, plane: place.plane.0, block: place.block.0, page: place.page.0, unit: place.unit }
}

impl Sifter {
    /// Nothing yet, of a drive with mapping units of `unit`. `find` is looked for.
    pub(super) fn new(find: Option<&str>, unit: Bytes) -> Result<Sifter, Failure> {
        let needle = find.map(|text| Needle::new(text, unit)).transpose()?;
        let (pages, firmware, copies) = (PagesRead::default(), Vec::new(), Vec::new());
        Ok(Sifter { unit, pages, firmware, copies, needle, traces: Vec::new(), loose: Vec::new() })
    }

    /// Take note of a page.
    pub(super) fn take(&mut self, page: &PageRead<'_>) {
        let pages = &mut self.pages;
        pages.read += 1;
        *match page.output {
            Output::Erased => &mut pages.erased,
            Output::Corrected { .. } => &mut pages.corrected,
            Output::Uncorrectable { .. } => &mut pages.uncorrectable,
            Output::Ruined => &mut pages.ruined,
            Output::Zeroes(Sanitisation::LockPage) => &mut pages.zeroes.page_lock,
            Output::Zeroes(Sanitisation::LockBlock) => &mut pages.zeroes.block_lock,
            Output::Zeroes(Sanitisation::Scrub) => &mut pages.zeroes.scrub,
            Output::Zeroes(Sanitisation::Reprogram) => &mut pages.zeroes.reprogram,
        } += 1;
        for (number, holds) in (0..).zip(page.units) {
            let place = FlashPlace { unit: number, ..page.place };
            let bytes = page.bytes.chunks_exact(self.unit.0 as usize).nth(number as usize);
            let state = match *holds {
                Holds::Unit { unit, mark } => {
                    self.copies.push(Copy { unit, mark, place, output: page.output });
                    if let Some(needle) = &self.needle {
                        self.traces.push(bytes.map_or_else(Traces::default, |bytes| needle.traces(bytes)));
                    }
                    continue;
                }
                Holds::Firmware => {
                    self.firmware.push(page.output);
                    HitState::Firmware
                }
                Holds::Nothing => HitState::Unknown,
            };
            // Whatever the page is taken for, zeroes and ones among them: what is in it was put out.
            if let (Some(needle), Some(bytes)) = (&self.needle, bytes) {
                let places = needle.places(bytes);
                self.loose.extend(places.iter().map(|_| Loose { state, place, output: page.output }));
            }
        }
    }

    /// What it comes to, written into `result`. `newest` is where the newest data of each unit lies, `tags` whose data lies where; what cannot be
    /// corrected counts where `raw` says so.
    pub(super) fn conclude(
        mut self,
        raw: bool,
        newest: &[Option<FlashPlace>],
        tags: Option<&Tags>,
        result: ForensicsResult,
    ) -> ForensicsResult {
        let pages = std::mem::take(&mut self.pages);
        let states = self.states(newest, tags);
        let recovered = || self.copies.iter().zip(&states).filter(|(copy, _)| is_recovered(copy.output, raw));
        let count = |wanted| recovered().filter(|(_, state)| **state == wanted).count() as u64;
        let insecure = |copy: &Copy| self.insecure(copy, tags);
        let versions = self.newest_versions(newest);
        let mut stale: Vec<StaleUnit> = recovered()
            .filter(|(_, state)| **state == HitState::Stale)
            .map(|(copy, _)| {
                let tag = tags.and_then(|tags| tags.at(copy.place));
                StaleUnit {
                    offset: copy.unit * self.unit.0,
                    version: copy.mark.map(|(version, _)| version),
                    newest_version: versions.get(&copy.unit).copied(),
                    is_mapped: newest[copy.unit as usize].is_some(),
                    insecure: insecure(copy),
                    file: tag.map(|(file, _)| file),
                    file_version: tag.map(|(_, version)| version),
                    place: shown(copy.place),
                    read: how(copy.output),
                }
            })
            .collect();
        stale.sort_by_key(|unit| (unit.offset, unit.version, unit.place));
        let addresses: BTreeSet<u64> = stale.iter().filter(|unit| unit.insecure != Some(true)).map(|unit| unit.offset).collect();
        ForensicsResult {
            pages,
            units: UnitsRead {
                unit_bytes: self.unit.0,
                newest: count(HitState::Newest),
                copies: count(HitState::Copy),
                stale: count(HitState::Stale),
                stale_insecure: stale.iter().filter(|unit| unit.insecure == Some(true)).count() as u64,
                stale_addresses: addresses.len() as u64,
                firmware: self.firmware.iter().filter(|&&output| is_recovered(output, raw)).count() as u64,
            },
            stale,
            files: tags.map(|tags| by_file(tags, recovered())),
            find: self.needle.as_ref().map(|needle| self.found(needle, raw, &states)),
            ..result
        }
    }

    fn insecure(&self, copy: &Copy, tags: Option<&Tags>) -> Option<bool> {
        let by_file = || tags.and_then(|tags| tags.at(copy.place).map(|(file, _)| !tags.is_secure(file)));
        copy.mark.map(|(_, insecure)| insecure).or_else(by_file)
    }

    /// The versions of the newest data, as far as it was read.
    fn newest_versions(&self, newest: &[Option<FlashPlace>]) -> BTreeMap<u64, u64> {
        let is_newest = |copy: &&Copy| newest[copy.unit as usize] == Some(copy.place);
        self.copies.iter().filter(is_newest).filter_map(|copy| copy.mark.map(|(version, _)| (copy.unit, version))).collect()
    }

    /// What each copy is. Copies with the mark, or the tag, of the newest have the same bytes. Where there is neither, everything but the newest counts
    /// as stale.
    fn states(&self, newest: &[Option<FlashPlace>], tags: Option<&Tags>) -> Vec<HitState> {
        let versions = self.newest_versions(newest);
        let tag = |place: FlashPlace| -> Option<Tag> { tags.and_then(|tags| tags.at(place)) };
        let state = |copy: &Copy| {
            let Some(place) = newest[copy.unit as usize] else { return HitState::Stale };
            let of_same_write = match copy.mark {
                Some((version, _)) => versions.get(&copy.unit) == Some(&version),
                None => tag(copy.place).is_some_and(|found| tag(place) == Some(found)),
            };
            match (place == copy.place, of_same_write) {
                (true, _) => HitState::Newest,
                (false, true) => HitState::Copy,
                (false, false) => HitState::Stale,
            }
        };
        self.copies.iter().map(state).collect()
    }

    /// Every place with the text.
    fn found(&self, needle: &Needle, raw: bool, states: &[HitState]) -> Found {
        let mut hits = Vec::new();
        let hit = |index: usize, state: HitState, offset: u64, goes_on: bool, is_insecure: bool| {
            let copy: &Copy = &self.copies[index];
            let (version, insecure) = (copy.mark.map(|(version, _)| version), copy.mark.map(|_| is_insecure));
            Hit { state, offset: Some(offset), version, goes_on, insecure, place: shown(copy.place), read: how(copy.output) }
        };
        let insecure = |index: usize| self.copies[index].mark.is_some_and(|(_, insecure)| insecure);
        let mut by_unit: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (index, copy) in self.copies.iter().enumerate().filter(|(_, copy)| is_recovered(copy.output, raw)) {
            by_unit.entry(copy.unit).or_default().push(index);
            let at = self.traces[index].at.iter().map(|&at| copy.unit * self.unit.0 + u64::from(at));
            hits.extend(at.map(|offset| hit(index, states[index], offset, false, insecure(index))));
        }
        // Units follow each other on the drive; on flash they may lie anywhere, and in several versions.
        for (unit, firsts) in &by_unit {
            for (&first, &second) in
                firsts.iter().flat_map(|first| by_unit.get(&(unit + 1)).into_iter().flatten().map(move |second| (first, second)))
            {
                let before = needle.over_the_border(&self.traces[first], &self.traces[second]);
                let end = (unit + 1) * self.unit.0;
                // Where either half is stale, so is the text.
                let state = states[first].min(states[second]);
                let both = insecure(first) && insecure(second);
                hits.extend(before.into_iter().map(|before| hit(first, state, end - u64::from(before), true, both)));
            }
        }
        let loose =
            self.loose.iter().filter(|loose| is_recovered(loose.output, raw) || matches!(loose.output, Output::Zeroes(_) | Output::Erased));
        hits.extend(loose.map(|loose| Hit {
            state: loose.state,
            offset: None,
            version: None,
            goes_on: false,
            insecure: None,
            place: shown(loose.place),
            read: how(loose.output),
        }));
        hits.sort_by_key(|hit| (hit.state, hit.offset, hit.version, hit.place));
        let versions = |of: &dyn Fn(&Hit) -> bool| {
            let some = hits.iter().filter(|hit| hit.state == HitState::Stale && of(hit));
            some.map(|hit| (hit.offset.map(|offset| offset / self.unit.0), hit.version)).collect::<BTreeSet<_>>().len() as u64
        };
        Found {
            text: needle.text().to_owned(),
            stale_versions: versions(&|_| true),
            insecure_versions: versions(&|hit| hit.insecure == Some(true)),
            newest: hits.iter().filter(|hit| hit.state == HitState::Newest).count() as u64,
            hits,
        }
    }
}

/// What was recovered of each file.
fn by_file<'a>(tags: &Tags, recovered: impl Iterator<Item = (&'a Copy, &'a HitState)>) -> Vec<FileRead> {
    let mut files: BTreeMap<u32, (FileRead, BTreeSet<u32>)> = BTreeMap::new();
    for (copy, state) in recovered {
        let Some((file, version)) = tags.at(copy.place) else { continue };
        let (read, versions) = files.entry(file).or_insert_with(|| {
            let is_secure = tags.is_secure(file);
            (FileRead { file, is_secure, stale_versions: 0, stale_units: 0, copies: 0, newest: 0 }, BTreeSet::new())
        });
        match state {
            HitState::Newest => read.newest += 1,
            HitState::Copy => read.copies += 1,
            HitState::Stale | HitState::Firmware | HitState::Unknown => {
                read.stale_units += 1;
                versions.insert(version);
            }
        }
    }
    let mut files: Vec<FileRead> =
        files.into_values().map(|(read, versions)| FileRead { stale_versions: versions.len() as u64, ..read }).collect();
    files.sort_by_key(|read| (std::cmp::Reverse((read.stale_versions, read.stale_units)), read.file));
    files
}
