//! The list: an entry for each figure, in the order of tables.

use super::columns::{Depth, latency};
use super::figure::Better::{Higher, Lower, Neither};
use super::figure::Form::{Count, Number, Over, Percent, Plain};
use super::figure::{Figure, Line};
use super::part::Part;
use crate::result::{BlocksResult, ByOp, CellsResult, HintedReadsResult, Latency, RunResult, Sanitised, SparedResult};

/// Members of results that the catalogue leaves out, by the beginning of their paths, with the reason.
#[cfg(test)]
pub(super) const ELSEWHERE: &[(&str, &str)] = &[
    ("spared.refused_for", "the line of spared wordlines, as reasons of a refusal"),
    ("spared.refused_as", "the line of spared wordlines, as a reason of a refusal"),
    ("spared.taken_back", "the line of spared wordlines"),
    ("spared.made_whole", "the line of spared wordlines"),
    ("name", "identity of the run"),
    ("plan_", "identity of the run"),
    ("state", "identity of the run"),
    ("seed", "identity of the run"),
    ("event_log_hash", "identity of the run"),
    ("capacity.", "the drive itself, which one sentence describes"),
    ("asked.", "a row of the table of runs"),
    ("steady", "a word beside the simulated time"),
    ("lost.", "a sentence on the faults of the schedule"),
    ("trace.", "notes on the changes of the trace"),
    ("host.reads", "the table of requests by kind, which has rates that are no member"),
    ("host.writes", "the table of requests by kind"),
    ("host.trims", "the table of requests by kind, and a share of them"),
    ("host.flushes", "the table of requests by kind"),
    ("host.hints", "the table of requests by kind"),
    ("host.read_iops", "the table of requests by kind"),
    ("host.write_iops", "the table of requests by kind"),
    ("host.failed_by.", "a sentence on requests that failed"),
    ("host.read_bytes", "the whole of which a share is shown"),
    ("host.write_bytes", "nowhere but in the JSON"),
    ("host.queue_depth", "nowhere but in the JSON: it was asked for"),
    ("latency_us.read.count", "the first column of the table of latencies"),
    ("latency_us.write.count", "the first column of the table of latencies"),
    ("latency_us.trim.count", "the first column of the table of latencies"),
    ("latency_us.flush.count", "the first column of the table of latencies"),
    ("hinted_reads.technique", "a sentence below the table of reads by tolerated latency"),
    ("hinted_reads.in_effect", "a sentence below the table of reads by tolerated latency"),
    ("hinted_reads.reads", "the whole of which a share is shown"),
    ("stages_us.", "a table and a picture of their own: parts of one latency"),
    ("stops.", "sentences beside the table of classes"),
    ("wordlines.leaders.host_programs", "a share in the line of wordlines"),
    ("wordlines.leaders.programs", "whether the line of wordlines has them"),
    ("wordlines.followers.host_programs", "a share in the line of wordlines"),
    ("wordlines.followers.programs", "whether the line of wordlines has them"),
    ("read_errors.worst_codeword", "the line of errors, which has shares that are no member"),
    ("read_errors.uncorrectable", "the line of errors"),
    ("in_flight.", "the line of checks: two of them must agree"),
    ("saturated.", "a warning"),
    ("vertrace.", "a table of its own"),
    ("blocks.erases_deviation", "nowhere but in the JSON"),
    ("blocks.cells.blocks", "nowhere but in the JSON"),
    ("blocks.cells.wear_worst_mean", "nowhere but in the JSON"),
    ("blocks.cells.age_min", "nowhere but in the JSON"),
    ("blocks.cells.carried_mean", "nowhere but in the JSON"),
    ("checks.", "the verdict"),
];

fn seen(value: u64) -> Option<f64> {
    (value > 0).then_some(value as f64)
}

fn more_than_none(value: f64) -> Option<f64> {
    (value > 0.0).then_some(value)
}

fn spared(part: &Part<'_>, of: fn(&SparedResult) -> f64) -> Option<f64> {
    part.run?.spared.as_ref().map(of)
}

