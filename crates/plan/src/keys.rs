//! The table of keys: every key there is, what it holds, what it means, and what holds where nobody writes it.
//!
//! A default is never a number somebody measured or chose: it is the neutral value, with which the thing has no effect. All others must be written in a file,
//! beside their source.
//!
//! The keys of techniques and of physics are declared where those are, and join the table from there.

use std::sync::LazyLock;

use wordline_drive::{FtlPlace, Trims};
use wordline_flash::ProgramScope;
use wordline_ftl::config::{Acknowledge, OobPlace, Protection};
use wordline_ftl::free_block::FreeBlockPolicy;
use wordline_ftl::retirement::RetirementPolicy;
use wordline_ftl::scheduler::Scheduler;
use wordline_ftl::victim::VictimPolicy;
use wordline_units::{Bytes, CellKind, Microvolts, Nanos, Rate};

use crate::course::Course;
use crate::kind::{Decimal, Degrees, Electronvolts, Groups, Kind, List, Maybe, Number, Share, Span, Transfers};
use crate::layer::{Origin, Set};
use crate::quantity::Refusal;
use crate::section::{BEHIND_TECHNIQUES, KeyInfo, Line, SectionInfo, prose};
use crate::sections::sections;
use crate::stages::Cycles;
use crate::words::PageTimes;
use crate::words::WordlineOrder;

