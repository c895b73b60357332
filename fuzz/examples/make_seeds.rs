//! Makes the folders in `fuzz/seeds`: small inputs from which each target's search begins. `cargo run --example make_seeds`, in `fuzz/`.
//!
//! The seeds are in the repository, so this is for when a protocol, a format or a sample has changed. What a search has found is kept as a test, not here.
//!
//! ```text
//! cargo +nightly fuzz run nbd corpus/nbd seeds/nbd -- -dict=dictionaries/nbd.dict -max_total_time=3600
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use wordline_block::{Op, ZeroHow};
use wordline_nbd::client::{put_op, put_option};

fn main() -> io::Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.join("..");
    let put = |target: &str, name: &str, bytes: &[u8]| {
        let folder = here.join("seeds").join(target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(name), bytes)
    };
    for (name, bytes) in sessions() {
        put("nbd", &name, &bytes)?;
    }
    for (name, bytes) in patches() {
        put("media", &name, &bytes)?;
    }
    for path in files(&root.join("crates/workload/samples"), "trace")? {
        // A first byte of zero leaves the format to recognition.
        let bytes = [&[0][..], &fs::read(&path)?[..]].concat();
        put("trace", &stem(&path), &bytes[..bytes.len().min(1500)])?;
    }
    for path in files(&root.join("studies/workloads"), "toml")? {
        put("workload_spec", &stem(&path), &fs::read(&path)?)?;
    }
    for path in files(&root.join("drives"), "toml")?.into_iter().chain(files(&root.join("crates/plan/tests/mistakes"), "toml")?) {
        let bytes = fs::read(&path)?;
        if bytes.len() < 2000 {
            put("plan", &stem(&path), &bytes)?;
        }
    }
    put("faults", "die", b"[[fault]]\nat = \"2 s\"\ndie = 17\n")?;
    put("faults", "silent", b"[[fault]]\nat = \"10 ms\"\ndie = 0\nkind = \"silent\"\n")?;
    put(
        "faults",
        "parts",
        b"[[fault]]\nat = \"1 s\"\ndie = 3\nplane = 1\n[[fault]]\nat = \"1 s\"\ndie = 3\nblocks = \"4..7\"\nkind = \"failing\"\n",
    )?;
    put("histograms", "one", b"0,0,0,0,0,10\n0,0,0,0,1,20\n0,0,0,0,2,5\n")?;
    put("histograms", "two-conditions", b"A,0,0,0,0,10\nA,0,0,0,1,20\nA,0,0,1000,0,10\nA,0,0,1000,1,7\n")?;
    put("histograms", "whole", b"model,WL,Retention,PEC,step,freq\nA,0,0,0,0,10\nA,1,0,0,0,10\nA,0,1,0,0,9\nA,1,1,0,0,9\n")
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn files(folder: &Path, extension: &str) -> io::Result<Vec<PathBuf>> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
    found.retain(|path| path.extension().is_some_and(|found| found == extension));
    found.sort();
    Ok(found)
}

/// Streams of clients. The first byte says where the target begins, as its own head explains: odd is behind the negotiation, and 16 reads answers.
fn sessions() -> Vec<(String, Vec<u8>)> {
    let how = ZeroHow { may_punch: true, must_be_fast: false };
    let ops = [
        ("read", Op::Read { offset: 4096, length: 8192 }),
        ("write", Op::Write { offset: 512, data: vec![7; 700], fua: true }),
        ("flush", Op::Flush),
        ("trim", Op::Trim { offset: 0, length: 65_536, fua: true }),
        ("zeroes", Op::WriteZeroes { offset: 100, length: 5000, how, fua: false }),
        ("cache", Op::Cache { offset: 0, length: 4096 }),
        ("status", Op::BlockStatus { offset: 0, length: 1 << 20, one: true }),
    ];
    let mut seeds = Vec::new();
    // Structured replies, and extended headers.
    for (dialect, choice) in [("structured", 1 | 2 | 16), ("extended", 1 | 16)] {
        let mut all = vec![choice];
        for (cookie, (name, op)) in ops.iter().enumerate() {
            let mut one = vec![choice];
            put_op(&mut one, dialect == "extended", cookie as u64, op);
            put_op(&mut all, dialect == "extended", cookie as u64, op);
            seeds.push((format!("{dialect}-{name}"), one));
        }
        seeds.push((format!("{dialect}-all"), all));
    }
    let mut talk = [&[16][..], &3u32.to_be_bytes()].concat();
    put_option(&mut talk, 3, &[]);
    put_option(&mut talk, 5, &[]);
    put_option(&mut talk, 8, &[]);
    put_option(&mut talk, 9, b"\0\0\0\x04disk\0\0\0\x00");
    put_option(&mut talk, 10, b"\0\0\0\x04disk\0\0\0\x01\0\0\0\x0fbase:allocation");
    put_option(&mut talk, 6, b"\0\0\0\x09disk@high\0\x02\0\x01\0\x03");
    put_option(&mut talk, 7, b"\0\0\0\x04disk\0\0");
    put_op(&mut talk, false, 1, &ops[0].1);
    seeds.push(("negotiation".to_owned(), talk));
    let mut old = [&[16][..], &0u32.to_be_bytes()].concat();
    put_option(&mut old, 77, b"anything");
    put_option(&mut old, 1, b"disk");
    put_op(&mut old, false, 1, &ops[1].1);
    seeds.push(("export-name".to_owned(), old));
    let mut over = [&[0][..], &3u32.to_be_bytes()].concat();
    put_option(&mut over, 2, &[]);
    seeds.push(("abort".to_owned(), over));
    seeds
}

/// Rows of patches of a media file: two bytes of offset in units of 8, one of length, and the bytes.
fn patches() -> Vec<(String, Vec<u8>)> {
    let patch = |at: u16, bytes: &[u8]| [&at.to_le_bytes()[..], &[bytes.len() as u8], bytes].concat();
    let mut seeds = vec![("none".to_owned(), Vec::new())];
    // The header in steps of eight bytes: its numbers, large and small.
    for field in 0..12 {
        seeds.push((format!("header-{field:02}-ones"), patch(field, &[0xFF; 8])));
        seeds.push((format!("header-{field:02}-zero"), patch(field, &[0; 8])));
    }
    // Behind it: the records of blocks, and the pages.
    for at in [512, 514, 520, 600, 1024, 1100] {
        seeds.push((format!("behind-{at}"), patch(at, &[0x5A; 16])));
    }
    seeds.push(("several".to_owned(), [patch(512, &[1; 4]), patch(700, &[0xFF; 40]), patch(3, &[2])].concat()));
    seeds
}
