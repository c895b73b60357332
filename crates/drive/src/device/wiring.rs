//! Wiring: the dies dealt out to firmware cores and to channels.

use wordline_units::{ChannelId, DieId, Geometry, Id};

/// Assignment of dies to cores and to channels.
#[derive(Clone, Debug)]
pub(crate) struct Wiring {
    homes: Vec<(u32, DieId)>,
    /// The dies of each core, core after core.
    dies: Vec<DieId>,
    dies_per_core: u32,
    /// Channel of each die: a table, because a division costs more than a look-up.
    channels: Vec<ChannelId>,
}

impl Wiring {
    /// Assigns whole channels to each core where the counts allow it, and single dies in turn otherwise. A core's own dies are counted across its channels
    /// first, so that neighbours in its turn are on different buses.
    pub(crate) fn new(geometry: &Geometry, cores: u32) -> Wiring {
        let (channels, dies) = (geometry.channels, geometry.dies());
        assert!(dies.is_multiple_of(cores), "{dies} dies cannot be dealt out to {cores} cores");
        let dies_per_core = dies / cores;
        let mut table = Vec::with_capacity(dies as usize);
        let mut homes = vec![(0, DieId(0)); dies as usize];
        for core in 0..cores {
            for local in 0..dies_per_core {
                let die = if channels.is_multiple_of(cores) {
                    let each = channels / cores;
                    local / each * channels + core * each + local % each
                } else {
                    local * cores + core
                };
                homes[die as usize] = (core, DieId(local as u16));
                table.push(DieId(die as u16));
            }
        }
        let channels = (0..dies).map(|die| ChannelId((die % channels) as u16)).collect();
        Wiring { homes, dies: table, dies_per_core, channels }
    }

    /// Core that owns `die`, and the die's number there.
    pub(crate) fn home(&self, die: DieId) -> (u32, DieId) {
        self.homes[die.index()]
    }

    /// Die of the drive that is `local` of `core`.
    #[inline]
    pub(crate) fn die(&self, core: u32, local: DieId) -> DieId {
        self.dies[(core * self.dies_per_core) as usize + local.index()]
    }

    /// The channel of `die`.
    #[inline]
    pub(crate) fn channel(&self, die: DieId) -> ChannelId {
        self.channels[die.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_units::{Bytes, CellKind};

    #[test]
    fn every_die_has_one_home() {
        let geometry = |channels, dies_per_channel| Geometry {
            channels,
            dies_per_channel,
            planes: 1,
            blocks: 1,
            layers: 1,
            wordlines_per_layer: 1,
            cell: CellKind::Tlc,
            page: Bytes::kib(16),
            spare: Bytes(0),
        };
        for (channels, dies, cores) in [(2, 4, 1), (16, 32, 4), (2, 4, 4), (3, 4, 2)] {
            let wiring = Wiring::new(&geometry(channels, dies), cores);
            for die in 0..(channels * dies) as u16 {
                let (core, local) = wiring.home(DieId(die));
                assert_eq!(wiring.die(core, local), DieId(die));
            }
        }
    }
}
