//! The small drives on which techniques are tried with each other, and their load: what the interaction tables and the table of hashes are made of.

use std::sync::Arc;

use wordline_cells::Retries;
use wordline_drive::Config;
use wordline_flash::tables::{Disturb, Guard, GuardMode};
use wordline_ftl::config::Acknowledge;
use wordline_ftl::techniques::{
    Choice, bad_page_management, block_age, copy_threshold, crypto_erase, guarded_erase, idle_reclaim, latency_hints, layer_similarity,
    migration_mode, page_lock, priority_preemption, read_disturb_refresh, read_reference, restricted_copyback, retention_refresh,
};
use wordline_plan::Plan;
use wordline_units::random::{Draw, Stream};
use wordline_units::{Attributes, HostOp, HostRequest, Nanos, Priority, Rate, Tolerance};

use crate::{bench, shape};

/// Techniques that have work to do under this load on cells that never err, with the parameters for it. Of the sanitisers the two that are not a baseline.
pub const ALL: [Choice; 6] = [
    Choice::ReadDisturbRefresh(read_disturb_refresh::Params::by_reads(200)),
    Choice::IdleReclaim(idle_reclaim::Params { after: Nanos::from_millis(2), until_free: 6 }),
    Choice::PlainCopyback,
    Choice::ReadPreemption,
    Choice::PageLock(page_lock::Params { block_lock: true }),
    Choice::CryptoErase(crypto_erase::Params { leaves: 64, register: Nanos::from_micros(10) }),
];

/// What [`Choice::LayerReadOffsets`] is tried with, where nine reads in ten need retries. Not copyback: what a die copies by itself is not tried again.
pub const RETRIED: [Choice; 6] = [
    Choice::LayerReadOffsets,
    Choice::ReadDisturbRefresh(read_disturb_refresh::Params::by_reads(200)),
    Choice::IdleReclaim(idle_reclaim::Params { after: Nanos::from_millis(2), until_free: 6 }),
    Choice::ReadPreemption,
    Choice::PageLock(page_lock::Params { block_lock: true }),
    Choice::CryptoErase(crypto_erase::Params { leaves: 64, register: Nanos::from_micros(10) }),
];

/// What [`Choice::LayerSimilarity`] is tried with, on cells with physics.
pub const ALIKE: [Choice; 8] = [
    Choice::LayerSimilarity(layer_similarity::Params { window: true, verify: true, literal: false, check: true, relent: true }),
    Choice::LayerMargins,
    Choice::LayerReadOffsets,
    Choice::ReadDisturbRefresh(read_disturb_refresh::Params::by_reads(2_000)),
    Choice::IdleReclaim(idle_reclaim::Params { after: Nanos::from_millis(2), until_free: 6 }),
    Choice::ReadPreemption,
    Choice::PageLock(page_lock::Params { block_lock: true }),
    Choice::CryptoErase(crypto_erase::Params { leaves: 64, register: Nanos::from_micros(10) }),
];

/// What techniques that go by the wear of blocks are tried with, on cells with physics whose blocks tell their ages. The first three are those.
pub const WORN: [Choice; 9] = [
    Choice::ReadReference(read_reference::Params {
        index: read_reference::Index::Age,
        refresh: true,
        patrol: Nanos::from_millis(20_000),
        told: read_reference::Told::Place,
    }),
    Choice::CopyThreshold(copy_threshold::Params {
        index: copy_threshold::Index::Age,
        classes: copy_threshold::Classes::Worst,
        counters: copy_threshold::Counters::Kept,
    }),
    Choice::RetentionRefresh(retention_refresh::Params { days_max: 20, patrol: Nanos::from_millis(100_000) }),
    Choice::PlainCopyback,
    Choice::LayerReadOffsets,
    Choice::ReadDisturbRefresh(read_disturb_refresh::Params::by_reads(2_000)),
    Choice::IdleReclaim(idle_reclaim::Params { after: Nanos::from_millis(2), until_free: 6 }),
    Choice::ReadPreemption,
    Choice::PageLock(page_lock::Params { block_lock: true }),
];

