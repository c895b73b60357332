//! Does the server stop taking input where it would hold too much, and go on once it need not?

use wordline_block::{Op, Reply};
use wordline_nbd::client::{put_option, put_request};
use wordline_nbd::wire::command;
use wordline_nbd::{Event, Limits, Request, Server};

use crate::common::settings;

const SMALL: Limits = Limits { option_bytes: 1024, options: 64, requests: 4, request_bytes: 64 << 10, held_bytes: 128 << 10 };

fn open() -> Server {
    let mut server = Server::new(settings(1 << 20, SMALL));
    let mut bytes = 3u32.to_be_bytes().to_vec();
    put_option(&mut bytes, 8, &[]);
    put_option(&mut bytes, 1, b"disk");
    server.receive(&bytes);
    server.next();
    server.sent(server.output().len());
    server
}

fn requests(server: &mut Server) -> Vec<Request> {
    std::iter::from_fn(|| server.next())
        .filter_map(|event| if let Event::Request(request) = event { Some(request) } else { None })
        .collect()
}

#[test]
fn requests_in_flight() {
    let mut server = open();
    let mut bytes = Vec::new();
    for cookie in 0..10 {
        put_request(&mut bytes, false, 0, command::FLUSH, cookie, 0, 0);
    }
    let taken = server.receive(&bytes);
    assert_eq!(taken, 5 * 28, "four requests, and the head of the one that waits");
    assert!(!server.wants_input());
    let mut held = requests(&mut server);
    assert_eq!(held.len(), 4);
    assert_eq!(server.receive(&bytes[taken..]), 0);
    // One answer makes room for the one that waits, although no byte arrives.
    server.reply(held.remove(0).ticket, Reply::Done);
    assert_eq!(requests(&mut server).len(), 1);
    assert!(server.wants_input());
}

#[test]
fn answers_that_the_peer_does_not_take() {
    let mut server = open();
    let mut bytes = Vec::new();
    for cookie in 0..10 {
        put_request(&mut bytes, false, 0, command::READ, cookie, 0, 40 << 10);
    }
    let mut left = &bytes[..];
    let mut answered = 0;
    loop {
        left = &left[server.receive(left)..];
        let requests = requests(&mut server);
        if requests.is_empty() {
            break;
        }
        for request in requests {
            server.reply_in_place(request.ticket, |_| Ok(()));
            answered += 1;
        }
        assert!(server.buffered_bytes() <= SMALL.memory_bound());
    }
    assert_eq!(answered, 3, "three times 40 KiB fit into 128 KiB");
    assert!(!server.wants_input());
    server.sent(server.output().len());
    assert_eq!(requests(&mut server).len(), 1);
}

#[test]
fn one_request_alone_may_be_larger_than_the_bound() {
    let mut server = Server::new(settings(1 << 20, Limits { held_bytes: 1000, ..SMALL }));
    let mut bytes = 3u32.to_be_bytes().to_vec();
    put_option(&mut bytes, 1, b"disk");
    put_request(&mut bytes, false, 0, command::WRITE, 1, 0, 64 << 10);
    bytes.resize(bytes.len() + (64 << 10), 3);
    put_request(&mut bytes, false, 0, command::FLUSH, 2, 0, 0);
    let taken = server.receive(&bytes);
    assert!(matches!(server.next(), Some(Event::Opened(_))));
    assert!(requests(&mut server).is_empty(), "the answer to the negotiation has to go first");
    server.sent(server.output().len());
    let taken = taken + server.receive(&bytes[taken..]);
    let held = requests(&mut server);
    assert!(matches!(&held[..], [Request { op: Op::Write { data, .. }, .. }] if data.len() == 64 << 10), "{held:?}");
    assert_eq!(taken, bytes.len(), "the head of the next request is taken, and waits");
    assert!(!server.wants_input());
}

#[test]
fn output_that_was_taken_counts_until_it_is_delivered() {
    let mut server = open();
    let mut bytes = Vec::new();
    for cookie in 0..2 {
        put_request(&mut bytes, false, 0, command::READ, cookie, 0, 64 << 10);
    }
    server.receive(&bytes);
    let mut taken = Vec::new();
    for request in requests(&mut server) {
        server.reply_in_place(request.ticket, |_| Ok(()));
        server.take_output(&mut taken);
        assert!(requests(&mut server).is_empty(), "no room for the second read");
        server.delivered(taken.len());
        taken.clear();
    }
    assert_eq!(requests(&mut server).len(), 1);
}

#[test]
fn announcements_cost_nothing() {
    let mut server = open();
    let mut bytes = Vec::new();
    put_request(&mut bytes, false, 0, command::WRITE, 1, 0, 64 << 10);
    server.receive(&bytes);
    let mut big = Server::new(settings(1 << 30, Limits::DEFAULT));
    let mut bytes = 3u32.to_be_bytes().to_vec();
    put_option(&mut bytes, 1, b"disk");
    put_request(&mut bytes, false, 0, command::WRITE, 1, 0, 32 << 20);
    big.receive(&bytes);
    assert!(matches!(big.next(), Some(Event::Opened(_))));
    big.sent(big.output().len());
    big.receive(&[]);
    assert!(big.buffered_bytes() < 100 << 10, "{}", big.buffered_bytes());
}

#[test]
fn options_that_the_peer_does_not_read() {
    let mut server = Server::new(settings(1 << 20, Limits { options: 1_000_000, ..SMALL }));
    let mut bytes = 3u32.to_be_bytes().to_vec();
    for _ in 0..10_000 {
        put_option(&mut bytes, 3, &[]);
    }
    let taken = server.receive(&bytes);
    assert!(taken < bytes.len() && !server.wants_input());
    assert!(server.buffered_bytes() < SMALL.memory_bound());
    server.sent(server.output().len());
    assert!(server.wants_input() || server.receive(&bytes[taken..]) > 0);
}
