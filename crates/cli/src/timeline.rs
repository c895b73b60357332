//! Timelines of runs: written by `wordline run --trace-out`, read by `wordline explain`.

use std::io::Write;
use std::path::Path;

use wordline_pages::timeline::{self, Timeline, Trace, Window};
use wordline_units::Nanos;
use wordline_workload::spec::read_time;

use crate::args::{ExplainOptions, TimelineOptions};
use crate::failure::Failure;
use crate::files::{self, Pending};
use crate::places::Places;

/// The part of the run that is to be drawn, if any.
pub(crate) fn window(options: &TimelineOptions) -> Result<Option<Window>, Failure> {
    if options.trace_out.is_none() {
        return Ok(None);
    }
    let time = |name: &str, text: &Option<String>| {
        let read = |text: &String| read_time(text).map_err(|what| Failure::Usage(format!("--{name}: {what}")));
        text.as_ref().map(read).transpose()
    };
    let from = time("trace-from", &options.trace_from)?.unwrap_or(Nanos::ZERO);
    let length = time("trace-for", &options.trace_for)?;
    if length == Some(Nanos::ZERO) {
        return Err(Failure::Usage("--trace-for: a timeline is longer than 0".to_owned()));
    }
    Ok(Some(Window { from, length, most: options.trace_events as usize }))
}

/// Writes `timeline`, and says how to look at it and what it lacks.
pub(crate) fn write(path: &Path, timeline: &Timeline) -> Result<(), Failure> {
    let (pending, mut to) = Pending::create(path)?;
    let written = timeline.write(&mut to).and_then(|()| to.flush());
    written.map_err(|error| Failure::File { path: path.to_owned(), error })?;
    pending.finish()?;
    eprintln!("wordline: timeline of {} operations and requests in {}; ui.perfetto.dev draws it", timeline.drawn(), path.display());
    if timeline.left_out() > 0 {
        eprintln!("wordline: {} that came later are not in it; --trace-events takes more, --trace-from begins later", timeline.left_out());
    }
    if timeline.drawn() == 0 {
        eprintln!("wordline: nothing began in the time that --trace-from and --trace-for say");
    }
    Ok(())
}

pub(crate) fn explain(options: &ExplainOptions) -> Result<(), Failure> {
    let text = std::fs::read_to_string(&options.file).map_err(|error| Failure::File { path: options.file.clone(), error })?;
    let mut places = Places::reading([&options.file]);
    options.html.iter().try_for_each(|path| places.write_page(path))?;
    let trace = Trace::read(&text).map_err(|error| Failure::Usage(format!("{}: {error}", options.file.display())))?;
    let explained = timeline::slowest_explained(&trace, options.slowest as usize, options.op.as_deref());
    let kind = match options.op.as_deref() {
        None => "requests".to_owned(),
        Some("flush") => "flushes".to_owned(),
        Some(op) => format!("{op}s"),
    };
    let head = match explained.requests {
        0 => format!("no {kind} in this timeline"),
        count => format!("the slowest {} of {count} {kind}", count.min(options.slowest as usize)),
    };
    if let Some(path) = &options.html {
        let name = options.file.file_name().unwrap_or_default().to_string_lossy();
        files::write(path, timeline::page(&trace, &name, options.slowest as usize, options.op.as_deref()).as_bytes())?;
        eprintln!("wordline: charts in {}", path.display());
    }
    files::write_or_print("-", format!("{head}\n\n{}", explained.text).trim_end())
}
