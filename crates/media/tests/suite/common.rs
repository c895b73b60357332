//! A small drive, operations on it, and what can be seen of it.

use wordline_media::{Backing, Condition, Die, Durability, Identity, Media, Memory, PageBuffer, PageState, Place, Shape, Tape};
use wordline_units::random::{Draw, Stream};

/// A page spans several sectors, and not a whole number of them.
pub(crate) const SHAPE: Shape = Shape { planes: 2, blocks: 4, pages: 5, page_bytes: 1200, spare_bytes: 24 };

pub(crate) fn identity(dies: u32) -> Identity {
    Identity { drive: 0x1234_5678_9ABC_DEF0, die: 0, dies, chip: "test-chip".to_owned(), shape: SHAPE }
}

pub(crate) fn memory(dies: u32, durability: Durability) -> (Media<Memory>, Tape) {
    let tape = Tape::new();
    let media = Media::in_memory(&identity(dies), durability, &tape).expect("a sound identity");
    (media, tape)
}

pub(crate) fn dice(seed: u64) -> Draw {
    Draw::new(seed, Stream::Mix, 0)
}

/// Prints the seed if the test dies while this lives.
pub(crate) struct Seed(pub(crate) u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {}", self.0);
        }
    }
}

/// Something done to a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Program(u32, Place, u64),
    FlagPage(u32, Place, u8),
    WipePage(u32, Place, u8),
    Erase(u32, u32),
    FlagBlock(u32, u32, u32),
    MarkBad(u32, u32),
    KeepWear(u32, u32, u64),
    Sync,
}

/// The bytes that `fill` stands for. Some are mostly zeroes, which look like holes.
pub(crate) fn page(shape: &Shape, fill: u64) -> PageBuffer {
    let mut page = PageBuffer::new(shape);
    let mut draw = dice(fill);
    if !fill.is_multiple_of(5) {
        page.data_mut().iter_mut().for_each(|byte| *byte = draw.next_u64() as u8);
    }
    page.spare_mut().iter_mut().for_each(|byte| *byte = draw.next_u64() as u8);
    page
}

/// What can be seen of a page: its state, its bytes if they mean anything, its flags.
pub(crate) type SeenPage = (PageState, Option<Vec<u8>>, u8);

/// What can be seen of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) condition: Condition,
    pub(crate) erases: u32,
    pub(crate) flags: u32,
    pub(crate) cursor: u32,
    /// `None`: it is rotten.
    pub(crate) wear: Option<Vec<u8>>,
    pub(crate) pages: Vec<SeenPage>,
}

/// The wear that `fill` stands for: some of it fits into a record, and some does not.
pub(crate) fn wear_of(fill: u64) -> Vec<u8> {
    let mut draw = dice(fill);
    (0..1 + fill % 540).map(|_| draw.next_u64() as u8).collect()
}

/// The bytes of a page that was wiped.
pub(crate) fn wiped() -> Vec<u8> {
    vec![0; (SHAPE.page_bytes + SHAPE.spare_bytes) as usize]
}

pub(crate) fn bytes_of(buffer: &PageBuffer) -> Vec<u8> {
    [buffer.data(), buffer.spare()].concat()
}

pub(crate) fn see_die<B: Backing>(die: &Die<B>) -> Vec<Seen> {
    let shape = *die.shape();
    let mut buffer = PageBuffer::new(&shape);
    let mut see_page = |place| {
        let (state, flags) = die.read_page(place, &mut buffer).expect("no fault of the host");
        match state {
            PageState::Written => (state, Some(bytes_of(&buffer)), flags),
            PageState::Erased => {
                assert!(bytes_of(&buffer).iter().all(|&byte| byte == 0xFF) && flags == 0);
                (state, None, 0)
            }
            PageState::Torn => (state, None, 0),
        }
    };
    (0..shape.blocks)
        .map(|block| {
            let known = die.block(block);
            let pages = (0..shape.pages).map(|page| see_page(Place { block, page })).collect();
            let wear = die.wear(block).ok();
            Seen { condition: known.condition, erases: known.erases, flags: known.flags, cursor: known.cursor, wear, pages }
        })
        .collect()
}

