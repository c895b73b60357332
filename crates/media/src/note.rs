//! Texts beside the dies of a drive: what a server wants to find again at its next start, with a checksum in the last line.
//!
//! A text is written beside its name and then renamed, so after the death of the process it is the old one or the new one. The death of the host it survives
//! as the media do.

use std::io;

use crate::durability::Durability;
use crate::folder::Folder;

/// Beginning of the last line; the checksum of all lines before it follows, in eight hexadecimal digits.
const SUM: &str = "crc32 ";

/// Write `text`, which ends with a whole line, to the file `name` in `folder`. `None`: the file goes.
pub(crate) fn keep(folder: &Folder, name: &str, text: Option<&str>, durability: Durability) -> io::Result<()> {
    let is_synced = durability == Durability::Host;
    match text {
        Some(text) => folder.write_as(name, &format!("{text}{SUM}{:08x}\n", crc32fast::hash(text.as_bytes())), is_synced),
        None if folder.has(name) => {
            folder.remove(name)?;
            if is_synced { folder.sync() } else { Ok(()) }
        }
        None => Ok(()),
    }
}

/// The text in the file `name` in `folder`, without its last line; `None`: there is no such file.
pub(crate) fn kept(folder: &Folder, name: &str) -> io::Result<Option<String>> {
    if !folder.has(name) {
        return Ok(None);
    }
    let mut text = folder.read(name)?;
    let last = text.trim_end_matches('\n').rfind('\n').map_or(0, |at| at + 1);
    let (lines, sum) = text.split_at(last);
    if sum != format!("{SUM}{:08x}\n", crc32fast::hash(lines.as_bytes())) {
        return Err(io::Error::other("its last line is not the checksum of the others"));
    }
    text.truncate(last);
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "note";

    #[test]
    fn a_text_is_kept_whole_or_not_at_all() {
        let path = std::env::temp_dir().join(format!("wordline-note-{}", std::process::id()));
        let folder = Folder::make(&path).expect("it can be made");
        assert_eq!(kept(&folder, NAME).expect("it can be read"), None);
        for (text, durability) in [("one\ntwo\n", Durability::Process), ("three\n", Durability::Host)] {
            keep(&folder, NAME, Some(text), durability).expect("it can be written");
            assert_eq!(kept(&folder, NAME).expect("it is whole").as_deref(), Some(text));
        }
        let whole = folder.read(NAME).expect("it is there");
        for length in 0..whole.len() {
            std::fs::write(path.join(NAME), &whole[..length]).expect("it can be written");
            assert!(kept(&folder, NAME).is_err(), "{length} bytes of it");
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone().into_bytes();
            changed[at] ^= 1;
            std::fs::write(path.join(NAME), changed).expect("it can be written");
            assert!(kept(&folder, NAME).is_err(), "byte {at} is another");
        }
        for durability in [Durability::Process, Durability::Host] {
            keep(&folder, NAME, None, durability).expect("it may be there or not");
            assert_eq!(kept(&folder, NAME).expect("it can be read"), None);
        }
        std::fs::remove_dir_all(&path).expect("it is ours");
    }
}
