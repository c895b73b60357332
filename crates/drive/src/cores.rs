//! Firmware cores of a drive, each with its share of the dies.

use wordline_ftl::Firmware;
use wordline_ftl::techniques::hooks::Hook;
use wordline_units::{DieId, Nanos};

use crate::config::Config;
use crate::device::dies::{Dies, factory_bad};
use crate::host::requests::Host;

/// Firmware of each core of a drive of this `config`, for its `dies`.
pub(crate) fn firmware(config: &Config, host: &Host, dies: &Dies) -> Vec<Firmware> {
    let geometry = &config.sheet.geometry;
    let per_core = geometry.dies() / config.cores;
    let keeps = dies.keep_bytes();
    let of_core = |core: u32| {
        let mut firmware = config.firmware.clone();
        firmware.dies = per_core;
        firmware.core = core;
        firmware.read_entries = dies.levels();
        firmware.read_search = config.searches();
        firmware.transfer = config.page_transfer();
        firmware.codeword_bits = config.cells.as_ref().map_or(0, |cells| (8.0 * cells.physics.ecc.codeword) as u32);
        firmware.keeps_data = keeps;
        let has_keys = firmware.techniques.iter().any(|choice| choice.card().hooks.has(Hook::KeyStore));
        assert!(!keeps || !has_keys, "a drive that keeps bytes has no techniques that encrypt them");
        firmware.seed = config.seed;
        firmware.exported_units = host.stripe().share(core, config.exported_units);
        firmware.factory_bad = (0..per_core as u16).map(|local| factory_bad(dies.of(core, DieId(local)), geometry)).collect();
        let mut core = Firmware::new(firmware);
        config.cells.iter().for_each(|cells| core.warmth(Nanos::ZERO, cells.temperature));
        core
    };
    (0..config.cores).map(of_core).collect()
}
