//! Keys of job files, each in one class: it has its counterpart, it changes nothing that a drive is asked for, or it changes that and cannot be told in a
//! workload file.

/// Meaning of a key of fio for a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// It is written with keys of a workload file, if its value can be.
    Used,
    /// No request is another one because of it; for the reason given.
    Harmless(&'static str),
    /// Requests are others because of it, unless it has one of the values `unless`; for the reason given.
    Changes { unless: &'static [&'static str], why: &'static str },
}

use Class::{Changes, Harmless, Used};

const REPORT: &str = "what is measured, logged or checked of a run is not part of its load";
const HOST: &str = "the host's threads, memory and clocks are not part of the load";
const DATA: &str = "the content of data makes no difference to the drive";
const SETUP: &str = "the host's files are made outside of the load; `--fill` says how full the drive is at the start";
const CACHE: &str = "there is no page cache before the drive";
const DICE: &str = "the dice are those of the run's seed";
const ENGINE: &str = "the way in which an ioengine reaches its storage is not part of the load";
const ALONE: &str = "of no effect without the key that it belongs to";
const OFF: &[&str] = &["0", "none"];

/// A class that changes requests unless the key is off.
const fn changes(why: &'static str) -> Class {
    Changes { unless: OFF, why }
}

/// Other names of keys, each before the one that stands in the classes.
const ALIASES: &[(&str, &str)] = &[
    ("readwrite", "rw"),
    ("blocksize", "bs"),
    ("ba", "blockalign"),
    ("io_limit", "io_size"),
    ("timeout", "runtime"),
    ("wait_for_previous", "stonewall"),
    ("nr_files", "nrfiles"),
    ("fileoffset", "offset"),
    ("blocksize_range", "bsrange"),
    ("bs_unaligned", "blocksize_unaligned"),
    ("iodepth_batch_submit", "iodepth_batch"),
    ("iodepth_batch_complete", "iodepth_batch_complete_min"),
    ("ratemin", "rate_min"),
    ("ss", "steadystate"),
    ("fill_fs", "fill_device"),
    ("fdp", "dataplacement"),
    ("data_placement", "dataplacement"),
];