sections! {
    /// The shape of a die.
    "geometry" (chip) geometry: Geometry {
        /// Bits per cell, which is pages per wordline.
        cell: CellKind;
        /// Planes in a die, 1 to 4.
        planes: u32;
        /// Blocks in a plane, spares and factory bad blocks included.
        blocks: u32;
        /// Horizontal layers in a block.
        layers: u32;
        /// Wordlines in an h-layer.
        wordlines_per_layer: u32;
        /// User bytes in a page.
        page: Bytes;
        /// Spare (out-of-band) bytes in a page.
        spare: Bytes;
    }

    /// How long each command keeps a die, or its interface, busy.
    "timing" (chip) timing: Timing {
        /// t_R, from command to data in the register; one time, or one for each page type (LSB first).
        t_read: PageTimes;
        /// t_PROG of one page; one time, or one for each page type. Needed where `capabilities.program_scope` is "page".
        t_program: Maybe<PageTimes> = Maybe(None);
        /// t_PROG of a whole wordline in one shot. Needed where `capabilities.program_scope` is "wordline".
        t_program_wordline: Maybe<Nanos> = Maybe(None);
        /// Block erase time, t_BERS.
        t_erase: Nanos;
        /// t_FEAT, to set or get a feature.
        t_feature: Nanos = Nanos::ZERO;
        /// t_CBSY and t_RCBSY, to hand a page between data and cache register.
        t_cache_busy: Nanos = Nanos::ZERO;
        /// From a suspend command until the array is free, during a program. Needed where the die can do it, but not at the end of a step.
        t_suspend_program: Maybe<Nanos> = Maybe(None);
        /// From a suspend command until the array is free, during an erase. Needed where the die can do it, but not at the end of a step.
        t_suspend_erase: Maybe<Nanos> = Maybe(None);
        /// One step of a program, at whose end it can be stopped; one that is stopped at once does its running step again. Needed where the die can do
        /// either.
        t_step_program: Maybe<Nanos> = Maybe(None);
        /// One step of an erase, in the same way.
        t_step_erase: Maybe<Nanos> = Maybe(None);
        /// From the command to stop a program at once until the array is free. Needed where the die can do it.
        t_halt_program: Maybe<Nanos> = Maybe(None);
        /// From the command to stop an erase at once until the array is free. Needed where the die can do it.
        t_halt_erase: Maybe<Nanos> = Maybe(None);
        /// From the command to break off a read until the array is free. Needed where the die can do it.
        t_abort_read: Maybe<Nanos> = Maybe(None);
        /// Added by each resume to what is left of the operation.
        t_resume: Nanos = Nanos::ZERO;
        /// Least time between a resume and the next suspend.
        suspend_interval: Nanos = Nanos::ZERO;
        /// Reset time, t_RST.
        t_reset: Nanos = Nanos::ZERO;
        /// t_pLock, to lock a page so that the die puts out zeroes for it until its block is erased. "none": the die cannot do it.
        t_lock_page: Maybe<Nanos> = Maybe(None);
        /// t_bLock, to lock a block in the same way. "none": the die cannot do it.
        t_lock_block: Maybe<Nanos> = Maybe(None);
        /// The one shot that destroys all pages of a wordline. "none": the die cannot do it.
        t_scrub: Maybe<Nanos> = Maybe(None);
        /// The one shot that destroys one page of a wordline. "none": the die cannot do it.
        t_reprogram: Maybe<Nanos> = Maybe(None);
        /// Command, address and status cycles on the bus for one operation.
        bus_overhead: Nanos = Nanos::ZERO;
    }

    /// What a die is able to do.
    "capabilities" (chip) capabilities: Capabilities {
        /// Extent of one program command: a page, or all pages of a wordline in one shot.
        program_scope: ProgramScope;
        /// Read the next page while the last one is put out.
        cache_read: bool = false;
        /// Take in the data of the next program while one is done. Programs of the host's data use it, beside techniques that do not stop programs and do
        /// not sanitise. Settings of a program are set, in `t_feature` each, once the program before it has ended.
        cache_program: bool = false;
        /// Program from the register, without the bus.
        copyback: bool = false;
        /// Suspend a program.
        suspend_program: bool = false;
        /// Suspend an erase.
        suspend_erase: bool = false;
        /// Suspend at the end of the step that the array is doing, and not after a fixed time.
        stop_at_step: bool = false;
        /// Suspend a program at once; the step that the array was doing is done again.
        stop_now_program: bool = false;
        /// Suspend an erase at once; the step that the array was doing is done again.
        stop_now_erase: bool = false;
        /// Break off a read.
        abort_read: bool = false;
        /// Program the wordlines of a block in any order. Otherwise pages are programmed one after the other.
        any_order: bool = false;
        /// Narrow the window of programs and leave out verifies by set-features, and tell of the last program by get-features.
        program_settings: bool = false;
        /// Spare some wordlines in an erase: they wear less, and take no data until the next erase.
        guarded_erase: bool = false;
        /// Tell by get-features what the last erase was like: its pulses, how much of the last one was needed, its stops.
        erase_trace: bool = false;
    }

    /// How often cells fail.
    "faults" (chip) faults: Faults {
        /// Share of blocks that are bad when the die leaves the factory.
        factory_bad: Share = Share::NONE;
        /// Probability that a program fails.
        program_fail: Share = Share::NONE;
        /// Probability that an erase fails.
        erase_fail: Share = Share::NONE;
        /// Probability that a page read cannot be corrected.
        read_fail: Share = Share::NONE;
        /// Erases after which a block can no longer be erased.
        endurance: Maybe<u32> = Maybe(None);
    }

    /// How far the window of program voltages may be narrowed, found by characterising many chips of the kind: `wordline characterize margins` prints this
    /// section. A technique that narrows it needs it. `physics_of` brings it along for a chip of the same shape.
    "margins" (chip) margins: Margins {
        /// ΔV_ISPP, by which each loop's pulse is higher than the one before. "none": there is no table, whatever a parent file says.
        step: Maybe<Microvolts> = Maybe(None);
        /// Cells of the wordlines that were characterised: errors are counted over a whole wordline, so the table holds for no other number.
        cells: u32 = 0;
        /// Distance of R1 below its default while errors between the erased state and P1 are counted.
        lowered: Microvolts = Microvolts(0);
        /// Loops by which followers begin to verify a state before its first cells arrived on their leader.
        early: u32 = 0;
        /// The most errors between the erased state and P1 that a leader wordline may show, line by line, rising. Beyond the last, followers have no margin.
        errors: List<u32> = List(Vec::new());
        /// Voltage that the leader's followers may then add to V_start, line by line.
        start: List<Microvolts> = List(Vec::new());
        /// Voltage that they may then take from V_final, line by line. Both together fall.
        end: List<Microvolts> = List(Vec::new());
        /// Voltage that every wordline of an h-layer may take from V_final in any block at any age, layer by layer, topmost first.
        layers: List<Microvolts> = List(Vec::new());
    }

    /// The age of a block from what its erases and reads show: `wordline characterize aging` prints this section. `physics_of` brings it along for a chip of
    /// the same shape.
    "aging" (chip) aging: Aging {
        /// Seed of the lot of chips that the table was made from: it must not be `run.seed`. "none": there is no table, whatever a parent file says.
        seed: Maybe<u64> = Maybe(None);
        /// Errors of a codeword after a year, for each P/E cycle, each pulse of the last erase (the last by the part that was needed), each error of `page` for
        /// each codeword, each unit of the natural logarithm of the last rest in seconds, and at all.
        weights: List<Decimal> = List(Vec::new());
        /// The same of PeWear+: for each P/E cycle, each microsecond of mean t_PROG, and at all.
        plus: List<Decimal> = List(Vec::new());
        /// The same of PeWear++: for each P/E cycle, each microsecond of mean t_PROG, each error of `page` for each codeword, and at all.
        plus_plus: List<Decimal> = List(Vec::new());
        /// Errors of a codeword that can be corrected, which make an age of 1.
        limit: Decimal = Decimal(0.0);
        /// Errors by which ages are raised for telegraph noise.
        flicker: Decimal = Decimal(0.0);
        /// Errors by which ages are raised so that no block that was characterised died unforeseen.
        safe: Decimal = Decimal(0.0);
        /// Page of a block whose errors are counted just after its program.
        page: u32 = 0;
        /// Longest rest that counts, at the reference temperature.
        rest_max: Span = Span(0);
        /// P/E counts, rising.
        pe: List<u32> = List(Vec::new());
        /// Greatest age, in thousandths, of a block at each of these counts: that of a block of which nothing else is known.
        pe_worst: List<u32> = List(Vec::new());
        /// Activation energy of ageing and keeping.
        energy: Electronvolts = Electronvolts(0.0);
    }

    /// Sets of read references to begin with: `wordline characterize ort` prints this section. `physics_of` brings it along for a chip of the same shape.
    "ort" (chip) ort: Ort {
        /// Seed of the lot of chips that the table was made from: it must not be `run.seed`. "none": there is no table, whatever a parent file says.
        seed: Maybe<u64> = Maybe(None);
        /// At most 64 sets, each with an offset to each default reference, R1 first, in units of 10 mV.
        sets: List<List<i8>> = List(Vec::new());
        /// Longest retention of each column, rising. One more column is for data of which it is not known.
        retention: List<Span> = List(Vec::new());
        /// Class of each h-layer, topmost first: 0 to 5.
        layers: List<u32> = List(Vec::new());
        /// Most reads of a block in each step, rising.
        reads: List<u32> = List(Vec::new());
        /// Most P/E cycles of each step of `by_pe`, rising.
        pe: List<u32> = List(Vec::new());
        /// Up to three set numbers, the first to try first, for each tenth of age (eleven, the last beyond the end), column, class and step of reads, the
        /// last of these running fastest.
        by_age: List<List<u32>> = List(Vec::new());
        /// The same for each step of `pe` instead of tenths of age.
        by_pe: List<List<u32>> = List(Vec::new());
        /// For each tenth of age, the longest retention up to which no read of the chips it was judged by needed more than two retries. "none": even fresh
        /// data did.
        proven_age: List<Maybe<Span>> = List(Vec::new());
        /// The same for each step of `pe`.
        proven_pe: List<Maybe<Span>> = List(Vec::new());
    }

    /// Errors just after program beyond which data are not safe: `wordline characterize retirement` prints this section. `physics_of` brings it along for a
    /// chip of the same shape.
    "retirement_limits" (chip) retirement_limits: RetirementLimits {
        /// Seed of the lot of chips that the table was made from: it must not be `run.seed`. "none": there is no table, whatever a parent file says.
        seed: Maybe<u64> = Maybe(None);
        /// Most P/E cycles of each bin, rising.
        pe: List<u32> = List(Vec::new());
        /// Most wrong bits of the worst codeword of a page, read with the default references just after its program, in each bin.
        errors_max: List<u32> = List(Vec::new());
        /// Retention that data must last.
        kept: Span = Span(0);
        /// Probability up to which a page that shows no more may be uncorrectable then.
        risk: Share = Share::NONE;
    }

    /// Reads that a block stands: `wordline characterize disturb --table` prints this section. `physics_of` brings it along for a chip of the same shape.
    "disturb" (chip) disturb: Disturb {
        /// Seed of the lot of chips that the table was made from: it must not be `run.seed`. "none": there is no table, whatever a parent file says.
        seed: Maybe<u64> = Maybe(None);
        /// Most P/E cycles of each bin, rising.
        pe: List<u32> = List(Vec::new());
        /// Most reads up to which the default references serve every page of the worst block, of data just written, in each bin.
        retry: List<u64> = List(Vec::new());
        /// Most reads up to which some entry of the retry table serves every page of the worst block, of data as old as `kept`, in each bin.
        fails: List<u64> = List(Vec::new());
        /// Most reads up to which the controller's search for the best references serves every page of the worst block, of data as old as `kept`, in each bin.
        /// Empty: not measured.
        searched: List<u64> = List(Vec::new());
        /// Retention for which `fails` and `searched` hold.
        kept: Span = Span(0);
        /// Probability up to which the worst page may not be served.
        risk: Share = Share::NONE;
    }

    /// Copies in a row without correction that are safe: `wordline characterize copyback --table` prints this section. `physics_of` brings it along for a chip
    /// of the same shape.
    "copyback" (chip) copyback: Copyback {
        /// Seed of the lot of chips that the table was made from: it must not be `run.seed`. 0: the table is as a source gives it, from
        /// chips of its own, and stands beside any `run.seed`. "none": there is no table, whatever a parent file says.
        seed: Maybe<u64> = Maybe(None);
        /// Most P/E cycles of each bin, rising.
        pe: List<u32> = List(Vec::new());
        /// Retentions after the last copy, rising.
        retention: List<Span> = List(Vec::new());
        /// Weakest h-layers, the weakest first: pages of the first tell the class of a block.
        layers: List<u32> = List(Vec::new());
        /// An offset to each default reference, R1 first, in units of 10 mV, at which a source may be sensed.
        set: List<i8> = List(Vec::new());
        /// Most errors just after program of the best and of the median class, for each bin of `pe`.
        pe_errors: List<List<u32>> = List(Vec::new());
        /// Most copies in a row at the default references: for each retention and class (best, median, worst), the last running fastest, a list over `pe`.
        pe_thresholds: List<List<u32>> = List(Vec::new());
        /// The same where sources are sensed at `set`.
        pe_with_set: List<List<u32>> = List(Vec::new());
        /// As `pe_errors`, for each tenth of age rounded up, and one for blocks beyond their life. Without all three lists over ages nothing is copied by age.
        age_errors: List<List<u32>> = List(Vec::new());
        /// As `pe_thresholds`, over ages.
        age_thresholds: List<List<u32>> = List(Vec::new());
        /// As `pe_with_set`, over ages.
        age_with_set: List<List<u32>> = List(Vec::new());
        /// Probability up to which the worst page of a block may be uncorrectable after the copies and the retention.
        risk: Share = Share::NONE;
    }

    /// What erases that spare the weakest wordlines are worth: `wordline characterize guard --table` prints this section. `physics_of` brings it along for a
    /// chip of the same shape.
    "guard" (chip) guard: Guard {
        /// Seed of the lot of chips that the table was made from: it must not be `run.seed`. "none": there is no table, whatever a parent file says.
        seed: Maybe<u64> = Maybe(None);
        /// H-layers, weakest first.
        order: List<u32> = List(Vec::new());
        /// Endurance of each h-layer over that of a block's weakest, topmost first.
        relative: List<Number> = List(Vec::new());
        /// Wordlines that a guarded erase spares, mode by mode.
        wordlines: List<u32> = List(Vec::new());
        /// Share of guarded erases among all, mode by mode.
        share: List<Share> = List(Vec::new());
        /// Endurance of a block over that with normal erases alone, mode by mode, rising.
        endurance: List<Number> = List(Vec::new());
        /// Wear of a guarded cycle over that of a normal one, by which modes are worked out.
        coefficient: Number = Number(0);
    }

    /// What the cells' physics was calibrated to. Beyond it results are an extrapolation, and say so. `physics_of` brings it along; it changes no run, and is
    /// not in the plan's hash.
    "calibrated" (chip) calibrated: Calibrated {
        /// Program/erase cycles.
        cycles: Maybe<u32> = Maybe(None);
        /// Time that data are kept.
        retention: Maybe<Span> = Maybe(None);
        /// Reads of a block.
        reads: Maybe<u64> = Maybe(None);
    }

    /// Read retries by rate, for cells without physics: how many reads need any, and how many they need. The model of evaluations that know no more (003 §6.2).
    "retries" (drive) retries: Retries {
        /// Share of the reads begun with default references that need retries.
        share: Share = Share::NONE;
        /// Mean number of retries of those reads. Each further one is as likely as the one before. Needed where `share` is set. At least 1.
        mean: Maybe<Number> = Maybe(None);
        /// Share of the reads that need as many as the others of their h-layer, until the block is erased; the rest need a number of their own each time. The
        /// part of the retries that can be saved by who remembers.
        alike: Share = Share::NONE;
        /// Entries of the retry table, the default among them: 2 to 256. The last corrects everything. Needed where `share` is set.
        entries: Maybe<u32> = Maybe(None);
    }

    /// Programs by rate, for cells without physics: what a program takes less whose settings the controller has narrowed. The model of evaluations that give
    /// wordlines shorter times instead of working them out (003 §6.1). Which programs are narrowed is up to techniques.
    "programs" (drive) programs: Programs {
        /// Share of t_PROG that a program with narrowed settings takes less. Its data are as good as any.
        saving: Share = Share::NONE;
    }

    /// Classes of blocks by share, for cells without physics: shares of the blocks that show the errors of each class of `[copyback].pe_errors` when firmware
    /// measures them (docs/models/classes-by-share.md). A block of the worst class shows one more than the bound of the median one. The shares sum to 100 %;
    /// with none, reads find no errors.
    "classes" (drive) classes: Classes {
        /// Share of the blocks that are of the best class.
        best: Share = Share::NONE;
        /// Share of the blocks that are of the median class.
        median: Share = Share::NONE;
        /// Share of the blocks that are of the worst class.
        worst: Share = Share::NONE;
    }

    /// The physics of the cells, where the chip file or `physics_of` gives it, and the age a drive is set to, once it is filled and before a run starts.
    "cells" (drive) cells: Cells {
        /// Physics of the cells. Without it they take the times of the data sheet and fail by rate.
        physics: bool = true;
        /// Temperature of the drive while it works, and later ones with the instants of virtual time at which they begin, counted from the start of a new
        /// drive: "30 C, 55 C from 2 d". A saved drive goes on where it stood. "none": the reference temperature of the physics.
        temperature: Maybe<Course> = Maybe(None);
        /// Program/erase cycles that every block has behind it: a count, or a stage of life, which is a share of `lifetime` (`studies/stages.toml`). Without
        /// physics they are counted by dies and firmware, and nothing else is as old.
        cycles: Cycles = Cycles::Count(0);
        /// Program/erase cycles that blocks are good for, of which stages of life are shares. 2000 is the life of 003 §3.1.
        lifetime: u32 = 2000;
        /// Rest between two of those cycles.
        dwell: Span = Span(0);
        /// Rests between two of those cycles, in the place of `dwell`: each block has one of them, by a throw of its own. A drive whose blocks are as worn as
        /// each other by their counts and not by their cells.
        dwells: List<Span> = List(Vec::new());
        /// Time for which the data have been kept.
        retention: Span = Span(0);
        /// Temperature of that rest and of keeping. "none": the reference temperature of the physics.
        kept_at: Maybe<Degrees> = Maybe(None);
    }

    /// How many dies there are and how they are wired.
    "flash" (drive) flash: Flash {
        /// Channel buses.
        channels: u32;
        /// Dies on each channel: chips times dies in a chip.
        dies_per_channel: u32;
        /// Transfers on a channel's 8-bit bus, 1 MT/s to 20000 MT/s.
        channel_rate: Transfers;
    }

    /// What stands between host and channels.
    "controller" (drive) controller: Controller {
        /// Firmware cores. Each has its share of the dies and of the addresses.
        cores: u32;
        /// Consecutive data that stay on one core; a multiple of `mapping.unit`. "none": one mapping unit.
        stripe: Maybe<Bytes> = Maybe(None);
        /// Requests the drive takes in at once; more wait in the host's queues.
        queue_depth: u32;
        /// Requests of high priority that the drive takes in a round, 1 to 256. Urgent requests are taken first, whatever the round.
        weight_high: u32 = 4;
        /// Requests of normal priority that the drive takes in a round, 1 to 256.
        weight_normal: u32 = 2;
        /// Requests of low priority that the drive takes in a round, 1 to 256.
        weight_low: u32 = 1;
        /// Delivery of a TRIM of several pages to the firmware: "whole", or "by-page", the next page when the one before is acknowledged. Where stale data are
        /// made unreadable, that is done for each page before the next becomes stale.
        trims: Trims = Trims::Whole;
        /// DRAM bandwidth. "none": free.
        dram: Maybe<Rate> = Maybe(None);
        /// Bandwidth of the host link outwards, from the drive to the host, and in each direction where `link_in` is not set. "none": free.
        link: Maybe<Rate> = Maybe(None);
        /// Bandwidth of the host link inwards, from the host to the drive. "none": free. The value of a file without the key is that of `link`.
        link_in: Maybe<Rate> = Maybe(None);
        /// Place of the firmware, its write buffer and the data that it moves. "drive": the data of all operations passes DRAM. "host": the data of programs
        /// passes the link inwards, that of reads outwards, and none passes DRAM. Copybacks pass neither (docs/models/data-paths.md).
        ftl: FtlPlace = FtlPlace::Drive;
        /// Error correction: from the last byte in to the last byte out.
        ecc_latency: Nanos = Nanos::ZERO;
        /// Error correction: bandwidth of a channel's engine. "none": as fast as data comes.
        ecc_rate: Maybe<Rate> = Maybe(None);
        /// The last resort of a read that no entry of the retry table serves, where cells have physics and such a table: references are moved one by one in
        /// steps of this, a multiple of 10 mV up to 100 mV, until the page can be corrected. "0 mV": such reads fail.
        search_step: Microvolts = Microvolts(20_000);
        /// Steps of the search to each side: 2 to 12.
        search_reach: u32 = 5;
        /// Time that the controller waits for a die that should have been done by now. Then it resets the die, and if that does not answer, it has failed.
        die_timeout: Nanos = Nanos::from_millis(100);
    }

    /// Time a firmware core spends on each step.
    "costs" (drive) costs: Costs {
        /// Take in one host request.
        command: Nanos = Nanos::ZERO;
        /// Look up or change the map for one mapping unit.
        unit: Nanos = Nanos::ZERO;
        /// Order one flash operation and hear its report.
        operation: Nanos = Nanos::ZERO;
    }

    /// What the host sees, and how it is mapped.
    "mapping" (drive) mapping: Mapping {
        /// Data that one map entry points to: a page or a divisor of one, and a multiple of 512 B.
        unit: Bytes;
        /// The spare factor, (raw − exported) / raw: the share of the raw flash that the host does not see. Either this or `capacity`.
        over_provisioning: Maybe<Share> = Maybe(None);
        /// Capacity for the host. Either this or `over_provisioning`.
        capacity: Maybe<Bytes> = Maybe(None);
        /// Blocks of each plane kept back to replace bad ones.
        spare_blocks: u32 = 0;
    }

    /// The write buffer.
    "buffer" (drive) buffer: Buffer {
        /// Its size over all cores: at least one program unit for each die.
        size: Bytes;
        /// Instant at which a write without FUA is acknowledged: once it is in the buffer, or once it is programmed.
        acknowledge: Acknowledge;
        /// Protection of the buffer against loss of power: with none it is lost, and FUA and flushes wait for programs; capacitors keep it.
        protection: Protection = Protection::None;
        /// Fill of the buffer from which on units that the host has written only in part are completed from flash.
        partial_watermark: Share;
        /// Time over which firmware takes the mean of the share of the buffer in use, where a technique goes by it. It is kept only for such a technique.
        load_window: Nanos = Nanos::from_micros(84_480);
    }

    /// Garbage collection: how blocks are emptied for their space. Counts are free block groups of one die; a group is one block from each plane.
    "gc" (drive) gc: Gc {
        /// Which block goes next.
        victim: VictimPolicy;
        /// Garbage collection runs while fewer than this many are free: a count, or a share of all those of a die, rounded down.
        start: Groups;
        /// With this many or fewer left, the host's writes wait for garbage collection: at least 1, and less than `start`.
        floor: u32;
        /// Order of garbage collection and the host on a die: "classic" empties a victim to its end before the host's writes go on; "paced" does both in
        /// turns, at the rate at which victims give room back. The value of a file without the key is "classic" if `preemptible` is true, and
        /// so is that of plans that earlier builds stored without it.
        scheduler: Scheduler = Scheduler::Paced;
        /// With the classic scheduler: host writes go before garbage collection, above the floor.
        preemptible: bool = false;
        /// A block that has been emptied is erased only when it is about to be needed. An erased block that waits to be programmed ages.
        lazy_erase: bool = false;
    }

    /// Which free block is written next, and how wear is levelled.
    "free_block" (drive) free_block: FreeBlock {
        /// Choice of free blocks: "longest-free" takes the one that has been free longest; "erases" the least-erased one for host data and the
        /// most-erased one for moved data; "wear" the least-worn and the most-worn one, as a technique tells it (000 §3.4.4).
        key: FreeBlockPolicy = FreeBlockPolicy::LongestFree;
        /// Move the data of the least-worn block once a block of the die is ahead of it by this much, in the unit of `key`: erases, or thousandths of a life
        /// with "wear". "none": never.
        gap: Maybe<u32> = Maybe(None);
    }

    /// When blocks leave service.
    "retirement" (drive) retirement: Retirement {
        /// "failed": once a program in a block or its erase has failed; "spent": also once a technique tells that the block's life is over (000 §3.4.4).
        policy: RetirementPolicy = RetirementPolicy::Failed;
    }

    /// In which order a die takes its work.
    "schedule" (drive) schedule: Schedule {
        /// Host reads go before programs and garbage collection. A refresh that is past its deadline takes turns with them.
        reads_first: bool = false;
        /// Longest time that a buffered unit waits for company before it is programmed with padding. "none": until a flush.
        linger: Maybe<Nanos> = Maybe(None);
        /// Longest time that a suspended program or erase is held while reads wait. It goes on after that, once the read under way has ended. "none": until
        /// no read waits.
        held_max: Maybe<Nanos> = Maybe(None);
        /// Most reads in a row, where reads go first, while the die has other work. It then does one program, erase or step of it. "none": any number.
        reads_in_row: Maybe<u32> = Maybe(None);
    }

    /// Which wordline of an open block takes the next host data.
    "placement" (drive) placement: Placement {
        /// All wordlines of an h-layer and then those of the next, or the first wordlines of h-layers ahead of the others.
        order: WordlineOrder = WordlineOrder::HorizontalFirst;
        /// With the mixed order: the share of the write buffer in use above which host data is taken to come in a burst, and goes to wordlines whose h-layer
        /// has been begun.
        threshold: Share = Share::NINE_TENTHS;
        /// With the mixed order: how many blocks of a die take host data at once.
        open_blocks: u32 = 2;
        /// Blocks of a die that may take moved data at once, each for data that a technique keeps apart. Techniques that ask for more get more. Each takes a
        /// block of the spare. 1 to 16.
        moved_blocks: u32 = 1;
    }

    /// What the firmware does to come back after a power cut.
    "recovery" (drive) recovery: Recovery {
        /// Journal on flash of all that the firmware could not find again otherwise. A served drive always has it. A simulated drive has no power to lose:
        /// there it shows the cost of the journal, and replays what a served drive recorded.
        on: bool = false;
        /// Programs of data for each program of a checkpoint of the map, with `on`. Fewer cost more and make recovery shorter. "none": no checkpoints;
        /// recovery then reads everything.
        checkpoint_every: Maybe<u32> = Maybe(Some(32));
        /// With `on`: whether the out-of-band marks of all pages are written twice, at the end of each block and, until then, in the journal. Without, a page
        /// that cannot be read after a power cut is taken for one that was never finished, and an older version of its data is handed out. It takes a wordline
        /// of each block, which small blocks have no room for, and programs of the journal that flushes wait for.
        oob_copies: bool = false;
        /// With `oob_copies`: where the second copies lie. "group": at the end of each block, and in one journal until then; a block or a die that fails takes
        /// both copies, and then all data is refused. "neighbour": in a log of the map on two dies, so that a block or a die that fails costs what it held. A
        /// core of one die has no neighbour, and does as with "group".
        oob_place: OobPlace = OobPlace::Group;
    }

    /// Handling of failed dies by the firmware.
    "repair" (drive) repair: Repair {
        /// Search for dies that have failed, once an operation went badly: the first pages of the blocks beside are read. A die that has failed is
        /// not used any more. Data that lay there is lost until it is written or trimmed, and reads of it fail at once.
        detect: bool = true;
        /// Share of a die's blocks that may be bad before the die counts as failed. One bad block never makes a failed die. Blocks that a retirement policy
        /// takes out of service do not count.
        bad_blocks_per_die: Share = Share::TWO_PERCENT;
        /// Share of a codeword's bits that is wrong where a page reads as noise. A block whose first page reads so is bad; one that has fewer wrong bits is
        /// old, and read again with the retry table.
        noise: Share = Share::QUARTER;
        /// Share that the exported units are of the units of all blocks in service, from which on a core with a failed die takes no more writes.
        limit: Share = Share::ALMOST_ALL;
    }

    /// How a run starts.
    "run" (drive) run: Run {
        /// The seed of every die's cells and every policy that samples.
        seed: u64 = 1;
        /// Share of the exported capacity that is written, sequentially, before a run starts. A drive that holds nothing answers reads without its flash.
        fill: Share = Share::ALL;
        /// Layout of that data as endless random overwrites would leave it, so that GC goes on from the first request. Otherwise it lies as it was written.
        steady: bool = false;
        /// Permission to fail requests, by wear or by design, without exit code 4 of `run` and `compare`. It changes no run, and is not in the plan's
        /// hash.
        may_fail: bool = false;
    }
}