/// What [`Choice::PriorityPreemption`] is tried with, on dies that do all stops and whose reads need retries, under reads of four priorities.
pub const STOPPED: [Choice; 7] = [
    Choice::PriorityPreemption(priority_preemption::Params {
        high: priority_preemption::Lowest::High,
        share_normal: 20,
        share_low: 10,
        steps: 30,
        pace: true,
        held_max: 1,
        high_max: 60,
        program_now: false,
        reserve_guard: true,
    }),
    Choice::ReadPreemption,
    Choice::LayerReadOffsets,
    Choice::ReadDisturbRefresh(read_disturb_refresh::Params::by_reads(200)),
    Choice::IdleReclaim(idle_reclaim::Params { after: Nanos::from_millis(2), until_free: 6 }),
    Choice::PageLock(page_lock::Params { block_lock: true }),
    Choice::CryptoErase(crypto_erase::Params { leaves: 64, register: Nanos::from_micros(10) }),
];

/// Techniques that [`Choice::RestrictedCopyback`] is tried with, on cells with physics. The first two are those of rcFTL.
pub const COUNTED: [Choice; 8] = [
    Choice::RestrictedCopyback(restricted_copyback::Params {
        classes: restricted_copyback::Classes::Block,
        samples: 3,
        retention: 0,
        moved_blocks: 4,
        days_max: 1,
    }),
    Choice::MigrationMode(migration_mode::Params { foreground: migration_mode::Foreground::Demanded }),
    Choice::RetentionRefresh(retention_refresh::Params { days_max: 20, patrol: Nanos::from_millis(100_000) }),
    Choice::LayerReadOffsets,
    Choice::ReadDisturbRefresh(read_disturb_refresh::Params::by_reads(2_000)),
    Choice::IdleReclaim(idle_reclaim::Params { after: Nanos::from_millis(2), until_free: 6 }),
    Choice::ReadPreemption,
    Choice::PageLock(page_lock::Params { block_lock: true }),
];

/// Techniques that [`Choice::GuardedErase`] is tried with, on cells with physics. The first two leave wordlines without data.
pub const GUARDED: [Choice; 8] = [
    Choice::GuardedErase(guarded_erase::Params {
        target: guarded_erase::Target::Fixed,
        mode: 2,
        relief: guarded_erase::Relief::Lowest,
        spill: true,
        survey_every: 4,
        cycles_max: 7_000,
        band: 20,
    }),
    Choice::BadPageManagement(bad_page_management::Params { wordlines_max: 4, fixed: 2 }),
    Choice::LayerSimilarity(layer_similarity::Params { window: true, verify: true, literal: false, check: true, relent: true }),
    Choice::ReadDisturbRefresh(read_disturb_refresh::Params::by_reads(2_000)),
    Choice::IdleReclaim(idle_reclaim::Params { after: Nanos::from_millis(2), until_free: 6 }),
    Choice::ReadPreemption,
    Choice::PageLock(page_lock::Params { block_lock: true }),
    Choice::CryptoErase(crypto_erase::Params { leaves: 64, register: Nanos::from_micros(10) }),
];

/// Rewrites of [`tolerant`] drives: as in [`RETRIED`], but those of data with a hint may wait until the guard ends the wait.
pub const REWRITES: Choice =
    Choice::ReadDisturbRefresh(read_disturb_refresh::Params { guard: true, ..read_disturb_refresh::Params::by_reads(200) });

/// Choices beside [`Choice::LatencyHints`], where the host tolerates long reads of all its data. Crypto-erase is in the tables before.
pub const TOLERANT: [Choice; 5] = [
    Choice::LatencyHints(latency_hints::Params {
        shortest: Nanos::from_micros(200),
        typical: Nanos::from_micros(400),
        longer: Nanos::from_millis(2),
        on_wait: latency_hints::OnWait::Postpone,
    }),
    Choice::LayerReadOffsets,
    Choice::IdleReclaim(idle_reclaim::Params { after: Nanos::from_millis(2), until_free: 6 }),
    Choice::ReadPreemption,
    Choice::PageLock(page_lock::Params { block_lock: true }),
];

/// What tells the ages of blocks on [`worn`] drives.
pub const TELLS: Choice = Choice::BlockAge(block_age::Params { marker: block_age::Marker::Age, cycles_max: 1_000 });

