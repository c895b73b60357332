//! Do generators give what their workload says, again and again, and do files with mistakes say where they are?

use proptest::prelude::*;
use wordline_units::{Bytes, HostOp, HostRequest, Nanos, Priority, Tolerance};
use wordline_workload::spec::{Address, Amount, Arrival, Burst, Limit, Mix, Process, Rate, Zone};
use wordline_workload::{AnySpec, Generator, PhaseSpec, WorkloadSpec};

const CAPACITY: Bytes = Bytes::gib(1);

fn one(phase: PhaseSpec) -> WorkloadSpec {
    WorkloadSpec { name: "test".to_owned(), purpose: String::new(), phases: vec![phase] }
}

fn requests(phase: PhaseSpec) -> Vec<HostRequest> {
    Generator::new(&one(phase), 7, CAPACITY).expect("fits").collect()
}

#[test]
fn every_built_in_runs_and_stays_on_the_drive() {
    for name in WorkloadSpec::built_in_names() {
        let spec = WorkloadSpec::built_in(name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(spec.name, name);
        assert!(!spec.purpose.is_empty());
        let drawn: Vec<HostRequest> = Generator::new(&spec, 3, CAPACITY).expect(name).take(60_000).collect();
        assert!(drawn.len() > 5_000, "{name}: {}", drawn.len());
        assert!(drawn.iter().all(|request| (request.sector + u64::from(request.sectors)) * 512 <= CAPACITY.0), "{name}");
        assert!(drawn.iter().all(|request| (request.sectors == 0) == (request.op == HostOp::Flush)), "{name}");
        assert!(drawn.is_sorted_by_key(|request| request.at), "{name}");
        assert_eq!(drawn, Generator::new(&spec, 3, CAPACITY).expect(name).take(60_000).collect::<Vec<_>>(), "{name}: not repeatable");
    }
}

/// A change here changes the results of every study: it has to be wanted.
#[test]
fn the_default_workload_draws_the_same_requests_on_every_machine() {
    let mut generator = Generator::new(&WorkloadSpec::built_in("default").expect("sound"), 1, CAPACITY).expect("fits");
    let mut hashes = Vec::new();
    while generator.phase().is_some() {
        let mut hash: u64 = 0xCBF2_9CE4_8422_2325;
        while let Some(request) = generator.next_in_phase() {
            for word in [request.at.0, request.sector, u64::from(request.sectors), request.op as u64, u64::from(request.fua)] {
                hash = (hash ^ word).wrapping_mul(0x0000_0100_0000_01B3);
            }
        }
        hashes.push(hash);
        generator.end_phase();
    }
    assert_eq!(hashes, GOLDEN, "{hashes:#x?}");
}

const GOLDEN: [u64; 3] = [0xc8e2_3f87_e2a6_9c8c, 0x8030_b9d8_3713_68c5, 0x7ec0_3e98_e92a_b1c5];

#[test]
fn shares_come_out_as_asked() {
    let drawn = requests(PhaseSpec {
        mix: Mix { read: 0.5, write: 0.3, trim: 0.15, flush: 0.05 },
        fua: 0.25,
        sizes: vec![(Bytes::kib(4), 0.8), (Bytes::kib(64), 0.2)],
        priority: Priority::High,
        ..PhaseSpec::new("mix", Limit::requests(100_000))
    });
    let share = |holds: &dyn Fn(&HostRequest) -> bool| drawn.iter().filter(|request| holds(request)).count() as f64 / drawn.len() as f64;
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 0.006, "{found} against {expected}");
    near(share(&|request| request.op == HostOp::Read), 0.5);
    near(share(&|request| request.op == HostOp::Trim), 0.15);
    near(share(&|request| request.op == HostOp::Flush), 0.05);
    near(share(&|request| request.fua), 0.3 * 0.25);
    near(share(&|request| request.sectors == 128), 0.95 * 0.2);
    assert!(drawn.iter().all(|request| request.sector.is_multiple_of(8) && request.attributes.priority == Priority::High));
    assert!(drawn.iter().all(|request| !request.fua || request.op == HostOp::Write));
}

