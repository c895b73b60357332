//! Hooks: the kinds of news and the questions that a technique can subscribe to.

macro_rules! hooks {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// One kind of news, or one question. A technique is told and asked only what its [`Card::hooks`](super::seam::Card::hooks) name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Hook {
            $($(#[$doc])* $name,)*
        }

        impl Hook {
            /// All hooks, in the order of their numbers.
            pub const ALL: &[Hook] = &[$(Hook::$name),*];

            /// Word for the hook on cards.
            pub const fn name(self) -> &'static str {
                match self { $(Hook::$name => $word,)* }
            }
        }
    };
}

// News first, questions from `Work` on.
hooks! {
    /// News: a page was read.
    Read = "read",
    /// News: a program has ended.
    Programmed = "programmed",
    /// News: a block group was erased, or put on other blocks.
    Erased = "erased",
    /// News: a copyback has ended.
    Copied = "copied",
    /// News: a block group begins to be written.
    Opened = "opened",
    /// News: a block group takes no more data.
    Closed = "closed",
    /// News: a block group is going to be emptied.
    VictimChosen = "victim_chosen",
    /// News: valid data lies elsewhere.
    Moved = "moved",
    /// News: a block group has left its blocks.
    Retired = "retired",
    /// News: valid data could not be read to be moved.
    DataLost = "data_lost",
    /// News: a program or erase was suspended for a read.
    Stopped = "stopped",
    /// News: the instant that [`Technique::wake_at`](super::seam::Technique::wake_at) named has come.
    Timer = "timer",
    /// News: a die has been idle for as long as [`Technique::idle_after`](super::seam::Technique::idle_after) says.
    Idle = "idle",
    /// News: a die has failed.
    DieFailed = "die_failed",
    /// News: a page that was to be measured was not read.
    Unmeasured = "unmeasured",
    /// Question: what work is to be done.
    Work = "work",
    /// Question: whether a piece of work may start now.
    MayWork = "may_work",
    /// Question: whether a program or erase gives way to a waiting read.
    Stop = "stop",
    /// Question: whether reads go on being served while something is suspended.
    Hold = "hold",
    /// Question: how a whole program unit is moved.
    Way = "way",
    /// Question: how well a place suits data.
    Fit = "fit",
    /// Question: what is done about stale secrets.
    Sanitise = "sanitise",
    /// Question: which key store is needed.
    KeyStore = "key_store",
    /// Question: how a program unit is programmed.
    ProgramSettings = "program_settings",
    /// Question: whether what has been programmed is relied on.
    Distrusts = "distrusts",
    /// Question: what outlasts a power cut.
    Remember = "remember",
    /// Question: how worn a block group is.
    WearOf = "wear_of",
    /// Question: where a read begins, and how well that is known.
    Estimate = "estimate",
    /// Question: how a read that has failed is tried once more.
    Rung = "rung",
    /// Question: which wordlines the next erase of a block group spares.
    EraseSettings = "erase_settings",
}

impl Hook {
    /// Words for the occasion on which a technique is asked or told.
    pub const fn occasion(self) -> &'static str {
        match self {
            Hook::Read => "reads",
            Hook::Programmed => "programs",
            Hook::Erased => "erases",
            Hook::Copied => "copybacks",
            Hook::Opened => "block groups that are opened",
            Hook::Closed => "block groups that are closed",
            Hook::VictimChosen => "victims",
            Hook::Moved => "moved data",
            Hook::Retired => "block groups that retire",
            Hook::DataLost => "lost data",
            Hook::Stopped => "stops",
            Hook::Timer => "instants that it names",
            Hook::Idle => "dies that are idle for long enough",
            Hook::DieFailed => "failed dies",
            Hook::Unmeasured => "pages that are not measured",
            Hook::Work => "events that it goes by",
            Hook::MayWork => "work that may start",
            Hook::Stop => "reads that wait for a die at work",
            Hook::Hold => "reads that wait while something is suspended",
            Hook::Way => "whole program units that are moved",
            Hook::Fit => "data that looks for a place",
            Hook::Sanitise => "stale secrets",
            Hook::KeyStore => "key stores",
            Hook::ProgramSettings | Hook::Distrusts => "programs",
            Hook::Remember => "memos",
            Hook::WearOf => "erases and measurements",
            Hook::Estimate => "reads",
            Hook::Rung => "reads that need a retry",
            Hook::EraseSettings => "erases",
        }
    }

    /// True for a kind of news, false for a question.
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
        Hooks::of(Hook::ALL)
    }

    /// True if `hook` is in the set.
    #[inline]
    pub const fn has(self, hook: Hook) -> bool {
        self.0 >> hook as u8 & 1 == 1
    }

    /// True if the two sets have a hook in common.
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
        Hook::ALL.iter().copied().filter(move |&hook| self.has(hook))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_hooks_share_a_word() {
        let mut names: Vec<_> = Hook::ALL.iter().map(|hook| hook.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Hook::ALL.len());
    }

    #[test]
    fn a_set_has_what_was_put_into_it() {
        let set = Hooks::of(&[Hook::Read, Hook::Estimate]);
        assert_eq!(set.iter().collect::<Vec<_>>(), [Hook::Read, Hook::Estimate]);
        assert!(set.meets(Hooks::of(&[Hook::Read])) && !set.meets(Hooks::of(&[Hook::Work])));
        assert_eq!(set.without(Hook::Read).with(Hooks::of(&[Hook::Work])), Hooks::of(&[Hook::Work, Hook::Estimate]));
        assert!(Hook::Idle.is_news() && !Hook::Work.is_news());
        assert_eq!(Hooks::all().iter().count(), Hook::ALL.len());
    }
}
