//! Does a technique keep to what the seam asks of every technique, whatever it is for?
//!
//! One by itself, on the tables of an empty core, under random news and questions. Checks:
//!
//! - it answers nothing, and learns nothing from news, that its card's hooks do not name;
//! - its programs are set only where its card asks for that;
//! - a technique that stops programs or sanitises asks for one program at a time;
//! - it would not try a read in a way that has been tried;
//! - to answer changes nothing, and the same question has the same answer twice;
//! - what it has learnt is the same after [`Technique::image`] and [`Technique::restore`], and so are its answers;
//! - after a power cut from which no memo has come back it proposes nothing that it would not propose with all of them, and caps what it would cap;
//! - an idle wait is some time, an instant to be woken at is later than the one at which it was woken, and work is for groups and dies that there are.
//!
//! Does not check: whether it is any good; what it does together with others (`tests/suite/composition.rs`).

use wordline_flash::{EraseTrace, Failed, ProgramScope, ProgramSettings, ProgramTrace, ReadTry, Sheet, Status, Stop, Tally};
use wordline_ftl::techniques::declaration::{Declaration, Param, Value};
use wordline_ftl::techniques::empty::EmptyCore;
use wordline_ftl::techniques::hooks::Hook;
use wordline_ftl::techniques::say::{Say, Says, Scale, Urgency, Way};
use wordline_ftl::techniques::seam::{
    Ask, Busy, Conflict, Copy, CopyReport, Ctx, EraseReport, Fit, FlashPage, Held, IdleWordlines, Kept, Leap, Memo, Moving, News, Place,
    ProgramReport, ProgramUnit, ReadReport, StaleSecrets, StopReport, Technique,
};
use wordline_ftl::techniques::work::{NEVER, Waiting, Work, WorkKind};
use wordline_ftl::techniques::{Choice, DECLARATIONS};
use wordline_ftl::{BlockGroup, Layout};
use wordline_units::random::{Draw, Stream};
use wordline_units::{Bytes, Cause, DieId, FlashOp, Nanos, PageId, PlaneId, Priority, Seconds};

/// What is heard and asked in one trial.
const STEPS: u32 = 400;

/// Every technique that there is, with the values of its parameters that are worth trying and those at the ends of what they can be.
pub fn every_choice() -> Vec<Choice> {
    let of = |declaration: &&Declaration| {
        let all = |value: &dyn Fn(&Param) -> Value| {
            let values: Vec<Value> = declaration.params.iter().map(value).collect();
            Choice::of(declaration.card.name, &values).expect("what is declared makes a choice")
        };
        let usual = |param: &Param| param.default.or(param.tried.first().copied()).expect("a default, or a value to try");
        let mut choices = vec![all(&usual), all(&|param| param.kind.ends()[0]), all(&|param| param.kind.ends()[1])];
        choices.dedup();
        choices
    };
    DECLARATIONS.iter().flat_map(of).collect()
}

/// The core that trials are on: two dies of two planes, and wordlines that are programmed at once.
pub fn core() -> (Layout, Sheet) {
    let mut sheet = crate::shape::sheet(8, 24);
    sheet.geometry.planes = 2;
    sheet.capabilities.program_scope = ProgramScope::Wordline;
    (Layout::new(&sheet, 2, 6, Bytes::kib(16)), sheet)
}

/// All that a technique answers at one instant, so that two of them can be held against each other.
#[derive(Clone, Debug, PartialEq)]
struct Answers(Vec<(Hook, String)>);

