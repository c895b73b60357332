//! Which crate may name which. Cargo builds what the manifests say; this table says what they may say.

use serde_json::Value;

use super::tree::{Finding, Severity};

/// One crate and the workspace crates it may depend on.
struct Wall {
    name: &'static str,
    /// In the library and in the program.
    may_name: &'static [&'static str],
    /// Besides those, in its tests, examples and benches.
    tests_may_name: &'static [&'static str],
    /// Crates from the registry that a core crate may link. `None`: any.
    outside: Option<&'static [&'static str]>,
}

/// `libm` gives the same last bit on every machine, which the platform's own mathematics does not.
/// `serde` and `postcard` turn the state of a quiet drive into an image, in memory; files are the rim's.
const CORE: Option<&[&str]> = Some(&["libm", "serde", "postcard"]);

/// The one place that says who may name whom. An edge that is missing here is missing on purpose: above all, `ftl` names neither `cells` nor `chip`, so
/// that no policy can look at physics.
const WALLS: &[Wall] = &[
    Wall { name: "units", may_name: &[], tests_may_name: &[], outside: CORE },
    Wall { name: "cells", may_name: &["units"], tests_may_name: &["plan"], outside: CORE },
    Wall { name: "flash", may_name: &["units"], tests_may_name: &[], outside: CORE },
    Wall { name: "chip", may_name: &["cells", "flash", "units"], tests_may_name: &[], outside: CORE },
    Wall { name: "engine", may_name: &["units"], tests_may_name: &[], outside: CORE },
    Wall { name: "ftl", may_name: &["flash", "units"], tests_may_name: &[], outside: CORE },
    Wall {
        name: "drive",
        may_name: &["cells", "chip", "engine", "flash", "ftl", "units"],
        tests_may_name: &["plan", "workload"],
        outside: CORE,
    },
    Wall { name: "workload", may_name: &["units"], tests_may_name: &[], outside: None },
    // Numbers alone: `pages` writes. The catalogue looks units up in schemas, which are values of `serde_json`.
    Wall {
        name: "figures",
        may_name: &["engine", "units"],
        tests_may_name: &[],
        outside: Some(&["libm", "schemars", "serde", "serde_json"]),
    },
    Wall { name: "pages", may_name: &["engine", "figures", "units"], tests_may_name: &[], outside: None },
    Wall { name: "plan", may_name: &["cells", "drive", "flash", "ftl", "units", "workload"], tests_may_name: &[], outside: None },
    Wall {
        name: "runs",
        may_name: &["cells", "drive", "engine", "figures", "pages", "plan", "units", "workload"],
        // Values worth trying stand in the declarations of techniques.
        tests_may_name: &["ftl"],
        outside: None,
    },
    Wall {
        name: "lab",
        may_name: &["cells", "drive", "engine", "figures", "flash", "pages", "plan", "runs", "units", "workload"],
        tests_may_name: &[],
        outside: None,
    },
    Wall { name: "media", may_name: &["units"], tests_may_name: &[], outside: None },
    Wall { name: "block", may_name: &["units"], tests_may_name: &[], outside: None },
    Wall { name: "nbd", may_name: &["block"], tests_may_name: &["units"], outside: None },
    Wall {
        name: "live",
        // No protocol of disks: requesters ask a live drive through `block`.
        may_name: &["block", "chip", "drive", "engine", "media", "figures", "units", "workload"],
        // A die with physics on media files is worked by its commands.
        tests_may_name: &["cells", "flash", "ftl", "plan"],
        outside: None,
    },
    Wall {
        name: "serve",
        may_name: &["block", "figures", "live", "nbd"],
        // A drive is what most clients come for.
        tests_may_name: &["chip", "drive", "plan", "units"],
        outside: None,
    },
    Wall {
        name: "cli",
        may_name: &[
            "block", "cells", "chip", "drive", "engine", "figures", "flash", "ftl", "lab", "live", "nbd", "pages", "plan", "runs", "serve",
            "units", "workload",
        ],
        tests_may_name: &[],
        outside: None,
    },
    Wall {
        name: "proving",
        may_name: &["cells", "chip", "cli", "drive", "engine", "figures", "flash", "ftl", "lab", "plan", "units", "workload"],
        tests_may_name: &[],
        outside: None,
    },
    Wall {
        name: "benches",
        may_name: &["drive", "engine", "figures", "ftl", "nbd", "plan", "units", "workload"],
        tests_may_name: &[],
        outside: None,
    },
    Wall { name: "xtask", may_name: &[], tests_may_name: &[], outside: None },
];

/// The short name of a workspace package: `wordline-ftl` is `ftl`, `wordline` itself is the command line.
fn short(package: &str) -> &str {
    match package {
        "wordline" => "cli",
        other => other.strip_prefix("wordline-").unwrap_or(other),
    }
}

