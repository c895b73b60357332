//! Tables that a lot of chips gives: whether their lists go together, and with the chip, and that the lot is not the drive's own.

use std::sync::Arc;

use wordline_cells::{Physics, Shape};
use wordline_flash::ReadOffsets;
use wordline_flash::tables::{Aging, CopyIndex, Copyback, Disturb, Guard, GuardMode, Ort, OrtIndex, Retirement, Sequence, Tables};

use crate::keys::{Tables as Keys, filled};
use crate::kind::{Kind, List, Maybe, Span};
use crate::layer::{Mistakes, Origin, Set};

/// Most copies in a row that a table may allow: firmware counts them in a byte.
const COPIES_MOST: u32 = 254;

/// The tables that there are.
pub(crate) fn check(keys: &Keys<'_>, shape: &Shape, physics: Option<&Physics>, mistakes: &mut Mistakes<'_>) -> Tables {
    Tables {
        aging: aging(keys.aging, shape, physics, mistakes).map(Arc::new),
        ort: ort(keys.ort, shape, mistakes).map(Arc::new),
        retirement: retirement(keys.retirement_limits, physics, mistakes).map(Arc::new),
        disturb: disturb(keys.disturb, mistakes).map(Arc::new),
        copyback: copyback(keys.copyback, shape, mistakes).map(Arc::new),
        guard: guard(keys.guard, shape, mistakes).map(Arc::new),
    }
}

/// Seed of a table of copies that is as a source gives it, from chips of its own.
const AS_TOLD: u64 = 0;

/// Refuses a table that was made from the chips of a run with this seed.
pub(crate) fn own_seed(sections: &filled::Sections, seed: u64, mistakes: &mut Mistakes<'_>) {
    for (table, lot) in Keys::of(sections).lot_seeds() {
        let is_told = table == "copyback" && seed == AS_TOLD;
        if lot.value.0 == Some(seed) && !is_told {
            let what =
                format!("{table}.seed is {seed}, and so is run.seed: expected a table that was made from other chips than the drive's");
            let help = format!("give the run another seed, or make the table again with `--seed`; {table}.seed = \"none\" does without");
            mistakes.at(&lot.origin, what, Some(help));
        }
    }
}

/// Looks at the keys of one section.
struct Looker<'m, 'l> {
    section: &'static str,
    before: usize,
    mistakes: &'m mut Mistakes<'l>,
}

impl<'m, 'l> Looker<'m, 'l> {
    fn new(section: &'static str, mistakes: &'m mut Mistakes<'l>) -> Looker<'m, 'l> {
        Looker { section, before: mistakes.count(), mistakes }
    }

    fn tell(&mut self, origin: &Origin, what: String) {
        let name = self.section.strip_suffix("_limits").unwrap_or(self.section);
        let help =
            format!("`wordline characterize {name} --table` makes a table for this chip; {}.seed = \"none\" does without", self.section);
        self.mistakes.at(origin, format!("{}.{what}", self.section), Some(help));
    }

    /// Whether a list has so many entries, one for each of `what`.
    fn count<T>(&mut self, key: &str, list: &Set<List<T>>, expected: usize, what: &str) {
        let found = list.value.0.len();
        if found != expected {
            self.tell(&list.origin, format!("{key} has {found} entries: expected {expected}, {what}"));
        }
    }

    /// Whether a list is not empty and each entry is more than the one before.
    fn rising<T: Kind + PartialOrd>(&mut self, key: &str, list: &Set<List<T>>) {
        if list.value.0.is_empty() {
            self.tell(&list.origin, format!("{key} is empty: expected at least one entry"));
        }
        if let Some(pair) = list.value.0.windows(2).find(|pair| pair[0] >= pair[1]) {
            let [first, second] = [&pair[0], &pair[1]].map(T::write);
            self.tell(&list.origin, format!("{key} has {second} after {first}: expected rising bounds"));
        }
    }

