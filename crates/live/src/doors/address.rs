//! Addresses of a server, and the two kinds of stream of its clients.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::fs::{Mode, fchmod};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with};
use thiserror::Error;

use super::rank::Origin;

/// Clients that may wait to be let in.
const BACKLOG: i32 = 128;

/// Address to listen on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A socket in the file system.
    Unix(PathBuf),
    /// An internet address; port 0 takes any that is free.
    Tcp(SocketAddr),
}

impl fmt::Display for Address {
    /// URI of the address, for clients.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => write!(f, "nbd+unix:///?socket={}", path.display()),
            Address::Tcp(address) => write!(f, "nbd://{address}"),
        }
    }
}

/// Refusal of the host to listen somewhere.
#[derive(Debug, Error)]
#[error("cannot listen on {address}: {source}")]
pub struct ListenError {
    /// The address that was refused.
    pub address: Address,
    /// Cause, from the host.
    pub source: io::Error,
}

/// An open door. If it was opened on a socket file that no server uses, that file goes with it.
#[derive(Debug)]
pub struct Listener {
    socket: Socket,
    address: Address,
    /// The file that was made here, and not by the process that started the program.
    file: Option<SocketFile>,
    /// Readable once it is to be closed, through `closer`.
    closes: UnixStream,
    closer: UnixStream,
}

/// The file of a Unix socket, which is removed only while it is the one that was made.
#[derive(Clone, Debug)]
pub struct SocketFile {
    path: PathBuf,
    device: u64,
    inode: u64,
}

/// Closes a [`Listener`] from another thread.
#[derive(Debug)]
pub struct Closer(UnixStream);

#[derive(Debug)]
enum Socket {
    Unix(UnixListener),
    Tcp(TcpListener),
}

/// Stream to a peer.
#[derive(Debug)]
pub enum Stream {
    /// Through a socket in the file system.
    Unix(UnixStream),
    /// Over the internet protocol.
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
    /// Listens on `address`. A socket file without a listener is replaced.
    pub fn bind(address: &Address) -> io::Result<Listener> {
        match address {
            Address::Tcp(address) => {
                let listener = TcpListener::bind(address)?;
                let address = Address::Tcp(listener.local_addr()?);
                Listener::new(Socket::Tcp(listener), address, None)
            }
            Address::Unix(path) => {
                let bound = match bind_unix(path) {
                    Err(error) if error.kind() == io::ErrorKind::AddrInUse && is_left_over(path) => {
                        std::fs::remove_file(path)?;
                        bind_unix(path)
                    }
                    other => other,
                };
                let bound = bound?;
                let file = SocketFile::at(path)?;
                Listener::new(Socket::Unix(bound), address.clone(), Some(file))
            }
        }
    }

    fn new(socket: Socket, address: Address, file: Option<SocketFile>) -> io::Result<Listener> {
        let (closes, closer) = UnixStream::pair()?;
        // A client that is gone again before it is let in must not be waited for.
        match &socket {
            Socket::Unix(listener) => listener.set_nonblocking(true)?,
            Socket::Tcp(listener) => listener.set_nonblocking(true)?,
        }
        Ok(Listener { socket, address, file, closes, closer })
    }

    /// Takes over a Unix socket that another process has opened.
    ///
    /// # Errors
    /// If the host does not report its address, or it has none.
    pub fn handed_over_unix(listener: UnixListener) -> io::Result<Listener> {
        let path = listener.local_addr()?.as_pathname().map(PathBuf::from);
        let path = path.ok_or_else(|| io::Error::new(io::ErrorKind::Unsupported, "a Unix socket without a path"))?;
        Listener::new(Socket::Unix(listener), Address::Unix(path), None)
    }

    /// Takes over a TCP socket that another process has opened.
    ///
    /// # Errors
    /// If the host does not report its address.
    pub fn handed_over_tcp(listener: TcpListener) -> io::Result<Listener> {
        let address = Address::Tcp(listener.local_addr()?);
        Listener::new(Socket::Tcp(listener), address, None)
    }

    /// Address of the door.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Leaves the file that goes with it to the caller.
    pub fn take_file(&mut self) -> Option<SocketFile> {
        self.file.take()
    }

    /// Closer of the door, for another thread.
    ///
    /// # Errors
    /// If the host has no descriptor left.
    pub fn closer(&self) -> io::Result<Closer> {
        self.closer.try_clone().map(Closer)
    }

    /// Descriptors that become readable once a client is there, and once the door is to be closed. A connection cannot be relied on to wake it for that: the
    /// socket's file may be gone.
    pub fn watched(&self) -> [BorrowedFd<'_>; 2] {
        [self.descriptor(), self.closes.as_fd()]
    }

    /// Lets in the clients that are there, `most` at most. One that is gone again before it was let in does not count.
    ///
    /// # Errors
    /// If no client could be let in: the host's error.
    pub fn let_in(&self, most: usize) -> io::Result<Vec<Stream>> {
        let mut came = Vec::new();
        while came.len() < most {
            let stream = match &self.socket {
                Socket::Unix(listener) => listener.accept().map(|(stream, _)| Stream::Unix(stream)),
                // Answers are sent in batches already.
                Socket::Tcp(listener) => listener.accept().and_then(|(stream, _)| stream.set_nodelay(true).map(|()| Stream::Tcp(stream))),
            };
            match stream {
                Ok(stream) => came.push(stream),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted) => {}
                Err(error) if came.is_empty() => return Err(error),
                Err(_) => break,
            }
        }
        Ok(came)
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        match &self.socket {
            Socket::Unix(listener) => listener.as_fd(),
            Socket::Tcp(listener) => listener.as_fd(),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            file.remove();
        }
    }
}

