//! Is a served drive a good service? The units for systemd, played through by a test that does what systemd does.

use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use wordline_block::Op;

use crate::Scratch;
use crate::served::Disk;

fn unit(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/systemd").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The value of a key that the unit has once.
fn value<'a>(unit: &'a str, key: &str) -> &'a str {
    let mut values = unit.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    let value = values.next().unwrap_or_else(|| panic!("no {key}"));
    assert_eq!(values.next(), None, "{key} twice");
    value
}

/// What systemd is to the service: its socket, the way on which it hears, and its folders.
struct Manager {
    scratch: Scratch,
    listener: UnixListener,
    hears: UnixDatagram,
}

impl Manager {
    fn new(name: &str) -> Manager {
        let scratch = Scratch::new(name);
        let listener = UnixListener::bind(scratch.0.join("drive.sock")).expect("a socket");
        let hears = UnixDatagram::bind(scratch.0.join("notify")).expect("a socket");
        hears.set_read_timeout(Some(std::time::Duration::from_secs(60))).expect("a socket");
        Manager { scratch, listener, hears }
    }

    /// The words of the unit, with what systemd puts for its variables.
    fn words(&self) -> Vec<String> {
        let service = unit("wordline@.service");
        let line = value(&service, "ExecStart").replace("%i", "test");
        let folder = |path: PathBuf| path.display().to_string();
        let known = [
            ("${DRIVE}", "pageftl".to_owned()),
            ("${SIZE}", "256MiB".to_owned()),
            ("${STATE_DIRECTORY}", folder(self.scratch.0.join("state"))),
            ("${RUNTIME_DIRECTORY}", folder(self.scratch.0.clone())),
        ];
        let line = known.iter().fold(line, |line, (name, value)| line.replace(name, value));
        assert!(!line.contains(['$', '%']), "{line}");
        line.split_whitespace().map(str::to_owned).collect()
    }

    /// Starts the service with its socket, as descriptor 3.
    fn start(&self) -> Child {
        let words = self.words();
        assert_eq!(words[0], "/usr/local/bin/wordline");
        let socket: OwnedFd = self.listener.try_clone().expect("a descriptor").into();
        Command::new("sh")
            .args(["-c", "exec 3<&0 </dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_wordline")])
            .args(&words[1..])
            .env("NOTIFY_SOCKET", self.scratch.0.join("notify"))
            .current_dir(&self.scratch.0)
            .stdin(Stdio::from(socket))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell")
    }

    /// The next thing that it hears from the service.
    fn hear(&self) -> String {
        let mut buffer = [0; 4096];
        let count = self.hears.recv(&mut buffer).expect("the service says something");
        String::from_utf8_lossy(&buffer[..count]).into_owned()
    }
}

#[test]
fn the_service_is_ready_when_it_says_so_and_stops_without_a_loss() {
    let manager = Manager::new("service");
    let socket = manager.scratch.0.join("drive.sock");
    let data = vec![0xA7; 16_384];
    for round in 0..2u64 {
        let mut service = manager.start();
        let ready = manager.hear();
        assert!(ready.starts_with("READY=1\n") && ready.contains(&format!("MAINPID={}", service.id())), "{ready}");
        assert!(manager.scratch.0.join("test.ctl").exists(), "what is ready can be asked");
        let mut disk = Disk::open(&socket);
        if round > 0 {
            assert!(disk.call(&Op::Read { offset: 0, length: 16_384 }) == data, "what was acknowledged before the stop");
        }
        // Not flushed.
        disk.call(&Op::Write { offset: 0, data: data.clone(), fua: false });
        kill_process(Pid::from_child(&service), Signal::TERM).expect("it runs");
        assert!(manager.hear().starts_with("STOPPING=1\n"));
        assert_eq!(service.wait().expect("it ends").code(), Some(0));
        assert!(socket.exists(), "the socket is systemd's");
        assert!(!manager.scratch.0.join("test.ctl").exists(), "this one was its own");
    }
}

#[test]
fn the_units_say_what_the_tests_play() {
    let (service, socket) = (unit("wordline@.service"), unit("wordline@.socket"));
    assert_eq!((value(&service, "Type"), value(&service, "KillSignal")), ("notify", "SIGTERM"));
    assert_eq!((value(&service, "StateDirectoryMode"), value(&socket, "SocketMode")), ("0700", "0600"));
    assert_eq!(value(&service, "TimeoutStopSec"), "5min");
    // systemd's own eyes, where it is installed.
    let scratch = Scratch::new("units");
    let program = value(&service, "ExecStart").split_whitespace().next().expect("a program");
    scratch.file("wordline@x.service", service.replace(program, env!("CARGO_BIN_EXE_wordline")).as_bytes());
    scratch.file("wordline@x.socket", socket.as_bytes());
    let verify = ["verify", "--man=no", "./wordline@x.service", "./wordline@x.socket"];
    let Ok(output) = Command::new("systemd-analyze").args(verify).current_dir(&scratch.0).output() else {
        eprintln!("systemd-analyze is not installed: the units were not verified");
        return;
    };
    let told = String::from_utf8_lossy(&output.stderr);
    // Of other units of the machine it may have something to say, too.
    assert!(!told.lines().any(|line| line.contains("wordline")), "{told}");
}
