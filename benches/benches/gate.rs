//! `cargo bench -- gate`: instructions of a request of the rows that no change may make dearer unnoticed.
//!
//! It runs `wordline` from `WORDLINE`, or else from `target/release` (`cargo build --release`), under valgrind. `WORDLINE_BEFORE` names another build, which is
//! measured beside this one.

use std::path::{Path, PathBuf};

use wordline_benches::gate::ROWS;

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if wordline_benches::asks_for_help() || !words.iter().any(|word| word == "gate") {
        println!("Usage: cargo bench --bench gate -- gate [ROW…]\n");
        println!("Instructions of a request under valgrind, of the rows whose names contain one of the words (a minute for each):\n");
        ROWS.iter().for_each(|row| println!("  {}", row.name));
        println!("\nWORDLINE is the program, WORDLINE_BEFORE another one beside it.");
        return Ok(());
    }
    let wanted: Vec<&String> = words.iter().filter(|word| !word.starts_with("--") && *word != "gate").collect();
    let program = std::env::var_os("WORDLINE")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/release/wordline"), PathBuf::from);
    let before = std::env::var_os("WORDLINE_BEFORE").map(PathBuf::from);
    let folder = std::env::temp_dir().join(format!("wordline-gate-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    println!(
        "{:32} {:>10} {:>10} {:>8} {:>12} {:>13}",
        "instructions of a request", "now", "before", "ratio", "last release", "at 2afc158"
    );
    let told = |figure: Option<f64>| figure.map_or("-".to_owned(), |figure| format!("{figure:.0}"));
    for row in ROWS.iter().filter(|row| wanted.is_empty() || wanted.iter().any(|part| row.name.contains(part.as_str()))) {
        let now = row.measure(&program, &folder)?;
        // A build of long ago has fewer techniques, and none of a row's.
        let other =
            before.as_deref().and_then(|before| row.measure(before, &folder).inspect_err(|error| eprintln!("{}: {error}", row.name)).ok());
        let ratio = other.map_or("-".to_owned(), |other| format!("{:.3}", now / other));
        println!(
            "{:32} {now:>10.0} {:>10} {ratio:>8} {:>12} {:>13}",
            row.name,
            told(other),
            told(row.last_release),
            told(row.before_rooms)
        );
    }
    std::fs::remove_dir_all(&folder)
}
