//! Lives of a die on media files, which are cut at every write.

use wordline_live::Durability;
use wordline_media::{Identity, Media, Memory, Replay, Tape, Tear};
use wordline_units::random::{Draw, Stream};

/// A life that was written down: what was known of the die after each of its steps, and how long the tape was then.
pub(crate) struct Lived<K> {
    pub(crate) tape: Tape,
    pub(crate) identity: Identity,
    pub(crate) states: Vec<(usize, K)>,
}

impl<K> Lived<K> {
    /// Calls `look` with the files that a cut at each write leaves, and with what was known before and after the step that was cut. Of the write that is cut, a
    /// part of `most` bytes at most is there.
    pub(crate) fn cut_everywhere(&self, seed: u64, most: u64, mut look: impl FnMut(Media<Memory>, &K, &K)) {
        let states = &self.states;
        let (entries, mut replay, mut step) = (self.tape.entries(), Replay::new(1), 0);
        let mut draw = Draw::new(seed, Stream::Mix, 1);
        entries[..states[0].0].iter().for_each(|entry| replay.apply(entry).expect("memory"));
        for index in states[0].0..=entries.len() {
            while states.get(step + 1).is_some_and(|(length, _)| *length <= index) {
                step += 1;
            }
            let mut cut = replay.clone();
            if let Some(entry) = entries.get(index) {
                cut.apply_torn(entry, Tear::Prefix(draw.below(most))).expect("memory");
                replay.apply(entry).expect("memory");
            }
            let files = Media::open_memory(cut.files(), Some(&self.identity), Durability::Process).expect("a cut leaves a die");
            look(files, &states[step].1, &states.get(step + 1).unwrap_or(&states[step]).1);
        }
    }
}
