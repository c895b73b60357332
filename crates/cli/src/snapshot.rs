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

use crate::failure::Failure;
use crate::files;
use crate::tags::Tags;

const MAGIC: &[u8] = b"WORDLINE DRIVE 2\n";
/// What all versions begin with.
const KIND: &[u8] = b"WORDLINE DRIVE ";

/// A drive that was saved.
pub(crate) struct Saved {
    pub(crate) plan: Plan,
    pub(crate) image: Image,
    /// Whose data lies where, if somebody has kept a book of that.
    pub(crate) tags: Option<Tags>,
}

/// Save `image` of a drive with this `plan`; returns how many bytes the file has.
pub(crate) fn save(path: &Path, plan: &Plan, image: &Image, tags: Option<&Tags>) -> Result<u64, Failure> {
    let packed = |bytes: &[u8]| zstd::encode_all(bytes, 3).map_err(|error| Failure::File { path: path.to_owned(), error });
    let head = format!("{}\n{}", plan.name(), plan.describe());
    let tags = tags.map_or(Ok(Vec::new()), |tags| packed(&tags.to_bytes()))?;
    let mut bytes = MAGIC.to_vec();
    for part in [head.into_bytes(), packed(&image.to_bytes(plan.hash()))?, tags] {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part);
    }
    files::write(path, &bytes)?;
    Ok(bytes.len() as u64)
}

/// Load what was saved to `path`.
pub(crate) fn load(path: &Path) -> Result<Saved, Failure> {
    let bytes = std::fs::read(path).map_err(|error| Failure::File { path: path.to_owned(), error })?;
    let broken = |what: &str| Failure::Usage(format!("{}: {what}", path.display()));
    let Some(mut rest) = bytes.strip_prefix(MAGIC) else {
        let other = bytes.starts_with(KIND);
        return Err(broken(if other {
            "another version of Wordline saved this drive: make it again"
        } else {
            "not a drive that `wordline age` or `wordline run --save` saved"
        }));
    };
    let mut part = |what: &str| {
        let cut = || broken(&format!("the file ends in {what}"));
        let (length, behind) = rest.split_first_chunk::<8>().ok_or_else(cut)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let (found, behind) = behind.split_at_checked(length).ok_or_else(cut)?;
        rest = behind;
        Ok::<&[u8], Failure>(found)
    };
    let (head, image, tags) = (part("its head")?, part("its image")?, part("its tags of files")?);
    if !rest.is_empty() {
        return Err(broken(&format!("{} bytes stand behind the drive that was saved in it", rest.len())));
    }
    let head = std::str::from_utf8(head).map_err(|_| broken("the plan in it is not text"))?;
    let (name, text) = head.split_once('\n').ok_or_else(|| broken("the plan in it has no name"))?;
    let plan = Plan::parse(name, text)?;
    let unpacked = zstd::decode_all(image).map_err(|_| broken("the drive in it is damaged"))?;
    let image = match Image::from_bytes(&unpacked, plan.hash()) {
        // An older build has numbered the same plan by its own rule.
        Err(ImageError::OtherPlan { found, .. }) if plan.has_hash(found.into()) => Image::from_bytes(&unpacked, found),
        image => image,
    };
    let image = image.map_err(|error| broken(&error.to_string()))?;
    let damaged = || broken("the tags of files in it are damaged");
    let tags = if tags.is_empty() {
        None
    } else {
        Some(zstd::decode_all(tags).ok().and_then(|bytes| Tags::from_bytes(&bytes)).ok_or_else(damaged)?)
    };
    Ok(Saved { plan, image, tags })
}
