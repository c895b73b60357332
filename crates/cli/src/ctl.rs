//! `wordline ctl`: one question to a served drive.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::{Map, Value};

use crate::args::CtlOptions;
use crate::failure::Failure;
use crate::files;
use crate::smart;

pub(crate) fn ctl(options: &CtlOptions) -> Result<(), Failure> {
    let reply = Control::open(&options.socket)?.ask(&request(options)?)?;
    if options.command == "smart" && !options.json {
        return files::write_or_print("-", &smart::lines(&reply["smart"]).join("\n"));
    }
    let text = serde_json::to_string_pretty(&reply).unwrap_or_default();
    files::write_or_print("-", &text)
}

/// A control socket that is open.
pub(crate) struct Control {
    pub(crate) reader: BufReader<UnixStream>,
    path: std::path::PathBuf,
}

impl Control {
    pub(crate) fn open(path: &Path) -> Result<Control, Failure> {
        let stream = UnixStream::connect(path).map_err(|error| Failure::File { path: path.to_owned(), error })?;
        Ok(Control { reader: BufReader::new(stream), path: path.to_owned() })
    }

    /// The answer to `request`, if it is a good one.
    pub(crate) fn ask(&mut self, request: &Value) -> Result<Value, Failure> {
        let failed = |error| Failure::File { path: self.path.clone(), error };
        let line = format!("{request}\n");
        self.reader.get_mut().write_all(line.as_bytes()).map_err(failed)?;
        let mut answer = String::new();
        self.reader.read_line(&mut answer).map_err(failed)?;
        let nonsense =
            || Failure::Usage(format!("{}: no control socket of a served drive: it said nothing that could be read", self.path.display()));
        let reply: Value = serde_json::from_str(&answer).map_err(|_| nonsense())?;
        match (reply["ok"].as_bool(), reply["error"].as_str()) {
            (Some(true), _) => Ok(reply),
            (Some(false), Some(error)) => Err(Failure::Usage(error.to_owned())),
            _ => Err(nonsense()),
        }
    }
}

/// The line that the words on the command line stand for.
fn request(options: &CtlOptions) -> Result<Value, Failure> {
    let mut object = Map::new();
    // A command may have several words, and one of them may also be the key of what it takes: `fault kill=plane`.
    let count = options.arguments.iter().take_while(|argument| !argument.contains('=')).count();
    let (words, arguments) = options.arguments.split_at(count);
    let is_kill = options.command == "fault" && words.is_empty() && arguments.iter().any(|argument| argument.starts_with("kill="));
    let words = std::iter::once(options.command.as_str()).chain(words.iter().map(String::as_str)).chain(is_kill.then_some("kill"));
    let command = words.collect::<Vec<_>>().join(" ");
    object.insert("do".to_owned(), command.as_str().into());
    let known = wordline_live::commands().iter().find(|known| known.word == command);
    for argument in arguments {
        let Some((key, text)) = argument.split_once('=') else {
            return Err(Failure::Usage(format!("'{argument}': expected KEY=VALUE, such as offset=1MiB")));
        };
        let is_size = known.is_some_and(|command| command.arguments.iter().any(|argument| argument.key == key && argument.is_size));
        let value = match text.parse::<serde_json::Number>() {
            Ok(number) => Value::Number(number),
            Err(_) if is_size => wordline_plan::read_size(text).map_err(|why| Failure::Usage(format!("{key}: {why}")))?.0.into(),
            Err(_) if key == "folder" => {
                let path = std::path::absolute(text).map_err(|error| Failure::File { path: text.into(), error })?;
                path.display().to_string().into()
            }
            Err(_) => text.into(),
        };
        object.insert(key.to_owned(), value);
    }
    Ok(Value::Object(object))
}
