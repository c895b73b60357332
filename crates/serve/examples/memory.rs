//! A memory disk on a socket, to try clients on and to measure the way through the server:
//! `cargo run --release -p wordline-serve --example memory -- SOCKET SIZE_MIB`.

use std::process::ExitCode;
use std::sync::Arc;

use wordline_nbd::{Context, Export};
use wordline_serve::{Address, Config, MemoryDisk, serve};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [socket, mib] = &arguments[..] else {
        eprintln!("usage: memory SOCKET SIZE_MIB");
        return ExitCode::from(2);
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
    match serve(&address, vec![(export, Arc::new(MemoryDisk::new(mib << 20)))], Config::default()) {
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
