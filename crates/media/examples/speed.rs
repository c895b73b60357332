//! What media files cost on this machine: programming, reading, erasing, and opening again.
//! `cargo run --release -p wordline-media --example speed -- FOLDER BLOCKS`, with a folder that does not hold a drive yet.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use wordline_media::{Durability, Identity, Media, MediaError, PageBuffer, PageState, Place, Shape};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, blocks] = &arguments[..] else {
        eprintln!("usage: speed FOLDER BLOCKS");
        return ExitCode::from(2);
    };
    let Some(blocks) = blocks.parse::<u32>().ok().filter(|blocks| (1..=1 << 20).contains(blocks)) else {
        eprintln!("`{blocks}`: expected a number of blocks of 12 MiB, from 1");
        return ExitCode::from(2);
    };
    match measure(Path::new(folder), blocks) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Prints how often per second.
fn rate(what: &str, count: u32, since: Instant) {
    let took = since.elapsed().as_secs_f64();
    println!("{what:<24}{:>10.0} per second, {:>8.2} us each", f64::from(count) / took, took * 1e6 / f64::from(count));
}

fn measure(folder: &Path, blocks: u32) -> Result<(), MediaError> {
    let shape = Shape { planes: 1, blocks, pages: 768, page_bytes: 16 << 10, spare_bytes: 1 << 10 };
    let identity = Identity { drive: 1, die: 0, dies: 1, chip: "speed".to_owned(), shape };
    let mut media = Media::create(folder, &identity, Durability::Process)?;
    let mut page = PageBuffer::new(&shape);
    page.data_mut().iter_mut().enumerate().for_each(|(at, byte)| *byte = (at * 7) as u8);
    let pages = blocks * shape.pages;
    let places = || (0..blocks).flat_map(|block| (0..shape.pages).map(move |page| Place { block, page }));

    let start = Instant::now();
    places().try_for_each(|place| media.die_mut(0).program_page(place, &mut page))?;
    rate("pages programmed", pages, start);

    let start = Instant::now();
    let mut whole = 0;
    // A stride that visits every page, far from the one before.
    for at in 0..pages {
        let at = (u64::from(at) * 7919 % u64::from(pages)) as u32;
        let place = Place { block: at / shape.pages, page: at % shape.pages };
        whole += u32::from(media.die(0).read_page(place, &mut page)?.0 == PageState::Written);
    }
    rate("pages read at random", pages, start);
    println!("{whole} of {pages} whole");

    drop(media);
    let start = Instant::now();
    let mut media = Media::open(folder, Some(&identity), Durability::Process)?;
    let gib = f64::from(pages) * f64::from(shape.page_bytes) / f64::from(1 << 30);
    println!("opened {gib:.1} GiB in {:.1} ms", start.elapsed().as_secs_f64() * 1e3);

    let start = Instant::now();
    (0..blocks).try_for_each(|block| media.erase_block(0, block))?;
    rate("blocks erased", blocks, start);
    Ok(())
}
