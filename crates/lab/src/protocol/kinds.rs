//! The kinds of values that a condition can have, and how they are written.

use toml::Value;
use wordline_plan::shown;
use wordline_units::Celsius;

use crate::conditions::{pe_list, reads_list, retention_list, span};

/// A kind of condition: how it is written, and which type holds it.
pub(crate) trait Kind {
    /// Type that holds the value.
    type Held;
    /// Reads the value.
    fn read(value: &Value) -> Result<Self::Held, String>;
}

/// A number of P/E cycles: `2000` or `"2k"`.
pub(crate) struct Cycles;
/// A number of reads of a block: `"100k"`.
pub(crate) struct Reads;
/// A time in seconds: `"1y"`.
pub(crate) struct Span;
/// A time at a temperature: `"13h@85C"`.
pub(crate) struct Rest;
/// A temperature: `"40C"`.
pub(crate) struct Degrees;
/// A count: `8`.
pub(crate) struct Count;
/// A pure number: `0.85`.
pub(crate) struct Number;
/// A share: `"3 %"`.
pub(crate) struct Share;
/// A voltage in mV: `"320 mV"`, `"3 V"`.
pub(crate) struct Volts;
/// A time in us: `"100 us"`.
pub(crate) struct Micros;
/// A number of wrong bits: `"37 bit"`.
pub(crate) struct Bits;
/// A number of bytes: `"1 GiB"`.
pub(crate) struct Size;
/// A name of a drive, a workload or a setting.
pub(crate) struct Name;
/// A list of values of one kind, at least `N`, each more than the one before.
pub(crate) struct Rising<K, const N: usize>(std::marker::PhantomData<K>);

fn text(value: &Value, example: &str) -> Result<String, String> {
    let text = value.as_str().ok_or_else(|| format!("expected a text such as \"{example}\", found {}", value.type_str()))?;
    Ok(text.to_owned())
}

/// Reads a number with one of these units.
fn quantity(value: &Value, units: &[(&str, f64)], example: &str) -> Result<f64, String> {
    let text = text(value, example)?;
    let split = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-'))).unwrap_or(text.len());
    let (number, unit) = (&text[..split], text[split..].trim());
    let names = || units.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" or ");
    let (_, factor) = units
        .iter()
        .find(|(name, _)| *name == unit)
        .ok_or_else(|| format!("\"{}\" is not in {}; write \"{example}\"", shown(&text), names()))?;
    let number: f64 = number.parse().map_err(|_| format!("\"{}\" is no number with a unit; write \"{example}\"", shown(&text)))?;
    Ok(number * factor)
}

fn only<T>(mut list: Vec<T>) -> Result<T, String> {
    if list.len() == 1 { Ok(list.remove(0)) } else { Err("expected one, found several; write a list as [a, b]".to_owned()) }
}

fn counted(value: &Value) -> Result<u32, String> {
    let number = value.as_integer().ok_or_else(|| format!("expected a whole number, found {}", value.type_str()))?;
    u32::try_from(number).ok().filter(|count| *count <= 1_000_000).ok_or_else(|| format!("{number} is no count"))
}

impl Kind for Cycles {
    type Held = f64;
    fn read(value: &Value) -> Result<f64, String> {
        if value.is_integer() { counted(value).map(f64::from) } else { only(pe_list(&text(value, "2k")?)?).map(f64::from) }
    }
}

impl Kind for Reads {
    type Held = f64;
    fn read(value: &Value) -> Result<f64, String> {
        if value.is_integer() { counted(value).map(f64::from) } else { only(reads_list(&text(value, "100k")?)?).map(|reads| reads as f64) }
    }
}

impl Kind for Span {
    type Held = f64;
    fn read(value: &Value) -> Result<f64, String> {
        if value.as_integer() == Some(0) { Ok(0.0) } else { span(&text(value, "1y")?) }
    }
}

impl Kind for Rest {
    type Held = (f64, Celsius);
    fn read(value: &Value) -> Result<(f64, Celsius), String> {
        let read = retention_list(&text(value, "13h@85C")?)?;
        Ok((only(read.seconds)?, Celsius(read.celsius)))
    }
}

impl Kind for Degrees {
    type Held = Celsius;
    fn read(value: &Value) -> Result<Celsius, String> {
        retention_list(&format!("0@{}", text(value, "40C")?)).map(|read| Celsius(read.celsius))
    }
}

impl Kind for Count {
    type Held = u32;
    fn read(value: &Value) -> Result<u32, String> {
        counted(value)
    }
}

impl Kind for Number {
    type Held = f64;
    fn read(value: &Value) -> Result<f64, String> {
        let number = value.as_float().or_else(|| value.as_integer().map(|number| number as f64));
        number.filter(|number| number.is_finite()).ok_or_else(|| format!("expected a number, found {}", value.type_str()))
    }
}

