//! Drives saved to files: the plan as text, so that it is known for ever what was saved, the drive's image, and perhaps whose data it holds.
//!
//! ```text
//! "WORDLINE DRIVE 2\n"   name, newline, plan text   image, zstd   tags of files, zstd, or nothing
//! ```
//!
//! Each of the three parts has its length before it, in 8 bytes, the lowest first.

use std::path::Path;

use wordline_drive::image::{Image, ImageError};
use wordline_plan::Plan;

use crate::error::{RunError, SavedError};
use crate::tags::Tags;

const MAGIC: &[u8] = b"WORDLINE DRIVE 2\n";
/// What all versions begin with.
const KIND: &[u8] = b"WORDLINE DRIVE ";

/// A drive that was saved.
#[derive(Debug)]
pub struct Saved {
    /// Its plan.
    pub plan: Plan,
    /// Its image.
    pub image: Image,
    /// Whose data lies where, if somebody has kept a book of that.
    pub tags: Option<Tags>,
    /// Digest of the file: the first 32 hexadecimal digits of its BLAKE3.
    pub digest: String,
}

/// The bytes in which `image` of a drive with this `plan` is saved.
///
/// # Errors
///
/// They cannot be packed.
pub fn to_bytes(plan: &Plan, image: &Image, tags: Option<&Tags>) -> std::io::Result<Vec<u8>> {
    let packed = |bytes: &[u8]| zstd::encode_all(bytes, 3);
    let head = format!("{}\n{}", plan.name(), plan.describe());
    let tags = tags.map_or(Ok(Vec::new()), |tags| packed(&tags.to_bytes()))?;
    let mut bytes = MAGIC.to_vec();
    for part in [head.into_bytes(), packed(&image.to_bytes(plan.media_number()))?, tags] {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part);
    }
    Ok(bytes)
}

/// Loads what was saved to `path`.
///
/// # Errors
///
/// The file cannot be read, or holds no saved drive that this version knows.
pub fn load(path: &Path) -> Result<Saved, RunError> {
    let bytes = std::fs::read(path).map_err(|error| RunError::File { path: path.to_owned(), error })?;
    let broken = |why| RunError::Saved { path: path.to_owned(), why };
    let [head, image, tags] = parts(&bytes).map_err(broken)?;
    let head = std::str::from_utf8(head).map_err(|_| broken(SavedError::Head("is not text")))?;
    let (name, text) = head.split_once('\n').ok_or_else(|| broken(SavedError::Head("has no name")))?;
    let plan = Plan::parse_stored(name, text)?;
    let unpacked = zstd::decode_all(image).map_err(|_| broken(SavedError::Damaged("the drive in it is")))?;
    let image = match Image::from_bytes(&unpacked, plan.media_number()) {
        // An older build has numbered the same plan by its own rule.
        Err(ImageError::OtherPlan { found, .. }) if plan.has_media_number(found.into()) => Image::from_bytes(&unpacked, found),
        image => image,
    };
    let image = image.map_err(|error| broken(SavedError::Image(error)))?;
    let damaged = || broken(SavedError::Damaged("the tags of files in it are"));
    let tags = if tags.is_empty() {
        None
    } else {
        Some(zstd::decode_all(tags).ok().and_then(|bytes| Tags::from_bytes(&bytes)).ok_or_else(damaged)?)
    };
    let digest = blake3::hash(&bytes).to_hex()[..32].to_owned();
    Ok(Saved { plan, image, tags, digest })
}

/// The head, the image and the tags in `bytes`.
fn parts(bytes: &[u8]) -> Result<[&[u8]; 3], SavedError> {
    let Some(mut rest) = bytes.strip_prefix(MAGIC) else {
        return Err(if bytes.starts_with(KIND) { SavedError::OtherVersion } else { SavedError::Foreign });
    };
    let mut part = |what| {
        let cut = || SavedError::Cut(what);
        let (length, behind) = rest.split_first_chunk::<8>().ok_or_else(cut)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let (found, behind) = behind.split_at_checked(length).ok_or_else(cut)?;
        rest = behind;
        Ok(found)
    };
    let parts = [part("its head")?, part("its image")?, part("its tags of files")?];
    if rest.is_empty() { Ok(parts) } else { Err(SavedError::Longer(rest.len())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_apart_as_they_were_put_together_and_nothing_else_does() {
        let mut bytes = MAGIC.to_vec();
        for part in [&b"head"[..], b"image", b""] {
            bytes.extend((part.len() as u64).to_le_bytes());
            bytes.extend(part);
        }
        assert_eq!(parts(&bytes), Ok([&b"head"[..], b"image", b""]));
        assert_eq!(parts(b"MZ"), Err(SavedError::Foreign));
        assert_eq!(parts(b"WORDLINE DRIVE 1\n"), Err(SavedError::OtherVersion));
        assert_eq!(parts(&[&bytes[..], b"xy"].concat()), Err(SavedError::Longer(2)));
        // Cut anywhere, it ends in some part.
        for end in MAGIC.len()..bytes.len() {
            assert!(matches!(parts(&bytes[..end]), Err(SavedError::Cut(_))), "cut at {end}");
        }
        // A length that is no length.
        let long = [MAGIC, &[0xFF; 8]].concat();
        assert_eq!(parts(&long), Err(SavedError::Cut("its head")));
    }
}
