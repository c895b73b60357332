//! `cargo bench`: one table. `cargo bench -- NAME` measures only the rows whose names contain NAME.

use wordline_benches::floor::Floor;
use wordline_benches::rows::{PEER, ROWS, Row};
use wordline_benches::{against, seconds, structures};

fn main() {
    if wordline_benches::asks_for_help() {
        return help();
    }
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str()));

    let (bare, floor) = floors();
    println!("Processor time of a flash page in two loops without timing, on the blocks, pages and load of the steady rows:");
    println!(
        "bare:  {bare:.1} ns (one update of map, reverse map and valid counts)\nfloor: {floor:.1} ns (the same, and greedy reclaim)\n"
    );
    println!(
        "{:36} {:>10} {:>10} {:>8} {:>7} {:>7} {:>9} {:>9} {:>7} {:>8} {:>8}",
        "row", "requests/s", "flash op/s", "ns/op", "x bare", "x floor", "MQSim r/s", "x MQSim", "op/req", "sim IOPS", "B/page"
    );
    ROWS.iter().filter(|row| is_wanted(row.name)).for_each(|row| print_row(row, bare, floor));
    println!("\nMQSim r/s: {PEER}");
    if is_wanted("watched") {
        let steady = ROWS.iter().find(|row| row.name == "16K random write, steady").expect("the row is there");
        let measured = steady.measure_watched();
        println!(
            "\nsteady row watched by all metrics: {:.0} ns per flash operation, {:.1} x floor",
            measured.nanos_per_operation,
            measured.nanos_per_operation / floor
        );
    }
    print_drives(&is_wanted);
    if is_wanted("calendar") {
        println!("\n{:36} {:>10} {:>10}", "calendar, ns per event", "wheel", "heap");
        for pending in [64, 1_024, 16_384] {
            let (ours, theirs) = structures::calendar(pending);
            println!("{:36} {ours:>10.1} {theirs:>10.1}", format!("{pending} pending"));
        }
    }
    if is_wanted("start") {
        println!("\n{:36} {:>10} {:>12} {:>12}", "start of a filled drive", "seconds", "tables MiB", "RSS MiB");
        for preset in ["mqsim-b", "paper-reparo-4tb", "paper-reparo-32tb"] {
            let (seconds, tables, resident) = structures::start(preset);
            println!("{preset:36} {seconds:>10.2} {:>12.0} {:>12.0}", tables as f64 / 1048576.0, resident as f64 / 1048576.0);
        }
    }
    // Minutes of work, so only by name.
    for preset in ["paper-reparo-4tb", "paper-reparo-32tb"] {
        if wanted.iter().any(|part| format!("filled {preset}").contains(part.as_str())) {
            let (seconds, pages, tables) = structures::fill_page_by_page(preset);
            println!(
                "\nfilled {preset} page by page: {pages} pages in {seconds:.0} s, {:.0} ns a page, tables {:.2} GiB, process {:.2} GiB, {:.2} B per page",
                seconds * 1e9 / pages as f64,
                tables as f64 / f64::from(1 << 30),
                structures::resident() as f64 / f64::from(1 << 30),
                tables as f64 / pages as f64,
            );
        }
    }
}

fn help() {
    println!("Usage: cargo bench --bench table [-- NAME…]\n");
    println!("One table of speed and memory, beside MQSim's. With NAMEs, only the rows whose names contain one of them:\n");
    ROWS.iter().for_each(|row| println!("  {}", row.name));
    against::DRIVES.iter().for_each(|(preset, _)| println!("  bare {preset}"));
    println!("  watched\n  calendar\n  start");
    println!("  filled paper-reparo-4tb, filled paper-reparo-32tb (minutes: only by name)");
}

/// Measures a row and prints it, over a page of the bare loop and of the one with reclaim.
fn print_row(row: &Row, bare: f64, floor: f64) {
    let measured = row.measure();
    let (peer, ratio) = match row.peer {
        Ok(peer) => (format!("{:.0}k", peer / 1e3), format!("{:.1}", measured.requests_per_second / peer)),
        Err(why) => (why.to_owned(), "-".to_owned()),
    };
    println!(
        "{:36} {:>9.0}k {:>9.2}M {:>8.0} {:>7.1} {:>7.1} {:>9} {:>9} {:>7.2} {:>8.0} {:>8.1}",
        row.name,
        measured.requests_per_second / 1e3,
        measured.operations_per_second / 1e6,
        measured.nanos_per_operation,
        measured.nanos_per_operation / bare,
        measured.nanos_per_operation / floor,
        peer,
        ratio,
        measured.operations_per_request,
        measured.simulated_iops,
        measured.bytes_per_page,
    );
}

/// Measures drives and the bare loop in turns, and prints them.
fn print_drives(is_wanted: &dyn Fn(&str) -> bool) {
    let drives: Vec<_> = against::DRIVES.iter().filter(|(preset, _)| is_wanted(&format!("bare {preset}"))).collect();
    if !drives.is_empty() {
        println!(
            "\n{:36} {:>12} {:>9} {:>9} {:>9} {:>9} {:>7} {:>7}",
            "steady writes and bare loop in turns", "flash pages", "bare ns", "median", "ns/op", "median", "x bare", "op/req"
        );
    }
    for (preset, settings) in drives {
        let turns = against::measure(preset, settings);
        println!(
            "{preset:36} {:>12} {:>9.1} {:>9.1} {:>9.0} {:>9.0} {:>7.1} {:>7.2}",
            turns.pages,
            turns.bare[0],
            turns.bare[1],
            turns.drive[0],
            turns.drive[1],
            turns.drive[1] / turns.bare[1],
            turns.operations_per_request,
        );
    }
}

/// Nanoseconds of a page in the bare loop and in the one with reclaim, each the least of five.
fn floors() -> (f64, f64) {
    const PAGES: u64 = 4_000_000;
    let mut tables = Floor::new(3_424, 576, 1_562_001);
    tables.overwrite(3_000_000, 170, 1);
    let least = |mut work: Box<dyn FnMut() -> u64 + '_>| {
        let nanos = (0..5).map(|_| {
            let mut pages = 0;
            let seconds = seconds(|| pages = work());
            seconds * 1e9 / pages as f64
        });
        nanos.fold(f64::INFINITY, f64::min)
    };
    let reclaiming = least(Box::new(|| tables.overwrite(PAGES / 4, 170, 2)));
    let bare = least(Box::new(|| {
        tables.bare(PAGES);
        PAGES
    }));
    (bare, reclaiming)
}
