//! JSON, tables, the page and Parquet as a person or a program would receive them.

use std::collections::BTreeSet;

use bytes::Bytes as Buffer;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, RowAccessor};
use wordline_engine::Observer;
use wordline_figures::result::{ClassReadsResult, HintedReadsResult};
use wordline_figures::{CellResult, DriveDetail, Report, Violation};
use wordline_pages::table::{Format, RATIOS, REQUESTS, RequestLog, intervals, write_intervals, write_ratios, write_runs};
use wordline_pages::{html, json, reference, text};
use wordline_units::Nanos;

use crate::fabricated::Toy;

fn report(toys: &[Toy]) -> (Report, Vec<DriveDetail>) {
    let (results, details) = toys.iter().map(Toy::conclude).unzip();
    (Report::new(results), details)
}

fn two() -> (Report, Vec<DriveDetail>) {
    let small = Toy { requests: 2_000, mix: (50, 5), ..Toy::default() };
    report(&[Toy { name: "one", ..small.clone() }, Toy { name: "two & <three>", moved: 3, ..small }])
}

/// Compares with a file of this directory; `WORDLINE_BLESS=1` writes it instead.
fn golden(name: &str, text: &str) {
    let path = format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("WORDLINE_BLESS").is_some() {
        std::fs::write(&path, text).expect("golden files can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "{name} has changed; look at the difference and run with WORDLINE_BLESS=1 if it is right");
}

#[test]
fn json_is_as_it_was_and_reads_back() {
    let (report, _) = two();
    let written = json(&report);
    golden("report.json", &written);
    let back: Report = serde_json::from_str(&written).expect("what was written can be read");
    assert!(back == report && json(&back) == written, "a report does not read back as it was written");
}

#[test]
fn tables_are_as_they_were_and_fit_a_terminal() {
    let (report, _) = two();
    let run = text::run(&report.drives[0]);
    golden("run.txt", &run);
    let compare = text::compare(&report);
    golden("compare.txt", &compare);
    let seeds: Vec<Toy> = (0..12)
        .map(|n| Toy {
            name: ["a", "b", "a-drive-with-a-rather-long-name", "d", "e", "f"][n % 6],
            seed: n as u64 / 6,
            requests: 1_000,
            ..Toy::default()
        })
        .collect();
    let many = text::compare(&self::report(&seeds).0);
    for line in run.lines().chain(compare.lines()).chain(many.lines()) {
        assert!(line.chars().count() <= 100 && !line.ends_with(' '), "{} columns: {line}", line.chars().count());
    }
}

#[test]
fn reads_over_their_hints_are_told_beside_a_drive_that_has_none() {
    let class = |tolerance: &str, limit_us: Option<f64>, reads, over: Option<u64>| ClassReadsResult {
        tolerance: tolerance.to_owned(),
        limit_us,
        reads,
        over,
        over_share: over.map(|over| over as f64 / reads as f64),
        device_max_us: 3_210.0,
    };
    let classes = vec![class("longer", Some(2_000.0), 12_000, Some(3)), class("none", None, 400, None)];
    let hinted = HintedReadsResult { technique: "hints".to_owned(), in_effect: true, reads: 12_000, over: 3, over_share: 2.5e-4, classes };
    let (mut report, details) = two();
    let section = "Reads by tolerated latency";
    assert!(!html::page(&report, std::slice::from_ref(&details)).contains(section) && !text::compare(&report).contains("over it"));
    report.drives[0].hinted_reads = Some(hinted);
    let report = Report::new(report.drives);
    let page = html::page(&report, std::slice::from_ref(&details));
    for words in
        [section, "<td>longer</td><td>12,000</td><td>2 ms</td><td>3</td><td>0.025 %</td><td>3.21 ms</td>", "reads over their hints"]
    {
        assert!(page.contains(words), "{words}");
    }
    let run = text::run(&report.drives[0]);
    let rows = [
        "  longer             12,000       2,000           3     0.025 %       3,210",
        "  none                  400           -           -           -       3,210",
    ];
    assert!(rows.iter().all(|row| run.contains(row)), "{run}");
    assert!(!text::run(&report.drives[1]).contains("over it"));
    assert!(text::compare(&report).contains(rows[0]), "{}", text::compare(&report));
}

#[test]
fn a_result_says_which_checks_were_not_made_and_why() {
    let (mut report, details) = two();
    let [run, compare, page] = [text::run(&report.drives[1]), text::compare(&report), html::page(&report, std::slice::from_ref(&details))];
    assert!(run.contains("all self-checks passed;") && compare.contains("All self-checks of 2 runs passed."));
    assert!(!page.contains("Not checked") && !json(&report).contains("not_made"));
    report.drives[1].checks.not_made = vec!["tables & flash: the load was cut short".to_owned()];
    let [run, compare, page] = [text::run(&report.drives[1]), text::compare(&report), html::page(&report, std::slice::from_ref(&details))];
    assert!(run.contains("all self-checks that were made passed;"), "{run}");
    assert!(run.contains("NOT CHECKED: tables & flash: the load was cut short."), "{run}");
    assert!(compare.contains("NOT CHECKED in 1 of 2 runs: tables & flash: the load was cut short."), "{compare}");
    assert!(compare.contains("All self-checks that were made of 2 runs passed."), "{compare}");
    assert!(page.contains("✓ Every self-check of all 2 runs that was made passed"));
    assert!(page.contains("<p>Not checked in 1 of 2 runs: tables &amp; flash: the load was cut short.</p>"));
    elements(&page);
    let back: Report = serde_json::from_str(&json(&report)).expect("what was written can be read");
    assert_eq!(back.drives[1].checks.not_made, report.drives[1].checks.not_made);
    // Checks that fail leave the others unmade all the same.
    report.drives[0].checks.violations =
        vec![Violation { account: wordline_figures::Account::LittlesLaw, count: 1, first_ns: 5, message: "x".to_owned() }];
    let [compare, page] = [text::compare(&report), html::page(&report, std::slice::from_ref(&details))];
    assert!(compare.contains("CHECKS FAILED") && compare.contains("NOT CHECKED in 1 of 2") && !compare.contains("All self-checks"));
    assert!(page.contains("Self-checks failed") && page.contains("Not checked in 1 of 2 runs"));
}

/// Three drives on some workloads at some ages, two seeds each.
fn cells(ages: &[Option<&str>], workloads: &[&str]) -> (Report, Vec<Vec<DriveDetail>>) {
    let mut seed = 0;
    let mut cell = |age: Option<&str>, workload: &str| {
        seed += 2;
        let toys = ["base", "a-drive-with-a-rather-long-name", "c & <d>"].into_iter().zip([20, 10, 5]);
        let toys = toys.flat_map(|(name, moved)| {
            [seed, seed + 1].map(|seed| Toy { name, seed, moved, requests: 600, mix: (50, 0), ..Toy::default() })
        });
        let (results, details): (Vec<_>, Vec<_>) = toys.map(|toy| toy.conclude()).unzip();
        let details = details.into_iter().step_by(2).collect();
        (CellResult::new(age.map(str::to_owned), workload.to_owned(), results), details)
    };
    let (cells, details) = ages.iter().flat_map(|age| workloads.iter().map(|workload| cell(*age, workload)).collect::<Vec<_>>()).unzip();
    (Report::of_cells(cells), details)
}

#[test]
fn a_grid_fits_a_terminal_and_reads_back() {
    let (report, _) = cells(&[Some("fresh"), Some("2k+1mo")], &["oltp", "a/trace-of-a-long-name.csv"]);
    let grid = text::compare(&report);
    golden("grid.txt", &grid);
    let json = json(&report);
    let back: Report = serde_json::from_str(&json).expect("what was written can be read");
    assert!(back == report && report.drives.is_empty() && back.cells.len() == 4);
    // Few cells leave room for all figures; one workload is told age by age.
    let (two, _) = cells(&[Some("fresh"), Some("2k+1mo")], &["oltp"]);
    let few = text::compare(&two);
    assert!(
        few.contains("oltp, 2k+1mo") && few.contains("write latency, p99") && few.lines().any(|line| line.starts_with("fresh ")),
        "{few}"
    );
    assert!(!grid.contains("erases") && grid.contains("write latency, p99.9, us"));
    let alone =
        Report::of_cells(vec![CellResult::new(None, "oltp".to_owned(), vec![Toy { requests: 500, ..Toy::default() }.conclude().0])]);
    for line in grid.lines().chain(few.lines()).chain(text::compare(&alone).lines()) {
        assert!(line.chars().count() <= 100 && !line.ends_with(' '), "{} columns: {line}", line.chars().count());
    }
}

#[test]
fn a_grid_has_a_page_with_every_cell() {
    let (mut report, details) = cells(&[None], &["oltp", "mail", "<web>"]);
    let page = html::page(&report, &details);
    elements(&page);
    assert_eq!(page.matches("<details class=\"cell\">").count(), 3);
    assert!(page.contains("class=\"whisker\"") && page.contains("&lt;web&gt;") && page.contains("c &amp; &lt;d&gt;"));
    assert!(page.contains("✓ Every self-check of all 18 runs passed"));
    let wrong = Violation { account: wordline_figures::Account::LittlesLaw, count: 1, first_ns: 5, message: "x".to_owned() };
    report.cells[1].drives[3].checks.violations = vec![wrong];
    assert_eq!(report.violations().map(|broken| broken.run()).collect::<Vec<_>>(), ["a-drive-with-a-rather-long-name seed 5, mail"]);
    assert!(html::page(&report, &details).contains("seed 5, mail:") && text::compare(&report).contains("CHECKS FAILED"));
    elements(&html::page(&Report::of_cells(vec![CellResult::new(None, "x".to_owned(), Vec::new())]), &[Vec::new()]));
}

#[test]
fn the_reference_on_disk_is_the_one_the_code_gives() {
    let markdown = reference::reference_markdown();
    assert_eq!(markdown, reference::reference_markdown());
    // The book is written by the build tasks; where it is there, it must agree.
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/output.md");
    if let Ok(kept) = std::fs::read_to_string(path) {
        assert!(kept == markdown, "docs/reference/output.md is out of date");
    }
    assert!(reference::json_schema().contains("\"plan_hash\""));
}

#[test]
fn the_same_run_gives_the_same_output_to_the_byte() {
    let (first, second) = (two(), two());
    assert_eq!(json(&first.0), json(&second.0));
    assert_eq!(html::page(&first.0, std::slice::from_ref(&first.1)), html::page(&second.0, std::slice::from_ref(&second.1)));
    assert_eq!(
        write_intervals(Format::Parquet, Vec::new(), &first.1, &[]).unwrap(),
        write_intervals(Format::Parquet, Vec::new(), &second.1, &[]).unwrap()
    );
}

#[test]
fn pages_keep_their_letters_at_any_width_and_tables_sort() {
    let (report, details) = two();
    let page = html::page(&report, std::slice::from_ref(&details));
    // A drawing that is scaled as a whole has a view box; only lines without letters are stretched.
    for drawing in page.split("<svg ").skip(1).filter(|drawing| !drawing.contains("aria-hidden")) {
        let (head, body) = drawing.split_once('>').expect("a tag ends");
        let body = body.split("</svg>").next().unwrap_or_default();
        assert!(!head.contains("viewBox") || (head.contains("preserveAspectRatio=\"none\"") && !body.contains("<text")), "{head}");
    }
    assert!(page.contains("@media (max-width:600px)") && page.contains("aria-sort"));
    assert!(page.matches("<table class=\"figures\">").count() == 1, "rows of different units do not sort");
}

/// The names of all elements; panics where tags do not balance or an attribute is not quoted.
fn elements(page: &str) -> BTreeSet<String> {
    let (mut open, mut seen, mut rest) = (Vec::new(), BTreeSet::new(), page.strip_prefix("<!DOCTYPE html>\n").expect("a doctype"));
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').expect("every tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap().to_owned();
        assert!(name.chars().all(|letter| letter.is_ascii_alphanumeric()), "not a tag: <{tag}>");
        assert_eq!(tag.matches('"').count() % 2, 0, "a quote is missing: <{tag}>");
        assert!(!tag.contains("NaN") && !tag.contains("inf\"") && !tag.contains("=\"-"), "not a number, or negative: <{tag}>");
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_ref(), Some(&name), "</{name}> closes another element");
        } else if !tag.ends_with('/') {
            open.push(name.clone());
        }
        if !tag.starts_with('/') && (name == "script" || name == "style") {
            rest = &rest[rest.find("</").expect("the element ends")..];
        }
        seen.insert(name);
    }
    assert!(open.is_empty(), "left open: {open:?}");
    seen
}

