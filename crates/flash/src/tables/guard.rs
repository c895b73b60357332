//! Erases that spare the weakest wordlines (001 §3.2).

/// One mode of guarded erases.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GuardMode {
    /// Wordlines that a guarded erase spares, n_WL.
    pub wordlines: u32,
    /// Share of guarded erases among all, f.
    pub share: f64,
    /// Endurance of a block with this mode over that with normal erases alone.
    pub endurance: f64,
}

/// What guarded erases are worth on a kind of chip.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Guard {
    /// Seed of the lot that the table was made from.
    pub seed: u64,
    /// H-layers, weakest first.
    pub order: Vec<u32>,
    /// Endurance of each h-layer over that of a block's weakest, topmost first.
    pub relative: Vec<f64>,
    /// Modes, the one that costs least first.
    pub modes: Vec<GuardMode>,
    /// Wear of a guarded erase and its program over that of a normal cycle, by which modes are worked out.
    pub coefficient: f64,
}
