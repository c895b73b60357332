//! Faults on demand on the control socket: orders, and their answers.

use serde_json::{Map, Value, json};
use wordline_chip::DieFault;
use wordline_drive::Fault;
use wordline_units::DieId;

use super::arguments::{Argument, Command, FROM_NEEDED, Order, Shown, argument, cut, needed, number, range};
use super::words::instead_of;
use crate::ask::Query;
use crate::faults::{Harm, Harmed};

/// Pages in an answer, at most.
const PAGES_MAX: usize = 64;
/// Parts that can be killed.
const PARTS: [&str; 2] = ["plane", "blocks"];
/// Ways in which a die can fail.
const KINDS: [&str; 2] = ["failing", "silent"];

const UNIT: Argument = Argument {
    key: "length",
    is_needed: false,
    is_size: true,
    what: "number of bytes; a flash page fails as a whole, with the other units that it holds (default the mapping unit of the first byte)",
};
const SEED: Argument = argument("seed", "seed of the random choices (default the drive's own)");

/// The commands, for the table of all.
pub(super) const COMMANDS: [Command; 7] = [
    Command {
        word: "fault read",
        what: "reads of the flash pages that hold these bytes cannot be corrected: the next `count` of each page, or all until the page is erased. The bytes answer EIO until they are written again, or `count` is used up",
        arguments: &[FROM_NEEDED, UNIT, argument("count", "number of reads of each page, its retries not counted (default all)")],
    },
    Command {
        word: "fault corrupt",
        what: "flipped bits in each flash page that holds these bytes, on the media too, 1 to 64 a page: its checksum fails, and the bytes answer EIO until they are written again",
        arguments: &[FROM_NEEDED, UNIT, SEED],
    },
    Command {
        word: "fault program-fail",
        what: "the next programs fail: the firmware writes the data elsewhere and takes the block group out of service, a grown bad block",
        arguments: &[argument("die", "number of the die, from 0 (default any die)"), argument("count", "number of programs (default 1)")],
    },
    Command {
        word: "fault power-cut",
        what: "loss of power during a later flash program or erase, which is torn; the process ends as by `kill -9`, with exit code 5",
        arguments: &[needed("after", "number of the program or erase from now on, counted from 1; 0: now, between two of them"), SEED],
    },
    Command {
        word: "fault kill",
        what: "a plane or some blocks of a die fail for good: their pages read as noise, and programs and erases end badly. They stay failed after a restart. `wordline ctl` also takes it as `fault kill=plane`",
        arguments: &[
            needed("kill", "plane or blocks"),
            needed("die", "number of the die, from 0"),
            argument("plane", "number of the plane, from 0; with blocks: optional (default every plane)"),
            argument("blocks", "with blocks: one block or a range, such as 17 or 4..7, from 0, the last one included"),
        ],
    },
    Command { word: "fault list", what: "all faults on demand in force, with the rest of each", arguments: &[] },
    Command {
        word: "fault clear",
        what: "end of the faults of reads, programs and power. Damage done by faults stays: flipped bits, failed dies, planes and blocks with all that they held, data that was moved while it could not be read",
        arguments: &[],
    },
];

