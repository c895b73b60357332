//! Strangers come at ten to ten thousand a second, and an honest client now and then: a door in time of its own, in tenths of a millisecond.

use std::collections::VecDeque;
use std::time::Duration;

use wordline_live::doors::{Origin, Standing, to_go};

use super::room::{Room, Seen};

const ROOM: Room = Room { guests: 16, strangers: 16, negotiation: Duration::from_secs(30), idle: Duration::from_secs(60) };

/// Those who may wait in the hall.
const HALL: usize = 256;
/// Bytes of a first message.
const FIRST: u64 = 20;
/// Messages of an honest negotiation, the first one included.
const MESSAGES: u64 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Silent,
    /// A byte every so many tenths of a millisecond, and never a message after the first bytes.
    Trickling(u64),
    /// A message every so many tenths of a millisecond.
    Honest(u64),
}

/// Bug planted in the door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    /// A client that comes has a thread at once, as it was once.
    NoHall,
    /// The client that has completed most messages goes first.
    MostSaidGoes,
    /// The client that comes last has to go.
    NewestGoes,
    /// Where somebody is from does not matter.
    NoShares,
}

#[derive(Clone, Copy, Debug)]
struct Person {
    kind: Kind,
    came: u64,
    origin: Origin,
}

impl Person {
    /// Messages after the first that it has said to their end by `now`.
    fn said(self, now: u64) -> u32 {
        match self.kind {
            Kind::Silent | Kind::Trickling(_) => 0,
            Kind::Honest(every) => (((now - self.came) / every).saturating_sub(1)) as u32,
        }
    }

    fn has_said_first(self, now: u64) -> bool {
        match self.kind {
            Kind::Silent => false,
            Kind::Trickling(every) => (now - self.came) / every >= FIRST,
            Kind::Honest(every) => now - self.came >= every,
        }
    }

    fn is_through(self, now: u64) -> bool {
        self.said(now) >= MESSAGES as u32 - 1
    }
}

#[derive(Default)]
struct Door {
    hall: VecDeque<Person>,
    room: Vec<Person>,
    /// Honest ones that came, and that are through.
    came: u32,
    through: u32,
}

impl Door {
    fn standings(&self, people: impl Iterator<Item = Person>, now: u64, bug: Option<Bug>) -> Vec<Standing> {
        let origin = |person: Person| if bug == Some(Bug::NoShares) { Origin::LOCAL } else { person.origin };
        let said = |person: Person| if bug == Some(Bug::MostSaidGoes) { 9 - person.said(now).min(9) } else { person.said(now) };
        people.map(|person| Standing { origin: origin(person), said: said(person) }).collect()
    }

    fn comes(&mut self, person: Person, now: u64, bug: Option<Bug>) {
        self.came += u32::from(matches!(person.kind, Kind::Honest(_)));
        if bug == Some(Bug::NoHall) {
            return self.enters(person, now, bug);
        }
        if self.hall.len() >= HALL {
            if bug == Some(Bug::NewestGoes) {
                return;
            }
            let all: Vec<Standing> =
                self.standings(self.hall.iter().copied(), person.came, bug).into_iter().map(|s| Standing { said: 0, ..s }).collect();
            self.hall.remove(to_go(&all, HALL).expect("it is full"));
        }
        self.hall.push_back(person);
    }

    fn enters(&mut self, person: Person, now: u64, bug: Option<Bug>) {
        let see = |standing| Seen { is_guest: false, is_out: false, here: Duration::ZERO, silent: None, standing };
        let seen: Vec<Seen> = self.standings(self.room.iter().copied(), now, bug).into_iter().map(see).collect();
        for at in ROOM.for_stranger(&seen) {
            self.room.remove(at);
        }
        self.room.push(person);
    }

    fn step(&mut self, now: u64, bug: Option<Bug>) {
        let (spoke, rest): (Vec<Person>, Vec<Person>) = self.hall.drain(..).partition(|person| person.has_said_first(now));
        self.hall.extend(rest);
        spoke.into_iter().for_each(|person| self.enters(person, now, bug));
        let before = self.room.len();
        self.room.retain(|person| !person.is_through(now));
        self.through += (before - self.room.len()) as u32;
    }
}

/// Honest clients that came and that got through in three seconds, with so many strangers a second.
fn flood(stranger: Kind, rate: u64, honest: (Kind, Origin), bug: Option<Bug>) -> (u32, u32) {
    let mut door = Door::default();
    let mut owed = 0;
    for now in 0..33_000 {
        // Strangers come to the end, and honest ones are given the time that they need.
        owed += rate;
        while owed >= 10_000 {
            owed -= 10_000;
            door.comes(Person { kind: stranger, came: now, origin: Origin::of([192, 0, 2, 1].into()) }, now, bug);
        }
        if now % 500 == 250 && now < 30_000 {
            door.comes(Person { kind: honest.0, came: now, origin: honest.1 }, now, bug);
        }
        door.step(now, bug);
    }
    (door.came, door.through)
}

const RATES: [u64; 5] = [10, 100, 1_000, 3_000, 10_000];
const STRANGERS: [Kind; 4] = [Kind::Silent, Kind::Trickling(20), Kind::Trickling(500), Kind::Trickling(10_000)];

/// All floods of the table: the first in which somebody honest did not get through.
fn problem(bug: Option<Bug>) -> Option<String> {
    let [same, other] = [1, 2].map(|last| Origin::of([192, 0, 2, last].into()));
    // One of the same address takes 2 ms for a message; one of another address, far away, takes 80.
    for honest in [(Kind::Honest(20), same), (Kind::Honest(800), other)] {
        for stranger in STRANGERS {
            for rate in RATES {
                let (came, through) = flood(stranger, rate, honest, bug);
                if through < came {
                    return Some(format!("{through} of {came} {honest:?} got through {rate}/s {stranger:?}"));
                }
                assert_eq!(came, 60);
            }
        }
    }
    None
}

#[test]
fn whoever_is_honest_gets_through_silent_and_trickling_strangers() {
    assert_eq!(problem(None), None);
}

#[test]
fn planted_bugs_are_caught() {
    let caught = [Bug::NoHall, Bug::MostSaidGoes, Bug::NewestGoes, Bug::NoShares].map(|bug| (bug, problem(Some(bug))));
    println!("{caught:#?}");
    assert!(caught.iter().all(|(_, found)| found.is_some()), "{caught:?}");
}