    /// Whether all entries are below a bound.
    fn below(&mut self, key: &str, list: &Set<List<u32>>, bound: usize, what: &str) {
        if let Some(wrong) = list.value.0.iter().find(|entry| **entry as usize >= bound) {
            self.tell(&list.origin, format!("{key} has {wrong}: expected less than {bound}, {what}"));
        }
    }

    /// Whether no layer stands twice.
    fn once(&mut self, key: &str, list: &Set<List<u32>>) {
        let mut sorted = list.value.0.clone();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            self.tell(&list.origin, format!("{key} has {} twice", pair[0]));
        }
    }

    fn in_order(&self) -> bool {
        self.mistakes.count() == self.before
    }
}

/// A time as firmware holds it: whole seconds of 32 bits, which is a century and more.
fn seconds(span: Span) -> u32 {
    u32::try_from(span.0).unwrap_or(u32::MAX)
}

fn spans(list: &Set<List<Span>>) -> Set<List<u32>> {
    Set { value: List(list.value.0.iter().map(|span| seconds(*span)).collect()), origin: list.origin.clone() }
}

/// A list of exactly so many numbers.
fn fixed<const N: usize>(look: &mut Looker<'_, '_>, key: &str, list: &Set<List<crate::kind::Decimal>>, what: &str) -> [f64; N] {
    look.count(key, list, N, what);
    let mut held = [0.0; N];
    held.iter_mut().zip(&list.value.0).for_each(|(held, value)| *held = value.0);
    held
}

fn aging(keys: &filled::Aging, shape: &Shape, physics: Option<&Physics>, mistakes: &mut Mistakes<'_>) -> Option<Aging> {
    let seed = keys.seed.value.0?;
    let mut look = Looker::new("aging", mistakes);
    let weights = fixed(&mut look, "weights", &keys.weights, "for P/E cycles, pulses, errors, rest and at all");
    let plus = fixed(&mut look, "plus", &keys.plus, "for P/E cycles, t_PROG and at all");
    let plus_plus = fixed(&mut look, "plus_plus", &keys.plus_plus, "for P/E cycles, t_PROG, errors and at all");
    if keys.limit.value.0 <= 0.0 {
        look.tell(&keys.limit.origin, format!("limit is {}: expected errors that can be corrected, more than 0", keys.limit.value.write()));
    }
    if let Some(ecc) = physics.map(|physics| &physics.ecc).filter(|ecc| (ecc.correctable - keys.limit.value.0).abs() > 1e-6) {
        let what =
            format!("limit is {}, and physics.ecc.correctable is {} bit: expected the same", keys.limit.value.write(), ecc.correctable);
        look.tell(&keys.limit.origin, what);
    }
    for (key, raised) in [("flicker", &keys.flicker), ("safe", &keys.safe)] {
        if raised.value.0 < 0.0 {
            look.tell(&raised.origin, format!("{key} is {}: expected at least 0, since ages are raised by it", raised.value.write()));
        }
    }
    let pages = shape.wordlines() * shape.cell.bits();
    if keys.page.value >= pages {
        look.tell(&keys.page.origin, format!("page is {}, and a block has {pages} pages: expected less", keys.page.value));
    }
    look.rising("pe", &keys.pe);
    look.count("pe_worst", &keys.pe_worst, keys.pe.value.0.len(), "one for each entry of aging.pe");
    if let Some(wrong) = keys.pe_worst.value.0.iter().find(|age| !(1..=u32::from(Aging::MOST)).contains(*age)) {
        look.tell(&keys.pe_worst.origin, format!("pe_worst has {wrong}: expected an age of 1 to {} thousandths", Aging::MOST));
    }
    if let Some(pair) = keys.pe_worst.value.0.windows(2).find(|pair| pair[0] > pair[1]) {
        look.tell(&keys.pe_worst.origin, format!("pe_worst has {} after {}: expected ages that do not fall", pair[1], pair[0]));
    }
    look.in_order().then(|| Aging {
        seed,
        weights,
        plus,
        plus_plus,
        limit: keys.limit.value.0,
        flicker: keys.flicker.value.0,
        safe: keys.safe.value.0,
        page: keys.page.value,
        rest_max: seconds(keys.rest_max.value),
        pe: keys.pe.value.0.clone(),
        pe_worst: keys.pe_worst.value.0.clone(),
        energy: keys.energy.value.0,
    })
}

