//! Does any drive, with any options, break a self-check, lose a request or hang?
//!
//! The swarm of the twin again, but through a whole drive: cores, DRAM, buses, ECC, chips that insist on legal commands, factory bad blocks, failing
//! programs and erases. Does not check: what the data is (the twin does); absolute times.

use wordline_cells::{Faults, Retries};
use wordline_drive::{Config, Costs, Ecc, FtlPlace, Pace, SearchSteps, Trims, Weights};
use wordline_ftl::techniques::declaration::Need;
use wordline_proving::bench::{judged, watched};
use wordline_proving::effort;
use wordline_proving::swarm::{Habits, Scenario, scenario};
use wordline_units::random::{Draw, Stream};
use wordline_units::{Attributes, HostOp, HostRequest, Nanos, Priority, Rate};

/// The drive around a scenario's firmware.
fn drive(scenario: &Scenario, draw: &mut Draw) -> Config {
    let mut firmware = scenario.config.clone();
    let cores = 1 + draw.below(2) as u32;
    let (channels, dies_per_channel) = if draw.happens(0.5) { (firmware.dies, cores) } else { (cores, firmware.dies) };
    (firmware.sheet.geometry.channels, firmware.sheet.geometry.dies_per_channel) = (channels, dies_per_channel);
    firmware.factory_bad = vec![];
    let rate = |draw: &mut Draw, low: u64, span: u64| Rate::from_mega_transfers(low + draw.below(span), 8);
    let config = Config {
        die_timeout: Nanos::from_millis(100),
        sheet: firmware.sheet,
        cells: None,
        cycles: 0,
        classes: None,
        faults: Faults {
            factory_bad: if firmware.spare_blocks > 10 { 0.02 } else { 0.0 },
            program_fail: scenario.habits.program_fail,
            erase_fail: scenario.habits.erase_fail,
            endurance: if draw.happens(0.2) { Some(40) } else { None },
            read_fail: if draw.happens(0.2) { 0.01 } else { 0.0 },
            // Of what a die copies by itself nobody tries again.
            retries: (!firmware.techniques.iter().any(|choice| choice.declaration().has_need(Need::Copyback))
                && Draw::new(scenario.seed, Stream::Mix, 12).happens(0.3))
            .then_some(Retries { share: 0.5, mean: 3.0, alike: 0.5, entries: 16 }),
            // By its own number, so that what is drawn after it stays as it was.
            program_saving: if Draw::new(scenario.seed, Stream::Mix, 14).happens(0.2) { 0.3 } else { 0.0 },
        },
        channel: rate(draw, 40, 2_000),
        dram: draw.happens(0.5).then(|| rate(draw, 400, 8_000)),
        link: draw.happens(0.5).then(|| rate(draw, 400, 8_000)),
        link_in: None,
        ftl: if Draw::new(scenario.seed, Stream::Mix, 17).happens(0.3) { FtlPlace::Host } else { FtlPlace::Drive },
        ecc: Ecc { latency: Nanos(draw.below(20_000)), rate: draw.happens(0.5).then(|| rate(draw, 100, 4_000)) },
        search: SearchSteps { width: draw.below(4) as u8, reach: 2 + draw.below(5) as u8 },
        read_sets: firmware.tables.ort.as_ref().map(|ort| std::sync::Arc::new(ort.read_sets())).unwrap_or_default(),
        cores,
        stripe_units: 1 + draw.below(8) as u32,
        costs: Costs { command: Nanos(draw.below(3_000)), unit: Nanos(draw.below(500)), operation: Nanos(draw.below(2_000)) },
        queue_depth: 1 + draw.below(64) as u32,
        weights: Weights { high: 1 + draw.below(8) as u32, normal: 1 + draw.below(4) as u32, low: 1 + draw.below(2) as u32 },
        trims: if Draw::new(scenario.seed, Stream::Mix, 13).happens(0.3) { Trims::ByPage } else { Trims::Whole },
        // Each core exports what the scenario's core does, less what a stripe that is cut off at the end could add. The smallest export no more than that.
        exported_units: u64::from(cores) * u64::from(firmware.exported_units.saturating_sub(8).max(1)),
        seed: scenario.seed,
        firmware,
    };
    Config { link_in: config.link, ..config }
}

fn load(config: &Config, habits: Habits, seed: u64) -> impl Iterator<Item = HostRequest> + use<> {
    let mut draw = Draw::new(seed, Stream::Address, 1);
    let unit_sectors = config.firmware.unit.0 / 512;
    let total = config.exported_units * unit_sectors;
    let mut at = 0;
    std::iter::from_fn(move || {
        at += draw.below(400_000);
        let [write, trim, flush] = habits.mix;
        let op = match draw.unit() {
            kind if kind < write => HostOp::Write,
            kind if kind < write + trim => HostOp::Trim,
            kind if kind < write + trim + flush => HostOp::Flush,
            _ => HostOp::Read,
        };
        let (priority, fua) = (Priority::ALL[draw.below(4) as usize], op == HostOp::Write && draw.happens(habits.fua));
        if op == HostOp::Flush {
            return Some(HostRequest { at: Nanos(at), attributes: Attributes::of(priority), fua, ..HostRequest::new(op, 0, 0) });
        }
        let whole = !draw.happens(habits.partial);
        let sectors =
            (1 + draw.below(u64::from(habits.units_max) * unit_sectors)).next_multiple_of(if whole { unit_sectors } else { 1 }).min(total);
        let reach = ((total as f64 * habits.hot) as u64).clamp(1, total - sectors + 1);
        let sector = draw.below(reach);
        let sector = if whole { sector / unit_sectors * unit_sectors } else { sector };
        Some(HostRequest { at: Nanos(at), attributes: Attributes::of(priority), fua, ..HostRequest::new(op, sector, sectors as u32) })
    })
}

#[test]
fn does_any_seed_break_a_self_check_of_a_whole_drive() {
    let (mut requests, mut operations, mut worn_out, mut broken) = (0, 0, 0, Vec::new());
    for seed in 0..1_000 * effort() {
        let ran = std::panic::catch_unwind(|| {
            let scenario = scenario(seed);
            let mut draw = Draw::new(seed, Stream::Construct, 0);
            let config = drive(&scenario, &mut draw);
            let (open, filled) = (draw.happens(0.5), draw.happens(0.5) && config.faults == Faults::default());
            let pace = if open { Pace::Open { origin: Nanos::ZERO } } else { Pace::Closed { depth: scenario.habits.depth as u32 } };
            let mut load = load(&config, scenario.habits, seed);
            let units = config.exported_units;
            let mut drive = watched(config, None);
            if filled {
                drive.construct_filled(units);
            }
            drive.serve(&mut load.by_ref().take(1_500), pace, None);
            assert_eq!((drive.completed(), drive.outstanding()), (1_500, 0));
            judged(&mut drive);
            (drive.completed(), drive.log().count(), u32::from(drive.is_worn_out()))
        });
        match ran {
            Ok((served, events, worn)) => {
                requests += served;
                operations += events;
                worn_out += worn;
            }
            Err(_) => {
                eprintln!("that was seed {seed}");
                broken.push(seed);
            }
        }
    }
    println!("{requests} requests, {operations} events, {worn_out} drives worn out");
    assert!(broken.is_empty(), "these seeds break a self-check: {broken:?}");
}