fn hinted(part: &Part<'_>, of: fn(&HintedReadsResult) -> f64) -> Option<f64> {
    part.run?.hinted_reads.as_ref().map(of)
}

fn sanitised(part: &Part<'_>, of: fn(&Sanitised) -> u64) -> Option<f64> {
    part.run?.sanitised.as_ref().and_then(|done| seen(of(done)))
}

/// Block groups of a run that has any.
fn groups<'a>(part: &Part<'a>) -> Option<&'a BlocksResult> {
    part.run.map(|run| &run.blocks).filter(|blocks| blocks.good + blocks.bad > 0)
}

/// Cells of a run in which they were inspected.
fn inspected<'a>(part: &Part<'a>) -> Option<&'a CellsResult> {
    groups(part)?.cells.as_ref()
}

/// Cost of a run of which it was taken.
fn cost<'a>(part: &Part<'a>) -> Option<&'a RunResult> {
    part.run.map(|run| &run.run).filter(|run| run.cpu_seconds > 0.0)
}

/// Every figure, without units and meanings.
pub(super) fn all() -> Vec<Figure> {
    let parts = [host(), latencies(), write_amplification(), flash(), without_data(), utilisation(), block_groups(), cells(), simulation()];
    parts.into_iter().flatten().collect()
}

fn host() -> Vec<Figure> {
    vec![
        Figure::new("host.failed", "requests failed", |part| seen(part.host.failed)).compared(Lower).swept(Some(7)).bare().alarm(),
        Figure::new("worn_out_seconds", "worn out after", |part| part.run?.worn_out_seconds).compared_with_zero(Higher).alarm(),
        Figure::new("host.read_blank_bytes", "read, but never written", |part| seen(part.host.read_blank_bytes)).compared(Neither),
        Figure::new("host.iops", "IOPS", |part| Some(part.host.iops)).compared(Higher).grid().swept(Some(1)).bare(),
        Figure::new("host.read_mib_s", "read bandwidth", |part| (part.host.reads > 0).then_some(part.host.read_mib_s))
            .compared(Higher)
            .card_entry(40, "reads", "{} MiB/s", Number),
        Figure::new("host.write_mib_s", "write bandwidth", |part| (part.host.writes > 0).then_some(part.host.write_mib_s))
            .compared(Higher)
            .card_entry(50, "writes", "{} MiB/s", Number),
    ]
}

/// Latency of one kind of request.
type OfKind = fn(&ByOp<Latency>) -> Option<&Latency>;

/// Kinds of requests, with their latencies.
const KINDS: [(&str, OfKind); 4] = [
    ("read", |by| by.read.as_ref()),
    ("write", |by| by.write.as_ref()),
    ("trim", |by| by.trim.as_ref()),
    ("flush", |by| by.flush.as_ref()),
];

fn latencies() -> Vec<Figure> {
    let mut all = Vec::new();
    for (number, (kind, of)) in KINDS.into_iter().enumerate() {
        for column in latency(Depth::All) {
            let (path, label) = (format!("latency_us.{kind}.{}", column.name), format!("{kind} latency, {}", column.head));
            let figure = Figure::latency(path, label, of, column.of);
            all.push(match kind {
                "read" | "write" if column.is_compared => figure.compared_with_zero(Lower).grid().swept(column.swept[number]),
                "trim" if column.name == "mean" => figure.compared_with_zero(Lower),
                _ => figure,
            });
        }
    }
    let silence = Figure::new("longest_silence_us", "longest silence", |part| part.run?.longest_silence_us.and_then(more_than_none));
    all.push(
        Figure::new("hinted_reads.over", "reads over their hints", |part| hinted(part, |of| of.over as f64))
            .compared_with_zero(Lower)
            .card_entry(62, "reads over their hints", "{}", Count),
    );
    all.push(
        Figure::new("hinted_reads.over_share", "  of all hinted reads", |part| hinted(part, |of| of.over_share))
            .compared_with_zero(Lower)
            .card_entry(63, "of all hinted reads", "{}", Percent),
    );
    all.push(silence.compared(Lower).line(Line::Silence, 0, "{} ms at most without an answer while requests waited", Over(1e3)));
    all
}

