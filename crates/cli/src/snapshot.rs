//! Drives saved to files: the plan as text, so that it is known for ever what was saved, and the drive's image.
//!
//! ```text
//! "WORDLINE DRIVE 1\n"   length of the rest of the head, 8 bytes   name, newline, plan text   image, zstd
//! ```

use std::path::Path;

use wordline_drive::image::Image;
use wordline_plan::Plan;

use crate::failure::Failure;
use crate::files;

const MAGIC: &[u8] = b"WORDLINE DRIVE 1\n";

/// Save `image` of a drive with this `plan`.
pub(crate) fn save(path: &Path, plan: &Plan, image: &Image) -> Result<u64, Failure> {
    let head = format!("{}\n{}", plan.name(), plan.describe());
    let mut bytes = MAGIC.to_vec();
    bytes.extend((head.len() as u64).to_le_bytes());
    bytes.extend(head.as_bytes());
    let packed =
        zstd::encode_all(image.to_bytes(plan.hash()).as_slice(), 3).map_err(|error| Failure::File { path: path.to_owned(), error })?;
    bytes.extend(packed);
    files::write(path, &bytes)?;
    Ok(bytes.len() as u64)
}

/// Load the plan and the image from `path`.
pub(crate) fn load(path: &Path) -> Result<(Plan, Image), Failure> {
    let bytes = std::fs::read(path).map_err(|error| Failure::File { path: path.to_owned(), error })?;
    let broken = |what: &str| Failure::Usage(format!("{}: {what}", path.display()));
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| broken("not a drive saved by `wordline age`"))?;
    let (length, rest) = rest.split_first_chunk::<8>().ok_or_else(|| broken("the file ends in its head"))?;
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    if length > rest.len() {
        return Err(broken("the file ends in its head"));
    }
    let (head, packed) = rest.split_at(length);
    let head = std::str::from_utf8(head).map_err(|_| broken("the plan in it is not text"))?;
    let (name, text) = head.split_once('\n').ok_or_else(|| broken("the plan in it has no name"))?;
    let plan = Plan::parse(name, text)?;
    let unpacked = zstd::decode_all(packed).map_err(|_| broken("the drive in it is damaged"))?;
    let image = Image::from_bytes(&unpacked, plan.hash()).map_err(|error| broken(&error.to_string()))?;
    Ok((plan, image))
}
