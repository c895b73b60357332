//! Commands of the control socket: one table, from which requests are checked and the reference is made.

use serde_json::{Map, Value};
use wordline_block::hints::{LATENCIES, LIFETIMES, PRIORITIES, SECURITIES};
use wordline_units::{Celsius, DieId};

use super::arguments::{Argument, Command, Order, Shown, argument, cut, element, hint, is_true, range};
use super::faults;
use super::words::{instead_of, listed};
use crate::ask::Query;
use crate::faults::Harm;
use crate::hints::Change;

const FROM: Argument = Argument { key: "offset", is_needed: false, is_size: true, what: "first byte (default 0)" };
const LENGTH: Argument =
    Argument { key: "length", is_needed: false, is_size: true, what: "number of bytes (default up to the drive's end)" };

/// All commands but those of faults.
const COMMANDS: [Command; 13] = [
    Command { word: "help", what: "all commands with their keys", arguments: &[] },
    Command {
        word: "status",
        what: "state of the drive: requests, latency percentiles, write amplification by cause, garbage collection, erases, utilisation of dies, lateness of answers, effect of a power loss",
        arguments: &[],
    },
    Command {
        word: "smart",
        what: "health counters, as in SMART and NVMe's health log: media errors, units lost and unreadable, unsafe shutdowns, spares, wear, data written by host and flash",
        arguments: &[],
    },
    Command {
        word: "hint",
        what: "a hint for a stretch of the drive; \"none\" takes it back. The answer lists the hints that have an effect",
        arguments: &[
            FROM,
            LENGTH,
            argument("priority", "class of the requests that fall into the stretch: urgent, high, normal, low or none"),
            argument("security", "secure, insecure or none: data written there as secure must be gone once it is deleted or overwritten"),
            argument("read_latency", "tolerated latency of reads: longer, typical, shortest or none"),
            argument("lifetime", "expected lifetime of data written there: short, medium, long, extreme or none"),
        ],
    },
    Command { word: "hints", what: "all hints given so far", arguments: &[] },
    Command {
        word: "lba-status",
        what: "places of data: in the write buffer, on a page of a block of a die, or nowhere; 1024 mapping units at most. With lost=true: lost and refused addresses by the firmware's own tables, as in NVMe's Get LBA Status",
        arguments: &[
            FROM,
            LENGTH,
            argument("lost", "true: lost addresses in place of the places of data; false: places of data (default false)"),
            argument("element", "die:N: lost addresses on die N alone (default all)"),
        ],
    },
    Command {
        word: "kill-die",
        what: "a die fails for good: its programs and erases end badly, its pages read as noise, and its operation under way counts for nothing. The firmware detects the failure by their reports. The die stays failed after a restart",
        arguments: &[
            Argument { key: "die", is_needed: true, is_size: false, what: "number of the die, from 0" },
            argument(
                "kind",
                "failing, or silent: no operation of the die ever ends, and the controller gives up after `controller.die_timeout` (default failing)",
            ),
        ],
    },
    Command {
        word: "heat",
        what: "temperature of the cells from now on, if the drive has physics",
        arguments: &[Argument { key: "celsius", is_needed: true, is_size: false, what: "temperature in degrees Celsius, -55 to 150" }],
    },
    Command {
        word: "snapshot",
        what: "copy of the media in a new folder, made once every request received is answered and flushed; later requests wait meanwhile",
        arguments: &[Argument { key: "folder", is_needed: true, is_size: false, what: "absolute path that does not exist yet" }],
    },
    Command {
        word: "record",
        what: "a trace as the answer: each request of the host from now on with its virtual time, until stop-recording or the end of the connection",
        arguments: &[],
    },
    Command { word: "stop-recording", what: "end of all recordings, with a flush and the drive's figures at its end", arguments: &[] },
    Command { word: "media", what: "media of the drive, and the failures that they survive", arguments: &[] },
    Command {
        word: "stop",
        what: "orderly stop of the server, as by SIGTERM: no new client, requests under way are answered, everything is flushed. The answer comes when all is done, and the media may be used again",
        arguments: &[],
    },
];

/// Number of commands.
const COUNT: usize = COMMANDS.len() + faults::COMMANDS.len();

/// All commands.
static ALL: [Command; COUNT] = {
    let mut all = [COMMANDS[0]; COUNT];
    let mut index = 0;
    while index < COUNT {
        all[index] = if index < COMMANDS.len() { COMMANDS[index] } else { faults::COMMANDS[index - COMMANDS.len()] };
        index += 1;
    }
    all
};

