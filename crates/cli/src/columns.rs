//! Options on the columns of a trace that its format leaves open.

use clap::Args;
use wordline_units::{Bytes, Nanos};
use wordline_workload::trace::Spaces;
use wordline_workload::trace::meaning::{read_sector, read_time_unit};

use crate::failure::Failure;

/// Options on the units of a trace's columns.
#[derive(Clone, Debug, Args)]
pub(crate) struct ColumnOptions {
    /// The unit of a trace's times: s, ms, us, ns, or so many of one, such as 100ns; that of its format by default.
    #[arg(long, global = true, value_name = "UNIT")]
    pub(crate) time_unit: Option<String>,
    /// The size of a sector in a trace that counts in sectors, such as 4096 or 4KiB; 512 B by default.
    #[arg(long, global = true, value_name = "SIZE")]
    pub(crate) sector: Option<String>,
    /// The volumes of a trace: apart (each with an address space of its own, side by side on the drive; if nothing is said) or one (parts of one).
    #[arg(long, global = true, value_name = "HOW")]
    pub(crate) volumes: Option<String>,
}

impl ColumnOptions {
    /// The unit of times.
    pub(crate) fn time_unit(&self) -> Result<Option<Nanos>, Failure> {
        read("--time-unit", self.time_unit.as_deref(), read_time_unit)
    }

    /// The size of a sector.
    pub(crate) fn sector(&self) -> Result<Option<Bytes>, Failure> {
        read("--sector", self.sector.as_deref(), read_sector)
    }

    /// The address spaces of volumes.
    pub(crate) fn spaces(&self) -> Result<Option<Spaces>, Failure> {
        read("--volumes", self.volumes.as_deref(), Spaces::parse)
    }
}

/// The value of an option, if it was given.
pub(crate) fn read<T>(flag: &str, text: Option<&str>, parse: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, Failure> {
    text.map(parse).transpose().map_err(|error| Failure::Usage(format!("{flag}: {error}")))
}