fn write_amplification() -> Vec<Figure> {
    let part = |path: &str, label: &str, of| Figure::new(path, label, of);
    vec![
        Figure::new("waf.total", "write amplification", |part| part.waf.total).compared_with_zero(Lower).swept(Some(0)).card_entry(
            80,
            "write amplification",
            "{}",
            Number,
        ),
        part("waf.host", "  of it host", |part| part.waf.host.and_then(more_than_none)).line(Line::Waf, 0, "host {}", Number),
        part("waf.fill", "  of it fill", |part| part.waf.fill.and_then(more_than_none)).line(Line::Waf, 10, "fill {}", Number),
        part("waf.gc", "  of it gc", |part| part.waf.gc.and_then(more_than_none)).compared(Lower).line(Line::Waf, 20, "gc {}", Number),
        part("waf.wear", "  of it wear", |part| part.waf.wear.and_then(more_than_none)).line(Line::Waf, 30, "wear {}", Number),
        part("waf.disturb", "  of it disturb", |part| part.waf.disturb.and_then(more_than_none)).line(Line::Waf, 40, "disturb {}", Number),
        part("waf.retire", "  of it retire", |part| part.waf.retire.and_then(more_than_none)).line(Line::Waf, 50, "retire {}", Number),
        part("waf.recovery", "  of it recovery", |part| part.waf.recovery.and_then(more_than_none)).line(
            Line::Waf,
            60,
            "recovery {}",
            Number,
        ),
        part("waf.sanitise", "  of it sanitising", |part| part.waf.sanitise.and_then(more_than_none)).compared(Lower).line(
            Line::Waf,
            70,
            "sanitise {}",
            Number,
        ),
        part("waf.keys", "  of it keys", |part| part.waf.keys.and_then(more_than_none)).compared(Lower).line(
            Line::Waf,
            80,
            "keys {}",
            Number,
        ),
        part("waf.refresh", "  of it refresh", |part| part.waf.refresh.and_then(more_than_none)).line(Line::Waf, 90, "refresh {}", Number),
        part("waf.padding", "  of it padding", |part| part.waf.padding.and_then(more_than_none)).line(Line::Waf, 100, "padding {}", Number),
        Figure::new("buffered_units", "still in the write buffer", |part| part.waf.total.and(part.run?.buffered_units).and_then(seen))
            .line(Line::Buffered, 0, "{} units are still in the write buffer: written, and not yet programmed", Count)
            .card_entry(90, "still in the write buffer", "{} units", Count),
    ]
}

fn without_data() -> Vec<Figure> {
    vec![
        Figure::new("spared.granted", "erases that left wordlines without data", |part| spared(part, |of| of.granted as f64))
            .compared_with_zero(Neither)
            .card_entry(142, "erases with spared wordlines", "{}", Count),
        Figure::new("spared.refused", "  refused", |part| spared(part, |of| of.refused as f64)).compared_with_zero(Neither).card_entry(
            143,
            "sets of them refused",
            "{}",
            Count,
        ),
        Figure::new("spared.idle_share", "flash without data", |part| spared(part, |of| of.idle_share))
            .compared_with_zero(Lower)
            .card_entry(144, "flash without data", "{}", Percent),
    ]
}

