//! Times for which data is kept, as options give them: `3mo` or `3mo@40C`.

use wordline_units::Celsius;

use crate::kind::Degrees;
use crate::quantity::{AGE, Refusal};

/// Longest time for which data is kept, in seconds.
const CENTURY: u64 = 100 * wordline_units::calendar::YEAR;

/// A time for which data is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptFor {
    /// The time, in seconds.
    pub seconds: u64,
    /// Its temperature; `None`: none was named.
    pub at: Option<Celsius>,
}

impl KeptFor {
    /// Reads a time and perhaps its temperature, such as "3mo@40C".
    ///
    /// # Errors
    /// The fault of the text, and the expected form.
    pub fn read(text: &str) -> Result<KeptFor, String> {
        let (time, at) = text.split_once('@').map_or((text, None), |(time, at)| (time, Some(at)));
        let told = |refusal: Refusal| match refusal.help {
            Some(help) => format!("{}: {help}", refusal.what),
            None => refusal.what,
        };
        let seconds = AGE.read(time).map_err(told)?;
        if seconds == 0 || seconds > CENTURY {
            return Err(format!(
                "\"{time}\" is no time to be kept for: expected more than none and up to a century, such as \"3mo\" or \"3mo@40C\""
            ));
        }
        let at = at.map(Degrees::parse).transpose().map_err(told)?;
        Ok(KeptFor { seconds, at: at.map(|degrees| Celsius(degrees.celsius())) })
    }

    /// The time in words, such as "3 mo".
    pub fn words(&self) -> String {
        AGE.write(self.seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_temperature_and_nonsense_is_refused() {
        let kept = KeptFor::read("3mo@40C").expect("a time");
        assert_eq!((kept.seconds, kept.at, kept.words().as_str()), (7_884_000, Some(Celsius(40.0)), "3 mo"));
        assert_eq!(KeptFor::read("2 d"), Ok(KeptFor { seconds: 172_800, at: None }));
        let told = |text: &str| KeptFor::read(text).expect_err(text);
        assert!(told("3 months").contains("did you mean \"mo\"") || told("3 months").contains("units are"), "{}", told("3 months"));
        assert!(told("3").contains("has no unit") && told("0 s").contains("such as \"3mo\"") && told("200 y").contains("up to a century"));
        assert!(told("3mo@").contains("not a temperature") && told("3mo@400C").contains("no temperature of a drive"));
        assert!(told("2k+3mo").contains("no unit of time"), "{}", told("2k+3mo"));
    }
}
