//! The share of usable spare: a size does not change it, and every answer says it.

use serde_json::Value;
use wordline_block::Op;

use crate::served::{Disk, Server};
use crate::{Scratch, wordline};

fn json(scratch: &Scratch, arguments: &[&str]) -> Value {
    let output = wordline(&scratch.0, &[arguments, &["--quiet", "--json", "-"]].concat());
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn text(scratch: &Scratch, arguments: &[&str]) -> String {
    let output = wordline(&scratch.0, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_size_keeps_the_usable_spare_of_the_share_that_was_asked_for() {
    let scratch = Scratch::new("spare");
    let mut plans = Vec::new();
    for (drive, share) in [("pageftl", 0.05), ("pageftl", 0.07), ("pageftl", 0.14), ("pageftl", 0.20), ("mqsim-b", 0.12)] {
        let set = format!("mapping.over_provisioning={:.0} %", share * 100.0);
        let run = json(&scratch, &["run", drive, "--size", "2GiB", "--set", &set, "--workload", "uniform-write", "--requests", "100"]);
        let result = &run["drives"][0];
        let capacity = &result["capacity"];
        assert_eq!(capacity["exported_bytes"].as_u64(), Some(2 << 30));
        let [nominal, usable] = ["spare_nominal", "spare_usable"].map(|name| capacity[name].as_f64().expect("a share"));
        let own = text(&scratch, &["describe", drive, "--set", &set]);
        let own = own.lines().find_map(|line| line.strip_prefix("# spare, usable")?.trim().split(' ').next()?.parse::<f64>().ok());
        let own = own.expect("a share") / 100.0;
        assert!((usable - own).abs() < 0.0051, "{drive} {share}: {own} became {usable}");
        assert!(usable < nominal && nominal > share, "{usable} of {nominal}");
        assert!(result["notes"][0].as_str().is_some_and(|note| note.contains("h-layers instead of 48")), "{result:#}");
        plans.push(result["plan_hash"].to_string());
    }
    let count = plans.len();
    plans.sort();
    plans.dedup();
    assert_eq!(plans.len(), count, "shares that differ make drives that differ");
}

#[test]
fn drives_that_are_compared_have_the_same_flash_or_it_is_told() {
    let scratch = Scratch::new("raw");
    let idle = "inherit = \"pageftl\"\n[techniques.idle-reclaim]\non = { value = true, source = \"x\" }\n\
                after = { value = \"1 ms\", source = \"x\" }\nuntil_free = { value = 20, source = \"x\" }\n";
    std::fs::write(scratch.0.join("idle.toml"), idle).expect("a file");
    let more = ["--size", "2GiB", "--workload", "uniform-write", "--requests", "3000", "--seeds", "1", "--physics", "off"];
    let alike = json(&scratch, &[&["compare", "--drives", "pageftl,idle.toml"], &more[..]].concat());
    let [plain, idle] = [0, 1].map(|index| &alike["drives"][index]);
    assert_eq!(plain["capacity"], idle["capacity"]);
    // Nothing is ever idle here, so that the two do the same.
    assert_eq!(plain["event_log_hash"], idle["event_log_hash"]);
    assert!(alike.get("notes").is_none(), "{:#}", alike["notes"]);
    let told = text(&scratch, &[&["compare", "--drives", "pageftl,mqsim-b", "--quiet", "--html", "page.html"], &more[..8]].concat());
    assert!(told.contains("not the same raw flash: pageftl 2.") && told.contains("mqsim-b 2."), "{told}");
    assert!(told.lines().any(|line| line.starts_with("mqsim-b ") && line.contains("20.99 %")), "{told}");
    let page = std::fs::read_to_string(scratch.0.join("page.html")).expect("a page");
    assert!(page.contains("not the same raw flash") && page.contains("<dt>spare</dt><dd>7.50 %, usable"), "{page}");
}

#[test]
fn a_drive_is_described_as_it_would_run() {
    let scratch = Scratch::new("described");
    let own = text(&scratch, &["describe", "pageftl"]);
    assert!(own.contains("# spare, nominal      7.00 %") && own.contains("# spare, usable       5.90 %"), "{own}");
    let other = text(&scratch, &["describe", "pageftl", "--size", "8GiB", "--age", "2k+1mo"]);
    let facts = [
        "# exported            8 GiB",
        "# spare, nominal      8.46 % (7.00 % at the drive's own 27.987 GiB)",
        "# spare, usable       5.45 % (5.90 % at the drive's own 27.987 GiB): of",
        "# note ",
        "cycles",
    ];
    assert!(facts.iter().all(|fact| other.contains(fact)), "{other}");
    let number = |text: &str| text.lines().next().and_then(|line| line.rsplit(' ').next()).map(str::to_owned);
    let run = json(&scratch, &["run", "pageftl", "--size", "8GiB", "--age", "2k+1mo", "--requests", "10"]);
    assert_eq!(run["drives"][0]["plan_hash"].as_str(), number(&other).as_deref());
}

#[test]
fn media_that_were_made_with_other_blocks_come_back_with_the_same_command() {
    let scratch = Scratch::new("kept");
    // As a size of 256 MiB was once made: as few whole blocks as the firmware needs.
    let before = ["--set", "geometry.blocks=11", "--set", "flash.dies_per_channel=4", "--set", "mapping.capacity=256 MiB"];
    let old = Server::with(&scratch, &[&["serve", "pageftl", "--socket", "s", "--media", "media"], &before[..]].concat());
    let data = vec![7; 16_384];
    Disk::open(&scratch.0.join("s")).call(&Op::Write { offset: 1 << 20, data: data.clone(), fua: true });
    drop(old);
    let again = Server::of(&scratch, "pageftl", "t", &["--media", "media"]);
    assert_eq!(Disk::open(&scratch.0.join("t")).call(&Op::Read { offset: 1 << 20, length: 16_384 }), data);
    drop(again);
    // Another drive of that size is not the one.
    let other = wordline(&scratch.0, &["serve", "pageftl-4k", "--size", "256MiB", "--socket", "u", "--media", "media"]);
    assert_eq!(other.status.code(), Some(2), "{}", String::from_utf8_lossy(&other.stderr));
}