/// A set of offsets, one for each reference of the cells.
fn offsets(look: &mut Looker<'_, '_>, key: &str, set: &[i8], origin: &Origin, shape: &Shape) -> ReadOffsets {
    let references = shape.states() - 1;
    if set.len() != references {
        look.tell(
            origin,
            format!("{key} has a set of {} offsets: expected {references}, one for each reference of {}", set.len(), shape.cell.name()),
        );
        return ReadOffsets::NONE;
    }
    set.iter().zip(1..).fold(ReadOffsets::NONE, |offsets, (steps, reference)| offsets.with(reference, *steps))
}

fn ort(keys: &filled::Ort, shape: &Shape, mistakes: &mut Mistakes<'_>) -> Option<Ort> {
    let seed = keys.seed.value.0?;
    let mut look = Looker::new("ort", mistakes);
    let count = keys.sets.value.0.len();
    if !(1..=Ort::SETS_MOST).contains(&count) {
        look.tell(&keys.sets.origin, format!("sets has {count} sets: expected 1 to {}", Ort::SETS_MOST));
    }
    let sets = keys.sets.value.0.iter().map(|set| offsets(&mut look, "sets", &set.0, &keys.sets.origin, shape)).collect();
    let retention = spans(&keys.retention);
    look.rising("retention", &retention);
    look.rising("reads", &keys.reads);
    look.rising("pe", &keys.pe);
    look.count("layers", &keys.layers, shape.layers as usize, "one for each h-layer of a block");
    look.below("layers", &keys.layers, Ort::CLASSES_MOST, "a class of h-layers");
    let steps = [Ort::AGES, keys.pe.value.0.len()];
    look.count("proven_age", &keys.proven_age, steps[0], "one for each tenth of age and one beyond");
    look.count("proven_pe", &keys.proven_pe, steps[1], "one for each entry of ort.pe");
    let proven = |list: &Set<List<Maybe<Span>>>| list.value.0.iter().map(|kept| kept.0.map(seconds)).collect::<Vec<_>>();
    let mut table = Ort {
        seed,
        sets,
        retention: retention.value.0,
        layers: keys.layers.value.0.clone(),
        reads: keys.reads.value.0.clone(),
        pe: keys.pe.value.0.clone(),
        by_age: OrtIndex { sequences: Vec::new(), proven: proven(&keys.proven_age) },
        by_pe: OrtIndex { sequences: Vec::new(), proven: proven(&keys.proven_pe) },
    };
    let mut read = |key: &str, list: &Set<List<List<u32>>>, steps: usize| -> Vec<Sequence> {
        look.count(key, list, table.places(steps), "one for each step, column of retention, class of h-layers and step of reads");
        let mut one = |numbers: &List<u32>| {
            if let Some(wrong) = numbers.0.iter().find(|number| **number as usize >= count) {
                look.tell(&list.origin, format!("{key} names set {wrong}, and there are {count}, counted from 0"));
            }
            let sequence = Sequence::of(&numbers.0.iter().map(|number| *number as u8).collect::<Vec<_>>());
            if sequence.is_none() {
                let what = format!("{key} has a sequence of {} sets: expected at most {}", numbers.0.len(), Sequence::MOST);
                look.tell(&list.origin, what);
            }
            sequence.unwrap_or_default()
        };
        list.value.0.iter().map(&mut one).collect()
    };
    let by_age = read("by_age", &keys.by_age, steps[0]);
    let by_pe = read("by_pe", &keys.by_pe, steps[1]);
    (table.by_age.sequences, table.by_pe.sequences) = (by_age, by_pe);
    look.in_order().then_some(table)
}

