//! Every command, flag and error of the protocol, on a disk in memory.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::bench::{Bench, until};

const SIZE_MIB: &str = "256";

/// Bytes of an image that is copied onto a drive on media.
const COPIED_BYTES: u64 = 200 << 20;

/// What libnbd's own binding is asked to do: every command, every flag, every error.
const SCRIPT: &str = r#"
import nbd, sys
h = nbd.NBD()
for name in ("base:allocation", "x-wordline:hint"): h.add_meta_context(name)
h.connect_uri(sys.argv[1])
assert h.get_size() == 256 << 20 and h.can_multi_conn() and h.can_fast_zero() and h.can_df() and h.can_cache()
assert h.get_block_size(nbd.SIZE_MAXIMUM) == 32 << 20
h.pwrite(b"A" * 65536, 1 << 20)
h.pwrite(b"B" * 4096, 5 << 20, nbd.CMD_FLAG_FUA)
assert h.pread(8, (1 << 20) - 4) == b"\0\0\0\0AAAA"
h.zero(4096, 5 << 20, nbd.CMD_FLAG_FAST_ZERO | nbd.CMD_FLAG_NO_HOLE)
assert h.pread(4096, 5 << 20) == bytes(4096)
h.flush()
h.cache(4096, 0)
seen = {}
h.block_status(8 << 20, 0, lambda context, offset, extents, error: seen.__setitem__(context, extents))
assert seen["base:allocation"][:4] == [1 << 20, 3, 65536, 0], seen
assert seen["x-wordline:hint"] == [8 << 20, 0], seen
h.trim(65536, 1 << 20)
assert h.pread(65536, 1 << 20) == bytes(65536)
chunks = []
h.pread_structured(1 << 20, 4 << 20, lambda data, offset, status, error: chunks.append((len(data), offset)), nbd.CMD_FLAG_DF)
assert chunks == [(1 << 20, 4 << 20)], chunks
h.set_strict_mode(0)
for request, errno in ((lambda: h.pread(512, 256 << 20), "EINVAL"), (lambda: h.pwrite(b"x" * 512, (256 << 20) - 1), "ENOSPC")):
    try: request()
    except nbd.Error as error: assert error.errno == errno, error
    else: raise AssertionError("no error")
h.shutdown()
"#;