/// The order of a fault command with its keys.
pub(super) fn order(word: &str, object: &Map<String, Value>) -> Result<Order, String> {
    let harm = |harm| Ok(Order::Ask(Query::Harm(harm), Shown::All));
    let count = |otherwise: Option<u32>| match number(object, "count", u64::from(u32::MAX))? {
        Some(0) => Err("\"count\" is 0: expected at least 1".to_owned()),
        Some(count) => Ok(Some(count as u32)),
        None => Ok(otherwise),
    };
    let die = || Ok::<_, String>(number(object, "die", u64::from(u16::MAX))?.map(|die| DieId(die as u16)));
    let seed = || number(object, "seed", u64::MAX);
    match word {
        "fault read" | "fault corrupt" => {
            let (from, end) = range(object)?;
            // Without a length, the unit of the first byte.
            let end = if object.contains_key("length") { end } else { from.saturating_add(1) };
            harm(if word == "fault read" {
                Harm::Reads { from, end, reads: count(None)? }
            } else {
                Harm::Corrupt { from, end, seed: seed()? }
            })
        }
        "fault program-fail" => harm(Harm::Programs { die: die()?, programs: count(Some(1))?.unwrap_or(1) }),
        "fault power-cut" => match number(object, "after", u64::MAX)?.unwrap_or(0) {
            0 => Ok(Order::PowerCut),
            after => harm(Harm::Power { after, seed: seed()? }),
        },
        "fault kill" => {
            let part = object.get("kill").and_then(Value::as_str).unwrap_or("");
            let die = die()?.unwrap_or(DieId(0));
            let plane = number(object, "plane", u64::from(u32::MAX))?.map(|plane| plane as u32);
            match (part, object.get("blocks")) {
                ("plane", None) => harm(Harm::Plane { die, plane: plane.ok_or("kill=plane needs \"plane\": which plane, from 0")? }),
                ("plane", Some(_)) => Err("kill=plane does not take \"blocks\": expected kill=blocks".to_owned()),
                ("blocks", Some(blocks)) => {
                    let (first, last) = blocks_of(blocks)?;
                    harm(Harm::Blocks { die, plane, first, last })
                }
                ("blocks", None) => Err("kill=blocks needs \"blocks\": which, such as 17 or 4..7".to_owned()),
                _ => Err(format!("\"kill\" is \"{}\": {}", cut(part), instead_of(part, PARTS.into_iter()))),
            }
        }
        "fault clear" => harm(Harm::Clear),
        _ => harm(Harm::List),
    }
}

/// True if the die of `object` is to be silent.
pub(super) fn is_silent(object: &Map<String, Value>) -> Result<bool, String> {
    match object.get("kind").map(|kind| (kind, kind.as_str())) {
        None | Some((_, Some("failing"))) => Ok(false),
        Some((_, Some("silent"))) => Ok(true),
        Some((kind, word)) => {
            let found = word.map_or_else(|| kind.to_string(), str::to_owned);
            Err(format!("\"kind\" is \"{}\": {}", cut(&found), instead_of(&found, KINDS.into_iter())))
        }
    }
}

/// The blocks of a text like `17` or `4..7`.
fn blocks_of(value: &Value) -> Result<(u32, u32), String> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let (first, last) = text.split_once("..").unwrap_or((&text, &text));
    match (first.parse::<u32>(), last.parse::<u32>()) {
        (Ok(first), Ok(last)) if first <= last => Ok((first, last)),
        _ => Err(format!("\"blocks\" is \"{}\": expected one block, such as 17, or the first and the last, such as 4..7", cut(&text))),
    }
}

/// Effect of an order on pages, as JSON.
pub(super) fn harmed(harmed: &Harmed) -> Value {
    let pages: Vec<Value> = harmed
        .pages
        .iter()
        .take(PAGES_MAX)
        .map(|(die, plane, block, page)| json!({ "die": die.0, "plane": plane.0, "block": block.0, "page": page.0 }))
        .collect();
    json!({
        "ok": true,
        "pages": harmed.pages.len(),
        "places": pages,
        "units_unmapped": harmed.unmapped,
        "units_in_buffer_only": harmed.buffered,
        "units_newer_in_buffer": harmed.covered,
    })
}

/// All faults.
pub(super) fn list(faults: &[Fault]) -> Value {
    json!({ "ok": true, "faults": faults.iter().map(shown).collect::<Vec<_>>() })
}

fn shown(fault: &Fault) -> Value {
    match *fault {
        Fault::Program { programs } => json!({ "fault": "program-fail", "left": programs }),
        Fault::Power { after, seed } => json!({ "fault": "power-cut", "after": after, "seed": seed }),
        Fault::Die(die, fault) => match fault {
            DieFault::Read { plane, block, page, reads } => {
                json!({ "fault": "read", "die": die.0, "plane": plane.0, "block": block.0, "page": page.0, "left": reads })
            }
            DieFault::Program { programs } => json!({ "fault": "program-fail", "die": die.0, "left": programs }),
            DieFault::Die { silent } => json!({ "fault": "kill-die", "die": die.0, "kind": KINDS[usize::from(silent)] }),
            DieFault::Plane(plane) => json!({ "fault": "kill", "kill": "plane", "die": die.0, "plane": plane.0 }),
            DieFault::Blocks { plane, first, last } => {
                json!({ "fault": "kill", "kill": "blocks", "die": die.0, "plane": plane.0, "blocks": format!("{}..{}", first.0, last.0) })
            }
        },
    }
}