fn retirement(keys: &filled::RetirementLimits, physics: Option<&Physics>, mistakes: &mut Mistakes<'_>) -> Option<Retirement> {
    let seed = keys.seed.value.0?;
    let mut look = Looker::new("retirement_limits", mistakes);
    look.rising("pe", &keys.pe);
    look.count("errors_max", &keys.errors_max, keys.pe.value.0.len(), "one for each entry of retirement_limits.pe");
    if let Some(ecc) = physics.map(|physics| &physics.ecc)
        && let Some(wrong) = keys.errors_max.value.0.iter().find(|errors| f64::from(**errors) > ecc.correctable)
    {
        let what = format!("errors_max has {wrong}, and physics.ecc.correctable is {} bit: expected no more than that", ecc.correctable);
        look.tell(&keys.errors_max.origin, what);
    }
    look.in_order().then(|| Retirement {
        seed,
        pe: keys.pe.value.0.clone(),
        errors_max: keys.errors_max.value.0.clone(),
        kept: seconds(keys.kept.value),
        risk: keys.risk.value.fraction(),
    })
}

fn disturb(keys: &filled::Disturb, mistakes: &mut Mistakes<'_>) -> Option<Disturb> {
    let seed = keys.seed.value.0?;
    let mut look = Looker::new("disturb", mistakes);
    look.rising("pe", &keys.pe);
    for (key, list) in [("retry", &keys.retry), ("fails", &keys.fails)] {
        look.count(key, list, keys.pe.value.0.len(), "one for each entry of disturb.pe");
    }
    if !keys.searched.value.0.is_empty() {
        look.count("searched", &keys.searched, keys.pe.value.0.len(), "one for each entry of disturb.pe, or none");
    }
    look.in_order().then(|| Disturb {
        seed,
        pe: keys.pe.value.0.clone(),
        retry: keys.retry.value.0.clone(),
        fails: keys.fails.value.0.clone(),
        searched: keys.searched.value.0.clone(),
        kept: seconds(keys.kept.value),
        risk: keys.risk.value.fraction(),
    })
}

/// Classes and thresholds by one index of so many bins.
fn copies(look: &mut Looker<'_, '_>, names: [&str; 3], lists: [&Set<List<List<u32>>>; 3], bins: usize, columns: usize) -> CopyIndex {
    let [errors, thresholds, with_set] = lists;
    look.count(names[0], errors, bins, "one for each bin");
    let mut bounds = |list: &List<u32>| match list.0[..] {
        [best, median] if best <= median => [best, median],
        _ => {
            let what = format!("{} has {}: expected two bounds, that of the best class and that of the median one", names[0], list.write());
            look.tell(&errors.origin, what);
            [0; 2]
        }
    };
    let class_errors = errors.value.0.iter().map(&mut bounds).collect();
    let mut rows = |key: &str, list: &Set<List<List<u32>>>| {
        look.count(key, list, columns * Copyback::CLASSES, "one for each retention and class");
        for row in &list.value.0 {
            if row.0.len() != bins {
                look.tell(&list.origin, format!("{key} has a row of {} thresholds: expected {bins}, one for each bin", row.0.len()));
            }
            if let Some(wrong) = row.0.iter().find(|copies| **copies > COPIES_MOST) {
                look.tell(&list.origin, format!("{key} has {wrong} copies in a row: expected at most {COPIES_MOST}"));
            }
        }
        // A better class never copies less than a worse one, or a better block would be held back by its class.
        for (worse, better) in
            list.value.0.chunks(Copyback::CLASSES).flat_map(|classes| classes.windows(2).map(|pair| (&pair[1], &pair[0])))
        {
            if let Some((less, more)) = better.0.iter().zip(&worse.0).find(|(better, worse)| better < worse) {
                look.tell(
                    &list.origin,
                    format!("{key} gives a class {less} copies in a row and the next worse one {more}: expected no more"),
                );
            }
        }
        list.value.0.iter().map(|row| row.0.clone()).collect::<Vec<_>>()
    };
    CopyIndex { class_errors, thresholds: rows(names[1], thresholds), with_set: rows(names[2], with_set) }
}