#[test]
fn the_page_is_well_formed_and_loads_nothing() {
    let (report, details) = two();
    let page = html::page(&report, std::slice::from_ref(&details));
    let elements = elements(&page);
    for name in ["svg", "table", "details", "path"] {
        assert!(elements.contains(name), "no {name}");
    }
    for loader in ["link", "img", "iframe", "object", "embed", "a"] {
        assert!(!elements.contains(loader), "<{loader}>");
    }
    for word in ["http:", "https:", "//cdn", "url(", "@import", "src=", "href=", "<three>"] {
        assert!(!page.contains(word), "the page contains {word}");
    }
    assert!(page.contains("two &amp; &lt;three&gt;"));
    assert!(page.len() < 1 << 20, "{} bytes", page.len());
}

#[test]
fn a_class_that_did_not_occur_has_no_chart() {
    let (report, details) = report(&[Toy { mix: (100, 0), requests: 3_000, ..Toy::default() }]);
    let page = html::page(&report, std::slice::from_ref(&details));
    elements(&page);
    for absent in ["Write latency", "IOPS, writes", "Write amplification", ">GC<", ">Writes<", "Trim", "Comparison", "write mean"] {
        assert!(!page.contains(absent), "{absent}");
    }
    for present in ["Read latency", "IOPS, reads", ">Reads<", "Block map", "Die arrays busy"] {
        assert!(page.contains(present), "no {present}");
    }
    let run = text::run(&report.drives[0]);
    assert!(!run.contains("write") && !run.contains("WAF"));
}