#[test]
fn hot_and_cold_get_their_traffic() {
    for scatter in [false, true] {
        let address = Address::HotCold { hot: 0.1, traffic: 0.9, scatter };
        let drawn = requests(PhaseSpec { address, ..PhaseSpec::new("hot", Limit::requests(100_000)) });
        let mut counts = std::collections::BTreeMap::new();
        drawn.iter().for_each(|request| *counts.entry(request.sector).or_insert(0u32) += 1);
        let early = drawn.iter().filter(|request| request.sector * 512 < CAPACITY.0 / 10).count() as f64 / 1e5;
        assert!(scatter && (early - 0.1).abs() < 0.02 || !scatter && (early - 0.9).abs() < 0.01, "{early}");
    }
}

proptest! {
    /// Each zone gets its share of the requests, whatever zones there are, and space behind the last one gets none.
    #[test]
    fn zones_get_their_shares(parts in prop::collection::vec((0u32..100, 1u64..100), 1..12), is_relative: bool) {
        let all = f64::from(parts.iter().map(|(share, _)| share).sum::<u32>()).max(1.0);
        let has_none = parts.iter().all(|(share, _)| *share == 0);
        let share = |number: usize| if has_none { f64::from(u8::from(number == 0)) } else { f64::from(parts[number].0) / all };
        let whole: u64 = parts.iter().map(|(_, span)| span).sum();
        // Zones of bytes cover about half of the space.
        let unit = CAPACITY.0 / 2 / whole / 4096 * 4096;
        let span = |span: u64| if is_relative { Amount::OfDrive(span as f64 / whole as f64) } else { Amount::Bytes(Bytes(span * unit)) };
        let zones: Vec<Zone> = parts.iter().enumerate().map(|(number, part)| Zone { share: share(number), span: span(part.1) }).collect();
        let address = Address::Zoned(zones);
        let drawn = requests(PhaseSpec { address, ..PhaseSpec::new("zones", Limit::requests(20_000)) });
        let scale = if is_relative { CAPACITY.0 as f64 / whole as f64 } else { unit as f64 };
        let mut begin = 0u64;
        for (number, (_, span)) in parts.iter().enumerate() {
            let end = begin + span;
            let within = |request: &&HostRequest| (begin as f64 * scale..end as f64 * scale).contains(&(request.sector as f64 * 512.0));
            let found = drawn.iter().filter(within).count() as f64 / 20_000.0;
            prop_assert!((found - share(number)).abs() < 0.02, "zone {number}: {found} against {}", share(number));
            begin = end;
        }
    }

    /// Every place comes once before any comes again, and each time in another order.
    #[test]
    fn shuffled_places_come_once_each(places in 1u64..600, seed: u64) {
        let span = Amount::Bytes(Bytes::kib(4 * places));
        let phase = PhaseSpec { address: Address::Shuffled, span, ..PhaseSpec::new("once", Limit::requests(2 * places)) };
        let drawn: Vec<u64> = Generator::new(&one(phase), seed, CAPACITY).expect("fits").map(|request| request.sector / 8).collect();
        let (first, second) = drawn.split_at(places as usize);
        for pass in [first, second] {
            let mut sorted = pass.to_vec();
            sorted.sort_unstable();
            prop_assert!(sorted.iter().copied().eq(0..places));
        }
        prop_assert!(places < 16 || first != second);
    }

    /// A flush follows each n-th write, and no limit counts it.
    #[test]
    fn flushes_follow_writes(every in 1u64..40, read in 0.0..1.0f64) {
        let phase = PhaseSpec { mix: Mix::reads(read), flush_every: Some(every), ..PhaseSpec::new("flushes", Limit::requests(1_000)) };
        let drawn = requests(phase);
        let (mut writes, mut others) = (0, 0);
        for request in &drawn {
            match request.op {
                HostOp::Write => writes += 1,
                HostOp::Flush => {
                    prop_assert_eq!(writes, every);
                    writes = 0;
                    continue;
                }
                HostOp::Read | HostOp::Trim | HostOp::Hint => {}
            }
            prop_assert!(writes <= every);
            others += 1;
        }
        prop_assert!(others == 1_000 && writes < every);
    }
}