/// Keys with a class of their own.
#[rustfmt::skip]
const CLASSES: &[(&str, Class)] = &[
    ("rw", Used), ("rwmixread", Used), ("rwmixwrite", Used), ("bs", Used), ("bssplit", Used), ("bsrange", Used), ("blockalign", Used), ("iodepth", Used),
    ("ioengine", Used), ("numjobs", Used), ("size", Used), ("io_size", Used), ("offset", Used), ("offset_increment", Used), ("filesize", Used),
    ("nrfiles", Used), ("file_service_type", Used), ("filename", Used), ("directory", Used), ("runtime", Used), ("time_based", Used), ("ramp_time", Used),
    ("loops", Used), ("rate", Used), ("rate_iops", Used), ("rate_process", Used), ("number_ios", Used), ("random_distribution", Used),
    ("percentage_random", Used), ("norandommap", Used), ("prio", Used), ("prioclass", Used), ("sync", Used), ("fsync", Used), ("fdatasync", Used),
    ("kb_base", Used), ("name", Used), ("stonewall", Used), ("wait_for", Used), ("iodepth_batch", Used), ("iodepth_batch_complete_min", Used),
    ("iodepth_batch_complete_max", Used), ("iodepth_low", Used), ("serialize_overlap", Used), ("verify", Used), ("do_verify", Used), ("openfiles", Used),
    ("zonesize", Used), ("zonerange", Used), ("zoneskip", Used), ("zonemode", Used), ("exitall", Used),

    ("direct", Harmless(CACHE)), ("buffered", Harmless(CACHE)),
    ("group_reporting", Harmless("each job has a row of its own, and the drive one of all")),
    ("new_group", Harmless("each job has a row of its own, and the drive one of all")),

    ("flow", changes("jobs that wait for each other in proportion have no counterpart; `rate` or shares of `mix` may come near")),
    ("latency_target", changes("a queue depth that is searched for by latency has no counterpart; compare runs of several depths")),
    ("max_latency", changes("a job that ends at a slow request has no counterpart")),
    ("thinktime", changes("a pause after a request has no counterpart; a `rate` with `busy` and `idle` may come near")),
    ("startdelay", changes("jobs of a workload start at the same time, or when the phase before has ended")),
    ("rate_min", changes("a job that ends where it falls behind a rate has no counterpart")),
    ("rate_iops_min", changes("a job that ends where it falls behind a rate has no counterpart")),
    ("steadystate", changes("an end by steady state is `--until-steady` of a run of phases, by a rule of its own")),
    ("percentage_sequential", changes("no counterpart; `percentage_random` has one")),
    ("offset_align", changes("an offset that is moved has no counterpart")),
    ("bs_is_seq_rand", changes("sizes by whether a request is random have no counterpart; make two jobs of it")),
    ("blocksize_unaligned", changes("sizes that are no multiple of the smallest have no counterpart")),
    ("trim_percentage", changes("trims of what was just written have no counterpart; `mix` has a share of trims")),
    ("verify_only", changes("a check of data without its load has no counterpart")),
    ("create_only", changes("files that are made, and nothing else, are no load")),
    ("end_fsync", changes("a flush at the end has no counterpart; `flush_every` flushes after so many writes")),
    ("fsync_on_close", changes("a flush at the end has no counterpart; `flush_every` flushes after so many writes")),
    ("file_append", changes("the end of a file has no counterpart; `offset` says where a job begins")),
    ("fill_device", changes("a job that ends when nothing is left has no counterpart; `size` says how much it writes")),
    ("read_iolog", changes("its requests come from that log: run the log as a trace, with `wordline run DRIVE --workload LOG`")),
    ("profile", changes("the jobs of a built-in profile of fio are not known here")),
    ("opendir", changes("the files of a folder are not known here")),
    ("lockfile", changes("jobs that wait for each other's files have no counterpart")),
    ("cmdprio_percentage", changes("a class of some requests has no counterpart; make jobs of different `prioclass`")),
    ("cmdprio_bssplit", changes("a class of some requests has no counterpart; make jobs of different `prioclass`")),
    ("dataplacement", changes("requests that say where data is to lie have no counterpart")),
    ("write_hint", Changes { unless: &["0", "none", "not_set"], why: "requests that say where data is to lie have no counterpart" }),
    ("sprandom", changes("a preparation by random places has no counterpart; `--fill` and `wordline age` prepare a drive")),
    ("num_range", Changes { unless: &["1"], why: "trims of several ranges have no counterpart" }),
    ("sg_write_mode", Changes { unless: &["write"], why: "commands that are no plain writes have no counterpart" }),
    ("write_mode", Changes { unless: &["write"], why: "commands that are no plain writes have no counterpart" }),
    ("libblkio_write_zeroes_on_trim", changes("writes of zeroes have no counterpart")),
    ("writefua", changes("`sync=dsync` makes writes durable one by one")),
    ("readfua", changes("reads with forced unit access have no counterpart")),
    ("unique_filename", Harmless(SETUP)),
    ("description", Harmless("it says nothing to fio, either")),
];

