//! A drive nobody would build, from a seed: every option at random, small enough that everything happens often.

use std::sync::Arc;

use wordline_flash::{MarginStep, Margins, ProgramScope, Sheet, WindowMargin};
use wordline_ftl::config::{Acknowledge, BufferConfig, Config, FreeBlockConfig, GcConfig, Protection, ScheduleConfig};
use wordline_ftl::free_block::FreeBlockPolicy;
use wordline_ftl::retirement::RetirementPolicy;
use wordline_ftl::techniques::declaration::{Declaration, Kind, Need, Param, Table, Value};
use wordline_ftl::techniques::hooks::Hook;
use wordline_ftl::techniques::seam::Ask;
use wordline_ftl::techniques::{Choice, DECLARATIONS, latency_hints, read_disturb_refresh};
use wordline_ftl::victim::VictimPolicy;
use wordline_ftl::wordline_order::WordlineOrder;
use wordline_units::random::{Draw, Stream};
use wordline_units::{Bytes, CellKind, Microvolts, Nanos};

use crate::stand_in::PLACES;
use crate::tables::tables;

/// How the flash and the host behave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Habits {
    /// Probability that a program fails.
    pub program_fail: f64,
    /// Probability that an erase fails.
    pub erase_fail: f64,
    /// Whether a report may come long after its die is free again.
    pub slow_reports: bool,
    /// Requests in hand at once.
    pub depth: usize,
    /// The longest request in units.
    pub units_max: u32,
    /// Shares of writes, trims and flushes among all requests; the rest are reads.
    pub mix: [f64; 3],
    /// Share of the logical space that gets nine tenths of the requests.
    pub hot: f64,
    /// Probability that requests begin or end inside a unit.
    pub partial: f64,
    /// Probability that a write asks for FUA.
    pub fua: f64,
    /// Probability that a write is of data that is not secret.
    pub insecure: f64,
    /// Somebody stops whatever can be stopped, by dice.
    pub stops_by_dice: bool,
    /// Somebody has data copied back again and again, and days pass.
    pub is_copying: bool,
    /// True if a [`StandIn`](crate::stand_in::StandIn) joins.
    pub has_stand_in: bool,
    /// True if a [`Parker`](crate::parker::Parker) joins.
    pub has_parker: bool,
    /// Share of programs of which the die tells, where it is asked, that many cells are wrong.
    pub odd_programs: f64,
}

/// One drive and its habits.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The seed it came from.
    pub seed: u64,
    /// The firmware.
    pub config: Config,
    /// The rest.
    pub habits: Habits,
}

impl Scenario {
    /// Whether the buffer has room for all that can be in hand at once, so that no write ever waits for room.
    pub fn is_roomy(&self) -> bool {
        let inside = self.habits.depth as u32 * self.habits.units_max;
        // Trimmed units that are being programmed hold their room until that ends.
        let doomed = self.config.dies * self.config.sheet.geometry.planes * self.config.sheet.pages_per_program() * 4;
        self.config.buffer.units > inside + doomed
    }
}

fn pick<T: Copy>(draw: &mut Draw, of: &[T]) -> T {
    of[draw.below(of.len() as u64) as usize]
}

/// The number of the dice of stops.
const STOPS: u32 = 12;
/// The number of the dice of copies.
const COPIES: u32 = 13;
/// The number of the dice of spared wordlines.
const MASKS: u32 = 14;
/// The number of the dice of techniques that ask for services.
const ASKING: u32 = 15;
/// The number of the dice of reads in a row.
const ROWS: u32 = 16;
/// The number of the dice of stand-ins.
const STAND_INS: u32 = 17;
/// The number of the dice of drives with hints.
const HINTED: u32 = 21;
/// A drive whose groups would hold fewer units, each with the most that an erase spares, has no guarded erases.
const MASKED_LEAST: u32 = 32;

/// A technique with values of its parameters worth trying, as it declares them. A flag is what it is by default four times out of five.
pub(crate) fn tried(declaration: &Declaration, draw: &mut Draw) -> Choice {
    let mut value = |param: &Param| match param.kind {
        Kind::Flag => Value::Flag((param.default == Some(Value::Flag(true))) == draw.happens(0.8)),
        Kind::Word(words) => Value::Word(pick(draw, words)),
        Kind::Count { .. } | Kind::Wordlines { .. } | Kind::Span { .. } | Kind::FreeGroups | Kind::KeyLeaves => pick(draw, param.tried),
    };
    let values: Vec<Value> = declaration.params.iter().map(&mut value).collect();
    Choice::of(declaration.card.name, &values).expect("what is declared makes a choice")
}

