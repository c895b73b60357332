//! List of all techniques. One explicit list: in its order they are listed everywhere, whatever the order of a plan.
//!
//! A technique is one folder beside this file, and one line in the list below. What the folder declares ([`declaration`]) makes its keys in drive files, their
//! checks and their reference, and lets the proving ground draw it. `docs/tutorials/technique.md` walks through it.

use wordline_units::Nanos;

use crate::techniques::declaration::{Declaration, Site, Value};
use crate::techniques::seam::{Card, Technique};

pub mod address;
pub(crate) mod apply;
pub mod block_class;
pub mod census;
pub mod counts;
pub mod declaration;
pub mod empty;
pub mod hooks;
pub mod ladder;
mod leap;
pub mod merge;
pub mod panel;
pub mod say;
pub mod seam;
pub mod value;
pub mod weak_order;
pub mod wear_index;
pub mod why;
pub mod work;

pub use guarded_erase::Selector as ModeSelector;

macro_rules! techniques {
    ($($name:ident $(($params:ident))? in $module:ident;)*) => {
        $(pub mod $module;)*

        /// A technique that a plan switches on, with its parameters.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Choice {
            $(
                #[doc = concat!("The technique of [`", stringify!($module), "`].")]
                $name $((techniques!(@type $params $module)))?,
            )*
        }

        /// Declarations of all techniques.
        pub const DECLARATIONS: &[&Declaration] = &[$(&$module::DECLARATION,)*];

        impl Choice {
            /// The technique of this name with these values of its parameters, in the order in which they are declared. `None`: there is none of this name, a
            /// value is missing, or one is of another kind.
            pub fn of(name: &str, values: &[Value]) -> Option<Choice> {
                $(
                    if name == $module::DECLARATION.card.name {
                        return techniques!(@of values, $name in $module $($params)?);
                    }
                )*
                None
            }

            /// Declaration of the technique.
            pub fn declaration(&self) -> &'static Declaration {
                match self { $(techniques!(@any $name $($params)?) => &$module::DECLARATION,)* }
            }

            /// Values of the technique's parameters, in the order in which they are declared.
            pub fn values(&self) -> Vec<Value> {
                match self { $(Choice::$name $(($params))? => techniques!(@values $($params)?),)* }
            }

            /// The technique, ready to work on the core and the dies of this `site`.
            pub fn build(&self, site: &Site<'_>) -> Box<dyn Technique> {
                match *self { $(Choice::$name $(($params))? => Box::new($module::$name::new(site $(, $params)?)),)* }
            }
        }
    };
    (@type $params:ident $module:ident) => { $module::Params };
    (@of $values:ident, $name:ident in $module:ident $params:ident) => { $module::Params::of($values).map(Choice::$name) };
    (@of $values:ident, $name:ident in $module:ident) => { $values.is_empty().then_some(Choice::$name) };
    (@any $name:ident $params:ident) => { Choice::$name(_) };
    (@any $name:ident) => { Choice::$name };
    (@values $params:ident) => { $params.values() };
    (@values) => { Vec::new() };
}

techniques! {
    ReadDisturbRefresh(params) in read_disturb_refresh;
    IdleReclaim(params) in idle_reclaim;
    PlainCopyback in plain_copyback;
    ReadPreemption in read_preemption;
    PriorityPreemption(params) in priority_preemption;
    LayerReadOffsets in layer_read_offsets;
    PageLock(params) in page_lock;
    WordlineScrub in wordline_scrub;
    EraseAtOnce in erase_at_once;
    ReprogramPage in reprogram_page;
    CryptoErase(params) in crypto_erase;
    LayerSimilarity(params) in layer_similarity;
    LayerMargins in layer_margins;
    BlockAge(params) in block_age;
    ReadReference(params) in read_reference;
    CopyThreshold(params) in copy_threshold;
    RetentionRefresh(params) in retention_refresh;
    RestrictedCopyback(params) in restricted_copyback;
    MigrationMode(params) in migration_mode;
    GuardedErase(params) in guarded_erase;
    BadPageManagement(params) in bad_page_management;
    LatencyHints(params) in latency_hints;
}

