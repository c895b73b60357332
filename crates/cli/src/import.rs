//! `wordline import`: workloads that other programs describe, written as workload files.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use wordline_plan::read_text;
use wordline_workload::fio;

use crate::failure::Failure;
use crate::files;
use crate::places::Places;

#[derive(Clone, Debug, Args)]
pub(crate) struct ImportOptions {
    #[command(subcommand)]
    pub(crate) from: ImportFrom,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum ImportFrom {
    /// A job file of fio: a workload file whose `[[jobs]]` run at the same time. Keys without a counterpart become comments that name them.
    Fio {
        /// The job file.
        file: PathBuf,
        /// Where to; standard output otherwise.
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

pub(crate) fn import(options: &ImportOptions) -> Result<(), Failure> {
    match &options.from {
        ImportFrom::Fio { file, output } => from_fio(file, output.as_deref()),
    }
}

fn from_fio(file: &Path, output: Option<&Path>) -> Result<(), Failure> {
    output.iter().try_for_each(|path| Places::reading([file.to_owned()]).claim(path))?;
    let text = read_text(file).map_err(|error| Failure::File { path: file.to_owned(), error })?;
    let workload = fio::import(&text, &file.display().to_string())?;
    match output {
        Some(path) => files::write(path, workload.as_bytes()),
        None => files::write_or_print("-", workload.trim_end()),
    }
}
