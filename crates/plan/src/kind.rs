//! What a key can hold: how each kind of value is read, written, and described to a person and to an editor.

use serde_json::{Value as Json, json};
use toml::de::DeValue;
use wordline_units::{Bytes, Microvolts, Nanos, Rate};

use crate::quantity::{AGE, DATA_RATE, Dimension, Refusal, SHARE, SIZE, TIME, TRANSFER_RATE, VOLTAGE, WHOLE, shown};

/// A kind of value.
pub(crate) trait Kind: Sized + Clone + PartialEq {
    /// What to write, for messages and the reference.
    fn expected() -> String;
    /// Reads a TOML value.
    fn read(value: &DeValue<'_>) -> Result<Self, Refusal>;
    /// Writes it as TOML, the same text for the same value always: hashes are taken over it.
    fn write(&self) -> String;
    /// JSON schema of the TOML value.
    fn schema() -> Json;
}

/// Reads a text with its unit.
fn quantity(dimension: &Dimension, value: &DeValue<'_>) -> Result<u64, Refusal> {
    match value {
        DeValue::String(text) => dimension.read(text),
        DeValue::Integer(number) => Err(bare(dimension, number.as_str())),
        DeValue::Float(number) => Err(bare(dimension, number.as_str())),
        DeValue::Boolean(_) | DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => Err(unfit(value, &dimension.expected())),
    }
}

fn bare(dimension: &Dimension, number: &str) -> Refusal {
    let unit = dimension.example.split(' ').nth(1).unwrap_or_default();
    let refusal = Refusal::new(format!("a bare number says no unit: expected {}", dimension.expected()));
    // A share below one was most likely meant as a fraction of the whole.
    match number.parse::<f64>() {
        Ok(fraction) if unit == "%" && fraction > 0.0 && fraction < 1.0 => {
            let percent = (fraction * 1e10).round() / 1e8;
            refusal.with_help(format!("write \"{percent} %\" if a fraction of the whole is meant, or \"{} %\"", shown(number)))
        }
        _ => refusal.with_help(format!("write \"{} {unit}\" if that is what is meant", shown(number))),
    }
}

/// The refusal of a value of the wrong TOML type.
pub(crate) fn unfit(value: &DeValue<'_>, expected: &str) -> Refusal {
    Refusal::new(format!("expected {expected}, found {}", toml_type(value)))
}

fn toml_type(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a decimal number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

fn quantity_schema(dimension: &Dimension) -> Json {
    let units: Vec<String> = dimension.units.iter().map(|(name, _)| name.replace('/', "\\/")).collect();
    json!({ "type": "string", "pattern": format!("^[0-9][0-9_]*(\\.[0-9_]+)? ?({})$", units.join("|")), "examples": [dimension.example] })
}

impl Kind for Nanos {
    fn expected() -> String {
        TIME.expected()
    }
    fn read(value: &DeValue<'_>) -> Result<Self, Refusal> {
        let nanos = quantity(&TIME, value)?;
        // Sums of spans are taken all over the simulator; a year each keeps all of them far from overflow.
        const YEAR: u64 = wordline_units::calendar::YEAR * 1_000_000_000;
        if nanos > YEAR { Err(Refusal::new("a time of more than a year")) } else { Ok(Nanos(nanos)) }
    }
    fn write(&self) -> String {
        quoted(&TIME.write(self.0))
    }
    fn schema() -> Json {
        quantity_schema(&TIME)
    }
}

impl Kind for Bytes {
    fn expected() -> String {
        SIZE.expected()
    }
    fn read(value: &DeValue<'_>) -> Result<Self, Refusal> {
        quantity(&SIZE, value).map(Bytes)
    }
    fn write(&self) -> String {
        quoted(&SIZE.write(self.0))
    }
    fn schema() -> Json {
        quantity_schema(&SIZE)
    }
}

impl Kind for Rate {
    fn expected() -> String {
        DATA_RATE.expected()
    }
    fn read(value: &DeValue<'_>) -> Result<Self, Refusal> {
        match quantity(&DATA_RATE, value)? {
            0 => Err(Refusal::new("a data rate of zero moves nothing")),
            rate => Ok(Rate::from_bytes_per_second(rate)),
        }
    }
    fn write(&self) -> String {
        quoted(&DATA_RATE.write(self.bytes_per_second()))
    }
    fn schema() -> Json {
        quantity_schema(&DATA_RATE)
    }
}

impl Kind for Microvolts {
    fn expected() -> String {
        VOLTAGE.expected()
    }
    fn read(value: &DeValue<'_>) -> Result<Self, Refusal> {
        // A hundred volts: five times what any word line sees, and sums of two stay far from overflow.
        match quantity(&VOLTAGE, value)? {
            voltage if voltage > 100_000_000 => Err(Refusal::new("a voltage of more than 100 V")),
            voltage => Ok(Microvolts(voltage as u32)),
        }
    }
    fn write(&self) -> String {
        quoted(&VOLTAGE.write(u64::from(self.0)))
    }
    fn schema() -> Json {
        quantity_schema(&VOLTAGE)
    }
}

/// Transfers per second on a bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transfers(pub(crate) u64);

impl Kind for Transfers {
    fn expected() -> String {
        TRANSFER_RATE.expected()
    }
    fn read(value: &DeValue<'_>) -> Result<Self, Refusal> {
        quantity(&TRANSFER_RATE, value).map(Transfers)
    }
    fn write(&self) -> String {
        quoted(&TRANSFER_RATE.write(self.0))
    }
    fn schema() -> Json {
        quantity_schema(&TRANSFER_RATE)
    }
}

/// A long time, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span(pub(crate) u64);

impl Kind for Span {
    fn expected() -> String {
        AGE.expected()
    }
    fn read(value: &DeValue<'_>) -> Result<Self, Refusal> {
        const CENTURY: u64 = 100 * wordline_units::calendar::YEAR;
        match quantity(&AGE, value)? {
            seconds if seconds > CENTURY => Err(Refusal::new("a time of more than a century")),
            seconds => Ok(Span(seconds)),
        }
    }
    fn write(&self) -> String {
        quoted(&AGE.write(self.0))
    }
    fn schema() -> Json {
        quantity_schema(&AGE)
    }
}

/// A temperature, in thousandths of a degree Celsius.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Degrees(pub(crate) i64);

impl Degrees {
    /// In degrees Celsius.
    pub(crate) fn celsius(self) -> f64 {
        self.0 as f64 / 1e3
    }
}

impl Degrees {
    /// Reads a temperature as a text.
    pub(crate) fn parse(text: &str) -> Result<Degrees, Refusal> {
        let number = text.trim().strip_suffix('C').map(|rest| rest.trim_end().trim_end_matches('°').trim_end());
        let degrees = number.and_then(|number| number.parse::<f64>().ok()).filter(|degrees| degrees.is_finite());
        let refusal =
            |what: &str| Refusal::new(format!("\"{}\" is {what}", shown(text))).with_help(format!("expected {}", Self::expected()));
        match degrees {
            None => Err(refusal("not a temperature")),
            Some(degrees) if !(-60.0..=200.0).contains(&degrees) => Err(refusal("no temperature of a drive: -60 C to 200 C")),
            Some(degrees) => Ok(Degrees((degrees * 1e3).round() as i64)),
        }
    }

    /// The text that it is written as.
    pub(crate) fn text(self) -> String {
        format!("{} C", self.celsius())
    }
}

impl Kind for Degrees {
    fn expected() -> String {
        "a temperature with its unit, such as \"30 C\"".into()
    }
    fn read(value: &DeValue<'_>) -> Result<Self, Refusal> {
        let DeValue::String(text) = value else { return Err(unfit(value, &Self::expected())) };
        Degrees::parse(text)
    }
    fn write(&self) -> String {
        quoted(&self.text())
    }
    fn schema() -> Json {
        json!({ "type": "string", "pattern": "^[-+]?[0-9]+(\\.[0-9]+)? ?°?C$", "examples": ["30 C"] })
    }
}

/// A number without a unit, in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number(pub(crate) u64);

impl Number {
    /// As it is written.
    pub(crate) fn value(self) -> f64 {
        self.0 as f64 / 1e3
    }
}

impl Kind for Number {
    fn expected() -> String {
        "a number, such as 2.5".into()
    }
    fn read(value: &DeValue<'_>) -> Result<Self, Refusal> {
        const MOST: f64 = 1e6;
        let number = match value {
            DeValue::Integer(number) => number.as_str().parse::<f64>(),
            DeValue::Float(number) => number.as_str().parse::<f64>(),
            DeValue::String(_) | DeValue::Boolean(_) | DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => {
                return Err(unfit(value, &Self::expected()));
            }
        };
        match number {
            Ok(number) if (0.0..=MOST).contains(&number) => Ok(Number((number * 1e3).round() as u64)),
            Ok(_) | Err(_) => Err(Refusal::new(format!("expected a number from 0 to {MOST}"))),
        }
    }
    fn write(&self) -> String {
        self.value().to_string()
    }
    fn schema() -> Json {
        json!({ "type": "number", "minimum": 0, "maximum": 1_000_000 })
    }
}

/// A share between nothing and the whole, in parts of [`WHOLE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share(pub(crate) u64);

impl Share {
    pub(crate) const NONE: Share = Share(0);
    pub(crate) const ALL: Share = Share(WHOLE);
    pub(crate) const NINE_TENTHS: Share = Share(WHOLE / 10 * 9);
    pub(crate) const QUARTER: Share = Share(WHOLE / 4);
    pub(crate) const TWO_PERCENT: Share = Share(WHOLE / 50);
    pub(crate) const ALMOST_ALL: Share = Share(WHOLE / 50 * 49);

    /// As a number between 0 and 1.
    pub(crate) fn fraction(self) -> f64 {
        self.0 as f64 / WHOLE as f64
    }

    /// This share of `count`, rounded down.
    pub(crate) fn of(self, count: u64) -> u64 {
        (u128::from(count) * u128::from(self.0) / u128::from(WHOLE)) as u64
    }
}

impl Kind for Share {
    fn expected() -> String {
        SHARE.expected()
    }
    fn read(value: &DeValue<'_>) -> Result<Self, Refusal> {
        match quantity(&SHARE, value)? {
            parts if parts > WHOLE => Err(Refusal::new("a share of more than 100 %")),
            parts => Ok(Share(parts)),
        }
    }
    fn write(&self) -> String {
        // Always per cent, however small: one look compares two of them.
        let (whole, rest) = (self.0 / SHARE.units[0].1, self.0 % SHARE.units[0].1);
        let text = format!("{whole}.{rest:013}");
        format!("\"{} %\"", text.trim_end_matches('0').trim_end_matches('.'))
    }
    fn schema() -> Json {
        quantity_schema(&SHARE)
    }
}

impl Kind for u32 {
    fn expected() -> String {
        "a whole number, such as 8".into()
    }
    fn read(value: &DeValue<'_>) -> Result<Self, Refusal> {
        let number = <u64 as Kind>::read(value)?;
        u32::try_from(number).map_err(|_| Refusal::new(format!("a count of more than {}", u32::MAX)))
    }
    fn write(&self) -> String {
        self.to_string()
    }
    fn schema() -> Json {
        json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX })
    }
}

