//! Answers of the metrics' server.

/// The type of the text, as OpenMetrics 1.0 has it.
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Reasons for an answer without metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    BadRequest,
    NotFound,
    Misdirected,
    MethodNotAllowed,
    RequestTimeout,
    HeadTooLarge,
    ServiceUnavailable,
    VersionNotSupported,
}

impl Status {
    fn line(self) -> (&'static str, &'static str) {
        match self {
            Status::BadRequest => ("400 Bad Request", "This is no HTTP request that can be read. The metrics are at /metrics."),
            Status::NotFound => ("404 Not Found", "The metrics are at /metrics."),
            Status::Misdirected => (
                "421 Misdirected Request",
                "This server is for this machine alone: it is asked for as localhost, or by a loopback address.",
            ),
            Status::MethodNotAllowed => ("405 Method Not Allowed", "The metrics can be read with GET or HEAD, and nothing else."),
            Status::RequestTimeout => ("408 Request Timeout", "The request did not come in time."),
            Status::HeadTooLarge => ("431 Request Header Fields Too Large", "A request has at most 8 KiB."),
            Status::ServiceUnavailable => ("503 Service Unavailable", "The drive has stopped, or too many ask at once."),
            Status::VersionNotSupported => ("505 HTTP Version Not Supported", "HTTP/1.0 and HTTP/1.1 are spoken."),
        }
    }
}

/// The bytes of a refusal.
pub(super) fn refusal(status: Status) -> Vec<u8> {
    let (line, text) = status.line();
    let allow = if status == Status::MethodNotAllowed { "Allow: GET, HEAD\r\n" } else { "" };
    let head = format!(
        "HTTP/1.1 {line}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n{allow}Connection: close\r\n\r\n",
        text.len() + 1
    );
    format!("{head}{text}\n").into_bytes()
}

/// The bytes of an answer with the metrics in `text`, or of its headers alone.
pub(super) fn metrics(text: &str, is_head: bool) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {OPENMETRICS}\r\nContent-Length: {}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n",
        text.len()
    );
    if is_head { head.into_bytes() } else { (head + text).into_bytes() }
}
