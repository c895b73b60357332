//! From the options of a load to the load, and from a name to a workload.

use wordline_runs::{Load, Workload, share};
use wordline_workload::file::spec::Multiple;
use wordline_workload::trace::{OnFault, ReadOptions};
use wordline_workload::{Fit, Format, WithinTick};

use crate::args::{LengthOptions, LoadOptions, TraceOptions};
use crate::columns::read;
use crate::failure::Failure;

impl LoadOptions {
    /// The load that was asked for, as long as its workload is.
    pub(crate) fn load(&self) -> Result<Load, Failure> {
        Ok(Load {
            queue_depth: self.qd,
            open_loop: self.open_loop,
            speed: self.speed,
            fit: self.fit.as_deref().map(Fit::parse).transpose()?,
            lenient: self.lenient,
            format: format(self.format.as_deref())?,
            time_unit: self.columns.time_unit()?,
            sector: self.columns.sector()?,
            spaces: self.columns.spaces()?,
            within_tick: read("--within-tick", self.within_tick.as_deref(), WithinTick::parse)?,
            fill: self.fill.as_deref().map(share).transpose()?,
            prefill_reads: self.prefill_reads,
            secure: self.secure_fraction.as_deref().map(share).transpose()?,
            ..Load::default()
        })
    }
}

impl LengthOptions {
    /// `load` with the length that was asked for.
    pub(crate) fn of(&self, load: Load) -> Result<Load, Failure> {
        let length = self.length.as_deref().map(Multiple::parse).transpose();
        Ok(Load {
            repeat: self.repeat,
            requests: self.requests,
            length: length.map_err(|error| Failure::Usage(format!("--length: {error}")))?.map(|multiple| multiple.0),
            until_steady: self.until_steady,
            round: self.round,
            ..load
        })
    }
}

/// The workload called `name`. What is worth knowing of a trace is printed.
pub(crate) fn workload(name: &str, load: &Load) -> Result<Workload, Failure> {
    Ok(Workload::load(name, load, &mut |line| eprintln!("wordline: {line}"))?)
}

fn format(name: Option<&str>) -> Result<Option<Format>, Failure> {
    name.map(Format::parse).transpose().map_err(|error| Failure::Usage(error.to_string()))
}

/// How to read a trace.
pub(crate) fn read_options(options: &TraceOptions) -> Result<ReadOptions, Failure> {
    Ok(ReadOptions {
        format: format(options.format.as_deref())?,
        on_fault: if options.lenient { OnFault::Skip } else { OnFault::Stop },
        time_unit: options.columns.time_unit()?,
        sector: options.columns.sector()?,
        spaces: options.columns.spaces()?.unwrap_or_default(),
    })
}
