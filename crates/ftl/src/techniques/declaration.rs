//! Declarations of techniques: the card, the parameters and the needs of each.
//!
//! A declaration is data, and the only place where these things are said. The keys of drive files, their checks, their reference and their schema are made from
//! it, and so are the drives that the proving ground draws. Whoever reads it knows kinds of parameters and kinds of needs, and no technique by its name.

use wordline_flash::tables::Tables;
use wordline_flash::{Capabilities, Margins, Sanitisation, Sheet};
use wordline_units::Nanos;

use super::hooks::{Hook, Hooks};
use super::seam::{Amount, Ask, Card};
pub use super::value::Value;
use crate::state::layout::Layout;

/// Declaration of a technique, which is known without making one.
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    /// Card of the technique.
    pub card: Card,
    /// Description for the reference of keys: a clause that follows a colon, and any sentences after it.
    pub about: &'static str,
    /// Parameters of the technique.
    pub params: &'static [Param],
    /// Features that the die, or the chip's file, must have for the technique.
    pub needs: &'static [Need],
}

impl Declaration {
    /// Parameter with this key.
    pub fn param(&self, key: &str) -> Option<&'static Param> {
        self.params.iter().find(|param| param.key == key)
    }

    /// Block groups of a die that the technique asks to have open for moved data at once, with these `values` of its parameters; 0: it does not ask.
    pub fn asks_places(&self, values: &[Value]) -> u32 {
        self.amount(values, &Tables::NONE, |ask| if let Ask::Places(amount) = ask { Some(amount) } else { None })
    }

    /// True if the technique asks for counts of copies on flash, with these `values` of its parameters.
    pub fn asks_counters(&self, values: &[Value]) -> bool {
        let has = |key, wanted| self.params.iter().zip(values).any(|(param, &value)| param.key == key && value == wanted);
        self.card.asks.iter().any(|&ask| if let Ask::Counters(key, wanted) = ask { has(key, wanted) } else { false })
    }

    /// Most wordlines that the technique wants to take no data after one erase, with these `values` of its parameters and `tables` of the chip.
    pub fn asks_spared(&self, values: &[Value], tables: &Tables) -> u32 {
        self.amount(values, tables, |ask| if let Ask::Spared(amount) = ask { Some(amount) } else { None })
    }

    fn amount(&self, values: &[Value], tables: &Tables, of: impl Fn(Ask) -> Option<Amount>) -> u32 {
        let value_of = |key: &str| self.params.iter().zip(values).find(|(param, _)| param.key == key).map(|(_, value)| *value);
        let number = |amount| match amount {
            Amount::Fixed(number) => number,
            Amount::GuardModes => tables.guard.iter().flat_map(|guard| &guard.modes).map(|mode| mode.wordlines).max().unwrap_or(0),
            Amount::Param(key) => value_of(key).and_then(|value| value.try_into().ok()).unwrap_or(0),
        };
        self.card.asks.iter().filter_map(|&ask| of(ask)).map(number).max().unwrap_or(0)
    }

    /// True if the technique needs `need`, at least with one of its parameters set.
    pub fn has_need(&self, need: Need) -> bool {
        self.needs.iter().any(|known| known.whole() == need)
    }
}

/// A parameter of a technique.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Key of the parameter in drive files.
    pub key: &'static str,
    /// Description of the parameter, line by line.
    pub doc: &'static [&'static str],
    /// Kind and limits of its values.
    pub kind: Kind,
    /// Default value; `None`: the drive file must set the parameter.
    pub default: Option<Value>,
    /// Values worth trying on the small drives of the proving ground. A flag and a word have none: all their values are tried.
    pub tried: &'static [Value],
    /// Source of the parameter, or of its default.
    pub source: &'static str,
}

/// Kind and limits of a parameter's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Yes or no.
    Flag,
    /// A count.
    Count {
        /// The least.
        least: u32,
        /// The greatest.
        most: u32,
    },
    /// A number of wordlines of a block. On a drive whose blocks have fewer h-layers it is in proportion.
    Wordlines {
        /// The least.
        least: u32,
        /// The greatest.
        most: u32,
    },
    /// A time.
    Span {
        /// The shortest.
        least: Nanos,
    },
    /// A number of free block groups of a die: more than GC keeps free by itself, and no more than a full drive can have.
    FreeGroups,
    /// A number of leaves of a key tree: a power of two from 64 to as many as any tree that fits a page has.
    KeyLeaves,
    /// One of these words.
    Word(&'static [&'static str]),
}