#[test]
fn a_shuffle_spreads_as_dice_do() {
    let places = 1u64 << 16;
    let span = Amount::Bytes(Bytes::kib(4 * places));
    let phase = PhaseSpec { address: Address::Shuffled, span, ..PhaseSpec::new("once", Limit::requests(places)) };
    let drawn: Vec<u64> = requests(phase).iter().map(|request| request.sector / 8).collect();
    // Each thousand in a row has as many that fall into the first half as of a thousand throws of a coin.
    let early: Vec<f64> = drawn.chunks_exact(1_000).map(|chunk| chunk.iter().filter(|place| **place < places / 2).count() as f64).collect();
    let variance = early.iter().map(|count| (count - 500.0) * (count - 500.0)).sum::<f64>() / early.len() as f64;
    assert!((80.0..450.0).contains(&variance), "{variance}, and 250 is that of a coin");
    let neighbours = drawn.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) < 64).count();
    assert!(neighbours < 400, "{neighbours} of 65,535 pairs lie near each other, and 128 do by chance");
}

#[test]
fn zones_that_do_not_agree_are_told() {
    let zone = |share: &str, span: &str| format!("{{ share = \"{share}\", span = \"{span}\" }}");
    let parsed = |zones: &[String]| {
        let text = format!(
            "name = \"x\"\n[[phases]]\nrequests = 9\nmix = {{ read = \"100 %\" }}\nsize = \"4 KiB\"\narrival = {{ queue_depth = 1 }}\n\
             address = {{ pattern = \"zoned\", zones = [{}] }}\n",
            zones.join(", ")
        );
        WorkloadSpec::parse(&text, "x.toml").map_err(|error| error.to_string())
    };
    let cases = [
        (vec![zone("50 %", "5 %"), zone("40 %", "95 %")], "the shares of the zones sum to 90.0000 %"),
        (vec![zone("50 %", "5 %"), zone("50 %", "90 %")], "the spans of the zones sum to 95.0000 %"),
        (vec![zone("50 %", "5 %"), zone("50 %", "1 MiB")], "either all shares of the space or all sizes"),
        (vec![zone("100 %", "0 %"), zone("0 %", "100 %")], "a zone of no span"),
        (vec![], "from 1 to 256 zones"),
    ];
    for (zones, told) in cases {
        let error = parsed(&zones).expect_err(told);
        assert!(error.starts_with("x.toml:7:") && error.contains(told), "{error}");
    }
    let beyond = Generator::new(&parsed(&[zone("50 %", "600 MiB"), zone("50 %", "600 MiB")]).expect("they may fit a drive"), 1, CAPACITY);
    assert!(beyond.is_err_and(|error| error.to_string().contains("zone 2 ends beyond the 1 GiB")));
    let tiny = Generator::new(&parsed(&[zone("50 %", "512 B"), zone("50 %", "512 B")]).expect("they may fit a drive"), 1, CAPACITY);
    assert!(tiny.is_err_and(|error| error.to_string().contains("zone 2 holds no place")));
}

#[test]
fn the_popular_places_stay_the_same_from_phase_to_phase() {
    let phase =
        |name: &str| PhaseSpec { address: Address::Zipf { theta: 1.2, scatter: true }, ..PhaseSpec::new(name, Limit::requests(20_000)) };
    let spec = WorkloadSpec { phases: vec![phase("a"), phase("b")], ..one(phase("a")) };
    let drawn: Vec<HostRequest> = Generator::new(&spec, 7, CAPACITY).expect("fits").collect();
    let top = |drawn: &[HostRequest]| {
        let mut counts = std::collections::BTreeMap::new();
        drawn.iter().for_each(|request| *counts.entry(request.sector).or_insert(0u32) += 1);
        counts.into_iter().max_by_key(|(_, count)| *count).map(|(sector, _)| sector)
    };
    assert_eq!(top(&drawn[..20_000]), top(&drawn[20_000..]));
    assert_ne!(drawn[..20_000], drawn[20_000..]);
}

#[test]
fn streams_take_turns_and_each_is_in_order() {
    let drawn = requests(PhaseSpec {
        sizes: vec![(Bytes::kib(128), 1.0)],
        address: Address::Sequential { streams: 4 },
        ..PhaseSpec::new("streams", Limit::bytes(Amount::OfDrive(1.5)))
    });
    assert_eq!(drawn.len() as u64, CAPACITY.0 / Bytes::kib(128).0 * 3 / 2);
    for stream in 0..4 {
        let own: Vec<u64> = drawn.iter().skip(stream).step_by(4).map(|request| request.sector).collect();
        let breaks = own.windows(2).filter(|pair| pair[1] != pair[0] + 256).count();
        assert_eq!(breaks, 1, "one wrap in one and a half rounds");
    }
}

