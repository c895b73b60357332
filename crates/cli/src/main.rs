//! The `wordline` command: what a person types, what they see while they wait, and the files they get.
//!
//! The rim of the project: clocks, threads and files are allowed here and nowhere below. Exit codes: 0 done, 2 the input was wrong (nothing was
//! written), 3 a run broke one of its own checks, 4 a drive of a comparison failed requests, or a served drive could not write everything down when it
//! stopped, 5 its power was cut on demand; 1 only where `reproduce --strict` found a claim off.

mod age;
mod args;
mod cells;
mod characterize;
mod chip;
mod chip_fit;
mod columns;
mod command;
mod compare;
mod ctl;
mod drives;
mod failure;
mod files;
mod forensics;
mod import;
mod life_time;
mod load;
mod logs;
mod looking;
mod media_folder;
mod places;
mod plans;
mod progress;
mod readiness;
mod record;
mod reproduce;
mod run;
mod serve;
mod smart;
mod stopping;
mod sweep;
mod timeline;
mod top;
mod trace;
mod unfinished;
mod wear_out;

use std::process::ExitCode;

use args::{Arguments, Command};
use clap::{CommandFactory, FromArgMatches};
use failure::Failure;

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
    match carry_out(arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("wordline: {failure}");
            failure.code()
        }
    }
}

fn carry_out(command: Command) -> Result<(), Failure> {
    // A server has its own way to stop; the others that do not write files end as any program does.
    if !matches!(command, Command::Serve(_) | Command::Ctl(_) | Command::Record(_) | Command::Top(_)) {
        unfinished::remove_on_signals()?;
    }
    match command {
        Command::Run(options) => run::run(&options),
        Command::Age(options) => age::age(&options),
        Command::Compare(options) => compare::compare(&options),
        Command::WearOut(options) => wear_out::wear_out(&options),
        Command::Serve(options) => serve::serve(&options),
        Command::Ctl(options) => ctl::ctl(&options),
        Command::Record(options) => record::record(&options),
        Command::Top(options) => top::top(&options),
        Command::Explain(options) => timeline::explain(&options),
        Command::Trace(options) => trace::trace(&options),
        Command::Import(options) => import::import(&options),
        Command::Forensics(options) => forensics::forensics(&options),
        Command::Characterize(options) => characterize::characterize(&options),
        Command::Chip(options) => chip::chip(&options),
        Command::Reproduce(options) => reproduce::reproduce(&options),
        Command::Drives => drives::list(),
        Command::Workloads { name } => drives::workloads(name.as_deref()),
        Command::Describe(options) => drives::describe(&options),
    }
}

#[cfg(test)]
mod tests {
    use clap::Args;

    use super::*;
    use crate::args::LoadOptions;

    #[test]
    fn every_command_that_puts_a_load_on_a_drive_has_all_options_of_loads() {
        let shape = shape();
        let group = LoadOptions::augment_args(clap::Command::new("load"));
        for name in ["run", "compare", "wear-out"] {
            let command = shape.find_subcommand(name).expect("it is a command");
            for option in group.get_arguments() {
                assert!(command.get_arguments().any(|arg| arg.get_long() == option.get_long()), "{name} has no --{}", option.get_id());
            }
        }
        assert!(group.get_arguments().any(|option| option.get_long() == Some("fit")));
    }
}