/// Listens on a socket file that is its owner's alone from the first instant on, whatever the umask.
fn bind_unix(path: &Path) -> io::Result<UnixListener> {
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    // Linux makes the file with the mode of the socket: to change it afterwards would leave a gap.
    fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    bind(&socket, &SocketAddrUnix::new(path)?)?;
    listen(&socket, BACKLOG)?;
    Ok(socket.into())
}

/// True if `path` is a socket without a listener. Anything else there has an owner.
fn is_left_over(path: &Path) -> bool {
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|there| there.file_type().is_socket());
    is_socket && UnixStream::connect(path).is_err()
}

impl SocketFile {
    fn at(path: &Path) -> io::Result<SocketFile> {
        let there = std::fs::symlink_metadata(path)?;
        Ok(SocketFile { path: path.to_owned(), device: there.dev(), inode: there.ino() })
    }

    /// Removes the file, unless another server has put its own there.
    pub fn remove(&self) {
        if SocketFile::at(&self.path).is_ok_and(|there| (there.device, there.inode) == (self.device, self.inode)) {
            // The file may be gone already.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Closer {
    /// Closes the door; a thread that waits for a client wakes up.
    pub fn close(&self) {
        // A socket that is down already is fine.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

impl Stream {
    /// Stream to the server at `address`.
    ///
    /// # Errors
    /// If the host refuses, or no server listens.
    pub fn connect(address: &Address) -> io::Result<Stream> {
        match address {
            Address::Unix(path) => UnixStream::connect(path).map(Stream::Unix),
            Address::Tcp(address) => TcpStream::connect(address).map(Stream::Tcp),
        }
    }

    /// Descriptor, for waiting.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        either!(self, stream => stream.as_fd())
    }

    /// Origin of the peer.
    pub fn origin(&self) -> Origin {
        match self {
            Stream::Unix(_) => Origin::LOCAL,
            Stream::Tcp(stream) => stream.peer_addr().map_or(Origin::LOCAL, |peer| Origin::of(peer.ip())),
        }
    }

    /// Number of bytes received and not read, `most` at most and as far as one look shows; `None`: no bytes. 0: no more will come.
    pub fn peek(&self, most: usize) -> io::Result<Option<usize>> {
        let mut buffer = [0u8; 64];
        let most = most.min(buffer.len());
        match either!(self, stream => rustix::net::recv(stream, &mut buffer[..most], RecvFlags::DONTWAIT | RecvFlags::PEEK)) {
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
            Ok((count, _)) => Ok(Some(count)),
        }
    }

    /// Limits the time of a read that waits; `None`: no limit.
    ///
    /// # Errors
    /// If the stream is down.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        either!(self, stream => stream.set_read_timeout(timeout))
    }

    /// Limits the time of a write that waits; `None`: no limit.
    ///
    /// # Errors
    /// If the stream is down.
    pub fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        either!(self, stream => stream.set_write_timeout(timeout))
    }

    /// Ends the stream in both directions; threads that wait on it wake up.
    pub fn shut(&self) {
        // A stream that is down already is fine.
        let _ = either!(self, stream => stream.shutdown(Shutdown::Both));
    }

    /// Takes nothing more; readers find the end. Unsent output still goes.
    pub fn shut_input(&self) {
        let _ = either!(self, stream => stream.shutdown(Shutdown::Read));
    }

    /// Sends nothing more; earlier output still goes.
    pub fn shut_output(&self) {
        let _ = either!(self, stream => stream.shutdown(Shutdown::Write));
    }

    /// Reads some bytes. Waits as long as the stream is set to; 0: no more will come.
    ///
    /// # Errors
    /// The host's error, or nothing came in time.
    pub fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        either!(self, stream => { let mut stream = stream; stream.read(into) })
    }

    /// Reads received bytes, without waiting; `None`: there are none.
    pub fn read_some(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        match either!(self, stream => rustix::net::recv(stream, into, RecvFlags::DONTWAIT)) {
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
            Ok((count, _)) => Ok(Some(count)),
        }
    }

    /// Reads to the end of `into`, up to its capacity. Waits as long as the stream is set to.
    pub fn read_behind(&self, into: &mut Vec<u8>) -> io::Result<usize> {
        loop {
            match either!(self, stream => rustix::net::recv(stream, spare_capacity(into), RecvFlags::empty())) {
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
                Ok((count, _)) => return Ok(count),
            }
        }
    }

    /// Sends as many bytes as go without waiting, and returns their number.
    pub fn send_some(&self, bytes: &[u8]) -> io::Result<usize> {
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        match either!(self, stream => rustix::net::send(stream, bytes, flags)) {
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            other => Ok(other?),
        }
    }

    /// Sends all of `bytes`. Waits as long as the stream is set to.
    ///
    /// # Errors
    /// The host's error, or the peer took too long.
    pub fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        either!(self, stream => { let mut stream = stream; stream.write_all(bytes) })
    }
}