/// One trial of the technique that `make` gives, by `seed`. An error says what it does not keep to.
pub fn check(make: &dyn Fn() -> Box<dyn Technique>, seed: u64) -> Result<(), String> {
    let (layout, _) = core();
    let tables = EmptyCore::new(layout);
    let mut draw = Draw::new(seed, Stream::Mix, 77);
    let mut technique = make();
    let (card, mut now) = (technique.card(), Nanos::ZERO);
    let named = |what: String| format!("{}, seed {seed}: {what}", card.name);
    if technique.idle_after() == Some(Nanos::ZERO) {
        return Err(named("an idle wait of no time".to_owned()));
    }
    let mut memos: Vec<Memo> = Vec::new();
    for _ in 0..STEPS {
        now += Nanos(1 + draw.below(1_000_000));
        let ctx = tables.ctx(now);
        let news = draw_news(&mut draw, &layout);
        let is_heard = card.hooks.has(news.hook());
        let before = technique.image();
        // The core tells only news that the hooks name. That others teach it nothing shows that none is missing.
        technique.learn(&ctx, &news);
        if !is_heard && technique.image() != before {
            return Err(named(format!("it learns from {:?}, which its hooks do not name", news.hook())));
        }
        if matches!(news, News::Timer) && card.hooks.has(Hook::Timer) && technique.wake_at().is_some_and(|at| at <= now) {
            return Err(named("woken at an instant, it wants to be woken at one that has passed".to_owned()));
        }
        let (learnt, asked_by) = (technique.image(), draw.below(u64::MAX));
        let answers = ask_all(technique.as_ref(), &ctx, &layout, &news, asked_by).map_err(&named)?;
        if let Some((hook, answer)) = answers.0.iter().find(|(hook, _)| !card.hooks.has(*hook)) {
            return Err(named(format!("it answers {}, which its hooks do not name: {answer}", hook.name())));
        }
        if ask_all(technique.as_ref(), &ctx, &layout, &news, asked_by).map_err(&named)? != answers || technique.image() != learnt {
            return Err(named("to answer has changed something".to_owned()));
        }
        let mut restored = make();
        if !restored.restore(&learnt) || restored.image() != learnt {
            return Err(named("it does not know again what its image says".to_owned()));
        }
        if ask_all(restored.as_ref(), &ctx, &layout, &news, asked_by).map_err(&named)? != answers {
            return Err(named("it answers otherwise after it was restored".to_owned()));
        }
        if is_heard && card.hooks.has(Hook::Remember) {
            memos.extend(technique.remember(&ctx, &news));
        }
    }
    let before = technique.image();
    let none = vec![0; layout.group_count()];
    technique.leap(&Leap { times: 0, cycles: &none, erases: &none });
    if technique.image() != before {
        return Err(named("a leap of nothing has taught it something".to_owned()));
    }
    is_no_bolder_without_memos(make, &tables, now, &memos, &mut draw).map_err(named)
}

fn is_no_bolder_without_memos(
    make: &dyn Fn() -> Box<dyn Technique>,
    tables: &EmptyCore,
    now: Nanos,
    memos: &[Memo],
    draw: &mut Draw,
) -> Result<(), String> {
    let (layout, _) = core();
    let mut newest: std::collections::BTreeMap<(BlockGroup, u8), u32> = std::collections::BTreeMap::new();
    for memo in memos {
        let value = newest.entry((memo.group, memo.slot)).or_insert(0);
        *value = memo.value.max(*value);
    }
    let memos: Vec<Memo> = newest.into_iter().map(|((group, slot), value)| Memo { group, slot, value }).collect();
    let [mut with, mut without] = [make(), make()];
    with.recover(tables.groups(), &memos);
    without.recover(tables.groups(), &[]);
    let ctx = tables.ctx(now);
    for _ in 0..STEPS {
        let copy = draw_copy(draw, &layout);
        let conflict = draw_conflict(draw, &layout);
        let is_bolder =
            bolder(without.way(&ctx, &copy), with.way(&ctx, &copy)) || bolder(without.stop(&ctx, &conflict), with.stop(&ctx, &conflict));
        if is_bolder {
            return Err(format!("without its memos it dares more than with {} of them", memos.len()));
        }
    }
    Ok(())
}

/// Whether `one` goes further than `other`: a greater proposal, or a cap that is higher or missing.
fn bolder<T: Scale>(one: Says<T>, other: Says<T>) -> bool {
    let proposed = |says: &Says<T>| {
        says.iter().filter_map(|say| if let Say::Propose(far) = say { Some(*far) } else { None }).max().unwrap_or(T::LEAST)
    };
    let cap =
        |says: &Says<T>| says.iter().filter_map(|say| if let Say::AtMost(far) = say { Some(*far) } else { None }).min().unwrap_or(T::MOST);
    proposed(&one) > proposed(&other) || cap(&one) > cap(&other)
}

/// Questions to a technique, and its answers that are not the neutral ones.
struct Asking<'a, 'c> {
    technique: &'a dyn Technique,
    ctx: &'a Ctx<'c>,
    layout: &'a Layout,
    answers: Vec<(Hook, String)>,
}

impl Asking<'_, '_> {
    fn note(&mut self, hook: Hook, is_neutral: bool, answer: String) {
        if !is_neutral {
            self.answers.push((hook, answer));
        }
    }

