//! Is every wrong request answered with the protocol's error, without an overflow and without losing the stream?

use wordline_block::{Op, Reply};
use wordline_nbd::client::{put_option, put_request};
use wordline_nbd::wire::{command, command_flag};
use wordline_nbd::{Close, Event, Limits, Server};

use crate::common::{drain, settings};

const SIZE: u64 = 1 << 20;

/// A server with `export` open, speaking extended headers, structured replies, or simple ones.
fn open(export: &str, dialect: u32) -> Server {
    let mut server = Server::new(settings(SIZE, Limits::DEFAULT));
    let mut bytes = 3u32.to_be_bytes().to_vec();
    if dialect != 0 {
        put_option(&mut bytes, dialect, &[]);
    }
    put_option(&mut bytes, 1, export.as_bytes());
    server.receive(&bytes);
    assert!(matches!(server.next(), Some(Event::Opened(_))), "{:?}", server.closed());
    server.sent(server.output().len());
    server
}

/// The error number that a request gets, in simple replies.
fn errno(server: &mut Server, flags: u16, command: u16, offset: u64, length: u64, payload: usize) -> u32 {
    let mut bytes = Vec::new();
    put_request(&mut bytes, false, flags, command, 1, offset, length);
    bytes.resize(bytes.len() + payload, 0xA5);
    assert_eq!(server.receive(&bytes), bytes.len(), "{:?}", server.closed());
    let mut out = Vec::new();
    drain(server, &mut out);
    match server.next() {
        Some(Event::Request(request)) => {
            if matches!(request.op, Op::Read { .. }) {
                server.reply_in_place(request.ticket, |_| Ok(()));
            } else {
                server.reply(request.ticket, Reply::Done);
            }
            server.sent(server.output().len());
            0
        }
        None => {
            assert_eq!(out.len(), 16);
            u32::from_be_bytes([out[4], out[5], out[6], out[7]])
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn ranges_flags_and_commands() {
    use command::*;
    let mut server = open("disk", 0);
    for (flags, command, offset, length, payload, expected) in [
        (0, TRIM, 0, SIZE, 0, 0),
        (0, READ, SIZE - 1, 2, 0, 22),
        (0, READ, u64::MAX, 1, 0, 22),
        (0, READ, u64::MAX - 1, u64::from(u32::MAX), 0, 22),
        (0, READ, 0, 0, 0, 22),
        (0, WRITE, SIZE, 1, 1, 28),
        (0, WRITE, u64::MAX, 4096, 4096, 28),
        (0, WRITE, 0, 0, 0, 22),
        (0, TRIM, SIZE - 1, 2, 0, 22),
        (0, WRITE_ZEROES, 1, SIZE, 0, 28),
        (0, CACHE, u64::MAX - 4095, 4096, 0, 22),
        (0, FLUSH, 1, 0, 0, 22),
        (0, 8, 0, 512, 0, 22),
        (0, u16::MAX, 0, 512, 0, 22),
        (0, BLOCK_STATUS, 0, 512, 0, 22),
        (command_flag::DF, READ, 0, 512, 0, 22),
        (command_flag::NO_HOLE, WRITE, 0, 4, 4, 22),
        (1 << 15, TRIM, 0, 512, 0, 22),
        // FUA is taken on everything.
        (command_flag::FUA, CACHE, 0, 512, 0, 0),
        (command_flag::FUA, WRITE, 0, 4, 4, 0),
        (command_flag::FUA, FLUSH, 0, 0, 0, 0),
        (command_flag::NO_HOLE | command_flag::FAST_ZERO, WRITE_ZEROES, 0, SIZE, 0, 0),
    ] {
        assert_eq!(errno(&mut server, flags, command, offset, length, payload), expected, "{flags:#x} {command} {offset} {length}");
    }
    let mut sealed = open("sealed", 0);
    for (command, payload) in [(WRITE, 512), (TRIM, 0), (WRITE_ZEROES, 0)] {
        assert_eq!(errno(&mut sealed, 0, command, 0, 512, payload), 1);
    }
    let mut coarse = open("coarse", 0);
    for (offset, length, expected) in [(0, 4096, 0), (512, 4096, 22), (4096, 512, 22)] {
        assert_eq!(errno(&mut coarse, 0, READ, offset, length, 0), expected);
        assert_eq!(errno(&mut coarse, 0, WRITE, offset, length, length as usize), expected);
    }
}

#[test]
fn too_long_is_skipped_and_far_too_long_is_the_end() {
    let limits = Limits { request_bytes: 4096, ..Limits::DEFAULT };
    let mut server = Server::new(settings(SIZE, limits));
    let mut bytes = 3u32.to_be_bytes().to_vec();
    put_option(&mut bytes, 1, b"disk");
    server.receive(&bytes);
    server.next();
    server.sent(server.output().len());
    assert_eq!(errno(&mut server, 0, command::READ, 0, 4097, 0), 22);
    assert_eq!(errno(&mut server, 0, command::WRITE, 0, 8192, 8192), 22);
    assert_eq!(errno(&mut server, 0, command::WRITE, 0, 4096, 4096), 0);
    let mut bytes = Vec::new();
    put_request(&mut bytes, false, 0, command::WRITE, 1, 0, 8193);
    server.receive(&bytes);
    assert_eq!(server.next(), Some(Event::Closed(Close::PayloadLength { length: 8193, max: 8192 })));
    assert!(server.is_finished() && server.receive(b"more") == 0);
}

#[test]
fn unfragmented_reads_that_are_too_long_overflow() {
    let limits = Limits { request_bytes: 65_536, ..Limits::DEFAULT };
    let mut server = Server::new(settings(SIZE, limits));
    let mut bytes = 3u32.to_be_bytes().to_vec();
    put_option(&mut bytes, 8, &[]);
    put_option(&mut bytes, 1, b"disk");
    put_request(&mut bytes, false, command_flag::DF, command::READ, 1, 0, 65_537);
    server.receive(&bytes);
    server.next();
    let out = server.output();
    let message = "longer than the largest block";
    let chunk = &out[out.len() - message.len() - 6..];
    assert_eq!((&chunk[..6], &chunk[6..]), (&[0, 0, 0, 75, 0, 29][..], message.as_bytes()));
}

#[test]
fn extended_requests_with_absurd_lengths() {
    let mut server = open("disk", 11);
    for (flags, command, offset, length) in [
        (0, command::READ, 0, u64::MAX),
        (0, command::TRIM, u64::MAX, u64::MAX),
        (0, command::WRITE_ZEROES, 1, u64::MAX),
        (0, command::BLOCK_STATUS, 0, 1 << 40),
        (command_flag::PAYLOAD_LEN, command::TRIM, 0, 16),
    ] {
        let mut bytes = Vec::new();
        put_request(&mut bytes, true, flags, command, 1, offset, length);
        bytes.resize(bytes.len() + if flags == 0 { 0 } else { length as usize }, 1);
        assert_eq!(server.receive(&bytes), bytes.len());
        assert_eq!(server.next(), None, "answered without the disk");
        let mut out = Vec::new();
        drain(&mut server, &mut out);
        assert_eq!(&out[4..8], [0, 1, 0x80, 1]);
    }
    for (flags, length, close) in [
        (0, 16, Close::WriteWithoutPayload),
        (command_flag::PAYLOAD_LEN, u64::MAX, Close::PayloadLength { length: u64::MAX, max: 64 << 20 }),
    ] {
        let mut server = open("disk", 11);
        let mut bytes = Vec::new();
        put_request(&mut bytes, true, flags, command::WRITE, 1, 0, length);
        server.receive(&bytes);
        assert_eq!(server.next(), Some(Event::Closed(close)));
    }
}

#[test]
fn options_that_make_no_sense() {
    let refused = |before: &[u32], option: u32, data: &[u8]| {
        let mut server = Server::new(settings(SIZE, Limits::DEFAULT));
        let mut bytes = 3u32.to_be_bytes().to_vec();
        for &option in before {
            put_option(&mut bytes, option, &[]);
        }
        server.receive(&bytes);
        server.sent(server.output().len());
        let mut bytes = Vec::new();
        put_option(&mut bytes, option, data);
        server.receive(&bytes);
        assert_eq!(server.closed(), None);
        let out = server.output();
        u32::from_be_bytes([out[12], out[13], out[14], out[15]]) & 0x7FFF_FFFF
    };
    let unknown_export = [0, 0, 0, 1, b'x', 0, 0];
    for (before, option, data, error) in [
        (&[][..], 3, &b"x"[..], 3),
        (&[], 8, b"x", 3),
        (&[], 5, b"", 2),
        (&[], 6, &unknown_export, 6),
        (&[], 7, &unknown_export, 6),
        (&[], 7, &unknown_export[..6], 3),
        (&[], 7, &[0xFF; 16], 3),
        (&[], 7, &[0, 0, 0, 2, 0xC3, 0x28, 0, 0], 3),
        (&[], 7, &[0, 0, 0, 4, b'd', b'i', b's', b'k', 0, 9, 0, 0], 3),
        (&[], 9, &[0; 8], 3),
        (&[8], 9, &[0; 7], 3),
        (&[8], 10, &[0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF], 3),
        (&[8], 10, &[0, 0, 0, 1, b'x', 0, 0, 0, 0], 6),
        (&[11], 8, b"", 10),
        (&[], 4, b"", 1),
        (&[], 5000, &[0; 65_537], 9),
    ] {
        assert_eq!(refused(before, option, data), error, "{option} {data:?}");
    }
}

#[test]
fn violations_end_the_session_with_their_reason() {
    let closed = |bytes: &[u8]| {
        let mut server = Server::new(settings(SIZE, Limits::DEFAULT));
        server.receive(bytes);
        std::iter::from_fn(|| server.next()).find_map(|event| if let Event::Closed(close) = event { Some(close.to_string()) } else { None })
    };
    let with = |fill: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = 3u32.to_be_bytes().to_vec();
        fill(&mut bytes);
        bytes
    };
    for (bytes, expected) in [
        (b"GET / HTTP/1.1\r\n".to_vec(), "client flags 0x47455420, of which only 0x3 were offered"),
        (with(&|out| out.extend(*b"NBDMAGIC12345678")), "an option opens with 0x4e42444d41474943 where an option has 0x49484156454f5054"),
        (with(&|out| put_option(out, 1, b"nothing")), "EXPORT_NAME asks for `nothing`, which is not served"),
        (with(&|out| put_option(out, 2, b"")), "the client ended the negotiation"),
        (with(&|out| (0..257).for_each(|_| put_option(out, 99, b""))), "more than 256 options"),
        (
            with(&|out| out.extend([&b"IHAVEOPT"[..], &[0, 0, 0, 9, 0xFF, 0xFF, 0xFF, 0xFF]].concat())),
            "option 9 with 4294967295 bytes of data, more than 33554432",
        ),
        (
            with(&|out| {
                put_option(out, 1, b"disk");
                out.extend([0; 28]);
            }),
            "a message opens with 0x0 where a request has 0x25609513",
        ),
    ] {
        let found = closed(&bytes).unwrap_or_default();
        assert_eq!(
            found.replace("a message opens", "").replace("an option opens", ""),
            expected.replace("a message opens", "").replace("an option opens", "")
        );
    }
}

#[test]
fn streams_that_end_say_where() {
    let mut bytes = 3u32.to_be_bytes().to_vec();
    put_option(&mut bytes, 1, b"disk");
    let opened = bytes.len();
    put_request(&mut bytes, false, 0, command::WRITE, 1, 0, 10);
    bytes.extend([1; 10]);
    for (end, during) in [
        (0, "in the negotiation"),
        (opened - 1, "in the negotiation"),
        (opened, "between two requests"),
        (opened + 5, "within a request"),
        (opened + 30, "within a payload"),
        (bytes.len(), "between two requests"),
    ] {
        let mut server = Server::new(settings(SIZE, Limits::DEFAULT));
        server.receive(&bytes[..end]);
        server.hang_up();
        server.hang_up();
        let closes: Vec<_> = std::iter::from_fn(|| server.next()).filter(|event| matches!(event, Event::Closed(_))).collect();
        assert_eq!(closes, [Event::Closed(Close::HungUp { during })]);
    }
}
