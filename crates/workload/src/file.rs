//! Workloads of files: a model file system that makes block requests.
//!
//! ```text
//! text ─ spec (parse, check) ─► FileSpec ─┐
//!                                         ├─► FileLoad ─┬─► HostRequest   what the drive is asked
//! seed, capacity, FileOptions ────────────┘             └─► FileTag       whose data it is, for observers
//! ```
//!
//! [`space`] hands out extents, [`system`] keeps files and turns what is done to them into requests, [`load`] lets threads do what a spec says. A spec may put
//! the host's page cache between files and drive.
//!
//! What is modelled is what reaches the block layer: which logical blocks belong to which file, in which requests they are written, and when they are
//! trimmed. Without a page cache every read and write reaches the drive at once. There are no metadata: directories, inodes and the file system's own
//! journal are not written. Renaming over a file deletes the one that was there, and moves no data.
//!
//! A host does not trim blocks whose writes are under way, nor does it give them to another file before the trim is done. Nobody tells the
//! generator when a request is done; it takes a request for done when twice as many writes have followed it as the queue is deep.

pub mod load;
pub mod space;
pub mod spec;
pub mod system;

pub(crate) mod built_in;
mod cache;
mod sizes;
mod tag;
mod tolerances;

pub use load::{FileLoad, FileOptions};
pub use spec::FileSpec;
pub use system::Tagged;
pub use tag::FileTag;
