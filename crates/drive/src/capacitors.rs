//! What keeps the write buffer of a drive through a power cut.

use wordline_units::Lpn;

/// A slot of a write buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BufferSlot {
    /// The core whose buffer it is.
    pub core: u32,
    /// Its number there.
    pub slot: u32,
}

/// The content of a slot, beside its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldUnit {
    /// Of which unit.
    pub lpn: Lpn,
    /// The version of the newest write in it, at least 1.
    pub version: u64,
    /// Which sectors it holds, one bit each.
    pub mask: u64,
    /// Which of its sectors are lost, one bit each.
    pub lost: u64,
}

/// Capacitors, and where they bring the write buffer. They are told of every slot as it is filled, and never that it is not needed any more: versions
/// say that.
pub trait Capacitors: std::fmt::Debug {
    /// `slot` holds `unit` with these bytes from now on. A power cut before this returns leaves what the slot held before.
    fn keep(&mut self, slot: BufferSlot, unit: HeldUnit, bytes: &[u8]);

    /// What `slot` held last; `None`: nothing ever.
    fn kept(&mut self, slot: BufferSlot) -> Option<HeldUnit>;

    /// Place `index` of `core`, below [`wordline_ftl::FACTS`], holds these bytes from now on. A power cut before this returns leaves what it held before, or
    /// nothing.
    fn keep_fact(&mut self, core: u32, index: u32, bytes: &[u8]);

    /// What place `index` of `core` held last. Returns false if that is nothing.
    fn kept_fact(&mut self, core: u32, index: u32, into: &mut Vec<u8>) -> bool;

    /// The bytes that `slot` held last. Returns false if they are gone: then the whole unit is lost.
    fn bytes(&mut self, slot: BufferSlot, into: &mut [u8]) -> bool;
}
