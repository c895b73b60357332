//! The reference manual of the output, generated from the schema of the JSON and the columns of the tables, so that it cannot disagree with them.

use std::fmt::Write;

use schemars::schema_for;
use serde_json::Value;

use crate::table::{Column, RATIOS, REQUESTS, SWEEP, blocks, intervals};
use wordline_figures::forensics::ForensicsResult;
use wordline_figures::lifetime::LifetimesResult;
use wordline_figures::read_life::ReadLivesResult;
use wordline_figures::report::Report;
use wordline_figures::violation::Account;

/// The JSON schema of a report.
pub fn json_schema() -> String {
    let schema = serde_json::to_value(schema_for!(Report)).expect("a schema is valid JSON");
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is valid JSON");
    text.push('\n');
    text
}

/// The reference manual of JSON output and of tables: name, type, unit and meaning of everything.
pub fn reference_markdown() -> String {
    let schema = serde_json::to_value(schema_for!(Report)).expect("a schema is valid JSON");
    let mut text = String::from(
        "# Output\n\n\
         *Generated from the code by `wordline_pages::reference::reference_markdown`. Do not edit.*\n\n\
         Everything here is a function of the events of the simulation: the same\n\
         plan, seed and trace give the same output on any machine, except for\n\
         what is under `run`. Rates divide by the exact simulated time and count what was served.\n\n\
         ## JSON (`--json`)\n\n\
         `[]` is an entry of a list. Null means that there was nothing to measure. Names keep their meaning; new ones may be added.\n\n\
         | name | type | unit | meaning |\n|---|---|---|---|\n",
    );
    members(&mut text, &schema, &schema, "", &mut Vec::new());
    text.push_str(
        "\n## Tables (`--parquet DIR`, `--csv DIR`)\n\nThe same tables in either format. In Parquet, which\n\
        is packed with zstd, units stand also in the file's metadata, under `unit.` and the\n\
         column's name; what was not measured is null. In CSV it is empty, words with\n\
         commas are in quotes, and flags are `true` or `false`. `compare` writes a\n\
         table of requests for each run, `requests-DRIVE-SEED`, and with several workloads or ages a table of intervals for each pair of them.\n\n\
         | file | rows |\n|---|---|\n\
         | `requests.parquet`, `requests.csv` | one for each completed request |\n\
         | `intervals.parquet`, `intervals.csv` | one for each interval of each drive; `--interval` says how long they are |\n\
         | `blocks.parquet`, `blocks.csv` | with `run --cells`: one for each flash block |\n\
         | `runs.csv` | one for each run: `workload` and `age` where there are several, and every single\n\
         figure of `drives[]` above under its name without that word; lists are left out |\n\
         | `ratios.csv` | one for each figure of each drive that was compared |\n\
         | `sweep.csv` | with `--sweep`: one for each figure of each drive at each value of the key |\n",
    );
    columns(
        &mut text,
        "Requests",
        "one row per completed request of the measured window; instants count from the start of the run",
        REQUESTS,
    );
    columns(&mut text, "Intervals", "one row per interval of the measured window; instants count from its start", &intervals());
    columns(
        &mut text,
        "Blocks",
        "one row per flash block of a run with `--cells`, at the end of the measured window; no part of the drive sees these figures",
        &blocks(),
    );
    columns(&mut text, "Ratios", "one row per figure and drive of a comparison", RATIOS);
    columns(&mut text, "Sweep", "one row per figure, drive and value of the key that was swept", SWEEP);
    text.push_str("\n## Self-checks\n\nEvery run keeps these accounts. If one does not balance, the command says so and exits with code 3.\n\n| account | holds when |\n|---|---|\n");
    let docs = enum_docs(&schema, "Account");
    for (account, doc) in Account::ALL.into_iter().zip(docs) {
        let _ = writeln!(text, "| {} | {} |", account.name(), cell(&doc));
    }
    text.push_str(NOT_MADE);
    text
}

/// What the reference says of checks that a run leaves out.
const NOT_MADE: &str = "\n\
At its end every run also holds each table of the firmware against the flash. A load that `--requests` or `--until-steady` cut short leaves requests \
in flight: after the figures are taken they are served and the write buffer is programmed, and then the drive is checked as after any other run. Some \
checks cannot be made, or would take longer than the run: valid units are not counted where the measured window began under load (`--until-steady`); a \
drive is not brought to rest where more requests are in flight than have been served (and more than 20,000); and the tables of a drive of more than \
67,108,864 mapping units are not walked. What was not made is said beside the result, and in `checks.not_made` with the reason.\n";

/// The reference manual of what `wordline forensics` writes.
pub fn forensics_markdown() -> String {
    let schema = serde_json::to_value(schema_for!(ForensicsResult)).expect("a schema is valid JSON");
    let mut text = String::from(
        "# What `wordline forensics --json` says\n\n\
         *Generated from the code by `wordline_pages::reference::forensics_markdown`. Do not edit.*\n\n\
         `[]` is an entry of a list. Names keep their meaning; new ones may be added. What the words mean, and what the attacker may do, is in the\n\
         [tutorial](../tutorials/forensics.md).\n\n\
         | name | type | unit | meaning |\n|---|---|---|---|\n",
    );
    members(&mut text, &schema, &schema, "", &mut Vec::new());
    text
}

