//! Are the metrics those of the drive, as OpenMetrics wants them, and is the server of them safe from whoever connects?

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;

use wordline_block::Op;
use wordline_live::{Kind, LiveDisk, MetricsServer, Timing, metrics, serve_metrics};
use wordline_units::random::{Draw, Stream};

use crate::client::{connect, ram_drive};
use crate::common::small_drive;
use crate::openmetrics::{self, Key};

struct Scraped {
    disk: Arc<LiveDisk>,
    server: MetricsServer,
}

fn scraped(settings: &[&str]) -> Scraped {
    let disk = ram_drive(small_drive(2, settings), Timing::Off);
    let server = serve_metrics(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), Arc::clone(&disk)).expect("a port is free");
    Scraped { disk, server }
}

impl Scraped {
    /// All that is answered to these bytes.
    fn say(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.server.address()).expect("it listens");
        // Whoever has been answered already takes no more.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8(answer).expect("text")
    }

    fn scrape(&self) -> String {
        let answer = self.say(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: application/openmetrics-text\r\n\r\n");
        let (head, text) = answer.split_once("\r\n\r\n").expect("a head");
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert!(head.contains("\r\nContent-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"), "{head}");
        assert!(head.contains(&format!("\r\nContent-Length: {}\r\n", text.len())), "{head}");
        text.to_owned()
    }
}

fn key(name: &str, labels: &[(&str, &str)]) -> Key {
    (name.to_owned(), labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
}

#[test]
fn the_text_is_openmetrics_and_counts_what_was_done() {
    let scraped = scraped(&["cells.physics=false"]);
    openmetrics::read(&scraped.scrape()).expect("a drive that nothing was asked of");
    let mut client = connect(&scraped.disk);
    for unit in 0..100u64 {
        client.write(unit * 16_384, &[1; 16_384]);
    }
    assert_eq!(client.call(&Op::Flush).fault, None);
    for unit in 0..30u64 {
        client.read(unit * 16_384, 4096);
    }
    let samples = openmetrics::read(&scraped.scrape()).unwrap_or_else(|wrong| panic!("{wrong}"));
    let value = |name: &str, labels: &[(&str, &str)]| *samples.get(&key(name, labels)).unwrap_or_else(|| panic!("no {name} {labels:?}"));
    for (name, labels, expected) in [
        ("wordline_host_requests_total", &[("op", "write")][..], 100.0),
        ("wordline_host_requests_total", &[("op", "read")], 30.0),
        ("wordline_host_requests_total", &[("op", "flush")], 1.0),
        ("wordline_host_bytes_total", &[("op", "write")], 1_638_400.0),
        ("wordline_host_bytes_total", &[("op", "read")], 122_880.0),
        ("wordline_host_failed_requests_total", &[("op", "read")], 0.0),
        ("wordline_host_latency_seconds_count", &[("op", "read")], 30.0),
        ("wordline_host_latency_seconds_bucket", &[("le", "10.0"), ("op", "write")], 100.0),
        ("wordline_media_errors_total", &[], 0.0),
        ("wordline_power_cycles_total", &[], 1.0),
    ] {
        assert_eq!(value(name, labels), expected, "{name} {labels:?}");
    }
    assert!(value("wordline_write_amplification_ratio", &[]) >= 1.0);
    assert!(value("wordline_flash_written_bytes_total", &[("cause", "host")]) >= 1_638_400.0);
    // Counters only grow.
    client.write(0, &[1; 16_384]);
    let later = openmetrics::read(&scraped.scrape()).expect("sound");
    for (key, value) in samples.iter().filter(|(key, _)| ["_total", "_bucket", "_count", "_sum"].iter().any(|end| key.0.ends_with(end))) {
        assert!(later.get(key).is_some_and(|later| later >= value), "{key:?} was {value}, and is {:?}", later.get(key));
    }
    // Each family of the table is in the text, and nothing else is.
    let text = scraped.scrape();
    let told: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    assert_eq!(told, metrics().iter().map(|family| family.name).collect::<Vec<_>>());
}

#[test]
fn the_dashboard_asks_for_metrics_that_exist_with_labels_that_they_have() {
    let dashboard =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../contrib/grafana/wordline.json")).expect("it is there");
    let dashboard: serde_json::Value = serde_json::from_str(&dashboard).expect("JSON");
    let scraped = scraped(&[]);
    let mut client = connect(&scraped.disk);
    client.write(0, &[1; 65_536]);
    assert_eq!(client.call(&Op::Flush).fault, None);
    let samples = openmetrics::read(&scraped.scrape()).expect("sound");
    let mut exprs = Vec::new();
    strings(&dashboard, &mut |key, text| {
        if key == "expr" || key == "query" && text.contains("wordline_") {
            exprs.push(text.to_owned());
        }
    });
    assert!(exprs.len() > 25, "{exprs:#?}");
    let mut asked = BTreeSet::new();
    for expr in &exprs {
        unknown(expr, &samples, &mut asked).unwrap_or_else(|wrong| panic!("{expr}: {wrong}"));
    }
    let shown = |family: &&wordline_live::Family| !asked.iter().any(|name| name.starts_with(family.name));
    let hidden: Vec<&str> = metrics().iter().filter(shown).map(|family| family.name).collect();
    println!("not on the dashboard: {hidden:?}");
    assert!(hidden.len() < 10, "{hidden:?}");
    // The check finds what it is for.
    for wrong in [
        "rate(wordline_host_request_total[1m])",
        "wordline_media_errors",
        "sum by (dye) (wordline_die_busy_seconds_total)",
        "wordline_host_bytes_total{kind=\"a\"}",
    ] {
        assert!(unknown(wrong, &samples, &mut BTreeSet::new()).is_err(), "{wrong}");
    }
}

/// Calls `with` for each text in `value` and its key.
fn strings(value: &serde_json::Value, with: &mut impl FnMut(&str, &str)) {
    match value {
        serde_json::Value::Object(map) => map.iter().for_each(|(key, value)| match value.as_str() {
            Some(text) => with(key, text),
            None => strings(value, with),
        }),
        serde_json::Value::Array(all) => all.iter().for_each(|value| strings(value, with)),
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) | serde_json::Value::String(_) => {}
    }
}

