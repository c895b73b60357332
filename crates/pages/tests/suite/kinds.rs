//! Figures that only some drives have, at the terminal.

use wordline_figures::DriveResult;
use wordline_figures::result::{Sanitised, WordlineResult, Wordlines};
use wordline_pages::text;

use crate::fabricated::Toy;

fn plain() -> DriveResult {
    Toy { requests: 100, mix: (0, 0), ..Toy::default() }.conclude().0
}

#[test]
fn sanitising_is_told_by_its_kind_and_only_where_there_is_any() {
    let mut result = plain();
    assert!(!text::run(&result).contains("sanitise"));
    (result.waf.sanitise, result.waf.keys) = (Some(0.5), Some(0.3));
    result.sanitised = Some(Sanitised { page_locks: 3, block_locks: 2, scrubs: 1, reprograms: 0 });
    let text = text::run(&result);
    assert!(text.contains("3 page locks, 2 block locks, 1 scrub") && !text.contains("reprogrammed"), "{text}");
    assert!(text.contains("sanitise 0.5 + keys 0.3"), "{text}");
}

#[test]
fn programs_are_told_by_their_place_in_the_h_layer() {
    let mut result = plain();
    assert!(!text::run(&result).contains("leaders"));
    let of = |host_programs, programs, us| WordlineResult { host_programs, programs, program_us: Some(us) };
    result.wordlines = Some(Wordlines { leaders: of(2, 3, 0.11), followers: of(3, 4, 0.07) });
    result.programmed_again = 3;
    let text = text::run(&result);
    assert!(text.contains("leaders 40 % of the host's (t_PROG 0.11 us), followers 60 % (t_PROG 0.07 us), 3 programmed again"), "{text}");
}
