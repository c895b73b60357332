//! The drive of a seed, what its flash may do, and what befalls it.

use wordline_chip::DieFault;
use wordline_drive::{Config, Fault};
use wordline_media::DumpShape;
use wordline_plan::Plan;
use wordline_units::random::{Draw, Stream};
use wordline_units::{Celsius, DieId};

use super::trial::{Case, Live, Tally};

/// What a case may go without.
pub(crate) const FEATURES: [&str; 13] = [
    "silent",
    "failures",
    "unreadable",
    "physics",
    "techniques",
    "cores",
    "depth",
    "capacitors",
    "dying",
    "heat",
    "sanitiser",
    "layers",
    "neighbour",
];
/// Those that are drawn from the dice of the first of them.
const OLDER: [&str; 11] =
    ["silent", "failures", "unreadable", "physics", "techniques", "cores", "depth", "capacitors", "dying", "heat", "sanitiser"];

/// The drive of a case, and what its flash may do.
pub(crate) struct World {
    pub(crate) config: Config,
    pub(crate) is_silent: bool,
    /// A write is acknowledged when it is programmed.
    pub(crate) is_through: bool,
    /// Reads may fail, and writes once it is worn out.
    pub(crate) may_fail: bool,
    pub(crate) depth: u64,
    /// After so many requests a die fails, and says so.
    dies_at: Option<u64>,
    /// So often the temperature changes: once in so many requests.
    heat_every: Option<u64>,
    /// What is stale may not be read from the chips once a flush was answered, and this share of writes need not be secret.
    pub(crate) insecure: Option<f64>,
}

impl World {
    /// The shape of its buffer as capacitors keep it.
    pub(crate) fn dump(&self) -> Option<DumpShape> {
        let Config { cores, firmware, .. } = &self.config;
        let (facts, fact_bytes) = self.config.facts();
        let shape = DumpShape { drive: 7, slots: cores * firmware.buffer.units, slot_bytes: firmware.unit.0 as u32, facts, fact_bytes };
        self.config.has_capacitors().then_some(shape)
    }

    /// Nothing stale may be read from its dies. A die that lies, or is dead, cannot be held to it.
    pub(crate) fn keeps_secrets(&self) -> bool {
        self.insecure.is_some() && !self.is_silent && self.dies_at.is_none()
    }

    /// What befalls the drive before request `number`.
    pub(crate) fn befall(&self, drive: &mut Live, number: u64, draw: &mut Draw, tally: &mut Tally) {
        if self.dies_at == Some(number) {
            let die = DieId(draw.below(u64::from(self.config.sheet.geometry.dies())) as u16);
            drive.inject(Fault::Die(die, DieFault::Die { silent: false }));
            tally.killed += 1;
        }
        if self.heat_every.is_some_and(|every| number.is_multiple_of(every)) {
            tally.heated += u64::from(drive.set_temperature(Celsius(draw.below(100) as f64 - 10.0)));
        }
    }
}

fn pick(draw: &mut Draw, of: &[&str]) -> String {
    of[draw.below(of.len() as u64) as usize].to_owned()
}

