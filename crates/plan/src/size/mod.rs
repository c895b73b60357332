//! A drive of another size: the same chip and channels, with the same share of spare flash for GC to work with.
//!
//! Usable spare decides write amplification, so a size keeps the usable share, and nominal spare is what that takes ([`fit`]). A shape has whole blocks where
//! some number of them keeps the share, and otherwise blocks of fewer h-layers, to which the chip's tables are fitted ([`tables`]). A size for which no shape
//! keeps it is refused with the next one for which some does ([`least`]).

mod fit;
mod least;
mod note;
mod tables;

use wordline_units::Bytes;

use crate::error::PlanError;
use crate::plan::Plan;
use crate::quantity::{SIZE, shown};

/// Drives of another size, each with the settings that make it of the one that it was.
pub type Sized = Vec<(Plan, Vec<String>)>;

/// Greatest distance of the share of usable spare from the drive's own: half a percent of usable flash.
pub const SPARE_TOLERANCE: f64 = 0.005;
/// Number of shapes that are checked as whole drives before a size is refused for what is wrong with them.
const SHAPES_TRIED: usize = 64;

/// Reads an amount of data, such as "16 GiB".
///
/// # Errors
/// The fault of the text, and the expected form.
pub fn read_size(text: &str) -> Result<Bytes, String> {
    SIZE.read(text).map(Bytes).map_err(|refusal| match refusal.help {
        Some(help) => format!("{}: {help}", refusal.what),
        None => refusal.what,
    })
}

/// Flash that a size sets: its h-layers in a block, dies on a channel and blocks in a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    layers: u32,
    dies_per_channel: u64,
    blocks: u64,
}

impl Shape {
    fn of(plan: &Plan) -> Shape {
        let geometry = plan.config().sheet.geometry;
        Shape { layers: geometry.layers, dies_per_channel: geometry.dies_per_channel.into(), blocks: geometry.blocks.into() }
    }
}

/// The drive of `plan` with `size`, such as "16 GiB", for the host, and the settings that make it so. The share of usable spare stays within
/// [`SPARE_TOLERANCE`]. Channels and chip stay; of each plane there are as many blocks as are needed, and more dies on each channel where the whole of those
/// it has is too little. Blocks have fewer h-layers, and there are more of them, where no number of whole blocks keeps the share.
///
/// # Errors
/// Says what is wrong with the size, or with the drive that it makes, and which larger size can be.
pub fn sized(plan: &Plan, size: &str) -> Result<(Plan, Vec<String>), PlanError> {
    let all = sized_alike(&[plan], size)?;
    Ok(all.into_iter().next().expect("one for each plan"))
}

/// The drive of `plan` with the flash and the capacity of `other`, and the settings that make it so. Tables that `other` has not are left out.
///
/// # Errors
/// Says what is wrong with the drive that they make.
pub fn shaped_as(plan: &Plan, other: &Plan) -> Result<(Plan, Vec<String>), PlanError> {
    let settings = settings(plan, Shape::of(other), other.config().exported().0, other);
    made(plan, settings)
}

/// The drive of `plan` with the flash of `other`, which has another share of spare, and the capacity that leaves of it the usable spare that `plan` has at its
/// own size, as far off as that of `other` is; and the settings that make it so.
///
/// # Errors
/// Says what is wrong with the drive that they make.
pub fn on_flash_of(plan: &Plan, other: &Plan) -> Result<(Plan, Vec<String>), PlanError> {
    let (shape, own) = (Shape::of(other), other.own_figures().unwrap_or(other.figures()));
    let share = plan.figures().usable_spare + other.figures().usable_spare - own.usable_spare;
    let bytes = fit::shown_on(plan, shape, share, fit::size_step(plan));
    let settings = settings(plan, shape, bytes, plan);
    // Notes on the flash are those of `other`.
    Ok((plan.override_keys(&settings)?.sized_from(plan.figures()), settings))
}

/// The settings that make this drive one of `shape` that shows `bytes`, with those of its tables that `tabled` has, too.
fn settings(plan: &Plan, shape: Shape, bytes: u64, tabled: &Plan) -> Vec<String> {
    let mut settings = vec![
        format!("geometry.blocks={}", shape.blocks),
        format!("flash.dies_per_channel={}", shape.dies_per_channel),
        format!("mapping.capacity={}", SIZE.write(bytes)),
    ];
    if shape.layers != plan.config().sheet.geometry.layers {
        settings.push(format!("geometry.layers={}", shape.layers));
        settings.extend(tables::settings(plan, shape.layers, tabled.sections()));
    }
    settings
}

