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

    /// Error that a die has no way to report. From then on nothing is answered well.
    fn trouble(&self) -> Option<String>;

    /// Admits a write, or returns the reason against it. Data let in is programmed later, and needs room then.
    ///
    /// # Errors
    /// Cause, for the requester.
    fn admits(&self) -> Result<(), Refused> {
        Ok(())
    }

    /// Succeeds if all programmed data is at its place; data that is not is tried again. Until it succeeds, no write may be acknowledged: its data may be
    /// in memory alone.
    ///
    /// # Errors
    /// Cause, for the requester.
    fn catches_up(&self) -> Result<(), Refused> {
        Ok(())
    }

    /// True if so much data waits for its place that the drive has to stand still.
    fn is_overfull(&self) -> bool {
        false
    }

    /// Failure that the bytes survive, in a word: nothing, process or host.
    fn survives(&self) -> &'static str {
        "nothing"
    }

    /// True if the write buffers are kept too.
    fn keeps_buffer(&self) -> bool {
        false
    }

    /// Keeps `text`, the hints of the drive, for its next start; `None`: it has none. Returns false if nothing is kept here.
    ///
    /// # Errors
    /// The reason, in words.
    fn keep_hints(&self, _text: Option<&str>) -> Result<bool, String> {
        Ok(false)
    }

    /// The hints that were kept; `None`: there are none.
    ///
    /// # Errors
    /// The reason why they cannot be read, in words.
    fn kept_hints(&self) -> Result<Option<String>, String> {
        Ok(None)
    }

    /// Gives the user a line.
    fn say(&self, _line: &str) {}

    /// Copies all kept data into a new `folder`; returns the number of its bytes.
    ///
    /// # Errors
    /// The reason, in words. Nothing is left half-copied then.
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