fn flash() -> Vec<Figure> {
    vec![
        Figure::new("erases", "erases", |part| Some(part.erases as f64)).compared(Lower).line(
            Line::Flash,
            20,
            "{} block groups erased",
            Count,
        ),
        Figure::new("copies.share", "moved pages copied inside their dies", |part| Some(part.run?.copies.as_ref()?.share))
            .compared_with_zero(Neither)
            .line(Line::Copies, 0, "{} of the pages moved stayed inside their dies", Percent),
        Figure::new("copies.pages", "pages copied inside their dies", |part| Some(part.run?.copies.as_ref()?.pages as f64))
            .compared_with_zero(Neither)
            .bare()
            .line(Line::Copies, 10, "{} pages that crossed no bus", Count),
        Figure::new("sanitised.page_locks", "page locks", |part| sanitised(part, |done| done.page_locks))
            .per("operations")
            .compared(Lower)
            .line(Line::Sanitised, 0, "{} page locks", Count),
        Figure::new("sanitised.block_locks", "block locks", |part| sanitised(part, |done| done.block_locks))
            .per("operations")
            .compared(Lower)
            .line(Line::Sanitised, 10, "{} block locks", Count),
        Figure::new("sanitised.scrubs", "scrubs", |part| sanitised(part, |done| done.scrubs)).per("operations").compared(Lower).line(
            Line::Sanitised,
            20,
            "{} scrubs",
            Count,
        ),
        Figure::new("sanitised.reprograms", "reprogrammed pages", |part| sanitised(part, |done| done.reprograms))
            .per("operations")
            .compared(Lower)
            .bare()
            .line(Line::Sanitised, 30, "{} reprogrammed pages", Count),
        Figure::new("wordlines.leaders.program_us", "t_PROG of leaders", |part| part.run?.wordlines.as_ref()?.leaders.program_us)
            .compared_with_zero(Lower),
        Figure::new("wordlines.followers.program_us", "t_PROG of followers", |part| part.run?.wordlines.as_ref()?.followers.program_us)
            .compared_with_zero(Lower),
        Figure::new("programmed_again", "programmed again", |part| seen(part.run?.programmed_again)).compared(Lower),
        Figure::new("lost_units", "units lost", |part| seen(part.run?.lost_units)).compared(Lower).line(
            Line::Lost,
            0,
            "{} units could not be read when they had to be moved or completed; reads of them fail until they are written again",
            Count,
        ),
        Figure::new("pages_programmed", "pages programmed", |part| Some(part.run?.pages_programmed as f64)).compared(Lower).bare().line(
            Line::Flash,
            10,
            "{} programmed",
            Count,
        ),
        Figure::new("pages_read", "pages read", |part| Some(part.run?.pages_read as f64)).compared(Lower).bare().line(
            Line::Flash,
            0,
            "{} pages read",
            Count,
        ),
        Figure::new("read_errors.retries_mean", "read retries", |part| Some(part.run?.read_errors.as_ref()?.retries_mean))
            .per("per read")
            .compared(Lower),
    ]
}

fn utilisation() -> Vec<Figure> {
    vec![
        Figure::new("utilisation.die", "die arrays busy", |part| Some(part.utilisation.die))
            .compared(Neither)
            .line(Line::Busy, 0, "die arrays {}", Percent)
            .card_entry(130, "die arrays busy", "{}", Percent),
        Figure::new("utilisation.die_with_transfers", "dies busy with transfers", |part| Some(part.utilisation.die_with_transfers))
            .compared(Neither)
            .line(Line::Transfers, 0, "a transfer holds its die, too: dies are busy {} with them", Percent)
            .card_entry(140, "dies busy with transfers", "{}", Percent),
        Figure::new("utilisation.channel", "channel utilisation", |part| Some(part.utilisation.channel)).compared(Neither).line(
            Line::Busy,
            20,
            ", channel {}",
            Percent,
        ),
        Figure::new("utilisation.die_max", "busiest die", |part| Some(part.run?.utilisation.die_max)).line(
            Line::Busy,
            10,
            " (busiest {})",
            Percent,
        ),
        Figure::new("utilisation.channel_max", "busiest channel", |part| Some(part.run?.utilisation.channel_max)).line(
            Line::Busy,
            30,
            " (busiest {})",
            Percent,
        ),
        Figure::new("utilisation.core", "core utilisation", |part| Some(part.run?.utilisation.core)).line(
            Line::Busy,
            40,
            ", core {}",
            Percent,
        ),
        Figure::new("utilisation.dram", "DRAM utilisation", |part| Some(part.run?.utilisation.dram)).line(
            Line::Busy,
            50,
            ", DRAM {}",
            Percent,
        ),
        Figure::new("utilisation.link_in", "host link utilisation, inwards", |part| part.run?.utilisation.link_in).line(
            Line::Busy,
            60,
            ", host link in {}",
            Percent,
        ),
        Figure::new("utilisation.link_out", "host link utilisation, outwards", |part| part.run?.utilisation.link_out).line(
            Line::Busy,
            70,
            ", out {}",
            Percent,
        ),
        Figure::new("simulated_seconds", "simulated time", |part| Some(part.simulated_seconds)).compared(Neither),
    ]
}

