//! Does the table of a simulated die say what the model says?

use std::sync::Arc;

use crate::common::{HOME, chip};
use wordline_cells::{Age, CellArray, Condition, History, Model, Settings};
use wordline_units::Nanos;
use wordline_units::random::{Draw, Stream};

const SEED: u64 = 20_261_121;

/// The lowest verifies of each state left out, the more the higher it is.
fn skipping(more: u8) -> Settings {
    Settings { skip: core::array::from_fn(|state| state as u8 + more), ..Settings::default() }
}

#[test]
fn a_die_reads_the_rates_of_the_model_over_the_whole_range() {
    println!("seed {SEED}");
    for name in ["tlc48", "mlc48", "qlc64"] {
        let model = Arc::new(chip(name, &[]));
        let shape = model.physics().shape;
        let bits = shape.cell.bits();
        let mut array = CellArray::new(Arc::clone(&model), SEED, 3, 64, HOME);
        let mut draw = Draw::new(SEED, Stream::CellSample, 0);
        let (mut worst, mut sum, mut count) = (0.0f64, 0.0, 0.0);
        for _ in 0..60 {
            let age = Age { cycles: draw.unit() * 4_000.0, dwell: 3_600.0, retention: libm::exp(draw.unit() * 17.5), temperature: HOME.0 };
            let pages = shape.wordlines() * bits;
            array.set_age(&age, Nanos::ZERO, |_| pages as u16);
            for _ in 0..40 {
                let (block, page) = (draw.below(64) as u32, draw.below(u64::from(pages)) as u32);
                let (reads, entry) = (libm::exp(draw.unit() * 12.0) as u32, draw.below(4) as u32);
                let (rate, _) = array.error_rate(block, page, reads, entry, Nanos::ZERO);
                let traits = model.traits(&model.block(SEED, 3, block), page / bits / shape.wordlines_per_layer);
                let history = model.cycled(age.cycles, age.dwell, HOME);
                let condition = Condition::new(history, HOME).kept(age.retention).read(f64::from(reads));
                let exact = model.wordline(&traits, &condition).error_rate(&model, page % bits, &model.references(entry));
                // A rate far below one error in a page is nothing to get right.
                if exact > 1e-5 {
                    let off = libm::log(rate / exact).abs();
                    worst = worst.max(off);
                    sum += off;
                    count += 1.0;
                }
            }
        }
        println!("{name}: mean {:.4}, worst {worst:.4} of the logarithm over {count} pages", sum / count);
        assert!(count > 1_000.0, "{name}: {count}");
        assert!(sum / count < 0.03, "{name}: mean {}", sum / count);
        assert!(worst < 0.25, "{name}: worst {worst}");
    }
}

#[test]
fn what_is_forgotten_comes_out_the_same() {
    let model = Arc::new(chip("tlc48", &[]));
    let age = Age { cycles: 2_000.0, dwell: 60.0, retention: 2_592_000.0, temperature: HOME.0 };
    let read = |blocks: usize, order: &mut dyn Iterator<Item = u32>| {
        let mut array = CellArray::new(Arc::clone(&model), SEED, 0, blocks, HOME);
        array.set_age(&age, Nanos::ZERO, |_| 576);
        let mut rates: Vec<(u32, f64)> = order.map(|block| (block, array.error_rate(block, block % 576, 7, 0, Nanos(5)).0)).collect();
        rates.sort_by_key(|&(block, _)| block);
        rates
    };
    // 2,000 blocks of 48 layers are more than a die remembers.
    assert_eq!(read(2_000, &mut (0..2_000)), read(2_000, &mut (0..2_000).rev()));
}

