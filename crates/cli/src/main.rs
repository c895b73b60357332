//! The `wordline` command: what a person types, what they see while they wait, and the files they get.
//!
//! The rim of the project: clocks, threads and files are allowed here and nowhere below. Exit codes: 0 done, 2 the input was wrong (nothing was
//! written), 3 a run broke one of its own checks; 1 only where `reproduce --strict` found a claim off.

mod age;
mod args;
mod cells;
mod characterize;
mod chip;
mod chip_fit;
mod compare;
mod cost;
mod ctl;
mod drives;
mod failure;
mod files;
mod forensics;
mod input;
mod plans;
mod progress;
mod record;
mod reproduce;
mod run;
mod serve;
mod simulate;
mod snapshot;
mod steady;
mod tags;
mod top;
mod trace;
mod watch;

use std::process::ExitCode;

use args::{Arguments, Command};
use clap::{CommandFactory, FromArgMatches};

/// The command line, which takes `--pe -1` for what it is, so that whoever reads the value says what is wrong with it.
fn shape() -> clap::Command {
    fn all(command: clap::Command) -> clap::Command {
        let command = command.mut_args(|arg| if arg.get_action().takes_values() { arg.allow_negative_numbers(true) } else { arg });
        let names: Vec<String> = command.get_subcommands().map(|part| part.get_name().to_owned()).collect();
        names.into_iter().fold(command, |command, name| command.mut_subcommand(name, all))
    }
    all(Arguments::command())
}

fn main() -> ExitCode {
    let arguments = Arguments::from_arg_matches(&shape().get_matches()).unwrap_or_else(|error| error.exit());
    let done = match arguments.command {
        Command::Run(options) => run::run(&options),
        Command::Age(options) => age::age(&options),
        Command::Compare(options) => compare::compare(&options),
        Command::Serve(options) => serve::serve(&options),
        Command::Ctl(options) => ctl::ctl(&options),
        Command::Record(options) => record::record(&options),
        Command::Top(options) => top::top(&options),
        Command::Trace(options) => trace::trace(&options),
        Command::Forensics(options) => forensics::forensics(&options),
        Command::Characterize(options) => characterize::characterize(&options),
        Command::Chip(options) => chip::chip(&options),
        Command::Reproduce(options) => reproduce::reproduce(&options),
        Command::Drives => drives::list(),
        Command::Workloads { name } => drives::workloads(name.as_deref()),
        Command::Describe(options) => drives::describe(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("wordline: {failure}");
            failure.code()
        }
    }
}
