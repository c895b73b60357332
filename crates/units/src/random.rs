//! Counter-based random numbers: Philox4x32-10 (Salmon et al., SC'11). A draw is a pure function of who draws and how often it has
//! drawn before, so switching one technique on shifts nobody else's dice.

const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// One block of Philox4x32 with ten rounds.
pub fn philox4x32(mut key: [u32; 2], mut counter: [u32; 4]) -> [u32; 4] {
    for round in 0..10 {
        if round > 0 {
            key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
        }
        let low = u64::from(MULTIPLIERS[0]) * u64::from(counter[0]);
        let high = u64::from(MULTIPLIERS[1]) * u64::from(counter[2]);
        counter = [(high >> 32) as u32 ^ counter[1] ^ key[0], high as u32, (low >> 32) as u32 ^ counter[3] ^ key[1], low as u32];
    }
    counter
}

/// What a stream of random numbers is for. Each purpose has dice of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Addresses a workload generator draws.
    Address = 1,
    /// Operations and sizes a workload generator draws.
    Mix = 2,
    /// Arrival times a workload generator draws.
    Arrival = 3,
    /// Victim policies that sample.
    Victim = 4,
    /// Factory bad blocks.
    FactoryBad = 5,
    /// Program failures.
    ProgramFail = 6,
    /// Erase failures.
    EraseFail = 7,
    /// Direct construction of an aged drive.
    Construct = 8,
    /// Uncorrectable reads that a fault plan asks for.
    ReadFail = 9,
    /// What sets a chip of a lot apart.
    CellChip = 10,
    /// What sets a block of a chip apart.
    CellBlock = 11,
    /// What sets an h-layer of a block apart.
    CellLayer = 12,
    /// Bit errors of pages.
    CellErrors = 13,
    /// Single cells, where each is drawn.
    CellSample = 14,
    /// Telegraph noise of reads.
    CellNoise = 15,
    /// Flag cells of locked pages, and how far a reprogrammed wordline is shifted.
    CellLocks = 16,
    /// What a die counts of wrong cells just after a program.
    CellTraces = 17,
    /// Retries by rate that all reads of an h-layer need.
    LayerRetries = 18,
    /// Retries by rate that one read needs.
    ReadRetries = 19,
    /// Faults that a person orders: bits that flip, and how far a program comes before the power goes.
    Injected = 20,
    /// The rest between two cycles of a block that is set to an age.
    CellDwell = 21,
    /// Classes of blocks that show no errors of their own.
    BlockClass = 22,
}

/// The random numbers of one entity for one purpose, drawn in sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draw {
    key: [u32; 2],
    entity: u32,
    stream: Stream,
    next: u64,
    held: [u32; 4],
}

impl Draw {
    /// The dice of `entity` for `stream` under `seed`.
    pub fn new(seed: u64, stream: Stream, entity: u32) -> Draw {
        Draw { key: [seed as u32, (seed >> 32) as u32], entity, stream, next: 0, held: [0; 4] }
    }

    /// The `counter`-th number of this stream, whatever was drawn before.
    pub fn at(&self, counter: u64) -> u64 {
        let block = self.block(counter / 2);
        if counter.is_multiple_of(2) { pair(block[0], block[1]) } else { pair(block[2], block[3]) }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let second = self.next % 2 == 1;
        if !second {
            self.held = self.block(self.next / 2);
        }
        self.next += 1;
        if second { pair(self.held[2], self.held[3]) } else { pair(self.held[0], self.held[1]) }
    }

    /// A number below `bound`, which must not be zero, each equally likely (Lemire's method without the rejection step: the bias is
    /// below bound / 2^64).
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in `[0, 1)` with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Whether an event of probability `p` happens.
    #[inline]
    pub fn happens(&mut self, p: f64) -> bool {
        p > 0.0 && self.unit() < p
    }

    /// How many numbers have been drawn: the whole state besides the name, for snapshots.
    pub fn drawn(&self) -> u64 {
        self.next
    }

    /// Continue after `drawn` numbers, as a snapshot recorded it.
    pub fn resume(&mut self, drawn: u64) {
        self.next = drawn;
        if drawn % 2 == 1 {
            self.held = self.block(drawn / 2);
        }
    }

    #[inline]
    fn block(&self, index: u64) -> [u32; 4] {
        philox4x32(self.key, [index as u32, (index >> 32) as u32, self.entity, self.stream as u32])
    }
}

#[inline]
fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn philox_gives_the_known_answers_of_random123() {
        assert_eq!(philox4x32([0; 2], [0; 4]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox4x32([!0; 2], [!0; 4]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    }

    #[test]
    fn streams_are_independent_of_each_other_and_of_order() {
        let mut a = Draw::new(7, Stream::Address, 0);
        let mut b = Draw::new(7, Stream::Mix, 0);
        let drawn: Vec<u64> = (0..9).map(|_| a.next_u64()).collect();
        assert_ne!(drawn[0], b.next_u64());
        for (counter, value) in drawn.iter().enumerate() {
            assert_eq!(a.at(counter as u64), *value);
        }
        let mut resumed = Draw::new(7, Stream::Address, 0);
        resumed.resume(5);
        assert_eq!(resumed.next_u64(), drawn[5]);
    }
}
