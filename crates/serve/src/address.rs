//! Where a server listens, and the two kinds of stream that come of it.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::SendFlags;

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A socket in the file system.
    Unix(PathBuf),
    /// A loopback address; port 0 takes any that is free.
    Tcp(SocketAddr),
}

impl fmt::Display for Address {
    /// As a URI that clients understand.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => write!(f, "nbd+unix:///?socket={}", path.display()),
            Address::Tcp(address) => write!(f, "nbd://{address}"),
        }
    }
}

#[derive(Debug)]
pub(crate) enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

#[derive(Debug)]
pub(crate) enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

/// Does the same to either kind.
macro_rules! either {
    ($on:expr, $name:ident => $do:expr) => {
        match $on {
            Stream::Unix($name) => $do,
            Stream::Tcp($name) => $do,
        }
    };
}

impl Listener {
    /// Listens. A socket file that nobody listens on any more is replaced.
    pub(crate) fn bind(address: &Address) -> io::Result<(Listener, Address)> {
        match address {
            Address::Tcp(address) => {
                let listener = TcpListener::bind(address)?;
                let address = Address::Tcp(listener.local_addr()?);
                Ok((Listener::Tcp(listener), address))
            }
            Address::Unix(path) => {
                let bound = match UnixListener::bind(path) {
                    Err(error) if error.kind() == io::ErrorKind::AddrInUse && UnixStream::connect(path).is_err() => {
                        std::fs::remove_file(path)?;
                        UnixListener::bind(path)
                    }
                    other => other,
                };
                Ok((Listener::Unix(bound?), address.clone()))
            }
        }
    }

    pub(crate) fn accept(&self) -> io::Result<Stream> {
        match self {
            Listener::Unix(listener) => Ok(Stream::Unix(listener.accept()?.0)),
            Listener::Tcp(listener) => {
                let stream = listener.accept()?.0;
                // Answers are sent in batches already.
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }
        }
    }
}

impl Stream {
    pub(crate) fn connect(address: &Address) -> io::Result<Stream> {
        match address {
            Address::Unix(path) => UnixStream::connect(path).map(Stream::Unix),
            Address::Tcp(address) => TcpStream::connect(address).map(Stream::Tcp),
        }
    }

    pub(crate) fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        either!(self, stream => stream.set_read_timeout(timeout))
    }

    pub(crate) fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        either!(self, stream => stream.set_write_timeout(timeout))
    }

    /// Ends the stream in both directions; whoever waits on it wakes up.
    pub(crate) fn shut(&self) {
        // A stream that is down already is what is wanted.
        let _ = either!(self, stream => stream.shutdown(Shutdown::Both));
    }

    pub(crate) fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        either!(self, stream => { let mut stream = stream; stream.read(into) })
    }

    /// Sends what goes without waiting, and says how much that was.
    pub(crate) fn send_some(&self, bytes: &[u8]) -> io::Result<usize> {
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        match either!(self, stream => rustix::net::send(stream, bytes, flags)) {
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            other => Ok(other?),
        }
    }

    pub(crate) fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        either!(self, stream => { let mut stream = stream; stream.write_all(bytes) })
    }
}
