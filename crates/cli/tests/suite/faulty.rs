//! Faults on demand, counters of health and metrics from the command line, as the tutorial shows them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use serde_json::Value;
use wordline_block::Op;
use wordline_nbd::client::{Ask, Client, Heard, Speak};

use crate::served::Disk;
use crate::{Scratch, started, wordline};

const UNIT: u64 = 16_384;

/// A server whose last words are heard.
struct Server(Child);

impl Server {
    fn start(scratch: &Scratch, more: &[&str]) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wordline"));
        command.args(["serve", "pageftl", "--physics", "off", "--size", "256MiB", "--socket", "s"]).args(more);
        let (child, line) = started(scratch, command.stderr(Stdio::piped()));
        assert!(line.starts_with("nbd+unix:///disk?socket="), "{line}");
        Server(child)
    }

    /// Waits for its end; returns it with what it said.
    fn end(mut self) -> (ExitStatus, String) {
        let mut said = String::new();
        self.0.stderr.take().expect("piped").read_to_string(&mut said).expect("text");
        (self.0.wait().expect("it ends"), said)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn ctl(scratch: &Scratch, words: &[&str]) -> (i32, String, String) {
    let output = wordline(&scratch.0, &[&["ctl", "s.ctl"], words].concat());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().expect("it exits"), text(&output.stdout), text(&output.stderr))
}

fn page(unit: u64, round: u64) -> Vec<u8> {
    vec![(unit * 7 + round) as u8; UNIT as usize]
}

/// Writes until the server has gone.
fn write_until_it_is_dark(path: &Path) {
    let Ok(mut stream) = UnixStream::connect(path) else { return };
    let ask = Ask { export: "disk".to_owned(), dialect: Speak::Structured, contexts: Vec::new(), by_export_name: false, list: false };
    let mut client = Client::new(ask);
    let mut buffer = vec![0; 1 << 16];
    for step in 0..100_000u64 {
        if step > 0 {
            client.request(step, &Op::Write { offset: (1_000 + step % 2_000) * UNIT, data: page(step, 9), fua: false });
        }
        loop {
            match client.next() {
                Some(Heard::Ready(_) | Heard::Answer(_)) => break,
                None => {
                    let sent = stream.write_all(&client.take_output());
                    let count = stream.read(&mut buffer).unwrap_or(0);
                    if sent.is_err() || count == 0 {
                        return;
                    }
                    client.receive(&buffer[..count]).expect("the protocol");
                }
            }
        }
    }
    panic!("the power never went");
}

#[test]
fn the_power_goes_on_demand_and_what_was_flushed_is_there_afterwards() {
    let scratch = Scratch::new("power");
    for (round, after) in [(0, "1"), (1, "40"), (2, "0")] {
        let server = Server::start(&scratch, &["--media", "media"]);
        let mut disk = Disk::open(&scratch.0.join("s"));
        for unit in 0..200 {
            if round > 0 {
                assert_eq!(disk.call(&Op::Read { offset: unit * UNIT, length: UNIT as u32 }), page(unit, round - 1), "unit {unit}");
            }
            disk.call(&Op::Write { offset: unit * UNIT, data: page(unit, round), fua: false });
        }
        disk.call(&Op::Flush);
        let told = ctl(&scratch, &["fault", "power-cut", &format!("after={after}"), "seed=3"]);
        assert_eq!((told.0, told.1.contains("\"ok\": true")), (0, true), "{told:?}");
        write_until_it_is_dark(&scratch.0.join("s"));
        let (status, said) = server.end();
        assert_eq!(status.code(), Some(5), "{said}");
        let torn = if after == "0" { "the power is cut, as ordered;" } else { "the power is cut, as ordered, during the program of block" };
        assert!(said.contains(torn) && said.contains("what was flushed is on its media"), "{said}");
    }
    let _server = Server::start(&scratch, &["--media", "media"]);
    let mut disk = Disk::open(&scratch.0.join("s"));
    for unit in 0..200 {
        assert_eq!(disk.call(&Op::Read { offset: unit * UNIT, length: UNIT as u32 }), page(unit, 2), "unit {unit}");
    }
}

#[test]
fn counters_are_told_to_people_and_programs() {
    let scratch = Scratch::new("smart");
    let _server = Server::start(&scratch, &["--set", "mapping.spare_blocks=4"]);
    let mut disk = Disk::open(&scratch.0.join("s"));
    (0..100).for_each(|unit| _ = disk.call(&Op::Write { offset: unit * UNIT, data: page(unit, 0), fua: unit == 99 }));
    let (code, text, _) = ctl(&scratch, &["smart"]);
    assert_eq!(code, 0);
    for part in [
        "Media errors                0  (since start)",
        "(100.0 %)",
        "Data written by the host    1.56 MiB (1638400 B)",
        "Dead dies                   0",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    let (code, text, _) = ctl(&scratch, &["smart", "--json"]);
    let smart: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        (code, smart["smart"]["host_written_bytes"].as_u64(), smart["smart"]["spare_percent"].as_f64()),
        (0, Some(1_638_400), Some(100.0))
    );
    let top = wordline(&scratch.0, &["top", "s.ctl", "--once"]);
    let view = String::from_utf8_lossy(&top.stdout).into_owned();
    assert!(view.contains("media errors 0  unreadable 0  lost 0") && view.lines().all(|line| line.chars().count() <= 80), "{view}");
}

