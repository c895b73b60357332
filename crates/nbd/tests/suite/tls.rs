//! Does the hand-over to TLS forget what was said in the clear, and leave what follows it alone?

use std::sync::Arc;

use wordline_nbd::client::put_option;
use wordline_nbd::{Close, Event, Limits, Server, Settings, Tls};

use crate::common::settings;

fn server(tls: Tls) -> Server {
    let settings = Settings { tls, ..(*settings(1 << 20, Limits::DEFAULT)).clone() };
    let mut server = Server::new(Arc::new(settings));
    server.receive(&3u32.to_be_bytes());
    server.sent(server.output().len());
    server
}

/// Sends an option and returns the type of the reply.
fn reply(server: &mut Server, option: u32, data: &[u8]) -> u32 {
    let mut bytes = Vec::new();
    put_option(&mut bytes, option, data);
    assert_eq!(server.receive(&bytes), bytes.len());
    let out = server.output().to_vec();
    server.sent(out.len());
    u32::from_be_bytes([out[12], out[13], out[14], out[15]])
}

#[test]
fn agreements_in_the_clear_are_forgotten() {
    let mut server = server(Tls::Offered);
    assert_eq!(reply(&mut server, 8, b""), 1);
    let mut bytes = Vec::new();
    put_option(&mut bytes, 5, b"");
    let clear = bytes.len();
    // An attacker in the middle may send more in the clear: it is not taken.
    put_option(&mut bytes, 8, b"");
    assert_eq!(server.receive(&bytes), clear);
    assert_eq!(server.next(), Some(Event::StartTls));
    assert!(!server.wants_input());
    assert_eq!(server.receive(&bytes[clear..]), 0);
    server.sent(server.output().len());
    server.tls_started();
    assert_eq!(reply(&mut server, 5, b""), 1 << 31 | 3);
    assert_eq!(reply(&mut server, 9, &[0; 8]), 1 << 31 | 3, "structured replies were agreed on in the clear only");
    assert_eq!(reply(&mut server, 8, b""), 1);
}

#[test]
fn nothing_but_tls_where_it_is_required() {
    let mut strict = server(Tls::Required);
    for option in [3, 6, 7, 8, 9, 10, 11, 77] {
        assert_eq!(reply(&mut strict, option, b""), 1 << 31 | 5);
    }
    assert_eq!(reply(&mut strict, 5, b""), 1);
    strict.tls_started();
    assert_eq!(reply(&mut strict, 8, b""), 1);

    let mut strict = server(Tls::Required);
    let mut bytes = Vec::new();
    put_option(&mut bytes, 1, b"disk");
    strict.receive(&bytes);
    assert_eq!(strict.next(), Some(Event::Closed(Close::TlsRequired)));

    assert_eq!(reply(&mut server(Tls::Absent), 5, b""), 1 << 31 | 2);
}
