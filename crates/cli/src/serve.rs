//! `wordline serve`: a drive as a network block device.

use std::sync::Arc;

use wordline_chip::RamPayload;
use wordline_drive::Drive;
use wordline_nbd::Export;
use wordline_plan::{Plan, nearest};
use wordline_serve::{Address, Completions, Config, LiveDisk, serve as listen};
use wordline_units::Bytes;

use crate::args::ServeOptions;
use crate::failure::Failure;
use crate::files;

pub(crate) fn serve(options: &ServeOptions) -> Result<(), Failure> {
    if options.media != "memory" {
        let meant = nearest(&options.media, ["memory"]).map_or(String::new(), |near| format!("; did you mean '{near}'?"));
        return Err(Failure::Usage(format!(
            "--media {}: only memory is there yet, whose bytes go with the process; files that survive it come with the recovery of the firmware{meant}",
            options.media
        )));
    }
    let mut plan = Plan::load_set(&options.drive, &options.cells.settings(&options.settings)?)?;
    options.cells.check(&plan)?;
    if let Some(seed) = options.seed {
        plan = plan.with_seed(seed);
    }
    let config = plan.build();
    let size = config.exported();
    let age = config.cells.as_ref().and_then(|cells| cells.age);
    let build = move || {
        let (sheet, units) = (config.sheet, (config.sheet.geometry.page.0 / config.firmware.unit.0) as u32);
        let mut drive = Drive::with_payload(config, Completions::default(), |_| RamPayload::new(&sheet, units));
        age.iter().for_each(|age| drive.set_age(age));
        drive
    };
    let disk = Arc::new(LiveDisk::start(build, options.timing));
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
    let running = listen(&address, vec![(export, disk)], Config::default()).map_err(|error| Failure::Usage(error.to_string()))?;
    let uri = match running.address() {
        Address::Unix(path) => format!("nbd+unix:///{}?socket={}", options.export, path.display()),
        Address::Tcp(address) => format!("nbd://{address}/{}", options.export),
    };
    files::write_or_print("-", &uri)?;
    eprintln!("{}: {} of bytes in memory, gone when this ends; timing {}; stop with Ctrl-C", plan.name(), Bytes(size.0), options.timing);
    running.wait();
    Ok(())
}