#[test]
fn an_empty_report_and_an_empty_run_are_pages_too() {
    elements(&html::page(&Report::new(Vec::new()), &[]));
    let (report, details) = report(&[Toy { requests: 0, ..Toy::default() }]);
    elements(&html::page(&report, std::slice::from_ref(&details)));
    text::run(&report.drives[0]);
}

#[test]
fn a_page_of_a_512_die_drive_stays_small() {
    let (report, details) = report(&[Toy { shape: (32, 16), blocks: 500, requests: 40_000, ..Toy::default() }]);
    let page = html::page(&report, std::slice::from_ref(&details));
    elements(&page);
    assert!(page.len() < 1 << 20, "{} bytes", page.len());
}

#[test]
fn violations_are_shouted() {
    let (mut report, details) = two();
    report.drives[1].checks.passed = false;
    report.drives[1].checks.violations =
        vec![Violation { account: wordline_figures::Account::LittlesLaw, count: 2, first_ns: 1_500, message: "3 is not <4>".to_owned() }];
    assert_eq!(report.violations().count(), 1);
    let page = html::page(&report, std::slice::from_ref(&details));
    elements(&page);
    assert!(page.contains("cannot be trusted") && page.contains("3 is not &lt;4&gt;") && !page.contains("class=\"passed\""));
    assert!(text::run(&report.drives[1]).contains("CHECKS FAILED"));
    let compare = text::compare(&report).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(compare.contains("CHECKS FAILED, two & <three> seed 1: Little's law violated, 2 times; first at 1.5 us: 3 is not <4>"));
}