/// A number of block groups of a die, as a count or as a share of those that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Groups {
    Count(u32),
    Share(Share),
}

impl Groups {
    /// The number of them on a die of `groups` groups; a share is rounded down.
    pub(crate) fn of(self, groups: u32) -> u32 {
        match self {
            Groups::Count(count) => count,
            Groups::Share(share) => share.of(u64::from(groups)) as u32,
        }
    }
}

impl Kind for Groups {
    fn expected() -> String {
        format!("{}, or a share of the die's blocks, such as \"5 %\"", <u32 as Kind>::expected())
    }
    fn read(value: &DeValue<'_>) -> Result<Self, Refusal> {
        match value {
            DeValue::String(_) => Share::read(value).map(Groups::Share),
            DeValue::Integer(_) => <u32 as Kind>::read(value).map(Groups::Count),
            DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => {
                Err(unfit(value, &Self::expected()))
            }
        }
    }
    fn write(&self) -> String {
        match self {
            Groups::Count(count) => count.write(),
            Groups::Share(share) => share.write(),
        }
    }
    fn schema() -> Json {
        json!({ "anyOf": [<u32 as Kind>::schema(), Share::schema()] })
    }
}

impl Kind for u64 {
    fn expected() -> String {
        <u32 as Kind>::expected()
    }
    fn read(value: &DeValue<'_>) -> Result<Self, Refusal> {
        let DeValue::Integer(number) = value else {
            let refusal = unfit(value, &<Self as Kind>::expected());
            return Err(if matches!(value, DeValue::String(_)) {
                refusal.with_help("a count has no unit: leave the quotes out")
            } else {
                refusal
            });
        };
        if number.as_str().starts_with('-') {
            return Err(Refusal::new("a count cannot be negative"));
        }
        let digits = number.as_str().trim_start_matches('+');
        u64::from_str_radix(digits, number.radix()).map_err(|_| Refusal::new(format!("a count of more than {}", u64::MAX)))
    }
    fn write(&self) -> String {
        self.to_string()
    }
    fn schema() -> Json {
        json!({ "type": "integer", "minimum": 0 })
    }
}

