//! Capacitors: the interface to what keeps the write buffer of a drive through a power cut.

use wordline_units::Lpn;

/// A slot of a write buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BufferSlot {
    /// Core that owns the buffer.
    pub core: u32,
    /// Number of the slot in the core's buffer.
    pub slot: u32,
}

/// The content of a slot, beside its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldUnit {
    /// Logical unit in the slot.
    pub lpn: Lpn,
    /// Version of the newest write in the slot, at least 1.
    pub version: u64,
    /// Sectors that the slot holds, one bit each.
    pub mask: u64,
    /// Sectors of the slot that are lost, one bit each.
    pub lost: u64,
}

/// Storage that keeps the write buffer when power is lost. The drive reports every slot as it is filled, and never that it is not needed any more: versions
/// tell that.
pub trait Capacitors: std::fmt::Debug + Send {
    /// Keep `unit` with these bytes in `slot`. A power cut before this returns leaves what the slot held before.
    fn keep(&mut self, slot: BufferSlot, unit: HeldUnit, bytes: &[u8]);

    /// Unit that `slot` held last; `None`: the slot never held one.
    fn kept(&mut self, slot: BufferSlot) -> Option<HeldUnit>;

    /// Keep these bytes at place `index` of `core`, below [`wordline_ftl::FACTS`]. A power cut before this returns leaves what the place held before, or
    /// nothing.
    fn keep_fact(&mut self, core: u32, index: u32, bytes: &[u8]);

    /// Read into `into` what place `index` of `core` held last. Returns false if the place is empty.
    fn kept_fact(&mut self, core: u32, index: u32, into: &mut Vec<u8>) -> bool;

    /// Read into `into` the bytes that `slot` held last. Returns false if they are gone: then the whole unit is lost.
    fn bytes(&mut self, slot: BufferSlot, into: &mut [u8]) -> bool;
}