fn copyback(keys: &filled::Copyback, shape: &Shape, mistakes: &mut Mistakes<'_>) -> Option<Copyback> {
    let seed = keys.seed.value.0?;
    let mut look = Looker::new("copyback", mistakes);
    look.rising("pe", &keys.pe);
    let retention = spans(&keys.retention);
    look.rising("retention", &retention);
    if keys.layers.value.0.is_empty() {
        look.tell(&keys.layers.origin, "layers is empty: expected at least the weakest h-layer".into());
    }
    look.below("layers", &keys.layers, shape.layers as usize, "an h-layer of the block");
    look.once("layers", &keys.layers);
    let set = offsets(&mut look, "set", &keys.set.value.0, &keys.set.origin, shape);
    let (bins, columns) = (keys.pe.value.0.len(), retention.value.0.len());
    let names = ["pe_errors", "pe_thresholds", "pe_with_set"];
    let by_pe = copies(&mut look, names, [&keys.pe_errors, &keys.pe_thresholds, &keys.pe_with_set], bins, columns);
    let names = ["age_errors", "age_thresholds", "age_with_set"];
    let lists = [&keys.age_errors, &keys.age_thresholds, &keys.age_with_set];
    // A table of P/E counts alone: nothing may be copied by age.
    let has_ages = lists.iter().any(|list| !list.value.0.is_empty());
    let by_age = if has_ages { copies(&mut look, names, lists, Copyback::AGES, columns) } else { CopyIndex::default() };
    look.in_order().then(|| Copyback {
        seed,
        pe: keys.pe.value.0.clone(),
        retention: retention.value.0,
        layers: keys.layers.value.0.clone(),
        set,
        by_age,
        by_pe,
        risk: keys.risk.value.fraction(),
    })
}

fn guard(keys: &filled::Guard, shape: &Shape, mistakes: &mut Mistakes<'_>) -> Option<Guard> {
    let seed = keys.seed.value.0?;
    let mut look = Looker::new("guard", mistakes);
    let layers = shape.layers as usize;
    look.count("order", &keys.order, layers, "each h-layer once");
    look.below("order", &keys.order, layers, "an h-layer of the block");
    look.once("order", &keys.order);
    look.count("relative", &keys.relative, layers, "one for each h-layer of a block");
    if let Some(wrong) = keys.relative.value.0.iter().find(|endurance| endurance.value() < 1.0) {
        look.tell(&keys.relative.origin, format!("relative has {}: expected at least 1, that of a block's weakest", wrong.write()));
    }
    let modes = keys.wordlines.value.0.len();
    look.count("share", &keys.share, modes, "one for each entry of guard.wordlines");
    look.count("endurance", &keys.endurance, modes, "one for each entry of guard.wordlines");
    look.below("wordlines", &keys.wordlines, shape.wordlines() as usize, "since some must hold data");
    if let Some(pair) = keys.endurance.value.0.windows(2).find(|pair| pair[0].value() > pair[1].value()) {
        let what = format!("endurance has {} after {}: expected what does not fall", pair[1].write(), pair[0].write());
        look.tell(&keys.endurance.origin, what);
    }
    let coefficient = keys.coefficient.value.value();
    if !(coefficient > 0.0 && coefficient <= 1.0) {
        look.tell(&keys.coefficient.origin, format!("coefficient is {coefficient}: expected more than 0, and 1 at most"));
    }
    let lists = keys.wordlines.value.0.iter().zip(&keys.share.value.0).zip(&keys.endurance.value.0);
    let mode = |((wordlines, share), endurance): ((&u32, &crate::kind::Share), &crate::kind::Number)| GuardMode {
        wordlines: *wordlines,
        share: share.fraction(),
        endurance: endurance.value(),
    };
    look.in_order().then(|| Guard {
        seed,
        order: keys.order.value.0.clone(),
        relative: keys.relative.value.0.iter().map(|endurance| endurance.value()).collect(),
        modes: lists.map(mode).collect(),
        coefficient,
    })
}
