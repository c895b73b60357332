//! The counters of health of a served drive as a person reads them, from what `ctl SOCKET smart` says.

use serde_json::Value;

/// The lines of `wordline ctl SOCKET smart`.
pub(crate) fn lines(smart: &Value) -> Vec<String> {
    let count = |key: &str| smart[key].as_u64().map_or("unknown".to_owned(), |count| count.to_string());
    let since = smart["since_start"].as_array();
    let is_since_start = |key: &str| since.is_some_and(|keys| keys.iter().any(|known| known == key));
    let line =
        |name: &str, key: &str, value: String| format!("{name:<28}{value}{}", if is_since_start(key) { "  (since start)" } else { "" });
    let counted = |name: &str, key: &str| line(name, key, count(key));
    let bytes = |name: &str, key: &str| line(name, key, smart[key].as_u64().map_or("unknown".to_owned(), in_words));
    let percent = |key: &str| smart[key].as_f64().map(|percent| format!("{percent:.1} %"));
    let spares = match smart["spare_blocks"].as_u64() {
        Some(0) => "none: the drive was made without".to_owned(),
        Some(_) | None => format!(
            "{} of {}{}",
            count("spare_blocks_left"),
            count("spare_blocks"),
            percent("spare_percent").map_or(String::new(), |percent| format!(" ({percent})"))
        ),
    };
    let wear = format!("{:.1} in the mean, {} at most", smart["erases_mean"].as_f64().unwrap_or(0.0), count("erases_max"));
    let age = match ["age_least", "age_median", "age_most"].map(|key| smart[key].as_u64()) {
        [Some(least), Some(median), Some(most)] => {
            let percent = |age: u64| age as f64 / 10.0;
            format!("{:.1} % of a life in the median, {:.1} to {:.1} %", percent(median), percent(least), percent(most))
        }
        _ => "unknown: no technique tells it".to_owned(),
    };
    let used = match (percent("endurance_used_percent"), smart["endurance"].as_u64()) {
        (Some(percent), Some(endurance)) => format!("{percent} of {endurance} erases"),
        _ => "unknown: the drive's plan does not limit it".to_owned(),
    };
    vec![
        counted("Media errors", "media_errors"),
        counted("Unreadable units", "unreadable_units"),
        counted("Refused units", "refused_units"),
        counted("Units lost at recovery", "units_lost_at_recovery"),
        counted("Power cycles", "power_cycles"),
        counted("Unsafe shutdowns", "unsafe_shutdowns"),
        line("Spare blocks left", "spare_blocks_left", spares),
        counted("Grown bad blocks", "grown_bad_blocks"),
        counted("Dead dies", "dead_dies"),
        line("Erases of a block", "erases_mean", wear),
        line("Age of a block", "age_median", age),
        line("Endurance used", "endurance_used_percent", used),
        bytes("Data written by the host", "host_written_bytes"),
        bytes("Data read by the host", "host_read_bytes"),
        bytes("Zeroed by trims", "zeroed_by_trims_bytes"),
        counted("Trims that freed nothing", "trims_freed_nothing"),
        bytes("Data written to flash", "flash_written_bytes"),
        line("Write amplification", "waf", smart["waf"].as_f64().map_or("-, nothing was written".to_owned(), |waf| format!("{waf:.3}"))),
        line(
            "Temperature",
            "temperature_c",
            smart["temperature_c"].as_f64().map_or("unknown: the cells have no physics".to_owned(), |t| format!("{t:.0} C")),
        ),
        line("Takes writes", "worn_out", if smart["worn_out"] == true { "no: too few good blocks are left" } else { "yes" }.to_owned()),
    ]
}

/// The line of `wordline top`.
pub(crate) fn line(smart: &Value) -> String {
    let number = |key: &str| smart[key].as_u64().unwrap_or(0);
    let percent = |key: &str| smart[key].as_f64().map_or("-".to_owned(), |percent| format!("{percent:.0}%"));
    format!(
        "media errors {}  unreadable {}  lost {}  unsafe stops {}  spare {}  used {}",
        number("media_errors"),
        number("unreadable_units"),
        number("units_lost_at_recovery"),
        number("unsafe_shutdowns"),
        percent("spare_percent"),
        percent("endurance_used_percent")
    )
}

fn in_words(bytes: u64) -> String {
    let (amount, unit) = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)]
        .into_iter()
        .find(|(_, bits)| bytes >> bits > 0)
        .map_or((bytes as f64, "B"), |(unit, bits)| (bytes as f64 / (1u64 << bits) as f64, unit));
    if unit == "B" { format!("{bytes} B") } else { format!("{amount:.2} {unit} ({bytes} B)") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_known_is_said_and_what_is_counted_since_the_start_too() {
        let smart = json!({
            "media_errors": 3, "spare_blocks": 8, "spare_blocks_left": 6, "spare_percent": 75.0, "erases_mean": 2.25, "erases_max": 7,
            "endurance": null, "host_written_bytes": 3u64 << 30, "since_start": ["media_errors"],
        });
        let text = lines(&smart).join("\n");
        for part in [
            "Media errors                3  (since start)",
            "Spare blocks left           6 of 8 (75.0 %)",
            "2.2 in the mean, 7 at most",
            "Age of a block              unknown: no technique tells it",
            "Endurance used              unknown: the drive's plan does not limit it",
            "3.00 GiB (3221225472 B)",
            "Power cycles                unknown",
        ] {
            assert!(text.contains(part), "{part}:\n{text}");
        }
        assert_eq!(line(&smart), "media errors 3  unreadable 0  lost 0  unsafe stops 0  spare 75%  used -");
        assert_eq!(in_words(1023), "1023 B");
        let without = lines(&json!({ "spare_blocks": 0, "spare_blocks_left": 0, "spare_percent": null })).join("\n");
        assert!(without.contains("Spare blocks left           none: the drive was made without\n"), "{without}");
    }
}