/// Keys that change no request, by the reason.
#[rustfmt::skip]
const HARMLESS: &[(&str, &[&str])] = &[
    (REPORT, &[
        "bwavgtime", "iopsavgtime", "clat_percentiles", "lat_percentiles", "slat_percentiles", "percentile_list", "disable_clat", "disable_lat", "disable_slat",
        "disable_bw", "disable_bw_measurement", "disk_util", "gtod_reduce", "log_avg_msec", "log_window_value", "log_hist_msec", "log_hist_coarseness",
        "log_max_value", "log_offset", "log_prio", "log_issue_time", "log_entries", "log_compression", "log_compression_cpus", "log_store_compressed",
        "log_unix_epoch", "log_alternate_epoch", "log_alternate_epoch_clock_id", "job_start_clock_id", "per_job_logs", "significant_figures", "stats",
        "unified_rw_reporting", "unit_base", "write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log", "write_iolog", "block_error_percentiles",
        "continue_on_error", "ignore_error", "error_dump", "exitall_on_error", "exec_prerun", "exec_postrun",
    ]),
    (HOST, &[
        "cgroup", "cgroup_weight", "cgroup_nodelete", "clocksource", "gtod_cpu", "cpumask", "cpus_allowed", "cpus_allowed_policy", "nice", "numa_cpu_nodes",
        "numa_mem_policy", "thread", "uid", "gid", "mem", "iomem", "iomem_align", "mem_align", "hugepage-size", "lockmem", "ioscheduler", "io_submit_mode",
        "merge_blktrace_file", "merge_blktrace_scalars", "merge_blktrace_iters", "gpu_dev_id", "gpu_dev_ids", "cuda_io",
    ]),
    (DATA, &[
        "buffer_compress_chunk", "buffer_compress_percentage", "buffer_pattern", "dedupe_percentage", "dedupe_global", "dedupe_mode",
        "dedupe_working_set_percentage", "refill_buffers", "scramble_buffers", "zero_buffers", "verify_async", "verify_async_cpus", "verify_dump", "verify_fatal",
        "verify_interval", "verify_offset", "verify_pattern", "verify_pattern_interval", "verify_header_seed", "verify_write_sequence", "verify_state_load",
        "verify_state_save", "verifysort", "verifysort_nr", "trim_verify_zero", "experimental_verify", "verify_backlog", "verify_backlog_batch",
        "pi_act", "pi_chk", "md_per_io_size", "apptag", "apptag_mask",
    ]),
    (SETUP, &[
        "allow_file_create", "allow_mounted_write", "create_fsync", "create_on_open", "create_serialize", "fallocate", "filename_format", "filetype", "overwrite",
        "pre_read", "unlink", "unlink_each_loop",
    ]),
    (CACHE, &["invalidate", "fadvise_hint", "sync_file_range", "write_barrier", "uncached"]),
    (DICE, &["allrandrepeat", "randrepeat", "randseed", "random_generator", "use_os_rand", "softrandommap"]),
    (ALONE, &[
        "flow_id", "flow_sleep", "flow_watermark", "latency_window", "latency_percentile", "latency_run", "thinktime_blocks", "thinktime_blocks_type",
        "thinktime_iotime", "thinktime_spin", "thinkcycles", "rate_cycle", "ratecycle", "rate_ignore_thinktime", "steadystate_duration", "steadystate_ramp_time", "ss_dur", "ss_ramp",
        "ss_interval", "steadystate_check_interval", "trim_backlog", "trim_backlog_batch", "exit_what", "cmdprio_class", "cmdprio", "cmdprio_hint", "priohint", "prio_hint",
        "dp_scheme", "fdp_pli", "fdp_pli_select", "plids", "plid_select", "spr_op", "spr_num_regions", "replay_align", "replay_no_stall", "replay_redirect",
        "replay_scale", "replay_skip", "replay_time_scale", "read_iolog_chunked", "rw_sequencer", "rwmixcycle", "max_open_zones", "job_max_open_zones",
        "zonecapacity", "zone_reset_frequency", "zone_reset_threshold", "read_beyond_wp", "ignore_zone_limits", "recover_zbd_write_error",
    ]),
    (ENGINE, &[
        "atomic", "fixedbufs", "hipri", "hipri_percentage", "registerfiles", "sqthread_poll", "sqthread_poll_cpu", "nonvectored", "nowait", "force_async",
        "userspace_reap", "cmd_type", "hostname", "port", "listen", "protocol", "proto", "http_host", "http_user", "http_pass", "https", "http_mode",
        "http_object_mode", "http_verbose", "http_s3_key", "http_s3_keyid", "http_s3_region", "http_s3_security_token", "http_s3_sse_customer_algorithm",
        "http_s3_sse_customer_key", "http_s3_storage_class", "http_swift_auth_token", "clustername", "rbdname", "pool", "clientname", "busy_poll", "namenode",
        "hdfsdirectory", "hdfs_use_direct", "chunk_size", "single_instance", "volume", "brick", "nfs_url", "uri", "initiator", "conf", "touch_objects",
        "libblkio_driver", "libblkio_path", "libblkio_pre_connect_props", "libblkio_num_entries", "libblkio_queue_size", "libblkio_pre_start_props",
        "libblkio_vectored", "libblkio_wait_mode", "libblkio_force_enable_completion_eventfd", "xnvme_be", "xnvme_mem", "xnvme_async", "xnvme_sync", "xnvme_admin",
        "xnvme_dev_nsid", "xnvme_dev_subnqn", "xnvme_iovec", "skip_bad", "thp", "exit_on_io_done", "no_completion_thread", "object_class", "svcl", "cont", "mss", "ttl",
        "bindname", "interface", "window_size", "nodelay", "pingpong", "verb",
    ]),
];

