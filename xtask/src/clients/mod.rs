//! Real clients against the block device server: what they say counts, not what our own client says.
//!
//! Each kind of client is a file here. Those that end the drive let it keep its bytes in media files, end it under load, with SIGKILL and, every other time,
//! SIGTERM, start it again and ask the client what it misses. A client that is missing fails the run before anything has begun; the message says how to get it.
//!
//! What mounts runs in name spaces of its own for mounts and processes, so that nothing stays behind, however it ends.

mod bench;
mod drive;
mod failures;
mod files;
mod fio;
mod forensics;
mod full;
mod guest;
mod hostile;
mod inputs;
mod kills;
mod ledger;
mod mount;
mod postgres;
mod protocol;
mod rocksdb;
mod trace;

use std::path::{Path, PathBuf};

use crate::steps::{Steps, command, fast_programs, run as run_command};
use bench::Bench;

/// Set inside of the name spaces.
const INSIDE: &str = "WORDLINE_CLIENTS_INSIDE";

/// One kind of client.
struct Kind {
    name: &'static str,
    help: &'static str,
    /// Debian's packages.
    packages: &'static str,
    /// What has to be there, and the arguments that make it say so.
    needs: &'static [(&'static str, &'static [&'static str])],
    mounts: bool,
    /// Kills, or turns, in CI and in a night.
    rounds: [u32; 2],
    run: fn(&Bench) -> Result<(), String>,
}

const FIO: (&str, &[&str]) = ("fio", &["--version"]);
const LIBNBD: (&str, &[&str]) = ("/usr/bin/python3", &["-c", "import nbd"]);
const NBDFUSE: (&str, &[&str]) = ("nbdfuse", &["--version"]);
const LOSETUP: (&str, &[&str]) = ("losetup", &["--version"]);
const EXT4: (&str, &[&str]) = ("mkfs.ext4", &["-V"]);
const E2FSCK: (&str, &[&str]) = ("e2fsck", &["-V"]);

