//! `wordline serve`: a drive as a network block device.

use std::path::Path;
use std::sync::Arc;

use wordline_chip::RamPayload;
use wordline_drive::{Config as DriveConfig, Drive};
use wordline_nbd::Export;
use wordline_plan::Plan;
use wordline_serve::{Address, Completions, Config, LiveDisk, MediaStore, open_or_make, serve as listen};
use wordline_units::Bytes;

use crate::args::{ServeOptions, Survive};
use crate::failure::Failure;
use crate::files;

pub(crate) fn serve(options: &ServeOptions) -> Result<(), Failure> {
    let mut plan = Plan::load_set(&options.drive, &options.cells.settings(&options.settings)?)?;
    options.cells.check(&plan)?;
    if let Some(seed) = options.seed {
        plan = plan.with_seed(seed);
    }
    let config = plan.build();
    let size = config.exported();
    wordline_ftl::fits(&core(&config)).map_err(|why| Failure::Usage(format!("{}: {why}", plan.name())))?;
    let (disk, kept) = match &options.media {
        None => (in_memory(config, options), "its bytes in memory, gone when this ends".to_owned()),
        Some(folder) => on_media(&plan, config, folder, options)?,
    };
    let export = Export {
        description: format!("{}: {}", plan.name(), plan.summary()),
        block_min: 512,
        block_preferred: 4096,
        ..Export::new(&options.export, size.0)
    };
    let address = match &options.socket {
        Some(path) => Address::Unix(path.clone()),
        None => Address::Tcp(options.listen),
    };
    let running = listen(&address, vec![(export, Arc::new(disk))], Config::default()).map_err(|error| Failure::Usage(error.to_string()))?;
    let uri = match running.address() {
        Address::Unix(path) => format!("nbd+unix:///{}?socket={}", options.export, path.display()),
        Address::Tcp(address) => format!("nbd://{address}/{}", options.export),
    };
    files::write_or_print("-", &uri)?;
    eprintln!("{}: {}, {kept}; timing {}; stop with Ctrl-C", plan.name(), Bytes(size.0), options.timing);
    running.wait();
    Ok(())
}

/// The configuration of the first firmware core, which has as much to keep as any.
fn core(config: &DriveConfig) -> wordline_ftl::Config {
    let mut firmware = config.firmware.clone();
    firmware.dies = config.sheet.geometry.dies() / config.cores;
    firmware.exported_units = config.exported_units.div_ceil(u64::from(config.cores)) as u32;
    firmware
}

fn units_per_page(config: &DriveConfig) -> u32 {
    (config.sheet.geometry.page.0 / config.firmware.unit.0) as u32
}

fn in_memory(config: DriveConfig, options: &ServeOptions) -> LiveDisk {
    let build = move || {
        let (sheet, units) = (config.sheet, units_per_page(&config));
        let age = config.cells.as_ref().and_then(|cells| cells.age);
        let mut drive = Drive::with_payload(config, Completions::default(), |_| RamPayload::new(&sheet, units));
        age.iter().for_each(|age| drive.set_age(age));
        drive
    };
    LiveDisk::start(build, options.timing)
}

fn on_media(plan: &Plan, config: DriveConfig, folder: &Path, options: &ServeOptions) -> Result<(LiveDisk, String), Failure> {
    let durability = match options.survive {
        Survive::Process => wordline_serve::Durability::Process,
        Survive::Host => wordline_serve::Durability::Host,
    };
    let geometry = config.sheet.geometry;
    let units = units_per_page(&config);
    let named = (plan.name(), u128::from(plan.hash()));
    let (media, is_found) = open_or_make(folder, &geometry, units, named, durability).map_err(|error| Failure::Usage(error.to_string()))?;
    let build = move || {
        let age = config.cells.as_ref().and_then(|cells| cells.age);
        let store = MediaStore::new(media, units);
        // A drive that is back is as worn as it was; a new one is set to its age.
        let age = age.filter(|_| !is_found);
        let mut drive = if is_found {
            let began = std::time::Instant::now();
            let drive = Drive::wake(config, Completions::default(), |die| store.payload(die));
            let pages: u64 = drive.firmware().iter().filter_map(|core| core.recovery()).map(|recovery| recovery.pages).sum();
            eprintln!("back after {:.1} s: {pages} pages read", began.elapsed().as_secs_f64());
            drive
        } else {
            Drive::with_payload(config, Completions::default(), |die| store.payload(die))
        };
        age.iter().for_each(|age| drive.set_age(age));
        (drive, store)
    };
    let kept = format!("{} {}", if is_found { "back from" } else { "made in" }, folder.display());
    Ok((LiveDisk::start_kept(build, options.timing), kept))
}
