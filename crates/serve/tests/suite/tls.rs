//! Is a server with keys as private as it claims, and as good a disk?

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use wordline_live::MemoryDisk;
use wordline_live::doors::Address;
use wordline_nbd::client::Speak;
use wordline_nbd::{Export, Limits};
use wordline_serve::{Config, Peers, TlsKeys, serve};

use crate::common::{Connected, config, socket, start};

const SIZE: u64 = 4 << 20;
const GREETING: usize = 18;
const START_TLS: &[u8] = b"IHAVEOPT\0\0\0\x05\0\0\0\0";

/// An authority, and the folder of a server that it has signed for.
pub(crate) struct Trust {
    authority: CertifiedIssuer<'static, KeyPair>,
    folder: PathBuf,
}

impl Drop for Trust {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Trust {
    pub(crate) fn new() -> Trust {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("signed");
        let folder = socket().with_extension("tls");
        std::fs::create_dir_all(&folder).expect("a folder");
        let trust = Trust { authority, folder };
        let (certificate, key) = trust.sign();
        trust.put("server-cert.pem", &certificate.pem());
        trust.put("server-key.pem", &key.serialize_pem());
        trust.put("ca-cert.pem", &trust.authority.pem());
        trust
    }

    fn put(&self, name: &str, text: &str) {
        std::fs::write(self.folder.join(name), text).expect("written");
    }

    fn sign(&self) -> (rcgen::Certificate, KeyPair) {
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
        (params.signed_by(&key, &self.authority).expect("signed"), key)
    }

    pub(crate) fn config(&self, peers: Peers) -> Config {
        Config { tls: Some(TlsKeys::read(&self.folder, peers).expect("keys")), ..config(Limits::DEFAULT) }
    }

    /// A client that trusts this authority, and has a certificate by `by`.
    pub(crate) fn client(&self, by: Option<&Trust>) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.authority.der().clone()).expect("a root");
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots);
        Arc::new(match by {
            None => builder.with_no_client_auth(),
            Some(trust) => {
                let (certificate, key) = trust.sign();
                let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
                builder.with_client_auth_cert(vec![certificate.der().clone()], key).expect("they fit")
            }
        })
    }
}

/// A stream after STARTTLS. The client behind it is told the greeting again, for it does not know of what came before.
pub(crate) struct Upgraded<S: Read + Write> {
    greeting: io::Cursor<Vec<u8>>,
    flags_to_drop: usize,
    tls: StreamOwned<ClientConnection, S>,
}

impl<S: Read + Write> Read for Upgraded<S> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.greeting.read(into)? {
            0 => self.tls.read(into),
            count => Ok(count),
        }
    }
}

impl<S: Read + Write> Write for Upgraded<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let dropped = bytes.len().min(self.flags_to_drop);
        self.flags_to_drop -= dropped;
        if dropped > 0 { Ok(dropped) } else { self.tls.write(bytes) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.tls.flush()
    }
}

fn upgrade(path: &Path, config: Arc<ClientConfig>) -> io::Result<Upgraded<UnixStream>> {
    upgrade_on(UnixStream::connect(path)?, config)
}

pub(crate) fn upgrade_on<S: Read + Write>(mut stream: S, config: Arc<ClientConfig>) -> io::Result<Upgraded<S>> {
    let mut greeting = vec![0; GREETING];
    stream.read_exact(&mut greeting)?;
    stream.write_all(&3_u32.to_be_bytes())?;
    stream.write_all(START_TLS)?;
    let mut reply = [0; 20];
    stream.read_exact(&mut reply)?;
    assert_eq!(reply[12..16], 1_u32.to_be_bytes(), "STARTTLS is accepted: {reply:?}");
    let connection = ClientConnection::new(config, ServerName::try_from("localhost").expect("a name")).map_err(io::Error::other)?;
    let mut tls = StreamOwned::new(connection, stream);
    // A certificate that is refused is heard of with the first bytes that come back: an option that nobody knows is answered.
    tls.write_all(b"IHAVEOPT\0\0\0\x63\0\0\0\0")?;
    let mut head = [0; 20];
    tls.read_exact(&mut head)?;
    let text = u32::from_be_bytes(head[16..].try_into().expect("four bytes"));
    tls.read_exact(&mut vec![0; text as usize])?;
    Ok(Upgraded { greeting: io::Cursor::new(greeting), flags_to_drop: 4, tls })
}