impl Kind for bool {
    fn expected() -> String {
        "true or false".into()
    }
    fn read(value: &DeValue<'_>) -> Result<Self, Refusal> {
        match value {
            DeValue::Boolean(yes) => Ok(*yes),
            DeValue::String(_) => Err(unfit(value, &Self::expected()).with_help("leave the quotes out")),
            DeValue::Integer(_) | DeValue::Float(_) | DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => {
                Err(unfit(value, &Self::expected()))
            }
        }
    }
    fn write(&self) -> String {
        self.to_string()
    }
    fn schema() -> Json {
        json!({ "type": "boolean" })
    }
}

/// A decimal number that may be negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Decimal(pub(crate) f64);

/// Reads a number of either TOML type.
fn decimal(text: &str) -> Option<f64> {
    const MOST: f64 = 1e9;
    text.replace('_', "").parse::<f64>().ok().filter(|number| number.abs() <= MOST)
}

impl Kind for Decimal {
    fn expected() -> String {
        "a number, such as -0.25".into()
    }
    fn read(value: &DeValue<'_>) -> Result<Self, Refusal> {
        let number = match value {
            DeValue::Integer(number) => decimal(number.as_str()),
            DeValue::Float(number) => decimal(number.as_str()),
            DeValue::String(_) | DeValue::Boolean(_) | DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => {
                return Err(unfit(value, &Self::expected()));
            }
        };
        number.map(Decimal).ok_or_else(|| Refusal::new("expected a number between -1000000000 and 1000000000"))
    }
    fn write(&self) -> String {
        self.0.to_string()
    }
    fn schema() -> Json {
        json!({ "type": "number", "minimum": -1e9, "maximum": 1e9 })
    }
}

