//! `wordline record`: what a served drive is asked, as a trace.

use std::io::{BufRead, Write};

use serde_json::json;

use crate::args::RecordOptions;
use crate::ctl::Control;
use crate::failure::Failure;

/// What the last line of a whole recording begins with.
const END: &str = "# end: ";

pub(crate) fn record(options: &RecordOptions) -> Result<(), Failure> {
    let mut control = Control::open(&options.socket)?;
    control.ask(&json!({ "do": "record" }))?;
    eprintln!("wordline: recording; `wordline ctl {} stop-recording` ends it", options.socket.display());
    let mut out = std::io::stdout().lock();
    let (mut line, mut last) = (String::new(), String::new());
    loop {
        line.clear();
        let count = control.reader.read_line(&mut line).map_err(|error| Failure::File { path: options.socket.clone(), error })?;
        if count == 0 {
            break;
        }
        out.write_all(line.as_bytes()).map_err(|error| Failure::File { path: "standard output".into(), error })?;
        if line.starts_with('#') {
            last.clone_from(&line);
        }
    }
    match last.strip_prefix(END) {
        Some(figures) => {
            eprint!("wordline: {figures}");
            Ok(())
        }
        None => Err(Failure::Usage(format!("the recording is not whole: {}", last.trim_start_matches('#').trim()))),
    }
}
