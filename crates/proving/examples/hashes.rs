//! Prints the table that `crates/proving/tests/suite/hashes.txt` holds:
//!
//! ```text
//! cargo run --release -p wordline-proving --example hashes > crates/proving/tests/suite/hashes.txt
//! ```

fn main() {
    wordline_proving::hashes::rows(|row| println!("{row}"));
}