/// The drive that `settings` make of this one, with notes of what they change, and the settings.
fn made(own: &Plan, settings: Vec<String>) -> Result<(Plan, Vec<String>), PlanError> {
    let plan = own.override_keys(&settings)?;
    let kept: Vec<String> = own.notes().iter().filter(|note| !plan.notes().contains(note)).cloned().collect();
    let notes = note::notes(own, &plan);
    Ok((plan.with_notes(kept).with_notes(notes).sized_from(own.figures()), settings))
}

/// These drives with `size` for the host, as [`sized`] makes one, and the settings of each. Drives that have the same flash and show as much of it have
/// one shape afterwards, with which each keeps its own share of usable spare.
///
/// # Errors
/// Says what is wrong with the size, or with a drive that it makes, and which larger size all of them can have.
pub fn sized_alike(plans: &[&Plan], size: &str) -> Result<Sized, PlanError> {
    let mut all: Vec<Option<(Plan, Vec<String>)>> = plans.iter().map(|_| None).collect();
    while let Some(first) = all.iter().position(Option::is_none) {
        let alike: Vec<usize> = (first..plans.len()).filter(|&index| is_alike(plans[first], plans[index])).collect();
        let members: Vec<&Plan> = alike.iter().map(|&index| plans[index]).collect();
        let made = of_one_shape(&members, size)?;
        for (index, sized) in alike.into_iter().zip(made) {
            all[index] = Some(sized);
        }
    }
    Ok(all.into_iter().flatten().collect())
}

/// True if two drives have flash of one shape, and as much of it for the host.
fn is_alike(one: &Plan, other: &Plan) -> bool {
    let (a, b) = (one.config(), other.config());
    a.sheet.geometry == b.sheet.geometry && a.exported() == b.exported()
}

/// These drives, all alike, in the shape of this size that suits all of them best.
fn of_one_shape(plans: &[&Plan], size: &str) -> Result<Sized, PlanError> {
    let no = |drive: &Plan, why: String| PlanError::Size { drive: drive.name().to_owned(), size: shown(size), why };
    let bytes = read_size(size).map_err(|why| no(plans[0], why))?.0;
    for plan in plans {
        let granule = fit::size_step(plan);
        if bytes == 0 || !bytes.is_multiple_of(granule) {
            let below = bytes / granule * granule;
            let near: Vec<String> = [below, below + granule].into_iter().filter(|&near| near > 0).map(|near| SIZE.write(near)).collect();
            return Err(no(plan, format!("this drive comes in steps of {}: expected {}", SIZE.write(granule), near.join(" or "))));
        }
    }
    all_made(plans, bytes, SHAPES_TRIED).map_err(|refused| least::refuse(plans, bytes, refused, &no))
}