/// True if h-layers, cells of a wordline and bits of a cell are the same in two geometries.
pub(crate) fn same_block(one: &parsed::Geometry, other: &parsed::Geometry) -> bool {
    same(&one.layers, &other.layers) && same_cells(one, other)
}

/// True if cells of a wordline and bits of a cell are the same in two geometries.
pub(crate) fn same_cells(one: &parsed::Geometry, other: &parsed::Geometry) -> bool {
    same(&one.cell, &other.cell) && same(&one.page, &other.page) && same(&one.spare, &other.spare)
}

/// True if an h-layer has as many wordlines in two geometries.
pub(crate) fn same_layers(one: &parsed::Geometry, other: &parsed::Geometry) -> bool {
    same(&one.wordlines_per_layer, &other.wordlines_per_layer)
}

/// True if both are set to the same value, or neither is.
fn same<T: PartialEq>(one: &Option<Set<T>>, other: &Option<Set<T>>) -> bool {
    one.as_ref().map(|set| &set.value) == other.as_ref().map(|set| &set.value)
}

/// The sections with tables that a lot of chips gives, each with the seed of its lot. Where that is "none", there is no table.
macro_rules! lot_tables {
    ($count:literal: $($table:ident: $Name:ident,)*) => {
        /// Names of the sections whose tables a lot of chips gives.
        pub(crate) const LOT_TABLES: [&str; $count] = [$(stringify!($table)),*];

        /// The sections of tables, for a chip as for a drive.
        #[derive(Clone, Copy)]
        pub(crate) struct Tables<'a> {
            $(pub(crate) $table: &'a filled::$Name,)*
        }

        /// The sections of tables of a chip by itself.
        pub(crate) struct OwnTables {
            $($table: filled::$Name,)*
        }

        impl OwnTables {
            /// The sections as they are written, with defaults: all keys have one.
            pub(crate) fn fill(sections: &parsed::Sections) -> Option<OwnTables> {
                Some(OwnTables { $($table: sections.$table.clone().fill(&mut Vec::new())?,)* })
            }

            pub(crate) fn borrowed(&self) -> Tables<'_> {
                Tables { $($table: &self.$table,)* }
            }
        }

        impl<'a> Tables<'a> {
            /// The sections of a whole drive.
            pub(crate) fn of(sections: &'a filled::Sections) -> Tables<'a> {
                Tables { $($table: &sections.$table,)* }
            }

            /// The seeds of the lots that tables were made from.
            pub(crate) fn lot_seeds(&self) -> [(&'static str, &'a Set<Maybe<u64>>); $count] {
                [$((stringify!($table), &self.$table.seed)),*]
            }
        }
    };
}
lot_tables! {
    6:
    aging: Aging,
    ort: Ort,
    retirement_limits: RetirementLimits,
    disturb: Disturb,
    copyback: Copyback,
    guard: Guard,
}

/// The table of keys as data.
pub(crate) fn table() -> &'static [SectionInfo] {
    static TABLE: LazyLock<Vec<SectionInfo>> = LazyLock::new(listed);
    &TABLE
}
