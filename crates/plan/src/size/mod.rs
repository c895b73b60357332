//! A drive of another size: the same chip and channels, with the same share of spare flash.
//!
//! Spare flash decides write amplification, so a size may not change its share. Each size has at most one [`Shape`]: as many whole blocks as the size needs,
//! where so few still hold the share; otherwise smaller blocks, of fewer h-layers. A size for which neither does it is refused with the least that is
//! possible.

mod least;
mod note;

use wordline_units::Bytes;

use crate::error::PlanError;
use crate::plan::Plan;
use crate::quantity::{SIZE, shown};

/// Drives of another size, each with the settings that make it of the one that it was.
pub type Sized = Vec<(Plan, Vec<String>)>;

/// Die numbers have 16 bits.
const DIES_MAX: u64 = 1 << 16;
/// How far the share of spare flash may be from the drive's own: half a percent of the raw flash.
pub const SPARE_TOLERANCE: f64 = 0.005;
/// Room for the last digit of a share.
const EPSILON: f64 = 1e-9;

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

/// What a size sets of a drive's flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    layers: u32,
    dies_per_channel: u64,
    blocks: u64,
}

impl Plan {
    /// This drive with `size`, such as "16 GiB", for the host, and the settings that make it so. The share of spare flash stays within
    /// [`SPARE_TOLERANCE`]. Channels and chip stay; of each plane there are as many blocks as are needed, and more dies on each channel where the whole of
    /// those it has is too little. Where so few blocks would not leave reclaim what it keeps free, blocks have fewer h-layers, and there are more of them.
    ///
    /// # Errors
    /// Says what is wrong with the size, or with the drive that it makes, and which size is the least.
    pub fn sized(&self, size: &str) -> Result<(Plan, Vec<String>), PlanError> {
        let all = sized_alike(&[self], size)?;
        Ok(all.into_iter().next().expect("one for each plan"))
    }

    /// This drive with the flash and the capacity of `other`, and the settings that make it so.
    ///
    /// # Errors
    /// Says what is wrong with the drive that they make.
    pub fn shaped_as(&self, other: &Plan) -> Result<(Plan, Vec<String>), PlanError> {
        let geometry = other.config().sheet.geometry;
        let shape = Shape { layers: geometry.layers, dies_per_channel: geometry.dies_per_channel.into(), blocks: geometry.blocks.into() };
        self.made(shape, other.config().exported().0)
    }

    /// This drive with the flash of `other` and the capacity that its own keys leave of it, and the settings that make it so.
    ///
    /// # Errors
    /// Says what is wrong with the drive that they make.
    pub fn on_flash_of(&self, other: &Plan) -> Result<(Plan, Vec<String>), PlanError> {
        let geometry = other.config().sheet.geometry;
        let shape = Shape { layers: geometry.layers, dies_per_channel: geometry.dies_per_channel.into(), blocks: geometry.blocks.into() };
        let mut settings = self.settings(shape, 0);
        settings.retain(|setting| !setting.starts_with("mapping.capacity="));
        Ok((self.override_keys(&settings)?, settings))
    }

    /// What makes this drive one of `shape` that shows `bytes`.
    fn settings(&self, shape: Shape, bytes: u64) -> Vec<String> {
        let mut settings = vec![
            format!("geometry.blocks={}", shape.blocks),
            format!("flash.dies_per_channel={}", shape.dies_per_channel),
            format!("mapping.capacity={}", SIZE.write(bytes)),
        ];
        if shape.layers != self.config().sheet.geometry.layers {
            settings.push(format!("geometry.layers={}", shape.layers));
        }
        settings
    }

    /// The sizes of this drive are multiples of this.
    fn size_step(&self) -> u64 {
        let config = self.config();
        config.firmware.unit.0 * u64::from(config.cores) * u64::from(config.stripe_units)
    }

    /// How far the share of spare flash would be off with so much of it for the host.
    fn spare_off(&self, raw: u128, bytes: u64) -> f64 {
        let spare = 1.0 - bytes as f64 / raw as f64;
        (spare - self.spare_of_data()).abs()
    }

    /// The flash that takes data: all but what the second copy of out-of-band marks takes at the end of each block.
    fn data_flash(&self) -> u128 {
        let geometry = self.config().sheet.geometry;
        self.row(geometry.dies_per_channel.into(), geometry.layers) * u128::from(geometry.blocks)
    }

    /// The share of the flash that takes data that the host does not see.
    fn spare_of_data(&self) -> f64 {
        1.0 - self.figures().exported.0 as f64 / self.data_flash() as f64
    }
}

