//! The hints of a drive in a file beside its media, from one start of its server to the next.
//!
//! ```text
//! wordline hints 1
//! 0 1048576 high,longer          first byte, byte after the last, words of the hints
//! 1048576 2097152 insecure
//! ```
//!
//! The media add a checksum. Hints are advice: a file that cannot be used is no reason not to serve the drive, so it is left out with a warning, and the next
//! hint writes it anew. The file of a drive that is made anew in the same folder is not its own, and goes.

use wordline_block::Hints;
use wordline_block::hints::{LATENCIES, LIFETIMES, PRIORITIES, SECURITIES, word};

use crate::hints::{HintMap, RANGES_MAX};
use crate::keeper::Keeper;

/// Name of the file.
pub(crate) const HINTS: &str = "hints";

/// First line: what it is, and the number of the format.
const HEAD: &str = "wordline hints 1";

/// Words of `hints`.
fn words(hints: &Hints) -> Vec<&'static str> {
    let Hints { priority, security, read_latency, lifetime } = *hints;
    let all = [word(&PRIORITIES, priority), word(&SECURITIES, security), word(&LATENCIES, read_latency), word(&LIFETIMES, lifetime)];
    all.into_iter().flatten().collect()
}

/// The text of `hints`; `None`: there are none.
fn text(hints: &HintMap) -> Option<String> {
    let lines: Vec<String> = hints.all().map(|(from, end, hints)| format!("{from} {end} {}\n", words(&hints).join(","))).collect();
    (!lines.is_empty()).then(|| format!("{HEAD}\n{}", lines.concat()))
}

/// The hints in `text`, of a drive of `size` bytes.
fn parse(text: &str, size: u64) -> Result<HintMap, String> {
    let mut lines = text.lines().zip(1..);
    let head = lines.next().map_or("", |(line, _)| line);
    if head != HEAD {
        return Err(format!("line 1: expected `{HEAD}`, found `{head}`"));
    }
    let mut map = HintMap::default();
    for (line, number) in lines {
        let stretch = || {
            let mut parts = line.split(' ');
            let (from, end) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            let given = parts.next()?;
            let hints = Hints::of_classes(given.split(','));
            (parts.next().is_none() && end <= size && words(&hints).join(",") == given).then_some((from, end, hints))
        };
        let expected = "expected the first byte of a stretch of the drive, the byte after the last, and hints";
        let (from, end, hints) = stretch().ok_or_else(|| format!("line {number}: {expected}, found `{line}`"))?;
        if !map.add_last(from, end, hints) {
            return Err(format!("line {number}: expected {RANGES_MAX} stretches at most in their order, found `{line}`"));
        }
    }
    Ok(map)
}

/// Keeps `hints` for the next start. Returns false if nothing is kept there.
///
/// # Errors
/// The reason, in words.
pub(crate) fn keep(keeper: &dyn Keeper, hints: &HintMap) -> Result<bool, String> {
    keeper.keep_hints(text(hints).as_deref())
}

/// The hints that were kept of a drive of `size` bytes. Where they are of no use, the user gets a warning.
pub(crate) fn kept(keeper: &dyn Keeper, size: u64) -> HintMap {
    let found = keeper.kept_hints().and_then(|text| text.map_or(Ok(HintMap::default()), |text| parse(&text, size).map_err(in_file)));
    found.unwrap_or_else(|why| {
        keeper.say(&format!("warning: {why}: the hints of the last start are left out; give them again"));
        HintMap::default()
    })
}

fn in_file(why: String) -> String {
    format!("the file `{HINTS}` beside the media: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hints::Change;
    use wordline_units::random::{Draw, Stream};

    const SIZE: u64 = 1 << 20;

    #[test]
    fn what_is_written_is_read_again() {
        assert_eq!(text(&HintMap::default()), None);
        let (mut draw, mut map) = (Draw::new(5, Stream::Mix, 3), HintMap::default());
        for _ in 0..300 {
            let from = draw.below(SIZE);
            let end = from + 1 + draw.below(SIZE - from);
            let change = match draw.below(4) {
                0 => Change { priority: Some(Some(PRIORITIES[draw.below(4) as usize].1)), ..Change::default() },
                1 => Change { security: Some(Some(SECURITIES[draw.below(2) as usize].1)), ..Change::default() },
                2 => Change { read_latency: Some(Some(LATENCIES[draw.below(3) as usize].1)), ..Change::default() },
                _ => Change { lifetime: Some(Some(LIFETIMES[draw.below(4) as usize].1)), ..Change::default() },
            };
            assert!(map.set(from, end, &change));
            let text = text(&map).expect("there are some");
            assert_eq!(parse(&text, SIZE).as_ref(), Ok(&map), "{text}");
        }
    }

    #[test]
    fn what_is_no_file_of_hints_of_this_drive_is_refused_with_its_line() {
        let many: String = (0..=RANGES_MAX).map(|at| format!("{at} {} low\n", at + 1)).collect();
        for (text, line) in [
            (String::new(), 1),
            ("wordline hints 2\n".to_owned(), 1),
            (format!("{HEAD}\n0 512 hihg\n"), 2),
            (format!("{HEAD}\n0 512 high\n0 512 low\n"), 3),
            (format!("{HEAD}\n512 512 high\n"), 2),
            (format!("{HEAD}\n0 {} high\n", SIZE + 1), 2),
            (format!("{HEAD}\n0 512 high,low\n"), 2),
            (format!("{HEAD}\n0 512\n"), 2),
            (format!("{HEAD}\n0 512 high more\n"), 2),
            (format!("{HEAD}\n{many}"), RANGES_MAX + 2),
        ] {
            let refused = parse(&text, SIZE).expect_err(&text);
            assert!(refused.starts_with(&format!("line {line}: expected")), "{refused}");
        }
    }
}