/// The reference manual of what `wordline wear-out` writes.
pub fn wear_out_markdown() -> String {
    let schema = serde_json::to_value(schema_for!(LifetimesResult)).expect("a schema is valid JSON");
    let mut text = String::from(
        "# What `wordline wear-out --json` says\n\n\
         *Generated from the code by `wordline_pages::reference::wear_out_markdown`. Do not edit.*\n\n\
         `[]` is an entry of a list. Names keep their meaning; new ones may be added. How a life is run is in\n\
         [lives in leaps](../models/wear-out.md).\n\n\
         | name | type | unit | meaning |\n|---|---|---|---|\n",
    );
    members(&mut text, &schema, &schema, "", &mut Vec::new());
    text.push_str(
        "\n## Loads that only read\n\n\
         A load that writes nothing wears no drive out: its lives are days of reads, and the JSON has other names.\n\n\
         | name | type | unit | meaning |\n|---|---|---|---|\n",
    );
    let schema = serde_json::to_value(schema_for!(ReadLivesResult)).expect("a schema is valid JSON");
    members(&mut text, &schema, &schema, "", &mut Vec::new());
    text
}

/// The rows of an object's members, and of theirs. What is a member of the whole, and told there, is only pointed at further down: `told` has those.
fn members<'a>(text: &mut String, root: &'a Value, object: &'a Value, path: &str, told: &mut Vec<(&'a Value, String)>) {
    let Some(properties) = object["properties"].as_object() else { return };
    for (name, member) in properties {
        let at_top = path.is_empty();
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let (inner, nullable) = resolve(root, member);
        let (inner, path) = match inner.get("items") {
            Some(items) => (resolve(root, items).0, format!("{path}[]")),
            None => (inner, path),
        };
        let kind = kind(inner, nullable);
        let doc = member["description"].as_str().or(inner["description"].as_str()).unwrap_or("");
        let before = told.iter().find(|(known, _)| std::ptr::eq(*known, inner)).map(|(_, path)| path.clone());
        let pointed = before.as_ref().map(|path| format!(" It has the names of `{path}`.")).unwrap_or_default();
        let _ = writeln!(text, "| `{path}` | {kind} | {} | {}{pointed} |", member["x-unit"].as_str().unwrap_or(""), cell(doc));
        if before.is_none() {
            members(text, root, inner, &path, told);
        }
        if at_top {
            told.push((inner, path));
        }
    }
}

/// Follows references, and looks through "this or null".
fn resolve<'a>(root: &'a Value, schema: &'a Value) -> (&'a Value, bool) {
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/$defs/")) {
        return (&root["$defs"][name], false);
    }
    if let Some(either) = schema["anyOf"].as_array()
        && let Some(inner) = either.iter().find(|inner| inner["type"] != "null")
    {
        return (resolve(root, inner).0, true);
    }
    (schema, false)
}

fn kind(schema: &Value, nullable: bool) -> String {
    let names: Vec<&str> = match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => vec!["string"],
    };
    let mut names: Vec<&str> = names.into_iter().filter(|name| *name != "null").collect();
    if nullable || schema["type"].as_array().is_some_and(|names| names.iter().any(|name| name == "null")) {
        names.push("null");
    }
    names.join(" or ")
}

fn enum_docs(schema: &Value, name: &str) -> Vec<String> {
    let variants = schema["$defs"][name]["oneOf"].as_array();
    variants.into_iter().flatten().map(|variant| variant["description"].as_str().unwrap_or("").to_owned()).collect()
}

fn columns(text: &mut String, table: &str, what: &str, columns: &[Column]) {
    let _ = write!(text, "\n### {table}\n\nThe table has {what}.\n\n| column | type | unit | meaning |\n|---|---|---|---|\n");
    for column in columns {
        let _ = writeln!(text, "| `{}` | {} | {} | {} |", column.name, column.kind.name(), column.unit, cell(column.meaning));
    }
}

/// A doc comment as one line of a table.
fn cell(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_the_json_has_a_meaning() {
        for line in [reference_markdown(), forensics_markdown(), wear_out_markdown()]
            .iter()
            .flat_map(|text| text.lines())
            .filter(|line| line.starts_with("| `"))
        {
            let meaning = line.trim_end_matches(" |").rsplit("| ").next().unwrap_or("");
            assert!(meaning.len() > 3, "no meaning: {line}");
        }
    }

    #[test]
    fn every_account_is_explained() {
        let schema = serde_json::to_value(schema_for!(Report)).unwrap();
        assert_eq!(enum_docs(&schema, "Account").len(), Account::ALL.len());
    }

    #[test]
    fn the_names_that_programs_rely_on_are_there() {
        let text = reference_markdown();
        for name in [
            "name",
            "plan_hash",
            "seed",
            "event_log_hash",
            "host.reads",
            "host.writes",
            "host.trims",
            "host.iops",
            "host.read_mib_s",
            "host.write_mib_s",
            "latency_us.read.mean",
            "latency_us.write.p50",
            "latency_us.trim.p9999",
            "latency_us.read.max",
            "waf.total",
            "waf.gc",
            "waf.wear",
            "waf.disturb",
            "waf.recovery",
            "erases",
            "pages_programmed",
            "pages_read",
            "utilisation.die",
            "utilisation.channel",
            "utilisation.core",
            "utilisation.dram",
            "run.cpu_seconds",
            "run.wall_seconds",
            "run.peak_rss_bytes",
            "run.flash_pages_per_cpu_second",
            "run.host_requests_per_cpu_second",
            "simulated_seconds",
            "steady",
        ] {
            assert!(text.contains(&format!("| `drives[].{name}` |")), "{name} is missing");
        }
    }
}
