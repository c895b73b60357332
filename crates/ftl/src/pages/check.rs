//! The checksum of a page over its own bytes, by which a page that was cut short is not taken for a whole one.

/// FNV-1a of a page, eight bytes at a time, without the checksum itself, which stands at `own`.
pub(crate) fn check(bytes: &[u8], own: std::ops::Range<usize>) -> u64 {
    let join = |hash: u64, word: [u8; 8]| (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x100_0000_01B3);
    [&bytes[..own.start], &bytes[own.end..]].into_iter().fold(0xCBF2_9CE4_8422_2325, |hash, part| {
        let (words, rest) = part.as_chunks();
        let hash = words.iter().fold(hash, |hash, &word| join(hash, word));
        if rest.is_empty() {
            return hash;
        }
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        join(hash, word)
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
