//! Versions of files, as a table.

use wordline_figures::vertrace::{Extreme, VerTraceResult};

use crate::number::{count, number};

/// The table for a terminal.
pub(super) fn lines(result: &VerTraceResult) -> Vec<String> {
    let header = ["files", "insecure", "VAF mean", "VAF max", "T mean", "T max"].map(|name| format!("{name:>11}")).concat();
    let mut lines = vec![format!("  {:<16}{header}", "versions")];
    for class in &result.classes {
        let shown = |value: Option<f64>| value.map_or("-".to_owned(), number);
        let most = |extreme: Option<Extreme>| shown(extreme.map(|extreme| extreme.value));
        let cells = [
            count(class.files),
            count(class.insecure_files),
            shown(class.vaf_mean),
            most(class.vaf_max),
            shown(class.t_insecure_mean),
            most(class.t_insecure_max),
        ];
        lines.push(format!("  {:<16}{}", class.class, cells.map(|cell| format!("{cell:>11}")).concat()));
    }
    lines
        .push(format!("  T_insecure in capacities written, of {} in all; plots are in the JSON output", number(result.capacities_written)));
    lines
}
