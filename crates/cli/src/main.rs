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
mod chip_calibrate;
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
mod lives;
mod load;
mod logs;
mod looking;
mod media_folder;
mod places;
mod plans;
mod progress;
mod read_out;
mod readiness;
mod record;
mod reproduce;
mod returned;
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
use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches};
use failure::Failure;
use wordline_plan::nearest;

/// Options whose values have units, so that `-4GiB` is a value, too.
const WITH_UNITS: [&str; 2] = ["age", "size"];

/// The command line, which takes `--pe -1` for what it is, so that whoever reads the value says what is wrong with it.
fn shape() -> clap::Command {
    fn all(command: clap::Command) -> clap::Command {
        let command = command.mut_args(|arg| match arg.get_action().takes_values() {
            true if WITH_UNITS.contains(&arg.get_id().as_str()) => arg.allow_hyphen_values(true),
            true => arg.allow_negative_numbers(true),
            false => arg,
        });
        let names: Vec<String> = command.get_subcommands().map(|part| part.get_name().to_owned()).collect();
        names.into_iter().fold(command, |command, name| command.mut_subcommand(name, all))
    }
    all(Arguments::command())
}

/// Message about a command that there is not, with the nearest of those that there are; `None`: the error is another, or of a command of another.
fn unknown_command(error: &clap::Error, shape: &clap::Command) -> Option<String> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    if std::env::args().nth(1).as_ref() != Some(word) {
        return None;
    }
    let near = nearest(word, shape.get_subcommands().map(clap::Command::get_name));
    let hint = near.map_or_else(|| "`wordline help` lists them all".to_owned(), |near| format!("did you mean `{near}`?"));
    Some(format!("unknown command `{word}`: {hint}"))
}

/// `text` without numbers of the operating system's errors.
fn without_numbers(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    parts.for_each(|part| plain += part.split_once(')').map_or(part, |(_, rest)| rest));
    plain
}

fn main() -> ExitCode {
    let shape = shape();
    let matches = shape.clone().try_get_matches().unwrap_or_else(|error| match unknown_command(&error, &shape) {
        Some(said) => {
            eprintln!("wordline: {said}");
            std::process::exit(2);
        }
        None => error.exit(),
    });
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    match carry_out(arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("wordline: {}", without_numbers(&failure.to_string()));
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
    use crate::load::LoadOptions;

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
