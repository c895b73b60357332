//! What a drive is, in a line: its flash, its spare, its dies.

use wordline_units::Bytes;

use wordline_figures::result::CapacityResult;

/// `27.99 GiB of 30.09 GiB raw; spare 7.00 %, usable 5.90 %; 8 dies on 2 channels`.
pub(crate) fn told(capacity: &CapacityResult) -> String {
    let CapacityResult { dies, channels, .. } = *capacity;
    let plural = |count: u32, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    let (dies, channels) = (plural(dies, "die", "dies"), plural(channels, "channel", "channels"));
    format!("{}; spare {}; {dies} on {channels}", flash(capacity), spare(capacity))
}

/// `27.99 GiB of 30.09 GiB raw`.
pub(crate) fn flash(capacity: &CapacityResult) -> String {
    format!("{} of {} raw", Bytes(capacity.exported_bytes), Bytes(capacity.raw_bytes))
}

/// `7.00 %, usable 5.90 %`.
pub(crate) fn spare(capacity: &CapacityResult) -> String {
    format!("{:.2} %, usable {:.2} %", capacity.spare_nominal * 100.0, capacity.spare_usable * 100.0)
}