#[test]
fn open_loops_keep_their_rate_and_their_rest() {
    let burst = Some(Burst { busy: Nanos::from_millis(10), idle: Nanos::from_millis(40) });
    for process in [Process::Constant, Process::Poisson] {
        let arrival = Arrival::Open { rate: Rate::PerSecond(100_000.0), process, burst };
        let drawn = requests(PhaseSpec { arrival, ..PhaseSpec::new("bursts", Limit::time(Nanos::from_secs(1))) });
        assert!((19_400..20_600).contains(&drawn.len()), "{}", drawn.len());
        assert!(drawn.iter().all(|request| request.at.0 % 50_000_000 < 10_000_000), "a request in an idle gap");
    }
}

#[test]
fn a_rate_for_each_gib_grows_with_the_drive_and_is_read_from_a_file() {
    let text = "name = \"r\"\n[[phases]]\nrequests = 10\nmix = { read = \"100 %\" }\nsize = \"4 KiB\"\naddress = \"uniform\"\n\
                arrival = { rate = \"20 /s/GiB\", process = \"constant\" }\n";
    let spec = WorkloadSpec::parse(text, "r.toml").expect("it is a workload");
    assert_eq!(spec.phases[0].arrival, Arrival::Open { rate: Rate::PerGib(20.0), process: Process::Constant, burst: None });
    for (capacity, first) in [(Bytes::gib(1), 50_000_000), (Bytes::gib(10), 5_000_000), (Bytes::mib(512), 100_000_000)] {
        let drawn = Generator::new(&spec, 7, capacity).expect("it fits").next().expect("it has ten");
        assert_eq!(drawn.at, Nanos(first), "{capacity}");
    }
    let wrong = WorkloadSpec::parse(&text.replace("/s/GiB", "/s/GB"), "r.toml").expect_err("no such unit").to_string();
    assert!(wrong.contains("'/s/GB' is not a unit of a rate; known are /s, k/s, M/s, /s/GiB; did you mean '/s/GiB'?"), "{wrong}");
}

#[test]
fn a_later_phase_continues_the_clock_and_leaves_its_own_draws_alone() {
    let arrival = Arrival::Open { rate: Rate::PerSecond(1e6), process: Process::Poisson, burst: None };
    let phase = |count| PhaseSpec { arrival, ..PhaseSpec::new("p", Limit::requests(count)) };
    let run = |first| -> Vec<HostRequest> {
        let spec = WorkloadSpec { phases: vec![phase(first), phase(50)], ..one(phase(first)) };
        Generator::new(&spec, 7, CAPACITY).expect("fits").collect()
    };
    let (short, long) = (run(10), run(1000));
    assert!(long.is_sorted_by_key(|request| request.at));
    let addresses = |drawn: &[HostRequest]| drawn.iter().map(|request| request.sector).collect::<Vec<_>>();
    assert_eq!(addresses(&short[10..]), addresses(&long[1000..]));
}

#[test]
fn a_request_that_does_not_fit_is_refused_with_both_sizes() {
    let phase = PhaseSpec { sizes: vec![(Bytes::mib(2), 1.0)], ..PhaseSpec::new("big", Limit::requests(1)) };
    let error = Generator::new(&one(phase), 1, Bytes::mib(1)).expect_err("too large").to_string();
    assert_eq!(error, "workload test, phase big: a request of 2 MiB does not fit the 1 MiB that it may use of this drive of 1 MiB");
}

const SOUND: &str = r#"name = "x"
[[phases]]
requests = 10
mix = { read = "100 %" }
size = "4 KiB"
address = "uniform"
arrival = { queue_depth = 1 }
"#;