#[test]
fn wrong_words_are_told_what_is_right() {
    let scratch = Scratch::new("wrong-faults");
    let _server = Server::start(&scratch, &[]);
    for (words, part) in [
        (&["fault", "raed", "offset=0"][..], "did you mean fault read?"),
        (&["fault"], "expected one of fault read"),
        (&["smrat"], "did you mean smart?"),
        (&["fault", "read", "offset=1Mib"], "offset"),
        (&["fault", "read", "offset=0", "cuont=1"], "did you mean count?"),
        (&["fault", "kill=plaen", "die=0"], "did you mean plane?"),
        (&["fault", "kill=blocks", "die=0", "blocks=9..3"], "9..3"),
        (&["fault", "power-cut", "after=soon"], "whole number"),
        (&["fault", "read", "offset"], "expected one of fault read"),
    ] {
        let (code, _, said) = ctl(&scratch, words);
        assert!(code == 2 && said.contains(part), "{words:?}: {code}: {said}");
    }
    for (option, part) in
        [("--metrics=nowhere", "such as 9100"), ("--metrics=127.0.0.1", "127.0.0.1:9100"), ("--metrics=70000", "such as 9100")]
    {
        let output = wordline(&scratch.0, &["serve", "pageftl", option]);
        assert!(output.status.code() == Some(2) && String::from_utf8_lossy(&output.stderr).contains(part), "{output:?}");
    }
}

#[test]
fn metrics_are_served_where_it_says() {
    let scratch = Scratch::new("metrics");
    let mut server = Server::start(&scratch, &["--metrics", "0"]);
    let mut said = BufReader::new(server.0.stderr.take().expect("piped")).lines();
    let line =
        said.find_map(|line| line.ok().and_then(|line| line.strip_prefix("metrics at http://").map(str::to_owned))).expect("it says where");
    let address = line.strip_suffix("/metrics").expect("the path");
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").expect("taken");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(
        answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("# EOF\n") && answer.contains("wordline_drive_info{name=\"pageftl\""),
        "{answer}"
    );
}

/// The section of the tutorial on faults, line by line: each command is run as it stands there, and does what the comment behind it says.
#[test]
fn the_tutorial_breaks_what_it_says() {
    let tutorial = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tutorials/serve.md")).expect("it is there");
    let section = tutorial.split("\n## ").find(|section| section.starts_with("Break it on purpose")).expect("the section");
    let block =
        section.split("```").nth(1).filter(|block| block.starts_with("sh")).and_then(|block| block.split_once('\n')).expect("a block").1;
    let scratch = Scratch::new("tutorial-faults");
    let server = Server::start(&scratch, &["--media", "media"]);
    let mut disk = Disk::open(&scratch.0.join("s"));
    (0..1024).for_each(|unit| _ = disk.call(&Op::Write { offset: unit * UNIT, data: page(unit, 1), fua: false }));
    disk.call(&Op::Flush);
    let mut run = Vec::new();
    for line in block.lines().skip_while(|line| !line.starts_with("wordline ctl ")) {
        let command = line.split('#').next().unwrap_or("").trim();
        let words: Vec<&str> =
            command.strip_prefix("wordline ctl /tmp/drive.sock.ctl ").unwrap_or_else(|| panic!("{line}")).split(' ').collect();
        let (code, told, said) = ctl(&scratch, &words);
        assert_eq!(code, 0, "{command}: {said}");
        run.push(words[..2.min(words.len())].join(" "));
        match words[..] {
            ["fault", "read", ..] => {
                let errors: Vec<bool> = (0..4).map(|_| disk.try_to(&Op::Read { offset: 1 << 20, length: 4096 }).is_none()).collect();
                assert_eq!(errors, [true, true, true, false], "{command}");
            }
            ["fault", "corrupt", ..] => {
                assert!(disk.try_to(&Op::Read { offset: 2 << 20, length: 4096 }).is_none(), "{command}");
                // Not to the die of which blocks fail later.
                let is_elsewhere = (0..100).any(|_| {
                    disk.call(&Op::Write { offset: 2 << 20, data: page(128, 1), fua: true });
                    let (_, told, _) = ctl(&scratch, &["lba-status", "offset=2MiB", "length=16KiB"]);
                    told.contains("\"die\": ") && !told.contains("\"die\": 0,")
                });
                assert!(is_elsewhere, "{command}");
                assert_eq!(disk.call(&Op::Read { offset: 2 << 20, length: UNIT as u32 }), page(128, 1), "{command}");
            }
            ["fault", "list"] => assert!(told.contains("\"blocks\": \"4..7\""), "{told}"),
            ["smart"] => assert!(told.contains("Media errors"), "{told}"),
            _ => {}
        }
    }
    for command in
        ["fault read", "fault corrupt", "fault program-fail", "fault kill=blocks", "fault list", "fault clear", "smart", "fault power-cut"]
    {
        assert!(run.iter().any(|done| done == command), "the tutorial does not show {command}: {run:?}");
    }
    write_until_it_is_dark(&scratch.0.join("s"));
    let (status, said) = server.end();
    assert_eq!(status.code(), Some(5), "{said}");
    let _server = Server::start(&scratch, &["--media", "media"]);
    let mut disk = Disk::open(&scratch.0.join("s"));
    assert_eq!(disk.call(&Op::Read { offset: 2 << 20, length: UNIT as u32 }), page(128, 1), "it was flushed");
}
