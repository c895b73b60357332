//! Things that come in pairs: a technique and its declaration and page, a preset and its sources, a crate and the workspace's lints.

use std::collections::BTreeSet;

use super::declared::TECHNIQUES;
use super::tree::{Finding, Severity, Tree};

/// Checks the pairs.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = techniques(tree);
    findings.extend(sources(tree));
    findings.extend(lot_seeds(tree));
    findings.extend(conditions(tree));
    findings.extend(lints(tree));
    findings
}

fn error(path: &str, rule: &'static str, message: String) -> Finding {
    Finding { severity: Severity::Error, path: path.to_owned(), line: 0, rule, message }
}

/// Every technique is a folder whose `mod.rs` or `declaration.rs` holds its declaration, and has a page with its name under `docs/techniques/`.
fn techniques(tree: &Tree) -> Vec<Finding> {
    let names: BTreeSet<&str> = tree
        .iter()
        .filter_map(|(path, _)| path.strip_prefix(TECHNIQUES)?.split_once('/').map(|(name, _)| name))
        .filter(|name| *name != "tests")
        .collect();
    let mut findings = Vec::new();
    for name in names {
        let module = format!("{TECHNIQUES}{name}/mod.rs");
        let declaration = [module.clone(), format!("{TECHNIQUES}{name}/declaration.rs")];
        if !declaration.iter().any(|path| tree.get(path).is_some_and(|text| text.contains("const DECLARATION"))) {
            findings.push(error(
                &module,
                "techniques",
                format!("technique `{name}` has no `DECLARATION`: name its source, its claim, what it answers, what it is set to and needs, and where its limits are"),
            ));
        }
        let page = format!("docs/techniques/{name}/README.md");
        if !tree.exists(&page) {
            findings.push(error(
                &page,
                "techniques",
                format!("technique `{name}` has no page; start from docs/techniques/_template/README.md"),
            ));
        } else if tree.get(&page).is_some_and(|text| !["a die fails", "failed die"].iter().any(|words| text.contains(words))) {
            findings.push(error(
                &page,
                "techniques",
                format!("the page of `{name}` does not say what becomes of its state when a die fails"),
            ));
        }
    }
    findings
}

/// Every value of a chip or a drive says where it comes from: beside it (`{ value = …, source = "…" }`) or once for its table.
fn sources(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.with_extension("toml").filter(|(path, _)| path.starts_with("chips/") || path.starts_with("drives/")) {
        let file: toml::Table = match text.parse() {
            Ok(file) => file,
            Err(why) => {
                findings.push(error(path, "sourced-numbers", format!("cannot be read: {}", why.message())));
                continue;
            }
        };
        for (section, keys) in sections(&file) {
            let own = |value: &toml::Value| value.as_table().is_some_and(|value| value.contains_key("source"));
            for (key, _) in keys.iter().filter(|(key, value)| *key != "source" && !keys.contains_key("source") && !own(value)) {
                findings.push(error(
                    path,
                    "sourced-numbers",
                    format!("`{section}.{key}` has no source: say where the value comes from, or that it is assumed and why"),
                ));
            }
        }
    }
    findings
}

/// Seeds that chips are fitted on, judged by and run with: no table of the catalogue is made from their chips.
const USUAL_SEEDS: std::ops::RangeInclusive<i64> = 1..=18;

/// A table of a chip is made from a lot that nobody runs: its seed is none of the usual ones.
fn lot_seeds(tree: &Tree) -> Vec<Finding> {
    let files = tree.with_extension("toml").filter(|(path, _)| path.starts_with("chips/"));
    let parsed = files.filter_map(|(path, text)| Some((path, text.parse::<toml::Table>().ok()?)));
    let mut findings = Vec::new();
    for (path, file) in parsed {
        for (section, keys) in sections(&file) {
            let seed = keys.get("seed").map(|seed| seed.get("value").unwrap_or(seed)).and_then(toml::Value::as_integer);
            if let Some(seed) = seed.filter(|seed| USUAL_SEEDS.contains(seed)) {
                let what = format!(
                    "`{section}.seed` is {seed}: a table is made from a lot whose seed is none of 1 to 18, which chips are fitted and run with"
                );
                findings.push(error(path, "lot-seeds", what));
            }
        }
    }
    findings
}

/// Every condition of a bench says where it comes from.
fn conditions(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in
        tree.with_extension("toml").filter(|(path, _)| path.starts_with("studies/benches/") || *path == "studies/stages.toml")
    {
        let Ok(file) = text.parse::<toml::Table>() else {
            findings.push(error(path, "sourced-numbers", "cannot be read".to_owned()));
            continue;
        };
        let sourced = |value: &toml::Value| value.as_table().is_some_and(|value| value.contains_key("source"));
        let inner = file.get("stage").and_then(toml::Value::as_table).into_iter().flatten();
        for (key, _) in file.iter().filter(|(key, _)| *key != "stage").chain(inner).filter(|(_, value)| !sourced(value)) {
            findings.push(error(path, "sourced-numbers", format!("`{key}` has no source: write {{ value = …, source = \"…\" }}")));
        }
    }
    findings
}