/// These drives with `size` for the host, as [`Plan::sized`] makes one, and the settings of each. Drives that have the same flash and the same share of spare
/// have the same flash and share afterwards.
///
/// # Errors
/// Says what is wrong with the size, or with a drive that it makes, and which size is the least.
pub fn sized_alike(plans: &[&Plan], size: &str) -> Result<Sized, PlanError> {
    let mut all: Vec<Option<(Plan, Vec<String>)>> = plans.iter().map(|_| None).collect();
    while let Some(first) = all.iter().position(Option::is_none) {
        let alike: Vec<usize> = (first..plans.len()).filter(|&index| is_alike(plans[first], plans[index])).collect();
        let members: Vec<&Plan> = alike.iter().map(|&index| plans[index]).collect();
        // Where no shape suits all of them, each has its own; whoever compares them says so.
        let made = match of_one_shape(&members, size) {
            Ok(made) => made,
            Err(_) if members.len() > 1 => {
                let alone = members.iter().map(|plan| of_one_shape(&[plan], size));
                alone.collect::<Result<Vec<_>, _>>()?.concat()
            }
            Err(refused) => return Err(refused),
        };
        for (index, sized) in alike.into_iter().zip(made) {
            all[index] = Some(sized);
        }
    }
    Ok(all.into_iter().flatten().collect())
}

/// Whether two drives have flash of one shape, and as much of it for the host.
fn is_alike(one: &Plan, other: &Plan) -> bool {
    let (a, b) = (one.config(), other.config());
    a.sheet.geometry == b.sheet.geometry && a.exported() == b.exported()
}

/// These drives, all alike, in the first shape of this size that all of them can have.
fn of_one_shape(plans: &[&Plan], size: &str) -> Result<Sized, PlanError> {
    let first = plans[0];
    let no = |why: String| PlanError::Size { drive: first.name().to_owned(), size: shown(size), why };
    let bytes = read_size(size).map_err(&no)?.0;
    for plan in plans {
        let granule = plan.size_step();
        if bytes == 0 || !bytes.is_multiple_of(granule) {
            let below = bytes / granule * granule;
            let near: Vec<String> = [below, below + granule].into_iter().filter(|&near| near > 0).map(|near| SIZE.write(near)).collect();
            return Err(no(format!("this drive comes in steps of {}: expected {}", SIZE.write(granule), near.join(" or "))));
        }
    }
    let made = |shape: Shape| plans.iter().map(|plan| plan.made(shape, bytes)).collect::<Result<Sized, PlanError>>();
    let mut refused = None;
    for shape in first.whole_blocks(bytes) {
        match made(shape) {
            Ok(all) => return Ok(all),
            Err(why) => refused = Some(why),
        }
    }
    // Smaller blocks: the largest with which usable spare stays too; where there are none, those with which it changes least.
    let mut best: Option<(f64, Sized)> = None;
    for layers in (1..first.config().sheet.geometry.layers).rev() {
        let Some(all) = first.blocks_of(layers, bytes).find_map(|shape| made(shape).ok()) else { continue };
        let off = |(plan, made): (&&Plan, &(Plan, Vec<String>))| (made.0.figures().usable_spare - plan.figures().usable_spare).abs();
        let off = plans.iter().zip(&all).map(off).fold(0.0, f64::max);
        if off <= SPARE_TOLERANCE {
            return Ok(all);
        }
        if best.as_ref().is_none_or(|(least, _)| off < *least) {
            best = Some((off, all));
        }
    }
    best.map(|(_, all)| all).ok_or_else(|| least::refuse(plans, bytes, refused, &no))
}

impl Plan {
    /// The drive of `shape` that shows `bytes`.
    fn made(&self, shape: Shape, bytes: u64) -> Result<(Plan, Vec<String>), PlanError> {
        let settings = self.settings(shape, bytes);
        let plan = self.override_keys(&settings)?;
        let kept: Vec<String> = self.notes().iter().filter(|note| !plan.notes().contains(note)).cloned().collect();
        let notes = self.size_notes(&plan);
        Ok((plan.with_notes(kept).with_notes(notes), settings))
    }

    /// Bytes of data of one block of each plane of each die, with so many dies on a channel and so many h-layers in a block.
    fn row(&self, dies_per_channel: u64, layers: u32) -> u128 {
        let mut firmware = self.config().firmware.clone();
        let geometry = &mut firmware.sheet.geometry;
        let dies = u64::from(geometry.channels) * dies_per_channel;
        // Of one block of one die: the whole drive of this shape may be more than a core can have.
        (geometry.layers, geometry.blocks, firmware.dies) = (layers, firmware.spare_blocks + 1, 1);
        u128::from(wordline_ftl::data_units(&firmware)) * u128::from(firmware.unit.0) * u128::from(dies)
    }

