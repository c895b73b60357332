//! What is stale and secret cannot be read from the chips.
//!
//! Checks: when a write that waits for its program, a flush or a trim is acknowledged, no page that would be put out holds a state of what it covers that is
//! older than the promise, unless the host has said that it is not secret; by what the sectors hold, not by marks. What a cut has broken off can be read as
//! if it were whole. Where there is a key store, what is encrypted can be read if its key is in what the register opens (`keys.rs`). Does not check: what is
//! broken off in blocks that have failed, or was encrypted; how long a lock holds; what is in the write buffer.

use std::collections::BTreeMap;

use wordline_ftl::Firmware;
use wordline_ftl::techniques::Choice;

use crate::cut::keys::Opened;
use crate::cut::ledger::Ledger;
use crate::cut::nand::{Bytes, Nand, Stored};
use crate::cut::sanitisers;

/// True if one of these techniques makes stale secrets unreadable.
pub(super) fn has_sanitiser(choices: &[Choice]) -> bool {
    let all = sanitisers();
    let is_one = |choice: &Choice| all.iter().any(|known| known.card().name == choice.card().name);
    choices.iter().any(is_one)
}

/// Checks that of each unit nothing older than its promised state is readable: on `nand`, with the keys `opened` where there is a key store. Returns how many
/// copies were looked at.
pub(super) fn check(
    promised: &[(u32, u64)],
    (nand, opened): (&Nand, Option<&Opened>),
    ledger: &Ledger,
    ftl: &Firmware,
) -> Result<u64, String> {
    let mut floor: BTreeMap<u32, u64> = BTreeMap::new();
    for &(lpn, number) in promised {
        let least = floor.entry(lpn).or_insert(number);
        *least = (*least).max(number);
    }
    let mut seen = 0;
    for (place, Stored { mark, bytes, key }) in nand.readable() {
        if opened.is_some_and(|opened| key.is_some_and(|key| !opened.has(key))) {
            continue;
        }
        let (Some(&number), Bytes::Sectors(sectors)) = (floor.get(&mark.lpn.0), bytes) else { continue };
        seen += 1;
        if !mark.insecure && !ledger.is_since(mark.lpn.0, number, sectors) {
            let newest = ftl.newest(mark.lpn.0);
            return Err(format!(
                "unit {}: {place:?} can be read and holds {sectors:?}, which is stale; the newest is at {newest:?}",
                mark.lpn
            ));
        }
    }
    Ok(seen)
}