/// The tables of a file with their names. What stands above the first table names files and describes; it is no number. Under `techniques` each technique is a
/// table of its own, and which of them are there is a choice; under `physics` each effect is.
fn sections(file: &toml::Table) -> Vec<(String, &toml::Table)> {
    let tables = file.iter().filter_map(|(name, value)| Some((name, value.as_table()?)));
    let (techniques, plain): (Vec<_>, Vec<_>) = tables.partition(|(name, _)| matches!(name.as_str(), "techniques" | "physics"));
    let below = techniques
        .into_iter()
        .flat_map(|(group, all)| all.iter().map(move |(name, value)| (format!("{group}.{name}"), value)))
        .filter_map(|(name, value)| Some((name, value.as_table()?)));
    plain.into_iter().map(|(name, table)| (name.clone(), table)).chain(below).collect()
}

/// A crate that forgets the workspace's lints has none.
fn lints(tree: &Tree) -> Vec<Finding> {
    tree.with_extension("toml")
        .filter(|(path, _)| path.ends_with("/Cargo.toml") && !path.starts_with("fuzz/"))
        .filter(|(_, text)| {
            !toml::from_str::<toml::Table>(text)
                .is_ok_and(|manifest| manifest.get("lints").is_some_and(|lints| lints["workspace"].as_bool() == Some(true)))
        })
        .map(|(path, _)| error(path, "lints", "no `[lints] workspace = true`: the workspace's lints do not reach this crate".to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::planted(files)).into_iter().map(|finding| finding.path).collect()
    }

    #[test]
    fn a_technique_needs_declaration_and_page() {
        let module = ("crates/ftl/src/techniques/idle/mod.rs", "pub const DECLARATION: Declaration = Declaration {};");
        let bare = ("crates/ftl/src/techniques/idle/mod.rs", "");
        let card = ("crates/ftl/src/techniques/idle/declaration.rs", "pub const DECLARATION: Declaration = Declaration {};");
        let page = ("docs/techniques/idle/README.md", "On a failed die it does nothing.");
        assert_eq!(found(&[module, page, ("crates/ftl/src/techniques/mod.rs", "")]), [""; 0]);
        assert_eq!(found(&[bare, card, page]), [""; 0]);
        assert_eq!(found(&[bare, page]), [bare.0]);
        assert_eq!(found(&[module]), [page.0]);
        assert_eq!(found(&[module, (page.0, "It saves time.")]), [page.0], "it does not say what becomes of its state with a die");
    }

    #[test]
    fn every_value_of_a_chip_or_drive_needs_a_source() {
        let good = "summary = \"x\"\n[a]\nsource = \"data sheet, p. 3\"\nt_read = \"80 us\"\n[b]\nt_erase = { value = \"3 ms\", source = \"p. 4\" }\n";
        assert_eq!(found(&[("chips/a.toml", good), ("drives/a.toml", good)]), [""; 0]);
        let choice = "[techniques]\nplain-copyback = {}\n[techniques.idle-reclaim]\nsource = \"assumed\"\nafter = \"1 s\"\n";
        assert_eq!(found(&[("drives/a.toml", choice)]), [""; 0]);
        assert_eq!(found(&[("drives/a.toml", "[techniques.idle-reclaim]\nafter = \"1 s\"\n")]), ["drives/a.toml"]);
        let bad = format!("{good}t_program = \"700 us\"\n[c]\nplanes = {{ value = 2 }}\n");
        assert_eq!(found(&[("chips/a.toml", &bad), ("drives/b.toml", "no table")]), ["chips/a.toml", "chips/a.toml", "drives/b.toml"]);
        assert_eq!(found(&[("studies/benches/a.toml", "pe = { value = 3, source = \"x\" }\nkept = 3\n")]), ["studies/benches/a.toml"]);
        assert_eq!(found(&[("studies/workloads/a.toml", &bad)]), [""; 0], "a workload is a choice");
    }

    #[test]
    fn a_table_of_a_chip_is_of_a_lot_that_nobody_runs() {
        let table = |seed: &str| format!("[aging]\nsource = \"a lot\"\nseed = {seed}\n");
        for bad in ["1", "18", "{ value = 7, source = \"me\" }"] {
            assert_eq!(found(&[("chips/a.toml", &table(bad))]), ["chips/a.toml"], "{bad}");
        }
        for good in ["0", "19", "1001", "\"none\""] {
            assert_eq!(found(&[("chips/a.toml", &table(good))]), [""; 0], "{good}");
        }
        assert_eq!(found(&[("drives/a.toml", &table("1"))]), [""; 0], "a run's seed is what it is");
    }

    #[test]
    fn a_crate_needs_the_workspace_lints() {
        assert_eq!(found(&[("crates/a/Cargo.toml", "[lints]\nworkspace = true\n")]), [""; 0]);
        assert_eq!(found(&[("crates/a/Cargo.toml", "[package]\nname = \"a\"\n")]), ["crates/a/Cargo.toml"]);
    }
}