    /// The flash that `bytes` for the host need, with the share of spare that this drive has.
    fn flash_for(&self, bytes: u64) -> u128 {
        u128::from(bytes) * self.data_flash() / u128::from(self.figures().exported.0)
    }

    /// Shapes of whole blocks, the fewest dies and then the fewest blocks first.
    fn whole_blocks(&self, bytes: u64) -> impl Iterator<Item = Shape> {
        let config = self.config();
        let (geometry, cores) = (config.sheet.geometry, u64::from(config.cores));
        let (channels, layers) = (u64::from(geometry.channels), geometry.layers);
        let fits = move |&dies: &u64| (channels * dies).is_multiple_of(cores) && self.blocks(bytes, dies, layers).next().is_some();
        let wired = (u64::from(geometry.dies_per_channel)..=DIES_MAX / channels).filter(fits);
        // More dies have fewer blocks each: what they lack is only how many there are in a plane.
        wired.take(2).flat_map(move |dies| self.blocks(bytes, dies, layers))
    }

    /// Shapes with blocks of so many h-layers, and the dies that the drive has.
    fn blocks_of(&self, layers: u32, bytes: u64) -> impl Iterator<Item = Shape> {
        self.blocks(bytes, self.config().sheet.geometry.dies_per_channel.into(), layers)
    }

    /// As many blocks as hold the share of spare flash: from the number that is just enough upwards, then downwards from there.
    fn blocks(&self, bytes: u64, dies_per_channel: u64, layers: u32) -> impl Iterator<Item = Shape> {
        let (row, flash) = (self.row(dies_per_channel, layers), self.flash_for(bytes));
        let enough = u64::try_from(flash.div_ceil(row)).unwrap_or(u64::MAX);
        let most = u64::from(self.config().sheet.geometry.blocks);
        let holds = move |&blocks: &u64| self.spare_off(row * u128::from(blocks), bytes) <= SPARE_TOLERANCE + EPSILON;
        let upwards = (enough..=most).take_while(holds);
        let downwards = (1..enough.min(most + 1)).rev().take_while(holds);
        upwards.chain(downwards).map(move |blocks| Shape { layers, dies_per_channel, blocks })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presets;

    fn nominal(plan: &Plan) -> f64 {
        plan.figures().spare_factor
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
            let (before, after) = (nominal(&before), nominal(&plan));
            assert!((after - before).abs() < SPARE_TOLERANCE, "{drive} {size}: spare {before} became {after}");
            // The settings say all of it.
            assert_eq!(Plan::load_set(drive, &settings).expect("it was checked").media_number(), plan.media_number());
        }
    }

    #[test]
    fn every_preset_keeps_its_share_of_spare_flash_at_any_size_or_says_the_least_that_does() {
        for preset in presets() {
            let own = Plan::load(preset.name).expect("a preset");
            // 16 GiB lie between what mqsim-default can be with blocks of one h-layer and with those of two.
            for size in ["64 MiB", "512 MiB", "2 GiB", "8 GiB", "16 GiB", "1 TiB"] {
                match own.sized(size) {
                    Ok((plan, settings)) => {
                        let off = nominal(&plan) - nominal(&own);
                        assert!(off.abs() <= SPARE_TOLERANCE + EPSILON, "{} {size}: spare off by {off}", preset.name);
                        assert_eq!(plan.build().exported(), read_size(size).expect("a size"));
                        assert_eq!(Plan::load_set(preset.name, &settings).expect("it was checked").media_number(), plan.media_number());
                    }
                    Err(why) => {
                        let told = why.to_string();
                        if told.contains("buffer.size") {
                            // More dies than the write buffer has program units for.
                            continue;
                        }
                        let least = told.split("expected at least ").nth(1).unwrap_or_else(|| panic!("{}: {told}", preset.name));
                        let least = least.split([' ', ',']).take(2).collect::<Vec<_>>().join(" ");
                        assert!(read_size(&least).expect("a size") > read_size(size).expect("a size"), "{told}");
                        let made = own.sized(&least).unwrap_or_else(|error| panic!("{}: the least, {least}: {error}", preset.name)).0;
                        assert!((nominal(&made) - nominal(&own)).abs() <= SPARE_TOLERANCE + EPSILON);
                    }
                }
            }
        }
    }

    #[test]
    fn another_share_of_spare_flash_is_another_drive_at_any_size() {
        let shares = ["5 %", "7 %", "14 %", "20 %"];
        let mut plans = Vec::new();
        for share in shares {
            let own = Plan::load_set("pageftl", &[format!("mapping.over_provisioning={share}")]).expect("it has room");
            let (plan, _) = own.sized("2 GiB").expect("it has room");
            assert!((nominal(&plan) - nominal(&own)).abs() <= SPARE_TOLERANCE + EPSILON, "{share}");
            plans.push(plan.media_number());
        }
        plans.dedup();
        assert_eq!(plans.len(), shares.len());
    }

