//! `wordline trace`.

use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;

use wordline_workload::trace::{OnFault, OutputFormat, ReadOptions, TraceStats};
use wordline_workload::{TraceError, TraceInfo, TraceReader, trace};

use crate::args::{TraceCommand, TraceOptions};
use crate::failure::Failure;
use crate::files;
use crate::load::format;
use crate::places::Places;

pub(crate) fn trace(options: &TraceOptions) -> Result<(), Failure> {
    let read = read_options(options)?;
    match &options.command {
        TraceCommand::Info { file, json } => {
            let mut reader = trace::open(file, read)?;
            let info = TraceInfo::gather(&mut reader)?;
            show(&info, *json)
        }
        TraceCommand::Stats { file, json } => {
            let mut reader = trace::open(file, read)?;
            let stats = TraceStats::measure(&mut reader)?;
            show(&stats, *json)
        }
        TraceCommand::Convert { file, to, output } => convert(file, read, to, output.as_deref()),
    }
}

fn show<T: std::fmt::Display + serde::Serialize>(value: &T, json: bool) -> Result<(), Failure> {
    let text = if json { serde_json::to_string_pretty(value).expect("plain data") } else { value.to_string() };
    files::write_or_print("-", text.trim_end())
}

/// Write it as the ending of `path` says: readers unpack what ends so.
fn packed(reader: &mut TraceReader<'_>, path: &Path, mut out: impl Write, format: OutputFormat) -> Result<trace::Written, TraceError> {
    let written = match path.extension().and_then(OsStr::to_str) {
        Some("gz") => {
            let mut packed = flate2::write::GzEncoder::new(&mut out, flate2::Compression::default());
            let written = trace::convert(reader, &mut packed, format)?;
            packed.finish().map_err(TraceError::Write)?;
            written
        }
        Some("zst") => {
            let mut packed = zstd::Encoder::new(&mut out, 0).map_err(TraceError::Write)?;
            let written = trace::convert(reader, &mut packed, format)?;
            packed.finish().map_err(TraceError::Write)?;
            written
        }
        _ => trace::convert(reader, &mut out, format)?,
    };
    out.flush().map_err(TraceError::Write)?;
    Ok(written)
}

fn convert(file: &Path, read: ReadOptions, to: &str, output: Option<&Path>) -> Result<(), Failure> {
    let format = OutputFormat::parse(to).map_err(|error| Failure::Usage(error.to_string()))?;
    output.iter().try_for_each(|path| Places::reading(trace::files(file)).claim(path))?;
    let mut reader: TraceReader<'_> = trace::open(file, read)?;
    let written = match output {
        Some(path) => {
            let (pending, out) = files::Pending::create(path)?;
            let written = packed(&mut reader, path, out, format)?;
            pending.finish()?;
            written
        }
        None => match trace::convert(&mut reader, std::io::stdout().lock(), format) {
            // A reader that has gone away (such as `head`) is not an error.
            Err(TraceError::Write(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(()),
            written => written?,
        },
    };
    let mut told = format!("{} records written as {to}", written.records);
    if written.left_out > 0 {
        told += &format!("; {} left out, for which {to} has no word", written.left_out);
    }
    if written.widened > 0 {
        told += &format!("; {} widened to whole sectors", written.widened);
    }
    if !reader.timed() && format != OutputFormat::Csv {
        told += &format!("; the trace has no times, and {to} must have some: all are 0");
    }
    if reader.skipped().count > 0 {
        told += &format!("; {} lines of the trace passed over", reader.skipped().count);
    }
    eprintln!("wordline: {told}");
    Ok(())
}

/// Options of reading a trace, from those of the command line.
fn read_options(options: &TraceOptions) -> Result<ReadOptions, Failure> {
    Ok(ReadOptions {
        format: format(options.format.as_deref())?,
        on_fault: if options.lenient { OnFault::Skip } else { OnFault::Stop },
        time_unit: options.columns.time_unit()?,
        sector: options.columns.sector()?,
        spaces: options.columns.spaces()?.unwrap_or_default(),
    })
}
