//! The checksum of a page over its own bytes, by which a page that was cut short is not taken for a whole one.

/// FNV-1a of a page, eight bytes at a time, without the checksum itself, which stands at `own`.
pub(crate) fn check(bytes: &[u8], own: std::ops::Range<usize>) -> u64 {
    let parts = [&bytes[..own.start], &bytes[own.end..]];
    parts.iter().flat_map(|part| part.chunks(8)).fold(0xCBF2_9CE4_8422_2325, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x100_0000_01B3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_counts_but_those_of_the_check_itself() {
        let page: Vec<u8> = (0..64).collect();
        let whole = check(&page, 40..48);
        for at in 0..page.len() {
            let mut other = page.clone();
            other[at] ^= 1;
            assert_eq!(check(&other, 40..48) == whole, (40..48).contains(&at), "byte {at}");
        }
    }
}