#[test]
fn a_snapshot_goes_on_where_it_stopped() {
    let model = Arc::new(chip("tlc48", &[]));
    let new = || CellArray::new(Arc::clone(&model), SEED, 1, 8, HOME);
    let mut array = new();
    for (number, now) in [(0, 10), (1, 20), (2, 400)] {
        array.erase(number, Nanos(now));
        array.program(number, 0, true, Nanos(now + 5), &Settings::default());
        array.read(number, 0, 3, 0, Nanos(now + 9));
    }
    let mut copy = new();
    assert!(copy.resume(array.lives()));
    assert!(!CellArray::new(Arc::clone(&model), SEED, 1, 9, HOME).resume(array.lives()));
    let later = Nanos(90_000_000_000);
    for page in 0..200 {
        assert_eq!(array.read(page % 3, page, 9, 0, later), copy.read(page % 3, page, 9, 0, later));
        let settings = if page % 2 == 0 { Settings::default() } else { skipping(page as u8 % 5) };
        let is_first = page == 0;
        if is_first {
            assert_eq!(array.erase(2, later), copy.erase(2, later));
        }
        assert_eq!(array.program(2, page, is_first, later, &settings), copy.program(2, page, is_first, later, &settings));
        assert_eq!(array.trace(2, page, 0.0), copy.trace(2, page, 0.0));
    }
    assert_eq!(array.lives(), copy.lives());
}

#[test]
fn what_is_kept_of_a_block_brings_its_wear_back() {
    let model = Arc::new(chip("tlc48", &[]));
    let new = || CellArray::new(Arc::clone(&model), SEED, 1, 4, HOME);
    let mut array = new();
    let age = Age { cycles: 1_000.0, dwell: 60.0, retention: 1e6, temperature: 30.0 };
    array.set_age(&age, Nanos::ZERO, |block| if block == 2 { 576 } else { 0 });
    for turn in 0..50 {
        array.erase(1, Nanos(1_000 * turn));
        array.program(1, 0, true, Nanos(1_000 * turn + 100), &Settings::default());
    }
    let mut back = new();
    (0..4).for_each(|block| back.wake(block, &array.kept(block)));
    for block in 0..4 {
        assert_eq!(back.kept(block), array.kept(block));
        let (then, now) = (array.error_rate(block, 100, 0, 0, Nanos(60_000)), back.error_rate(block, 100, 0, 0, Nanos(60_000)));
        assert_eq!(then.1, now.1, "the wear of block {block}");
        assert!((then.0 / now.0 - 1.0).abs() < 1e-3, "the error rate of block {block}: {} and {}", then.0, now.0);
    }
    assert!(back.error_rate(2, 100, 0, 0, Nanos(60_000)).0 > 1.1 * back.error_rate(3, 100, 0, 0, Nanos(60_000)).0, "retention counts");
}

#[test]
fn programs_and_erases_tell_their_loops() {
    let model = Arc::new(chip("tlc48", &[]));
    let mut array = CellArray::new(Arc::clone(&model), SEED, 2, 4, HOME);
    let erased = array.erase(1, Nanos(10));
    let history = History::default().erased(model.physics(), 0.0, HOME, 0, false);
    assert_eq!(u32::from(erased.loops), model.erase(&model.block(SEED, 2, 1), &history).loops);
    let loops: std::collections::BTreeSet<u8> =
        (0..576).step_by(12).map(|page| array.program(1, page, page == 0, Nanos(20), &Settings::default()).loops).collect();
    assert!(loops.iter().all(|&loops| loops > 4), "{loops:?}");
    // A worn block needs fewer pulses to program and more to erase: that is what firmware learns wear from.
    let worn = Age { cycles: 6_000.0, dwell: 60.0, retention: 0.0, temperature: HOME.0 };
    array.set_age(&worn, Nanos(30), |_| 0);
    let (fresh, erased_worn) = (erased, array.erase(1, Nanos(40)));
    assert!(erased_worn.pace > fresh.pace && erased_worn.loops >= fresh.loops, "{fresh:?} {erased_worn:?}");
}

/// Erases a block and compares it with one that never had a wordline with a course of its own.
fn check_erased(model: &Arc<Model>, mut array: CellArray) {
    array.erase(0, Nanos(30));
    let mut other = CellArray::new(Arc::clone(model), SEED, 3, 8, HOME);
    other.wake(0, &array.kept(0));
    for page in (0..576).step_by(7) {
        let [(rate, _), (plain, _)] = [&mut array, &mut other].map(|array| array.error_rate(0, page, 0, 0, Nanos(30)));
        assert!((rate / plain - 1.0).abs() < 1e-3, "an erase ends it: {rate}, and {plain} of a block that never had it");
    }
}

