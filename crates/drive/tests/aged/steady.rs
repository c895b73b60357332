//! A steady state that was constructed against one that was worked for.

use wordline_cells::Faults;
use wordline_drive::Watched;
use wordline_engine::BlockState;
use wordline_flash::ProgramScope;
use wordline_ftl::victim::VictimPolicy;
use wordline_units::random::{Draw, Stream};
use wordline_units::{Bytes, HostOp, HostRequest};

use crate::serve;
use crate::small::{Shape, uniform};

/// Fullness of the closed blocks: mean, and five quantiles, as shares of a block.
fn fullness(drive: &Watched) -> [f64; 6] {
    let mut full: Vec<f64> = drive
        .blocks()
        .filter(|block| block.state == BlockState::Closed)
        .map(|block| f64::from(block.valid) / f64::from(block.capacity))
        .collect();
    full.sort_by(f64::total_cmp);
    let at = |share: f64| full[((full.len() - 1) as f64 * share) as usize];
    [full.iter().sum::<f64>() / full.len() as f64, at(0.05), at(0.25), at(0.5), at(0.75), at(0.95)]
}

fn span(shape: &Shape, fill: f64) -> u64 {
    (shape.config().exported_units as f64 * fill) as u64
}

fn worked(shape: &Shape, fill: f64, times: u64) -> Watched {
    let mut drive = shape.drive();
    drive.fill(fill);
    let span = span(shape, fill);
    drive.age(&mut uniform(&shape.config(), span, 5), times * span);
    drive
}

fn constructed(shape: &Shape, fill: f64) -> Watched {
    let mut drive = shape.drive();
    drive.construct_steady(&vec![fill; shape.config().cores as usize], 7);
    drive.audit().unwrap_or_else(|problem| panic!("{shape:?} filled to {fill}: {problem}"));
    assert!(drive.is_quiet() && drive.now().0 == 0);
    let valid: u64 = drive.blocks().map(|block| u64::from(block.valid)).sum();
    assert_eq!(valid, span(shape, fill));
    drive
}

/// Compare the state and what the next overwrite costs.
fn compare(shape: &Shape, fill: f64, tolerance: f64) {
    let (mut one, mut other) = (worked(shape, fill, 6), constructed(shape, fill));
    let (real, drawn) = (fullness(&one), fullness(&other));
    let mut wafs = [&mut one, &mut other].map(|drive| {
        let aged = drive.age(&mut uniform(&shape.config(), span(shape, fill), 11), span(shape, fill));
        drive.audit().expect("sound");
        aged.waf()
    });
    wafs.sort_by(f64::total_cmp);
    assert!(wafs[1] / wafs[0] < 1.0 + tolerance, "{shape:?} filled to {fill}: WAF {wafs:?}");
    // A quantile of some 500 blocks is a matter of chance by a page or two; their mean is not.
    for (index, (one, other)) in real.iter().zip(drawn).enumerate() {
        let tolerance = if index == 0 { 0.01 } else { 0.05 };
        assert!((one - other).abs() < tolerance, "{shape:?} filled to {fill}: fullness {real:.3?} against {drawn:.3?}");
    }
}

#[test]
fn a_constructed_steady_state_is_the_one_that_overwriting_ends_in() {
    for victim in [VictimPolicy::Greedy, VictimPolicy::Fifo] {
        for fill in [0.9, 1.0] {
            for spare in [0.07, 0.28] {
                compare(&Shape { victim, spare, layers: 4, ..Shape::default() }, fill, 0.02);
            }
        }
    }
}

/// Fullness of the closed blocks of the dies that `is_core` names, in the mean.
fn mean_fullness(drive: &Watched, is_core: impl Fn(u16) -> bool) -> f64 {
    let closed = drive.blocks().filter(|block| block.state == BlockState::Closed && is_core(block.die.0));
    let (full, count) =
        closed.fold((0.0, 0.0), |(full, count), block| (full + f64::from(block.valid) / f64::from(block.capacity), count + 1.0));
    full / count
}