#[test]
fn a_disk_in_tls_is_as_good() {
    let trust = Trust::new();
    for (peers, by) in [(Peers::Anyone, None), (Peers::Certified, Some(&trust))] {
        let (_running, path) = start(Arc::new(MemoryDisk::new(SIZE)), SIZE, trust.config(peers));
        for speak in [Speak::Simple, Speak::Structured, Speak::Extended] {
            let mut client = Connected::open(upgrade(&path, trust.client(by)).expect("agreed"), speak);
            assert_eq!(client.ready.size, SIZE);
            // Longer than a record, and than what is read at once.
            let pattern: Vec<u8> = (0..3_000_000_u32).map(|at| (at >> 3) as u8 ^ at as u8).collect();
            client.write(30_000, &pattern);
            assert_eq!(client.read(30_000, 3_000_000), pattern);
            client.client.disconnect();
            client.send();
            assert_eq!(client.stream.read(&mut [0; 1]).expect("it says that this was all"), 0);
        }
    }
}

#[test]
fn nothing_is_said_before_tls_and_nothing_to_strangers() {
    let (trust, stranger) = (Trust::new(), Trust::new());
    let (running, path) = start(Arc::new(MemoryDisk::new(SIZE)), SIZE, trust.config(Peers::Certified));
    // In the clear: refused, option by option.
    let mut stream = UnixStream::connect(&path).expect("it listens");
    stream.read_exact(&mut [0; GREETING]).expect("a greeting");
    stream.write_all(&3_u32.to_be_bytes()).expect("sent");
    stream.write_all(b"IHAVEOPT\0\0\0\x03\0\0\0\0").expect("sent");
    let mut reply = [0; 16];
    stream.read_exact(&mut reply).expect("an answer");
    assert_eq!(reply[12..], (1_u32 << 31 | 5).to_be_bytes(), "LIST needs TLS");
    // Without a certificate, or with somebody else's.
    assert!(upgrade(&path, trust.client(None)).is_err());
    assert!(upgrade(&path, trust.client(Some(&stranger))).is_err());
    // And a client that does not trust the server.
    assert!(upgrade(&path, stranger.client(Some(&trust))).is_err());
    assert!(upgrade(&path, trust.client(Some(&trust))).is_ok(), "others are served as before");
    drop(running);
}

#[test]
fn noise_instead_of_a_handshake_ends_that_connection_alone() {
    let trust = Trust::new();
    let (_running, path) = start(Arc::new(MemoryDisk::new(SIZE)), SIZE, trust.config(Peers::Anyone));
    let good = Connected::open(upgrade(&path, trust.client(None)).expect("agreed"), Speak::Structured);
    // Noise, a record without end, and silence.
    for noise in [vec![0xA5; 100_000], b"\x16\x03\x01\xff\xff".to_vec(), Vec::new()] {
        let mut stream = UnixStream::connect(&path).expect("it listens");
        stream.read_exact(&mut [0; GREETING]).expect("a greeting");
        stream.write_all(&3_u32.to_be_bytes()).expect("sent");
        stream.write_all(START_TLS).expect("sent");
        stream.read_exact(&mut [0; 20]).expect("an answer");
        // It may hang up in the middle.
        let _ = stream.write_all(&noise);
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.len() < 100, "an alert and the end: {rest:?}");
    }
    let mut good = good;
    good.write(0, &[7; 4096]);
    assert_eq!(good.read(0, 4096), [7; 4096]);
}

#[test]
fn others_are_served_in_tls_only() {
    let trust = Trust::new();
    let everywhere = Address::Tcp(SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0));
    assert!(serve(&everywhere, vec![], config(Limits::DEFAULT)).is_err());
    // What would be reached by others is not opened here: that keys suffice is seen on an address that nobody has.
    let nobody = Address::Tcp(SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 0));
    let disks = vec![(Export::new("disk", SIZE), Arc::new(MemoryDisk::new(SIZE)) as Arc<dyn wordline_block::Disk>)];
    let why = serve(&nobody, disks, trust.config(Peers::Certified)).expect_err("the host has no such address").to_string();
    assert!(why.contains("cannot listen") && why.contains("192.0.2.1"), "{why}");
}

#[test]
fn keys_that_do_not_fit_are_named() {
    let trust = Trust::new();
    let why = |peers| TlsKeys::read(&trust.folder, peers).expect_err("wrong").to_string();
    let (_, other_key) = trust.sign();
    trust.put("server-key.pem", &other_key.serialize_pem());
    assert!(why(Peers::Anyone).contains("server-cert.pem and server-key.pem"), "{}", why(Peers::Anyone));
    trust.put("server-key.pem", "nothing");
    assert!(why(Peers::Anyone).contains("server-key.pem"), "{}", why(Peers::Anyone));
    trust.put("server-cert.pem", "");
    assert!(why(Peers::Anyone).contains("server-cert.pem: no certificate"), "{}", why(Peers::Anyone));
    std::fs::remove_file(trust.folder.join("server-cert.pem")).expect("removed");
    assert!(why(Peers::Anyone).contains("server-cert.pem"), "{}", why(Peers::Anyone));
}
