//! Temperature of a drive over its life: it changes at instants that the plan names.

use wordline_ftl::Firmware;
use wordline_units::{Celsius, Nanos};

use crate::config::Config;
use crate::device::dies::Dies;

/// Changes of temperature, and the time at which the drive is among them.
#[derive(Clone, Debug)]
pub(crate) struct Warmth {
    /// Temperatures with the instants at which they begin, rising and counted from the start of a new drive.
    changes: Vec<(Nanos, Celsius)>,
    /// Time for which the drive had worked when its present clock began.
    lived: Nanos,
}

impl Warmth {
    /// Temperatures of a new drive of this `config`.
    pub(crate) fn new(config: &Config) -> Warmth {
        let changes = config.cells.as_ref().map_or_else(Vec::new, |cells| cells.changes.clone());
        Warmth { changes, lived: Nanos::ZERO }
    }

    /// Time for which the drive has worked at `now`; none, if its temperature does not change.
    pub(crate) fn lived(&self, now: Nanos) -> Nanos {
        if self.changes.is_empty() { Nanos::ZERO } else { self.lived + now }
    }

    /// Begins the clock anew on a drive that has worked for `lived`. Returns its temperature, if it is no longer the first one.
    pub(crate) fn begin_after(&mut self, lived: Nanos) -> Option<Celsius> {
        self.lived = lived;
        self.changes.iter().rfind(|(at, _)| *at <= lived).map(|(_, celsius)| *celsius)
    }

    /// Temperature to which the drive changes at `now`; `None`: it does not.
    pub(crate) fn change_at(&self, now: Nanos) -> Option<Celsius> {
        self.changes.iter().find(|(at, _)| *at == self.lived + now).map(|(_, celsius)| *celsius)
    }

    /// Instant of the first change after `now`.
    pub(crate) fn next(&self, now: Nanos) -> Option<Nanos> {
        self.changes.iter().map(|(at, _)| *at).find(|at| *at > self.lived + now).map(|at| at - self.lived)
    }
}

/// Sets the temperature of all dies, which the board's sensor reports to the firmware. Returns false, without effect, if the cells have no physics.
pub(crate) fn set(temperature: Celsius, now: Nanos, ftls: &mut [Firmware], dies: &mut Dies) -> bool {
    let mut is_felt = false;
    for (_, chip) in dies.iter_mut() {
        is_felt |= chip.set_temperature(temperature, now);
    }
    if is_felt {
        ftls.iter_mut().for_each(|ftl| ftl.warmth(now, temperature));
    }
    is_felt
}
