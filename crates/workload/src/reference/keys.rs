//! Every key of a workload file, with its value, its default and its meaning. A test holds the names against those that the parser knows.

/// One key.
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) value: &'static str,
    /// What holds where it is not set; empty where it must be.
    pub(super) default: &'static str,
    pub(super) meaning: &'static str,
}

/// A part of a file.
pub(super) struct Part {
    pub(super) title: &'static str,
    pub(super) about: &'static str,
    pub(super) keys: &'static [Key],
}

const fn key(name: &'static str, value: &'static str, default: &'static str, meaning: &'static str) -> Key {
    Key { name, value, default, meaning }
}

/// A workload of phases.
pub(super) const PHASES: [Part; 7] = [
    Part {
        title: "The file",
        about: "Phases run one after another, jobs at the same time from the same start. A workload has either, and a phase may hold jobs.",
        keys: &[
            key("name", "text", "", "name in tables and charts"),
            key("purpose", "text", "nothing", "purpose, in a sentence"),
            key("phases", "list of `[[phases]]`", "", "phases, in order; at least one"),
            key("jobs", "list of `[[jobs]]`", "", "jobs at the same time, in place of phases; at least one"),
        ],
    },
    Part {
        title: "`[[phases]]`, `[[jobs]]` or `[[phases.jobs]]`",
        about: "A phase or a job ends at whichever of `requests`, `bytes` and `time` is reached first. Of a phase at least one must be set.\n\
                A job without any runs as long as one that has an end; at least one job has. Each job has dice of its own.\n\
                A phase that holds jobs has its name and nothing else beside them. It begins when the phase before it has all its answers, and\n\
                ends when its last job does; its jobs are called `phase/job` in tables, and phases of such a workload have names of their own.\n\
                `--qd` and `--until-steady` are not for jobs, and `--requests` ends all of them after so many requests together.",
        keys: &[
            key("name", "text", "`phase 1` or `job 1` and so on", "name in tables and charts"),
            key(
                "count",
                "whole number from 1 to 256",
                "`1`",
                "of a job: how many like it there are, each named by its number and with dice of its own",
            ),
            key("jobs", "list of `[[phases.jobs]]`", "none", "of a phase, in place of all keys below: jobs at the same time"),
            key("requests", "whole number", "no end", "ends after this many requests"),
            key(
                "bytes",
                "size, or share of the drive",
                "no end",
                "ends after this much data read, written and trimmed, such as \"10 GiB\" or \"200 %\"",
            ),
            key("time", "time", "no end", "ends after this much simulated time"),
            key("start", "size, or share of the drive", "`\"0 %\"`", "begin of the part of the drive that it uses"),
            key(
                "step",
                "size, or share of the drive",
                "`\"0 %\"`",
                "of a job with `count`: how much later on the drive each further one begins",
            ),
            key("span", "size, or share of the drive", "`\"100 %\"`", "length of that part; it must end within the drive"),
            key(
                "align",
                "size",
                "the smallest size",
                "requests begin at multiples of this, counted from the start of the part; a multiple of 512 B",
            ),
            key("mix", "table", "", "shares of operations: see below"),
            key("fua", "share", "`\"0 %\"`", "the share of writes with forced unit access"),
            key(
                "flush_every",
                "whole number",
                "never",
                "a flush follows after every so many writes, at the time of the last of them; it counts toward no end",
            ),
            key(
                "size",
                "size, or list",
                "",
                "how large requests are: one size, or several with their shares (below); multiples of 512 B up to 1 GiB",
            ),
            key("address", "word or table", "", "addresses of requests: see below"),
            key("arrival", "table", "", "when requests come: see below"),
            key("priority", "`urgent`, `high`, `normal` or `low`", "`normal`", "the class of every request"),
            key(
                "tolerance",
                TOLERANCES,
                "no hint",
                "latency that reads of its part of the drive (`start`, `span`) may have. The drive gets one hint for the part before the first request; \
                 the hint counts toward no limit of the phase, and as a request for `--requests`. `default` takes away what was declared before",
            ),
        ],
    },
    Part {
        title: "`mix = { … }`",
        about: "The shares sum to 100 %.",
        keys: &[
            key("read", "share", "`\"0 %\"`", "reads"),
            key("write", "share", "`\"0 %\"`", "writes"),
            key("trim", "share", "`\"0 %\"`", "trims"),
            key("flush", "share", "`\"0 %\"`", "flushes"),
        ],
    },
    Part {
        title: "`size = [{ … }, …]`",
        about: "From 1 to 64 sizes, whose shares sum to 100 %.",
        keys: &[key("size", "size", "", "one size"), key("share", "share", "", "the share of requests that have it")],
    },
    Part {
        title: "`address = { … }`",
        about: "A pattern alone is a word (`address = \"uniform\"`); with keys it is a table.\n\n\
                `uniform`: every place equally likely. `shuffled`: every place once, in a random order, then again in another.\n\
                `zipf`: the r-th most popular place with a\n\
                weight of 1 / r^theta. `hot-cold`: a hot part gets most of the traffic.\n\
                `zoned`: zones side by side from the beginning of the space, each with a share of the requests, and every place of a zone equally likely.\n\
                `sequential`: each request begins where the last one of its stream ended. `mixed`: each request follows one of several patterns.",
        keys: &[
            key("pattern", "`uniform`, `shuffled`, `zipf`, `hot-cold`, `zoned`, `sequential` or `mixed`", "", "which pattern"),
            key("share", "share", "", "of a part of `mixed`: the share of requests that follow it"),
            key("theta", "number above 0, at most 5", "", "of `zipf`: the skew; 0.99 is usual"),
            key(
                "scatter",
                "`true` or `false`",
                "`true`",
                "of `zipf` and `hot-cold`: whether popular places lie apart, rather than at the beginning",
            ),
            key("hot", "share", "", "of `hot-cold`: the hot share of the space"),
            key("traffic", "share", "", "of `hot-cold`: the share of requests that go there"),
            key("zones", "list", "", "of `zoned`: the zones, in order (below)"),
            key("streams", "whole number", "`1`", "of `sequential`: streams that take turns, each in a part of the space of its own"),
            key("parts", "list of patterns", "", "of `mixed`: the patterns, each with its `share`; none of them `mixed` itself"),
        ],
    },
    Part {
        title: "`zones = [{ … }, …]`",
        about: "From 1 to 256 zones, such as `{ share = \"50 %\", span = \"5 %\" }`. Their shares sum to 100 %. Their spans are either all shares of the\n\
                space, which sum to 100 %, or all sizes; space behind the last of those gets no request. A request belongs to the zone in which it begins.",
        keys: &[
            key("share", "share", "", "the share of requests that go there"),
            key("span", "size, or share of the space", "", "length of the zone"),
        ],
    },
    Part {
        title: "`arrival = { … }`",
        about: "Either a closed loop (`queue_depth`) or an open one (`rate`). `--qd` makes any workload but one of jobs a closed loop.",
        keys: &[
            key(
                "queue_depth",
                "whole number from 1 to 65536",
                "",
                "of a closed loop: a request comes as soon as fewer than this many are outstanding",
            ),
            key(
                "cycle",
                "whole number above 0",
                "no gaps",
                "of a closed loop: so many requests, of which the first come without a gap, over and over",
            ),
            key(
                "without_gap",
                "share",
                "no gaps",
                "of a closed loop: the share of a cycle's requests that come without a gap; with `cycle` and `gap`",
            ),
            key(
                "gap",
                "time",
                "no gaps",
                "of a closed loop: time without any request before each of the other requests, once all before it are answered",
            ),
            key(
                "rate",
                "rate",
                "",
                "of an open loop: requests per second while busy, whatever the drive does; `/s/GiB`: for each GiB of the drive",
            ),
            key("process", "`poisson` or `constant`", "`poisson`", "of an open loop: distribution of the gaps between requests"),
            key("busy", "time", "always", "of an open loop: time during which requests come; with `idle`"),
            key("idle", "time", "never", "of an open loop: time without requests after that"),
        ],
    },
];