#[test]
fn each_core_of_a_drive_is_as_full_and_as_steady_as_it_is_to_be() {
    const FILLS: [f64; 2] = [0.6, 1.0];
    let shape = Shape { cores: 2, channels: 2, layers: 4, ..Shape::default() };
    let config = shape.config();
    let of_core = config.exported_units / 2;
    let unit = |core: usize, unit: u64| {
        let stripe = wordline_drive::Stripe::new(2, config.stripe_units);
        stripe.global(core as u32, unit as u32)
    };
    // Overwrites of the filled units of both cores, uniformly at random.
    let overwrites = |seed: u64| {
        let mut draw = Draw::new(seed, Stream::Mix, 3);
        let spans = FILLS.map(|fill| (of_core as f64 * fill) as u64);
        let sectors = config.firmware.unit.0 / 512;
        std::iter::repeat_with(move || {
            let at = draw.below(spans[0] + spans[1]);
            let place = if at < spans[0] { unit(0, at) } else { unit(1, at - spans[0]) };
            HostRequest::new(HostOp::Write, place * sectors, sectors as u32)
        })
    };
    let mut worked = shape.drive();
    worked.age(&mut overwrites(5), 14 * of_core);
    let mut drawn = shape.drive();
    drawn.construct_steady(&FILLS, 7);
    drawn.audit().expect("sound");
    let dies = |core: u16| move |die: u16| die % 2 == core;
    for core in [0, 1] {
        let [one, other] = [&worked, &drawn].map(|drive| mean_fullness(drive, dies(core)));
        assert!((one - other).abs() < 0.012, "core {core}: fullness {one:.3} worked for, {other:.3} constructed");
    }
    assert!(mean_fullness(&drawn, dies(0)) < mean_fullness(&drawn, dies(1)) - 0.15, "the cores differ, and by their own shares");
    let wafs = [&mut worked, &mut drawn].map(|drive| drive.age(&mut overwrites(11), 2 * of_core).waf());
    assert!((wafs[0] / wafs[1] - 1.0).abs() < 0.02, "WAF {wafs:?}");
}

#[test]
fn other_policies_and_shapes_agree_too() {
    let base = Shape { spare: 0.15, layers: 4, ..Shape::default() };
    compare(&Shape { victim: VictimPolicy::CostBenefit, ..base }, 1.0, 0.02);
    compare(&Shape { victim: VictimPolicy::DChoices, ..base }, 1.0, 0.02);
    // The victims of this one differ so much that the WAF of 4,000 of them has a standard deviation of 2 %.
    compare(&Shape { victim: VictimPolicy::Random, ..base }, 1.0, 0.06);
    // More dies than the model has: each of them stands for several.
    compare(&Shape { channels: 4, dies_per_channel: 10, ..base }, 1.0, 0.02);
    compare(&Shape { cores: 2, preemptible: true, ..base }, 1.0, 0.02);
    compare(&Shape { planes: 2, unit: Bytes::kib(4), layers: 2, ..base }, 1.0, 0.02);
    compare(&Shape { scope: ProgramScope::Wordline, planes: 2, unit: Bytes::kib(4), layers: 2, ..base }, 1.0, 0.02);
}

#[test]
fn any_fill_of_any_drive_can_be_constructed_and_used() {
    let faults = Faults { factory_bad: 0.02, ..Faults::default() };
    for shape in [Shape { spare: 0.4, faults, ..Shape::default() }, Shape { cores: 4, layers: 4, ..Shape::default() }] {
        for fill in [0.0, 0.0001, 0.01, 0.2, 0.5, 1.0] {
            let mut drive = constructed(&shape, fill);
            let span = span(&shape, 1.0);
            serve(&mut drive, &mut uniform(&shape.config(), span, 3), span / 4);
            drive.audit().expect("sound");
        }
    }
}