/// All commands, in the order of the reference.
pub fn commands() -> &'static [Command] {
    &ALL
}

/// Mapping units in an answer.
const UNITS_MAX: usize = 1024;

/// Reads a line.
pub(super) fn read(line: &[u8]) -> Result<Order, String> {
    let value: Value = serde_json::from_slice(line).map_err(|error| format!("no JSON: {error}"))?;
    let Value::Object(object) = value else {
        return Err("expected an object with the key \"do\", such as {\"do\":\"status\"}".to_owned());
    };
    let words = || ALL.iter().map(|command| command.word);
    let word = match object.get("do") {
        Some(Value::String(word)) => word.as_str(),
        Some(_) => return Err(format!("\"do\" is no word: expected one of {}", listed(words()))),
        None => return Err(format!("\"do\" is missing: expected one of {}", listed(words()))),
    };
    let Some(command) = ALL.iter().find(|command| command.word == word) else {
        let is_fault = word == "fault" || word.starts_with("fault ");
        let near = words().filter(|word| !is_fault || word.starts_with("fault "));
        return Err(format!("\"{}\" is no command: {}", cut(word), instead_of(word, near)));
    };
    let keys = || command.arguments.iter().map(|argument| argument.key);
    if let Some(unknown) = object.keys().find(|key| *key != "do" && !keys().any(|known| known == *key)) {
        let what = format!("{word} does not take \"{}\"", cut(unknown));
        return Err(if command.arguments.is_empty() { what } else { format!("{what}: {}", instead_of(unknown, keys())) });
    }
    if let Some(missing) = command.arguments.iter().find(|argument| argument.is_needed && !object.contains_key(argument.key)) {
        return Err(format!("{word} needs \"{}\": {}", missing.key, missing.what));
    }
    order(word, &object)
}

fn order(word: &str, object: &Map<String, Value>) -> Result<Order, String> {
    let ask = |query| Ok(Order::Ask(query, Shown::All));
    match word {
        "status" => ask(Query::Look),
        "smart" => Ok(Order::Ask(Query::Look, Shown::Smart)),
        "media" => Ok(Order::Ask(Query::Look, Shown::Media)),
        "hints" => ask(Query::Hints),
        "hint" => {
            let (from, end) = range(object)?;
            let change = Change {
                priority: hint(object, "priority", &PRIORITIES)?,
                security: hint(object, "security", &SECURITIES)?,
                read_latency: hint(object, "read_latency", &LATENCIES)?,
                lifetime: hint(object, "lifetime", &LIFETIMES)?,
            };
            if change == Change::default() {
                return Err("a hint of nothing: expected priority, security, read_latency or lifetime".to_owned());
            }
            let shown = Shown::Hint {
                priority: change.priority.is_some(),
                security: change.security.is_some(),
                read_latency: change.read_latency.is_some(),
                lifetime: change.lifetime.is_some(),
            };
            Ok(Order::Ask(Query::Hint { from, end, change }, shown))
        }
        "lba-status" => {
            let (from, end) = range(object)?;
            match (is_true(object, "lost")?, element(object)?) {
                (true, element) => ask(Query::Lost { from, end, element }),
                (false, None) => ask(Query::Locate { from, end, units_max: UNITS_MAX }),
                (false, Some(_)) => Err("\"element\" is for lost addresses: expected lost=true with it".to_owned()),
            }
        }
        "kill-die" => {
            let die = object.get("die").and_then(Value::as_u64).and_then(|die| u16::try_from(die).ok());
            let die = DieId(die.ok_or("\"die\" is no number of a die: expected a whole number from 0")?);
            ask(Query::Harm(Harm::Die { die, silent: faults::is_silent(object)? }))
        }
        "heat" => {
            let celsius = object.get("celsius").and_then(Value::as_f64).filter(|celsius| (-55.0..=150.0).contains(celsius));
            ask(Query::Heat(Celsius(celsius.ok_or("\"celsius\" is no temperature of a drive: expected a number from -55 to 150")?)))
        }
        "snapshot" => {
            let folder = object.get("folder").and_then(Value::as_str).map(std::path::PathBuf::from);
            match folder.filter(|folder| folder.is_absolute()) {
                Some(folder) => ask(Query::Copy(folder)),
                None => Err("\"folder\" is no absolute path".to_owned()),
            }
        }
        "record" => ask(Query::Record),
        "stop-recording" => ask(Query::StopRecording),
        "stop" => Ok(Order::Stop),
        _ if word.starts_with("fault ") => faults::order(word, object),
        _ => Ok(Order::Help),
    }
}