const KINDS: &[Kind] = &[
    Kind {
        name: "protocol",
        help: "nbdinfo, nbdcopy, libnbd's Python, qemu-io, qemu-img and fio on a disk in memory: every command, flag and error; then TLS, and a \
               server that its client starts: on media, what nbdcopy copied is compared after a restart",
        packages: "fio libnbd-bin openssl python3-libnbd qemu-utils",
        needs: &[
            ("nbdinfo", &["--version"]),
            ("nbdcopy", &["--version"]),
            ("openssl", &["version"]),
            LIBNBD,
            FIO,
            ("qemu-io", &["--version"]),
            ("qemu-img", &["--version"]),
        ],
        mounts: false,
        rounds: [1, 1],
        run: protocol::run,
    },
    Kind {
        name: "kills",
        help: "the drive is killed under load: fio's power-cut recipe on a drive that acknowledges what is programmed, and a ledger of writes, trims, \
               FUA and flushes on one that buffers; that one is stopped under load, too, and loses nothing",
        packages: "fio procps python3-libnbd",
        needs: &[FIO, LIBNBD, ("kill", &["--version"])],
        mounts: false,
        rounds: [3, 50],
        run: kills::run,
    },
    Kind {
        name: "failures",
        help: "a die fails under load, then the drive is killed and stopped: the blocks that its firmware calls lost fail, no others do, and none is older than it \
               may be; fio verifies all that does not fail",
        packages: "fio procps python3-libnbd",
        needs: &[FIO, LIBNBD, ("kill", &["--version"])],
        mounts: false,
        rounds: [2, 40],
        run: failures::run,
    },
    Kind {
        name: "full",
        help: "the host's disk fills up under the drive's media: ENOSPC for writes, reads go on, and writes once there is room; then the drive is killed, and the \
               ledger misses nothing",
        packages: "mount python3-libnbd",
        needs: &[LIBNBD, ("mount", &["--version"])],
        mounts: true,
        rounds: [1, 3],
        run: full::run,
    },
    Kind {
        name: "hostile",
        help: "half-open connections, floods of 32-MiB writes, clients that do not read, absurd offsets, beside a good client; memory is measured",
        packages: "python3-libnbd",
        needs: &[LIBNBD],
        mounts: false,
        rounds: [1, 1],
        run: hostile::run,
    },
    Kind {
        name: "inputs",
        help: "ten million mutated sessions, and as many requests over sockets that make no sense: the server stays within its bound of memory as the system \
               counts it, and answers a good client all along (CI runs as many as its tests do)",
        packages: "",
        needs: &[],
        mounts: false,
        rounds: [0, 10],
        run: inputs::run_inputs,
    },
    Kind {
        name: "files",
        help: "ext4 through nbdfuse and a loop device: fsx, sysbench, fstrim; then fio's synchronous writes to a file while the drive is killed or stopped, the journal's \
               replay, e2fsck",
        packages: "fio libnbd-bin e2fsprogs mount sysbench; cargo install --debug --locked fsx --version 0.3.2",
        needs: &[FIO, NBDFUSE, LOSETUP, EXT4, E2FSCK, ("sysbench", &["--version"]), ("fsx", &["--version"])],
        mounts: true,
        rounds: [1, 20],
        run: files::run,
    },
    Kind {
        name: "forensics",
        help: "a file is written and deleted on ext4, and the chips are read: over secssd nothing is left of it, also where the drive is killed meanwhile; over the \
               plain drive, and on disk@insecure, it is found; a search of bytes says the same",
        packages: "libnbd-bin e2fsprogs mount util-linux",
        needs: &[NBDFUSE, LOSETUP, EXT4, E2FSCK, ("fstrim", &["--version"])],
        mounts: true,
        rounds: [1, 30],
        run: forensics::run,
    },
    Kind {
        name: "postgres",
        help: "PostgreSQL on ext4 under pgbench: drive and database are killed, the drive is stopped every other time; every acknowledged commit is there, the sums agree, amcheck and e2fsck find nothing",
        packages: "libnbd-bin e2fsprogs mount postgresql postgresql-contrib",
        needs: &[NBDFUSE, LOSETUP, EXT4, E2FSCK, ("pgbench", &["--version"]), ("psql", &["--version"])],
        mounts: true,
        rounds: [0, 20],
        run: postgres::run,
    },
    Kind {
        name: "rocksdb",
        help: "RocksDB on ext4 under db_bench: drive and database are killed, the drive is stopped every other time; every acknowledged key is there, transactions are whole, e2fsck finds nothing",
        packages: "libnbd-bin e2fsprogs mount rocksdb-tools",
        needs: &[NBDFUSE, LOSETUP, EXT4, E2FSCK, ("db_bench", &["--version"]), ("ldb", &["--version"])],
        mounts: true,
        rounds: [1, 20],
        run: rocksdb::run,
    },
    Kind {
        name: "guest",
        help: "a machine emulated by QEMU with the drive as its NVMe disk: ext4, synced files, drive and machine killed, the next boot compares",
        packages: "qemu-system-x86 qemu-system-common seabios busybox-static cpio e2fsprogs",
        needs: &[("qemu-system-x86_64", &["--version"]), ("busybox", &["--help"]), ("cpio", &["--version"]), EXT4, E2FSCK],
        mounts: false,
        rounds: [0, 5],
        run: guest::run,
    },
    Kind {
        name: "trace",
        help: "blktrace itself in a machine emulated by QEMU: its recording is read as what was asked of the disk, and as blkparse reads it",
        packages: "qemu-system-x86 qemu-system-common seabios busybox-static cpio blktrace util-linux coreutils tar",
        needs: &[
            ("qemu-system-x86_64", &["--version"]),
            ("busybox", &["--help"]),
            ("cpio", &["--version"]),
            ("blktrace", &["-V"]),
            ("blkparse", &["-V"]),
            ("blkdiscard", &["--version"]),
        ],
        mounts: false,
        rounds: [0, 1],
        run: trace::run,
    },
];

const USAGE: &str = "\
Usage: cargo xtask clients [NAME…|nightly] [--rounds N] [--seed N] [--programs FOLDER]

Lets real clients at the block device server. Without a NAME: all of them, as often as CI does; `nightly`: all of them, for hours.
--rounds N   kill the drive so often (each kind has its own number for CI and for a night)
--seed N     of the clients' loads; 42 where it is not given
--programs FOLDER   test the programs there, as `target/release` has them, and build none

";

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    names: Vec<&'static str>,
    nightly: bool,
    rounds: Option<u32>,
    seed: u64,
    programs: Option<PathBuf>,
}

impl Asked {
    fn rounds(&self, kind: &Kind) -> u32 {
        self.rounds.unwrap_or(kind.rounds[usize::from(self.nightly)])
    }
}

