//! Are the bytes of a negotiation, and of each kind of answer, those of the specification?
//!
//! Every number is written out here a second time, from the sections "Newstyle negotiation", "Option reply types" and "Structured reply types" of
//! `doc/proto.md`, and not taken from the crate.

use wordline_block::{ContextStatus, Errno, Extent, Failure, Piece, Reply};
use wordline_nbd::{Event, Limits, Request, Server};

use crate::common::{drain, settings};

/// Bytes written as hexadecimal numbers and quoted text.
fn bytes(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for (index, part) in text.split('"').enumerate() {
        if index % 2 == 1 {
            out.extend_from_slice(part.as_bytes());
        } else {
            let digits: String = part.chars().filter(|c| !c.is_whitespace()).collect();
            out.extend((0..digits.len() / 2).map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).expect("hexadecimal")));
        }
    }
    out
}

struct Dialogue(Server);

impl Dialogue {
    fn new() -> Dialogue {
        let mut dialogue = Dialogue(Server::new(settings(1 << 20, Limits::DEFAULT)));
        assert_eq!(dialogue.output(), bytes(r#""NBDMAGIC" "IHAVEOPT" 0003"#), "greeting");
        dialogue.0.receive(&bytes("00000003"));
        dialogue
    }

    fn output(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        drain(&mut self.0, &mut out);
        out
    }

    #[track_caller]
    fn expect(&mut self, send: &str, answer: &str) {
        let sent = bytes(send);
        assert_eq!(self.0.receive(&sent), sent.len());
        assert_eq!(self.output(), bytes(answer), "answer to {send}");
    }

    fn request(&mut self, send: &str) -> Request {
        self.0.receive(&bytes(send));
        match self.0.next() {
            Some(Event::Request(request)) => request,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn expect_answer(&mut self, send: &str, reply: Reply<'_>, answer: &str) {
        let request = self.request(send);
        self.0.reply(request.ticket, reply);
        assert_eq!(self.output(), bytes(answer), "answer to {send}");
    }
}

const REPLY: &str = "0003e889045565a9";

#[test]
fn negotiation_of_a_modern_client() {
    let mut dialogue = Dialogue::new();
    // STRUCTURED_REPLY, ACK.
    dialogue.expect(r#""IHAVEOPT" 00000008 00000000"#, &format!("{REPLY} 00000008 00000001 00000000"));
    // An option that nobody knows, ERR_UNSUP.
    let unknown = "this option is unknown here";
    dialogue.expect(r#""IHAVEOPT" 00001234 00000002 0000"#, &format!(r#"{REPLY} 00001234 80000001 0000001b "{unknown}""#));
    // LIST: SERVER with a name and a description for each, then ACK.
    let server = |name: &str, more: &str| {
        format!(r#"{REPLY} 00000003 00000002 {:08x} {:08x} "{name}" "{more}""#, 4 + name.len() + more.len(), name.len())
    };
    let listed = [
        server("disk", "a test disk"),
        server("disk@insecure", "a test disk"),
        server("disk@high", "a test disk"),
        server("sealed", ""),
        server("coarse", ""),
        format!("{REPLY} 00000003 00000001 00000000"),
    ];
    dialogue.expect(r#""IHAVEOPT" 00000003 00000000"#, &listed.concat());
    // SET_META_CONTEXT for two contexts, one of them unknown.
    dialogue.expect(
        r#""IHAVEOPT" 0000000a 0000002d 00000004 "disk" 00000002 0000000f "base:allocation" 0000000a "x-nobody:y""#,
        &format!(r#"{REPLY} 0000000a 00000004 00000013 00000001 "base:allocation" {REPLY} 0000000a 00000001 00000000"#),
    );
    // LIST_META_CONTEXT of a namespace.
    dialogue.expect(
        r#""IHAVEOPT" 00000009 0000001b 00000004 "disk" 00000001 0000000b "x-wordline:""#,
        &format!(
            r#"{REPLY} 00000009 00000004 00000014 00000000 "x-wordline:media"
               {REPLY} 00000009 00000004 00000013 00000000 "x-wordline:hint" {REPLY} 00000009 00000001 00000000"#
        ),
    );
    // GO with block sizes: EXPORT (1 MiB; HAS_FLAGS FLUSH FUA TRIM ZEROES DF MULTI_CONN CACHE FAST_ZERO = 0xded), BLOCK_SIZE 1/4096/32 MiB, ACK.
    dialogue.expect(
        r#""IHAVEOPT" 00000007 0000000c 00000004 "disk" 0001 0003"#,
        &format!(
            "{REPLY} 00000007 00000003 0000000c 0000 0000000000100000 0ded
             {REPLY} 00000007 00000003 0000000e 0003 00000001 00001000 02000000 {REPLY} 00000007 00000001 00000000"
        ),
    );
    assert!(matches!(dialogue.0.next(), Some(Event::Opened(opened)) if opened.contexts == [0]));
}

#[test]
fn negotiation_of_an_old_client() {
    let mut dialogue = Dialogue(Server::new(settings(1 << 20, Limits::DEFAULT)));
    dialogue.output();
    // Without NO_ZEROES: size, flags (no DF without structured replies), 124 zeroes.
    let zeroes = "00".repeat(124);
    dialogue.expect(r#"00000001 "IHAVEOPT" 00000001 00000004 "disk""#, &format!("0000000000100000 0d6d {zeroes}"));
    assert!(matches!(dialogue.0.next(), Some(Event::Opened(_))));
    let read = "25609513 0000 0000 00000000000000aa 0000000000000010 00000004";
    dialogue.expect_answer(read, Reply::Read(&[Piece::Data(b"ab"), Piece::Hole(2)]), r#"67446698 00000000 00000000000000aa "ab" 0000"#);
    let failure = Failure { errno: Errno::Io, message: "lost" };
    dialogue.expect_answer(read, Reply::ReadUntil(&[Piece::Data(b"ab")], failure), "67446698 00000005 00000000000000aa");
    dialogue.expect_answer(read, Reply::FailedAt(2, failure), "67446698 00000005 00000000000000aa");
}

#[test]
fn structured_replies() {
    let mut dialogue = Dialogue::new();
    dialogue.0.receive(&bytes(
        r#""IHAVEOPT" 00000008 00000000
           "IHAVEOPT" 0000000a 00000032 00000004 "disk" 00000002 0000000f "base:allocation" 0000000f "x-wordline:hint"
           "IHAVEOPT" 00000007 0000000a 00000004 "disk" 0000"#,
    ));
    dialogue.output();
    assert!(matches!(dialogue.0.next(), Some(Event::Opened(opened)) if opened.contexts == [0, 2]));
    let read = |flags: &str, length: &str| format!("25609513 {flags} 0000 00000000000000aa 0000000000001000 {length}");
    // OFFSET_DATA, OFFSET_HOLE with DONE.
    dialogue.expect_answer(
        &read("0000", "00000402"),
        Reply::Read(&[Piece::Data(b"ab"), Piece::Hole(0x400)]),
        r#"668e33ef 0000 0001 00000000000000aa 0000000a 0000000000001000 "ab"
           668e33ef 0001 0002 00000000000000aa 0000000c 0000000000001002 00000400"#,
    );
    // With DF one chunk, zeroes explicit.
    let zeroes = "00".repeat(0x400);
    dialogue.expect_answer(
        &read("0004", "00000402"),
        Reply::Read(&[Piece::Data(b"ab"), Piece::Hole(0x400)]),
        &format!(r#"668e33ef 0001 0001 00000000000000aa 0000040a 0000000000001000 "ab" {zeroes}"#),
    );
    // A good prefix, then ERROR_OFFSET (EIO) where it ends.
    dialogue.expect_answer(
        &read("0000", "00000004"),
        Reply::ReadUntil(&[Piece::Data(b"abc")], Failure { errno: Errno::Io, message: "lost" }),
        r#"668e33ef 0000 0001 00000000000000aa 0000000b 0000000000001000 "abc"
           668e33ef 0001 8002 00000000000000aa 00000012 00000005 0004 "lost" 0000000000001003"#,
    );
    // Nothing of it, and ERROR_OFFSET where it failed.
    dialogue.expect_answer(
        &read("0000", "00000004"),
        Reply::FailedAt(2, Failure { errno: Errno::Io, message: "lost" }),
        r#"668e33ef 0001 8002 00000000000000aa 00000012 00000005 0004 "lost" 0000000000001002"#,
    );
    // A write that fails, ERROR (ENOSPC); one that does not, a simple reply.
    let write = r#"25609513 0001 0001 00000000000000bb 0000000000000000 00000002 "xy""#;
    let failure = Failure { errno: Errno::NoSpace, message: "" };
    dialogue.expect_answer(write, Reply::Failed(failure), "668e33ef 0001 8001 00000000000000bb 00000006 0000001c 0000");
    dialogue.expect_answer(write, Reply::Done, "67446698 00000000 00000000000000bb");
    // BLOCK_STATUS: one chunk per context, the last with DONE.
    let extents = [Extent { length: 0x200, flags: 3 }, Extent { length: 0x900, flags: 0 }];
    let status = |context, extents| ContextStatus { context, extents };
    dialogue.expect_answer(
        "25609513 0000 0007 00000000000000cc 0000000000000000 00000400",
        Reply::Status(&[status(0, &extents), status(2, &extents[..1])]),
        "668e33ef 0000 0005 00000000000000cc 00000014 00000001 00000200 00000003 00000200 00000000
         668e33ef 0001 0005 00000000000000cc 0000000c 00000003 00000200 00000003",
    );
}

#[test]
fn extended_headers() {
    let mut dialogue = Dialogue::new();
    dialogue.expect(r#""IHAVEOPT" 0000000b 00000000"#, &format!("{REPLY} 0000000b 00000001 00000000"));
    dialogue.0.receive(&bytes(
        r#""IHAVEOPT" 0000000a 0000001f 00000004 "disk" 00000001 0000000f "base:allocation"
           "IHAVEOPT" 00000007 0000000a 00000004 "disk" 0000"#,
    ));
    dialogue.output();
    dialogue.0.next();
    let head = |flags: &str, command: &str, length: &str| format!("21e41c71 {flags} {command} 00000000000000aa 0000000000001000 {length}");
    dialogue.expect_answer(
        &head("0000", "0000", "0000000000000002"),
        Reply::Read(&[Piece::Data(b"ab")]),
        r#"6e8a278c 0001 0001 00000000000000aa 0000000000001000 000000000000000a 0000000000001000 "ab""#,
    );
    dialogue.expect_answer(
        &format!(r#"{} "xy""#, head("0020", "0001", "0000000000000002")),
        Reply::Done,
        "6e8a278c 0001 0000 00000000000000aa 0000000000001000 0000000000000000",
    );
    dialogue.expect_answer(
        &head("0008", "0007", "0000000000000400"),
        Reply::Status(&[ContextStatus { context: 0, extents: &[Extent { length: 0x500, flags: 3 }] }]),
        "6e8a278c 0001 0006 00000000000000aa 0000000000001000 0000000000000018 00000001 00000001 0000000000000400 0000000000000003",
    );
}
