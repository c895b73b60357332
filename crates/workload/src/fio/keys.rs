//! Keys of job files: those with a counterpart, and others that fio knows, so that a mistyped one is told from one without a counterpart.

use super::lines::{Entry, Fault};
use crate::words::{distance, nearest};

/// Keys that have a counterpart, if their values do.
pub(super) const USED: &[&str] = &[
    "rw",
    "readwrite",
    "rwmixread",
    "rwmixwrite",
    "bs",
    "blocksize",
    "bssplit",
    "blockalign",
    "ba",
    "iodepth",
    "ioengine",
    "numjobs",
    "size",
    "io_size",
    "io_limit",
    "offset",
    "runtime",
    "timeout",
    "time_based",
    "rate_iops",
    "rate_process",
    "number_ios",
    "random_distribution",
    "percentage_random",
    "prio",
    "prioclass",
    "sync",
    "kb_base",
    "name",
    "stonewall",
    "wait_for_previous",
];

/// Other keys of fio.
#[rustfmt::skip]
pub(super) const OTHERS: &[&str] = &[
    "allow_file_create", "allow_mounted_write", "atomic", "blockalign_random", "blocksize_range", "blocksize_unaligned", "bs_is_seq_rand", "bs_unaligned",
    "bsrange", "buffer_compress_chunk", "buffer_compress_percentage", "buffer_pattern", "buffered", "bwavgtime", "cgroup", "cgroup_weight", "clat_percentiles",
    "clocksource", "cmdprio_class", "cmdprio_percentage", "continue_on_error", "cpumask", "cpus_allowed", "cpus_allowed_policy", "create_fsync",
    "create_on_open", "create_only", "create_serialize", "dedupe_percentage", "description", "direct", "directory", "disable_clat", "disable_lat",
    "disable_slat", "disk_util", "do_verify", "end_fsync", "exec_postrun", "exec_prerun", "exitall", "exitall_on_error", "experimental_verify", "fadvise_hint",
    "fallocate", "fdatasync", "file_append", "file_service_type", "filename", "filename_format", "filesize", "fill_device", "fixedbufs", "flow", "flow_sleep",
    "fsync", "fsync_on_close", "group_reporting", "gtod_reduce", "hipri", "ignore_error", "invalidate", "iodepth_batch", "iodepth_batch_complete",
    "iodepth_batch_complete_max", "iodepth_batch_complete_min", "iodepth_batch_submit", "iodepth_low", "iomem", "iomem_align", "io_submit_mode", "latency_percentile",
    "latency_target", "latency_window", "lat_percentiles", "lockfile", "lockmem", "log_avg_msec", "log_hist_msec", "log_max_value", "log_offset", "loops",
    "max_latency", "max_open_zones", "mem", "merge_blktrace_file", "new_group", "nice", "norandommap", "nrfiles", "numa_cpu_nodes", "numa_mem_policy",
    "offset_align", "offset_increment", "opendir", "openfiles", "overwrite", "per_job_logs", "percentile_list", "pre_read", "ramp_time", "random_generator",
    "randrepeat", "randseed", "rate", "rate_cycle", "rate_ignore_thinktime", "rate_iops_min", "rate_min", "read_iolog", "read_only", "readonly", "refill_buffers",
    "registerfiles", "replay_align", "replay_no_stall", "replay_redirect", "replay_scale", "replay_time_scale", "scramble_buffers", "serialize_overlap",
    "significant_figures", "slat_percentiles", "softrandommap", "sqthread_poll", "sqthread_poll_cpu", "ss", "ss_dur", "ss_ramp", "startdelay", "steadystate",
    "steadystate_duration", "steadystate_ramp_time", "sync_file_range", "thinktime", "thinktime_blocks", "thinktime_blocks_type", "thinktime_iotime",
    "thinktime_spin", "thread", "trim_backlog", "trim_backlog_batch", "trim_percentage", "trim_verify_zero", "unified_rw_reporting", "unique_filename", "unit_base",
    "unlink", "unlink_each_loop", "use_os_rand", "verify", "verify_async", "verify_backlog", "verify_dump", "verify_fatal", "verify_interval", "verify_only",
    "verify_pattern", "verify_state_load", "verify_state_save", "verifysort", "wait_for", "write_barrier", "write_bw_log", "write_hint", "write_hist_log",
    "write_iolog", "write_iops_log", "write_lat_log", "zero_buffers", "zonecapacity", "zonemode", "zonerange", "zonesize", "zoneskip", "uid", "gid",
];

/// Engines of fio that wait for each request.
pub(super) const SYNC_ENGINES: &[&str] = &["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "null", "falloc", "ftruncate"];
/// Engines of fio that keep `iodepth` requests outstanding.
#[rustfmt::skip]
pub(super) const ASYNC_ENGINES: &[&str] = &[
    "libaio", "io_uring", "io_uring_cmd", "posixaio", "solarisaio", "windowsaio", "sg", "spdk", "nvme", "xnvme", "libblkio", "libzbc", "rbd", "rados", "http",
    "libiscsi", "nbd", "gfapi_async", "dev-dax", "libpmem", "guasi", "syslet-rw", "external",
];

/// Refuses a key that nobody has and that is nearly one of fio's.
pub(super) fn check(entry: &Entry<'_>) -> Result<(), Fault> {
    let known = || USED.iter().chain(OTHERS).copied();
    if known().any(|name| name == entry.key) {
        return Ok(());
    }
    let most = if entry.key.len() > 3 { 2 } else { 1 };
    match nearest(entry.key, known()).filter(|near| distance(entry.key, near) <= most) {
        Some(near) => Err((entry.span.clone(), format!("fio has no key '{}'; did you mean '{near}'?", entry.key))),
        None => Ok(()),
    }
}

/// Why a key has no counterpart.
pub(super) fn why(key: &str) -> &'static str {
    match key {
        "fsync" | "fdatasync" => {
            "no counterpart, as flushes by the number of writes are not known here; `mix` has a share of flushes, and `fua` durable writes"
        }
        "filename" | "directory" => "no counterpart: there is one drive, and all jobs are on it",
        "direct" | "buffered" => "no counterpart: there is no page cache before the drive",
        "group_reporting" => "no counterpart: each job has a row of its own, and the drive one of all",
        "norandommap" => "no counterpart: places are drawn as with it, so that one may come twice",
        "ramp_time" => "no counterpart: everything from the start is measured",
        _ if USED.contains(&key) => "of no effect here",
        _ => "no counterpart",
    }
}
