//! A drive of another size: the same chip and the same channels, with as much of both as the size needs.

use wordline_units::Bytes;

use crate::error::PlanError;
use crate::plan::Plan;
use crate::quantity::{SIZE, shown};

/// Die numbers have 16 bits.
const DIES_MAX: u64 = 1 << 16;
/// How many blocks more than its share of spare flash gives a plane may get: what reclaim keeps free comes in whole blocks, which weigh most on small drives.
const BLOCKS_MORE_MAX: u64 = 64;

/// Reads an amount of data, such as "16 GiB".
///
/// # Errors
/// Says what is wrong with the text, and what was expected.
pub fn read_size(text: &str) -> Result<Bytes, String> {
    SIZE.read(text).map(Bytes).map_err(|refusal| match refusal.help {
        Some(help) => format!("{}: {help}", refusal.what),
        None => refusal.what,
    })
}

impl Plan {
    /// This drive with `size`, such as "16 GiB", for the host, and the settings that make it so. Channels and chip stay; of each plane there are as many
    /// blocks as are needed, and more dies on each channel where the whole of those it has is too little. The share of spare flash stays, or grows
    /// where reclaim would not have what it keeps free.
    ///
    /// # Errors
    /// Says what is wrong with the size, or with the drive that it makes.
    pub fn sized(&self, size: &str) -> Result<(Plan, Vec<String>), PlanError> {
        let no = |why: String| PlanError::Size { size: shown(size), why };
        let bytes = read_size(size).map_err(&no)?.0;
        let config = self.build();
        let geometry = config.sheet.geometry;
        let cores = u64::from(config.cores);
        let granule = config.firmware.unit.0 * cores * u64::from(config.stripe_units);
        if bytes == 0 || !bytes.is_multiple_of(granule) {
            let below = bytes / granule * granule;
            let near: Vec<String> = [below, below + granule].into_iter().filter(|&near| near > 0).map(|near| SIZE.write(near)).collect();
            return Err(no(format!("this drive comes in steps of {}: expected {}", SIZE.write(granule), near.join(" or "))));
        }
        let raw = u128::from(bytes) * u128::from(geometry.raw().0) / u128::from(config.exported().0);
        let channels = u64::from(geometry.channels);
        let row = u128::from(geometry.planes) * u128::from(geometry.pages()) * u128::from(geometry.page.0);
        let blocks_in = |dies_per_channel: u64| raw.div_ceil(row * u128::from(channels * dies_per_channel));
        let fits = |dies_per_channel: u64| {
            blocks_in(dies_per_channel) <= u128::from(geometry.blocks) && (channels * dies_per_channel).is_multiple_of(cores)
        };
        let mut wired = (u64::from(geometry.dies_per_channel)..=DIES_MAX / channels).filter(|&dies| fits(dies));
        let mut refused = None;
        let (mut dies_per_channel, mut more) = (wired.next(), 0);
        while let Some(dies) = dies_per_channel {
            let blocks = blocks_in(dies) as u64 + more;
            if more > BLOCKS_MORE_MAX || blocks > u64::from(geometry.blocks) {
                if more > BLOCKS_MORE_MAX {
                    break;
                }
                (dies_per_channel, more) = (wired.next(), 0);
                continue;
            }
            let settings = vec![
                format!("geometry.blocks={blocks}"),
                format!("flash.dies_per_channel={dies}"),
                format!("mapping.capacity={}", SIZE.write(bytes)),
            ];
            match self.override_keys(&settings) {
                Ok(plan) => return Ok((plan, settings)),
                // The last one counts: what more blocks do not help against.
                Err(error) => refused = Some(error),
            }
            more += 1;
        }
        Err(refused.unwrap_or_else(|| {
            let most =
                u128::from(DIES_MAX) * u128::from(geometry.blocks) * row * u128::from(config.exported().0) / u128::from(geometry.raw().0);
            no(format!("{DIES_MAX} dies, the most there can be, hold about {}", Bytes(u64::try_from(most).unwrap_or(u64::MAX))))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spare(plan: &Plan) -> f64 {
        let config = plan.build();
        1.0 - config.exported().0 as f64 / config.sheet.geometry.raw().0 as f64
    }

    #[test]
    fn a_drive_of_any_size_has_the_same_chip_and_the_same_share_of_spare_flash() {
        for (drive, size, bytes) in [
            ("pageftl", "16 GiB", 16u64 << 30),
            ("pageftl", "64GiB", 64 << 30),
            ("pageftl-4k", "1 TiB", 1 << 40),
            ("paper-cubeftl", "64 GiB", 64 << 30),
        ] {
            let before = Plan::load(drive).expect("a preset");
            let (plan, settings) = before.sized(size).unwrap_or_else(|error| panic!("{drive} {size}: {error}"));
            let (was, is) = (before.build(), plan.build());
            assert_eq!(is.exported(), Bytes(bytes), "{drive} {size}");
            let (a, b) = (was.sheet.geometry, is.sheet.geometry);
            assert_eq!(
                (a.channels, a.planes, a.pages(), a.page, was.sheet.timing),
                (b.channels, b.planes, b.pages(), b.page, is.sheet.timing)
            );
            assert!(b.blocks <= a.blocks && b.dies_per_channel >= a.dies_per_channel);
            let (before, after) = (spare(&before), spare(&plan));
            assert!(after >= before - 1e-9 && after < before + 0.02, "{drive} {size}: spare {before} became {after}");
            // The settings say all of it.
            assert_eq!(Plan::load_set(drive, &settings).expect("it was checked").hash(), plan.hash());
        }
    }

    #[test]
    fn what_the_drive_has_already_changes_nothing() {
        let plan = Plan::load("pageftl").expect("a preset");
        let (same, _) = plan.sized(&SIZE.write(plan.build().exported().0)).expect("its own size");
        assert_eq!(same.hash(), plan.hash());
    }

    #[test]
    fn small_drives_get_what_reclaim_needs() {
        let plan = Plan::load("pageftl-4k").expect("a preset");
        let (small, _) = plan.sized("512 MiB").expect("it has room");
        assert!(spare(&small) > spare(&plan) && small.build().exported() == Bytes::mib(512));
    }

    #[test]
    fn impossible_sizes_are_refused_with_what_is_possible() {
        let plan = Plan::load("pageftl").expect("a preset");
        for (size, words) in [
            ("16", &["no unit"][..]),
            ("0 B", &["steps of 16 KiB"]),
            ("1000 B", &["steps of 16 KiB", "expected 16 KiB"]),
            ("20 KiB", &["expected 16 KiB or 32 KiB"]),
            ("1 MiB", &["buffer.size"]),
            ("8000000 TiB", &["dies"]),
            ("lots", &["size"]),
        ] {
            let told = plan.sized(size).expect_err(size).to_string();
            assert!(words.iter().all(|word| told.contains(word)), "{size}: {told}");
        }
    }
}
