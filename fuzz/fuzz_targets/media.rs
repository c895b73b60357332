//! A media file with any bytes written into it: an error or a die that can be read, programmed and erased, never a panic.
//!
//! The input is a row of patches: two bytes of offset (in units of 8), one of length, then so many bytes. The header's checksum is put right at the end, so
//! that absurd headers get past it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wordline_media::{Backing, Condition, Die, Identity, Memory, PageBuffer, Place, Shape};

fuzz_target!(|input: &[u8]| {
    let shape = Shape { planes: 2, blocks: 4, pages: 3, page_bytes: 600, spare_bytes: 16 };
    let identity = Identity { drive: 7, die: 0, dies: 1, chip: "chip".to_owned(), shape };
    let mut die = Die::create(Memory::new(), "die", &identity).expect("sound");
    let mut page = PageBuffer::new(&shape);
    for number in 0..2 {
        page.data_mut().fill(number as u8 + 1);
        die.program_page(Place { block: 1, page: number }, &mut page).expect("memory");
    }
    die.erase_block(2).expect("memory");
    let mut file = die.backing().clone();
    let mut rest = input;
    while let [low, high, length, more @ ..] = rest {
        let at = u64::from(u16::from_le_bytes([*low, *high])) * 8 % file.length().expect("memory");
        let (bytes, after) = more.split_at(usize::from(*length).min(more.len()));
        file.write(at, bytes).expect("memory");
        rest = after;
    }
    let mut header = vec![0; 4092];
    file.read(0, &mut header).expect("memory");
    file.write(4092, &crc32fast::hash(&header).to_le_bytes()).expect("memory");
    let Ok(mut die) = Die::open(file, "die", None) else { return };
    let shape = *die.shape();
    let mut page = PageBuffer::new(&shape);
    for block in 0..shape.blocks.min(8) {
        for number in 0..shape.pages.min(8) {
            die.read_page(Place { block, page: number }, &mut page).expect("memory");
        }
        let state = die.block(block);
        if state.condition == Condition::Good && state.cursor < shape.pages {
            die.program_page(Place { block, page: state.cursor }, &mut page).expect("memory");
        }
        die.erase_block(block).expect("memory");
    }
});