    /// Asks for work, and for memos of the news.
    fn news(&mut self, news: &News) -> Result<(), String> {
        let Asking { technique, ctx, layout, .. } = *self;
        let work = technique.work(ctx, news);
        if let Some(work) = work {
            let is_there = match work.kind {
                WorkKind::Rewrite(group) => group.index() < layout.group_count(),
                WorkKind::Measure { at, .. } => at.group.index() < layout.group_count() && u32::from(at.plane.0) < layout.planes,
                WorkKind::Collect(die) => u32::from(die.0) < layout.dies,
            };
            if !is_there {
                return Err(format!("it wants work done where nothing is: {work:?}"));
            }
        }
        // Work is asked for because of news that has been heard.
        let heard = technique.card().hooks.has(news.hook());
        self.note(Hook::Work, work.is_none() || !heard, format!("{work:?}"));
        let memo = technique.remember(ctx, news);
        if memo.is_some_and(|memo| memo.slot >= Memo::SLOTS) {
            return Err(format!("it remembers in a slot that is not there: {memo:?}"));
        }
        self.note(Hook::Remember, memo.is_none() || !heard, format!("{memo:?}"));
        Ok(())
    }

    /// Asks about reads: their errors, and the next rung of one that failed.
    fn reads(&mut self, draw: &mut Draw) -> Result<(), String> {
        let Asking { technique, ctx, layout, .. } = *self;
        let estimate = technique.estimate(ctx, draw_page(draw, layout));
        self.note(Hook::Estimate, estimate.is_err(), format!("{estimate:?}"));
        let (at, tried) = (draw_page(draw, layout), draw_tries(draw));
        let rung = technique.rung(ctx, at, &Failed { tried: &tried, errors: 70 + draw.below(200) as u32 });
        if let Some(rung) = rung
            && tried.contains(&rung.next)
        {
            return Err(format!("it would try {:?} twice, after {tried:?}", rung.next));
        }
        self.note(Hook::Rung, rung.is_none(), format!("{rung:?}"));
        Ok(())
    }

    /// Asks about copies: their way, and where their data fits.
    fn copies(&mut self, draw: &mut Draw) -> Result<(), String> {
        let Asking { technique, ctx, layout, .. } = *self;
        let copy = draw_copy(draw, layout);
        let way: Says<Way> = technique.way(ctx, &copy);
        self.note(Hook::Way, says_nothing(&way), format!("{way:?}"));
        let data = draw_data(draw, layout);
        let place = Place { group: draw_group(draw, layout), is_open: draw.happens(0.5) };
        let fit = technique.fit(ctx, &data, &place);
        if !place.is_open && !technique.tells_free_apart() {
            // The first group stands for all of them, whatever the draw was.
            let first = technique.fit(ctx, &data, &Place { group: BlockGroup(0), ..place });
            if first != fit {
                return Err(format!("it tells free groups apart: {first:?}, and {fit:?} of {:?}", place.group));
            }
        }
        if fit == Fit::Never && data.way == Way::Bus {
            return Err(format!("it lets data of the bus go nowhere: {data:?}"));
        }
        self.note(Hook::Fit, fit == Fit::Exact, format!("{fit:?}"));
        Ok(())
    }
}

