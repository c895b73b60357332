//! How long a client's socket takes, which is no part of a drive's latency.
//!
//! A request is on its way to the server, and an answer to the client, for some tens of microseconds: as long as a fast read takes. Where a client is to see
//! the latencies of the drive itself, answers leave so much earlier ([`LiveDisk::allow_for`]).

use std::fmt;
use std::io;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use wordline_block::Op;
use wordline_figures::{Cost, Identity, conclude};
use wordline_live::LiveDisk;
use wordline_live::doors::{Address, Stream};
use wordline_nbd::Export;
use wordline_nbd::client::{Answer, Ask, Client, Heard, Speak};

use crate::listener::{Config, serve};
use crate::patience::Patience;

/// How much earlier answers leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// So much.
    Takes(Duration),
    /// As much as it is found to be.
    Measured,
}

impl FromStr for Link {
    type Err = String;

    fn from_str(text: &str) -> Result<Link, String> {
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let unit = match text[digits..].trim() {
            "ns" => Some(1e-9),
            "us" => Some(1e-6),
            "ms" => Some(1e-3),
            _ => None,
        };
        let seconds = text[..digits].parse::<f64>().ok().zip(unit).map(|(number, unit)| number * unit);
        match seconds {
            Some(seconds) if seconds <= 0.01 => Ok(Link::Takes(Duration::from_secs_f64(seconds))),
            _ if text == "auto" => Ok(Link::Measured),
            _ => Err(format!("'{text}' is not how long a socket takes: expected auto, or a time of 10 ms or less, such as 50us")),
        }
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Link::Takes(time) => write!(f, "{}us", time.as_nanos() as f64 / 1e3),
            Link::Measured => f.write_str("auto"),
        }
    }
}

/// Reads in one measurement.
const READS: usize = 2000;

/// Bytes of each.
const READ_BYTES: u32 = 4096;

/// How much longer a client waits for a read of `disk` than the drive takes, in the mean without the slowest hundredth: measured by reading from it, one
/// request at a time, over a socket like `at`. `disk` is to be a fresh drive with bytes in memory whose time is the wall's; it is closed afterwards.
///
/// # Errors
/// If there is no socket to be had, or the drive fails.
pub fn measure_link(disk: LiveDisk, at: &Address, patience: Patience) -> io::Result<Duration> {
    let at = match at {
        Address::Unix(_) => Address::Unix(std::env::temp_dir().join(format!("wordline-link-{}.sock", std::process::id()))),
        Address::Tcp(_) => Address::Tcp((std::net::Ipv4Addr::LOCALHOST, 0).into()),
    };
    let disk = Arc::new(disk);
    let size = u64::from(READ_BYTES) * 64;
    let running = serve(&at, vec![(Export::new("disk", size), Arc::clone(&disk) as _)], Config { patience, ..Config::default() })
        .map_err(io::Error::other)?;
    let mut caller = Caller::call(running.address())?;
    let all = Op::Write { offset: 0, data: vec![0x5a; size as usize], fua: true };
    caller.ask(&all)?;
    let mut took: Vec<Duration> = (0..READS as u64)
        .map(|number| {
            let begun = Instant::now();
            caller.ask(&Op::Read { offset: number * 7 % 64 * u64::from(READ_BYTES), length: READ_BYTES })?;
            Ok(begun.elapsed())
        })
        .collect::<io::Result<_>>()?;
    took.sort_unstable();
    let look = disk.look().ok_or_else(|| io::Error::other("the drive has stopped"))?;
    let measured = look.metrics.clone().finish(look.now, look.outstanding);
    let (books, _) = conclude(&Identity::default(), &measured, &look.blocks, Cost::default());
    let own_us = books.latency_us.read.map_or(0.0, |read| read.mean);
    // In the slowest ones the machine did something else.
    let usual = &took[..READS - READS / 100];
    let mean = usual.iter().sum::<Duration>() / usual.len() as u32;
    Ok(mean.saturating_sub(Duration::from_secs_f64(own_us / 1e6)))
}

/// A client, one request at a time.
struct Caller {
    stream: Stream,
    client: Client,
    cookie: u64,
    buffer: Vec<u8>,
}

impl Caller {
    fn call(address: &Address) -> io::Result<Caller> {
        let ask = Ask { export: "disk".to_owned(), dialect: Speak::Structured, contexts: Vec::new(), by_export_name: false, list: false };
        let mut caller = Caller { stream: Stream::connect(address)?, client: Client::new(ask), cookie: 0, buffer: vec![0; 64 << 10] };
        caller.hear()?;
        Ok(caller)
    }

    fn hear(&mut self) -> io::Result<Heard> {
        loop {
            if let Some(heard) = self.client.next() {
                return Ok(heard);
            }
            self.stream.write_all(&self.client.take_output())?;
            match self.stream.read(&mut self.buffer)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => self.client.receive(&self.buffer[..count]).map_err(|error| io::Error::other(format!("{error:?}")))?,
            }
        }
    }

    fn ask(&mut self, op: &Op) -> io::Result<()> {
        self.cookie += 1;
        self.client.request(self.cookie, op);
        match self.hear()? {
            Heard::Answer(Answer { fault: None, .. }) => Ok(()),
            heard @ (Heard::Answer(_) | Heard::Ready(_)) => Err(io::Error::other(format!("{heard:?}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_printed() {
        for (text, link) in
            [("auto", Link::Measured), ("50us", Link::Takes(Duration::from_micros(50))), ("0us", Link::Takes(Duration::ZERO))]
        {
            assert_eq!(text.parse(), Ok(link));
            assert_eq!(link.to_string(), text);
        }
        assert_eq!("0.5 ms".parse(), Ok(Link::Takes(Duration::from_micros(500))));
        for wrong in ["", "us", "50", "50 s", "20ms", "-1us", "1e3us", "off"] {
            assert!(wrong.parse::<Link>().is_err(), "{wrong}");
        }
    }
}