impl Kind {
    /// Least and greatest value of the kind, as far as they do not depend on a drive.
    pub const fn ends(self) -> [Value; 2] {
        match self {
            Kind::Flag => [Value::Flag(false), Value::Flag(true)],
            Kind::Count { least, most } | Kind::Wordlines { least, most } => [Value::Count(least), Value::Count(most)],
            Kind::Span { least } => [Value::Span(least), Value::Span(Nanos(1 << 50))],
            Kind::FreeGroups => [Value::Count(0), Value::Count(u32::MAX)],
            Kind::KeyLeaves => [Value::Count(64), Value::Count(4_096)],
            Kind::Word(words) => [Value::Word(words[0]), Value::Word(words[words.len() - 1])],
        }
    }

    /// True if `value` is of this kind and within its limits.
    pub fn has(self, value: Value) -> bool {
        if let (Kind::Word(words), Value::Word(word)) = (self, value) {
            return words.contains(&word);
        }
        let [least, most] = self.ends();
        std::mem::discriminant(&least) == std::mem::discriminant(&value) && (least..=most).contains(&value)
    }
}

/// A feature that the die, or the chip's file, must have for a technique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The die copies data by itself, without the bus.
    Copyback,
    /// The die suspends programs, or erases.
    Suspend,
    /// The die suspends at the end of a step.
    StopAtStep,
    /// The die suspends erases at once.
    StopNowErase,
    /// The die suspends programs at once.
    StopNowProgram,
    /// The die breaks off reads.
    AbortRead,
    /// The die takes settings of programs, and tells of them.
    ProgramSettings,
    /// The die spares wordlines in erases.
    GuardedErase,
    /// The die programs wordlines in any order, and may leave some out.
    AnyOrder,
    /// The die tells of erases.
    EraseTrace,
    /// The die can sanitise in this way.
    Sanitise(Sanitisation),
    /// The chip's file has this table.
    Table(Table),
    /// Some technique tells the wear of blocks: it answers [`Hook::WearOf`].
    Wear,
    /// No technique keeps keys of places: none answers [`Hook::KeyStore`].
    NoKeys,
    /// The feature is needed only where the parameter of this key has this value.
    Where(&'static str, Value, &'static Need),
}

impl Need {
    /// The feature itself, without the parameter that it depends on.
    pub const fn whole(self) -> Need {
        if let Need::Where(_, _, need) = self { *need } else { self }
    }

    /// True if a drive that offers `offer` meets the need, whatever the parameter that it depends on.
    pub fn is_met(self, offer: &Offer) -> bool {
        (self.feature().is_met)(offer)
    }