/// Checks what `cargo metadata --no-deps` printed against [`WALLS`].
pub(super) fn check(metadata: &Value) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = short(package["name"].as_str().unwrap_or_default());
        let manifest = manifest_path(metadata, package);
        let mut object = |rule, message: String| {
            findings.push(Finding { severity: Severity::Error, path: manifest.clone(), line: 0, rule, message });
        };
        let Some(wall) = WALLS.iter().find(|wall| wall.name == name) else {
            object(
                "walls",
                format!(
                    "crate `{name}` is not in the table of xtask/src/tidy/walls.rs; say there what it may name, and in ARCHITECTURE.md why it exists"
                ),
            );
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let full_name = dependency["name"].as_str().unwrap_or_default();
            let for_tests = dependency["kind"].as_str() == Some("dev");
            if dependency["path"].is_string() {
                let target = short(full_name);
                let allowed = wall.may_name.contains(&target) || (for_tests && wall.tests_may_name.contains(&target));
                if !allowed {
                    object("walls", format!("`{name}` may not name `{target}`{}", reason(name, target)));
                }
            } else if !for_tests && wall.outside.is_some_and(|outside| !outside.contains(&full_name)) {
                object(
                    "walls",
                    format!(
                        "`{name}` is a core crate and may not link `{full_name}`: what the core does must be readable here; formats and text belong to the rim"
                    ),
                );
            }
        }
    }
    findings
}

fn reason(name: &str, target: &str) -> &'static str {
    match (name, target) {
        ("ftl", "cells" | "chip") => ": no policy sees physics; what firmware knows, it measured through `flash`",
        (_, "proving") => ": `proving` is for tests and nothing depends on it",
        ("block" | "live", "nbd") => ": a disk speaks no protocol; connections of `serve` do",
        ("units", _) => ": `units` is what everybody names and names nobody",
        _ => ": the edge is not in the table of xtask/src/tidy/walls.rs",
    }
}

fn manifest_path(metadata: &Value, package: &Value) -> String {
    let root = metadata["workspace_root"].as_str().unwrap_or_default();
    let path = package["manifest_path"].as_str().unwrap_or_default();
    path.strip_prefix(root).unwrap_or(path).trim_start_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn findings(name: &str, dependencies: Value) -> Vec<String> {
        let metadata = json!({
            "workspace_root": "/r",
            "packages": [{ "name": name, "manifest_path": "/r/crates/x/Cargo.toml", "dependencies": dependencies }],
        });
        check(&metadata).into_iter().map(|finding| finding.to_string()).collect()
    }

    fn own(name: &str, kind: Option<&str>) -> Value {
        json!({ "name": name, "kind": kind, "path": "/r/crates/y" })
    }

    fn registry(name: &str, kind: Option<&str>) -> Value {
        json!({ "name": name, "kind": kind, "path": null })
    }

    #[test]
    fn allowed_edges_pass() {
        assert_eq!(
            findings("wordline-ftl", json!([own("wordline-flash", None), own("wordline-units", None), registry("proptest", Some("dev"))])),
            [""; 0]
        );
        assert_eq!(findings("wordline", json!([own("wordline-plan", None), registry("clap", None)])), [""; 0]);
    }

    #[test]
    fn firmware_may_not_see_physics_even_in_tests() {
        for kind in [None, Some("dev"), Some("build")] {
            let found = findings("wordline-ftl", json!([own("wordline-cells", kind)]));
            assert!(found.len() == 1 && found[0].contains("no policy sees physics"), "{kind:?}: {found:?}");
        }
    }

    #[test]
    fn a_disk_speaks_no_protocol_even_in_tests() {
        for (name, kind) in [("wordline-block", None), ("wordline-live", None), ("wordline-live", Some("dev"))] {
            let found = findings(name, json!([own("wordline-nbd", kind)]));
            assert!(found.len() == 1 && found[0].contains("a disk speaks no protocol"), "{name} {kind:?}: {found:?}");
        }
    }

    #[test]
    fn nobody_may_depend_on_proving() {
        for name in WALLS.iter().map(|wall| wall.name).filter(|name| *name != "proving") {
            let found = findings(name, json!([own("wordline-proving", Some("dev"))]));
            assert_eq!(found.len(), 1, "{name}");
        }
    }

    #[test]
    fn a_core_crate_may_not_link_outside_code_except_in_tests() {
        assert_eq!(findings("wordline-engine", json!([registry("rand", None)])).len(), 1);
        assert_eq!(findings("wordline-engine", json!([registry("rand", Some("dev")), registry("libm", None)])).len(), 0);
    }

    #[test]
    fn a_crate_nobody_has_placed_is_refused() {
        assert!(findings("wordline-new", json!([]))[0].contains("not in the table"));
    }
}
