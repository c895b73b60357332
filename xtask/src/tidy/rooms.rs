//! The rooms of a crate: who may name whom, that each file keeps to its own types, and that tables are entered through their methods.
//!
//! ```text
//!   ftl                                              drive
//!   driver
//!   firmware
//!   recovery
//!   setup
//!   dispatch
//!   host
//!   gc
//!   sanitise
//!   placement                                        watched
//!   news
//!   metadata      config                             drive
//!   die_failure                                      life
//!   techniques                                       machine
//!   pages                                            cores  faults  failed  follow  notes  warmth
//!   state                                            host
//!   victim  scheduler  free_block  retirement        device
//!   util                                             config  due  events  place
//! ```
//!
//! A room names those below it, and itself. So there is no circle, and what a room does can be understood from what lies below.

use super::tokens::{Token, paths, tokens, without_tests};
use super::tree::{Finding, Severity, Tree};

/// The rooms of a crate.
struct House {
    /// Folder of its source files.
    sources: &'static str,
    /// The rooms, floor by floor from below. Two rooms of one floor do not name each other.
    floors: &'static [&'static [&'static str]],
    /// The rooms whose fields are private without an exception.
    shut: &'static [&'static str],
}

/// The crates that are built in rooms.
const HOUSES: &[House] = &[
    House {
        sources: "crates/ftl/src/",
        floors: &[
            &["util"],
            &["victim", "scheduler", "free_block", "retirement"],
            &["state"],
            &["pages"],
            &["techniques"],
            &["die_failure"],
            &["metadata", "config"],
            &["news"],
            &["placement"],
            &["sanitise"],
            &["gc"],
            &["host"],
            &["dispatch"],
            &["setup"],
            &["recovery"],
            &["firmware"],
            &["driver"],
        ],
        shut: &["state"],
    },
    House {
        sources: "crates/chip/src/",
        floors: &[
            &["place", "probe", "rule", "stop"],
            &["spare", "order", "fault", "ruined", "registers", "work"],
            &["features", "block", "guard", "payload"],
            &["cells", "blocks", "tear"],
            &["times"],
            &["activity", "seal", "epoch"],
            &["medium"],
            &["legal", "image", "wake"],
            &["die"],
            &["chip"],
        ],
        shut: &[
            "place",
            "probe",
            "rule",
            "stop",
            "spare",
            "order",
            "fault",
            "ruined",
            "registers",
            "work",
            "features",
            "block",
            "guard",
            "payload",
            "cells",
            "blocks",
            "tear",
            "times",
            "activity",
            "seal",
            "epoch",
            "medium",
            "legal",
            "image",
            "wake",
            "die",
            "chip",
        ],
    },
    House {
        sources: "crates/drive/src/",
        floors: &[
            &["config", "due", "events", "place"],
            &["device"],
            &["host"],
            &["cores", "faults", "failed", "follow", "notes", "warmth"],
            &["machine"],
            &["life"],
            &["drive"],
            &["watched"],
        ],
        shut: &["due", "events", "faults", "life", "drive", "watched"],
    },
];

/// Checks every source file of the crates that are built in rooms.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let sources = tree.with_extension("rs").filter_map(|(path, text)| {
        let house = HOUSES.iter().find(|house| path.starts_with(house.sources))?;
        Some(check_file(house, path, &without_tests(tokens(text)).0))
    });
    sources.flatten().collect()
}

fn check_file(house: &House, path: &str, code: &[Token]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut object = |line, rule, message: String| {
        findings.push(Finding { severity: Severity::Error, path: path.to_owned(), line, rule, message });
    };
    let module = module_of(house, path);
    for (line, kind) in foreign_impls(code) {
        object(line, "rooms", format!("`impl {kind}`, and the file does not define `{kind}`: methods stand beside the fields they own"));
    }
    let Some(room) = module.first() else {
        return findings;
    };
    if house.floor(room).is_none() && *room != "lib" {
        object(0, "rooms", format!("`{room}` is no room of its crate: give it a floor in xtask/src/tidy/rooms.rs"));
    }
    for (line, named) in paths(code) {
        let Some(target) = resolve(&module, &named) else { continue };
        if let Some(message) = house.may_not_name(room, &target) {
            object(line, "rooms", message);
        }
    }
    if house.shut.contains(room) {
        for (line, field) in open_fields(code) {
            object(line, "rooms", format!("`{field}` is open to the crate: a table is entered through a method with a name of the domain"));
        }
    }
    findings
}