    /// Keys, test and grant of the feature. A new kind of need is one arm here.
    pub fn feature(self) -> Feature {
        const NOTHING: fn(&mut Capabilities) = |_| {};
        let ability = |keys, is_met, grant| Feature { keys, is_met, grant, lack: Lack::Ability };
        let timed = |keys, is_met, grant| Feature { keys, is_met, grant, lack: Lack::Time };
        let table = |keys, is_met, lack| Feature { keys, is_met, grant: NOTHING, lack: Lack::Table(lack) };
        let beside = |is_met, lack| Feature { keys: &[], is_met, grant: NOTHING, lack };
        match self {
            Need::Copyback => ability(&["capabilities.copyback"], |offer| offer.die.copyback, |die| die.copyback = true),
            Need::Suspend => Feature {
                keys: &["capabilities.suspend_program", "capabilities.suspend_erase"],
                is_met: |offer| offer.die.suspend_program || offer.die.suspend_erase,
                grant: |die| (die.suspend_program, die.suspend_erase) = (true, true),
                lack: Lack::AnyOf("suspend"),
            },
            Need::StopAtStep => ability(&["capabilities.stop_at_step"], |offer| offer.die.stop_at_step, |die| die.stop_at_step = true),
            Need::StopNowErase => {
                ability(&["capabilities.stop_now_erase"], |offer| offer.die.stop_now_erase, |die| die.stop_now_erase = true)
            }
            Need::StopNowProgram => {
                ability(&["capabilities.stop_now_program"], |offer| offer.die.stop_now_program, |die| die.stop_now_program = true)
            }
            Need::AbortRead => ability(&["capabilities.abort_read"], |offer| offer.die.abort_read, |die| die.abort_read = true),
            Need::ProgramSettings => {
                ability(&["capabilities.program_settings"], |offer| offer.die.program_settings, |die| die.program_settings = true)
            }
            Need::GuardedErase => ability(&["capabilities.guarded_erase"], |offer| offer.die.guarded_erase, |die| die.guarded_erase = true),
            Need::AnyOrder => ability(&["capabilities.any_order"], |offer| offer.die.any_order, |die| die.any_order = true),
            Need::EraseTrace => ability(&["capabilities.erase_trace"], |offer| offer.die.erase_trace, |die| die.erase_trace = true),
            Need::Sanitise(Sanitisation::LockPage) => {
                timed(&["timing.t_lock_page"], |offer| offer.die.page_lock, |die| die.page_lock = true)
            }
            Need::Sanitise(Sanitisation::LockBlock) => {
                timed(&["timing.t_lock_block"], |offer| offer.die.block_lock, |die| die.block_lock = true)
            }
            Need::Sanitise(Sanitisation::Scrub) => timed(&["timing.t_scrub"], |offer| offer.die.scrub, |die| die.scrub = true),
            Need::Sanitise(Sanitisation::Reprogram) => {
                timed(&["timing.t_reprogram"], |offer| offer.die.reprogram, |die| die.reprogram = true)
            }
            Need::Table(Table::Margins) => {
                let lack = MissingTable { of: "margins", key: "margins.step", bench: "margins" };
                table(&["margins"], |offer| offer.has(Table::Margins), lack)
            }
            Need::Table(Table::Aging) => {
                let lack = MissingTable { of: "ages", key: "aging.seed", bench: "aging" };
                table(&["aging"], |offer| offer.has(Table::Aging), lack)
            }
            Need::Table(Table::Ort) => {
                let lack = MissingTable { of: "read references", key: "ort.seed", bench: "ort" };
                table(&["ort"], |offer| offer.has(Table::Ort), lack)
            }
            Need::Table(Table::Copyback) => {
                let lack = MissingTable { of: "copies", key: "copyback.seed", bench: "copyback --table" };
                table(&["copyback"], |offer| offer.has(Table::Copyback), lack)
            }
            Need::Table(Table::Guard) => {
                let lack = MissingTable { of: "guarded erases", key: "guard.seed", bench: "guard --table" };
                table(&["guard"], |offer| offer.has(Table::Guard), lack)
            }
            Need::Wear => beside(|offer| offer.hooks.has(Hook::WearOf), Lack::Teller),
            Need::NoKeys => beside(|offer| !offer.hooks.has(Hook::KeyStore), Lack::Keeper),
            Need::Where(_, _, need) => need.feature(),
        }
    }
}

/// A feature that a technique needs: the keys that it is about, and the test of a drive for it.
#[derive(Clone, Copy, Debug)]
pub struct Feature {
    /// Keys of drive files, any one of which is enough, or the section of a table. Empty: the feature is one of other techniques.
    pub keys: &'static [&'static str],
    /// Test whether a drive with this offer has the feature.
    pub is_met: fn(&Offer) -> bool,
    /// Change of a die to one that has the feature, where it is one of dies.
    pub grant: fn(&mut Capabilities),
    /// Words for a drive without it.
    pub lack: Lack,
}

/// Kind of words for a drive that lacks a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// The die cannot do it: its key is false.
    Ability,
    /// The die can do nothing of this verb: all its keys are false.
    AnyOf(&'static str),
    /// The die cannot do it: the key of its time is not set.
    Time,
    /// The chip's file has no such table.
    Table(MissingTable),
    /// No technique that is on has the wear of blocks.
    Teller,
    /// A technique that is on keeps keys of places.
    Keeper,
}

/// Words for a table that a chip's file does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingTable {
    /// Content of the table.
    pub of: &'static str,
    /// Key that is not set.
    pub key: &'static str,
    /// Arguments of `wordline characterize` that make the table.
    pub bench: &'static str,
}

/// Features that a drive offers to its techniques.
#[derive(Clone, Debug)]
pub struct Offer {
    /// Abilities of its dies.
    pub die: Capabilities,
    /// Tables of its chip's file.
    pub tables: Vec<Table>,
    /// Hooks that any of its techniques subscribes to.
    pub hooks: Hooks,
}

