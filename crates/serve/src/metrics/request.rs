//! The head of an HTTP request, and whether it asks for the metrics.

use super::response::Status;

/// Bytes of a head, at most: the request line, the headers, and the empty line behind them.
pub(super) const HEAD_MAX: usize = 8 << 10;

/// Where the metrics are.
pub(super) const PATH: &str = "/metrics";

/// A request for the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// The client wants the headers alone.
    pub(super) is_head: bool,
}

/// Reads a head, which ends with its empty line.
///
/// # Errors
/// The status to answer with instead.
pub(super) fn read(head: &[u8]) -> Result<Request, Status> {
    let text = std::str::from_utf8(head).map_err(|_| Status::BadRequest)?;
    let text = text.strip_suffix("\r\n\r\n").ok_or(Status::BadRequest)?;
    // Bare line ends and other control characters are how requests are smuggled.
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
    let mut hosts = 0;
    for line in lines {
        let (name, _) = line.split_once(':').filter(|(name, _)| is_token(name) && is_plain(line)).ok_or(Status::BadRequest)?;
        hosts += u32::from(name.eq_ignore_ascii_case("host"));
    }
    if hosts > 1 || (is_new && hosts == 0) {
        return Err(Status::BadRequest);
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
            assert_eq!(read(head.as_bytes()), expected, "{head:?}");
        }
        assert_eq!(read(b"GET /metrics HTTP/1.1\r\nHost: \xFF\r\n\r\n"), Err(Status::BadRequest));
    }
}