/// The server. It goes when this does.
struct Served {
    server: Child,
    uri: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

pub(super) fn run(bench: &Bench) -> Result<(), String> {
    // A disk that answers at once, and one that answers from another thread.
    every_client(bench, &serve(bench, &[])?)?;
    every_client(bench, &serve(bench, &["late"])?)?;
    in_tls(bench)?;
    handed_over(bench)
}

/// A drive in TLS, to a client with a certificate, and to nobody else.
fn in_tls(bench: &Bench) -> Result<(), String> {
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let authority = ["req", "-x509", "-keyout", "ca-key.pem", "-out", "ca-cert.pem", "-subj", "/CN=authority", "-days", "2"];
    bench.client("openssl", &[&authority[..], &key[..]].concat())?;
    for who in ["server", "client"] {
        let (own, out) = (format!("{who}-key.pem"), format!("{who}-cert.pem"));
        let asked = ["req", "-keyout", &own, "-out", "request", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
        bench.client("openssl", &[&asked[..], &key[..]].concat())?;
        let signed = ["-CA", "ca-cert.pem", "-CAkey", "ca-key.pem", "-CAcreateserial", "-copy_extensions", "copy", "-days", "2"];
        bench.client("openssl", &[&["x509", "-req", "-in", "request", "-out", &out][..], &signed[..]].concat())?;
    }
    let program = bench.built("wordline").display().to_string();
    let arguments = ["serve", "pageftl-4k", "--listen", "127.0.0.1:0", "--tls", "."];
    let served = listening(bench.command(&program, &arguments))?;
    let port = served.uri.trim().trim_end_matches("/disk").rsplit(':').next().unwrap_or_default().to_owned();
    let (mut with, without) = (format!("nbds://localhost:{port}/disk"), format!("nbd://localhost:{port}/disk"));
    with.push_str(&format!("?tls-certificates={}", bench.folder.display()));
    std::fs::write(bench.path("secret"), vec![0x5C; 9 << 20]).map_err(|error| format!("cannot write a file: {error}"))?;
    bench.client("nbdinfo", &[&with])?;
    bench.client("nbdcopy", &[&bench.path("secret"), &with])?;
    bench.client("nbdcopy", &[&with, &bench.path("told")])?;
    bench.client("cmp", &["-n", &(9 << 20).to_string(), "secret", "told"])?;
    // These have to fail: in the clear, and without a certificate.
    std::fs::remove_file(bench.path("client-cert.pem")).map_err(|error| format!("cannot remove a certificate: {error}"))?;
    for stranger in [&without, &with] {
        if bench.client("nbdinfo", &[stranger]).is_ok() {
            return Err(format!("{stranger} was served"));
        }
    }
    Ok(())
}

/// A client that listens itself and starts the drive with the open socket.
fn handed_over(bench: &Bench) -> Result<(), String> {
    let program = bench.built("wordline").display().to_string();
    bench.client("nbdinfo", &["--size", "--", "[", &program, "serve", "pageftl-4k", "]"])?;
    bench.client("nbdcopy", &["--", &bench.path("secret"), "[", &program, "serve", "pageftl-4k", "]"])?;
    copied_is_kept(bench, &program)
}

/// nbdcopy starts the drive, copies, flushes nothing, and ends the drive with SIGTERM: every byte has to be there when the drive is started again.
fn copied_is_kept(bench: &Bench, program: &str) -> Result<(), String> {
    let image: Vec<u8> = (0..COPIED_BYTES / 8).flat_map(|word| (word.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1).to_le_bytes()).collect();
    std::fs::write(bench.path("copied"), image).map_err(|error| format!("cannot write an image: {error}"))?;
    for drive in ["pageftl", "mqsim-b-cache"] {
        let media = bench.path(&format!("media-{drive}"));
        let server = ["[", program, "serve", drive, "--media", &media, "--size", "2GiB", "]"];
        bench.client("nbdcopy", &[&["--", &bench.path("copied")][..], &server].concat())?;
        // It ends in its own time: as long as it does, the media are its own.
        until("the drive has let go of its media", Duration::from_secs(60), || is_free(&media))?;
        bench.client("nbdcopy", &[&["--"][..], &server, &[&bench.path("back")]].concat())?;
        bench.client("cmp", &["-n", &COPIED_BYTES.to_string(), "copied", "back"])?;
        until("the drive has let go of its media", Duration::from_secs(60), || is_free(&media))?;
        println!("nbdcopy: {COPIED_BYTES} bytes compared on {drive} after a restart");
    }
    Ok(())
}

/// Whether no server has the media.
fn is_free(media: &str) -> bool {
    std::fs::File::open(format!("{media}/lock")).is_ok_and(|lock| lock.try_lock().is_ok())
}

fn every_client(bench: &Bench, served: &Served) -> Result<(), String> {
    let uri = served.uri.as_str();
    let client = |program: &str, arguments: &[&str]| bench.client(program, arguments);
    client("nbdinfo", &[uri])?;
    client("nbdinfo", &["--list", uri])?;
    client("nbdinfo", &["--map=x-wordline:media", uri])?;
    client("nbdinfo", &["--can", "structured-reply", &uri.replace("/disk?", "/disk@high,insecure?")])?;
    // This one has to fail.
    if client("nbdinfo", &[&uri.replace("/disk?", "/disk@unheard-of?")]).is_ok() {
        return Err("a hint class that does not exist was accepted".to_owned());
    }
    bench.write("session.py", SCRIPT)?;
    client("/usr/bin/python3", &["session.py", uri])?;
    let qemu = ["write -P 90 1M 64k", "write -f 2M 4k", "write -zu 1M 64k", "discard 3M 1M", "flush", "read -P 0 1M 64k"];
    let qemu: Vec<&str> = ["-f", "raw", uri].into_iter().chain(qemu.into_iter().flat_map(|line| ["-c", line])).collect();
    client("qemu-io", &qemu)?;
    client("qemu-img", &["map", "--output=json", uri])?;
    let fio = |name: &str, more: &[&str]| {
        let (job, uri) = (format!("--name={name}"), format!("--uri={uri}"));
        let mut arguments = vec![job.as_str(), "--ioengine=nbd", uri.as_str(), "--size=64M", "--randseed=42", "--minimal"];
        arguments.extend(more);
        client("fio", &arguments)
    };
    fio("verify", &["--rw=randwrite", "--bsrange=512-64k", "--bs_unaligned=0", "--iodepth=16", "--verify=crc32c", "--verify_fatal=1"])?;
    fio(
        "small",
        &[
            "--rw=randwrite",
            "--bs=4k",
            "--iodepth=32",
            "--numjobs=2",
            "--offset_increment=64M",
            "--verify=crc32c",
            "--verify_fatal=1",
            "--fsync=64",
        ],
    )?;
    fio("trim", &["--rw=randtrim", "--bs=64k", "--iodepth=8"])?;
    let image: Vec<u8> =
        (0..24_u32 << 20).map(|at| if at >> 20 & 1 == 0 { (at.wrapping_mul(2_654_435_761) >> 24) as u8 } else { 0 }).collect();
    std::fs::write(bench.path("image"), image).map_err(|error| format!("cannot write an image: {error}"))?;
    client("nbdcopy", &[&bench.path("image"), uri])?;
    client("nbdcopy", &[uri, &bench.path("back")])?;
    client("cmp", &["-n", &(24 << 20).to_string(), "image", "back"])
}

fn serve(bench: &Bench, more: &[&str]) -> Result<Served, String> {
    let socket = bench.path("socket");
    let program = bench.built("examples/memory").display().to_string();
    let mut served = listening(bench.command(&program, &[&[socket.as_str(), SIZE_MIB], more].concat()))?;
    served.uri = format!("nbd+unix:///disk?socket={socket}");
    Ok(served)
}

/// Starts a server. It says where it listens once it does.
fn listening(mut server: Command) -> Result<Served, String> {
    let server = server.stdout(Stdio::piped()).spawn().map_err(|error| format!("cannot start a server: {error}"))?;
    let mut served = Served { server, uri: String::new() };
    let stdout = served.server.stdout.take();
    let said = stdout.map(|stdout| BufReader::new(stdout).read_line(&mut served.uri));
    if matches!(said, Some(Ok(count)) if count > 0) { Ok(served) } else { Err("the server did not come up".to_owned()) }
}
