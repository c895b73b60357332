//! TLS: what a server proves itself with, and one connection inside of it.
//!
//! A server with keys speaks nothing else: what may be left out by the client would be left out by whoever stands between the two.

use std::fmt;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection};
use thiserror::Error;
use wordline_live::doors::Stream;

/// Whom a server with TLS talks to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peers {
    /// Those with a certificate that the authority in `ca-cert.pem` has signed.
    Certified,
    /// Everybody: the line is private, and the peer is whoever it is.
    Anyone,
}

/// A server's certificate and key, and whom it talks to.
#[derive(Clone)]
pub struct TlsKeys(Arc<ServerConfig>, Peers);

impl fmt::Debug for TlsKeys {
    /// Nothing of what is inside.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TlsKeys")
    }
}

/// Why keys cannot be used.
#[derive(Debug, Error)]
pub enum TlsError {
    /// A file.
    #[error("{}: {why}", path.display())]
    File {
        /// The file's path.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The files do not fit each other.
    #[error("{}: server-cert.pem and server-key.pem: {why}", folder.display())]
    Pair {
        /// Where they are.
        folder: PathBuf,
        /// What is wrong with them.
        why: rustls::Error,
    },
}

impl TlsKeys {
    /// The keys in `folder`, in the files that other servers of the protocol take as well: `server-cert.pem` with the certificate and those that lead to it,
    /// `server-key.pem` with its key, and `ca-cert.pem` for [`Peers::Certified`].
    ///
    /// # Errors
    /// If a file is missing, holds nothing of the kind, or does not fit the others.
    pub fn read(folder: &Path, peers: Peers) -> Result<TlsKeys, TlsError> {
        let provider: Arc<CryptoProvider> = Arc::new(ring::default_provider());
        let chain = certificates(&folder.join("server-cert.pem"))?;
        let key_path = folder.join("server-key.pem");
        let key = PrivateKeyDer::from_pem_file(&key_path).map_err(|error| file(&key_path, &error.to_string()))?;
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|why| TlsError::Pair { folder: folder.to_owned(), why })?;
        let builder = match peers {
            Peers::Anyone => builder.with_no_client_auth(),
            Peers::Certified => {
                let path = folder.join("ca-cert.pem");
                let mut roots = RootCertStore::empty();
                for certificate in certificates(&path)? {
                    roots.add(certificate).map_err(|error| file(&path, &error.to_string()))?;
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                builder.with_client_cert_verifier(verifier.build().map_err(|error| file(&path, &error.to_string()))?)
            }
        };
        let config = builder.with_single_cert(chain, key).map_err(|why| TlsError::Pair { folder: folder.to_owned(), why })?;
        Ok(TlsKeys(Arc::new(config), peers))
    }

    /// Whom it talks to.
    pub(crate) fn peers(&self) -> Peers {
        self.1
    }
}

fn file(path: &Path, why: &str) -> TlsError {
    TlsError::File { path: path.to_owned(), why: why.to_owned() }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    match all.map_err(|error| file(path, &error.to_string()))? {
        none if none.is_empty() => Err(file(path, "no certificate in it: expected PEM, with a line BEGIN CERTIFICATE")),
        some => Ok(some),
    }
}

/// TLS on one connection. One thread decrypts and another encrypts; each record goes through the lock, and none waits there for the peer.
#[derive(Debug)]
pub(crate) struct Tls(Mutex<ServerConnection>);

fn broken(error: rustls::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

impl Tls {
    /// Agrees with the peer on TLS. `said` is what it has sent already; what it sends behind the handshake is appended to `plain`. `flight` is called each time
    /// that the peer has said enough to be answered.
    ///
    /// # Errors
    /// If the peer is not who it must be, speaks something else, or does not come to an end within `patience`.
    pub(crate) fn agree(
        keys: &TlsKeys,
        stream: &Stream,
        (said, plain): (&[u8], &mut Vec<u8>),
        patience: Duration,
        flight: impl Fn(),
    ) -> io::Result<Tls> {
        let mut tls = ServerConnection::new(Arc::clone(&keys.0)).map_err(broken)?;
        // What is given to it is as much as the protocol lets wait, and is taken from it at once.
        tls.set_buffer_limit(None);
        let (mut buffer, mut rest) = (vec![0; 16 << 10], said.to_vec());
        let until = Instant::now() + patience;
        loop {
            let mut from = rest.as_slice();
            while !from.is_empty() && tls.is_handshaking() {
                tls.read_tls(&mut from)?;
                let outcome = tls.process_new_packets();
                // Where it failed, this tells the peer why.
                let answer = pending(&mut tls)?;
                if !answer.is_empty() {
                    flight();
                }
                stream.write_all(&answer)?;
                outcome.map_err(broken)?;
            }
            if !tls.is_handshaking() {
                let tls = Tls(Mutex::new(tls));
                tls.decrypt(from, plain)?;
                return Ok(tls);
            }
            let left = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()).ok_or(io::ErrorKind::TimedOut)?;
            stream.set_read_timeout(Some(left))?;
            let count = stream.read(&mut buffer)?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            rest.clear();
            rest.extend_from_slice(&buffer[..count]);
        }
    }

    fn lock(&self) -> MutexGuard<'_, ServerConnection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends to `plain` what is in `bytes` and what came before them. False: the peer has said that this was all.
    pub(crate) fn decrypt(&self, mut bytes: &[u8], plain: &mut Vec<u8>) -> io::Result<bool> {
        let mut tls = self.lock();
        loop {
            let state = tls.process_new_packets().map_err(broken)?;
            let (from, count) = (plain.len(), state.plaintext_bytes_to_read());
            plain.resize(from + count, 0);
            tls.reader().read_exact(&mut plain[from..])?;
            if bytes.is_empty() || state.peer_has_closed() {
                return Ok(!state.peer_has_closed());
            }
            tls.read_tls(&mut bytes)?;
        }
    }

    /// What has to be sent so that the peer reads `plain`.
    pub(crate) fn encrypt(&self, plain: &[u8]) -> io::Result<Vec<u8>> {
        let mut tls = self.lock();
        tls.writer().write_all(plain)?;
        pending(&mut tls)
    }

    /// What has to be sent so that the peer knows that this was all.
    pub(crate) fn close(&self) -> io::Result<Vec<u8>> {
        let mut tls = self.lock();
        tls.send_close_notify();
        pending(&mut tls)
    }
}

fn pending(tls: &mut ServerConnection) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while tls.wants_write() {
        tls.write_tls(&mut bytes)?;
    }
    Ok(bytes)
}
