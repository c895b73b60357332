//! Do ordinary clients get what they came for?

use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use wordline_block::{Op, ZeroHow};
use wordline_live::MemoryDisk;
use wordline_live::doors::Address;
use wordline_nbd::client::{Content, Speak};
use wordline_nbd::{Export, Limits};
use wordline_serve::{Config, Patience, ServeError, serve};

use crate::common::{Connected, config, connect, socket, start};

const SIZE: u64 = 4 << 20;

fn memory() -> Arc<MemoryDisk> {
    Arc::new(MemoryDisk::new(SIZE))
}

#[test]
fn what_is_written_is_read_in_every_dialect() {
    let (_running, path) = start(memory(), SIZE, Config::default());
    for speak in [Speak::Simple, Speak::Structured, Speak::Extended] {
        let mut client = Connected::open(UnixStream::connect(&path).expect("it listens"), speak);
        assert_eq!(client.ready.size, SIZE);
        let pattern: Vec<u8> = (0..100_000u32).map(|at| at as u8).collect();
        client.write(30_000, &pattern);
        assert_eq!(client.read(30_000, 100_000), pattern);
        let how = ZeroHow { may_punch: true, must_be_fast: true };
        assert_eq!(client.call(&Op::WriteZeroes { offset: 40_000, length: 60_000, how, fua: true }).fault, None);
        let mut expected = pattern.clone();
        expected[10_000..70_000].fill(0);
        assert_eq!(client.read(30_000, 100_000), expected);
        assert_eq!(client.call(&Op::Trim { offset: 0, length: SIZE, fua: false }).fault, None);
        assert_eq!(client.call(&Op::Flush).fault, None);
        assert!(client.read(0, SIZE as u32).iter().all(|&byte| byte == 0));
        client.client.disconnect();
        client.send();
    }
}

#[test]
fn a_server_that_stays_awake_serves_as_well() {
    let patience = Patience { awake: Duration::from_millis(2), ..Patience::default() };
    let (_running, path) = start(memory(), SIZE, Config { patience, ..Config::default() });
    let mut client = connect(&path);
    for turn in 0..200 {
        client.write(turn * 4096, &[turn as u8; 4096]);
        assert_eq!(client.read(turn * 4096, 4096), [turn as u8; 4096]);
    }
    // Whoever hangs up is noticed while awake, too.
    drop(client);
    let mut next = connect(&path);
    assert_eq!(next.read(4096, 4096), [1; 4096]);
}

#[test]
fn allocation_is_told() {
    let (_running, path) = start(memory(), SIZE, Config::default());
    let mut client = connect(&path);
    client.write(1 << 20, &[1; 100]);
    let answer = client.call(&Op::BlockStatus { offset: 0, length: SIZE, one: false });
    let Content::Status(_, extents) = &answer.content[0] else { panic!("{answer:?}") };
    let extents: Vec<_> = extents.iter().map(|extent| (extent.length, extent.flags)).collect();
    assert_eq!(extents, [(1 << 20, 3), (32 << 10, 0), (SIZE - (1 << 20) - (32 << 10), 3)]);
}

#[test]
fn many_clients_see_one_disk() {
    let (running, path) = start(memory(), SIZE, Config::default());
    let threads: Vec<_> = (0..8u8)
        .map(|number| {
            let path = path.clone();
            std::thread::spawn(move || {
                let mut client = connect(&path);
                let base = u64::from(number) * 4096;
                for round in 0..50u64 {
                    // All in flight at once, in pieces between those of the others.
                    let cookies: Vec<_> = (0..16)
                        .map(|at| {
                            let data = vec![number ^ round as u8; 4096];
                            client.request(&Op::Write { offset: base + at * 8 * 4096, data, fua: false })
                        })
                        .collect();
                    let mut answered: Vec<_> = cookies.iter().map(|_| client.answer().cookie).collect();
                    answered.sort_unstable();
                    assert_eq!(answered, cookies);
                    assert_eq!(client.read(base + round % 16 * 8 * 4096, 4096), vec![number ^ round as u8; 4096]);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("no client failed"));
    let mut client = connect(&path);
    for number in 0..8u8 {
        assert_eq!(client.read(u64::from(number) * 4096, 4096), vec![number ^ 49; 4096]);
    }
    assert!(running.connections() >= 1);
}

#[test]
fn tcp_on_loopback_and_nowhere_else() {
    let any: SocketAddr = "127.0.0.1:0".parse().expect("an address");
    let running = serve(&Address::Tcp(any), vec![(Export::new("disk", SIZE), memory())], Config::default()).expect("it starts");
    let Address::Tcp(address) = running.address() else { panic!("{}", running.address()) };
    let mut client = Connected::open(TcpStream::connect(address).expect("it listens"), Speak::Structured);
    client.write(77, b"over tcp");
    assert_eq!(client.read(77, 8), b"over tcp");
    let outside: SocketAddr = "0.0.0.0:0".parse().expect("an address");
    let error = serve(&Address::Tcp(outside), vec![], Config::default()).expect_err("not for everybody");
    assert!(matches!(error, ServeError::NotLoopback(_)), "{error}");
}

#[test]
fn stopping_ends_clients_and_leaves_no_socket() {
    let (running, path) = start(memory(), SIZE, Config::default());
    let mut client = connect(&path);
    client.write(0, &[1; 512]);
    drop(running);
    assert!(!path.exists());
    let mut end = [0];
    assert_eq!(std::io::Read::read(&mut client.stream, &mut end).expect("an end"), 0);
    // A socket file that was left by somebody who was killed is replaced; one in use is not.
    drop(std::os::unix::net::UnixListener::bind(&path).expect("a file"));
    let (first, second) = (Address::Unix(path.clone()), Address::Unix(path));
    let running = serve(&first, vec![(Export::new("disk", SIZE), memory())], config(Limits::DEFAULT)).expect("replaced");
    assert!(matches!(serve(&second, vec![], config(Limits::DEFAULT)), Err(ServeError::Listen { .. })));
    drop(running);
    let nowhere = Address::Unix(socket().join("none"));
    let error = serve(&nowhere, vec![], config(Limits::DEFAULT)).expect_err("no such folder").to_string();
    assert!(error.starts_with("cannot listen on nbd+unix:///?socket="), "{error}");
}