/// These drives, all alike, with `bytes` for the host, in the first of at most `tried` shapes that all of them can have. The error is what was wrong with the
/// first one; `None`: no shape keeps the share of usable spare.
fn all_made(plans: &[&Plan], bytes: u64, tried: usize) -> Result<Sized, Option<PlanError>> {
    let mut refused = None;
    for shape in fit::fitting(plans, bytes).into_iter().take(tried) {
        let made = plans.iter().map(|plan| made(plan, settings(plan, shape, bytes, plan))).collect::<Result<Sized, PlanError>>();
        match made {
            Ok(all) => return Ok(all),
            Err(why) => _ = refused.get_or_insert(why),
        }
    }
    Err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presets;

    fn usable(plan: &Plan) -> f64 {
        plan.figures().usable_spare
    }

    fn is_kept(now: &Plan, own: &Plan) -> bool {
        (usable(now) - usable(own)).abs() <= SPARE_TOLERANCE
    }

    /// The size that a refusal names.
    fn named(told: &str) -> String {
        let least = told.rsplit("expected at least ").next().unwrap_or_else(|| panic!("{told}"));
        least.split([' ', ',', ':']).take(2).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_drive_of_any_size_has_the_same_chip_and_the_same_share_of_usable_spare() {
        for (drive, size, bytes) in [
            ("pageftl", "16 GiB", 16u64 << 30),
            ("pageftl", "64GiB", 64 << 30),
            ("pageftl-4k", "1 TiB", 1 << 40),
            ("paper-cubeftl", "64 GiB", 64 << 30),
        ] {
            let before = Plan::load(drive).expect("a preset");
            let (plan, settings) = sized(&before, size).unwrap_or_else(|error| panic!("{drive} {size}: {error}"));
            let (was, is) = (before.build(), plan.build());
            assert_eq!(is.exported(), Bytes(bytes), "{drive} {size}");
            let (a, b) = (was.sheet.geometry, is.sheet.geometry);
            assert_eq!(
                (a.channels, a.planes, a.pages(), a.page, was.sheet.timing),
                (b.channels, b.planes, b.pages(), b.page, is.sheet.timing)
            );
            assert!(b.blocks <= a.blocks && b.dies_per_channel >= a.dies_per_channel);
            assert!(is_kept(&plan, &before), "{drive} {size}: usable spare {} became {}", usable(&before), usable(&plan));
            // The settings say all of it.
            assert_eq!(Plan::load_set(drive, &settings).expect("it was checked").media_number(), plan.media_number());
        }
    }

    #[test]
    fn every_preset_keeps_its_usable_spare_at_any_size_or_names_one_at_which_it_does() {
        let mut refusals = 0;
        for preset in presets() {
            let own = Plan::load(preset.name).expect("a preset");
            for size in ["64 MiB", "100 MiB", "1 GiB", "3 GiB", "16 GiB", "1 TiB"] {
                match sized(&own, size) {
                    Ok((plan, settings)) => {
                        assert!(is_kept(&plan, &own), "{} {size}: usable spare {} became {}", preset.name, usable(&own), usable(&plan));
                        assert_eq!(plan.build().exported(), read_size(size).expect("a size"));
                        assert_eq!(Plan::load_set(preset.name, &settings).expect("it was checked").media_number(), plan.media_number());
                    }
                    Err(why) => {
                        let told = why.to_string();
                        if read_size(size).expect("a size") > own.figures().exported {
                            // More dies than the write buffer has program units for.
                            assert!(told.contains("buffer.size"), "{told}");
                            continue;
                        }
                        refusals += 1;
                        let least = named(&told);
                        assert!(read_size(&least).expect("a size") > read_size(size).expect("a size"), "{told}");
                        let made = sized(&own, &least).unwrap_or_else(|error| panic!("{}: the least, {least}: {error}", preset.name)).0;
                        assert!(is_kept(&made, &own), "{} {least}", preset.name);
                    }
                }
            }
        }
        assert!(refusals > 0, "some of these are too large for 64 MiB");
    }

    #[test]
    fn every_preset_of_a_terabyte_or_less_can_be_tried_out_at_2_gib_and_drives_that_count_copies_at_8() {
        for preset in presets() {
            let own = Plan::load(preset.name).expect("a preset");
            if own.figures().exported < Bytes::gib(1 << 10) {
                // Several blocks open for moved data, or one that closes early, leave less room for groups that idle dies keep free.
                let counts_copies = preset.name.starts_with("rcftl") || preset.name == "fastgc-rcftl";
                let size = if counts_copies { "8 GiB" } else { "2 GiB" };
                sized(&own, size).unwrap_or_else(|error| panic!("{}: {error}", preset.name));
            }
        }
    }

    #[test]
    fn a_drive_without_its_physics_is_as_small_as_with_it() {
        for settings in [&[][..], &["cells.physics=false"]] {
            let own = Plan::load_set("retrier", settings).expect("a preset");
            let (small, _) = sized(&own, "2 GiB").unwrap_or_else(|told| panic!("{settings:?}: {told}"));
            assert!(small.config().sheet.geometry.layers < own.config().sheet.geometry.layers, "its profile is fitted to fewer h-layers");
        }
    }

    #[test]
    fn another_share_of_spare_flash_is_another_drive_at_any_size() {
        let shares = ["5 %", "7 %", "14 %", "20 %"];
        let mut plans = Vec::new();
        for share in shares {
            let own = Plan::load_set("pageftl", &[format!("mapping.over_provisioning={share}")]).expect("it has room");
            let (plan, _) = sized(&own, "2 GiB").expect("it has room");
            assert!(is_kept(&plan, &own), "{share}");
            plans.push(plan.media_number());
        }
        plans.dedup();
        assert_eq!(plans.len(), shares.len());
    }

    #[test]
    fn drives_of_the_same_flash_have_the_same_flash_at_any_size() {
        let plain = Plan::load("pageftl").expect("a preset");
        let idle = ["techniques.idle-reclaim.on=true", "techniques.idle-reclaim.after=1 ms", "techniques.idle-reclaim.until_free=20"];
        let idle = Plan::load_set("pageftl", &idle).expect("it has room");
        // It keeps two more blocks free, so that alone it would be of another shape.
        let late = Plan::load_set("pageftl", &["gc.start=6"]).expect("it has room");
        for size in ["2 GiB", "4 GiB", "8 GiB"] {
            let alike = sized_alike(&[&plain, &idle, &late], size).expect("they have room");
            let geometry = |index: usize| alike[index].0.build().sheet.geometry;
            assert!(geometry(0) == geometry(1) && geometry(0) == geometry(2), "{size}");
            assert!(is_kept(&alike[0].0, &plain) && is_kept(&alike[2].0, &late), "{size}");
        }
        // A drive of another share is left as it would be alone.
        let other = Plan::load("mqsim-b").expect("a preset");
        let three = sized_alike(&[&plain, &other, &idle], "2 GiB").expect("they have room");
        assert_eq!(three[1].0.media_number(), sized(&other, "2 GiB").expect("it has room").0.media_number());
        assert_eq!(three[0].0.figures().raw, three[2].0.figures().raw);
    }

    #[test]
    fn drives_that_cannot_have_one_shape_are_refused_with_a_size_at_which_they_can() {
        let few = Plan::load("pageftl").expect("a preset");
        let many = Plan::load_set("pageftl", &["gc.start=16"]).expect("it has room");
        let told = sized_alike(&[&few, &many], "128 MiB").expect_err("one keeps 12 more blocks free").to_string();
        assert!(told.contains("pageftl 5.90 %, pageftl 3.15 %"), "{told}");
        let alike = sized_alike(&[&few, &many], &named(&told)).expect("the size that was named");
        assert_eq!(alike[0].0.build().sheet.geometry, alike[1].0.build().sheet.geometry);
        assert!(is_kept(&alike[0].0, &few) && is_kept(&alike[1].0, &many));
    }

    #[test]
    fn a_refusal_names_the_drive_that_cannot_be_so_small() {
        let [base, with] = ["paper-rftl", "rftl"].map(|name| Plan::load(name).expect("a preset"));
        sized(&base, "256 MiB").expect("it has no tables of h-layers");
        for plans in [[&base, &with], [&with, &base]] {
            let told = sized_alike(&plans, "256 MiB").expect_err("a technique goes by tables").to_string();
            assert!(told.starts_with("rftl: size"), "{told}");
        }
    }

    #[test]
    fn a_drive_is_shaped_as_another_of_its_kind() {
        let own = Plan::load("pageftl").expect("a preset");
        let settings = ["geometry.blocks=36", "geometry.layers=20", "mapping.capacity=512 MiB"];
        let other = Plan::load_set("pageftl", &settings).expect("as sizes were once made");
        let (again, settings) = shaped_as(&own, &other).expect("it was checked");
        assert_eq!(again.media_number(), other.media_number());
        assert_eq!(Plan::load_set("pageftl", &settings).expect("it was checked").media_number(), other.media_number());
    }

    #[test]
    fn another_share_on_the_same_flash_changes_what_the_host_sees() {
        let own = Plan::load("pageftl").expect("a preset");
        let (small, _) = sized(&own, "2 GiB").expect("it has room");
        let off = usable(&small) - usable(&own);
        for share in ["5 %", "7 %", "28 %"] {
            let setting = format!("mapping.over_provisioning={share}");
            let whole = own.override_key(&setting).expect("it has room");
            let (plan, settings) = on_flash_of(&whole, &small).expect("it has room");
            assert_eq!(plan.figures().raw, small.figures().raw, "{share}");
            assert!((usable(&plan) - usable(&whole) - off).abs() < 1e-4, "{share}: {} of {}", usable(&plan), usable(&whole));
            let again = Plan::load_set("pageftl", &[vec![setting], settings].concat()).expect("it was checked");
            assert_eq!(again.media_number(), plan.media_number());
        }
    }

    #[test]
    fn what_the_drive_has_already_changes_nothing() {
        for preset in presets() {
            let plan = Plan::load(preset.name).expect("a preset");
            let (same, _) = sized(&plan, &SIZE.write(plan.build().exported().0)).unwrap_or_else(|error| panic!("{}: {error}", preset.name));
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
            let told = sized(&plan, size).expect_err(size).to_string();
            assert!(words.iter().all(|word| told.contains(word)), "{size}: {told}");
        }
    }
}