impl House {
    fn floor(&self, room: &str) -> Option<usize> {
        self.floors.iter().position(|rooms| rooms.contains(&room))
    }

    /// Why a file of `room` may not name something in the room `target`; `None`: it may.
    fn may_not_name(&self, room: &str, target: &str) -> Option<String> {
        if target == room || room == "lib" {
            return None;
        }
        let Some(its) = self.floor(target) else {
            return Some(format!("`crate::{target}`: name the room that it is in"));
        };
        match self.floor(room)?.cmp(&its) {
            std::cmp::Ordering::Greater => None,
            std::cmp::Ordering::Equal => {
                Some(format!("`{room}` names `{target}`, which is on its own floor: let a room above carry the value"))
            }
            std::cmp::Ordering::Less => {
                Some(format!("`{room}` names `{target}`, which stands above it: return a value, or move the fact down"))
            }
        }
    }
}

/// The module that the file at `path` is, from the crate's root.
fn module_of<'a>(house: &House, path: &'a str) -> Vec<&'a str> {
    let stem = path.trim_start_matches(house.sources).trim_end_matches(".rs");
    stem.trim_end_matches("/mod").split('/').collect()
}

/// The room that the path `named` leads to from `module`; `None`: out of the crate, or nowhere that could be told.
fn resolve(module: &[&str], named: &[String]) -> Option<String> {
    match named.first()?.as_str() {
        "crate" => named.get(1).cloned(),
        "super" => {
            let ups = named.iter().take_while(|segment| *segment == "super").count();
            let base = module.len().checked_sub(ups)?;
            if base > 0 { Some(module[0].to_owned()) } else { named.get(ups).cloned() }
        }
        _ => None,
    }
}

/// The types that are given methods and are not defined here, with the lines.
pub(super) fn foreign_impls(code: &[Token]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, token) in code.iter().enumerate() {
        if token.word() != Some("impl") || !starts_item(code, at) {
            continue;
        }
        let head: Vec<&Token> = code[at + 1..].iter().take_while(|token| !token.is_mark('{')).collect();
        if head.iter().any(|token| token.word() == Some("for")) {
            continue;
        }
        let mut depth = 0i32;
        let outside = head.iter().filter(|token| {
            depth += i32::from(token.is_mark('<')) - i32::from(token.is_mark('>'));
            depth == 0 && token.word().is_some()
        });
        let Some(name) = outside.filter_map(|token| token.word()).next() else { continue };
        if !defines(code, name) {
            found.push((token.line, name.to_owned()));
        }
    }
    found
}

/// Whether `code` defines the type `name`. A macro writes both the type and its methods with the name of an argument, `$name`.
fn defines(code: &[Token], name: &str) -> bool {
    code.iter().enumerate().any(|(at, token)| {
        let first = at + 1 + usize::from(code.get(at + 1).is_some_and(|token| token.is_mark('$')));
        matches!(token.word(), Some("struct" | "enum" | "union")) && code.get(first).and_then(Token::word) == Some(name)
    })
}

/// Whether an item can start at `at`: after another one's end, or after an attribute.
fn starts_item(code: &[Token], at: usize) -> bool {
    at.checked_sub(1).is_none_or(|before| [';', '}', ']', '{'].into_iter().any(|mark| code[before].is_mark(mark)))
}

