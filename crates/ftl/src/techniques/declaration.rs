//! What a technique declares of itself: what it is, what it is set to, and what it needs.
//!
//! A declaration is data, and the only place where these things are said. The keys of drive files, their checks, their reference and their schema are made from
//! it, and so are the drives that the proving ground draws. Whoever reads it knows kinds of parameters and kinds of needs, and no technique by its name.

use wordline_flash::{Margins, Sanitisation, Sheet};
use wordline_units::Nanos;

use super::seam::Card;
use crate::state::layout::Layout;

/// Everything that is said of a technique without making one.
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    /// What it is.
    pub card: Card,
    /// What it does, for the reference of keys: a clause that follows a colon, and any sentences after it.
    pub about: &'static str,
    /// What it is set to.
    pub params: &'static [Param],
    /// What the die, or the chip's file, must have for it.
    pub needs: &'static [Need],
}

impl Declaration {
    /// The parameter of this key.
    pub fn param(&self, key: &str) -> Option<&'static Param> {
        self.params.iter().find(|param| param.key == key)
    }

    /// Whether it needs `need`, be it only with some parameter.
    pub fn has_need(&self, need: Need) -> bool {
        self.needs.iter().any(|known| known.whole() == need)
    }
}

/// A parameter of a technique.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Its key in drive files.
    pub key: &'static str,
    /// What it means, line by line.
    pub doc: &'static [&'static str],
    /// What it can be.
    pub kind: Kind,
    /// What it is where nobody says so; `None`: somebody must.
    pub default: Option<Value>,
    /// Values worth trying on the small drives of the proving ground. A flag has none: it has two values.
    pub tried: &'static [Value],
    /// Where the parameter, or its default, comes from.
    pub source: &'static str,
}

/// What a parameter can be.
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
    /// A time.
    Span {
        /// The shortest.
        least: Nanos,
    },
    /// Free block groups of a die: more than reclaim keeps free by itself, and no more than a full drive can have.
    FreeGroups,
    /// Leaves of a tree of keys: a power of two from 64 to as many as any tree that fits a page has.
    KeyLeaves,
}

impl Kind {
    /// Its least and its greatest value, as far as they do not hang on a drive.
    pub const fn ends(self) -> [Value; 2] {
        match self {
            Kind::Flag => [Value::Flag(false), Value::Flag(true)],
            Kind::Count { least, most } => [Value::Count(least), Value::Count(most)],
            Kind::Span { least } => [Value::Span(least), Value::Span(Nanos(1 << 50))],
            Kind::FreeGroups => [Value::Count(0), Value::Count(u32::MAX)],
            Kind::KeyLeaves => [Value::Count(64), Value::Count(4_096)],
        }
    }

    /// Whether `value` is of this kind, and between its ends.
    pub fn has(self, value: Value) -> bool {
        let [least, most] = self.ends();
        std::mem::discriminant(&least) == std::mem::discriminant(&value) && (least..=most).contains(&value)
    }
}

/// What a parameter is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// Yes or no.
    Flag(bool),
    /// A count.
    Count(u32),
    /// A time.
    Span(Nanos),
}

macro_rules! values {
    ($($variant:ident: $type:ty;)*) => {$(
        impl From<$type> for Value {
            fn from(value: $type) -> Value {
                Value::$variant(value)
            }
        }

        impl TryFrom<Value> for $type {
            type Error = Value;

            fn try_from(value: Value) -> Result<$type, Value> {
                if let Value::$variant(value) = value { Ok(value) } else { Err(value) }
            }
        }
    )*};
}

values! {
    Flag: bool;
    Count: u32;
    Span: Nanos;
}

/// What the die, or the chip's file, must have for a technique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The die copies data by itself, without the bus.
    Copyback,
    /// The die suspends programs, or erases.
    Suspend,
    /// The die takes settings of programs, and tells of them.
    ProgramSettings,
    /// The die has this one shot.
    Sanitise(Sanitisation),
    /// The chip's file has this table.
    Table(Table),
    /// Needed only where the flag of this key is set.
    Where(&'static str, &'static Need),
}

impl Need {
    /// The need itself, whatever it hangs on.
    pub const fn whole(self) -> Need {
        if let Need::Where(_, need) = self { *need } else { self }
    }
}

/// A table of a chip's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// How far the window of program voltages may be narrowed.
    Margins,
}

/// Where a technique is going to work.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The core's layout.
    pub layout: &'a Layout,
    /// The data sheet of its dies.
    pub sheet: &'a Sheet,
    /// What the maker of the dies has found.
    pub margins: Option<&'a Margins>,
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
            /// What is declared of each, in the order of the fields.
            pub const ALL: &'static [$crate::techniques::declaration::Param] = &[$( $crate::techniques::declaration::Param {
                key: stringify!($key),
                doc: &[$($doc),*],
                $($said)*
            }, )*];

            /// With these values, in the order of [`Params::ALL`]; `None`: one is missing, or of another kind.
            pub fn of(values: &[$crate::techniques::declaration::Value]) -> Option<Params> {
                let mut values = values.iter().copied();
                let params = Params { $( $key: values.next()?.try_into().ok()?, )* };
                values.next().is_none().then_some(params)
            }

            /// What they are, in the order of [`Params::ALL`].
            pub fn values(&self) -> Vec<$crate::techniques::declaration::Value> {
                vec![$( self.$key.into(), )*]
            }
        }
    };
}
pub(crate) use params;
