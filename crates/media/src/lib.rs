//! The flash of a drive that keeps its data: one sparse file for each die, laid out as a chip is.
//!
//! ```text
//! header │ block records, twice │ block 0: page 0, page 1, … │ block 1 │ … │ tails of the records, two for each block
//!                                 └ data ┊ spare ┊ trailer: checksum, epoch, mark, flags
//! ```
//!
//! A [`Die`] can do what a die can: read a page, program the next page of a block, erase a block, keep a few bits beside a page and beside a block. It does
//! not know what the bytes mean. All that firmware needs to find itself again stands in pages and spare areas; there is no other store. Only what capacitors
//! keep of the write buffer, where a drive has them, stands in a file of its own: the [`Dump`]. Texts of a server about its drive, such as hints of
//! the host, may lie beside them ([`Media::keep_text`]).
//!
//! A die stands on a [`Backing`]: bytes that are read, written, punched and synced. There are two, [`Disk`] and [`Memory`]; the second one records every
//! write on a [`Tape`], so that a test can cut the power between any two writes and tear the last. The seam lies below the format on purpose: what is tested on
//! memory is the same code that runs on files.
//!
//! Where the host's disk is full or fails, what it does not take waits in memory and in its order ([`Held`]), so that the files stand as they stood at one
//! instant. Nothing that came later may be acknowledged before the host has taken it.
//!
//! # What is under way
//!
//! A program or an erase has a beginning and an end ([`Die::begin_pages`] and [`Die::end_program`], [`Die::begin_erase`] and [`Die::end_erase`]), because a die
//! may be held in between for long. Until its end, what is programmed has no trailer that vouches for it and what is erased has a record that says so: whoever
//! opens the file then finds it torn.
//!
//! # What survives what
//!
//! **The death of the process** (`kill -9`, a panic, an abort). A write that returned is in the kernel's page cache and needs nothing more: it is read back by
//! whoever opens the file next, and so are writes before it. Only the last write may be half done. [`Durability::Process`], the default, therefore never syncs;
//! [`Media::sync`] costs nothing.
//!
//! **The death of the host** (power, a kernel crash). Writes since the last sync may be there or not, in any combination, in units of a sector of the host's
//! disk. With [`Durability::Host`], [`Media::sync`] makes what was programmed durable, which is what a flush or FUA of the drive has to call before it is
//! acknowledged, and [`Media::erase_block`] first syncs every die written since its last sync: else the erase of a block could outrun the copies of what
//! was in it. No sync per page is needed in either case. A page that was not synced reads as erased, whole, or torn, never as something else.
//!
//! # Words
//!
//! **Epoch**: how often the block had been erased when the page was programmed. A page of an earlier epoch is a leftover: the erase after it did not reach the
//! host's disk whole. **Torn**: neither erased nor what was programmed; for a page the checksum says so, for a block the record of its erase.

mod backing;
mod die;
mod directory;
mod dump;
mod durability;
mod error;
mod folder;
mod header;
mod held;
mod media;
mod memory;
mod note;
mod overlay;
mod page;
mod record;
mod replay;
mod shape;
mod tape;

pub use backing::{Backing, Disk};
pub use die::{Block, Condition, Die, PageBuffer, PageRun, PageState, Place};
pub use dump::{Dump, DumpShape, Label};
pub use durability::Durability;
pub use error::MediaError;
pub use folder::Folder;
pub use header::{DieState, Identity, VERSION};
pub use held::{Backlog, Held, Refusal};
pub use media::Media;
pub use memory::Memory;
pub use overlay::Overlay;
pub use replay::{Replay, Tear};
pub use shape::Shape;
pub use tape::{Act, Entry, Tape};
