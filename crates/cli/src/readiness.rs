//! What a service manager is told of a server that it has started: that it is ready, and that it stops.
//!
//! systemd waits for datagrams on the Unix socket that `NOTIFY_SOCKET` names, where the unit says `Type=notify`. Without that variable nothing is sent.

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Something that a service manager is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State<'a> {
    /// Clients are let in, at this address.
    Ready(&'a str),
    /// Nobody is let in any more, and everything is written down.
    Stopping,
}

/// Tells whoever started this program, if that wants to know. What goes wrong is said and changes nothing else.
pub(crate) fn tell(state: State<'_>) {
    let Some(address) = std::env::var_os("NOTIFY_SOCKET").filter(|address| !address.is_empty()) else { return };
    if let Err(error) = send(&address, &text(state)) {
        eprintln!("wordline: NOTIFY_SOCKET {}: {error}", address.display());
    }
}

fn text(state: State<'_>) -> String {
    match state {
        State::Ready(uri) => format!("READY=1\nSTATUS=serving {uri}\nMAINPID={}", std::process::id()),
        State::Stopping => "STOPPING=1\nSTATUS=stopping: everything is written down".to_owned(),
    }
}

fn send(address: &OsStr, text: &str) -> io::Result<()> {
    let socket = UnixDatagram::unbound()?;
    match address.as_bytes() {
        [b'@', name @ ..] => socket.send_to_addr(text.as_bytes(), &SocketAddr::from_abstract_name(name)?)?,
        [b'/', ..] => socket.send_to(text.as_bytes(), address)?,
        _ => return Err(io::Error::new(io::ErrorKind::Unsupported, "neither a path nor an abstract name")),
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manager_hears_it_at_a_path_and_at_an_abstract_name() {
        let path = std::env::temp_dir().join(format!("wordline-notify-{}", std::process::id()));
        let name = format!("wordline-notify-{}", std::process::id());
        let at_path = UnixDatagram::bind(&path).expect("a socket");
        let at_name = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).expect("short")).expect("a socket");
        send(path.as_os_str(), &text(State::Ready("nbd://x"))).expect("heard");
        send(OsStr::new(&format!("@{name}")), &text(State::Stopping)).expect("heard");
        let _ = std::fs::remove_file(&path);
        let hear = |socket: &UnixDatagram| {
            let mut buffer = [0; 200];
            let count = socket.recv(&mut buffer).expect("a datagram");
            String::from_utf8_lossy(&buffer[..count]).into_owned()
        };
        assert!(hear(&at_path).starts_with("READY=1\nSTATUS=serving nbd://x\n"));
        assert!(hear(&at_name).starts_with("STOPPING=1\n"));
        assert!(send(OsStr::new("vsock:2:1234"), "READY=1").is_err());
        assert!(send(path.as_os_str(), "READY=1").is_err(), "nobody is there");
    }
}