/// One of the small drives, and what is tried on it.
#[derive(Clone, Copy, Debug)]
pub struct Small {
    /// What it is called in the table of hashes.
    pub name: &'static str,
    /// The techniques.
    pub techniques: &'static [Choice],
    /// The drive with those of them that are chosen.
    pub build: fn(&[Choice]) -> Config,
}

/// All of them.
pub const SMALL: [Small; 8] = [
    Small { name: "plain", techniques: &ALL, build: config },
    Small { name: "retried", techniques: &RETRIED, build: retried },
    Small { name: "aged", techniques: &ALIKE, build: aged },
    Small { name: "worn", techniques: &WORN, build: worn },
    Small { name: "counted", techniques: &COUNTED, build: counted },
    Small { name: "stopped", techniques: &STOPPED, build: stopped },
    Small { name: "guarded", techniques: &GUARDED, build: guarded },
    Small { name: "tolerant", techniques: &TOLERANT, build: tolerant },
];

/// Made up, but for the share (003 §6.2) and the part of it that can be saved (003 §4.2).
pub const RETRIES: Retries = Retries { share: 0.9, mean: 2.0, alike: 0.66, entries: 16 };

const SECTORS: u32 = 32;
/// Requests that come at once.
pub const BURST: u64 = 16;
/// How often they come.
pub const BURSTS: u64 = 8_000;
/// From one burst to the next.
pub const PERIOD: Nanos = Nanos::from_millis(16);

/// The drive on which [`ALL`] are tried: cells that never err.
pub fn config(techniques: &[Choice]) -> Config {
    let mut config = bench::drive(shape::sheet(64, 32), 2, 2, 4 * 64 * 32 * 4 / 5);
    config.channel = Rate::from_mega_transfers(400, 8);
    config.firmware.techniques = techniques.to_vec();
    let sheet = &mut config.firmware.sheet;
    (sheet.capabilities.page_lock, sheet.capabilities.block_lock) = (true, true);
    (sheet.timing.lock_page, sheet.timing.lock_block) = (Nanos::from_micros(100), Nanos::from_micros(300));
    config.sheet = config.firmware.sheet;
    config
}

/// The same with reads that need retries by rate.
pub fn retried(techniques: &[Choice]) -> Config {
    let mut config = config(techniques);
    config.faults.retries = Some(RETRIES);
    config
}

/// The same with rewrites that may wait, until a block group was read 2,000 times.
pub fn tolerant(techniques: &[Choice]) -> Config {
    let mut config = retried(&[&[REWRITES], techniques].concat());
    let table = Disturb { pe: vec![u32::MAX], searched: vec![2_000], ..Disturb::default() };
    config.firmware.tables.disturb = Some(Arc::new(table));
    config
}

/// The same with dies that stop at steps, at once, and in reads.
pub fn stopped(techniques: &[Choice]) -> Config {
    let mut config = retried(techniques);
    let sheet = &mut config.firmware.sheet;
    let (able, timing) = (&mut sheet.capabilities, &mut sheet.timing);
    (able.stop_at_step, able.stop_now_program, able.stop_now_erase, able.abort_read) = (true, true, true, true);
    (timing.step_program, timing.step_erase) = (Nanos::from_micros(44), Nanos::from_micros(167));
    (timing.halt_program, timing.halt_erase, timing.abort_read) = (Nanos::from_micros(40), Nanos::from_micros(40), Nanos::from_micros(5));
    (timing.resume, timing.suspend_interval) = (Nanos::from_micros(5), Nanos::from_micros(20));
    config.firmware.schedule.reads_in_row = Some(64);
    config.sheet = config.firmware.sheet;
    config
}

/// A small drive of 003's, its cells after two thousand cycles, what it holds a month old.
pub fn aged(techniques: &[Choice]) -> Config {
    with_cells("cubeftl-noWAM", &["cells.cycles=2000"], techniques)
}

/// A small drive of 000's third chapter, after three hundred cycles, whose blocks tell their ages; what it holds is a month old.
pub fn worn(techniques: &[Choice]) -> Config {
    with_cells("paper-rftl", &["cells.cycles=300", "mapping.spare_blocks=0"], &[&[TELLS], techniques].concat())
}

