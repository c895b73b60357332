//! Is all data that was copied inside its die correctable at the end of its promised retention?
//!
//! The carried errors of each valid page are taken from the cells, and its own after the rest of the promised retention from the model, at the best references.
//! Days pass between rounds of writes, so that copies of data that has been kept would show. Births are followed here, unit by unit, and not asked of the
//! firmware. Does not check: disturb of reads; births of data that goes over the bus and is copied in one round, which is taken for as old as it was before.

use std::collections::BTreeMap;

use wordline_cells::{Condition, Model, References, Wordline};
use wordline_drive::{Config, Pace, Watched};
use wordline_engine::{Event, FlashEvent, Observer, UnitPlace};
use wordline_plan::Plan;
use wordline_proving::{bench, effort};
use wordline_units::random::{Draw, Stream};
use wordline_units::{Celsius, DieId, FlashOp, HostOp, HostRequest, Nanos, PlaneId, Seconds};

/// Pages copied inside their dies.
#[derive(Default)]
struct Copies(u64);

impl Observer for Copies {
    fn observe(&mut self, _: Nanos, event: &Event) {
        if let Event::Flash(FlashEvent { op: FlashOp::Copyback, pages, .. }) = event {
            self.0 += u64::from(*pages);
        }
    }
}

/// A drive of one die with physics and the tables of its chip, new data in it, after so many cycles.
fn aged(cycles: &str, settings: &[&str]) -> Config {
    let cycles = format!("cells.cycles={cycles}");
    let few =
        ["flash.channels=1", "flash.dies_per_channel=1", "geometry.blocks=64", "mapping.spare_blocks=2", "mapping.over_provisioning=30 %"];
    let plan = Plan::load_set("paper-rftl", &[&few[..], &[cycles.as_str()], settings].concat()).unwrap_or_else(|error| panic!("{error}"));
    plan.build()
}

/// A unit with the birth of its data.
#[derive(Clone, Copy)]
struct Unit {
    place: UnitPlace,
    born: u64,
    /// Day of the program of its present page.
    programmed: u64,
}

/// Judgement of all copied pages that were valid at quiet instants.
#[derive(Clone, Copy, Debug, Default)]
struct Verdict {
    copies: u64,
    judged: u64,
    /// Pages that are uncorrectable with more than the risk of the table.
    beyond: u64,
}

impl Verdict {
    /// Share of the judged pages that are beyond the risk.
    fn share(&self) -> f64 {
        self.beyond as f64 / self.judged.max(1) as f64
    }
}

/// A drive and the births of its data.
struct Trial {
    drive: Watched<Copies>,
    model: Model,
    units: BTreeMap<u64, Unit>,
    dice: Draw,
    verdict: Verdict,
}

impl Trial {
    fn new(config: Config, seed: u64) -> Trial {
        let cells = config.cells.as_ref().expect("the preset has physics");
        let (model, age) = (Model::new(&cells.physics).expect("checked"), cells.age.expect("it was set"));
        let span = config.exported_units;
        let mut drive = Watched::new(config, Copies::default());
        drive.construct_filled(span);
        drive.set_age(&age);
        let layout = drive.firmware()[0].layout();
        assert!(layout.planes == 1 && layout.units_per_page == 1, "a unit is a page");
        let mut trial =
            Trial { drive, model, units: BTreeMap::new(), dice: Draw::new(seed, Stream::Address, 0), verdict: Verdict::default() };
        trial.follow(&[]);
        trial
    }

    fn today(&self) -> u64 {
        self.drive.now().0 / 86_400_000_000_000
    }

    /// Writes a few units most of the time, so that the others are moved again and again.
    fn write(&mut self, writes: u64) {
        let (span, sectors) = (self.drive.config().exported_units, (self.drive.config().firmware.unit.0 / 512) as u32);
        let mut draw = |below: u64| self.dice.below(below);
        let written: Vec<u64> = (0..writes).map(|_| if draw(10) < 8 { draw(span / 5) } else { draw(span) }).collect();
        let flush = HostRequest::new(HostOp::Flush, 0, 0);
        let mut load = written.iter().map(|&unit| bench::request(HostOp::Write, unit, 1, sectors)).chain([flush]);
        self.drive.serve(&mut load, Pace::Closed { depth: 16 }, None);
        self.drive.settle();
        self.follow(&written);
    }

    /// Notes where all data is now, of which the host has `written` some since the last time.
    fn follow(&mut self, written: &[u64]) {
        let today = self.today();
        let carried = self.drive.carried(DieId(0));
        let places: Vec<(u64, UnitPlace)> = self.drive.mapped().collect();
        let is_clean = |place: &UnitPlace| carried.rate(place.block.0, place.offset) == 0.0;
        for (unit, place) in places {
            let known = self.units.entry(unit).or_insert(Unit { place, born: today, programmed: today });
            if known.place != place {
                let born = if is_clean(&place) { today } else { known.born };
                *known = Unit { place, born, programmed: today };
            }
        }
        for unit in written {
            let known = self.units.get_mut(unit).expect("the whole drive is full");
            (known.born, known.programmed) = (today, today);
        }
    }