/// Whether and how a technique is on, drawn apart from all others: one that is added changes no scenario of those that there were but by what it does.
fn own(seed: u64, declaration: &Declaration) -> Draw {
    let number = declaration.card.name.bytes().fold(0x811C_9DC5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    Draw::new(seed, Stream::Mix, number)
}

/// Services that a technique asks for, but for one program at a time and for places: every die and every core can do that.
fn services(declaration: &Declaration) -> impl Iterator<Item = Ask> {
    declaration.card.asks.iter().copied().filter(|ask| !matches!(ask, Ask::OneProgram | Ask::Places(_) | Ask::Slots(_)))
}

/// True if a technique has wordlines spared.
fn spares(declaration: &Declaration) -> bool {
    declaration.card.asks.iter().any(|ask| matches!(ask, Ask::Spared(_)))
}

/// Techniques that need no store of keys, change nothing of programs and promise nothing of stale data. The first four of the list are those of the bits of
/// `subset`.
fn techniques(seed: u64, subset: u64) -> Vec<Choice> {
    let is_plain = |declaration: &&&Declaration| !declaration.card.hooks.has(Hook::Sanitise) && services(declaration).next().is_none();
    let mut chosen = Vec::new();
    for (at, declaration) in DECLARATIONS.iter().filter(is_plain).enumerate() {
        let draw = &mut own(seed, declaration);
        if if at < 4 { subset >> at & 1 == 1 } else { draw.happens(0.3) } {
            chosen.push(tried(declaration, draw));
        }
    }
    chosen
}

/// Techniques that ask for services of the core and set no programs, and whoever tells the wear that they go by. Drawn apart from all else.
fn asking(seed: u64) -> Vec<Choice> {
    let asks = |declaration: &&&Declaration| {
        let hooks = declaration.card.hooks;
        !hooks.has(Hook::Sanitise)
            && services(declaration).next().is_some()
            && services(declaration).all(|ask| ask != Ask::Programs)
            && !spares(declaration)
    };
    let mut chosen = Vec::new();
    if Draw::new(seed, Stream::Mix, ASKING).happens(0.4) {
        for declaration in DECLARATIONS.iter().filter(asks) {
            let draw = &mut own(seed, declaration);
            if draw.happens(0.6) {
                chosen.push(tried(declaration, draw));
            }
        }
    }
    if chosen.iter().any(|choice| choice.declaration().has_need(Need::Wear)) && !tells_wear(&chosen) {
        let teller = DECLARATIONS.iter().find(|declaration| declaration.card.hooks.has(Hook::WearOf)).expect("some technique tells it");
        chosen.push(tried(teller, &mut own(seed, teller)));
    }
    chosen
}

fn tells_wear(chosen: &[Choice]) -> bool {
    chosen.iter().any(|choice| choice.card().hooks.has(Hook::WearOf))
}

/// Reads after which data is moved, at least, where techniques measure several pages of each block group: with fewer, a measurement alone would have each new
/// group moved, and the next measured.
const READS_LEAST: u32 = 30;

/// Raise the reads after which data is moved, where techniques measure several pages of each block group.
fn leave_reads(config: &mut Config) {
    if !config.techniques.iter().any(|choice| choice.declaration().card.hooks.has(Hook::Unmeasured)) {
        return;
    }
    raise_reads(config, READS_LEAST);
    if let Some(over) = config.overread() {
        raise_reads(config, over.measured + 1);
    }
}

/// Let no technique have a group rewritten after fewer reads than `least`.
fn raise_reads(config: &mut Config, least: u32) {
    for choice in &mut config.techniques {
        let Declaration { card, params, .. } = choice.declaration();
        let raised = |(param, value): (&Param, Value)| match value {
            Value::Count(reads) if param.key == "reads_max" => Value::Count(reads.max(least)),
            Value::Flag(_) | Value::Count(_) | Value::Span(_) | Value::Word(_) => value,
        };
        let values: Vec<Value> = params.iter().zip(choice.values()).map(raised).collect();
        *choice = Choice::of(card.name, &values).expect("the values are of their kinds");
    }
}

/// Give the dies what the techniques of `config` need.
pub(crate) fn equip(config: &mut Config) {
    leave_reads(config);
    for choice in &config.techniques {
        for need in choice.declaration().needs {
            (need.feature().grant)(&mut config.sheet.capabilities);
            let need = need.whole();
            if need == Need::StopAtStep {
                let timing = &mut config.sheet.timing;
                (timing.step_program, timing.step_erase) = (Nanos::from_micros(44), Nanos::from_micros(117));
            }
            // Every scenario has margins.
            if matches!(need, Need::Table(table) if table != Table::Margins) {
                config.tables = tables(config.sheet.geometry.layers);
            }
        }
    }
}

/// Let the dies of some scenarios take in the data of a program while they do another.
pub(crate) fn cache_programs(seed: u64, scenario: &mut Scenario) {
    scenario.config.sheet.capabilities.cache_program = Draw::new(seed, Stream::Mix, 16).happens(0.4);
}

fn sheet(draw: &mut Draw) -> Sheet {
    let mut sheet = crate::shape::sheet(0, 0);
    let geometry = &mut sheet.geometry;
    geometry.planes = pick(draw, &[1, 2, 4]);
    geometry.cell = pick(draw, &[CellKind::Slc, CellKind::Mlc, CellKind::Tlc, CellKind::Qlc]);
    geometry.layers = pick(draw, &[1, 2, 5]);
    geometry.wordlines_per_layer = pick(draw, &[2, 4]);
    sheet.capabilities.program_scope = pick(draw, &[ProgramScope::Page, ProgramScope::Wordline]);
    sheet
}

/// A made-up table of margins: what is in it changes nothing but the settings that programs are ordered with.
fn margins() -> Margins {
    let step = |errors_max, start, end| {
        let window = WindowMargin { start: Microvolts(start), end: Microvolts(end) };
        MarginStep { errors_max, window }
    };
    let steps = vec![step(20, 200_000, 100_000), step(60, 100_000, 0)];
    Margins { step: Microvolts(100_000), lowered: Microvolts(300_000), early: 1, steps, layers: vec![Microvolts(50_000), Microvolts(0)] }
}

/// The scenario of `seed`.
pub fn scenario(seed: u64) -> Scenario {
    let mut scenario = still(seed);
    stops(seed, &mut scenario);
    masks(seed, &mut scenario);
    stand_in(seed, &mut scenario);
    cache_programs(seed, &mut scenario);
    scenario
}

/// The scenario of `seed` on dies that are not stopped but for techniques.
pub fn still(seed: u64) -> Scenario {
    let draw = &mut Draw::new(seed, Stream::Mix, 0);
    let mut sheet = sheet(draw);
    let dies = pick(draw, &[1, 1, 2, 3]);
    let faulty = draw.happens(0.5);
    let floor = 1 + draw.below(3) as u32;
    let start = floor + 1 + draw.below(3) as u32;
    let data = 4 + draw.below(12) as u32;
    let slack = 1 + draw.below(4) as u32;
    let spare_blocks = if faulty { 2 + draw.below(20) as u32 } else { 0 };
    let groups = data + start + 2 + slack;
    sheet.geometry.blocks = groups + spare_blocks;
    let unit = Bytes::kib(pick(draw, &[4, 16]));
    let per_group = sheet.geometry.planes * sheet.geometry.pages() * (sheet.geometry.page.0 / unit.0) as u32;
    let program = sheet.geometry.planes * sheet.pages_per_program() * (sheet.geometry.page.0 / unit.0) as u32;
    let factory_bad = if faulty { factory_bad(draw, &sheet, dies, spare_blocks) } else { vec![Vec::new(); dies as usize] };
    let subset = draw.below(16);
    let exported = dies * data * per_group - draw.below(u64::from(program)) as u32;
    let roominess = pick(draw, &[1u64, 8, 200, 4_000]);
    let buffer_units = dies * program + draw.below(roominess) as u32;
    let config = Config {
        tables: wordline_flash::tables::Tables::default(),
        read_entries: 1,
        read_search: false,
        transfer: Nanos::ZERO,
        codeword_bits: 0,
        sheet,
        dies,
        unit,
        exported_units: exported,
        spare_blocks,
        factory_bad,
        buffer: buffer(draw, buffer_units),
        gc: gc(draw, start, floor),
        free_block: FreeBlockConfig {
            key: if draw.happens(0.5) { FreeBlockPolicy::Erases } else { FreeBlockPolicy::LongestFree },
            gap: pick(draw, &[None, Some(4), Some(20)]),
        },
        retirement: RetirementPolicy::Failed,
        repair: wordline_ftl::config::RepairConfig::DEFAULT,
        spared_max: 0,
        moved_blocks: 1,
        wordline_order: WordlineOrder::HorizontalFirst,
        margins: Some(Arc::new(margins())),
        schedule: schedule(draw),
        techniques: techniques(seed, subset),
        keeps_data: false,
        checkpoint_every: None,
        recovers: false,
        oob_copies: true,
        oob_place: wordline_ftl::config::OobPlace::Group,
        seed,
        core: 0,
    };
    let habits = habits(draw, faulty, exported);
    let mut scenario = Scenario { seed, config, habits };
    set_programs(seed, &mut scenario);
    let config = &mut scenario.config;
    config.techniques.extend(asking(seed));
    if tells_wear(&config.techniques) && config.free_block.key == FreeBlockPolicy::Erases {
        config.free_block = FreeBlockConfig { key: FreeBlockPolicy::Wear, gap: config.free_block.gap.map(|gap| gap * 10) };
    }
    equip(config);
    config.sheet.geometry.blocks += config.open_for_moved() - config.moved_blocks;
    scenario
}

/// Habits of the host and of the dies.
fn habits(draw: &mut Draw, faulty: bool, exported: u32) -> Habits {
    Habits {
        program_fail: if faulty { pick(draw, &[0.0, 1e-4, 2e-3]) } else { 0.0 },
        erase_fail: if faulty { pick(draw, &[0.0, 1e-3, 1e-2]) } else { 0.0 },
        slow_reports: draw.happens(0.3),
        depth: pick(draw, &[1, 4, 16, 64]),
        units_max: pick(draw, &[1, 4, 20]).min(exported),
        mix: pick(draw, &[[1.0, 0.0, 0.0], [0.6, 0.05, 0.02], [0.4, 0.2, 0.1], [0.3, 0.01, 0.0]]),
        hot: pick(draw, &[0.02, 0.2, 1.0]),
        partial: pick(draw, &[0.0, 0.3, 0.9]),
        fua: pick(draw, &[0.0, 0.1]),
        insecure: 0.0,
        odd_programs: 0.0,
        stops_by_dice: false,
        is_copying: false,
        has_stand_in: false,
        has_parker: false,
    }
}

/// Lets techniques set the programs of some dies with whole wordlines, some of them in mixed order.
fn set_programs(seed: u64, scenario: &mut Scenario) {
    let layers = &mut Draw::new(seed, Stream::Mix, 11);
    if scenario.config.sheet.capabilities.program_scope == ProgramScope::Wordline && layers.happens(0.5) {
        let config = &mut scenario.config;
        for declaration in DECLARATIONS.iter().filter(|declaration| declaration.card.asks.contains(&Ask::Programs)) {
            let draw = &mut own(seed, declaration);
            if draw.happens(0.8) {
                config.techniques.push(tried(declaration, draw));
            }
        }
        if layers.happens(0.7) {
            let open_blocks = 1 + layers.below(3) as u32;
            config.sheet.capabilities.any_order = true;
            config.wordline_order = WordlineOrder::Mixed { threshold: pick(layers, &[0.0, 0.3, 0.9, 1.0]), open_blocks };
            config.sheet.geometry.blocks += open_blocks - 1;
        }
        scenario.habits.odd_programs = pick(layers, &[0.0, 0.02, 0.3]);
    }
}

fn buffer(draw: &mut Draw, units: u32) -> BufferConfig {
    BufferConfig {
        units,
        acknowledge: pick(draw, &[Acknowledge::Buffered, Acknowledge::Programmed]),
        protection: Protection::None,
        partial_watermark: pick(draw, &[0.0, 0.5, 0.9]),
        load_window: Nanos::from_millis(2),
    }
}

fn gc(draw: &mut Draw, start: u32, floor: u32) -> GcConfig {
    GcConfig {
        victim: pick(draw, VictimPolicy::ALL),
        start,
        floor,
        scheduler: wordline_ftl::scheduler::Scheduler::Classic,
        preemptible: draw.happens(0.5),
        lazy_erase: false,
    }
}

fn schedule(draw: &mut Draw) -> ScheduleConfig {
    ScheduleConfig {
        reads_first: draw.happens(0.5),
        linger: pick(draw, &[None, Some(Nanos::from_micros(50)), Some(Nanos::from_millis(2))]),
        held_max: None,
        reads_in_row: None,
    }
}

/// Marks of bad blocks, die by die: no more than the spares of a plane can stand in for.
fn factory_bad(draw: &mut Draw, sheet: &Sheet, dies: u32, spare_blocks: u32) -> Vec<Vec<(u8, u16)>> {
    let mut factory_bad = vec![Vec::new(); dies as usize];
    for marks in &mut factory_bad {
        *marks =
            (0..draw.below(u64::from(spare_blocks.min(6)))).map(|_| (0, draw.below(u64::from(sheet.geometry.blocks)) as u16)).collect();
    }
    factory_bad
}

/// What the dies can stop, and somebody who stops it. Drawn apart from all else.
pub(crate) fn stops(seed: u64, scenario: &mut Scenario) {
    let draw = &mut Draw::new(seed, Stream::Mix, STOPS);
    if !draw.happens(0.4) {
        return;
    }
    let able = &mut scenario.config.sheet.capabilities;
    (able.suspend_program, able.suspend_erase) = (draw.happens(0.9), true);
    able.stop_at_step = draw.happens(0.7);
    (able.stop_now_program, able.stop_now_erase) = (able.suspend_program && draw.happens(0.5), draw.happens(0.7));
    able.abort_read = draw.happens(0.7);
    scenario.config.schedule.held_max = pick(draw, &[None, Some(Nanos(1)), Some(Nanos::from_micros(150)), Some(Nanos::from_millis(1))]);
    scenario.habits.stops_by_dice = draw.happens(0.8);
    scenario.config.schedule.reads_in_row = pick(&mut Draw::new(seed, Stream::Mix, ROWS), &[None, Some(1), Some(3)]);
}

/// Dies that copy back, and somebody who has them do so. Drawn apart from all else, and only where the journal has room for memos.
pub(crate) fn copies(seed: u64, scenario: &mut Scenario) {
    let techniques = &scenario.config.techniques;
    let remembers = techniques.iter().any(|choice| choice.card().hooks.has(Hook::Remember));
    let has_keys = techniques.iter().any(|choice| choice.card().hooks.has(Hook::KeyStore));
    if remembers && !has_keys && Draw::new(seed, Stream::Mix, COPIES).happens(0.6) {
        scenario.config.sheet.capabilities.copyback = true;
        scenario.habits.is_copying = true;
    }
}

/// Dies with guarded erases, which may spare some wordlines of a block. Drawn apart from all else.
pub(crate) fn masks(seed: u64, scenario: &mut Scenario) {
    let draw = &mut Draw::new(seed, Stream::Mix, MASKS);
    if draw.happens(0.4) {
        spare(1 + draw.below(3) as u32, scenario);
    }
    for declaration in DECLARATIONS.iter().filter(|declaration| spares(declaration)) {
        let draw = &mut own(seed, declaration);
        let choice = tried(declaration, draw);
        let most =
            scenario.config.most_spared() + declaration.asks_spared(&choice.values(), &tables(scenario.config.sheet.geometry.layers));
        if !draw.happens(0.2) || !has_room_for_memos(&scenario.config, choice) {
            continue;
        }
        spare(most, scenario);
        if scenario.config.spared_max == most {
            // Only what it asks for: nothing else of the scenario changes.
            declaration.needs.iter().for_each(|need| (need.feature().grant)(&mut scenario.config.sheet.capabilities));
            if declaration.has_need(Need::Table(Table::Guard)) {
                scenario.config.tables.guard = tables(scenario.config.sheet.geometry.layers).guard;
            }
            scenario.config.techniques.push(choice);
            leave_reads(&mut scenario.config);
        }
    }
}

/// True if the drive with this technique, too, could keep data: its journal has room for the memos.
fn has_room_for_memos(config: &Config, choice: Choice) -> bool {
    let mut keeping = Config { keeps_data: true, recovers: true, ..config.clone() };
    keeping.techniques.push(choice);
    wordline_ftl::fits(&keeping).is_ok()
}

/// A stand-in for techniques that nobody has written yet, and room for the places that it asks for. Drawn apart from all else.
pub(crate) fn stand_in(seed: u64, scenario: &mut Scenario) {
    if !Draw::new(seed, Stream::Mix, STAND_INS).happens(0.3) {
        return;
    }
    let config = &mut scenario.config;
    scenario.habits.has_stand_in = true;
    let before = config.open_for_moved();
    config.moved_blocks = config.moved_blocks.max(PLACES);
    config.sheet.geometry.blocks += config.open_for_moved() - before;
    while config.keeps_data && wordline_ftl::fits(config).is_err() {
        config.sheet.geometry.blocks += 1;
    }
}

/// The drive of `scenario` with rewrites against read disturb and hints of tolerated latency, and a host that reads. Half of all drives have a
/// [`Parker`](crate::parker::Parker). `None`: a drive that keeps data has no room for what the techniques write down.
pub fn hinted(mut scenario: Scenario) -> Option<Scenario> {
    let draw = &mut Draw::new(scenario.seed, Stream::Mix, HINTED);
    let config = &mut scenario.config;
    config.techniques.retain(|choice| !matches!(choice, Choice::ReadDisturbRefresh(_) | Choice::LatencyHints(_)));
    let reads_max = pick(draw, &[0, 8, 40, 200]);
    let (trigger_retries, guard) = (if reads_max == 0 { 7 } else { pick(draw, &[0, 0, 9]) }, draw.happens(0.95));
    config.techniques.push(Choice::ReadDisturbRefresh(read_disturb_refresh::Params {
        reads_max,
        trigger_retries,
        trigger_errors: 0,
        guard,
    }));
    config.techniques.push(tried(&latency_hints::DECLARATION, draw));
    scenario.habits.has_parker = draw.happens(0.5);
    if let Some(Choice::LatencyHints(params)) = config.techniques.last_mut()
        && scenario.habits.has_parker
    {
        // Wishes of the parker are not dropped.
        params.on_wait = latency_hints::OnWait::Postpone;
    }
    equip(config);
    scenario.habits.mix = pick(draw, &[[0.3, 0.05, 0.02], [0.2, 0.01, 0.0], [0.5, 0.1, 0.0]]);
    (!scenario.config.keeps_data || wordline_ftl::fits(&scenario.config).is_ok()).then_some(scenario)
}

/// Erases of the drive may spare up to `most` wordlines, or as many as leave some to the data; if they leave too little, none are guarded. Drives of odd seeds
/// show fewer units, so that all sets find room.
pub fn spare(most: u32, scenario: &mut Scenario) {
    let config = &mut scenario.config;
    let whole = u64::from(wordline_ftl::data_units(config));
    for spared_max in (1..=most).rev() {
        let least = u64::from(wordline_ftl::least_units(&Config { spared_max, ..config.clone() }));
        let fewer = (u64::from(config.exported_units) * least / whole) as u32;
        if fewer >= MASKED_LEAST {
            let exported = if scenario.seed.is_multiple_of(2) { config.exported_units } else { fewer };
            (config.spared_max, config.exported_units) = (spared_max, exported);
            config.sheet.capabilities.guarded_erase = true;
            scenario.habits.units_max = scenario.habits.units_max.min(exported);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{chain, dice_stops, stand_in};
    use wordline_ftl::techniques::hooks::Hooks;

    #[test]
    fn every_hook_has_a_subscriber_that_the_swarm_draws() {
        let joined = [dice_stops::CARD.hooks, chain::CARD.hooks, stand_in::CARD.hooks];
        let drawn = DECLARATIONS.iter().map(|declaration| declaration.card.hooks).chain(joined).fold(Hooks::NONE, Hooks::with);
        let without: Vec<&str> = Hook::ALL.iter().filter(|&&hook| !drawn.has(hook)).map(|hook| hook.name()).collect();
        assert!(without.is_empty(), "hooks without a subscriber: {without:?}");
        let of = |habit: fn(&Habits) -> bool| (0..60).filter(|&seed| habit(&crate::cut::scenario(seed).habits)).count();
        let times = [of(|habits| habits.stops_by_dice), of(|habits| habits.is_copying), of(|habits| habits.has_stand_in)];
        assert!(times.iter().all(|&times| times > 0), "{times:?}");
    }
}