impl Offer {
    fn has(&self, table: Table) -> bool {
        self.tables.contains(&table)
    }
}

/// A table of a chip's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// Margins: how far the window of program voltages may be narrowed.
    Margins,
    /// Ages of blocks.
    Aging,
    /// Read references.
    Ort,
    /// Copies in a row.
    Copyback,
    /// Guarded erases.
    Guard,
}

/// Core and dies that a technique is going to work on.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The core's layout.
    pub layout: &'a Layout,
    /// The data sheet of its dies.
    pub sheet: &'a Sheet,
    /// Margins that the maker of the dies has measured.
    pub margins: Option<&'a Margins>,
    /// Tables of how the maker's chips age.
    pub tables: &'a Tables,
    /// True if some technique of the core sets programs, which then have more errors than tables know of.
    pub sets_programs: bool,
    /// Entries of the dies' read-retry table; 1 means that no retry is possible.
    pub read_entries: u32,
    /// Time in which a page comes over the bus and is corrected.
    pub transfer: Nanos,
}

impl<'a> Site<'a> {
    /// Site whose chips nobody has characterised.
    pub const fn bare(layout: &'a Layout, sheet: &'a Sheet) -> Site<'a> {
        Site { layout, sheet, margins: None, tables: &Tables::NONE, sets_programs: false, read_entries: 1, transfer: Nanos::ZERO }
    }
}

/// Declares the parameters of a technique: the type `Params` that holds them, and [`Param`] for each of them in `Params::ALL`.
macro_rules! params {
    ($(#[$about:meta])* pub struct Params { $( $(#[doc = $doc:literal])* $key:ident: $type:ty { $($said:tt)* } )* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub struct Params {
            $( $(#[doc = $doc])* pub $key: $type, )*
        }

        impl Params {
            /// Declarations of the parameters, in the order of the fields.
            pub const ALL: &'static [$crate::techniques::declaration::Param] = &[$( $crate::techniques::declaration::Param {
                key: stringify!($key),
                doc: &[$($doc),*],
                $($said)*
            }, )*];

            /// Creates the parameters from their values, in the order of [`Params::ALL`]; `None`: a value is missing, or of another kind.
            pub fn of(values: &[$crate::techniques::declaration::Value]) -> Option<Params> {
                let mut values = values.iter().copied();
                let params = Params { $( $key: values.next()?.try_into().ok()?, )* };
                values.next().is_none().then_some(params)
            }

            /// Values of the parameters, in the order of [`Params::ALL`].
            pub fn values(&self) -> Vec<$crate::techniques::declaration::Value> {
                vec![$( self.$key.into(), )*]
            }
        }
    };
}
pub(crate) use params;

/// Declares a parameter that is one of some words: an enum of them, and the list for [`Kind::Word`].
macro_rules! words {
    ($(#[$about:meta])* pub enum $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl $name {
            /// Words of all variants, in their order.
            pub const WORDS: &'static [&'static str] = &[$($word),*];
        }

        impl From<$name> for $crate::techniques::declaration::Value {
            fn from(value: $name) -> $crate::techniques::declaration::Value {
                $crate::techniques::declaration::Value::Word(match value { $($name::$variant => $word,)* })
            }
        }

        impl TryFrom<$crate::techniques::declaration::Value> for $name {
            type Error = $crate::techniques::declaration::Value;

            fn try_from(value: $crate::techniques::declaration::Value) -> Result<$name, $crate::techniques::declaration::Value> {
                match value {
                    $($crate::techniques::declaration::Value::Word($word) => Ok($name::$variant),)*
                    _ => Err(value),
                }
            }
        }
    };
}
pub(crate) use words;

#[cfg(test)]
mod tests {
    use wordline_flash::ProgramScope;

    use super::*;
    use crate::techniques::DECLARATIONS;

    #[test]
    fn a_value_must_be_of_its_kind_and_within_its_limits() {
        let count = Kind::Count { least: 2, most: 5 };
        assert!([2, 5].iter().all(|&value| count.has(Value::Count(value))));
        assert!(![1, 6].iter().any(|&value| count.has(Value::Count(value))));
        assert!(!count.has(Value::Flag(true)) && !count.has(Value::Span(Nanos(3))));
        let span = Kind::Span { least: Nanos(4) };
        assert!(span.has(Value::Span(Nanos(4))) && !span.has(Value::Span(Nanos(3))));
        assert!(Kind::KeyLeaves.has(Value::Count(64)) && !Kind::KeyLeaves.has(Value::Count(63)));
    }

