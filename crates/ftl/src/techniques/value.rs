//! Values of parameters of techniques.

use wordline_units::Nanos;

/// Value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// Yes or no.
    Flag(bool),
    /// A count.
    Count(u32),
    /// A time.
    Span(Nanos),
    /// A word.
    Word(&'static str),
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
