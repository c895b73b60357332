//! The requests that every sample in `crates/workload/samples` holds, and an independent count of what they come to.

use std::collections::BTreeSet;

use wordline_units::HostOp::{self, Flush, Read, Trim, Write};
use wordline_workload::TraceStats;

/// Microseconds, volume, operation, offset, length.
pub(crate) type Request = (u64, u32, HostOp, u64, u64);

pub(crate) const REQUESTS: [Request; 14] = [
    (0, 0, Write, 0, 4096),
    (150, 0, Write, 4096, 8192),
    (400, 0, Read, 0, 4096),
    (900, 1, Write, 1 << 20, 65_536),
    (1000, 1, Read, (1 << 20) + 2048, 2048),
    (1500, 0, Write, 12_288, 4096),
    (2600, 0, Read, 4096, 12_288),
    (3000, 0, Write, 0, 4096),
    (4200, 1, Read, 32 << 20, 131_072),
    (5000, 1, Write, 32 << 20, 512),
    (6500, 0, Write, 0, 16_384),
    (7000, 0, Read, 16_384, 4096),
    (7200, 1, Trim, 1 << 20, 65_536),
    (7300, 0, Flush, 0, 0),
];

/// What stands in `stats` and can be counted from the requests alone.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Count {
    ops: [u64; 4],
    bytes: [u64; 3],
    highest: u64,
    pages: u64,
    written_pages: u64,
    page_writes: u64,
    sequential: u64,
    volumes: usize,
}

impl Count {
    pub(crate) fn of_stats(stats: &TraceStats) -> Count {
        assert_eq!(stats.requests, stats.reads + stats.writes + stats.trims + stats.flushes);
        Count {
            ops: [stats.reads, stats.writes, stats.trims, stats.flushes],
            bytes: [stats.read.0, stats.written.0, stats.trimmed.0],
            highest: stats.highest.0,
            pages: stats.footprint_pages,
            written_pages: stats.written_pages,
            page_writes: stats.page_writes,
            sequential: stats.sequential,
            volumes: stats.volumes.len(),
        }
    }

    /// One by one, with a set of pages.
    pub(crate) fn of_requests(requests: &[Request]) -> Count {
        let number = |op: HostOp| requests.iter().filter(|request| request.2 == op).count() as u64;
        let bytes = |op: HostOp| requests.iter().filter(|request| request.2 == op).map(|request| request.4).sum();
        let data: Vec<&Request> = requests.iter().filter(|request| matches!(request.2, Read | Write)).collect();
        let pages_of =
            |request: &Request| (request.3 / 4096..=(request.3 + request.4 - 1) / 4096).map(|page| (request.1, page)).collect::<Vec<_>>();
        let pages: BTreeSet<(u32, u64)> = data.iter().flat_map(|request| pages_of(request)).collect();
        let writes: Vec<(u32, u64)> = data.iter().filter(|request| request.2 == Write).flat_map(|request| pages_of(request)).collect();
        let mut sequential = 0;
        for (index, request) in data.iter().enumerate() {
            let before = data[..index].iter().rev().find(|before| (before.1, before.2) == (request.1, request.2));
            sequential += u64::from(before.is_some_and(|before| before.3 + before.4 == request.3));
        }
        Count {
            ops: [number(Read), number(Write), number(Trim), number(Flush)],
            bytes: [bytes(Read), bytes(Write), bytes(Trim)],
            highest: data.iter().map(|request| request.3 + request.4).max().unwrap_or(0),
            pages: pages.len() as u64,
            written_pages: writes.iter().collect::<BTreeSet<_>>().len() as u64,
            page_writes: writes.len() as u64,
            sequential,
            volumes: requests.iter().map(|request| request.1).collect::<BTreeSet<_>>().len(),
        }
    }
}
