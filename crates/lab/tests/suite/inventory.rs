//! Every claim of the ledgers is in the inventory, and every claim about devices is put to a bench.
//!
//! The ledgers are not part of the project: where they are absent, the test that reads them counts as skipped.

use std::collections::BTreeSet;
use std::path::Path;

use wordline_lab::Study;
use wordline_lab::claims::{About, ClaimKind, claims};
use wordline_lab::progress::{drift, markdown, results};
use wordline_lab::reproduce::Bookings;
use wordline_lab::seeds::BySeed;

use crate::outside;

#[test]
fn every_claim_of_the_ledgers_is_in_the_inventory_with_its_value() {
    let name = "inventory::every_claim_of_the_ledgers_is_in_the_inventory_with_its_value";
    let Some(folder) = outside::find_or_skip(env!("CARGO_MANIFEST_DIR"), name, "papers") else { return };
    let mut seen = BTreeSet::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !(name.starts_with("ledger-") && name.ends_with(".toml")) {
            continue;
        }
        let ledger: toml::Table = std::fs::read_to_string(&path).expect("text").parse().expect("TOML");
        for entry in ledger["claim"].as_array().into_iter().flatten() {
            let id = entry["id"].as_str().expect("an id");
            let claim = wordline_lab::claims::claim(id).unwrap_or_else(|| panic!("{name}: {id} is not in studies/claims"));
            assert_eq!(claim.source, entry["source"].as_str().unwrap_or_default(), "{id}");
            assert_eq!(claim.kind.name(), entry["kind"].as_str().unwrap_or_default(), "{id}");
            assert!(claim.value.is_some() || entry.get("value").is_none(), "{id}: its value is missing");
            assert!(entry.get("quote").is_none_or(|quote| quote.as_str() != Some(&claim.says)), "{id} quotes its source");
            seen.insert(id.to_owned());
        }
    }
    assert_eq!(seen.len(), claims().len(), "the inventory has claims that no ledger has");
}

#[test]
fn every_device_claim_has_a_study() {
    let studies = Study::all();
    let asked: BTreeSet<&str> = studies
        .iter()
        .flat_map(|study| {
            study.judge.iter().map(|judgement| judgement.claim.id.as_str()).chain(study.aside.iter().map(|aside| aside.claim.id.as_str()))
        })
        .collect();
    let open: Vec<&str> = claims()
        .iter()
        .filter(|claim| claim.about == About::Device && !asked.contains(claim.id.as_str()))
        .map(|claim| claim.id.as_str())
        .collect();
    assert!(open.is_empty(), "nothing measures {open:?}");
    for claim in claims() {
        assert!(claim.kind != ClaimKind::DevicePhysics || claim.about == About::Device, "{} was measured on chips", claim.id);
        assert_eq!(
            claim.part.is_some(),
            !asked.contains(claim.id.as_str()),
            "{}: a part is named where nothing measures a claim",
            claim.id
        );
    }
}

#[test]
fn the_saved_results_are_of_the_studies_as_they_are_and_the_page_lists_every_claim() {
    let saved = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    let results = results(&saved).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(drift(&Study::all(), &results), [""; 0]);
    let saved = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies/seeds.json");
    let by_seed = BySeed::parse(&std::fs::read_to_string(saved).expect("studies/seeds.json")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(by_seed.drift(&Study::all(), &results), [""; 0]);
    let page = markdown(&results, &by_seed);
    for claim in claims() {
        assert!(page.contains(&format!("`{}`", claim.id)), "{}", claim.id);
    }
    // Studies of a single block take no time: their saved figures must be those of the chip files as they are. The others follow the same files.
    let mut bookings = Bookings::default();
    for study in Study::all().iter().filter(|study| study.lot.total() == 1 && !study.is_of_drives()) {
        let outcome = bookings.run(study, 1).unwrap_or_else(|error| panic!("{error}"));
        for line in &outcome.lines {
            let held = results.iter().find(|held| held.study == line.study && held.claim == line.claim && held.metric == line.metric);
            let held = held.and_then(|held| held.measured);
            let same = match (held, line.measured) {
                (Some(held), Some(now)) => (held - now).abs() <= 1e-9 * now.abs(),
                (held, now) => held == now,
            };
            let how = "a chip file has changed since: run `wordline reproduce cells --json studies/results.json`";
            assert!(same, "{}: saved {held:?}, measured {:?}; {how}", line.metric, line.measured);
        }
    }
    // A result that is taken away is noticed, and so is a band that was moved.
    assert!(!drift(&Study::all(), &results[1..]).is_empty());
    let mut moved = results;
    moved[0].band.push('0');
    assert_eq!(drift(&Study::all(), &moved).len(), 1);
}