/// An energy of one electron or hole, in eV.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Electronvolts(pub(crate) f64);

impl Kind for Electronvolts {
    fn expected() -> String {
        "an energy with its unit, such as \"1.1 eV\"".into()
    }
    fn read(value: &DeValue<'_>) -> Result<Self, Refusal> {
        const MOST: f64 = 10.0;
        let DeValue::String(text) = value else { return Err(unfit(value, &Self::expected())) };
        let number = text.trim().strip_suffix("eV").and_then(|rest| rest.trim_end().parse::<f64>().ok());
        match number {
            Some(energy) if (0.0..=MOST).contains(&energy) => Ok(Electronvolts(energy)),
            Some(_) => Err(Refusal::new(format!("\"{}\" is no activation energy: 0 eV to {MOST} eV", shown(text)))),
            None => Err(Refusal::new(format!("\"{}\" is not an energy", shown(text))).with_help(format!("expected {}", Self::expected()))),
        }
    }
    fn write(&self) -> String {
        quoted(&format!("{} eV", self.0))
    }
    fn schema() -> Json {
        json!({ "type": "string", "pattern": "^[0-9]+(\\.[0-9]+)? ?eV$", "examples": ["1.1 eV"] })
    }
}

impl Kind for i8 {
    fn expected() -> String {
        "a whole number from -128 to 127".into()
    }
    fn read(value: &DeValue<'_>) -> Result<Self, Refusal> {
        let DeValue::Integer(number) = value else { return Err(unfit(value, &Self::expected())) };
        let read = i8::from_str_radix(number.as_str(), number.radix());
        read.map_err(|_| Refusal::new(format!("{} is out of range: expected {}", shown(number.as_str()), Self::expected())))
    }
    fn write(&self) -> String {
        self.to_string()
    }
    fn schema() -> Json {
        json!({ "type": "integer", "minimum": i8::MIN, "maximum": i8::MAX })
    }
}

impl Kind for String {
    fn expected() -> String {
        "a text".into()
    }
    fn read(value: &DeValue<'_>) -> Result<Self, Refusal> {
        match value {
            DeValue::String(text) => Ok(text.to_string()),
            DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_) => Err(unfit(value, &Self::expected())),
        }
    }
    fn write(&self) -> String {
        quoted(self)
    }
    fn schema() -> Json {
        json!({ "type": "string" })
    }
}

/// A value, or the word `"none"`, which also takes back what a parent file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Maybe<T>(pub(crate) Option<T>);

impl<T: Kind> Kind for Maybe<T> {
    fn expected() -> String {
        format!("{}, or \"none\"", T::expected())
    }
    fn read(value: &DeValue<'_>) -> Result<Self, Refusal> {
        match value {
            DeValue::String(text) if text == "none" => Ok(Maybe(None)),
            DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_) => T::read(value).map(|value| Maybe(Some(value))),
        }
    }
    fn write(&self) -> String {
        self.0.as_ref().map_or_else(|| "\"none\"".into(), T::write)
    }
    fn schema() -> Json {
        json!({ "anyOf": [T::schema(), { "const": "none" }] })
    }
}

/// Several values of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct List<T>(pub(crate) Vec<T>);

impl<T: Kind> Kind for List<T> {
    fn expected() -> String {
        format!("a list, of which each is {}", T::expected())
    }
    fn read(value: &DeValue<'_>) -> Result<Self, Refusal> {
        let DeValue::Array(list) = value else { return Err(unfit(value, &Self::expected())) };
        list.iter().map(|item| T::read(item.get_ref())).collect::<Result<Vec<T>, Refusal>>().map(List)
    }
    fn write(&self) -> String {
        format!("[{}]", self.0.iter().map(T::write).collect::<Vec<_>>().join(", "))
    }
    fn schema() -> Json {
        json!({ "type": "array", "items": T::schema() })
    }
}

/// A text as a TOML basic string.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04x}", c as u32)),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}
