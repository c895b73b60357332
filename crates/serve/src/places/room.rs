//! Who has to go: judged by what is seen of those who have places, and by nothing else.

use std::time::Duration;

use wordline_live::doors::{Standing, to_go};

/// How many places there are, and how long they are kept for whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) guests: usize,
    pub(crate) strangers: usize,
    /// For all of the negotiation.
    pub(crate) negotiation: Duration,
    /// A guest that has been silent for less keeps its place.
    pub(crate) idle: Duration,
}

/// What is seen of one who has a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) is_guest: bool,
    /// It has been hung up on.
    pub(super) is_out: bool,
    /// Since it came.
    pub(super) here: Duration,
    /// Since it was heard last; `None`: something that it asked for, or is owed, is under way.
    pub(super) silent: Option<Duration>,
    /// Where it is from, and how far its negotiation has come.
    pub(super) standing: Standing,
}

impl Seen {
    fn is_stranger(&self) -> bool {
        !self.is_guest && !self.is_out
    }
}

/// Whether there is a place for one more guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    Free,
    /// Once this one has gone.
    InsteadOf(usize),
    Refused,
}

impl Room {
    /// The strangers that go for another one, of `all`, who stand in the order in which they came.
    pub(super) fn for_stranger(&self, all: &[Seen]) -> Vec<usize> {
        let mut strangers: Vec<usize> = (0..all.len()).filter(|&at| all[at].is_stranger()).collect();
        let mut go = Vec::new();
        while strangers.len() >= self.strangers.max(1) {
            let standings: Vec<Standing> = strangers.iter().map(|&at| all[at].standing).collect();
            let Some(first) = to_go(&standings, self.strangers) else { break };
            go.push(strangers.remove(first));
        }
        go
    }

    /// Whether one of `all` who is no guest may be one.
    pub(super) fn for_guest(&self, all: &[Seen]) -> Admission {
        if all.iter().filter(|seen| seen.is_guest).count() < self.guests {
            return Admission::Free;
        }
        // The one that has been silent for longest, if that has been long enough, and nothing of it is under way.
        let idle = all.iter().enumerate().filter(|(_, seen)| seen.is_guest && !seen.is_out);
        let idle = idle.filter_map(|(at, seen)| Some((seen.silent?, at))).filter(|(silent, _)| *silent >= self.idle);
        idle.max_by_key(|(silent, _)| *silent).map_or(Admission::Refused, |(_, at)| Admission::InsteadOf(at))
    }

    /// The strangers whose time is over, and how long it is until the next one's is.
    pub(super) fn overdue(&self, all: &[Seen]) -> (Vec<usize>, Option<Duration>) {
        let strangers = || all.iter().enumerate().filter(|(_, seen)| seen.is_stranger());
        let over = strangers().filter(|(_, seen)| seen.here >= self.negotiation).map(|(at, _)| at).collect();
        let left = strangers().map(|(_, seen)| self.negotiation.saturating_sub(seen.here)).filter(|left| !left.is_zero());
        (over, left.min())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_units::random::{Draw, Stream};

    const NOTHING_SAID: Standing = Standing { origin: super::super::Origin::LOCAL, said: 0 };
    const ROOM: Room = Room { guests: 4, strangers: 4, negotiation: Duration::from_secs(30), idle: Duration::from_secs(60) };

    /// What is wrong with what the room is told, or with what is done about what it says.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Bug {
        /// Every byte of a stranger begins its time anew.
        DeadlineOff,
        /// Who has not shown who it is counts with those who have.
        CountedTogether,
        /// The one that has just come goes, and not the oldest stranger.
        OldestStays,
        /// However long a guest has been silent, it is taken for busy.
        IdleStays,
    }

    const BUGS: [Bug; 4] = [Bug::DeadlineOff, Bug::CountedTogether, Bug::OldestStays, Bug::IdleStays];

    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Kind {
        /// Says a byte of its negotiation every second, and never comes to its end.
        Trickling,
        /// Shows who it is after a second.
        Honest,
    }

    struct Person {
        kind: Kind,
        came: u64,
        heard: u64,
        is_guest: bool,
        /// Once it is a guest: speaks every second.
        talks: bool,
    }

    /// A door in time of its own, in seconds.
    struct World {
        bug: Option<Bug>,
        now: u64,
        people: Vec<Person>,
        /// Honest ones that came, were let in, and were not because all places were those of others who speak.
        counts: [u64; 3],
    }

    impl World {
        fn seen(&self) -> Vec<Seen> {
            let see = |person: &Person| {
                let begun = if self.bug == Some(Bug::DeadlineOff) { person.heard } else { person.came };
                Seen {
                    is_guest: person.is_guest || self.bug == Some(Bug::CountedTogether),
                    is_out: false,
                    here: Duration::from_secs(self.now - begun),
                    silent: (self.bug != Some(Bug::IdleStays)).then(|| Duration::from_secs(self.now - person.heard)),
                    standing: NOTHING_SAID,
                }
            };
            self.people.iter().map(see).collect()
        }

