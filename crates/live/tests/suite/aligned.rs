//! Do requests that are aligned to what the export prefers cost nothing beyond themselves, on every drive that comes with Wordline?

use wordline_block::{Op, ZeroHow};
use wordline_drive::Config as DriveConfig;
use wordline_ftl::techniques::hooks::Hook;
use wordline_live::{LiveDisk, Look, Timing};
use wordline_plan::{Plan, presets};
use wordline_units::{Cause, FlashOp, HostOp};

use crate::client::{connect, ram_drive};

/// Blocks that are written, each twice.
const BLOCKS: u64 = 48;

/// The drive as `wordline serve` has it, small and with perfect cells; `None`: it is not served.
fn served(name: &str) -> Option<DriveConfig> {
    let settings = ["cells.physics=false", "recovery.on=true", "recovery.oob_copies=true"].map(str::to_owned);
    // Some drives of papers are too large for a journal of their shape, and cannot be served.
    let plan = Plan::load_set(name, &settings).ok()?;
    let (plan, _) = wordline_plan::sized(&plan, "512MiB").or_else(|_| wordline_plan::sized(&plan, "8GiB")).unwrap_or((plan, Vec::new()));
    let config = plan.build();
    let keeps_keys = config.firmware.techniques.iter().any(|choice| choice.card().hooks.has(Hook::KeyStore));
    (!keeps_keys).then_some(config)
}

/// State of a drive whose client has written `BLOCKS` blocks twice, flushed, and let go of them in pieces of `piece` bytes; without that, as large as
/// the export prefers. Returns the bytes that the client wrote, too.
fn used(config: DriveConfig, piece: Option<u64>) -> (Look, u64) {
    let block = u64::from(LiveDisk::description(config.firmware.unit).preferred);
    let disk = ram_drive(config, Timing::Off);
    let mut client = connect(&disk);
    let piece = piece.unwrap_or(block);
    for round in 1..=2 {
        for at in 0..BLOCKS {
            client.write(at * block, &vec![round; block as usize]);
        }
        assert_eq!(client.call(&Op::Flush).fault, None);
    }
    let how = ZeroHow { may_punch: true, must_be_fast: false };
    for at in 0..BLOCKS * block / piece {
        let (offset, length) = (at * piece, piece);
        let op = if (at * piece / block).is_multiple_of(2) {
            Op::Trim { offset, length, fua: false }
        } else {
            Op::WriteZeroes { offset, length, how, fua: false }
        };
        assert_eq!(client.call(&op).fault, None);
    }
    assert_eq!(client.call(&Op::Flush).fault, None);
    assert_eq!(client.read(0, 4096), [0; 4096]);
    let look = disk.look().expect("it runs");
    (look, 2 * BLOCKS * block)
}

#[test]
fn what_is_aligned_to_the_preferred_block_costs_nothing_beyond_itself() {
    let mut count = 0;
    for name in presets().iter().map(|preset| preset.name) {
        let Some(config) = served(name) else { continue };
        let unit = config.firmware.unit.0;
        let (look, written) = used(config, None);
        let totals = look.metrics.so_far();
        let problem = |what: &str| format!("{name}: {what}");
        assert_eq!(totals.flash(FlashOp::Read, Cause::Fill).operations, 0, "{}", problem("the rest of a unit was read"));
        assert_eq!(totals.host_units() * unit, written, "{}", problem("other data than the client's was written"));
        assert_eq!(totals.invalidated_units * unit, written, "{}", problem("something is kept that the client has let go of"));
        assert_eq!((look.smart.zeroed_by_trims.0, look.smart.trims_freed_nothing), (0, 0), "{}", problem("trims in vain"));
        assert_eq!(totals.host(HostOp::Trim).requests, BLOCKS, "{}", problem("more trims than were asked for"));
        count += 1;
    }
    assert!(count > 30, "{count} drives are served");
}

#[test]
fn a_unit_that_is_let_go_of_piece_by_piece_is_dropped_and_what_that_costs_is_counted() {
    let config = served("pageftl").expect("it is served");
    let unit = config.firmware.unit.0;
    let (look, written) = used(config, Some(4096));
    let (totals, units) = (look.metrics.so_far(), written / unit / 2);
    assert_eq!(unit, 4 * 4096);
    assert_eq!(look.smart.trims_freed_nothing, 3 * units / 2, "all but the last of each unit that was trimmed");
    assert_eq!(look.smart.zeroed_by_trims.0, units / 2 * unit / 4 * 3, "zeroes that were asked for are none that trims have written");
    assert_eq!((totals.host_units(), totals.invalidated_units), (2 * units, 2 * units), "zeroes of a dropped unit need no flash");
}