    #[test]
    fn smaller_blocks_keep_what_reclaim_can_use() {
        for (drive, size) in [("pageftl", "2 GiB"), ("mqsim-b", "2 GiB"), ("secssd", "4 GiB")] {
            let own = Plan::load(drive).expect("a preset");
            let (plan, settings) = own.sized(size).expect("it has room");
            assert!(settings.iter().any(|setting| setting.starts_with("geometry.layers=")), "{settings:?}");
            let (was, is) = (own.figures().usable_spare, plan.figures().usable_spare);
            assert!((was - is).abs() < 0.006, "{drive} {size}: usable spare {was} became {is}");
        }
    }

    #[test]
    fn drives_of_the_same_flash_have_the_same_flash_at_any_size() {
        let plain = Plan::load("pageftl").expect("a preset");
        let idle = ["techniques.idle-reclaim.on=true", "techniques.idle-reclaim.after=1 ms", "techniques.idle-reclaim.until_free=20"];
        let idle = Plan::load_set("pageftl", &idle).expect("it has room");
        for size in ["2 GiB", "4 GiB", "8 GiB"] {
            let alone = [&plain, &idle].map(|plan| plan.sized(size).expect("it has room").0.figures().raw);
            let alike = sized_alike(&[&plain, &idle], size).expect("they have room");
            assert_eq!(alike[0].0.build().sheet.geometry, alike[1].0.build().sheet.geometry, "{size}; alone: {alone:?}");
        }
        // A drive of another share is left as it would be alone.
        let other = Plan::load("mqsim-b").expect("a preset");
        let three = sized_alike(&[&plain, &other, &idle], "2 GiB").expect("they have room");
        assert_eq!(three[1].0.media_number(), other.sized("2 GiB").expect("it has room").0.media_number());
        assert_eq!(three[0].0.figures().raw, three[2].0.figures().raw);
    }

    #[test]
    fn a_drive_is_shaped_as_another_of_its_kind() {
        let own = Plan::load("pageftl").expect("a preset");
        let settings = ["geometry.blocks=36", "mapping.capacity=2 GiB"];
        let other = Plan::load_set("pageftl", &settings).expect("as sizes were once made");
        let (again, settings) = own.shaped_as(&other).expect("it was checked");
        assert_eq!(again.media_number(), other.media_number());
        assert_eq!(Plan::load_set("pageftl", &settings).expect("it was checked").media_number(), other.media_number());
    }

    #[test]
    fn another_share_on_the_same_flash_changes_what_the_host_sees() {
        let own = Plan::load("pageftl").expect("a preset");
        let (small, _) = own.sized("2 GiB").expect("it has room");
        for (share, spare) in [("5 %", 0.05), ("7 %", 0.07), ("28 %", 0.28)] {
            let setting = format!("mapping.over_provisioning={share}");
            let (plan, settings) = own.override_key(&setting).expect("it has room").on_flash_of(&small).expect("it has room");
            assert_eq!(plan.figures().raw, small.figures().raw, "{share}");
            assert!((nominal(&plan) - spare).abs() < 1e-4, "{share}: {}", nominal(&plan));
            let again = Plan::load_set("pageftl", &[vec![setting], settings].concat()).expect("it was checked");
            assert_eq!(again.media_number(), plan.media_number());
        }
    }

    #[test]
    fn what_the_drive_has_already_changes_nothing() {
        for preset in presets() {
            let plan = Plan::load(preset.name).expect("a preset");
            let (same, _) = plan.sized(&SIZE.write(plan.build().exported().0)).unwrap_or_else(|error| panic!("{}: {error}", preset.name));
            assert_eq!(same.media_number(), plan.media_number(), "{}", preset.name);
        }
    }

    #[test]
    fn impossible_sizes_are_refused_with_what_is_possible() {
        let plan = Plan::load("pageftl").expect("a preset");
        for (size, words) in [
            ("16", &["no unit"][..]),
            ("0 B", &["steps of 16 KiB"]),
            ("1000 B", &["steps of 16 KiB", "expected 16 KiB"]),
            ("20 KiB", &["expected 16 KiB or 32 KiB"]),
            ("1 MiB", &["pageftl", "spare", "expected at least", "MiB"]),
            ("8000000 TiB", &["dies"]),
            ("lots", &["size"]),
        ] {
            let told = plan.sized(size).expect_err(size).to_string();
            assert!(words.iter().all(|word| told.contains(word)), "{size}: {told}");
        }
    }
}
