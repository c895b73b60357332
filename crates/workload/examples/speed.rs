//! How fast are generators and readers? Not a test, because clocks of shared machines are not to be trusted: run it by hand with
//! `cargo run --release -p wordline-workload --example speed`.

use std::hint::black_box;
use std::time::Instant;

use wordline_units::Bytes;
use wordline_workload::spec::{Address, Limit, Mix};
use wordline_workload::trace::ReadOptions;
use wordline_workload::{Generator, PhaseSpec, TraceReader, WorkloadSpec};

/// A stopwatch of processor time where the system tells it (Linux), of wall time elsewhere.
struct Stopwatch(Instant, Option<u64>);

impl Stopwatch {
    fn start() -> Stopwatch {
        Stopwatch(Instant::now(), Stopwatch::processor_nanos())
    }

    fn processor_nanos() -> Option<u64> {
        std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split_whitespace().next()?.parse().ok()
    }

    fn nanos(&self) -> f64 {
        let processor = self.1.zip(Stopwatch::processor_nanos()).map(|(start, end)| (end - start) as f64);
        processor.unwrap_or_else(|| self.0.elapsed().as_nanos() as f64)
    }
}

fn main() {
    const COUNT: u64 = 5_000_000;
    let plain = PhaseSpec::new("plain", Limit::requests(COUNT));
    let mixed = || PhaseSpec {
        mix: Mix::reads(0.7),
        sizes: vec![(Bytes::kib(4), 0.5), (Bytes::kib(16), 0.5)],
        ..PhaseSpec::new("mixed", Limit::requests(COUNT))
    };
    let cases = [
        ("uniform", plain),
        ("uniform, mixture", mixed()),
        ("zipf 0.99", PhaseSpec { address: Address::Zipf { theta: 0.99, scatter: false }, ..mixed() }),
        ("zipf 0.99, scattered", PhaseSpec { address: Address::Zipf { theta: 0.99, scatter: true }, ..mixed() }),
        ("hot-cold", PhaseSpec { address: Address::HotCold { hot: 0.2, traffic: 0.8, scatter: false }, ..mixed() }),
        ("sequential", PhaseSpec { address: Address::Sequential { streams: 1 }, ..mixed() }),
    ];
    for (name, phase) in cases {
        let spec = WorkloadSpec { name: name.to_owned(), purpose: String::new(), phases: vec![phase] };
        let mut generator = Generator::new(&spec, 1, Bytes::gib(512)).expect("fits");
        let start = Stopwatch::start();
        let mut sum = 0u64;
        while let Some(request) = generator.next_in_phase() {
            sum = sum.wrapping_add(request.sector);
        }
        black_box(sum);
        eprintln!("{name:<22} {:.1} ns per request", start.nanos() / COUNT as f64);
    }
    let lines: [(&str, &str); 3] = [
        ("msr", "128166385295514663,hm,0,Write,9056014336,2048,2833\n"),
        ("mqsim", "97900000 0 287641400 128 1\n97900000 0 287641401 128 0\n"),
        ("blkparse", "259,2    0        1     0.000000000  4020  Q   R 282624 + 8 [java]\n"),
    ];
    for (name, line) in lines {
        let text = line.repeat((64 << 20) / line.len());
        let start = Stopwatch::start();
        let records = TraceReader::new(text.as_bytes(), name, ReadOptions::default()).expect("known").filter(Result::is_ok).count();
        let seconds = start.nanos() / 1e9;
        eprintln!("{name:<22} {:.0} MB/s, {:.1} M records/s", text.len() as f64 / 1e6 / seconds, records as f64 / 1e6 / seconds);
    }
}
