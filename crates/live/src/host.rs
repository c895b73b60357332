//! Room on the host's disk for the data that a drive has to write.
//!
//! A full disk of the host is no reason to lose data, nor to stop reading. No write is let in while the disk has less room than the drive may need for the
//! writes it has let in already: its buffer, and the moves of reclaim. Data that the host refuses all the same is held in memory ([`wordline_media::Held`])
//! and tried again; until it is written, nothing is acknowledged but reads. Once there is room, the drive goes on by itself.

use std::time::Instant;

use wordline_block::Errno;
use wordline_media::{Backing, Backlog, Dump, Held, Media, MediaError};
use wordline_units::Bytes;

use crate::keeper::Refused;

/// Bytes after which the host's disk is looked at again: other programs write on it, too.
const LOOK: u64 = 1 << 20;

/// Bytes that may be held; at this limit the drive stands still, because the moves of reclaim may need much more than its buffer.
const HELD_MAX: u64 = 256 << 20;

/// Receiver of lines for the user.
pub(crate) type Tell = Box<dyn Fn(&str) + Send>;

/// State of the host's disk.
pub(crate) struct Host {
    /// Room that the drive may need for the writes it has let in.
    reserve: u64,
    /// Bytes that may be held.
    held_max: u64,
    /// Room on the disk when last looked at.
    left: u64,
    /// Bytes that went to the host since it was looked at.
    spent: u64,
    is_short: bool,
    /// Earliest instant of the next try: a failing disk may take seconds to return an error.
    next_try: Option<Instant>,
    /// Error of a failed sync. Data that the host had taken may be lost, and a second sync would not report it.
    lost: Option<String>,
    tell: Option<Tell>,
    /// True once the user has been informed that nothing is taken.
    has_told: bool,
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host").field("reserve", &self.reserve).field("left", &self.left).field("lost", &self.lost).finish_non_exhaustive()
    }
}

impl Host {
    pub(crate) fn new() -> Host {
        Host {
            reserve: 0,
            held_max: HELD_MAX,
            left: 0,
            spent: LOOK,
            is_short: false,
            next_try: None,
            lost: None,
            tell: None,
            has_told: false,
        }
    }

    pub(crate) fn reserve(&mut self, bytes: u64, tell: Tell) {
        self.reserve = bytes;
        self.tell = Some(tell);
    }

    pub(crate) fn hold_at_most(&mut self, bytes: u64) {
        self.held_max = bytes;
    }

    /// True if no more may be held.
    pub(crate) fn is_overfull(&self, backlog: &Backlog) -> bool {
        backlog.bytes() > self.held_max
    }

    /// A line for the user.
    pub(crate) fn say(&self, line: &str) {
        if let Some(tell) = &self.tell {
            tell(line);
        }
    }

    /// Counts `bytes` written to the host.
    pub(crate) fn spend(&mut self, bytes: u64) {
        self.spent = self.spent.saturating_add(bytes);
    }

    /// Records a failed sync.
    pub(crate) fn lose(&mut self, error: &MediaError) {
        if self.lost.is_none() {
            let why = format!("{error}: what was written before may be lost; no more is taken until a restart finds what is there");
            self.say(&why);
            self.lost = Some(why);
        }
    }

    /// Tries to write down held data; the error is the host's reason if it does not take it.
    pub(crate) fn settle<B: Backing>(
        &mut self,
        media: &mut Media<Held<B>>,
        dump: Option<&mut Dump<Held<B>>>,
        backlog: &Backlog,
    ) -> Result<(), Refused> {
        if let Some(why) = &self.lost {
            return Err(Refused { errno: Errno::Io, why: why.clone() });
        }
        if backlog.is_empty() {
            return Ok(());
        }
        let began = Instant::now();
        if self.next_try.is_none_or(|next| next <= began) {
            match media.settle(dump, backlog) {
                Ok(true) => {
                    self.next_try = None;
                    self.spent = LOOK;
                    return Ok(());
                }
                Ok(false) => self.next_try = Some(Instant::now() + 4 * began.elapsed()),
                Err(error) => {
                    self.lose(&error);
                    return Err(Refused { errno: Errno::Io, why: error.to_string() });
                }
            }
        }
        let refusal = backlog.refusal().unwrap_or_else(|| unreachable!("something is held, and was refused"));
        if !std::mem::replace(&mut self.has_told, true) {
            self.say(&format!("{}: no more writes are taken until the host takes this; reads go on", refusal.why));
        }
        let errno = if refusal.is_full { Errno::NoSpace } else { Errno::Io };
        Err(Refused { errno, why: format!("{} ({} wait for it)", refusal.why, Bytes(backlog.bytes())) })
    }

    /// Admits a write once nothing is held, or returns the reason against it.
    pub(crate) fn admit<B: Backing>(&mut self, media: &Media<Held<B>>) -> Result<(), Refused> {
        if self.is_short || self.spent >= LOOK {
            // If the host does not report its room, refused data is held.
            self.left = media.room().unwrap_or(u64::MAX);
            self.spent = 0;
            // A little more room before the drive goes on, so that it does not go on and stop all the time.
            let wanted = if self.is_short { self.reserve + self.reserve / 4 } else { self.reserve };
            self.is_short = self.left < wanted;
        }
        if !self.is_short {
            if std::mem::take(&mut self.has_told) {
                self.say("the host takes what is written again; writes are taken");
            }
            return Ok(());
        }
        let why = format!(
            "the host's disk has {} left, and the drive may need {} to write down what it has taken",
            Bytes(self.left),
            Bytes(self.reserve)
        );
        if !std::mem::replace(&mut self.has_told, true) {
            self.say(&format!("{why}: no more writes are taken until there is more room; reads go on"));
        }
        Err(Refused { errno: Errno::NoSpace, why })
    }
}
