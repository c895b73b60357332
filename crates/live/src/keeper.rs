//! Keeping of the bytes of a drive's dies, and refusals where that fails.

use std::path::Path;

use wordline_block::Errno;

/// Keeper of the bytes of a drive's dies, where keeping can fail.
pub trait Keeper {
    /// Makes everything that was programmed as durable as it is to be. Called before a flush, or anything with FUA, is answered.
    ///
    /// # Errors
    /// Cause, for the requester.
    fn sync(&self) -> Result<(), Refused>;

    /// What went wrong that a die has no way to say. From then on nothing is answered well.
    fn trouble(&self) -> Option<String>;

    /// Whether a write may be let in. What is let in is programmed later, and has to have its place then.
    ///
    /// # Errors
    /// Cause, for the requester.
    fn admits(&self) -> Result<(), Refused> {
        Ok(())
    }

    /// Whether all that was programmed is where it is to be kept; what is not is tried again. Until it is, no write may be acknowledged: what it wrote may be
    /// in memory alone.
    ///
    /// # Errors
    /// Cause, for the requester.
    fn catches_up(&self) -> Result<(), Refused> {
        Ok(())
    }

    /// Whether so much waits for its place that the drive has to stand still.
    fn is_overfull(&self) -> bool {
        false
    }

    /// What it survives, in a word: nothing, process or host.
    fn survives(&self) -> &'static str {
        "nothing"
    }

    /// Whether it keeps the write buffers too.
    fn keeps_buffer(&self) -> bool {
        false
    }

    /// Copies all that is kept into a new `folder`; returns how many bytes that took.
    ///
    /// # Errors
    /// Why it could not be, in words. Nothing is left half-copied then.
    fn copy(&self, folder: &Path) -> Result<u64, String> {
        Err(format!("{}: the bytes of this drive are in memory, there are no media to copy", folder.display()))
    }
}

/// Refusal of something, with its cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The error.
    pub errno: Errno,
    /// Cause, in a sentence.
    pub why: String,
}

/// Nothing is kept, so nothing can fail.
impl Keeper for () {
    fn sync(&self) -> Result<(), Refused> {
        Ok(())
    }

    fn trouble(&self) -> Option<String> {
        None
    }
}