/// A workload of files.
pub(super) const FILES: [Part; 6] = [
    Part {
        title: "The file",
        about: "Sets of files on a model file system, and threads that do things to them.",
        keys: &[
            key("name", "text", "", "name in tables and charts"),
            key("purpose", "text", "nothing", "purpose, in a sentence"),
            key(
                "align",
                "size",
                "",
                "block of the file system: every file and every write is a whole number of them; a multiple of 512 B up to 64 MiB",
            ),
            key("prefill", "share", "", "share of the drive that files hold when the run begins; `--fill` changes it"),
            key(
                "level",
                "share",
                "`prefill`",
                "how much they may hold later: a file that grows beyond it costs others of its set their lives",
            ),
            key(
                "length",
                "multiple of the drive",
                "",
                "amount written before the run ends, such as \"400 %\", or read where no thread writes; `--length` changes it",
            ),
            key("warm_up", "multiple of the drive", "nothing", "amount written before that, which is no part of what is measured"),
            key(
                "secure",
                "share",
                "`\"100 %\"`",
                "the share of what is written that belongs to secure files; `--secure-fraction` changes it",
            ),
            key("queue_depth", "whole number from 1 to 65536", "", "requests outstanding; `--qd` changes it"),
            key("trim", "size", "what lies together", "the largest TRIM of a deleted file's blocks, a multiple of `align`"),
            key(
                "cache",
                "table",
                "none",
                "the host's page cache before the drive; not beside a `mix`, which is one of requests that reach the drive",
            ),
            key(
                "layout",
                "`sets`, `mixed` or `interleaved`",
                "`sets`",
                "how the files of the beginning were written: one set after another, files of all sets among each other, or one file of each set at a \
                 time, write by write, so that a file lies in pieces among those of other sets",
            ),
            key("mix", "table", "as the threads make them", "read requests to write requests"),
            key("sets", "list of `[[sets]]`", "", "the kinds of files"),
            key("threads", "list of `[[threads]]`", "", "threads that work on them, over and over"),
        ],
    },
    Part {
        title: "`mix = { … }`",
        about: "A mix with reads needs a thread that reads and does nothing else.",
        keys: &[
            key("reads", "whole number", "", "parts of read requests"),
            key("writes", "whole number above 0", "", "parts of write requests"),
        ],
    },
    Part {
        title: "`cache = { … }`",
        about: "Pages are replaced least recently used first. In the beginning it holds the files written last. Durable writes and\n\
                `sync` reach the drive at once; what is deleted while it waits never does.",
        keys: &[
            key("size", "size or share of the drive", "", "size of the cache"),
            key(
                "dirty",
                "share",
                "`\"20 %\"`",
                "how much of it may wait to be written; what is more is written, the oldest first. \"0 %\": nothing waits",
            ),
        ],
    },
    Part {
        title: "`[[sets]]`",
        about: "Either all sets have `share`, and the shares sum to 100 %, or all have `files`,\n\
        which are scaled to the prefilled space. Where a size is meant, it is one\n\
                (`\"16 KiB\"`), anything between two (`[\"16 KiB\", \"32 KiB\"]`), or drawn from a gamma\n\
                distribution of shape 1.5 with this mean (`{ gamma = \"16 KiB\" }`).",
        keys: &[
            key("name", "text", "", "name of the set"),
            key("share", "share", "", "share of the prefilled space"),
            key("files", "whole number", "", "number of files, in proportion to those of the other sets"),
            key("size", "size", "", "size of a new file; one of the beginning is cut to what its set has left"),
            key("write", "size", "`size`", "size of a write"),
            key("read", "size", "`\"1 MiB\"`", "the largest read request"),
            key(
                "tolerance",
                TOLERANCES,
                "no hint",
                "latency that reads of its files may have. The drive gets a hint for each run of blocks that the set's files have before the first request, \
                 one where `layout` is `sets`; later writes to its files carry the class, and another set's write to such blocks follows a hint of \
                 `default`",
            ),
            key("room", "name of a set", "itself", "the set whose files are deleted where this one's find no room"),
        ],
    },
    Part {
        title: "`[[threads]]`",
        about: "",
        keys: &[
            key("count", "whole number from 1 to 65536", "`1`", "number of such threads"),
            key("priority", "`urgent`, `high`, `normal` or `low`", "`normal`", "class of their requests"),
            key("ops", "list of operations", "", "operations of each, one after another, again and again"),
        ],
    },
    Part {
        title: "`ops = [{ … }, …]`",
        about: "`create`: write a new file. `append`: write behind its end. `overwrite`: write over\n\
        a part of it, at a random place. `log`: write round and round in one file.\n\
                `replace`: write a new file and rename it over one that is there. `delete`. `read`:\n\
                all of it, or `size` at a random place. `sync`: make everything durable.\n\
                The file is any of its set, each equally likely, or with `same` that of the operation before.",
        keys: &[
            key("do", "one of the words above", "", "operation"),
            key("set", "name of a set", "", "the set of the file; `sync` needs none"),
            key("size", "size", "as the set says", "amount"),
            key("same", "`true` or `false`", "`false`", "whether it is done to the file of the operation before"),
            key("durable", "`true` or `false`", "`false`", "whether a write is acknowledged only when it is durable"),
            key("times", "whole number from 1 to 1000000", "`1`", "number of times"),
        ],
    },
];

