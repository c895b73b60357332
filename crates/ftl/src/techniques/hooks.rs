//! What a technique can subscribe to: kinds of news, and questions.

/// One kind of news, or one question. A technique is told and asked only what its [`Card::hooks`](super::seam::Card::hooks) name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hook {
    /// News: a page was read.
    Read,
    /// News: a program has ended.
    Programmed,
    /// News: a block group was erased, or put on other blocks.
    Erased,
    /// News: a copyback has ended.
    Copied,
    /// News: a block group begins to be written.
    Opened,
    /// News: a block group takes no more data.
    Closed,
    /// News: a block group is going to be emptied.
    VictimChosen,
    /// News: valid data lies elsewhere.
    Moved,
    /// News: a block group has left its blocks.
    Retired,
    /// News: valid data could not be read to be moved.
    DataLost,
    /// News: the instant that [`Technique::wake_at`](super::seam::Technique::wake_at) named has come.
    Timer,
    /// News: a die has been idle for as long as [`Technique::idle_after`](super::seam::Technique::idle_after) says.
    Idle,
    /// Question: what work is to be done.
    Work,
    /// Question: whether a piece of work may start now.
    MayWork,
    /// Question: whether a program or erase gives way to a waiting read.
    Stop,
    /// Question: whether reads go on being served while something is suspended.
    Hold,
    /// Question: how a whole program unit is moved.
    Way,
    /// Question: what is done about stale secrets.
    Sanitise,
    /// Question: which key store is needed.
    KeyStore,
    /// Question: how a program unit is programmed.
    ProgramSettings,
    /// Question: whether what has been programmed is relied on.
    Distrusts,
    /// Question: what outlasts a power cut.
    Remember,
    /// Question: where in the read-retry table a read begins.
    ReadEntry,
}

impl Hook {
    /// All of them, in the order of their numbers.
    pub const ALL: [Hook; 23] = [
        Hook::Read,
        Hook::Programmed,
        Hook::Erased,
        Hook::Copied,
        Hook::Opened,
        Hook::Closed,
        Hook::VictimChosen,
        Hook::Moved,
        Hook::Retired,
        Hook::DataLost,
        Hook::Timer,
        Hook::Idle,
        Hook::Work,
        Hook::MayWork,
        Hook::Stop,
        Hook::Hold,
        Hook::Way,
        Hook::Sanitise,
        Hook::KeyStore,
        Hook::ProgramSettings,
        Hook::Distrusts,
        Hook::Remember,
        Hook::ReadEntry,
    ];

    /// The word for it on cards.
    pub fn name(self) -> &'static str {
        match self {
            Hook::Read => "read",
            Hook::Programmed => "programmed",
            Hook::Erased => "erased",
            Hook::Copied => "copied",
            Hook::Opened => "opened",
            Hook::Closed => "closed",
            Hook::VictimChosen => "victim_chosen",
            Hook::Moved => "moved",
            Hook::Retired => "retired",
            Hook::DataLost => "data_lost",
            Hook::Timer => "timer",
            Hook::Idle => "idle",
            Hook::Work => "work",
            Hook::MayWork => "may_work",
            Hook::Stop => "stop",
            Hook::Hold => "hold",
            Hook::Way => "way",
            Hook::Sanitise => "sanitise",
            Hook::KeyStore => "key_store",
            Hook::ProgramSettings => "program_settings",
            Hook::Distrusts => "distrusts",
            Hook::Remember => "remember",
            Hook::ReadEntry => "read_entry",
        }
    }

    /// Whether it is a kind of news, and not a question.
    pub const fn is_news(self) -> bool {
        (self as u8) < (Hook::Work as u8)
    }
}

/// A set of hooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hooks(u64);

impl Hooks {
    /// The set of no hook.
    pub const NONE: Hooks = Hooks(0);

    /// The set of these hooks.
    pub const fn of(hooks: &[Hook]) -> Hooks {
        let (mut bits, mut at) = (0, 0);
        while at < hooks.len() {
            bits |= 1 << hooks[at] as u8;
            at += 1;
        }
        Hooks(bits)
    }

    /// The set of every hook.
    pub const fn all() -> Hooks {
        Hooks::of(&Hook::ALL)
    }

    /// Whether `hook` is in the set.
    #[inline]
    pub const fn has(self, hook: Hook) -> bool {
        self.0 >> hook as u8 & 1 == 1
    }

    /// Whether the two sets have a hook in common.
    pub const fn meets(self, other: Hooks) -> bool {
        self.0 & other.0 != 0
    }

    /// The hooks of either set.
    #[must_use]
    pub const fn with(self, other: Hooks) -> Hooks {
        Hooks(self.0 | other.0)
    }

    /// The set without `hook`.
    #[must_use]
    pub const fn without(self, hook: Hook) -> Hooks {
        Hooks(self.0 & !(1 << hook as u8))
    }

    /// The hooks of the set, in the order of [`Hook::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Hook> {
        Hook::ALL.into_iter().filter(move |&hook| self.has(hook))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_all_hooks_has_each_at_its_number() {
        for (number, hook) in Hook::ALL.into_iter().enumerate() {
            assert_eq!(hook as usize, number, "{hook:?}");
        }
        let mut names: Vec<_> = Hook::ALL.map(Hook::name).to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Hook::ALL.len());
    }

    #[test]
    fn a_set_has_what_was_put_into_it() {
        let set = Hooks::of(&[Hook::Read, Hook::ReadEntry]);
        assert_eq!(set.iter().collect::<Vec<_>>(), [Hook::Read, Hook::ReadEntry]);
        assert!(set.meets(Hooks::of(&[Hook::Read])) && !set.meets(Hooks::of(&[Hook::Work])));
        assert_eq!(set.without(Hook::Read).with(Hooks::of(&[Hook::Work])), Hooks::of(&[Hook::Work, Hook::ReadEntry]));
        assert!(Hook::Idle.is_news() && !Hook::Work.is_news());
        assert_eq!(Hooks::all().iter().count(), Hook::ALL.len());
    }
}
