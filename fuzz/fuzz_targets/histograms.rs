//! Any bytes through the reader of histograms: a whole table that can be digested, or an error, never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wordline_lab::fit::{Digest, Histograms};

fuzz_target!(|input: &[u8]| {
    // The header is what a random search would not find.
    let mut bytes = b"model,WL,Retention,PEC,step,freq\n".to_vec();
    bytes.extend(input);
    for bytes in [input, bytes.as_slice()] {
        let Ok(histograms) = Histograms::read(bytes, "input") else { continue };
        assert_eq!(
            histograms.len(),
            histograms.pe.len() * histograms.retentions.len() * histograms.wordlines.len() * histograms.states,
            "a table with holes was let through"
        );
        let Some(digest) = Digest::of(&histograms, 1) else { continue };
        for condition in &digest.conditions {
            for state in 0..digest.states {
                assert!(condition.mean_quantiles(state).iter().all(|quantile| quantile.is_finite()));
            }
        }
    }
});