/// Ask every question once; the answers that are not the neutral ones. What is asked is drawn by `by`.
fn ask_all(technique: &dyn Technique, ctx: &Ctx<'_>, layout: &Layout, news: &News, by: u64) -> Result<Answers, String> {
    let draw = &mut Draw::new(by, Stream::Mix, 78);
    let mut asking = Asking { technique, ctx, layout, answers: Vec::new() };
    asking.news(news)?;
    let exposed = StaleSecrets {
        group: draw_group(draw, layout),
        pages: 1 + draw.below(9) as u32,
        valid: draw.below(9) as u32,
        is_full: draw.happens(0.5),
        has_failed: draw.happens(0.2),
    };
    let method = technique.sanitise(ctx, &exposed);
    asking.note(Hook::Sanitise, method.is_none(), format!("{method:?}"));
    let store = technique.key_store();
    asking.note(Hook::KeyStore, store.is_none(), format!("{store:?}"));
    let at = draw_unit(draw, layout);
    let settings = technique.program_settings(ctx, &at);
    if settings.is_some() && !technique.card().asks.contains(&Ask::Programs) {
        return Err("it sets programs, which its card does not ask for".to_owned());
    }
    asking.note(Hook::ProgramSettings, settings.is_none_or(|settings| settings == ProgramSettings::DEFAULT), format!("{settings:?}"));
    let report = draw_program(draw, layout);
    let distrusts = technique.distrusts(ctx, &report);
    asking.note(Hook::Distrusts, !distrusts, format!("{distrusts}"));
    let group = draw_group(draw, layout);
    let wear = technique.wear_of(ctx, group);
    asking.note(Hook::WearOf, wear.is_err(), format!("{wear:?} of {group:?}"));
    asking.reads(draw)?;
    asking.copies(draw)?;
    let conflict = draw_conflict(draw, layout);
    let busy = conflict.busy;
    let stop = technique.stop(ctx, &conflict);
    asking.note(Hook::Stop, says_nothing(&stop), format!("{stop:?}"));
    let served = std::array::from_fn(|_| draw.below(3) as u16);
    let hold = technique.hold(ctx, &Held { busy, served, next: draw_priority(draw), is_out_of_groups: draw.happens(0.2) });
    asking.note(Hook::Hold, says_nothing(&hold), format!("{hold:?}"));
    let other = Work { kind: WorkKind::Rewrite(draw_group(draw, layout)), cause: Cause::Disturb, due: NEVER };
    let start = technique.may_work(ctx, &other, &Waiting { since: Nanos::ZERO, reads: None });
    asking.note(Hook::MayWork, says_nothing(&start), format!("{start:?}"));
    let idle = technique.idle_after();
    asking.note(Hook::Idle, idle.is_none(), format!("{idle:?}"));
    let wake = technique.wake_at();
    asking.note(Hook::Timer, wake.is_none(), format!("{wake:?}"));
    let (group, asks) = (draw_group(draw, layout), |ask: &Ask| matches!(ask, Ask::Spared(_)));
    let spared = technique.erase_settings(ctx, group).filter(|settings| *settings != IdleWordlines::default());
    if spared.is_some() && !technique.card().asks.iter().any(asks) {
        return Err("it has wordlines spared, which its card does not ask for".to_owned());
    }
    asking.note(Hook::EraseSettings, spared.is_none(), format!("{spared:?}"));
    let acts = stop.iter().any(|say| matches!(say, Say::Propose(urgency) if *urgency != Urgency::LEAST));
    if (acts || method.is_some()) && !technique.card().asks.contains(&Ask::OneProgram) {
        return Err("it stops programs or sanitises, and its card does not ask for one program at a time".to_owned());
    }
    Ok(Answers(asking.answers))
}

fn says_nothing<T: PartialEq>(says: &Says<T>) -> bool {
    says.iter().all(|say| *say == Say::Abstain)
}

fn draw_news(draw: &mut Draw, layout: &Layout) -> News {
    let group = draw_group(draw, layout);
    match draw.below(16) {
        0..=2 => {
            let (retries, last) = (draw.below(4) as u32, ReadTry::vendor(draw.below(8) as u8));
            let status = if draw.happens(0.9) { Status::Good } else { Status::Uncorrectable };
            let at = draw_page(draw, layout);
            let tally = draw.happens(0.3).then(|| Tally { bits: draw.below(300) as u32, codewords: 16 });
            News::Read(ReadReport {
                at,
                cause: if tally.is_some() { Cause::Measure } else { Cause::Host },
                status,
                retries,
                last,
                worst: draw.below(70) as u32,
                tally,
                array: Nanos::from_micros(70),
                times: 1,
            })
        }
        3 | 4 => News::Programmed(draw_program(draw, layout)),
        5 => {
            let status = if draw.happens(0.9) { Status::Good } else { Status::Failed };
            News::Erased(EraseReport {
                group,
                status,
                loops: 3,
                array: Nanos::from_millis(3),
                trace: draw.happens(0.7).then(|| EraseTrace { loops: 3, part: draw.below(256) as u8, stops: 0 }),
                rest: draw.happens(0.7).then(|| Kept { effective: Seconds(draw.below(20_000)), is_least: draw.happens(0.1) }),
                has_left: status != Status::Good,
            })
        }
        6 => {
            let [from, to] = [draw_unit(draw, layout), draw_unit(draw, layout)];
            News::Copied(CopyReport { from, to, status: Status::Good, copies: None, array: Nanos::from_micros(700) })
        }
        7 => News::Opened { group, moved: draw.happens(0.5) },
        8 => News::Closed { group },
        9 => News::VictimChosen { victim: group, why: Cause::Gc },
        10 => News::Moved { from: group, to: draw_unit(draw, layout), units: 1 + draw.below(9) as u16, way: Way::Bus },
        11 => News::Retired { group },
        14 => News::Stopped(draw_stop(draw, layout)),
        15 => News::Unmeasured { at: draw_page(draw, layout) },
        12 if draw.happens(0.9) => News::DataLost { at: draw_page(draw, layout), units: 1 },
        12 => News::DieFailed { die: DieId(draw.below(u64::from(layout.dies)) as u16) },
        _ if draw.happens(0.5) => News::Timer,
        _ => News::Idle {
            die: DieId(draw.below(u64::from(layout.dies)) as u16),
            idle: Nanos(draw.below(9_000_000)),
            free: draw.below(9) as u32,
        },
    }
}

