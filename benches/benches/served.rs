//! `cargo bench --bench served [-- ROUNDS] [LOAD …]`: a served drive against nbdkit's memory plugin, in turns, with ratios.
//!
//! It runs `wordline` from `WORDLINE`, or else from `target/release` (`cargo build --release`), and nbdkit from the path; where nbdkit is missing, the rates
//! and processor times are told without ratios. `WORDLINE_BEFORE` names another build, which then takes its turns beside this one. Words that are no number
//! choose the loads whose name has one of them, such as "write".

use std::path::{Path, PathBuf};
use std::time::Duration;

use wordline_benches::served::{Disk, LOADS, Load, Server};

/// The server beside which the drives are measured.
const NBDKIT: &str = "nbdkit";

/// One turn of one server.
const SPAN: Duration = Duration::from_millis(1000);

fn main() -> std::io::Result<()> {
    if wordline_benches::asks_for_help() {
        println!("Usage: cargo bench --bench served [-- ROUNDS] [LOAD…]\n");
        println!(
            "A served drive beside nbdkit's memory plugin, in turns: ROUNDS of them (7), of the loads whose names contain one of the words:\n"
        );
        LOADS.iter().for_each(|load| println!("  {}", load.name));
        println!("\nWORDLINE is the program to serve with, WORDLINE_BEFORE another one to take turns with.");
        return Ok(());
    }
    let rounds = std::env::args().skip(1).find_map(|word| word.parse::<usize>().ok()).unwrap_or(7).max(1);
    let chosen: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--") && word.parse::<usize>().is_err()).collect();
    let is_chosen = |load: &&Load| chosen.is_empty() || chosen.iter().any(|word| load.name.contains(word.as_str()));
    println!(
        "medians of {rounds} rounds; requests a second, their ratio to nbdkit's in the same round, microseconds of the server's processor time for each, and \
         their ratio"
    );
    for disk in [Disk::Large, Disk::Small] {
        let loads: Vec<&Load> = LOADS.iter().filter(|load| load.disk == disk).filter(is_chosen).collect();
        if !loads.is_empty() {
            compare(&servers(disk)?, &loads, rounds)?;
        }
    }
    Ok(())
}

/// Servers of a disk of this size, whose part that is measured is written; nbdkit is the first, where it is there.
fn servers(disk: Disk) -> std::io::Result<Vec<Server>> {
    let beside = || Some(std::env::current_exe().ok()?.ancestors().nth(2)?.join("wordline"));
    let wordline: PathBuf = std::env::var_os("WORDLINE").map(PathBuf::from).or_else(beside).unwrap_or_else(|| "wordline".into());
    let before: Option<PathBuf> = std::env::var_os("WORDLINE_BEFORE").map(PathBuf::from);
    let size = format!("{}iB", disk.size());
    let mut servers = Vec::new();
    match Server::start(NBDKIT, Path::new(NBDKIT), &["-f", "-U", "SOCKET", "memory", disk.size()], "") {
        Ok(server) => servers.push(server),
        Err(error) => println!("without ratios, as there is no nbdkit: {error}"),
    }
    let media: &[&str] = &["--media", "FOLDER"];
    for (name, name_before, drive, more) in [
        ("4K-units", "4K-units-before", "pageftl-4k", &[][..]),
        ("4K-units-media", "4K-media-before", "pageftl-4k", media),
        ("16K-units", "16K-units-before", "pageftl", &[]),
        ("16K-units-media", "16K-media-before", "pageftl", media),
    ] {
        let arguments = [&["serve", drive, "--physics", "off", "--size", &size, "--socket", "SOCKET"], more].concat();
        servers.push(Server::start(name, &wordline, &arguments, "disk")?);
        if let Some(before) = &before {
            servers.push(Server::start(name_before, before, &arguments, "disk")?);
        }
    }
    servers.iter().try_for_each(|server| server.fill(disk))?;
    Ok(servers)
}

/// Puts `loads` on `servers`, in turns, and prints what came of it.
fn compare(servers: &[Server], loads: &[&Load], rounds: usize) -> std::io::Result<()> {
    let has_peer = servers.first().is_some_and(|server| server.name == NBDKIT);
    for &&load in loads {
        let mut turns = vec![Vec::new(); servers.len()];
        for round in 0..rounds {
            for (server, turns) in servers.iter().zip(&mut turns) {
                turns.push(server.measure(load, SPAN, round as u64)?);
            }
        }
        println!("\n{}", load.name);
        for (at, server) in servers.iter().enumerate() {
            let of = |what: fn(&[f64; 2], &[f64; 2]) -> f64| {
                median(turns[at].iter().zip(&turns[0]).map(|(own, peer)| what(own, peer)).collect())
            };
            let (rate, spent) = (of(|own, _| own[0]), of(|own, _| own[1]));
            let against = |what| if has_peer { of(what) } else { f64::NAN };
            let (faster, dearer) = (100.0 * against(|own, peer| own[0] / peer[0]), against(|own, peer| own[1] / peer[1]));
            println!("{:16} {rate:>9.0}/s {faster:>5.0} % {spent:>7.1} us {dearer:>5.1} x", server.name);
        }
    }
    Ok(())
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}
