//! A hint to the memory system, without effect on any result.

/// Begin to bring the cache line where `item` begins near the processor, and wait for nothing.
///
/// The logical-to-physical map is the one table that no cache holds. A load of an entry ahead of its use does not do: it retires only when the data is there,
/// and the processor runs out of room behind it. Where the target has no such hint this does nothing.
#[inline(always)]
#[allow(unsafe_code)]
pub fn prefetch<T>(item: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch neither reads nor writes as far as the program can tell, and it may be given any address; this one is a reference's.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}
