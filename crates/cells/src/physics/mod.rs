//! The parameters of a chip's cells: plain data, filled from a chip file.
//!
//! No number of physics stands in code. The equations that use these are in the modules named after them, and `docs/models/` explains them.

mod check;
mod table;

use wordline_units::{Bytes, CellKind};

pub use check::Fault;
pub use table::{Parameter, Unit};

use table::{Held, field, parameters};

/// The shape of a block and what a cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bits per cell.
    pub cell: CellKind,
    /// Horizontal layers in a block; layer 0 is the topmost.
    pub layers: u32,
    /// Wordlines in an h-layer.
    pub wordlines_per_layer: u32,
    /// User bytes in a page.
    pub page: Bytes,
    /// Spare bytes in a page.
    pub spare: Bytes,
}

impl Shape {
    /// Wordlines in a block.
    pub const fn wordlines(&self) -> u32 {
        self.layers * self.wordlines_per_layer
    }

    /// Cells on a wordline: one for each bit of a page with its spare area.
    pub const fn cells(&self) -> u32 {
        ((self.page.0 + self.spare.0) * 8) as u32
    }

    /// States of a cell.
    pub const fn states(&self) -> usize {
        1 << self.cell.bits()
    }
}

parameters! {
    /// States of a cell that has just been programmed.
    states: States {
        /// Mean threshold voltage of erased cells, programmed neighbours included.
        erased_mean: Millivolts;
        /// Standard deviation of erased cells.
        erased_sigma: Millivolts;
        /// Verify level of each programmed state, lowest first: where its distribution begins.
        verify: MillivoltList;
        /// Width of what program-verify leaves above the verify level, as a share of the shift of one loop.
        placement: Share;
        /// Standard deviation of everything that is added to a placed cell on a fresh wordline of the reference layer: read noise, interference, random
        /// telegraph noise.
        noise: Millivolts;
        /// Widening of the noise of the highest state: deviation, relative.
        top_noise: Number;
        /// Deviation of the noise of each programmed state over `noise`, lowest first; one value: that of all.
        noise_by_state: NumberList;
        /// Gate voltage of unselected wordlines during a read, V_READ.
        pass: Millivolts;
        /// The bits of each state, from the erased one up; bit 0 is the LSB page.
        coding: Codes;
        /// Read references the chip starts with, R1 first.
        references: MillivoltList;
    }

    /// The few cells that stand apart from the others of their state. Their distance from the core is exponential.
    tails: Tails {
        /// Share of programmed cells in the upper tail, fresh: cells that jumped past their verify level.
        upper_share: Share;
        /// Mean distance of the upper tail.
        upper_length: Millivolts;
        /// Growth of the upper tail's share by `wear.reference` cycles of wear, relative.
        upper_wear: Number;
        /// Share of programmed cells in the lower tail, fresh and unretained.
        lower_share: Share;
        /// Mean distance of the lower tail.
        lower_length: Millivolts;
        /// Exponent with which the lower tail's share rises from the lowest state, which has none, to the highest.
        lower_power: Number;
        /// Share of each programmed state's cells in the lower tail, over what the other keys make it, lowest first; one value: that of all.
        lower_by_state: NumberList;
        /// Lengthening of the lower tail of the highest state, relative.
        lower_top: Number;
        /// Growth of the lower tail's share for each noise deviation of charge lost, relative.
        lower_loss: Number;
        /// Share of erased cells in their upper tail, fresh.
        erased_share: Share;
        /// Mean distance of the erased cells' tail.
        erased_length: Millivolts;
    }

    /// The shape of the channel holes over the height of a block.
    profile: Profile {
        /// Narrowing of the hole from the top to the bottom, relative.
        taper: Share;
        /// Dependence of the field of a layer on the inverse of its diameter: 1 follows it in full.
        curvature: Number;
        /// Field added by the worst ellipse: in the middle of the band of rugged holes.
        rugged: Number;
        /// Height of the middle of the band of rugged holes: 0 at the bottom, 1 at the top.
        rugged_height: Number;
        /// Width of the band of rugged holes: standard deviation, in heights of the block.
        rugged_width: Number;
        /// Decay of the influence of a block's edges, in layers.
        edge_decay: Number;
        /// Widening of the noise for each unit of field above the mean.
        noise_field: Number;
        /// Widening of the noise in the outermost layers.
        noise_edge: Number;
        /// Additional charge loss of the outermost layers: their neighbour is a select line, which leaves charge room to spread.
        loss_edge: Number;
        /// Additional charge loss for each unit of field above the mean.
        loss_field: Number;
        /// Additional program speed of a layer for each unit of field above the mean.
        speed_field: Millivolts;
        /// Offset of the programmed states of each layer from the mean of all layers, topmost first. One value: all alike.
        offset: MillivoltList;
        /// Width of the noise of each layer, relative to the mean of all layers, topmost first. One value: all alike.
        width: NumberList;
    }

    /// Differences between blocks and chips of a lot. All are standard deviations of bounded bell-shaped draws.
    variation: Variation {
        /// Natural logarithm of wear per cycle: chips.
        wear_chip: Number;
        /// Natural logarithm of wear per cycle: blocks of a chip.
        wear_block: Number;
        /// Natural logarithm of wear per cycle: what the edge of the wafer adds to its centre, where the oxide is thinner.
        wear_wafer: Number;
        /// Natural logarithm of wear per cycle: h-layers of a block.
        wear_layer: Number;
        /// Natural logarithm of the noise: blocks. Drawn together with `wear_block`: a block that wears fast is noisy from the first.
        noise_block: Number;
        /// Natural logarithm of the noise: h-layers of a block.
        noise_layer: Number;
        /// Natural logarithm of the strength with which the layer profile shows in a block.
        profile_block: Number;
        /// Program speed: blocks.
        speed_block: Millivolts;
        /// Program speed: h-layers of a block.
        speed_layer: Millivolts;
        /// Natural logarithm of the erase distance: blocks. Drawn together with `wear_block`.
        erase_block: Number;
        /// Natural logarithm of the charge lost: blocks. A draw of its own: a block that keeps charge badly need not wear fast.
        loss_block: Number;
        /// Natural logarithm of the erase distance: blocks. Drawn together with `loss_block`: traps that let charge go also hold it at an erase.
        erase_loss: Number;
    }

    /// Programming by incremental step pulses.
    ispp: Ispp {
        /// Threshold voltage of a nominal cell after the first pulse.
        first: Millivolts;
        /// Control-gate step from loop to loop.
        step: Millivolts;
        /// Control-gate window, V_final − V_start.
        window: Millivolts;
        /// Threshold voltage gained for each millivolt of step.
        gain: Number;
        /// Standard deviation of the program speed of a wordline's cells.
        speed: Millivolts;
        /// Time of one pulse.
        pulse: Microseconds;
        /// Time of one verify.
        verify: Microseconds;
        /// Share of a wordline's cells that may stay short of their level when a program ends as done.
        short_cells: Share;
        /// Greatest gain in program speed of worn cells.
        wear_speed: Millivolts;
        /// Wear after which most of `wear_speed` is reached.
        wear_speed_scale: Cycles;
        /// Gain in program speed for each kelvin above `retention.temperature`.
        warm_speed: MillivoltsPerKelvin;
        /// Disturb: rise of erased cells of the wordline for each loop.
        disturb: Millivolts;
    }

    /// Erasing by incremental step pulses.
    ispe: Ispe {
        /// Control-gate voltage of a wordline that is erased gently.
        gentle_gate: Millivolts;
        /// Field dependence: e-fold of the stress for this much less voltage, at the mean field.
        stress_scale: Millivolts;
        /// Time of one erase pulse with its ramps.
        pulse: Microseconds;
        /// Time of one erase verify.
        verify: Microseconds;
        /// Distance that one pulse goes, over the erase distance of a fresh block, from programmed to erased.
        depth: Number;
        /// Growth of the erase distance by `wear.reference` cycles of wear.
        wear: Number;
        /// Exponent of the growth of the erase distance with wear.
        wear_power: Number;
        /// Stress that the ramps of 100 suspensions add to an erase, relative to a whole one.
        suspend: Number;
        /// Exponent of the stress of suspensions in their number.
        suspend_power: Number;
        /// Time a suspended erase needs to ramp down and up again.
        suspend_time: Microseconds;
        /// Shift of the erased cells of a wordline erased gently.
        gentle_shift: Millivolts;
    }

    /// Traps in the tunnel oxide.
    wear: Wear {
        /// Share of the wear of a cycle that its erase causes; the rest is the program's.
        erase_share: Share;
        /// Rise of a layer's wear with its field: e-folds for each unit of field above the mean.
        field: Number;
        /// Cycles the growth laws are written for.
        reference: Cycles;
        /// Cycles over which the power laws of wear set in, from nothing: 63 % of what they say is there after so many. 0: they hold from the first cycle.
        onset: Cycles;
        /// Growth of the noise variance by `reference` cycles, relative.
        noise: Number;
        /// Exponent of the growth of the noise variance with wear.
        noise_power: Number;
        /// Rise of the lowest programmed state by `reference` cycles; states between it and the highest rise in proportion.
        lift: Millivolts;
        /// Rise of the highest state by `reference` cycles.
        top_lift: Millivolts;
        /// Rise of the erased state by `reference` cycles.
        erased_lift: Millivolts;
        /// Growth of the erased state's deviation by `reference` cycles, relative.
        erased_noise: Number;
        /// Exponent in wear of `lift`, `top_lift`, `erased_lift` and `erased_noise`.
        lift_power: Number;
    }

    /// Traps heal while a block rests between its erases.
    recovery: Recovery {
        /// Share of a cycle's traps that heals for each e-fold of effective dwell time at 30 °C.
        share: Share;
        /// Dwell below which nothing heals.
        start: Seconds;
        /// Dwell above which almost nothing more heals.
        end: Seconds;
        /// Share of all traps that heals for each e-fold of a long rest.
        deep_share: Share;
        /// Rest below which old traps do not heal.
        deep_start: Seconds;
        /// Activation energy of healing.
        energy: ElectronVolts;
    }

    /// Charge leaks while data are kept.
    retention: Retention {
        /// Charge the highest state loses for each e-fold of time, fresh.
        loss: Millivolts;
        /// Retention before which no charge is lost.
        start: Seconds;
        /// Voltage of the state that neither loses nor gains.
        neutral: Millivolts;
        /// Growth of charge loss by `wear.reference` cycles of wear, relative.
        wear: Number;
        /// Exponent of the growth of charge loss with wear.
        wear_power: Number;
        /// Deviation of the loss between cells, as a share of the loss.
        spread: Share;
        /// Noise variance added, in all states alike, for each e-fold of time, relative to fresh; wear raises it as it raises the loss.
        noise: Number;
        /// Activation energy of charge loss.
        energy: ElectronVolts;
        /// Temperature at which retention times are given.
        temperature: Celsius;
    }

    /// Reading a block lifts the low states of its other wordlines.
    read_disturb: ReadDisturb {
        /// Rise of the erased state by `reads` reads of its block, fresh.
        lift: Millivolts;
        /// Number of reads that lift the erased state by `lift`.
        reads: Number;
        /// Exponent of the rise in the number of reads.
        power: Number;
        /// Growth of the rise by reads after `wear.reference` cycles, relative.
        wear: Number;
        /// Voltage above the erased state over which the rise falls by e.
        reach: Millivolts;
        /// Deviation of the rise between cells, as a share of the rise.
        spread: Share;
    }

    /// A block that was erased long before it is programmed.
    open_interval: OpenInterval {
        /// Noise variance added when the interval is `time`, relative to fresh.
        noise: Number;
        /// The longest open interval that was measured.
        time: Seconds;
        /// Exponent of the noise in the open interval.
        power: Number;
    }

    /// Programming and reading at different temperatures.
    temperature: Temperature {
        /// Shift of the highest state for each kelvin by which a read is warmer than the program was.
        shift: MillivoltsPerKelvin;
        /// Shift of the lowest programmed state for each kelvin by which a read is warmer than the program was.
        low_shift: MillivoltsPerKelvin;
        /// Deviation of the shift between cells, as a share of the shift.
        spread: Share;
    }

    /// Interference of neighbours with a wordline.
    interference: Interference {
        /// Rise of the lowest programmed state when the next layer is programmed after it.
        shift: Millivolts;
        /// Deviation of the rise by the next layer's program, alike for each state.
        spread: Millivolts;
    }

    /// A page that is reprogrammed in one shot to destroy another page of its wordline.
    reprogram: Reprogram {
        /// Distance of the mean of the shifted cells past the level that they should reach.
        overshoot: Millivolts;
        /// Standard deviation of the shifted cells.
        sigma: Millivolts;
        /// Standard deviation of the shift between wordlines.
        wordline_sigma: Millivolts;
        /// Rise of the cells of the wordline that are not shifted.
        disturb: Millivolts;
        /// Widening of the shifted cells for each e-fold of time: charge that one shot leaves near the surface spreads.
        spread: Number;
    }

    /// Flag cells of a page lock, programmed as SLC in one shot.
    flag: Flag {
        /// Mean threshold voltage of flag cells after `time` at the lowest voltage.
        mean: Millivolts;
        /// Standard deviation of the threshold voltage of flag cells.
        sigma: Millivolts;
        /// Control-gate voltage step of the design space.
        step: Millivolts;
        /// Shift of flag cells for each e-fold of pulse time.
        time_gain: Millivolts;
        /// The pulse time `mean` is given for.
        time: Microseconds;
        /// Reference a flag is read at.
        reference: Millivolts;
        /// Mean charge a programmed flag loses in `years` at 30 °C after 1K cycles.
        loss: Millivolts;
        /// Standard deviation of the charge that programmed flags lose.
        loss_sigma: Millivolts;
        /// Time for which `loss` is given, in years.
        years: Number;
        /// Noise variance added to the data cells of the wordline by a pulse of `disturb_dose` steps, relative.
        disturb: Number;
        /// Steps above the lowest voltage, at `time`, at which the disturb is as given.
        disturb_dose: Number;
        /// Exponent of the disturb in dose.
        disturb_power: Number;
        /// Steps that raise the dose by e.
        disturb_scale: Number;
        /// Steps above the lowest voltage at which the die locks a page.
        voltage: Number;
        /// Flag cells of a page, read by majority.
        cells: Number;
    }

    /// Select cells of a block lock.
    select: Select {
        /// Centre threshold voltage after `time` at the lowest voltage of the design space.
        centre: Millivolts;
        /// Standard deviation of the select cells.
        sigma: Millivolts;
        /// Voltage step of the design space.
        step: Millivolts;
        /// Threshold voltage gained for each millivolt of program voltage.
        gain: Number;
        /// Shift of select cells for each e-fold of pulse time.
        time_gain: Millivolts;
        /// The pulse time `centre` is given for.
        time: Microseconds;
        /// Gate voltage of the select line during a read: cells above it block their bit line.
        gate: Millivolts;
        /// Voltage of an unprogrammed select transistor.
        resting: Millivolts;
        /// Share of the shift lost for each e-fold of time.
        loss: Share;
        /// Time before which select cells lose no charge.
        start: Seconds;
        /// Steps above the lowest voltage at which the die locks a block.
        voltage: Number;
    }

    /// Errors of a read, and their correction.
    ecc: Ecc {
        /// User bytes of a codeword.
        codeword: Number;
        /// Bits that can be corrected in a codeword.
        correctable: Bits;
        /// Standard deviation, between two reads of a page, of the errors in a codeword of a fresh block: random telegraph noise.
        telegraph: Bits;
        /// Growth of telegraph noise by `wear.reference` cycles of wear, relative.
        telegraph_wear: Number;
    }

    /// The vendor's read-retry table.
    retry: Retry {
        /// Number of entries after the default.
        entries: Number;
        /// Shift of each reference from entry to entry, R1 first.
        step: MillivoltList;
        /// Number of further entries, for blocks that were read often. They take turns with the others, which come first.
        disturb_entries: Number;
        /// Shift of each reference from one of those entries to the next, R1 first; one value: that of all.
        disturb_step: MillivoltList;
    }
}
