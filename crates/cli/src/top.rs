//! `wordline top`: a served drive at a glance, again and again.

use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;
use std::time::Instant;

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use serde_json::{Value, json};

use crate::args::TopOptions;
use crate::ctl::Control;
use crate::failure::Failure;

/// Columns that are filled, whatever the terminal has.
const WIDTH: usize = 80;
/// Lines, where nobody knows how many there are.
const HEIGHT: usize = 24;

pub(crate) fn top(options: &TopOptions) -> Result<(), Failure> {
    let mut control = Control::open(&options.socket)?;
    let mut ask = || control.ask(&json!({ "do": "status" }));
    let first = ask()?;
    if options.once || !std::io::stdout().is_terminal() {
        return crate::files::write_or_print("-", frame(&first, None, usize::MAX).join("\n").as_str());
    }
    let keys = Keys::open(options.every);
    let mut before = (Instant::now(), first);
    loop {
        if keys.as_ref().map_or_else(|| nap(options.every), Keys::quits) {
            return Ok(());
        }
        let now = (Instant::now(), ask()?);
        let height = tcgetwinsize(std::io::stdout()).map_or(HEIGHT, |size| usize::from(size.ws_row).max(1));
        let lines = frame(&now.1, Some((&before.1, (now.0 - before.0).as_secs_f64())), height);
        // Home, each line with what was right of it cleared, and what is below.
        let screen =
            format!("\x1b[H{}\x1b[J", lines.iter().map(|line| format!("{line}\x1b[K\r\n")).collect::<String>().trim_end_matches("\r\n"));
        let mut out = std::io::stdout().lock();
        out.write_all(screen.as_bytes())
            .and_then(|()| out.flush())
            .map_err(|error| Failure::File { path: "the terminal".into(), error })?;
        before = now;
    }
}

/// Without a keyboard there is nobody to press `q`.
fn nap(seconds: u64) -> bool {
    std::thread::park_timeout(std::time::Duration::from_secs(seconds));
    false
}

/// The keyboard, letter by letter; as it was, when this is dropped.
struct Keys(Termios);

impl Keys {
    fn open(every: u64) -> Option<Keys> {
        let stdin = std::io::stdin();
        let before = tcgetattr(&stdin).ok()?;
        let mut raw = before.clone();
        raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        // A read ends with a letter, or after so many tenths of a second.
        raw.special_codes[SpecialCodeIndex::VMIN] = 0;
        raw.special_codes[SpecialCodeIndex::VTIME] = u8::try_from(every * 10).unwrap_or(u8::MAX);
        tcsetattr(&stdin, OptionalActions::Now, &raw).ok()?;
        print!("\x1b[2J");
        Some(Keys(before))
    }

