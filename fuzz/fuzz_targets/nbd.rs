//! Any bytes as a client of the block device server: answers, or a reason to close, within the bound of memory, never a panic.
//!
//! The first byte chooses whether to begin in the negotiation or behind it, how the stream is cut, and whether answers are read.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use wordline_block::{ContextStatus, Extent, Op, Reply};
use wordline_nbd::client::put_option;
use wordline_nbd::{Event, Export, Limits, Server, Settings, Tls};

const SIZE: usize = 1 << 20;

fuzz_target!(|input: &[u8]| {
    let Some((&choice, bytes)) = input.split_first() else { return };
    let limits = Limits { option_bytes: 4096, options: 64, requests: 8, request_bytes: 64 << 10, held_bytes: 128 << 10 };
    let exports = vec![Export { classes: vec!["high".to_owned()], ..Export::new("disk", SIZE as u64) }];
    let mut server = Server::new(Arc::new(Settings { exports, tls: Tls::Offered, extended_headers: true, limits }));
    let mut stream = Vec::new();
    if choice & 1 != 0 {
        stream.extend(3u32.to_be_bytes());
        put_option(&mut stream, if choice & 2 != 0 { 8 } else { 11 }, &[]);
        put_option(&mut stream, 10, b"\0\0\0\x04disk\0\0\0\x01\0\0\0\x0fbase:allocation");
        put_option(&mut stream, 1, b"disk");
    }
    stream.extend_from_slice(bytes);
    let step = [usize::MAX, 1, 7, 1000][usize::from(choice >> 2 & 3)];
    let mut left = &stream[..];
    let mut contexts = Vec::new();
    while !left.is_empty() {
        let taken = server.receive(&left[..left.len().min(step)]);
        left = &left[taken..];
        let mut payloads = 0;
        let mut quiet = taken == 0;
        while let Some(event) = server.next() {
            quiet = false;
            match event {
                Event::Opened(opened) => contexts = opened.contexts,
                Event::StartTls => server.tls_started(),
                Event::Closed(close) => assert!(!close.to_string().is_empty()),
                Event::Request(request) => match request.op {
                    Op::Read { offset, length } => {
                        assert!(offset as usize + length as usize <= SIZE);
                        server.reply_in_place(request.ticket, |_| Ok(()));
                    }
                    Op::BlockStatus { length, .. } => {
                        let extents = [Extent { length, flags: 3 }];
                        let all: Vec<_> = contexts.iter().map(|&context| ContextStatus { context, extents: &extents }).collect();
                        server.reply(request.ticket, Reply::Status(&all));
                    }
                    Op::Write { offset, data, .. } => {
                        assert!(offset as usize + data.len() <= SIZE);
                        payloads = payloads.max(data.capacity() as u64);
                        server.reply(request.ticket, Reply::Done);
                    }
                    Op::Flush | Op::Trim { .. } | Op::WriteZeroes { .. } | Op::Cache { .. } => server.reply(request.ticket, Reply::Done),
                },
            }
        }
        assert!(server.buffered_bytes() + payloads <= limits.memory_bound());
        if choice & 16 != 0 {
            server.sent(server.output().len());
        } else if quiet {
            break;
        }
        if server.closed().is_some() {
            break;
        }
    }
    server.hang_up();
});