impl Choice {
    /// Card of the technique.
    pub fn card(&self) -> &'static Card {
        &self.declaration().card
    }

    /// Times that reads of data of each hinted class may take in the device, strictest first; `None`: it acts on no hints about reads.
    pub fn read_limits(&self) -> Option<[Nanos; 3]> {
        if let Choice::LatencyHints(params) = self { Some(params.limits()) } else { None }
    }
}

/// Limits of reads of hinted data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// Technique that acts on hints about reads.
    pub technique: &'static str,
    /// Times that reads of data of each hinted class may take in the device, strictest first.
    pub times: [Nanos; 3],
    /// True if the technique is switched on; otherwise the times are its defaults.
    pub is_on: bool,
}

impl ReadLimits {
    /// Limits of a core with these techniques.
    pub fn of(choices: &[Choice]) -> ReadLimits {
        let times = choices.iter().find_map(Choice::read_limits);
        let technique = latency_hints::DECLARATION.card.name;
        ReadLimits { technique, times: times.unwrap_or_else(latency_hints::default_limits), is_on: times.is_some() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::techniques::declaration::Kind;
    use crate::techniques::hooks::Hook;
    use crate::techniques::seam::{Amount, Ask, Persists};

    #[test]
    fn who_remembers_says_so() {
        for Declaration { card, .. } in DECLARATIONS {
            assert_eq!(card.hooks.has(Hook::Remember), matches!(card.persists, Persists::Memos(_)), "{}", card.name);
        }
    }

    #[test]
    fn what_is_declared_makes_a_choice_and_is_read_off_it_again() {
        for declaration in DECLARATIONS {
            let Declaration { card, params, .. } = **declaration;
            let ends = [0, 1].map(|end| params.iter().map(|param| param.kind.ends()[end]).collect::<Vec<_>>());
            for values in ends {
                let choice = Choice::of(card.name, &values).unwrap_or_else(|| panic!("{}: {values:?} are of other kinds", card.name));
                assert_eq!((choice.values(), choice.card().name), (values.clone(), card.name));
                let longer = [&values[..], &[Value::Flag(true)]].concat();
                assert_eq!(Choice::of(card.name, &longer), None, "{}: a value too many", card.name);
            }
        }
        assert_eq!(Choice::of("nothing", &[]), None);
    }

    #[test]
    fn a_declaration_is_whole_and_sound() {
        for (index, declaration) in DECLARATIONS.iter().enumerate() {
            let Declaration { card, about, params, needs } = declaration;
            let name = card.name;
            assert!(DECLARATIONS[..index].iter().all(|other| other.card.name != name), "{name} is there twice");
            assert!(about.ends_with('.'), "{name}: its `about` is no sentence");
            for param in *params {
                let key = param.key;
                assert!(key != "on" && key != "source", "{name}.{key} is a key that every section has");
                assert!(!param.doc.is_empty() && !param.source.is_empty(), "{name}.{key} has no doc or no source");
                let given = param.tried.iter().chain(&param.default);
                given.for_each(|&value| assert!(param.kind.has(value), "{name}.{key}: {value:?} is not of its kind"));
                assert_eq!(param.tried.is_empty(), matches!(param.kind, Kind::Flag | Kind::Word(_)), "{name}.{key}: values to try");
                assert!(param.kind != Kind::Flag || param.default.is_some(), "{name}.{key}: a flag has a default");
            }
            for ask in card.asks {
                if let Ask::Places(Amount::Param(key)) | Ask::Spared(Amount::Param(key)) = ask {
                    assert!(
                        declaration.param(key).is_some_and(|param| matches!(param.kind, Kind::Count { .. } | Kind::Wordlines { .. })),
                        "{name}: {key} is no count"
                    );
                }
            }
            let asks = |of: fn(&Ask) -> bool| card.asks.iter().any(of);
            assert_eq!(card.hooks.has(Hook::EraseSettings), asks(|ask| matches!(ask, Ask::Spared(_))), "{name}: spared wordlines");
            for need in *needs {
                if let declaration::Need::Where(key, value, _) = need {
                    let kind = declaration.param(key).map(|param| param.kind);
                    assert!(kind.is_some_and(|kind| kind.has(*value)), "{name}: {key} is never {value:?}");
                }
            }
        }
    }
}
