//! Classes of blocks by share.

use wordline_flash::Tables;

use crate::keys::filled::Sections;
use crate::kind::{Kind, Share};
use crate::layer::Mistakes;

/// Shares of the blocks that are of the best, the median and the worst class; `None`: blocks have no classes by share. They stand beside a table of copies,
/// and not beside physics.
pub(crate) fn classes(sections: &Sections, has_physics: bool, tables: &Tables, mistakes: &mut Mistakes<'_>) -> Option<[f64; 3]> {
    let keys = &sections.classes;
    let all = [("best", &keys.best), ("median", &keys.median), ("worst", &keys.worst)];
    let (name, first) = all.into_iter().find(|(_, share)| share.value != Share::NONE)?;
    let told = format!("classes.{name} is {}", first.value.write().trim_matches('"'));
    if has_physics {
        let help = "leave out [classes], or set cells.physics = false".into();
        mistakes.at(&first.origin, format!("{told}, and the cells have their physics: a block is of the class of its errors"), Some(help));
    }
    if tables.copyback.is_none() {
        let help = "give the drive a [copyback] section, or leave out [classes]".into();
        mistakes.at(&first.origin, format!("{told}, and there is no [copyback] whose pe_errors blocks could show"), Some(help));
    }
    let sum: u128 = all.iter().map(|(_, share)| u128::from(share.value.0)).sum();
    if sum != u128::from(Share::ALL.0) {
        let shares = all.map(|(_, share)| share.value.write().trim_matches('"').to_owned()).join(", ");
        mistakes.at(&first.origin, format!("classes.best, median and worst are {shares}: expected shares that sum to 100 %"), None);
    }
    Some(all.map(|(_, share)| share.value.fraction()))
}