/// Whether an expression asks for something that is not there: a sample, or a label of one.
fn unknown(expr: &str, samples: &std::collections::BTreeMap<Key, f64>, asked: &mut BTreeSet<String>) -> Result<(), String> {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let possible = |name: &str| {
        metrics().iter().any(|family| match family.kind {
            Kind::Counter => name.strip_suffix("_total") == Some(family.name),
            Kind::Info => name.strip_suffix("_info") == Some(family.name),
            Kind::Gauge => name == family.name,
            Kind::Histogram => ["_bucket", "_count", "_sum"].iter().any(|end| name.strip_suffix(end) == Some(family.name)),
        })
    };
    let mut labels: BTreeSet<&str> = ["instance", "job"].into();
    for name in expr.split(|letter| !is_word(letter)).filter(|word| word.starts_with("wordline_")) {
        if !possible(name) {
            return Err(format!("there is no {name}"));
        }
        asked.insert(name.to_owned());
        labels.extend(samples.keys().filter(|key| key.0 == name).flat_map(|key| key.1.iter().map(|(label, _)| label.as_str())));
    }
    let mut used = Vec::new();
    for part in expr.split("by (").skip(1) {
        used.extend(part.split(')').next().unwrap_or("").split(',').map(str::trim));
    }
    for part in expr.split('{').skip(1) {
        let inside = part.split('}').next().unwrap_or("");
        used.extend(inside.split(',').filter_map(|matcher| matcher.split(['=', '!']).next()).map(str::trim));
    }
    match used.into_iter().find(|label| !labels.contains(label)) {
        Some(label) => Err(format!("no sample of it has the label {label:?}")),
        None => Ok(()),
    }
}

