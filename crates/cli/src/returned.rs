//! A drive that is back on its media, in words.

use std::time::Duration;

use wordline_drive::{Config, Recovery, Watched};
use wordline_live::Watch;

/// A line on how a drive has found itself again: after how long, and how it had ended.
pub(crate) fn found_again(drive: &Watched<Watch>, took: Duration) -> String {
    let recoveries: Vec<_> = drive.firmware().iter().filter_map(|core| core.recovery()).collect();
    let sum = |of: fn(&Recovery) -> u64| recoveries.iter().map(of).sum::<u64>();
    let pages = sum(|recovery| recovery.pages);
    let how = if recoveries.iter().all(|recovery| recovery.is_clean) { "clean: it was stopped in good order" } else { "it was cut off" };
    let mut said = format!("back after {:.1} s: {how}; {pages} pages read", took.as_secs_f64());
    let (lost, refused, unsealed) = (sum(|recovery| recovery.lost), sum(|recovery| recovery.refused), sum(|recovery| recovery.unsealed));
    let failed: Vec<String> = drive.failed_dies().map(|die| die.0.to_string()).collect();
    if !failed.is_empty() {
        said += &format!("\ndies that have failed: {}", failed.join(", "));
    }
    if lost > 0 {
        said += &format!("\n{lost} units are lost to pages that cannot be read: they answer EIO until they are written again");
    }
    if refused > 0 {
        said += &format!(
            "\n{refused} units are refused, as nobody can tell whether what there is of them is the newest: they answer EIO until they are written or trimmed"
        );
    }
    if unsealed > 0 {
        said += &format!("\nother pages that cannot be read, and held nothing that a flush had covered: {unsealed}");
    }
    if drive.is_worn_out() {
        said += "\nthe drive takes no more writes, as a firmware core has no room for them: replace it";
    }
    said
}

/// Number of mapping units in a page of a drive.
pub(crate) fn units_per_page(config: &Config) -> u32 {
    (config.sheet.geometry.page.0 / config.firmware.unit.0) as u32
}