#[test]
fn a_wordline_with_a_course_of_its_own_reads_as_the_model_says_and_its_neighbours_as_before() {
    println!("seed {SEED}");
    let model = Arc::new(chip("tlc48", &[]));
    let shape = model.physics().shape;
    let (bits, each) = (shape.cell.bits(), shape.wordlines_per_layer);
    let mut draw = Draw::new(SEED, Stream::CellSample, 1);
    let mut array = CellArray::new(Arc::clone(&model), SEED, 3, 8, HOME);
    let untouched = |array: &mut CellArray, block: u32| array.error_rate(block, 7, 0, 0, Nanos(50)).0;
    let before = untouched(&mut array, 5);
    let (mut harmed, mut offs) = (0, Vec::new());
    for turn in 0..200 {
        let (block, wordline) = (draw.below(4) as u32, draw.below(u64::from(shape.wordlines())) as u32);
        let settings = Settings {
            start_margin: 162.5 * draw.below(2) as f32,
            final_margin: 162.5 * draw.below(3) as f32,
            ..skipping(draw.below(4) as u8)
        };
        array.erase(block, Nanos(10));
        let page = wordline * bits;
        let took = array.program(block, page, true, Nanos(20), &settings);
        let traits = model.traits(&model.block(SEED, 3, block), wordline / each);
        // The history that the array has, from what it keeps.
        let kept = array.kept(block);
        let stress = |at: usize| f32::from_le_bytes(kept.bytes()[at..at + 4].try_into().expect("four bytes"));
        let history = History { erase: stress(2), program: stress(6), gentle: 0.0 };
        let program = model.program(&traits, &history, &settings);
        assert_eq!(u32::from(took.loops), program.loops, "turn {turn}");
        let trace = array.trace(block, page, 0.0);
        assert_eq!((trace.first, trace.last), (program.first, program.last));
        let condition = Condition { open_interval: 10e-9, ..Condition::new(history, HOME).settings(settings) };
        let cells = model.wordline(&traits, &condition);
        let shown = (model.references(0), f64::from(shape.cells()));
        let misread = |boundary: usize| shown.1 * cells.misread(boundary, shown.0[boundary - 1]);
        for (counted, exact) in [(trace.low_errors, misread(1)), (trace.errors, (1..cells.count).map(misread).sum::<f64>())] {
            let off = (f64::from(counted) - exact).abs();
            assert!(off < 0.2 * exact + 5.0 * exact.sqrt() + 2.0, "turn {turn}: {counted} counted, {exact} by the model");
        }
        let later = [(0.0, 0, 0), (libm::exp(draw.unit() * 16.0), draw.below(100_000) as u32, draw.below(4) as u32)];
        for (seconds, reads, entry) in later {
            let cells = model.wordline(&traits, &condition.kept(seconds).read(f64::from(reads)));
            for kind in 0..bits {
                let exact = cells.error_rate(&model, kind, &model.references(entry));
                let (rate, _) = array.error_rate(block, page + kind, reads, entry, Nanos(20 + (seconds * 1e9) as u64));
                if exact > 1e-5 {
                    offs.push(libm::log(rate / exact).abs());
                }
            }
        }
        let plain = model.wordline(&traits, &Condition { settings: Settings::default(), ..condition });
        let worse = (0..bits).any(|kind| {
            let rate = |cells: &wordline_cells::Wordline| cells.error_rate(&model, kind, &model.references(0));
            rate(&cells) > 2.0 * rate(&plain)
        });
        harmed += u32::from(worse);
        // The wordline beside it is as the chip programs by itself.
        let neighbour = (wordline ^ 1) * bits;
        let exact = plain.error_rate(&model, 0, &model.references(0));
        let (rate, _) = array.error_rate(block, neighbour, 0, 0, Nanos(20));
        assert!(libm::log(rate / exact).abs() < 0.25, "turn {turn}: the neighbour has {rate}, and {exact} by the model");
    }
    let (mean, worst) = (offs.iter().sum::<f64>() / offs.len() as f64, offs.iter().copied().fold(0.0, f64::max));
    println!("mean {mean:.4}, worst {worst:.4} of the logarithm over {} pages, {harmed} of 200 harmed", offs.len());
    assert!(offs.len() > 600 && mean < 0.03 && worst < 0.25, "as good as the table of wordlines without a course: {mean} {worst}");
    assert!(harmed > 20, "{harmed} of 200: settings without care must show");
    assert_eq!(untouched(&mut array, 5), before);
    check_erased(&model, array);
}

