//! `wordline compare --sweep KEY=VALUE,…`: one key of the drives' plans at several values.

use wordline_figures::Setting;
use wordline_plan::{Plan, sized_alike};

use crate::args::CompareOptions;
use crate::cells::CellOptions;
use crate::failure::Failure;

/// The share of raw flash that the host does not see.
const SPARE: &str = "mapping.over_provisioning";
/// What the host sees.
const CAPACITY: &str = "mapping.capacity";

/// A key and the values that it takes, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sweep {
    key: String,
    values: Vec<String>,
}

/// The drives with the key at one value.
pub(crate) struct At {
    pub(crate) swept: Setting,
    pub(crate) plans: Vec<Plan>,
}

impl Sweep {
    /// Takes `key=value,value,…` apart.
    pub(crate) fn parse(text: &str) -> Result<Sweep, Failure> {
        let wrong = |why: &str| {
            Failure::Usage(format!("--sweep '{text}': {why}; expected a key and its values, such as mapping.over_provisioning=5%,7%,14%"))
        };
        let (key, values) = text.split_once('=').ok_or_else(|| wrong("there is no '='"))?;
        let (key, values) = (key.trim().to_owned(), split(values));
        if key.is_empty() || values.iter().any(String::is_empty) {
            return Err(wrong(if key.is_empty() { "the key is empty" } else { "a value is empty" }));
        }
        if values.len() < 2 {
            return Err(wrong("one value is no sweep (--set sets it)"));
        }
        if let Some((_, twice)) = values.iter().enumerate().find(|(index, value)| values[..*index].contains(value)) {
            return Err(wrong(&format!("the value {twice} is named twice")));
        }
        Ok(Sweep { key, values })
    }

    /// The drives with `cells` at each value, all of them checked.
    pub(crate) fn plans(&self, options: &CompareOptions, cells: &CellOptions) -> Result<Vec<At>, Failure> {
        self.refuse_overruled(options)?;
        let own = |value: &String| self.load(options, cells, value);
        let own: Vec<Vec<Plan>> = self.values.iter().map(own).collect::<Result<_, Failure>>()?;
        self.refuse_same(&own, options.shape.size.is_some().then_some("at the drives' own size"))?;
        let plans = match &options.shape.size {
            None => own,
            Some(size) if self.key == SPARE => self.on_equal_flash(options, cells, size, &own)?,
            Some(size) => self.sized(size, &own)?,
        };
        self.refuse_same(&plans, None)?;
        let at = |(value, plans): (&String, Vec<Plan>)| At { swept: Setting { key: self.key.clone(), value: value.clone() }, plans };
        Ok(self.values.iter().zip(plans).map(at).collect())
    }

    /// What cannot be swept because another option says it.
    fn refuse_overruled(&self, options: &CompareOptions) -> Result<(), Failure> {
        let twice = |other: &str| Failure::Usage(format!("--sweep {}: {other} says it too; leave one of them out", self.key));
        let is_set = |setting: &&String| setting.split_once('=').is_some_and(|(key, _)| key.trim() == self.key);
        if let Some(setting) = options.shape.settings.iter().find(is_set) {
            return Err(twice(&format!("--set {setting}")));
        }
        match self.key.as_str() {
            CAPACITY if options.shape.size.is_some() => Err(twice("--size")),
            "run.fill" if options.load.fill.is_some() => Err(twice("--fill")),
            _ => Ok(()),
        }
    }

    /// The drives as their files have them, but for the key.
    fn load(&self, options: &CompareOptions, cells: &CellOptions, value: &str) -> Result<Vec<Plan>, Failure> {
        let setting = format!("{}={value}", self.key);
        let load = |drive: &String| options.shape.load_whole(drive, cells, &[&setting]);
        let plans = options.drives.iter().map(|drive| load(drive).map(|(plan, _)| plan).map_err(|why| self.refused(value, drive, &why)));
        options.start().of(plans.collect::<Result<_, Failure>>()?)
    }

    fn refused(&self, value: &str, drive: &str, why: &dyn std::fmt::Display) -> Failure {
        Failure::Usage(format!("--sweep {}={value}, {drive}: {why}", self.key))
    }

    /// Drives of `size` for the host at every value; those that have the same flash have one shape of it afterwards, or are refused.
    fn sized(&self, size: &str, own: &[Vec<Plan>]) -> Result<Vec<Vec<Plan>>, Failure> {
        let all: Vec<&Plan> = own.iter().flatten().collect();
        // Where they cannot be sized together, the first value that cannot be sized is named.
        let sized = match sized_alike(&all, size) {
            Ok(sized) => sized,
            Err(why) => {
                let alone = |plans: &Vec<Plan>| {
                    plans.iter().find_map(|plan| Some((plan.name().to_owned(), wordline_plan::sized(plan, size).err()?)))
                };
                let first = self.values.iter().zip(own).find_map(|(value, plans)| Some((value, alone(plans)?)));
                return Err(match first {
                    Some((value, (drive, why))) => self.refused(value, &drive, &why),
                    None => why.into(),
                });
            }
        };
        let mut sized = sized.into_iter().map(|(plan, _)| plan);
        Ok(own.iter().map(|plans| sized.by_ref().take(plans.len()).collect()).collect())
    }