/// Everything, die by die.
pub(crate) fn see<B: Backing>(media: &Media<B>) -> Vec<Vec<Seen>> {
    (0..media.dies()).map(|die| see_die(media.die(die))).collect()
}

/// A drive of erased blocks as it should look.
pub(crate) fn erased(dies: u32) -> Vec<Vec<Seen>> {
    let pages = vec![(PageState::Erased, None, 0); SHAPE.pages as usize];
    vec![
        vec![Seen { condition: Condition::Good, erases: 0, flags: 0, cursor: 0, wear: Some(Vec::new()), pages }; SHAPE.blocks as usize];
        dies as usize
    ]
}

/// Does to what is seen what the operation should do.
pub(crate) fn expect(seen: &mut [Vec<Seen>], act: Act) {
    match act {
        Act::Program(die, place, fill) => {
            let block = &mut seen[die as usize][place.block as usize];
            block.pages[place.page as usize] = (PageState::Written, Some(bytes_of(&page(&SHAPE, fill))), 0);
            block.cursor += 1;
        }
        Act::FlagPage(die, place, flags) => {
            let page = &mut seen[die as usize][place.block as usize].pages[place.page as usize];
            page.2 |= if page.0 == PageState::Written { flags } else { 0 };
        }
        Act::WipePage(die, place, flags) => {
            let page = &mut seen[die as usize][place.block as usize].pages[place.page as usize];
            *page = (PageState::Written, Some(wiped()), page.2 | flags);
        }
        Act::Erase(die, block) => {
            let block = &mut seen[die as usize][block as usize];
            block.pages.fill((PageState::Erased, None, 0));
            block.condition = if block.condition == Condition::Bad { Condition::Bad } else { Condition::Good };
            (block.erases, block.flags, block.cursor) = (block.erases + 1, 0, 0);
        }
        Act::FlagBlock(die, block, flags) => seen[die as usize][block as usize].flags |= flags,
        Act::MarkBad(die, block) => seen[die as usize][block as usize].condition = Condition::Bad,
        Act::KeepWear(die, block, fill) => seen[die as usize][block as usize].wear = Some(wear_of(fill)),
        Act::Sync => {}
    }
}

pub(crate) fn perform<B: Backing>(media: &mut Media<B>, act: Act) {
    let done = match act {
        Act::Program(die, place, fill) => media.die_mut(die).program_page(place, &mut page(&SHAPE, fill)),
        Act::FlagPage(die, place, flags) => media.die_mut(die).flag_page(place, flags),
        Act::WipePage(die, place, flags) => media.die_mut(die).wipe_page(place, flags),
        Act::Erase(die, block) => media.erase_block(die, block),
        Act::FlagBlock(die, block, flags) => media.die_mut(die).flag_block(block, flags),
        Act::MarkBad(die, block) => media.die_mut(die).mark_bad(block),
        Act::KeepWear(die, block, fill) => media.keep_wear(die, block, &wear_of(fill)),
        Act::Sync => media.sync(),
    };
    done.expect("no fault of the host");
}

/// Something that may be done to a drive that looks so.
pub(crate) fn draw_act(draw: &mut Draw, seen: &[Vec<Seen>]) -> Act {
    loop {
        let die = draw.below(seen.len() as u64) as u32;
        let block = draw.below(u64::from(SHAPE.blocks)) as u32;
        let state = &seen[die as usize][block as usize];
        let good = state.condition == Condition::Good;
        match draw.below(20) {
            0..=12 if good && state.cursor < SHAPE.pages => return Act::Program(die, Place { block, page: state.cursor }, draw.next_u64()),
            13 | 14 if state.cursor > 0 && state.condition != Condition::Torn => {
                let page = draw.below(u64::from(state.cursor)) as u32;
                let (place, flags) = (Place { block, page }, 1 << draw.below(4));
                return if draw.below(4) == 0 { Act::WipePage(die, place, flags) } else { Act::FlagPage(die, place, flags) };
            }
            15 | 16 => return Act::Erase(die, block),
            17 if draw.below(2) == 0 => return Act::KeepWear(die, block, draw.next_u64()),
            17 => return Act::FlagBlock(die, block, 1 << draw.below(32)),
            18 if draw.below(8) == 0 => return Act::MarkBad(die, block),
            19 => return Act::Sync,
            _ => {}
        }
    }
}