/// What a read has tried, each once: entries of the vendor's table, from some on.
fn draw_tries(draw: &mut Draw) -> Vec<ReadTry> {
    let (first, tries) = (draw.below(8) as u8, 1 + draw.below(7) as u8);
    (0..tries).map(|step| ReadTry::vendor((first + step) % 8)).collect()
}

fn draw_group(draw: &mut Draw, layout: &Layout) -> BlockGroup {
    BlockGroup(draw.below(layout.group_count() as u64) as u32)
}

fn draw_page(draw: &mut Draw, layout: &Layout) -> FlashPage {
    let pages = layout.programs * layout.pages_per_program;
    FlashPage {
        group: draw_group(draw, layout),
        plane: PlaneId(draw.below(u64::from(layout.planes)) as u8),
        page: PageId(draw.below(u64::from(pages)) as u16),
    }
}

/// Data that looks for a place: the host's, gathered, or copied back.
fn draw_data(draw: &mut Draw, layout: &Layout) -> Moving {
    let from = draw_group(draw, layout);
    match draw.below(3) {
        0 => Moving { from: None, way: Way::Bus, cause: Cause::Host },
        1 => Moving { from: Some(from), way: Way::Bus, cause: Cause::Gc },
        _ => Moving { from: Some(from), way: Way::Copyback, cause: Cause::Gc },
    }
}

fn draw_unit(draw: &mut Draw, layout: &Layout) -> ProgramUnit {
    ProgramUnit::new(layout, draw_group(draw, layout), draw.below(u64::from(layout.programs)) as u32)
}

fn draw_program(draw: &mut Draw, layout: &Layout) -> ProgramReport {
    let first = core::array::from_fn(|state| 1 + state as u8 + draw.below(2) as u8);
    let trace =
        ProgramTrace { first, last: first.map(|pulse| pulse + 1), low_errors: draw.below(60) as u32, errors: draw.below(200) as u32 };
    let status = if draw.happens(0.9) { Status::Good } else { Status::Failed };
    ProgramReport {
        at: draw_unit(draw, layout),
        status,
        loops: 9,
        array: Nanos::from_micros(700),
        trace: draw.happens(0.8).then_some(trace),
    }
}

fn draw_copy(draw: &mut Draw, layout: &Layout) -> Copy {
    Copy { from: draw_unit(draw, layout), to: draw.happens(0.9).then(|| draw_group(draw, layout)), why: Cause::Gc }
}

fn draw_conflict(draw: &mut Draw, layout: &Layout) -> Conflict {
    Conflict { busy: draw_busy(draw, layout), waiting: draw_priority(draw), is_out_of_groups: draw.happens(0.2) }
}

fn draw_busy(draw: &mut Draw, layout: &Layout) -> Busy {
    let group = draw_group(draw, layout);
    let kind = [FlashOp::Program, FlashOp::Erase, FlashOp::Copyback, FlashOp::Read][draw.below(4) as usize];
    let reader = (kind == FlashOp::Read).then(|| draw_priority(draw));
    let stops_now = std::array::from_fn(|_| draw.below(40) as u16);
    let served = std::array::from_fn(|_| draw.below(40) as u16);
    let (stops, steps) = (draw.below(200) as u16, draw.below(40) as u16);
    Busy { die: layout.die(group), kind, reader, cause: Cause::Host, group, stops, stops_now, served, steps }
}

fn draw_stop(draw: &mut Draw, layout: &Layout) -> StopReport {
    let how = if draw.happens(0.5) { Stop::Now } else { Stop::AtStep };
    StopReport { busy: draw_busy(draw, layout), how, waited: Nanos(draw.below(117_000)) }
}

fn draw_priority(draw: &mut Draw) -> Priority {
    Priority::ALL[draw.below(Priority::ALL.len() as u64) as usize]
}