pub(crate) fn world(case: &Case) -> World {
    let draw = &mut Draw::new(case.seed, Stream::Mix, 5);
    let with = |feature: &str| !case.without.contains(&feature);
    // Drawn whether or not they are wanted, so that a case without something is otherwise the same.
    let [silent, failures, unreadable, physics, techniques, cores, depth, capacitors, dying, heat, sanitiser] =
        OLDER.map(|feature| draw.happens(0.35) && with(feature));
    // Dice of its own, so that older cases stay what they were.
    let layers = Draw::new(case.seed, Stream::Mix, 7).happens(0.35) && with("layers");
    let neighbour = Draw::new(case.seed, Stream::Mix, 8).happens(0.5) && with("neighbour");
    let mut settings = vec![
        "geometry.layers=2".to_owned(),
        "geometry.wordlines_per_layer=2".to_owned(),
        "mapping.over_provisioning=none".to_owned(),
        "mapping.spare_blocks=4".to_owned(),
    ];
    size(&mut settings, draw, cores);
    choices(&mut settings, draw);
    settings.push(format!("recovery.oob_place={}", if neighbour { "neighbour" } else { "group" }));
    let is_through = draw.happens(0.3);
    settings.push(format!("buffer.acknowledge={}", if is_through { "programmed" } else { "buffered" }));
    let slow = pick(draw, &["700 us", "700 us", "20 ms"]);
    if layers {
        // Wordlines in one shot and in mixed order, followers as their leaders allow.
        let able = ["program_scope=wordline", "any_order=true", "program_settings=true"].map(|key| format!("capabilities.{key}"));
        settings.extend(able);
        settings.extend(["timing.t_program=none".to_owned(), format!("timing.t_program_wordline={slow}")]);
        settings.extend(["placement.order=mixed", "placement.threshold=50 %", "techniques.layer-similarity.on=true"].map(str::to_owned));
    } else {
        settings.push(format!("timing.t_program={slow}"));
    }
    let (refresh, idle) = (draw.happens(0.5) && techniques, draw.happens(0.5) && techniques);
    if refresh {
        settings.extend(["techniques.read-disturb-refresh.on=true", "techniques.read-disturb-refresh.reads_max=60"].map(str::to_owned));
    }
    if idle {
        let on = ["on=true", "after=300 us", "until_free=6"].map(|key| format!("techniques.idle-reclaim.{key}"));
        settings.extend(on);
    }
    // Dice of their own, so that older cases stay what they were.
    let reads = &mut Draw::new(case.seed, Stream::Mix, 6);
    if reads.happens(0.5) && techniques {
        settings.push("techniques.layer-read-offsets.on=true".to_owned());
    }
    if reads.happens(0.3) && !physics {
        settings.extend(["share=50 %", "mean=2", "alike=50 %", "entries=16"].map(|key| format!("retries.{key}")));
    }
    let (technique, share) = (pick(draw, &["page-lock", "page-lock", "wordline-scrub", "erase-at-once", "reprogram-page"]), draw.below(2));
    if sanitiser {
        settings.push(format!("techniques.{technique}.on=true"));
    }
    faults(&mut settings, draw, [failures, unreadable]);
    settings.push(format!("cells.physics={physics}"));
    settings.push(format!("buffer.protection={}", if capacitors { "capacitor" } else { "none" }));
    settings.push(format!("run.seed={}", case.seed % 1_000_000));
    let words: Vec<&str> = settings.iter().map(String::as_str).collect();
    let plan = Plan::load_set("pageftl-4k", &words).unwrap_or_else(|why| panic!("{words:?}: {why}"));
    let depth = if depth { 1 + draw.below(24) } else { 1 };
    let may_fail = silent || failures || unreadable || physics || dying;
    let (dies_at, heat_every) = (1 + draw.below(case.requests.max(1)), 20 + draw.below(200));
    let (dies_at, heat_every) = (dying.then_some(dies_at), (heat && physics).then_some(heat_every));
    let insecure = sanitiser.then_some([0.1, 0.4][share as usize]);
    World { config: plan.build(), is_silent: silent, is_through, may_fail, depth, dies_at, heat_every, insecure }
}

/// Adds the dies, cores and capacity of a small drive.
fn size(settings: &mut Vec<String>, draw: &mut Draw, cores: bool) {
    let (channels, dies, planes, blocks) = (1 + draw.below(2), 1 + draw.below(2), 1 << draw.below(2), 44 + draw.below(20));
    settings.push(format!("flash.channels={channels}"));
    settings.push(format!("flash.dies_per_channel={dies}"));
    settings.push(format!("geometry.planes={planes}"));
    settings.push(format!("geometry.blocks={blocks}"));
    let two_cores = draw.happens(0.5) && cores && channels * dies % 2 == 0;
    settings.push(format!("controller.cores={}", 1 + u64::from(two_cores)));
    let raw_kib = channels * dies * planes * blocks * 12 * 16;
    settings.push(format!("mapping.capacity={} KiB", raw_kib * (30 + draw.below(20)) / 100 / 16 * 16));
}

/// Adds a choice for each of some keys.
fn choices(settings: &mut Vec<String>, draw: &mut Draw) {
    for (key, values) in [
        ("mapping.unit", &["4 KiB", "16 KiB", "4 KiB"][..]),
        ("buffer.size", &["1 MiB", "512 KiB", "2 MiB"]),
        ("buffer.partial_watermark", &["0 %", "50 %", "90 %"]),
        ("gc.victim", &["greedy", "cost-benefit", "d-choices", "fifo", "random"]),
        ("gc.preemptible", &["true", "false"]),
        ("free_block.key", &["erases", "longest-free"]),
        ("free_block.gap", &["none", "4", "20"]),
        ("schedule.reads_first", &["true", "false"]),
        ("schedule.linger", &["none", "50 us", "2 ms"]),
    ] {
        settings.push(format!("{key}={}", pick(draw, values)));
    }
}

/// Adds the faults that are wanted. They are drawn even if not.
fn faults(settings: &mut Vec<String>, draw: &mut Draw, [failures, unreadable]: [bool; 2]) {
    let (program, erase, bad, endurance) = (
        pick(draw, &["0 %", "500 ppm", "3000 ppm"]),
        pick(draw, &["0 %", "2000 ppm", "1 %"]),
        pick(draw, &["0 %", "1 %"]),
        pick(draw, &["none", "none", "8"]),
    );
    if failures {
        settings.push(format!("faults.program_fail={program}"));
        settings.push(format!("faults.erase_fail={erase}"));
        settings.push(format!("faults.factory_bad={bad}"));
        settings.push(format!("faults.endurance={endurance}"));
    }
    let read_fail = pick(draw, &["200 ppm", "5000 ppm"]);
    if unreadable {
        settings.push(format!("faults.read_fail={read_fail}"));
    }
}
