//! How long a day, a month and a year are, in seconds. Retention and rest are counted in these; everything below an hour is a [`Nanos`](crate::Nanos).

/// An hour.
pub const HOUR: u64 = 3_600;
/// A day.
pub const DAY: u64 = 24 * HOUR;
/// A year of 365 days.
pub const YEAR: u64 = 365 * DAY;
/// A twelfth of a year, so that twelve months are one.
pub const MONTH: u64 = YEAR / 12;
