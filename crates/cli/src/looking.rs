//! A drive that is served to be looked at: nothing is written to its media, and what its firmware has to write stays in memory. With a salvage, the best copy
//! of each mapping unit, and a list of those of which nobody can tell that it is the newest.

use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;

use wordline_drive::{Doubt, Trust, Watched};
use wordline_live::{About, LiveDisk, MediaStore, look_at, watch};
use wordline_plan::Plan;
use wordline_units::Bytes;

use crate::args::ServeOptions;
use crate::failure::Failure;
use crate::files;
use crate::media_folder;
use crate::returned::{found_again, units_per_page};

/// Where the list of a salvage goes; `None`: it is none. The list must not go into the folder that nothing is written to.
pub(crate) fn list(options: &ServeOptions) -> Result<Option<&str>, Failure> {
    let (Some(name), Some(folder)) = (options.salvage.as_deref(), &options.media) else { return Ok(None) };
    if name == "-" {
        return Ok(Some(name));
    }
    let path = Path::new(name);
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).map_or(PathBuf::from("."), Path::to_owned);
    if parent.canonicalize().is_ok_and(|parent| folder.canonicalize().is_ok_and(|folder| parent.starts_with(folder))) {
        let what = "the list would be written among the media, and nothing is written there: expected a file in another folder";
        return Err(Failure::Usage(format!("--salvage {name}: {what}")));
    }
    files::check_writable(path)?;
    Ok(Some(name))
}

/// The drive of `plan` with the media in `folder`, a line on where it is from, and, of a salvage, the list.
pub(crate) fn drive(plan: &Plan, folder: &Path, options: &ServeOptions, about: About) -> Result<(LiveDisk, String, String), Failure> {
    let mut config = plan.build();
    // Nothing is moved away from bad blocks here, and what can be read of the die that they lie on is to be read.
    config.firmware.repair.detect = false;
    let units = units_per_page(&config);
    let number = media_folder::identity(folder).filter(|&number| plan.has_media_number(number)).unwrap_or(plan.media_number().into());
    let opened = look_at(folder, &config, (plan.name(), number), &options.missing_die);
    let (media, dump) = opened.map_err(|error| media_folder::refused(folder, plan, &error))?;
    let trust = if options.salvage.is_some() { Trust::Salvage } else { Trust::Everything };
    let (tell, told) = channel();
    let build = move || {
        let watched = watch(&config);
        let store = MediaStore::new(media, units, dump).reserving(0, |line| eprintln!("wordline: {line}"));
        let capacitors = store.capacitors(config.firmware.buffer.units);
        let began = std::time::Instant::now();
        let drive = Watched::wake_by(config, watched, |die| store.payload(die), capacitors, trust);
        eprintln!("{}", found_again(&drive, began.elapsed()));
        // The thread that has asked for it waits for it.
        let _ = tell.send((drive.doubtful(), drive.unit_bytes().0));
        (drive, store)
    };
    let about = About { is_used: true, is_read_only: true, ..about };
    let disk = LiveDisk::start_kept(build, options.timing, about);
    let (doubtful, unit) = told.recv().map_err(|_| Failure::Usage(format!("{}: the drive could not be woken", folder.display())))?;
    let what = if options.salvage.is_some() { "the best copies in" } else { "read-only from" };
    Ok((disk, format!("{what} {}, to which nothing is written", folder.display()), in_lines(&doubtful, unit)))
}

/// The list of a salvage: a line for each stretch.
fn in_lines(doubtful: &[(u64, u64, Doubt)], unit: u64) -> String {
    let mut lines = vec![
        "# offset length doubt, in bytes".to_owned(),
        "# unproved: nobody can tell whether it is the newest; where nothing was found, it reads as zeroes".to_owned(),
        "# older: the newest cannot be read, and this is what was there before".to_owned(),
        "# unreadable: no copy of it can be read, and it answers with an error".to_owned(),
    ];
    lines.extend(doubtful.iter().map(|&(first, count, doubt)| {
        let doubt = match doubt {
            Doubt::Unproved => "unproved",
            Doubt::Older => "older",
            Doubt::Unreadable => "unreadable",
        };
        format!("{} {} {doubt}", first * unit, count * unit)
    }));
    let bytes = |of: Doubt| Bytes(doubtful.iter().filter(|(.., doubt)| *doubt == of).map(|(_, count, _)| count * unit).sum());
    let [unproved, older, unreadable] = [Doubt::Unproved, Doubt::Older, Doubt::Unreadable].map(bytes);
    lines.push(format!("# in all: {unproved} unproved, {older} older, {unreadable} unreadable"));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_a_line_for_each_stretch_in_bytes() {
        let list = in_lines(&[(0, 3, Doubt::Unproved), (7, 1, Doubt::Older), (8, 2, Doubt::Unreadable)], 16_384);
        let stretches: Vec<&str> = list.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(stretches, ["0 49152 unproved", "114688 16384 older", "131072 32768 unreadable"]);
        assert!(list.ends_with("# in all: 48 KiB unproved, 16 KiB older, 32 KiB unreadable"), "{list}");
    }
}
