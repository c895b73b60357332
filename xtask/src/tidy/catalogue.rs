//! Things that come in pairs: a technique and its card and page, a preset and its sources, a crate and the workspace's lints.

use std::collections::BTreeSet;

use super::tree::{Finding, Severity, Tree};

/// Where the techniques live.
const TECHNIQUES: &str = "crates/ftl/src/techniques/";

/// Checks the pairs.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = techniques(tree);
    findings.extend(sources(tree));
    findings.extend(lints(tree));
    findings
}

fn error(path: &str, rule: &'static str, message: String) -> Finding {
    Finding { severity: Severity::Error, path: path.to_owned(), line: 0, rule, message }
}

/// Every technique is a folder whose `mod.rs` or `card.rs` holds its card, and has a page with its name under `docs/techniques/`.
fn techniques(tree: &Tree) -> Vec<Finding> {
    let names: BTreeSet<&str> = tree
        .iter()
        .filter_map(|(path, _)| path.strip_prefix(TECHNIQUES)?.split_once('/').map(|(name, _)| name))
        .filter(|name| *name != "tests")
        .collect();
    let mut findings = Vec::new();
    for name in names {
        let module = format!("{TECHNIQUES}{name}/mod.rs");
        let card = [module.clone(), format!("{TECHNIQUES}{name}/card.rs")];
        if !card.iter().any(|path| tree.get(path).is_some_and(|text| text.contains("const CARD"))) {
            findings.push(error(
                &module,
                "techniques",
                format!("technique `{name}` has no `CARD`: name its source, its claim, what it answers and where its limits are"),
            ));
        }
        let page = format!("docs/techniques/{name}/README.md");
        if !tree.exists(&page) {
            findings.push(error(
                &page,
                "techniques",
                format!("technique `{name}` has no page; start from docs/techniques/_template/README.md"),
            ));
        }
    }
    findings
}

/// A chip is nothing but numbers, so every chip file names where they come from.
fn sources(tree: &Tree) -> Vec<Finding> {
    tree.with_extension("toml")
        .filter(|(path, _)| path.starts_with("chips/"))
        .filter(|(_, text)| !text.lines().any(|line| line.trim_start().starts_with("source")))
        .map(|(path, _)| error(path, "sourced-numbers", "a chip file without a `source`: say where its numbers come from".to_owned()))
        .collect()
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
    fn a_technique_needs_card_and_page() {
        let module = ("crates/ftl/src/techniques/idle/mod.rs", "pub const CARD: Card = Card {};");
        let bare = ("crates/ftl/src/techniques/idle/mod.rs", "");
        let card = ("crates/ftl/src/techniques/idle/card.rs", "pub const CARD: Card = Card {};");
        let page = ("docs/techniques/idle/README.md", "");
        assert_eq!(found(&[module, page, ("crates/ftl/src/techniques/mod.rs", "")]), [""; 0]);
        assert_eq!(found(&[bare, card, page]), [""; 0]);
        assert_eq!(found(&[bare, page]), [bare.0]);
        assert_eq!(found(&[module]), [page.0]);
    }

    #[test]
    fn a_chip_needs_sources() {
        assert_eq!(found(&[("chips/a.toml", "[timing]\nsource = \"data sheet, p. 3\"\n")]), [""; 0]);
        assert_eq!(found(&[("chips/a.toml", "[timing]\n")]), ["chips/a.toml"]);
    }

    #[test]
    fn a_crate_needs_the_workspace_lints() {
        assert_eq!(found(&[("crates/a/Cargo.toml", "[lints]\nworkspace = true\n")]), [""; 0]);
        assert_eq!(found(&[("crates/a/Cargo.toml", "[package]\nname = \"a\"\n")]), ["crates/a/Cargo.toml"]);
    }
}
