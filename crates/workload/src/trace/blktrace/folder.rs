//! Which files belong to one recording: `blktrace` names them `DEVICE.blktrace.CPU`.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The files of one recording, by device and processor.
pub(crate) struct Parts {
    pub(crate) files: Vec<PathBuf>,
    /// Processors without a file, although one with a higher number has one.
    pub(crate) absent: Vec<String>,
}

/// The files of the recording that `path` names, which is a folder of them or any one of them; `None` if `path` is another file.
pub(crate) fn parts(path: &Path) -> io::Result<Option<Parts>> {
    let is_folder = path.is_dir();
    let one = path.file_name().and_then(|name| name.to_str()).and_then(device_and_cpu).map(|(device, _)| device.to_owned());
    let (folder, device) = match (is_folder, &one) {
        (true, _) => (path, None),
        (false, Some(device)) => (path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")), Some(device)),
        (false, None) => return Ok(None),
    };
    let mut found: BTreeMap<(String, u32), PathBuf> = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some((of, cpu)) = name.to_str().and_then(device_and_cpu) else { continue };
        if device.is_none_or(|device| device == of) && entry.path().is_file() {
            found.insert((of.to_owned(), cpu), entry.path());
        }
    }
    let mut absent = Vec::new();
    let mut next: (&str, u32) = ("", 0);
    for (of, cpu) in found.keys() {
        let from = if next.0 == of { next.1 } else { 0 };
        absent.extend((from..*cpu).map(|cpu| format!("{of}.blktrace.{cpu}")));
        next = (of, cpu.saturating_add(1));
    }
    Ok(Some(Parts { absent, files: found.into_values().collect() }))
}

/// `sda.blktrace.3`, packed or not, is of device `sda` and processor 3.
fn device_and_cpu(name: &str) -> Option<(&str, u32)> {
    let plain = [".gz", ".zst"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    let (device, cpu) = plain.rsplit_once(".blktrace.")?;
    let is_number = !cpu.is_empty() && cpu.len() <= 4 && cpu.bytes().all(|digit| digit.is_ascii_digit());
    (is_number && !device.is_empty()).then_some((device, cpu.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_recordings_are_told_from_others() {
        assert_eq!(device_and_cpu("sda.blktrace.0"), Some(("sda", 0)));
        assert_eq!(device_and_cpu("nvme0n1.blktrace.127.zst"), Some(("nvme0n1", 127)));
        for other in ["sda.blktrace", "sda.blktrace.", "sda.blktrace.x", ".blktrace.0", "blktrace.0", "sda.blktrace.99999", "trace.csv"] {
            assert_eq!(device_and_cpu(other), None, "{other}");
        }
    }
}