fn block_groups() -> Vec<Figure> {
    let group = |path: &str, label: &str, of, place, words, form| Figure::new(path, label, of).line(Line::Groups, place, words, form);
    vec![
        group("blocks.good", "block groups in service", |part| Some(groups(part)?.good as f64), 0, "{} good", Count),
        group("blocks.bad", "block groups out of service", |part| Some(groups(part)?.bad as f64), 10, ", {} bad", Count),
        group("blocks.retired", "block groups retired", |part| Some(groups(part)?.retired as f64), 20, ", {} retired", Plain),
        group(
            "blocks.free_at_begin",
            "free block groups at the beginning",
            |part| Some(groups(part)?.free_at_begin? as f64),
            30,
            ", {} free at the beginning",
            Count,
        ),
        group(
            "blocks.free_at_end",
            "free block groups at the end",
            |part| Some(groups(part)?.free_at_end? as f64),
            40,
            " and {} at the end",
            Count,
        ),
        group("blocks.erases_min", "least erases", |part| Some(f64::from(groups(part)?.erases_min)), 50, "; erased {}", Plain),
        group("blocks.erases_max", "most erases", |part| Some(f64::from(groups(part)?.erases_max)), 60, " to {} times", Plain),
        group("blocks.erases_mean", "mean erases", |part| Some(groups(part)?.erases_mean), 70, " (mean {})", Number),
    ]
}

fn cells() -> Vec<Figure> {
    let of_cells = |path: &str, label: &str, of, place, words, form| Figure::new(path, label, of).line(Line::Cells, place, words, form);
    vec![
        of_cells("blocks.cells.wear_mean", "mean wear", |part| Some(inspected(part)?.wear_mean), 0, "worn by {} cycles", Number),
        of_cells(
            "blocks.cells.wear_added_mean",
            "wear added",
            |part| Some(inspected(part)?.wear_added_mean),
            10,
            ", {} of them in the window",
            Number,
        ),
        of_cells(
            "blocks.cells.wear_worst_max",
            "most wear",
            |part| Some(inspected(part)?.wear_worst_max),
            20,
            "; {} on the worst wordline",
            Number,
        ),
        of_cells("blocks.cells.age_mean", "mean age", |part| inspected(part)?.age_mean, 30, "; age {}", Number),
        of_cells("blocks.cells.age_max", "greatest age", |part| inspected(part)?.age_max, 40, ", {} at most", Number),
        of_cells(
            "blocks.cells.carrying",
            "blocks with carried errors",
            |part| seen(inspected(part)?.carrying),
            50,
            "; {} carry errors",
            Count,
        ),
        of_cells("blocks.cells.carried_max", "most carried errors", |part| inspected(part)?.carried_max, 60, " of up to {} bits", Number),
    ]
}

fn simulation() -> Vec<Figure> {
    let of_cost = |path: &str, label: &str, of, place, words, form| Figure::new(path, label, of).line(Line::Cost, place, words, form);
    vec![
        of_cost("run.cpu_seconds", "processor time", |part| Some(cost(part)?.cpu_seconds), 0, "{} CPU-s", Number),
        of_cost("run.wall_seconds", "elapsed time", |part| Some(cost(part)?.wall_seconds), 10, ", {} s; per CPU-second", Number),
        of_cost(
            "run.flash_pages_per_cpu_second",
            "flash pages per CPU-second",
            |part| cost(part)?.flash_pages_per_cpu_second,
            20,
            " {} flash pages",
            Number,
        ),
        of_cost(
            "run.host_requests_per_cpu_second",
            "requests per CPU-second",
            |part| cost(part)?.host_requests_per_cpu_second,
            30,
            ", {} requests",
            Number,
        ),
        of_cost(
            "run.peak_rss_bytes",
            "peak memory",
            |part| Some(cost(part)?.peak_rss_bytes as f64),
            40,
            "; {} MiB",
            Over((1u32 << 20) as f64),
        ),
    ]
}