impl Kind for Share {
    type Held = f64;
    fn read(value: &Value) -> Result<f64, String> {
        let share = quantity(value, &[("%", 1.0)], "3 %")? / 100.0;
        if (0.0..=1.0).contains(&share) { Ok(share) } else { Err(format!("{share} is no share of a whole")) }
    }
}

impl Kind for Volts {
    type Held = f64;
    fn read(value: &Value) -> Result<f64, String> {
        quantity(value, &[("mV", 1.0), ("V", 1_000.0)], "320 mV")
    }
}

impl Kind for Micros {
    type Held = f64;
    fn read(value: &Value) -> Result<f64, String> {
        quantity(value, &[("us", 1.0), ("ms", 1_000.0)], "100 us")
    }
}

impl Kind for Bits {
    type Held = f64;
    fn read(value: &Value) -> Result<f64, String> {
        quantity(value, &[("bit", 1.0)], "37 bit")
    }
}

impl Kind for Size {
    type Held = f64;
    fn read(value: &Value) -> Result<f64, String> {
        let unit = |bits: u32| (1u64 << bits) as f64;
        quantity(value, &[("KiB", unit(10)), ("MiB", unit(20)), ("GiB", unit(30)), ("TiB", unit(40))], "1 GiB")
    }
}

impl Kind for Name {
    type Held = String;
    fn read(value: &Value) -> Result<String, String> {
        text(value, "paper-psr")
    }
}

fn list(value: &Value) -> Result<&[Value], String> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| format!("expected a list, found {}", value.type_str()))
}

impl<K: Kind> Kind for Vec<K> {
    type Held = Vec<K::Held>;
    fn read(value: &Value) -> Result<Vec<K::Held>, String> {
        let list = list(value)?;
        if list.is_empty() { Err("the list is empty".to_owned()) } else { list.iter().map(K::read).collect() }
    }
}

impl<K: Kind, const N: usize> Kind for [K; N] {
    type Held = [K::Held; N];
    fn read(value: &Value) -> Result<[K::Held; N], String> {
        let read: Vec<K::Held> = list(value)?.iter().map(K::read).collect::<Result<_, _>>()?;
        let count = read.len();
        read.try_into().map_err(|_| format!("expected {N} of them, found {count}"))
    }
}

impl<A: Kind, B: Kind> Kind for (A, B) {
    type Held = (A::Held, B::Held);
    fn read(value: &Value) -> Result<(A::Held, B::Held), String> {
        match list(value)? {
            [a, b] => Ok((A::read(a)?, B::read(b)?)),
            other => Err(format!("expected a pair, found {}", other.len())),
        }
    }
}

impl<K: Kind<Held = f64>, const N: usize> Kind for Rising<K, N> {
    type Held = Vec<f64>;
    fn read(value: &Value) -> Result<Vec<f64>, String> {
        let read = Vec::<K>::read(value)?;
        if read.len() < N {
            return Err(format!("expected {N} or more, found {}", read.len()));
        }
        if read.windows(2).all(|pair| pair[0] < pair[1]) { Ok(read) } else { Err("each must be more than the one before".to_owned()) }
    }
}

#[cfg(test)]
mod tests {
    use toml::Table;

    use super::*;

    fn value(text: &str) -> Value {
        format!("x = {text}").parse::<Table>().expect("TOML").remove("x").expect("x")
    }

    #[test]
    fn conditions_are_read_with_their_units_and_nothing_else_is() {
        assert_eq!(Vec::<Cycles>::read(&value("[0, \"1.5k\"]")), Ok(vec![0.0, 1_500.0]));
        assert_eq!(Rest::read(&value("\"13h@85C\"")).map(|(time, at)| (time, at.0)), Ok((46_800.0, 85.0)));
        assert_eq!(Volts::read(&value("\"3 V\"")), Ok(3_000.0));
        assert_eq!(Share::read(&value("\"3 %\"")), Ok(0.03));
        assert_eq!(<[Micros; 2]>::read(&value("[\"100 us\", \"1 ms\"]")), Ok([100.0, 1_000.0]));
        assert_eq!(<(Cycles, Span)>::read(&value("[\"2k\", 0]")), Ok((2_000.0, 0.0)));
        for wrong in ["3", "\"3\"", "\"3 mA\"", "\"V\"", "true", "[\"3 V\"]"] {
            assert!(Volts::read(&value(wrong)).is_err(), "{wrong}");
        }
        assert!(Share::read(&value("\"130 %\"")).is_err() && Count::read(&value("-1")).is_err() && Number::read(&value("nan")).is_err());
        assert!(<[Count; 2]>::read(&value("[1]")).is_err() && Vec::<Count>::read(&value("[]")).is_err());
        assert!(Rising::<Cycles, 2>::read(&value("[1, 1]")).is_err() && Rising::<Cycles, 3>::read(&value("[1, 2]")).is_err());
    }
}
