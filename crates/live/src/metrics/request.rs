//! The head of an HTTP request for the metrics, and its check.

use std::net::IpAddr;

use super::response::Status;

/// Bytes of a head, at most: the request line, the headers, and the empty line behind them.
pub(super) const HEAD_MAX: usize = 8 << 10;

/// Path of the metrics.
pub(super) const PATH: &str = "/metrics";

/// A request for the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// True if the client wants the headers alone.
    pub(super) is_head: bool,
}

/// Host names that requests may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// Names of this machine for itself. A page of a web site whose name leads to a loopback address asks under that name, from the browser of its visitor,
    /// and could pass the answer on.
    Loopback,
    /// Any name: the names that others use for a reachable server are unknown.
    Any,
}

impl Names {
    /// The names of a server that listens at `ip`.
    pub(super) fn of(ip: IpAddr) -> Names {
        if ip.is_loopback() { Names::Loopback } else { Names::Any }
    }

    /// True if `host`, as a request has it, is one of these names. Any port will do: it may have been forwarded.
    fn has(self, host: &str) -> bool {
        if self == Names::Any {
            return true;
        }
        let is_port = |text: &str| text.len() <= 5 && text.bytes().all(|byte| byte.is_ascii_digit());
        let (name, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((name, "")) => (name, ""),
            Some((name, port)) => (name, port.strip_prefix(':').unwrap_or("?")),
            None => host.split_once(':').unwrap_or((host, "")),
        };
        is_port(port) && (name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback()))
    }
}

/// Reads a head, which ends with its empty line, of a request to a server with these `names`.
///
/// # Errors
/// The status to answer with instead.
pub(super) fn read(head: &[u8], names: Names) -> Result<Request, Status> {
    let text = std::str::from_utf8(head).map_err(|_| Status::BadRequest)?;
    let text = text.strip_suffix("\r\n\r\n").ok_or(Status::BadRequest)?;
    // Bare line ends and other control characters would allow to smuggle requests.
    let is_plain = |line: &str| line.chars().all(|letter| letter == '\t' || !letter.is_control());
    let mut lines = text.split("\r\n");
    let first = lines.next().filter(|line| is_plain(line)).ok_or(Status::BadRequest)?;
    let words: Vec<&str> = first.split(' ').collect();
    let [method, target, version] = words[..] else { return Err(Status::BadRequest) };
    let is_new = match version {
        "HTTP/1.1" => true,
        "HTTP/1.0" => false,
        _ if version.starts_with("HTTP/") => return Err(Status::VersionNotSupported),
        _ => return Err(Status::BadRequest),
    };
    if !is_token(method) || !target.starts_with('/') || !target.is_ascii() {
        return Err(Status::BadRequest);
    }
    let (mut hosts, mut host) = (0, None);
    for line in lines {
        let (name, value) = line.split_once(':').filter(|(name, _)| is_token(name) && is_plain(line)).ok_or(Status::BadRequest)?;
        if name.eq_ignore_ascii_case("host") {
            (hosts, host) = (hosts + 1, Some(value.trim_matches([' ', '\t'])));
        }
    }
    if hosts > 1 || (is_new && hosts == 0) {
        return Err(Status::BadRequest);
    }
    if host.is_some_and(|host| !names.has(host)) {
        return Err(Status::Misdirected);
    }
    if target.split('?').next() != Some(PATH) {
        return Err(Status::NotFound);
    }
    match method {
        "GET" => Ok(Request { is_head: false }),
        "HEAD" => Ok(Request { is_head: true }),
        _ => Err(Status::MethodNotAllowed),
    }
}

/// A name as HTTP has them.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_well_formed_request_for_the_metrics_gets_them() {
        let get = Ok(Request { is_head: false });
        for (head, expected) in [
            ("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", get),
            ("GET /metrics?x=1 HTTP/1.1\r\nhost:a\r\nAccept: text/plain\r\n\r\n", get),
            ("GET /metrics HTTP/1.0\r\n\r\n", get),
            ("HEAD /metrics HTTP/1.1\r\nHost: a\r\n\r\n", Ok(Request { is_head: true })),
            ("POST /metrics HTTP/1.1\r\nHost: a\r\n\r\n", Err(Status::MethodNotAllowed)),
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", Err(Status::NotFound)),
            ("GET /metricsx HTTP/1.1\r\nHost: a\r\n\r\n", Err(Status::NotFound)),
            ("GET /metrics HTTP/2.0\r\nHost: a\r\n\r\n", Err(Status::VersionNotSupported)),
            ("GET /metrics HTTP/1.1\r\n\r\n", Err(Status::BadRequest)),
            ("GET /metrics HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", Err(Status::BadRequest)),
            ("GET  /metrics HTTP/1.1\r\nHost: a\r\n\r\n", Err(Status::BadRequest)),
            ("GET metrics HTTP/1.1\r\nHost: a\r\n\r\n", Err(Status::BadRequest)),
            ("GET /metrics\r\n\r\n", Err(Status::BadRequest)),
            ("GET /metrics HTTP/1.1\nHost: a\r\n\r\n", Err(Status::BadRequest)),
            ("GET /metrics HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", Err(Status::BadRequest)),
            ("GET /metrics HTTP/1.1\r\nHost : a\r\n\r\n", Err(Status::BadRequest)),
            ("\r\n\r\n", Err(Status::BadRequest)),
            ("", Err(Status::BadRequest)),
        ] {
            assert_eq!(read(head.as_bytes(), Names::Any), expected, "{head:?}");
        }
        assert_eq!(read(b"GET /metrics HTTP/1.1\r\nHost: \xFF\r\n\r\n", Names::Any), Err(Status::BadRequest));
    }

    #[test]
    fn a_server_for_this_machine_alone_answers_to_its_own_names_alone() {
        let asked =
            |host: &str| read(format!("GET /metrics?x=1 HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes(), Names::of([127, 0, 0, 1].into()));
        for own in ["localhost", "LocalHost:9000", "127.0.0.1", "127.0.0.1:80", "127.9.9.9:1", "[::1]", "[::1]:9000", "localhost:"] {
            assert!(asked(own).is_ok(), "{own}");
        }
        for foreign in [
            "evil.example",
            "evil.example:9000",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "10.0.0.1",
            "[::2]:9000",
            "[::1]x",
            "[::1",
            "",
            "localhost:x",
        ] {
            assert_eq!(asked(foreign), Err(Status::Misdirected), "{foreign}");
        }
        assert_eq!(read(b"GET /metrics HTTP/1.0\r\n\r\n", Names::Loopback), Ok(Request { is_head: false }));
        let reachable = Names::of([0, 0, 0, 0].into());
        assert!(read(b"GET /metrics HTTP/1.1\r\nHost: big.example:9000\r\n\r\n", reachable).is_ok());
    }
}
