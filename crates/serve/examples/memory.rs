//! A memory disk on a socket, to try clients on and to measure the way through the server:
//! `cargo run --release -p wordline-serve --example memory -- SOCKET SIZE_MIB [late]`.
//!
//! With `late`, one thread of its own does all requests, as the firmware of a drive would: what that costs is the floor for a drive.

use std::process::ExitCode;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

use wordline_block::{Disk, Done, Op, Session};
use wordline_live::MemoryDisk;
use wordline_live::doors::Address;
use wordline_nbd::{Context, Export};
use wordline_serve::{Config, serve};

/// A disk behind a thread.
struct Late(Mutex<Sender<(Op, Arc<Session>, Done)>>);

impl Late {
    fn new(disk: MemoryDisk) -> Late {
        let (sender, receiver) = channel::<(Op, Arc<Session>, Done)>();
        std::thread::spawn(move || {
            while let Ok((op, session, done)) = receiver.recv() {
                disk.submit(op, &session, done);
            }
        });
        Late(Mutex::new(sender))
    }
}

impl Disk for Late {
    fn submit(&self, op: Op, session: &Arc<Session>, done: Done) {
        // A request that finds nobody is answered with an error when it is dropped.
        if let Ok(sender) = self.0.lock() {
            drop(sender.send((op, Arc::clone(session), done)));
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (socket, mib, late) = match &arguments[..] {
        [socket, mib] => (socket, mib, false),
        [socket, mib, late] if late == "late" => (socket, mib, true),
        _ => {
            eprintln!("usage: memory SOCKET SIZE_MIB [late]");
            return ExitCode::from(2);
        }
    };
    let Ok(mib) = mib.parse::<u64>() else {
        eprintln!("`{mib}`: expected a number of MiB");
        return ExitCode::from(2);
    };
    let mut export = Export::new("disk", mib << 20);
    export.description = "a disk in memory".to_owned();
    export.contexts.extend(["x-wordline:media", "x-wordline:hint"].map(|name| Context { name: name.to_owned() }));
    export.classes = ["insecure", "high"].map(String::from).to_vec();
    let address = if let Ok(tcp) = socket.parse() { Address::Tcp(tcp) } else { Address::Unix(socket.into()) };
    let memory = MemoryDisk::new(mib << 20);
    let disk: Arc<dyn Disk> = if late { Arc::new(Late::new(memory)) } else { Arc::new(memory) };
    match serve(&address, vec![(export, disk)], Config::default()) {
        Ok(running) => {
            println!("{}", running.address());
            running.wait();
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