fn parse(arguments: &[&str]) -> Result<Asked, String> {
    let mut asked = Asked { names: Vec::new(), nightly: false, rounds: None, seed: 42, programs: None };
    let mut words = arguments.iter();
    while let Some(&word) = words.next() {
        match word {
            "nightly" => asked.nightly = true,
            "--programs" => asked.programs = Some(words.next().ok_or("--programs needs a folder")?.into()),
            "--rounds" | "--seed" => {
                let value = words.next().ok_or_else(|| format!("{word} needs a number"))?;
                let number: u32 = value.parse().map_err(|_| format!("{word} needs a whole number, not `{value}`"))?;
                if word == "--seed" {
                    asked.seed = number.into();
                } else {
                    asked.rounds = Some(number);
                }
            }
            word => {
                let kind = KINDS.iter().find(|kind| kind.name == word);
                asked.names.push(kind.map(|kind| kind.name).ok_or_else(|| format!("no such client: `{word}`\n\n{}", usage()))?);
            }
        }
    }
    if asked.names.is_empty() {
        asked.names = KINDS.iter().filter(|kind| asked.rounds(kind) > 0).map(|kind| kind.name).collect();
    }
    Ok(asked)
}

fn usage() -> String {
    KINDS.iter().fold(USAGE.to_owned(), |text, kind| {
        let [ci, night] = kind.rounds;
        format!(
            "{text}  {:<10} {}\n             ({ci} in CI, {night} a night; {})\n",
            kind.name,
            kind.help,
            if kind.packages.is_empty() {
                "nothing to install".to_owned()
            } else {
                format!("apt-get install --no-install-recommends {}", kind.packages)
            }
        )
    })
}

/// Builds the server and lets the clients at it.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<(), String> {
    if arguments.iter().any(|word| matches!(*word, "help" | "--help" | "-h")) {
        print!("{}", usage());
        return Ok(());
    }
    let asked = parse(arguments)?;
    let kinds: Vec<&Kind> = KINDS.iter().filter(|kind| asked.names.contains(&kind.name)).collect();
    for kind in &kinds {
        for (client, arguments) in kind.needs {
            // What counts is that it is there: some know no way to ask that ends well.
            if !command(root, client, arguments).output().is_ok_and(|output| output.status.success() || !client.contains('/')) {
                return Err(format!("{client} is missing: apt-get install --no-install-recommends {}", kind.packages));
            }
        }
    }
    let folder = match &asked.programs {
        Some(folder) => root.join(folder),
        None => fast_programs(root)?,
    };
    if kinds.iter().any(|kind| kind.mounts) && std::env::var_os(INSIDE).is_none() {
        return inside(root, arguments);
    }
    let mut steps = Steps::default();
    for kind in kinds {
        // A kind that CI leaves out was asked for by its name.
        let bench = Bench::new(&folder, kind.name, asked.rounds(kind).max(1), asked.seed)?;
        steps.run(kind.name, || (kind.run)(&bench))?;
    }
    println!("{}", steps.summary());
    Ok(())
}

/// The same in name spaces of its own: whatever ends this program, the kernel ends what it started, unmounts what it mounted and frees its loop devices.
fn inside(root: &Path, arguments: &[&str]) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    // A build of everything puts a new file, of the same sources, in the place of the one that runs.
    let program = program.display().to_string();
    let program = program.strip_suffix(" (deleted)").unwrap_or(&program);
    let spaces = ["--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--", program, "clients"];
    let mut inner = command(root, "setpriv", &[&spaces[..], arguments].concat());
    inner.env(INSIDE, "1");
    run_command(inner).map_err(|why| format!("{why}\n(mounting needs root, /dev/fuse and /dev/loop-control)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_what_runs() {
        let all = parse(&[]).expect("sound");
        assert_eq!((all.names.len(), all.nightly, all.rounds), (KINDS.len() - 4, false, None));
        assert_eq!(parse(&["nightly"]).expect("sound").names.len(), KINDS.len());
        let some = parse(&["kills", "--rounds", "7", "--seed", "3"]).expect("sound");
        assert_eq!((some.names, some.rounds, some.seed), (vec!["kills"], Some(7), 3));
        assert!(parse(&["nightly"]).expect("sound").nightly);
    }

    #[test]
    fn what_nobody_knows_is_refused() {
        for wrong in [&["kill"][..], &["--rounds"], &["--rounds", "many"], &["--seed", "-1"]] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