/// Engines of fio that wait for each request.
#[rustfmt::skip]
pub(super) const SYNC_ENGINES: &[&str] = &[
    "sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "ime_psync", "ime_psyncv", "libhdfs", "gfapi", "libcufile", "dev-dax", "libpmem", "http",
    "mtd",
];
/// Engines of fio that keep `iodepth` requests outstanding.
#[rustfmt::skip]
pub(super) const ASYNC_ENGINES: &[&str] = &[
    "libaio", "io_uring", "io_uring_cmd", "posixaio", "solarisaio", "windowsaio", "sg", "spdk", "nvme", "xnvme", "libblkio", "libzbc", "rbd", "rados",
    "libiscsi", "nbd", "nfs", "dfs", "ime_aio", "gfapi_async", "guasi", "syslet-rw", "external", "null", "cpp_null",
];
/// Engines of fio that ask no drive for anything.
#[rustfmt::skip]
pub(super) const OTHER_ENGINES: &[&str] = &[
    "cpuio", "net", "netsplice", "rdma", "exec", "falloc", "ftruncate", "e4defrag", "filecreate", "filedelete", "filestat", "dircreate", "dirdelete", "dirstat",
];

/// The name under which a key stands in the classes.
pub(super) fn canonical(key: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == key).map_or(key, |(_, name)| name)
}

/// The class of a key, by its [`canonical`] name; `None`: nobody here has heard of it.
pub(super) fn class(key: &str) -> Option<Class> {
    let own = CLASSES.iter().find(|(name, _)| *name == key).map(|(_, class)| *class);
    own.or_else(|| HARMLESS.iter().find(|(_, names)| names.contains(&key)).map(|(why, _)| Harmless(why)))
}

/// All names of keys.
pub(super) fn names() -> impl Iterator<Item = &'static str> + Clone {
    let harmless = HARMLESS.iter().flat_map(|(_, names)| names.iter().copied());
    CLASSES.iter().map(|(name, _)| *name).chain(harmless).chain(ALIASES.iter().map(|(alias, _)| *alias))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_key_is_in_exactly_one_class() {
        let mut seen = BTreeSet::new();
        for name in names() {
            assert!(seen.insert(name), "{name} stands there twice");
            assert!(class(canonical(name)).is_some(), "{name}");
            assert_eq!(canonical(canonical(name)), canonical(name));
        }
        let engines = [SYNC_ENGINES, ASYNC_ENGINES, OTHER_ENGINES].concat();
        assert_eq!(engines.iter().collect::<BTreeSet<_>>().len(), engines.len());
    }

    #[test]
    fn each_class_says_why() {
        for name in names() {
            match class(canonical(name)).expect("it has one") {
                Used => {}
                Harmless(why) => assert!(!why.is_empty(), "{name}"),
                Changes { unless, why } => assert!(!why.is_empty() && !unless.is_empty(), "{name}"),
            }
        }
    }
}
