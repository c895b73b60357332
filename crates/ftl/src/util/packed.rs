//! Bytes in the words of an image.

/// Bytes of a word.
const IN_WORD: usize = size_of::<u32>();

/// The words that hold `bytes`, four each, the first lowest.
pub(crate) fn pack(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks(IN_WORD).map(|bytes| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte))).collect()
}

/// Fill `bytes` from the words that [`pack`] made. Returns false, and changes nothing, if they are of another number of bytes.
#[must_use]
pub(crate) fn unpack(words: &[u32], bytes: &mut [u8]) -> bool {
    let fits = words.len() == bytes.len().div_ceil(IN_WORD);
    if fits {
        bytes.chunks_mut(IN_WORD).zip(words).for_each(|(bytes, word)| bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]));
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_from_their_words_and_from_no_others() {
        for length in 0..10 {
            let bytes: Vec<u8> = (1..=length).collect();
            let mut again = vec![0; bytes.len()];
            assert!(unpack(&pack(&bytes), &mut again) && again == bytes, "{length}");
            assert!(!unpack(&[pack(&bytes), vec![7]].concat(), &mut again) && again == bytes);
        }
        assert_eq!(pack(&[1, 2, 3, 4, 5]), [0x0403_0201, 5]);
    }
}
