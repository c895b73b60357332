//! Does every drive still do what it did, event for event?
//!
//! Does not check: whether what it does is right.

use wordline_proving::hashes::{differences, table};

const WRITTEN: &str = include_str!("hashes.txt");

#[test]
fn is_every_event_log_the_one_that_was_written_down() {
    let changed = differences(WRITTEN, &table());
    assert!(
        changed.is_empty(),
        "{} rows have changed; if they should, list them with the reason in the commit and write them anew with \
         `cargo run --release -p wordline-proving --example hashes > crates/proving/tests/suite/hashes.txt`:\n{}",
        changed.len(),
        changed.join("\n")
    );
}
