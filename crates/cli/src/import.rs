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
    /// A job file of fio: a workload file whose `[[jobs]]` run at the same time, or one after another in `[[phases]]` where they wait (`stonewall`).
    ///
    /// A key that makes no request another one becomes a comment that names it. One without a counterpart that changes requests is an error.
    Fio {
        /// The job file.
        file: PathBuf,
        /// Where to; standard output otherwise.
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Leave out keys without a counterpart that change requests. Each is named on standard error and in a comment.
        #[arg(long)]
        lenient: bool,
        /// The value of a variable, `${VAR}` in the file; may be repeated. The environment is not read, so that a file means the same everywhere.
        #[arg(long, short = 'D', value_name = "VAR=VALUE", value_parser = definition)]
        define: Vec<(String, String)>,
    },
}

pub(crate) fn import(options: &ImportOptions) -> Result<(), Failure> {
    match &options.from {
        ImportFrom::Fio { file, output, lenient, define } => {
            from_fio(file, output.as_deref(), &fio::ImportOptions { is_lenient: *lenient, defines: define.clone() })
        }
    }
}

/// Reads a variable and its value.
fn definition(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        Some(_) | None => Err("expected VAR=VALUE, such as SIZE=1g".to_owned()),
    }
}

fn from_fio(file: &Path, output: Option<&Path>, options: &fio::ImportOptions) -> Result<(), Failure> {
    output.iter().try_for_each(|path| Places::reading([file.to_owned()]).claim(path))?;
    let text = read_text(file).map_err(|error| Failure::File { path: file.to_owned(), error })?;
    let imported = fio::import(&text, &file.display().to_string(), options)?;
    match output {
        Some(path) => files::write(path, imported.workload.as_bytes())?,
        None => files::write_or_print("-", imported.workload.trim_end())?,
    }
    imported.left_out.iter().for_each(|left_out| eprintln!("wordline: left out: {left_out}"));
    Ok(())
}