        /// Where somebody is kept out: whether that is right.
        fn keeps_out(&mut self, kind: Kind) -> Result<(), String> {
            let guests = || self.people.iter().filter(|person| person.is_guest);
            let (count, idle) = (guests().count(), guests().filter(|person| self.now - person.heard >= 60).count());
            if kind == Kind::Honest && (count < ROOM.guests || idle > 0) {
                return Err(format!("an honest one is kept out beside {count} guests, {idle} of them idle"));
            }
            self.counts[2] += u64::from(kind == Kind::Honest);
            Ok(())
        }

        fn comes(&mut self, kind: Kind) -> Result<(), String> {
            self.counts[0] += u64::from(kind == Kind::Honest);
            let seen = self.seen();
            let go = ROOM.for_stranger(&seen);
            let is_kept = self.bug == Some(Bug::OldestStays) && !go.is_empty();
            if is_kept || ROOM.for_guest(&seen) == Admission::Refused {
                return self.keeps_out(kind);
            }
            self.leave(&go)?;
            self.people.push(Person { kind, came: self.now, heard: self.now, is_guest: false, talks: false });
            Ok(())
        }

        fn leave(&mut self, go: &[usize]) -> Result<(), String> {
            for &at in go.iter().rev() {
                let person = self.people.remove(at);
                if person.is_guest && person.talks {
                    return Err("a guest that talks was hung up on".to_owned());
                }
            }
            Ok(())
        }

        /// A second goes by.
        fn second(&mut self, draw: &mut Draw) -> Result<(), String> {
            self.now += 1;
            let now = self.now;
            let says = |person: &&mut Person| person.talks || !person.is_guest;
            self.people.iter_mut().filter(says).for_each(|person| person.heard = now);
            // Those who came before this second show who they are.
            while let Some(at) = self.people.iter().position(|person| person.kind == Kind::Honest && !person.is_guest) {
                let admission = ROOM.for_guest(&self.seen());
                if admission == Admission::Refused {
                    self.keeps_out(Kind::Honest)?;
                    self.people.remove(at);
                    continue;
                }
                self.counts[1] += 1;
                let person = &mut self.people[at];
                (person.is_guest, person.talks) = (true, draw.below(3) == 0);
                if let Admission::InsteadOf(at) = admission {
                    self.leave(&[at])?;
                }
            }
            let (over, _) = ROOM.overdue(&self.seen());
            self.leave(&over)?;
            if let Some(late) = self.people.iter().find(|person| !person.is_guest && now - person.came > 30) {
                return Err(format!("a stranger is there after {} s", now - late.came));
            }
            let guests = self.people.iter().filter(|person| person.is_guest).count();
            if guests > ROOM.guests || self.people.len() - guests > ROOM.strangers {
                return Err(format!("{guests} guests and {} strangers", self.people.len() - guests));
            }
            // A guest says goodbye now and then.
            if draw.below(40) == 0
                && let Some(at) = self.people.iter().position(|person| person.is_guest && person.talks)
            {
                self.people.remove(at);
            }
            Ok(())
        }
    }

    /// Ten minutes in which strangers come in bursts, trickle and stay, and now and then an honest one comes.
    fn trial(seed: u64, bug: Option<Bug>) -> Result<[u64; 3], String> {
        let mut draw = Draw::new(seed, Stream::Mix, 0);
        let mut world = World { bug, now: 0, people: Vec::new(), counts: [0; 3] };
        for _ in 0..600 {
            if draw.below(20) == 0 {
                for _ in 0..draw.below(10) {
                    world.comes(Kind::Trickling)?;
                }
            }
            if draw.below(20) == 0 {
                world.comes(Kind::Honest)?;
            }
            world.second(&mut draw)?;
        }
        Ok(world.counts)
    }

    #[test]
    fn strangers_and_silent_guests_keep_nobody_out() {
        let mut sums = [0; 3];
        for seed in 0..200 {
            let counts = trial(seed, None).unwrap_or_else(|problem| panic!("seed {seed}: {problem}"));
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        let [came, let_in, full] = sums;
        // Some had to go for ten others that came in the same second.
        assert!(came >= let_in + full && let_in > 1_000 && full > 10, "{sums:?}");
    }

    #[test]
    fn planted_bugs_are_caught() {
        let caught = BUGS.map(|bug| (bug, (0..50).find_map(|seed| trial(seed, Some(bug)).err().map(|problem| (seed, problem)))));
        println!("{caught:#?}");
        assert!(caught.iter().all(|(_, found)| found.is_some()), "bug, first seed that shows it, and how: {caught:?}");
    }

    #[test]
    fn the_next_deadline_is_the_oldest_strangers() {
        let seen =
            |is_guest, is_out, here| Seen { is_guest, is_out, here: Duration::from_secs(here), silent: None, standing: NOTHING_SAID };
        let all = [seen(true, false, 900), seen(false, true, 31), seen(false, false, 30), seen(false, false, 12), seen(false, false, 3)];
        assert_eq!(ROOM.overdue(&all), (vec![2], Some(Duration::from_secs(18))));
        assert_eq!(ROOM.overdue(&all[..2]), (Vec::new(), None));
        assert_eq!(ROOM.for_stranger(&all), [] as [usize; 0]);
        assert_eq!(ROOM.for_stranger(&[&all[..], &all[4..], &all[4..]].concat()), [2, 3]);
    }
}
