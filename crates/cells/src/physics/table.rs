//! The macro behind [`Physics`](super::Physics): from one list of parameters it makes the structs, and the table by which files are read.

/// The unit of a parameter. Every number is held in the unit named here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A plain number without a unit.
    Number,
    /// A share of a whole, held as a fraction: 0.2 for 20 %.
    Share,
    /// Voltages in millivolts.
    Millivolts,
    /// Temperature coefficients in millivolts per kelvin.
    MillivoltsPerKelvin,
    /// Energies in electronvolts.
    ElectronVolts,
    /// Temperatures in degrees Celsius.
    Celsius,
    /// Times in seconds.
    Seconds,
    /// Times in microseconds.
    Microseconds,
    /// Erase and program cycles.
    Cycles,
    /// Numbers of bits.
    Bits,
    /// A list of plain whole numbers.
    Codes,
    /// A list of millivolts.
    MillivoltList,
    /// A list of plain numbers.
    NumberList,
}

impl Unit {
    /// True if the parameter is a list.
    pub const fn is_list(self) -> bool {
        matches!(self, Unit::Codes | Unit::MillivoltList | Unit::NumberList)
    }

    /// The units a file may write the parameter in, each with its size in the unit it is held in. The first is the one that is written. Empty: a plain
    /// number.
    pub const fn names(self) -> &'static [(&'static str, f64)] {
        match self {
            Unit::Number | Unit::Codes | Unit::NumberList => &[],
            Unit::Share => &[("%", 0.01)],
            Unit::Millivolts | Unit::MillivoltList => &[("mV", 1.0), ("V", 1e3)],
            Unit::MillivoltsPerKelvin => &[("mV/K", 1.0)],
            Unit::ElectronVolts => &[("eV", 1.0)],
            Unit::Celsius => &[("C", 1.0), ("°C", 1.0)],
            Unit::Seconds => &[("s", 1.0), ("min", 60.0), ("h", 3_600.0), ("d", 86_400.0)],
            Unit::Microseconds => &[("us", 1.0), ("ms", 1e3), ("s", 1e6)],
            Unit::Cycles => &[("cycles", 1.0)],
            Unit::Bits => &[("bit", 1.0)],
        }
    }
}

/// The description of a parameter, without a value.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Section of the parameter: `"wear"` for `[physics.wear]`.
    pub section: &'static str,
    /// Key of the parameter in its section.
    pub key: &'static str,
    /// Unit of the parameter.
    pub unit: Unit,
    /// Meaning of the parameter, line by line.
    pub doc: &'static [&'static str],
}

/// The type of a field that has a unit.
macro_rules! field {
    (Codes) => { Vec<f64> };
    (MillivoltList) => { Vec<f64> };
    (NumberList) => { Vec<f64> };
    ($other:ident) => { f64 };
}

/// Conversion of a field to and from a list of numbers.
pub(crate) trait Held: Sized {
    fn unset() -> Self;
    fn numbers(&self) -> Vec<f64>;
    fn take(&mut self, numbers: &[f64]);
}

impl Held for f64 {
    fn unset() -> f64 {
        f64::NAN
    }
    fn numbers(&self) -> Vec<f64> {
        vec![*self]
    }
    fn take(&mut self, numbers: &[f64]) {
        *self = numbers.first().copied().unwrap_or(f64::NAN);
    }
}

impl Held for Vec<f64> {
    fn unset() -> Vec<f64> {
        Vec::new()
    }
    fn numbers(&self) -> Vec<f64> {
        self.clone()
    }
    fn take(&mut self, numbers: &[f64]) {
        *self = numbers.to_vec();
    }
}

macro_rules! parameters {
    ($(
        $(#[doc = $section_doc:literal])*
        $section:ident: $Name:ident {
            $( $(#[doc = $doc:literal])* $key:ident: $unit:ident; )*
        }
    )*) => {
        $(
            $(#[doc = $section_doc])*
            #[derive(Clone, Debug, PartialEq)]
            pub struct $Name {
                $( $(#[doc = $doc])* pub $key: field!($unit), )*
            }
        )*

        /// Every physical parameter of a chip: plain data, one struct for each effect. See `chips/tlc48.toml` for a complete set with sources.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Physics {
            /// The shape of a block and what a cell holds: from `[geometry]` of the chip file.
            pub shape: Shape,
            $( $(#[doc = $section_doc])* pub $section: $Name, )*
        }

        impl Physics {
            /// All parameters, in the order of the reference.
            pub const PARAMETERS: &'static [Parameter] = &[
                $( $( Parameter { section: stringify!($section), key: stringify!($key), unit: Unit::$unit, doc: &[$($doc),*] }, )* )*
            ];

            /// All sections, each with its description.
            pub const SECTIONS: &'static [(&'static str, &'static [&'static str])] =
                &[ $( (stringify!($section), &[$($section_doc),*]), )* ];

            /// A set of parameters without values: numbers are NaN and lists are empty, which [`Physics::check`] refuses.
            pub fn unset(shape: Shape) -> Physics {
                Physics { shape, $( $section: $Name { $( $key: Held::unset(), )* }, )* }
            }

            /// Checks that this set of parameters can be a chip.
            ///
            /// # Errors
            /// All that is wrong, in the order of [`Physics::PARAMETERS`].
            pub fn check(&self) -> Result<(), Vec<Fault>> {
                check::check(self)
            }

            /// The value of a parameter: one number, or all of a list. `None`: there is no such parameter.
            pub fn get(&self, section: &str, key: &str) -> Option<Vec<f64>> {
                match (section, key) {
                    $( $( (stringify!($section), stringify!($key)) => Some(self.$section.$key.numbers()), )* )*
                    _ => None,
                }
            }

            /// Sets a parameter, in the unit [`Physics::PARAMETERS`] names. Returns whether there is one of that name.
            pub fn set(&mut self, section: &str, key: &str, numbers: &[f64]) -> bool {
                match (section, key) {
                    $( $( (stringify!($section), stringify!($key)) => self.$section.$key.take(numbers), )* )*
                    _ => return false,
                }
                true
            }
        }
    };
}

pub(crate) use {field, parameters};