    /// Judges all pages that were copied.
    fn judge(&mut self, retention: Seconds) {
        let config = self.drive.config();
        let risk = config.firmware.tables.copyback.as_ref().expect("the chip has the table").risk;
        let geometry = config.sheet.geometry;
        let (seed, carried) = (config.seed, self.drive.carried(DieId(0)));
        let mut wordlines: BTreeMap<(u32, u32, u64), (Wordline, References)> = BTreeMap::new();
        for unit in self.units.values() {
            let (block, page) = (unit.place.block, unit.place.offset);
            let rate = carried.rate(block.0, page);
            if rate == 0.0 {
                continue;
            }
            let days = unit.programmed - unit.born;
            let layer = page / geometry.cell.bits() / geometry.wordlines_per_layer;
            let (wordline, best) = wordlines.entry((block.0, layer, days)).or_insert_with(|| {
                let history = self.drive.inspect(DieId(0), PlaneId(0), block).expect("it has physics").history();
                let rest = retention.0.saturating_sub(Seconds::from_days(days).0);
                let condition = Condition::new(history, Celsius(30.0)).kept(self.model.kept(rest as f64, Celsius(30.0)));
                let wordline = self.model.wordline(&self.model.traits(&self.model.block(seed, 0, block.0), layer), &condition);
                (wordline, wordline.optimal())
            });
            let all = wordline.carrying([rate as f32; 4]).error_rate(&self.model, page % geometry.cell.bits(), best);
            self.verdict.judged += 1;
            self.verdict.beyond += u64::from(self.model.uncorrectable(all) > risk);
        }
    }
}

const QUOTAS: [&str; 2] = ["techniques.restricted-copyback.on=true", "techniques.retention-refresh.on=true"];
const PLAIN: [&str; 1] = ["techniques.plain-copyback.on=true"];

/// Rounds of writes, each of as many units as the drive has.
const ROUNDS: u64 = 4;

/// Verdict on a drive after so many cycles, through rounds of writes with such a time between them.
fn judged(cycles: &str, settings: &[&str], hours: u64, seed: u64) -> Verdict {
    let mut config = aged(cycles, settings);
    config.seed = seed;
    let retention = *config.firmware.tables.copyback.as_ref().expect("the chip has the table").retention.last().expect("a column");
    let writes = config.exported_units;
    let mut trial = Trial::new(config, seed);
    for _ in 0..ROUNDS {
        trial.write(writes);
        trial.judge(Seconds(u64::from(retention)));
        trial.drive.run_until(trial.drive.now() + Nanos(hours * 3_600_000_000_000));
    }
    trial.drive.audit().unwrap_or_else(|problem| panic!("{problem}"));
    Verdict { copies: trial.drive.observer.0, ..trial.verdict }
}

/// Sum of the verdicts over the seeds. CI tries one.
fn all(cycles: &str, settings: &[&str], hours: u64) -> Verdict {
    let mut sum = Verdict::default();
    for seed in 7..7 + effort() {
        let one = judged(cycles, settings, hours, seed);
        sum = Verdict { copies: sum.copies + one.copies, judged: sum.judged + one.judged, beyond: sum.beyond + one.beyond };
    }
    println!("{cycles} cycles, {hours} h between rounds, {settings:?}: {sum:?}, {:.3} % beyond", 100.0 * sum.share());
    sum
}

/// Hours between rounds: copies on the date of birth, and copies of data that has been kept for weeks.
const HOURS: [u64; 2] = [11, 20 * 24];

/// Counts from which on the drive comes into the next bin of the table, or to where no block stands a copy.
const CYCLES: [&str; 3] = ["380", "980", "1980"];

#[test]
fn what_quotas_have_copied_is_correctable_at_the_end_of_its_retention_and_copies_without_them_are_not() {
    for cycles in CYCLES {
        for hours in HOURS {
            let within = all(cycles, &QUOTAS, hours);
            assert!(within.copies > 5_000 && within.judged > 1_000, "{cycles} cycles: {within:?}");
            // A tenth of the risk, because the table is fitted to a hundredth of it.
            assert!(within.share() <= 0.001, "{cycles} cycles, {hours} h between rounds: {within:?}");
        }
        let plain = all(cycles, &PLAIN, HOURS[0]);
        assert!(plain.share() > 0.005, "{cycles} cycles: {plain:?} by plain copybacks");
    }
}

#[test]
fn planted_copies_of_data_that_has_been_kept_for_weeks_are_seen() {
    let late = [&QUOTAS[..], &["techniques.restricted-copyback.days_max=36500"]].concat();
    for cycles in CYCLES {
        let late = all(cycles, &late, HOURS[1]);
        assert!(late.share() > 0.02, "{cycles} cycles: {late:?}");
    }
}