/// The same without ages of blocks.
pub fn counted(techniques: &[Choice]) -> Config {
    with_cells("paper-rftl", &["cells.cycles=300", "mapping.spare_blocks=0"], techniques)
}

/// The drive of [`aged`] with dies that spare wordlines, and modes of an eighth and a quarter of each block.
pub fn guarded(techniques: &[Choice]) -> Config {
    let mut config = aged(techniques);
    let geometry = config.sheet.geometry;
    let wordlines = geometry.layers * geometry.wordlines_per_layer;
    let mode = |wordlines, share, endurance| GuardMode { wordlines, share, endurance };
    let modes = vec![mode(wordlines / 8, 0.3, 1.2), mode(wordlines / 4, 0.5, 1.4)];
    let order = (0..geometry.layers).collect();
    config.firmware.tables.guard = Some(Arc::new(Guard { order, modes, coefficient: 0.35, ..Guard::default() }));
    let sheet = &mut config.firmware.sheet;
    (sheet.capabilities.guarded_erase, sheet.capabilities.any_order) = (true, true);
    config.sheet = config.firmware.sheet;
    config
}

/// The drive `name` with few dies and blocks, `settings`, and data of a month, write-through; its dies lock and suspend.
fn with_cells(name: &str, settings: &[&str], techniques: &[Choice]) -> Config {
    let small = [
        "flash.channels=2",
        "flash.dies_per_channel=2",
        "geometry.blocks=48",
        "mapping.over_provisioning=30 %",
        "cells.retention=1 mo",
        "capabilities.suspend_program=true",
        "capabilities.suspend_erase=true",
        "timing.t_suspend_program=44 us",
        "timing.t_suspend_erase=117 us",
    ];
    let plan = Plan::load_set(name, &[&small, settings].concat()).unwrap_or_else(|error| panic!("{error}"));
    let mut config = plan.build();
    config.firmware.techniques = techniques.to_vec();
    config.firmware.buffer.acknowledge = Acknowledge::Programmed;
    config.firmware.schedule.linger = None;
    let sheet = &mut config.firmware.sheet;
    (sheet.capabilities.page_lock, sheet.capabilities.block_lock) = (true, true);
    (sheet.timing.lock_page, sheet.timing.lock_block) = (Nanos::from_micros(100), Nanos::from_micros(300));
    config.sheet = config.firmware.sheet;
    config
}

/// The first request to the drive of `config`, where rewrites may wait: the host tolerates long reads of all that it shows.
pub fn hint(config: &Config) -> Option<HostRequest> {
    let sectors = config.exported_units as u32 * SECTORS;
    config.firmware.techniques.contains(&REWRITES).then(|| HostRequest::hint(0, sectors, Tolerance::Longer))
}

/// A unit to write: anywhere but in the first fiftieth of the drive, which is only read.
fn written(draw: &mut Draw, span: u64) -> u64 {
    span / 50 + draw.below(span - span / 50)
}

/// Random writes, one after another.
pub fn overwrites(seed: u64, span: u64) -> impl Iterator<Item = HostRequest> {
    let mut draw = Draw::new(seed, Stream::Address, 0);
    std::iter::from_fn(move || Some(bench::request(HostOp::Write, written(&mut draw, span), 1, SECTORS)))
}

/// Seven reads to three writes in bursts; half of the reads go to what is only read.
pub fn bursts(seed: u64, span: u64) -> impl Iterator<Item = HostRequest> {
    let mut draw = Draw::new(seed, Stream::Mix, 0);
    (0..BURSTS * BURST).map(move |number| {
        let (op, unit) = if draw.happens(0.3) {
            (HostOp::Write, written(&mut draw, span))
        } else {
            let below = if draw.happens(0.5) { span / 50 } else { span };
            (HostOp::Read, draw.below(below))
        };
        HostRequest { at: Nanos(PERIOD.0 * (number / BURST)), ..bench::request(op, unit, 1, SECTORS) }
    })
}

/// The same with requests of four priorities.
pub fn bursts_by_priority(seed: u64, span: u64) -> impl Iterator<Item = HostRequest> {
    let mut draw = Draw::new(seed, Stream::Mix, 1);
    bursts(seed, span).map(move |request| HostRequest { attributes: Attributes::of(Priority::ALL[draw.below(4) as usize]), ..request })
}