#[test]
fn whatever_is_said_ends_in_an_answer_or_a_closed_connection() {
    let scraped = scraped(&["cells.physics=false"]);
    let get = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for (bytes, status) in [
        ("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(), "404"),
        ("DELETE /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(), "405"),
        ("GET /metrics HTTP/3\r\nHost: localhost\r\n\r\n".to_owned(), "505"),
        ("nonsense\r\n\r\n".to_owned(), "400"),
        (format!("GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(100_000)), "431"),
        (format!("{get}and a body {}", "y".repeat(30_000)), "200"),
        (format!("{get}{get}"), "200"),
        ("HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(), "200"),
        ("GET /metrics?x=1 HTTP/1.1\r\nHost: [::1]:9000\r\n\r\n".to_owned(), "200"),
        ("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n".to_owned(), "421"),
    ] {
        let answer = scraped.say(bytes.as_bytes());
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{:.80}: {answer:.200}", bytes);
        assert!(!answer.contains("\nHTTP/1.1 "), "one answer for a connection");
    }
    assert!(scraped.say(b"HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").ends_with("\r\n\r\n"), "a head and nothing behind it");
    assert_eq!(scraped.say(b""), "");
    assert_eq!(scraped.say(b"GET /metrics HT"), "", "whoever goes in the middle gets nothing");
    let mut draw = Draw::new(3, Stream::Mix, 23);
    for round in 0..300 {
        let mut bytes = get.as_bytes().to_vec();
        for _ in 0..1 + draw.below(4) {
            let at = draw.below(bytes.len() as u64) as usize;
            match draw.below(3) {
                0 => bytes[at] = draw.next_u64() as u8,
                1 => bytes.insert(at, draw.next_u64() as u8),
                _ => _ = bytes.remove(at),
            }
        }
        let answer = scraped.say(&bytes);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 "), "round {round}: {bytes:?}: {answer}");
    }
    openmetrics::read(&scraped.scrape()).expect("it still answers");
}

#[test]
fn slow_clients_keep_nobody_out_and_the_one_that_goes_is_told_so() {
    let scraped = scraped(&["cells.physics=false"]);
    let connect = || TcpStream::connect(scraped.server.address()).expect("it listens");
    // Some say nothing, some half of a head, some do not take their answer.
    let mut slow: Vec<TcpStream> = (0..16).map(|_| connect()).collect();
    let halves: Vec<TcpStream> = (0..16).map(|_| connect()).collect();
    halves.iter().for_each(|mut stream| stream.write_all(b"GET /metr").expect("taken"));
    let deaf: Vec<TcpStream> = (0..8).map(|_| connect()).collect();
    deaf.iter().for_each(|mut stream| stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").expect("taken"));
    for _ in 0..40 {
        scraped.scrape();
    }
    let told = halves.into_iter().filter(|mut stream| {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).is_ok() && answer.starts_with("HTTP/1.1 503 ")
    });
    assert!(told.count() >= 8, "those that had to go were told so");
    // Those that had said nothing are waited for.
    let mut answer = String::new();
    slow[15].write_all(b"GET /metrics HTTP/1.0\r\n\r\n").expect("taken");
    slow[15].read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[test]
fn a_request_that_trickles_is_given_up() {
    let scraped = scraped(&["cells.physics=false"]);
    let mut stream = TcpStream::connect(scraped.server.address()).expect("it listens");
    stream.write_all(b"GET /metrics HTTP/1.1\r\n").expect("taken");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
}

#[test]
fn it_goes_with_its_server() {
    let scraped = scraped(&["cells.physics=false"]);
    let address = scraped.server.address();
    let waiting = TcpStream::connect(address).expect("it listens");
    drop(scraped);
    assert!(TcpStream::connect(address).is_err(), "nobody listens");
    let mut rest = Vec::new();
    let _ = (&waiting).read_to_end(&mut rest);
    assert!(rest.is_empty());
}