    /// Another share of spare flash is no other flash: the flash is that of the drives with their own share and `size` for the host, and at each value the host
    /// sees what leaves the usable spare that the value makes at the drive's own size.
    fn on_equal_flash(
        &self,
        options: &CompareOptions,
        cells: &CellOptions,
        size: &str,
        own: &[Vec<Plan>],
    ) -> Result<Vec<Vec<Plan>>, Failure> {
        debug_assert_eq!(options.shape.size.as_deref(), Some(size), "the size is that of the command line");
        let base = options.shape.load_alike(&options.drives, cells, options.start())?;
        let at = |(value, plans): (&String, &Vec<Plan>)| -> Result<Vec<Plan>, Failure> {
            let on = |(plan, base): (&Plan, &Plan)| {
                let (plan, _) = wordline_plan::on_flash_of(plan, base).map_err(|why| self.refused(value, plan.name(), &why))?;
                let note = format!(
                    "--size {size} is what the host sees at the drive's own share of spare flash; at each value it sees what leaves as much of the same {} of \
                     flash usable as that value does at the drive's own size",
                    base.figures().raw
                );
                // Of the flash there is to say what there was to say of it at the drive's own share.
                let of_size: Vec<String> = base.notes().iter().filter(|note| !plan.notes().contains(note)).cloned().collect();
                Ok(of_size.iter().fold(plan.with_note(&note), |plan, note| plan.with_note(note)))
            };
            plans.iter().zip(&base).map(on).collect()
        };
        self.values.iter().zip(own).map(at).collect()
    }

    /// Refuses values that make no other drive of any drive. `where_they_are` is said of drives that are not yet what will run.
    fn refuse_same(&self, plans: &[Vec<Plan>], where_they_are: Option<&str>) -> Result<(), Failure> {
        for (index, now) in plans.iter().enumerate() {
            let same = |known: &Vec<Plan>| known.iter().zip(now).all(|(known, now)| known.makes_same(now));
            let Some(earlier) = plans[..index].iter().position(same) else { continue };
            let (now, before) = (&self.values[index], &self.values[earlier]);
            let place = where_they_are.map(|place| format!(" {place}")).unwrap_or_default();
            let why = if self.key == SPARE {
                format!("; where {CAPACITY} is set, it alone says what the host sees")
            } else {
                "; is what it belongs to switched on?".to_owned()
            };
            return Err(Failure::Usage(format!(
                "--sweep {}: {now} makes the same drive{} as {before}{place}{why}",
                self.key,
                if plans[0].len() == 1 { "" } else { "s" }
            )));
        }
        Ok(())
    }
}

/// What must be known of a sweep as a whole: that the flash is not the same at all values, and drives of which the key changes nothing.
pub(crate) fn notes(all: &[&[Plan]], key: &str) -> Vec<String> {
    let mut notes = Vec::new();
    for (index, first) in all.first().copied().unwrap_or_default().iter().enumerate() {
        let drives: Vec<&Plan> = all.iter().filter_map(|plans| plans.get(index)).collect();
        if drives.iter().any(|plan| plan.figures().raw != first.figures().raw) {
            let mut each: Vec<String> = drives.iter().map(|plan| plan.figures().raw.to_string()).collect();
            each.dedup();
            notes.push(format!("{}: the values of {key} have not the same raw flash: {}", first.name(), each.join(", ")));
        }
        if drives.iter().all(|plan| plan.makes_same(first)) {
            notes.push(format!("{}: {key} changes nothing in it", first.name()));
        }
    }
    notes
}

/// The values between commas, but for those within brackets or quotes.
fn split(text: &str) -> Vec<String> {
    let (mut values, mut depth, mut is_quoted) = (vec![String::new()], 0_usize, false);
    for letter in text.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '[' | '{' if !is_quoted => depth += 1,
            ']' | '}' if !is_quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        if letter == ',' && depth == 0 && !is_quoted {
            values.push(String::new());
        } else if let Some(last) = values.last_mut() {
            last.push(letter);
        }
    }
    values.iter().map(|value| value.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_is_a_key_and_its_values() {
        let sweep = Sweep::parse("mapping.over_provisioning=5%, 7 %").unwrap();
        assert_eq!(sweep, Sweep { key: "mapping.over_provisioning".into(), values: vec!["5%".into(), "7 %".into()] });
        assert_eq!(split("[1, 2],\"a,b\",3"), ["[1, 2]", "\"a,b\"", "3"]);
    }

    #[test]
    fn what_is_no_sweep_is_refused() {
        for (wrong, word) in
            [("a.b", "no '='"), ("=1,2", "key is empty"), ("a.b=1,,2", "value is empty"), ("a.b=1", "one value"), ("a.b=1,2,1", "twice")]
        {
            let told = Sweep::parse(wrong).expect_err(wrong).to_string();
            assert!(told.contains(word) && told.contains("mapping.over_provisioning=5%"), "{wrong}: {told}");
        }
    }
}
