//! Where a server listens, and the two kinds of stream that come of it.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A socket in the file system.
    Unix(PathBuf),
    /// An internet address; port 0 takes any that is free.
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

/// An open door.
#[derive(Debug)]
pub struct Listener {
    socket: Socket,
    address: Address,
    /// Opened here, and not by whoever started the program.
    is_own: bool,
}

#[derive(Debug)]
enum Socket {
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
    pub(crate) fn bind(address: &Address) -> io::Result<Listener> {
        match address {
            Address::Tcp(address) => {
                let listener = TcpListener::bind(address)?;
                let address = Address::Tcp(listener.local_addr()?);
                Ok(Listener { socket: Socket::Tcp(listener), address, is_own: true })
            }
            Address::Unix(path) => {
                let bound = match UnixListener::bind(path) {
                    Err(error) if error.kind() == io::ErrorKind::AddrInUse && UnixStream::connect(path).is_err() => {
                        std::fs::remove_file(path)?;
                        UnixListener::bind(path)
                    }
                    other => other,
                };
                Ok(Listener { socket: Socket::Unix(bound?), address: address.clone(), is_own: true })
            }
        }
    }

    /// A Unix socket that somebody else listens on for us.
    ///
    /// # Errors
    /// If the host does not tell where, or it is nowhere.
    pub fn handed_over_unix(listener: UnixListener) -> io::Result<Listener> {
        let path = listener.local_addr()?.as_pathname().map(PathBuf::from);
        let path = path.ok_or_else(|| io::Error::new(io::ErrorKind::Unsupported, "a Unix socket without a path"))?;
        Ok(Listener { socket: Socket::Unix(listener), address: Address::Unix(path), is_own: false })
    }

    /// A TCP socket that somebody else listens on for us.
    ///
    /// # Errors
    /// If the host does not tell where.
    pub fn handed_over_tcp(listener: TcpListener) -> io::Result<Listener> {
        let address = Address::Tcp(listener.local_addr()?);
        Ok(Listener { socket: Socket::Tcp(listener), address, is_own: false })
    }

    /// Where it is.
    pub fn address(&self) -> &Address {
        &self.address
    }

    pub(crate) fn is_own(&self) -> bool {
        self.is_own
    }

    pub(crate) fn accept(&self) -> io::Result<Stream> {
        match &self.socket {
            Socket::Unix(listener) => Ok(Stream::Unix(listener.accept()?.0)),
            Socket::Tcp(listener) => {
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

    /// Reads what has come, without waiting; `None`: nothing has.
    pub(crate) fn read_some(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        match either!(self, stream => rustix::net::recv(stream, into, RecvFlags::DONTWAIT)) {
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
            Ok((count, _)) => Ok(Some(count)),
        }
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