#[test]
fn mistakes_are_placed_and_the_right_word_is_named() {
    let cases = [
        (
            "size = \"4 KiB\"",
            "size = 4096",
            "w.toml:5:8: '4096' is a bare number where a size is expected; write its unit, such as \"4096 B\"",
        ),
        (
            "size = \"4 KiB\"",
            "size = \"4 kib\"",
            "w.toml:5:8: 'kib' is not a unit of a size; known are B, KiB, MiB, GiB, TiB, kB, MB, GB, TB; did you mean 'KiB'?",
        ),
        ("size =", "sise =", "did you mean 'size'?"),
        ("read = \"100 %\"", "raed = \"100 %\"", "did you mean 'read'?"),
        ("\"100 %\"", "\"90 %\"", "w.toml:4:7: the shares of read, write, trim and flush sum to 90.0000 %, not 100 %"),
        ("\"uniform\"", "\"unifrom\"", "did you mean 'uniform'?"),
        ("\"uniform\"", "{ pattern = \"zipf\" }", "w.toml:6:11: the pattern zipf needs 'theta'"),
        ("\"uniform\"", "{ pattern = \"uniform\", theta = 1.0 }", "w.toml:6:42: 'theta' has no meaning for the pattern uniform here"),
        ("queue_depth = 1", "queue_dept = 1", "did you mean 'queue_depth'?"),
        ("queue_depth = 1", "queue_depth = 0", "w.toml:7:27: from 1 to 65536 requests outstanding"),
        ("requests = 10", "", "a phase needs an end: requests, bytes or time"),
        ("requests = 10", "time = \"10\"", "w.toml:3:8: '10' is a bare number where a time is expected; write its unit, such as \"10 ms\""),
        ("\"4 KiB\"", "[{ size = \"4 KiB\", share = 1 }]", "is a bare number where a share is expected"),
    ];
    assert!(WorkloadSpec::parse(SOUND, "w.toml").is_ok());
    for (from, to, expected) in cases {
        let text = SOUND.replacen(from, to, 1);
        let error = WorkloadSpec::parse(&text, "w.toml").expect_err(to);
        let shown = error.to_string();
        assert!(shown.contains(expected), "{to}\nshows\n{shown}\nwithout\n{expected}");
        assert!(shown.contains('^') && error.position().is_some(), "{shown}");
    }
}

#[test]
fn a_phase_with_a_tolerance_begins_with_a_hint_for_its_part_and_is_otherwise_the_same() {
    let limit = Limit::requests(500);
    let (start, span) = (Amount::Bytes(Bytes::mib(64)), Amount::OfDrive(0.25));
    for flush_every in [None, Some(3)] {
        let plain = PhaseSpec { start, span, mix: Mix::reads(0.5), flush_every, ..PhaseSpec::new("p", limit) };
        let hinted = requests(PhaseSpec { tolerance: Some(Tolerance::Longer), ..plain.clone() });
        let (hint, others) = hinted.split_first().expect("requests");
        assert_eq!(*hint, HostRequest::hint(64 << 11, (CAPACITY.0 / 512 / 4) as u32, Tolerance::Longer));
        assert_eq!(others, requests(plain));
    }
    let huge = PhaseSpec { tolerance: Some(Tolerance::Default), ..PhaseSpec::new("p", Limit::requests(1)) };
    let drawn: Vec<HostRequest> = Generator::new(&one(huge), 7, Bytes::gib(5 << 10)).expect("fits").collect();
    let hints = drawn.iter().filter(|request| request.op == HostOp::Hint);
    assert_eq!(
        (drawn.len(), hints.map(|hint| u64::from(hint.sectors)).sum::<u64>()),
        (4, (5 << 40) / 512),
        "a hint has 32 bits of sectors"
    );
}

#[test]
fn a_tolerance_that_is_none_is_refused_with_its_place_and_the_nearest_word() {
    for (table, line) in [("phases", 7), ("jobs", 7)] {
        let text = format!(
            "name = \"x\"\n[[{table}]]\nrequests = 10\nmix = {{ read = \"100 %\" }}\nsize = \"4 KiB\"\naddress = \"uniform\"\ntolerance = \"longr\"\n\
             arrival = {{ queue_depth = 1 }}\n"
        );
        let told = AnySpec::parse(&text, "x.toml").expect_err("no such class").to_string();
        assert!(told.contains(&format!("x.toml:{line}")) && told.contains("did you mean 'longer'?"), "{told}");
        assert!(AnySpec::parse(&text.replace("longr", "longer"), "x.toml").is_ok(), "{table}");
    }
}