/// The words for a tolerated latency.
const TOLERANCES: &str = "`shortest`, `typical`, `longer` or `default`";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AnySpec;

    /// The keys that the parser lists after one that it does not know.
    fn known(text: &str) -> Vec<String> {
        let told = AnySpec::parse(text, "w.toml").expect_err("it has an unknown key").message().to_owned();
        assert!(told.starts_with("unknown field `zzz`"), "{told}");
        let told = told.split("; did you mean").next().unwrap_or_default();
        let mut names: Vec<String> = told.split('`').skip(3).step_by(2).map(str::to_owned).collect();
        names.sort();
        names
    }

    #[test]
    fn the_keys_are_those_that_the_parser_knows() {
        let phases = [
            "zzz = 1\nname = \"x\"\n",
            "name = \"x\"\n[[phases]]\nzzz = 1\n",
            "name = \"x\"\n[[phases]]\nmix = { zzz = 1 }\n",
            "name = \"x\"\n[[phases]]\nsize = [{ zzz = 1 }]\n",
            "name = \"x\"\n[[phases]]\naddress = { zzz = 1 }\n",
            "name = \"x\"\n[[phases]]\naddress = { pattern = \"zoned\", zones = [{ zzz = 1 }] }\n",
            "name = \"x\"\n[[phases]]\narrival = { zzz = 1 }\n",
        ];
        let files = [
            "zzz = 1\nname = \"x\"\nsets = []\n",
            "name = \"x\"\nsets = []\nmix = { zzz = 1 }\n",
            "name = \"x\"\nsets = []\ncache = { zzz = 1 }\n",
            "name = \"x\"\n[[sets]]\nzzz = 1\n",
            "name = \"x\"\nsets = []\n[[threads]]\nzzz = 1\n",
            "name = \"x\"\nsets = []\n[[threads]]\nops = [{ zzz = 1 }]\n",
        ];
        for (part, text) in PHASES.iter().zip(phases).chain(FILES.iter().zip(files)) {
            let mut names: Vec<String> = part.keys.iter().map(|key| key.name.to_owned()).collect();
            names.sort();
            assert_eq!(names, known(text), "{}", part.title);
        }
    }
}