/// Fields that are visible in the crate, or in a part of it.
fn open_fields(code: &[Token]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, window) in code.windows(6).enumerate() {
        let is_scoped = window[0].word() == Some("pub") && window[1].is_mark('(');
        let Some(close) = (2..window.len()).find(|&index| window[index].is_mark(')')).filter(|_| is_scoped) else { continue };
        let (name, colon) = (code.get(at + close + 1), code.get(at + close + 2));
        let is_path = code.get(at + close + 3).is_some_and(|token| token.is_mark(':'));
        if let Some(name) = name.and_then(Token::word)
            && colon.is_some_and(|token| token.is_mark(':'))
            && !is_path
        {
            found.push((window[0].line, name.to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        check(&Tree::planted(&[(path, text)])).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn a_room_names_those_below_it_and_itself() {
        let allowed = "use crate::state::Core; use super::wear; use super::super::metadata::Metadata; fn f() { crate::util::list::NIL; }";
        assert_eq!(found("crates/ftl/src/gc/bad_blocks.rs", allowed), Vec::<String>::new());
    }

    #[test]
    fn an_arrow_back_is_found_by_each_way_of_writing_it() {
        for text in
            ["use crate::gc::Gc;", "use crate::{util::list::NIL, gc::{self, Gc}};", "fn f() { crate::gc::erased(); }", "use super::gc::Gc;"]
        {
            let path = if text.contains("super") { "crates/ftl/src/placement.rs" } else { "crates/ftl/src/metadata/journal.rs" };
            assert!(found(path, text).iter().any(|message| message.contains("stands above it")), "{text}");
        }
        assert_eq!(found("crates/ftl/src/metadata/mod.rs", "#[cfg(test)] mod tests { use crate::gc::Gc; }"), Vec::<String>::new());
    }

    #[test]
    fn each_crate_has_floors_of_its_own() {
        assert_eq!(found("crates/drive/src/life/rest.rs", "use crate::machine::Machine; use super::inspect;"), Vec::<String>::new());
        assert!(found("crates/drive/src/device/read.rs", "use crate::host::data::DataPlane;")[0].contains("stands above it"));
        assert!(found("crates/drive/src/faults.rs", "pub(crate) struct Faults { pub(crate) waiting: u32 }")[0].contains("is open"));
    }

    #[test]
    fn a_circle_needs_an_arrow_back_and_is_found_with_it() {
        let tree = Tree::planted(&[
            ("crates/ftl/src/gc/mod.rs", "use crate::sanitise::Sanitise;"),
            ("crates/ftl/src/sanitise/mod.rs", "use crate::gc::Gc;"),
        ]);
        assert_eq!(check(&tree).len(), 1);
    }

    #[test]
    fn rooms_of_one_floor_do_not_name_each_other() {
        let messages = found("crates/ftl/src/victim/greedy.rs", "use crate::scheduler::Source;");
        assert!(messages.len() == 1 && messages[0].contains("own floor"), "{messages:?}");
    }

    #[test]
    fn a_file_without_a_room_and_a_way_round_by_the_crates_root_are_found() {
        assert_eq!(found("crates/ftl/src/hall.rs", "fn f() {}").len(), 1);
        assert!(found("crates/ftl/src/gc/mod.rs", "use crate::Layout;")[0].contains("name the room"));
    }

    #[test]
    fn methods_stand_beside_the_fields_they_own() {
        let planted =
            "use crate::state::Core; impl Core { fn f(&self) {} } struct Own; impl Own {} impl<T> Wide<T> { } impl Clone for Core {}";
        let messages = found("crates/ftl/src/gc/mod.rs", planted);
        assert_eq!(messages.len(), 2, "{messages:?}");
        assert!(messages[0].contains("impl Core") && messages[1].contains("impl Wide"));
        assert_eq!(found("crates/ftl/src/gc/mod.rs", "fn f() -> impl Iterator<Item = u32> { g() }"), Vec::<String>::new());
        let own = "macro_rules! slot { ($slot:ident) => { pub enum $slot { A } impl $slot { fn f() {} } }; }";
        assert_eq!(found("crates/ftl/src/util/slot.rs", own), Vec::<String>::new());
        assert_eq!(found("crates/ftl/src/util/slot.rs", &own.replace("enum $slot", "enum Other")).len(), 1);
    }

    #[test]
    fn the_tables_have_no_open_fields() {
        let planted = "struct A { pub(crate) open: u32, pub(super) half: u32, pub(in crate::gc) odd: u32, shut: u32 } pub(crate) fn f() {}";
        let messages = found("crates/ftl/src/state/map.rs", planted);
        assert_eq!(messages.len(), 3, "{messages:?}");
    }
}
