//! What comes back from the chips of drives, simulated and served: nothing of secured files under a sanitiser, years later too; stale versions under a
//! plain drive.

use std::os::unix::fs::MetadataExt;

use serde_json::Value;
use wordline_block::Op;

use crate::served::{Disk, Server};
use crate::{Scratch, wordline};

/// Run a mail server on `drive` and save it.
fn run(scratch: &Scratch, drive: &str, length: &str, more: &[&str]) -> String {
    let image = format!("{drive}-{}.img", more.join("").replace(|letter: char| !letter.is_alphanumeric(), ""));
    let arguments = ["run", drive, "--size", "256MiB", "--workload", "mailserver", "--fill", "50%", "--vertrace", "--quiet"];
    let arguments = [&arguments, &["--length", length, "--save", &image][..], more].concat();
    let output = wordline(&scratch.0, &arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    image
}

fn forensics(scratch: &Scratch, target: &str, more: &[&str]) -> Value {
    let arguments = [&["forensics", target, "--json", "-"], more].concat();
    let output = wordline(&scratch.0, &arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn refused(scratch: &Scratch, arguments: &[&str], words: &[&str]) {
    let output = wordline(&scratch.0, arguments);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
    assert!(words.iter().all(|word| told.contains(word)), "{arguments:?}: {told}");
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no count"))
}

/// Files with something stale, of which `wanted` holds.
fn files_with_stale(result: &Value, wanted: impl Fn(&Value) -> bool) -> usize {
    let files = result["files"].as_array().expect("whose the data is was saved");
    files.iter().filter(|file| number(&file["stale_units"]) > 0 && wanted(file)).count()
}

const YEARS: &[&str] = &["--after", "5y", "--raw-chips"];

#[test]
fn five_years_later_nothing_of_a_secured_file_comes_back_under_any_sanitiser() {
    let scratch = Scratch::new("forensics-secured");
    for (drive, length) in [("secssd", "60%"), ("secssd-nobLock", "60%"), ("scrssd", "60%"), ("osrssd", "60%"), ("erssd", "4%")] {
        let image = run(&scratch, drive, length, &[]);
        for more in [&[][..], YEARS] {
            let result = forensics(&scratch, &image, more);
            let (pages, units) = (&result["pages"], &result["units"]);
            assert_eq!((number(&units["stale"]), files_with_stale(&result, |_| true)), (0, 0), "{drive} {more:?}: {units}");
            // One-shot reprogramming costs pages beside it, which nobody can correct any more.
            assert!(number(&units["newest"]) > if drive == "osrssd" { 2_000 } else { 5_000 }, "{drive} {more:?}: {units}");
            let zeroes = ["page_lock", "block_lock", "scrub", "reprogram"].map(|how| number(&pages["zeroes"][how]));
            assert_eq!(zeroes.iter().sum::<u64>() > 1_000, drive != "erssd", "{drive}: {pages}");
        }
    }
}

#[test]
fn under_the_plain_drive_stale_versions_come_back_file_by_file() {
    let scratch = Scratch::new("forensics-plain");
    let image = run(&scratch, "paper-evanesco", "60%", &[]);
    let result = forensics(&scratch, &image, YEARS);
    let units = &result["units"];
    let files = result["files"].as_array().expect("files");
    let sum = |of: &str| files.iter().map(|file| number(&file[of])).sum::<u64>();
    assert_eq!(
        (sum("stale_units"), sum("copies"), sum("newest")),
        (number(&units["stale"]), number(&units["copies"]), number(&units["newest"])),
        "every unit is some file's"
    );
    let most = number(&files[0]["stale_versions"]);
    println!(
        "{} files with stale data, {} stale units, at most {most} versions of one",
        files_with_stale(&result, |_| true),
        units["stale"]
    );
    assert!(files_with_stale(&result, |_| true) > 2_000 && most > 2);
    // Each is told with its file, its version and how it was read.
    let stale = result["stale"].as_array().expect("a list");
    assert_eq!(stale.len() as u64, number(&units["stale"]));
    assert!(stale.iter().all(|unit| unit["file"].is_u64() && unit["file_version"].is_u64() && unit["read"]["output"] == "corrected"));
    assert!(stale.iter().any(|unit| number(&unit["read"]["entry"]) > 0), "after five years some need the retry table");
    let text = wordline(&scratch.0, &["forensics", &image, "--rows", "2"]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("stale versions of") && text.contains("more; --rows or --json"), "{text}");
    // Without the book of files it is told by address.
    let run = ["run", "paper-evanesco", "--size", "256MiB", "--workload", "mailserver", "--fill", "50%", "--length", "20%", "--quiet"];
    assert!(wordline(&scratch.0, &[&run[..], &["--save", "no-book.img"]].concat()).status.success());
    let result = forensics(&scratch, "no-book.img", &[]);
    assert!(result["files"].is_null() && number(&result["units"]["stale_addresses"]) > 1_000, "{}", result["units"]);
}

#[test]
fn of_files_that_need_not_be_secret_stale_versions_come_back() {
    let scratch = Scratch::new("forensics-insecure");
    let image = run(&scratch, "secssd", "60%", &["--secure-fraction", "50%"]);
    let result = forensics(&scratch, &image, YEARS);
    let units = &result["units"];
    assert_eq!((units["stale"].clone(), number(&units["stale_addresses"])), (units["stale_insecure"].clone(), 0), "{units}");
    assert!(number(&units["stale"]) > 500 && files_with_stale(&result, |file| file["is_secure"] == true) == 0, "{units}");
}

#[test]
fn flags_at_the_weak_setting_let_go_in_five_years_and_files_come_back() {
    let scratch = Scratch::new("forensics-weak");
    let weak = ["--set", "physics.flag.voltage=1", "--set", "timing.t_lock_page=200 us"];
    let image = run(&scratch, "secssd-nobLock", "60%", &weak);
    assert_eq!(forensics(&scratch, &image, &[])["units"]["stale"], 0);
    let result = forensics(&scratch, &image, YEARS);
    let (held, back) = (number(&result["pages"]["zeroes"]["page_lock"]), number(&result["units"]["stale"]));
    println!("(V2, 200 us), five years: {held} locks hold, {back} pages are back");
    assert!(held > 500 && back > 500);
    let files = result["files"].as_array().expect("files");
    assert_eq!(files.iter().map(|file| number(&file["stale_units"])).sum::<u64>(), back, "every page is some file's");
}

/// Lines that say of which version of which unit they are.
fn secret(unit: u64, version: u64) -> Vec<u8> {
    let line = |number: u64| format!("{:<64}", format!("SECRET {version} of {unit}, line {number}"));
    (0..16_384 / 64).map(line).collect::<String>().into_bytes()
}

#[test]
fn on_media_a_text_is_found_where_it_is_and_nowhere_else() {
    let scratch = Scratch::new("forensics-media");
    for (drive, remains) in [("paper-evanesco", true), ("secssd", false)] {
        let media = format!("media-{drive}");
        let server = Server::of(&scratch, drive, drive, &["--media", &media]);
        let mut disk = Disk::open(&scratch.0.join(drive));
        let write = |disk: &mut Disk, unit: u64, data: Vec<u8>| _ = disk.call(&Op::Write { offset: unit * 16_384, data, fua: true });
        for version in 1..=3 {
            (0..40).for_each(|unit| write(&mut disk, unit, secret(unit, version)));
        }
        disk.call(&Op::Trim { offset: 10 * 16_384, length: 10 * 16_384, fua: true });
        // A text over the border of two units, of which only the second is written anew.
        let (mut first, mut second) = (vec![b'.'; 16_384], vec![b'.'; 16_384]);
        first[16_380..].copy_from_slice(b"OVER");
        second[..6].copy_from_slice(b"BORDER");
        write(&mut disk, 50, first);
        write(&mut disk, 51, second);
        write(&mut disk, 51, vec![b'-'; 16_384]);
        refused(&scratch, &["forensics", &media], &["in use by process"]);
        drop(server);

        // Every write would leave a later time.
        let files = |folder: &str| -> Vec<(i64, i64)> {
            let times = (0..8).map(|die| std::fs::metadata(scratch.0.join(folder).join(format!("die-00{die}.media"))));
            times.map(|file| file.expect("media")).map(|file| (file.mtime(), file.mtime_nsec())).collect()
        };
        let before = files(&media);
        // Of each of 40 units: three versions. The last of 30 is there.
        for version in 1..=3 {
            let result = forensics(&scratch, &media, &["--find", &format!("SECRET {version} of 1"), "--raw-chips"]);
            let find = &result["find"];
            // Units 1 and 10 to 19, of which only unit 1 holds anything.
            let (stale, newest) = if version == 3 { (10, 256) } else { (11, 0) };
            assert_eq!((number(&find["stale_versions"]), number(&find["newest"])), (if remains { stale } else { 0 }, newest), "{drive}");
            let hits = find["hits"].as_array().expect("hits");
            assert_eq!(hits.len() as u64, if remains { stale * 256 } else { 0 } + newest);
            let offsets = hits.iter().map(|hit| number(&hit["offset"]));
            assert!(
                offsets
                    .into_iter()
                    .all(|offset| offset % 64 == 0 && [1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19].contains(&(offset / 16_384)))
            );
        }
        let result = forensics(&scratch, &media, &["--find", "OVERBORDER"]);
        let hits = result["find"]["hits"].as_array().expect("hits");
        assert_eq!(hits.len(), usize::from(remains), "{hits:?}");
        if let [hit] = &hits[..] {
            assert_eq!(
                (hit["state"].as_str(), hit["goes_on"].as_bool(), number(&hit["offset"])),
                (Some("stale"), Some(true), 51 * 16_384 - 4)
            );
        }
        assert!(files(&media) == before, "who looks changes nothing");
        let text = wordline(&scratch.0, &["forensics", &media, "--find", "SECRET 2"]);
        let text = String::from_utf8_lossy(&text.stdout).into_owned();
        assert!(text.contains(if remains { "stale: offset" } else { "Nothing stale was recovered." }), "{text}");
    }
    // The plan beside the media is of this drive.
    let plan = scratch.0.join("media-secssd/plan.toml");
    let text = std::fs::read_to_string(&plan).expect("it is there");
    let other = text.lines().map(|line| if line.starts_with("linger") { "linger = \"2 ms\"" } else { line });
    std::fs::write(&plan, other.collect::<Vec<_>>().join("\n")).expect("writable");
    refused(&scratch, &["forensics", "media-secssd"], &["plan.toml", "the media beside it are of"]);
    std::fs::remove_file(&plan).expect("it is there");
    refused(&scratch, &["forensics", "media-secssd"], &["plan.toml"]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let scratch = Scratch::new("forensics-refused");
    scratch.file("noise", b"no drive");
    scratch.file("old", b"WORDLINE DRIVE 1\n12345678");
    scratch.file("short", b"WORDLINE DRIVE 2\n\xff\xff\xff\xff\xff\xff\xff\x7f");
    std::fs::create_dir(scratch.0.join("empty")).expect("a folder");
    let age = |name: &str, more: &[&str]| {
        let arguments = [&["age", "pageftl", "--size", "256MiB", "--fill", "10%", "--quiet", "--save", name], more].concat();
        assert!(wordline(&scratch.0, &arguments).status.success());
    };
    age("aged", &[]);
    age("plain", &["--physics", "off"]);
    let keys = run(&scratch, "cryptossd", "1%", &[]);
    for (arguments, words) in [
        (&["nowhere"][..], &["nowhere"][..]),
        (&["noise"], &["not a drive that", "--save"]),
        (&["old"], &["another version", "make it again"]),
        (&["short"], &["the file ends in its head"]),
        (&["empty"], &["first die of a drive"]),
        (&["aged", "--find", "x"], &["--find needs bytes"]),
        (&["aged", "--after", "5"], &["--after 5", "unit"]),
        (&["aged", "--after", "0 s"], &["a time above 0"]),
        (&["aged", "--after", "500y"], &["more than a century"]),
        (&["plain", "--after", "5y"], &["no physics"]),
        (&[&keys], &["crypto-erase", "cryptossd", "ciphertext", "secssd"]),
    ] {
        refused(&scratch, &[&["forensics"], arguments].concat(), words);
    }
    refused(&scratch, &["run", "--requests", "5", "--save", "x"], &["--save"]);
    assert_eq!(forensics(&scratch, "aged", &["--after", "1y@40C"])["at_celsius"], 40.0);
}