    /// Waits; returns whether it is to end.
    fn quits(&self) -> bool {
        let mut letters = [0; 16];
        let count = rustix::io::read(std::io::stdin().as_fd(), &mut letters).unwrap_or(0);
        letters[..count].iter().any(|letter| matches!(letter, b'q' | b'Q'))
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        // The terminal may be gone.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.0);
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(0.0)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or("?").to_owned()
}

/// One view, of no more than `height` lines of [`WIDTH`] columns. `before`: the status so many seconds ago, for rates of the present.
fn frame(status: &Value, before: Option<(&Value, f64)>, height: usize) -> Vec<String> {
    let (live, drive) = (&status["live"], &status["drive"]);
    let mut lines = Vec::new();
    lines.push(head(status));
    let (then, seconds, since) = match before {
        Some((before, seconds)) => (before, seconds, "now"),
        None => (&Value::Null, number(&live["wall_seconds"]), "mean"),
    };
    let rate = |key: &str| (number(&drive["host"][key]) - number(&then["drive"]["host"][key])) / seconds.max(1e-9);
    lines.push(format!(
        "{since:<5} reads/s {:>9.0}  writes/s {:>9.0}  trims/s {:>7.0}  flushes/s {:>6.0}",
        rate("reads"),
        rate("writes"),
        rate("trims"),
        rate("flushes")
    ));
    lines.push(format!(
        "      MiB/s in {:>8.1}  out {:>8.1}  outstanding {:>4}  failed {}",
        rate("write_bytes") / f64::from(1 << 20),
        rate("read_bytes") / f64::from(1 << 20),
        number(&live["outstanding"]),
        number(&drive["host"]["failed"])
    ));
    lines.push("latency us, in the drive's time    mean      p50      p99    p99.9      max".to_owned());
    lines.extend(latencies(drive));
    lines.push(amplification(&drive["waf"]));
    lines.push(format!(
        "erases {}  of a block {} to {}, mean {:.1}  free groups {}  bad {}",
        number(&drive["erases"]),
        number(&drive["blocks"]["erases_min"]),
        number(&drive["blocks"]["erases_max"]),
        number(&drive["blocks"]["erases_mean"]),
        number(&live["free_groups"]),
        number(&drive["blocks"]["bad"])
    ));
    lines.push(crate::smart::line(&status["smart"]));
    lines.push(losses(status));
    let late = &live["lateness"];
    lines.push(format!(
        "late by {:.1} us in the mean, {:.1} us at most  events {}",
        number(&late["mean_us"]),
        number(&late["max_us"]),
        live["events"]
    ));
    lines.push("die  busy  blocks: . free, 0 to 9 full of valid data, * being written, x bad".to_owned());
    let (busy, maps) = (live["die_utilisation"].as_array(), live["map"].as_array());
    let dies = maps.into_iter().flatten().enumerate().map(|(die, map)| {
        let busy = busy.and_then(|busy| busy.get(die)).map_or(0.0, number);
        format!("{die:>3} {:>4.0}%  {}", busy * 100.0, map.as_str().unwrap_or(""))
    });
    lines.extend(dies);
    if lines.len() > height {
        let hidden = lines.len() - (height - 1);
        lines.truncate(height - 1);
        lines.push(format!("… and {hidden} more"));
    }
    lines.iter().map(|line| line.chars().take(WIDTH).collect()).collect()
}

/// The line of what the drive is, and how it is.
fn head(status: &Value) -> String {
    let (live, drive) = (&status["live"], &status["drive"]);
    let state = if live["worn_out"] == true {
        "WORN OUT, reads only".to_owned()
    } else if let Some(trouble) = live["media"]["trouble"].as_str() {
        format!("TROUBLE: {trouble}")
    } else {
        format!("survives: {}", text(&live["media"]["survives"]))
    };
    format!("{}  {:.1} GiB  timing {}  {state}", text(&drive["name"]), number(&live["size"]) / f64::from(1 << 30), text(&live["timing"]))
}

/// A line for each kind of request that was answered.
fn latencies(drive: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for op in ["read", "write", "flush"] {
        let latency = &drive["latency_us"][op];
        if latency.is_object() {
            let at = |key: &str| number(&latency[key]);
            lines.push(format!(
                "  {op:<29} {:>8.1} {:>8.1} {:>8.1} {:>8.1} {:>8.1}",
                at("mean"),
                at("p50"),
                at("p99"),
                at("p999"),
                at("max")
            ));
        }
    }
    lines
}

/// The line of the write amplification and its causes.
fn amplification(waf: &Value) -> String {
    let part = |key: &str| number(&waf[key]);
    let total = waf["total"].as_f64().map_or("-".to_owned(), |total| format!("{total:.3}"));
    format!(
        "WAF {total} = host {:.3} + gc {:.3} + fill {:.3} + wear {:.3} + recovery {:.3} + padding {:.3} + rest {:.3}",
        part("host"),
        part("gc"),
        part("fill"),
        part("wear"),
        part("recovery"),
        part("padding"),
        part("disturb") + part("retire") + part("sanitise") + part("refresh")
    )
}

/// The line of failed dies, lost data, and how full the cores are.
fn losses(status: &Value) -> String {
    let live = &status["live"];
    let listed = |value: &Value, letter: fn(&Value) -> String| {
        let all: Vec<String> = value.as_array().into_iter().flatten().map(letter).collect();
        if all.is_empty() { "none".to_owned() } else { all.join(" ") }
    };
    format!(
        "failed dies {}  lost MiB {:.1}  refused {}  cores full {}",
        listed(&live["dead_dies"], Value::to_string),
        live["lost_bytes"].as_f64().unwrap_or(0.0) / f64::from(1 << 20),
        status["smart"]["refused_units"].as_u64().unwrap_or(0),
        listed(&live["core_utilisation"], |share| format!("{:.0}%", share.as_f64().unwrap_or(0.0) * 100.0))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_fits_eighty_columns_and_the_lines_there_are() {
        let status = json!({
            "live": { "size": 1u64 << 40, "timing": "real", "outstanding": 1_000_000, "media": { "survives": "process" }, "events": u64::MAX,
                "die_utilisation": vec![0.5; 64], "map": vec!["0123456789".repeat(6); 64], "wall_seconds": 3.0, "dead_dies": [1] },
            "drive": { "name": "a-drive-with-a-long-name-of-more-than-forty-letters", "host": { "reads": u64::MAX, "writes": 7 },
                "latency_us": { "read": { "mean": 1e12, "p50": 1.0, "p99": 2.0, "p999": 3.0, "max": 1e15 } }, "waf": { "total": 1.5 } },
        });
        for height in [1, 5, 24, 200] {
            let lines = frame(&status, None, height);
            assert!(lines.len() <= height && lines.iter().all(|line| line.chars().count() <= WIDTH), "{lines:#?}");
        }
        assert!(frame(&status, None, 200).len() > 64);
        assert!(frame(&json!({}), None, 24).len() > 5, "whatever is missing is not known");
    }

    #[test]
    fn failed_dies_and_what_is_lost_with_them_are_in_the_view() {
        let status = json!({
            "live": { "dead_dies": [3, 17], "lost_bytes": 3u64 << 19, "core_utilisation": [0.874, 0.912] },
            "smart": { "refused_units": 12 },
        });
        let lines = frame(&status, None, 24);
        let told = "failed dies 3 17  lost MiB 1.5  refused 12  cores full 87% 91%";
        assert!(lines.iter().any(|line| line == told), "{lines:#?}");
        assert_eq!(losses(&json!({})), "failed dies none  lost MiB 0.0  refused 0  cores full none");
    }

    #[test]
    fn rates_are_those_between_two_views() {
        let at = |writes: u64| json!({ "drive": { "host": { "writes": writes } } });
        let lines = frame(&at(300), Some((&at(100), 2.0)), 24);
        assert!(lines[1].contains("writes/s       100"), "{}", lines[1]);
    }
}