    #[test]
    fn a_need_of_a_parameter_is_a_need_of_the_technique() {
        let lock = &crate::techniques::page_lock::DECLARATION;
        assert!(lock.has_need(Need::Sanitise(Sanitisation::LockPage)) && lock.has_need(Need::Sanitise(Sanitisation::LockBlock)));
        assert!(!lock.has_need(Need::Sanitise(Sanitisation::Scrub)) && !lock.has_need(Need::Copyback));
        assert!(lock.param("block_lock").is_some() && lock.param("no_such_key").is_none());
    }

    const UNABLE: Capabilities = Capabilities {
        program_scope: ProgramScope::Page,
        cache_read: false,
        cache_program: false,
        copyback: false,
        suspend_program: false,
        suspend_erase: false,
        stop_at_step: false,
        stop_now_program: false,
        stop_now_erase: false,
        abort_read: false,
        page_lock: false,
        block_lock: false,
        scrub: false,
        reprogram: false,
        any_order: false,
        program_settings: false,
        guarded_erase: false,
        erase_trace: false,
    };

    #[test]
    fn a_die_that_is_granted_what_a_technique_needs_meets_it_and_another_does_not() {
        let of_die = |need: &Need| !matches!(need.whole(), Need::Table(_) | Need::Wear | Need::NoKeys);
        for need in DECLARATIONS.iter().flat_map(|declaration| declaration.needs).filter(|need| of_die(need)) {
            let mut offer = Offer { die: UNABLE, tables: Vec::new(), hooks: Hooks::NONE };
            assert!(!need.is_met(&offer), "{need:?}");
            (need.feature().grant)(&mut offer.die);
            assert!(need.is_met(&offer), "{need:?}");
        }
    }

    #[test]
    fn a_need_of_tables_or_other_techniques_is_met_by_them() {
        let none = Offer { die: UNABLE, tables: Vec::new(), hooks: Hooks::NONE };
        for table in [Table::Margins, Table::Aging, Table::Ort, Table::Copyback, Table::Guard] {
            assert!(!Need::Table(table).is_met(&none));
            assert!(Need::Table(table).is_met(&Offer { tables: vec![table], ..none.clone() }));
        }
        let others = Offer { hooks: Hooks::of(&[Hook::WearOf, Hook::KeyStore]), ..none.clone() };
        assert_eq!([Need::Wear, Need::NoKeys].map(|need| need.is_met(&none)), [false, true]);
        assert_eq!([Need::Wear, Need::NoKeys].map(|need| need.is_met(&others)), [true, false]);
    }

    #[test]
    fn places_and_spared_wordlines_are_amounts_that_are_fixed_or_those_of_a_parameter() {
        let quiet = &crate::techniques::copy_threshold::DECLARATION;
        assert_eq!((quiet.asks_places(&[]), quiet.asks_spared(&[], &Tables::NONE)), (0, 0));
        let lock = crate::techniques::crypto_erase::DECLARATION;
        let card = Card { asks: &[Ask::Places(Amount::Fixed(3)), Ask::Spared(Amount::Param("leaves"))], ..lock.card };
        let asking = Declaration { card, ..lock };
        let values = [Value::Count(64), Value::Span(Nanos(5))];
        assert_eq!((asking.asks_places(&values), asking.asks_spared(&values, &Tables::NONE)), (3, 64));
    }

    #[test]
    fn declared_defaults_and_trials_are_values_that_the_parameter_can_have() {
        for declaration in DECLARATIONS {
            for param in declaration.params {
                let said = param.default.iter().chain(param.tried);
                assert!(said.copied().all(|value| param.kind.has(value)), "{}.{}", declaration.card.name, param.key);
            }
        }
    }

    #[test]
    fn parameters_are_made_of_their_values_and_of_no_others() {
        use crate::techniques::crypto_erase::Params;
        let params = Params { leaves: 64, register: Nanos(5) };
        assert_eq!(Params::of(&params.values()), Some(params));
        let [leaves, register] = [Value::Count(64), Value::Span(Nanos(5))];
        for wrong in [&[leaves][..], &[register, leaves], &[leaves, register, register]] {
            assert_eq!(Params::of(wrong), None, "{wrong:?}");
        }
    }
}