#[test]
fn warm_cells_are_faster_and_a_course_remembers_how_warm_it_was() {
    let model = Arc::new(chip("tlc48", &["physics.ispp.warm_speed=10 mV/K"]));
    let mut array = CellArray::new(Arc::clone(&model), SEED, 3, 4, HOME);
    let settings = skipping(1);
    array.program(0, 0, true, Nanos(20), &Settings::default());
    let cool = array.trace(0, 0, 0.0);
    array.set_temperature(wordline_units::Celsius(HOME.0 + 60.0), Nanos(30));
    array.program(0, 3, false, Nanos(40), &settings);
    let warm = array.trace(0, 3, 0.0);
    assert!((0..7).all(|state| warm.first[state] <= cool.first[state]) && warm.first != cool.first, "{cool:?} {warm:?}");
    let while_warm = array.error_rate(0, 3, 0, 0, Nanos(40)).0;
    array.set_temperature(HOME, Nanos(50));
    let when_cool = array.error_rate(0, 3, 0, 0, Nanos(50)).0;
    assert!((while_warm / when_cool - 1.0).abs() < 1e-6, "{while_warm} {when_cool}: what was programmed stays as it is");
}

/// The bits of the erase stress and of the program stress that are kept of a block: the first numbers behind version and parts.
fn stress(array: &CellArray, block: u32) -> [u32; 2] {
    let kept = array.kept(block);
    [2, 6].map(|at| u32::from_le_bytes(kept.bytes()[at..at + 4].try_into().expect("four bytes")))
}

/// Stress that is kept of a block after an erase with so many stops, of which the die is told as `tell` says, and the erase stress that the model says.
fn stopped(stops: u32, tell: impl Fn(&mut CellArray, u32)) -> (u32, u32) {
    let model = Arc::new(chip("tlc48", &[]));
    let mut array = CellArray::new(Arc::clone(&model), SEED, 0, 4, HOME);
    array.set_age(&Age { cycles: 500.0, dwell: 60.0, retention: 0.0, temperature: HOME.0 }, Nanos::ZERO, |_| 0);
    let before = stress(&array, 2);
    let rest = Nanos(7_000_000_000);
    array.erase(1, rest);
    array.erase(2, rest);
    (1..=stops).for_each(|stop| tell(&mut array, stop));
    let history = History { erase: f32::from_bits(before[0]), program: f32::from_bits(before[1]), gentle: 0.0 };
    let expected = history.erased(model.physics(), rest.as_secs_f64(), HOME, stops, false);
    assert_eq!(
        stress(&array, 1)[0],
        history.erased(model.physics(), rest.as_secs_f64(), HOME, 0, false).erase.to_bits(),
        "no other block is touched"
    );
    (stress(&array, 2)[0], expected.erase.to_bits())
}

#[test]
fn an_erase_with_stops_wears_as_the_history_says_to_the_last_bit() {
    for stops in [0, 1, 2, 7, 30, 31, 99, 100] {
        let (kept, expected) = stopped(stops, |array, stop| array.stopped(2, stop));
        assert_eq!(kept, expected, "{stops} stops");
    }
    let (few, many) = (stopped(0, |_, _| ()).1, stopped(100, |_, _| ()).1);
    assert!(f32::from_bits(many) > f32::from_bits(few) * 1.0001, "stops matter");
}

#[test]
fn planted_a_stop_that_is_not_counted_shows() {
    let (kept, expected) = stopped(100, |array, stop| {
        if stop < 100 {
            array.stopped(2, stop);
        }
    });
    assert_ne!(kept, expected);
}