fn units(reader: &SerializedFileReader<Buffer>) -> BTreeSet<String> {
    reader.metadata().file_metadata().key_value_metadata().into_iter().flatten().map(|pair| pair.key.clone()).collect()
}

#[test]
fn every_request_is_in_its_table_across_row_groups() {
    let toy = Toy { requests: 70_000, ..Toy::default() };
    let (events, _) = toy.events();
    let mut log = RequestLog::new(Format::Parquet, Vec::new(), Nanos::ZERO).unwrap();
    events.iter().for_each(|(at, event)| log.observe(*at, event));
    let reader = SerializedFileReader::new(Buffer::from(log.finish().unwrap())).unwrap();
    assert_eq!(reader.num_row_groups(), 2);
    let columns: Vec<_> = reader.metadata().file_metadata().schema().get_fields().iter().map(|field| field.name().to_owned()).collect();
    assert_eq!(columns, REQUESTS.iter().map(|column| column.name).collect::<Vec<_>>());
    assert!(units(&reader).contains("unit.latency_ns"));
    let (mut count, mut reads) = (0, 0);
    for row in reader.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        assert_eq!(row.get_long(1).unwrap() - row.get_long(0).unwrap(), row.get_long(6).unwrap());
        assert_eq!((7..15).map(|stage| row.get_long(stage).unwrap()).sum::<i64>(), row.get_long(6).unwrap());
        reads += u64::from(row.get_string(2).unwrap() == "read");
        count += 1;
    }
    let (result, _) = toy.conclude();
    assert_eq!((count, reads), (toy.requests, result.host.reads));
}

#[test]
fn requests_before_the_window_are_left_out_of_their_table() {
    let (events, _) = Toy { requests: 500, ..Toy::default() }.events();
    let mut log = RequestLog::new(Format::Parquet, Vec::new(), Nanos::MAX).unwrap();
    events.iter().for_each(|(at, event)| log.observe(*at, event));
    let reader = SerializedFileReader::new(Buffer::from(log.finish().unwrap())).unwrap();
    assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
}

