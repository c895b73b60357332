//! What techniques remember: counts of reads survive a power cut, rounded up and never down.
//!
//! Checks: after a cut each block group passes for read at least as often as it had been when all was still for the last time, and at most by one step more
//! for each cut since it was erased. Does not check: reads of recovery itself; blocks whose erase was cut short and of which something is still needed,
//! because their planes count differently; what is read of a drive that takes no more writes; that a block is rewritten in time (the technique's own tests
//! do).

use wordline_ftl::groups::Use;
use wordline_ftl::techniques::Choice;
use wordline_ftl::{BlockGroup, Firmware};

use crate::cut::nand::{Nand, Reads};

/// Compares the counts of `ftl`, in a core with these techniques, with the reads of `nand`. Notes in `seen` how many there were, and how many above one step.
pub(super) fn compare(choices: &[Choice], ftl: &Firmware, nand: &mut Nand, seen: &mut [u64; 2]) -> Result<(), String> {
    let of = |choice: &Choice| if let Choice::ReadDisturbRefresh(params) = choice { Some(params.reads_max) } else { None };
    let limit = choices.iter().find_map(of);
    // Where nothing goes by the count, nothing is written down.
    let Some(limit) = limit.filter(|&limit| limit > 0) else {
        return Ok(());
    };
    let counts = ftl.learnt("read-disturb-refresh").ok_or("read counts are lost with the technique")?;
    let step = (limit / 8).max(1);
    for (index, count) in counts.into_iter().enumerate() {
        let group = BlockGroup(index as u32);
        let (groups, die) = (ftl.groups(), ftl.layout().die(group));
        if !matches!(groups.use_of(group), Use::Active | Use::Closed) {
            continue;
        }
        let reads = nand.reads_mut(die, groups.blocks(group)[0]);
        let Reads { now, still, cuts, is_cut } = *reads;
        if is_cut {
            continue;
        }
        if count < still || count > now + step * cuts {
            return Err(format!(
                "{group:?} comes back with a count of {count}: it was read {still} times when all was still, {now} times in all, \
                 in {cuts} power cuts since it was erased, and a step is {step}"
            ));
        }
        // What was read while the journal was busy, and not written down, is forgotten for good.
        reads.now = now.min(count);
        seen[0] += 1;
        seen[1] += u64::from(count > step);
    }
    Ok(())
}