#[test]
fn intervals_hold_every_drive_and_null_where_nothing_was_measured() {
    let (_, details) = report(&[
        Toy { name: "reads", mix: (100, 0), requests: 2_000, ..Toy::default() },
        Toy { name: "writes", mix: (0, 0), requests: 2_000, ..Toy::default() },
    ]);
    let reader = SerializedFileReader::new(Buffer::from(write_intervals(Format::Parquet, Vec::new(), &details, &[]).unwrap())).unwrap();
    assert_eq!(reader.metadata().file_metadata().num_rows() as usize, details[0].rows.len() + details[1].rows.len());
    let place = |name: &str| intervals().iter().position(|column| column.name == name).unwrap();
    for row in reader.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        let written = row.get_long(place("writes")).unwrap() > 0;
        assert_eq!(row.get_double(place("waf")).is_ok(), written, "a WAF only where something was written");
        assert!((0.0..=1.0).contains(&row.get_double(place("die_utilisation")).unwrap()));
    }
}

/// The fields of each line. None of these has a comma of its own.
fn fields(table: Vec<u8>) -> Vec<Vec<String>> {
    String::from_utf8(table).expect("text").lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn a_table_in_csv_is_the_one_in_parquet() {
    let toy = Toy { requests: 70_000, ..Toy::default() };
    let (events, _) = toy.events();
    let logs = [Format::Parquet, Format::Csv].map(|format| {
        let mut log = RequestLog::new(format, Vec::new(), Nanos::ZERO).unwrap();
        events.iter().for_each(|(at, event)| log.observe(*at, event));
        log.finish().unwrap()
    });
    let (_, details) = report(&[Toy { name: "reads", mix: (100, 0), requests: 2_000, ..Toy::default() }]);
    let rows = [Format::Parquet, Format::Csv].map(|format| write_intervals(format, Vec::new(), &details, &[]).unwrap());
    for ([parquet, csv], columns) in [(logs, REQUESTS.to_vec()), (rows, intervals())] {
        let lines = fields(csv);
        assert_eq!(lines[0], columns.iter().map(|column| column.name).collect::<Vec<_>>());
        let reader = SerializedFileReader::new(Buffer::from(parquet)).unwrap();
        assert_eq!(lines.len() as i64 - 1, reader.metadata().file_metadata().num_rows());
        for (row, line) in reader.get_row_iter(None).unwrap().zip(&lines[1..]) {
            let row = row.unwrap();
            let shown: Vec<String> = row
                .get_column_iter()
                .map(|(_, field)| {
                    if let Field::Double(number) = field {
                        return number.to_string();
                    }
                    if let Field::Str(text) = field {
                        return text.clone();
                    }
                    if *field == Field::Null { String::new() } else { field.to_string() }
                })
                .collect();
            assert_eq!(*line, shown);
        }
    }
}

#[test]
fn figures_of_runs_and_ratios_are_those_of_the_json() {
    let (report, _) = report(&[
        Toy { name: "one", requests: 2_000, ..Toy::default() },
        Toy { name: "two", mix: (0, 0), requests: 2_000, ..Toy::default() },
    ]);
    let json: serde_json::Value = serde_json::from_str(&json(&report)).unwrap();
    let runs = fields(write_runs(Vec::new(), &report).unwrap());
    assert_eq!(runs.len(), 3);
    let column = |name: &str| runs[0].iter().position(|known| known == name).unwrap_or_else(|| panic!("no column {name}"));
    for (index, row) in runs[1..].iter().enumerate() {
        let drive = &json["drives"][index];
        assert_eq!(row.len(), runs[0].len());
        assert_eq!(row[column("name")], drive["name"].as_str().unwrap());
        assert_eq!(row[column("host.iops")], drive["host"]["iops"].to_string());
        assert_eq!(row[column("host.writes")], drive["host"]["writes"].to_string());
    }
    // The second drive was never read: its latency of reads is nothing, not zero.
    assert!(!runs[1][column("latency_us.read.p99")].is_empty() && runs[2][column("latency_us.read.p99")].is_empty());
    let ratios = fields(write_ratios(Vec::new(), &report).unwrap());
    assert_eq!(ratios[0], RATIOS.iter().map(|column| column.name).collect::<Vec<_>>());
    let expected = json["comparison"]["ratios"].as_array().unwrap();
    assert_eq!(ratios.len() - 1, expected.len());
    for (row, ratio) in ratios[1..].iter().zip(expected) {
        assert_eq!((&row[3], &row[4]), (&ratio["drive"].as_str().unwrap().to_owned(), &ratio["figure"].as_str().unwrap().to_owned()));
        let number = |field: &str| if field.is_empty() { serde_json::Value::Null } else { field.parse::<f64>().unwrap().into() };
        assert_eq!([number(&row[6]), number(&row[7])], [ratio["value"].clone(), ratio["ratio"].clone()]);
    }
}
